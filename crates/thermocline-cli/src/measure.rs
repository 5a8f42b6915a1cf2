//! Measures of a ranking, given what it should have found. Pure functions: no file, no clock.

use std::collections::HashSet;
use std::hash::Hash;

use serde::Serialize;

/// The measures of one question. Shares are from 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) recall_5: f64,
    pub(crate) recall_10: f64,
    pub(crate) recall_20: f64,
    pub(crate) hit_10: f64,
    pub(crate) ndcg_10: f64,
    pub(crate) session_recall_5: f64,
    /// The tokens of the ten best results.
    pub(crate) tokens_10: u32,
    pub(crate) took_us: u64,
    /// Whether the context has all evidence verbatim.
    pub(crate) is_packed: bool,
    /// Whether the context has all evidence verbatim or as a summary.
    pub(crate) is_packed_or_summarized: bool,
    /// The tokens of the context.
    pub(crate) context_tokens: u32,
}

/// The means over several questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Means {
    pub(crate) questions: usize,
    pub(crate) recall_5: f64,
    pub(crate) recall_10: f64,
    pub(crate) recall_20: f64,
    pub(crate) hit_10: f64,
    pub(crate) ndcg_10: f64,
    pub(crate) session_recall_5: f64,
    pub(crate) packed: f64,
    pub(crate) packed_or_summarized: f64,
    pub(crate) tokens_10: f64,
    pub(crate) context_tokens: f64,
    pub(crate) p50_us: u64,
    pub(crate) p95_us: u64,
}

impl Means {
    /// Computes the means; there must be at least one question.
    pub(crate) fn of(rows: &[&Measured]) -> Self {
        let mean = |of: &dyn Fn(&Measured) -> f64| {
            let sum: f64 = rows.iter().map(|row| of(row)).sum();
            #[expect(clippy::cast_precision_loss, reason = "nobody asks so many questions")]
            let count = rows.len().max(1) as f64;
            (sum / count * 1e6).round() / 1e6
        };
        let mut took_us: Vec<u64> = rows.iter().map(|row| row.took_us).collect();
        took_us.sort_unstable();
        let at = |percent: usize| took_us.get(took_us.len() * percent / 100).copied().unwrap_or(0);
        Self {
            questions: rows.len(),
            recall_5: mean(&|row| row.recall_5),
            recall_10: mean(&|row| row.recall_10),
            recall_20: mean(&|row| row.recall_20),
            hit_10: mean(&|row| row.hit_10),
            ndcg_10: mean(&|row| row.ndcg_10),
            session_recall_5: mean(&|row| row.session_recall_5),
            packed: mean(&|row| f64::from(u8::from(row.is_packed))),
            packed_or_summarized: mean(&|row| f64::from(u8::from(row.is_packed_or_summarized))),
            tokens_10: mean(&|row| row.tokens_10.into()),
            context_tokens: mean(&|row| row.context_tokens.into()),
            p50_us: at(50),
            p95_us: at(95),
        }
    }
}

/// Returns the share of the wanted items that are in the first `k` pieces.
pub(crate) fn recall<T: Eq + Hash>(ranked: &[Vec<T>], wanted: &HashSet<T>, k: usize) -> f64 {
    let found: HashSet<&T> = ranked.iter().take(k).flatten().filter(|found| wanted.contains(found)).collect();
    share(found.len(), wanted.len())
}

/// Returns 1 if any wanted item is in the first `k` pieces, and 0 otherwise.
pub(crate) fn hit<T: Eq + Hash>(ranked: &[Vec<T>], wanted: &HashSet<T>, k: usize) -> f64 {
    if ranked.iter().take(k).flatten().any(|found| wanted.contains(found)) { 1.0 } else { 0.0 }
}

/// Returns the normalized discounted cumulative gain: a hit at rank i counts 1 / log2(i + 1), and the sum is divided by
/// the best possible one. A piece is a hit if it has a wanted item that no earlier piece has.
pub(crate) fn ndcg<T: Eq + Hash>(ranked: &[Vec<T>], wanted: &HashSet<T>, k: usize) -> f64 {
    let gain = |at: u32| 1.0 / f64::from(at + 2).log2();
    let mut known = HashSet::new();
    let found = (0..).zip(ranked.iter().take(k)).filter(|(_, piece)| {
        // `count` visits every item, so that all items of the piece are marked as known.
        piece.iter().filter(|one| wanted.contains(one) && known.insert(*one)).count() > 0
    });
    let best: f64 = (0..).take(wanted.len().min(k)).map(gain).sum();
    if best == 0.0 { 0.0 } else { found.fold(0.0, |sum, (at, _)| sum + gain(at)) / best }
}

fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "both are small")]
    let (part, whole) = (part as f64, whole.max(1) as f64);
    part / whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ranked: &str, wanted: &str, k: usize, expected: [f64; 3]) {
        let ranked: Vec<Vec<char>> = ranked.chars().map(|one| vec![one]).collect();
        let wanted: HashSet<char> = wanted.chars().collect();
        let measured = [recall(&ranked, &wanted, k), hit(&ranked, &wanted, k), ndcg(&ranked, &wanted, k)];
        let near = measured.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(near, "{ranked:?} {wanted:?} {k}: {measured:?}, not {expected:?}");
    }

    #[test]
    fn what_is_found_first_counts_most() {
        check("abc", "a", 3, [1.0, 1.0, 1.0]);
        check("abc", "b", 3, [1.0, 1.0, 0.6309]);
        check("abc", "c", 2, [0.0, 0.0, 0.0]);
        check("abc", "bx", 3, [0.5, 1.0, 0.3869]);
        check("", "a", 3, [0.0, 0.0, 0.0]);
    }

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let row = |took_us| Measured {
            recall_5: 0.5,
            recall_10: 1.0,
            recall_20: 1.0,
            hit_10: 1.0,
            ndcg_10: 1.0,
            session_recall_5: 1.0,
            tokens_10: 10,
            took_us,
            is_packed: took_us > 50,
            is_packed_or_summarized: true,
            context_tokens: 100,
        };
        let rows: Vec<Measured> = (0..100).rev().map(row).collect();
        let means = Means::of(&rows.iter().collect::<Vec<_>>());
        assert_eq!((means.questions, means.p50_us, means.p95_us), (100, 50, 95));
        assert_eq!((means.recall_5, means.packed), (0.5, 0.49));
    }
}
