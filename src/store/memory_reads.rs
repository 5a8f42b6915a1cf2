//! Reads memories with their history, sources and edges, and a user's terms and episodes.

#[cfg(feature = "files")]
use crate::store::rows::memories::erased::{self, IdHash};
use crate::{
    error::{Error, Result},
    memory::copies::copied_from,
    model::{
        change::Change,
        edge::{Edge, Neighbour},
        episode::{Episode, EpisodeFilter, EpisodeRole},
        ids::{EdgeId, EpisodeId, MemoryId},
        memory::{
            filter::MemoryFilter,
            known::Memory,
            new::{NewMemory, NewSource},
            source::MemorySource,
            term::TermCount,
            trust::Trust,
        },
        page,
        place::{MemoryNo, Seq},
        stored_time::StoredTime,
        turn::{Origin, Said, Side},
    },
    store::{
        rows::{
            erase,
            memories::{
                changes, edges,
                episodes::{self, EpisodePageFilter},
                find, known,
                lists::{self, FilterParams},
                sources::{SourceFrom, SourceRow},
                terms::{self, MemoryTermKind},
                transfer, units,
            },
            originals, sessions, summaries, turns,
        },
        scope::Scope,
        snapshot::Snapshot,
        sql::Sql,
    },
};

/// A number above those of all memories, for the first page of a list that starts with the newest.
const NEWEST: MemoryNo = MemoryNo(i64::MAX);

