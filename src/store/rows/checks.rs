//! Doctor's queries on the rows of all users. Some report a row that cannot be read, and go on with the next; others end at
//! such a row. Either way, the check then has a problem, and the other checks still run.

use crate::{
    error::Result,
    index::postings::PostingsChunk,
    model::{ids::TurnId, place::Seq, turn::Turn},
    store::{
        rows::{
            turn_row::{self, turn_columns},
            vectors::Space,
        },
        scope::Scope,
        sql::{Flow, FromColumn, Sql, SqlRow, bytes, values},
    },
    text::{measure::ContentHash, words::Word},
};

/// Counts erases that were begun but not finished. The other queries may count data that such an erase has yet to delete.
pub(crate) const UNFINISHED_ERASES: &str = "SELECT count(*) FROM jobs WHERE kind = 'erase'";

/// Counts the turns that are stored in no place or in several, and names the units of the first 20. A turn's place is its
/// row, the archive or, if its original was deleted, its summary.
pub(crate) fn misplaced_turns(sql: &dyn Sql) -> Result<(u64, Vec<String>)> {
    const MOST_PLACES: usize = 20;
    let (mut count, mut places) = (0, Vec::new());
    sql.query(
        "SELECT r.user_no, r.seq, r.owner_id FROM recall_units AS r
         LEFT JOIN conversation_turns AS t ON t.turn_key = (r.session_no << 24 | r.turn_number)
         LEFT JOIN archived_turns AS a ON a.turn_key = (r.session_no << 24 | r.turn_number)
         LEFT JOIN conversation_summaries AS m
           ON m.turn_key = (r.session_no << 24 | r.turn_number) AND m.original = 'deleted'
         WHERE r.kind = 'turn' AND CASE WHEN t.id IS NOT NULL THEN 1 ELSE 0 END + CASE WHEN a.turn_id IS NOT NULL THEN 1 ELSE 0 END
             + CASE WHEN m.id IS NOT NULL THEN 1 ELSE 0 END <> 1",
        &[],
        &mut |row| {
            count += 1;
            if places.len() < MOST_PLACES {
                let (user_no, seq, turn): (i64, Seq, TurnId) = (row.get(0)?, row.get(1)?, row.get(2)?);
                places.push(format!("recall_units where user_no = {user_no} and seq = {}: turn {turn}", seq.0));
            }
            Ok(Flow::Next)
        },
    )?;
    Ok((count, places))
}

