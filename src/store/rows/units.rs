//! Rows of `recall_units`: a user's units in order and what they stand for. Also reads the units' words from other rows,
//! except the words of archived turns.

use crate::{
    error::Result,
    model::{
        ids::{SessionId, TurnId},
        place::{Owner, Place, Seq, UnitKind},
        stored_time::StoredTime,
    },
    store::{
        rows::users,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, SqlValue, ToColumn, missing, values},
    },
    text::{measure::ContentHash, words::WordCounts},
    times::EventDays,
};

/// How far a user's units extend, and how far they are indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Raised when something of the user's is erased or replaced.
    pub(crate) epoch: i64,
    /// The newest unit. 0 if there is none.
    pub(crate) last_seq: Seq,
    /// Units up to here are in the postings and blocks.
    pub(crate) indexed_seq: Seq,
    /// Raised when an anchor changes.
    pub(crate) anchor_version: i64,
}

/// A unit's row, without its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    pub(crate) seq: u32,
    pub(crate) owner: Owner,
    pub(crate) said_at_ms: i64,
}

/// How far the user's units extend and are indexed. All zero if the user is gone.
pub(crate) fn extent(sql: &dyn Sql, scope: &Scope) -> Result<Extent> {
    let found = sql.one(users::ROW, values![scope.user_no], users::read_row)?;
    let known = found.filter(|row| row.user_id == scope.user_id).map(|row| Extent {
        epoch: row.epoch,
        last_seq: row.last_seq,
        indexed_seq: row.indexed_seq,
        anchor_version: row.anchor_version,
    });
    Ok(known.unwrap_or_default())
}

/// The unit of a turn that was recorded under a caller's id.
#[derive(Debug)]
pub(crate) struct KnownUnit {
    pub(crate) seq: Seq,
    pub(crate) turn_id: TurnId,
    pub(crate) session_id: SessionId,
    pub(crate) turn_number: u32,
    pub(crate) content_hash: ContentHash,
}

/// The turn with the caller's id, in any tier.
pub(crate) fn unit_by_caller_id(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<KnownUnit>> {
    sql.one(
        "SELECT r.seq, r.owner_id, s.id, r.turn_number, r.content_hash
         FROM recall_units AS r JOIN conversation_sessions AS s ON s.session_no = r.session_no
         WHERE r.user_no = ?1 AND r.caller_id = ?2 AND s.user_id = ?3",
        values![scope.user_no, caller_id, scope.user_id],
        |row| {
            Ok(KnownUnit {
                seq: row.get(0)?,
                turn_id: row.get(1)?,
                session_id: row.get(2)?,
                turn_number: row.get(3)?,
                content_hash: row.get(4)?,
            })
        },
    )
}

/// What a unit stands for, and the caller's id of it.
pub(crate) struct NamedUnit {
    pub(crate) owner: Owner,
    pub(crate) caller_id: Option<String>,
}

/// A unit by its number.
pub(crate) fn unit_by_seq(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<Option<NamedUnit>> {
    sql.one(
        "SELECT kind, session_no, turn_number, caller_id FROM recall_units WHERE user_no = ?1 AND seq = ?2",
        values![scope.user_no, seq],
        |row| Ok(NamedUnit { owner: owner(row, 0)?, caller_id: row.get(3)? }),
    )
}

/// Reads what a unit stands for from three columns: the kind, at index `kind`, then the session and the turn number. The
/// unit is a turn's if its kind says so or if it has a session, because either column may be damaged.
fn owner(row: &SqlRow<'_>, kind: usize) -> Result<Owner> {
    match (row.get(kind), row.value(kind + 1)?) {
        (Ok(UnitKind::Turn), _) => {}
        (_, SqlValue::Null) => return Ok(Owner::Memory),
        _ => {}
    }
    Ok(Owner::Turn(Place { session: row.get(kind + 1)?, turn_number: row.get(kind + 2)? }))
}

/// The content hashes of these units, in the same order. Errors: a unit does not exist.
pub(crate) fn content_hashes(
    sql: &dyn Sql,
    scope: &Scope,
    seqs: impl Iterator<Item = Result<Seq>>,
) -> Result<Vec<ContentHash>> {
    let set = |seq: Result<Seq>| Ok(vec![scope.user_no.to_column(), SqlValue::Integer(seq?.into())]);
    let units: Vec<_> = seqs.map(set).collect::<Result<_>>()?;
    let mut found = Vec::with_capacity(units.len());
    sql.query_many(
        "SELECT content_hash FROM recall_units WHERE user_no = ?1 AND seq = ?2",
        &units,
        &mut |_, row| {
            found.push(row.get(0)?);
            Ok(())
        },
    )?;
    if found.len() == units.len() { Ok(found) } else { Err(missing()) }
}

/// Whether a unit is this turn's.
pub(crate) fn is_of(sql: &dyn Sql, scope: &Scope, seq: Seq, turn: TurnId) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM recall_units WHERE user_no = ?1 AND seq = ?2 AND owner_id = ?3)",
        values![scope.user_no, seq, turn],
    )
}

