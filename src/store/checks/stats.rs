//! How much is in the file. Counts only: nothing of what anybody said.

use std::{fs, io, path::Path};

use crate::store::sql::Sql;
use serde::Serialize;

use crate::{
    error::Result,
    model::tier::MemoryTier,
    store::file::{connect, db_file, errors::from_io, migrate, sqlite::Sqlite},
};

/// How much is in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
pub struct ColdStats {
    /// Summaries.
    pub summaries: u64,
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

/// What recall reads instead of texts, and its receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
    /// What they considered.
    pub receipt_items: u64,
    /// Bytes of both, but for ids and numbers.
    pub receipt_bytes: u64,
}

/// How often something was in a context that answered a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UseCount {
    /// `profile` (contexts ranked by it), `tier` (items from it), `rule` (turns kept verbatim by it) or `packed_as` (items
    /// shown in this form).
    pub aspect: String,
    /// Which of them.
    pub name: String,
    /// How often.
    pub hits: u64,
}

/// Counts on a connection of its own: in a large file this takes longer than any read of a user may.
pub(crate) fn stats(path: &Path) -> Result<Stats> {
    let conn = connect::reader(path)?;
    let conn = &Sqlite::new(&conn, &crate::clock::SystemClock) as &dyn Sql;
    let one = |sql: &str| -> Result<u64> { Ok(conn.query_row(sql, [], |row| row.get(0))?) };
    Ok(Stats {
        users: one("SELECT count(*) FROM user_scopes")?,
        sessions: one("SELECT count(*) FROM conversation_sessions")?,
        open_sessions: one("SELECT count(*) FROM conversation_sessions WHERE ended_at IS NULL")?,
        tiers: tiers(conn)?,
        cold: ColdStats {
            summaries: one("SELECT count(*) FROM conversation_summaries")?,
            summary_bytes: one(
                "SELECT coalesce(sum(octet_length(summary_text) + octet_length(topic_keywords)), 0)
                 FROM conversation_summaries",
            )?,
            archived_turns: one("SELECT count(*) FROM archived_turns")?,
            archive_raw_bytes: one("SELECT coalesce(sum(raw_bytes), 0) FROM archived_frames")?,
            archive_bytes: one("SELECT coalesce(sum(octet_length(body)), 0) FROM archived_frames")?,
            anchors: one("SELECT count(*) FROM identity_anchors")?,
        },
        recall: RecallStats {
            postings: one("SELECT count(*) FROM postings")?,
            posting_bytes: one("SELECT coalesce(sum(octet_length(data)), 0) FROM postings")?,
            // How many vectors a block holds follows from its size (src/store/vectors.rs).
            vectors: one(
                "SELECT coalesce(sum((octet_length(b.body) - 2) / (e.dims + 2)), 0)
                 FROM vector_blocks AS b JOIN embedding_spaces AS e ON e.space_no = b.space_no",
            )?,
            vector_bytes: one("SELECT coalesce(sum(octet_length(body)), 0) FROM vector_blocks")?,
            receipts: one("SELECT count(*) FROM recall_receipts")?,
            receipt_items: one("SELECT count(*) FROM recall_receipt_items")?,
            receipt_bytes: one(
                "SELECT (SELECT coalesce(sum(octet_length(query) + octet_length(weights) + octet_length(understood)
                                             + octet_length(missing)), 0) FROM recall_receipts)
                      + (SELECT coalesce(sum(octet_length(parts) + octet_length(outcome)), 0)
                         FROM recall_receipt_items)",
            )?,
        },
        uses: uses(conn)?,
        jobs_waiting: one("SELECT count(*) FROM jobs WHERE state <> 'failed'")?,
        jobs_failed: one("SELECT count(*) FROM jobs WHERE state = 'failed'")?,
        transitions: one("SELECT count(*) FROM memory_tier_transitions")?,
        file_bytes: size_of(path)?,
        wal_bytes: size_of(&db_file::beside(path, "-wal"))?,
        schema_version: migrate::version(conn.conn())?.unwrap_or(0),
        sqlite_version: rusqlite::version().to_owned(),
    })
}

fn tiers(conn: &dyn Sql) -> Result<Vec<TierStats>> {
    let mut stmt = conn.prepare(
        "SELECT count(*) AS turns, coalesce(sum(total_tokens), 0) AS tokens,
                coalesce(sum(octet_length(user_message) + octet_length(ai_response)), 0) AS text_bytes
         FROM conversation_turns WHERE memory_tier = ?1",
    )?;
    [MemoryTier::Hot, MemoryTier::Warm, MemoryTier::Cold]
        .into_iter()
        .map(|tier| {
            Ok(stmt.query_row([tier], |row| {
                Ok(TierStats {
                    tier,
                    turns: row.get("turns")?,
                    tokens: row.get("tokens")?,
                    text_bytes: row.get("text_bytes")?,
                })
            })?)
        })
        .collect()
}

fn uses(conn: &dyn Sql) -> Result<Vec<UseCount>> {
    let mut stmt = conn.prepare(
        "SELECT aspect, name, sum(hits) AS hits FROM use_counts GROUP BY aspect, name ORDER BY aspect, hits DESC, name",
    )?;
    let rows = stmt.query_map([], |row| {
        Ok(UseCount { aspect: row.get("aspect")?, name: row.get("name")?, hits: row.get("hits")? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn size_of(path: &Path) -> Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        file => Ok(file.map_err(|error| from_io(error, path))?.len()),
    }
}