/// Conditions that must hold, each with a query that counts the violations.
pub(crate) const COUNTS: &[(&str, &str)] = &[
    (
        "what other programs inserted is taken over (opening the file and running the jobs does it)",
        "SELECT count(*) FROM user_scopes WHERE inserted_seq IS NOT NULL",
    ),
    (
        "every user's rows belong to a user of this file",
        "SELECT (SELECT count(*) FROM conversation_sessions WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM conversation_turns WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM conversation_summaries WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM turns_aside WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM archived_frames WHERE user_id NOT IN (SELECT user_id FROM user_scopes))
              + (SELECT count(*) FROM identity_anchors WHERE user_id NOT IN (SELECT user_id FROM user_scopes))",
    ),
    (
        "a turn and its session belong to the same user",
        "SELECT count(*) FROM conversation_turns AS t JOIN conversation_sessions AS s ON s.id = t.session_id
         WHERE s.user_id <> t.user_id OR t.turn_key <> (s.session_no << 24 | t.turn_number)",
    ),
    (
        "a session's turn_count counts the turns recorded in it, and those erased one by one",
        "SELECT count(*) FROM conversation_sessions AS s LEFT JOIN
           (SELECT session_no, count(*) AS n, max(turn_number) AS last FROM recall_units
            WHERE kind = 'turn' GROUP BY session_no) AS r
           ON r.session_no = s.session_no
         WHERE s.turn_count <> coalesce(r.n, 0) + coalesce(s.erased_turns, 0) OR s.turn_count < coalesce(r.last, 0)",
    ),
    (
        "what stands in a turn's place is that turn",
        "SELECT (SELECT count(*) FROM conversation_turns AS t JOIN user_scopes AS u ON u.user_id = t.user_id
                 JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = t.seq
                 WHERE t.id <> r.owner_id OR t.caller_id IS DISTINCT FROM r.caller_id)
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
        "an attribute with one value has at most one current value",
        "SELECT count(*) FROM (SELECT 1 FROM identity_anchors
                               WHERE cardinality = 'one' AND valid_until IS NULL AND retracted_at IS NULL
                               GROUP BY user_id, subject, attribute HAVING count(*) > 1) AS doubled",
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
        "SELECT count(*) FROM conversation_sessions AS s WHERE s.total_tokens <>
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
         WHERE (t.memory_tier = 'hot') <> (s.ended_at IS NULL)
           -- One that waits for its reply is newer.
           AND NOT (s.ended_at IS NULL AND EXISTS
             (SELECT 1 FROM turns_aside AS a WHERE a.session_id = s.id AND a.replaced_by IS NULL))",
    ),
    (
        "a turn that waits for its reply is the newest of an open session",
        "SELECT count(*) FROM turns_aside AS a JOIN conversation_sessions AS s ON s.id = a.session_id
         WHERE a.user_id <> s.user_id
            OR (a.replaced_by IS NULL AND (s.ended_at IS NOT NULL OR a.turn_number <> s.turn_count + 1))",
    ),
    (
        "no turn that was set aside is part of the memory, nor is its caller's id used there",
        "SELECT count(*) FROM turns_aside AS a JOIN user_scopes AS u ON u.user_id = a.user_id
         JOIN recall_units AS r ON r.user_no = u.user_no AND (r.owner_id = a.id OR r.caller_id = a.caller_id)",
    ),
    (
        // The same as `MAX_HOT_TURNS`.
        "a session has at most 50 hot turns",
        "SELECT count(*) FROM (SELECT 1 FROM conversation_turns WHERE memory_tier = 'hot'
                               GROUP BY session_id HAVING count(*) > 50) AS crowded",
    ),
    (
        "every turn outside of hot has a record of its last move",
        "SELECT count(*) FROM conversation_turns AS t WHERE t.memory_tier <> 'hot' AND t.memory_tier IS DISTINCT FROM
           (SELECT m.to_tier FROM memory_tier_transitions AS m
            WHERE m.user_no = (SELECT user_no FROM user_scopes WHERE user_id = t.user_id)
              AND m.session_no = t.turn_key >> 24 AND m.turn_number = t.turn_number
              -- Of older versions: a promotion leaves the turn where it is.
              AND m.reason NOT IN ('recall', 'recall_end')
            ORDER BY m.move_number DESC LIMIT 1)",
    ),
    (
        "an ended session whose talk can go on may have a successor: a later session of its user",
        "SELECT count(*) FROM conversation_sessions AS s WHERE s.successor_id IS NOT NULL
           AND (s.ended_at IS NULL OR (s.end_reason = 'call' AND s.caller_id IS NULL) OR NOT EXISTS
             (SELECT 1 FROM conversation_sessions AS later WHERE later.id = s.successor_id
              AND later.user_id = s.user_id AND later.session_no > s.session_no))",
    ),
    (
        "no user is indexed or embedded beyond the recorded turns",
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
        "every turn that is warm for its use is in an open session of its user",
        "SELECT count(*) FROM promotions AS p WHERE NOT EXISTS
           (SELECT 1 FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
            WHERE u.user_no = p.user_no AND s.session_no = p.session_no AND s.ended_at IS NULL)",
    ),
];

/// Passes the next 1,000 turns after a key to `each`, in key order: the key, and the turn with its words, or the error if it
/// cannot be read.
pub(crate) fn each_turn(
    sql: &dyn Sql,
    after: i64,
    each: &mut dyn FnMut(i64, Result<(Turn, Vec<u8>)>),
) -> Result<()> {
    const SOME: &str = concat!(
        "SELECT ",
        turn_columns!(),
        ", words FROM conversation_turns WHERE turn_key > ?1 ORDER BY turn_key LIMIT 1000"
    );
    sql.query(SOME, values![after], &mut |row| {
        let turn = turn_row::read(row).and_then(|turn| Ok((turn, row.get(turn_row::TURN_KEY + 1)?)));
        each(row.get(turn_row::TURN_KEY)?, turn);
        Ok(Flow::Next)
    })
}

/// The content hash in the unit of a turn. `None` if the unit does not exist.
pub(crate) fn recorded_hash(sql: &dyn Sql, id: TurnId, seq: i64) -> Result<Option<ContentHash>> {
    sql.one(
        "SELECT r.content_hash FROM conversation_turns AS t
         JOIN user_scopes AS u ON u.user_id = t.user_id
         JOIN recall_units AS r ON r.user_no = u.user_no AND r.seq = ?2 WHERE t.id = ?1",
        values![id, seq],
        |row| row.get(0),
    )
}

