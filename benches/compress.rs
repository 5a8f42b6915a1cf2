//! What does the end of a session cost: 50 turns, with no LLM#1?
//!
//! From `run_jobs` to the last swap on the disk. Targets: < 50 ms with turns of 140 characters, < 150 ms with turns
//! of 4,500. Plain alternative: one transaction that only moves the rows into another table of the same columns.
//!
//! And what does a record cost while jobs run? One caller records while a queue of ended sessions is worked off, and
//! then without. Target: at most 2 times, by the median and the 95th percentile.
//!
//! With `THERMOCLINE_BENCH_TRANSCRIPTS`, a folder of `*.turns.jsonl` files as `replay` reads them, real turns are
//! measured too: the first 50 of each file.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use support::{
    Length, is_test, lengths, operations,
    rounds::{Plan, ROUNDS, Sample, interleave, median_of, timed, timed_on},
    runtime, scratch,
    table::{Report, Target, percentiles},
    text::Writer,
    transcripts,
};
use thermocline::{Config, Durability, NewTurn, RunJobs, Session, Thermocline, User};
use tokio::runtime::{Builder, Runtime};

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
    report.head(&[
        "record, evicting one",
        "turn (characters)",
        "while jobs run, p50 / p95 / p99",
        "without, p50 / p95 / p99",
        "ratio of medians / of 95ths",
        "target",
        "verdict",
    ]);
    for length in lengths() {
        records_beside_jobs(length, &mut report);
    }
    report.save();
}

fn config() -> Config {
    let mut config = Config::default();
    (config.worker, config.durability) = (false, Durability::Full);
    config
}

fn open(runtime: &Runtime, path: &std::path::Path) -> (Thermocline, User) {
    runtime.block_on(async {
        let memory = Thermocline::open_with(path, config()).await.unwrap();
        memory.ready().await.unwrap();
        let user = memory.user("alex").await.unwrap();
        (memory, user)
    })
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
    let (memory, user) = open(&runtime, &folder.path().join("ours.db"));
    let (plain_memory, plain_user) = open(&runtime, &folder.path().join("plain.db"));
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

fn records_beside_jobs(length: Length, report: &mut Report) {
    let folder = scratch();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (memory, user) = open(&runtime, &folder.path().join("ours.db"));
    let mut writer = Writer::new(9);
    let talk = runtime.block_on(user.session_named("talk")).unwrap();
    let (mut with, mut without, mut ratios) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        // More than a round of records can see worked off.
        for _ in 0..operations(match length {
            Length::Short => 40,
            Length::Long => 12,
        }) {
            let turns: Vec<NewTurn> = (0..TURNS).map(|_| writer.turn(length)).collect();
            runtime.block_on(ended_session(&user, turns));
        }
        let turns: Vec<NewTurn> = (0..2 * operations(400)).map(|_| writer.turn(length)).collect();
        let (beside, alone) = turns.split_at(turns.len() / 2);
        let is_over = AtomicBool::new(false);
        let round_with = runtime.block_on(async {
            let jobs = async {
                memory.run_jobs(RunJobs::default()).await.unwrap();
                is_over.store(true, Ordering::Relaxed);
            };
            let records = async {
                let mut waits = Vec::new();
                for turn in beside {
                    if is_over.load(Ordering::Relaxed) && !is_test() {
                        break; // The queue is empty: what follows would be no record beside jobs.
                    }
                    waits.push(timed_async(talk.record(turn.clone())).await);
                }
                waits
            };
            tokio::join!(jobs, records).1
        });
        let round_without: Vec<Duration> = runtime.block_on(async {
            let mut waits = Vec::new();
            for turn in alone {
                waits.push(timed_async(talk.record(turn.clone())).await);
            }
            waits
        });
        let samples = [Sample::new(round_with.clone()), Sample::new(round_without.clone())];
        for (place, percent) in [50, 95].into_iter().enumerate() {
            let [ours, plain] = samples.each_ref().map(|sample| sample.percentile(percent).as_secs_f64());
            ratios[place].push(ours / plain);
        }
        with.extend(round_with);
        without.extend(round_without);
    }
    let [median, p95] = ratios.map(median_of);
    report.line(&[
        "beside the compression of ended sessions".to_owned(),
        length.to_string(),
        format!("{} ({} records)", percentiles(&Sample::new(with.clone()), &[50, 95, 99]), with.len()),
        percentiles(&Sample::new(without), &[50, 95, 99]),
        format!("{median:.2} / {p95:.2}"),
        "<= 2 times, both".to_owned(),
        if median <= 2.0 && p95 <= 2.0 { "met" } else { "missed" }.to_owned(),
    ]);
}

async fn timed_async<T>(work: impl Future<Output = T>) -> Duration {
    let start = std::time::Instant::now();
    work.await;
    start.elapsed()
}
