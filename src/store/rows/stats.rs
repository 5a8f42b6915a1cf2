//! How much is in the tables, across all users, as counts and sizes, without content.

use crate::{
    error::Result,
    model::tier::MemoryTier,
    store::sql::{Sql, missing, values},
};

pub(crate) const USERS: &str = "SELECT count(*) FROM user_scopes";
pub(crate) const SESSIONS: &str = "SELECT count(*) FROM conversation_sessions";
pub(crate) const OPEN_SESSIONS: &str = "SELECT count(*) FROM conversation_sessions WHERE ended_at IS NULL";

pub(crate) const SUMMARIES: &str = "SELECT count(*) FROM conversation_summaries";
/// How many summaries each summarizer wrote, most first.
pub(crate) const SUMMARIZERS: &str =
    "SELECT summarizer AS name, count(*) AS summaries FROM conversation_summaries
     GROUP BY summarizer ORDER BY summaries DESC, name";
pub(crate) const SUMMARY_BYTES: &str =
    "SELECT CAST(coalesce(sum(octet_length(summary_text) + octet_length(topic_keywords)), 0) AS BIGINT)
     FROM conversation_summaries";
pub(crate) const ARCHIVED_TURNS: &str = "SELECT count(*) FROM archived_turns";
pub(crate) const ARCHIVE_RAW_BYTES: &str =
    "SELECT CAST(coalesce(sum(raw_bytes), 0) AS BIGINT) FROM archived_frames";
pub(crate) const ARCHIVE_BYTES: &str =
    "SELECT CAST(coalesce(sum(octet_length(body)), 0) AS BIGINT) FROM archived_frames";
pub(crate) const ANCHORS: &str = "SELECT count(*) FROM identity_anchors";

/// How many memories have each status. Entries of sessions' state have a session and are not counted.
pub(crate) const MEMORIES: &str =
    "SELECT status AS name, count(*) FROM user_memories WHERE session_no IS NULL
     GROUP BY status ORDER BY name";
pub(crate) const MEMORY_BYTES: &str =
    "SELECT CAST(coalesce(sum(octet_length(title) + octet_length(content) + octet_length(summary)
                              + coalesce(octet_length(procedure), 0)), 0) AS BIGINT)
     FROM user_memories WHERE session_no IS NULL";
pub(crate) const EDGES: &str = "SELECT count(*) FROM memory_edges";
pub(crate) const EPISODES: &str = "SELECT count(*) FROM memory_episodes";
pub(crate) const OPEN_REVIEWS: &str = "SELECT count(*) FROM memory_reviews WHERE decision IS NULL";

pub(crate) const POSTINGS: &str = "SELECT count(*) FROM postings";
pub(crate) const POSTING_BYTES: &str =
    "SELECT CAST(coalesce(sum(octet_length(data)), 0) AS BIGINT) FROM postings";
/// Computes the number of vectors in each block from its size (the format is in `rows/vectors.rs`).
pub(crate) const VECTORS: &str =
    "SELECT CAST(coalesce(sum((octet_length(b.body) - 2) / (e.dims + 2)), 0) AS BIGINT)
     FROM vector_blocks AS b JOIN embedding_spaces AS e ON e.space_no = b.space_no";
pub(crate) const VECTOR_BYTES: &str =
    "SELECT CAST(coalesce(sum(octet_length(body)), 0) AS BIGINT) FROM vector_blocks";
pub(crate) const RECEIPTS: &str = "SELECT count(*) FROM recall_receipts";
pub(crate) const RECEIPT_BYTES: &str =
    "SELECT CAST(coalesce(sum(octet_length(query) + octet_length(weights) + octet_length(understood)
                              + octet_length(missing) + octet_length(items)), 0) AS BIGINT) FROM recall_receipts";

pub(crate) const JOBS_WAITING: &str = "SELECT count(*) FROM jobs WHERE state <> 'failed'";
/// When the oldest job that has not failed was queued.
pub(crate) const OLDEST_JOB: &str = "SELECT min(created_at) FROM jobs WHERE state <> 'failed'";
pub(crate) const JOBS_FAILED: &str = "SELECT count(*) FROM jobs WHERE state = 'failed'";
pub(crate) const TRANSITIONS: &str = "SELECT count(*) FROM memory_tier_transitions";

/// How many uses are counted under each name of each aspect, ordered by aspect, the highest count first.
pub(crate) const USES: &str = "SELECT aspect, name, CAST(sum(hits) AS BIGINT) AS hits FROM use_counts
     WHERE aspect IN ('tier', 'rule', 'profile', 'packed_as')
     GROUP BY aspect, name ORDER BY aspect, hits DESC, name";
/// The chances of each rule and how many of them were taken, one row per user and rule.
pub(crate) const RULES: &str =
    "SELECT name, CAST(sum(CASE WHEN aspect = 'chance' THEN hits ELSE 0 END) AS BIGINT),
            CAST(sum(CASE WHEN aspect = 'taken' THEN hits ELSE 0 END) AS BIGINT)
     FROM use_counts WHERE aspect IN ('chance', 'taken') GROUP BY user_no, name";
/// How many contexts reached each tier in each month. `name` holds both: `2026-03 cold`.
pub(crate) const REACHED: &str =
    "SELECT name, CAST(sum(hits) AS BIGINT) FROM use_counts WHERE aspect = 'reached'
     GROUP BY name";

/// The turns of one tier, their tokens, and the bytes of their texts.
pub(crate) fn of_tier(sql: &dyn Sql, tier: MemoryTier) -> Result<(u64, u64, u64)> {
    let found = sql.one(
        "SELECT count(*), CAST(coalesce(sum(total_tokens), 0) AS BIGINT),
                CAST(coalesce(sum(octet_length(user_message) + octet_length(ai_response)), 0) AS BIGINT)
         FROM conversation_turns WHERE memory_tier = ?1",
        values![tier],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    found.ok_or_else(missing)
}
