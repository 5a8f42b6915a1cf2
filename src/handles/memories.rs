//! The handle of one user's memories: what is known in addition to what was said.

use std::sync::Arc;

use chrono::NaiveDate;

use crate::{
    compress::Summarizer,
    embed::{BuiltIn, Embedder},
    error::{Error, Result},
    event::in_span,
    handles::{drive, off_thread, open::Open, owner::Owner, saving},
    jobs,
    memory::{deciding::check_person, terms::folded},
    model::{
        change::{Change, Undone},
        edge::{Edge, Neighbour, NewEdge},
        episode::{Episode, EpisodeFilter, NewNote, Noted, Use},
        ids::{EdgeId, EpisodeId, GroupId, MemoryId, ReviewId},
        memory::{
            core::{Core, CoreOptions},
            due::Due,
            edit::Edit,
            filter::MemoryFilter,
            forgotten::Forgotten,
            known::Memory,
            merged::Merged,
            new::NewMemory,
            quarantined::{QuarantineSource, Quarantined},
            reflected::Reflected,
            saved::Saved,
            source::MemorySource,
            tended::{TendOptions, Tended},
            term::TermCount,
        },
        page::checked_limit,
        place::MemoryNo,
        review::{Decided, Decision, Review, ReviewFilter},
        turn::Origin,
    },
    store::{
        acts::{erased::Erased, memories::resurface::ResurfaceResponse},
        rows::memories::{lists::FilterParams, terms::MemoryTermKind},
        scope::Scope,
        snapshot::Snapshot,
    },
    text::measure::check_name,
};

/// The minimum number of hexadecimal digits by which a memory is found.
const LEAST_DIGITS: usize = 4;
/// The number of hexadecimal digits of a UUID.
const DIGITS: usize = 32;

/// The handle of a user's memories: what is known in addition to what was said. Another user's memory is not found, even
/// by its id.
///
/// What is done to a memory is in its [`history`](Self::history), and most of it can be [undone](Self::undo).
/// [`forget`](Self::forget) only hides a memory; [`erase`](Self::erase) removes it from the bytes of the file. Every
/// write returns once it is durable.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> thermocline::Result<()> {
/// # let folder = tempfile::tempdir().expect("a folder");
/// use thermocline::{Edit, MemoryFilter, MemoryKind, NewMemory, Origin, Thermocline};
///
/// let file = Thermocline::open(folder.path().join("memory.db")).await?;
/// let memories = file.user("alex").await?.memories().by(Origin::User);
/// let fix = NewMemory::new(MemoryKind::Fix, "Redis timeouts", "Keepalive fixes them.").origin(Origin::User);
/// let saved = memories.save(fix.tags(["redis"])).await?;
/// memories.edit(saved.memory.id, Edit::default().content("Keepalive of 300 s fixes them.")).await?;
/// let about_redis = memories.list(MemoryFilter::default().tag("#Redis"), None, 10).await?;
/// assert_eq!(about_redis[0].revision, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Memories {
    pub(super) store: Arc<Open>,
    pub(super) scope: Scope,
    pub(super) by: Origin,
}

impl Memories {
    pub(super) fn new(store: Arc<Open>, scope: Scope) -> Self {
        Self { store, scope, by: Origin::Assistant }
    }

    /// Makes the handle act for this origin, which decides what the handle may change. The history names this origin as the
    /// author of changes. Default: [`Origin::Assistant`]. An edit may state another one ([`Edit::origin`]).
    /// [`save`](Self::save) and [`supersede`](Self::supersede) use the new memory's [own origin](NewMemory::origin) instead,
    /// which also says whose words the memory contains.
    #[must_use]
    pub fn by(mut self, origin: Origin) -> Self {
        self.by = origin;
        self
    }

