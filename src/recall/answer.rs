//! The answer to a query: what was recalled, in order, each with the parts of its score.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::{
    clock::Stopwatch,
    config::Config,
    error::{Error, ErrorKind, Result},
    model::{
        anchor::Anchor,
        ids::{ReceiptId, SessionId},
        instant,
        profile::{Parts, Profile},
        receipt::{Receipt, ReceiptItem, Understood},
        summary::Summary,
        tier::MemoryTier,
        turn::Turn,
    },
    recall::{
        anchors_leg,
        embedders::QueryVector,
        find::{self, Question, Stands},
        query::{self, Query},
        score::Scored,
        user_index::UserIndex,
        user_indexes::UserIndexes,
    },
    store::{
        Store,
        acts::reload,
        rows::{originals, receipts::NewReceipt, summaries, turns},
        scope::Scope,
        sql::Sql,
    },
    text::words::Word,
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
    /// Its receipt, which says more: [`User::receipt`](crate::User::receipt).
    pub receipt: ReceiptId,
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

impl RecalledItem {
    pub(crate) fn into_turn(self) -> Option<Turn> {
        match self {
            Self::Turn(turn) => Some(*turn),
            Self::Summary { .. } | Self::Anchor(_) => None,
        }
    }
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

    /// Its place in the user's order of recording; anchors have none.
    pub(crate) fn seq(&self) -> Option<i64> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.seq),
            RecalledItem::Summary { seq, .. } => Some(*seq),
            RecalledItem::Anchor(_) => None,
        }
    }

    /// Its session, and its number there; anchors have none.
    pub(crate) fn place(&self) -> Option<(SessionId, u32)> {
        match &self.item {
            RecalledItem::Turn(turn) => Some((turn.session_id, turn.turn_number)),
            RecalledItem::Summary { summary, .. } => Some((summary.session_id, summary.turn_number)),
            RecalledItem::Anchor(_) => None,
        }
    }

    /// Its line in a receipt.
    pub(crate) fn receipt_item(&self, rank: u32) -> ReceiptItem {
        let (kind, owner_id) = match &self.item {
            RecalledItem::Turn(turn) => ("turn", turn.id.as_uuid()),
            RecalledItem::Summary { summary, .. } => ("summary", summary.original_turn_id.as_uuid()),
            RecalledItem::Anchor(anchor) => ("anchor", anchor.id.as_uuid()),
        };
        ReceiptItem {
            rank,
            kind: kind.to_owned(),
            seq: self.seq(),
            owner_id: *owner_id,
            memory_tier: self.memory_tier(),
            score: self.score,
            parts: self.parts,
            packed_as: None,
            outcome: "recalled".to_owned(),
            tokens: 0,
        }
    }
}

/// Searches everything the user ever said. Reads only; the receipt is the caller's to keep.
pub(crate) fn recall(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    (query, vectors): (&str, &[QueryVector]),
    options: RecallOptions,
) -> Result<(Recall, NewReceipt)> {
    let config = store.config();
    let watch = Stopwatch::start();
    let k = options.k.unwrap_or(DEFAULT_K);
    if !(1..=MAX_K).contains(&k) {
        return Err(Error::invalid(format!("k is {k}; it must be from 1 to {MAX_K}")));
    }
    let profile = options.profile.unwrap_or(config.profile);
    profile.check()?;
    let asked_at = instant::clamped(config.clock.now());
    let now = instant::checked(options.now.unwrap_or(asked_at))?;
    let understood = Query::understand(query, now);
    let words = query::expanded(&understood, &[]);
    let meaning = query::text_to_embed(&understood, query, &[]);
    let question =
        Question { query: &understood, words: &words, meaning: &meaning, vectors, now, profile, k };
    let searched = search(store, indexes, scope, &question, (&[], &[]))?;
    let receipt = Receipt {
        id: ReceiptId::new(asked_at),
        session_id: None,
        asked_at,
        now,
        query: kept_query(query),
        profile,
        understood: searched.understood(&understood),
        missing: searched.missing.clone(),
        budget_tokens: None,
        tokens: None,
        took_us: watch.elapsed_us(),
        used_at: None,
        items: (1..)
            .zip(searched.all(&profile).take(k))
            .map(|(rank, recalled)| recalled.receipt_item(rank))
            .collect(),
    };
    let items = searched.all(&profile).take(k).cloned().collect();
    let recall = Recall { items, missing: searched.missing, receipt: receipt.id };
    Ok((recall, NewReceipt { receipt, epoch: searched.epoch }))
}

/// A unit that was found.
#[derive(Debug)]
pub(crate) struct Hit {
    pub(crate) recalled: Recalled,
    /// Whether it fits by itself, not only for what stands around it.
    pub(crate) has_evidence: bool,
    /// The piece that matched best by meaning, and its cosine.
    pub(crate) piece: Option<(u8, f32)>,
    /// Of a turn in which itself nothing matched: what stands for it.
    pub(crate) summary: Option<Summary>,
}

/// What a receipt keeps of a query: its beginning, which is all that is searched for.
pub(crate) fn kept_query(query: &str) -> String {
    const MOST_BYTES: usize = 4_096;
    query[..query.floor_char_boundary(MOST_BYTES)].to_owned()
}

