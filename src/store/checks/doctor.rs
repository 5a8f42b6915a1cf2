//! Is the file sound: its pages, its rows, its counts, its texts.

use std::path::Path;

use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::{
    compress::archive,
    error::{ErrorKind, Result},
    model::ids::TurnId,
    store::{
        checks::index_checks::{self, IndexProblems},
        file::{
            connect, migrate,
            row_check::{self, Damage},
            sqlite::Sqlite,
        },
        rows::{sessions, summaries, turn_row},
        sql::Sql,
    },
    text::{
        measure::{self, ContentHash},
        words::WordCounts,
    },
};

/// What doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Every check that was made, in order.
    pub checks: Vec<Check>,
    /// The file's settings, as a new connection sees them; those that can be read.
    pub settings: Vec<(String, String)>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What must hold, as a sentence.
    pub holds: String,
    /// How many times it does not. A check that damage cuts short counts as one problem more.
    pub problems: u64,
    /// Where, as far as that is known: rows, as `sqlite3` finds them. The first 20 of each table.
    pub places: Vec<String>,
    /// It looks at what can be worked out again from other rows.
    #[serde(skip)]
    pub(crate) is_of_index: bool,
}

impl Diagnosis {
    /// True if every check holds.
    pub fn is_healthy(&self) -> bool {
        self.checks.iter().all(|check| check.problems == 0)
    }

    /// Whether rows are damaged that can be worked out again from others.
    pub(crate) fn has_damaged_index(&self) -> bool {
        self.checks.iter().any(|check| check.is_of_index && check.problems > 0)
    }
}

