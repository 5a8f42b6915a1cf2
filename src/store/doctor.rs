//! Is the file sound: its pages, its counts, its texts.

use std::path::Path;

use rusqlite::Connection;
use serde::Serialize;

use crate::{
    error::Result,
    store::{connect, migrate},
    text::measure::{self, ContentHash},
};

/// What doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Every check that was made, in order.
    pub checks: Vec<Check>,
    /// The file's settings, as a new connection sees them.
    pub settings: Vec<(String, String)>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What must hold, as a sentence.
    pub holds: String,
    /// How many times it does not.
    pub problems: u64,
}

impl Diagnosis {
    /// True if every check holds.
    pub fn is_healthy(&self) -> bool {
        self.checks.iter().all(|check| check.problems == 0)
    }
}

/// What must hold, and a query that counts where it does not.
const COUNTS: &[(&str, &str)] = &[
    ("references between tables lead somewhere", "SELECT count(*) FROM pragma_foreign_key_check"),
    (
        "every user's rows belong to a user of this file",
        "SELECT (SELECT count(*) FROM conversation_sessions WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM conversation_turns WHERE user_id NOT IN (SELECT user_id FROM user_scopes))",
    ),
    (
        "a turn and its session belong to the same user",
        "SELECT count(*) FROM conversation_turns AS t JOIN conversation_sessions AS s ON s.id = t.session_id
         WHERE s.user_id <> t.user_id OR t.turn_key <> (s.session_no << 24 | t.turn_number)",
    ),
    (
        "a session's turn_count counts the turns recorded in it",
        "SELECT count(*) FROM conversation_sessions AS s LEFT JOIN
           (SELECT session_no, count(*) AS n, max(turn_number) AS last FROM recall_units GROUP BY session_no) AS r
           ON r.session_no = s.session_no
         WHERE s.turn_count <> coalesce(r.n, 0) OR s.turn_count <> coalesce(r.last, 0)",
    ),
    (
        "every recorded turn is there",
        "SELECT count(*) FROM recall_units AS r JOIN conversation_sessions AS s ON s.session_no = r.session_no
         LEFT JOIN conversation_turns AS t ON t.turn_key = (r.session_no << 24 | r.turn_number)
         WHERE r.kind = 'turn' AND s.memory_tier <> 'cold'
           AND (t.id IS NULL OR t.id <> r.owner_id OR t.seq <> r.seq OR t.caller_id IS NOT r.caller_id)",
    ),
    (
        "every turn stands in the order of recall",
        "SELECT count(*) FROM conversation_turns WHERE seq NOT IN (SELECT seq FROM recall_units)",
    ),
    (
        "a session's total_tokens is the sum over its turns",
        "SELECT count(*) FROM conversation_sessions AS s WHERE memory_tier <> 'cold' AND total_tokens <>
           (SELECT coalesce(sum(t.total_tokens), 0) FROM conversation_turns AS t WHERE t.session_id = s.id)",
    ),
    (
        "a turn's total_tokens is the sum of its sides",
        "SELECT count(*) FROM conversation_turns WHERE total_tokens <> user_message_tokens + ai_response_tokens",
    ),
    (
        "the hot turns of a session are its newest",
        "SELECT count(*) FROM conversation_turns AS t WHERE t.memory_tier = 'hot' AND EXISTS
           (SELECT 1 FROM conversation_turns AS later WHERE later.session_id = t.session_id
            AND later.turn_number > t.turn_number AND later.memory_tier <> 'hot')",
    ),
    (
        "the newest turn of an open session is hot, and no turn of an ended one",
        "SELECT count(*) FROM conversation_sessions AS s JOIN conversation_turns AS t
           ON t.session_id = s.id AND t.turn_number = s.turn_count
         WHERE (t.memory_tier = 'hot') <> (s.ended_at IS NULL)",
    ),
    (
        "every turn outside of hot has a record of its last move",
        "SELECT count(*) FROM conversation_turns AS t WHERE t.memory_tier <> 'hot' AND t.memory_tier IS NOT
           (SELECT m.to_tier FROM memory_tier_transitions AS m
            WHERE m.user_no = (SELECT user_no FROM user_scopes WHERE user_id = t.user_id)
              AND m.session_no = t.turn_key >> 24 AND m.turn_number = t.turn_number
            ORDER BY m.move_number DESC LIMIT 1)",
    ),
];

/// Reads the whole file, on a connection of its own: minutes for gigabytes.
pub(crate) fn diagnose(path: &Path) -> Result<Diagnosis> {
    let conn = connect::reader(path)?;
    // One snapshot: counts that must agree are counted at the same moment.
    let tx = conn.unchecked_transaction()?;
    let mut checks =
        vec![Check { holds: "the pages of the file are sound".to_owned(), problems: page_problems(&tx)? }];
    for (holds, sql) in COUNTS {
        checks.push(Check { holds: (*holds).to_owned(), problems: tx.query_row(sql, [], |row| row.get(0))? });
    }
    checks.push(Check {
        holds: "every text is the one that was recorded".to_owned(),
        problems: changed_texts(&tx)?,
    });
    Ok(Diagnosis { checks, settings: settings(&tx)? })
}

/// Rows of `integrity_check` other than its `ok`.
fn page_problems(conn: &Connection) -> Result<u64> {
    let mut stmt =
        conn.prepare("SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'")?;
    let mut rows = stmt.query([])?;
    let mut problems = 0;
    while rows.next()?.is_some() {
        problems += 1;
    }
    Ok(problems)
}

fn changed_texts(conn: &Connection) -> Result<u64> {
    let mut stmt = conn.prepare(
        "SELECT r.content_hash AS content_hash, t.user_message AS user_message, t.ai_response AS ai_response
         FROM conversation_turns AS t JOIN recall_units AS r ON r.seq = t.seq",
    )?;
    let mut rows = stmt.query([])?;
    let mut problems = 0;
    while let Some(row) = rows.next()? {
        let hash: ContentHash = row.get("content_hash")?;
        let (user, reply): (String, String) = (row.get("user_message")?, row.get("ai_response")?);
        problems += u64::from(measure::content_hash(&user, &reply) != hash);
    }
    Ok(problems)
}

fn settings(conn: &Connection) -> Result<Vec<(String, String)>> {
    let mut settings = vec![
        ("sqlite".to_owned(), rusqlite::version().to_owned()),
        ("schema_version".to_owned(), migrate::version(conn)?.unwrap_or(0).to_string()),
    ];
    let pragmas = [
        "application_id",
        "journal_mode",
        "page_size",
        "page_count",
        "freelist_count",
        "encoding",
        "auto_vacuum",
    ];
    for name in pragmas {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
        settings.push((name.to_owned(), conn.query_row(&sql, [], |row| row.get(0))?));
    }
    let mut stmt = conn.prepare("SELECT key, value FROM thermocline_settings ORDER BY key")?;
    let rows = stmt.query_map([], |row| Ok((row.get("key")?, row.get("value")?)))?;
    settings.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    Ok(settings)
}