/// What a search brought up.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    /// Turns and summaries, best first.
    pub(crate) units: Vec<Hit>,
    /// Anchors that the query calls for, best first.
    pub(crate) anchors: Vec<Recalled>,
    /// What each word of the query weighs.
    pub(crate) words: Vec<(Word, f64)>,
    pub(crate) missing: Vec<String>,
    pub(crate) model: Option<String>,
    /// The user's epoch then: a receipt of what was erased since is not kept.
    pub(crate) epoch: i64,
}

impl Searched {
    /// Everything, best first: of anchors those that the query names or asks for. They have no place in formulas that know
    /// turns only.
    fn all(&self, profile: &Profile) -> impl Iterator<Item = &Recalled> {
        let mut all: Vec<&Recalled> = self.units.iter().map(|hit| &hit.recalled).collect();
        if profile.weights().is_some() {
            all.extend(self.anchors.iter().filter(|anchor| anchor.score >= find::LEAST_STRENGTH));
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score)); // Stable: equals keep their order.
        all.into_iter()
    }

    pub(crate) fn understood(&self, query: &Query) -> Understood {
        let day = |at: DateTime<Utc>| at.format("%Y-%m-%d").to_string();
        Understood {
            words: self.words.len(),
            times: query.spans.iter().map(|span| format!("{}/{}", day(span.from), day(span.until))).collect(),
            is_only_time: query.is_only_time,
            refers_to_self: query.refers_to_self,
            refers_back: query.refers_back,
            is_follow_up: query.is_follow_up,
            model: self.model.clone(),
        }
    }
}

/// Finds what fits among the units that may be shown, and reads it: the best `question.k`, and besides them what fits as
/// well of the turns `at_hand`.
pub(crate) fn search(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    question: &Question<'_>,
    (hidden, at_hand): (&[u32], &[Turn]),
) -> Result<Searched> {
    let find = |conn: &dyn Sql, index: &mut UserIndex| {
        let found = find::find(conn, scope, index, question, question.k + at_hand.len(), hidden);
        let relevant = anchors_leg::relevant(question.query, index.anchors());
        let anchors = relevant.into_iter().map(|(anchor, score)| Recalled {
            item: RecalledItem::Anchor(Box::new(anchor.clone())),
            score,
            parts: Parts { anchors: score, ..Parts::default() },
            flags: Vec::new(),
        });
        (found, anchors.collect(), index.extent().epoch)
    };
    indexes.with(store, scope, find, |conn, (found, anchors, epoch)| {
        if found.is_index_damaged {
            store.mend(scope);
        }
        let mut originals = originals::Reader::new(conn, scope);
        let (mut units, mut from_file) = (Vec::with_capacity(found.ranked.len()), 0);
        let mut missing = found.missing;
        for (Scored { seq, score, parts }, Stands { place, piece, has_evidence }) in
            found.ranked.iter().zip(&found.stands)
        {
            let item = match at_hand.iter().find(|turn| turn.seq == i64::from(*seq)) {
                Some(turn) => Some(RecalledItem::Turn(Box::new(turn.clone()))),
                None if from_file == question.k => break,
                None => {
                    from_file += 1;
                    fetch(conn, scope, (store.config(), &mut originals), (*seq, *place), &mut missing)?
                }
            };
            if let Some(item) = item {
                let recalled = Recalled { item, score: *score, parts: *parts, flags: Vec::new() };
                let mut hit = Hit { recalled, has_evidence: *has_evidence, piece: *piece, summary: None };
                if !hit.has_evidence
                    && let Some(turn) = hit.recalled.turn()
                {
                    hit.summary = or_missing(summaries::of_turn(conn, scope, turn.id), &mut missing)?;
                }
                units.push(hit);
            }
        }
        Ok(Searched { units, anchors, words: found.words, missing, model: found.model, epoch })
    })
}

/// A unit as it is kept: its turn, else the summary in its place. What is damaged is named in `missing`; a turn's summary
/// stands in for it.
pub(crate) fn fetch(
    conn: &dyn Sql,
    scope: &Scope,
    (config, originals): (&Config, &mut originals::Reader<'_>),
    (seq, place): (u32, (i64, u32)),
    missing: &mut Vec<String>,
) -> Result<Option<RecalledItem>> {
    if let Some(turn) = or_missing(originals.by_number(place.0, place.1), missing)? {
        return Ok(Some(RecalledItem::Turn(Box::new(reload::recounted(turn, config)))));
    }
    let Some(summary) = or_missing(summaries::at(conn, scope, place), missing)? else { return Ok(None) };
    let caller_id = turns::unit_by_seq(conn, scope, seq)?.and_then(|unit| unit.caller_id);
    Ok(Some(RecalledItem::Summary { summary: Box::new(summary), seq: seq.into(), caller_id }))
}

/// What was read, or nothing and a word in `missing` if it is damaged: the rest is not.
fn or_missing<T>(read: Result<Option<T>>, missing: &mut Vec<String>) -> Result<Option<T>> {
    match read {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            missing.push(error.to_string());
            Ok(None)
        }
        read => read,
    }
}
