//! Applies to the memory file what people have changed in a vault's folder.

use std::{collections::HashSet, future::poll_fn, task::Poll};

use crate::{
    error::{Error, ErrorKind, Result},
    handles::{Memories, foreign::is_of_the_file},
    model::{
        edge::{Direction, EdgeType},
        ids::MemoryId,
        memory::{edit::Edit, known::Memory, new::NewMemory, saved::SaveOutcome, words::MemoryStatus},
        turn::Origin,
        vault::{RefusedFile, VaultReport},
    },
    vault::{
        change::{Followed, Incoming},
        edges::{EdgeEdit, NO_EDGE},
        export::ExportState,
        fields::named,
        incoming::new_edge,
        outgoing::There,
        read::Hidden,
        relation::Relation,
        state::{VaultState, WrittenFile, hash_of},
        ties::{self, MemoryNames, Ties},
    },
};

/// The maximum number of edits that wait for the writer at once.
const AT_ONCE: usize = 32;

/// Applies what people changed, and records what has been done so far.
pub(super) struct VaultIntake<'v> {
    pub(super) memories: &'v Memories,
    pub(super) known: &'v ExportState,
    pub(super) hidden: &'v Hidden,
    pub(super) state: &'v mut VaultState,
    pub(super) there: &'v mut There,
    pub(super) report: &'v mut VaultReport,
    names: MemoryNames,
    to_tie: Vec<ToTie>,
    /// Memories, and what supersedes them, as other machines' files say.
    to_supersede: Vec<(MemoryId, String)>,
    /// The edges that were added: both ends' files state each, and the words of the user stand before those of others.
    tied: HashSet<(MemoryId, MemoryId, EdgeType)>,
}

/// A memory whose relations have to be added. The path is `None` if no file of this run states them: they wait for
/// another memory.
struct ToTie {
    path: Option<String>,
    id: MemoryId,
    ties: Ties,
}

impl<'v> VaultIntake<'v> {
    pub(super) fn new(
        memories: &'v Memories,
        (known, hidden): (&'v ExportState, &'v Hidden),
        (state, there): (&'v mut VaultState, &'v mut There),
        report: &'v mut VaultReport,
    ) -> Self {
        let names = MemoryNames::of(&known.memories);
        Self {
            memories,
            known,
            hidden,
            state,
            there,
            report,
            names,
            to_tie: Vec::new(),
            to_supersede: Vec::new(),
            tied: HashSet::new(),
        }
    }

    /// Applies all changes; in a dry run it only reports them. Returns whether relations between memories, or the lineages of
    /// files, changed.
    pub(super) async fn all(
        mut self,
        incoming: Vec<Incoming>,
        edges: Vec<EdgeEdit>,
        deletes: bool,
    ) -> Result<bool> {
        let follows = |one: &Incoming| matches!(one, Incoming::Known { .. });
        let has_followed = incoming.iter().any(follows);
        let (edits, others): (Vec<_>, Vec<_>) =
            incoming.into_iter().partition(|one| matches!(one, Incoming::Edit { .. }));
        self.edits(edits).await?;
        for one in others {
            match one {
                Incoming::Taken { path } => drop(self.there.taken.insert(path)),
                Incoming::Conflict { path, id } => self.conflict(path, id).await?,
                Incoming::Gone { path, id } if deletes => self.gone(path, id).await?,
                Incoming::Gone { .. } | Incoming::Edit { .. } => {}
                Incoming::Buried { path, id } => self.buried(path, id).await?,
                Incoming::Known { path, followed } => self.follow(path, *followed),
                Incoming::New { path, memory, relations, followed } => {
                    self.added(path, *memory, relations, followed).await?;
                }
            }
        }
        let has_tied =
            !self.report.dry_run && (self.tie_all().await? | self.supersede_all().await? | has_followed);
        // The text of an edge comes after the relation, which would replace it.
        for edit in edges {
            self.edge(edit).await?;
        }
        Ok(has_tied)
    }

    /// Applies a person's edit of an edge's file.
    async fn edge(&mut self, EdgeEdit { path, from, to, edge, followed }: EdgeEdit) -> Result<()> {
        if !self.report.dry_run {
            // A file does not bring an edge that no memory's head has.
            if let Some(id) = followed.as_ref().and_then(|followed| followed.id)
                && self.memories.edge(id.into()).await.is_err_and(|error| error.kind() == ErrorKind::NotFound)
            {
                self.leave(path, NO_EDGE.to_owned());
                return Ok(());
            }
            if let Err(error) = self.memories.relate(from, edge, to).await {
                return self.refuse(error, path);
            }
        }
        match followed {
            Some(followed) => self.state.put(&path, followed),
            None => drop(self.there.taken.insert(path.clone())),
        }
        self.report.edited.push(path);
        Ok(())
    }

    async fn conflict(&mut self, path: String, id: Option<MemoryId>) -> Result<()> {
        // The review comes first: if the run is interrupted between the two steps, the next run finds the conflict
        // again, and the review already open.
        if let Some(id) = id.filter(|_| !self.report.dry_run) {
            self.memories.ask_of_conflict(id).await?;
        }
        self.there.beside.insert(path);
        Ok(())
    }

