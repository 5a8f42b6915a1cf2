//! Are memories sound: can each be read, does it say what was saved, do its unit's words say the same.

use std::collections::{HashMap, HashSet};

use crate::{
    error::Result,
    memory::terms,
    model::place::UserNo,
    store::{
        acts::derive,
        rows::memories::{checks, row::MemoryRow},
        sql::Sql,
    },
};

/// What one pass over the memories found.
#[derive(Debug, Default)]
pub(super) struct MemoryProblems {
    /// Those that cannot be read.
    pub(super) unreadable: u64,
    /// Those whose text is not the one that was saved.
    pub(super) text: u64,
    /// Tags and entities that are not folded as they were written, or do not count from 1.
    pub(super) terms: u64,
    /// Units with other words than their memory's text.
    pub(super) words: u64,
    /// Memories of which the successor is missing, or the memory itself.
    pub(super) successors: u64,
}

/// Looks at every memory of every user.
pub(super) fn problems(sql: &dyn Sql) -> MemoryProblems {
    let mut found = MemoryProblems::default();
    let mut after = i64::MIN;
    loop {
        let (memories, read) = checks::some_memories(sql, after);
        let last = memories.last().map(|(memory_no, _)| *memory_no);
        for (_, memory) in memories {
            let judged = memory.and_then(|(user_no, memory)| judge(sql, user_no, &memory, &mut found));
            found.unreadable += u64::from(judged.is_err());
        }
        found.unreadable += u64::from(read.is_err()); // Damage ended the pass.
        match last.filter(|last| read.is_ok() && *last > after) {
            Some(last) => after = last,
            None => break,
        }
    }
    if matches!(derive::has_stale(sql), Ok(true)) {
        found.words = 0; // Older rules wrote them, and a job writes them anew.
    }
    found.successors = checks::successors(sql).map_or(1, |all| of_successors(&all));
    found
}

fn judge(sql: &dyn Sql, user_no: UserNo, memory: &MemoryRow, found: &mut MemoryProblems) -> Result<()> {
    let is_as_saved = memory.text().content_hash() == memory.content_hash;
    found.text += u64::from(!is_as_saved);
    let rows = checks::terms(sql, user_no, memory.memory_no)?;
    for is_tag in [true, false] {
        let of_kind = rows.iter().filter(|(is, ..)| *is == is_tag);
        for (expected, (_, term, position, name)) in (1_u32..).zip(of_kind) {
            found.terms += u64::from(*position != expected || *term != terms::folded(name));
        }
    }
    let Some(seq) = memory.seq.filter(|_| is_as_saved) else { return Ok(()) };
    // A unit without words is a problem of another check.
    if let Some(words) = checks::words(sql, user_no, seq)? {
        let expected = memory.text().words(rows.iter().map(|(.., name)| name.as_str()));
        found.words += u64::from(words != expected);
    }
    Ok(())
}

/// Counts the memories whose successors are missing, and those that lead back to where one was.
fn of_successors(all: &[(i64, i64, bool)]) -> u64 {
    let next: HashMap<i64, i64> = all.iter().map(|&(memory_no, by, _)| (memory_no, by)).collect();
    let mut sound = HashSet::new(); // From here one comes to an end.
    let (mut missing, mut rings) = (0, 0);
    for &(start, _, is_there) in all {
        missing += u64::from(!is_there);
        let (mut at, mut walked, mut is_ring) = (start, HashSet::new(), false);
        while let Some(&by) = next.get(&at).filter(|_| !sound.contains(&at)) {
            if !walked.insert(at) {
                is_ring = true;
                break;
            }
            at = by;
        }
        rings += u64::from(is_ring);
        if !is_ring {
            sound.extend(walked);
        }
    }
    missing + rings
}
