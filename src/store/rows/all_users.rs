//! Lists users: all of them, or those for whom some work is due.

use crate::{
    compress::derived::RuleVersions,
    error::Result,
    model::{ids::UserId, page, place::UserNo, user::UserInfo},
    store::{
        rows::users::{self, USERS},
        scope::{Scope, UserKey},
        sql::{Sql, SqlValue, ToColumn, missing, values},
    },
};

/// At most `limit` users that were added after the given one, in that order, with how much is stored for each. `None` starts
/// with the first.
pub(crate) fn page(sql: &dyn Sql, after: Option<UserId>, limit: u32) -> Result<Vec<UserInfo>> {
    let after = match after {
        Some(id) => users::find(sql, &UserKey::Id(id))?.ok_or_else(|| page::nothing_there("user"))?.user_no,
        None => UserNo::default(),
    };
    let ids: Vec<UserId> = sql.list(
        "SELECT user_id FROM user_scopes WHERE user_no > ?1 ORDER BY user_no LIMIT ?2",
        values![after, limit],
        |row| row.get(0),
    )?;
    infos(sql, &ids)
}

/// How much is stored for a user. `None` if the user is no longer in the file.
pub(crate) fn one(sql: &dyn Sql, scope: &Scope) -> Result<Option<UserInfo>> {
    match users::find(sql, &UserKey::Id(scope.user_id))? {
        Some(_) => Ok(infos(sql, &[scope.user_id])?.pop()),
        None => Ok(None),
    }
}

/// How much is stored for these users.
fn infos(sql: &dyn Sql, ids: &[UserId]) -> Result<Vec<UserInfo>> {
    let sets: Vec<_> = ids.iter().map(|id| vec![id.to_column()]).collect();
    let mut found = vec![None; ids.len()];
    sql.query_many(
        "SELECT count(*), CAST(coalesce(sum(turn_count), 0) AS BIGINT), CAST(coalesce(sum(total_tokens), 0) AS BIGINT)
         FROM conversation_sessions WHERE user_id = ?1",
        &sets,
        &mut |at, row| {
            let (session_count, turn_count, total_tokens) = (row.get(0)?, row.get(1)?, row.get(2)?);
            found[at] = Some(UserInfo { id: ids[at], name: None, session_count, turn_count, total_tokens });
            Ok(())
        },
    )?;
    let mut infos = found.into_iter().map(|info| info.ok_or_else(missing)).collect::<Result<Vec<_>>>()?;
    // A backend's own `users` table is not read for names.
    if !users::is_backends(sql, USERS)? {
        sql.query_many("SELECT name FROM users WHERE id = ?1", &sets, &mut |at, row| {
            infos[at].name = row.get(0)?;
            Ok(())
        })?;
    }
    Ok(infos)
}

/// Every user.
pub(crate) fn list(sql: &dyn Sql) -> Result<Vec<Scope>> {
    scopes(sql, "SELECT user_id, user_no FROM user_scopes ORDER BY user_no", values![])
}

/// Every user with a unit.
pub(crate) fn with_units(sql: &dyn Sql) -> Result<Vec<Scope>> {
    scopes(sql, "SELECT user_id, user_no FROM user_scopes WHERE last_seq > 0 ORDER BY user_no", values![])
}

/// Every user with units that are not embedded in the space yet.
pub(crate) fn behind_in(sql: &dyn Sql, space_no: i64) -> Result<Vec<Scope>> {
    scopes(
        sql,
        "SELECT u.user_id, u.user_no FROM user_scopes AS u
         LEFT JOIN user_spaces AS s ON s.user_no = u.user_no AND s.space_no = ?1
         WHERE u.last_seq > coalesce(s.embedded_seq, 0) ORDER BY u.user_no",
        values![space_no],
    )
}

/// Every user with something derived by rules older than these.
pub(crate) fn with_older_rules(sql: &dyn Sql, rules: RuleVersions) -> Result<Vec<Scope>> {
    scopes(
        sql,
        "SELECT user_id, user_no FROM user_scopes
         WHERE last_seq > 0 AND (coalesce(words_rules, 1) < ?1 OR coalesce(critical_rules, 1) < ?2
                                 OR coalesce(anchor_rules, 1) < ?3)
         ORDER BY user_no",
        values![rules.words, rules.critical, rules.anchors],
    )
}

/// The first user for whom another program has inserted something that is not taken over yet.
pub(crate) fn with_inserted(sql: &dyn Sql) -> Result<Option<Scope>> {
    let text =
        "SELECT user_id, user_no FROM user_scopes WHERE inserted_seq IS NOT NULL ORDER BY user_no LIMIT 1";
    Ok(scopes(sql, text, values![])?.pop())
}

/// At most `limit` users with rows in a space: vectors, gaps, or a record of progress.
pub(crate) fn some_in(sql: &dyn Sql, space_no: i64, limit: u32) -> Result<Vec<Scope>> {
    scopes(
        sql,
        "SELECT u.user_id, u.user_no
         FROM (SELECT user_no FROM user_spaces WHERE space_no = ?1
               UNION SELECT user_no FROM vector_gaps WHERE space_no = ?1
               UNION SELECT user_no FROM vector_blocks WHERE space_no = ?1) AS found
         JOIN user_scopes AS u ON u.user_no = found.user_no ORDER BY u.user_no LIMIT ?2",
        values![space_no, limit],
    )
}

fn scopes(sql: &dyn Sql, text: &'static str, params: &[SqlValue<'_>]) -> Result<Vec<Scope>> {
    sql.list(text, params, |row| Ok(Scope { user_id: row.get(0)?, user_no: row.get(1)? }))
}
