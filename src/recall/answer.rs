//! Answers a query: returns the recalled items in order, each with the parts of its score.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, Utc};

use crate::{
    clock::Stopwatch,
    error::{Error, ErrorKind, Result},
    model::{
        ids::{ReceiptId, SessionId},
        memory::filter::Of,
        place::{Owner, Seq},
        profile::{Parts, Profile},
        receipt::{ItemKind, LEAST_STRENGTH, Receipt, ReceiptItem, SameSource, Understood},
        stored_time::StoredTime,
        summary::Summary,
        turn::Turn,
    },
    recall::{
        find::{self, HitOrigin},
        message::{self, Message, MessagePlan, PreparedQuestion},
        pieces::Pieces,
        queries,
        recalled::{Recall, Recalled, RecalledItem},
        score::ScoredUnit,
        sieve::Sieve,
        user_indexes::{IndexLease, UserIndexes},
        wishes::Applying,
    },
    store::{
        Store,
        behind::NewReceipt,
        rows::memories::recalled::UnitMemory,
        scope::Scope,
        snapshot::{Snapshot, SnapshotOriginals},
    },
    text::words::Word,
};

/// Default number of results.
const DEFAULT_K: usize = 10;
/// The most results that may be asked for.
const MAX_K: usize = 1_000;

/// What was gathered for an answer: the result of a search, and what is missing.
pub(crate) trait Gathered {
    fn searched(&mut self) -> &mut Searched;
    fn missing(&mut self) -> &mut Vec<String>;
}

/// What a recall found, before it becomes an answer.
pub(crate) struct RecallFindings {
    searched: Searched,
    k: usize,
    took: Duration,
}

impl Gathered for RecallFindings {
    fn searched(&mut self) -> &mut Searched {
        &mut self.searched
    }

    fn missing(&mut self) -> &mut Vec<String> {
        &mut self.searched.missing
    }
}

/// Searches everything the user ever said, for the best `k`, or deeper if a reranker reads more. Writes nothing.
pub(crate) fn gather(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    message: &Message,
    (k, depth): (Option<usize>, usize),
) -> Result<RecallFindings> {
    let watch = Stopwatch::start();
    let k = k.unwrap_or(DEFAULT_K);
    if !(1..=MAX_K).contains(&k) {
        return Err(Error::invalid(format!("k is {k}; it must be from 1 to {MAX_K}")));
    }
    // Anchors have no session and no time, so a filter excludes them.
    let may_show_anchors = message.filter.is_open() && message.of.of == Of::All;
    let question = message.question(&[], k.max(depth)).with_anchors(may_show_anchors);
    let waiting = indexes.of(scope);
    let index = waiting.wait();
    let snapshot = store.snapshot()?;
    let searched = snapshot.together(|| {
        let mut missing = Vec::new();
        let sieve = Sieve::of(&snapshot, scope, &message.filter, &mut missing)?;
        let sieve = sieve.of_things(&snapshot, scope, (&message.of, &message.filter))?;
        let mut searched = search(&snapshot, index, scope, &question, WantedUnits::All, (&sieve, &[]))?;
        searched.missing.append(&mut missing);
        Ok(searched)
    })?;
    drop(snapshot);
    if searched.is_index_damaged {
        store.mend(scope);
    }
    Ok(RecallFindings { searched, k, took: watch.elapsed() })
}

impl RecallFindings {
    /// Returns the answer and its receipt, which the caller must store.
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
    /// Whether the unit fits by itself, not only through its neighbours.
    pub(crate) has_evidence: bool,
    /// Whether the unit fits too badly for a context.
    pub(crate) is_below_floor: bool,
    /// The piece that matched best by meaning, and its cosine.
    pub(crate) piece: Option<(u8, f32)>,
    /// The summary of a turn that has no evidence of its own.
    pub(crate) summary: Option<Summary>,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    /// Turns, summaries and memories, best first.
    pub(crate) units: Vec<Hit>,
    /// Units that fit too badly to be read, best first, as receipt items.
    pub(crate) unread: Vec<ReceiptItem>,
    /// Anchors that the query calls for, best first.
    pub(crate) anchors: Vec<Recalled>,
    /// Standing wishes for the context to show, best first.
    pub(crate) wishes: Vec<Applying>,
    /// The weight of each word of the query.
    pub(crate) words: Vec<(Word, f64)>,
    pub(crate) missing: Vec<String>,
    pub(crate) model: Option<String>,
    /// When the latest turn was said, among those not later than the query.
    pub(crate) last_talk: Option<DateTime<Utc>>,
    /// The confidence that something answers the query, from 0 to 1.
    pub(crate) confidence: f64,
    /// If no result has at least this confidence, none is shown.
    pub(crate) min_confidence: f64,
    /// The user's epoch when the file was read: a receipt that names things erased since then is not stored.
    pub(crate) epoch: i64,
    /// Whether the search met damage that a job can repair.
    pub(crate) is_index_damaged: bool,
    /// The text that represents the query's meaning.
    pub(crate) meaning: String,
    /// Which results were read.
    pub(crate) wanted: WantedUnits,
    /// The name of the reranker that ordered the units.
    pub(crate) reranker: Option<String>,
}

