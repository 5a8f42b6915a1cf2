//! Writes what an ended session yields: new memories, and ratings of uses according to the user's words. A row records that
//! the session was extracted, so that its memories are saved once.

use crate::{
    config::Extract,
    error::{ErrorKind, Result},
    memory::{
        beginning::Finder,
        extract::{Finding, Learned},
    },
    model::{
        edge::EdgeType,
        episode::Use,
        ids::{MemoryId, SessionId},
        job::JobKind,
        memory::trust::Trust,
        place::{MemoryNo, Seq},
        stored_time::StoredTime,
    },
    store::{
        acts::memories::{
            measured::MeasuredMemory,
            operation::{MemoryOperation, no_memory},
        },
        job_tx::JobTx,
        rows::{
            jobs,
            memories::{
                extracted, find,
                sources::{SourceFrom, SourceRow},
            },
            sessions::{self, SessionRow},
            units,
        },
        scope::Scope,
        slice_error::SliceResult,
        write_tx::WriteTx,
    },
};

/// The name under which sources and the history record what rules found.
pub(crate) const RULES: &str = "rules";

/// How many unrated uses one slice removes.
const UNRATED: u32 = 256;

/// A memory found in a session, ready to be saved, and the problem that it solves, if there is one.
#[derive(Debug)]
pub(crate) struct Harvest {
    memory: MeasuredMemory,
    solves: Option<MeasuredMemory>,
}

impl Harvest {
    /// Prepares a finding of the rules or, if `by` is a name, of LLM#1 with that name.
    pub(crate) fn of(
        found: Finding,
        (session, project): (SessionId, Option<&str>),
        by: Option<&str>,
    ) -> Result<Self> {
        let measured = |learned: Learned| {
            let Learned { mut new, proofs } = learned;
            if let Some(project) = project {
                new = new.project(project);
            }
            let origin = new.origin;
            let (finder, made_by) = match by {
                None => (Finder::Rules(origin), RULES),
                Some(name) => (Finder::Llm(origin), name),
            };
            let sources = proofs.into_iter().map(|proof| {
                Ok(SourceRow {
                    from: SourceFrom::Turn(proof.turn_id, Seq::of(proof.seq)?),
                    origin: proof.origin,
                    made_by: made_by.to_owned(),
                    said_at: StoredTime::clamped(proof.said_at),
                    quote: proof.quote,
                })
            });
            let sources = sources.collect::<Result<Vec<_>>>()?;
            MeasuredMemory::of(new.session(session), sources, (finder, made_by))
        };
        let solves = found.solves.map(measured).transpose()?;
        Ok(Self { memory: measured(found.learned)?, solves })
    }
}

/// The outcome of a use of a memory, according to the user's own words.
#[derive(Clone, Debug)]
pub(crate) struct Rating {
    pub(crate) memory: MemoryId,
    pub(crate) rated: Use,
    /// How far the words that rate it are trusted.
    pub(crate) trust: Trust,
}

impl WriteTx<'_> {
    /// Queues the extraction of an ended session, if it is enabled and was not done yet.
    pub(crate) fn queue_extraction(&mut self, scope: &Scope, session: &SessionRow) -> Result<()> {
        if self.config.extract == Extract::Off
            || extracted::is_extracted(self.sql, scope, session.session_no)?
            || jobs::find(self.sql, (JobKind::Extract, scope, Some(session.info.id)))?.is_some()
        {
            return Ok(());
        }
        self.enqueue(scope, JobKind::Extract, Some(session.info.id), session.info.turn_count)
    }
}

impl JobTx<'_, '_> {
    /// Like `queue_extraction`, for a session whose compression begins: it may have ended in a process without extraction.
    /// Returns whether the extraction is still pending.
    pub(crate) fn hear_before_compression(&mut self, scope: &Scope, session: SessionId) -> SliceResult<bool> {
        self.lock(scope)?;
        let row = sessions::existing(self.tx.sql, scope, session)?;
        self.tx.queue_extraction(scope, &row)?;
        Ok(jobs::is_extracting(self.tx.sql, scope, session)?)
    }

