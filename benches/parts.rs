//! How long does each part of the work take, in this build?
//!
//! The driver of `contrib/beside-last`, which builds it at two commits and runs the two in turn. One process measures
//! one part and prints one line of JSON: how many operations, and the CPU and wall time of the median one. It judges
//! nothing, because a time on a shared machine says little by itself.
//!
//! ```sh
//! cargo bench --bench parts -- prepare         # makes the files that the parts read
//! cargo bench --bench parts -- recall-short    # one part
//! ```

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

#[path = "backend/cpu.rs"]
mod cpu;
mod support;

use std::{env, fs, path::PathBuf, time::Duration};

use cpu::Cpu;
use support::{
    Length, beside, is_test, operations,
    rounds::timed,
    runtime, scratch,
    text::Writer,
    transcripts,
    user::{OneUser, open},
};
use tempfile::TempDir;
use thermocline::{
    Config, ContextOptions, MemoryKind, NewMemory, NewTurn, Origin, RecallOptions, RunJobs, Session,
    Thermocline, User,
};
use tokio::runtime::Runtime;

/// A part, by the name that the command line gives it.
type Part = (&'static str, fn(&mut Samples));

const PARTS: [Part; 20] = [
    ("open-short", |s| opening(s, Length::Short, SMALL)),
    ("record-short", |s| recording(s, Length::Short)),
    ("record-long", |s| recording(s, Length::Long)),
    ("documented-short", |s| documented(s, Length::Short)),
    ("documented-long", |s| documented(s, Length::Long)),
    ("at-once-short", |s| at_once(s, Length::Short)),
    ("at-once-long", |s| at_once(s, Length::Long)),
    ("end-short", |s| ending(s, Length::Short)),
    ("end-long", |s| ending(s, Length::Long)),
    ("compress-short", |s| compressing(s, Length::Short)),
    ("compress-long", |s| compressing(s, Length::Long)),
    ("recall-short", |s| recalling(s, Length::Short, SMALL)),
    ("recall-long", |s| recalling(s, Length::Long, SMALL)),
    ("recall-short-100k", |s| recalling(s, Length::Short, LARGE)),
    ("context-short", |s| contexts(s, Length::Short, SMALL)),
    ("context-long", |s| contexts(s, Length::Long, SMALL)),
    ("context-short-100k", |s| contexts(s, Length::Short, LARGE)),
    ("first-recall-short", |s| first_recall(s, Length::Short)),
    ("save-memory", saving),
    ("real-talks", talks),
];

const SMALL: usize = 10_000;
const LARGE: usize = 100_000;

/// The CPU and wall time of each measured operation.
#[derive(Default)]
struct Samples(Vec<(Duration, Duration)>);

impl Samples {
    fn take(&mut self, work: impl FnOnce()) {
        let mut cpu = Cpu::default();
        let mut wall = Duration::ZERO;
        cpu.over(|| wall = timed(work));
        self.0.push((cpu.spent().unwrap_or_default(), wall));
    }

    fn median(&self, of: impl Fn(&(Duration, Duration)) -> Duration) -> u128 {
        let mut times: Vec<Duration> = self.0.iter().map(of).collect();
        times.sort_unstable();
        times.get(times.len() / 2).map_or(0, Duration::as_nanos)
    }
}

#[allow(clippy::print_stdout, reason = "how a process tells its figure to the one that started it")]
fn main() {
    let wanted: Vec<String> = env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if wanted.iter().any(|part| part == "prepare") {
        return prepare();
    }
    for (name, part) in PARTS {
        if is_test() || wanted.iter().any(|part| part == name) {
            let mut samples = Samples::default();
            part(&mut samples);
            let (cpu, wall) = (samples.median(|it| it.0), samples.median(|it| it.1));
            if !is_test() {
                println!(
                    r#"{{"part":"{name}","operations":{},"cpu_ns":{cpu},"wall_ns":{wall}}}"#,
                    samples.0.len()
                );
            }
        }
    }
}

fn prepare() {
    for (turns, length) in [(SMALL, Length::Short), (SMALL, Length::Long), (LARGE, Length::Short)] {
        OneUser::of(turns, length, 0);
    }
}

fn file_of(length: Length, turns: usize) -> OneUser {
    OneUser::of(if is_test() { 100 } else { turns }, length, 0)
}

/// A copy of a file, because a part that writes must not change it for the next one.
fn copy_of(one: &OneUser) -> (TempDir, PathBuf) {
    let folder = scratch();
    let path = folder.path().join("m.db");
    fs::copy(&one.path, &path).unwrap();
    (folder, path)
}

fn opening(samples: &mut Samples, length: Length, turns: usize) {
    let (one, runtime) = (file_of(length, turns), runtime());
    let (_folder, path) = copy_of(&one);
    runtime.block_on(async { open(&path).await.close().await.unwrap() });
    for _ in 0..operations(20) {
        let mut config = Config::default();
        config.worker = false;
        let mut memory = None;
        samples.take(|| memory = Some(runtime.block_on(Thermocline::open_with(&path, config)).unwrap()));
        runtime.block_on(memory.take().unwrap().close()).unwrap();
    }
}

/// The turns of one operation, where a single one takes too little time to be told from the measuring.
const AT_A_TIME: usize = 10;

fn recording(samples: &mut Samples, length: Length) {
    let (folder, runtime) = (scratch(), runtime());
    let (memory, user) = beside::open(&runtime, &folder.path().join("m.db"));
    let session = runtime.block_on(user.session_named("talk")).unwrap();
    let mut writer = Writer::new(7);
    for _ in 0..operations(40) {
        let turns: Vec<NewTurn> = (0..AT_A_TIME).map(|_| writer.turn(length)).collect();
        samples.take(|| {
            runtime.block_on(async {
                for turn in turns {
                    session.record(turn).await.unwrap();
                }
            });
        });
    }
    runtime.block_on(memory.close()).unwrap();
}

/// A context and the record that answers it, as the documentation has it.
async fn answered(session: &Session, (message, reply): (String, String)) {
    let context = session.context(&message, ContextOptions::default().budget_tokens(4_400)).await.unwrap();
    session.record(NewTurn::new(message, reply).answering(context.receipt)).await.unwrap();
}

fn documented(samples: &mut Samples, length: Length) {
    let (one, runtime) = (file_of(length, SMALL), runtime());
    let (_folder, path) = copy_of(&one);
    let memory = runtime.block_on(open(&path));
    let (_, session) = runtime.block_on(one.user_and_session(&memory));
    let mut writer = Writer::new(17);
    for _ in 0..operations(30) {
        let said: Vec<_> = (0..AT_A_TIME / 2).map(|_| writer.sides(length)).collect();
        samples.take(|| {
            runtime.block_on(async {
                for said in said {
                    answered(&session, said).await;
                }
            });
        });
    }
    runtime.block_on(memory.close()).unwrap();
}

/// Sessions that record at the same time.
const SESSIONS: usize = 32;

fn at_once(samples: &mut Samples, length: Length) {
    let (folder, runtime) = (scratch(), runtime());
    let (memory, user) = beside::open(&runtime, &folder.path().join("m.db"));
    let session = |place: usize| runtime.block_on(user.session_named(&format!("talk-{place}"))).unwrap();
    let sessions: Vec<Session> = (0..SESSIONS).map(session).collect();
    let mut writer = Writer::new(7);
    for _ in 0..operations(30) {
        let turns: Vec<NewTurn> = sessions.iter().map(|_| writer.turn(length)).collect();
        samples.take(|| {
            runtime.block_on(async {
                let recording: Vec<_> = sessions
                    .iter()
                    .cloned()
                    .zip(turns)
                    .map(|(session, turn)| tokio::spawn(async move { session.record(turn).await.unwrap() }))
                    .collect();
                for recorded in recording {
                    recorded.await.unwrap();
                }
            });
        });
    }
    runtime.block_on(memory.close()).unwrap();
}

fn ending(samples: &mut Samples, length: Length) {
    let (folder, runtime) = (scratch(), runtime());
    let (memory, user) = beside::open(&runtime, &folder.path().join("m.db"));
    let mut writer = Writer::new(7);
    for _ in 0..operations(12) {
        let session = runtime.block_on(user.new_session()).unwrap();
        for _ in 0..operations(50) {
            runtime.block_on(answered(&session, writer.sides(length)));
        }
        samples.take(|| runtime.block_on(session.end()).map(drop).unwrap());
    }
    runtime.block_on(memory.close()).unwrap();
}

fn compressing(samples: &mut Samples, length: Length) {
    let (folder, runtime) = (scratch(), runtime());
    let (memory, user) = beside::open(&runtime, &folder.path().join("m.db"));
    let mut writer = Writer::new(7);
    for _ in 0..operations(8) {
        let session = runtime.block_on(user.new_session()).unwrap();
        for _ in 0..operations(50) {
            runtime.block_on(session.record(writer.turn(length))).unwrap();
        }
        runtime.block_on(session.end()).unwrap();
        samples.take(|| runtime.block_on(memory.run_jobs(RunJobs::default())).map(drop).unwrap());
    }
    runtime.block_on(memory.close()).unwrap();
}

fn question(writer: &mut Writer, number: usize) -> String {
    let [a, b, c] = writer.common_words();
    let [name, ..] = writer.names();
    match number % 4 {
        0 => format!("What did we decide about the {a} and the {b}?"),
        1 => format!("Which {a} did {name} want for the {b}?"),
        2 => format!("How is the {a} {b} {c} going?"),
        _ => format!("{name} asked about the {a} again, what was it?"),
    }
}

/// Asks questions of a file with warm caches.
fn asking(one: &OneUser, samples: &mut Samples, ask: impl Fn(&Runtime, &User, &Session, &str)) {
    let runtime = runtime();
    let (_folder, path) = copy_of(one);
    let memory = runtime.block_on(open(&path));
    let (user, session) = runtime.block_on(one.user_and_session(&memory));
    let mut writer = Writer::new(5);
    for number in 0..operations(10) {
        ask(&runtime, &user, &session, &question(&mut writer, number));
    }
    for number in 0..operations(60) {
        let question = question(&mut writer, number);
        samples.take(|| ask(&runtime, &user, &session, &question));
    }
    runtime.block_on(memory.close()).unwrap();
}

fn recalling(samples: &mut Samples, length: Length, turns: usize) {
    let one = file_of(length, turns);
    asking(&one, samples, |runtime, user, _, question| {
        let options = RecallOptions::default().now(one.now());
        runtime.block_on(user.recall(question, options)).map(drop).unwrap();
    });
}

fn contexts(samples: &mut Samples, length: Length, turns: usize) {
    let one = file_of(length, turns);
    asking(&one, samples, |runtime, _, session, question| {
        let options = ContextOptions::default().now(one.now());
        runtime.block_on(session.context(question, options)).map(drop).unwrap();
    });
}

fn first_recall(samples: &mut Samples, length: Length) {
    let (one, runtime) = (file_of(length, SMALL), runtime());
    let mut writer = Writer::new(5);
    for number in 0..operations(8) {
        let memory = runtime.block_on(one.open());
        let (user, _) = runtime.block_on(one.user_and_session(&memory));
        let question = question(&mut writer, number);
        let options = RecallOptions::default().now(one.now());
        samples.take(|| runtime.block_on(user.recall(&question, options)).map(drop).unwrap());
        runtime.block_on(memory.close()).unwrap();
    }
}

fn saving(samples: &mut Samples) {
    let (folder, runtime) = (scratch(), runtime());
    let (memory, user) = beside::open(&runtime, &folder.path().join("m.db"));
    let memories = user.memories().by(Origin::User);
    let mut writer = Writer::new(9);
    for number in 0..operations(40) {
        let new = |place: usize| {
            let (title, content) = writer.sides(Length::Short);
            let kind = MemoryKind::ALL[(number + place) % 9];
            NewMemory::new(kind, title, format!("{content} {number} {place}"))
        };
        let new: Vec<NewMemory> = (0..AT_A_TIME).map(new).collect();
        samples.take(|| {
            runtime.block_on(async {
                for new in new {
                    memories.save(new).await.unwrap();
                }
            });
        });
    }
    runtime.block_on(memory.close()).unwrap();
}

/// Real conversations (`THERMOCLINE_BENCH_TRANSCRIPTS`): recorded, compressed, and asked with their own messages. The
/// whole of one conversation is one operation.
fn talks(samples: &mut Samples) {
    for ((_, talk), (_, said)) in transcripts::talks().into_iter().zip(transcripts::said()).take(3) {
        let (folder, runtime) = (scratch(), runtime());
        let (memory, user) = beside::open(&runtime, &folder.path().join("m.db"));
        let asked: Vec<String> = said.into_iter().step_by(9).map(|(message, _)| message).collect();
        samples.take(|| {
            runtime.block_on(async {
                for turns in talk {
                    let session = user.new_session().await.unwrap();
                    for turn in turns {
                        session.record(turn).await.unwrap();
                    }
                    session.end().await.unwrap();
                }
                memory.run_jobs(RunJobs::default()).await.unwrap();
                for question in asked.iter().filter(|question| !question.is_empty()) {
                    user.recall(question, RecallOptions::default()).await.unwrap();
                }
            });
        });
        runtime.block_on(memory.close()).unwrap();
    }
}
