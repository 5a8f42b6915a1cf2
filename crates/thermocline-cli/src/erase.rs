//! `thermocline erase`: removes a turn, a session or all data of a user from the file's bytes.

use std::fmt::Write as _;

use indicatif::HumanCount;
use thermocline::{
    Erased, TurnId,
    blocking::{Session, User},
};

use crate::{
    args::EraseArgs,
    counts::counted,
    exit::{Exit, Failure},
    find::{self, Db},
    output::Output,
    pages, turn,
};

/// What to erase.
enum EraseTarget {
    User(User),
    /// One session, or all sessions that are parts under one key.
    Sessions(Vec<Session>),
    /// One turn, and its place in words.
    Turn(User, TurnId, String),
}

pub(crate) fn run(db: &Db, args: &EraseArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable(db)?;
    let user = find::user(&memory, &args.user)?;
    let target = match (&args.session, &args.turn) {
        (Some(key_or_id), _) => EraseTarget::Sessions(find::parts(&user, key_or_id)?),
        (None, Some(name)) => {
            let (id, place) = match (turn::named(&user, name), name.parse::<TurnId>()) {
                // After damage, the turn may be unreadable, but its id still names it.
                (Err(failure), Ok(id)) if matches!(failure.exit(), Exit::NotFound | Exit::FileUnusable) => {
                    (id, format!("turn {id}"))
                }
                (named, _) => named?,
            };
            EraseTarget::Turn(user, id, place)
        }
        (None, None) => EraseTarget::User(user),
    };
    if !args.yes {
        confirm(&target, out)?;
    }
    let erased = {
        let _progress = out.progress(None, "erasing");
        erase(&target)?
    };
    answer(&erased, out)
}

/// Prints the report of an erase. Errors: it is pending, and should be tried again.
pub(crate) fn answer(erased: &Erased, out: &Output) -> Result<(), Failure> {
    out.answer(erased, text)?;
    if !erased.is_pending {
        return Ok(());
    }
    Err(Failure::new(
        Exit::TryAgain,
        "all rows are erased, but the write-ahead log still holds old bytes because another program reads \
         the file; end that program, then run: thermocline jobs run",
    ))
}

fn erase(target: &EraseTarget) -> Result<Erased, Failure> {
    let sessions = match target {
        EraseTarget::User(user) => return Ok(user.erase()?),
        EraseTarget::Turn(user, id, _) => return Ok(user.erase_turn(*id)?),
        EraseTarget::Sessions(sessions) => sessions,
    };
    let mut all = Erased::default();
    for session in sessions {
        all = all.and(session.erase()?);
    }
    Ok(all)
}

/// Asks for confirmation at the terminal; without a terminal, nothing is erased unless `--yes` is given.
fn confirm(target: &EraseTarget, out: &Output) -> Result<(), Failure> {
    let what = match what(target) {
        Err(failure) if failure.exit() == Exit::FileUnusable => {
            "what you named, of which damage has made something unreadable".to_owned()
        }
        what => what?,
    };
    match out.ask(&format!("Erase {what}? This cannot be undone. Type yes: "))? {
        Some(answer) if answer.trim() == "yes" => Ok(()),
        Some(_) => Err(Failure::refused("not confirmed; nothing was erased")),
        None => Err(Failure::refused(format!("nothing was erased without --yes; it would erase {what}"))),
    }
}

/// Describes what would be erased, in numbers.
fn what(target: &EraseTarget) -> Result<String, Failure> {
    match target {
        EraseTarget::User(user) => {
            let sessions = pages::sessions(user)?;
            let turns: u64 = sessions.iter().map(|info| u64::from(info.turn_count)).sum();
            let anchors = pages::anchors(user)?.len();
            Ok(format!(
                "all of this user: {}, {}, {}",
                counted(sessions.len(), "session"),
                turns_of(turns),
                counted(anchors, "anchor")
            ))
        }
        EraseTarget::Turn(_, _, place) => {
            Ok(format!("{place}, with the turns it replaced and the anchor evidence that only it gives"))
        }
        EraseTarget::Sessions(sessions) => {
            let (mut turns, mut summaries) = (0, 0);
            for session in sessions {
                turns += u64::from(session.info()?.turn_count);
                summaries += pages::summaries_from(session, 1)?.len();
            }
            let summaries = match summaries {
                1 => "1 summary".to_owned(),
                n => format!("{} summaries", HumanCount(n as u64)),
            };
            Ok(format!(
                "{}: {}, {summaries}, and the anchor evidence that only they give",
                counted(sessions.len(), "session"),
                turns_of(turns)
            ))
        }
    }
}

fn turns_of(turns: u64) -> String {
    counted(usize::try_from(turns).unwrap_or(usize::MAX), "turn")
}

/// Returns the report of an erase as text.
fn text(erased: &Erased) -> String {
    let mut text = "erased\n".to_owned();
    for (what, rows) in [
        ("sessions", erased.sessions),
        ("turns", erased.turns),
        ("of them archived", erased.archived_turns),
        ("summaries", erased.summaries),
        ("anchors", erased.anchors),
        ("pieces of evidence", erased.derivations),
        ("tier moves", erased.transitions),
        ("memories", erased.memories),
        ("jobs", erased.jobs),
    ] {
        if rows == 0 {
            continue;
        }
        let _ = writeln!(text, "  {what:<19} {:>9}", HumanCount(rows).to_string());
    }
    text += if erased.is_pending {
        "The write-ahead log still holds old bytes: the erase is pending.\n"
    } else {
        "Erased from the rows, and from the bytes of the file and its log.\n"
    };
    text
}
