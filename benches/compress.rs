//! How much does it cost to end a session of 50 turns, without LLM#1?
//!
//! The time is that of `run_jobs`, with all jobs that are due once the session has ended. Targets: < 50 ms with turns of 140
//! characters, < 150 ms with turns of 4,500. Plain alternative: one transaction that only moves the rows into another table
//! with the same columns.
//!
//! And how much does a record cost while jobs run? One caller records while jobs process a queue of ended sessions, and
//! then without jobs. Target: at most 2 times as long, for the median and the 95th percentile.
//!
//! If `THERMOCLINE_BENCH_TRANSCRIPTS` names a folder of `*.turns.jsonl` files, as `replay` reads them, real turns are
//! measured too: the first 50 of each file.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::time::Duration;

use support::{
    Length, beside, lengths, operations,
    rounds::{Plan, interleave, timed, timed_on},
    runtime, scratch,
    table::{Report, Target},
    text::Writer,
    transcripts,
};
use thermocline::{NewTurn, RunJobs, Session, User};

const TURNS: usize = 50;

fn main() {
    let mut report = Report::with_usual_columns("compress");
    for length in lengths() {
        let mut writer = Writer::new(7);
        let target = match length {
            Length::Short => 50,
            Length::Long => 150,
        };
        let turns = move || (0..TURNS).map(|_| writer.turn(length)).collect();
        session_end("session end, 50 turns", length, turns, target, &mut report);
    }
    for (name, turns) in transcripts::first_turns(TURNS) {
        let length = if transcripts::bytes(&turns) > TURNS * 1_000 { Length::Long } else { Length::Short };
        let target = if length == Length::Long { 150 } else { 50 };
        let question = format!("session end, {name} ({} KB)", transcripts::bytes(&turns) / 1_000);
        session_end(&question, length, move || turns.clone(), target, &mut report);
    }
    report.head(&beside::COLUMNS);
    for length in lengths() {
        let sessions = match length {
            Length::Short => 40,
            Length::Long => 12,
        };
        let question = ("beside the compression of ended sessions", length);
        beside::records(question, &mut report, |runtime, _, user, writer| {
            for _ in 0..operations(sessions) {
                let turns: Vec<NewTurn> = (0..TURNS).map(|_| writer.turn(length)).collect();
                runtime.block_on(ended_session(user, turns));
            }
        });
    }
    report.save();
}

async fn ended_session(user: &User, turns: impl IntoIterator<Item = NewTurn>) -> Session {
    let session = user.new_session().await.unwrap();
    for turn in turns {
        session.record(turn).await.unwrap();
    }
    session.end().await.unwrap();
    session
}

fn session_end(
    question: &str,
    length: Length,
    mut turns: impl FnMut() -> Vec<NewTurn>,
    target_ms: u64,
    report: &mut Report,
) {
    let folder = scratch();
    let runtime = runtime();
    let (memory, user) = beside::open(&runtime, &folder.path().join("ours.db"));
    let (plain_memory, plain_user) = beside::open(&runtime, &folder.path().join("plain.db"));
    let plain = rusqlite::Connection::open(plain_memory.path()).unwrap();
    plain
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
             CREATE TABLE moved AS SELECT * FROM conversation_turns WHERE 0",
        )
        .unwrap();
    let all = "SELECT * FROM conversation_turns";
    let move_rows =
        format!("BEGIN IMMEDIATE; INSERT INTO moved {all}; DELETE FROM conversation_turns; COMMIT");
    let (texts, plain_texts) = (turns(), turns());
    let measured = interleave(
        Plan::by_pair(12),
        || {
            runtime.block_on(ended_session(&user, texts.clone()));
            timed_on(&runtime, async { memory.run_jobs(RunJobs::default()).await.unwrap() })
        },
        || {
            runtime.block_on(ended_session(&plain_user, plain_texts.clone()));
            timed(|| plain.execute_batch(&move_rows).unwrap())
        },
    );
    let target = Target::Under(Duration::from_millis(target_ms));
    report.row(question, "new file", length, &measured, target);
}
