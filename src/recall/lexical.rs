//! The evidence of words: BM25 over the fields of each unit, with the user's own statistics and a prior for how common
//! words are in English.
//!
//! A word counts by its field (BM25F: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework", section 3.6.1):
//! in the head of a turn (the first words of each side), or as the speaker's name, it weighs 1; in the rest, 0.15. Each
//! field is measured against its own average length. Synonyms count as matches of a word, weighted by the square of
//! their cosine.

use std::cell::Cell;

use crate::{
    embed::lexicon,
    error::Result,
    recall::{
        expand::{Role, SubQuery, Weighted},
        user_index::UserIndex,
    },
    store::{
        rows::postings::PostingsSummary,
        scope::Scope,
        snapshot::{Postings, Snapshot},
    },
    text::words::{FieldCounts, MAX_QUERY_WORDS, Word},
};

/// BM25's `k1`: how soon repetitions of a word stop counting.
const K1: f32 = 1.0;
/// BM25's `b`: how much the length of a field matters, from 0 to 1.
const B: f32 = 0.4;
/// The weight of the rest of a turn, relative to its head.
const REST: f32 = 0.15;
/// How many turns of general English are added to the user's own to judge a word's rarity: in a short history every word is
/// rare.
const PRIOR_TURNS: f64 = 200.0;
/// How many words of the query, the rarest in English, are expanded with synonyms: in a long message these say most, and
/// each synonym is one more list to read.
const WITH_SYNONYMS: usize = 16;
/// The total weight of the words of a rather long question.
const QUESTION_WEIGHT: f32 = 30.0;
/// A query with fewer words is not treated as a quotation.
const QUOTED_WORDS: u8 = 5;
/// The weight of a word that names no topic when the covered share of a question is computed: politeness answers nothing.
/// Chosen on the sets of docs/recall.md.
const DULL: f32 = 0.5;

/// A message whose questions weigh this much leans on nothing; the less they weigh, the more it leans on what precedes it.
/// It leans less if what it tells weighs less than [`TOLD`]. Chosen on the sets of docs/recall.md.
const HEAVY: f64 = 30.0;
const TOLD: f64 = 10.0;
/// The weight of the search for what is told next to the questions, if the message leans fully. The weight of the search for
/// a question is 1.
const BACKGROUND: f64 = 0.7;

/// The evidence of words for each unit: the maximum over everything searched for.
#[derive(Debug, Default)]
pub(crate) struct LexicalScores {
    of_each: Vec<SubQueryScores>,
    leaning: f64,
}

/// The evidence of words of one search for each unit.
#[derive(Debug, Default)]
struct SubQueryScores {
    /// How well each unit fits, by number, from 1.
    fits: Vec<UnitFit>,
    /// How well each session fits, by number: the weight of its words, each as in its best turn.
    sessions: Vec<f32>,
    /// The weight of all words of the query.
    total: f32,
    /// The part of `total` without words that are only told next to the question.
    own_total: f32,
    /// The weight of the words that a unit should cover; words that name no topic count less.
    wanted: Cover,
    role: Role,
    /// The weight of this search's evidence, from 0 to 1.
    share: f32,
    /// The weight of each word of the query: its rarity.
    weights: Vec<(Word, f64)>,
    /// How many different words the query has.
    distinct: u8,
    /// The units said by the one person that the query names, ascending.
    spoken: Vec<u32>,
    /// Whether some postings could not be read.
    is_damaged: bool,
}

/// The weight of words, to be covered or covered: of all words of a query, and of those that are not only told next to it.
#[derive(Clone, Copy, Debug, Default)]
struct Cover {
    all: f32,
    own: f32,
}

impl Cover {
    fn add(&mut self, weight: f32, is_told: bool) {
        self.all += weight;
        if !is_told {
            self.own += weight;
        }
    }
}

/// How well a unit fits.
#[derive(Clone, Copy, Debug, Default)]
struct UnitFit {
    sum: f32,
    /// The weight of the words that were found.
    found: f32,
    /// The weight that the unit covers: most of a word's weight for being present at all, the rest for its field.
    covered: Cover,
    /// How many words of the query the unit contains itself, without synonyms.
    themselves: u8,
}

