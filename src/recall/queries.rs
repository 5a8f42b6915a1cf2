//! Additional queries: each is searched separately, and a turn ranks by the one that it fits best.

use std::collections::HashMap;

use crate::{
    config::Config,
    error::{Error, Result},
    model::{anchor::Anchor, profile::Parts},
    recall::{
        anchor_evidence,
        find::{self, HitOrigin, RankedUnits},
        message::{MAX_QUERIES, Message, PreparedQuestion},
        pieces::{self, Pieces},
        score::ScoredUnit,
        sieve::Sieve,
        user_index::UserIndex,
        wishes::{self, Applying, WishesWanted},
    },
    store::{scope::Scope, snapshot::Snapshot},
    text::words::MAX_QUERY_WORDS,
};

impl Message {
    /// Adds queries to the message, as of the same moment; blank ones are ignored. Errors: more than 8 queries, or one
    /// longer than a message may be.
    pub(crate) fn searching_also(mut self, config: &Config, queries: &[String]) -> Result<Self> {
        if queries.len() > MAX_QUERIES {
            let count = queries.len();
            return Err(Error::invalid(format!(
                "there are {count} queries besides the message; at most {MAX_QUERIES} are allowed"
            )));
        }
        for query in queries.iter().filter(|query| !query.trim().is_empty()) {
            self.also.push(self.beside(config, query.clone())?);
        }
        Ok(self)
    }
}

/// Finds the best pieces for the message and for each additional query.
pub(super) fn find(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &mut UserIndex,
    question: &PreparedQuestion<'_>,
    wanted: Pieces,
    sieve: &Sieve,
) -> RankedUnits {
    let k = wanted.turns();
    let mut one = |question: &PreparedQuestion<'_>| find::find(snapshot, scope, index, question, k, sieve);
    let of_message = one(question);
    let mut found = if question.also.is_empty() {
        of_message
    } else {
        merged([of_message].into_iter().chain(question.also.iter().map(one)).collect())
    };
    pieces::put_together(&mut found, wanted);
    found
}

/// Merges several searches. A unit has the score and the evidence of the search that it fits best, and its highest
/// confidence; searches in which it may be shown are preferred. What fails in several searches is reported once.
fn merged(searches: Vec<RankedUnits>) -> RankedUnits {
    let mut best: HashMap<u32, (ScoredUnit, HitOrigin)> = HashMap::new();
    let mut merged: Option<RankedUnits> = None;
    for mut found in searches {
        for (scored, origin) in found.ranked.drain(..).zip(found.origins.drain(..)) {
            let fit = |scored: &ScoredUnit, origin: &HitOrigin| (!origin.is_below_floor, scored.score);
            let is_better = best.get(&scored.seq).is_none_or(|(known, known_origin)| {
                let (new, known) = (fit(&scored, &origin), fit(known, known_origin));
                new.0.cmp(&known.0).then(new.1.total_cmp(&known.1)).is_gt()
            });
            let surest =
                best.get(&scored.seq).map_or(scored.parts, |(known, _)| surer(known.parts, scored.parts));
            if is_better {
                best.insert(scored.seq, (scored, origin));
            }
            if let Some((known, _)) = best.get_mut(&scored.seq) {
                let Parts { coverage, cosine, personal, .. } = surest;
                known.parts = Parts { coverage, cosine, personal, ..known.parts };
            }
        }
        let Some(all) = &mut merged else {
            merged = Some(found);
            continue;
        };
        let new = found.words.into_iter().filter(|(word, _)| all.words.iter().all(|known| known.0 != *word));
        let new: Vec<_> = new.collect();
        all.words.extend(new);
        for (seq, met) in found.memories {
            let stands_by_itself = met.only_with.is_none();
            let known = all.memories.entry(seq).or_insert(met);
            if stands_by_itself {
                known.only_with = None;
            }
        }
        all.missing.extend(found.missing);
        all.model = all.model.take().or(found.model);
        all.confidence = all.confidence.max(found.confidence);
        all.is_index_damaged |= found.is_index_damaged;
    }
    let mut merged = merged.expect("the message is searched for");
    merged.words.truncate(MAX_QUERY_WORDS);
    let mut told = Vec::new();
    merged.missing.retain(|missing| {
        let is_new = !told.contains(missing);
        told.push(missing.clone());
        is_new
    });
    let mut units: Vec<(ScoredUnit, HitOrigin)> = best.into_values().collect();
    // Ties go to the newer turn, as in each search.
    units.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    (merged.ranked, merged.origins) = units.into_iter().unzip();
    merged
}

