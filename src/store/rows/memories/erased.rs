//! Rows of `erased_memories`: hashes of the ids of erased memories, which must not come back from a vault's file. An import
//! may bring them back.

use sha2::{Digest, Sha256};

use crate::{
    error::Result,
    model::ids::MemoryId,
    store::{
        scope::Scope,
        sql::{RowExpectation, Sql, values},
    },
};

/// What remains of the id of an erased memory.
pub(crate) type IdHash = [u8; 16];

/// The first 16 bytes of the SHA-256 of an id. An id is random, so it cannot be found from its hash, but its hash can be
/// computed from it.
pub(crate) fn id_hash(id: MemoryId) -> IdHash {
    let hash = Sha256::digest(id.as_uuid().as_bytes());
    std::array::from_fn(|at| hash[at])
}

/// Records that a memory was erased.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, id_hash: IdHash) -> Result<()> {
    sql.put(
        "INSERT INTO erased_memories (user_no, id_hash) VALUES (?1, ?2) ON CONFLICT (user_no, id_hash) DO NOTHING",
        values![scope.user_no, id_hash],
        RowExpectation::Any,
    )
}

/// Removes the record that a memory was erased, because an import brings the memory back.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, id: MemoryId) -> Result<()> {
    sql.put(
        "DELETE FROM erased_memories WHERE user_no = ?1 AND id_hash = ?2",
        values![scope.user_no, id_hash(id)],
        RowExpectation::Any,
    )
}

/// Whether the memory with this id was erased.
pub(crate) fn is_erased(sql: &dyn Sql, scope: &Scope, id: MemoryId) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM erased_memories WHERE user_no = ?1 AND id_hash = ?2)",
        values![scope.user_no, id_hash(id)],
    )
}

/// The id hashes of all erased memories, ascending.
pub(crate) fn all(sql: &dyn Sql, scope: &Scope) -> Result<Vec<IdHash>> {
    sql.list(
        "SELECT id_hash FROM erased_memories WHERE user_no = ?1 ORDER BY id_hash",
        values![scope.user_no],
        |row| row.get(0),
    )
}
