//! Ranks units by evidence. Pure functions, with the same results on every machine.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use crate::{
    index::facts::UnitFacts,
    model::{
        place::Owner,
        profile::{Parts, Profile, Weights, rounded},
    },
    recall::user_index::UserIndex,
};

const MS_PER_DAY: f64 = 86_400_000.0;
/// To spread results over sessions, this many times the wanted number of units are considered.
const POOL: usize = 8;
/// How many memories are considered, however many are wanted: the facts of each are read.
pub(crate) const MOST_MEMORIES: usize = 32;
/// A turn with this many words is half understood from its neighbours.
const OPEN_WORDS: f32 = 200.0;

/// The evidence for each unit, by number.
pub(crate) struct RankingEvidence<'a> {
    /// The score of each unit by its words; by number, from 1.
    pub(crate) words: &'a [f32],
    /// The cosines of each unit's best pieces, at least 0; by number, from 1.
    pub(crate) meaning: &'a [f32],
    /// Which factors this query may bring in.
    pub(crate) live: LiveFactors,
    /// Whether a unit was said by the one speaker that the query names.
    pub(crate) by_speaker: &'a dyn Fn(u32) -> bool,
    /// Whether the query quotes a unit.
    pub(crate) is_quoted: &'a dyn Fn(u32) -> bool,
    /// The strength of the anchors that a unit proves.
    pub(crate) anchors: &'a dyn Fn(u32) -> f64,
    /// Whether the query names the time when a unit was said, or the time that it speaks of.
    pub(crate) in_time: &'a dyn Fn(&UnitFacts) -> bool,
    /// How well each session matches the words of the query, from 0 to 1; by number.
    pub(crate) session_words: &'a [f32],
    /// How far the message leans on what preceded it, from 0 to 1.
    pub(crate) leaning: f64,
    /// Whether the query asks for many turns.
    pub(crate) asks_for_many: bool,
    pub(crate) now_ms: i64,
}

/// The factors that a query may bring in at all; wishes and recency always may.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each may be so by itself")]
pub(crate) struct LiveFactors {
    pub(crate) time: bool,
    pub(crate) speaker: bool,
    pub(crate) quote: bool,
    pub(crate) anchors: bool,
    /// From 0 to 1: how far the message leans on what preceded it.
    pub(crate) continuation: f64,
}

impl LiveFactors {
    /// Returns the most by which all factors together can multiply a score.
    fn most(self, weights: &Weights) -> f64 {
        let factors = [
            (self.time, weights.time),
            (self.speaker, weights.speaker),
            (self.quote, weights.quote),
            (self.anchors, weights.anchors),
            (true, weights.wish),
            (true, weights.recency),
        ];
        let live = factors.iter().filter(|(is_live, _)| *is_live).map(|(_, weight)| 1.0 + weight);
        live.product::<f64>() * (1.0 + weights.continuation * rounded(self.continuation))
    }
}

/// A unit, its score, and the parts of the score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoredUnit {
    pub(crate) seq: u32,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
}

/// How many results are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanting {
    pub(crate) turns: usize,
    pub(crate) memories: usize,
}

