//! Reads memories for recall: by unit, with the data that ranks them, their sources, and their neighbours.

use std::collections::HashSet;

use crate::{
    error::{Error, ErrorKind, Result},
    memory::facts::MemoryFacts,
    model::{
        edge::EdgeType,
        ids::MemoryId,
        memory::{
            filter::MemoryFilter,
            recalled::{MemoryFlags, RecalledMemory, SourceTurn},
            state::MemoryState,
            words::Volatility,
        },
        place::{MemoryNo, Seq},
        stored_time::StoredTime,
    },
    store::{
        rows::memories::{
            known,
            lists::{self, FilterParams},
            row, units,
        },
        scope::Scope,
        sql::{Sql, SqlRow, SqlValue, ToColumn, values},
    },
    text::words::{EncodedWords, Word},
};

/// The condition that no edit has given the memory of a source `q` another text.
macro_rules! says_the_same {
    () => {
        "NOT EXISTS (SELECT 1 FROM memory_changes AS c WHERE c.user_no = q.user_no AND c.memory_no = q.memory_no
           AND c.op = 'edit' AND c.reason = 'another text' AND c.undone_by IS NULL)"
    };
}

/// What ranking needs to know about the memory of a unit. The row is not checked against its checksum, because that would
/// mean reading the texts, which are stored after these columns. Only memories that are shown are read completely.
#[derive(Clone, Debug)]
pub(crate) struct UnitMemory {
    pub(crate) memory_no: MemoryNo,
    pub(crate) id: MemoryId,
    /// The unit with the memory's current text. `None` if the memory is not recalled.
    pub(crate) seq: Option<Seq>,
    pub(crate) facts: MemoryFacts,
    /// The units of the turns that the memory rests on, ascending. Empty if an edit has given it another text since.
    pub(crate) turns: Vec<u32>,
    /// The memory's words. Filled in only if another memory that was found rests on the same turn.
    pub(crate) words: HashSet<Word>,
    /// The unit of the memory that this one contradicts, and without which this one must not be shown. `None` if it may be
    /// shown alone.
    pub(crate) only_with: Option<u32>,
}

impl UnitMemory {
    /// Whether it says the same as another memory that rests on the same turn: they share three fifths of the words of the
    /// longer one.
    pub(crate) fn says_the_same_as(&self, other: &Self) -> bool {
        let shared = self.words.intersection(&other.words).count();
        let most = self.words.len().max(other.words.len());
        shared * 5 >= most * 3
    }
}

/// The memories of units.
pub(crate) struct MetMemories {
    /// In the order of the units. `None` if the unit is not a text of a memory that can be read.
    pub(crate) memories: Vec<Option<UnitMemory>>,
    /// An error for each memory that cannot be read.
    pub(crate) damaged: Vec<Error>,
}

pub(crate) fn of_units(sql: &dyn Sql, scope: &Scope, units: &[u32]) -> Result<MetMemories> {
    let (mut found, mut damaged) = (vec![None; units.len()], Vec::new());
    sql.query_many(
        "SELECT m.memory_no, m.id, m.seq, m.kind, m.status, m.frequency, m.frequency_since, m.importance, m.confidence,
                m.reliability, m.consolidation_threshold, m.volatility, m.validity_window_s, m.trust, m.learning_source,
                m.pinned, m.session_no IS NOT NULL AS is_volatile, m.said_at, m.created_at,
                coalesce(s.access_count, 0) AS access_count, s.last_used_at, s.validated_at
         FROM memory_units AS k
         JOIN user_memories AS m ON m.user_no = k.user_no AND m.memory_no = k.memory_no
         LEFT JOIN memory_state AS s ON s.user_no = m.user_no AND s.memory_no = m.memory_no
         WHERE k.user_no = ?1 AND k.seq = ?2",
        &sets(scope, units.iter().map(|seq| SqlValue::Integer((*seq).into()))),
        &mut |at, row| {
            match read(row) {
                Err(error) if error.kind() == ErrorKind::Corrupt => damaged.push(row::damaged(row.get(0)?)),
                met => found[at] = Some(met?),
            }
            Ok(())
        },
    )?;
    rest_on(sql, scope, &mut found)?;
    Ok(MetMemories { memories: found, damaged })
}

fn sets<'v>(scope: &'v Scope, values: impl Iterator<Item = SqlValue<'v>>) -> Vec<Vec<SqlValue<'v>>> {
    values.map(|value| vec![scope.user_no.to_column(), value]).collect()
}

