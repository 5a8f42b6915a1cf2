//! How much do memories cost: to save, compared with recording; to recall and list, compared with as many turns; and to
//! edit repeatedly?
//!
//! - `save` compared with `record`: both durable, with texts of about the same length (140 characters: a title and a
//!   content, or the two sides of a turn), in separate files; one caller alternates call by call, 32 callers alternate in
//!   rounds. Target: a median of at most 2 times that of `record`.
//! - `record` of a turn that answers a context which showed 3 memories, compared with one that showed 3 turns with the
//!   same words. Target: at most 1.3 times.
//! - A user with 10,000 or 100,000 memories (`THERMOCLINE_BENCH_TURNS`) and one edge fewer, compared with a user with the
//!   same texts as turns: `recall` of ten, warm and for the first time. Target: at most 1.15 times. `recall` with
//!   `graph(true)` compared with `recall` without it: a median of at most 2 ms more. A page of 50 memories, with and
//!   without a tag: under 50 ms. `core`: under 200 ms. `tend` if no memory is due: under 1.5 s.
//! - One memory edited 1,000 times, with a recall after each edit, for a user who also has the turns above. Targets: no
//!   recall takes more than 1.3 times the median of as many recalls without edits, except for one in a hundred, which the
//!   scheduler may delay; and afterwards `doctor` finds the file sound.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use support::{
    Length, operations,
    rounds::{Measured, Plan, ROUNDS, Sample, alone, interleave, median_of, timed_on},
    runtime, scratch, sizes,
    table::{Report, Target, percentiles, thousands},
    text::{Rng, Writer},
    user::{NAME, OneUser, SEED, open},
};
use thermocline::{
    Config, ContextOptions, CoreOptions, Durability, EdgeType, Edit, Memories, MemoryFilter, MemoryId,
    MemoryKind, NewEdge, NewMemory, NewTurn, Origin, RecallOptions, RunJobs, Session, TendOptions,
    Thermocline, User,
};
use tokio::runtime::{Builder, Runtime};

const CALLERS: usize = 32;
const TAGS: usize = 100;

fn main() {
    let mut report = Report::with_usual_columns("memories");
    saves_of_one_caller(&mut report);
    answers(&mut report);
    for size in sizes() {
        let known = Known::of(size);
        recalls(&known, &mut report);
        lists(&known, &mut report);
        lives(&known, &mut report);
        edits(&known.turns, &mut report);
    }
    report.head(&[
        "32 callers",
        "record, p50 / p95 / p99",
        "save, p50 / p95 / p99",
        "ratio",
        "target",
        "verdict",
    ]);
    saves_of_many_callers(&mut report);
    report.save();
}

/// Returns a memory that is not saved yet and is about as long as a short turn.
fn memory(writer: &mut Writer, number: usize) -> NewMemory {
    let (title, content) = writer.sides(Length::Short);
    NewMemory::new(MemoryKind::ALL[number % 9], title, format!("{content} {number}"))
        .tags([format!("tag-{}", number % TAGS)])
        .origin(Origin::User)
}

/// Creates a file, and its user.
fn durable(runtime: &Runtime, path: &Path) -> (Thermocline, User) {
    let mut config = Config::default();
    (config.worker, config.durability) = (false, Durability::Full);
    runtime.block_on(async {
        let file = Thermocline::open_with(path, config).await.unwrap();
        file.ready().await.unwrap();
        let user = file.user(NAME).await.unwrap();
        (file, user)
    })
}

/// A caller that records turns, or saves memories, one after another.
enum Caller {
    Records(Session, Writer),
    Saves(Memories, Writer, usize),
}

impl Caller {
    async fn once(&mut self) -> Duration {
        match self {
            Self::Records(session, writer) => {
                let turn = writer.turn(Length::Short);
                let start = Instant::now();
                session.record(turn).await.unwrap();
                start.elapsed()
            }
            Self::Saves(memories, writer, number) => {
                *number += 1;
                let memory = memory(writer, *number);
                let start = Instant::now();
                memories.save(memory).await.unwrap();
                start.elapsed()
            }
        }
    }
}

/// Returns this many callers of one kind, each with its own texts.
fn callers(runtime: &Runtime, user: &User, count: usize, saves: bool) -> Vec<Caller> {
    let caller = |place: usize| {
        let writer = Writer::new(100 + place as u64);
        if saves {
            return Caller::Saves(user.memories().by(Origin::User), writer, 1_000_000 * place);
        }
        let session = runtime.block_on(user.session_named(&format!("talk-{place}"))).unwrap();
        Caller::Records(session, writer)
    };
    (0..count).map(caller).collect()
}

