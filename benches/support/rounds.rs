//! Measures the crate and its plain alternative alternately, so that a noisy minute of the machine affects both.

use std::{
    future::Future,
    hint::black_box,
    time::{Duration, Instant},
};

use tokio::runtime::Runtime;

/// The number of rounds of most measurements; the reported ratio is the median of the ratios of the rounds.
pub const ROUNDS: usize = 5;

/// The schedule of a measurement in which two alternatives alternate.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of rounds, each of which gives one ratio.
    pub rounds: usize,
    /// The number of operations of each alternative in a round.
    pub operations: usize,
    /// The number of operations of one alternative before the other has its turn.
    pub in_turn: usize,
}

impl Plan {
    /// Alternates A, B, A, B by whole rounds, so that caches are warm, as in use.
    pub fn by_round(operations: usize) -> Self {
        let operations = super::operations(operations);
        Self { rounds: ROUNDS, operations, in_turn: operations }
    }

    /// Alternates A, B, A, B by single operations, so that the disk is in the same state for both.
    pub fn by_pair(operations: usize) -> Self {
        Self { in_turn: 1, ..Self::by_round(operations) }
    }
}

/// The durations of all operations of one alternative, ascending.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    pub fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    /// Returns the smallest duration that at least `percent` percent do not exceed (nearest rank).
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0[rank - 1]
    }

    pub fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// Divides each duration by the number of operations that were timed together because each is so short.
    pub fn divided_by(self, count: u32) -> Self {
        Self(self.0.into_iter().map(|duration| duration / count).collect())
    }
}

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    pub ours: Sample,
    pub plain: Option<Sample>,
    /// From `interleave`: the median over the rounds of (median of ours / median of the plain alternative). `None` without
    /// an alternative.
    pub ratio: Option<f64>,
}

/// Runs both alternatives alternately. Each closure does ONE operation and returns how long it took; what it does before
/// and after is not counted. A fifth of a round runs first and is not counted.
pub fn interleave(
    schedule: Plan,
    mut ours: impl FnMut() -> Duration,
    mut plain: impl FnMut() -> Duration,
) -> Measured {
    for _ in 0..schedule.operations.div_ceil(5) {
        ours();
        plain();
    }
    let (mut all_ours, mut all_plain, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..schedule.rounds {
        let (mut round_ours, mut round_plain) = (Vec::new(), Vec::new());
        while round_ours.len() < schedule.operations {
            round_ours.extend((0..schedule.in_turn).map(|_| ours()));
            round_plain.extend((0..schedule.in_turn).map(|_| plain()));
        }
        let medians = [&round_ours, &round_plain].map(|round| Sample::new(round.clone()).median());
        ratios.push(medians[0].as_secs_f64() / medians[1].as_secs_f64());
        all_ours.append(&mut round_ours);
        all_plain.append(&mut round_plain);
    }
    Measured {
        ours: Sample::new(all_ours),
        plain: Some(Sample::new(all_plain)),
        ratio: Some(median_of(ratios)),
    }
}

/// Runs a measurement that has no plain alternative.
pub fn alone(schedule: Plan, mut ours: impl FnMut() -> Duration) -> Measured {
    for _ in 0..schedule.operations.div_ceil(5) {
        ours();
    }
    let durations = (0..schedule.rounds * schedule.operations).map(|_| ours()).collect();
    Measured { ours: Sample::new(durations), plain: None, ratio: None }
}

pub fn median_of(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns how long `work` takes. Freeing its result is not counted.
pub fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let done = black_box(work());
    let elapsed = start.elapsed();
    drop(done);
    elapsed
}

/// Returns how long async `work` takes on the runtime's thread. Entering the runtime is not counted.
pub fn timed_on<T>(runtime: &Runtime, work: impl Future<Output = T>) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        let done = black_box(work.await);
        let elapsed = start.elapsed();
        drop(done);
        elapsed
    })
}
