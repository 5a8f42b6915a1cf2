//! Which units a search may return: those that pass the caller's filter, without those that the context shows anyway. The
//! sessions and the project that the filter names are looked up among those of one user.

use std::collections::HashSet;

use crate::{
    error::{Error, Result},
    model::{
        filter::Filter,
        memory::{
            filter::{MemoryFilter, Of},
            words::MemoryStatus,
        },
        place::{Seq, SessionNo},
        stored_time::StoredTime,
    },
    recall::{of::RecallOf, user_index::UserIndex},
    store::{scope::Scope, snapshot::Snapshot},
    text::measure::check_name,
};

/// Which units may be recalled. By default all.
#[derive(Debug)]
pub(crate) struct Sieve {
    /// `None`: all sessions except `without`.
    only: Option<HashSet<SessionNo>>,
    without: HashSet<SessionNo>,
    /// Milliseconds since 1970: from the first, up to but not including the second.
    time_ms: Option<(i64, i64)>,
    hidden: Vec<Seq>,
    has_turns: bool,
    memories: MemoriesPass,
}

/// Which memories may be recalled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum MemoriesPass {
    #[default]
    All,
    /// The memories with these units, ascending.
    Only(Vec<u32>),
    None,
}

/// Checks a filter. Errors: an invalid filter.
pub(crate) fn check(filter: &Filter) -> Result<()> {
    check_name("filter's project", filter.project.as_deref())?;
    StoredTime::stated("since", filter.since)?;
    StoredTime::stated("until", filter.until)?;
    match time_ms(filter) {
        Some((since, until)) if since >= until => {
            Err(Error::invalid("the filter's time ends before it begins: since must be before until"))
        }
        _ => Ok(()),
    }
}

fn time_ms(filter: &Filter) -> Option<(i64, i64)> {
    let since = filter.since.map_or(i64::MIN, |at| at.timestamp_millis());
    let until = filter.until.map_or(i64::MAX, |at| at.timestamp_millis());
    (filter.since.is_some() || filter.until.is_some()).then_some((since, until))
}

impl Sieve {
    /// Resolves what a filter names. What does not exist is listed in `missing`.
    pub(crate) fn of(
        snapshot: &Snapshot<'_>,
        scope: &Scope,
        filter: &Filter,
        missing: &mut Vec<String>,
    ) -> Result<Self> {
        let mut unknown = 0;
        let mut numbers = |ids: &[_]| -> Result<HashSet<SessionNo>> {
            let mut found = HashSet::with_capacity(ids.len());
            for &id in ids {
                match snapshot.find_session(scope, id)? {
                    Some(session) => _ = found.insert(session.session_no),
                    None => unknown += 1,
                }
            }
            Ok(found)
        };
        let mut only = filter.sessions.as_deref().map(&mut numbers).transpose()?;
        let without = numbers(&filter.without_sessions)?;
        if unknown > 0 {
            missing.push(format!("filter: the user does not have {unknown} of the sessions that it names"));
        }
        if let Some(project) = &filter.project {
            let filed = snapshot.sessions_of_project(scope, project)?;
            if filed.is_empty() && !snapshot.has_memory_of_project(scope, project)? {
                missing.push("filter: nothing of the user is filed under its project".to_owned());
            }
            only = Some(match only {
                Some(only) => filed.into_iter().filter(|session| only.contains(session)).collect(),
                None => filed.into_iter().collect(),
            });
        }
        let mut sieve = Self {
            only,
            without,
            time_ms: time_ms(filter),
            hidden: Vec::new(),
            has_turns: true,
            memories: MemoriesPass::All,
        };
        if filter.sessions.is_some() {
            sieve.memories = MemoriesPass::None; // They belong to no session.
        }
        Ok(sieve)
    }

