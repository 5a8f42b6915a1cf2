//! What does a backend wait for that takes the documented path?
//!
//! For each message `session.context(message, options)`, then
//! `session.record(NewTurn::new(message, reply).caller_id(id).answering(context.receipt))`, at the end `session.end()`.
//!
//! - One user who has said 10,000 turns: the documented record beside a plain transaction of **the same rows** and beside
//!   one bare row of `conversation_turns`, in turn, each in its own copy of the file. The same rows are all that the record
//!   leaves in any table, and its part of what is written behind it, with the values that the library wrote, checksums
//!   too: rusqlite, prepared statements, no triggers, one immediate transaction (`backend/changes.rs` says how they are
//!   found). The receipt that the context leaves is written before, by both, uncounted. The plain file checkpoints each
//!   1,000 pages inside a commit, as SQLite does by default. Targets: a record of a short turn 1.5, of a long one 1.8 times
//!   the same rows; `hot()` after a context 20 microseconds; `end` 1 ms.
//! - 32 sessions that record at once, with callers' ids: 0.75 (short) and 0.6 (long) of the rate of the same rows through
//!   one thread with group commit.
//! - 1,000 users and 32 tasks on two workers: 1,400 contexts a second, 800 contexts with their records.
//! - Growth: behind the first 1,000 receipts an answered turn takes 1.5 KB and its text. The file after compression and
//!   indexing: at most 7.5 (short) and 1.55 (long) times the text.
//!
//! Jobs run when nothing is measured. `THERMOCLINE_BENCH_PARTS` chooses of `record,end,at-once,users,growth,size,text`;
//! `text` compares generated text with transcripts, and goes only when it is asked for.

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