/// What must hold, and a query that counts where it does not.
const COUNTS: &[(&str, &str)] = &[
    (
        // Until it is finished, other checks may find what it has not come to.
        "no erase is unfinished (running the jobs finishes it)",
        "SELECT count(*) FROM jobs WHERE kind = 'erase'",
    ),
    ("references between tables lead somewhere", "SELECT count(*) FROM pragma_foreign_key_check"),
    (
        "every user's rows belong to a user of this file",
        "SELECT (SELECT count(*) FROM conversation_sessions WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM conversation_turns WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM conversation_summaries WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM archived_frames WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM identity_anchors WHERE user_id NOT IN (SELECT user_id FROM user_scopes))",
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
        "every recorded turn is in one place: a row, the archive, or deleted with a summary in its place",
        "SELECT count(*) FROM recall_units AS r
         LEFT JOIN conversation_turns AS t ON t.turn_key = (r.session_no << 24 | r.turn_number)
         LEFT JOIN archived_turns AS a ON a.turn_key = (r.session_no << 24 | r.turn_number)
         LEFT JOIN conversation_summaries AS m
           ON m.turn_key = (r.session_no << 24 | r.turn_number) AND m.original = 'deleted'
         WHERE r.kind = 'turn' AND (t.id IS NOT NULL) + (a.turn_id IS NOT NULL) + (m.id IS NOT NULL) <> 1",
    ),
    (
        "what stands in a turn's place is that turn",
        "SELECT (SELECT count(*) FROM conversation_turns AS t JOIN user_scopes AS u ON u.user_id = t.user_id
                 JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = t.seq
                 WHERE t.id <> r.owner_id OR t.caller_id IS NOT r.caller_id)
              + (SELECT count(*) FROM archived_turns AS a JOIN recall_units AS r ON r.user_no = a.user_no AND r.seq = a.seq
                 WHERE a.turn_id <> r.owner_id OR a.turn_key <> (r.session_no << 24 | r.turn_number))
              + (SELECT count(*) FROM conversation_summaries AS m JOIN user_scopes AS u ON u.user_id = m.user_id
                 JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = m.seq
                 WHERE m.original_turn_id <> r.owner_id OR m.turn_key <> (r.session_no << 24 | r.turn_number))",
    ),
    (
        "every archived turn has a summary, and every summary of an archived turn its turn",
        "SELECT (SELECT count(*) FROM archived_turns
                 WHERE turn_id NOT IN (SELECT original_turn_id FROM conversation_summaries))
              + (SELECT count(*) FROM conversation_summaries
                 WHERE original = 'archived' AND original_turn_id NOT IN (SELECT turn_id FROM archived_turns))",
    ),
    (
        "only ended sessions are compressed, and no turn of a cold session is warm",
        "SELECT (SELECT count(*) FROM conversation_summaries AS m JOIN conversation_sessions AS s ON s.id = m.session_id
                 WHERE s.ended_at IS NULL)
              + (SELECT count(*) FROM conversation_turns AS t JOIN conversation_sessions AS s ON s.id = t.session_id
                 WHERE s.memory_tier = 'cold' AND t.memory_tier <> 'cold')",
    ),
    (
        "every anchor has evidence, and all evidence its anchor and its turn",
        "SELECT (SELECT count(*) FROM identity_anchors AS a WHERE NOT EXISTS
                   (SELECT 1 FROM derivations AS d WHERE d.user_id = a.user_id AND d.product_id = a.id))
              + (SELECT count(*) FROM derivations AS d WHERE d.product_id NOT IN (SELECT id FROM identity_anchors))
              + (SELECT count(*) FROM derivations AS d WHERE d.source_kind = 'turn' AND NOT EXISTS
                   (SELECT 1 FROM user_scopes AS u JOIN recall_units AS r ON r.user_no = u.user_no
                    WHERE u.user_id = d.user_id AND r.seq = d.seq AND r.owner_id = d.source_id))",
    ),
    (
        "an attribute with one value has one at most that holds",
        "SELECT count(*) FROM (SELECT 1 FROM identity_anchors
                               WHERE cardinality = 'one' AND valid_until IS NULL AND retracted_at IS NULL
                               GROUP BY user_id, subject, attribute HAVING count(*) > 1)",
    ),
    (
        "every turn stands in the order of recall",
        "SELECT (SELECT count(*) FROM conversation_turns AS t JOIN user_scopes AS u ON u.user_id = t.user_id
                 LEFT JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = t.seq WHERE r.seq IS NULL)
              + (SELECT count(*) FROM archived_turns AS a
                 LEFT JOIN recall_units AS r ON r.user_no = a.user_no AND r.seq = a.seq WHERE r.seq IS NULL)
              + (SELECT count(*) FROM conversation_summaries AS m JOIN user_scopes AS u ON u.user_id = m.user_id
                 LEFT JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = m.seq WHERE r.seq IS NULL)
              + (SELECT count(*) FROM user_scopes AS u JOIN recall_units AS r ON r.user_no = u.user_no
                 WHERE r.seq > u.last_seq)",
    ),
    (
        "a session's total_tokens is the sum over its turns",
        "SELECT count(*) FROM conversation_sessions AS s WHERE total_tokens <>
           (SELECT coalesce(sum(t.total_tokens), 0) FROM conversation_turns AS t WHERE t.session_id = s.id)
           + (SELECT coalesce(sum(m.original_tokens), 0) FROM conversation_summaries AS m WHERE m.session_id = s.id)",
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
        // The most that `Config::hot_turns` may be; the file does not say what it was.
        "a session has at most 50 hot turns",
        "SELECT count(*) FROM (SELECT 1 FROM conversation_turns WHERE memory_tier = 'hot'
                               GROUP BY session_id HAVING count(*) > 50)",
    ),
    (
        "every turn outside of hot has a record of its last move",
        "SELECT count(*) FROM conversation_turns AS t WHERE t.memory_tier <> 'hot' AND t.memory_tier IS NOT
           (SELECT m.to_tier FROM memory_tier_transitions AS m
            WHERE m.user_no = (SELECT user_no FROM user_scopes WHERE user_id = t.user_id)
              AND m.session_no = t.turn_key >> 24 AND m.turn_number = t.turn_number
              -- A promotion leaves the turn where it is.
              AND m.reason NOT IN ('recall', 'recall_end')
            ORDER BY m.move_number DESC LIMIT 1)",
    ),
    (
        "a session that silence ended may have a successor: a later session of its user",
        "SELECT count(*) FROM conversation_sessions AS s WHERE s.successor_id IS NOT NULL
           AND (s.end_reason IS NOT 'silence' OR NOT EXISTS
             (SELECT 1 FROM conversation_sessions AS later WHERE later.id = s.successor_id
              AND later.user_id = s.user_id AND later.session_no > s.session_no))",
    ),
    (
        "nobody is indexed or embedded farther than turns are recorded",
        "SELECT (SELECT count(*) FROM user_scopes WHERE indexed_seq NOT BETWEEN 0 AND last_seq)
              + (SELECT count(*) FROM user_spaces AS s JOIN user_scopes AS u ON u.user_no = s.user_no
                 WHERE s.embedded_seq NOT BETWEEN 0 AND u.last_seq)",
    ),
    (
        "what waits to be embedded again, and what was of use, is a turn of its user",
        "SELECT (SELECT count(*) FROM vector_gaps AS g LEFT JOIN recall_units AS r
                   ON r.user_no = g.user_no AND r.seq = g.seq WHERE r.seq IS NULL)
              + (SELECT count(*) FROM unit_uses AS n LEFT JOIN recall_units AS r
                   ON r.user_no = n.user_no AND r.seq = n.seq WHERE r.seq IS NULL)
              + (SELECT count(*) FROM promotions AS p LEFT JOIN recall_units AS r
                   ON r.user_no = p.user_no AND r.seq = p.seq WHERE r.seq IS NULL)",
    ),
    (
        "what is warm for its use is so in an open session of its user",
        "SELECT count(*) FROM promotions AS p WHERE NOT EXISTS
           (SELECT 1 FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
            WHERE u.user_no = p.user_no AND s.session_no = p.session_no AND s.ended_at IS NULL)",
    ),
    (
        "a receipt and its items belong to the same user",
        "SELECT count(*) FROM recall_receipt_items AS i LEFT JOIN recall_receipts AS r
           ON r.receipt_no = i.receipt_no AND r.user_no = i.user_no WHERE r.receipt_no IS NULL",
    ),
];

