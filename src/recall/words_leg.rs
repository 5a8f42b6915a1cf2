//! The evidence of words: BM25 over the fields of each turn, with the user's own statistics.
//!
//! A word counts by the field it stands in (BM25F: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework",
//! section 3.6.1): in the head of a turn, or as the name of who speaks, it weighs 1, in the rest 0.15. Each field is
//! measured against its own average length. Words of like meaning stand in for a word, by the square of their cosine.

use std::cell::Cell;

use crate::{
    embed::lexicon,
    error::Result,
    recall::{expand::Weighted, user_index::UserIndex},
    store::{
        rows::postings::Shown,
        scope::Scope,
        snapshot::{Postings, Snapshot},
    },
    text::words::{FieldCounts, Word},
};

/// How soon more of the same word stops counting.
const K1: f32 = 1.0;
/// How much the length of a field matters, from 0 to 1.
const B: f32 = 0.4;
/// What the rest of a turn weighs beside its head.
const REST: f32 = 0.15;
/// How many turns of general English stand beside the user's own when a word's rarity is judged: in a short history every
/// word is rare.
const PRIOR_TURNS: f64 = 200.0;
/// A word that counts less, of all that one by itself counts, is no reason to show a turn.
const TELLING: f64 = 0.25;
/// Words that only mean nearly the same are a reason to show a turn if they make up so much of the query's weight.
const MUCH_ALIKE: f32 = 0.25;
/// So many words of the query, the least common in English, have synonyms looked for: of a long message those tell most,
/// and each synonym is one more list to read.
const WITH_SYNONYMS: usize = 16;
/// A query with fewer words is no quotation.
const QUOTED_WORDS: u8 = 5;

/// What words say of each unit.
#[derive(Debug, Default)]
pub(crate) struct WordsLeg {
    /// How each unit fits, by number, from 1.
    fits: Vec<Fit>,
    /// The weight of all words of the query.
    total: f32,
    /// What each word of the query weighs: its rarity.
    pub(crate) weights: Vec<(Word, f64)>,
    /// How many different words the query has.
    distinct: u8,
    /// The units that the one person said whom the query names, ascending.
    spoken: Vec<u32>,
    /// Some postings could not be read.
    pub(crate) is_damaged: bool,
}

/// How a unit fits.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    sum: f32,
    /// The weight of the words that were found.
    found: f32,
    /// How many words of the query stand in it themselves.
    themselves: u8,
    /// Whether any word that tells something does, be it one of the turns before a follow-up.
    literally: bool,
}

impl WordsLeg {
    /// How well each unit fits, by number, from 1; 0: it has no word of the query. What covers more of the query's weight
    /// comes first.
    pub(crate) fn scores(&self, units: usize) -> Vec<f32> {
        if self.total <= 0.0 {
            return vec![0.0; units]; // There are no words, or they could not be read.
        }
        self.fits.iter().map(|fit| fit.sum * (fit.found / self.total).sqrt()).collect()
    }

    /// Whether words are a reason to show this unit: one of the query itself is in it, or words that mean nearly the same
    /// make up a good part of the query.
    pub(crate) fn are_in(&self, seq: u32) -> bool {
        self.fit(seq)
            .is_some_and(|fit| fit.literally || fit.found >= MUCH_ALIKE * self.total && self.total > 0.0)
    }

    fn fit(&self, seq: u32) -> Option<&Fit> {
        self.fits.get((seq as usize).checked_sub(1)?)
    }

    /// Whether the query names one of several speakers.
    pub(crate) fn names_speaker(&self) -> bool {
        !self.spoken.is_empty()
    }

    /// Whether the query is long enough to quote anything.
    pub(crate) fn may_quote(&self) -> bool {
        self.distinct >= QUOTED_WORDS
    }

    /// Whether the unit has every word of a query that has many: the query quotes it, or nearly.
    pub(crate) fn is_quoted(&self, seq: u32) -> bool {
        self.may_quote() && self.fit(seq).is_some_and(|fit| fit.themselves == self.distinct)
    }

    /// Whether the query names one of several speakers, and this unit is what that one said.
    pub(crate) fn is_spoken_by_whom_it_names(&self, seq: u32) -> bool {
        self.spoken.binary_search(&seq).is_ok()
    }
}

/// Looks every word of the query up, and those that mean nearly the same.
pub(crate) fn look_up(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &UserIndex,
    query: &[Weighted],
) -> Result<WordsLeg> {
    snapshot.postings(scope, |postings| look_up_in(postings, index, query))
}

