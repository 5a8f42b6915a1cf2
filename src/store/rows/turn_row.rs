//! Reads rows of `conversation_turns` and verifies their checksums; writes rows (triggers write the checksums). Only this
//! file lists all columns of the table.

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        place::{Place, SessionNo},
        stored_time::StoredTime,
        tier::MemoryTier,
        turn::{Origin, Said, TokenCounts, Turn, TurnState},
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{self, FromColumn, RowExpectation, Sql, SqlRow, SqlValue, values},
    },
};

/// The columns for [`read`]: those covered by the row's checksum, in the table's order, then the checksum, then the
/// uncovered ones.
macro_rules! turn_columns {
    () => {
        "id, session_id, turn_number, seq, caller_id, timestamp, memory_tier, user_message_tokens, \
         ai_response_tokens, total_tokens, piece_tokens, counted_by, is_identity_critical, critical_rule, user_name, \
         assistant_name, user_origin, assistant_origin, user_message, ai_response, metadata, recorded_by, row_check, snapshot_id, \
         turn_key"
    };
}
pub(crate) use turn_columns;

/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 22;
/// The index of the column that says who counted the tokens.
const COUNTED_BY: usize = 11;
/// The index of the key.
pub(crate) const TURN_KEY: usize = CHECKED_COLUMNS + 2;

/// Reads the turn from a row that was selected by [`turn_columns`]. Every value is fetched once, for both the checksum and
/// the turn.
pub(crate) fn read(row: &SqlRow<'_>) -> Result<Turn> {
    let values: [_; TURN_KEY] = row.values()?;
    if !row_check::is_whole(&values[..=CHECKED_COLUMNS]) && !is_inserted(&values) {
        return Err(damaged(row.get(TURN_KEY)?));
    }
    Ok(Turn {
        id: get(&values, 0)?,
        session_id: get(&values, 1)?,
        turn_number: get(&values, 2)?,
        seq: get(&values, 3)?,
        caller_id: get(&values, 4)?,
        timestamp: get(&values, 5)?,
        memory_tier: get(&values, 6)?,
        state: TurnState::Complete,
        is_identity_critical: get(&values, 12)?,
        critical_rule: get(&values, 13)?,
        snapshot_id: get(&values, CHECKED_COLUMNS + 1)?,
        tokens: TokenCounts {
            user_message_tokens: get(&values, 7)?,
            ai_response_tokens: get(&values, 8)?,
            total_tokens: get(&values, 9)?,
            piece_tokens: get(&values, 10)?,
            counted_by: get(&values, COUNTED_BY)?,
        },
        said: Said {
            user_name: get(&values, 14)?,
            assistant_name: get(&values, 15)?,
            user_origin: get(&values, 16)?,
            assistant_origin: get(&values, 17)?,
            user_message: get(&values, 18)?,
            ai_response: get(&values, 19)?,
            recorded_by: get::<Option<Origin>>(&values, 21)?.unwrap_or(Origin::User),
        },
        metadata: get(&values, 20)?,
    })
}

/// The value of `counted_by` for a turn that another program inserted, until it is taken over.
pub(crate) const NOT_COUNTED: &str = "";

/// Whether another program inserted the turn and it is not taken over yet: it has no checksum, and its tokens are not
/// counted.
#[cold]
fn is_inserted(values: &[SqlValue<'_>; TURN_KEY]) -> bool {
    matches!(values[CHECKED_COLUMNS], SqlValue::Bytes(check) if *check == row_check::UNSEALED)
        && matches!(values[COUNTED_BY], SqlValue::Text(by) if *by == *NOT_COUNTED.as_bytes())
}

#[inline]
fn get<T: FromColumn>(values: &[SqlValue<'_>; TURN_KEY], at: usize) -> Result<T> {
    sql::read(values[at])
}

/// Writes a turn as it is. Its unit already exists.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    turn: &Turn,
    words: &[u8],
) -> Result<()> {
    // A hot turn's row is padded. The comment of the column `tier_pad` says why.
    let pad = if turn.memory_tier == MemoryTier::Hot { "x" } else { "" };
    sql.put(
        "INSERT INTO conversation_turns
           (turn_key, id, user_id, session_id, turn_number, seq, caller_id, timestamp, memory_tier,
            user_message_tokens, ai_response_tokens, total_tokens, piece_tokens, counted_by, snapshot_id,
            is_identity_critical, critical_rule, user_name, assistant_name, user_origin, assistant_origin, words,
            user_message, ai_response, metadata, tier_pad, recorded_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22, ?23, ?24, ?25, ?26, ?27)",
        values![
            session_no.turn(turn.turn_number),
            turn.id,
            scope.user_id,
            turn.session_id,
            turn.turn_number,
            turn.seq,
            turn.caller_id,
            StoredTime::try_from(turn.timestamp)?,
            turn.memory_tier,
            turn.tokens.user_message_tokens,
            turn.tokens.ai_response_tokens,
            turn.tokens.total_tokens,
            turn.tokens.piece_tokens,
            turn.tokens.counted_by,
            turn.snapshot_id,
            turn.is_identity_critical,
            turn.critical_rule,
            turn.said.user_name,
            turn.said.assistant_name,
            turn.said.user_origin,
            turn.said.assistant_origin,
            words,
            turn.said.user_message,
            turn.said.ai_response,
            turn.metadata.as_ref().map(ToString::to_string),
            pad,
            // NULL, which changes no checksum of older rows, is the user.
            Some(turn.said.recorded_by).filter(|by| *by != Origin::User),
        ],
        RowExpectation::Any,
    )
}

/// The error for a turn that is not what was recorded.
pub(crate) fn damaged(Place { session, turn_number }: Place) -> Error {
    row_check::damaged(format_args!("turn {turn_number} of session number {}", session.0))
}

/// The turns of several rows, in the order in which they were read.
#[derive(Debug, Default)]
pub(crate) struct ReadTurns {
    pub(crate) turns: Vec<Turn>,
    /// The numbers of the turns whose rows are damaged. They are missing in `turns`.
    pub(crate) damaged: Vec<u32>,
}

impl ReadTurns {
    /// Takes the next row, and returns whether it could be read.
    pub(crate) fn take(&mut self, row: &SqlRow<'_>) -> Result<bool> {
        match read(row) {
            Ok(turn) => self.turns.push(turn),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.damaged.push(row.get::<Place>(TURN_KEY)?.turn_number);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}
