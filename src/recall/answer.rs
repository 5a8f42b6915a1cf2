//! The answer to a query: what was recalled, in order, each with the parts of its score.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::{
    clock::Stopwatch,
    error::{Error, ErrorKind, Result},
    model::{
        anchor::Anchor,
        filter::Filter,
        ids::{ReceiptId, SessionId},
        memory::{
            filter::{MemoryFilter, Of},
            recalled::{RecalledMemory, SameSource},
        },
        place::{Owner, Seq},
        profile::{Parts, Profile},
        receipt::{ItemKind, ItemOutcome, LEAST_STRENGTH, Newer, Receipt, ReceiptItem, Understood},
        summary::Summary,
        tier::MemoryTier,
        turn::Turn,
    },
    recall::{
        find::{self, Stands},
        message::{self, Message, MessagePlan, Question},
        of::RecallOf,
        pieces::Pieces,
        queries,
        score::Scored,
        sieve::Sieve,
        user_indexes::{Lent, UserIndexes},
        wishes::Applying,
    },
    store::{
        Store,
        behind::NewReceipt,
        rows::memories::recalled::Met,
        scope::Scope,
        snapshot::{Originals, Snapshot},
    },
    text::words::Word,
};

/// How many things are recalled if nobody says.
const DEFAULT_K: usize = 10;
/// The most that may be asked for.
const MAX_K: usize = 1_000;

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

/// What was recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recall {
    /// The best first: by their scores, or in the order of [`Config::reranker`](crate::Config::reranker), by
    /// [`rerank_score`](Recalled::rerank_score). A reranker leaves anchors at their places.
    pub items: Vec<Recalled>,
    /// How sure it is that something answers, from 0 to 1: of the surest of the anchors that the query calls for and of the
    /// best 32 turns, whether it is among `items` or not.
    pub confidence: f64,
    /// What failed or is not ready yet, so that it was searched without it. Empty when all went well.
    pub missing: Vec<String>,
    /// Its receipt, which says more: [`User::receipt`](crate::User::receipt).
    pub receipt: ReceiptId,
}

/// Something recalled, and why it stands where it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recalled {
    /// What it is.
    #[serde(flatten)]
    pub item: RecalledItem,
    /// Recall's own rank of it at this query, greater is better. Not comparable between queries.
    pub score: f64,
    /// How sure it is that it answers, from 0 to 1 ([`Parts::confidence`]); of an anchor its score.
    pub confidence: f64,
    /// What score and confidence were made of.
    pub parts: Parts,
    /// What the reranker gave it, on a scale of its own, greater is better; none: it was not asked of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// What was said last of the same thing, where the query asks how things are and this is older; none: nothing later was
    /// found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// What is one piece of knowledge with it and fits less well: of a memory the turns that it rests on, of a turn the
    /// memories that rest on it. Best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
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
    /// What is known beside what was said.
    Memory(Box<RecalledMemory>),
}

impl Recalled {
    /// The turn, if it is one.
    pub fn turn(&self) -> Option<&Turn> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn),
            _ => None,
        }
    }

    /// The memory, if it is one.
    pub fn memory(&self) -> Option<&RecalledMemory> {
        match &self.item {
            RecalledItem::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// Where it lives; anchors and memories live in no tier.
    pub fn memory_tier(&self) -> Option<MemoryTier> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.memory_tier),
            RecalledItem::Summary { .. } => Some(MemoryTier::Cold),
            RecalledItem::Anchor(_) | RecalledItem::Memory(_) => None,
        }
    }

    /// Its place in the user's order of recording; anchors have none.
    pub(crate) fn seq(&self) -> Option<i64> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.seq),
            RecalledItem::Summary { seq, .. } => Some(*seq),
            RecalledItem::Memory(memory) => Some(memory.seq),
            RecalledItem::Anchor(_) => None,
        }
    }

    /// Its line in a receipt.
    pub(crate) fn receipt_item(&self, rank: u32) -> ReceiptItem {
        let (kind, owner_id) = match &self.item {
            RecalledItem::Turn(turn) => (ItemKind::Turn, turn.id.as_uuid()),
            RecalledItem::Summary { summary, .. } => (ItemKind::Summary, summary.original_turn_id.as_uuid()),
            RecalledItem::Anchor(anchor) => (ItemKind::Anchor, anchor.id.as_uuid()),
            RecalledItem::Memory(memory) => (ItemKind::Memory, memory.memory.id.as_uuid()),
        };
        let flags = self.memory().map(|memory| memory.flags.clone()).unwrap_or_default();
        ReceiptItem {
            rank,
            kind,
            seq: self.seq(),
            owner_id: *owner_id,
            memory_tier: self.memory_tier(),
            score: self.score,
            confidence: Some(self.confidence),
            parts: self.parts,
            rerank_score: self.rerank_score,
            newer: self.newer,
            flags,
            same_source: self.same_source.clone(),
            packed_as: None,
            outcome: ItemOutcome::Recalled,
            tokens: 0,
        }
    }
}