/// Reads the whole file, on a connection of its own: minutes for gigabytes.
///
/// Whoever asks wants to know what is damaged, so damage is no error here: a check that it stops has a problem.
pub(crate) fn diagnose(path: &Path) -> Result<Diagnosis> {
    let conn = connect::reader(path)?;
    // One snapshot: counts that must agree are counted at the same moment.
    let tx = conn.unchecked_transaction()?;
    let tx = &Sqlite::new(&tx, &crate::clock::SystemClock) as &dyn Sql;
    begin_snapshot(tx)?;
    let mut checks = vec![check("the pages of the file are sound", page_problems(tx).unwrap_or(1))];
    checks.extend(COUNTS.iter().map(|(holds, sql)| {
        let problems = tx.query_row(sql, [], |row| row.get(0));
        check(holds, problems.unwrap_or(1))
    }));
    checks.push(row_check(tx));
    checks.push(check("every session can be read", unreadable_sessions(tx).unwrap_or(1)));
    checks.extend(turn_checks(tx));
    checks.push(check(
        "every archived turn can be read, and is the one that was recorded",
        archive_problems(tx).unwrap_or(1),
    ));
    checks.push(check("every summary can be read", unreadable_summaries(tx).unwrap_or(1)));
    checks.extend(index_checks(tx));
    Ok(Diagnosis { checks, settings: settings(tx) })
}

fn check(holds: &str, problems: u64) -> Check {
    Check { holds: holds.to_owned(), problems, places: Vec::new(), is_of_index: false }
}

/// Whether every row of ours is what was written.
fn row_check(conn: &dyn Sql) -> Check {
    let holds = "every row is what was written";
    match row_check::damage(conn.conn()) {
        Ok(Damage { rows, places, is_of_index }) => Check { places, is_of_index, ..check(holds, rows) },
        Err(_) => check(holds, 1),
    }
}

/// The first read takes the snapshot. A lock in its way says nothing about the file, and can only be met here.
fn begin_snapshot(conn: &dyn Sql) -> Result<()> {
    match migrate::version(conn.conn()) {
        Err(error) if error.kind() == ErrorKind::Busy => Err(error),
        _ => Ok(()),
    }
}

/// Rows of `integrity_check` other than its `ok`.
fn page_problems(conn: &dyn Sql) -> Result<u64> {
    let mut stmt =
        conn.prepare("SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'")?;
    let mut rows = stmt.query([])?;
    let mut problems = 0;
    while rows.next()?.is_some() {
        problems += 1;
    }
    Ok(problems)
}

/// Sessions that a user cannot read. One that belongs to nobody is a problem of another check.
fn unreadable_sessions(conn: &dyn Sql) -> Result<u64> {
    let (columns, read) = sessions::row_reader();
    let mut stmt = conn.prepare(&format!(
        "SELECT {columns} FROM conversation_sessions WHERE user_id IN (SELECT user_id FROM user_scopes)"
    ))?;
    let mut rows = stmt.query([])?;
    let mut problems = 0;
    loop {
        match rows.next() {
            Ok(Some(row)) => problems += u64::from(read(row).is_err()),
            Ok(None) => return Ok(problems),
            Err(_) => return Ok(problems + 1),
        }
    }
}

/// What one pass over the turns found. What was worked out from a text is judged only where the text can be read
/// and is the one that was recorded.
#[derive(Default)]
struct TurnProblems {
    unreadable: u64,
    text: u64,
    words: u64,
    tokens: u64,
}

fn turn_checks(conn: &dyn Sql) -> [Check; 4] {
    let mut found = TurnProblems::default();
    if look_at_turns(conn, &mut found).is_err() {
        found.unreadable += 1; // Damage ended the pass.
    }
    [
        check("every turn can be read", found.unreadable),
        check("every text is the one that was recorded", found.text),
        check("the words of a turn are those of its text", found.words),
        check("the token counts of a turn are those of its text", found.tokens),
    ]
}

