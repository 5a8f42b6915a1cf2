//! Lends score from memories to their neighbours in the graph, as turns lend to theirs.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    memory::rank::neighbour_lends,
    model::{
        edge::EdgeType,
        profile::{Parts, Profile, rounded},
    },
    recall::{memory_evidence, score::ScoredUnit, user_index::UserIndex},
    store::{rows::memories::recalled::UnitMemory, scope::Scope, snapshot::Snapshot},
};

/// How many of the best memories lend score.
const LENDERS: usize = 20;
/// Over how many of its edges a memory lends score, strongest first.
const EDGES: u32 = 32;

/// Makes the best memories lend score to their neighbours. A neighbour that the search did not find itself is added with
/// the lent score. If it contradicts the memory that lends, it is shown only with that memory.
pub(super) fn lend(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    (index, passing): (&UserIndex, &[bool]),
    of: (&Profile, DateTime<Utc>),
    ranked: &mut Vec<ScoredUnit>,
    known: &mut HashMap<u32, UnitMemory>,
) -> Result<()> {
    let mut lenders: Vec<ScoredUnit> =
        ranked.iter().filter(|unit| known.contains_key(&unit.seq)).copied().collect();
    lenders.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    lenders.truncate(LENDERS);
    let (mut lent, mut contradicted): (HashMap<u32, f64>, HashMap<u32, u32>) = Default::default();
    for lender in &lenders {
        let Some(met) = known.get(&lender.seq) else { continue };
        for beside in snapshot.beside(scope, met.memory_no, EDGES)? {
            *lent.entry(beside.seq).or_default() += neighbour_lends(lender.score, beside.strength);
            if beside.edge_type == EdgeType::Contradicts {
                contradicted.entry(beside.seq).or_insert(lender.seq);
            }
        }
    }
    let passes =
        |seq: u32| (seq as usize).checked_sub(1).and_then(|at| passing.get(at)).is_some_and(|passes| *passes);
    lent.retain(|seq, _| passes(*seq) && index.unit(*seq).is_some());
    for unit in ranked.iter_mut() {
        if let Some(more) = lent.remove(&unit.seq) {
            unit.parts.neighbours = rounded(unit.parts.neighbours + more);
            unit.score = unit.parts.score(of.0);
        }
    }
    let mut entering: Vec<u32> = lent.keys().copied().collect();
    entering.sort_unstable();
    // A damaged neighbour is left out: only what the query finds by itself is reported as missing.
    for (seq, met) in entering.iter().zip(snapshot.memories_of_units(scope, &entering)?.memories) {
        let Some(mut met) = met.filter(|met| met.seq.is_some_and(|of_now| of_now.0 == *seq)) else {
            continue;
        };
        let parts = Parts { neighbours: rounded(lent[seq]), ..Parts::default() };
        let parts = memory_evidence::with_factor(parts, &met, of);
        ranked.push(ScoredUnit { seq: *seq, score: parts.score(of.0), parts });
        met.only_with = contradicted.get(seq).copied();
        known.insert(*seq, met);
    }
    Ok(())
}