fn saves_of_one_caller(report: &mut Report) {
    let folder = scratch();
    let runtime = runtime();
    let (saved, saving) = durable(&runtime, &folder.path().join("saved.db"));
    let (recorded, recording) = durable(&runtime, &folder.path().join("recorded.db"));
    let mut by_saving = callers(&runtime, &saving, 1, true).remove(0);
    let mut by_recording = callers(&runtime, &recording, 1, false).remove(0);
    let measured = interleave(
        Plan::by_pair(2_000),
        || runtime.block_on(by_saving.once()),
        || runtime.block_on(by_recording.once()),
    );
    report.row("save; plain: record", "new files", Length::Short, &measured, Target::Ratio(2.0));
    runtime.block_on(async {
        saved.close().await.unwrap();
        recorded.close().await.unwrap();
    });
}

fn saves_of_many_callers(report: &mut Report) {
    let folder = scratch();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (_saved, saving) = durable(&runtime, &folder.path().join("saved.db"));
    let (_recorded, recording) = durable(&runtime, &folder.path().join("recorded.db"));
    let mut both = [callers(&runtime, &recording, CALLERS, false), callers(&runtime, &saving, CALLERS, true)];
    let (mut waits, mut medians) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        for (place, callers) in both.iter_mut().enumerate() {
            let (back, round) = runtime.block_on(at_once(std::mem::take(callers)));
            *callers = back;
            medians[place].push(Sample::new(round.clone()).median().as_secs_f64());
            waits[place].extend(round);
        }
    }
    let ratio = median_of(medians[1].iter().zip(&medians[0]).map(|(save, record)| save / record).collect());
    let [records, saves] = waits.map(|waits| percentiles(&Sample::new(waits), &[50, 95, 99]));
    let verdict = if ratio <= 2.0 { "met" } else { "missed" };
    let cells = ["at once", &records, &saves, &format!("{ratio:.2}"), "<= 2 times", verdict];
    report.line(&cells.map(str::to_owned));
}

/// Runs all callers concurrently, each a few times.
async fn at_once(callers: Vec<Caller>) -> (Vec<Caller>, Vec<Duration>) {
    let tasks: Vec<_> = callers
        .into_iter()
        .map(|mut caller| {
            tokio::spawn(async move {
                let mut waits = Vec::new();
                for _ in 0..operations(63) {
                    waits.push(caller.once().await);
                }
                (caller, waits)
            })
        })
        .collect();
    let (mut callers, mut all) = (Vec::new(), Vec::new());
    for task in tasks {
        let (caller, waits) = task.await.unwrap();
        callers.push(caller);
        all.extend(waits);
    }
    (callers, all)
}

/// A user with many memories and edges, and a user with the same texts as turns.
struct Known {
    turns: OneUser,
    path: PathBuf,
    ids: Vec<MemoryId>,
    _scratch: tempfile::TempDir,
}

impl Known {
    fn of(size: usize) -> Self {
        let (turns, scratch) = (OneUser::of(size, Length::Short, 0), scratch());
        let path = scratch.path().join("known.db");
        let (mut writer, mut rng, mut ids) = (Writer::new(SEED), Rng::new(7), Vec::with_capacity(size));
        runtime().block_on(async {
            let file = Thermocline::open_with(&path, relaxed()).await.unwrap();
            let memories = file.user(NAME).await.unwrap().memories().by(Origin::User);
            for number in 0..size {
                ids.push(memories.save(memory(&mut writer, number)).await.unwrap().memory.id);
                if number > 0 {
                    let (from, to) = (ids[number], ids[rng.below(number)]);
                    memories.relate(from, NewEdge::new(EdgeType::RelatedTo), to).await.unwrap();
                }
            }
            let report = file.run_jobs(RunJobs::default()).await.unwrap();
            assert_eq!((report.failed, report.later), (0, 0), "{report:?}");
            file.close().await.unwrap();
        });
        Self { turns, path, ids, _scratch: scratch }
    }

    fn size(&self) -> String {
        format!("{} memories", self.turns.size())
    }
}

