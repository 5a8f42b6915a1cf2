//! How much is in the file. Counts only: nothing of what anybody said.

use serde::Serialize;

use crate::{
    error::Result,
    model::{summary::FALLBACK, tier::MemoryTier},
    store::{file::facts::FileFacts, rows::stats, sql::Sql},
};

/// How much is in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Users with a memory here.
    pub users: u64,
    /// Sessions of all of them.
    pub sessions: u64,
    /// Sessions that have not ended.
    pub open_sessions: u64,
    /// Turns in each tier, hot first; tiers without turns too.
    pub tiers: Vec<TierStats>,
    /// What compression made.
    pub cold: ColdStats,
    /// Summaries by who wrote them, the most first.
    pub summarizers: Vec<SummarizerStats>,
    /// What recall reads, and what it leaves behind.
    pub recall: RecallStats,
    /// How often each tier, rule, profile and form was of use, by aspect, the most useful first.
    #[serde(rename = "use")]
    pub uses: Vec<UseCount>,
    /// Jobs that wait or run.
    pub jobs_waiting: u64,
    /// Jobs that were given up.
    pub jobs_failed: u64,
    /// Moves between tiers on record.
    pub transitions: u64,
    /// Size of the database file.
    pub file_bytes: u64,
    /// Size of the write-ahead log beside it.
    pub wal_bytes: u64,
    /// Version of the schema.
    pub schema_version: i64,
    /// Version of the SQLite that this build carries.
    pub sqlite_version: String,
}

/// The turns of one tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TierStats {
    /// The tier.
    pub tier: MemoryTier,
    /// How many turns.
    pub turns: u64,
    /// Tokens of their texts.
    pub tokens: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
}

/// What compression made of ended sessions; turns kept verbatim are among the turns of the cold tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColdStats {
    /// Summaries.
    pub summaries: u64,
    /// Of these, summaries that the configured summarizer was to write and the built-in one wrote, since that failed or gave
    /// no usable answer: [`User::compress_again`](crate::User::compress_again) has it asked again.
    pub fallbacks: u64,
    /// Bytes of their sentences and keywords.
    pub summary_bytes: u64,
    /// Turns in the archive; the other summarized ones were deleted.
    pub archived_turns: u64,
    /// Bytes of the archive before it was compressed.
    pub archive_raw_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Anchors, those that hold and those that held.
    pub anchors: u64,
}

/// The summaries that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SummarizerStats {
    /// A summarizer's name; `extractive` or `extractive-fallback`, the built-in one (see
    /// [`Summary::summarizer`](crate::Summary::summarizer)).
    pub summarizer: String,
    /// How many.
    pub summaries: u64,
}

/// What recall reads instead of texts, and its receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecallStats {
    /// Rows of postings: in which turns a word stands. A common word has several.
    pub postings: u64,
    /// Bytes of them.
    pub posting_bytes: u64,
    /// Vectors, of all models; a long turn has several of each.
    pub vectors: u64,
    /// Bytes of them.
    pub vector_bytes: u64,
    /// Receipts.
    pub receipts: u64,
    /// Bytes of both, but for ids and numbers.
    pub receipt_bytes: u64,
}

/// How often something was in a context that answered a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UseCount {
    /// `profile` (contexts ranked by it), `tier` (items from it), `rule` (turns kept verbatim by it) or `packed_as` (items
    /// shown in this form).
    pub aspect: String,
    /// Which of them.
    pub name: String,
    /// How often.
    pub hits: u64,
}

/// Counts what is in the rows; `file` was asked of the file itself. In a large file this takes longer than any read of a
/// user may.
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
        jobs_waiting: one(stats::JOBS_WAITING)?,
        jobs_failed: one(stats::JOBS_FAILED)?,
        transitions: one(stats::TRANSITIONS)?,
        file_bytes: file.file_bytes,
        wal_bytes: file.wal_bytes,
        schema_version: file.schema_version,
        sqlite_version: file.sqlite_version,
    })
}

fn tiers(sql: &dyn Sql) -> Result<Vec<TierStats>> {
    let of_tier = |tier| {
        let (turns, tokens, text_bytes) = stats::of_tier(sql, tier)?;
        Ok(TierStats { tier, turns, tokens, text_bytes })
    };
    [MemoryTier::Hot, MemoryTier::Warm, MemoryTier::Cold].into_iter().map(of_tier).collect()
}