impl LexicalScores {
    fn new(mut of_each: Vec<SubQueryScores>) -> Self {
        let heaviest = |role: Role| {
            let weighs = of_each.iter().filter(|leg| leg.role == role).map(|leg| leg.own_total);
            f64::from(weighs.fold(0.0, f32::max))
        };
        let told = heaviest(Role::Statement).max(heaviest(Role::Background));
        let leaning = (told / TOLD).min(1.0) * (1.0 - heaviest(Role::Question) / HEAVY).max(0.0);
        for leg in &mut of_each {
            #[expect(clippy::cast_possible_truncation, reason = "a weight needs no more digits")]
            let background = (BACKGROUND * leaning) as f32;
            leg.share = if leg.role == Role::Background { background } else { 1.0 };
        }
        Self { of_each, leaning }
    }

    /// Removes the scores of units that have no rank, so that no score is measured against them.
    pub(crate) fn without(&mut self, units: &[u32], index: &UserIndex) {
        for leg in &mut self.of_each {
            for &seq in units {
                let Some(at) = (seq as usize).checked_sub(1) else { continue };
                if let Some(fit) = leg.fits.get_mut(at) {
                    *fit = UnitFit::default();
                }
                // Each of these units is a memory, alone in its session.
                let session = index.around.get(at).map_or(0, |around| around.session as usize);
                if let Some(weight) = leg.sessions.get_mut(session) {
                    *weight = 0.0;
                }
            }
        }
    }

    /// Returns how far the message leans on what preceded it, from 0 to 1: fully if it tells much and its questions weigh
    /// little.
    pub(crate) fn leaning(&self) -> f64 {
        self.leaning
    }

    /// Returns the weight of this search's evidence, from 0 to 1.
    pub(crate) fn share(&self, sought: usize) -> f32 {
        self.of_each.get(sought).map_or(1.0, |leg| leg.share)
    }

    /// Returns how well each unit fits, in the order of unit numbers from 1; 0 if it has no word of the query. A unit that
    /// covers more of a question's weight scores higher.
    pub(crate) fn scores(&self, units: usize) -> Vec<f32> {
        let mut scores = vec![0.0; units];
        for leg in self.with_weight() {
            for (score, fit) in scores.iter_mut().zip(&leg.fits) {
                *score = (leg.share * fit.sum * (fit.found / leg.total).sqrt()).max(*score);
            }
        }
        scores
    }

    /// Returns how well each session fits, by its number, relative to the best one.
    pub(crate) fn session_scores(&self, sessions: usize) -> Vec<f32> {
        let mut scores = vec![0.0_f32; sessions + 1];
        for leg in self.with_weight() {
            for (score, weight) in scores.iter_mut().zip(&leg.sessions) {
                *score = (leg.share * weight / leg.total).max(*score);
            }
        }
        let best = scores.iter().copied().fold(0.0, f32::max);
        if best > 0.0 {
            for score in &mut scores {
                *score /= best;
            }
        }
        scores
    }

    fn with_weight(&self) -> impl Iterator<Item = &SubQueryScores> {
        self.of_each.iter().filter(|leg| leg.total > 0.0)
    }

    /// Returns the share of this search's weight that the unit covers, from 0 to 1: of its own words alone, or including
    /// those told next to it, whichever is greater. No single turn is expected to cover a whole message that asks nothing:
    /// the weight of a long question is enough.
    pub(crate) fn coverage(&self, sought: usize, seq: u32) -> f32 {
        let Some((leg, fit)) = self.of_each.get(sought).and_then(|leg| Some((leg, leg.fit(seq)?))) else {
            return 0.0;
        };
        let share = |found: f32, total: f32| if total > 0.0 { (found / total).min(1.0) } else { 0.0 };
        let asks_nothing = leg.role == Role::Statement;
        let whole = if asks_nothing { leg.wanted.own.min(QUESTION_WEIGHT) } else { leg.wanted.own };
        share(fit.covered.own, whole).max(share(fit.covered.all, leg.wanted.all))
    }

    /// Returns the weighted coverage of the search that the unit covers most.
    pub(crate) fn most_covered(&self, seq: u32) -> f32 {
        (0..self.of_each.len())
            .map(|sought| self.share(sought) * self.coverage(sought, seq))
            .fold(0.0, f32::max)
    }

    /// Returns the weight of each word of the query, the heaviest first if there are many.
    pub(crate) fn weights(&self) -> Vec<(Word, f64)> {
        let mut weights: Vec<(Word, f64)> = Vec::new();
        let shared = |leg: &SubQueryScores| {
            let share = f64::from(leg.share);
            leg.weights.iter().map(|&(word, weight)| (word, share * weight)).collect::<Vec<_>>()
        };
        for (word, weight) in self.of_each.iter().flat_map(shared) {
            match weights.iter_mut().find(|(known, _)| *known == word) {
                Some((_, known)) => *known = weight.max(*known),
                None => weights.push((word, weight)),
            }
        }
        if weights.len() > MAX_QUERY_WORDS {
            weights.sort_by(|a, b| b.1.total_cmp(&a.1));
            weights.truncate(MAX_QUERY_WORDS);
        }
        weights
    }

