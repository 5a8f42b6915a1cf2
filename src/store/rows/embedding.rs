//! How far users' units are embedded. Counts only: nothing of what anybody said.

use crate::store::sql::Sql;
use serde::Serialize;

use crate::{embed::EmbeddingSpace, error::Result, model::ids::UserId, store::rows::vectors};

/// How far one user's turns are embedded by one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmbeddingStatus {
    /// The user.
    pub user_id: UserId,
    /// The model.
    #[serde(flatten)]
    pub space: EmbeddingSpace,
    /// Turns of the user.
    pub turns: u64,
    /// Up to which of them, in the order of recording, they are embedded.
    pub embedded: u64,
    /// Of these, turns that the model refused: they are found by words alone.
    pub gaps: u64,
    /// Bytes of the vectors.
    pub bytes: u64,
}

/// Of every user with a turn, and every model.
pub(crate) fn status(conn: &dyn Sql) -> Result<Vec<EmbeddingStatus>> {
    let mut stmt = conn.prepare_cached(
        "SELECT u.user_id AS user_id, e.model AS model, e.revision AS revision, e.dims AS dims,
                e.last_seq AS turns, e.embedded_seq AS embedded, e.gaps AS gaps, e.bytes AS bytes
         FROM v_embedding AS e JOIN user_scopes AS u ON u.user_no = e.user_no
         WHERE e.last_seq > 0 ORDER BY e.user_no, e.space_no",
    )?;
    let rows = stmt.query_map([], |row| {
        Ok(EmbeddingStatus {
            user_id: row.get("user_id")?,
            space: vectors::read_space(row)?,
            turns: row.get("turns")?,
            embedded: row.get("embedded")?,
            gaps: row.get("gaps")?,
            bytes: row.get("bytes")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
