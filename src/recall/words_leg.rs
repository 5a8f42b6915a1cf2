//! The evidence of words: BM25 over the fields of each turn, with the user's own statistics.
//!
//! A word counts by the field it stands in (BM25F: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework",
//! section 3.6.1): in the head of a turn, or as the name of who speaks, it weighs 1, in the rest 0.15. Each field is
//! measured against its own average length. Words of like meaning stand in for a word, by the square of their cosine.

use rusqlite::Connection;

use crate::{
    embed::lexicon,
    error::Result,
    recall::{
        query::Weighted,
        user_index::{Averages, UserIndex},
    },
    store::{postings, users::Scope},
    text::words::{EncodedWords, FieldCounts, Word},
};

/// How soon more of the same word stops counting.
const K1: f64 = 1.0;
/// How much the length of a field matters, from 0 to 1.
const B: f64 = 0.4;
/// What the rest of a turn weighs beside its head.
const REST: f64 = 0.15;
/// How many turns of general English stand beside the user's own when a word's rarity is judged: in a short history every
/// word is rare.
const PRIOR_TURNS: f64 = 200.0;

/// What words say of each unit.
#[derive(Debug, Default)]
pub(crate) struct WordsLeg {
    /// By number, from 1.
    scores: Vec<Score>,
    /// The weight of all words of the query.
    total: f64,
    /// What each word of the query weighs: its rarity.
    pub(crate) weights: Vec<(Word, f64)>,
    /// How many different words the query has.
    distinct: u32,
    /// The units that the one person said whom the query names, ascending.
    spoken: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    sum: f64,
    /// The weight of the words that were found.
    found: f64,
    /// How many words of the query stand in it themselves.
    themselves: u32,
}

/// A query with fewer words is no quotation.
const QUOTED_WORDS: u32 = 5;

impl WordsLeg {
    /// How well each unit fits, by number, from 1; 0: it has no word of the query. What covers more of the query's weight
    /// comes first.
    pub(crate) fn scores(&self, units: usize) -> Vec<f64> {
        let fit = |score: &Score| {
            if score.sum > 0.0 { score.sum * (score.found / self.total).sqrt() } else { 0.0 }
        };
        let mut scores: Vec<f64> = self.scores.iter().map(fit).collect();
        scores.resize(units, 0.0); // None, if the words could not be read.
        scores
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
        let score = (seq as usize).checked_sub(1).and_then(|at| self.scores.get(at));
        self.may_quote() && score.is_some_and(|score| score.themselves == self.distinct)
    }

    /// Whether the query names one of several speakers, and this unit is what that one said.
    pub(crate) fn is_spoken_by_whom_it_names(&self, seq: u32) -> bool {
        self.spoken.binary_search(&seq).is_ok()
    }
}

