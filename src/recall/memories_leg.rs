//! What the facts of memories do to their ranks: read for the best of them, by their units.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    memory::rank::{MemoryFactor, frequency_weight},
    model::profile::{Parts, Profile, rounded},
    recall::{score::Scored, user_index::UserIndex},
    store::{rows::memories::recalled::Met, scope::Scope, snapshot::Snapshot},
};

/// Reads the memories among these units, and names units that are not their text of now: of each such memory all of them.
pub(super) fn meet(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &UserIndex,
    ranked: &[Scored],
) -> Result<(HashMap<u32, Met>, Vec<u32>)> {
    let memories =
        ranked.iter().map(|unit| unit.seq).filter(|seq| index.memories().binary_search(seq).is_ok());
    let memories: Vec<u32> = memories.collect();
    let (mut known, mut older) = (HashMap::with_capacity(memories.len()), Vec::new());
    for (seq, met) in memories.iter().zip(snapshot.memories_of_units(scope, &memories)?) {
        match met {
            Some(met) if met.seq.is_some_and(|of_now| of_now.0 == *seq) => _ = known.insert(*seq, met),
            Some(_) if older.contains(seq) => {}
            Some(met) => older.extend(snapshot.older_units(scope, &met)?),
            None => older.push(*seq),
        }
    }
    Ok((known, older))
}

/// Multiplies the scores of memories by what their facts say.
pub(super) fn apply(ranked: &mut [Scored], known: &HashMap<u32, Met>, of: (&Profile, DateTime<Utc>)) {
    for unit in ranked {
        if let Some(met) = known.get(&unit.seq) {
            unit.parts = with_factor(unit.parts, met, of);
            unit.score = unit.parts.score(of.0);
        }
    }
}

/// The parts of a memory with what its facts say.
pub(super) fn with_factor(parts: Parts, met: &Met, (profile, now): (&Profile, DateTime<Utc>)) -> Parts {
    if *profile == Profile::Continuum {
        return Parts { memory: frequency_weight(met.facts.frequency), ..parts };
    }
    let factor = MemoryFactor::of(&met.facts, now);
    let MemoryFactor { importance, current_relevance, discount } = factor;
    Parts { memory: factor.value(), importance, current_relevance, discount: rounded(discount), ..parts }
}