impl Snapshot<'_> {
    /// Returns the memory with this id, or a `NotFound` error.
    pub(crate) fn memory(&self, scope: &Scope, id: MemoryId) -> Result<Memory> {
        let now = self.now();
        self.ask(|sql| {
            let row = find::by_id(sql, scope, id)?.ok_or_else(no_memory)?;
            known::one(sql, scope, row, now)
        })
    }

    /// Returns the memory with this caller's id, or a `NotFound` error.
    pub(crate) fn memory_by_caller_id(&self, scope: &Scope, caller_id: &str) -> Result<Memory> {
        let now = self.now();
        self.ask(|sql| {
            let row = find::by_caller_id(sql, scope, caller_id)?.ok_or_else(no_memory)?;
            known::one(sql, scope, row, now)
        })
    }

    /// Returns the ids of at most two memories within these bounds (inclusive). Two are enough to see that a prefix is
    /// ambiguous.
    pub(crate) fn memories_between(
        &self,
        scope: &Scope,
        bounds: ([u8; 16], [u8; 16]),
    ) -> Result<Vec<MemoryId>> {
        self.ask(|sql| find::between(sql, scope, bounds))
    }

    /// Returns the ids of at most two memories whose ids end with these hex digits.
    pub(crate) fn memories_ending(&self, scope: &Scope, digits: &str) -> Result<Vec<MemoryId>> {
        self.ask(|sql| find::ending(sql, scope, digits))
    }

    /// Returns whether any active or archived memory is filed under a project.
    pub(crate) fn has_memory_of_project(&self, scope: &Scope, project: &str) -> Result<bool> {
        self.ask(|sql| find::is_any_of_project(sql, scope, project))
    }

    /// Returns a page of the user's memories that pass a filter, the last saved first. Omits damaged ones.
    pub(crate) fn memories(
        &self,
        scope: &Scope,
        filter: &MemoryFilter,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Vec<Memory>> {
        let (now, sought) = (self.now(), FilterParams::of(filter));
        self.ask(|sql| {
            let mut before = place_of(sql, scope, after)?;
            let mut found = Vec::new();
            loop {
                let wanted = limit - u32::try_from(found.len()).unwrap_or(limit);
                let some = lists::page(sql, scope, &sought, (before, wanted))?;
                before = some.last().copied().unwrap_or(before);
                let is_last = some.len() < wanted as usize;
                for memory_no in some {
                    found.extend(known::readable(sql, scope, memory_no, now)?);
                }
                if is_last || found.len() == limit as usize {
                    return Ok(found);
                }
            }
        })
    }

    /// Returns a page of the user's tags or entities, ordered by their folded form.
    pub(crate) fn terms(
        &self,
        scope: &Scope,
        kind: MemoryTermKind,
        (after, limit): (&str, u32),
    ) -> Result<Vec<TermCount>> {
        self.ask(|sql| terms::page(sql, scope, kind, (after, limit)))
    }

    /// Returns a page of a memory's changes, newest first.
    pub(crate) fn memory_changes(
        &self,
        scope: &Scope,
        id: MemoryId,
        (before, limit): (Option<u32>, u32),
    ) -> Result<Vec<Change>> {
        self.ask(|sql| {
            let memory_no = find::no_of(sql, scope, id)?.ok_or_else(no_memory)?;
            changes::page(sql, scope, (memory_no, id), (before.unwrap_or(u32::MAX), limit))
        })
    }

    /// Returns the sources from which a memory was made, ordered by kind, then by id.
    pub(crate) fn memory_sources(&self, scope: &Scope, id: MemoryId) -> Result<Vec<MemorySource>> {
        self.ask(|sql| {
            let memory_no = find::no_of(sql, scope, id)?.ok_or_else(no_memory)?;
            transfer::sources(sql, scope, memory_no)
        })
    }

    /// Returns the edge with this id, or a `NotFound` error.
    pub(crate) fn edge(&self, scope: &Scope, id: EdgeId) -> Result<Edge> {
        let found = self.ask(|sql| edges::by_id(sql, scope, id))?;
        Ok(found.ok_or_else(|| Error::not_found("this user has no such edge"))?.edge)
    }

    /// Returns a page of a memory's neighbours, strongest edges first.
    pub(crate) fn neighbours(
        &self,
        scope: &Scope,
        id: MemoryId,
        (after, limit): (Option<EdgeId>, u32),
    ) -> Result<Vec<Neighbour>> {
        self.ask(|sql| {
            let memory_no = find::no_of(sql, scope, id)?.ok_or_else(no_memory)?;
            let after = match after {
                Some(id) => {
                    let edge = edges::by_id(sql, scope, id)?;
                    let of_this = edge.filter(|edge| [edge.from_no, edge.to_no].contains(&memory_no));
                    Some(of_this.ok_or_else(|| page::nothing_there("edge"))?)
                }
                None => None,
            };
            edges::neighbours(sql, scope, (memory_no, id), after.as_ref(), limit)
        })
    }

    /// Returns all of the user's edges between non-volatile memories, in the order they were added.
    #[cfg(feature = "files")]
    pub(crate) fn edges(&self, scope: &Scope) -> Result<Vec<Edge>> {
        self.ask(|sql| {
            let (mut found, mut after) = (Vec::new(), 0);
            loop {
                let some = edges::lasting_after(sql, scope, after)?;
                let Some(last) = some.last() else { return Ok(found) };
                after = last.edge_no;
                found.extend(some.into_iter().map(|row| row.edge));
            }
        })
    }

    /// Returns the hashes of the ids of the user's erased memories.
    #[cfg(feature = "files")]
    pub(crate) fn erased_memories(&self, scope: &Scope) -> Result<Vec<IdHash>> {
        self.ask(|sql| erased::all(sql, scope))
    }

    /// Returns a page of the user's episodes of these roles within a time range, newest first. No roles means all. Omits
    /// damaged ones.
    pub(crate) fn episodes(
        &self,
        scope: &Scope,
        EpisodeFilter { roles, since, until }: &EpisodeFilter,
        (after, limit): (Option<EpisodeId>, u32),
    ) -> Result<Vec<Episode>> {
        let roles = if roles.is_empty() { &EpisodeRole::EVERY[..] } else { roles };
        let words: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
        let roles = format!(" {} ", words.join(" "));
        let since = StoredTime::stated("since", *since)?;
        let until = StoredTime::stated("until", *until)?;
        self.ask(|sql| {
            let after = match after {
                Some(id) => {
                    Some(episodes::by_id(sql, scope, id)?.ok_or_else(|| page::nothing_there("episode"))?)
                }
                None => None,
            };
            let asked = EpisodePageFilter { roles: &roles, since, until, after: after.as_ref() };
            let rows = episodes::page(sql, scope, &asked, limit)?;
            episodes::shown(sql, scope, rows)
        })
    }

    /// Resolves the sources of a new memory: its turns, each with the origin of the side whose words prove the memory.
    pub(crate) fn sources_of(&self, scope: &Scope, memory: &NewMemory) -> Result<Vec<SourceRow>> {
        let (sources, origin) = (&memory.sources, memory.origin);
        self.ask(|sql| sources.iter().map(|source| source_of(sql, scope, (source, origin))).collect())
    }

    /// Returns the origin of the words that a memory repeats: a tool or a document that said them in one of the newest turns
    /// of the session from which the memory is saved. `None` if there is no such turn, or if the user said the words too.
    pub(crate) fn copied_from(&self, scope: &Scope, memory: &NewMemory) -> Result<Option<Origin>> {
        /// The newest turns that are searched, in turns and in bytes. Text is hardly ever saved verbatim from further back.
        const TURNS: usize = 64;
        const BYTES: usize = 1 << 20;
        let Some(session) = memory.birth.session_id else { return Ok(None) };
        self.ask(|sql| {
            let session = sessions::existing(sql, scope, session)?;
            let (mut turns, mut bytes) = (0, 0);
            let read = turns::newest_before(sql, scope, session.session_no, u32::MAX, |turn| {
                turns += 1;
                bytes += turn.text_bytes();
                turns <= TURNS && bytes <= BYTES
            })?;
            let sides = read.turns.iter().flat_map(|turn| {
                [Side::User, Side::Reply].map(|side| (turn.said.voice(side), turn.said.side(side)))
            });
            Ok(copied_from(&memory.content, sides))
        })
    }

    /// Returns whether the index holds so many former texts of memories that they should be swept.
    pub(crate) fn is_sweep_due(&self, scope: &Scope) -> Result<bool> {
        /// A sweep is worthwhile only for more former texts than this.
        const LEAST: u64 = 64;
        /// A sweep is worthwhile only if more than one in this many texts is a former one.
        const SHARE: u64 = 10;
        let (all, stale) = self.ask(|sql| units::counts(sql, scope))?;
        Ok(stale > LEAST && stale * SHARE > all)
    }
}

