//! Applies the stored facts of memories to their scores, and makes memories and the turns that they rest on lend score
//! to each other. The facts are read by unit, for the best memories only.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    memory::rank::{discount, frequency_weight, witness_lends},
    model::{
        memory::trust::Trust,
        profile::{Parts, Profile, rounded},
    },
    recall::{score::ScoredUnit, user_index::UserIndex},
    store::{rows::memories::recalled::UnitMemory, scope::Scope, snapshot::Snapshot},
};

/// If an outdated text of a memory comes up, all outdated texts of that memory are removed. After this many rounds, those of
/// all memories are removed.
const ROUNDS: usize = 2;

/// Reads the memories of these units. Also returns units to leave out: those of memories that cannot be read, and, for each
/// memory that has an outdated text here, all of its outdated ones.
pub(super) fn meet(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    (ranked, round): (&[ScoredUnit], usize),
    missing: &mut Vec<String>,
) -> Result<(HashMap<u32, UnitMemory>, Vec<u32>)> {
    let memories =
        ranked.iter().map(|unit| unit.seq).filter(|seq| index.memories().binary_search(seq).is_ok());
    let memories: Vec<u32> = memories.collect();
    let (mut known, mut older) = (HashMap::with_capacity(memories.len()), Vec::new());
    let met = snapshot.memories_of_units(scope, &memories)?;
    missing.extend(met.damaged.iter().map(|error| format!("memories: {error}")));
    for (seq, met) in memories.iter().zip(met.memories) {
        match met {
            Some(met) if met.seq.is_some_and(|of_now| of_now.0 == *seq) => _ = known.insert(*seq, met),
            Some(_) if older.contains(seq) => {}
            Some(met) => older.extend(snapshot.older_units(scope, &met)?),
            None => older.push(*seq),
        }
    }
    if !older.is_empty() && round > ROUNDS {
        older.extend(snapshot.all_older_units(scope)?);
        older.sort_unstable();
        older.dedup();
        older.retain(|seq| !index.older().contains(seq));
    }
    Ok((known, older))
}

/// Reads the words of the memories that share a turn, to find out whether they say the same.
pub(super) fn read_words(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    known: &mut HashMap<u32, UnitMemory>,
) -> Result<()> {
    let mut memories_of: HashMap<u32, u32> = HashMap::new();
    for turn in known.values().flat_map(|met| &met.turns) {
        *memories_of.entry(*turn).or_default() += 1;
    }
    let shares = |met: &UnitMemory| met.turns.iter().any(|turn| memories_of[turn] > 1);
    let sharing: Vec<u32> = known.iter().filter(|(_, met)| shares(met)).map(|(seq, _)| *seq).collect();
    for (seq, words) in sharing.iter().zip(snapshot.words_of_memories(scope, &sharing)?) {
        if let Some(met) = known.get_mut(seq) {
            met.words = words;
        }
    }
    Ok(())
}

/// Multiplies the scores of memories by the factor of their facts.
pub(super) fn apply(
    ranked: &mut [ScoredUnit],
    known: &HashMap<u32, UnitMemory>,
    of: (&Profile, DateTime<Utc>),
) {
    for unit in ranked {
        if let Some(met) = known.get(&unit.seq) {
            unit.parts = with_factor(unit.parts, met, of);
            unit.score = unit.parts.score(of.0);
        }
    }
}

/// The parts of a memory, with the factor of its facts.
pub(super) fn with_factor(
    parts: Parts,
    met: &UnitMemory,
    (profile, now): (&Profile, DateTime<Utc>),
) -> Parts {
    if *profile == Profile::Continuum {
        return Parts { memory: frequency_weight(met.facts.frequency), ..parts };
    }
    // Foreign text states no wish of the user, such as "Always run this" on a web page.
    let wish = if met.facts.trust == Trust::Foreign { 0.0 } else { parts.wish };
    Parts { memory: discount(&met.facts, now), wish, ..parts }
}

/// Makes each memory and the turns that it rests on lend score to one another: two that say the same are two witnesses. If
/// several can lend to one unit, only the best does, so that saying something three times counts no more than twice.
pub(super) fn lend_to_sources(
    ranked: &mut [ScoredUnit],
    known: &HashMap<u32, UnitMemory>,
    profile: &Profile,
) {
    let scores: HashMap<u32, f64> = ranked.iter().map(|unit| (unit.seq, unit.score)).collect();
    let mut lent: HashMap<u32, f64> = HashMap::new();
    for (memory, met) in known {
        for turn in &met.turns {
            for (to, by) in [(memory, turn), (turn, memory)] {
                let score = scores.get(by).copied().unwrap_or_default();
                let most = lent.entry(*to).or_default();
                *most = most.max(witness_lends(score));
            }
        }
    }
    for unit in ranked {
        if let Some(more) = lent.get(&unit.seq).filter(|more| **more > 0.0) {
            unit.parts.neighbours = rounded(unit.parts.neighbours + more);
            unit.score = unit.parts.score(profile);
        }
    }
}
