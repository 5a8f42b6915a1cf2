//! Does the index say what the rows say: words, facts, vectors, and how far each of them is.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Row, params};

use crate::{
    error::Result,
    index::{facts, facts::Facts, postings},
    store::{
        rows::{
            units,
            vectors::{self, Space},
        },
        scope::Scope,
        sql::Sql,
    },
    text::words::{EncodedWords, FieldCounts, Word},
};

/// Where the index does not say what the rows say: units, unless said otherwise.
#[derive(Debug, Default)]
pub(crate) struct IndexProblems {
    /// Units whose postings are not their words; and rows of postings that cannot be read.
    pub(crate) words: u64,
    /// Units whose facts are not those of their rows; and blocks that cannot be read.
    pub(crate) facts: u64,
    /// Vectors of no unit; and blocks that cannot be read.
    pub(crate) vectors: u64,
    /// Users who cannot be read to their end.
    pub(crate) unread: u64,
}

/// Compares the index of every user with the rows.
pub(crate) fn problems(conn: &dyn Sql) -> Result<IndexProblems> {
    let mut stmt = conn.prepare("SELECT user_id, user_no FROM user_scopes ORDER BY user_no")?;
    let scopes =
        stmt.query_map([], |row| Ok(Scope { user_id: row.get("user_id")?, user_no: row.get("user_no")? }))?;
    let mut found = IndexProblems::default();
    for scope in scopes {
        let is_read = scope.map_err(Into::into).and_then(|scope| of_user(conn, &scope, &mut found));
        found.unread += u64::from(is_read.is_err());
    }
    Ok(found)
}

fn of_user(conn: &dyn Sql, scope: &Scope, found: &mut IndexProblems) -> Result<()> {
    let extent = units::extent(conn, scope)?;
    let mut posted = Posted::read(conn, scope, extent.indexed_seq, &mut found.words)?;
    let mut blocks = facts_of(conn, scope, &mut found.facts)?;
    let live = live(conn, scope)?;
    for &seq in &live {
        let facts = blocks.remove(&seq);
        // One by one: a unit that cannot be read, which is a problem of another check, hides no other.
        let compared = units::for_each(conn, scope, (seq - 1, seq), |unit| {
            if let Some(words) = EncodedWords::parse(&unit.words) {
                posted.take(seq, words, &mut found.words);
            }
            let is_same = facts.map_or(seq > extent.indexed_seq, |facts| facts == unit.facts);
            found.facts += u64::from(!is_same);
            Ok(())
        });
        if compared.is_err() {
            posted.skip(seq);
        }
    }
    found.words += posted.left();
    found.facts += blocks.len() as u64;
    vectors_of(conn, scope, &live, &mut found.vectors)
}

/// The numbers of a user's units, ascending; what is no number of a unit is left to other checks.
fn live(conn: &dyn Sql, scope: &Scope) -> Result<Vec<u32>> {
    let mut stmt = conn.prepare(
        "SELECT seq FROM recall_units WHERE user_no = ?1 AND seq BETWEEN 1 AND 4294967295 ORDER BY seq",
    )?;
    let rows = stmt.query_map([scope.user_no], |row| row.get("seq"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What the postings say of each unit.
#[derive(Default)]
struct Posted {
    indexed_seq: u32,
    /// Of each indexed unit a sum over its postings, from which those of its words are taken.
    sums: HashMap<u32, u64>,
    /// The postings of units behind the index: a flush that was cut short leaves them, for some words.
    behind: BTreeMap<(u32, Word), FieldCounts>,
    /// Of these words the last unit: readers look at the rows after it.
    lasts: HashMap<Word, u32>,
}

impl Posted {
    fn read(conn: &dyn Sql, scope: &Scope, indexed_seq: u32, problems: &mut u64) -> Result<Self> {
        let mut posted = Self { indexed_seq, ..Self::default() };
        let mut stmt = conn.prepare(
            "SELECT word, first_seq, last_seq, unit_count, data FROM postings WHERE user_no = ?1
             ORDER BY word, first_seq",
        )?;
        let mut rows = stmt.query([scope.user_no])?;
        while let Some(row) = rows.next()? {
            match chunk(row) {
                Some((word, postings)) => {
                    for (seq, counts) in postings {
                        posted.add(seq, word, counts);
                    }
                }
                None => *problems += 1,
            }
        }
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

    /// A unit has these words.
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

    /// Nobody knows what a unit's words are.
    fn skip(&mut self, seq: u32) {
        self.sums.remove(&seq);
        self.behind.retain(|(other, _), _| *other != seq);
    }

    /// Units that are gone, or whose words are others.
    fn left(&self) -> u64 {
        let mut behind: Vec<u32> = self.behind.keys().map(|(seq, _)| *seq).collect();
        behind.dedup();
        (self.sums.len() + behind.len()) as u64
    }
}

/// A row of postings; `None`: it cannot be read, or is not what its columns say.
fn chunk(row: &Row<'_>) -> Option<(Word, Vec<(u32, FieldCounts)>)> {
    let (first, last): (u32, u32) = (row.get("first_seq").ok()?, row.get("last_seq").ok()?);
    let data: Vec<u8> = row.get("data").ok()?;
    let mut found = Vec::new();
    let is_read = postings::for_each(first, &data, |seq, counts| found.push((seq, counts)));
    let is_ascending = found.is_sorted_by(|a, b| a.0 < b.0);
    let is_whole = found.len() == row.get::<_, usize>("unit_count").ok()?
        && (found.first()?.0, found.last()?.0) == (first, last);
    (is_read && is_ascending && is_whole).then_some((row.get("word").ok()?, found))
}

/// Sums of these differ for different words, but for one case in 2^64: `SplitMix64` (Steele, Lea and Flood 2014).
fn mixed(word: Word, counts: FieldCounts) -> u64 {
    let [head, rest] = counts.to_bytes();
    let mut z =
        (u64::from(word) << 16 | u64::from(head) << 8 | u64::from(rest)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The facts of every unit in the blocks.
fn facts_of(conn: &dyn Sql, scope: &Scope, problems: &mut u64) -> Result<HashMap<u32, Facts>> {
    let mut stmt = conn.prepare("SELECT block_no, body FROM unit_blocks WHERE user_no = ?1")?;
    let mut rows = stmt.query([scope.user_no])?;
    let mut found = HashMap::new();
    while let Some(row) = rows.next()? {
        let read = || facts::decode(row.get("block_no").ok()?, &row.get::<_, Vec<u8>>("body").ok()?);
        match read() {
            Some(units) => found.extend(units.into_iter().map(|unit| (unit.seq, unit))),
            None => *problems += 1,
        }
    }
    Ok(found)
}

/// Vectors of no living unit. Which units have none is no matter: not every text means something to every model.
fn vectors_of(conn: &dyn Sql, scope: &Scope, live: &[u32], problems: &mut u64) -> Result<()> {
    let mut stmt = conn.prepare(
        "SELECT e.space_no AS space_no, e.dims AS dims FROM embedding_spaces AS e
         WHERE e.space_no IN (SELECT space_no FROM vector_blocks WHERE user_no = ?1) ORDER BY e.space_no",
    )?;
    let read = |row: &Row<'_>| Ok(Space { space_no: row.get("space_no")?, dims: row.get("dims")? });
    for space in stmt.query_map(params![scope.user_no], read)? {
        let space = space?;
        let each = |block: vectors::Block<'_>| {
            *problems += block.owners().filter(|(seq, _)| live.binary_search(seq).is_err()).count() as u64;
        };
        *problems += vectors::for_each_block(conn, scope, space, 0, each)? as u64;
    }
    Ok(())
}
