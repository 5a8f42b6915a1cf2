//! How the file grows, and how large it is.

use std::{env, path::Path, time::Duration};

use rusqlite::Connection;
use thermocline::{ContextOptions, Durability, NewTurn, RunJobs, Thermocline};

use crate::{
    chat::{config, said},
    one_user::user,
    support::{
        Length, is_test, plain,
        rounds::{Sample, timed_on},
        runtime, scratch,
        table::{Report, percentiles, thousands},
    },
};

/// The number of turns per session.
const SESSION: usize = 50;
/// The number of receipts that are kept of a user. After these, receipts no longer make the file grow.
const RECEIPTS: usize = 1_000;

/// Returns how many contexts to answer: `THERMOCLINE_BENCH_ANSWERED`, by default 10,000; for long turns, three tenths of
/// it.
fn answered(length: Length) -> usize {
    if is_test() {
        return 12;
    }
    let all =
        env::var("THERMOCLINE_BENCH_ANSWERED").map_or(10_000, |n| n.parse().expect("a number of contexts"));
    if length == Length::Short { all } else { all / 10 * 3 }
}

/// Measures the growth of the file of one user, each of whose turns answers a context. Sessions end after 50 turns. Jobs run
/// every 1,000 turns, or after each third of the turns if there are fewer than 3,000. No latency includes them.
pub fn growth(length: Length, report: &mut Report) {
    let (folder, runtime, count) = (scratch(), runtime(), answered(length));
    let path = folder.path().join("ours.db");
    let part = RECEIPTS.min(count / 3);
    let all = said(length, count);
    let (mut sizes, mut contexts, mut records) = (vec![], Vec::new(), Vec::new());
    let memory = runtime.block_on(Thermocline::open_with(&path, config(Durability::Full))).unwrap();
    runtime.block_on(memory.ready()).unwrap();
    let user = runtime.block_on(memory.user("alex")).unwrap();
    let conn = plain::reader(&path);
    for (n, (message, reply)) in all.iter().enumerate() {
        let session = runtime.block_on(user.session_named(&format!("talk-{}", n / SESSION))).unwrap();
        let mut receipt = None;
        contexts.push(timed_on(&runtime, async {
            let context = session.context(message, ContextOptions::default()).await.unwrap();
            receipt = Some(context.receipt);
            context
        }));
        let turn = NewTurn::new(message, reply).caller_id(format!("turn-{n}"));
        let turn = turn.answering(receipt.expect("it was just set"));
        records.push(timed_on(&runtime, async { session.record(turn).await.unwrap() }));
        if (n + 1) % SESSION == 0 {
            runtime.block_on(session.end()).unwrap();
        }
        if (n + 1) % part == 0 {
            runtime.block_on(memory.run_jobs(RunJobs::default())).unwrap();
            sizes.push(bytes(&conn));
        }
    }
    let text = length.characters() as f64;
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    let each = (last - first) as f64 / ((sizes.len() - 1) * part) as f64;
    let both_ends = |times: &[Duration]| {
        let ends = [&times[..part], &times[times.len() - part..]];
        ends.map(|times| percentiles(&Sample::new(times.to_vec()), &[50, 95])).join(" -> ")
    };
    report.line(&[
        format!("{} answered contexts", thousands(count)),
        length.to_string(),
        format!("{:.2} KB", first as f64 / part as f64 / 1e3),
        format!("{:.2} KB ({:.2} KB + text)", each / 1e3, (each - text) / 1e3),
        both_ends(&contexts),
        both_ends(&records),
        "<= 1.5 KB + text".to_owned(),
        if each - text <= 1_500.0 { "met" } else { "missed" }.to_owned(),
    ]);
    drop(conn);
    runtime.block_on(memory.close()).unwrap();
    report.keep_note(parts(&path, &format!("after growth, {length}")));
}

/// Compares the size of a user's file with the size of the text. All sessions but the last have ended and are compressed.
pub fn size(length: Length, report: &mut Report) {
    let user = user(length);
    let bytes = bytes(&plain::reader(&user.path)) as f64;
    let text = (user.turns * length.characters()) as f64;
    let most = if length == Length::Short { 7.5 } else { 1.55 };
    let times = bytes / text;
    report.line(&[
        format!("file of {} turns", thousands(user.turns)),
        length.to_string(),
        format!("{:.2} MB", text / 1e6),
        format!("{:.2} MB", bytes / 1e6),
        format!("{times:.2}"),
        format!("<= {most} times"),
        if times <= most { "met" } else { "missed" }.to_owned(),
    ]);
    report.keep_note(parts(&user.path, &length.to_string()));
}

/// Returns the size of the whole file, including pages that are so far only in its log.
fn bytes(conn: &Connection) -> i64 {
    conn.query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| {
        row.get(0)
    })
    .unwrap()
}

/// Returns the largest parts of the file.
fn parts(path: &Path, of: &str) -> String {
    let conn = plain::reader(path);
    let mut stmt = conn
        .prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 10")
        .unwrap();
    let part = |row: &rusqlite::Row<'_>| {
        Ok(format!("{} {:.2}", row.get::<_, String>(0)?, row.get::<_, i64>(1)? as f64 / 1e6))
    };
    let parts: Vec<String> = stmt.query_map([], part).unwrap().map(Result::unwrap).collect();
    format!("The file by part, MB, {of}: {}.", parts.join(", "))
}
