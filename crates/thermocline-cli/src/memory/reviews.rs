//! `thermocline memory review`, `approve` and `reject`: list the questions about memories that a person has to answer, and
//! decide them.

use std::fmt::Write as _;

use serde::Serialize;
use thermocline::{
    Decided, Decision, ErrorKind, MemoryId, Review, ReviewFilter, ReviewId, ReviewKind, blocking::Memories,
};

use crate::{
    args::LimitArg,
    exit::Failure,
    find::Db,
    memory::{
        life_args::{DecideArgs, ReviewArgs},
        named,
        save::brief_now,
        show::minute,
    },
    output::Output,
    pages, plain,
};

/// A review, with the titles of its memories.
#[derive(Debug, Serialize)]
struct ReviewWithNames {
    #[serde(flatten)]
    review: Review,
    title: Option<String>,
    other_title: Option<String>,
}

pub(crate) fn list(db: &Db, args: &ReviewArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    if let Some(id) = &args.review {
        let asked = asked(&memories, named_review(&memories, id)?)?;
        return out.answer(&asked, line);
    }
    let filter = ReviewFilter::default().kinds(args.kind.iter().copied()).decided(args.decided);
    let after = args.after.as_deref().map(parsed).transpose()?;
    let page = |after, limit| memories.reviews(filter.clone(), after, limit);
    let found = pages::list(after, args.limit, page, |review: &Review| review.id)?;
    if found.is_empty() && !out.is_json() {
        out.talk("no question is open");
        return Ok(());
    }
    let found = found.into_iter().map(|review| asked(&memories, review)).collect::<Result<Vec<_>, _>>()?;
    out.answer(&found, |found| found.iter().map(line).collect())
}

fn parsed(id: &str) -> Result<ReviewId, Failure> {
    Ok(id.parse::<ReviewId>()?)
}

/// Finds a review by its id, or by the name of the memory that waits for it.
fn named_review(memories: &Memories, name: &str) -> Result<Review, Failure> {
    match name.parse::<ReviewId>() {
        Ok(id) => Ok(memories.review(id)?),
        Err(_) => open_about(memories, name),
    }
}

/// Returns the open review of the memory with this name. If there are several, it chooses none: a person must have read
/// the question to which they agree.
fn open_about(memories: &Memories, name: &str) -> Result<Review, Failure> {
    let id = named::memory(memories, name)?.id;
    let page = |after, limit| memories.reviews(ReviewFilter::default(), after, limit);
    let mut open = pages::list(None, LimitArg::default(), page, |review: &Review| review.id)?;
    open.retain(|review| review.memory_id == id);
    match open.len() {
        0 => Err(Failure::not_found(
            "no question about this memory is open; memory review lists the open ones",
        )),
        1 => Ok(open.remove(0)),
        several => Err(Failure::refused(format!(
            "{several} questions about this memory are open; name one by its id, which memory review shows"
        ))),
    }
}

fn asked(memories: &Memories, review: Review) -> Result<ReviewWithNames, Failure> {
    let title = |id: MemoryId| match memories.get(id) {
        Ok(memory) => Ok(Some(memory.title)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => Ok(None),
        Err(error) => Err(error),
    };
    let other_title = review.other_id.map(title).transpose()?.flatten();
    Ok(ReviewWithNames { title: title(review.memory_id)?, other_title, review })
}

/// Returns the question to which approving a review says yes.
fn question(kind: ReviewKind) -> &'static str {
    match kind {
        ReviewKind::Promote => "should it stay forever?",
        ReviewKind::Flagged => "it helps less often than before: does it still hold?",
        ReviewKind::Contradiction => "should it replace the other?",
        ReviewKind::Merge => "are the two the same?",
        ReviewKind::Check => "a check failed: does it still hold?",
        _ => "which is right, the file or the memory?",
    }
}

fn line(ReviewWithNames { review, title, other_title }: &ReviewWithNames) -> String {
    let named = |title: &Option<String>| {
        title.as_deref().map_or_else(|| "(unreadable)".to_owned(), |title| plain::line(title, usize::MAX))
    };
    let mut text = format!(
        "{}  {}  {}: {}\n  {}  {}\n",
        minute(review.opened_at),
        review.id,
        review.kind.as_str(),
        question(review.kind),
        review.memory_id,
        named(title),
    );
    if let Some(other) = review.other_id {
        let _ = writeln!(text, "  {other}  {}, the other", named(other_title));
    }
    let _ = writeln!(text, "  because: {}", plain::line(&review.why, usize::MAX));
    if let Some(decision) = review.decision {
        let by =
            review.decided_by.as_deref().map_or(String::new(), |by| format!(" by {}", plain::line(by, 40)));
        let at = review.decided_at.map_or(String::new(), |at| format!(", {}", minute(at)));
        let _ = writeln!(text, "  {}{by}{at}", decision.as_str());
    }
    text
}

pub(crate) fn decide(db: &Db, args: &DecideArgs, decision: Decision, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, _user, memories) = named::to_change(db, &args.user)?;
    let by = args.by.as_deref().unwrap_or(&args.user.user);
    let review = named_review(&memories, &args.review)?;
    let decided = memories.by(origin).decide(review.id, decision, by)?;
    out.answer(&decided, |Decided { memories, .. }| {
        let now = |text: String, memory| text + &brief_now(memory);
        memories.iter().fold(format!("{}; these memories are now:\n", decision.as_str()), now)
    })
}