    /// Saves a memory, once. The [outcome](Saved::outcome) says what became of it.
    ///
    /// - If the same memory is already known, by its caller's id or its text, it gets the new save's tags in addition to its
    ///   own, and whatever else it lacked (slot, summary, sources, pin, ...), as far as the trust of the new save allows. It
    ///   takes the new save's origin if that origin is trusted more. [`Saved::not_taken`] lists the stated values that it
    ///   does not take. An archived memory becomes active again unless it has to wait (see the next point); so does a
    ///   forgotten one that is not trusted more than the new save. A memory that a person rejected for contradicting another
    ///   one stays forgotten for 30 days, as long as the other one holds and does not give way to the new save.
    /// - If a memory with another text holds the same [slot](NewMemory::goal_signature), the new memory takes its place
    ///   if it is trusted at least as much (the user's words give way only to the user's). Otherwise the new memory
    ///   waits, archived, until a person decides.
    ///
    /// Whitespace at the ends of title and content is removed. Slots and tags are compared without case. If a tool or a
    /// document said the text in the memory's [session](NewMemory::session) and the user did not, the memory counts as
    /// the tool's or the document's words, whoever saves it; the text counts as said if three fifths of its runs of
    /// five words occur there, among the newest 64 turns (1 MiB at most). With a [`caller_id`](NewMemory::caller_id), a
    /// repeated save returns the memory that was saved first.
    ///
    /// Errors: `InvalidInput` (bounds; a quote that does not occur in its turn); `NotFound` (one of the memory's turns,
    /// or its session); `Conflict` (the caller's id belongs to another text, or names an erased memory; the same memory
    /// is in quarantine).
    pub async fn save(&self, memory: NewMemory) -> Result<Saved> {
        let saving = saving::save(&self.store, Owner::Known(self.scope), memory);
        Ok(in_span("save", (self.scope.user_id, None), saving).await?.1)
    }

    /// Returns the memory with this id, whatever its status.
    pub async fn get(&self, id: MemoryId) -> Result<Memory> {
        self.read(move |snapshot, scope| snapshot.memory(scope, id)).await
    }

    /// Returns the only memory whose id begins or ends with `part`: at least 4 of its hexadecimal digits, with or
    /// without `mem_` and hyphens. Ids that were created within the same minute begin alike; their last digits differ.
    ///
    /// Errors: `NotFound`; `InvalidInput` if `part` is not part of an id, or if several ids begin or end with it.
    pub async fn find(&self, part: &str) -> Result<Memory> {
        let (bounds, end) = bounds_of(part)?;
        self.read(move |snapshot, scope| {
            let mut found = snapshot.memories_between(scope, bounds)?;
            found.extend(snapshot.memories_ending(scope, &end)?);
            found.sort_unstable();
            found.dedup();
            match found[..] {
                [] => Err(Error::not_found("this user has no such memory")),
                [id] => snapshot.memory(scope, id),
                _ => Err(Error::invalid(
                    "several memories have ids that begin or end like this; give more digits",
                )),
            }
        })
        .await
    }

    /// Returns the memory that was saved with this caller's id.
    pub async fn by_caller_id(&self, caller_id: &str) -> Result<Memory> {
        let caller_id = caller_id.to_owned();
        self.read(move |snapshot, scope| snapshot.memory_by_caller_id(scope, &caller_id)).await
    }

    /// Returns a page of the memories that pass a filter, newest first: at most `limit` of them (1 to 1,000) after the
    /// memory `after`, the last one seen; `None` starts at the newest. Damaged memories are left out;
    /// [`doctor`](crate::Thermocline::doctor) reports where they are.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased in the meantime.
    pub async fn list(
        &self,
        filter: MemoryFilter,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Vec<Memory>> {
        filter.check()?;
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.memories(scope, &filter, after, limit)).await
    }

    /// Changes the fields that the edit sets, and what follows from them: a new content without a new summary removes the
    /// old summary, entities that the old text named become those of the new text, a volatility that was the default of the
    /// old information type becomes the default of the new type, and the frequency falls to what trust and volatility allow.
    /// An edit that changes nothing does not raise the revision.
    ///
    /// Origin and trust stay, unless so little of the text is left (less than two fifths of its runs of at most five words)
    /// that the text becomes the editor's. If the user changes any of the words (title, content, summary, steps) that a
    /// person approved, these become the user's. Nobody else can change a memory that is trusted more than they are.
    ///
    /// Errors: `InvalidInput`; `NotFound`; `Conflict` (the memory has another revision than
    /// [expected](Edit::expected_revision); it no longer holds; it is trusted more, as above; another memory has the slot,
    /// or says the same, even if it is in quarantine; the memory's trust or volatility does not allow the frequency).
    pub async fn edit(&self, id: MemoryId, edit: Edit) -> Result<Memory> {
        edit.check()?;
        let edit = Edit { origin: edit.origin.or(Some(self.by)), ..edit };
        let bytes = edit.content.as_ref().map_or(0, String::len);
        let scope = self.scope;
        self.store.write_sized(bytes, move |tx| tx.edit_memory(&scope, id, &edit)).await
    }

