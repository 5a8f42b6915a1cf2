//! `thermocline stats`: how much is in the file.

use std::fmt::Write as _;

use indicatif::{HumanBytes, HumanCount};
use thermocline::{Stats, TierStats, UseCount};

use crate::{
    exit::Failure,
    find::{self, Db},
    output::Output,
    plain,
};

pub(crate) fn run(db: &Db, out: &Output) -> Result<(), Failure> {
    let stats = {
        let memory = find::memory(db)?;
        let _progress = out.progress(None, "counting");
        memory.stats()?
    };
    out.answer(&stats, text)
}

fn text(stats: &Stats) -> String {
    format!(
        "users          {}\n\
         sessions       {}, {} of them open\n\
         tier moves     {}\n\
         database file  {}\n\
         WAL file       {}\n\
         schema         version {}, SQLite {}\n\n{}{}{}{}",
        HumanCount(stats.users),
        HumanCount(stats.sessions),
        HumanCount(stats.open_sessions),
        HumanCount(stats.transitions),
        HumanBytes(stats.file_bytes),
        HumanBytes(stats.wal_bytes),
        stats.schema_version,
        stats.sqlite_version,
        tiers(&stats.tiers),
        cold(stats),
        recall(stats),
        uses(&stats.uses)
    )
}

/// What recall reads, and its receipts; nothing before there are any.
fn recall(stats: &Stats) -> String {
    let recall = &stats.recall;
    let mut text = String::new();
    for (what, rows, bytes) in [
        ("word index", recall.postings, recall.posting_bytes),
        ("vectors", recall.vectors, recall.vector_bytes),
        ("receipts", recall.receipts, recall.receipt_bytes),
    ] {
        if rows > 0 {
            let unit = if what == "word index" { " rows" } else { "" };
            let _ = writeln!(text, "{what:<14} {}{unit}, {}", HumanCount(rows), HumanBytes(bytes));
        }
    }
    if text.is_empty() { text } else { "\n".to_owned() + &text }
}

/// How often what was of use; nothing before anything was.
fn uses(uses: &[UseCount]) -> String {
    let mut text = String::new();
    for of_one in uses.chunk_by(|a, b| a.aspect == b.aspect) {
        let counts: Vec<String> = of_one
            .iter()
            .map(|of| format!("{} {}", plain::line(&of.name, 40), HumanCount(of.hits)))
            .collect();
        let _ = writeln!(text, "  {:<12} {}", plain::line(&of_one[0].aspect, 12), counts.join(", "));
    }
    if text.is_empty() { text } else { "\nof use, in contexts that answered a turn, by\n".to_owned() + &text }
}

/// What compression made; nothing before it made anything.
fn cold(stats: &Stats) -> String {
    let cold = &stats.cold;
    let mut text = String::new();
    if cold.summaries > 0 {
        let _ = writeln!(
            text,
            "\nsummaries      {}, {}\narchive        {} turns, {} of {}",
            HumanCount(cold.summaries),
            HumanBytes(cold.summary_bytes),
            HumanCount(cold.archived_turns),
            HumanBytes(cold.archive_bytes),
            HumanBytes(cold.archive_raw_bytes)
        );
    }
    if cold.anchors > 0 {
        let _ = writeln!(text, "anchors        {}", HumanCount(cold.anchors));
    }
    if stats.jobs_waiting + stats.jobs_failed > 0 {
        let failed = match stats.jobs_failed {
            0 => String::new(),
            failed => format!(", {} given up: see jobs list", HumanCount(failed)),
        };
        let _ = writeln!(text, "jobs           {} waiting{failed}", HumanCount(stats.jobs_waiting));
    }
    text
}

/// A table of the tiers.
pub(crate) fn tiers(tiers: &[TierStats]) -> String {
    let mut table = format!("{:<6} {:>10} {:>12} {:>12}\n", "tier", "turns", "tokens", "text");
    for tier in tiers {
        let _ = writeln!(
            table,
            "{:<6} {:>10} {:>12} {:>12}",
            tier.tier.as_str(),
            HumanCount(tier.turns).to_string(),
            HumanCount(tier.tokens).to_string(),
            HumanBytes(tier.text_bytes).to_string()
        );
    }
    table
}
