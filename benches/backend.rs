//! How long does a backend that uses the documented API wait?
//!
//! For each message, a backend calls `session.context(message, options)`, then
//! `session.record(NewTurn::new(message, reply).caller_id(id).answering(context.receipt))`, and at the end of the
//! conversation `session.end()`.
//!
//! - One user with 10,000 turns: the documented record, compared with a plain transaction of **the same rows** and with one
//!   bare row of `conversation_turns`. The three alternate, each in its own copy of the file. "The same rows" are all rows
//!   that the record leaves in any table, and an even share of the rows that the library writes only after its records have
//!   returned. They have the library's own values and checksums. They are written with rusqlite, prepared statements, no
//!   triggers for checksums, and one immediate transaction. `backend/changes.rs` explains how these rows are found. The
//!   context's receipt is written before the measurement, in the library's file and in the file of the same rows. The plain
//!   files checkpoint every 1,000 pages inside a commit, as SQLite does by default. Targets: a record of a short turn takes
//!   at most 1.5 times as long as the same rows, of a long turn at most 1.8 times; `hot()` after a context takes less than
//!   20 microseconds; `end` takes less than 1 ms.
//! - 32 sessions that record concurrently, with callers' ids. Targets, relative to the rate of the same rows written by one
//!   thread with group commit: at least 0.75 times with short turns, 0.6 times with long ones.
//! - 1,000 users and 32 tasks on two workers. Targets: at least 1,400 contexts per second without records, and at least 800
//!   per second if each is followed by its record.
//! - Growth. Targets: after the first 1,000 receipts, a turn that answers a context takes at most 1.5 KB plus its text; the
//!   file, after compression and indexing, is at most 7.5 times as large as the text with short turns, 1.55 times with long
//!   ones.
//!
//! Jobs run only while nothing is measured. `THERMOCLINE_BENCH_PARTS` selects from
//! `record,end,at-once,users,growth,size,text`. `text` compares generated text with transcripts, and runs only if it is
//! selected.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub, reason = "a benchmark")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "figures to print: far below what a cast could lose"
)]

#[path = "backend/changes.rs"]
mod changes;
#[path = "backend/chat.rs"]
mod chat;
#[path = "backend/columns.rs"]
mod columns;
#[path = "backend/cpu.rs"]
mod cpu;
#[path = "backend/growth.rs"]
mod growth;
#[path = "backend/many.rs"]
mod many;
#[path = "backend/one_user.rs"]
mod one_user;
#[path = "backend/replay.rs"]
mod replay;
mod support;
#[path = "backend/vocabulary.rs"]
mod vocabulary;

use std::env;

use support::{lengths, table::Report};

const PARTS: &str = "record,end,at-once,users,growth,size";

fn main() {
    let wanted = env::var("THERMOCLINE_BENCH_PARTS").unwrap_or_else(|_| PARTS.to_owned());
    let wants = |part: &str| wanted.split(',').any(|wanted| wanted.trim() == part);
    let mut report = Report::new("backend");
    if wants("text") {
        report.head(&[
            "text",
            "turns",
            "characters a turn",
            "distinct forms",
            "characters a word",
            "characters a token",
            "counting tokens, a character",
        ]);
        vocabulary::compare(&mut report);
    }
    if wants("record") || wants("end") {
        report.head(&columns::COLUMNS);
        for length in lengths() {
            if wants("record") {
                one_user::documented(length, &mut report);
            }
            if wants("end") {
                one_user::end(length, &mut report);
            }
        }
    }
    if wants("at-once") || wants("users") {
        report.head(&[
            "many at once",
            "turn (characters)",
            "a second",
            "same rows, a second",
            "ratio",
            "a wait, p50 / p95",
            "target",
            "verdict",
        ]);
        if wants("at-once") {
            for length in lengths() {
                many::at_once(length, &mut report);
            }
        }
        if wants("users") {
            many::users(&mut report);
        }
    }
    if wants("growth") {
        report.head(&[
            "growth",
            "turn (characters)",
            "a turn, first thousand",
            "a turn, behind them",
            "context p50 / p95, first -> last thousand",
            "record",
            "target",
            "verdict",
        ]);
        for length in lengths() {
            growth::growth(length, &mut report);
        }
    }
    if wants("size") {
        report.head(&["size", "turn (characters)", "text", "file", "times", "target", "verdict"]);
        for length in lengths() {
            growth::size(length, &mut report);
        }
    }
    report.save();
}
