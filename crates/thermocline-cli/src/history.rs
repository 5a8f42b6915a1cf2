//! `thermocline session turns`: shows a page of the turns of a session.

use std::fmt::Write as _;

use thermocline::PastTurn;

use crate::{
    args::SessionTurnsArgs,
    exit::Failure,
    find::{self, Db},
    output::Output,
    plain, turn,
};

pub(crate) fn run(db: &Db, args: &SessionTurnsArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let session = find::session(&find::user(&memory, &args.session.user)?, &args.session.session)?;
    let turns = if args.last || args.before.is_some() {
        session.turns_before(args.before, args.limit)?
    } else {
        session.turns(args.after, args.limit)?
    };
    if turns.is_empty() && !out.is_json() {
        out.talk("there are no turns");
        return Ok(());
    }
    out.answer(&turns, |turns| turns.iter().map(text).collect::<Vec<_>>().join("\n"))
}

fn text(past: &PastTurn) -> String {
    let mut text = format!("turn {}", past.turn_number());
    match past {
        PastTurn::Turn(whole) => {
            let said = whole.timestamp.format("%Y-%m-%d %H:%M UTC");
            let _ = write!(text, ", {said}, {}\n{}", whole.memory_tier.as_str(), turn::sides(&whole.said));
        }
        PastTurn::Summary { summary, .. } => {
            let said = summary.timestamp.format("%Y-%m-%d %H:%M UTC");
            let line = plain::line(&summary.summary_text, usize::MAX);
            let _ = writeln!(text, ", {said}, cold; the original was deleted\n\nSummary:\n{line}");
        }
        PastTurn::Damaged { .. } => {
            text += " is damaged; doctor says where, and a backup may still have it\n";
        }
        _ => text += "\n",
    }
    text
}
