//! Rows for export and import.

use crate::{
    error::Result,
    model::{
        anchor::{Attribute, Cardinality, Stance},
        ids::{AnchorId, SessionId, TurnId},
        memory::trust::Trust,
        place::{Seq, SessionNo},
        stored_time::StoredTime,
        turn::Turn,
    },
    store::{
        rows::row_check::{self, damaged},
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, ToColumn, values},
    },
    text::measure::ContentHash,
};

/// How many units are read at once.
const PAGE: usize = 1_000;

/// For each table that refers to the user by id: its name, a query of the columns covered by a row's checksum in the table's
/// order, then the checksum, and how many columns the checksum covers. Turns and summaries are omitted because they are
/// checked wherever they are read.
const OF_USER_ID: [(&str, &str, usize); 4] = [
    (
        "conversation_sessions",
        "SELECT session_no, id, user_id, caller_id, part, project, started_at, ended_at, end_reason, successor_id,
                turn_count, total_tokens, memory_tier, last_active_at, erased_turns, title, metadata,
                trust, row_check
         FROM conversation_sessions WHERE user_id = ?1",
        18,
    ),
    (
        "turns_aside",
        "SELECT id, user_id, session_id, turn_number, caller_id, content_hash, replaced_by, replaced_at, turn, row_check
         FROM turns_aside WHERE user_id = ?1",
        9,
    ),
    (
        "identity_anchors",
        "SELECT id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from, valid_until,
                superseded_by, retracted_at, retracted_seq, trust, retracted_trust, contests, row_check
         FROM identity_anchors WHERE user_id = ?1",
        16,
    ),
    (
        "derivations",
        "SELECT user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote,
                trust, row_check
         FROM derivations WHERE user_id = ?1",
        12,
    ),
];
/// The same for tables that refer to the user by number. Memories, their states, terms, edges, changes and episodes are
/// omitted because they are checked wherever they are read.
const OF_USER_NO: [(&str, &str, usize); 9] = [
    (
        "recall_units",
        "SELECT user_no, seq, kind, owner_id, session_no, turn_number, caller_id, content_hash, said_at, row_check
         FROM recall_units WHERE user_no = ?1",
        9,
    ),
    (
        "memory_tier_transitions",
        "SELECT user_no, session_no, turn_number, move_number, from_tier, to_tier, reason, moved_at, row_check
         FROM memory_tier_transitions WHERE user_no = ?1",
        8,
    ),
    ("unit_uses", "SELECT user_no, seq, hits, last_hit, best, row_check FROM unit_uses WHERE user_no = ?1", 5),
    ("use_counts", "SELECT user_no, aspect, name, hits, row_check FROM use_counts WHERE user_no = ?1", 4),
    (
        "memory_sources",
        "SELECT user_no, memory_no, source_kind, source_id, origin, made_by, seq, said_at, quote, row_check
         FROM memory_sources WHERE user_no = ?1",
        9,
    ),
    (
        "memory_sensors",
        "SELECT user_no, memory_no, sensor, subject, expect, seen_hash, row_check
         FROM memory_sensors WHERE user_no = ?1",
        6,
    ),
    (
        "memory_reviews",
        "SELECT review_no, id, user_no, kind, memory_no, other_no, opened_at, why, decision, decided_at, decided_by,
                row_check
         FROM memory_reviews WHERE user_no = ?1",
        11,
    ),
    (
        "extracted_sessions",
        "SELECT user_no, session_no, extracted_at, row_check FROM extracted_sessions WHERE user_no = ?1",
        3,
    ),
    (
        "erased_memories",
        "SELECT user_no, id_hash, row_check FROM erased_memories WHERE user_no = ?1",
        2,
    ),
];

/// Fails if a row of the user is damaged in one of the tables that the export itself does not check.
pub(crate) fn expect_sound(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    let by_id = OF_USER_ID.map(|table| (table, scope.user_id.to_column()));
    let by_no = OF_USER_NO.map(|table| (table, scope.user_no.to_column()));
    for ((table, statement, columns), user) in by_id.into_iter().chain(by_no) {
        sql.query(statement, &[user], &mut |row| {
            if row_check::holds(row, columns)? {
                Ok(Flow::Next)
            } else {
                Err(damaged(format_args!("a row of {table}")))
            }
        })?;
    }
    Ok(())
}