/// Returns the best units among those that are `passing`, best first: as many turns and memories as wanted, before the facts
/// of memories are considered. Units without any evidence are left out. A unit that does not pass still affects its
/// neighbours.
pub(crate) fn rank(
    index: &UserIndex,
    evidence: &RankingEvidence<'_>,
    profile: &Profile,
    wanting: Wanting,
    passing: &[bool],
) -> Vec<ScoredUnit> {
    let (units, k) = (&index.units, wanting.turns);
    let by_rank = by_rank(index);
    let mut memories = Vec::new();
    let mut ranked: Vec<ScoredUnit> = if let Some(weights) = profile.weights() {
        let mut propagated = PropagatedScores::of(index, evidence, weights, passing);
        let scored = |propagated: &PropagatedScores<'_>, at: usize| {
            let parts = with_factors(propagated.parts(at), evidence, &units[at]);
            ScoredUnit { seq: units[at].seq, score: parts.score(profile), parts }
        };
        if !index.memories().is_empty() {
            let best = propagated.best_memories(index.memories(), wanting.memories);
            memories.extend(best.iter().map(|at| scored(&propagated, *at)));
            propagated.leave_out(index.memories());
        }
        // To spread over sessions, more units are considered than are wanted.
        let deep = if evidence.asks_for_many { k.saturating_mul(POOL) } else { k };
        propagated.best(evidence.live.most(&weights), deep, |at| scored(&propagated, at))
    } else {
        let has_meaning = matches!(profile, Profile::Paper { .. });
        let meaning = |cosine: f32| if has_meaning { rounded(f64::from(cosine)) } else { 0.0 };
        let known = units.iter().zip(evidence.meaning).zip(passing).filter(|(_, passes)| **passes);
        let scored = known.map(|((unit, &cosine), _)| {
            let parts = Parts {
                meaning: meaning(cosine),
                anchors: (evidence.anchors)(unit.seq),
                recency: recency(unit.said_at_ms, evidence.now_ms, profile.lambda()),
                ..Parts::default()
            };
            ScoredUnit { seq: unit.seq, score: parts.score(profile), parts }
        });
        scored.collect()
    };
    // In the recency profile all units count. Very old ones all score 0, and are ordered by time.
    ranked.retain(|unit| unit.seq > 0 && (unit.score > 0.0 || *profile == Profile::Recency));
    if profile.weights().is_none() && !index.memories().is_empty() {
        let is_memory = |unit: &ScoredUnit| index.memories().binary_search(&unit.seq).is_ok();
        (memories, ranked) = ranked.into_iter().partition(is_memory);
        keep_best(&mut memories, wanting.memories, &by_rank);
    }
    if evidence.asks_for_many && profile.weights().is_some() {
        ranked.sort_unstable_by(&by_rank);
        spread(&mut ranked, index, profile);
    }
    keep_best(&mut ranked, k, &by_rank);
    if !memories.is_empty() {
        ranked.append(&mut memories);
        ranked.sort_unstable_by(&by_rank);
    }
    ranked
}

fn keep_best(
    ranked: &mut Vec<ScoredUnit>,
    k: usize,
    by_rank: &impl Fn(&ScoredUnit, &ScoredUnit) -> Ordering,
) {
    if k < ranked.len() {
        ranked.select_nth_unstable_by(k, by_rank);
        ranked.truncate(k);
    }
    ranked.sort_unstable_by(by_rank);
}

/// Orders best first; on a tie the one said last, then the one recorded last.
pub(crate) fn by_rank(index: &UserIndex) -> impl Fn(&ScoredUnit, &ScoredUnit) -> Ordering {
    let said_at = |unit: &ScoredUnit| index.unit(unit.seq).map(|unit| unit.said_at_ms);
    move |a: &ScoredUnit, b: &ScoredUnit| {
        let by_score: Ordering = b.score.total_cmp(&a.score);
        by_score.then_with(|| said_at(b).cmp(&said_at(a))).then_with(|| b.seq.cmp(&a.seq))
    }
}

/// Reduces the scores of units that rank after better ones of their session, best first.
fn spread(ranked: &mut [ScoredUnit], index: &UserIndex, profile: &Profile) {
    let mut better = vec![0.0; index.session_count() + 1];
    for unit in ranked {
        let Some(around) = index.around.get(unit.seq as usize - 1) else { continue };
        let better = &mut better[around.session as usize];
        unit.parts.spread = *better;
        unit.score = unit.parts.score(profile);
        *better += 1.0;
    }
}

/// How well a unit fits a query that names a time and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimeOnlyFit {
    First,
    Behind,
}

/// Ranks the units of a time, for a query that names it and nothing else: preferred units before the others; within each
/// group, the newest session first, and each session in its order.
pub(crate) fn of_time(
    index: &UserIndex,
    wanted: &dyn Fn(&UnitFacts) -> Option<TimeOnlyFit>,
    wanting: Wanting,
    passing: &[bool],
) -> Vec<ScoredUnit> {
    let units = index.units.iter().zip(&index.around).zip(passing).filter(|(_, passes)| **passes);
    let mut found: Vec<(&UnitFacts, u32, TimeOnlyFit)> =
        units.filter_map(|((unit, around), _)| Some((unit, around.session, wanted(unit)?))).collect();
    let mut newest_of = vec![i64::MIN; index.session_count() + 1];
    for (unit, session, _) in &found {
        let newest = &mut newest_of[*session as usize];
        *newest = unit.said_at_ms.max(*newest);
    }
    found.sort_by_key(|(unit, session, wanted)| {
        (*wanted, Reverse(newest_of[*session as usize]), *session, unit.seq)
    });
    let parts = Parts { only_time: 1.0, ..Parts::default() };
    let mut left = [wanting.turns, wanting.memories];
    let mut is_wanted = |unit: &UnitFacts| {
        let left = &mut left[usize::from(unit.owner() == Owner::Memory)];
        let is_wanted = *left > 0;
        *left = left.saturating_sub(1);
        is_wanted
    };
    let found = found.into_iter().filter(|(unit, ..)| is_wanted(unit));
    found.map(|(unit, ..)| ScoredUnit { seq: unit.seq, score: 1.0, parts }).collect()
}

