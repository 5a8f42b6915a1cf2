//! Compares the index with the rows: postings, facts and vectors.

use std::collections::{BTreeMap, HashMap};

use crate::{
    compress::derived::RuleVersions,
    error::Result,
    index::{
        facts::{self, UnitFacts},
        postings::{self, PostingsChunk},
    },
    model::place::Seq,
    store::{
        rows::{checks, unit_texts, units, users, vectors},
        scope::Scope,
        sql::Sql,
    },
    text::words::{EncodedWords, FieldCounts, Word},
};

/// The number of differences between the index and the rows.
#[derive(Debug, Default)]
pub(crate) struct IndexProblems {
    /// Units whose postings differ from their words, and rows of postings that cannot be read.
    pub(crate) words: u64,
    /// Units whose facts differ from their rows, and blocks that cannot be read.
    pub(crate) facts: u64,
    /// Vectors without a unit, and blocks that cannot be read.
    pub(crate) vectors: u64,
    /// Users whose rows could not all be read.
    pub(crate) unread: u64,
}

/// Compares the index of every user with the rows.
pub(crate) fn problems(sql: &dyn Sql) -> IndexProblems {
    let mut found = IndexProblems::default();
    for scope in checks::users(sql) {
        // Damage ends the comparison for one user or, in the list of users, for all later ones.
        let is_read = scope.and_then(|scope| of_user(sql, &scope, &mut found));
        found.unread += u64::from(is_read.is_err());
    }
    found
}

fn of_user(sql: &dyn Sql, scope: &Scope, found: &mut IndexProblems) -> Result<()> {
    let extent = units::extent(sql, scope)?;
    let mut posted = Posted::read(sql, scope, extent.indexed_seq.0, &mut found.words)?;
    let mut blocks = facts_of(sql, scope, &mut found.facts)?;
    let live = checks::seqs(sql, scope)?;
    if users::rules(sql, scope)?.words != RuleVersions::NOW.words {
        // The index has the words of older rules. A job rebuilds it.
        return vectors_of(sql, scope, &live, &mut found.vectors);
    }
    let mut texts = unit_texts::UnitReader::new(sql, scope);
    for &seq in &live {
        let facts = blocks.remove(&seq);
        // Units are read one by one, so that the others are compared even if one cannot be read (another check reports it).
        let compared = texts.for_each((Seq(seq - 1), Seq(seq)), |unit| {
            if let Some(words) = EncodedWords::parse(&unit.words) {
                posted.take(seq, words, &mut found.words);
            }
            let is_same = facts.map_or(seq > extent.indexed_seq.0, |facts| facts == unit.facts);
            found.facts += u64::from(!is_same);
            Ok(())
        });
        if compared.is_err() {
            posted.skip(seq);
        }
    }
    found.words += posted.left();
    found.facts += blocks.len() as u64;
    vectors_of(sql, scope, &live, &mut found.vectors)
}

/// The postings of a user, by unit.
#[derive(Default)]
struct Posted {
    indexed_seq: u32,
    /// For each indexed unit, the sum of the hashes of its postings, which is compared with the sum over its words.
    sums: HashMap<u32, u64>,
    /// Postings of units after `indexed_seq`. An interrupted flush leaves them for some words.
    behind: BTreeMap<(u32, Word), FieldCounts>,
    /// For each word in `behind`, the last unit in its postings. Readers read the rows of the units after that.
    lasts: HashMap<Word, u32>,
}

impl Posted {
    fn read(sql: &dyn Sql, scope: &Scope, indexed_seq: u32, problems: &mut u64) -> Result<Self> {
        let mut posted = Self { indexed_seq, ..Self::default() };
        checks::each_chunk(sql, scope, &mut |chunk| {
            let read = chunk.and_then(|(word, chunk)| Some((word, postings_of(&chunk)?)));
            match read {
                Some((word, postings)) => {
                    for (seq, counts) in postings {
                        posted.add(seq, word, counts);
                    }
                }
                None => *problems += 1,
            }
        })?;
        Ok(posted)
    }

