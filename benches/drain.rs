//! What happens if very many sessions end at once: is the queue processed, how fast, in how much memory, and how large is
//! the file afterwards?
//!
//! Measured once with the originals kept in the archive, and once with the originals deleted. With the originals deleted,
//! the summaries (sentences and keywords) should be at least 70 % smaller than the text that they replace. Each time, the
//! size of the largest parts of the file is reported too. The sessions are those of `THERMOCLINE_BENCH_TRANSCRIPTS`,
//! recorded repeatedly, each time as another user's (see `support/transcripts.rs`); without that variable, sessions of 20
//! turns with generated text. `THERMOCLINE_BENCH_SESSIONS` sets the total number of sessions, by default 1,000; the sets of
//! transcripts have equal shares of it.
//!
//! Plain alternative: none that does this work.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    unreachable_pub,
    reason = "a benchmark"
)]

mod support;

use std::{env, path::Path, sync::Arc, time::Instant};

use support::{
    Length, is_test, plain, runtime, scratch,
    table::{Report, thousands},
    text::Writer,
    transcripts::{self, Talk},
};
use thermocline::{
    Config, Durability, Extractive, JobKind, NewTurn, Originals, RunJobs, Summarizer, Thermocline,
};

fn main() {
    let sessions = if is_test() {
        4
    } else {
        env::var("THERMOCLINE_BENCH_SESSIONS").map_or(1_000, |n| n.parse().expect("a number of sessions"))
    };
    let mut report = Report::new("drain");
    let sources = sources();
    for originals in [Originals::Archive, Originals::Delete] {
        report.head(&[
            "source",
            "originals",
            "sessions",
            "turns",
            "sessions/s",
            "turns/s",
            "turns/s, indexed too",
            "text of summarized turns",
            "in its place",
            "less by",
            "own memory, before / most",
        ]);
        let mut parts = Vec::new();
        for (name, talks) in &sources {
            parts.push((name, drain(name, talks, sessions / sources.len(), originals, &mut report)));
        }
        for (name, parts) in parts {
            report.note(&format!("The file ({name}, {originals:?}), by part, MB: {parts}."));
        }
    }
    report.save();
}

/// Returns the conversations to end, by kind. Each set of transcripts is a kind of its own, because results for one do
/// not hold for another.
fn sources() -> Vec<(String, Vec<Talk>)> {
    let talks = transcripts::talks();
    if talks.is_empty() {
        let mut writer = Writer::new(13);
        let talk = |length| vec![(0..20).map(|_| writer.turn(length)).collect()];
        return [Length::Short, Length::Long]
            .map(talk)
            .map(|talk| vec![talk])
            .into_iter()
            .zip(["short", "long"])
            .map(|(talks, name)| (format!("generated, {name}"), talks))
            .collect();
    }
    let kind = |name: &str| name.split('-').next().unwrap_or_default().to_owned();
    let mut sources: Vec<(String, Vec<Talk>)> = Vec::new();
    for (name, talk) in talks {
        match sources.iter_mut().find(|(known, _)| *known == kind(&name)) {
            Some((_, talks)) => talks.push(talk),
            None => sources.push((kind(&name), vec![talk])),
        }
    }
    sources
}

fn drain(name: &str, talks: &[Talk], wanted: usize, originals: Originals, report: &mut Report) -> String {
    let folder = scratch();
    let path = folder.path().join("memory.db");
    let mut config = Config::default();
    (config.worker, config.durability, config.originals) = (false, Durability::Relaxed, originals);
    config.summarizer = (originals == Originals::Delete).then(|| Arc::new(Extractive) as Arc<dyn Summarizer>);
    let runtime = runtime();
    let memory = runtime.block_on(Thermocline::open_with(&path, config)).unwrap();
    let sessions = runtime.block_on(fill(&memory, talks, wanted));
    let before = text_bytes(&path);
    let own_before = own_mib();
    let start = Instant::now();
    let done = runtime.block_on(memory.run_jobs(RunJobs::default().only(JobKind::Compress))).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(done.done, sessions as u64, "every session is compressed");
    let rest = runtime.block_on(memory.run_jobs(RunJobs::default())).unwrap();
    let seconds_of_all = start.elapsed().as_secs_f64();
    assert_eq!((rest.failed, rest.later), (0, 0), "{rest:?}");
    assert_eq!(runtime.block_on(memory.jobs(None, 1_000)).unwrap().len(), 0, "the queue drains");
    let stats = runtime.block_on(memory.stats()).unwrap();
    let verbatim: u64 = stats.tiers.iter().map(|tier| tier.text_bytes).sum();
    let (summarized, in_place) = (before - verbatim, stats.cold.summary_bytes);
    report.line(&[
        name.to_owned(),
        format!("{originals:?}"),
        thousands(sessions),
        thousands(done.turns),
        thousands(sessions as f64 / seconds),
        thousands(done.turns as f64 / seconds),
        thousands(done.turns as f64 / seconds_of_all),
        format!("{:.1} MB of {:.1}", mb(summarized), mb(before)),
        format!("{:.1} MB", mb(in_place)),
        format!("{:.1} %", 100.0 * (1.0 - mb(in_place) / mb(summarized).max(f64::MIN_POSITIVE))),
        format!("{own_before} / {} MiB", most_own_mib()),
    ]);
    runtime.block_on(memory.close()).unwrap();
    parts(&path)
}

/// Records the conversations repeatedly, each time as another user's, and ends their sessions.
async fn fill(memory: &Thermocline, talks: &[Talk], wanted: usize) -> usize {
    let mut sessions = 0;
    for pass in 0.. {
        for (place, talk) in talks.iter().enumerate() {
            let user = memory.user(&format!("user-{pass}-{place}")).await.unwrap();
            for turns in talk {
                if sessions == wanted.max(1) {
                    return sessions;
                }
                let session = user.new_session().await.unwrap();
                for turn in turns {
                    let turn: &NewTurn = turn;
                    session.record(turn.clone()).await.unwrap();
                }
                session.end().await.unwrap();
                sessions += 1;
            }
        }
    }
    sessions
}

fn text_bytes(path: &Path) -> u64 {
    plain::reader(path)
        .query_row(
            "SELECT sum(octet_length(user_message) + octet_length(ai_response)) FROM conversation_turns",
            [],
            |row| row.get(0),
        )
        .unwrap()
}

/// Returns the sizes of the twelve largest parts of the file, largest first.
fn parts(path: &Path) -> String {
    let conn = plain::reader(path);
    let mut stmt = conn
        .prepare("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 12")
        .unwrap();
    let part = |row: &rusqlite::Row<'_>| {
        Ok(format!("{} {:.1}", row.get::<_, String>(0)?, mb(row.get::<_, u64>(1)?)))
    };
    let parts: Vec<String> = stmt.query_map([], part).unwrap().map(Result::unwrap).collect();
    parts.join(", ")
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Returns the process's own memory now, in MiB; `most_own_mib` returns its peak resident size.
fn own_mib() -> String {
    status("RssAnon")
}

fn most_own_mib() -> String {
    status("VmHWM")
}

fn status(name: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| {
        line.strip_prefix(name)?.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<f64>().ok()
    });
    kib.map_or_else(|| "-".to_owned(), |kib| format!("{:.0}", kib / 1_024.0))
}