/// Writes the unit that stands for a turn, or for a text of a memory. `id` is the turn's or the memory's.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    seq: Seq,
    owner: Owner,
    (id, caller_id, hash, said_at): (impl ToColumn, Option<&str>, ContentHash, StoredTime),
) -> Result<()> {
    let place = owner.place();
    let (session, turn_number) = (place.map(|place| place.session), place.map(|place| place.turn_number));
    sql.put(
        "INSERT INTO recall_units
           (user_no, seq, kind, owner_id, session_no, turn_number, caller_id, content_hash, said_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        values![scope.user_no, seq, owner.kind(), id, session, turn_number, caller_id, hash, said_at],
        RowExpectation::Any,
    )
}

/// A unit with data from the row of its turn, of its memory or, if the original was deleted, of its summary.
#[derive(Clone, Debug)]
pub(crate) struct ListedUnit {
    pub(crate) unit: Bare,
    /// The encoded words. `None` if the turn is archived.
    pub(crate) words: Option<Vec<u8>>,
    /// The beginning of the turn's user message, long enough to read events from. `None` if the turn has no row, or the
    /// text cannot be read.
    pub(crate) opening: Option<String>,
}

/// How many characters of a user message are read. This is enough, because events are read from at most
/// [`EventDays::MAX_BYTES`] bytes, and a character has at least one byte.
const OPENING_CHARS: u32 = 4_096;
const _: () =
    assert!(OPENING_CHARS as usize >= EventDays::MAX_BYTES, "an event is read from all that it may stand in");

/// The units after `after` up to `until`, in order.
pub(crate) fn list(sql: &dyn Sql, scope: &Scope, (after, until): (Seq, Seq)) -> Result<Vec<ListedUnit>> {
    sql.list(
        "SELECT coalesce(t.words, k.words) AS words, m.summary_text, m.topic_keywords, r.seq, r.said_at, r.kind,
                r.session_no, r.turn_number, substr(t.user_message, 1, ?5) AS opening
         FROM recall_units AS r
         LEFT JOIN memory_units AS k ON r.session_no IS NULL AND k.user_no = r.user_no AND k.seq = r.seq
         LEFT JOIN conversation_turns AS t ON t.turn_key = (r.session_no << 24 | r.turn_number) AND t.user_id = ?4
         LEFT JOIN conversation_summaries AS m ON m.turn_key = (r.session_no << 24 | r.turn_number)
           AND m.user_id = ?4 AND m.original = 'deleted'
         WHERE r.user_no = ?1 AND r.seq > ?2 AND r.seq <= ?3 ORDER BY r.seq",
        values![scope.user_no, after, until, scope.user_id, OPENING_CHARS],
        |row| Ok(ListedUnit { unit: read(row)?, words: words_in(row)?, opening: row.get(8).unwrap_or_default() }),
    )
}

fn read(row: &SqlRow<'_>) -> Result<Bare> {
    // A damaged unit is returned as far as it can be read; doctor reports the damage.
    let owner = owner(row, 5).unwrap_or(Owner::Turn(Place::default()));
    let said_at_ms = row.get(4).map_or(0, |at: StoredTime| at.timestamp_millis());
    Ok(Bare { seq: row.get(3)?, owner, said_at_ms })
}

/// Reads the words from a row's first three columns: the turn's own words or, if there are none, the text and the keywords
/// of the summary in its place.
fn words_in(row: &SqlRow<'_>) -> Result<Option<Vec<u8>>> {
    match row.get(0) {
        Ok(Some(words)) => return Ok(Some(words)),
        Ok(None) => {}
        Err(_) => return Ok(Some(Vec::new())), // The words are damaged.
    }
    let summary: Option<String> = row.get(1)?;
    let keywords: Option<String> = row.get(2)?;
    Ok(summary.map(|summary| words_of_summary(&summary, &keywords.unwrap_or_default())))
}

/// The encoded words by which a turn without an original is found: those of its summary, and of its keywords, which are
/// stored as a JSON array.
pub(crate) fn words_of_summary(summary_text: &str, topic_keywords: &str) -> Vec<u8> {
    WordCounts::of_text(&format!("{summary_text}\n{topic_keywords}")).encode()
}

/// The words in a turn's row or, if its original was deleted, those of its summary. `None` if the turn is archived or does
/// not exist.
pub(crate) fn words_at(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<Option<Vec<u8>>> {
    let found = sql.one(
        "SELECT words, NULL AS summary_text, NULL AS topic_keywords FROM conversation_turns
         WHERE turn_key = ?1 AND user_id = ?2
         UNION ALL SELECT NULL, summary_text, topic_keywords FROM conversation_summaries
         WHERE turn_key = ?1 AND user_id = ?2 AND original = 'deleted'",
        values![place, scope.user_id],
        words_in,
    )?;
    Ok(found.flatten())
}

/// Writes the words of a turn's row.
pub(crate) fn set_words(
    sql: &dyn Sql,
    scope: &Scope,
    (place, id): (Place, TurnId),
    words: &[u8],
) -> Result<()> {
    sql.put(
        "UPDATE conversation_turns SET words = ?4 WHERE turn_key = ?1 AND user_id = ?2 AND id = ?3",
        values![place, scope.user_id, id, words],
        RowExpectation::Any,
    )
}

/// At most `limit` turns from `first` on, by unit number, with their places.
pub(crate) fn places_from(sql: &dyn Sql, scope: &Scope, first: Seq, limit: u32) -> Result<Vec<(Seq, Place)>> {
    sql.list(
        "SELECT seq, session_no, turn_number FROM recall_units
         WHERE user_no = ?1 AND seq >= ?2 AND session_no IS NOT NULL AND turn_number IS NOT NULL
         ORDER BY seq LIMIT ?3",
        values![scope.user_no, first, limit],
        |row| Ok((row.get(0)?, Place { session: row.get(1)?, turn_number: row.get(2)? })),
    )
}

/// Writes the content hash of a unit's turn.
pub(crate) fn set_hash(sql: &dyn Sql, scope: &Scope, seq: Seq, hash: ContentHash) -> Result<()> {
    sql.put(
        "UPDATE recall_units SET content_hash = ?3 WHERE user_no = ?1 AND seq = ?2",
        values![scope.user_no, seq, hash],
        RowExpectation::One(missing),
    )
}

/// Records that the user's units up to `seq` are indexed.
pub(crate) fn set_indexed(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<()> {
    sql.put(
        "UPDATE user_scopes SET indexed_seq = ?3 WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id, seq],
        RowExpectation::Any,
    )
}