    fn add(&mut self, seq: u32, word: Word, counts: FieldCounts) {
        if seq > self.indexed_seq {
            self.behind.insert((seq, word), counts);
            self.lasts.insert(word, seq);
        } else {
            let sum = self.sums.entry(seq).or_default();
            *sum = sum.wrapping_add(mixed(word, counts));
        }
    }

    /// Removes the postings of a unit, and counts a problem if they differ from its words.
    fn take(&mut self, seq: u32, words: EncodedWords<'_>, problems: &mut u64) {
        if seq <= self.indexed_seq {
            let posted = self.sums.remove(&seq).unwrap_or(0);
            let said = words.iter().fold(0, |sum: u64, (word, counts)| sum.wrapping_add(mixed(word, counts)));
            *problems += u64::from(posted != said);
            return;
        }
        let mut is_sound = true;
        for (word, counts) in words.iter() {
            if self.lasts.get(&word).is_some_and(|last| seq <= *last) {
                is_sound &= self.behind.remove(&(seq, word)) == Some(counts);
            }
        }
        *problems += u64::from(!is_sound);
    }

    /// Removes the postings of a unit whose words cannot be read.
    fn skip(&mut self, seq: u32) {
        self.sums.remove(&seq);
        self.behind.retain(|(other, _), _| *other != seq);
    }

    /// Returns how many units have postings left: units that are gone, or that do not have these words.
    fn left(&self) -> u64 {
        let mut behind: Vec<u32> = self.behind.keys().map(|(seq, _)| *seq).collect();
        behind.dedup();
        (self.sums.len() + behind.len()) as u64
    }
}

/// Decodes the postings of a row. `None` if they cannot be decoded or contradict the row's columns.
fn postings_of(chunk: &PostingsChunk) -> Option<Vec<(u32, FieldCounts)>> {
    let mut found = Vec::new();
    let is_read = postings::for_each(chunk.first, &chunk.data, |seq, counts| found.push((seq, counts)));
    let is_ascending = found.is_sorted_by(|a, b| a.0 < b.0);
    let is_whole = found.len() == chunk.units as usize
        && (found.first()?.0, found.last()?.0) == (chunk.first, chunk.last);
    (is_read && is_ascending && is_whole).then_some(found)
}

/// Returns a hash of one posting, by `SplitMix64` (Steele, Lea and Flood 2014). The sums of the hashes of different sets of
/// postings differ, except in one case in 2^64.
fn mixed(word: Word, counts: FieldCounts) -> u64 {
    let [head, rest] = counts.to_bytes();
    let mut z =
        (u64::from(word) << 16 | u64::from(head) << 8 | u64::from(rest)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Reads the facts of every unit from the blocks.
fn facts_of(sql: &dyn Sql, scope: &Scope, problems: &mut u64) -> Result<HashMap<u32, UnitFacts>> {
    let mut found = HashMap::new();
    checks::each_unit_block(sql, scope, |block| {
        match block.and_then(|(block, body)| facts::decode(block, body)) {
            Some(units) => found.extend(units.into_iter().map(|unit| (unit.seq, unit))),
            None => *problems += 1,
        }
    })?;
    Ok(found)
}

/// Counts the vectors whose unit does not exist. A unit without vectors is not a problem, because some models have no vector
/// for some texts.
fn vectors_of(sql: &dyn Sql, scope: &Scope, live: &[u32], problems: &mut u64) -> Result<()> {
    for space in checks::spaces(sql, scope)? {
        let each = |block: vectors::VectorBlock<'_>| {
            *problems += block.owners().filter(|(seq, _)| live.binary_search(seq).is_err()).count() as u64;
        };
        *problems += vectors::for_each_block(sql, scope, space, 0, each)? as u64;
    }
    Ok(())
}