/// Adds the factors that the query brings in for this unit.
fn with_factors(parts: Parts, evidence: &RankingEvidence<'_>, facts: &UnitFacts) -> Parts {
    let one_if = |is_so: bool| f64::from(u8::from(is_so));
    let recency = recency(facts.said_at_ms, evidence.now_ms, Profile::LAMBDA);
    Parts {
        anchors: (evidence.anchors)(facts.seq),
        time: rounded((1.0 - evidence.leaning) * one_if((evidence.in_time)(facts))),
        speaker: one_if((evidence.by_speaker)(facts.seq)),
        quote: one_if((evidence.is_quoted)(facts.seq)),
        wish: one_if(facts.traits.wishes),
        recency,
        continuation: rounded(evidence.leaning * recency),
        ..parts
    }
}

/// The relevance of units, and what neighbours and sessions lend to it; by number, from 1.
struct PropagatedScores<'a> {
    words: Leg<'a>,
    meaning: Leg<'a>,
    /// Each unit's own score. `near` adds what its neighbours lend; `total` also adds what its session lends, and is 0 if
    /// the unit may not be recalled.
    relevance: Vec<f32>,
    near: Vec<f32>,
    total: Vec<f32>,
}

/// One kind of evidence for relevance; by number, from 1.
#[derive(Clone, Copy)]
struct Leg<'a> {
    scores: &'a [f32],
    best: f32,
}

impl<'a> Leg<'a> {
    fn of(scores: &'a [f32]) -> Self {
        // Compares the bits: none is negative, so they sort like the numbers, and the compiler can vectorize this.
        let best = scores.iter().map(|score| score.to_bits()).max();
        Self { scores, best: best.map_or(0.0, f32::from_bits) }
    }

    /// Returns the unit's share of the best score, from 0 to 1.
    fn share(self, at: usize) -> f32 {
        if self.best > 0.0 { self.scores[at] / self.best } else { 0.0 }
    }

    /// Returns the factor that turns a score into its weighted share of the best.
    fn scale(self, weight: f32) -> f32 {
        if self.best > 0.0 { weight / self.best } else { 0.0 }
    }
}

impl<'a> PropagatedScores<'a> {
    fn of(index: &UserIndex, evidence: &RankingEvidence<'a>, weights: Weights, passing: &[bool]) -> Self {
        let around = &index.around;
        let (words, meaning) = (Leg::of(evidence.words), Leg::of(evidence.meaning));
        let [of_words, of_meaning, of_neighbours, of_answer] =
            [weights.words, weights.meaning, weights.neighbours, weights.answer].map(narrow);
        let [of_session, of_session_words] = [weights.session, weights.session_words].map(narrow);
        let (of_words, of_meaning) = (words.scale(of_words), meaning.scale(of_meaning));
        let relevance: Vec<f32> = words
            .scores
            .iter()
            .zip(meaning.scores)
            .map(|(words, meaning)| of_words * words + of_meaning * meaning)
            .collect();
        let context_weights: Vec<f32> = index.field_lengths.iter().copied().map(context_weight).collect();
        let of = |seq: u32| (seq as usize).checked_sub(1).map_or(0.0, |at| relevance[at]);
        let near = around.iter().zip(&relevance).zip(&context_weights).map(
            |((around, relevance), context_weight)| {
                let before = of(around.previous);
                let answer = if around.follows_question { of_answer * before } else { 0.0 };
                relevance + context_weight * (of_neighbours * (before + of(around.next)) + answer)
            },
        );
        let near: Vec<f32> = near.collect();
        let mut best_of_session = vec![0.0_f32; index.session_count() + 1];
        for (around, near) in around.iter().zip(&near) {
            let best = &mut best_of_session[around.session as usize];
            *best = best.max(*near);
        }
        let of_sessions: Vec<f32> = best_of_session
            .iter()
            .zip(evidence.session_words)
            .map(|(best, words)| if *best > 0.0 { of_session * best + of_session_words * words } else { 0.0 })
            .collect();
        let total = around.iter().zip(&near).zip(&context_weights).zip(passing).map(
            |(((around, near), context_weight), passes)| {
                if *passes { near + context_weight * of_sessions[around.session as usize] } else { 0.0 }
            },
        );
        Self { words, meaning, total: total.collect(), relevance, near }
    }

