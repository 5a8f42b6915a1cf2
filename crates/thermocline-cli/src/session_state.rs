//! `thermocline session state`: shows and sets named texts that last as long as their session.

use thermocline::SessionState;

use crate::{
    args::SessionStateArgs,
    exit::Failure,
    find::{self, Db},
    output::Output,
    plain,
};

pub(crate) fn run(db: &Db, args: &SessionStateArgs, out: &Output) -> Result<(), Failure> {
    let memory = if args.text.is_some() { find::writable(db)? } else { find::memory(db)? };
    let session = find::session(&find::user(&memory, &args.session.user)?, &args.session.session)?;
    if let (Some(name), Some(text)) = (&args.name, &args.text) {
        session.set_state(name, text)?;
    }
    let mut kept = session.state()?;
    if let Some(name) = &args.name {
        kept.retain(|state| state.name == *name);
    }
    if kept.is_empty() && !out.is_json() {
        out.talk("the session has no such state");
        return Ok(());
    }
    out.answer(&kept, |kept| kept.iter().map(shown).collect())
}

fn shown(state: &SessionState) -> String {
    let at = state.updated_at.format("%Y-%m-%d %H:%M UTC");
    format!("{}, {at}\n\n{}\n", plain::line(&state.name, usize::MAX), plain::block(&state.text).trim_end())
}
