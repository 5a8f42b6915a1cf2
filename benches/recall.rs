//! How long does it take to find something among everything that a user ever said?
//!
//! One user, all of whose sessions except the last have ended, are compressed, and are indexed and embedded by the
//! built-in embedder. Queries are short questions with words and names as in the conversations. Targets, by the user's
//! number of turns:
//!
//! - `context` packed into 4,400 tokens, and `recall` of ten, with warm caches: < 3 ms at 10,000, < 10 ms at 100,000.
//! - The first recall of a new handle, without the time to open it: < 20 ms at 10,000, < 80 ms at 100,000. "First touch"
//!   means that the operating system has dropped the file's pages.
//! - The same user with 1,000,000 turns of other users in the file: at most 1.2 times as slow as alone.
//! - A record while the index is built: at most 2 times as slow as without.
//!
//! Plain alternative, for the same turns: FTS5 with Porter's stemmer (asked without function words, with the user as a
//! column) and sqlite-vec over the same vectors. Each contributes at most 100 turns; their scores, relative to the best
//! of each, are added with the weights 0.6 and 0.4, and ten turns are fetched. It has no neighbours, sessions, times,
//! anchors or receipts, and packs nothing. Of sqlite-vec's two ways to search, the faster one counts.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use support::{
    Length, beside,
    corpus::forget_pages,
    is_test, lengths, operations,
    plain_recall::{PlainRecall, Vectors, embedded},
    rounds::{Plan, Sample, alone, interleave, timed, timed_on},
    runtime, sizes, strangers,
    table::{Report, Target, thousands},
    text::Writer,
    user::OneUser,
};
use thermocline::{ContextOptions, RecallOptions, Session, User};
use tokio::runtime::Runtime;

/// The number of operations of each alternative in a round; there are five rounds.
const WARM: usize = 60;
const FIRST: usize = 4;

fn main() {
    let mut report = Report::with_usual_columns("recall");
    let mut memory_notes = Vec::new();
    for (size, length) in sizes().into_iter().flat_map(|size| lengths().into_iter().map(move |l| (size, l))) {
        let one = OneUser::of(size, length, 0);
        let plain = PlainRecall::of(&one);
        let how = faster(&plain);
        memory_notes.push(warm(&one, &plain, how, &mut report));
        first(&one, &plain, how, &mut report);
        if strangers() > 0 {
            beside_strangers(&one, how, &mut report);
        }
    }
    for note in memory_notes {
        report.note(&note);
    }
    report.head(&beside::COLUMNS);
    for length in lengths() {
        records_beside_the_index(length, &mut report);
    }
    report.save();
}

/// A question, the words that were drawn for it, and its vector.
struct Asked {
    message: String,
    words: Vec<String>,
    vector: Vec<u8>,
}

/// Draws questions: always the same ones, so that both alternatives get the same.
struct Questions {
    writer: Writer,
    asked: usize,
}

impl Questions {
    fn new() -> Self {
        Self { writer: Writer::new(5), asked: 0 }
    }

    fn next(&mut self) -> Asked {
        let [a, b, c] = self.writer.common_words();
        let [name, ..] = self.writer.names();
        self.asked += 1;
        let (message, words) = match self.asked % 4 {
            0 => (format!("What did we decide about the {a} and the {b}?"), vec![a, b]),
            1 => (format!("Which {a} did {name} want for the {b}?"), vec![a, name, b]),
            2 => (format!("How is the {a} {b} {c} going?"), vec![a, b, c]),
            // This question is understood with the help of the session's last turns, if there is a session.
            _ => (format!("{name} asked about the {a} again, what was it?"), vec![name, a]),
        };
        let vector = runtime().block_on(embedded(&message));
        Asked { message, words, vector }
    }
}

fn recall(runtime: &Runtime, user: &User, one: &OneUser, asked: &Asked) -> Duration {
    let options = RecallOptions::default().now(one.now());
    timed_on(runtime, async {
        let recall = user.recall(&asked.message, options).await.unwrap();
        assert!(recall.missing.is_empty(), "{:?}", recall.missing);
        recall
    })
}

fn context(runtime: &Runtime, session: &Session, one: &OneUser, asked: &Asked) -> Duration {
    let options = ContextOptions::default().now(one.now());
    timed_on(runtime, async {
        let context = session.context(&asked.message, options).await.unwrap();
        assert!(context.missing.is_empty(), "{:?}", context.missing);
        context
    })
}

/// Times the plain alternative. The query's vector is made before, so the alternative does not pay for it.
fn plainly(plain: &PlainRecall, asked: &Asked, how: Vectors) -> Duration {
    timed(|| plain.recall(&asked.words, &asked.vector, how))
}

/// Returns the way of searching in sqlite-vec that is faster for this file.
fn faster(plain: &PlainRecall) -> Vectors {
    let took = |how| {
        let mut questions = Questions::new();
        let tries = (0..operations(9)).map(|_| {
            let asked = questions.next();
            timed(|| plain.by_meaning(&asked.vector, how))
        });
        Sample::new(tries.collect()).median()
    };
    if took(Vectors::Table) <= took(Vectors::Function) { Vectors::Table } else { Vectors::Function }
}

/// Returns the target in milliseconds: `small` up to 10,000 turns, `large` up to 100,000, and none above.
fn under(turns: usize, small: u64, large: u64) -> Target {
    match turns {
        ..=10_000 => Target::Under(Duration::from_millis(small)),
        10_001..=100_000 => Target::Under(Duration::from_millis(large)),
        _ => Target::None,
    }
}

