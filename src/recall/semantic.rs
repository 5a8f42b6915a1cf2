//! The evidence of meaning: how near each unit is to the query, according to the first embedder with vectors for both.

use crate::{
    embed::{BuiltIn, Embedder, matrix::Matrix, pieces::place_of, quantize::Vector},
    error::{Error, Result},
    model::{profile::Profile, turn::Side},
    recall::{
        lexical::LexicalScores,
        message::{PreparedQuestion, QueryVector},
        user_index::UserIndex,
    },
    store::{
        rows::vectors::{self, Space},
        scope::Scope,
        snapshot::Snapshot,
    },
};

/// The evidence of vectors for each unit, by number.
#[derive(Default)]
pub(super) struct SemanticScores {
    /// The nearest pieces of each unit, over everything searched for.
    best: Vec<BestPieces>,
    /// The same for each thing searched for, if there are several; empty if the model has no vector for it.
    of_each: Vec<Vec<BestPieces>>,
    pub(super) model: Option<String>,
}

/// The best piece of each side, with its cosine, at least 0.
#[derive(Clone, Copy, Default)]
struct BestPieces {
    cosines: [f32; 2],
    pieces: [u8; 2],
}

impl BestPieces {
    fn sum(self) -> f32 {
        self.cosines[0] + self.cosines[1]
    }
}

impl SemanticScores {
    /// Returns how near each unit is, in the order of unit numbers from 1: the sum of the best cosines of its two sides. In
    /// the paper's profile it is the greater one, because the paper has one cosine per turn.
    pub(super) fn scores(&self, units: usize, profile: Profile) -> Vec<f32> {
        let of = |BestPieces { cosines: [user, reply], .. }: &BestPieces| match profile {
            Profile::Paper { .. } => user.max(*reply),
            _ => user + reply,
        };
        let mut scores: Vec<f32> = self.best.iter().map(of).collect();
        scores.resize(units, 0.0); // It is empty if there are no vectors.
        scores
    }

    /// Removes the scores of these units.
    pub(super) fn without(&mut self, units: &[u32]) {
        for best in std::iter::once(&mut self.best).chain(&mut self.of_each) {
            for &seq in units {
                if let Some(pieces) = (seq as usize).checked_sub(1).and_then(|at| best.get_mut(at)) {
                    *pieces = BestPieces::default();
                }
            }
        }
    }

    /// [`Parts::cosine`](crate::Parts::cosine) for this one thing searched for.
    pub(super) fn nearness(&self, seq: u32, sought: usize) -> f32 {
        let scale = if self.model.as_deref() == Some(BuiltIn::MODEL) { 1.0 } else { 1.25 };
        let pieces = if self.of_each.is_empty() { Some(&self.best) } else { self.of_each.get(sought) };
        let best = pieces.and_then(|pieces| Self::piece_of(pieces, seq));
        best.map_or(0.0, |(_, cosine)| (scale * cosine).min(1.0))
    }

    pub(super) fn piece(&self, seq: u32) -> Option<(u8, f32)> {
        Self::piece_of(&self.best, seq)
    }

    fn piece_of(pieces: &[BestPieces], seq: u32) -> Option<(u8, f32)> {
        let best = pieces.get((seq as usize).checked_sub(1)?)?;
        let side = usize::from(best.cosines[1] > best.cosines[0]);
        (best.cosines[side] > 0.0).then_some((best.pieces[side], best.cosines[side]))
    }
}

