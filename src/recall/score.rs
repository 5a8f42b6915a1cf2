//! From evidence to ranks: pure, the same on every machine.

use std::cmp::{Ordering, Reverse};

use crate::{
    index::facts::Facts,
    model::profile::{Parts, Profile, Weights, rounded},
    recall::user_index::{UnitEntry, UserIndex},
};

/// The paper's rate of decay, a day.
const DECAY: f64 = 0.1;
const MS_PER_DAY: f64 = 86_400_000.0;
/// A turn of so many words is half understood by what stands around it.
const OPEN_WORDS: f64 = 200.0;

/// What was found out about each unit, by number.
pub(crate) struct Evidence<'a> {
    /// By number, from 1.
    pub(crate) words: Vec<f64>,
    /// The cosines of its best pieces, at least 0; by number, or none of any.
    pub(crate) meaning: &'a [f32],
    /// Which factors this query may bring in.
    pub(crate) live: LiveFactors,
    /// Whether it was said by the one speaker whom the query names.
    pub(crate) by_speaker: &'a dyn Fn(u32) -> bool,
    /// Whether the query quotes it.
    pub(crate) is_quoted: &'a dyn Fn(u32) -> bool,
    /// The strength of anchors.
    pub(crate) anchors: &'a dyn Fn(u32) -> f64,
    /// Whether the query names the time at which it was said.
    pub(crate) in_time: &'a dyn Fn(i64) -> bool,
    pub(crate) now_ms: i64,
}

/// The factors that a query may bring in at all; wishes and recency always may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveFactors {
    pub(crate) time: bool,
    pub(crate) speaker: bool,
    pub(crate) quote: bool,
    pub(crate) anchors: bool,
}

impl LiveFactors {
    /// What all of them together make of a score at most.
    fn most(self, weights: &Weights) -> f64 {
        let factors = [
            (self.time, weights.time),
            (self.speaker, weights.speaker),
            (self.quote, weights.quote),
            (self.anchors, weights.anchors),
            (true, weights.wish),
            (true, weights.recency),
        ];
        factors.iter().filter(|(is_live, _)| *is_live).map(|(_, weight)| 1.0 + weight).product()
    }
}

/// A unit with its rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) seq: u32,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
}

impl Scored {
    /// The better one comes first; among equals the newer.
    fn by_rank(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then_with(|| b.seq.cmp(&a.seq))
    }
}

/// The best `k` units among those that `may` be shown, best first. Units without any evidence are left out.
pub(crate) fn rank(
    index: &UserIndex,
    evidence: &Evidence<'_>,
    profile: &Profile,
    k: usize,
    may: impl Fn(u32) -> bool,
) -> Vec<Scored> {
    let units = index.units();
    let seqs: Box<dyn Iterator<Item = (u32, Parts)>> = match profile.weights() {
        Some(weights) => {
            let lent = Lent::of(index, evidence, weights);
            let least = lent.least_of_best(evidence.live.most(&weights), k, &may);
            let worth = move |(_, score): &(usize, f64)| *score > 0.0 && *score >= least;
            let scores: Vec<f64> = lent.total.clone();
            Box::new(
                scores
                    .into_iter()
                    .enumerate()
                    .filter(worth)
                    .map(move |(at, _)| (units[at].facts.seq, lent.parts(at))),
            )
        }
        None => Box::new(units.iter().filter(|unit| unit.facts.seq > 0).map(|unit| {
            let seq = unit.facts.seq;
            let has_meaning = *profile == Profile::Paper;
            let meaning = if has_meaning { rounded(meaning_of(evidence, seq)) } else { 0.0 };
            (seq, Parts { meaning, ..Parts::default() })
        })),
    };
    let mut ranked: Vec<Scored> = seqs
        .filter(|(seq, _)| may(*seq))
        .filter_map(|(seq, parts)| {
            let facts = &index.unit(seq)?.facts;
            let parts = match profile.weights() {
                Some(_) => with_factors(parts, evidence, facts),
                None => Parts {
                    anchors: (evidence.anchors)(seq),
                    recency: recency(facts.said_at_ms, evidence.now_ms),
                    ..parts
                },
            };
            let score = parts.score(profile);
            (score > 0.0).then_some(Scored { seq, score, parts })
        })
        .collect();
    if k < ranked.len() {
        ranked.select_nth_unstable_by(k, Scored::by_rank);
        ranked.truncate(k);
    }
    ranked.sort_unstable_by(Scored::by_rank);
    ranked
}

/// The units of a time, for a query that names it and nothing else: the newest session first, each in its order.
pub(crate) fn of_time(
    index: &UserIndex,
    is_in_time: &dyn Fn(i64) -> bool,
    k: usize,
    may: impl Fn(u32) -> bool,
) -> Vec<Scored> {
    let units = index.units().iter().filter(|unit| unit.facts.seq > 0 && is_in_time(unit.facts.said_at_ms));
    let mut found: Vec<&UnitEntry> = units.filter(|unit| may(unit.facts.seq)).collect();
    let mut newest_of = vec![i64::MIN; index.session_count()];
    for unit in &found {
        let newest = &mut newest_of[unit.session as usize];
        *newest = unit.facts.said_at_ms.max(*newest);
    }
    found.sort_by_key(|unit| (Reverse(newest_of[unit.session as usize]), unit.session, unit.facts.seq));
    let parts = Parts { only_time: 1.0, ..Parts::default() };
    found.into_iter().take(k).map(|unit| Scored { seq: unit.facts.seq, score: 1.0, parts }).collect()
}