/// The numbers of the archive's frames, ascending, and how many turns each should have.
pub(crate) fn frames(sql: &dyn Sql) -> Result<Vec<(i64, u64)>> {
    sql.list("SELECT frame_no, turn_count FROM archived_frames ORDER BY frame_no", &[], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// The contents of a frame. `None` if they cannot be read.
pub(crate) fn frame_body(sql: &dyn Sql, frame_no: i64) -> Result<Option<Vec<u8>>> {
    let body =
        sql.one("SELECT body FROM archived_frames WHERE frame_no = ?1", values![frame_no], readable)?;
    Ok(body.flatten())
}

/// The positions of the turns in a frame, with their content hashes.
pub(crate) fn places_in_frame(sql: &dyn Sql, frame_no: i64) -> Result<Vec<(usize, TurnId, ContentHash)>> {
    sql.list(
        "SELECT a.position, a.turn_id, r.content_hash
         FROM archived_turns AS a JOIN recall_units AS r ON r.user_no = a.user_no AND r.seq = a.seq
         WHERE a.frame_no = ?1",
        values![frame_no],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}

/// The settings that were fixed when the file was created, as far as they can be read.
pub(crate) fn settings(sql: &dyn Sql) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let _ = sql.query("SELECT key, value FROM thermocline_settings ORDER BY key", &[], &mut |row| {
        if let (Ok(key), Ok(value)) = (row.get(0), row.get(1)) {
            found.push((key, value));
        }
        Ok(Flow::Next)
    });
    found
}

/// Every user of the file, or an error for a row that cannot be read.
pub(crate) fn users(sql: &dyn Sql) -> Vec<Result<Scope>> {
    let mut found = Vec::new();
    let read = sql.query("SELECT user_id, user_no FROM user_scopes ORDER BY user_no", &[], &mut |row| {
        let read = |row: &SqlRow<'_>| Ok(Scope { user_id: row.get(0)?, user_no: row.get(1)? });
        found.push(read(row));
        Ok(Flow::Next)
    });
    found.extend(read.err().map(Err));
    found
}

/// The numbers of a user's units, ascending. Values that are not valid unit numbers are left to other checks.
pub(crate) fn seqs(sql: &dyn Sql, scope: &Scope) -> Result<Vec<u32>> {
    sql.list(
        "SELECT seq FROM recall_units WHERE user_no = ?1 AND seq BETWEEN 1 AND 4294967295 ORDER BY seq",
        values![scope.user_no],
        |row| row.get(0),
    )
}

/// Passes every row of a user's postings to `each`. `None` for a row that cannot be read.
pub(crate) fn each_chunk(
    sql: &dyn Sql,
    scope: &Scope,
    each: &mut dyn FnMut(Option<(Word, PostingsChunk)>),
) -> Result<()> {
    sql.query(
        "SELECT word, first_seq, last_seq, unit_count, data FROM postings WHERE user_no = ?1
         ORDER BY word, first_seq",
        values![scope.user_no],
        &mut |row| {
            let chunk = || -> Result<_> {
                let word = row.get(0)?;
                Ok((
                    word,
                    PostingsChunk {
                        first: row.get(1)?,
                        last: row.get(2)?,
                        units: row.get(3)?,
                        data: row.get(4)?,
                    },
                ))
            };
            each(chunk().ok());
            Ok(Flow::Next)
        },
    )
}

/// Passes every block of a user's facts to `each`, by number. `None` for a block that cannot be read.
pub(crate) fn each_unit_block(
    sql: &dyn Sql,
    scope: &Scope,
    mut each: impl FnMut(Option<(u32, &[u8])>),
) -> Result<()> {
    sql.query(
        "SELECT block_no, body FROM unit_blocks WHERE user_no = ?1 ORDER BY block_no",
        values![scope.user_no],
        &mut |row| {
            each(row.get(0).ok().zip(bytes(row.value(1)?)));
            Ok(Flow::Next)
        },
    )
}

/// The spaces in which a user has vectors.
pub(crate) fn spaces(sql: &dyn Sql, scope: &Scope) -> Result<Vec<Space>> {
    sql.list(
        "SELECT e.space_no, e.dims FROM embedding_spaces AS e
         WHERE e.space_no IN (SELECT space_no FROM vector_blocks WHERE user_no = ?1) ORDER BY e.space_no",
        values![scope.user_no],
        |row| Ok(Space { space_no: row.get(0)?, dims: row.get(1)? }),
    )
}

/// The first column of a row. `None` if its value is not one of `T`.
fn readable<T: FromColumn>(row: &SqlRow<'_>) -> Result<Option<T>> {
    Ok(T::from_column(row.value(0)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tier::MAX_HOT_TURNS;

    #[test]
    fn hot_turns_are_held_against_the_most_that_a_caller_may_set() {
        let (check, query) = COUNTS
            .iter()
            .find(|(check, _)| check.contains(" hot turns") && check.contains("at most"))
            .unwrap();
        assert_eq!(*check, format!("a session has at most {MAX_HOT_TURNS} hot turns"));
        assert!(query.contains(&format!("HAVING count(*) > {MAX_HOT_TURNS})")), "{query}");
    }
}