fn surer(a: Parts, b: Parts) -> Parts {
    if b.confidence() > a.confidence() { b } else { a }
}

/// Returns the wanted standing wishes that the message or an additional query calls for.
pub(super) fn wanted_wishes(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &mut UserIndex,
    question: &PreparedQuestion<'_>,
    sieve: &Sieve,
    missing: &mut Vec<String>,
) -> Result<Vec<Applying>> {
    if matches!(question.wishes, WishesWanted::None) {
        return Ok(Vec::new());
    }
    let passing = sieve.passing(index);
    let wishes = index.wishes(snapshot, scope)?;
    if wishes.damaged() > 0 {
        missing.push(format!("wishes: {} turns are damaged; doctor says which", wishes.damaged()));
    }
    let wishes = wishes.passing(&passing);
    let sought = question.sought.iter().chain(question.also.iter().flat_map(|also| &also.sought));
    Ok(wishes::shown(wishes::ranked(wishes, (sought, question.query.asks_when)), question.wishes))
}

/// Returns the anchors that the message or an additional query calls for, each with its highest score.
pub(super) fn relevant_anchors<'a>(
    question: &PreparedQuestion<'_>,
    anchors: &'a [Anchor],
) -> Vec<(&'a Anchor, f64)> {
    let mut relevant = anchor_evidence::relevant(question.query, anchors);
    for also in &question.also {
        for (anchor, score) in anchor_evidence::relevant(also.query, anchors) {
            match relevant.iter_mut().find(|(known, _)| known.id == anchor.id) {
                Some((_, known)) => *known = known.max(score),
                None => relevant.push((anchor, score)),
            }
        }
    }
    relevant.sort_by(|a, b| b.1.total_cmp(&a.1)); // Stable: equal scores keep their order.
    relevant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::place::Owner;

    /// A search that found these, each with its score and whether it may be shown.
    fn found(units: &[(u32, f64, bool)], missing: &str) -> RankedUnits {
        let scored = |&(seq, score, _): &(u32, f64, bool)| ScoredUnit { seq, score, parts: Parts::default() };
        let origin = |&(_, _, is_shown): &(u32, f64, bool)| HitOrigin {
            owner: Owner::Memory,
            piece: None,
            has_evidence: is_shown,
            is_below_floor: !is_shown,
            newer: None,
        };
        RankedUnits {
            ranked: units.iter().map(scored).collect(),
            origins: units.iter().map(origin).collect(),
            memories: HashMap::new(),
            same_source: HashMap::new(),
            words: (0..40).map(|word| (word + 30 * u32::from(missing.is_empty()), 1.0)).collect(),
            model: None,
            missing: vec!["words".to_owned(), missing.to_owned()],
            confidence: 0.0,
            is_index_damaged: false,
        }
    }

    #[test]
    fn a_unit_stands_where_it_fits_best_and_is_shown_if_any_search_would_show_it() {
        let of_message = found(&[(1, 1.0, true), (2, 0.9, false), (3, 0.2, true)], "vectors");
        let of_query = found(&[(4, 1.0, true), (3, 0.8, true), (2, 0.3, true), (5, 0.1, true)], "");
        let mut all = merged(vec![of_message, of_query]);
        pieces::put_together(&mut all, Pieces::Together(4));
        let units: Vec<_> = all.ranked.iter().map(|unit| (unit.seq, unit.score)).collect();
        assert_eq!(units, [(4, 1.0), (1, 1.0), (3, 0.8), (2, 0.3)], "ties to the newer, the best four");
        assert!(all.origins.iter().all(|origin| !origin.is_below_floor));
        assert_eq!(all.missing, ["words", "vectors", ""]);
        assert_eq!(all.words.len(), 64, "the message's words first, each once");
        assert_eq!(all.words[..40], found(&[], "vectors").words[..]);
    }
}