/// The unit of a turn.
pub(crate) struct UnitOfTurn {
    pub(crate) seq: Seq,
    pub(crate) turn_id: TurnId,
    pub(crate) session_id: SessionId,
    pub(crate) turn_number: u32,
    pub(crate) caller_id: Option<String>,
    pub(crate) said_at: StoredTime,
    pub(crate) content_hash: ContentHash,
}

/// The next units of the user's turns after unit `after`, at most 1,000, in the order of recording. Empty if there are no
/// more.
pub(crate) fn units_after(sql: &dyn Sql, scope: &Scope, after: Seq) -> Result<Vec<UnitOfTurn>> {
    sql.list(
        "SELECT r.seq, r.owner_id, s.id, r.turn_number, r.caller_id, r.said_at, r.content_hash
         FROM recall_units AS r JOIN conversation_sessions AS s ON s.session_no = r.session_no
         WHERE r.user_no = ?1 AND r.seq > ?2 AND r.kind = 'turn' AND s.user_id = ?3 ORDER BY r.seq LIMIT ?4",
        values![scope.user_no, after, scope.user_id, PAGE],
        |row| {
            Ok(UnitOfTurn {
                seq: row.get(0)?,
                turn_id: row.get(1)?,
                session_id: row.get(2)?,
                turn_number: row.get(3)?,
                caller_id: row.get(4)?,
                said_at: row.get(5)?,
                content_hash: row.get(6)?,
            })
        },
    )
}