    /// Whether the query names one of several speakers.
    pub(crate) fn names_speaker(&self) -> bool {
        self.of_each.iter().any(|leg| !leg.spoken.is_empty())
    }

    /// Whether the query is a quotation.
    pub(crate) fn quotes(&self) -> bool {
        self.of_each.iter().any(|leg| leg.fits.iter().any(|fit| leg.is_quoted(fit)))
    }

    /// Whether the unit has every word of a query with many words: the query quotes it, or nearly.
    pub(crate) fn is_quoted(&self, seq: u32) -> bool {
        self.of_each.iter().any(|leg| leg.fit(seq).is_some_and(|fit| leg.is_quoted(fit)))
    }

    /// Whether the query names one of several speakers, and this speaker said the unit.
    pub(crate) fn is_spoken_by_whom_it_names(&self, seq: u32) -> bool {
        self.of_each.iter().any(|leg| leg.spoken.binary_search(&seq).is_ok())
    }

    /// Whether some postings could not be read.
    pub(crate) fn is_damaged(&self) -> bool {
        self.of_each.iter().any(|leg| leg.is_damaged)
    }
}

impl SubQueryScores {
    fn is_quoted(&self, fit: &UnitFit) -> bool {
        self.distinct >= QUOTED_WORDS && self.role != Role::Background && fit.themselves == self.distinct
    }

    fn fit(&self, seq: u32) -> Option<&UnitFit> {
        self.fits.get((seq as usize).checked_sub(1)?)
    }
}

/// Looks up every word to search for, and its synonyms.
pub(crate) fn look_up(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &UserIndex,
    sought: &[SubQuery],
) -> Result<LexicalScores> {
    snapshot.postings(scope, |postings| {
        sought
            .iter()
            .map(|one| look_up_in(postings, index, one))
            .collect::<Result<_>>()
            .map(LexicalScores::new)
    })
}

fn look_up_in(postings: &Postings<'_>, index: &UserIndex, sought: &SubQuery) -> Result<SubQueryScores> {
    let (query, role) = (&sought.words[..], sought.role);
    let looking = Looking::new(postings, index);
    let units = index.units.len();
    let mut best_in = vec![0.0_f32; index.session_count() + 1];
    let (fits, sessions) = (vec![UnitFit::default(); units], best_in.clone());
    let mut leg = SubQueryScores { fits, sessions, role, ..SubQueryScores::default() };
    let mut noted = QueryWordCounts { often: vec![Often::default(); units], seqs: Vec::new() };
    let mut speakers: Vec<Vec<u32>> = Vec::new();
    let too_common = too_common(query);
    for &Weighted { word, weight: share, is_name, is_told, is_dull } in query {
        if leg.weights.len() == MAX_QUERY_WORDS {
            break;
        }
        let (mut hits, mut spoken) = (0, Vec::new());
        looking.for_each(word, |seq, often, is_name| {
            hits += 1;
            noted.at(seq).itself = often;
            if is_name {
                spoken.push(seq);
            }
        })?;
        // In a long message, only words that the user has said before count.
        if hits == 0 && query.len() > MAX_QUERY_WORDS && (is_told || role != Role::Question) {
            continue;
        }
        // Names have no synonyms. The name of someone who speaks in every turn distinguishes nothing.
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
        let is_own = share >= 1.0 && !is_told;
        leg.total += weight;
        if !is_told {
            leg.own_total += weight;
        }
        let wanted = if is_dull { DULL * weight } else { weight };
        leg.wanted.add(wanted, is_told);
        leg.distinct += u8::from(is_own);
        best_in.fill(0.0);
        noted.drain(|seq, Often { itself, alike }| {
            let (often, found) = (itself.max(alike), if itself > 0.0 { 1.0 } else { alike.min(1.0) });
            let fit = &mut leg.fits[seq as usize - 1];
            fit.sum += weight * often * (K1 + 1.0) / (often + K1);
            fit.found += weight * found;
            let covered = covered(found, often);
            fit.covered.add(wanted * covered, is_told);
            let best = &mut best_in[index.around[seq as usize - 1].session as usize];
            *best = covered.max(*best);
            fit.themselves += u8::from(itself > 0.0 && is_own);
        });
        for (session, best) in leg.sessions.iter_mut().zip(&best_in) {
            *session += weight * best;
        }
    }
    if let [spoken] = &mut speakers[..]
        && role != Role::Background
    {
        leg.spoken = std::mem::take(spoken);
        leg.spoken.retain(|&seq| index.unit(seq).is_some_and(|unit| !unit.traits.has_reply));
    }
    leg.is_damaged = looking.is_damaged.get();
    Ok(leg)
}

