//! The answer to a query: what was recalled, in order, each with the parts of its score.

use chrono::{DateTime, Utc};
use rusqlite::Connection;
use serde::Serialize;

use crate::{
    config::Config,
    error::{Error, Result},
    model::{anchor::Anchor, instant, profile::{Parts, Profile}, summary::Summary, tier::MemoryTier, turn::Turn},
    recall::{
        embedders::QueryVector,
        find::{self, Found, Question},
        query::{self, Query},
        score::Scored,
        user_indexes::UserIndexes,
    },
    store::{Store, originals, reload, summaries, turns, users::Scope},
};

/// How many things are recalled if nobody says.
const DEFAULT_K: usize = 10;
/// The most that may be asked for.
const MAX_K: usize = 1_000;

/// How to recall.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RecallOptions {
    /// How many at most, from 1 to 1,000. Default 10.
    pub k: Option<usize>,
    /// How to rank. Default: [`Config::profile`].
    pub profile: Option<Profile>,
    /// The moment of asking, from which ages and "last week" are measured. Default: the clock's.
    pub now: Option<DateTime<Utc>>,
}

impl RecallOptions {
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

    /// As of this moment.
    #[must_use]
    pub fn now(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }
}

/// What was recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recall {
    /// The best first.
    pub items: Vec<Recalled>,
    /// What failed or is not ready yet, so that it was searched without it. Empty when all went well.
    pub missing: Vec<String>,
}

/// Something recalled, and why it stands where it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    /// What it is.
    #[serde(flatten)]
    pub item: RecalledItem,
    /// Its rank at this query, greater is better. Not comparable between queries.
    pub score: f64,
    /// What the score was made of.
    pub parts: Parts,
    /// What else is to be known of it. An open set of words.
    pub flags: Vec<String>,
}

/// What can be recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecalledItem {
    /// A turn, wherever it lives.
    Turn(Box<Turn>),
    /// What stands for a turn whose original was deleted.
    Summary {
        /// The summary.
        #[serde(flatten)]
        summary: Box<Summary>,
        /// The turn's place in the user's order of recording.
        seq: i64,
        /// The caller's own id for the turn.
        caller_id: Option<String>,
    },
    /// What is known of somebody.
    Anchor(Box<Anchor>),
}

impl Recalled {
    /// The turn, if it is one.
    pub fn turn(&self) -> Option<&Turn> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn),
            _ => None,
        }
    }

    /// Where it lives; anchors live in no tier.
    pub fn memory_tier(&self) -> Option<MemoryTier> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.memory_tier),
            RecalledItem::Summary { .. } => Some(MemoryTier::Cold),
            RecalledItem::Anchor(_) => None,
        }
    }
}

/// Searches everything the user ever said. Reads only.
pub(crate) fn recall(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    (query, vectors): (&str, &[QueryVector]),
    options: RecallOptions,
) -> Result<Recall> {
    let config = store.config();
    let k = options.k.unwrap_or(DEFAULT_K);
    if !(1..=MAX_K).contains(&k) {
        return Err(Error::invalid(format!("k is {k}; it must be from 1 to {MAX_K}")));
    }
    let profile = options.profile.unwrap_or(config.profile);
    profile.check()?;
    let now = instant::checked(options.now.unwrap_or_else(|| instant::clamped(config.clock.now())))?;
    let understood = Query::understand(query, now);
    let words = query::expanded(&understood, &[]);
    let question = Question { query: &understood, words: &words, meaning: query, vectors, now, profile, k };
    store.read(|conn| {
        let found =
            indexes.with(conn, scope, |index| find::find(conn, scope, index, &question, |_| true))?;
        let items = fetch_all(conn, scope, config, &found)?;
        Ok(Recall { items, missing: found.missing })
    })
}

fn fetch_all(conn: &Connection, scope: &Scope, config: &Config, found: &Found) -> Result<Vec<Recalled>> {
    let mut items = Vec::with_capacity(found.ranked.len());
    let mut originals = originals::Reader::new(conn, scope);
    for Scored { seq, score, parts } in &found.ranked {
        if let Some(item) = fetch(conn, scope, (config, &mut originals), *seq)? {
            items.push(Recalled { item, score: *score, parts: *parts, flags: Vec::new() });
        }
    }
    Ok(items)
}

/// A unit as it is kept: its turn, else the summary in its place.
pub(crate) fn fetch(
    conn: &Connection,
    scope: &Scope,
    (config, originals): (&Config, &mut originals::Reader<'_>),
    seq: u32,
) -> Result<Option<RecalledItem>> {
    let Some(unit) = turns::unit_by_seq(conn, scope, seq)? else { return Ok(None) };
    let place = (unit.session_no, unit.turn_number);
    if let Some(turn) = originals.by_number(place.0, place.1)? {
        return Ok(Some(RecalledItem::Turn(Box::new(reload::recounted(turn, config)))));
    }
    let summary = summaries::at(conn, scope, place)?;
    Ok(summary.map(|summary| RecalledItem::Summary {
        summary: Box::new(summary),
        seq: seq.into(),
        caller_id: unit.caller_id,
    }))
}