/// Measures recalls and contexts with warm caches; returns a sentence about memory for the report.
fn warm(one: &OneUser, plain: &PlainRecall, how: Vectors, report: &mut Report) -> String {
    let runtime = runtime();
    let memory = runtime.block_on(one.open());
    let (user, session) = runtime.block_on(one.user_and_session(&memory));
    // The embedder's own tables are already loaded, so they do not count as memory of the index.
    let asked = Questions::new().next();
    let before = resident_bytes();
    recall(&runtime, &user, one, &asked);
    let bytes = resident_bytes().saturating_sub(before) / one.turns as u64;
    let target = under(one.turns, 3, 10);
    let (mut a, mut b) = (Questions::new(), Questions::new());
    let measured = interleave(
        Plan::by_round(WARM),
        || recall(&runtime, &user, one, &a.next()),
        || plainly(plain, &b.next(), how),
    );
    report.row("recall of ten, warm", &one.size(), one.length, &measured, target);
    let mut questions = Questions::new();
    let measured = alone(Plan::by_round(WARM), || context(&runtime, &session, one, &questions.next()));
    report.row("context of 4,400 tokens, warm", &one.size(), one.length, &measured, target);
    runtime.block_on(memory.close()).unwrap();
    format!(
        "{} turns, {}: the first recall leaves {bytes} bytes a turn resident; sqlite-vec is searched by its {}.",
        thousands(one.turns),
        one.length,
        match how {
            Vectors::Table => "virtual table",
            Vectors::Function => "distance function",
        }
    )
}

fn first(one: &OneUser, plain: &PlainRecall, how: Vectors, report: &mut Report) {
    let target = under(one.turns, 20, 80);
    for (question, prepare) in
        [("first recall", leave as fn(&Path)), ("first recall, first touch", forget_pages)]
    {
        let (mut a, mut b) = (Questions::new(), Questions::new());
        let mut with_opening = Vec::new();
        let measured = interleave(
            Plan::by_pair(FIRST),
            || {
                prepare(&one.path);
                let (opening, recall) = first_recall(one, &a.next());
                with_opening.push(opening + recall);
                recall
            },
            || {
                prepare(plain.path());
                plainly(&plain.reopened(), &b.next(), how)
            },
        );
        report.row(question, &one.size(), one.length, &measured, target);
        let with_opening =
            support::rounds::Measured { ours: Sample::new(with_opening), plain: None, ratio: None };
        let question = format!("{question}, with opening");
        report.row(&question, &one.size(), one.length, &with_opening, Target::None);
    }
}

/// Leaves the file's pages in the operating system's cache, as far as they fit.
fn leave(_: &Path) {}

fn first_recall(one: &OneUser, asked: &Asked) -> (Duration, Duration) {
    let runtime = runtime();
    let start = Instant::now();
    let memory = runtime.block_on(one.open());
    let (user, _) = runtime.block_on(one.user_and_session(&memory));
    let opening = start.elapsed();
    let took = recall(&runtime, &user, one, asked);
    runtime.block_on(memory.close()).unwrap();
    (opening, took)
}

fn beside_strangers(one: &OneUser, how: Vectors, report: &mut Report) {
    let crowded = OneUser::of(one.turns, one.length, strangers());
    let runtime = runtime();
    let (memory, crowded_memory) = runtime.block_on(async { (one.open().await, crowded.open().await) });
    let (user, session) = runtime.block_on(one.user_and_session(&memory));
    let (crowded_user, crowded_session) = runtime.block_on(crowded.user_and_session(&crowded_memory));
    let (mut a, mut b) = (Questions::new(), Questions::new());
    let measured = interleave(
        Plan::by_pair(WARM),
        || recall(&runtime, &crowded_user, &crowded, &a.next()),
        || recall(&runtime, &user, one, &b.next()),
    );
    let target = Target::Ratio(1.2);
    report.row("recall beside strangers; plain: ours alone", &crowded.size(), one.length, &measured, target);
    let (mut a, mut b) = (Questions::new(), Questions::new());
    let measured = interleave(
        Plan::by_pair(WARM),
        || context(&runtime, &crowded_session, &crowded, &a.next()),
        || context(&runtime, &session, one, &b.next()),
    );
    report.row("context beside strangers; plain: ours alone", &crowded.size(), one.length, &measured, target);
    let (plain, crowded_plain) = (PlainRecall::of(one), PlainRecall::of(&crowded));
    let (mut a, mut b) = (Questions::new(), Questions::new());
    let measured = interleave(
        Plan::by_pair(FIRST),
        || plainly(&crowded_plain, &a.next(), how),
        || plainly(&plain, &b.next(), how),
    );
    let question = "FTS5 and sqlite-vec beside strangers; plain: alone";
    report.row(question, &crowded.size(), one.length, &measured, Target::None);
    runtime.block_on(async { (memory.close().await.unwrap(), crowded_memory.close().await.unwrap()) });
}

/// Measures records while another user's turns are indexed and embedded.
fn records_beside_the_index(length: Length, report: &mut Report) {
    let question = ("beside the making of another user's index", length);
    beside::records(question, report, |runtime, memory, _, writer| {
        let turns = if is_test() { 150 } else { 8_000 };
        runtime.block_on(async {
            let busy = memory.user("busy").await.unwrap().session_named("busy").await.unwrap();
            // Records concurrently, so that many share a transaction: this is preparation, and not measured.
            let texts: Vec<_> = (0..turns).map(|_| writer.turn(length)).collect();
            for some in texts.chunks(64) {
                let records = some.iter().map(|turn| {
                    let (busy, turn) = (busy.clone(), turn.clone());
                    tokio::spawn(async move { busy.record(turn).await.unwrap() })
                });
                for record in records.collect::<Vec<_>>() {
                    record.await.unwrap();
                }
            }
        });
    });
}

/// Returns the resident memory of this process, in bytes; 0 if the system does not report it.
fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
    kib.unwrap_or(0) * 1_024
}