fn look_at_turns(conn: &dyn Sql, found: &mut TurnProblems) -> Result<()> {
    let columns = turn_row::COLUMNS;
    let mut stmt =
        conn.prepare(&format!("SELECT {columns}, words FROM conversation_turns ORDER BY turn_key"))?;
    let mut rows = stmt.query([])?;
    while let Some(row) = rows.next()? {
        let (Ok(turn), Ok(words)) = (turn_row::read(row), row.get::<_, Vec<u8>>("words")) else {
            found.unreadable += 1;
            continue;
        };
        let (user, reply) = (&turn.said.user_message, &turn.said.ai_response);
        // A turn without a unit is a problem of another check.
        let is_as_recorded = match recorded_hash(conn, turn.id, turn.seq) {
            Ok(Some(hash)) => hash == measure::content_hash(user, reply),
            Ok(None) => true,
            Err(_) => false,
        };
        if is_as_recorded {
            found.words += u64::from(words != WordCounts::of(&turn.said).encode());
            found.tokens += u64::from(!measure::has_its_counts(&turn));
        } else {
            found.text += 1;
        }
    }
    Ok(())
}

/// Archived turns that do not come out of their frame as they were recorded.
fn archive_problems(conn: &dyn Sql) -> Result<u64> {
    let mut frames = conn.prepare("SELECT frame_no, turn_count, body FROM archived_frames")?;
    let mut places = conn.prepare(
        "SELECT a.position AS position, a.turn_id AS turn_id, r.content_hash AS content_hash
         FROM archived_turns AS a JOIN recall_units AS r ON r.user_no = a.user_no AND r.seq = a.seq
         WHERE a.frame_no = ?1",
    )?;
    let mut rows = frames.query([])?;
    let mut problems = 0;
    while let Some(row) = rows.next()? {
        let turns = row.get::<_, Vec<u8>>("body").ok().and_then(|body| archive::unpack(&body).ok());
        let turns = turns.unwrap_or_default();
        let mut found_places = places.query([row.get::<_, i64>("frame_no")?])?;
        let mut found = 0;
        while let Some(place) = found_places.next()? {
            let (id, hash): (TurnId, ContentHash) = (place.get("turn_id")?, place.get("content_hash")?);
            found += u64::from(turns.get(place.get::<_, usize>("position")?).is_some_and(|turn| {
                let said = &turn.said;
                turn.id == id && measure::content_hash(&said.user_message, &said.ai_response) == hash
            }));
        }
        problems += row.get::<_, u64>("turn_count")?.saturating_sub(found);
    }
    Ok(problems)
}

fn unreadable_summaries(conn: &dyn Sql) -> Result<u64> {
    let (columns, read) = summaries::row_reader();
    let mut stmt = conn.prepare(&format!("SELECT {columns} FROM conversation_summaries"))?;
    let mut rows = stmt.query([])?;
    let mut problems = 0;
    while let Some(row) = rows.next()? {
        problems += u64::from(read(row).is_err());
    }
    Ok(problems)
}

/// What proves the text of a turn: nothing if it has no unit, an error if that cannot be read.
fn recorded_hash(conn: &dyn Sql, id: TurnId, seq: i64) -> rusqlite::Result<Option<ContentHash>> {
    let mut stmt = conn.prepare_cached(
        "SELECT r.content_hash AS content_hash FROM conversation_turns AS t
         JOIN user_scopes AS u ON u.user_id = t.user_id
         JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = ?2 WHERE t.id = ?1",
    )?;
    stmt.query_row(rusqlite::params![id, seq], |row| row.get("content_hash")).optional()
}

fn index_checks(conn: &dyn Sql) -> [Check; 3] {
    // Damage ends the pass, or that of a user.
    let found =
        index_checks::problems(conn).unwrap_or(IndexProblems { words: 1, facts: 1, vectors: 1, unread: 0 });
    [
        check(
            "the index has the words of every turn that is indexed, and no others",
            found.words + found.unread,
        ),
        check("the index knows where, when and how long every indexed turn is", found.facts + found.unread),
        check("every vector belongs to a turn of its user", found.vectors + found.unread),
    ]
}

/// What can be read of them.
fn settings(conn: &dyn Sql) -> Vec<(String, String)> {
    let mut settings = vec![("sqlite".to_owned(), rusqlite::version().to_owned())];
    if let Ok(version) = migrate::version(conn.conn()) {
        settings.push(("schema_version".to_owned(), version.unwrap_or(0).to_string()));
    }
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
        if let Ok(value) = conn.query_row(&sql, [], |row| row.get(0)) {
            settings.push((name.to_owned(), value));
        }
    }
    settings.extend(decided_settings(conn).unwrap_or_default());
    settings
}

/// What the file decided when it was made.
fn decided_settings(conn: &dyn Sql) -> Result<Vec<(String, String)>> {
    let mut stmt = conn.prepare("SELECT key, value FROM thermocline_settings ORDER BY key")?;
    let rows = stmt.query_map([], |row| Ok((row.get("key")?, row.get("value")?)))?;
    Ok(rows.filter_map(rusqlite::Result::ok).collect())
}
