//! `thermocline session restore`, `compress` and `summaries`: undo the compression of a session, queue it again, and show
//! the summaries that it made.

use std::fmt::Write as _;

use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{MemoryTier, SessionInfo, Summary};

use crate::{
    args::SessionArgs,
    counts::counted,
    exit::Failure,
    find::{self, Db},
    output::Output,
    pages, plain, session,
};

/// A restored session, and the number of turns that were and were not restored.
#[derive(Debug, Serialize)]
struct RestoredSession {
    session: SessionInfo,
    /// The number of turns that are warm again.
    turns: u64,
    /// The number of turns that are not restored because their originals were deleted; their summaries stay.
    deleted: usize,
}

/// A session, and whether a job for it is queued.
#[derive(Debug, Serialize)]
struct QueuedSession {
    session: SessionInfo,
    queued: bool,
}

pub(crate) fn restore(db: &Db, args: &SessionArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable(db)?;
    let session = find::session(&find::user(&memory, &args.user)?, &args.session)?;
    let turns = session.restore()?;
    let deleted = pages::summaries_from(&session, 1)?.len();
    out.answer(&RestoredSession { session: session.info()?, turns, deleted }, |done| {
        let mut text = match done.turns {
            0 => "no turn was cold; no job compresses the session now\n\n".to_owned(),
            1 => "1 turn is warm again\n\n".to_owned(),
            turns => format!("{} turns are warm again\n\n", HumanCount(turns)),
        };
        if done.deleted > 0 {
            let _ =
                writeln!(text, "deleted originals cannot be restored: {}\n", counted(done.deleted, "turn"));
        }
        text + &session::about(&done.session)
    })
}

pub(crate) fn compress(db: &Db, args: &SessionArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable(db)?;
    let session = find::session(&find::user(&memory, &args.user)?, &args.session)?;
    let info = session.info()?;
    if info.ended_at.is_none() {
        return Err(Failure::refused("the session is open; it is compressed once it has ended"));
    }
    session.compress()?;
    let queued = info.memory_tier == MemoryTier::Warm;
    out.answer(&QueuedSession { session: info, queued }, |done| {
        let what =
            if done.queued { "queued: thermocline jobs run compresses it" } else { "compressed already" };
        format!("{what}\n\n{}", session::about(&done.session))
    })
}

pub(crate) fn summaries(db: &Db, args: &SessionArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let session = find::session(&find::user(&memory, &args.user)?, &args.session)?;
    let summaries = pages::summaries_from(&session, 1)?;
    if summaries.is_empty() && !out.is_json() {
        out.talk(match session.info()?.memory_tier {
            MemoryTier::Cold => "all turns of this session are kept verbatim",
            MemoryTier::Warm => {
                "no turn of this session is summarized yet; thermocline jobs list shows what is pending"
            }
            _ => "no turn is summarized while its session is open",
        });
        return Ok(());
    }
    out.answer(&summaries, |summaries| summaries.iter().map(summarized).collect())
}

/// Returns the place, the date and the author of a summary, and the summary below.
fn summarized(summary: &Summary) -> String {
    let mut text = format!(
        "{:>6}  {}  {} tokens, by {}\n",
        summary.turn_number,
        summary.timestamp.format("%Y-%m-%d %H:%M"),
        summary.summary_tokens,
        plain::line(&summary.summarizer, 40)
    );
    text += &plain::wrapped(&plain::line(&summary.summary_text, usize::MAX), 100, "        ", "");
    if !summary.topic_keywords.is_empty() {
        let topics = plain::line(&summary.topic_keywords.join(", "), usize::MAX);
        text += &plain::wrapped(&format!("({topics})"), 100, "        ", "");
    }
    text
}