/// Returns the error for a memory that does not exist or belongs to another user.
pub(super) fn no_memory() -> Error {
    Error::not_found("this user has no such memory")
}

fn place_of(sql: &dyn Sql, scope: &Scope, after: Option<MemoryId>) -> Result<MemoryNo> {
    match after {
        Some(id) => find::no_of(sql, scope, id)?.ok_or_else(|| page::nothing_there("memory")),
        None => Ok(NEWEST),
    }
}

fn source_of(
    sql: &dyn Sql,
    scope: &Scope,
    (NewSource { turn_id, quote }, origin): (&NewSource, Origin),
) -> Result<SourceRow> {
    let made_by = "caller".to_owned();
    let source = |seq, said_at, origin| SourceRow {
        from: SourceFrom::Turn(*turn_id, seq),
        origin,
        made_by: made_by.clone(),
        said_at: StoredTime::clamped(said_at),
        quote: quote.clone(),
    };
    if let Some(turn) = originals::by_id(sql, scope, *turn_id)? {
        let said_by = whose_words(&turn.said, quote, origin);
        let said_by = said_by.ok_or_else(|| Error::invalid("the quote is not in its turn"))?;
        return Ok(source(Seq::of(turn.seq)?, turn.timestamp, said_by));
    }
    // If a turn's original was deleted, a quote cannot be checked, so only a source without a quote is accepted.
    let deleted = summaries::of_turn(sql, scope, *turn_id)?.filter(|_| quote.is_empty());
    match (deleted, erase::one_turn(sql, scope, *turn_id)?) {
        (Some(summary), Some(turn)) => Ok(source(turn.doomed.seq, summary.timestamp, origin)),
        _ => Err(Error::not_found(
            "this user has no such turn, or it was replaced, deleted, or waits for its reply",
        )),
    }
}

/// Returns the origin of the side of a turn whose words prove a memory.
///
/// With a quote, this is the side that contains the quote; the user's side is tried first. Without one, it is the side that
/// has the memory's origin, otherwise the less trusted side. `None` if neither side contains the quote.
fn whose_words(said: &Said, quote: &str, origin: Origin) -> Option<Origin> {
    let sides = [Side::User, Side::Reply].map(|side| (said.side(side), said.voice(side)));
    let mut with_text = sides.into_iter().filter(|(text, _)| !text.is_empty());
    if !quote.is_empty() {
        return with_text.find(|(text, _)| text.contains(quote)).map(|(_, origin)| origin);
    }
    let origins: Vec<Origin> = with_text.map(|(_, origin)| origin).collect();
    let own = origins.iter().copied().find(|each| *each == origin);
    own.or_else(|| origins.into_iter().min_by_key(|origin| Trust::of(*origin)))
}
