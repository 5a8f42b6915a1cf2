//! Rows of `memory_edges`: how two memories of one user relate.

use crate::{
    error::{ErrorKind, Result},
    model::{
        edge::{Direction, Edge, EdgeType, Neighbour},
        ids::{EdgeId, MemoryId},
        memory::trust::Trust,
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        rows::{
            memories::row::{self, memory_columns},
            row_check,
        },
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, missing, values},
    },
};

/// The columns of `memory_edges AS e` for [`read`]: those covered by the row's checksum, in the table's order, then the
/// checksum.
macro_rules! edge_columns {
    () => {
        "e.edge_no, e.id, e.user_no, e.from_no, e.to_no, e.type, e.strength, e.status, e.origin, e.created_at, \
         e.updated_at, e.context, e.description, e.row_check"
    };
}

/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 13;
const COLUMNS: usize = CHECKED_COLUMNS + 1;

/// An edge with the numbers of its ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EdgeRow {
    pub(crate) edge_no: i64,
    pub(crate) from_no: MemoryNo,
    pub(crate) to_no: MemoryNo,
    pub(crate) edge: Edge,
}

/// Reads the edge from a row in which its columns come after `first` others.
fn read(row: &SqlRow<'_>, first: usize, (from, to): (MemoryId, MemoryId)) -> Result<EdgeRow> {
    let edge_no = row.get(first)?;
    if !row_check::holds_behind(row, first, CHECKED_COLUMNS)? {
        return Err(row_check::damaged(format_args!("edge number {edge_no}")));
    }
    let edge = Edge {
        id: row.get(first + 1)?,
        from,
        to,
        edge_type: row.get(first + 5)?,
        strength: row.get(first + 6)?,
        status: row.get(first + 7)?,
        origin: row.get(first + 8)?,
        created_at: row.get(first + 9)?,
        updated_at: row.get(first + 10)?,
        context: row.get(first + 11)?,
        description: row.get(first + 12)?,
    };
    Ok(EdgeRow { edge_no, from_no: row.get(first + 3)?, to_no: row.get(first + 4)?, edge })
}

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT ",
            edge_columns!(),
            ", a.id, b.id FROM memory_edges AS e
               JOIN user_memories AS a ON a.user_no = e.user_no AND a.memory_no = e.from_no
               JOIN user_memories AS b ON b.user_no = e.user_no AND b.memory_no = e.to_no
             WHERE e.user_no = ?1 AND ",
            $which
        )
    };
}

/// How far each edge of a memory is trusted. An edge that does not say it is trusted as far as the user.
pub(crate) fn trusts_of(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<Trust>> {
    sql.list(
        "SELECT origin FROM memory_edges WHERE user_no = ?1 AND (from_no = ?2 OR to_no = ?2)",
        values![scope.user_no, memory_no],
        |row| Ok(row.get(0).map_or(Trust::User, Trust::of)),
    )
}

fn read_with_ends(row: &SqlRow<'_>) -> Result<EdgeRow> {
    read(row, 0, (row.get(COLUMNS)?, row.get(COLUMNS + 1)?))
}

pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: EdgeId) -> Result<Option<EdgeRow>> {
    sql.one(select!("e.id = ?2"), values![scope.user_no, id], read_with_ends)
}

/// The next 1,000 edges after the given one between non-volatile memories, in the order in which they were added. Empty if
/// there are no more.
pub(crate) fn lasting_after(sql: &dyn Sql, scope: &Scope, after: i64) -> Result<Vec<EdgeRow>> {
    sql.list(
        select!(
            "e.edge_no > ?2 AND a.session_no IS NULL AND b.session_no IS NULL ORDER BY e.edge_no LIMIT 1000"
        ),
        values![scope.user_no, after],
        read_with_ends,
    )
}

/// The edge of this type from one memory to another. A symmetric edge is found in either direction.
pub(crate) fn between(
    sql: &dyn Sql,
    scope: &Scope,
    (from, to): (MemoryNo, MemoryNo),
    edge_type: EdgeType,
) -> Result<Option<EdgeRow>> {
    let one_way = |from: MemoryNo, to: MemoryNo| {
        sql.one(
            select!("e.from_no = ?2 AND e.to_no = ?3 AND e.type = ?4"),
            values![scope.user_no, from, to, edge_type],
            read_with_ends,
        )
    };
    match one_way(from, to)? {
        None if edge_type.is_symmetric() => one_way(to, from),
        found => Ok(found),
    }
}

