//! How long does it take to decide which turn leaves the hot tier? This is a pure function, without a file or a clock.
//!
//! A full tier takes one turn and evicts one: short turns reach the limit on turns, long turns the limit on tokens.
//!
//! Target: none, because it is a part of `record`. Plain alternative: a `VecDeque` that is kept at a length of 5.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]

mod support;

use std::{collections::VecDeque, hint::black_box, sync::Arc, time::Duration};

use criterion::Criterion;
use support::{
    Length, lengths,
    rounds::{Measured, Plan, interleave, timed},
    runtime, scratch,
    table::{Report, Target},
    text::Writer,
};
use thermocline::{Config, HotLimits, HotTier, Thermocline, Turn};

/// Returns the default limits.
fn limits() -> HotLimits {
    let config = Config::default();
    HotLimits::new(config.hot_turns, config.hot_tokens)
}

/// The number of pushes that are timed together, because one takes less time than reading the clock.
const TOGETHER: u32 = 1_000;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let mut report = Report::with_usual_columns("push");
    for length in lengths() {
        let turn = recorded_turn(length);
        let (mut hot, mut queue) = (full(&turn), VecDeque::from(vec![Arc::clone(&turn); limits().turns]));
        let measured = interleave(
            Plan::by_round(200),
            || timed(|| (0..TOGETHER).for_each(|_| push(&mut hot, &turn))),
            || timed(|| (0..TOGETHER).for_each(|_| push_plain(&mut queue, &turn))),
        );
        let one = Measured {
            ours: measured.ours.divided_by(TOGETHER),
            plain: measured.plain.map(|plain| plain.divided_by(TOGETHER)),
            ..measured
        };
        report.row("push with eviction", "-", length, &one, Target::None);
        criterion.bench_function(&format!("push/{}", length.name()), |bencher| {
            bencher.iter(|| push(&mut hot, &turn));
        });
    }
    report.save();
    criterion.final_summary();
}

fn push(hot: &mut HotTier, turn: &Arc<Turn>) {
    let evicted = black_box(&mut *hot).push(Arc::clone(black_box(turn)));
    assert_eq!(evicted.len(), 1, "a full tier gives back one turn of the same size");
    black_box(evicted);
}

fn push_plain(queue: &mut VecDeque<Arc<Turn>>, turn: &Arc<Turn>) {
    let queue = black_box(queue);
    queue.push_back(Arc::clone(black_box(turn)));
    black_box(queue.pop_front());
}

fn full(turn: &Arc<Turn>) -> HotTier {
    let mut hot = HotTier::new(limits());
    for _ in 0..limits().turns {
        hot.push(Arc::clone(turn));
    }
    hot
}

/// Returns a turn with its real token counts.
fn recorded_turn(length: Length) -> Arc<Turn> {
    let folder = scratch();
    runtime().block_on(async {
        let memory = Thermocline::open(folder.path().join("memory.db")).await.unwrap();
        let session = memory.user("alex").await.unwrap().session().await.unwrap();
        session.record(Writer::new(1).turn(length)).await.unwrap();
        let turn = session.turn(1).await.unwrap().unwrap();
        memory.close().await.unwrap();
        Arc::new(turn)
    })
}
