//! One user's memories: what is known beside what was said.

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

/// The fewest digits of an id by which a memory is found.
const LEAST_DIGITS: usize = 4;
/// The digits of a UUID.
const DIGITS: usize = 32;

/// What a user knows beside what was said. Nothing reached through it belongs to anybody else: another user's id is not
/// found.
///
/// What was done to a memory is its [`history`](Self::history), and can be undone; only [`erase`](Self::erase) takes bytes
/// away. Whatever writes returns when it is durable.
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

    /// The same memories, for somebody else's doing: the history names who edits, supersedes, forgets and undoes. Default:
    /// [`Origin::Assistant`]. Whose words a memory has, [`NewMemory::origin`] and [`Edit::origin`] say.
    #[must_use]
    pub fn by(mut self, origin: Origin) -> Self {
        self.by = origin;
        self
    }

    /// Saves a memory, once. What is known already gets the tags of both, what it lacked (slot, summary, sources, caller's
    /// id, pin, ...), and becomes the words of whoever says it now, if that one is trusted further; what else was stated,
    /// [`Saved::not_taken`] names. What was archived holds again, and so does what was forgotten, unless that is trusted
    /// more. Under a [slot](NewMemory::goal_signature) that another text holds, it takes that one's place if it is trusted
    /// at least as far (the user's words give way only to the user's), and else waits, archived, for a person: the
    /// [outcome](Saved::outcome) says which. Blanks at the ends of title and content are left out; slots are compared and
    /// kept as tags are compared, without case. What a tool or a document said in the [session](NewMemory::session) that it is
    /// saved from (three fifths of its runs of five words, among the newest 64 turns) and the user did not say is theirs,
    /// whoever saves it. With a [`caller_id`](NewMemory::caller_id) a repeated save gives what was
    /// saved first.
    ///
    /// Errors: `InvalidInput` (bounds; a quote that does not stand in its turn); `NotFound` (a turn or a session of it);
    /// `Conflict` (the caller's id is that of another text; the same is in quarantine).
    pub async fn save(&self, memory: NewMemory) -> Result<Saved> {
        in_span("save", (self.scope.user_id, None), self.save_one(memory)).await
    }

    async fn save_one(&self, memory: NewMemory) -> Result<Saved> {
        let (scope, bytes, memory) = self.measured(memory).await?;
        self.store.write_sized(bytes, move |tx| tx.save_memory(&scope, &memory)).await
    }

    /// What the writer needs of a memory, with the turns that it comes of.
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

    /// The one memory whose id begins or ends like this: at least 4 of its hexadecimal digits, with or without `mem_` and
    /// hyphens. Ids that were made within a minute begin alike; the last digits tell them apart.
    ///
    /// Errors: `NotFound`; `InvalidInput` for what is no part of an id, and if several begin or end like this.
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
                    "several memories have ids that begin or end like this; say more of it",
                )),
            }
        })
        .await
    }

    /// The memory that was saved with the caller's own id.
    pub async fn by_caller_id(&self, caller_id: &str) -> Result<Memory> {
        let caller_id = caller_id.to_owned();
        self.read(move |snapshot, scope| snapshot.memory_by_caller_id(scope, &caller_id)).await
    }

    /// A page of the memories that a filter lets pass, newest first: at most `limit` of them (1 to 1,000) that were saved
    /// before `after`, the last one seen; `None`: from the newest on. What is damaged is left out;
    /// [`doctor`](crate::Thermocline::doctor) says where.
    ///
    /// Errors: `InvalidInput`, and `NotFound` if `after` was erased meanwhile.
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

    /// Changes what the edit says, and nothing else, but that a summary which is not said anew goes with the content that
    /// it was of. Origin and trust stay, unless so little of the text is left (less than two fifths of its runs of five
    /// words) that it is the editor's. An editor who is trusted less than the memory changes neither its slot nor its kind
    /// nor its project, and has its words (title, content, summary, steps) for its own once it changes any of them; what is
    /// trusted more than a tool or a document, these do not change at all. What changes nothing raises no revision.
    ///
    /// Errors: `InvalidInput`; `NotFound`; `Conflict` (another revision than [expected](Edit::expected_revision); the
    /// memory holds no more; it is trusted more, as said; another one says the same or has the slot; its trust or
    /// volatility does not allow the frequency).
    pub async fn edit(&self, id: MemoryId, edit: Edit) -> Result<Memory> {
        edit.check()?;
        let edit = Edit { origin: edit.origin.or(Some(self.by)), ..edit };
        let bytes = edit.content.as_ref().map_or(0, String::len);
        let scope = self.scope;
        self.store.write_sized(bytes, move |tx| tx.edit_memory(&scope, id, &edit)).await
    }

    /// Keeps a memory from fading, and from being archived by a rule.
    pub async fn pin(&self, id: MemoryId) -> Result<Memory> {
        self.edit(id, Edit::default().pinned(true)).await
    }

    /// Lets a memory fade again.
    pub async fn unpin(&self, id: MemoryId) -> Result<Memory> {
        self.edit(id, Edit::default().pinned(false)).await
    }

    /// Saves a memory in the place of another, which is kept, superseded: one version more; project, sort of task,
    /// importance and, of the same kind, slot are as they were unless they are stated. One that may not take the place, as
    /// [`save`](Self::save) says, waits for a person.
    ///
    /// Errors: those of [`save`](Self::save); `Conflict` if the old one holds no more, or is trusted more than a tool or a
    /// document that says otherwise.
    pub async fn supersede(&self, old: MemoryId, memory: NewMemory) -> Result<Saved> {
        let (scope, bytes, memory) = self.measured(memory).await?;
        self.store.write_sized(bytes, move |tx| tx.supersede_memory(&scope, old, &memory)).await
    }

    /// The same with a memory that is there. The user's word decides which of the two holds, whoever said them; how far they
    /// are trusted stays.
    ///
    /// Errors: `NotFound`; `InvalidInput` for one and the same; `Conflict` if one of them holds no more, or is trusted
    /// more than a tool or a document that asks.
    pub async fn supersede_by(&self, old: MemoryId, new: MemoryId) -> Result<Saved> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.supersede_memory_by(&scope, (old, new), by)).await
    }

    /// Takes back the newest operation on a memory that is not undone, in all the memories that it changed, or in none: an
    /// edit, a change of frequency or status, what took whose place, a merge. Called again, it goes further back: what an
    /// undo did is not undone. Uses and checks are facts, and stay.
    ///
    /// Errors: `NotFound`; `Conflict` if nothing can be undone, or something stands in its way: a later change of another
    /// memory, or one that has the slot or says the same by now. It is named.
    pub async fn undo(&self, id: MemoryId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.undo_memory(&scope, id, by)).await
    }

    /// Forgets a memory: it is kept, in no list by default and in no recall. [`undo`](Self::undo) brings it back, and so
    /// does whoever [`save`](Self::save)s the same and is trusted as far.
    ///
    /// Errors: `NotFound`; `Conflict` if a tool or a document asks and the memory is trusted more.
    pub async fn forget(&self, id: MemoryId) -> Result<Forgotten> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.forget_memory(&scope, id, by)).await
    }

    /// Forgets all memories that a filter lets pass, as one operation: [`list`](Self::list) shows before which they are. Of
    /// a project only what is filed under it is forgotten, as with [`project_alone`](MemoryFilter::project_alone); a tool or
    /// a document leaves what is trusted more. Cut short, it has forgotten some, the newest first.
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

    /// Erases a memory out of the bytes of the file and its log, with its history, edges, episodes, words and vectors, with
    /// what jobs made of it, and all of the user's receipts, for a query may repeat it. A hash of its random id is left, by
    /// which a file that somebody kept of it is refused. What it had taken the place of
    /// holds again, or is archived where that place is taken. What erasing cannot reach is said at
    /// [`User::erase`](crate::User::erase).
    pub async fn erase(&self, id: MemoryId) -> Result<Erased> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let erasing = drive(move || async move {
            let erased = jobs::erase_memory(&store, scope, id).await;
            store.forget(&scope);
            erased
        });
        in_span("erase_memory", (self.scope.user_id, None), erasing).await
    }

    /// Counts a use of a memory, and by its [outcome](crate::Outcome) rates it: what helped is believed more, what failed less,
    /// what was corrected half as much. Counted once: by the report's [own id](Use::caller_id), and by the
    /// [context](Use::receipt) that showed the memory, also where a turn that [answers](crate::NewTurn::answering) it has
    /// counted it. A use that is known, and of which nobody said yet whether it helped, is rated by the report that says so;
    /// any other report of it changes nothing.
    ///
    /// Being used changes no text and no revision and is not undone. But an archived memory holds again that was used,
    /// unless it did not help, waits for a person, or another one has its slot or says the same. What was superseded counts
    /// for itself, not for its successor.
    ///
    /// Errors: `InvalidInput` (bounds); `NotFound` (the memory, the session, the receipt; only the newest receipts are
    /// kept); `Conflict` (it is forgotten or in quarantine; the report's id is that of something else).
    pub async fn used(&self, id: MemoryId, report: Use) -> Result<Memory> {
        report.check()?;
        if report.receipt_id.is_some() {
            self.store.flush().await?; // Receipts are written behind the answer.
        }
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.use_memory(&scope, id, &report, by)).await
    }

    /// The memories that are to be shown again to a person on a day (UTC), those first that have been due for longest: at
    /// most `limit` of them (1 to 1,000). Active ones that matter enough (`mid` above an importance of 0.7, `low` above 0.8),
    /// are not stale, of trust 2 and more, and not switched off. The first time a week after it was saved, then a month, a
    /// quarter and a year after it was [looked at](Self::resurfaced); each dismissal doubles the wait.
    ///
    /// Errors: `InvalidInput`.
    pub async fn due(&self, on: NaiveDate, limit: u32) -> Result<Vec<Due>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.due(scope, on, limit)).await
    }

    /// Notes that a person looked at a memory again. Once a day: what was said of it before on the same day stays.
    ///
    /// Errors: `NotFound`; `Conflict` if it holds no more.
    pub async fn resurfaced(&self, id: MemoryId) -> Result<Memory> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.resurface_memory(&scope, id, (ResurfaceResponse::Seen, by))).await
    }

    /// Notes that a person does not want to see a memory now; once a day, as [`resurfaced`](Self::resurfaced). The third
    /// dismissal is the last: it is shown no more, until an [edit](Edit::resurfacing) switches that on again.
    ///
    /// Errors: `NotFound`; `Conflict` if it holds no more.
    pub async fn dismiss(&self, id: MemoryId) -> Result<Memory> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.resurface_memory(&scope, id, (ResurfaceResponse::Dismissed, by))).await
    }

    /// A page of the questions that wait for a person, oldest first: at most `limit` reviews (1 to 1,000) behind `after`, the
    /// last one seen. What is damaged is left out.
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

    /// Decides a review, once. `by` names the person; no job and no LLM decides, so these memories must be for the user's
    /// own doing ([`by`](Self::by) [`Origin::User`]).
    ///
    /// | it asks | approved | rejected |
    /// |---|---|---|
    /// | [`Contradiction`](crate::ReviewKind::Contradiction) | what waits takes the place of the other, whatever their trust | what waits is forgotten |
    /// | [`Promote`](crate::ReviewKind::Promote) | it stays for ever; the assistant's words are a person's by that | it stays as it is |
    /// | [`Flagged`](crate::ReviewKind::Flagged) | it stays as it is | it falls back to `mid` |
    /// | [`Merge`](crate::ReviewKind::Merge) | it takes the place of the other, with the tags of both | both stay as they are |
    /// | [`Check`](crate::ReviewKind::Check) | it passed a person's check, which holds for six months unless it has a window | it is forgotten |
    /// | [`Conflict`](crate::ReviewKind::Conflict) | it says what it says; what its file said is looked at | the same |
    ///
    /// What that changes of memories is in their history, and [`undo`](Self::undo) takes it back, but for a check; the
    /// review stays decided. A job that would ask the same again does so after 30 days at the earliest, and only if a use
    /// was rated or a check failed since.
    ///
    /// Errors: `InvalidInput` (not for the user's doing; a name that is none of a person; [`Decision::Withdrawn`]);
    /// `NotFound`; `Conflict` (it is decided or withdrawn already, or what it asks can no longer be done); `Unsupported`
    /// (other kinds).
    pub async fn decide(&self, review: ReviewId, decision: Decision, by: &str) -> Result<Decided> {
        let summarizer = self.store.config().summarizer.as_deref().map(Summarizer::name);
        check_person(by, summarizer)?;
        if self.by != Origin::User || !matches!(decision, Decision::Approved | Decision::Rejected) {
            return Err(Error::invalid("a person decides a review, and approves or rejects what it asks"));
        }
        let (scope, by) = (self.scope, by.to_owned());
        self.store.write(move |tx| tx.decide_review(&scope, review, (decision, &by))).await
    }

    /// Says how one memory stands to another. What is said already of the two, by an edge of this type (of one that holds
    /// both ways, from either end), is overwritten: what is not said now is as in a new edge.
    ///
    /// Errors: `InvalidInput` (bounds; an edge from a memory to itself; [`EdgeType::Supersedes`](crate::EdgeType), which
    /// [`supersede`](Self::supersede) says); `NotFound`; `Conflict` if one of them is forgotten or in quarantine, or if a tool or a
    /// document contradicts what is trusted more, or overwrites what somebody said who is.
    pub async fn relate(&self, from: MemoryId, edge: NewEdge, to: MemoryId) -> Result<Edge> {
        edge.check()?;
        let scope = self.scope;
        self.store.write(move |tx| tx.relate_memories(&scope, (from, to), &edge)).await
    }

    /// Removes an edge, for good.
    ///
    /// Errors: `NotFound`; `Conflict` for an edge that says what was superseded, which [`undo`](Self::undo) takes back, and
    /// if a tool or a document asks and somebody said so who is trusted more.
    pub async fn unrelate(&self, edge: EdgeId) -> Result<()> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.unrelate_memories(&scope, edge, by)).await
    }

    /// The edge with this id.
    pub async fn edge(&self, id: EdgeId) -> Result<Edge> {
        self.read(move |snapshot, scope| snapshot.edge(scope, id)).await
    }

    /// A page of what a memory stands beside, whichever way the edges lead, the strongest first, of equal ones the older: at
    /// most `limit` of them (1 to 1,000) behind the edge `after`, the last one seen. What is forgotten, in quarantine or
    /// damaged is left out.
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

    /// A page of what was done to a memory, newest first: at most `limit` changes (1 to 1,000) before the one with the
    /// number `before`, the last one seen.
    ///
    /// Errors: `InvalidInput`, `NotFound`.
    pub async fn history(&self, id: MemoryId, before: Option<u32>, limit: u32) -> Result<Vec<Change>> {
        let limit = checked_limit(limit)?;
        self.read(move |snapshot, scope| snapshot.memory_changes(scope, id, (before, limit))).await
    }

    /// What a memory was made of: turns, other memories, calls.
    ///
    /// Errors: `NotFound`.
    pub async fn sources(&self, id: MemoryId) -> Result<Vec<MemorySource>> {
        self.read(move |snapshot, scope| snapshot.memory_sources(scope, id)).await
    }

    /// A page of the tags of the user's active memories, in the order of their folded forms: at most `limit` of them (1 to
    /// 1,000) behind `after`, the last one seen, however it is spelled.
    ///
    /// Errors: `InvalidInput`.
    pub async fn tags(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.terms(MemoryTermKind::Tag, after, limit).await
    }

    /// The same of what they are about.
    pub async fn entities(&self, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        self.terms(MemoryTermKind::Entity, after, limit).await
    }

    async fn terms(&self, kind: MemoryTermKind, after: Option<&str>, limit: u32) -> Result<Vec<TermCount>> {
        let (after, limit) = (folded(after.unwrap_or_default()), checked_limit(limit)?);
        self.read(move |snapshot, scope| snapshot.terms(scope, kind, (&after, limit))).await
    }

    /// Keeps a note of the day. With a [`caller_id`](NewNote::caller_id) a repeated note is the one that is there.
    ///
    /// Errors: `InvalidInput`; `NotFound` (its memory or session); `Conflict` (the caller's id is that of another text).
    pub async fn note(&self, note: NewNote) -> Result<Episode> {
        note.check()?;
        let scope = self.scope;
        self.store.write(move |tx| tx.note_episode(&scope, &note)).await
    }

    /// A page of what happened, newest first: at most `limit` episodes (1 to 1,000) behind `after`, the last one seen. What
    /// is damaged is left out.
    ///
    /// Errors: `InvalidInput` (limits; a time outside of the years 1 to 9999), and `NotFound` if `after` was erased.
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

    /// Looks at all active memories now, as a job does once a day for each user: what has shown that it helps settles one
    /// frequency further, what does not falls back, what is old and unused is archived, and a person is asked where a rule
    /// asks for one. At most one move a memory a day; all moves are one operation ([`undo_group`](Self::undo_group)), with the
    /// numbers that decided as reasons. Unrated uses older than 7 days go, and what was before all but a memory's 20 newest
    /// edits. The job refuses to archive more than half of 100 memories or more, since a clock that jumped looks like this;
    /// by hand it is done. Called again on the same day it changes nothing.
    ///
    /// Cut short, it has moved some. With [`TendOptions::dry_run`] it says what would move and why, and writes nothing.
    pub async fn tend(&self, options: TendOptions) -> Result<Tended> {
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let tending = drive(move || async move { jobs::tend_by_hand(&store, scope, options).await });
        in_span("tend", (self.scope.user_id, None), tending).await
    }

    /// Takes back one operation by its group, in all the memories that it changed, or in none: what a look at all of them
    /// moved, a quarantine, a merge, or whatever [`undo`](Self::undo) takes back.
    ///
    /// Errors: `NotFound`; `Conflict` if it is undone already, or as [`undo`](Self::undo) says: a later change of any of the
    /// memories is named.
    pub async fn undo_group(&self, group: GroupId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.undo_memory_group(&scope, group, by)).await
    }

    /// Hides a source with all that came of it, to the end: what jobs made of it and of that, as one operation. What is in
    /// quarantine is in no list by default, in no recall, and may not be saved again. What somebody saved of it stays, is
    /// trusted like a document's words from now on, and settles no farther than those. What a hidden memory had taken the
    /// place of holds again. `why` is kept in the history: up to 256 bytes, and nothing that was said.
    ///
    /// Errors: `NotFound`; `InvalidInput`.
    pub async fn quarantine(&self, source: QuarantineSource, why: &str) -> Result<Quarantined> {
        check_name("reason", Some(why).filter(|why| !why.is_empty()))?;
        let (scope, by, why) = (self.scope, self.by, why.to_owned());
        self.store.write(move |tx| tx.quarantine_source(&scope, source, &why, by)).await
    }

    /// Takes a quarantine back: all is as it was before, but the history.
    ///
    /// Errors: `NotFound`; `Conflict` for a group that is no quarantine, and as [`undo`](Self::undo) says.
    pub async fn lift(&self, group: GroupId) -> Result<Undone> {
        let (scope, by) = (self.scope, self.by);
        self.store.write(move |tx| tx.lift_quarantine(&scope, group, by)).await
    }

    /// Saves a memory that takes the place of 2 to 16 others. It comes of them: it is trusted no farther than the least of
    /// them, and goes when one of them is erased; the others hold again then. What it does not say of its project, slot, task
    /// and importance follows from theirs.
    ///
    /// Errors: those of [`save`](Self::save); `InvalidInput` for another number, and if one is named twice; `Conflict` if one
    /// of them holds no more, if another memory says the same or has the slot, and, unless it is the
    /// [user's](Self::by) doing, if one of them is trusted farther.
    pub async fn merge(&self, memories: Vec<MemoryId>, into: NewMemory) -> Result<Merged> {
        let by = self.by;
        let (scope, bytes, memory) = self.measured(into).await?;
        self.store.write_sized(bytes, move |tx| tx.merge_memories(&scope, &memories, memory, by)).await
    }

    /// What matters most, as a text of a bounded number of tokens (`CORE.md`): five sections of at most 15 memories, pinned
    /// ones first, then by how much each still matters. Left out is what a tool or a document says, what is contested, hidden,
    /// archived, or of a session. The same file, moment and options give the same bytes.
    ///
    /// Errors: `InvalidInput` (limits).
    pub async fn core(&self, options: CoreOptions) -> Result<Core> {
        options.check()?;
        let tokenizer = self.store.config().tokenizer;
        self.read(move |snapshot, scope| snapshot.core(scope, &options, tokenizer)).await
    }

    /// What runs through all memories, as a text (`REFLECTION.md`): pairs of tags, tags of several projects, what is used
    /// most, insights, merges.
    pub async fn reflection(&self) -> Result<String> {
        self.read(|snapshot, scope| snapshot.reflection(scope)).await
    }

    /// Looks which memories are alike, by their vectors, and proposes: edges `similar_to` that are
    /// [proposed](crate::EdgeStatus::Proposed) (a cosine of 0.80 and two tags or entities in common), and reviews that ask
    /// whether two of a kind are one (0.92). Only of fresh memories that are trusted and not contested, the newest 2,000. No
    /// text is written, and what is asked or known already is not proposed again. A note of the day says that somebody
    /// reflected.
    pub async fn reflect(&self) -> Result<Reflected> {
        let space =
            self.store.config().embedders.first().map_or_else(|| BuiltIn::default().space(), |it| it.space());
        let found = self.read(move |snapshot, scope| snapshot.likes(scope, &space)).await?;
        let scope = self.scope;
        self.store.write(move |tx| tx.propose(&scope, &found)).await
    }

    /// Asks a person about a memory whose file was changed as well.
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

/// The first and the last of some ids.
type Bounds = ([u8; 16], [u8; 16]);

/// The bounds of ids that begin like this, and its digits.
fn bounds_of(part: &str) -> Result<(Bounds, String)> {
    let digits: String = part.strip_prefix("mem_").unwrap_or(part).replace('-', "");
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || !(LEAST_DIGITS..=DIGITS).contains(&digits.len()) {
        return Err(Error::invalid(format!(
            "the id of a memory is mem_ and {DIGITS} hexadecimal digits; its first or last {LEAST_DIGITS} or more name it"
        )));
    }
    let filled = |with: &str| {
        let all = format!("{digits}{}", with.repeat(DIGITS - digits.len()));
        u128::from_str_radix(&all, 16).expect("they are 32 hexadecimal digits").to_be_bytes()
    };
    Ok(((filled("0"), filled("f")), digits.to_ascii_lowercase()))
}
