//! How much does a durable record cost, compared with a bare transaction of the same row?
//!
//! Each record of a new turn evicts exactly one turn. The bare alternative writes to a separate file in the same folder.
//! The crate's first migration creates this file, so that the tables to which the row refers exist, and its foreign keys
//! are checked. Its pragmas are the same, except that SQLite checkpoints every 1,000 pages inside a commit. One immediate
//! transaction inserts ONE row of `conversation_turns`, with all columns, and with the values that the crate wrote for
//! such a turn, except ids, numbers and tier. The bare alternative counts no tokens, finds no words, and stores no
//! session, unit or move.
//!
//! - Alone: pairs of a record by the crate and a bare one. Target: at most 1.3 times. The next lines of the report show how
//!   much of the time is spent before the queue. One of them has the time of a record with a known caller's id, which
//!   measures the text, passes through the queue and writes nothing. In the same line, the column of the plain alternative
//!   has the time of such a record with a single word. The difference between the two is the time for measuring, as a lower
//!   bound: these records repeat one text, so the tokenizer's tables stay in the processor's caches.
//! - 32 sessions concurrently: tokio tasks on two workers; the bare rows go through one thread with group commit (batches
//!   of up to 256, one reply per call). Target: at least 5 times the rate of one session, or half of the rate of bare
//!   rows.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

#[path = "record/bare.rs"]
mod bare;
#[path = "record/ours.rs"]
mod ours;
mod support;

use std::time::{Duration, Instant};

use bare::{Bare, BareWriter};
use ours::Ours;
use support::{
    Length, is_test, lengths,
    rounds::{Plan, ROUNDS, Sample, alone, interleave, median_of, timed},
    runtime, scratch,
    table::{Report, Target, percentiles, thousands, time},
};
use tokio::runtime::{Builder, Runtime};

const SESSIONS: usize = 32;

fn main() {
    let mut report = Report::with_usual_columns("record");
    for length in lengths() {
        one_session(length, &mut report);
    }
    report.head(&[
        "32 sessions at once",
        "turn (characters)",
        "1 session, turns/s",
        "32 sessions, turns/s",
        "times",
        "bare: 1, rows/s",
        "bare: 32, rows/s",
        "times",
        "ours / bare at 32",
        "a wait at 32, p50 / p95 / p99",
        "target",
        "verdict",
    ]);
    for length in lengths() {
        many_sessions(length, &mut report);
    }
    report.save();
}

fn one_session(length: Length, report: &mut Report) {
    let folder = scratch();
    let runtime = runtime();
    let ours = Ours::start(&runtime, &folder.path().join("ours.db"), length, 1);
    let (mut bare, rows) = (Bare::start(&folder.path().join("bare.db"), 1), ours.rows());
    let mut turns = ours.turns();
    let measured = interleave(
        Plan::by_pair(600),
        || ours.record(&runtime, turns.next().unwrap()),
        || {
            let row = rows.next(1);
            timed(|| bare.insert([&row]))
        },
    );
    report.row("record, evicting one", "new file", length, &measured, Target::Ratio(1.3));

    let known = interleave(
        Plan::by_pair(600),
        || ours.record_known(&runtime, ours::SAME_TEXT),
        || ours.record_known(&runtime, ours::ONE_WORD),
    );
    report.row("record a known id; plain: of one word", "new file", length, &known, Target::None);
    let mut texts = 0..;
    let counts = alone(Plan::by_round(600), || ours.count_tokens(texts.next().unwrap()));
    report.row("count its tokens, as record does", "-", length, &counts, Target::None);

    let medians = |sample: Option<Sample>| sample.unwrap().median();
    let measuring = known.ours.median().saturating_sub(medians(known.plain));
    let rest = measured.ours.median().saturating_sub(measuring);
    let ratio = rest.as_secs_f64() / medians(measured.plain).as_secs_f64();
    report.line(&[
        "record without measuring (difference of medians)".to_owned(),
        "new file".to_owned(),
        length.to_string(),
        format!("{} (measuring: {})", time(rest), time(measuring)),
        "-".to_owned(),
        format!("{ratio:.2}"),
        "-".to_owned(),
        "reported".to_owned(),
    ]);
}

/// The number of turns per second, and how long each call took.
struct Rate {
    per_second: f64,
    waits: Vec<Duration>,
}

fn many_sessions(length: Length, report: &mut Report) {
    let folder = scratch();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ours = Ours::start(&runtime, &folder.path().join("ours.db"), length, SESSIONS);
    let bare = BareWriter::start(Bare::start(&folder.path().join("bare.db"), SESSIONS), ours.rows());

    let mut rates: [Vec<f64>; 4] = Default::default();
    let mut waits = Vec::new();
    for _ in 0..ROUNDS {
        for (place, callers) in [1, SESSIONS].into_iter().enumerate() {
            let mut rate = callers_for_a_while(&runtime, callers, |caller| ours.caller(caller));
            rates[2 * place].push(rate.per_second);
            rates[2 * place + 1]
                .push(callers_for_a_while(&runtime, callers, |caller| bare.caller(caller)).per_second);
            if callers == SESSIONS {
                waits.append(&mut rate.waits);
            }
        }
    }
    let ratio = |a: usize, b: usize| median_of(rates[a].iter().zip(&rates[b]).map(|(a, b)| a / b).collect());
    let (times, bare_times, of_bare) = (ratio(2, 0), ratio(3, 1), ratio(2, 3));
    let rate = |place: usize| thousands(median_of(rates[place].clone()));
    report.line(&[
        "record, evicting one".to_owned(),
        length.to_string(),
        rate(0),
        rate(2),
        format!("{times:.1}"),
        rate(1),
        rate(3),
        format!("{bare_times:.1}"),
        format!("{of_bare:.2}"),
        percentiles(&Sample::new(waits), &[50, 95, 99]),
        ">= 5 times, or half of bare".to_owned(),
        if times >= 5.0 || of_bare >= 0.5 { "met" } else { "missed" }.to_owned(),
    ]);
}

/// Runs this many tasks, each of which records one turn after another.
fn callers_for_a_while<F: Future<Output = Rate> + Send + 'static>(
    runtime: &Runtime,
    callers: usize,
    caller: impl Fn(usize) -> F,
) -> Rate {
    let tasks: Vec<_> = (0..callers).map(|n| runtime.spawn(caller(n))).collect();
    let rates = runtime.block_on(async {
        let mut rates = Vec::new();
        for task in tasks {
            rates.push(task.await.unwrap());
        }
        rates
    });
    Rate {
        per_second: rates.iter().map(|rate| rate.per_second).sum(),
        waits: rates.into_iter().flat_map(|rate| rate.waits).collect(),
    }
}

/// Repeats `one` for about a second, as each task does.
async fn repeat<F: Future<Output = ()>>(mut one: impl FnMut() -> F) -> Rate {
    let most = Duration::from_millis(if is_test() { 10 } else { 1_000 });
    let start = Instant::now();
    let mut waits = Vec::new();
    while start.elapsed() < most {
        let before = Instant::now();
        one().await;
        waits.push(before.elapsed());
    }
    let count = u32::try_from(waits.len()).expect("a second has fewer records");
    Rate { per_second: f64::from(count) / start.elapsed().as_secs_f64(), waits }
}
