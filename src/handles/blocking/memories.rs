//! [`Memories`](crate::Memories) for callers without a runtime.

use std::sync::Arc;

use chrono::NaiveDate;

use crate::{
    Change, Core, CoreOptions, Decided, Decision, Due, Edge, EdgeId, Edit, Episode, EpisodeFilter, EpisodeId,
    Erased, Forgotten, GroupId, Memory, MemoryFilter, MemoryId, MemorySource, Merged, Neighbour, NewEdge,
    NewMemory, NewNote, Noted, Origin, QuarantineSource, Quarantined, Reflected, Result, Review,
    ReviewFilter, ReviewId, Saved, TendOptions, Tended, TermCount, Undone, Use,
    handles::blocking::waiter::Waiter,
};

/// The blocking version of [`Memories`](crate::Memories).
#[derive(Clone, Debug)]
pub struct Memories {
    // Dropped before the runtime, because its last operations run there.
    pub(super) inner: crate::Memories,
    pub(super) runtime: Arc<Waiter>,
}

impl Memories {
    pub(super) fn new(inner: crate::Memories, runtime: Arc<Waiter>) -> Self {
        Self { inner, runtime }
    }

    /// See [`Memories::by`](crate::Memories::by).
    #[must_use]
    pub fn by(mut self, origin: Origin) -> Self {
        self.inner = self.inner.by(origin);
        self
    }

    /// See [`Memories::save`](crate::Memories::save).
    pub fn save(&self, memory: NewMemory) -> Result<Saved> {
        self.runtime.block_on(self.inner.save(memory))
    }

    /// See [`Memories::get`](crate::Memories::get).
    pub fn get(&self, id: MemoryId) -> Result<Memory> {
        self.runtime.block_on(self.inner.get(id))
    }

    /// See [`Memories::find`](crate::Memories::find).
    pub fn find(&self, part: &str) -> Result<Memory> {
        self.runtime.block_on(self.inner.find(part))
    }

    /// See [`Memories::by_caller_id`](crate::Memories::by_caller_id).
    pub fn by_caller_id(&self, caller_id: &str) -> Result<Memory> {
        self.runtime.block_on(self.inner.by_caller_id(caller_id))
    }

    /// See [`Memories::list`](crate::Memories::list).
    pub fn list(&self, filter: MemoryFilter, after: Option<MemoryId>, limit: u32) -> Result<Vec<Memory>> {
        self.runtime.block_on(self.inner.list(filter, after, limit))
    }

    /// See [`Memories::edit`](crate::Memories::edit).
    pub fn edit(&self, id: MemoryId, edit: Edit) -> Result<Memory> {
        self.runtime.block_on(self.inner.edit(id, edit))
    }

    /// See [`Memories::pin`](crate::Memories::pin).
    pub fn pin(&self, id: MemoryId) -> Result<Memory> {
        self.runtime.block_on(self.inner.pin(id))
    }

    /// See [`Memories::unpin`](crate::Memories::unpin).
    pub fn unpin(&self, id: MemoryId) -> Result<Memory> {
        self.runtime.block_on(self.inner.unpin(id))
    }

    /// See [`Memories::supersede`](crate::Memories::supersede).
    pub fn supersede(&self, old: MemoryId, memory: NewMemory) -> Result<Saved> {
        self.runtime.block_on(self.inner.supersede(old, memory))
    }

    /// See [`Memories::supersede_by`](crate::Memories::supersede_by).
    pub fn supersede_by(&self, old: MemoryId, new: MemoryId) -> Result<Saved> {
        self.runtime.block_on(self.inner.supersede_by(old, new))
    }

    /// See [`Memories::undo`](crate::Memories::undo).
    pub fn undo(&self, id: MemoryId) -> Result<Undone> {
        self.runtime.block_on(self.inner.undo(id))
    }

    /// See [`Memories::forget`](crate::Memories::forget).
    pub fn forget(&self, id: MemoryId) -> Result<Forgotten> {
        self.runtime.block_on(self.inner.forget(id))
    }

    /// See [`Memories::forget_all`](crate::Memories::forget_all).
    pub fn forget_all(&self, filter: MemoryFilter) -> Result<Forgotten> {
        self.runtime.block_on(self.inner.forget_all(filter))
    }

    /// See [`Memories::erase`](crate::Memories::erase).
    pub fn erase(&self, id: MemoryId) -> Result<Erased> {
        self.runtime.block_on(self.inner.erase(id))
    }

    /// See [`Memories::used`](crate::Memories::used).
    pub fn used(&self, id: MemoryId, report: Use) -> Result<Memory> {
        self.runtime.block_on(self.inner.used(id, report))
    }

    /// See [`Memories::due`](crate::Memories::due).
    pub fn due(&self, on: NaiveDate, limit: u32) -> Result<Vec<Due>> {
        self.runtime.block_on(self.inner.due(on, limit))
    }

