//! Every table whose rows name a user: how a slice of the user's rows is deleted, and how a session's rows are removed.

use crate::{
    error::Result,
    model::{
        ids::TurnId,
        place::{Place, Seq, SessionNo, UnitKind},
    },
    store::{
        rows::turns,
        scope::Scope,
        sql::{Sql, SqlRow, SqlValue, ToColumn as _, values},
    },
};

/// A table with a user's data.
pub(crate) struct UserTable {
    pub(crate) name: &'static str,
    /// The column by which its rows refer to the user. Its value is `?1` of each statement here.
    user: UserColumn,
    /// The statement that deletes at most `?2` of the user's rows. `None` if other code removes them with the user itself.
    slice: Option<&'static str>,
    /// Whether the statement `slice` returns the kinds of the deleted units.
    has_units: bool,
    /// How many of its rows count as one row of a slice. More than 1 if they are small and many.
    rows_as_one: u32,
    /// How a session's rows in the table are removed when the session is erased.
    of_session: &'static [SessionErasure],
}

#[derive(Clone, Copy)]
enum UserColumn {
    Id,
    No,
}

/// A way to remove a session's rows from a table when the session is erased.
#[derive(PartialEq, Eq)]
enum SessionErasure {
    /// With each turn: deletes its rows by the turn's key, `?2`.
    ByTurnKey(&'static str),
    /// With each turn: deletes its rows by the session's number, `?2`, and the turn's number, `?3`.
    ByPlace(&'static str),
    /// With each turn: deletes its rows by the number of the turn's unit, `?2`.
    BySeq(&'static str),
    /// After the session's turns: deletes at most `?3` rows by the session's number, `?2`.
    BySession(&'static str),
    /// Other code deletes all of the user's rows, because any of them may repeat what was said.
    AllRows,
    /// The rows are derived from several turns. Other code derives them again without the erased ones.
    MadeAnew,
    /// Other code removes what a job made from the session's turns. What somebody saved stays.
    WithItsSources,
    /// Other code deletes the rows together with the session's own row.
    Last,
    /// Nothing in the table belongs to a session.
    Stays,
}
use SessionErasure::{AllRows, ByPlace, BySeq, BySession, ByTurnKey, Last, MadeAnew, Stays, WithItsSources};

impl UserTable {
    const fn new(
        name: &'static str,
        user: UserColumn,
        slice: &'static str,
        of_session: &'static [SessionErasure],
    ) -> Self {
        Self { name, user, slice: Some(slice), has_units: false, rows_as_one: 1, of_session }
    }

    /// A table that other code clears last: `user_scopes`, and `jobs`, which has the job that erases.
    const fn last(name: &'static str, of_session: &'static [SessionErasure]) -> Self {
        Self { name, user: UserColumn::Id, slice: None, has_units: false, rows_as_one: 1, of_session }
    }

    /// Whether all of the user's rows are deleted whenever a turn is erased.
    pub(crate) fn goes_whole(&self) -> bool {
        self.of_session.contains(&AllRows)
    }

    fn user_of<'s>(&self, scope: &'s Scope) -> SqlValue<'s> {
        match self.user {
            UserColumn::Id => scope.user_id.to_column(),
            UserColumn::No => scope.user_no.to_column(),
        }
    }
}

/// All tables with a user's data, in an order of deletion that breaks no reference. Tests compare the list with the schema,
/// and what remains of an erased session with the list.
pub(crate) const USER_TABLES: &[UserTable] = &[
    UserTable::new(
        "derivations",
        UserColumn::Id,
        "DELETE FROM derivations WHERE user_id = ?1 AND (product_id, source_id, stance) IN
           (SELECT product_id, source_id, stance FROM derivations WHERE user_id = ?1 LIMIT ?2)",
        &[MadeAnew],
    ),
    UserTable::new(
        "identity_anchors",
        UserColumn::Id,
        "DELETE FROM identity_anchors WHERE user_id = ?1 AND (subject, attribute, value_key) IN
           (SELECT subject, attribute, value_key FROM identity_anchors WHERE user_id = ?1 LIMIT ?2)",
        &[MadeAnew],
    ),
    UserTable::new(
        "conversation_summaries",
        UserColumn::Id,
        "DELETE FROM conversation_summaries WHERE turn_key IN
           (SELECT turn_key FROM conversation_summaries WHERE user_id = ?1 LIMIT ?2)",
        &[ByTurnKey("DELETE FROM conversation_summaries WHERE user_id = ?1 AND turn_key = ?2")],
    ),
    UserTable::new(
        "archived_turns",
        UserColumn::No,
        "DELETE FROM archived_turns WHERE user_no = ?1 AND turn_key IN
           (SELECT a.turn_key FROM user_scopes AS u JOIN archived_frames AS f ON f.user_id = u.user_id
            JOIN archived_turns AS a ON a.frame_no = f.frame_no WHERE u.user_no = ?1 LIMIT ?2)",
        &[ByTurnKey("DELETE FROM archived_turns WHERE user_no = ?1 AND turn_key = ?2")],
    ),
    UserTable::new(
        "archived_frames",
        UserColumn::Id,
        "DELETE FROM archived_frames WHERE frame_no IN
           (SELECT frame_no FROM archived_frames WHERE user_id = ?1 LIMIT ?2)",
        &[BySession(
            "DELETE FROM archived_frames WHERE frame_no IN
               (SELECT f.frame_no FROM conversation_sessions AS s JOIN archived_frames AS f ON f.session_id = s.id
                WHERE s.user_id = ?1 AND s.session_no = ?2 LIMIT ?3)",
        )],
    ),
    UserTable::new(
        "conversation_turns",
        UserColumn::Id,
        "DELETE FROM conversation_turns WHERE turn_key IN
           (SELECT turn_key FROM conversation_turns WHERE user_id = ?1 LIMIT ?2)",
        &[ByTurnKey("DELETE FROM conversation_turns WHERE user_id = ?1 AND turn_key = ?2")],
    ),
    UserTable::new(
        "turns_aside",
        UserColumn::Id,
        "DELETE FROM turns_aside WHERE id IN (SELECT id FROM turns_aside WHERE user_id = ?1 LIMIT ?2)",
        &[BySession(
            "DELETE FROM turns_aside WHERE id IN
               (SELECT a.id FROM conversation_sessions AS s JOIN turns_aside AS a ON a.session_id = s.id
                WHERE s.user_id = ?1 AND s.session_no = ?2 LIMIT ?3)",
        )],
    ),
    UserTable::new(
        "memory_tier_transitions",
        UserColumn::No,
        "DELETE FROM memory_tier_transitions WHERE user_no = ?1 AND (session_no, turn_number, move_number) IN
           (SELECT session_no, turn_number, move_number FROM memory_tier_transitions WHERE user_no = ?1 LIMIT ?2)",
        &[ByPlace(
            "DELETE FROM memory_tier_transitions WHERE user_no = ?1 AND session_no = ?2 AND turn_number = ?3",
        )],
    ),
    UserTable::new(
        "recall_receipts",
        UserColumn::No,
        "DELETE FROM recall_receipts WHERE receipt_no IN
           (SELECT receipt_no FROM recall_receipts WHERE user_no = ?1 LIMIT ?2)",
        &[AllRows],
    ),
    UserTable::new(
        "unit_uses",
        UserColumn::No,
        "DELETE FROM unit_uses WHERE user_no = ?1 AND seq IN
           (SELECT seq FROM unit_uses WHERE user_no = ?1 LIMIT ?2)",
        &[BySeq("DELETE FROM unit_uses WHERE user_no = ?1 AND seq = ?2")],
    ),
    UserTable::new(
        "use_counts",
        UserColumn::No,
        "DELETE FROM use_counts WHERE user_no = ?1 AND (aspect, name) IN
           (SELECT aspect, name FROM use_counts WHERE user_no = ?1 LIMIT ?2)",
        &[Stays],
    ),
    UserTable::new(
        "promotions",
        UserColumn::No,
        "DELETE FROM promotions WHERE user_no = ?1 AND (session_no, seq) IN
           (SELECT session_no, seq FROM promotions WHERE user_no = ?1 LIMIT ?2)",
        &[
            BySeq("DELETE FROM promotions WHERE user_no = ?1 AND seq = ?2"),
            BySession(
                "DELETE FROM promotions WHERE user_no = ?1 AND session_no = ?2 AND seq IN
                   (SELECT seq FROM promotions WHERE user_no = ?1 AND session_no = ?2 LIMIT ?3)",
            ),
        ],
    ),
    UserTable::new(
        "vector_gaps",
        UserColumn::No,
        "DELETE FROM vector_gaps WHERE user_no = ?1 AND (space_no, seq) IN
           (SELECT space_no, seq FROM vector_gaps WHERE user_no = ?1 LIMIT ?2)",
        &[MadeAnew],
    ),
    UserTable::new(
        "vector_blocks",
        UserColumn::No,
        "DELETE FROM vector_blocks WHERE user_no = ?1 AND (space_no, block_no) IN
           (SELECT space_no, block_no FROM vector_blocks WHERE user_no = ?1 LIMIT ?2)",
        &[MadeAnew],
    ),
    UserTable::new(
        "user_spaces",
        UserColumn::No,
        "DELETE FROM user_spaces WHERE user_no = ?1 AND space_no IN
           (SELECT space_no FROM user_spaces WHERE user_no = ?1 LIMIT ?2)",
        &[Stays],
    ),
    UserTable::new(
        "unit_blocks",
        UserColumn::No,
        "DELETE FROM unit_blocks WHERE user_no = ?1 AND block_no IN
           (SELECT block_no FROM unit_blocks WHERE user_no = ?1 LIMIT ?2)",
        &[MadeAnew],
    ),
    UserTable {
        rows_as_one: 8,
        ..UserTable::new(
            "postings",
            UserColumn::No,
            "DELETE FROM postings WHERE user_no = ?1 AND (word, first_seq) IN
               (SELECT word, first_seq FROM postings WHERE user_no = ?1 LIMIT ?2)",
            &[MadeAnew],
        )
    },
    UserTable::new(
        "memory_terms",
        UserColumn::No,
        "DELETE FROM memory_terms WHERE user_no = ?1 AND (memory_no, kind, term) IN
           (SELECT memory_no, kind, term FROM memory_terms WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_units",
        UserColumn::No,
        "DELETE FROM memory_units WHERE user_no = ?1 AND seq IN
           (SELECT seq FROM memory_units WHERE user_no = ?1 LIMIT ?2)",
        &[
            WithItsSources,
            BySeq("DELETE FROM memory_units WHERE user_no = ?1 AND seq = ?2"),
        ],
    ),
    UserTable::new(
        "memory_state",
        UserColumn::No,
        "DELETE FROM memory_state WHERE user_no = ?1 AND memory_no IN
           (SELECT memory_no FROM memory_state WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_sources",
        UserColumn::No,
        "DELETE FROM memory_sources WHERE user_no = ?1 AND (memory_no, source_kind, source_id) IN
           (SELECT memory_no, source_kind, source_id FROM memory_sources WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_changes",
        UserColumn::No,
        "DELETE FROM memory_changes WHERE user_no = ?1 AND (memory_no, change_no) IN
           (SELECT memory_no, change_no FROM memory_changes WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_sensors",
        UserColumn::No,
        "DELETE FROM memory_sensors WHERE user_no = ?1 AND (memory_no, sensor, subject) IN
           (SELECT memory_no, sensor, subject FROM memory_sensors WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_reviews",
        UserColumn::No,
        "DELETE FROM memory_reviews WHERE user_no = ?1 AND review_no IN
           (SELECT review_no FROM memory_reviews WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_edges",
        UserColumn::No,
        "DELETE FROM memory_edges WHERE user_no = ?1 AND edge_no IN
           (SELECT edge_no FROM memory_edges WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "memory_episodes",
        UserColumn::No,
        "DELETE FROM memory_episodes WHERE user_no = ?1 AND episode_no IN
           (SELECT episode_no FROM memory_episodes WHERE user_no = ?1 LIMIT ?2)",
        &[WithItsSources],
    ),
    UserTable::new(
        "user_memories",
        UserColumn::No,
        "DELETE FROM user_memories WHERE user_no = ?1 AND memory_no IN
           (SELECT memory_no FROM user_memories WHERE user_no = ?1 LIMIT ?2)",
        &[
            WithItsSources,
            BySession(
                "DELETE FROM user_memories WHERE user_no = ?1 AND memory_no IN
                   (SELECT memory_no FROM user_memories WHERE user_no = ?1 AND session_no = ?2 LIMIT ?3)",
            ),
        ],
    ),
    UserTable::new(
        "extracted_sessions",
        UserColumn::No,
        "DELETE FROM extracted_sessions WHERE user_no = ?1 AND session_no IN
           (SELECT session_no FROM extracted_sessions WHERE user_no = ?1 LIMIT ?2)",
        &[BySession(
            "DELETE FROM extracted_sessions WHERE user_no = ?1 AND session_no IN
               (SELECT session_no FROM extracted_sessions WHERE user_no = ?1 AND session_no = ?2 LIMIT ?3)",
        )],
    ),
    UserTable::new(
        "erased_memories",
        UserColumn::No,
        "DELETE FROM erased_memories WHERE user_no = ?1 AND id_hash IN
           (SELECT id_hash FROM erased_memories WHERE user_no = ?1 LIMIT ?2)",
        &[Stays],
    ),
    UserTable {
        has_units: true,
        ..UserTable::new(
            "recall_units",
            UserColumn::No,
            "DELETE FROM recall_units WHERE user_no = ?1 AND seq IN
               (SELECT seq FROM recall_units WHERE user_no = ?1 LIMIT ?2) RETURNING kind",
            &[BySeq("DELETE FROM recall_units WHERE user_no = ?1 AND seq = ?2")],
        )
    },
    UserTable::new(
        "conversation_sessions",
        UserColumn::Id,
        "DELETE FROM conversation_sessions WHERE session_no IN
           (SELECT session_no FROM conversation_sessions WHERE user_id = ?1 LIMIT ?2)",
        &[Last],
    ),
    UserTable::last("jobs", &[Last]),
    UserTable::last("user_scopes", &[Stays]),
];

/// Deletes at most `rows` of the user's rows in a table, counted by [`UserTable::rows_as_one`]. Returns how many rows it
/// deleted, and how many of them to report: of units only those of turns, of other rows all.
pub(crate) fn slice(sql: &dyn Sql, scope: &Scope, table: &UserTable, rows: u32) -> Result<(u64, u64)> {
    let Some(text) = table.slice else { return Ok((0, 0)) };
    let rows = rows * table.rows_as_one;
    let params = [table.user_of(scope), rows.to_column()];
    if !table.has_units {
        let deleted = sql.change(text, &params)?;
        return Ok((deleted, deleted));
    }
    // A unit of an unknown kind is not a turn's.
    let kinds = sql.list(text, &params, |row| Ok(row.get(0).ok()))?;
    let turns = kinds.iter().filter(|kind| **kind == Some(UnitKind::Turn)).count();
    Ok((kinds.len() as u64, turns as u64))
}

/// A turn to erase, wherever it is stored.
pub(crate) struct TurnToErase {
    pub(crate) turn_id: TurnId,
    pub(crate) place: Place,
    pub(crate) seq: Seq,
}

/// One turn to erase, with what it contributes to its session's counts.
pub(crate) struct DoomedTurn {
    pub(crate) doomed: TurnToErase,
    pub(crate) total_tokens: u32,
}

/// A turn with a unit, by its id: as a row, in the archive, or only as a summary.
pub(crate) fn one_turn(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<DoomedTurn>> {
    let found = sql.one(
        "SELECT id, turn_key, seq, total_tokens FROM conversation_turns WHERE id = ?1 AND user_id = ?2
         UNION ALL SELECT original_turn_id, turn_key, seq, original_tokens
         FROM conversation_summaries WHERE original_turn_id = ?1 AND user_id = ?2",
        values![id, scope.user_id],
        |row| Ok((turn_row(row)?, row.get(3).unwrap_or(0))),
    )?;
    let doomed = |(turn, total_tokens): (TurnRow, u32)| {
        Ok(DoomedTurn { doomed: turn.completed(sql, scope)?, total_tokens })
    };
    found.map(doomed).transpose()
}

/// A turn of which damage left only the unit. Its tokens are those that the session counts but that no other turn has.
pub(crate) fn lost_turn(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<DoomedTurn>> {
    sql.one(
        "SELECT r.owner_id, r.session_no << 24 | r.turn_number, r.seq, s.total_tokens - CAST(
           (SELECT coalesce(sum(t.total_tokens), 0) FROM conversation_turns AS t WHERE t.session_id = s.id)
           + (SELECT coalesce(sum(m.original_tokens), 0) FROM conversation_summaries AS m WHERE m.session_id = s.id)
           AS BIGINT)
         FROM recall_units AS r JOIN conversation_sessions AS s ON s.session_no = r.session_no
         WHERE r.user_no = ?1 AND r.kind = 'turn' AND r.owner_id = ?2 AND s.user_id = ?3",
        values![scope.user_no, id, scope.user_id],
        |row| Ok(DoomedTurn { doomed: turn_to_erase(row)?, total_tokens: row.get(3).unwrap_or(0) }),
    )
}

/// At most `limit` of the units that are left of a session after its turns are erased. Damage left nothing else of their
/// turns.
pub(crate) fn lost_turns(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    limit: u32,
) -> Result<Vec<TurnToErase>> {
    sql.list(
        "SELECT owner_id, session_no << 24 | turn_number, seq FROM recall_units
         WHERE user_no = ?1 AND session_no = ?2 AND kind = 'turn' LIMIT ?3",
        values![scope.user_no, session_no, limit],
        turn_to_erase,
    )
}

/// Reads a turn's id, key and unit number from the first three columns, where all of these statements have them.
fn turn_to_erase(row: &SqlRow<'_>) -> Result<TurnToErase> {
    Ok(TurnToErase { turn_id: row.get(0)?, place: row.get(1)?, seq: row.get(2)? })
}

/// A turn's id, key and unit number as its row has them. `None` if damage made them unreadable.
struct TurnRow {
    turn_id: Option<TurnId>,
    place: Place,
    seq: Option<Seq>,
}

fn turn_row(row: &SqlRow<'_>) -> Result<TurnRow> {
    Ok(TurnRow { turn_id: row.get(0).ok(), place: row.get(1)?, seq: row.get(2).ok() })
}

impl TurnRow {
    /// The turn to erase. What its row lacks is taken from its unit, for which every unit of the user is read.
    fn completed(self, sql: &dyn Sql, scope: &Scope) -> Result<TurnToErase> {
        let Self { mut turn_id, place, mut seq } = self;
        if turn_id.is_none() || seq.is_none() {
            let unit = sql.one(
                "SELECT owner_id, seq FROM recall_units
                 WHERE user_no = ?1 AND session_no = ?2 AND turn_number = ?3 AND kind = 'turn'",
                values![scope.user_no, place.session, place.turn_number],
                |row| Ok((row.get(0).ok(), row.get(1).ok())),
            )?;
            let (owner, unit) = unit.unwrap_or_default();
            (turn_id, seq) = (turn_id.or(owner), seq.or(unit));
        }
        let (turn_id, seq) = turn_id.zip(seq).ok_or_else(|| turns::damaged(place))?;
        Ok(TurnToErase { turn_id, place, seq })
    }
}

/// Some turns of a session: as rows, in the archive, or only as summaries.
pub(crate) fn some_turns(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    limit: u32,
) -> Result<Vec<TurnToErase>> {
    let found = sql.list(
        "SELECT id, turn_key, seq FROM conversation_turns WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3
         UNION ALL SELECT turn_id, turn_key, seq FROM archived_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_no = ?4
         UNION ALL SELECT original_turn_id, turn_key, seq FROM conversation_summaries
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 AND original = 'deleted'
         LIMIT ?5",
        values![
            session_no.start(),
            session_no.end(),
            scope.user_id,
            scope.user_no,
            limit
        ],
        turn_row,
    )?;
    found.into_iter().map(|turn| turn.completed(sql, scope)).collect()
}

/// Deletes a turn's rows in a table, and returns how many there were.
pub(crate) fn of_turn(sql: &dyn Sql, scope: &Scope, table: &UserTable, turn: &TurnToErase) -> Result<u64> {
    let user = table.user_of(scope);
    let mut deleted = 0;
    for way in table.of_session {
        deleted += match way {
            ByTurnKey(text) => sql.change(text, &[user, turn.place.to_column()])?,
            ByPlace(text) => {
                sql.change(text, &[user, turn.place.session.to_column(), turn.place.turn_number.to_column()])?
            }
            BySeq(text) => sql.change(text, &[user, turn.seq.to_column()])?,
            BySession(_) | AllRows | MadeAnew | WithItsSources | Last | Stays => 0,
        };
    }
    Ok(deleted)
}

/// Deletes a unit's rows in a table.
pub(crate) fn of_unit(sql: &dyn Sql, scope: &Scope, table: &UserTable, seq: Seq) -> Result<()> {
    for way in table.of_session {
        if let BySeq(text) = way {
            sql.change(text, &[table.user_of(scope), seq.to_column()])?;
        }
    }
    Ok(())
}

/// Deletes at most `rows` of a session's rows in a table, except those that are deleted with its turns. Returns how many.
pub(crate) fn of_session(
    sql: &dyn Sql,
    scope: &Scope,
    table: &UserTable,
    session_no: SessionNo,
    rows: u32,
) -> Result<u64> {
    let mut deleted = 0;
    for way in table.of_session {
        if let BySession(text) = way {
            let params = [table.user_of(scope), session_no.to_column(), rows.to_column()];
            deleted += sql.change(text, &params)?;
        }
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path, sync::Arc};

    use super::*;
    use crate::{
        Config, ContextOptions, NewTurn, RunJobs, Thermocline,
        store::{Store, scope::UserKey, sql::RowExpectation},
    };

    /// How many rows of the user a table has.
    fn rows(store: &Store, scope: &Scope, table: &UserTable) -> u64 {
        let column = match table.user {
            UserColumn::Id => "user_id",
            UserColumn::No => "user_no",
        };
        let text = format!("SELECT count(*) FROM {} WHERE {column} = ?1", table.name).leak();
        store.snapshot().unwrap().look(|sql| sql.scalar(text, &[table.user_of(scope)])).unwrap()
    }

    #[tokio::test]
    async fn the_list_of_tables_with_a_users_data_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        let in_schema = "SELECT DISTINCT t.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
             WHERE t.type = 'table' AND c.name IN ('user_id', 'user_no', 'session_id', 'turn_id')";
        let in_schema: Vec<String> =
            store.snapshot().unwrap().look(|sql| sql.list(in_schema, values![], |row| row.get(0))).unwrap();
        let listed = USER_TABLES.iter().map(|table| table.name.to_owned());
        assert_eq!(listed.collect::<BTreeSet<_>>(), in_schema.into_iter().collect());
    }

    /// Makes a file with a user who has one session that is compressed, indexed and embedded, and another one that used it.
    async fn fill(path: &Path) {
        // A worker would run jobs in parallel with the test.
        let config = Config { worker: false, ..Config::default() };
        let memory = Thermocline::open_with(path, config).await.unwrap();
        let user = memory.user("alex").await.unwrap();
        let told = user.session_named("told").await.unwrap();
        for n in 0..130 {
            let long = "The lantern hangs beside the old basket, and a lamp. ".repeat(1 + n % 9 * 3);
            let name = if n == 9 { "My name is Alex. " } else { "" };
            let said = NewTurn::new(format!("{name}The okapi of number {n} sleeps. {long}"), "Really?");
            told.record(said).await.unwrap();
        }
        told.end().await.unwrap();
        memory.run_jobs(RunJobs::default()).await.unwrap();
        let asked = user.session_named("asked").await.unwrap();
        let context = asked.context("What of my okapi?", ContextOptions::default()).await.unwrap();
        asked.record(NewTurn::new("An okapi.", "Yes.").answering(context.receipt)).await.unwrap();
        asked.record_message(NewTurn::new("And its hay?", "")).await.unwrap();
        memory.close().await.unwrap();
    }

    #[tokio::test]
    async fn of_erased_sessions_nothing_is_left_but_what_the_list_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        fill(&path).await;
        let store = Arc::new(Store::open(&path, Config::default()).unwrap());
        let key = UserKey::Name("alex".into());
        let scope = store.snapshot().unwrap().user(&key).unwrap().unwrap();
        let gap = "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error)
                   SELECT user_no, space_no, 1, 1, '' FROM user_spaces WHERE user_no = ?1";
        store.write(move |tx| tx.sql.put(gap, values![scope.user_no], RowExpectation::Any)).await.unwrap();
        for statement in include_str!("../../../tests/data/memories.sql").split_inclusive(";\n") {
            store.write(move |tx| tx.sql.put(statement, &[], RowExpectation::Any)).await.unwrap();
        }
        for table in USER_TABLES.iter().filter(|table| table.name != "jobs") {
            assert!(rows(&store, &scope, table) > 0, "{} is filled", table.name);
        }

        let sessions = store.snapshot().unwrap().sessions(&scope, None, 1_000).unwrap();
        let [asked, told] = &sessions[..] else { panic!("{sessions:?}") };
        crate::jobs::erase(&store, (scope, crate::Origin::User), Some(asked.info.id)).await.unwrap();
        let promotions = USER_TABLES.iter().find(|table| table.name == "promotions").unwrap();
        assert_eq!(rows(&store, &scope, promotions), 0, "what was warm in the session is not its own");
        crate::jobs::erase(&store, (scope, crate::Origin::User), Some(told.info.id)).await.unwrap();
        let left = USER_TABLES.iter().filter(|table| table.name != "jobs" && rows(&store, &scope, table) > 0);
        let stays = USER_TABLES.iter().filter(|table| table.of_session == [Stays]);
        assert_eq!(
            left.map(|table| table.name).collect::<Vec<_>>(),
            stays.map(|table| table.name).collect::<Vec<_>>()
        );
    }
}