    /// Pins a memory: it does not fade, and no rule archives it.
    pub async fn pin(&self, id: MemoryId) -> Result<Memory> {
        self.edit(id, Edit::default().pinned(true)).await
    }

    /// Unpins a memory: it can fade again.
    pub async fn unpin(&self, id: MemoryId) -> Result<Memory> {
        self.edit(id, Edit::default().pinned(false)).await
    }

    /// Saves a memory that takes the place of another one, which is kept as superseded. The new memory's version is one
    /// higher. Project, task type and importance are inherited unless the new memory states them, and so is the slot if
    /// kind and project are the same. If the new memory may not take the place, as [`save`](Self::save) describes, it
    /// waits until a person decides.
    ///
    /// Errors: those of [`save`](Self::save); `NotFound` for the old memory; `InvalidInput` if the new one says the
    /// same as the old; `Conflict` if the old memory no longer holds, if a third memory has the slot, or if a tool or a
    /// document contradicts a memory that is trusted more.
    pub async fn supersede(&self, old: MemoryId, memory: NewMemory) -> Result<Saved> {
        let scope = self.scope;
        let (bytes, memory) = saving::measured(&self.store, Owner::Known(scope), memory).await?;
        self.store.write_sized(bytes, move |tx| tx.supersede_memory(&scope, old, &memory)).await
    }