impl Searched {
    /// Returns all results, best first. Includes anchors that the query names or asks for, but not in a profile whose
    /// formula knows only turns.
    fn all(&self, profile: &Profile) -> impl Iterator<Item = &Recalled> {
        let mut all: Vec<&Recalled> = self.units.iter().map(|hit| &hit.recalled).collect();
        if profile.weights().is_some() {
            all.extend(self.anchors.iter().filter(|anchor| anchor.score >= LEAST_STRENGTH));
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score)); // Stable: equal scores keep their order.
        // A reranker orders only units, among the places that they have.
        let mut units = self.units.iter().map(|hit| &hit.recalled);
        all.into_iter()
            .filter_map(move |place| if place.seq().is_some() { units.next() } else { Some(place) })
    }

    /// Returns the receipt of the query, as far as the search determines it.
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
            min_confidence: (self.wanted == WantedUnits::AboveFloor).then_some(self.min_confidence),
            without: Vec::new(),
        }
    }
}

/// Returns the part of a query that receipts keep: its beginning.
fn kept(query: &str) -> String {
    const MOST_BYTES: usize = 4_096;
    query[..query.floor_char_boundary(MOST_BYTES)].to_owned()
}

/// Which of the results to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WantedUnits {
    #[default]
    All,
    /// Those that may be shown in a context.
    AboveFloor,
}

/// Finds units that pass the sieve, and reads the wanted ones: the best `question.k`, and in addition those of the
/// `at_hand` turns that were found.
pub(crate) fn search(
    snapshot: &Snapshot<'_>,
    index: IndexLease<'_>,
    scope: &Scope,
    question: &PreparedQuestion<'_>,
    wanted: WantedUnits,
    (sieve, at_hand): (&Sieve, &[&Turn]),
) -> Result<Searched> {
    let k = question.k + at_hand.len();
    // In a context, memories have a separate section and separate room.
    let pieces = if wanted == WantedUnits::AboveFloor { Pieces::Apart(k) } else { Pieces::Together(k) };
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
    let find::RankedUnits {
        ranked, origins, words, model, mut missing, confidence, is_index_damaged, ..
    } = found;
    let (memories, mut same_source) = (found.memories, found.same_source);
    let is_apart = |seq: u32| wanted == WantedUnits::AboveFloor && memories.contains_key(&seq);
    let mut originals = snapshot.originals(scope);
    let (mut units, mut unread) = (Vec::with_capacity(ranked.len()), Vec::new());
    let mut from_file = 0;
    for (
        &ScoredUnit { seq, score, parts },
        &HitOrigin { owner, piece, has_evidence, is_below_floor, newer },
    ) in ranked.iter().zip(&origins)
    {
        let same_source = match same_source.remove(&seq) {
            Some(others) => of_same_source(snapshot, scope, &memories, &others)?,
            None => Vec::new(),
        };
        let item = match at_hand.iter().find(|turn| turn.seq == i64::from(seq)) {
            Some(turn) => Some(RecalledItem::Turn(Box::new(Turn::clone(turn)))),
            None if from_file >= question.k
                && !is_apart(seq)
                && !(wanted == WantedUnits::AboveFloor && is_newest(&units, seq)) =>
            {
                continue;
            }
            None if is_below_floor && wanted == WantedUnits::AboveFloor => {
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
                        let memory =
                            snapshot.recalled_memory(scope, Seq(seq), StoredTime::clamped(question.now));
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

/// Whether this is the newest turn about something that one of these units tells.
fn is_newest(units: &[Hit], seq: u32) -> bool {
    units.iter().any(|hit| hit.recalled.newer.is_some_and(|newer| newer.seq == i64::from(seq)))
}

/// Returns the kind and id of each unit of the same piece of knowledge.
fn of_same_source(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    memories: &HashMap<u32, UnitMemory>,
    others: &[ScoredUnit],
) -> Result<Vec<SameSource>> {
    let mut named = Vec::with_capacity(others.len());
    for &ScoredUnit { seq, .. } in others {
        let of = match memories.get(&seq) {
            Some(met) => Some((ItemKind::Memory, *met.id.as_uuid())),
            None => snapshot.unread_line(scope, Seq(seq))?.map(|line| (line.kind, line.owner_id)),
        };
        named.extend(of.map(|(kind, owner_id)| SameSource { kind, owner_id, seq: seq.into() }));
    }
    Ok(named)
}

/// Reads a unit: its turn, or else the summary in its place; `None` if it is not a turn. Damage is listed in `missing`, and
/// a damaged turn is replaced by its summary.
pub(crate) fn fetch(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    originals: &mut SnapshotOriginals<'_>,
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

/// Returns the value that was read, or `None` after adding the error to `missing` if the value is damaged.
fn or_missing<T>(read: Result<Option<T>>, missing: &mut Vec<String>) -> Result<Option<T>> {
    match read {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            missing.push(error.to_string());
            Ok(None)
        }
        read => read,
    }
}
