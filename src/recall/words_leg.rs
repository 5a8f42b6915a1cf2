//! The evidence of words: BM25 over the fields of each turn, with the user's own statistics.
//!
//! A word counts by the field it stands in (BM25F: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework",
//! section 3.6.1): what the user says and who speaks weigh 1, the head of a reply a half, its rest a fifth. Each field is
//! measured against its own average length.

use rusqlite::Connection;

use crate::{
    embed::commonness,
    error::Result,
    recall::{
        query::Weighted,
        user_index::{Averages, UserIndex, field_lengths},
    },
    store::{postings, users::Scope},
    text::words::{EncodedWords, FieldCounts, Word},
};

/// How soon more of the same word stops counting; Robertson and Zaragoza's usual value.
const K1: f64 = 1.2;
/// What a field weighs, and how much its length matters, from 0 to 1.
const USER: (f64, f64) = (1.0, 0.3);
const HEAD: (f64, f64) = (0.5, 0.5);
const REST: (f64, f64) = (0.2, 0.5);
const NAME: f64 = 1.0;
/// How many turns of general English stand beside the user's own when a word's rarity is judged: in a short history every
/// word is rare.
const PRIOR_TURNS: f64 = 200.0;

/// What words say of each unit.
#[derive(Debug, Default)]
pub(crate) struct WordsLeg {
    /// By number, from 1: the sum over the query's words, and the weight of those that were found.
    scores: Vec<(f64, f64)>,
    /// The weight of all words of the query.
    total: f64,
    /// What each word of the query weighs: its rarity.
    pub(crate) weights: Vec<(Word, f64)>,
}

impl WordsLeg {
    /// How well a unit fits; 0: it has no word of the query. What covers more of the query's weight comes first.
    pub(crate) fn score(&self, seq: u32) -> f64 {
        let Some(&(sum, found)) = (seq as usize).checked_sub(1).and_then(|at| self.scores.get(at)) else { return 0.0 };
        if sum > 0.0 { sum * (found / self.total).sqrt() } else { 0.0 }
    }
}

/// Looks every word of the query up.
pub(crate) fn look_up(
    conn: &Connection,
    scope: &Scope,
    index: &UserIndex,
    query: &[Weighted],
) -> Result<WordsLeg> {
    let averages = index.lengths().averages();
    let mut leg =
        WordsLeg { scores: vec![(0.0, 0.0); index.units().len()], total: 0.0, weights: Vec::new() };
    let tail: Vec<(u32, EncodedWords<'_>)> =
        index.tail().iter().filter_map(|(seq, words)| Some((*seq, EncodedWords::parse(words)?))).collect();
    let mut hits: Vec<(u32, FieldCounts)> = Vec::new();
    for &Weighted { word, weight: share } in query {
        hits.clear();
        let last = postings::for_each(conn, scope, word, |seq, counts| hits.push((seq, counts)))?;
        hits.extend(
            tail.iter()
                .filter(|(seq, _)| *seq > last)
                .filter_map(|(seq, words)| Some((*seq, words.field_counts(word)?))),
        );
        let weight = share * rarity(word, hits.len(), index.lengths().units);
        leg.total += weight;
        leg.weights.push((word, weight));
        for &(seq, counts) in &hits {
            let Some(unit) = index.unit(seq) else { continue };
            let often = weighted(counts, field_lengths(&unit.facts), averages);
            let (sum, found) = &mut leg.scores[seq as usize - 1];
            *sum += weight * often * (K1 + 1.0) / (often + K1);
            *found += weight;
        }
    }
    Ok(leg)
}

/// How often the word stands in the unit, by field.
fn weighted(counts: FieldCounts, lengths: (u16, u16, u16), averages: Averages) -> f64 {
    let field = |count: u8, (weight, b): (f64, f64), len: u16, average: f64| {
        if count == 0 {
            return 0.0;
        }
        weight * f64::from(count) / (1.0 - b + b * f64::from(len) / average)
    };
    f64::from(u8::from(counts.name)) * NAME
        + field(counts.user, USER, lengths.0, averages.user)
        + field(counts.head, HEAD, lengths.1, averages.head)
        + field(counts.rest, REST, lengths.2, averages.rest)
}

/// The idf of BM25, never negative, with [`PRIOR_TURNS`] turns of general English added to the user's.
fn rarity(word: Word, hits: usize, units: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of turns are far below 2^52")]
    let (hits, units) = (hits as f64, units as f64);
    let (n, df) = (units + PRIOR_TURNS, hits + PRIOR_TURNS * commonness::of(word));
    libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
}