/// Looks every word of the query up, and those that mean nearly the same.
pub(crate) fn look_up(
    conn: &Connection,
    scope: &Scope,
    index: &UserIndex,
    query: &[Weighted],
) -> Result<WordsLeg> {
    let looking = Looking {
        conn,
        scope,
        index,
        averages: index.lengths().averages(),
        tail: index
            .tail()
            .iter()
            .filter_map(|(seq, words)| Some((*seq, EncodedWords::parse(words)?)))
            .collect(),
    };
    let mut leg = WordsLeg { scores: vec![Score::default(); index.units().len()], ..WordsLeg::default() };
    let mut noted = Noted { often: vec![Often::default(); index.units().len()], seqs: Vec::new() };
    let mut speakers: Vec<Vec<u32>> = Vec::new();
    for &Weighted { word, weight: share } in query {
        let hits = looking.hits(word)?;
        let weight = share * rarity(word, hits.len(), index.lengths().units);
        leg.total += weight;
        leg.distinct += u32::from(share == 1.0);
        leg.weights.push((word, weight));
        let spoken: Vec<u32> = hits.iter().filter(|hit| hit.counts.name).map(|hit| hit.seq).collect();
        // A name stands for nobody else; who speaks in every turn is nobody in particular.
        if spoken.is_empty() {
            for (synonym, cosine) in lexicon::synonyms(word) {
                for hit in looking.hits(synonym)? {
                    let name = f64::from(u8::from(hit.counts.name));
                    noted.at(hit.seq).alike += cosine * cosine * (hit.often - name);
                }
            }
        } else if (spoken.len() as u64) < index.lengths().named && !speakers.contains(&spoken) {
            speakers.push(spoken);
        }
        for hit in &hits {
            noted.at(hit.seq).itself = hit.often;
        }
        noted.drain(|seq, Often { itself, alike }| {
            let (often, found) = (itself.max(alike), if itself > 0.0 { 1.0 } else { alike.min(1.0) });
            let score = &mut leg.scores[seq as usize - 1];
            score.sum += weight * often * (K1 + 1.0) / (often + K1);
            score.found += weight * found;
            score.themselves += u32::from(itself > 0.0 && share == 1.0);
        });
    }
    if let [spoken] = &mut speakers[..] {
        leg.spoken = std::mem::take(spoken);
        leg.spoken.retain(|&seq| index.unit(seq).is_some_and(|unit| !unit.facts.traits.has_reply));
    }
    Ok(leg)
}

/// A word in a unit.
struct Hit {
    seq: u32,
    counts: FieldCounts,
    /// How often, by field and length.
    often: f64,
}

struct Looking<'a> {
    conn: &'a Connection,
    scope: &'a Scope,
    index: &'a UserIndex,
    averages: Averages,
    tail: Vec<(u32, EncodedWords<'a>)>,
}

impl Looking<'_> {
    /// Every unit with the word, ascending: from the postings, and from the rows behind the word's last posting.
    fn hits(&self, word: Word) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        let mut add = |seq: u32, counts: FieldCounts| {
            if let Some(unit) = self.index.unit(seq) {
                let (head, rest) = (unit.facts.head_len, unit.facts.rest_len);
                let field = |count: u8, len: u16, average: f64| {
                    f64::from(count) / (1.0 - B + B * f64::from(len) / average)
                };
                let often = f64::from(u8::from(counts.name))
                    + field(counts.head, head, self.averages.head)
                    + REST * field(counts.rest, rest, self.averages.rest);
                hits.push(Hit { seq, counts, often });
            }
        };
        let last = postings::for_each(self.conn, self.scope, word, &mut add)?;
        for (seq, words) in self.tail.iter().filter(|(seq, _)| *seq > last) {
            if let Some(counts) = words.field_counts(word) {
                add(*seq, counts);
            }
        }
        Ok(hits)
    }
}

/// How often one word of the query stands in each unit, and those that mean nearly the same.
struct Noted {
    /// By number, from 1; all zeros but for `seqs`.
    often: Vec<Often>,
    seqs: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Often {
    itself: f64,
    alike: f64,
}

impl Noted {
    fn at(&mut self, seq: u32) -> &mut Often {
        let often = &mut self.often[seq as usize - 1];
        if often.itself == 0.0 && often.alike == 0.0 {
            self.seqs.push(seq);
        }
        often
    }

    /// Shows each unit once, and forgets all.
    fn drain(&mut self, mut each: impl FnMut(u32, Often)) {
        self.seqs.sort_unstable();
        self.seqs.dedup();
        for seq in self.seqs.drain(..) {
            each(seq, std::mem::take(&mut self.often[seq as usize - 1]));
        }
    }
}

/// The idf of BM25, never negative, with [`PRIOR_TURNS`] turns of general English added to the user's.
fn rarity(word: Word, hits: usize, units: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of turns are far below 2^52")]
    let (hits, units) = (hits as f64, units as f64);
    let (n, df) = (units + PRIOR_TURNS, hits + PRIOR_TURNS * lexicon::commonness(word));
    libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
}