fn look_up_in(postings: &Postings<'_>, index: &UserIndex, query: &[Weighted]) -> Result<WordsLeg> {
    let looking = Looking::new(postings, index);
    let units = index.units.len();
    let mut leg = WordsLeg { fits: vec![Fit::default(); units], ..WordsLeg::default() };
    let mut noted = Noted { often: vec![Often::default(); units], seqs: Vec::new() };
    let mut speakers: Vec<Vec<u32>> = Vec::new();
    let too_common = too_common(query);
    for &Weighted { word, weight: share, is_name } in query {
        let (mut hits, mut spoken) = (0, Vec::new());
        looking.for_each(word, |seq, often, is_name| {
            hits += 1;
            noted.at(seq).itself = often;
            if is_name {
                spoken.push(seq);
            }
        })?;
        // A name stands for nobody else; who speaks in every turn is nobody in particular.
        if spoken.is_empty() {
            let has_synonyms = !is_name && lexicon::commonness(word) < too_common;
            let synonyms = lexicon::synonyms(word).filter(|_| has_synonyms);
            for (synonym, cosine) in synonyms {
                #[expect(clippy::cast_possible_truncation, reason = "it was one of 256 values")]
                let likeness = (cosine * cosine) as f32;
                looking.for_each(synonym, |seq, often, is_name| {
                    let often = if is_name { often - 1.0 } else { often };
                    if often > 0.0 {
                        noted.at(seq).alike += likeness * often;
                    }
                })?;
            }
        } else if (spoken.len() as u64) < index.lengths.named && !speakers.contains(&spoken) {
            speakers.push(spoken);
        }
        let rarity = share * rarity(word, hits, index.lengths.units);
        leg.weights.push((word, rarity));
        #[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
        let weight = rarity as f32;
        let is_own = share >= 1.0;
        leg.total += weight;
        leg.distinct += u8::from(is_own);
        noted.drain(|seq, Often { itself, alike }| {
            let (often, found) = (itself.max(alike), if itself > 0.0 { 1.0 } else { alike.min(1.0) });
            let fit = &mut leg.fits[seq as usize - 1];
            fit.sum += weight * often * (K1 + 1.0) / (often + K1);
            fit.found += weight * found;
            fit.themselves += u8::from(itself > 0.0 && is_own);
            fit.literally |= itself > 0.0 && share >= TELLING;
        });
    }
    if let [spoken] = &mut speakers[..] {
        leg.spoken = std::mem::take(spoken);
        leg.spoken.retain(|&seq| index.unit(seq).is_some_and(|unit| !unit.traits.has_reply));
    }
    leg.is_damaged = looking.is_damaged.get();
    Ok(leg)
}

struct Looking<'a> {
    postings: &'a Postings<'a>,
    index: &'a UserIndex,
    /// What a word more in a field takes off a match in it.
    long_head: f32,
    long_rest: f32,
    is_damaged: Cell<bool>,
}

impl<'a> Looking<'a> {
    fn new(postings: &'a Postings<'a>, index: &'a UserIndex) -> Self {
        let [long_head, long_rest] = index.lengths.averages().map(|average| B / average);
        Self { postings, index, long_head, long_rest, is_damaged: Cell::new(false) }
    }

    /// Shows every unit with the word, ascending, how often it is there by field and length, and whether it is the name of
    /// who speaks: from the postings, and from the rows behind the word's last posting.
    fn for_each(&self, word: Word, mut each: impl FnMut(u32, f32, bool)) -> Result<()> {
        let lengths = &self.index.field_lengths;
        let mut show = |seq: u32, counts: FieldCounts| {
            // A unit that is not there was erased since: its postings are on their way out.
            let Some(&[head_len, rest_len]) = (seq as usize).checked_sub(1).and_then(|at| lengths.get(at))
            else {
                return;
            };
            let mut often = f32::from(u8::from(counts.name));
            if counts.head > 0 {
                often += f32::from(counts.head) / (1.0 - B + self.long_head * f32::from(head_len));
            }
            if counts.rest > 0 {
                often += REST * f32::from(counts.rest) / (1.0 - B + self.long_rest * f32::from(rest_len));
            }
            each(seq, often, counts.name);
        };
        let Shown { last, is_damaged } = self.postings.for_each(word, &mut show)?;
        self.is_damaged.set(self.is_damaged.get() || is_damaged);
        for &(seq, counts) in self.index.tail.with_word(word, last) {
            show(seq, counts);
        }
        Ok(())
    }
}

/// How often one word of the query stands in each unit, and those that mean nearly the same.
struct Noted {
    /// By number, from 1; all zeros but for `seqs`.
    often: Vec<Often>,
    /// Each once, in the order in which they were found.
    seqs: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Often {
    itself: f32,
    alike: f32,
}

impl Noted {
    /// The unit's place, which must be made greater than 0.
    fn at(&mut self, seq: u32) -> &mut Often {
        let often = &mut self.often[seq as usize - 1];
        if often.itself == 0.0 && often.alike == 0.0 {
            self.seqs.push(seq);
        }
        often
    }

    /// Shows each unit once, and forgets all.
    fn drain(&mut self, mut each: impl FnMut(u32, Often)) {
        for seq in self.seqs.drain(..) {
            each(seq, std::mem::take(&mut self.often[seq as usize - 1]));
        }
    }
}

/// From which commonness on a word of the query has no synonyms looked for.
fn too_common(query: &[Weighted]) -> f64 {
    let mut commonness: Vec<f64> = query.iter().map(|weighted| lexicon::commonness(weighted.word)).collect();
    commonness.sort_by(f64::total_cmp);
    commonness.get(WITH_SYNONYMS).copied().unwrap_or(f64::INFINITY)
}

/// The idf of BM25, never negative, with [`PRIOR_TURNS`] turns of general English added to the user's.
fn rarity(word: Word, hits: u32, units: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of turns are far below 2^52")]
    let (hits, units) = (f64::from(hits), units as f64);
    let (n, df) = (units + PRIOR_TURNS, hits + PRIOR_TURNS * lexicon::commonness(word));
    libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
}
