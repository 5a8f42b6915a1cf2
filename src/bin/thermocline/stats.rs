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
         schema         version {}, SQLite {}\n\n{}",
        HumanCount(stats.users),
        HumanCount(stats.sessions),
        HumanCount(stats.open_sessions),
        HumanCount(stats.transitions),
        HumanBytes(stats.file_bytes),
        HumanBytes(stats.wal_bytes),
        stats.schema_version,
        stats.sqlite_version,
        tiers(&stats.tiers)
    )
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