/// Compares the query with every piece of every unit, in the first space that has both: those of the caller's embedders in
/// order, then the built-in one's. Vectors of different spaces are never compared.
pub(super) fn look_up(
    (snapshot, scope): (&Snapshot<'_>, &Scope),
    index: &mut UserIndex,
    question: &PreparedQuestion<'_>,
    words: &LexicalScores,
    missing: &mut Vec<String>,
) -> SemanticScores {
    let units = u32::try_from(index.units.len()).unwrap_or(u32::MAX);
    for QueryVector { space: asked, vectors } in question.vectors {
        let model = &asked.model;
        let mut by_embedder = |what: String| missing.push(format!("embedder {model}: {what}"));
        let vectors = match vectors {
            Ok(vectors) if vectors.iter().all(Option::is_none) => continue,
            Ok(vectors) => vectors,
            Err(why) => {
                by_embedder(why.clone());
                continue;
            }
        };
        let mut look = || {
            let Some(space) = snapshot.space(asked)? else { return Ok(None) };
            scan(snapshot, scope, index, (space, None), vectors, words).map(|found| Some((space, found)))
        };
        match look() {
            Err::<_, Error>(error) => missing.push(format!("vectors of {model}: {error}")),
            Ok(None) => by_embedder("no turn is embedded yet".to_owned()),
            Ok(Some((_, (_, uncovered)))) if uncovered > MAX_UNCOVERED.min(units / 2) => {
                by_embedder(format!("{uncovered} turns are not embedded yet"));
            }
            Ok(Some((space, (meaning, uncovered)))) => {
                let gaps = snapshot.vector_gap_count(scope, space).unwrap_or(0);
                if gaps > 0 {
                    by_embedder(format!("it refused {gaps} turns, which were found by words only"));
                }
                if uncovered > 0 {
                    by_embedder(format!(
                        "{uncovered} turns are not embedded yet and were found by words only"
                    ));
                }
                return SemanticScores { model: Some(model.clone()), ..meaning };
            }
        }
    }
    let built_in = BuiltIn::default();
    let vectors: Vec<Option<Vector>> =
        question.sought.iter().map(|one| built_in.embed_text(&one.meaning)).collect();
    if vectors.iter().all(Option::is_none) {
        return SemanticScores::default();
    }
    let space = built_in.space();
    let not_in_file = Space { space_no: vectors::NOT_IN_FILE, dims: space.dims as usize };
    let found = snapshot.space(&space).and_then(|known| {
        scan(snapshot, scope, index, (known.unwrap_or(not_in_file), Some(built_in)), &vectors, words)
    });
    match found {
        Ok((meaning, _)) => SemanticScores { model: Some(space.model), ..meaning },
        Err(error) => {
            missing.push(format!("vectors: {error}"));
            SemanticScores::default()
        }
    }
}

/// If more units than this are not embedded yet, an embedder further down the chain that has them is used instead.
const MAX_UNCOVERED: u32 = 64;

fn scan(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    index: &mut UserIndex,
    (space, built_in): (Space, Option<BuiltIn>),
    vectors: &[Option<Vector>],
    words: &LexicalScores,
) -> Result<(SemanticScores, u32)> {
    let units = index.units.len();
    let known = index.space(snapshot, scope, space, built_in)?;
    let of_one = |vector: &Option<Vector>| {
        vector.as_ref().map_or_else(Vec::new, |vector| best_pieces(&known.matrix, vector, units))
    };
    let mut of_each: Vec<Vec<BestPieces>> = vectors.iter().map(of_one).collect();
    let best = if of_each.len() == 1 {
        of_each.remove(0)
    } else {
        let mut best = vec![BestPieces::default(); units];
        for (at, of_one) in of_each.iter().enumerate() {
            let share = words.share(at);
            for (best, of_one) in best.iter_mut().zip(of_one) {
                if share * of_one.sum() > best.sum() {
                    *best = *of_one;
                    best.cosines = best.cosines.map(|c| c * share);
                }
            }
        }
        best
    };
    let covered = known.covered_seq;
    Ok((SemanticScores { best, of_each, model: None }, index.uncovered(covered)))
}

fn best_pieces(matrix: &Matrix, vector: &Vector, units: usize) -> Vec<BestPieces> {
    let mut best = vec![BestPieces::default(); units];
    for (seq, piece, cosine) in matrix.scan(vector) {
        let Some(best) = best.get_mut(seq as usize - 1) else { continue };
        let side = usize::from(place_of(piece).0 == Side::Reply);
        let (known, known_piece) = (&mut best.cosines[side], &mut best.pieces[side]);
        // Chosen without a branch, because the branch would be unpredictable.
        *known_piece = if cosine > *known { piece } else { *known_piece };
        *known = cosine.max(*known);
    }
    best
}