    /// Rates a use, and returns whether it did. Does nothing if the use has an outcome, or the memory is gone or hidden.
    pub(crate) fn rate_heard(&mut self, scope: &Scope, rating: &Rating) -> SliceResult<bool> {
        self.lock(scope)?;
        let mut operation = MemoryOperation::begin(self.tx, scope, RULES)?;
        Ok(operation.rate_heard(rating.memory, (&rating.rated, rating.trust))?)
    }

    /// Removes some of the session's unrated uses. Returns `false` if there are none.
    pub(crate) fn forget_unrated(&mut self, scope: &Scope, session: SessionId) -> SliceResult<bool> {
        self.lock(scope)?;
        let row = sessions::existing(self.tx.sql, scope, session)?;
        Ok(extracted::remove_unrated(self.tx.sql, scope, row.session_no, UNRATED)? > 0)
    }

    /// Saves what a session yielded, marks it as extracted, and ends the job. Returns the number of new memories.
    pub(crate) fn end_extraction(
        &mut self,
        scope: &Scope,
        session: SessionId,
        harvest: &[Harvest],
    ) -> SliceResult<u64> {
        self.lock(scope)?;
        let (sql, now) = (self.tx.sql, self.tx.now());
        let row = sessions::existing(sql, scope, session)?;
        let mut made = 0;
        if !extracted::is_extracted(sql, scope, row.session_no)? {
            for each in harvest {
                let by = each.memory.made_by.clone();
                made += MemoryOperation::begin(self.tx, scope, &by)?.harvest(each)?;
            }
            extracted::insert(sql, scope, row.session_no, now)?;
        }
        jobs::finish(sql, self.lease)?;
        Ok(made)
    }
}

impl MemoryOperation<'_, '_> {
    /// Saves a memory, the problem that it solves, and an edge between the two. Returns the number of new memories.
    fn harvest(&mut self, harvest: &Harvest) -> Result<u64> {
        let Some((memory, is_new)) = self.save_learned(&harvest.memory)? else { return Ok(0) };
        let Some(problem) = &harvest.solves else { return Ok(u64::from(is_new)) };
        let Some((problem, is_problem_new)) = self.save_learned(problem)? else {
            return Ok(u64::from(is_new));
        };
        let (sql, scope) = (self.tx.sql, self.scope);
        let end = |memory_no: MemoryNo| -> Result<(MemoryNo, MemoryId)> {
            let id = find::id_of(sql, &scope, memory_no)?;
            Ok((memory_no, id.ok_or_else(no_memory)?))
        };
        if memory != problem {
            let origin = harvest.memory.new.origin;
            self.add_edge(end(memory)?, end(problem)?, (EdgeType::Solves, origin))?;
        }
        Ok(u64::from(is_new) + u64::from(is_problem_new))
    }

    /// Saves a memory that a job found, and returns its number and whether it is new. `None` if a turn that proves it was
    /// erased in the meantime, or if the same text is in quarantine. If its slot is taken, it waits for a person, because a
    /// job never decides.
    fn save_learned(&mut self, memory: &MeasuredMemory) -> Result<Option<(MemoryNo, bool)>> {
        let (sql, scope) = (self.tx.sql, self.scope);
        for source in &memory.sources {
            if let SourceFrom::Turn(turn, seq) = source.from
                && !units::is_of(sql, &scope, seq, turn)?
            {
                return Ok(None);
            }
        }
        match self.known_by_text(memory) {
            Ok(Some(row)) => return Ok(Some((row.memory_no, false))),
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
            known => known?,
        };
        let row = self.begin_row(memory)?;
        if let Some((group, reason)) = self.quarantine_over(memory)? {
            return Ok(Some((self.add_hidden(memory, row, (group, &reason))?, true)));
        }
        if let Some(holder) = self.holder(&row)? {
            return Ok(Some((self.add_waiting(memory, row, &holder)?.memory_no, true)));
        }
        Ok(Some((self.add(memory, row)?, true)))
    }
}
