//! How far users' units are embedded, as counts and sizes, without content.

use serde::Serialize;

use crate::{
    embed::EmbeddingSpace,
    error::Result,
    model::ids::UserId,
    store::sql::{Sql, values},
};

/// How many of one user's turns one model has embedded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EmbeddingStatus {
    /// The user.
    pub user_id: UserId,
    /// The model.
    #[serde(flatten)]
    pub space: EmbeddingSpace,
    /// Number of the user's turns, without incomplete and replaced ones.
    pub turns: u64,
    /// Number of turns up to the unit that the model has reached, in the order of recording. Includes gaps.
    pub embedded: u64,
    /// Number of gaps: turns and memories with a text that the model refused or has yet to embed again. A refused text is
    /// found only by words.
    pub gaps: u64,
    /// Size of the user's vectors of this model in bytes, memories included.
    pub bytes: u64,
}

/// The status of every user who ever had a unit, for every model.
pub(crate) fn status(sql: &dyn Sql) -> Result<Vec<EmbeddingStatus>> {
    sql.list(
        "SELECT u.user_id, e.model, e.revision, e.dims,
                (SELECT count(*) FROM recall_units AS r WHERE r.user_no = u.user_no AND r.kind = 'turn'),
                (SELECT count(*) FROM recall_units AS r
                 WHERE r.user_no = u.user_no AND r.kind = 'turn' AND r.seq <= s.embedded_seq),
                (SELECT count(*) FROM vector_gaps AS g WHERE g.user_no = u.user_no AND g.space_no = e.space_no),
                (SELECT coalesce(CAST(sum(length(b.body)) AS BIGINT), 0) FROM vector_blocks AS b
                 WHERE b.user_no = u.user_no AND b.space_no = e.space_no)
         FROM user_scopes AS u CROSS JOIN embedding_spaces AS e
         LEFT JOIN user_spaces AS s ON s.user_no = u.user_no AND s.space_no = e.space_no
         WHERE u.last_seq > 0 ORDER BY u.user_no, e.space_no",
        values![],
        |row| {
            Ok(EmbeddingStatus {
                user_id: row.get(0)?,
                space: EmbeddingSpace { model: row.get(1)?, revision: row.get(2)?, dims: row.get(3)? },
                turns: row.get(4)?,
                embedded: row.get(5)?,
                gaps: row.get(6)?,
                bytes: row.get(7)?,
            })
        },
    )
}
