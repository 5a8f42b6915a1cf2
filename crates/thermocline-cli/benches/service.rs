//! What does it cost to reach the memory over HTTP, and how does the service bear a crowd?
//!
//! `thermocline serve` as a process, on the loopback, beside the library in this process, on the same file.
//!
//! - `overhead`: `turn_show`, `record` and `recall` of a user with 10,000 turns, call by call in turn. Targets: the median
//!   100 microseconds over the library's, `recall`'s 99th percentile 1.25 times the library's. Beside them, what a request
//!   for nothing takes: two wake-ups of idle cores, and the way through TCP and HTTP.
//! - `load`: 1,000 clients for 60 seconds over 100 users; of ten calls nine recall or ask for a context, one records. A
//!   client that gets 503 waits as long as `Retry-After` says. Targets: no other 5xx; the answered ones' 99th percentile 500
//!   ms; 256 MiB more memory at most than before. Then seven rounds on files that are alike, the crowd and the library in
//!   turn, which answers as many calls from 32 tasks: 0.7 of what the library answers in a second, by the median.
//! - `slow`: 1,000 sockets that send a head or a body a byte at a time, or do not read their answers, for 60 seconds.
//!   Targets: the others' 99th percentile 50 ms, the slow ones closed within 20 seconds, the server's handles back where they
//!   were.
//! - `ready`: from the start of the process to `/health/ready`, on 100,000 turns. Target: 50 ms.
//!
//! `THERMOCLINE_BENCH_PARTS` chooses of `overhead,load,slow,ready`; `THERMOCLINE_BENCH_SECONDS` says how long `load` and
//! `slow` last.

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

/// How long a crowd stays.
fn crowd_time() -> Duration {
    let seconds =
        env::var("THERMOCLINE_BENCH_SECONDS").map_or(60, |seconds| seconds.parse().expect("seconds"));
    if is_test() { Duration::from_millis(500) } else { Duration::from_secs(seconds) }
}

/// A row: what was asked, what was seen, what it is to be, and whether it is.
fn judged(report: &mut Report, what: &str, figure: String, target: &str, is_met: bool) {
    let verdict = if is_met { "met" } else { "missed" };
    report.line(&[what.to_owned(), figure, target.to_owned(), verdict.to_owned()]);
}

/// `part` of these, in order, from 0 to 1.
fn percentile(times: &mut [Duration], part: f64) -> Duration {
    times.sort_unstable();
    let at = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
    times.get(at).copied().unwrap_or_default()
}