    async fn gone(&mut self, path: String, id: MemoryId) -> Result<()> {
        if !self.report.dry_run {
            self.memories.forget(id).await?;
            self.state.remove(&path);
        }
        self.there.kept.insert(path.clone());
        self.report.forgotten.push(path);
        Ok(())
    }

    /// Forgets a memory because a tombstone says so. Its file goes when the folder is written.
    async fn buried(&mut self, path: String, id: MemoryId) -> Result<()> {
        if !self.report.dry_run {
            self.memories.forget(id).await?;
        }
        self.report.forgotten.push(path);
        Ok(())
    }

    /// Records another machine's version of a file, which the memory says by now.
    fn follow(&mut self, path: String, followed: Followed) {
        let Followed { written, is_adopted, superseded_by, .. } = followed;
        if let Some(id) = written.id.filter(|_| !superseded_by.is_empty()) {
            self.to_supersede.push((id.into(), superseded_by));
        }
        self.state.put(&path, written);
        if is_adopted {
            self.there.adopted.insert(path)
        } else {
            self.there.taken.insert(path)
        };
    }

    /// Supersedes the memories that another machine's files call superseded. If one cannot be, its file stays as it is.
    async fn supersede_all(&mut self) -> Result<bool> {
        let mut has_superseded = false;
        for (old, new) in std::mem::take(&mut self.to_supersede) {
            let holds = self.memories.get(old).await?.status != MemoryStatus::Superseded;
            let Some(new) = self.names.get(&new).filter(|new| holds && *new != old) else { continue };
            match self.memories.supersede_by(old, new).await {
                Ok(_) => has_superseded = true,
                Err(error) if is_of_the_file(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(has_superseded)
    }

    /// Applies several edits at once, because edits that wait for the writer together are made durable together.
    async fn edits(&mut self, edits: Vec<Incoming>) -> Result<()> {
        let at_once = AT_ONCE.min(self.memories.store.config().queue_len);
        let mut edits = edits.into_iter();
        loop {
            let (mut some, mut doing) = (Vec::new(), Vec::new());
            for one in edits.by_ref().take(at_once) {
                let Incoming::Edit { path, id, edit, ties, followed } = one else { continue };
                let edit = Edit { origin: Some(Origin::User), ..*edit };
                let is_done = self.report.dry_run || edit.is_empty();
                let memories = self.memories;
                doing.push(
                    async move { if is_done { Ok(()) } else { memories.edit(id, edit).await.map(drop) } },
                );
                some.push((ToTie { path: Some(path), id, ties }, followed));
            }
            if some.is_empty() {
                return Ok(());
            }
            for ((one, followed), done) in some.into_iter().zip(together(doing).await) {
                let path = one.path.clone().unwrap_or_default();
                match done {
                    Ok(()) => {
                        if let Some(followed) = followed {
                            if followed.is_contested {
                                self.contested(&path, one.id).await?;
                            }
                            self.follow(path.clone(), *followed);
                        } else {
                            self.there.taken.insert(path.clone());
                        }
                        self.report.edited.push(path);
                        self.to_tie.push(one);
                    }
                    Err(error) => self.refuse(error, path)?,
                }
            }
        }
    }

    /// Asks a person about a memory whose text gave way to another machine's.
    async fn contested(&mut self, path: &str, id: MemoryId) -> Result<()> {
        if !self.report.dry_run {
            self.memories.ask_of_conflict(id).await?;
        }
        self.report.conflicts.push(path.to_owned());
        Ok(())
    }

    async fn added(
        &mut self,
        path: String,
        memory: NewMemory,
        relations: Vec<Relation>,
        followed: Option<Box<Followed>>,
    ) -> Result<()> {
        if self.report.dry_run {
            self.there.kept.insert(path.clone());
            self.report.saved.push(path);
            return Ok(());
        }
        let (origin, caller_id) = (memory.origin, memory.caller_id.clone());
        let saved = match self.memories.save(memory).await {
            Ok(saved) => saved,
            Err(error) => return self.refuse(error, path),
        };
        let id = saved.memory.id;
        let other =
            self.state.files().iter().find(|(at, file)| **at != path && file.id == Some(*id.as_uuid()));
        if let Some((other, _)) = other {
            let why = format!("it says the same as {other}: remove one of them");
            self.leave(path, why);
            return Ok(());
        }
        let is_its_own =
            matches!(saved.outcome, SaveOutcome::New | SaveOutcome::Restored | SaveOutcome::Superseded(_));
        self.names.add(id, caller_id.as_deref().filter(|_| is_its_own));
        let followed = followed.filter(|followed| followed.written.id == Some(*id.as_uuid()));
        let is_followed = followed.is_some();
        if let Some(mut followed) = followed {
            if origin != Origin::User {
                followed.superseded_by.clear(); // Only a person says what takes the place of what.
            }
            self.follow(path.clone(), *followed);
        } else {
            let written = self.keeps_its_name(&saved.memory, &path);
            self.state.put(&path, written);
        }
        let add = relations.into_iter().map(|relation| {
            let edge = new_edge(&relation, origin);
            (relation, edge)
        });
        let ties = Ties { add: add.collect(), ..Ties::default() };
        self.to_tie.push(ToTie { path: Some(path.clone()), id, ties });
        if !is_followed {
            self.there.taken.insert(path.clone());
        }
        self.report.saved.push(path);
        Ok(())
    }

    /// Adds the relations that files state, and those that wait for another memory. Called once all memories exist.
    async fn tie_all(&mut self) -> Result<bool> {
        let mut to_tie = std::mem::take(&mut self.to_tie);
        let is_to_tie: HashSet<MemoryId> = to_tie.iter().map(|one| one.id).collect();
        let waiting = self.known.memories.iter().filter(|memory| !ties::unknown(memory).is_empty());
        let waiting = waiting.map(|memory| memory.id).filter(|id| !is_to_tie.contains(id));
        to_tie.extend(waiting.map(|id| ToTie { path: None, id, ties: Ties::default() }));
        let mut has_tied = false;
        for ToTie { path, id, ties } in to_tie {
            match self.tie(id, ties).await {
                Ok(is_changed) => has_tied |= is_changed,
                Err(error) => match path {
                    Some(path) => self.refuse(error, path)?,
                    None if is_of_the_file(error.kind()) => {} // Another sync may tie it.
                    None => return Err(error),
                },
            }
        }
        Ok(has_tied)
    }

    /// Relates a memory to others as its file says. A relation to an unknown memory is stored with this memory until
    /// the other one is saved; a relation to an erased memory is dropped. Returns whether anything changed.
    async fn tie(&mut self, id: MemoryId, Ties { add, remove, drop }: Ties) -> Result<bool> {
        let memory = self.known.memories.iter().find(|memory| memory.id == id);
        let unknown = memory.map(ties::unknown).unwrap_or_default();
        let kept = unknown.iter().filter(|relation| !drop.contains(&ties::name(relation)));
        let kept = kept.map(|relation| {
            (relation.clone(), new_edge(relation, memory.map_or(Origin::User, |memory| memory.origin)))
        });
        let mut is_changed = !add.is_empty() || !remove.is_empty();
        let mut left: Vec<Relation> = Vec::new();
        for (relation, edge) in kept.chain(add) {
            match self.names.get(&relation.target) {
                Some(other) if relation.edge_type == EdgeType::Supersedes => {
                    if edge.origin == Origin::User && relation.direction == Direction::Outgoing {
                        self.to_supersede.push((other, id.as_uuid().to_string()));
                    }
                }
                Some(other) => {
                    let is_incoming = relation.direction == Direction::Incoming;
                    let (from, to) = if is_incoming { (other, id) } else { (id, other) };
                    let is_users = edge.origin == Origin::User;
                    if self.tied.insert((from, to, edge.edge_type)) || is_users {
                        self.memories.relate(from, edge, to).await?;
                    }
                }
                None if self.hidden.is_erased(&relation.target) => {}
                None => {
                    left.retain(|other| ties::name(other) != ties::name(&relation));
                    left.push(Relation { edge_id: String::new(), ..relation });
                }
            }
        }
        for edge in remove {
            match self.memories.unrelate(edge).await {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {} // The other end's file may have said so, too.
            }
        }
        if left != unknown {
            let extra = ties::with_unknown(&self.memories.get(id).await?.extra, &left);
            let edit = Edit { extra: Some(extra), origin: Some(Origin::User), ..Edit::default() };
            self.memories.edit(id, edit).await?;
            is_changed = true;
        }
        Ok(is_changed)
    }

    /// Creates the state of a file that keeps the name a person gave it.
    fn keeps_its_name(&self, memory: &Memory, path: &str) -> WrittenFile {
        let hash = self.there.files.get(path).cloned().flatten().unwrap_or_else(|| hash_of(b""));
        WrittenFile::new(Some(*memory.id.as_uuid()), hash, &named(memory))
    }

    /// Reports a problem with one file, so that the other files are still applied. Returns an error for a problem that
    /// affects all files.
    fn refuse(&mut self, error: Error, path: String) -> Result<()> {
        if !is_of_the_file(error.kind()) {
            return Err(error);
        }
        self.leave(path, error.to_string());
        Ok(())
    }

    /// Leaves a file as it is, and reports why.
    fn leave(&mut self, path: String, why: String) {
        self.there.kept.insert(path.clone());
        self.report.refused.push(RefusedFile { path, line: None, why });
    }
}

/// Runs all futures concurrently, and returns their results in order. The futures also start in this order.
async fn together<F: Future>(doing: Vec<F>) -> Vec<F::Output> {
    let mut doing: Vec<_> = doing.into_iter().map(|one| (Box::pin(one), None)).collect();
    poll_fn(|context| {
        for (one, done) in doing.iter_mut().filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(output) = one.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        if doing.iter().all(|(_, done)| done.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    doing.into_iter().filter_map(|(_, done)| done).collect()
}
