//! How much does it cost to reach the memory over HTTP, and how does the service behave under the load of many clients?
//!
//! `thermocline serve` runs as a process on the loopback address. `overhead` and `load` compare it with the library in
//! this process, on a copy of the same file.
//!
//! - `overhead`: `turn_show`, `record` and `recall` of a user with 10,000 turns, alternating call by call. Targets: a
//!   median at most 100 microseconds above the library's; for `recall`, a 99th percentile at most 1.25 times the
//!   library's (the table has no verdict on this). The table also has the time of an empty request: that of waking two
//!   idle cores, and of TCP and HTTP.
//! - `load`: 1,000 clients for 60 seconds, over 100 users. Of ten calls, nine recall or request a context, and one records.
//!   A client that gets the status 503 waits for a second, as the service asks it to. Targets: no connection breaks, and no
//!   call fails except with 503 and `Retry-After`; a 99th percentile of the answered calls of at most 500 ms; at most 256
//!   MiB more memory than before. Then the clients and the library alternate for seven rounds, on two equal copies of a
//!   file. In each round, the library answers as many calls as the service did, from 32 tasks. Target: in the median, the
//!   service answers at least 0.7 times as many calls per second as the library.
//! - `slow`: 1,000 sockets, for 60 seconds, that send a head or a body one byte at a time, or do not read their answers.
//!   Targets: a 99th percentile of the other clients of at most 50 ms; the slow sockets closed within 20 seconds;
//!   afterwards no more open handles in the server than before.
//! - `ready`: the time from the start of the process until `/health/ready` reports that it is ready, with 10,000 and 100,000
//!   turns (`THERMOCLINE_BENCH_TURNS`). Target: a median under 50 ms.
//!
//! `THERMOCLINE_BENCH_PARTS` selects from `overhead,load,slow,ready`; `THERMOCLINE_BENCH_SECONDS` says how long `load`
//! and `slow` run, by default 60.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    unreachable_pub,
    missing_docs,
    reason = "a benchmark"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures to print: far below what a cast could lose"
)]

#[path = "service/client.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod client;
#[path = "service/load.rs"]
mod load;
#[path = "service/overhead.rs"]
mod overhead;
#[path = "service/ready.rs"]
mod ready;
#[path = "service/slow.rs"]
mod slow;
#[path = "../../../benches/support/mod.rs"]
mod support;

use std::{env, time::Duration};

use support::{is_test, table::Report};

fn main() {
    let wanted =
        env::var("THERMOCLINE_BENCH_PARTS").unwrap_or_else(|_| "overhead,load,slow,ready".to_owned());
    let wants = |part: &str| wanted.split(',').any(|wanted| wanted.trim() == part);
    let mut report = Report::new("service");
    if wants("overhead") {
        overhead::measure(&mut report);
    }
    if wants("load") {
        load::measure(&mut report);
    }
    if wants("slow") {
        slow::measure(&mut report);
    }
    if wants("ready") {
        ready::measure(&mut report);
    }
    report.save();
}

/// Returns how long the clients of `load` and `slow` send requests.
fn crowd_time() -> Duration {
    let seconds =
        env::var("THERMOCLINE_BENCH_SECONDS").map_or(60, |seconds| seconds.parse().expect("seconds"));
    if is_test() { Duration::from_millis(500) } else { Duration::from_secs(seconds) }
}

/// Adds a row: what was measured, the figure, its target, and whether it is met.
fn judged(report: &mut Report, what: &str, figure: String, target: &str, is_met: bool) {
    let verdict = if is_met { "met" } else { "missed" };
    report.line(&[what.to_owned(), figure, target.to_owned(), verdict.to_owned()]);
}

/// Returns the percentile of the times; `part` is from 0 to 1. Sorts the times.
fn percentile(times: &mut [Duration], part: f64) -> Duration {
    times.sort_unstable();
    let at = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}