fn relaxed() -> Config {
    let mut config = Config::default();
    (config.worker, config.durability) = (false, Durability::Relaxed);
    config
}

/// Returns the user of a file.
fn user_of(runtime: &Runtime, file: &Thermocline) -> User {
    runtime.block_on(file.find_user(NAME)).unwrap().expect("the user is in the file")
}

/// Returns the next question; the sequence is the same for the same seed.
fn question(writer: &mut Writer) -> String {
    let [a, b, _] = writer.common_words();
    let [name, ..] = writer.names();
    format!("What did {name} decide about the {a} and the {b}?")
}

fn recall(runtime: &Runtime, user: &User, message: &str, options: RecallOptions) -> Duration {
    timed_on(runtime, async { user.recall(message, options).await.unwrap() })
}

fn recalls(known: &Known, report: &mut Report) {
    let runtime = runtime();
    let now = known.turns.now();
    let options = || RecallOptions::default().now(now);
    let files = [&known.path, &known.turns.path].map(|path| runtime.block_on(open(path)));
    let users = files.each_ref().map(|file| user_of(&runtime, file));
    let (mut a, mut b) = (Writer::new(5), Writer::new(5));
    let measured = interleave(
        Plan::by_round(60),
        || recall(&runtime, &users[0], &question(&mut a), options()),
        || recall(&runtime, &users[1], &question(&mut b), options()),
    );
    let row = "recall, warm; plain: the same as turns";
    report.row(row, &known.size(), Length::Short, &measured, Target::Ratio(1.15));
    let (mut a, mut b) = (Writer::new(6), Writer::new(6));
    let measured = interleave(
        Plan::by_pair(60),
        || recall(&runtime, &users[0], &question(&mut a), options().graph(true)),
        || recall(&runtime, &users[0], &question(&mut b), options()),
    );
    report.row("recall, graph(true); plain: without", &known.size(), Length::Short, &measured, Target::None);
    let without = measured.plain.as_ref().map(Sample::median).unwrap_or_default();
    let more = measured.ours.median().saturating_sub(without).as_secs_f64() * 1e3;
    report.keep_note(format!("graph(true) takes {more:.2} ms more at the median; at most 2 ms are allowed."));
    for file in files {
        runtime.block_on(file.close()).unwrap();
    }
    let first = |path: &Path, writer: &mut Writer| {
        let file = runtime.block_on(open(path));
        let took = recall(&runtime, &user_of(&runtime, &file), &question(writer), options());
        runtime.block_on(file.close()).unwrap();
        took
    };
    let (mut a, mut b) = (Writer::new(6), Writer::new(6));
    let measured =
        interleave(Plan::by_pair(4), || first(&known.path, &mut a), || first(&known.turns.path, &mut b));
    let row = "first recall; plain: the same as turns";
    report.row(row, &known.size(), Length::Short, &measured, Target::Ratio(1.15));
}

/// A conversation in progress, with a user about whom three facts are known as memories, or who said them in turns.
struct Talk {
    session: Session,
    writer: Writer,
}

/// The three facts, each in one sentence.
const TOLD: [&str; 3] = [
    "The harbour master answers on channel twelve.",
    "The harbour is closed to sailing boats in winter.",
    "The harbour café sells bread on Sundays.",
];

impl Talk {
    fn new(runtime: &Runtime, user: &User, as_memories: bool) -> Self {
        let session = runtime.block_on(async {
            if as_memories {
                for text in TOLD {
                    let memory = NewMemory::new(MemoryKind::General, text, text).origin(Origin::User);
                    user.memories().by(Origin::User).save(memory).await.unwrap();
                }
            } else {
                let before = user.session_named("before").await.unwrap();
                for text in TOLD {
                    before.record(NewTurn::new(text, "")).await.unwrap();
                }
                before.end().await.unwrap();
            }
            user.session_named("now").await.unwrap()
        });
        Self { session, writer: Writer::new(31) }
    }

    /// Measures a record of a turn that answers a context which showed all three facts.
    fn answer(&mut self, runtime: &Runtime) -> Duration {
        let turn = self.writer.turn(Length::Short);
        let options = ContextOptions::default();
        let context =
            runtime.block_on(self.session.context("What do you know of the harbour?", options)).unwrap();
        let told =
            context.items.iter().filter(|item| item.parts.is_some_and(|parts| parts.words > 0.0)).count();
        assert!(told >= TOLD.len(), "{}", context.text);
        let turn = turn.answering(context.receipt);
        timed_on(runtime, async { self.session.record(turn).await.unwrap() })
    }
}