fn read(row: &SqlRow<'_>) -> Result<UnitMemory> {
    let state = MemoryState {
        access_count: row.get(19)?,
        last_used_at: row.get(20)?,
        validated_at: row.get(21)?,
        ..MemoryState::default()
    };
    let facts = MemoryFacts {
        kind: row.get(3)?,
        status: row.get(4)?,
        frequency: row.get(5)?,
        frequency_since: row.get(6)?,
        importance: row.get(7)?,
        confidence: row.get(8)?,
        reliability: row.get(9)?,
        consolidation_threshold: row.get(10)?,
        volatility: row.get(11)?,
        validity_window: row.get::<Option<u64>>(12)?.map(std::time::Duration::from_secs),
        trust: row.get(13)?,
        learning_source: row.get(14)?,
        pinned: row.get(15)?,
        is_volatile: row.get(16)?,
        contested: false, // Does not affect ranking.
        said_at: row.get(17)?,
        created_at: row.get(18)?,
        state,
    };
    Ok(UnitMemory {
        memory_no: row.get(0)?,
        id: row.get(1)?,
        seq: row.get(2)?,
        facts,
        turns: Vec::new(),
        words: HashSet::new(),
        only_with: None,
    })
}

/// Fills in the turns that each memory rests on.
fn rest_on(sql: &dyn Sql, scope: &Scope, memories: &mut [Option<UnitMemory>]) -> Result<()> {
    let mut known: Vec<&mut UnitMemory> = memories.iter_mut().flatten().collect();
    let numbers: Vec<MemoryNo> = known.iter().map(|met| met.memory_no).collect();
    sql.query_many(
        concat!(
            "SELECT q.seq FROM memory_sources AS q
             WHERE q.user_no = ?1 AND q.memory_no = ?2 AND q.source_kind = 'turn' AND q.seq IS NOT NULL AND ",
            says_the_same!(),
            " ORDER BY q.seq"
        ),
        &sets(scope, numbers.iter().map(ToColumn::to_column)),
        &mut |at, row| {
            known[at].turns.push(row.get::<Seq>(0)?.0);
            Ok(())
        },
    )
}

/// The distinct words of each unit. Empty for a damaged unit.
pub(crate) fn words_of_units(sql: &dyn Sql, scope: &Scope, units: &[u32]) -> Result<Vec<HashSet<Word>>> {
    let words = |seq: &u32| {
        let encoded = units::sound_words(sql, scope, Seq(*seq))?.unwrap_or_default();
        let words = EncodedWords::parse(&encoded);
        Ok(words.iter().flat_map(EncodedWords::iter).map(|(word, _)| word).collect())
    };
    units.iter().map(words).collect()
}

/// For each of these units, the previous unit of the same memory, if there is one. No join condition compares the two units,
/// because SQLite would then go through all units of the user.
pub(crate) fn units_before(sql: &dyn Sql, scope: &Scope, units: &[u32]) -> Result<Vec<u32>> {
    let mut before = Vec::new();
    sql.query_many(
        "SELECT max(CASE WHEN o.seq < k.seq THEN o.seq END) FROM memory_units AS k
         JOIN memory_units AS o ON o.user_no = k.user_no AND o.memory_no = k.memory_no
         WHERE k.user_no = ?1 AND k.seq = ?2",
        &sets(scope, units.iter().map(|seq| SqlValue::Integer((*seq).into()))),
        &mut |_, row| {
            before.extend(row.get::<Option<Seq>>(0)?.map(|seq| seq.0));
            Ok(())
        },
    )?;
    Ok(before)
}

/// The units with older texts of all of the user's memories, ascending.
pub(crate) fn all_older_units(sql: &dyn Sql, scope: &Scope) -> Result<Vec<u32>> {
    Ok(units::stale(sql, scope, u32::MAX)?.into_iter().map(|seq| seq.0).collect())
}

/// The units with older texts of a memory.
pub(crate) fn older_units(sql: &dyn Sql, scope: &Scope, memory: &UnitMemory) -> Result<Vec<u32>> {
    sql.list(
        "SELECT seq FROM memory_units WHERE user_no = ?1 AND memory_no = ?2 AND seq <> ?3 ORDER BY seq",
        values![scope.user_no, memory.memory_no, memory.seq.unwrap_or_default()],
        |row| row.get::<Seq>(0).map(|seq| seq.0),
    )
}

