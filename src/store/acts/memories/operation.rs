//! One operation on a user's memories: everything it changes, on one memory or many, is one group of the history.
//!
//! A memory whose text changes gets a new unit. The old unit is hidden at once, because recall shows only current texts, and
//! is swept later. So all caches stay valid, and no epoch is raised.

use serde_json::{Map, Value};

use crate::{
    compress::derived::Kinds,
    error::{Error, ErrorKind, Result},
    memory::terms::terms,
    model::{
        change::ChangeOp,
        ids::{GroupId, MemoryId, SessionId},
        memory::{known::Memory, words::MemoryStatus},
        place::{MemoryNo, Owner, Seq, SessionNo},
        stored_time::StoredTime,
    },
    store::{
        acts::{index, memories::before::MemoryBefore},
        rows::{
            jobs,
            memories::{
                changes::{self, NewChange},
                find, known, reviews,
                row::{self, MemoryRow},
                state,
                terms::{self as term_rows, MemoryTermKind},
                units as memory_units,
            },
            sessions::{self, SessionRow},
            units, users,
        },
        scope::Scope,
        sql::UserRow,
        write_tx::WriteTx,
    },
};

/// An operation in progress. Nothing else can change the user's memories until the transaction ends.
pub(super) struct MemoryOperation<'t, 'a> {
    pub(super) tx: &'t mut WriteTx<'a>,
    pub(super) scope: Scope,
    pub(super) group: GroupId,
    pub(super) now: StoredTime,
    /// Who performs it, as named in the history.
    pub(super) made_by: String,
    user: UserRow,
}

/// What the history records of a change in addition to the previous values of its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note<'n> {
    pub(super) op: ChangeOp,
    pub(super) old_value: Option<&'n str>,
    pub(super) new_value: Option<&'n str>,
    pub(super) reason: &'n str,
}

impl Note<'_> {
    pub(super) fn of(op: ChangeOp) -> Self {
        Self { op, old_value: None, new_value: None, reason: "" }
    }
}

impl<'t, 'a> MemoryOperation<'t, 'a> {
    pub(super) fn begin(tx: &'t mut WriteTx<'a>, scope: &Scope, made_by: &str) -> Result<Self> {
        let user = tx.lock(scope)?;
        users::check_is_there(tx.sql, scope)?;
        let now = tx.now();
        Ok(Self { scope: *scope, group: GroupId::new(*now), now, made_by: made_by.to_owned(), user, tx })
    }

    /// The memory with this id. Errors: this user has no such memory.
    pub(super) fn memory(&self, id: MemoryId) -> Result<MemoryBefore> {
        self.hold(find::by_id(self.tx.sql, &self.scope, id)?.ok_or_else(no_memory)?)
    }

