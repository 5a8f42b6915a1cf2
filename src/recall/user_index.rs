//! The index of one user that recall keeps in memory: where each unit is, the units' vectors, the words of units that the
//! file's index does not have yet, and the user's anchors and standing wishes. It caches what the file contains; every
//! recall first refreshes it to the snapshot that it reads.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::{
    embed::{BuiltIn, matrix::Matrix},
    error::Result,
    index::{block_of, facts::UnitFacts},
    model::{
        anchor::Anchor,
        place::{Owner, Seq, SessionNo},
    },
    recall::{tail::Tail, wishes::Wishes},
    store::{
        rows::{
            unit_texts::UnitWithWords,
            units::Extent,
            vectors::{self, Space},
        },
        scope::Scope,
        snapshot::Snapshot,
    },
};

/// Stands for "no unit": numbers begin at 1.
const NONE: u32 = 0;

/// One user's units, as they were in the file at the last refresh.
#[derive(Debug, Default)]
pub(crate) struct UserIndex {
    pub(crate) extent: Extent,
    /// The unit with number n is at n - 1; erased units have `seq` 0.
    pub(crate) units: Vec<UnitFacts>,
    /// The neighbours of each unit. Separate from the facts, because every recall reads all of them.
    pub(crate) around: Vec<Around>,
    /// The lengths of head and rest of each unit, kept compact: each match of a word reads them.
    pub(crate) field_lengths: Vec<[u16; 2]>,
    sessions: HashMap<i64, SessionEntry>,
    pub(crate) lengths: Lengths,
    /// The latest time at which a turn was said.
    newest_ms: Option<i64>,
    /// The units that are texts of memories, current or not, ascending.
    memories: Vec<u32>,
    /// The units of `memories` that are known to be outdated.
    older: Vec<u32>,
    /// The words of the units that the file's index does not have yet.
    pub(crate) tail: Tail,
    spaces: Vec<SpaceIndex>,
    pub(crate) anchors: Vec<Anchor>,
    wishes: Wishes,
    pub(crate) damage: IndexDamage,
}

/// How much of the user's data could not be read and was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexDamage {
    /// Anchors that are damaged, or whose evidence is.
    pub(crate) anchors: usize,
    /// Blocks of facts; the facts were read from the rows instead.
    pub(crate) blocks: usize,
    /// Blocks of vectors, in all spaces that were used.
    pub(crate) vectors: usize,
}

/// A unit's session, and the unit's neighbours there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    /// The session's number among the user's, from 1; a memory is alone in its session. 0 for erased units, which have no
    /// rank.
    pub(crate) session: u32,
    /// The unit before this one, or 0.
    pub(crate) previous: u32,
    /// The unit after this one, or 0.
    pub(crate) next: u32,
    /// Whether the unit before this one asks something.
    pub(crate) follows_question: bool,
}

#[derive(Clone, Copy, Debug)]
struct SessionEntry {
    number: u32,
    last_seq: u32,
}

/// How many units there are, how many have each field, and how many words these have in total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Lengths {
    pub(crate) units: u64,
    /// Turns whose speaker has a name.
    pub(crate) named: u64,
    head: Total,
    rest: Total,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Total {
    units: u64,
    words: u64,
}

/// The vectors of one space.
#[derive(Debug)]
pub(crate) struct SpaceIndex {
    space: Space,
    /// All units up to here are in the matrix, unless they have no vector.
    pub(crate) covered_seq: u32,
    pub(crate) matrix: Matrix,
}

impl Lengths {
    fn add(&mut self, facts: &UnitFacts) {
        self.units += 1;
        self.named += u64::from(facts.traits.is_named);
        for (total, len) in [(&mut self.head, facts.head_len), (&mut self.rest, facts.rest_len)] {
            total.units += u64::from(len > 0);
            total.words += u64::from(len);
        }
    }

    /// The average number of words of head and rest, over the units that have them.
    pub(crate) fn averages(&self) -> [f32; 2] {
        [self.head.average(), self.rest.average()]
    }
}

impl Total {
    #[expect(clippy::cast_precision_loss, reason = "an average length needs no 53 bits")]
    #[expect(clippy::cast_possible_truncation, reason = "nor 24")]
    fn average(self) -> f32 {
        (self.words as f64 / self.units.max(1) as f64).max(1.0) as f32
    }
}

/// If a refresh brings at most this many new texts of memories, it looks up the texts that they replace.
const MOST_ASKED: usize = 64;

impl UserIndex {
    /// Reads everything except the vectors, which are read when a space is needed.
    pub(crate) fn load(snapshot: &Snapshot<'_>, scope: &Scope) -> Result<Self> {
        let extent = snapshot.extent(scope)?;
        let mut loaded =
            Self { extent: Extent { last_seq: extent.indexed_seq, ..extent }, ..Self::default() };
        loaded.units.reserve_exact(extent.last_seq.0 as usize);
        loaded.around.reserve_exact(extent.last_seq.0 as usize);
        loaded.field_lengths.reserve_exact(extent.last_seq.0 as usize);
        loaded.damage.blocks = snapshot.indexed_facts(scope, |facts| loaded.place(facts))?;
        (loaded.anchors, loaded.damage.anchors) = snapshot.sound_anchors(scope)?;
        loaded.take_new(snapshot, scope, extent)?;
        Ok(loaded)
    }

