//! `thermocline context`: prints the context for a message, as an LLM would get it. Writes only a receipt and, if there are
//! sensors, a job that checks the stale memories in the context.

use std::fmt::Write as _;

use indicatif::HumanCount;
use thermocline::{Context, ContextOptions, ItemKind, PackedAs};

use crate::{
    counts::{counted, ranges},
    exit::Failure,
    find::{self, Db},
    output::Output,
    places::Places,
    plain,
    recall_args::ContextArgs,
};

pub(crate) fn run(db: &Db, args: &ContextArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory_with(
        db,
        args.sensors.add_to(args.planner.add_to(args.reranker.add_to(args.embedder.config()?)?)?)?,
    )?;
    let user = find::user(&memory, &args.user)?;
    let session = match &args.session {
        Some(key_or_id) => find::session(&user, key_or_id)?,
        None => find::newest_session(&user)?,
    };
    let mut options = ContextOptions::default().profile(args.ranking.profile()?);
    options = options.filter(args.filter.filter(&user)?);
    options.budget_tokens = args.budget_tokens;
    options.now = args.now;
    options.min_confidence = args.min_confidence;
    options.without = args.without.iter().map(|&section| section.into()).collect();
    options.for_messages = args.messages;
    options.queries.clone_from(&args.queries);
    let context = session.context(&args.message, options)?;
    if !out.is_json() {
        let sure = format!("{:.2} sure that something recalled answers", context.confidence);
        out.talk(&format!("{}; {sure}", about(&context)));
        for line in Places::of(&user)?.recalled(&context)? {
            out.talk(&line);
        }
        if !memory.is_read_only() {
            let name = plain::line(&args.user.user, 60);
            out.talk(&format!("receipt {0}: thermocline why --user {name} {0}", context.receipt));
        }
    }
    if args.messages {
        return Output::new(true).answer(&context.messages(), |_| String::new());
    }
    out.answer(&context, |context| context.text.clone())
}

/// Describes a context in one line: its tokens, its contents, what did not fit, and what was missing.
pub(crate) fn about(context: &Context) -> String {
    let mut about = format!(
        "{} of {} tokens, {}",
        HumanCount(context.tokens.into()),
        HumanCount(context.budget_tokens.into()),
        contents(context)
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

/// Counts the items of a context: `7 turns, 1 summary, 2 anchors, 1 wish`.
fn contents(context: &Context) -> String {
    let (mut turns, mut summaries, mut anchors, mut wishes, mut memories) = (0, 0, 0, 0, 0);
    for item in &context.items {
        *match (item.kind, item.packed_as) {
            (ItemKind::Anchor, _) => &mut anchors,
            (ItemKind::Wish, _) => &mut wishes,
            (ItemKind::Memory, _) => &mut memories,
            (ItemKind::Summary, _) | (_, PackedAs::Summary) => &mut summaries,
            _ => &mut turns,
        } += 1;
    }
    let mut contents = counted(turns, "turn");
    match summaries {
        0 => {}
        1 => contents.push_str(", 1 summary"),
        more => _ = write!(contents, ", {} summaries", HumanCount(more as u64)),
    }
    if anchors > 0 {
        let _ = write!(contents, ", {}", counted(anchors, "anchor"));
    }
    match wishes {
        0 => {}
        1 => contents.push_str(", 1 wish"),
        more => _ = write!(contents, ", {more} wishes"),
    }
    match memories {
        0 => {}
        1 => contents.push_str(", 1 memory"),
        more => _ = write!(contents, ", {more} memories"),
    }
    contents
}
