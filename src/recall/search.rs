//! Search by words in one session.

use serde::Serialize;

use crate::{
    error::{ErrorKind, Result},
    model::turn::Turn,
    store::{rows::sessions::SessionRow, scope::Scope, snapshot::Snapshot},
    text::{bm25::Ranking, words},
};

/// A turn found in a session, and how well it fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Found {
    /// The turn.
    pub turn: Turn,
    /// Its score for this query, greater is better: BM25 over the session's turns. Not comparable between queries.
    pub score: f64,
}

/// Returns the best `k` turns of a session before the turn `before`, best first; on a tie, the newer first.
pub(crate) fn in_session(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    session: &SessionRow,
    before: Option<u32>,
    (query, k): (&str, usize),
) -> Result<Vec<Found>> {
    let query = words::query_words(query);
    if query.is_empty() || k == 0 {
        return Ok(Vec::new());
    }
    let before = before.unwrap_or(session.info.turn_count + 1);
    let mut ranking = Ranking::new(&query);
    snapshot.words_of_session(scope, session, before, &query, |turn_number, len, counts| {
        ranking.see(turn_number, len, counts);
    })?;
    let (mut found, mut originals) = (Vec::new(), snapshot.originals(scope));
    for (turn_number, score) in ranking.best(k) {
        match originals.turn_at(session.place(turn_number)) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {} // A damaged turn does not hide others.
            turn => found.extend(turn?.map(|turn| Found { turn, score })),
        }
    }
    Ok(found)
}