/// What was gathered for an answer: a search, and what could not be had.
pub(crate) trait Gathered {
    fn searched(&mut self) -> &mut Searched;
    fn missing(&mut self) -> &mut Vec<String>;
}

/// What a recall found, before it is answered.
pub(crate) struct Found {
    searched: Searched,
    k: usize,
    took: Duration,
}

impl Gathered for Found {
    fn searched(&mut self) -> &mut Searched {
        &mut self.searched
    }

    fn missing(&mut self) -> &mut Vec<String> {
        &mut self.searched.missing
    }
}

/// Searches everything the user ever said, for the best `k` and, if a reranker is to read more, as deep as that. Reads
/// only.
pub(crate) fn gather(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    message: &Message,
    (k, depth): (Option<usize>, usize),
) -> Result<Found> {
    let watch = Stopwatch::start();
    let k = k.unwrap_or(DEFAULT_K);
    if !(1..=MAX_K).contains(&k) {
        return Err(Error::invalid(format!("k is {k}; it must be from 1 to {MAX_K}")));
    }
    // Anchors are of no session, and of no time: a filter leaves them out.
    let may_show_anchors = message.filter.is_open() && message.of.of == Of::All;
    let question = message.question(&[], k.max(depth)).with_anchors(may_show_anchors);
    let waiting = indexes.of(scope);
    let index = waiting.wait();
    let snapshot = store.snapshot()?;
    let mut missing = Vec::new();
    let sieve = Sieve::of(&snapshot, scope, &message.filter, &mut missing)?;
    let sieve = sieve.of_things(&snapshot, scope, (&message.of, &message.filter))?;
    let mut searched = search(&snapshot, index, scope, &question, Wanted::All, (&sieve, &[]))?;
    drop(snapshot);
    searched.missing.append(&mut missing);
    if searched.is_index_damaged {
        store.mend(scope);
    }
    Ok(Found { searched, k, took: watch.elapsed() })
}

impl Found {
    /// The answer, and the receipt, which is the caller's to keep.
    pub(crate) fn answer(self, message: &Message) -> (Recall, NewReceipt) {
        let Self { searched, k, took } = self;
        let best = || searched.all(&message.profile).take(k);
        let receipt = Receipt {
            took,
            items: (1..).zip(best()).map(|(rank, recalled)| recalled.receipt_item(rank)).collect(),
            ..searched.receipt(message, None, &searched.missing)
        };
        let items = best().cloned().collect();
        let confidence = searched.confidence;
        let recall = Recall { items, confidence, missing: searched.missing, receipt: receipt.id };
        (recall, NewReceipt { receipt, at_hand: Vec::new(), epoch: searched.epoch })
    }
}

/// A unit that was found.
#[derive(Debug)]
pub(crate) struct Hit {
    pub(crate) recalled: Recalled,
    /// Whether it fits by itself, not only for what stands around it.
    pub(crate) has_evidence: bool,
    /// Whether it fits too badly for a context.
    pub(crate) is_below_floor: bool,
    /// The piece that matched best by meaning, and its cosine.
    pub(crate) piece: Option<(u8, f32)>,
    /// Of a turn in which itself nothing matched: what stands for it.
    pub(crate) summary: Option<Summary>,
}

/// What a search brought up.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    /// Turns and summaries, best first.
    pub(crate) units: Vec<Hit>,
    /// What fits too badly to be read, best first, as lines of a receipt.
    pub(crate) unread: Vec<ReceiptItem>,
    /// Anchors that the query calls for, best first.
    pub(crate) anchors: Vec<Recalled>,
    /// Standing wishes that the context is to show, best first.
    pub(crate) wishes: Vec<Applying>,
    /// What each word of the query weighs.
    pub(crate) words: Vec<(Word, f64)>,
    pub(crate) missing: Vec<String>,
    pub(crate) model: Option<String>,
    /// When the user's last turn was said, of those that were said by then.
    pub(crate) last_talk: Option<DateTime<Utc>>,
    /// How sure it is that something answers, from 0 to 1.
    pub(crate) confidence: f64,
    /// What is less sure is not shown.
    pub(crate) min_confidence: f64,
    /// The user's epoch then: a receipt of what was erased since is not kept.
    pub(crate) epoch: i64,
    /// Damage was met that a job can mend.
    pub(crate) is_index_damaged: bool,
    /// The text that stands for the query's meaning.
    pub(crate) meaning: String,
    /// What was read of what was found.
    pub(crate) wanted: Wanted,
    /// The reranker in whose order the units are.
    pub(crate) reranker: Option<String>,
}

