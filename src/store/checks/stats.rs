//! Stats: how much is in the file, as counts and sizes, without content.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::{
    compress::learned::RuleRecord,
    error::Result,
    model::{critical::CriticalRule, memory::words::MemoryStatus, summary::FALLBACK, tier::MemoryTier},
    store::{
        file::facts::FileFacts,
        rows::stats,
        sql::{Flow, Sql},
    },
};

/// Counts and sizes of what is in the file, for all users together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stats {
    /// Users in this file.
    pub users: u64,
    /// Sessions of all users.
    pub sessions: u64,
    /// Sessions that have not ended.
    pub open_sessions: u64,
    /// Turns that have a row, by tier, hot first, including tiers without turns.
    pub tiers: Vec<TierStats>,
    /// What compression produced, and the anchors.
    pub cold: ColdStats,
    /// Summaries by their author, the most frequent first.
    pub summarizers: Vec<SummarizerStats>,
    /// Memories and related rows.
    pub memories: MemoryStats,
    /// The words and vectors that recall reads, and the receipts that it writes.
    pub recall: RecallStats,
    /// How often each tier, rule, profile and form was of use. Ordered by aspect, within an aspect the most used first.
    #[serde(rename = "use")]
    pub uses: Vec<UseCount>,
    /// The rules that keep turns verbatim, and how often their turns were of use. Only rules that had a chance, in a fixed
    /// order.
    pub rules: Vec<RuleStats>,
    /// How many answered contexts reached each tier, by month, oldest first.
    pub reached: Vec<ReachedTiers>,
    /// Jobs that are waiting or running.
    pub jobs_waiting: u64,
    /// When the oldest of these jobs was queued. `None` if there is none.
    pub oldest_job_at: Option<DateTime<Utc>>,
    /// Jobs that were given up and are still in the list.
    pub jobs_failed: u64,
    /// Recorded transitions between tiers.
    pub transitions: u64,
    /// Size of the database file in bytes.
    pub file_bytes: u64,
    /// Size of the write-ahead log next to it, in bytes. 0 if there is none.
    pub wal_bytes: u64,
    /// Version of the schema.
    pub schema_version: i64,
    /// Version of the SQLite library in this build.
    pub sqlite_version: String,
}

/// The turns of one tier that have a row. A summarized turn has none, so of cold turns only those kept verbatim are counted.
/// Incomplete and replaced turns are not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TierStats {
    /// The tier.
    pub tier: MemoryTier,
    /// Number of these turns.
    pub turns: u64,
    /// Tokens of these turns' texts.
    pub tokens: u64,
    /// Bytes of these turns' texts.
    pub text_bytes: u64,
}

/// What compression made from ended sessions, and all anchors. Turns kept verbatim count as turns of the cold tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ColdStats {
    /// Number of summaries.
    pub summaries: u64,
    /// Number of these that the built-in summarizer wrote because the configured one failed or gave no usable answer.
    /// [`User::compress_again`](crate::User::compress_again) has the configured one asked again.
    pub fallbacks: u64,
    /// Bytes of the summaries' sentences and keywords.
    pub summary_bytes: u64,
    /// Turns in the archive. The originals of the other summarized turns were deleted.
    pub archived_turns: u64,
    /// Uncompressed size of the archive in bytes.
    pub archive_raw_bytes: u64,
    /// Compressed size of the archive in bytes.
    pub archive_bytes: u64,
    /// Anchors, both those that hold and those that no longer do, including those set by hand.
    pub anchors: u64,
}

/// Memories and what is stored with them. The entries of sessions' state are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemoryStats {
    /// Active memories.
    pub active: u64,
    /// Archived memories, which are still recalled.
    pub archived: u64,
    /// Memories that another one replaced.
    pub superseded: u64,
    /// Memories that were forgotten.
    pub forgotten: u64,
    /// Memories that are hidden with their source.
    pub quarantined: u64,
    /// Bytes of the titles, contents, summaries and steps of all memories.
    pub text_bytes: u64,
    /// Edges between memories, including proposed ones.
    pub edges: u64,
    /// Episodes: births and uses of memories, and notes.
    pub episodes: u64,
    /// Reviews that wait for a person.
    pub open_reviews: u64,
}

