//! How to recall: what a caller asks for.

use chrono::{DateTime, Utc};

use crate::{
    model::{
        filter::Filter,
        memory::filter::{MemoryFilter, Of},
        profile::Profile,
    },
    recall::of::RecallOf,
};

/// How to recall.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecallOptions {
    /// How many at most, from 1 to 1,000. Default 10.
    pub k: Option<usize>,
    /// How to rank. Default: [`Config::profile`](crate::Config::profile).
    pub profile: Option<Profile>,
    /// The moment of asking, from which ages and "last week" are measured. Default: the clock's.
    pub now: Option<DateTime<Utc>>,
    /// What may be recalled. Default: everything that the user ever said.
    pub filter: Filter,
    /// Which sorts of things are recalled. Default: all.
    pub of: Of,
    /// Which memories are recalled. Default: those that hold, and, at half their weight, those that are archived.
    pub memories: Option<MemoryFilter>,
    /// Whether the best 20 memories lend to what they stand beside over accepted edges, so that it comes up too. Default: no.
    pub graph: bool,
}

impl RecallOptions {
    /// These sorts of things alone.
    #[must_use]
    pub fn of(mut self, of: Of) -> Self {
        self.of = of;
        self
    }

    /// Of memories only what passes this filter; of the default that is what holds. Turns are not asked.
    #[must_use]
    pub fn memories(mut self, filter: MemoryFilter) -> Self {
        self.memories = Some(filter);
        self
    }

    /// Whether memories lend to what they stand beside: 0.3 of their score, times the strength of the edge.
    #[must_use]
    pub fn graph(mut self, graph: bool) -> Self {
        self.graph = graph;
        self
    }

    /// What of it says which things are recalled.
    pub(crate) fn recall_of(&self) -> RecallOf {
        RecallOf { of: self.of, memories: self.memories.clone(), graph: self.graph }
    }

    /// At most so many.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    /// Ranked by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Only what passes this filter.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// As of this moment.
    #[must_use]
    pub fn now(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }
}