    /// See [`Memories::resurfaced`](crate::Memories::resurfaced).
    pub fn resurfaced(&self, id: MemoryId) -> Result<Memory> {
        self.runtime.block_on(self.inner.resurfaced(id))
    }

    /// See [`Memories::dismiss`](crate::Memories::dismiss).
    pub fn dismiss(&self, id: MemoryId) -> Result<Memory> {
        self.runtime.block_on(self.inner.dismiss(id))
    }

    /// See [`Memories::reviews`](crate::Memories::reviews).
    pub fn reviews(&self, filter: ReviewFilter, after: Option<ReviewId>, limit: u32) -> Result<Vec<Review>> {
        self.runtime.block_on(self.inner.reviews(filter, after, limit))
    }

    /// See [`Memories::review`](crate::Memories::review).
    pub fn review(&self, id: ReviewId) -> Result<Review> {
        self.runtime.block_on(self.inner.review(id))
    }

    /// See [`Memories::decide`](crate::Memories::decide).
    pub fn decide(&self, review: ReviewId, decision: Decision, by: &str) -> Result<Decided> {
        self.runtime.block_on(self.inner.decide(review, decision, by))
    }

    /// See [`Memories::relate`](crate::Memories::relate).
    pub fn relate(&self, from: MemoryId, edge: NewEdge, to: MemoryId) -> Result<Edge> {
        self.runtime.block_on(self.inner.relate(from, edge, to))
    }

    /// See [`Memories::unrelate`](crate::Memories::unrelate).
    pub fn unrelate(&self, edge: EdgeId) -> Result<()> {
        self.runtime.block_on(self.inner.unrelate(edge))
    }

    /// See [`Memories::edge`](crate::Memories::edge).
    pub fn edge(&self, id: EdgeId) -> Result<Edge> {
        self.runtime.block_on(self.inner.edge(id))
    }

    /// See [`Memories::neighbours`](crate::Memories::neighbours).
    pub fn neighbours(&self, id: MemoryId, after: Option<EdgeId>, limit: u32) -> Result<Vec<Neighbour>> {
        self.runtime.block_on(self.inner.neighbours(id, after, limit))
    }

    /// See [`Memories::history`](crate::Memories::history).
    pub fn history(&self, id: MemoryId, before: Option<u32>, limit: u32) -> Result<Vec<Change>> {
        self.runtime.block_on(self.inner.history(id, before, limit))
    }

    /// See [`Memories::sources`](crate::Memories::sources).
    pub fn sources(&self, id: MemoryId) -> Result<Vec<MemorySource>> {
        self.runtime.block_on(self.inner.sources(id))
    }

    /// See [`Memories::tags`](crate::Memories::tags).
    pub fn tags(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.runtime.block_on(self.inner.tags(after, limit))
    }

    /// See [`Memories::entities`](crate::Memories::entities).
    pub fn entities(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.runtime.block_on(self.inner.entities(after, limit))
    }

    /// See [`Memories::note`](crate::Memories::note).
    pub fn note(&self, note: NewNote) -> Result<Noted> {
        self.runtime.block_on(self.inner.note(note))
    }

    /// See [`Memories::episodes`](crate::Memories::episodes).
    pub fn episodes(
        &self,
        filter: EpisodeFilter,
        after: Option<EpisodeId>,
        limit: u32,
    ) -> Result<Vec<Episode>> {
        self.runtime.block_on(self.inner.episodes(filter, after, limit))
    }

    /// See [`Memories::tend`](crate::Memories::tend).
    pub fn tend(&self, options: TendOptions) -> Result<Tended> {
        self.runtime.block_on(self.inner.tend(options))
    }

    /// See [`Memories::undo_group`](crate::Memories::undo_group).
    pub fn undo_group(&self, group: GroupId) -> Result<Undone> {
        self.runtime.block_on(self.inner.undo_group(group))
    }

    /// See [`Memories::quarantine`](crate::Memories::quarantine).
    pub fn quarantine(&self, source: QuarantineSource, why: &str) -> Result<Quarantined> {
        self.runtime.block_on(self.inner.quarantine(source, why))
    }

    /// See [`Memories::lift`](crate::Memories::lift).
    pub fn lift(&self, group: GroupId) -> Result<Undone> {
        self.runtime.block_on(self.inner.lift(group))
    }

    /// See [`Memories::merge`](crate::Memories::merge).
    pub fn merge(&self, memories: Vec<MemoryId>, into: NewMemory) -> Result<Merged> {
        self.runtime.block_on(self.inner.merge(memories, into))
    }

    /// See [`Memories::core`](crate::Memories::core).
    pub fn core(&self, options: CoreOptions) -> Result<Core> {
        self.runtime.block_on(self.inner.core(options))
    }

    /// See [`Memories::reflection`](crate::Memories::reflection).
    pub fn reflection(&self) -> Result<String> {
        self.runtime.block_on(self.inner.reflection())
    }

    /// See [`Memories::reflect`](crate::Memories::reflect).
    pub fn reflect(&self) -> Result<Reflected> {
        self.runtime.block_on(self.inner.reflect())
    }
}
