//! One user's memories: what is known in addition to what was said.

use std::sync::Arc;

use chrono::NaiveDate;

use crate::{
    compress::Summarizer,
    embed::{BuiltIn, Embedder},
    error::{Error, Result},
    event::in_span,
    handles::{drive, off_thread, open::Open},
    jobs,
    memory::{beginning::Finder, deciding::check_person, terms::folded},
    model::{
        change::{Change, Undone},
        edge::{Edge, Neighbour, NewEdge},
        episode::{Episode, EpisodeFilter, NewNote, Use},
        ids::{EdgeId, EpisodeId, GroupId, MemoryId, ReviewId},
        instant,
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
            trust::Trust,
        },
        page::checked_limit,
        place::MemoryNo,
        review::{Decided, Decision, Review, ReviewFilter},
        turn::Origin,
    },
    store::{
        acts::{
            erased::Erased,
            memories::{measured::MeasuredMemory, resurface::ResurfaceResponse},
        },
        rows::memories::{lists::FilterParams, terms::MemoryTermKind},
        scope::Scope,
        snapshot::Snapshot,
    },
    text::measure::check_name,
};

/// The fewest hexadecimal digits of an id that find a memory.
const LEAST_DIGITS: usize = 4;
/// The digits of a UUID.
const DIGITS: usize = 32;

