//! Concurrent use: 32 sessions of one user, and 1,000 users.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use thermocline::{ContextOptions, Durability, NewTurn, Session, Thermocline};
use tokio::runtime::{Builder, Runtime};

use crate::{
    changes::Log,
    chat::{Said, config, said},
    one_user::user,
    replay::{GroupCommit, Plain},
    support::{
        self, Length,
        corpus::Corpus,
        is_test, operations,
        rounds::{Sample, median_of},
        runtime, scratch,
        table::{Report, percentiles, thousands},
        text::{Rng, Writer},
        user::OneUser,
    },
};

/// The number of sessions, and of tasks.
const AT_ONCE: usize = 32;
const ROUNDS: usize = 7;
/// The number of turns that each session records in a round.
const TURNS: usize = 40;

fn two_workers() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Measures 32 sessions that record with callers' ids, compared with the same rows written by one thread with group
/// commit.
pub fn at_once(length: Length, report: &mut Report) {
    let (user, folder, runtime) = (user(length), scratch(), two_workers());
    let copy = |name: &str| {
        let path = folder.path().join(name);
        fs::copy(&user.path, &path).unwrap();
        path
    };
    let turns = operations(TURNS);
    // There is one more round, which runs first and is not counted.
    let of_round = AT_ONCE * turns;
    let said: Vec<Said> = said(length, (1 + ROUNDS) * of_round);

    let rows_path = copy("rows.db");
    let mut log = Log::start(&rows_path);
    let (memory, sessions) = opened(&user, &rows_path, Durability::Relaxed);
    let opening = log.read();
    let mut records = Vec::new();
    let one_by_one = support::runtime();
    for (n, said) in said.iter().enumerate() {
        one_by_one.block_on(sessions[n % AT_ONCE].record(turn(said, n))).unwrap();
        records.push(log.read());
    }
    one_by_one.block_on(memory.close()).unwrap();
    records.last_mut().unwrap().extend(log.read());
    let rows = records.iter().map(Vec::len).sum::<usize>() as f64 / records.len() as f64;
    let mut plain = Plain::open(&copy("plain.db"));
    plain.write(&opening);
    let plain = GroupCommit::start(plain, records);

    let (memory, sessions) = opened(&user, &copy("ours.db"), Durability::Full);
    let (mut rates, mut waits): ([Vec<f64>; 2], Vec<Duration>) = Default::default();
    for (round, said) in said.chunks(of_round).enumerate() {
        let first = round * of_round;
        let (ours, ours_waits) = rate(&runtime, |task| {
            let session = sessions[task].clone();
            let turns: Vec<NewTurn> = said
                .iter()
                .enumerate()
                .skip(task)
                .step_by(AT_ONCE)
                .map(|(n, said)| turn(said, first + n))
                .collect();
            async move {
                let mut waits = Vec::new();
                for turn in turns {
                    let start = Instant::now();
                    session.record(turn).await.unwrap();
                    waits.push(start.elapsed());
                }
                waits
            }
        });
        let (by_hand, _) = rate(&runtime, |_| {
            let plain = plain.clone();
            async move {
                let mut waits = Vec::new();
                for _ in 0..turns {
                    let start = Instant::now();
                    plain.record().await;
                    waits.push(start.elapsed());
                }
                waits
            }
        });
        if round > 0 {
            rates[0].push(ours);
            rates[1].push(by_hand);
            waits.extend(ours_waits);
        }
    }
    let ratio = median_of(rates[0].iter().zip(&rates[1]).map(|(ours, plain)| ours / plain).collect());
    let least = if length == Length::Short { 0.75 } else { 0.6 };
    let [ours, plain] = rates.map(|rates| thousands(median_of(rates)));
    report.line(&[
        format!("32 sessions record at once ({rows:.1} rows each)"),
        length.to_string(),
        ours,
        plain,
        format!("{ratio:.2}"),
        percentiles(&Sample::new(waits), &[50, 95]),
        format!(">= {least} times the same rows"),
        if ratio >= least { "met" } else { "missed" }.to_owned(),
    ]);
    runtime.block_on(memory.close()).unwrap();
}

fn turn((message, reply): &Said, n: usize) -> NewTurn {
    NewTurn::new(message, reply).caller_id(format!("at-once-{n}"))
}