/// The units of the memories that pass a filter, ascending.
pub(crate) fn passing(sql: &dyn Sql, scope: &Scope, filter: &MemoryFilter) -> Result<Vec<u32>> {
    let all = (MemoryNo(i64::MAX), u32::MAX);
    let numbers = lists::page(sql, scope, &FilterParams::of(filter), all)?;
    let mut units = Vec::with_capacity(numbers.len());
    sql.query_many(
        "SELECT seq FROM user_memories WHERE user_no = ?1 AND memory_no = ?2 AND seq IS NOT NULL",
        &sets(scope, numbers.iter().map(ToColumn::to_column)),
        &mut |_, row| {
            units.push(row.get::<Seq>(0)?.0);
            Ok(())
        },
    )?;
    units.sort_unstable();
    Ok(units)
}

/// A neighbour of a memory: its unit, and the edge to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelatedUnit {
    pub(crate) seq: u32,
    pub(crate) edge_type: EdgeType,
    pub(crate) strength: f64,
}

/// At most `limit` recalled neighbours of a memory over accepted edges: strongest edges first, and of equally strong ones
/// the older first. Memories that it superseded or that superseded it are excluded. The CROSS JOIN makes SQLite start from
/// the few edges instead of all of the user's memories.
pub(crate) fn beside(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    limit: u32,
) -> Result<Vec<RelatedUnit>> {
    sql.list(
        "SELECT m.seq, e.type, e.strength FROM
           (SELECT to_no AS other_no, type, strength, edge_no FROM memory_edges
              WHERE user_no = ?1 AND from_no = ?2 AND status = 'accepted' AND type <> 'supersedes'
            UNION ALL
            SELECT from_no, type, strength, edge_no FROM memory_edges
              WHERE user_no = ?1 AND to_no = ?2 AND status = 'accepted' AND type <> 'supersedes') AS e
         CROSS JOIN user_memories AS m ON m.user_no = ?1 AND m.memory_no = e.other_no
         WHERE m.seq IS NOT NULL ORDER BY e.strength DESC, e.edge_no LIMIT ?3",
        values![scope.user_no, memory_no, limit],
        |row| Ok(RelatedUnit { seq: row.get::<Seq>(0)?.0, edge_type: row.get(1)?, strength: row.get(2)? }),
    )
}

/// The names of the sensors that can check whether a memory still holds.
pub(crate) fn sensors(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<String>> {
    let mut names: Vec<String> = sql.list(
        "SELECT sensor FROM memory_sensors WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )?;
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// The turns that a memory rests on, in the order of recording, with the caller's ids of those that have one. Empty if an
/// edit has given the memory another text since.
pub(crate) fn sources(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<SourceTurn>> {
    sql.list(
        concat!(
            "SELECT r.owner_id, r.caller_id, r.seq
             FROM memory_sources AS q JOIN recall_units AS r ON r.user_no = q.user_no AND r.seq = q.seq
             WHERE q.user_no = ?1 AND q.memory_no = ?2 AND q.source_kind = 'turn' AND r.turn_number IS NOT NULL AND ",
            says_the_same!(),
            " ORDER BY r.seq"
        ),
        values![scope.user_no, memory_no],
        |row| {
            let seq: Seq = row.get(2)?;
            Ok(SourceTurn { turn_id: row.get(0)?, caller_id: row.get(1)?, seq: seq.into() })
        },
    )
}

/// The complete memory whose current text is this unit, at a moment. `None` if the unit has an older text, or is not a
/// memory's.
pub(crate) fn whole(
    sql: &dyn Sql,
    scope: &Scope,
    seq: Seq,
    now: StoredTime,
) -> Result<Option<RecalledMemory>> {
    let Some(row) = units::memory_of(sql, scope, seq)? else { return Ok(None) };
    let memory_no = row.memory_no;
    let memory = known::one(sql, scope, row, now)?;
    let is_checked = matches!(memory.volatility, Volatility::High | Volatility::Ephemeral);
    let sensors = if is_checked { sensors(sql, scope, memory_no)? } else { Vec::new() };
    let flags = MemoryFlags::of(&memory, sensors);
    let sources = sources(sql, scope, memory_no)?;
    Ok(Some(RecalledMemory { memory, seq: seq.into(), flags, sources }))
}
