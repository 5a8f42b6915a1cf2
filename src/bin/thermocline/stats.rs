//! `thermocline stats`: how much is in the file.

use std::{fmt::Write as _, path::Path};

use indicatif::{HumanBytes, HumanCount};
use thermocline::{Stats, TierStats};

use crate::{exit::Failure, find, output::Output};

pub(crate) fn run(db: &Path, out: &Output) -> Result<(), Failure> {
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
         schema         version {}, SQLite {}\n\n{}{}",
        HumanCount(stats.users),
        HumanCount(stats.sessions),
        HumanCount(stats.open_sessions),
        HumanCount(stats.transitions),
        HumanBytes(stats.file_bytes),
        HumanBytes(stats.wal_bytes),
        stats.schema_version,
        stats.sqlite_version,
        tiers(&stats.tiers),
        cold(stats)
    )
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