impl Searched {
    /// Everything, best first: of anchors those that the query names or asks for. They have no place in formulas that know
    /// turns only.
    fn all(&self, profile: &Profile) -> impl Iterator<Item = &Recalled> {
        let mut all: Vec<&Recalled> = self.units.iter().map(|hit| &hit.recalled).collect();
        if profile.weights().is_some() {
            all.extend(self.anchors.iter().filter(|anchor| anchor.score >= LEAST_STRENGTH));
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score)); // Stable: equals keep their order.
        // A reranker orders the units among the places that units have.
        let mut units = self.units.iter().map(|hit| &hit.recalled);
        all.into_iter()
            .filter_map(move |place| if place.seq().is_some() { units.next() } else { Some(place) })
    }

    /// The receipt of what was asked, as far as the search tells.
    pub(crate) fn receipt(
        &self,
        message: &Message,
        session: Option<SessionId>,
        missing: &[String],
    ) -> Receipt {
        Receipt {
            id: ReceiptId::new(message.asked_at),
            session_id: session,
            asked_at: message.asked_at,
            now: message.now,
            query: kept(&message.text),
            profile: message.profile,
            understood: self.understood(message),
            confidence: Some(self.confidence),
            missing: missing.to_vec(),
            budget_tokens: None,
            tokens: None,
            took: Duration::ZERO,
            used_at: None,
            items: Vec::new(),
        }
    }

    fn understood(&self, message: &Message) -> Understood {
        let query = message.query();
        Understood {
            words: self.words.len(),
            times: query
                .spans
                .iter()
                .chain(&query.ahead)
                .map(|span| message::days(span.from, span.until))
                .collect(),
            is_only_time: query.is_only_time,
            refers_to_self: query.refers_to_self,
            refers_back: query.refers_back,
            is_follow_up: query.is_follow_up,
            model: self.model.clone(),
            reranker: self.reranker.clone(),
            plan: message.plan_in(self.epoch).map(MessagePlan::told).cloned(),
            queries: message.also.iter().map(|query| kept(&query.text)).collect(),
            filter: message.filter.clone(),
            of: message.of.of,
            memories: message.of.memories.clone(),
            graph: message.of.graph,
            min_confidence: (self.wanted == Wanted::AboveFloor).then_some(self.min_confidence),
            without: Vec::new(),
        }
    }
}

/// What is kept of a query: its beginning, which is all that is searched for.
fn kept(query: &str) -> String {
    const MOST_BYTES: usize = 4_096;
    query[..query.floor_char_boundary(MOST_BYTES)].to_owned()
}

/// What of all that was found is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    #[default]
    All,
    /// What may be shown in a context.
    AboveFloor,
}