    /// Restricts to these kinds of things. The memories of a project are those filed under it, or under no project.
    pub(crate) fn of_things(
        mut self,
        snapshot: &Snapshot<'_>,
        scope: &Scope,
        (of, filter): (&RecallOf, &Filter),
    ) -> Result<Self> {
        self.has_turns = of.of != Of::Memories;
        if of.of == Of::Turns || self.memories == MemoriesPass::None {
            self.memories = MemoriesPass::None;
            return Ok(self);
        }
        if of.memories.is_none() && filter.project.is_none() {
            return Ok(self);
        }
        let recalled = [MemoryStatus::Active, MemoryStatus::Archived];
        let mut wanted = of.memories.clone().unwrap_or_else(|| MemoryFilter::default().statuses(recalled));
        let both = wanted.project.is_some() && filter.project.is_some() && wanted.project != filter.project;
        wanted.project = wanted.project.or_else(|| filter.project.clone());
        let mut units = snapshot.memories_passing(scope, &wanted)?;
        if both {
            let other = MemoryFilter { project: filter.project.clone(), ..wanted };
            let also = snapshot.memories_passing(scope, &other)?;
            units.retain(|seq| also.binary_search(seq).is_ok());
        }
        self.memories = MemoriesPass::Only(units);
        Ok(self)
    }

    /// Excludes all memories.
    pub(crate) fn without_memories(self) -> Self {
        Self { memories: MemoriesPass::None, ..self }
    }

    /// Whether turns may be recalled.
    pub(crate) fn has_turns(&self) -> bool {
        self.has_turns
    }

    /// Excludes these units, which are shown anyway.
    pub(crate) fn hiding(self, hidden: Vec<Seq>) -> Self {
        Self { hidden, ..self }
    }

    /// Excludes all other sessions; `None` excludes all.
    pub(crate) fn only_of(mut self, session: Option<SessionNo>) -> Self {
        self.only = Some(session.into_iter().filter(|session| self.has(*session)).collect());
        self
    }

    /// Excludes this session.
    pub(crate) fn without(mut self, session: SessionNo) -> Self {
        self.without.insert(session);
        self
    }

    /// Whether something said in this session at this time may be recalled.
    pub(crate) fn passes(&self, session: SessionNo, said_at_ms: i64) -> bool {
        self.has(session) && self.is_in_time(said_at_ms)
    }

    fn has(&self, session: SessionNo) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&session)) && !self.without.contains(&session)
    }

    fn is_in_time(&self, said_at_ms: i64) -> bool {
        self.time_ms.is_none_or(|(since, until)| (since..until).contains(&said_at_ms))
    }

    /// For each unit, by number, from 1, whether it may be recalled. Erased units and known older texts of memories may not.
    pub(crate) fn passing(&self, index: &UserIndex) -> Vec<bool> {
        let mut of_session = vec![self.only.is_none(); index.session_count() + 1];
        of_session[0] = false;
        let named = |sessions: &HashSet<SessionNo>| -> Vec<usize> {
            sessions.iter().filter_map(|session| index.session_number(*session)).collect()
        };
        for session in self.only.as_ref().map(named).unwrap_or_default() {
            of_session[session] = true;
        }
        for session in named(&self.without) {
            of_session[session] = false;
        }
        if !self.has_turns {
            of_session.fill(false);
        }
        let mut passing: Vec<bool> =
            index.around.iter().map(|around| of_session[around.session as usize]).collect();
        let mut set = |seq: u32, passes| passing[seq as usize - 1] = passes;
        match &self.memories {
            MemoriesPass::All => index.memories().iter().for_each(|seq| set(*seq, true)),
            MemoriesPass::None => index.memories().iter().for_each(|seq| set(*seq, false)),
            MemoriesPass::Only(units) => {
                index.memories().iter().for_each(|seq| set(*seq, units.binary_search(seq).is_ok()));
            }
        }
        index.older().iter().for_each(|seq| set(*seq, false));
        if self.time_ms.is_some() {
            for (passes, unit) in passing.iter_mut().zip(&index.units) {
                *passes &= self.is_in_time(unit.said_at_ms);
            }
        }
        for seq in &self.hidden {
            if let Some(passes) = (seq.0 as usize).checked_sub(1).and_then(|at| passing.get_mut(at)) {
                *passes = false;
            }
        }
        passing
    }
}
