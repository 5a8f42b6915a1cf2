//! Writes a session's state, which is kept until the session ends. Entries are overwritten in place, and have no unit and no
//! history.

use crate::{
    error::{Error, Result},
    memory::beginning::Finder,
    model::{
        ids::{MemoryId, SessionId},
        memory::{
            new::NewMemory,
            trust::{Trust, check_may_change},
            words::{Frequency, LearningSource, MemoryKind, MemoryStatus},
        },
    },
    store::{
        acts::memories::measured::MeasuredMemory,
        rows::{
            jobs,
            memories::{row, session_state, state},
            sessions,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The most entries that a session keeps: enough for a plan, its context and its variables, but too few to replace memories.
const MOST: usize = 64;

/// What becomes of an entry of a session's state.
#[derive(Debug)]
pub(crate) enum NewState {
    /// It is written, replacing an earlier one.
    Kept(Box<MeasuredMemory>),
    /// It is removed. The entry is identified by its slot.
    Cleared(String),
}

impl NewState {
    /// An entry to write. Errors: it exceeds a bound.
    pub(crate) fn kept(slot: String, name: &str, text: &str) -> Result<Self> {
        let new = NewMemory::new(MemoryKind::General, name, text)
            .goal_signature(slot)
            .entities::<&str>([])
            .frequency(Frequency::High)
            .learning_source(LearningSource::Execution);
        Ok(Self::Kept(Box::new(MeasuredMemory::of(new, Vec::new(), (Finder::Hand, "caller"))?)))
    }

    fn slot(&self) -> Option<&str> {
        match self {
            Self::Kept(measured) => measured.new.goal_signature.as_deref(),
            Self::Cleared(slot) => Some(slot),
        }
    }
}

impl WriteTx<'_> {
    /// Writes or removes an entry of a session's state, in the session in which its conversation now continues. Returns that
    /// session.
    pub(crate) fn set_session_state(
        &mut self,
        scope: &Scope,
        session: SessionId,
        new: &NewState,
    ) -> Result<SessionId> {
        self.lock(scope)?;
        let now = self.now();
        let session = sessions::existing(self.sql, scope, session)?;
        let (session, _) = self.session_to_write(scope, session, now)?;
        let (sql, session_no, id) = (self.sql, session.session_no, session.info.id);
        if jobs::is_erasing(sql, scope, Some(id))? {
            return Err(sessions::no_session());
        }
        let kept = session_state::of_session(sql, scope, session_no)?;
        let known = kept.iter().find(|row| row.goal_signature.as_deref() == new.slot());
        if let Some(known) = known {
            check_may_change(self.by, known.trust, format_args!("this entry of the state of session {id}"))?;
        }
        match (new, known) {
            (NewState::Kept(new), Some(known)) => {
                let (mut row, title) = (known.clone(), new.new.title.clone());
                (row.title, row.content, row.content_hash) =
                    (title, new.new.content.clone(), new.content_hash);
                (row.updated_at, row.said_at) = (now, now);
                (row.origin, row.trust) = (self.by, Trust::of(self.by));
                row::update(sql, scope, &row)?;
            }
            (NewState::Kept(_), None) if kept.len() >= MOST => {
                return Err(Error::invalid(format!(
                    "a session keeps at most {MOST} states; clear one first"
                )));
            }
            (NewState::Kept(new), None) => {
                let mut row = new.row(MemoryId::new(*now), MemoryStatus::Active, (now, now));
                row.session_no = Some(session_no);
                (row.origin, row.trust) = (self.by, Trust::of(self.by));
                state::insert(sql, scope, row::insert(sql, scope, &row)?)?;
            }
            (NewState::Cleared(_), Some(known)) => row::remove(sql, scope, known.memory_no)?,
            (NewState::Cleared(_), None) => {}
        }
        Ok(id)
    }
}