/// Finds what fits among the units that pass the sieve, and reads what is wanted of it: the best `question.k`, and besides
/// them what fits as well of the turns `at_hand`.
pub(crate) fn search(
    snapshot: &Snapshot<'_>,
    index: Lent<'_>,
    scope: &Scope,
    question: &Question<'_>,
    wanted: Wanted,
    (sieve, at_hand): (&Sieve, &[&Turn]),
) -> Result<Searched> {
    let k = question.k + at_hand.len();
    // In a context what is known has room of its own.
    let pieces = if wanted == Wanted::AboveFloor { Pieces::Apart(k) } else { Pieces::Together(k) };
    let (found, anchors, wishes, last_talk, epoch) = index.with(snapshot, scope, |index| {
        let mut found = queries::find(snapshot, scope, index, question, pieces, sieve);
        let relevant = queries::relevant_anchors(question, question.shown(&index.anchors));
        let anchors = relevant.into_iter().map(|(anchor, score)| Recalled {
            item: RecalledItem::Anchor(Box::new(anchor.clone())),
            score,
            confidence: ItemKind::Anchor.confidence(score, &Parts::default()),
            parts: Parts { anchors: score, ..Parts::default() },
            rerank_score: None,
            newer: None,
            same_source: Vec::new(),
        });
        let anchors = anchors.collect();
        let wishes = queries::wanted_wishes(snapshot, scope, index, question, sieve, &mut found.missing)
            .unwrap_or_else(|error| {
                found.missing.push(format!("wishes: {error}"));
                Vec::new()
            });
        (found, anchors, wishes, index.last_said_at(question.now), index.extent.epoch)
    })?;
    let find::Found { ranked, stands, words, model, mut missing, confidence, is_index_damaged, .. } = found;
    let (memories, mut same_source) = (found.memories, found.same_source);
    let is_apart = |seq: u32| wanted == Wanted::AboveFloor && memories.contains_key(&seq);
    let mut originals = snapshot.originals(scope);
    let (mut units, mut unread) = (Vec::with_capacity(ranked.len()), Vec::new());
    let mut from_file = 0;
    for (&Scored { seq, score, parts }, &Stands { owner, piece, has_evidence, is_below_floor, newer }) in
        ranked.iter().zip(&stands)
    {
        let same_source = match same_source.remove(&seq) {
            Some(others) => of_same_source(snapshot, scope, &memories, &others)?,
            None => Vec::new(),
        };
        let item = match at_hand.iter().find(|turn| turn.seq == i64::from(seq)) {
            Some(turn) => Some(RecalledItem::Turn(Box::new(Turn::clone(turn)))),
            None if from_file >= question.k
                && !is_apart(seq)
                && !(wanted == Wanted::AboveFloor && is_newest(&units, seq)) =>
            {
                continue;
            }
            None if is_below_floor && wanted == Wanted::AboveFloor => {
                let line = match memories.get(&seq) {
                    Some(met) => Some(ReceiptItem::unread(ItemKind::Memory, seq, *met.id.as_uuid())),
                    None => snapshot.unread_line(scope, Seq(seq))?,
                };
                if let Some(line) = line {
                    unread.push(ReceiptItem {
                        score,
                        confidence: Some(parts.confidence()),
                        parts,
                        newer,
                        same_source,
                        ..line
                    });
                    from_file += usize::from(!is_apart(seq));
                }
                continue;
            }
            None => {
                let fetched = match owner {
                    Owner::Memory => {
                        let memory = snapshot.recalled_memory(scope, Seq(seq), question.now);
                        or_missing(memory, &mut missing)?.map(|memory| RecalledItem::Memory(Box::new(memory)))
                    }
                    Owner::Turn(_) => {
                        fetch(snapshot, scope, &mut originals, (Seq(seq), owner), &mut missing)?
                    }
                };
                from_file += usize::from(fetched.is_some() && !is_apart(seq));
                fetched
            }
        };
        if let Some(item) = item {
            let confidence = parts.confidence();
            let recalled =
                Recalled { item, score, confidence, parts, rerank_score: None, newer, same_source };
            let mut hit = Hit { recalled, has_evidence, is_below_floor, piece, summary: None };
            if !hit.has_evidence
                && let Some(turn) = hit.recalled.turn()
            {
                hit.summary = or_missing(snapshot.summary_of(scope, turn.id), &mut missing)?;
            }
            units.push(hit);
        }
    }
    let found =
        Searched { units, unread, anchors, wishes, words, missing, model, confidence, ..Searched::default() };
    let (meaning, min_confidence) = (question.meaning(), question.min_confidence);
    Ok(Searched { last_talk, min_confidence, epoch, is_index_damaged, meaning, wanted, ..found })
}

/// Whether what was said last of a thing that these tell of is this.
fn is_newest(units: &[Hit], seq: u32) -> bool {
    units.iter().any(|hit| hit.recalled.newer.is_some_and(|newer| newer.seq == i64::from(seq)))
}

/// What is one piece with something, by what it is and its id.
fn of_same_source(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    memories: &HashMap<u32, Met>,
    others: &[Scored],
) -> Result<Vec<SameSource>> {
    let mut named = Vec::with_capacity(others.len());
    for &Scored { seq, .. } in others {
        let of = match memories.get(&seq) {
            Some(met) => Some((ItemKind::Memory, *met.id.as_uuid())),
            None => snapshot.unread_line(scope, Seq(seq))?.map(|line| (line.kind, line.owner_id)),
        };
        named.extend(of.map(|(kind, owner_id)| SameSource { kind, owner_id, seq: seq.into() }));
    }
    Ok(named)
}

/// A unit as it is kept: its turn, else the summary in its place; nothing of what is no turn. What is damaged is named in
/// `missing`; a turn's summary stands in for it.
pub(crate) fn fetch(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    originals: &mut Originals<'_>,
    (seq, owner): (Seq, Owner),
    missing: &mut Vec<String>,
) -> Result<Option<RecalledItem>> {
    let Owner::Turn(place) = owner else { return Ok(None) };
    if let Some(turn) = or_missing(originals.turn_at(place), missing)? {
        return Ok(Some(RecalledItem::Turn(Box::new(turn))));
    }
    let Some(summary) = or_missing(snapshot.summary_at(scope, place), missing)? else { return Ok(None) };
    let caller_id = snapshot.unit(scope, seq)?.and_then(|unit| unit.caller_id);
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