/// Opens the user's file, and returns the memory and new sessions, one per task.
fn opened(of: &OneUser, path: &Path, durability: Durability) -> (Thermocline, Vec<Session>) {
    runtime().block_on(async {
        let memory = Thermocline::open_with(path, config(durability)).await.unwrap();
        memory.ready().await.unwrap();
        let (user, _) = of.user_and_session(&memory).await;
        let mut sessions = Vec::new();
        for n in 0..AT_ONCE {
            sessions.push(user.session_named(&format!("at-once-{n}")).await.unwrap());
        }
        (memory, sessions)
    })
}

/// Returns the combined rate of all tasks per second, and the duration of each operation.
fn rate<F>(runtime: &Runtime, task: impl Fn(usize) -> F) -> (f64, Vec<Duration>)
where
    F: Future<Output = Vec<Duration>> + Send + 'static,
{
    let tasks: Vec<F> = (0..AT_ONCE).map(task).collect();
    runtime.block_on(async {
        let start = Instant::now();
        let tasks: Vec<_> = tasks.into_iter().map(|task| tokio::spawn(task)).collect();
        let mut waits = Vec::new();
        for task in tasks {
            waits.extend(task.await.unwrap());
        }
        (waits.len() as f64 / start.elapsed().as_secs_f64(), waits)
    })
}

/// Measures 1,000 users, each with 250 short turns in five sessions, and 32 tasks, each of which queries random users.
pub fn users(report: &mut Report) {
    let wanted = if is_test() { 4 } else { 1_000 };
    let (corpus, folder, runtime) = (Corpus::of_users(wanted, Length::Short), scratch(), two_workers());
    let path = folder.path().join("ours.db");
    fs::copy(&corpus.path, &path).unwrap();
    let (memory, sessions) = support::runtime().block_on(async {
        let memory = Thermocline::open_with(&path, config(Durability::Full)).await.unwrap();
        memory.ready().await.unwrap();
        let mut sessions = Vec::new();
        for session in corpus.last_sessions() {
            sessions.push(corpus.session(&memory, session).await);
        }
        (memory, sessions)
    });
    let sessions: Arc<[Session]> = sessions.into();
    // Each user is queried once, so that recall has the user's index in memory.
    rate(&runtime, |task| {
        let sessions = Arc::clone(&sessions);
        async move {
            for session in sessions.iter().skip(task).step_by(AT_ONCE) {
                session.context("What do you know of me?", ContextOptions::default()).await.unwrap();
            }
            Vec::new()
        }
    });
    let (mut rates, mut waits): ([Vec<f64>; 2], [Vec<Duration>; 2]) = Default::default();
    for round in 0..ROUNDS {
        for (place, records) in [false, true].into_iter().enumerate() {
            let (rate, round_waits) = rate(&runtime, |task| {
                ask(Arc::clone(&sessions), (round * 2 + place) * AT_ONCE + task, records)
            });
            rates[place].push(rate);
            waits[place].extend(round_waits);
        }
    }
    for ((question, least), (rates, waits)) in [("contexts", 1_400.0), ("contexts with their records", 800.0)]
        .into_iter()
        .zip(rates.into_iter().zip(waits))
    {
        let rate = median_of(rates);
        report.line(&[
            format!("{} users, 32 tasks: {question}", thousands(sessions.len())),
            Length::Short.to_string(),
            thousands(rate),
            "-".to_owned(),
            "-".to_owned(),
            percentiles(&Sample::new(waits), &[50, 95]),
            format!(">= {}/s", thousands(least)),
            if rate >= least { "met" } else { "missed" }.to_owned(),
        ]);
    }
    runtime.block_on(memory.close()).unwrap();
}

/// Runs one task: for about a second it sends messages of random users, each with a context and, if `records`, with a
/// record.
async fn ask(sessions: Arc<[Session]>, task: usize, records: bool) -> Vec<Duration> {
    let most = Duration::from_millis(if is_test() { 10 } else { 1_000 });
    let (mut rng, mut writer) = (Rng::new(task as u64), Writer::new(1_000 + task as u64));
    let (start, mut waits) = (Instant::now(), Vec::new());
    while start.elapsed() < most {
        let (message, reply) = writer.sides(Length::Short);
        let session = &sessions[rng.below(sessions.len())];
        let before = Instant::now();
        let context = session.context(&message, ContextOptions::default()).await.unwrap();
        if records {
            let id = format!("users-{task}-{}", waits.len());
            let turn = NewTurn::new(message, reply).caller_id(id).answering(context.receipt);
            session.record(turn).await.unwrap();
        }
        waits.push(before.elapsed());
    }
    waits
}
