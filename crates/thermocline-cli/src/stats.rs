//! `thermocline stats`: shows how much is in the file.

use std::fmt::Write as _;

use indicatif::{HumanBytes, HumanCount};
use thermocline::{MemoryStats, ReachedTiers, RuleStats, Stats, SummarizerStats, TierStats, UseCount};

use crate::{
    counts::counted,
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
         schema         version {}, SQLite {}\n\n{}{}{}{}{}{}{}",
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
        memories(&stats.memories),
        recall(stats),
        uses(&stats.uses),
        rules(&stats.rules),
        reached(&stats.reached)
    )
}

/// Counts the memories by status, and what belongs to them; empty if there are none.
fn memories(memories: &MemoryStats) -> String {
    let [active, others @ ..] = [
        ("active", memories.active),
        ("archived", memories.archived),
        ("superseded", memories.superseded),
        ("forgotten", memories.forgotten),
        ("quarantined", memories.quarantined),
    ];
    if active.1 + others.iter().map(|(_, count)| count).sum::<u64>() + memories.episodes == 0 {
        return String::new();
    }
    let mut text = format!("\nmemories       {} active", HumanCount(active.1));
    for (status, count) in others.iter().filter(|(_, count)| *count > 0) {
        let _ = write!(text, ", {} {status}", HumanCount(*count));
    }
    let _ = writeln!(text, ", {}", HumanBytes(memories.text_bytes));
    let _ = write!(
        text,
        "               {} edges, {} episodes",
        HumanCount(memories.edges),
        HumanCount(memories.episodes)
    );
    if memories.open_reviews > 0 {
        let reviews = usize::try_from(memories.open_reviews).unwrap_or(usize::MAX);
        let _ = write!(text, ", {} for a person", counted(reviews, "review"));
    }
    text + "\n"
}

/// Returns the sizes of the index and the vectors that recall reads, and of its receipts; empty if there are none.
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

/// Counts how often things were of use; empty if nothing was.
fn uses(uses: &[UseCount]) -> String {
    let mut text = String::new();
    for of_one in uses.chunk_by(|a, b| a.aspect == b.aspect) {
        let counts: Vec<String> = of_one
            .iter()
            .map(|of| format!("{} {}", plain::line(&of.name, 40), HumanCount(of.hits)))
            .collect();
        let _ = writeln!(text, "  {:<12} {}", plain::line(&of_one[0].aspect, 12), counts.join(", "));
    }
    if text.is_empty() { text } else { "\nof use, in answered contexts, by\n".to_owned() + &text }
}

/// Shows how well the rules work that keep turns verbatim; empty until one of them had a chance.
fn rules(rules: &[RuleStats]) -> String {
    let mut text = String::new();
    for of in rules {
        let stopped = match of.stopped_users {
            0 => String::new(),
            users => format!("; keeps no more for {} of the users", HumanCount(users)),
        };
        let (taken, chances) = (HumanCount(of.taken), HumanCount(of.chances));
        let _ = writeln!(text, "  {:<13} {taken} in {chances} chances{stopped}", of.rule.as_str());
    }
    if text.is_empty() { text } else { "\nof use, of what only a rule keeps verbatim\n".to_owned() + &text }
}

/// Shows which tiers contexts reached, in the last twelve months that have data; empty if there are none.
fn reached(months: &[ReachedTiers]) -> String {
    let [hot, warm, cold] = ReachedTiers::EXPECTED_SHARES;
    let mut text = format!(
        "\ntiers reached by answered contexts, in % (the tiering paper expects {hot}, {warm}, {cold})\n  \
         month       hot   warm   cold   contexts with hot turns\n"
    );
    for of in &months[months.len().saturating_sub(12)..] {
        let [hot, warm, cold] = of.shares().map(|share| 100.0 * share);
        let month = plain::line(&of.month, 7);
        let _ = writeln!(text, "  {month:<8} {hot:>6.1} {warm:>6.1} {cold:>6.1}   {}", HumanCount(of.hot));
    }
    if months.is_empty() { String::new() } else { text }
}

/// Shows what compression produced; empty if it produced nothing.
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
        let by = |of: &SummarizerStats| {
            format!("{} {}", plain::line(&of.summarizer, 40), HumanCount(of.summaries))
        };
        let by: Vec<String> = stats.summarizers.iter().map(by).collect();
        let _ = writeln!(text, "  by           {}", by.join(", "));
        if cold.fallbacks > 0 {
            text += "               extractive-fallback: the LLM failed; jobs compress-again asks it again\n";
        }
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

/// Returns a table of the tiers.
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
