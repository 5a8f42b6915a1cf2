//! From evidence to ranks: pure, the same on every machine.

use std::cmp::Reverse;

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
    pub(crate) words: &'a dyn Fn(u32) -> f64,
    /// The best cosine of its pieces, at least 0.
    pub(crate) meaning: &'a [f32],
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

/// A unit with its rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) seq: u32,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
}

/// The best `k` units among those that `may` be shown, best first; among equals the newer one. Units without any
/// evidence are left out.
pub(crate) fn rank(
    index: &UserIndex,
    evidence: &Evidence<'_>,
    profile: &Profile,
    k: usize,
    may: impl Fn(u32) -> bool,
) -> Vec<Scored> {
    let lent = match profile.weights() {
        Some(weights) => lend(index, evidence, weights),
        None => plain(index, evidence),
    };
    let mut ranked: Vec<Scored> = lent
        .into_iter()
        .filter(|(seq, _)| may(*seq))
        .filter_map(|(seq, mut parts)| {
            let facts = index.unit(seq)?.facts;
            parts.anchors = (evidence.anchors)(seq);
            let one_if = |is_so: bool| f64::from(u8::from(is_so));
            parts.time = one_if((evidence.in_time)(facts.said_at_ms));
            parts.speaker = one_if((evidence.by_speaker)(seq));
            parts.quote = one_if((evidence.is_quoted)(seq));
            parts.wish = one_if(facts.traits.wishes);
            parts.recency = recency(facts.said_at_ms, evidence.now_ms);
            let score = parts.score(profile);
            (score > 0.0).then_some(Scored { seq, score, parts })
        })
        .collect();
    let better = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then_with(|| b.seq.cmp(&a.seq));
    if k < ranked.len() {
        ranked.select_nth_unstable_by(k, better);
        ranked.truncate(k);
    }
    ranked.sort_unstable_by(better);
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

/// Relevance, and what neighbours and sessions lend.
fn lend(index: &UserIndex, evidence: &Evidence<'_>, weights: Weights) -> Vec<(u32, Parts)> {
    let units = index.units();
    let mut legs = vec![(0.0, 0.0); units.len()];
    let (mut best_words, mut best_meaning) = (0.0_f64, 0.0_f64);
    for (unit, leg) in units.iter().zip(&mut legs) {
        let seq = unit.facts.seq;
        if seq > 0 {
            *leg = ((evidence.words)(seq), meaning_of(evidence, seq));
            best_words = best_words.max(leg.0);
            best_meaning = best_meaning.max(leg.1);
        }
    }
    let share = |part: f64, best: f64| if best > 0.0 { part / best } else { 0.0 };
    for leg in &mut legs {
        *leg = (share(leg.0, best_words), share(leg.1, best_meaning));
    }
    let relevance: Vec<f64> =
        legs.iter().map(|(words, meaning)| weights.words * words + weights.meaning * meaning).collect();
    let at = |seq: u32| (seq as usize).checked_sub(1).map_or(0.0, |at| relevance[at]);
    let mut near = relevance.clone();
    let mut best_of_session = vec![0.0_f64; index.session_count()];
    let mut best = 0.0_f64;
    for (unit, near) in units.iter().zip(&mut near) {
        if unit.facts.seq > 0 {
            let asked = index.unit(unit.previous).is_some_and(|before| before.facts.traits.asks);
            let answer = if asked { weights.answer * at(unit.previous) } else { 0.0 };
            *near += open(&unit.facts)
                * (weights.neighbours * (at(unit.previous) + at(unit.next)) + answer);
            let of_session = &mut best_of_session[unit.session as usize];
            *of_session = of_session.max(*near);
            best = best.max(*near);
        }
    }
    let mut lent = Vec::with_capacity(units.len());
    for (i, unit) in units.iter().enumerate() {
        if unit.facts.seq > 0 && best > 0.0 {
            let parts = Parts {
                words: rounded(legs[i].0),
                meaning: rounded(legs[i].1),
                neighbours: rounded(near[i] - relevance[i]),
                session: rounded(
                    open(&unit.facts)
                        * weights.session
                        * best_of_session[unit.session as usize],
                ),
                ..Parts::default()
            };
            lent.push((unit.facts.seq, parts));
        }
    }
    lent
}

/// Meaning alone, as the paper has it.
fn plain(index: &UserIndex, evidence: &Evidence<'_>) -> Vec<(u32, Parts)> {
    let units = index.units().iter().filter(|unit| unit.facts.seq > 0);
    units
        .map(|unit| {
            let seq = unit.facts.seq;
            (seq, Parts { meaning: rounded(meaning_of(evidence, seq)), ..Parts::default() })
        })
        .collect()
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