/// What a user knows in addition to what was said. Nothing reached through it belongs to anybody else: another user's id is
/// not found.
///
/// Changes to a memory are in its [`history`](Self::history) and can be undone; only [`erase`](Self::erase) removes bytes.
/// Every write returns once it is durable.
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

    /// The same memories, acting for somebody else: the history records who edits, supersedes, forgets and undoes. Default:
    /// [`Origin::Assistant`]. Whose words a memory has is set by [`NewMemory::origin`] and [`Edit::origin`].
    #[must_use]
    pub fn by(mut self, origin: Origin) -> Self {
        self.by = origin;
        self
    }

    /// Saves a memory, once. A memory that is already known gets the tags of both and whatever it lacked (slot, summary,
    /// sources, caller's id, pin, ...). Its origin becomes that of the new save if that is trusted more; anything else that
    /// was stated is listed in [`Saved::not_taken`]. An archived memory holds again, and so does a forgotten one, unless it
    /// is trusted more. If another text holds the same [slot](NewMemory::goal_signature), the new memory takes its place if
    /// it is trusted at least as much (the user's words give way only to the user's); otherwise it waits, archived, for a
    /// person. The [outcome](Saved::outcome) says which.
    ///
    /// Blanks at the ends of title and content are dropped; slots are compared and stored without case, as tags are. If a
    /// tool or a document said the text in the memory's [session](NewMemory::session) (three fifths of its runs of five
    /// words, among the newest 64 turns) and the user did not, it counts as theirs, whoever saves it. With a
    /// [`caller_id`](NewMemory::caller_id) a repeated save returns what was saved first.
    ///
    /// Errors: `InvalidInput` (bounds; a quote that does not occur in its turn); `NotFound` (one of its turns or its
    /// session); `Conflict` (the caller's id belongs to another text; the same memory is in quarantine).
    pub async fn save(&self, memory: NewMemory) -> Result<Saved> {
        in_span("save", (self.scope.user_id, None), self.save_one(memory)).await
    }

    async fn save_one(&self, memory: NewMemory) -> Result<Saved> {
        let (scope, bytes, memory) = self.measured(memory).await?;
        self.store.write_sized(bytes, move |tx| tx.save_memory(&scope, &memory)).await
    }

    /// What the writer needs for a memory, with the turns that it comes from.
    async fn measured(&self, memory: NewMemory) -> Result<(Scope, usize, MeasuredMemory)> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let bytes = memory.title.len() + memory.content.len();
        let measured = off_thread(move || {
            let mut memory = memory;
            memory.check()?;
            if memory.birth.session_id.is_some() && Trust::of(memory.origin) > Trust::Foreign {
                let foreign = store.snapshot()?.copied_from(&scope, &memory)?;
                memory.origin = foreign.unwrap_or(memory.origin);
            }
            let sources = match memory.sources[..] {
                [] => Vec::new(),
                _ => store.snapshot()?.sources_of(&scope, &memory)?,
            };
            MeasuredMemory::of(memory, sources, (Finder::Hand, "caller"))
        })
        .await?;
        Ok((scope, bytes, measured))
    }

    /// The memory with this id, whatever its status.
    pub async fn get(&self, id: MemoryId) -> Result<Memory> {
        self.read(move |snapshot, scope| snapshot.memory(scope, id)).await
    }

    /// The one memory whose id begins or ends with this: at least 4 of its hexadecimal digits, with or without `mem_` and
    /// hyphens. Ids made within the same minute begin alike; their last digits differ.
    ///
    /// Errors: `NotFound`; `InvalidInput` if it is not part of an id, or if several ids begin or end with it.
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

    /// The memory that was saved with this caller's id.
    pub async fn by_caller_id(&self, caller_id: &str) -> Result<Memory> {
        let caller_id = caller_id.to_owned();
        self.read(move |snapshot, scope| snapshot.memory_by_caller_id(scope, &caller_id)).await
    }

    /// A page of the memories that pass a filter, newest first: at most `limit` of them (1 to 1,000) that were saved before
    /// `after`, the last one seen; `None` starts at the newest. Damaged memories are left out;
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

    /// Changes what the edit states, and nothing else; but if the content changes and the summary is not restated, the old
    /// summary is removed. Origin and trust stay, unless so little of the text is left (less than two fifths of its runs of
    /// five words) that it becomes the editor's. An editor trusted less than the memory cannot change its slot, kind or
    /// project, and if they change any of its words (title, content, summary, steps), the words become theirs. A tool or a
    /// document cannot change a memory that is trusted more at all. An edit that changes nothing does not raise the
    /// revision.
    ///
    /// Errors: `InvalidInput`; `NotFound`; `Conflict` (another revision than [expected](Edit::expected_revision); the memory
    /// no longer holds; it is trusted more, as above; another memory says the same or has the slot; its trust or volatility
    /// does not allow the frequency).
    pub async fn edit(&self, id: MemoryId, edit: Edit) -> Result<Memory> {
        edit.check()?;
        let edit = Edit { origin: edit.origin.or(Some(self.by)), ..edit };
        let bytes = edit.content.as_ref().map_or(0, String::len);
        let scope = self.scope;
        self.store.write_sized(bytes, move |tx| tx.edit_memory(&scope, id, &edit)).await
    }

    /// Keeps a memory from fading and from being archived by a rule.
    pub async fn pin(&self, id: MemoryId) -> Result<Memory> {
        self.edit(id, Edit::default().pinned(true)).await
    }

    /// Lets a memory fade again.
    pub async fn unpin(&self, id: MemoryId) -> Result<Memory> {
        self.edit(id, Edit::default().pinned(false)).await
    }

    /// Saves a memory in the place of another, which is kept as superseded. The version rises by one; project, task type,
    /// importance and, if the kind is the same, slot are inherited unless stated. A memory that may not take the place, as
    /// [`save`](Self::save) describes, waits for a person.
    ///
    /// Errors: those of [`save`](Self::save); `Conflict` if the old memory no longer holds, or a tool or a document
    /// contradicts one that is trusted more.
    pub async fn supersede(&self, old: MemoryId, memory: NewMemory) -> Result<Saved> {
        let (scope, bytes, memory) = self.measured(memory).await?;
        self.store.write_sized(bytes, move |tx| tx.supersede_memory(&scope, old, &memory)).await
    }

    /// Like [`supersede`](Self::supersede), with a memory that already exists. The user decides which of the two holds,
    /// whoever said them; their trust does not change.
    ///
    /// Errors: `NotFound`; `InvalidInput` if both are the same memory; `Conflict` if one of them no longer holds, or if a
    /// tool or a document asks and one is trusted more.
    pub async fn supersede_by(&self, old: MemoryId, new: MemoryId) -> Result<Saved> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.supersede_memory_by(&scope, (old, new), by)).await
    }

    /// Takes back the newest operation on a memory that is not undone yet, in all memories it changed or in none: an edit, a
    /// change of frequency or status, a supersession, a merge. Repeated calls go further back: an undo itself is not undone.
    /// Uses and checks are facts, and stay.
    ///
    /// Errors: `NotFound`; `Conflict` if nothing can be undone, or something prevents it: a later change of another memory,
    /// or a memory that now has the slot or says the same. The error names it.
    pub async fn undo(&self, id: MemoryId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.undo_memory(&scope, id, by)).await
    }

    /// Forgets a memory: it is kept, but appears in no recall and by default in no list. [`undo`](Self::undo) brings it
    /// back, and so does [`save`](Self::save)ing the same again by somebody trusted as much.
    ///
    /// Errors: `NotFound`; `Conflict` if a tool or a document asks and the memory is trusted more.
    pub async fn forget(&self, id: MemoryId) -> Result<Forgotten> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.forget_memory(&scope, id, by)).await
    }

    /// Forgets all memories that pass a filter, as one operation; use [`list`](Self::list) to see them beforehand. With a
    /// project, only memories filed under it are forgotten, as with [`project_alone`](MemoryFilter::project_alone); a tool
    /// or a document does not forget what is trusted more. If interrupted, some are forgotten, the newest first.
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

    /// Erases a memory from the bytes of the file and its log, with its history, edges, episodes, words and vectors, with
    /// what jobs made of it, and with all of the user's receipts, since a query may repeat it. A hash of its random id
    /// remains, so that a file somebody kept of it is refused. The memory it had superseded holds again, or is archived if
    /// its place is taken. What erasing cannot reach is described at [`User::erase`](crate::User::erase).
    pub async fn erase(&self, id: MemoryId) -> Result<Erased> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let erasing = drive(move || async move {
            let erased = jobs::erase_memory(&store, scope, id).await;
            store.forget(&scope);
            erased
        });
        in_span("erase_memory", (self.scope.user_id, None), erasing).await
    }

    /// Counts a use of a memory and rates it by its [outcome](crate::Outcome): success raises its confidence, failure lowers
    /// it, and a correction halves it. A use counts once: by the report's [own id](Use::caller_id), and by the
    /// [context](Use::receipt) that showed the memory, even if a turn that [answers](crate::NewTurn::answering) that context
    /// already counted it. A known use that is still unrated is rated by the first report that does so; any other report of
    /// it changes nothing.
    ///
    /// A use changes no text and no revision, and cannot be undone. But an archived memory that is used holds again, unless
    /// the use did not help, the memory waits for a person, or another memory has its slot or says the same. A use of a
    /// superseded memory counts for that memory, not for its successor.
    ///
    /// Errors: `InvalidInput` (bounds); `NotFound` (the memory, the session, the receipt; only the newest receipts are
    /// kept); `Conflict` (it is forgotten or in quarantine; the report's id belongs to something else).
    pub async fn used(&self, id: MemoryId, report: Use) -> Result<Memory> {
        report.check()?;
        if report.receipt_id.is_some() {
            self.store.flush().await?; // Receipts are written after the answer.
        }
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.use_memory(&scope, id, &report, by)).await
    }

    /// The memories due to be shown to a person again on a day (UTC), the longest overdue first: at most `limit` of them (1
    /// to 1,000). Only active memories that matter enough (`mid` above an importance of 0.7, `low` above 0.8), are not
    /// stale, have a trust of 2 or more, and are not switched off. The first time is a week after the memory was saved, then
    /// a month, a quarter and a year after it was [looked at](Self::resurfaced); each dismissal doubles the wait.
    ///
    /// Errors: `InvalidInput`.
    pub async fn due(&self, on: NaiveDate, limit: u32) -> Result<Vec<Due>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.due(scope, on, limit)).await
    }

    /// Records that a person looked at a memory again. Once a day: what was recorded earlier on the same day stays.
    ///
    /// Errors: `NotFound`; `Conflict` if it no longer holds.
    pub async fn resurfaced(&self, id: MemoryId) -> Result<Memory> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.resurface_memory(&scope, id, (ResurfaceResponse::Seen, by))).await
    }

    /// Records that a person does not want to see a memory now; once a day, as [`resurfaced`](Self::resurfaced). After the
    /// third dismissal it is not shown again until an [edit](Edit::resurfacing) switches that back on.
    ///
    /// Errors: `NotFound`; `Conflict` if it no longer holds.
    pub async fn dismiss(&self, id: MemoryId) -> Result<Memory> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.resurface_memory(&scope, id, (ResurfaceResponse::Dismissed, by))).await
    }

    /// A page of the questions that wait for a person, oldest first: at most `limit` reviews (1 to 1,000) after `after`, the
    /// last one seen. Damaged reviews are left out.
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

    /// The review with this id.
    pub async fn review(&self, id: ReviewId) -> Result<Review> {
        self.read(move |snapshot, scope| snapshot.review(scope, id)).await
    }

    /// Decides a review, once. `by` names the person. Jobs and LLMs cannot decide, so this handle must act for the user
    /// ([`by`](Self::by) [`Origin::User`]).
    ///
    /// | the review asks | approved | rejected |
    /// |---|---|---|
    /// | [`Contradiction`](crate::ReviewKind::Contradiction) | the waiting memory takes the place of the other, whatever their trust | the waiting memory is forgotten |
    /// | [`Promote`](crate::ReviewKind::Promote) | it stays forever; if it was the assistant's words, they now count as a person's | it stays as it is |
    /// | [`Flagged`](crate::ReviewKind::Flagged) | it stays as it is | it falls back to `mid` |
    /// | [`Merge`](crate::ReviewKind::Merge) | it takes the place of the other, with the tags of both | both stay as they are |
    /// | [`Check`](crate::ReviewKind::Check) | it passed a person's check, which holds for six months unless it has a window | it is forgotten |
    /// | [`Conflict`](crate::ReviewKind::Conflict) | it stays as it is; its file's text counts as looked at | the same |
    ///
    /// The resulting changes to memories are in their history, and [`undo`](Self::undo) takes them back, except for a check;
    /// the review stays decided. A job does not ask the same again for at least 30 days, and only if a use was rated or a
    /// check failed since then.
    ///
    /// Errors: `InvalidInput` (not acting for the user; a name that cannot be a person's; [`Decision::Withdrawn`]);
    /// `NotFound`; `Conflict` (already decided or withdrawn, or no longer possible); `Unsupported` (other kinds).
    pub async fn decide(&self, review: ReviewId, decision: Decision, by: &str) -> Result<Decided> {
        let summarizer = self.store.config().summarizer.as_deref().map(Summarizer::name);
        check_person(by, summarizer)?;
        if self.by != Origin::User || !matches!(decision, Decision::Approved | Decision::Rejected) {
            return Err(Error::invalid("only a person can decide a review, by approving or rejecting it"));
        }
        let (scope, by) = (self.scope, by.to_owned());
        self.store.write(move |tx| tx.decide_review(&scope, review, (decision, &by))).await
    }

    /// States how one memory relates to another. An existing edge of this type between the two (in either direction, for
    /// types that are symmetric) is overwritten: what is not stated now is as in a new edge.
    ///
    /// Errors: `InvalidInput` (bounds; an edge from a memory to itself; [`EdgeType::Supersedes`](crate::EdgeType), which
    /// [`supersede`](Self::supersede) sets); `NotFound`; `Conflict` if one of them is forgotten or in quarantine, or if a
    /// tool or a document contradicts a memory that is trusted more, or overwrites an edge by somebody who is.
    pub async fn relate(&self, from: MemoryId, edge: NewEdge, to: MemoryId) -> Result<Edge> {
        edge.check()?;
        let scope = self.scope;
        self.store.write(move |tx| tx.relate_memories(&scope, (from, to), &edge)).await
    }

    /// Removes an edge permanently.
    ///
    /// Errors: `NotFound`; `Conflict` for an edge that records a supersession, which [`undo`](Self::undo) takes back, and if
    /// a tool or a document asks and the edge is by somebody trusted more.
    pub async fn unrelate(&self, edge: EdgeId) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.unrelate_memories(&scope, edge, by)).await
    }

    /// The edge with this id.
    pub async fn edge(&self, id: EdgeId) -> Result<Edge> {
        self.read(move |snapshot, scope| snapshot.edge(scope, id)).await
    }

    /// A page of a memory's neighbours, whichever way the edges lead, the strongest first, and the older first among equals:
    /// at most `limit` of them (1 to 1,000) after the edge `after`, the last one seen. Forgotten, quarantined and damaged
    /// memories are left out.
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

    /// A page of a memory's history, newest first: at most `limit` changes (1 to 1,000) before the change number `before`,
    /// the last one seen.
    ///
    /// Errors: `InvalidInput`, `NotFound`.
    pub async fn history(&self, id: MemoryId, before: Option<u32>, limit: u32) -> Result<Vec<Change>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.memory_changes(scope, id, (before, limit))).await
    }

    /// What a memory was made from: turns, other memories, calls.
    ///
    /// Errors: `NotFound`.
    pub async fn sources(&self, id: MemoryId) -> Result<Vec<MemorySource>> {
        self.read(move |snapshot, scope| snapshot.memory_sources(scope, id)).await
    }

    /// A page of the tags of the user's active memories, in the order of their folded forms: at most `limit` of them (1 to
    /// 1,000) after `after`, the last one seen, in any spelling.
    ///
    /// Errors: `InvalidInput`.
    pub async fn tags(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.terms(MemoryTermKind::Tag, after, limit).await
    }

    /// Like [`tags`](Self::tags), for the entities of the memories.
    pub async fn entities(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.terms(MemoryTermKind::Entity, after, limit).await
    }

    async fn terms(&self, kind: MemoryTermKind, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        let (after, limit) = (folded(after.unwrap_or_default()), checked_limit(limit)?);
        self.read(move |snapshot, scope| snapshot.terms(scope, kind, (&after, limit))).await
    }

    /// Records a note. With a [`caller_id`](NewNote::caller_id) a repeated note returns the existing one.
    ///
    /// Errors: `InvalidInput`; `NotFound` (its memory or session); `Conflict` (the caller's id belongs to another text).
    pub async fn note(&self, note: NewNote) -> Result<Episode> {
        note.check()?;
        let scope = self.scope;
        self.store.write(move |tx| tx.note_episode(&scope, &note)).await
    }

    /// A page of what happened, newest first: at most `limit` episodes (1 to 1,000) after `after`, the last one seen.
    /// Damaged episodes are left out.
    ///
    /// Errors: `InvalidInput` (limits; a time outside the years 1 to 9999), and `NotFound` if `after` was erased.
    pub async fn episodes(
        &self,
        filter: EpisodeFilter,
        after: Option<EpisodeId>,
        limit: u32,
    ) -> Result<Vec<Episode>> {
        let limit = checked_limit(limit)?;
        for at in [filter.since, filter.until].into_iter().flatten() {
            instant::checked(at)?;
        }
        self.read(move |snapshot, scope| snapshot.episodes(scope, &filter, (after, limit))).await
    }

    /// Looks at all active memories now, as a job does once a day for each user. Memories that have proved helpful settle
    /// one frequency further, those that have not fall back, old and unused ones are archived, and a person is asked where a
    /// rule requires it. At most one move per memory and day; all moves are one operation
    /// ([`undo_group`](Self::undo_group)), with the deciding numbers as reasons. Unrated uses older than 7 days are removed,
    /// and so are previous values of all but a memory's 20 newest edits. The job refuses to archive more than half of 100 or
    /// more memories, since that looks like a clock that jumped; this call does not refuse. A second call on the same day
    /// changes nothing.
    ///
    /// If interrupted, some memories have moved. With [`TendOptions::dry_run`] it reports what would move and why, and
    /// writes nothing.
    pub async fn tend(&self, options: TendOptions) -> Result<Tended> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let tending = drive(move || async move { jobs::tend_by_hand(&store, scope, options).await });
        in_span("tend", (self.scope.user_id, None), tending).await
    }

    /// Takes back one operation by its group, in all memories it changed or in none: the moves of a tend, a quarantine, a
    /// merge, or anything [`undo`](Self::undo) takes back.
    ///
    /// Errors: `NotFound`; `Conflict` if it is already undone, or as [`undo`](Self::undo) says: a later change to any of the
    /// memories is named.
    pub async fn undo_group(&self, group: GroupId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.undo_memory_group(&scope, group, by)).await
    }

    /// Hides a source and everything derived from it: what jobs made of it, and what they made of that, transitively, as one
    /// operation. Quarantined memories are in no list by default, in no recall, and may not be saved again. What somebody
    /// saved from the source stays, but from now on it is trusted like a document's words and settles no further than those.
    /// A memory that a hidden one had superseded holds again. `why` is kept in the history: up to 256 bytes, without
    /// anything that was said.
    ///
    /// Errors: `NotFound`; `InvalidInput`.
    pub async fn quarantine(&self, source: QuarantineSource, why: &str) -> Result<Quarantined> {
        check_name("reason", Some(why).filter(|why| !why.is_empty()))?;
        let (scope, by, why) = (self.scope, self.by, why.to_owned());
        self.store.write(move |tx| tx.quarantine_source(&scope, source, &why, by)).await
    }

    /// Takes a quarantine back: everything is as it was before, except the history.
    ///
    /// Errors: `NotFound`; `Conflict` for a group that is not a quarantine, and as [`undo`](Self::undo) says.
    pub async fn lift(&self, group: GroupId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.lift_quarantine(&scope, group, by)).await
    }

    /// Saves a memory that takes the place of 2 to 16 others. It is derived from them: it is trusted no more than the least
    /// trusted of them, and is erased with any of them; the others then hold again. Project, slot, task type and importance
    /// are derived from theirs unless stated.
    ///
    /// Errors: those of [`save`](Self::save); `InvalidInput` for another number of memories, or if one is named twice;
    /// `Conflict` if one of them no longer holds, if another memory says the same or has the slot, or if one of them is
    /// trusted more than the new memory, unless acting for the [user](Self::by).
    pub async fn merge(&self, memories: Vec<MemoryId>, into: NewMemory) -> Result<Merged> {
        let by = self.by;
        let (scope, bytes, memory) = self.measured(into).await?;
        self.store.write_sized(bytes, move |tx| tx.merge_memories(&scope, &memories, memory, by)).await
    }

    /// What matters most, as a text with a token limit (`CORE.md`): five sections of at most 15 memories, pinned ones first,
    /// then by how much each still matters. It leaves out what a tool or a document says, and memories that are contested,
    /// hidden, archived or bound to a session. The same file, moment and options give the same bytes.
    ///
    /// Errors: `InvalidInput` (limits).
    pub async fn core(&self, options: CoreOptions) -> Result<Core> {
        options.check()?;
        let tokenizer = self.store.config().tokenizer;
        self.read(move |snapshot, scope| snapshot.core(scope, &options, tokenizer)).await
    }

    /// Patterns across all memories, as a text (`REFLECTION.md`): pairs of tags, tags of several projects, what is used
    /// most, insights, merges.
    pub async fn reflection(&self) -> Result<String> {
        self.read(|snapshot, scope| snapshot.reflection(scope)).await
    }

    /// Finds memories that are alike by their vectors, and proposes edges `similar_to` that are
    /// [proposed](crate::EdgeStatus::Proposed) (a cosine of 0.80 and two tags or entities in common), and reviews that ask
    /// whether two of a kind are one (0.92). It considers only fresh memories that are trusted and not contested, the newest
    /// 2,000. It writes no text, and proposes nothing that is already asked or known. An episode notes that somebody
    /// reflected.
    pub async fn reflect(&self) -> Result<Reflected> {
        let space =
            self.store.config().embedders.first().map_or_else(|| BuiltIn::default().space(), |it| it.space());
        let found = self.read(move |snapshot, scope| snapshot.likes(scope, &space)).await?;
        let scope = self.scope;
        self.store.write(move |tx| tx.propose(&scope, &found)).await
    }

    /// Asks a person about a memory that was changed both here and in its file.
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

/// The first and last id of a range.
type Bounds = ([u8; 16], [u8; 16]);

/// The range of ids that begin like this, and the digits of `part`.
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