fn answers(report: &mut Report) {
    let folder = scratch();
    let runtime = runtime();
    let (known, knowing) = durable(&runtime, &folder.path().join("known.db"));
    let (said, saying) = durable(&runtime, &folder.path().join("said.db"));
    let mut memories = Talk::new(&runtime, &knowing, true);
    let mut turns = Talk::new(&runtime, &saying, false);
    let measured = interleave(Plan::by_pair(100), || memories.answer(&runtime), || turns.answer(&runtime));
    let row = "record that answers 3 memories; plain: 3 turns";
    report.row(row, "new files", Length::Short, &measured, Target::Ratio(1.3));
    runtime.block_on(async {
        known.close().await.unwrap();
        said.close().await.unwrap();
    });
}

fn lists(known: &Known, report: &mut Report) {
    let runtime = runtime();
    let file = runtime.block_on(open(&known.path));
    let memories = user_of(&runtime, &file).memories();
    let mut rng = Rng::new(3);
    let target = Target::Under(Duration::from_millis(50));
    for (what, by_tag) in [("list, 50 a page", false), ("list by a tag, 50 a page", true)] {
        let measured = alone(Plan::by_round(100), || {
            let after = Some(known.ids[rng.below(known.ids.len())]);
            let filter = MemoryFilter::default();
            let filter = if by_tag { filter.tag(format!("tag-{}", rng.below(TAGS))) } else { filter };
            timed_on(&runtime, async { memories.list(filter, after, 50).await.unwrap() })
        });
        report.row(what, &known.size(), Length::Short, &measured, target);
    }
    runtime.block_on(file.close()).unwrap();
}

fn lives(known: &Known, report: &mut Report) {
    let runtime = runtime();
    let file = runtime.block_on(open(&known.path));
    let memories = user_of(&runtime, &file).memories();
    let core = || timed_on(&runtime, async { memories.core(CoreOptions::default()).await.unwrap() });
    let target = Target::Under(Duration::from_millis(200));
    report.row("core", &known.size(), Length::Short, &alone(Plan::by_round(10), core), target);
    let tend = || timed_on(&runtime, async { memories.tend(TendOptions::default()).await.unwrap() });
    let target = Target::Under(Duration::from_millis(1_500));
    report.row("tend, nothing due", &known.size(), Length::Short, &alone(Plan::by_round(4), tend), target);
    runtime.block_on(file.close()).unwrap();
}

fn edits(turns: &OneUser, report: &mut Report) {
    let runtime = runtime();
    let folder = scratch();
    let path = folder.path().join("edited.db");
    fs::copy(&turns.path, &path).unwrap();
    let mut config = relaxed();
    config.recall_bytes = usize::MAX;
    let file = runtime.block_on(Thermocline::open_with(&path, config)).unwrap();
    let user = user_of(&runtime, &file);
    let memories = user.memories().by(Origin::User);
    let (mut writer, mut words) = (Writer::new(8), Writer::new(9));
    let edited = runtime.block_on(memories.save(memory(&mut words, 0))).unwrap().memory.id;
    let (count, now) = (operations(1_000), turns.now());
    let asked =
        |writer: &mut Writer| recall(&runtime, &user, &question(writer), RecallOptions::default().now(now));
    let without = Sample::new((0..count).map(|_| asked(&mut writer)).collect());
    let mut writer = Writer::new(8);
    let with = (0..count).map(|number| {
        let (_, content) = words.sides(Length::Short);
        let edit = Edit::default().content(format!("{content} {number}"));
        runtime.block_on(memories.edit(edited, edit)).unwrap();
        asked(&mut writer)
    });
    let with = Sample::new(with.collect());
    let most = with.percentile(99).as_secs_f64() / without.median().as_secs_f64();
    let measured = Measured { ours: with, plain: Some(without), ratio: Some(most) };
    let question =
        format!("recall after each of {} edits; plain: without; ratio: p99 / p50", thousands(count));
    report.row(&question, &turns.size(), Length::Short, &measured, Target::Ratio(1.3));
    runtime.block_on(file.run_jobs(RunJobs::default())).unwrap();
    assert!(runtime.block_on(file.doctor()).unwrap().is_healthy());
    runtime.block_on(file.close()).unwrap();
}
