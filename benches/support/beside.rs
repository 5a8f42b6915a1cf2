//! Compares the time of records while jobs run in the same process with their time without jobs.

use std::{
    future::Future,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use thermocline::{Config, Durability, NewTurn, RunJobs, Thermocline, User};
use tokio::runtime::{Builder, Runtime};

use super::{
    Length, is_test, operations,
    rounds::{ROUNDS, Sample, median_of},
    scratch,
    table::{Report, percentiles},
    text::Writer,
};

/// The columns of the table.
pub const COLUMNS: [&str; 7] = [
    "records",
    "turn (characters)",
    "beside p50 / p95 / p99",
    "without p50 / p95 / p99",
    "ratio p50 / p95",
    "target",
    "verdict",
];

/// Opens a file in which jobs run only on request.
pub fn open(runtime: &Runtime, path: &Path) -> (Thermocline, User) {
    let mut config = Config::default();
    (config.worker, config.durability) = (false, Durability::Full);
    runtime.block_on(async {
        let memory = Thermocline::open_with(path, config).await.unwrap();
        memory.ready().await.unwrap();
        let user = memory.user("alex").await.unwrap();
        (memory, user)
    })
}

/// Adds a row for records into one session. Each round records first while jobs process what `prepare` queued, then without
/// jobs. `prepare` should queue more work than the jobs can finish during a round, because the first part ends when the jobs
/// do.
pub fn records(
    (question, length): (&str, Length),
    report: &mut Report,
    mut prepare: impl FnMut(&Runtime, &Thermocline, &User, &mut Writer),
) {
    let folder = scratch();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (memory, user) = open(&runtime, &folder.path().join("ours.db"));
    let mut writer = Writer::new(9);
    let talk = runtime.block_on(user.session_named("talk")).unwrap();
    let (mut with, mut without, mut ratios) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        prepare(&runtime, &memory, &user, &mut writer);
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
                        break; // The queue is empty, so no further record would run next to jobs.
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
        question.to_owned(),
        length.to_string(),
        format!("{} ({} records)", percentiles(&Sample::new(with.clone()), &[50, 95, 99]), with.len()),
        percentiles(&Sample::new(without), &[50, 95, 99]),
        format!("{median:.2} / {p95:.2}"),
        "<= 2 times, both".to_owned(),
        if median <= 2.0 && p95 <= 2.0 { "met" } else { "missed" }.to_owned(),
    ]);
}

async fn timed_async<T>(work: impl Future<Output = T>) -> Duration {
    let start = Instant::now();
    work.await;
    start.elapsed()
}