    /// Refreshes the index to a snapshot. Returns false if the epoch has changed, so that it must be reloaded.
    pub(crate) fn refresh(&mut self, snapshot: &Snapshot<'_>, scope: &Scope) -> Result<bool> {
        let extent = snapshot.extent(scope)?;
        if extent.epoch != self.extent.epoch || extent.last_seq < self.extent.last_seq {
            return Ok(false);
        }
        if extent.anchor_version != self.extent.anchor_version {
            (self.anchors, self.damage.anchors) = snapshot.sound_anchors(scope)?;
        }
        self.take_new(snapshot, scope, extent)?;
        Ok(true)
    }

    /// Returns the latest time up to `now` at which a turn was said. This need not be that of the turn recorded last, which
    /// may be an old imported one or dated in the future.
    pub(crate) fn last_said_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let now_ms = now.timestamp_millis();
        let last_ms = match self.newest_ms {
            // All units are examined only if something is dated in the future.
            Some(newest_ms) if newest_ms > now_ms => {
                let turns = self.units.iter().filter(|unit| unit.seq > 0 && unit.owner() != Owner::Memory);
                let said = turns.map(|unit| unit.said_at_ms);
                said.filter(|at_ms| *at_ms <= now_ms).max()
            }
            newest => newest,
        };
        last_ms.and_then(DateTime::from_timestamp_millis)
    }

    fn take_new(&mut self, snapshot: &Snapshot<'_>, scope: &Scope, extent: Extent) -> Result<()> {
        let known = self.extent.last_seq;
        if extent.last_seq > known {
            let known_memories = self.memories.len();
            snapshot.units(scope, (known, extent.last_seq), |UnitWithWords { facts, words }| {
                self.place(facts);
                self.tail.push(facts.seq, &words);
                Ok(())
            })?;
            // A new text of a memory shows which one is outdated; if there are very many new ones, ranking finds the
            // outdated ones.
            let newest = &self.memories[known_memories..];
            if newest.len() <= MOST_ASKED {
                let before = snapshot.units_before(scope, newest)?;
                self.older
                    .extend(before.into_iter().filter(|seq| !self.older.contains(seq)).collect::<Vec<_>>());
            }
        }
        if extent.indexed_seq > self.extent.indexed_seq {
            self.tail.forget(extent.indexed_seq.0);
        }
        self.extent = extent;
        Ok(())
    }

    fn place(&mut self, facts: UnitFacts) {
        let seq = facts.seq;
        if self.units.len() < seq as usize {
            self.units.resize(seq as usize, UnitFacts::default());
            self.around.resize(seq as usize, Around::default());
            self.field_lengths.resize(seq as usize, [0; 2]);
        }
        let is_memory = facts.owner() == Owner::Memory;
        if is_memory && facts.head_len == 0 && facts.rest_len == 0 {
            self.units[seq as usize - 1] = facts; // It has no words: it has a place in the order, but no rank.
            return;
        }
        let number = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX).saturating_add(1);
        let session =
            self.sessions.entry(facts.session_no).or_insert(SessionEntry { number, last_seq: NONE });
        let (session, previous) = (session.number, std::mem::replace(&mut session.last_seq, seq));
        if let Some(before) = previous.checked_sub(1) {
            self.around[before as usize].next = seq;
        }
        let follows_question = self.unit(previous).is_some_and(|before| before.traits.asks);
        self.lengths.add(&facts);
        if is_memory {
            self.memories.push(seq);
        } else {
            self.newest_ms = self.newest_ms.max(Some(facts.said_at_ms));
        }
        let at = seq as usize - 1;
        self.units[at] = facts;
        self.around[at] = Around { session, previous, next: NONE, follows_question };
        self.field_lengths[at] = [facts.head_len, facts.rest_len];
    }

    /// Returns a unit by its number; `None` if it was erased or never existed.
    pub(crate) fn unit(&self, seq: u32) -> Option<&UnitFacts> {
        self.units.get((seq as usize).checked_sub(1)?).filter(|unit| unit.seq == seq)
    }

    /// The units that are texts of memories, current or not, ascending.
    pub(crate) fn memories(&self) -> &[u32] {
        &self.memories
    }

    /// The memories' units that are known to be outdated. They stay so: they have no rank, and lend nothing.
    pub(crate) fn older(&self) -> &[u32] {
        &self.older
    }

    /// Removes outdated units from all ranks for good.
    pub(crate) fn take_out(&mut self, older: &[u32]) {
        self.older.extend(older);
    }

    /// Returns a session's number among the user's, as in [`Around`].
    pub(crate) fn session_number(&self, session: SessionNo) -> Option<usize> {
        self.sessions.get(&session.0).map(|entry| entry.number as usize)
    }

    /// Returns the number of sessions, which are numbered from 1.
    pub(crate) fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Returns how many turns after this unit are found only by words, if vectors end there.
    pub(crate) fn uncovered(&self, covered_seq: u32) -> u32 {
        let behind = self.units.iter().skip(covered_seq as usize);
        let others = behind.filter(|unit| unit.owner() == Owner::Memory).count();
        let others = u32::try_from(others).unwrap_or(u32::MAX);
        self.extent.last_seq.0.saturating_sub(covered_seq).saturating_sub(others)
    }

    /// Returns the vectors of a space, up to date. Those that the built-in embedder has not made yet are made here, which
    /// takes microseconds each. Units that another embedder has not embedded yet are found only by words.
    pub(crate) fn space(
        &mut self,
        snapshot: &Snapshot<'_>,
        scope: &Scope,
        space: Space,
        built_in: Option<BuiltIn>,
    ) -> Result<&SpaceIndex> {
        let not_in_file = Space { space_no: vectors::NOT_IN_FILE, ..space };
        let at = match self.spaces.iter().position(|known| known.space == space) {
            Some(at) => at,
            // The space was added to the file meanwhile.
            None if built_in.is_some()
                && let Some(at) = self.spaces.iter().position(|known| known.space == not_in_file) =>
            {
                self.spaces[at].space = space;
                at
            }
            None => {
                self.spaces.push(SpaceIndex { space, covered_seq: 0, matrix: Matrix::new(space.dims) });
                self.spaces.len() - 1
            }
        };
        let last_seq = self.extent.last_seq.0;
        let known = &mut self.spaces[at];
        let embedded_seq = snapshot.embedded_seq(scope, space)?.0;
        if embedded_seq > known.covered_seq {
            match known.read(snapshot, scope, embedded_seq) {
                Ok(damaged) => self.damage.vectors += damaged,
                Err(error) => {
                    self.spaces.remove(at); // A half-read space would be read from its beginning again.
                    return Err(error);
                }
            }
        }
        let known = &mut self.spaces[at];
        if let Some(built_in) = built_in
            && last_seq > known.covered_seq
        {
            let mut originals = snapshot.originals(scope);
            for seq in known.covered_seq + 1..=last_seq {
                let Some(unit) = self.units.get(seq as usize - 1).filter(|unit| unit.seq == seq) else {
                    continue;
                };
                for piece in originals.pieces_of((Seq(seq), unit.owner()))? {
                    if let Some(vector) = built_in.embed_text(&piece.text) {
                        known.matrix.push(seq, piece.number, vector.numbers());
                    }
                }
                known.covered_seq = seq; // If interrupted, it continues here.
            }
            known.covered_seq = last_seq;
        }
        Ok(&self.spaces[at])
    }

    /// Returns the user's standing wishes, up to date.
    pub(crate) fn wishes(&mut self, snapshot: &Snapshot<'_>, scope: &Scope) -> Result<&Wishes> {
        self.wishes.refresh(snapshot, scope, &self.units)?;
        Ok(&self.wishes)
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn bytes(&self) -> usize {
        /// The size of an anchor with its values and evidence.
        const ANCHOR_BYTES: usize = 512;
        let matrices: usize = self.spaces.iter().map(|space| space.matrix.len_bytes()).sum();
        self.units.capacity() * (size_of::<UnitFacts>() + size_of::<Around>() + size_of::<[u16; 2]>())
            + self.sessions.capacity() * size_of::<(i64, SessionEntry)>()
            + (self.memories.capacity() + self.older.capacity()) * size_of::<u32>()
            + self.tail.bytes()
            + self.wishes.bytes()
            + matrices
            + self.anchors.len() * ANCHOR_BYTES
    }
}

impl SpaceIndex {
    /// Reads the vectors after `covered_seq`; returns how many blocks cannot be read.
    fn read(&mut self, snapshot: &Snapshot<'_>, scope: &Scope, embedded_seq: u32) -> Result<usize> {
        let (known, first) = (self.covered_seq, block_of(self.covered_seq + 1));
        let dims = self.space.dims;
        self.matrix.reserve(snapshot.vector_bytes(scope, self.space, first)?);
        let damaged = snapshot.vector_blocks(scope, self.space, first, |block| {
            // Units of a block are ordered, so the known ones are its beginning. While vectors are rebuilt, old ones follow
            // those that are done.
            let count = |until: u32| block.owners().take_while(|(seq, _)| *seq <= until).count();
            let (skip, end) = (count(known), count(embedded_seq));
            if skip < end {
                let vectors = &block.vectors[skip * dims..end * dims];
                self.matrix.extend_from(vectors, block.owners().take(end).skip(skip));
            }
        })?;
        self.covered_seq = embedded_seq;
        Ok(damaged)
    }
}