/// The summaries by one author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SummarizerStats {
    /// The summarizer's name. `extractive` and `extractive-fallback` are the built-in one (see
    /// [`Summary::summarizer`](crate::Summary::summarizer)).
    pub summarizer: String,
    /// Number of summaries.
    pub summaries: u64,
}

/// The words and vectors that recall reads instead of texts, and its receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecallStats {
    /// Rows of postings, which list the turns and other recall units that contain a word. A common word has several.
    pub postings: u64,
    /// Bytes of the postings.
    pub posting_bytes: u64,
    /// Vectors of all models. A long text has several per model.
    pub vectors: u64,
    /// Bytes of the vectors.
    pub vector_bytes: u64,
    /// Number of receipts.
    pub receipts: u64,
    /// Bytes of the receipts' queries, items and other JSON. Columns with an id or a number are not counted.
    pub receipt_bytes: u64,
}

/// How often a profile, tier, rule or form was of use. Only contexts count whose receipt a recorded turn names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UseCount {
    /// What is counted: `profile` (contexts ranked by it), `tier` (items from it), `rule` (turns that it keeps verbatim) or
    /// `packed_as` (items shown in this form).
    pub aspect: String,
    /// The name of the profile, tier, rule or form.
    pub name: String,
    /// How often it was of use.
    pub hits: u64,
}

/// How often the turns that a rule keeps verbatim were of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RuleStats {
    /// The rule.
    pub rule: CriticalRule,
    /// How often a context considered a turn that would be summarized without this rule, because it is long. If several
    /// rules keep a turn, only the one on record for it counts. Only contexts count that showed something recalled and
    /// whose receipt a recorded turn names.
    pub chances: u64,
    /// How many of these chances were taken: the context showed the turn.
    pub taken: u64,
    /// Users for whom the rule has stopped: it had 200 chances or more, and none was taken. `caller`, `preference` and
    /// `used` never stop.
    pub stopped_users: u64,
}

/// How many answered contexts (those whose receipt a recorded turn names) reached each tier, in one month.
///
/// A context reaches hot if it shows hot turns. It reaches warm or cold if it shows a unit from there because of what the
/// unit says, not because of the unit's place in the session.
///
/// The tiering paper expects shares of 80, 15 and 5 % ([`EXPECTED_SHARES`](Self::EXPECTED_SHARES)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReachedTiers {
    /// The month, such as `2026-03`: when the turn with the reply was recorded, by the configured clock in UTC.
    pub month: String,
    /// Contexts that reached hot.
    pub hot: u64,
    /// Contexts that reached warm.
    pub warm: u64,
    /// Contexts that reached cold.
    pub cold: u64,
}

impl ReachedTiers {
    /// The shares of hot, warm and cold that the tiering paper expects, in percent.
    pub const EXPECTED_SHARES: [u64; 3] = [80, 15, 5];

    /// Returns the shares of hot, warm and cold, each from 0 to 1. All are 0 if nothing was reached.
    pub fn shares(&self) -> [f64; 3] {
        let counts = [self.hot, self.warm, self.cold];
        let all = counts.iter().sum::<u64>().max(1);
        #[expect(clippy::cast_precision_loss, reason = "counts of contexts are far below 2^53")]
        counts.map(|count| count as f64 / all as f64)
    }
}

