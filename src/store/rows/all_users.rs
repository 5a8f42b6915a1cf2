//! All users, or all whom something concerns: for work that is done user by user.

use crate::{
    compress::derived::RuleVersions,
    error::Result,
    store::{
        scope::Scope,
        sql::{Sql, Value, values},
    },
};

/// Every user.
pub(crate) fn list(sql: &dyn Sql) -> Result<Vec<Scope>> {
    scopes(sql, "SELECT user_id, user_no FROM user_scopes ORDER BY user_no", values![])
}

/// Every user with a unit.
pub(crate) fn with_units(sql: &dyn Sql) -> Result<Vec<Scope>> {
    scopes(sql, "SELECT user_id, user_no FROM user_scopes WHERE last_seq > 0 ORDER BY user_no", values![])
}

/// Every user with a unit behind the last one that is embedded in the space.
pub(crate) fn behind_in(sql: &dyn Sql, space_no: i64) -> Result<Vec<Scope>> {
    scopes(
        sql,
        "SELECT u.user_id, u.user_no FROM user_scopes AS u
         LEFT JOIN user_spaces AS s ON s.user_no = u.user_no AND s.space_no = ?1
         WHERE u.last_seq > coalesce(s.embedded_seq, 0) ORDER BY u.user_no",
        values![space_no],
    )
}

/// Every user of whose units something was derived by older rules than these.
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

/// The first user of whom another program has inserted something that is not taken over.
pub(crate) fn with_inserted(sql: &dyn Sql) -> Result<Option<Scope>> {
    let text =
        "SELECT user_id, user_no FROM user_scopes WHERE inserted_seq IS NOT NULL ORDER BY user_no LIMIT 1";
    Ok(scopes(sql, text, values![])?.pop())
}

/// Some users with anything in the space: vectors, gaps, or a row that says how far they are embedded.
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

fn scopes(sql: &dyn Sql, text: &'static str, params: &[Value<'_>]) -> Result<Vec<Scope>> {
    sql.list(text, params, |row| Ok(Scope { user_id: row.get(0)?, user_no: row.get(1)? }))
}