    /// The memory of a row, with everything that operations change about it.
    pub(super) fn hold(&self, row: MemoryRow) -> Result<MemoryBefore> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        let superseded_by = row.superseded_by.map(|no| find::id_of(sql, scope, no)).transpose()?.flatten();
        let names = term_rows::names(sql, scope, row.memory_no)?;
        let resurfacing = state::resurfacing(sql, scope, row.memory_no)?;
        Ok(MemoryBefore { row, superseded_by, names, resurfacing })
    }

    /// The session in which something happened. Errors: it does not exist or is being erased, so nothing is kept about it.
    pub(super) fn session(&self, id: Option<SessionId>) -> Result<Option<SessionRow>> {
        let Some(id) = id else { return Ok(None) };
        let session = sessions::existing(self.tx.sql, &self.scope, id)?;
        if jobs::is_erasing(self.tx.sql, &self.scope, Some(id))? {
            return Err(sessions::no_session());
        }
        Ok(Some(session))
    }

    pub(super) fn session_no(&self, id: Option<SessionId>) -> Result<Option<SessionNo>> {
        Ok(self.session(id)?.map(|session| session.session_no))
    }

    /// The memory as a caller sees it.
    pub(super) fn shown(&self, memory_no: MemoryNo) -> Result<Memory> {
        let row = find::by_no(self.tx.sql, &self.scope, memory_no)?.ok_or_else(no_memory)?;
        known::one(self.tx.sql, &self.scope, row, self.now)
    }

    /// Writes a changed memory, and the previous values of the changed columns into the history. If nothing changed, nothing
    /// is written.
    pub(super) fn change(
        &mut self,
        before: &MemoryBefore,
        mut after: MemoryBefore,
        note: Note<'_>,
    ) -> Result<MemoryBefore> {
        let mut columns = before.columns_before(&after)?;
        if columns.is_empty() {
            return Ok(before.clone());
        }
        let (sql, scope, memory_no) = (self.tx.sql, self.scope, before.row.memory_no);
        after.row.content_hash = after.row.text().content_hash();
        after.row.revision = before.row.revision.saturating_add(1);
        after.row.updated_at = self.now;
        self.check_free(&after.row)?;
        self.check_shows_nothing_hidden(&before.row, &after.row)?;
        for kind in MemoryTermKind::EVERY {
            if before.names.of(kind) != after.names.of(kind) {
                term_rows::set(sql, &scope, (memory_no, kind), &terms(after.names.of(kind)))?;
            }
        }
        if before.resurfacing != after.resurfacing {
            state::set_resurfacing(sql, &scope, memory_no, after.resurfacing)?;
        }
        if !after.row.is_recalled() {
            after.row.seq = None;
        } else if after.row.seq.is_none() || !before.says_the_same(&after) {
            let words = after.row.text().words(after.names.iter());
            after.row.seq = Some(self.add_unit(&after.row, &words)?);
        }
        row::update(sql, &scope, &after.row)?;
        if before.row.is_recalled() && !after.row.is_recalled() {
            reviews::withdraw(sql, &scope, memory_no, self.now)?;
            // A memory that waits to take the place of a forgotten one must still be decided.
            if after.row.status != MemoryStatus::Forgotten {
                reviews::withdraw_of_other(sql, &scope, memory_no, self.now)?;
            }
        }
        let apart = apart(note.op, &mut columns);
        if !columns.is_empty() {
            self.note(memory_no, note, Some(Value::Object(columns).to_string()))?;
        }
        self.note_apart(apart, before, &after)?;
        Ok(after)
    }

    /// Records the part of an operation that is a separate change in the history: of the memory's frequency or its trust.
    fn note_apart(
        &self,
        apart: Option<(ChangeOp, Map<String, Value>)>,
        from: &MemoryBefore,
        to: &MemoryBefore,
    ) -> Result<()> {
        let Some((op, columns)) = apart else { return Ok(()) };
        let (old, new, reason) = if op == ChangeOp::Trust {
            let number = |held: &MemoryBefore| held.row.trust.number().to_string();
            (number(from), number(to), "a person approved it".to_owned())
        } else {
            let word = |held: &MemoryBefore| held.row.frequency.as_str().to_owned();
            let (volatility, trust) = (to.row.volatility.as_str(), to.row.trust.number());
            (word(from), word(to), format!("volatility {volatility}, trust {trust}"))
        };
        let note = Note { op, old_value: Some(&old), new_value: Some(&new), reason: &reason };
        self.note(from.row.memory_no, note, Some(Value::Object(columns).to_string()))
    }

    /// Records a change of a memory in the history.
    pub(super) fn note(&self, memory_no: MemoryNo, note: Note<'_>, before: Option<String>) -> Result<()> {
        let Note { op, old_value, new_value, reason } = note;
        let change = NewChange {
            memory_no,
            op,
            group_id: self.group,
            made_by: &self.made_by,
            made_at: self.now,
            old_value,
            new_value,
            reason,
            before,
        };
        changes::insert(self.tx.sql, &self.scope, &change)
    }

    /// The number of the next unit to be added.
    pub(super) fn next_seq(&self) -> Result<Seq> {
        self.user.last_seq.next()
    }

    /// Adds the unit for a memory's current text, at the end of the user's order.
    pub(super) fn add_unit(&mut self, memory: &MemoryRow, words: &[u8]) -> Result<Seq> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let seq = self.next_seq()?;
        self.user.last_seq = seq;
        memory_units::insert(sql, &scope, (seq, memory.memory_no), words)?;
        let unit = (memory.id, None, memory.content_hash, memory.said_at);
        units::insert(sql, &scope, seq, Owner::Memory, unit)?;
        users::set_last_seq(sql, &scope, seq)?;
        self.tx.note_rules(&scope, &self.user, Kinds::WORDS)?;
        index::queue_if_due(self.tx, &scope, seq)?;
        Ok(seq)
    }

    /// Fails if an active memory says the same as another active one, or if its slot is taken.
    pub(super) fn check_free(&self, memory: &MemoryRow) -> Result<()> {
        if memory.status != MemoryStatus::Active || memory.session_no.is_some() {
            return Ok(());
        }
        let (sql, project) = (self.tx.sql, memory.project.as_deref());
        let same = find::active_same(sql, &self.scope, project, memory.content_hash)?;
        if let Some(other) = same.filter(|other| other.memory_no != memory.memory_no) {
            return Err(conflict(format!(
                "{}, {}, has the same text; forget it first",
                other.id,
                other.status.as_str()
            )));
        }
        if let Some(other) = self.holder(memory)? {
            return Err(conflict(format!("{} holds in the same slot", other.id)));
        }
        Ok(())
    }

    /// The other memory that is active in a memory's slot. `None` if there is none, or if the memory has no slot.
    pub(super) fn holder(&self, memory: &MemoryRow) -> Result<Option<MemoryRow>> {
        let Some(slot) = &memory.goal_signature else { return Ok(None) };
        let of = (memory.project.as_deref(), memory.kind);
        let holder = find::in_slot(self.tx.sql, &self.scope, of, slot)?;
        Ok(holder.filter(|holder| holder.memory_no != memory.memory_no))
    }
}

/// Removes from `columns` the part that the history records as a separate change in the same group: from an edit the
/// frequency, from a change of frequency the trust. `None` if there is no such part.
fn apart(op: ChangeOp, columns: &mut Map<String, Value>) -> Option<(ChangeOp, Map<String, Value>)> {
    let (apart, names) = match op {
        ChangeOp::Edit => (ChangeOp::Frequency, &["frequency", "frequency_since"][..]),
        ChangeOp::Frequency => (ChangeOp::Trust, &["trust"][..]),
        _ => return None,
    };
    if !columns.contains_key(names[0]) {
        return None;
    }
    Some((apart, names.iter().filter_map(|name| columns.remove_entry(*name)).collect()))
}

/// The error for a memory that does not exist or belongs to another user.
pub(super) fn no_memory() -> Error {
    Error::not_found("this user has no such memory")
}

pub(super) fn conflict(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::Conflict, why)
}
