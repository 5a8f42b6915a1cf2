//! A message, or a query, as it is asked: checked at once, and understood once, by whoever needs that first.

use std::sync::OnceLock;

use chrono::{DateTime, Utc};

use crate::{
    config::Config,
    embed::{EmbeddingSpace, quantize::Vector},
    english::query::Query,
    error::{Error, Result},
    model::{filter::Filter, instant, profile::Profile, turn::Turn},
    recall::{
        expand::{Sought, sought},
        sieve,
    },
};

/// Below this nearly all questions were of general knowledge or for somebody else, and one in seventy the user's own:
/// docs/recall.md.
pub(crate) const DEFAULT_MIN_CONFIDENCE: f64 = 0.1;

/// What is asked, when, and how its answer is to be ranked.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) asked_at: DateTime<Utc>,
    /// The moment from which ages and "last week" are measured.
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    /// What may answer it.
    pub(crate) filter: Filter,
    /// What it means in the spaces of embedders that are not built in, as far as they were asked.
    pub(crate) vectors: Vec<QueryVector>,
    /// What is searched for beside it.
    pub(crate) also: Vec<Message>,
    query: OnceLock<Query>,
}

impl Message {
    /// Refuses what is longer than a side of a turn may be, an impossible moment, a profile out of bounds, or a filter that
    /// cannot be meant.
    pub(crate) fn new(
        config: &Config,
        text: String,
        now: Option<DateTime<Utc>>,
        profile: Option<Profile>,
        filter: Filter,
    ) -> Result<Self> {
        let (len, most) = (text.len(), config.max_side_bytes);
        if len > most {
            return Err(Error::invalid(format!("the message has {len} bytes; {most} are allowed")));
        }
        let asked_at = instant::clamped(config.clock.now());
        let now = instant::checked(now.unwrap_or(asked_at))?;
        let profile = profile.unwrap_or(config.profile);
        profile.check()?;
        sieve::check(&filter)?;
        let (vectors, also, query) = (Vec::new(), Vec::new(), OnceLock::new());
        Ok(Self { text, asked_at, now, profile, filter, vectors, also, query })
    }

    /// What it points at.
    pub(crate) fn query(&self) -> &Query {
        self.query.get_or_init(|| Query::understand(&self.text, self.now))
    }

    /// What it searches for; the last turns are considered where it needs them.
    pub(crate) fn sought(&self, last_turns: &[&Turn]) -> Vec<Sought> {
        sought(self.query(), &self.text, last_turns)
    }

    /// What is searched for: the best `k`.
    pub(crate) fn question(&self, last_turns: &[&Turn], k: usize) -> Question<'_> {
        Question {
            query: self.query(),
            sought: self.sought(last_turns),
            vectors: &self.vectors,
            now: self.now,
            profile: self.profile,
            min_confidence: DEFAULT_MIN_CONFIDENCE,
            k,
            also: self.also.iter().map(|query| query.question(&[], k)).collect(),
        }
    }
}

/// What is asked, and what was made ready for it before the file was read.
pub(crate) struct Question<'a> {
    pub(crate) query: &'a Query,
    /// What is searched for, each by itself; at least one.
    pub(crate) sought: Vec<Sought>,
    /// What each of it means in the spaces of embedders that are not built in.
    pub(crate) vectors: &'a [QueryVector],
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    /// Where nothing is so sure to answer, nothing is above the floor.
    pub(crate) min_confidence: f64,
    pub(crate) k: usize,
    /// What is searched for beside it.
    pub(crate) also: Vec<Question<'a>>,
}

impl Question<'_> {
    /// The same, but only what is so sure to answer is above the floor.
    pub(crate) fn surer_than(mut self, min_confidence: f64) -> Self {
        self.min_confidence = min_confidence;
        self.also = self.also.into_iter().map(|query| query.surer_than(min_confidence)).collect();
        self
    }

    /// Everything that is searched for, as one text.
    pub(crate) fn meaning(&self) -> String {
        self.sought.iter().map(|sought| &*sought.meaning).collect::<Vec<_>>().join(" ")
    }
}

/// What became of a query with one embedder.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(crate) space: EmbeddingSpace,
    /// One of each thing that is sought; none: the model knows nothing in it. An error says why there are none, and never
    /// what was asked.
    pub(crate) vectors: std::result::Result<Vec<Option<Vector>>, String>,
}
