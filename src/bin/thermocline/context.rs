//! `thermocline context`: prints what an LLM is to be handed with a message. Writes nothing.

use std::{fmt::Write as _, path::Path};

use indicatif::HumanCount;
use thermocline::{Context, ContextOptions};

use crate::{
    args::ContextArgs,
    counts::{counted, ranges},
    exit::Failure,
    find,
    output::Output,
};

pub(crate) fn run(db: &Path, args: &ContextArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    let session = match &args.session {
        Some(key_or_id) => find::session(&user, key_or_id)?,
        None => find::newest_session(&user)?,
    };
    let mut options = ContextOptions::default();
    options.budget_tokens = args.budget_tokens;
    options.now = args.now;
    let context = session.context(&args.message, options)?;
    if !out.is_json() {
        out.talk(&about(&context));
    }
    out.answer(&context, |context| context.text.clone())
}

/// What it cost, what had no room, and what could not be had, in one line.
pub(crate) fn about(context: &Context) -> String {
    let mut about = format!(
        "{} of {} tokens, {}",
        HumanCount(context.tokens.into()),
        HumanCount(context.budget_tokens.into()),
        counted(context.items.len(), "turn")
    );
    if !context.left_out.is_empty() {
        let left_out = counted(context.left_out.len(), "turn");
        let _ = write!(about, "; no room for {left_out} ({})", ranges(&context.left_out));
    }
    if !context.missing.is_empty() {
        let _ = write!(about, "; missing: {}", context.missing.join(", "));
    }
    about
}