/// Counts the rows. `file` has the sizes and versions of the file. In a large file this takes longer than a read with a
/// deadline may take.
pub(crate) fn stats(sql: &dyn Sql, file: FileFacts) -> Result<Stats> {
    let one = |statement| sql.scalar(statement, &[]);
    let summarizers = sql.list(stats::SUMMARIZERS, &[], |row| {
        Ok(SummarizerStats { summarizer: row.get(0)?, summaries: row.get(1)? })
    })?;
    let fallbacks = summarizers.iter().find(|of| of.summarizer == FALLBACK).map_or(0, |of| of.summaries);
    Ok(Stats {
        users: one(stats::USERS)?,
        sessions: one(stats::SESSIONS)?,
        open_sessions: one(stats::OPEN_SESSIONS)?,
        tiers: tiers(sql)?,
        cold: ColdStats {
            summaries: one(stats::SUMMARIES)?,
            fallbacks,
            summary_bytes: one(stats::SUMMARY_BYTES)?,
            archived_turns: one(stats::ARCHIVED_TURNS)?,
            archive_raw_bytes: one(stats::ARCHIVE_RAW_BYTES)?,
            archive_bytes: one(stats::ARCHIVE_BYTES)?,
            anchors: one(stats::ANCHORS)?,
        },
        summarizers,
        memories: memories(sql)?,
        recall: RecallStats {
            postings: one(stats::POSTINGS)?,
            posting_bytes: one(stats::POSTING_BYTES)?,
            vectors: one(stats::VECTORS)?,
            vector_bytes: one(stats::VECTOR_BYTES)?,
            receipts: one(stats::RECEIPTS)?,
            receipt_bytes: one(stats::RECEIPT_BYTES)?,
        },
        uses: sql.list(stats::USES, &[], |row| {
            Ok(UseCount { aspect: row.get(0)?, name: row.get(1)?, hits: row.get(2)? })
        })?,
        rules: rules(sql)?,
        reached: reached(sql)?,
        jobs_waiting: one(stats::JOBS_WAITING)?,
        oldest_job_at: sql.scalar(stats::OLDEST_JOB, &[])?,
        jobs_failed: one(stats::JOBS_FAILED)?,
        transitions: one(stats::TRANSITIONS)?,
        file_bytes: file.file_bytes,
        wal_bytes: file.wal_bytes,
        schema_version: file.schema_version,
        sqlite_version: file.sqlite_version,
    })
}

fn memories(sql: &dyn Sql) -> Result<MemoryStats> {
    let one = |statement| sql.scalar(statement, &[]);
    let mut found = MemoryStats {
        text_bytes: one(stats::MEMORY_BYTES)?,
        edges: one(stats::EDGES)?,
        episodes: one(stats::EPISODES)?,
        open_reviews: one(stats::OPEN_REVIEWS)?,
        ..MemoryStats::default()
    };
    for (status, count) in sql.list(stats::MEMORIES, &[], |row| Ok((row.get(0)?, row.get(1)?)))? {
        *match status {
            MemoryStatus::Active => &mut found.active,
            MemoryStatus::Archived => &mut found.archived,
            MemoryStatus::Superseded => &mut found.superseded,
            MemoryStatus::Forgotten => &mut found.forgotten,
            MemoryStatus::Quarantined => &mut found.quarantined,
        } = count;
    }
    Ok(found)
}

/// Sums the counts of all users for each rule.
fn rules(sql: &dyn Sql) -> Result<Vec<RuleStats>> {
    let mut by_rule: BTreeMap<CriticalRule, RuleStats> = BTreeMap::new();
    sql.query(stats::RULES, &[], &mut |row| {
        let record = RuleRecord { rule: row.get(0)?, chances: row.get(1)?, taken: row.get(2)? };
        let RuleRecord { rule, chances, taken } = record;
        let all = by_rule.entry(rule).or_insert(RuleStats { rule, chances: 0, taken: 0, stopped_users: 0 });
        all.chances += chances;
        all.taken += taken;
        all.stopped_users += u64::from(record.has_stopped());
        Ok(Flow::Next)
    })?;
    Ok(by_rule.into_values().collect())
}

fn reached(sql: &dyn Sql) -> Result<Vec<ReachedTiers>> {
    let mut months: BTreeMap<String, ReachedTiers> = BTreeMap::new();
    sql.query(stats::REACHED, &[], &mut |row| {
        let (name, contexts): (String, u64) = (row.get(0)?, row.get(1)?);
        let Some((month, tier)) = name.split_once(' ') else { return Ok(Flow::Next) };
        let none = || ReachedTiers { month: month.to_owned(), hot: 0, warm: 0, cold: 0 };
        let of_month = months.entry(month.to_owned()).or_insert_with(none);
        match MemoryTier::from_word(tier) {
            Some(MemoryTier::Hot) => of_month.hot = contexts,
            Some(MemoryTier::Warm) => of_month.warm = contexts,
            Some(MemoryTier::Cold) => of_month.cold = contexts,
            None => {}
        }
        Ok(Flow::Next)
    })?;
    Ok(months.into_values().collect())
}

fn tiers(sql: &dyn Sql) -> Result<Vec<TierStats>> {
    let of_tier = |tier| {
        let (turns, tokens, text_bytes) = stats::of_tier(sql, tier)?;
        Ok(TierStats { tier, turns, tokens, text_bytes })
    };
    [MemoryTier::Hot, MemoryTier::Warm, MemoryTier::Cold].into_iter().map(of_tier).collect()
}
