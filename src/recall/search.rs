//! Search in one session, by words.

use serde::Serialize;

use crate::{
    config::Config,
    error::{ErrorKind, Result},
    model::turn::Turn,
    store::{acts::reload, rows::originals, scope::Scope, sql::Sql},
    text::{bm25::Ranking, words},
};

/// A turn of a session that was found, and how well it fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The turn.
    pub turn: Turn,
    /// Its rank at this query, greater is better: BM25 over the session's turns. Not comparable between queries.
    pub score: f64,
}

/// The best `k` turns of a session before the turn `before`, best first, newest first among equals.
pub(crate) fn in_session(
    conn: &dyn Sql,
    scope: &Scope,
    config: &Config,
    session_no: i64,
    before: u32,
    (query, k): (&str, usize),
) -> Result<Vec<Found>> {
    let query = words::query_words(query);
    if query.is_empty() || k == 0 {
        return Ok(Vec::new());
    }
    let mut ranking = Ranking::new(&query);
    originals::for_each_words(conn, scope, session_no, before, |turn_number, words| {
        ranking.see(turn_number, words);
    })?;
    let mut found = Vec::new();
    for (turn_number, score) in ranking.best(k) {
        match originals::by_number(conn, scope, session_no, turn_number) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {} // A damaged turn hides no other.
            turn => found.extend(turn?.map(|turn| Found { turn: reload::recounted(turn, config), score })),
        }
    }
    Ok(found)
}
