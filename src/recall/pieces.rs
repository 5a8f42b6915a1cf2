//! Gives each piece of knowledge one place in the results. A memory and the turns that it rests on are one piece; so are
//! memories that rest on the same turn and say the same.

use std::collections::{HashMap, HashSet};

use crate::recall::{
    find::{HitOrigin, RankedUnits},
    score::ScoredUnit,
};

/// How many pieces are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pieces {
    /// This many in total.
    Together(usize),
    /// This many turns, and in addition the best memories, which have their own section.
    Apart(usize),
}

/// The most memories returned apart from turns.
const MOST_APART: usize = 32;

impl Pieces {
    pub(super) fn turns(self) -> usize {
        let (Self::Together(k) | Self::Apart(k)) = self;
        k
    }
}

/// Keeps the best pieces, in order: the best unit of each piece stays, and the piece's other units are listed with it.
pub(super) fn put_together(found: &mut RankedUnits, wanted: Pieces) {
    let (ranked, origins) = (std::mem::take(&mut found.ranked), std::mem::take(&mut found.origins));
    let ranked = ranked.into_iter().zip(origins);
    let mut standing =
        if found.memories.is_empty() { ranked.collect() } else { each_once(found, ranked, wanted) };
    let mut left = match wanted {
        Pieces::Together(k) => [k, 0],
        Pieces::Apart(k) => [k, MOST_APART],
    };
    let is_apart =
        |unit: &ScoredUnit| matches!(wanted, Pieces::Apart(_)) && found.memories.contains_key(&unit.seq);
    cut(&mut standing, |unit| {
        let left = &mut left[usize::from(is_apart(unit))];
        let is_wanted = *left > 0;
        *left = left.saturating_sub(1);
        is_wanted
    });
    (found.ranked, found.origins) = standing.into_iter().unzip();
}

/// Returns the best unit of each piece, in order, and lists the other units in `found.same_source`.
fn each_once(
    found: &mut RankedUnits,
    ranked: impl Iterator<Item = (ScoredUnit, HitOrigin)>,
    wanted: Pieces,
) -> Vec<(ScoredUnit, HitOrigin)> {
    let mut standing: Vec<(ScoredUnit, HitOrigin)> = Vec::new();
    // For each turn, the positions in `standing` of the units that represent it: the turn itself or memories.
    let mut told: HashMap<u32, Vec<usize>> = HashMap::new();
    for (unit, origin) in ranked {
        let memory = found.memories.get(&unit.seq);
        let turns = memory.map_or(std::slice::from_ref(&unit.seq), |met| &met.turns);
        let is_same = |at: &&usize| {
            let other = found.memories.get(&standing[**at].0.seq);
            memory.zip(other).is_none_or(|(memory, other)| memory.says_the_same_as(other))
        };
        if let Some(&at) = turns.iter().filter_map(|turn| told.get(turn)).flatten().filter(is_same).min() {
            let (better, better_origin) = &mut standing[at];
            // The better one represents both, so it may be shown if either of them may be.
            better_origin.is_below_floor &= origin.is_below_floor;
            found.same_source.entry(better.seq).or_default().push(unit);
            // In a context, the section of memories may have no room for the memory; its turn, in another section, then
            // represents both.
            let is_turn_of_memory = memory.is_none() && found.memories.contains_key(&better.seq);
            if is_turn_of_memory && matches!(wanted, Pieces::Apart(_)) {
                standing.push((unit, origin));
            }
            continue;
        }
        let counterpart = memory.and_then(|met| met.only_with);
        let has_it = |counterpart| standing.iter().any(|(unit, _)| unit.seq == counterpart);
        if counterpart.is_some_and(|counterpart| !has_it(counterpart)) {
            continue;
        }
        for turn in turns {
            told.entry(*turn).or_default().push(standing.len());
        }
        standing.push((unit, origin));
    }
    standing
}

/// Keeps the wanted units, and the newest units about the things that the wanted ones tell.
fn cut(units: &mut Vec<(ScoredUnit, HitOrigin)>, mut is_wanted: impl FnMut(&ScoredUnit) -> bool) {
    let wanted: Vec<bool> = units.iter().map(|(unit, _)| is_wanted(unit)).collect();
    let of_wanted = units.iter().zip(&wanted).filter(|(_, is_wanted)| **is_wanted);
    let newest: HashSet<i64> = of_wanted.filter_map(|((_, origin), _)| Some(origin.newer?.seq)).collect();
    let mut wanted = wanted.into_iter();
    units.retain(|(unit, _)| wanted.next() == Some(true) || newest.contains(&unit.seq.into()));
}
