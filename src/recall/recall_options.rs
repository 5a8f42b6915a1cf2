//! The options of a recall.

use chrono::{DateTime, Utc};

use crate::{
    model::{
        filter::Filter,
        memory::filter::{MemoryFilter, Of},
        profile::Profile,
    },
    recall::of::RecallOf,
};

/// Options of a recall.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecallOptions {
    /// Maximum number of results, from 1 to 1,000. Default 10.
    pub k: Option<usize>,
    /// How to rank. Default: [`Config::profile`](crate::Config::profile).
    pub profile: Option<Profile>,
    /// The current time, from which ages and "last week" are measured. Default: the clock's.
    pub now: Option<DateTime<Utc>>,
    /// What may be recalled. Default: everything that is stored of the user.
    pub filter: Filter,
    /// Which kinds of things are recalled. Default: all. [`Profile::Continuum`] recalls memories only, whatever is set
    /// here.
    pub of: Of,
    /// Which memories are recalled. Default: active ones, and archived ones at half their weight; with
    /// [`Profile::Continuum`], active ones with a confidence of at least 0.75.
    pub memories: Option<MemoryFilter>,
    /// Whether the best 20 memories lend score to their neighbours over accepted edges, so that the neighbours can be
    /// recalled too. Default: no.
    pub graph: bool,
}

impl RecallOptions {
    /// Recalls only these kinds of things.
    #[must_use]
    pub fn of(mut self, of: Of) -> Self {
        self.of = of;
        self
    }

    /// Recalls only memories that pass this filter. `MemoryFilter::default()` passes only active ones. Does not affect
    /// turns.
    #[must_use]
    pub fn memories(mut self, filter: MemoryFilter) -> Self {
        self.memories = Some(filter);
        self
    }

    /// Sets whether a memory lends its neighbours 0.3 of its score, times the strength of the edge.
    #[must_use]
    pub fn graph(mut self, graph: bool) -> Self {
        self.graph = graph;
        self
    }

    /// Which things are recalled.
    pub(crate) fn recall_of(&self) -> RecallOf {
        RecallOf { of: self.of, memories: self.memories.clone(), graph: self.graph }
    }

    /// Returns at most this many results.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    /// Ranks by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Recalls only what passes this filter.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Recalls as of this moment.
    #[must_use]
    pub fn now(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }
}