/// Whether there is an edge between two memories, of any type and in either direction.
pub(crate) fn is_any_between(
    sql: &dyn Sql,
    scope: &Scope,
    (one, other): (MemoryNo, MemoryNo),
) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_edges WHERE user_no = ?1 AND from_no = ?2 AND to_no = ?3)
             OR EXISTS (SELECT 1 FROM memory_edges WHERE user_no = ?1 AND from_no = ?3 AND to_no = ?2)",
        values![scope.user_no, one, other],
    )
}

/// Writes a new edge.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    (from_no, to_no): (MemoryNo, MemoryNo),
    edge: &Edge,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_edges
           (id, user_no, from_no, to_no, type, strength, status, origin, created_at, updated_at, context, description)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        values![
            edge.id,
            scope.user_no,
            from_no,
            to_no,
            edge.edge_type,
            edge.strength,
            edge.status,
            edge.origin,
            StoredTime::try_from(edge.created_at)?,
            StoredTime::try_from(edge.updated_at)?,
            edge.context,
            edge.description,
        ],
        RowExpectation::Any,
    )
}

/// Writes the parts of an edge that may change.
pub(crate) fn update(sql: &dyn Sql, scope: &Scope, edge: &Edge) -> Result<()> {
    sql.put(
        "UPDATE memory_edges
         SET strength = ?3, status = ?4, origin = ?5, updated_at = ?6, context = ?7, description = ?8
         WHERE user_no = ?1 AND id = ?2",
        values![
            scope.user_no,
            edge.id,
            edge.strength,
            edge.status,
            edge.origin,
            StoredTime::try_from(edge.updated_at)?,
            edge.context,
            edge.description,
        ],
        RowExpectation::One(missing),
    )
}

/// Removes an edge.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, id: EdgeId) -> Result<()> {
    sql.put(
        "DELETE FROM memory_edges WHERE user_no = ?1 AND id = ?2",
        values![scope.user_no, id],
        RowExpectation::One(missing),
    )
}

/// At most `limit` neighbours of a memory after the given edge: strongest edges first, and of equally strong ones the older
/// first. Forgotten, quarantined and damaged memories are omitted.
pub(crate) fn neighbours(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, memory_id): (MemoryNo, MemoryId),
    after: Option<&EdgeRow>,
    limit: u32,
) -> Result<Vec<Neighbour>> {
    let (strength, edge_no) = after.map_or((2.0, 0), |after| (after.edge.strength, after.edge_no));
    let mut found = Vec::new();
    sql.query(
        concat!(
            "SELECT ",
            memory_columns!(),
            ", ",
            edge_columns!(),
            " FROM memory_edges AS e JOIN user_memories AS m ON m.user_no = e.user_no
                 AND m.memory_no = CASE WHEN e.from_no = ?2 THEN e.to_no ELSE e.from_no END
               WHERE e.user_no = ?1
                 AND e.edge_no IN (SELECT edge_no FROM memory_edges WHERE user_no = ?1 AND from_no = ?2
                                   UNION ALL SELECT edge_no FROM memory_edges WHERE user_no = ?1 AND to_no = ?2)
                 AND (e.strength < ?3 OR (e.strength = ?3 AND e.edge_no > ?4))
                 AND m.status IN ('active', 'archived', 'superseded')
               ORDER BY e.strength DESC, e.edge_no LIMIT ?5"
        ),
        values![scope.user_no, memory_no, strength, edge_no, limit],
        &mut |row| {
            match neighbour(row, (memory_no, memory_id)) {
                Ok(neighbour) => found.push(neighbour),
                Err(error) if error.kind() == ErrorKind::Corrupt => {} // Doctor reports where.
                Err(error) => return Err(error),
            }
            Ok(Flow::Next)
        },
    )?;
    Ok(found)
}

fn neighbour(row: &SqlRow<'_>, (memory_no, memory_id): (MemoryNo, MemoryId)) -> Result<Neighbour> {
    let other = row::read(row)?;
    let is_outgoing = row.get::<MemoryNo>(row::COLUMNS + 3)? == memory_no;
    let ends = if is_outgoing { (memory_id, other.id) } else { (other.id, memory_id) };
    let EdgeRow { edge, .. } = read(row, row::COLUMNS, ends)?;
    Ok(Neighbour {
        memory_id: other.id,
        title: other.title,
        kind: other.kind,
        status: other.status,
        direction: if is_outgoing { Direction::Outgoing } else { Direction::Incoming },
        edge,
    })
}