    /// Returns the best `k` by score and some more, unordered. No unit's score exceeds `most` times its total, so units are
    /// examined by total, greatest first, until none can be among the best.
    fn best(&self, most: f64, k: usize, scored: impl Fn(usize) -> ScoredUnit) -> Vec<ScoredUnit> {
        /// Bounds on what is lost by rounding parts to 1e-6, and for large scores by the digits that are not kept.
        const CUT: f64 = 1e-4;
        const ROUNDED: f64 = 1.0 + 1e-6;
        let reach = |total: f32| (f64::from(total) + CUT) * most * ROUNDED;
        let least = narrow(f64::from(self.least_of_best(k)) / (most * ROUNDED) - CUT);
        let is_worth = |at: &usize| self.total[*at] > 0.0 && self.total[*at] >= least;
        // Totals are not negative, so their bits sort like the numbers.
        let by_total = |at: usize| (self.total[at].to_bits(), at);
        let mut open: BinaryHeap<(u32, usize)> =
            (0..self.total.len()).filter(is_worth).map(by_total).collect();
        let (mut found, mut best) = (Vec::new(), BinaryHeap::with_capacity(k + 2));
        while let Some((total, at)) = open.pop() {
            let is_full = best.len() > k;
            if is_full
                && best.peek().is_some_and(|Reverse(kth)| reach(f32::from_bits(total)) < f64::from_bits(*kth))
            {
                break;
            }
            let unit = scored(at);
            best.push(Reverse(unit.score.max(0.0).to_bits()));
            if best.len() > k + 1 {
                best.pop();
            }
            found.push(unit);
        }
        found
    }

    /// Returns the greatest total after the best `k`; 0 if there are no more than `k`.
    fn least_of_best(&self, k: usize) -> f32 {
        // Totals are not negative, so their bits sort like the numbers.
        let mut best: BinaryHeap<Reverse<u32>> = BinaryHeap::with_capacity(k + 2);
        let mut least = 0.0;
        for &score in self.total.iter().filter(|score| **score > 0.0) {
            if best.len() <= k || score > least {
                best.push(Reverse(score.to_bits()));
                if best.len() > k + 1 {
                    best.pop();
                }
                least = best.peek().map_or(0.0, |least| f32::from_bits(least.0));
            }
        }
        if best.len() <= k { 0.0 } else { least }
    }

    /// Returns the positions of the `k` units with the greatest totals among these memories, unordered.
    fn best_memories(&self, memories: &[u32], k: usize) -> Vec<usize> {
        let with_total = memories.iter().map(|seq| *seq as usize - 1).filter(|at| self.total[*at] > 0.0);
        let mut best: Vec<usize> = with_total.collect();
        if k < best.len() {
            // On a tie, the newer comes first.
            best.select_nth_unstable_by(k, |a, b| {
                self.total[*b].total_cmp(&self.total[*a]).then_with(|| b.cmp(a))
            });
            best.truncate(k);
        }
        best
    }

    /// Excludes these units.
    fn leave_out(&mut self, units: &[u32]) {
        for seq in units {
            self.total[*seq as usize - 1] = 0.0;
        }
    }

    fn parts(&self, at: usize) -> Parts {
        Parts {
            words: rounded(f64::from(self.words.share(at))),
            meaning: rounded(f64::from(self.meaning.share(at))),
            neighbours: rounded(f64::from(self.near[at] - self.relevance[at])),
            session: rounded(f64::from(self.total[at] - self.near[at])),
            ..Parts::default()
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
pub(super) fn narrow(weight: f64) -> f32 {
    weight as f32
}

/// Returns how far a turn is understood from its neighbours, from 0 to 1.
fn context_weight([head_len, rest_len]: [u16; 2]) -> f32 {
    OPEN_WORDS / (OPEN_WORDS + f32::from(head_len) + f32::from(rest_len))
}

/// The paper's `e^(-lambda * days)`; 1 for anything dated in the future.
fn recency(said_at_ms: i64, now_ms: i64, lambda: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds needs no 53 bits")]
    let days = now_ms.saturating_sub(said_at_ms).max(0) as f64 / MS_PER_DAY;
    rounded(libm::exp(-lambda * days))
}
