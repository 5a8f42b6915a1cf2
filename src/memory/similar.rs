//! Finds memories that are alike: by the vectors of their pieces, and the terms they share.

use crate::{
    embed::quantize::Vector,
    model::{memory::words::MemoryKind, profile::rounded},
};

/// The minimum cosine for two memories to be related, if they share at least [`SHARED_TERMS`] terms.
const SIMILAR: f64 = 0.80;
const SHARED_TERMS: usize = 2;
/// The minimum cosine for two memories of one kind to be possibly the same.
const SAME: f64 = 0.92;
/// The maximum numbers of edges and of merges that one reflection proposes.
pub(crate) const EDGES: usize = 64;
pub(crate) const MERGES: usize = 32;

/// A memory in the form in which it is compared.
#[derive(Clone, Debug)]
pub(crate) struct ComparableMemory {
    pub(crate) kind: MemoryKind,
    /// Tags and entities, folded and sorted.
    pub(crate) terms: Vec<String>,
    /// The vectors of its pieces. A memory without any is not compared.
    pub(crate) vectors: Vec<Vector>,
}

/// Two memories, by their indices, the lower first; how alike they are, and how many terms they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Alike {
    pub(crate) places: (usize, usize),
    pub(crate) cosine: f64,
    pub(crate) shared_terms: usize,
}

/// Returns the pairs of memories that are related, and those that may be the same, the most alike first.
pub(crate) fn alike(memories: &[ComparableMemory]) -> (Vec<Alike>, Vec<Alike>) {
    let (mut edges, mut merges) = (Vec::new(), Vec::new());
    for (first, one) in memories.iter().enumerate() {
        for (behind, other) in memories[first + 1..].iter().enumerate() {
            let shared_terms = shared(&one.terms, &other.terms);
            if shared_terms < SHARED_TERMS && one.kind != other.kind {
                continue;
            }
            let Some(cosine) = cosine(&one.vectors, &other.vectors) else { continue };
            let found = Alike { places: (first, first + 1 + behind), cosine, shared_terms };
            if cosine >= SAME && one.kind == other.kind {
                merges.push(found);
            } else if cosine >= SIMILAR && shared_terms >= SHARED_TERMS {
                edges.push(found);
            }
        }
    }
    for found in [&mut edges, &mut merges] {
        found.sort_by(|a: &Alike, b| b.cosine.total_cmp(&a.cosine).then(a.places.cmp(&b.places)));
    }
    (edges, merges)
}

fn shared(some: &[String], others: &[String]) -> usize {
    some.iter().filter(|term| others.contains(term)).count()
}

/// Returns how alike two texts are: for each, the mean over its pieces of the best match in the other; the lower of the two
/// means, so that a part of a longer text does not count as the whole of it.
fn cosine(one: &[Vector], other: &[Vector]) -> Option<f64> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    Some(rounded(mean_best(one, other).min(mean_best(other, one))))
}

fn mean_best(pieces: &[Vector], others: &[Vector]) -> f64 {
    let best =
        |piece: &Vector| others.iter().map(|other| f64::from(piece.cosine(other))).fold(-1.0, f64::max);
    let sum: f64 = pieces.iter().map(best).sum();
    #[expect(clippy::cast_precision_loss, reason = "a memory has at most 128 pieces")]
    let count = pieces.len() as f64;
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: MemoryKind, terms: &str, vectors: &[[f32; 2]]) -> ComparableMemory {
        ComparableMemory {
            kind,
            terms: terms.split_whitespace().map(str::to_owned).collect(),
            vectors: vectors.iter().filter_map(|floats| Vector::of(floats)).collect(),
        }
    }

    #[track_caller]
    fn check(one: &ComparableMemory, other: &ComparableMemory, edges: usize, merges: usize) {
        let found = alike(&[one.clone(), other.clone()]);
        assert_eq!((found.0.len(), found.1.len()), (edges, merges), "{one:?} {other:?}: {found:?}");
    }

    #[test]
    fn what_is_alike_and_shares_terms_stands_beside_each_other_and_two_of_a_kind_may_be_one() {
        use MemoryKind::{Fix, Solution};
        let one = of(Fix, "redis prod", &[[1.0, 0.0]]);
        check(&one, &of(Fix, "", &[[1.0, 0.1]]), 0, 1);
        check(&one, &of(Solution, "redis prod", &[[1.0, 0.1]]), 1, 0);
        check(&one, &of(Solution, "redis", &[[1.0, 0.1]]), 0, 0);
        check(&one, &of(Fix, "redis prod", &[[1.0, 0.6]]), 1, 0);
        check(&one, &of(Fix, "redis prod", &[[1.0, 1.0]]), 0, 0);
        check(&one, &of(Fix, "redis prod", &[]), 0, 0);
        check(&one, &of(Fix, "", &[[1.0, 0.0], [0.0, 1.0]]), 0, 0);
    }
}