/// What the factors are made of.
fn with_factors(parts: Parts, evidence: &Evidence<'_>, facts: &Facts) -> Parts {
    let one_if = |is_so: bool| f64::from(u8::from(is_so));
    Parts {
        anchors: (evidence.anchors)(facts.seq),
        time: one_if((evidence.in_time)(facts.said_at_ms)),
        speaker: one_if((evidence.by_speaker)(facts.seq)),
        quote: one_if((evidence.is_quoted)(facts.seq)),
        wish: one_if(facts.traits.wishes),
        recency: recency(facts.said_at_ms, evidence.now_ms),
        ..parts
    }
}

/// Relevance, and what neighbours and sessions lend; by number, from 1.
struct Lent {
    legs: Vec<Legs>,
    near: Vec<f64>,
    total: Vec<f64>,
    weights: Weights,
}

/// Words and meaning, each from 0 to 1.
#[derive(Clone, Copy, Default)]
struct Legs {
    words: f64,
    meaning: f64,
}

impl Legs {
    fn relevance(self, weights: &Weights) -> f64 {
        weights.words * self.words + weights.meaning * self.meaning
    }
}

impl Lent {
    fn of(index: &UserIndex, evidence: &Evidence<'_>, weights: Weights) -> Self {
        let units = index.units();
        let best_words = evidence.words.iter().copied().fold(0.0, f64::max);
        let best_meaning = f64::from(evidence.meaning.iter().copied().fold(0.0, f32::max));
        let share = |part: f64, best: f64| if best > 0.0 { part / best } else { 0.0 };
        let mut legs = vec![Legs::default(); units.len()];
        let mut relevance = vec![0.0; units.len()];
        for (at, unit) in units.iter().enumerate() {
            let seq = unit.facts.seq;
            if seq > 0 {
                legs[at] = Legs {
                    words: share(evidence.words[at], best_words),
                    meaning: share(meaning_of(evidence, seq), best_meaning),
                };
                relevance[at] = legs[at].relevance(&weights);
            }
        }
        let of = |seq: u32| (seq as usize).checked_sub(1).map_or(0.0, |at| relevance[at]);
        let mut near = relevance.clone();
        let mut best_of_session = vec![0.0_f64; index.session_count()];
        for (unit, near) in units.iter().zip(&mut near) {
            if unit.facts.seq > 0 {
                let before = of(unit.previous);
                let asked = before > 0.0 && index.unit(unit.previous).is_some_and(|unit| unit.facts.traits.asks);
                let answer = if asked { weights.answer * before } else { 0.0 };
                *near += open(&unit.facts) * (weights.neighbours * (before + of(unit.next)) + answer);
                let best = &mut best_of_session[unit.session as usize];
                *best = best.max(*near);
            }
        }
        let total = units.iter().zip(&near).map(|(unit, near)| {
            if unit.facts.seq == 0 {
                return 0.0;
            }
            near + open(&unit.facts) * weights.session * best_of_session[unit.session as usize]
        });
        Self { legs, total: total.collect(), near, weights }
    }

    /// What a unit must have to be among the best `k`, even if all factors are for it and none for the others.
    fn least_of_best(&self, most: f64, k: usize, may: &impl Fn(u32) -> bool) -> f64 {
        /// What is lost by cutting parts to 1e-6.
        const CUT: f64 = 1e-4;
        let mut scores: Vec<f64> = (1..)
            .zip(&self.total)
            .filter(|(seq, score)| **score > 0.0 && may(*seq))
            .map(|(_, score)| *score)
            .collect();
        if scores.len() <= k {
            return 0.0;
        }
        let (_, kth, _) = scores.select_nth_unstable_by(k, |a, b| b.total_cmp(a));
        *kth / most - CUT
    }

    fn parts(&self, at: usize) -> Parts {
        let Legs { words, meaning } = self.legs[at];
        let relevance = self.legs[at].relevance(&self.weights);
        Parts {
            words: rounded(words),
            meaning: rounded(meaning),
            neighbours: rounded(self.near[at] - relevance),
            session: rounded(self.total[at] - self.near[at]),
            ..Parts::default()
        }
    }
}

fn meaning_of(evidence: &Evidence<'_>, seq: u32) -> f64 {
    evidence.meaning.get(seq as usize - 1).map_or(0.0, |cosine| f64::from(*cosine))
}

/// How far a turn is understood by what stands around it, from 0 to 1.
fn open(facts: &Facts) -> f64 {
    OPEN_WORDS / (OPEN_WORDS + f64::from(facts.head_len) + f64::from(facts.rest_len))
}

/// The paper's `e^(-0.1 * days)`; what is said to come is as new as can be.
fn recency(said_at_ms: i64, now_ms: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds needs no 53 bits")]
    let days = now_ms.saturating_sub(said_at_ms).max(0) as f64 / MS_PER_DAY;
    rounded(libm::exp(-DECAY * days))
}