/// Where a word occurs, and its weight.
pub(crate) struct WeightedWord {
    pub(crate) rarity: f64,
    /// The units that contain the word, ascending, each with how much of the word they cover, from 0 to 1: mostly for its
    /// presence.
    pub(crate) units: Vec<(u32, f32)>,
}

/// Looks up one word without synonyms.
pub(crate) fn standing(postings: &Postings<'_>, index: &UserIndex, word: Word) -> Result<WeightedWord> {
    let mut units = Vec::new();
    Looking::new(postings, index).for_each(word, |seq, often, _| units.push((seq, covered(1.0, often))))?;
    let hits = u32::try_from(units.len()).unwrap_or(u32::MAX);
    Ok(WeightedWord { rarity: rarity(word, hits, index.lengths.units), units })
}

/// Returns how much of a word is covered by its presence and frequency: two thirds for the presence.
fn covered(found: f32, often: f32) -> f32 {
    (2.0 * found + often.min(1.0)) / 3.0
}

struct Looking<'a> {
    postings: &'a Postings<'a>,
    index: &'a UserIndex,
    /// By how much each word of a field reduces the weight of a match in that field.
    long_head: f32,
    long_rest: f32,
    is_damaged: Cell<bool>,
}

impl<'a> Looking<'a> {
    fn new(postings: &'a Postings<'a>, index: &'a UserIndex) -> Self {
        let [long_head, long_rest] = index.lengths.averages().map(|average| B / average);
        Self { postings, index, long_head, long_rest, is_damaged: Cell::new(false) }
    }

    /// Calls `each` for every unit with the word, ascending: with the word's frequency, weighted by field and length, and
    /// whether it is the speaker's name. Reads first the postings, then the rows after the word's last posting.
    fn for_each(&self, word: Word, mut each: impl FnMut(u32, f32, bool)) -> Result<()> {
        let lengths = &self.index.field_lengths;
        let mut show = |seq: u32, counts: FieldCounts| {
            // A missing unit was erased since the postings were written; its postings will be removed.
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
        let PostingsSummary { last, is_damaged } = self.postings.for_each(word, &mut show)?;
        self.is_damaged.set(self.is_damaged.get() || is_damaged);
        for &(seq, counts) in self.index.tail.with_word(word, last) {
            show(seq, counts);
        }
        Ok(())
    }
}

/// How often each unit contains one word of the query and those that mean nearly the same.
struct QueryWordCounts {
    /// By unit number, from 1; all zeros except for `seqs`.
    often: Vec<Often>,
    /// The units with a count, each once, in the order in which they were found.
    seqs: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Often {
    itself: f32,
    alike: f32,
}

impl QueryWordCounts {
    /// Returns the unit's count, which the caller must make greater than 0.
    fn at(&mut self, seq: u32) -> &mut Often {
        let often = &mut self.often[seq as usize - 1];
        if often.itself == 0.0 && often.alike == 0.0 {
            self.seqs.push(seq);
        }
        often
    }

    /// Calls `each` once for every counted unit, and resets all counts.
    fn drain(&mut self, mut each: impl FnMut(u32, Often)) {
        for seq in self.seqs.drain(..) {
            each(seq, std::mem::take(&mut self.often[seq as usize - 1]));
        }
    }
}

/// Returns the commonness from which words of the query are not expanded with synonyms.
fn too_common(query: &[Weighted]) -> f64 {
    let mut commonness: Vec<f64> = query.iter().map(|weighted| lexicon::commonness(weighted.word)).collect();
    commonness.sort_by(f64::total_cmp);
    commonness.get(WITH_SYNONYMS).copied().unwrap_or(f64::INFINITY)
}

/// Returns the idf of BM25, never negative, with [`PRIOR_TURNS`] turns of general English added to the user's.
fn rarity(word: Word, hits: u32, units: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of turns are far below 2^52")]
    let (hits, units) = (f64::from(hits), units as f64);
    let (n, df) = (units + PRIOR_TURNS, hits + PRIOR_TURNS * lexicon::commonness(word));
    libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
}