    /// Supersedes a memory like [`supersede`](Self::supersede), by one that already exists. If the handle acts for the user,
    /// the new one takes the place, whatever the origins of the two; their trust does not change. If the new one may not
    /// take the place, both stay as they are, but count as contested until a person decides.
    ///
    /// Errors: `NotFound`; `InvalidInput` if both are the same memory; `Conflict` if one of them no longer holds, if a third
    /// memory has the slot or says the same, or if a tool or a document asks and one of the two is trusted more.
    pub async fn supersede_by(&self, old: MemoryId, new: MemoryId) -> Result<Saved> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.supersede_memory_by(&scope, (old, new), by)).await
    }

    /// Undoes the newest operation on a memory (an edit, a change of frequency, status or trust, a supersession, a merge, a
    /// use that rated it),
    /// leaving out those that are undone already. The operation is undone in all memories that it changed, or in none.
    /// Repeated calls go further back, because an undo itself is not undone. Checks are facts, and
    /// stay. A use that is undone stays as a report that counts nothing.
    ///
    /// Errors: `NotFound`; `Conflict` if nothing can be undone, or if something prevents it: a later change of a
    /// memory, another memory that now has the slot or says the same, an earlier text that is no longer kept or is in
    /// quarantine, or a change by somebody who is trusted more. The error names the memory.
    pub async fn undo(&self, id: MemoryId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.undo_memory(&scope, id, by)).await
    }

    /// Forgets a memory: it is kept, but appears in no recall and by default in no list. [`undo`](Self::undo) restores
    /// it, and so does a [`save`](Self::save) of the same memory by somebody who is trusted at least as much.
    ///
    /// Errors: `NotFound`; `Conflict` if a tool or a document asks and the memory is trusted more.
    pub async fn forget(&self, id: MemoryId) -> Result<Forgotten> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.forget_memory(&scope, id, by)).await
    }

    /// Forgets all memories that pass a filter, as one operation; [`list`](Self::list) shows them beforehand. If the filter
    /// names a project, only memories filed under it are forgotten, as with [`project_alone`](MemoryFilter::project_alone).
    /// A handle that acts for a tool or a document leaves alone the memories that are trusted more than that origin. If the
    /// call is interrupted, some memories are forgotten, the newest first.
    ///
    /// Errors: `InvalidInput`.
    pub async fn forget_all(&self, filter: MemoryFilter) -> Result<Forgotten> {
        filter.check()?;
        let filter = filter.project_alone();
        let (scope, by) = (self.scope, self.by);
        let mut forgotten = Forgotten { group: None, memories: Vec::new() };
        let mut next = Some(MemoryNo(i64::MAX));
        while let Some(before) = next {
            let (sought, group) = (FilterParams::of(&filter), forgotten.group);
            let forgetting =
                self.store.write(move |tx| tx.forget_some_memories(&scope, &sought, (group, before), by));
            let some = forgetting.await?;
            if !some.memories.is_empty() {
                forgotten.group = Some(some.group);
                forgotten.memories.extend(some.memories);
            }
            next = some.next;
        }
        Ok(forgotten)
    }

    /// Erases a memory from the bytes of the file and its log, with its history, edges, episodes, words and vectors, what
    /// jobs derived from it, and all of the user's receipts, because a query may repeat the memory. A hash of its random id
    /// remains, so that a vault does not take the memory back from a file that somebody kept. A memory that the erased one
    /// had superseded counts as superseded by the erased one's successor. If the erased one had no successor, that memory
    /// gets back the status that it had before it was superseded, or is archived if its place is taken.
    /// [`User::erase`](crate::User::erase) describes what erasing cannot reach.
    ///
    /// Errors: `NotFound`; `Conflict` if the memory, or something that would go with it, is trusted more than whom the
    /// handle [acts for](Self::by).
    pub async fn erase(&self, id: MemoryId) -> Result<Erased> {
        let (store, scope, by) = (Arc::clone(&self.store), self.scope, self.by);
        let erasing = drive(move || async move {
            let erased = jobs::erase_memory(&store, (scope, by), id).await;
            store.forget(&scope);
            erased
        });
        in_span("erase_memory", (self.scope.user_id, None), erasing).await
    }

    /// Counts a use of a memory, and rates it by its [outcome](crate::Outcome): success raises the memory's confidence,
    /// failure lowers it, and a correction halves it. A use is counted only once if it is identified by the report's [own
    /// id](Use::caller_id) or by the [context](Use::receipt) that showed the memory, even if a turn that
    /// [answers](crate::NewTurn::answering) that context already counted it. A known use is rated by the first report that
    /// says whether it helped; later reports of it change nothing.
    ///
    /// A report counts if whoever reports ([`by`](Self::by)) is trusted at least as far as the memory. Any other report needs
    /// the receipt of a context or a recall that showed the memory, and rates a memory once a day. What does not count is
    /// kept as an episode with the role [`Report`](crate::EpisodeRole::Report).
    ///
    /// A use changes no text and no revision. If it rates the memory, it is a change in the history with the numbers before
    /// and after, which [`undo`](Self::undo) takes back. An archived memory that is used becomes active
    /// again, unless the use did not help, the memory waits for a person, or another memory has its slot or says the
    /// same. A use of a superseded memory counts for that memory, not for its successor.
    ///
    /// Errors: `InvalidInput` (bounds); `NotFound` (the memory, the session, or the receipt, since only the newest
    /// receipts are kept); `Conflict` (the memory is forgotten or in quarantine; the receipt does not list it; the
    /// report's id belongs to something else).
    pub async fn used(&self, id: MemoryId, report: Use) -> Result<Memory> {
        report.check()?;
        if report.receipt_id.is_some() {
            self.store.flush().await?; // Receipts are written after the answer.
        }
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.use_memory(&scope, id, &report, by)).await
    }

    /// Returns the memories that are due to be shown to a person again on a day (UTC), the longest overdue first: at most
    /// `limit` of them (1 to 1,000). These are active memories that matter enough (of frequency `mid` with an importance
    /// above 0.7, or `low` above 0.8), are not stale, have a trust of 2 or more, and are not [switched
    /// off](Edit::resurfacing). A memory is first due a week after it was saved, then a month, a quarter and a year after a
    /// person last [looked at](Self::resurfaced) or [dismissed](Self::dismiss) it; each dismissal doubles the wait.
    ///
    /// Errors: `InvalidInput`.
    pub async fn due(&self, on: NaiveDate, limit: u32) -> Result<Vec<Due>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.due(scope, on, limit)).await
    }

    /// Records that a person looked at a memory again. Counts once a day: an earlier record on the same day stays.
    ///
    /// Errors: `NotFound`; `Conflict` if the memory no longer holds, or if the handle acts for a tool or a document.
    pub async fn resurfaced(&self, id: MemoryId) -> Result<Memory> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.resurface_memory(&scope, id, (ResurfaceResponse::Seen, by))).await
    }

    /// Records that a person does not want to see a memory now. Counts once a day, like
    /// [`resurfaced`](Self::resurfaced). After the third dismissal the memory is not shown again until an
    /// [edit](Edit::resurfacing) switches that back on.
    ///
    /// Errors: `NotFound`; `Conflict` if the memory no longer holds, or if the handle acts for a tool or a document.
    pub async fn dismiss(&self, id: MemoryId) -> Result<Memory> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.resurface_memory(&scope, id, (ResurfaceResponse::Dismissed, by))).await
    }

    /// Returns a page of the reviews, which are questions for a person, oldest first: at most `limit` reviews (1 to
    /// 1,000) after the review `after`, the last one seen; `None` starts at the oldest. Damaged reviews are left out.
    ///
    /// Errors: `InvalidInput`, `NotFound`.
    pub async fn reviews(
        &self,
        filter: ReviewFilter,
        after: Option<ReviewId>,
        limit: u32,
    ) -> Result<Vec<Review>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.reviews(scope, &filter, (after, limit))).await
    }

    /// Returns the review with this id.
    pub async fn review(&self, id: ReviewId) -> Result<Review> {
        self.read(move |snapshot, scope| snapshot.review(scope, id)).await
    }

    /// Decides a review, once. `by` names the person. Jobs and LLMs cannot decide a review, so this handle must act for the
    /// user ([`by`](Self::by) [`Origin::User`]). In the table, *it* is the memory that the review is about, and *the other*
    /// is the one that the review compares it with.
    ///
    /// | the review asks | approved | rejected |
    /// |---|---|---|
    /// | [`Contradiction`](crate::ReviewKind::Contradiction) | the waiting memory takes the place of the other, whatever their trust | the waiting memory is forgotten |
    /// | [`Promote`](crate::ReviewKind::Promote) | it stays forever; if it was the assistant's words, they now count as a person's | it stays as it is |
    /// | [`Flagged`](crate::ReviewKind::Flagged) | it stays as it is | it falls back to `mid` |
    /// | [`Merge`](crate::ReviewKind::Merge) | it takes the place of the other, with the tags and entities of both | both stay as they are |
    /// | [`Check`](crate::ReviewKind::Check) | it passed a person's check, which holds for six months unless the memory has its own validity window | it is forgotten |
    /// | [`Conflict`](crate::ReviewKind::Conflict) | it stays as it is; the text of its file in the vault counts as looked at | the same |
    ///
    /// The resulting changes to memories are in their history, and [`undo`](Self::undo) takes them back, except for a check;
    /// the review stays decided. A job does not open the same review again for at least 30 days. After that, unless it is a
    /// [`Check`](crate::ReviewKind::Check), a job opens it only if a use was rated or a check failed since the decision. A
    /// [`save`](Self::save) does not open a rejected contradiction again within 30 days either.
    ///
    /// Errors: `InvalidInput` (the handle does not act for the user; `by` cannot be a person's name;
    /// [`Decision::Withdrawn`]); `NotFound`; `Conflict` (the review is already decided or withdrawn, or its decision is
    /// no longer possible).
    pub async fn decide(&self, review: ReviewId, decision: Decision, by: &str) -> Result<Decided> {
        let summarizer = self.store.config().summarizer.as_deref().map(Summarizer::name);
        check_person(by, summarizer)?;
        if self.by != Origin::User || !matches!(decision, Decision::Approved | Decision::Rejected) {
            return Err(Error::invalid("only a person can decide a review, by approving or rejecting it"));
        }
        let (scope, by) = (self.scope, by.to_owned());
        self.store.write(move |tx| tx.decide_review(&scope, review, (decision, &by))).await
    }

    /// Adds an edge that states how one memory relates to another. An existing edge of the same type between the two
    /// (in either direction, for symmetric types) is overwritten: fields that are not stated get the values of a new
    /// edge. So stating a [proposed](crate::EdgeStatus::Proposed) edge accepts it, as long as it is not a tool or a
    /// document that states it.
    ///
    /// Errors: `InvalidInput` (bounds; an edge from a memory to itself; [`EdgeType::Supersedes`](crate::EdgeType),
    /// which [`supersede`](Self::supersede) sets); `NotFound`; `Conflict` if one of the memories is forgotten or in
    /// quarantine, or if a tool or a document contradicts a memory that is trusted more, or overwrites an edge by
    /// somebody who is trusted more.
    pub async fn relate(&self, from: MemoryId, edge: NewEdge, to: MemoryId) -> Result<Edge> {
        edge.check()?;
        let scope = self.scope;
        self.store.write(move |tx| tx.relate_memories(&scope, (from, to), &edge)).await
    }

    /// Removes an edge permanently.
    ///
    /// Errors: `NotFound`; `Conflict` if the edge records a supersession (use [`undo`](Self::undo) instead), or if
    /// this handle acts for a tool or a document and the edge was stated by somebody who is trusted more.
    pub async fn unrelate(&self, edge: EdgeId) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.unrelate_memories(&scope, edge, by)).await
    }

    /// Returns the edge with this id.
    pub async fn edge(&self, id: EdgeId) -> Result<Edge> {
        self.read(move |snapshot, scope| snapshot.edge(scope, id)).await
    }

    /// Returns a page of a memory's neighbours over edges in both directions, the strongest edges first, and of equally
    /// strong ones the older first: at most `limit` of them (1 to 1,000) after the edge `after`, the last one seen;
    /// `None` starts at the first. Forgotten, quarantined and damaged memories are left out.
    ///
    /// Errors: `InvalidInput`, `NotFound`.
    pub async fn neighbours(
        &self,
        id: MemoryId,
        after: Option<EdgeId>,
        limit: u32,
    ) -> Result<Vec<Neighbour>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.neighbours(scope, id, (after, limit))).await
    }

    /// Returns a page of a memory's history, newest first: at most `limit` changes (1 to 1,000) before the change
    /// number `before`, the last one seen; `None` starts at the newest.
    ///
    /// Errors: `InvalidInput`, `NotFound`.
    pub async fn history(&self, id: MemoryId, before: Option<u32>, limit: u32) -> Result<Vec<Change>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.memory_changes(scope, id, (before, limit))).await
    }

    /// Returns what a memory was derived from: turns, other memories, calls, imports.
    ///
    /// Errors: `NotFound`.
    pub async fn sources(&self, id: MemoryId) -> Result<Vec<MemorySource>> {
        self.read(move |snapshot, scope| snapshot.memory_sources(scope, id)).await
    }

    /// Returns a page of the tags of the user's active memories, in the order of their folded forms: at most `limit` of
    /// them (1 to 1,000) after the tag `after`, the last one seen, in any spelling; `None` starts at the first.
    ///
    /// Errors: `InvalidInput`.
    pub async fn tags(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.terms(MemoryTermKind::Tag, after, limit).await
    }

    /// Returns a page of the entities of the user's active memories, like [`tags`](Self::tags).
    pub async fn entities(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.terms(MemoryTermKind::Entity, after, limit).await
    }

    async fn terms(&self, kind: MemoryTermKind, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        let (after, limit) = (folded(after.unwrap_or_default()), checked_limit(limit)?);
        self.read(move |snapshot, scope| snapshot.terms(scope, kind, (&after, limit))).await
    }

    /// Records a note. If it repeats a note with the same [`caller_id`](NewNote::caller_id), returns that one.
    ///
    /// Errors: `InvalidInput`; `NotFound` (the note's memory or session); `Conflict` (the caller's id belongs to
    /// another text).
    pub async fn note(&self, note: NewNote) -> Result<Noted> {
        note.check()?;
        let scope = self.scope;
        self.store.write(move |tx| tx.note_episode(&scope, &note)).await
    }

    /// Returns a page of the episodes that pass a filter, newest first: at most `limit` of them (1 to 1,000) after the
    /// episode `after`, the last one seen; `None` starts at the newest. Damaged episodes are left out.
    ///
    /// Errors: `InvalidInput` (limits; a time outside the years 1 to 9999), and `NotFound` if `after` was erased.
    pub async fn episodes(
        &self,
        filter: EpisodeFilter,
        after: Option<EpisodeId>,
        limit: u32,
    ) -> Result<Vec<Episode>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.episodes(scope, &filter, (after, limit))).await
    }

    /// Tends all active memories now, as a job does once a day for each user.
    ///
    /// - A memory that has proved helpful settles one frequency further. A memory that rarely helped or is hardly used falls
    ///   back. An old and unused memory is archived, unless the user or the backend saved it by hand. Where a rule requires
    ///   it, a person is asked. A memory moves at most once a day. All moves are one operation
    ///   ([`undo_group`](Self::undo_group)), with the deciding numbers as reasons.
    /// - Unrated uses older than 7 days are removed, and so are the previous values of all edits of a memory except the
    ///   20 newest.
    /// - If there are 100 or more memories, the job refuses to archive or lower more than half of them, because that
    ///   suggests a clock that jumped. This call does not refuse.
    ///
    /// If the call is interrupted, some memories have moved. With [`TendOptions::dry_run`] it only reports what would
    /// move and why, and writes nothing.
    pub async fn tend(&self, options: TendOptions) -> Result<Tended> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let tending = drive(move || async move { jobs::tend_by_hand(&store, scope, options).await });
        in_span("tend", (self.scope.user_id, None), tending).await
    }

    /// Undoes one operation by its group: the moves of a tend, a quarantine, a merge, or anything else that
    /// [`undo`](Self::undo) undoes. It is undone in all memories that it changed, or in none.
    ///
    /// Errors: `NotFound`; `Conflict` if the operation is already undone or cannot be undone, or if something prevents
    /// it, as for [`undo`](Self::undo).
    pub async fn undo_group(&self, group: GroupId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.undo_memory_group(&scope, group, by)).await
    }

    /// Hides a source and everything that jobs made of it or that tools, documents and the assistant saved from it, directly
    /// or through other memories, as one operation; except what a person approved. Quarantined memories are in no recall
    /// and by default in no list, and no other memory can be given the same text: neither case, accents, punctuation,
    /// blanks and invisible characters nor another kind or project make it another one. What the user or the backend saved
    /// from the source stays, but from then on, unless a person approved it, it is trusted like a document's words and
    /// settles no further than those. As long as something of a turn or a session is hidden, what others save from it is
    /// born hidden, as part of this operation. A memory that a hidden one had superseded gets
    /// back the status that it had before it was superseded, or is archived if its place is taken. The history stores `why`
    /// (up to 256 bytes), which should repeat nothing that was said.
    ///
    /// Errors: `NotFound`; `InvalidInput`; `Conflict` if the handle acts for a tool or a document.
    pub async fn quarantine(&self, source: QuarantineSource, why: &str) -> Result<Quarantined> {
        check_name("reason", Some(why).filter(|why| !why.is_empty()))?;
        let (scope, by, why) = (self.scope, self.by, why.to_owned());
        self.store.write(move |tx| tx.quarantine_source(&scope, source, &why, by)).await
    }

    /// Lifts a quarantine: undoes it in all memories that it changed, or in none.
    ///
    /// Errors: `NotFound`; `Conflict` for a group that is not a quarantine, and in the cases of [`undo`](Self::undo).
    pub async fn lift(&self, group: GroupId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.lift_quarantine(&scope, group, by)).await
    }

    /// Saves a memory that takes the place of 2 to 16 others. It is derived from them: it is trusted no more than the least
    /// trusted of them, and unless somebody has confirmed it since, it is erased with any of them, after which the others
    /// hold again. If it states no project or task type, it gets the one that all of the others share, if there is one; the
    /// same goes for the slot if all have its kind and project. If it states no importance, it gets the highest of theirs.
    ///
    /// Errors: those of [`save`](Self::save); `InvalidInput` for another number of memories, or if one is named twice;
    /// `Conflict` if one of them no longer holds, if the caller's id is in use, if another memory says the same or has
    /// the slot, or if one of them is trusted more than the new memory, unless the handle acts for the
    /// [user](Self::by).
    pub async fn merge(&self, memories: Vec<MemoryId>, into: NewMemory) -> Result<Merged> {
        let by = self.by;
        let scope = self.scope;
        let (bytes, memory) = saving::measured(&self.store, Owner::Known(scope), into).await?;
        self.store.write_sized(bytes, move |tx| tx.merge_memories(&scope, &memories, memory, by)).await
    }

    /// Returns what matters most as a text with a token limit (`CORE.md`): five sections of at most 15 memories by default,
    /// pinned ones first, then by how much each still matters. It leaves out what a tool or a document says, memories that
    /// have faded or are contested, hidden, archived or bound to a session, and, unless they are pinned, problems, errors
    /// and general memories. The same file, moment and options give the same bytes.
    ///
    /// Errors: `InvalidInput` (limits).
    pub async fn core(&self, options: CoreOptions) -> Result<Core> {
        options.check()?;
        let tokenizer = self.store.config().tokenizer;
        self.read(move |snapshot, scope| snapshot.core(scope, &options, tokenizer)).await
    }

    /// Returns patterns across the active memories that are not a tool's or a document's words, as a text
    /// (`REFLECTION.md`): pairs of tags, tags of several projects, what is used most, insights, proposed merges.
    pub async fn reflection(&self) -> Result<String> {
        self.read(|snapshot, scope| snapshot.reflection(scope)).await
    }

    /// Finds memories that are alike by their vectors, and proposes what belongs together: at most 64 edges of the type
    /// `similar_to` with the status [proposed](crate::EdgeStatus::Proposed) (for a cosine of at least 0.80 and at least two
    /// tags or entities in common), and at most 32 reviews that ask whether two memories of one kind are the same (for a
    /// cosine of at least 0.92). Of the newest 2,000 active memories that are not a tool's or a document's words, it
    /// compares those that are fresh and not contested. It changes no memory, and proposes nothing that is already asked or
    /// known. An episode notes the reflection.
    pub async fn reflect(&self) -> Result<Reflected> {
        let space =
            self.store.config().embedders.first().map_or_else(|| BuiltIn::default().space(), |it| it.space());
        let found = self.read(move |snapshot, scope| snapshot.likes(scope, &space)).await?;
        let scope = self.scope;
        self.store.write(move |tx| tx.propose(&scope, &found)).await
    }

    /// Opens a review about a memory that was changed both here and in its file.
    #[cfg(feature = "files")]
    pub(super) async fn ask_of_conflict(&self, id: MemoryId) -> Result<ReviewId> {
        let scope = self.scope;
        self.store.write(move |tx| tx.ask_of_conflict(&scope, id)).await
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot<'_>, &Scope) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || read(&store.snapshot()?, &scope)).await
    }
}

/// The first and the last id of a range.
type Bounds = ([u8; 16], [u8; 16]);

/// Returns the range of ids that begin with `part`, and the digits of `part` in lower case.
fn bounds_of(part: &str) -> Result<(Bounds, String)> {
    let digits: String = part.strip_prefix("mem_").unwrap_or(part).replace('-', "");
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || !(LEAST_DIGITS..=DIGITS).contains(&digits.len()) {
        return Err(Error::invalid(format!(
            "a memory's id is mem_ and {DIGITS} hexadecimal digits; give its first or last {LEAST_DIGITS} \
             or more"
        )));
    }
    let filled = |with: &str| {
        let all = format!("{digits}{}", with.repeat(DIGITS - digits.len()));
        u128::from_str_radix(&all, 16).expect("they are 32 hexadecimal digits").to_be_bytes()
    };
    Ok(((filled("0"), filled("f")), digits.to_ascii_lowercase()))
}
