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
        expand::{Weighted, expanded, text_to_embed},
        sieve,
    },
};

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

    /// The text that stands for its meaning; the last turns are considered where it needs them.
    pub(crate) fn meaning(&self, last_turns: &[&Turn]) -> String {
        text_to_embed(self.query(), &self.text, last_turns)
    }

    /// What is searched for: the best `k`.
    pub(crate) fn question(&self, last_turns: &[&Turn], k: usize) -> Question<'_> {
        Question {
            query: self.query(),
            words: expanded(self.query(), last_turns),
            meaning: self.meaning(last_turns),
            vectors: &self.vectors,
            now: self.now,
            profile: self.profile,
            k,
            also: self.also.iter().map(|query| query.question(&[], k)).collect(),
        }
    }
}

/// What is asked, and what was made ready for it before the file was read.
pub(crate) struct Question<'a> {
    pub(crate) query: &'a Query,
    /// The words to look for, and what each counts.
    pub(crate) words: Vec<Weighted>,
    /// The text that stands for the query's meaning.
    pub(crate) meaning: String,
    /// The query in the spaces of embedders that are not built in.
    pub(crate) vectors: &'a [QueryVector],
    pub(crate) now: DateTime<Utc>,
    pub(crate) profile: Profile,
    pub(crate) k: usize,
    /// What is searched for beside it.
    pub(crate) also: Vec<Question<'a>>,
}

/// What became of a query with one embedder.
#[derive(Debug)]
pub(crate) struct QueryVector {
    pub(crate) space: EmbeddingSpace,
    /// Nothing: the model knows nothing in it. An error says why there is none, and never what was asked.
    pub(crate) vector: std::result::Result<Option<Vector>, String>,
}
