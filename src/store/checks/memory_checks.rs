//! Checks memories: their rows, texts, tags and entities, the words in their units, and their successors.

use std::collections::{HashMap, HashSet};

use crate::{
    error::Result,
    memory::terms,
    model::place::UserNo,
    store::{
        acts::derive,
        checks::unreadable_rows::UnreadableRows,
        rows::memories::{checks, row::MemoryRow},
        sql::Sql,
    },
};

/// The problems that one pass over the memories found.
#[derive(Debug, Default)]
pub(super) struct MemoryProblems {
    /// Memories that cannot be read.
    pub(super) unreadable: UnreadableRows,
    /// Memories whose text is not the saved one.
    pub(super) text: u64,
    /// Tags and entities whose folded form does not match what was written, or that are not numbered from 1.
    pub(super) terms: u64,
    /// Units whose words differ from their memory's text.
    pub(super) words: u64,
    /// Successors that are missing or lead back to the memory itself.
    pub(super) successors: u64,
}

/// Checks every memory of every user.
pub(super) fn problems(sql: &dyn Sql) -> MemoryProblems {
    let mut found = MemoryProblems::default();
    let mut after = i64::MIN;
    loop {
        let (memories, read) = checks::some_memories(sql, after);
        let last = memories.last().map(|(memory_no, _)| *memory_no);
        for (memory_no, memory) in memories {
            if memory.and_then(|(user_no, memory)| judge(sql, user_no, &memory, &mut found)).is_err() {
                found.unreadable.add(Some(format!("user_memories where memory_no = {memory_no}")));
            }
        }
        if read.is_err() {
            found.unreadable.add(None);
        }
        match last.filter(|last| read.is_ok() && *last > after) {
            Some(last) => after = last,
            None => break,
        }
    }
    if matches!(derive::has_stale(sql), Ok(true)) {
        found.words = 0; // Older rules wrote them; a job rewrites them.
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
    // Units without words are reported by another check.
    if let Some(words) = checks::words(sql, user_no, seq)? {
        let expected = memory.text().words(rows.iter().map(|(.., name)| name.as_str()));
        found.words += u64::from(words != expected);
    }
    Ok(())
}

/// Counts the memories whose successor is missing, and those whose chain of successors is a ring.
fn of_successors(all: &[(i64, i64, bool)]) -> u64 {
    let next: HashMap<i64, i64> = all.iter().map(|&(memory_no, by, _)| (memory_no, by)).collect();
    let mut sound = HashSet::new(); // Memories whose chains are known to end.
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
