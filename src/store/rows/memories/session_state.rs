//! The state that a session keeps until it ends: rows of `user_memories` with the session's number, in slots of their own.

use crate::{
    error::Result,
    model::place::SessionNo,
    store::{
        rows::memories::row::{self, MemoryRow, memory_columns},
        scope::Scope,
        sql::{Sql, values},
    },
};

/// The prefix of these slots, as in `state:plan`.
pub(crate) const SLOT: &str = "state:";

/// All entries of a session's state, ordered by name.
pub(crate) fn of_session(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<MemoryRow>> {
    sql.list(
        concat!(
            "SELECT ",
            memory_columns!(),
            " FROM user_memories AS m
              WHERE m.user_no = ?1 AND m.session_no = ?2 AND m.status = 'active' AND m.goal_signature LIKE 'state:%'
              ORDER BY m.goal_signature, m.memory_no"
        ),
        values![scope.user_no, session_no],
        row::read,
    )
}