/// The user's newest turn up to a unit. In another file, where units have other numbers, it identifies the same place.
pub(crate) fn newest_turn(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<Option<TurnId>> {
    sql.one(
        "SELECT owner_id FROM recall_units WHERE user_no = ?1 AND seq <= ?2 AND kind = 'turn'
         ORDER BY seq DESC LIMIT 1",
        values![scope.user_no, seq],
        |row| row.get(0),
    )
}

/// The part of an anchor that is not folded from its derivations.
pub(crate) struct AnchorRow {
    pub(crate) id: AnchorId,
    pub(crate) subject: String,
    pub(crate) attribute: Attribute,
    pub(crate) value: String,
    pub(crate) retracted_at: Option<StoredTime>,
    pub(crate) retracted_seq: Option<Seq>,
    pub(crate) retracted_trust: Trust,
}

pub(crate) fn anchors(sql: &dyn Sql, scope: &Scope) -> Result<Vec<AnchorRow>> {
    sql.list(
        "SELECT id, subject, attribute, value, retracted_at, retracted_seq, retracted_trust FROM identity_anchors
         WHERE user_id = ?1 ORDER BY subject, attribute, value_key",
        values![scope.user_id],
        |row| {
            Ok(AnchorRow {
                id: row.get(0)?,
                subject: row.get(1)?,
                attribute: row.get(2)?,
                value: row.get(3)?,
                retracted_at: row.get(4)?,
                retracted_seq: row.get(5)?,
                retracted_trust: Trust::of_stored(row.get(6)?),
            })
        },
    )
}

/// A piece of evidence for an anchor.
pub(crate) struct DerivationRow {
    pub(crate) anchor_id: AnchorId,
    /// Whether the source is a turn. Otherwise the evidence was set by hand.
    pub(crate) is_of_turn: bool,
    pub(crate) source_id: TurnId,
    pub(crate) stance: Stance,
    pub(crate) seq: Seq,
    pub(crate) said_at: StoredTime,
    pub(crate) made_by: String,
    pub(crate) value: String,
    pub(crate) quote: String,
    pub(crate) trust: Trust,
}

/// All evidence, by anchor, then in the order in which it was said.
pub(crate) fn derivations(sql: &dyn Sql, scope: &Scope) -> Result<Vec<DerivationRow>> {
    sql.list(
        "SELECT d.product_id, d.source_kind = 'turn' AS is_of_turn, d.source_id, d.stance, d.seq, d.said_at, d.made_by,
                d.value, d.quote, d.trust
         FROM derivations AS d JOIN identity_anchors AS a ON a.user_id = d.user_id AND a.id = d.product_id
         WHERE d.user_id = ?1
         ORDER BY a.subject, a.attribute, a.value_key, d.seq, is_of_turn DESC, d.said_at, d.source_id, d.stance",
        values![scope.user_id],
        |row| {
            Ok(DerivationRow {
                anchor_id: row.get(0)?,
                is_of_turn: row.get(1)?,
                source_id: row.get(2)?,
                stance: row.get(3)?,
                seq: row.get(4)?,
                said_at: row.get(5)?,
                made_by: row.get(6)?,
                value: row.get(7)?,
                quote: row.get(8)?,
                trust: Trust::of_stored(row.get(9)?),
            })
        },
    )
}

/// Queries for the user who owns an id, one for each table. Ids are unique in a file, across all users.
pub(crate) const OWNER_OF_SESSION: &str = "SELECT user_id FROM conversation_sessions WHERE id = ?1";
pub(crate) const OWNER_OF_TURN: &str = "SELECT user_id FROM conversation_turns WHERE id = ?1";
pub(crate) const OWNER_OF_TURN_ASIDE: &str = "SELECT user_id FROM turns_aside WHERE id = ?1";
pub(crate) const OWNER_OF_SUMMARY: &str = "SELECT user_id FROM conversation_summaries WHERE id = ?1";
pub(crate) const OWNER_OF_SUMMARY_OF_TURN: &str =
    "SELECT user_id FROM conversation_summaries WHERE original_turn_id = ?1";
pub(crate) const OWNER_OF_ANCHOR: &str = "SELECT user_id FROM identity_anchors WHERE id = ?1";

/// Whether any user of this file already owns one of these ids. `owner` is one of the queries above.
pub(crate) fn is_any_owned<Id: ToColumn>(sql: &dyn Sql, owner: &'static str, ids: &[Id]) -> Result<bool> {
    let sets: Vec<_> = ids.iter().map(|id| vec![id.to_column()]).collect();
    let mut is_owned = false;
    sql.query_many(owner, &sets, &mut |_, _| {
        is_owned = true;
        Ok(())
    })?;
    Ok(is_owned)
}

/// Writes the part of an anchor that is not folded from its evidence. The caller folds it.
pub(crate) fn insert_anchor(sql: &dyn Sql, scope: &Scope, value_key: &str, anchor: &AnchorRow) -> Result<()> {
    let cardinality = match anchor.attribute.cardinality() {
        Cardinality::One => "one",
        Cardinality::Many => "many",
    };
    sql.put(
        "INSERT INTO identity_anchors
           (id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from, retracted_at,
            retracted_seq, retracted_trust)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0.0, '', ?8, ?9, ?10)",
        values![
            anchor.id,
            scope.user_id,
            anchor.subject,
            anchor.attribute,
            value_key,
            anchor.value,
            cardinality,
            anchor.retracted_at,
            anchor.retracted_seq,
            anchor.retracted_trust.stored(),
        ],
        RowExpectation::Any,
    )
}

pub(crate) fn insert_derivation(sql: &dyn Sql, scope: &Scope, derivation: &DerivationRow) -> Result<()> {
    sql.put(
        "INSERT INTO derivations
           (user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote, trust)
         VALUES (?1, 'anchor', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        values![
            scope.user_id,
            derivation.anchor_id,
            if derivation.is_of_turn { "turn" } else { "caller" },
            derivation.source_id,
            derivation.stance,
            derivation.seq,
            derivation.said_at,
            derivation.made_by,
            derivation.value,
            derivation.quote,
            derivation.trust.stored(),
        ],
        RowExpectation::Any,
    )
}

/// Records the archive location of a turn that never had a row in this file.
pub(crate) fn insert_archived(
    sql: &dyn Sql,
    scope: &Scope,
    (session_no, turn): (SessionNo, &Turn),
    (frame_no, position): (i64, usize),
) -> Result<()> {
    sql.put(
        "INSERT INTO archived_turns (turn_key, turn_id, user_no, frame_no, position, turn_number, seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        values![
            session_no.turn(turn.turn_number),
            turn.id,
            scope.user_no,
            frame_no,
            position,
            turn.turn_number,
            turn.seq,
        ],
        RowExpectation::Any,
    )
}
