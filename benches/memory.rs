//! How much memory does a backend need that has 1,000 live sessions, each with a full hot tier?
//!
//! Target: < 64 MiB of the process's own memory (`RssAnon`), without the caches of users. `VmRSS` also counts the pages
//! of the program and of its files, which the system may drop. 41 MiB of the heap are the tokenizer's tables.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    dead_code,
    unreachable_pub,
    reason = "a benchmark; it needs little of the support"
)]

mod support;

use std::fs;

use support::{is_test, scratch, table::Report};
use thermocline::{Config, ContextOptions, Durability, NewTurn, blocking::Thermocline};

fn main() {
    let sessions = if is_test() { 10 } else { 1_000 };
    let folder = scratch();
    let mut report = Report::new("memory");
    report.head(&["after", "own memory (`RssAnon`)", "resident (`VmRSS`)"]);
    let mut line = |after: &str| report.line(&[after.to_owned(), mib("RssAnon"), mib("VmRSS")]);

    let mut config = Config::default();
    config.worker = false;
    config.durability = Durability::Relaxed;
    let memory = Thermocline::open_with(folder.path().join("memory.db"), config).unwrap();
    line("opening");
    memory.ready().unwrap();
    line("loading the tokenizer");

    // With 300 tokens per turn, the hot tier of each session is full both by tokens and by turns.
    let text = "The boat needs paint before the summer, and the paint needs dry weather. ".repeat(9);
    let user = memory.user("user").unwrap();
    let all: Vec<_> = (0..sessions).map(|n| user.session_named(&n.to_string()).unwrap()).collect();
    for n in 0..7 {
        for session in &all {
            session.record(NewTurn::new(format!("{n} {text}"), text.clone())).unwrap();
        }
    }
    line(&format!("recording 7 turns of 300 tokens in each of {sessions} sessions"));
    for session in &all {
        session.context("you mentioned the paint earlier", ContextOptions::default()).unwrap();
    }
    line("a context of each, referring back");
    report.save();
}

/// Returns a value of `/proc/self/status` in MiB; `-` on systems without this file.
fn mib(name: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| {
        line.strip_prefix(name)?.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<f64>().ok()
    });
    kib.map_or_else(|| "-".to_owned(), |kib| format!("{:.1} MiB", kib / 1_024.0))
}
