//! Adds and removes edges by hand: how two memories of a user relate.

use crate::{
    error::{Error, Result},
    model::{
        edge::{Edge, EdgeStatus, EdgeType, NewEdge},
        ids::{EdgeId, MemoryId},
        memory::{
            trust::{Trust, check_may_change},
            words::MemoryStatus,
        },
        profile::rounded,
        turn::Origin,
    },
    store::{
        acts::memories::{
            operation::{MemoryOperation, conflict},
            voices::check_may_change_words,
        },
        rows::{
            memories::{
                edges::{self, EdgeRow},
                row::MemoryRow,
                transfer::OWNER_OF_EDGE,
            },
            transfer::is_any_owned,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Adds an edge, or overwrites the existing edge of this type between the two memories; a proposed one is accepted by
    /// that. Whoever could add the edge may accept it; a tool or a document may not, because the proposal is the backend's.
    pub(crate) fn relate_memories(
        &mut self,
        scope: &Scope,
        (from, to): (MemoryId, MemoryId),
        new: &NewEdge,
    ) -> Result<Edge> {
        if from == to {
            return Err(Error::invalid("a memory cannot be related to itself"));
        }
        if new.edge_type == EdgeType::Supersedes {
            return Err(Error::invalid(
                "use memory supersede to say that one memory takes the place of another",
            ));
        }
        let operation = MemoryOperation::begin(self, scope, new.origin.as_str())?;
        let (from, to) = (operation.memory(from)?.row, operation.memory(to)?.row);
        [&from, &to].into_iter().try_for_each(check_is_seen)?;
        if new.edge_type == EdgeType::Contradicts {
            // Such an edge marks both memories as contested.
            [&from, &to]
                .into_iter()
                .try_for_each(|row| check_may_change_words(row, Trust::of(new.origin)))?;
        }
        let (sql, now) = (operation.tx.sql, operation.now);
        let own_id = match new.id {
            Some(id) if !is_any_owned(sql, OWNER_OF_EDGE, &[id])? => Some(id),
            _ => None,
        };
        if let Some(EdgeRow { edge: known, .. }) =
            edges::between(sql, scope, (from.memory_no, to.memory_no), new.edge_type)?
        {
            check_may_overwrite(&known, new.origin)?;
            let edge = Edge {
                strength: new.strength.map_or(new.edge_type.default_strength(), rounded),
                status: EdgeStatus::Accepted,
                origin: new.origin,
                context: new.context.clone(),
                description: new.description.clone(),
                ..known.clone()
            };
            // Two machines that related the same memories agree on the first id.
            let first_id = own_id.filter(|id| *id < known.id);
            if edge == known && first_id.is_none() {
                return Ok(known);
            }
            let edge = Edge { updated_at: *now, ..edge };
            let Some(id) = first_id else {
                edges::update(sql, scope, &edge)?;
                return Ok(edge);
            };
            let ends = if known.from == from.id { (&from, &to) } else { (&to, &from) };
            edges::remove(sql, scope, known.id)?;
            let edge = Edge { id, ..edge };
            edges::insert(sql, scope, (ends.0.memory_no, ends.1.memory_no), &edge)?;
            return Ok(edge);
        }
        let edge = Edge {
            id: own_id.unwrap_or_else(|| EdgeId::new(*now)),
            from: from.id,
            to: to.id,
            edge_type: new.edge_type,
            strength: new.strength.map_or(new.edge_type.default_strength(), rounded),
            status: EdgeStatus::Accepted,
            origin: new.origin,
            created_at: *now,
            updated_at: *now,
            context: new.context.clone(),
            description: new.description.clone(),
        };
        edges::insert(sql, scope, (from.memory_no, to.memory_no), &edge)?;
        Ok(edge)
    }

    /// Removes an edge. An edge of the type `supersedes` cannot be removed; the superseding has to be undone instead.
    pub(crate) fn unrelate_memories(&mut self, scope: &Scope, id: EdgeId, by: Origin) -> Result<()> {
        let operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let sql = operation.tx.sql;
        let found = edges::by_id(sql, scope, id)?;
        let EdgeRow { edge, .. } = found.ok_or_else(|| Error::not_found("this user has no such edge"))?;
        if edge.edge_type == EdgeType::Supersedes {
            return Err(conflict("the edge records what was superseded; undo that instead"));
        }
        check_may_overwrite(&edge, by)?;
        edges::remove(sql, scope, id)
    }
}

/// Fails if somebody who is trusted more stated the edge.
fn check_may_overwrite(edge: &Edge, by: Origin) -> Result<()> {
    check_may_change(by, Trust::of(edge.origin), format_args!("edge {}", edge.id))
}

/// Fails if a memory is forgotten or quarantined.
pub(super) fn check_is_seen(memory: &MemoryRow) -> Result<()> {
    match memory.status {
        MemoryStatus::Forgotten | MemoryStatus::Quarantined => {
            Err(conflict(format!("{} is {}; undo that first", memory.id, memory.status.as_str())))
        }
        _ => Ok(()),
    }
}
