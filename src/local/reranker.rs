//! Cross-encoders: models that score how well a text answers a query by reading both together.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Weak},
};

use sha2::{Digest, Sha256};

use super::{
    arithmetic::{Linear, tanh},
    files::revision,
    safetensors::Tensors,
    shape::{Family, Shape},
    tokens::ModelTokens,
    transformer::Transformer,
};
use crate::{
    error::{Error, ErrorKind, Result},
    own_thread::on_own_thread,
    rerank::{Reranker, Reranking},
};

/// The most tokens of a query and a text, special ones included: the length that rerankers are trained with. The time grows
/// with the square of the length.
const MAX_TOKENS: usize = 512;
/// How many texts are read before checking whether the answer is still awaited: about a tenth of a second's work.
const TEXTS_AT_ONCE: usize = 8;

/// A cross-encoder read from a folder. Feature `local`; it brings no dependencies, and needs no network.
///
/// ```no_run
/// use thermocline::LocalReranker;
///
/// # fn run() -> thermocline::Result<()> {
/// let reranker = LocalReranker::open("models/ms-marco-MiniLM-L-6-v2")?;
/// # Ok(())
/// # }
/// ```
///
/// The folder has the layout of model hubs: `config.json`, `model.safetensors`, and `vocab.txt` or `tokenizer.json`. The
/// supported model types, weights and vocabularies are those that [`LocalEmbedder`](crate::LocalEmbedder) supports. The
/// model must be the type's `...ForSequenceClassification`, with one class: ms-marco-MiniLM-L-6-v2, and with the feature
/// `multilingual` bge-reranker-base and mmarco-mMiniLMv2-L12-H384-v1.
///
/// A score is the model's raw output for its class, neither squeezed to 0..1 nor scaled: the scores of ms-marco are between
/// about -11 and 11. A query and a text may have 512 tokens together, or as many as the model has positions. If they have
/// more, the text is cut; the query is cut too if it alone takes more than half.
///
/// The reranker computes on a separate thread, in 32-bit floats, and gives the same numbers on every machine. If its answer
/// is no longer awaited, it stops within a few texts.
#[derive(Clone)]
pub struct LocalReranker(Arc<RerankerModel>);

struct RerankerModel {
    name: String,
    tokens: ModelTokens,
    max_tokens: usize,
    transformer: Transformer,
    classifier: Classifier,
}

/// Turns the vector of a pair's first token into its score.
#[derive(Debug)]
struct Classifier {
    size: usize,
    dense: Linear,
    is_tanh: bool,
    score: Linear,
}

impl LocalReranker {
    /// Reads the model in this folder. With a model of 90 MB, blocks for a few tenths of a second. Takes about as much
    /// memory as the model's file, and twice as much while reading.
    ///
    /// Errors: [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if a file is missing,
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if one cannot be read,
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for an unsupported model or an unsuitable JSON file, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for damaged weights, or a file that is not text or not JSON.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let shape = Shape::read(folder)?;
        let tensors = Tensors::read(folder)?;
        let mut hash = Sha256::new();
        hash.update(tensors.bytes());
        let tokens = ModelTokens::read(folder, shape.vocab_size, &mut hash)?;
        Ok(Self(Arc::new(RerankerModel {
            name: format!("{}-{}", shape.name(), revision(hash)),
            tokens,
            max_tokens: MAX_TOKENS.min(shape.positions()),
            transformer: Transformer::new(&shape, &tensors)?,
            classifier: Classifier::new(&shape, &tensors)?,
        })))
    }
}

impl Reranker for LocalReranker {
    /// The model's dimensions and the start of its hash, such as `bert-6x384-74642f9766f84207`.
    fn name(&self) -> &str {
        &self.0.name
    }

    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a> {
        let (model, query, texts) = (Arc::clone(&self.0), query.to_owned(), texts.to_vec());
        let waiting = Arc::new(());
        let anybody = Arc::downgrade(&waiting);
        Box::pin(async move {
            let scores =
                on_own_thread("thermocline-rerank", move || model.scores(&query, &texts, &anybody)).await;
            drop(waiting); // Or with this future, if it is dropped.
            scores
        })
    }
}

impl fmt::Debug for LocalReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalReranker").field(&self.0.name).finish()
    }
}

impl RerankerModel {
    /// Computes a score for each text, unless the answer is no longer awaited.
    fn scores(&self, query: &str, texts: &[String], anybody: &Weak<()>) -> Result<Vec<f32>> {
        let mut scores = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TEXTS_AT_ONCE) {
            if anybody.strong_count() == 0 {
                return Err(Error::provider("nobody waits for the reranker any longer"));
            }
            let input = |text| self.tokens.pair(query, text, self.max_tokens);
            let inputs: Vec<_> = texts.iter().map(|text| input(text)).collect::<Result<_>>()?;
            scores.extend(self.transformer.each(&inputs, |rows| self.classifier.score(rows)));
        }
        Ok(scores)
    }
}

impl Classifier {
    fn new(shape: &Shape, tensors: &Tensors) -> Result<Self> {
        let family = shape.family();
        let (dense, score) = match family {
            Family::Bert => ("pooler.dense", "classifier"),
            Family::DistilBert => ("pre_classifier", "classifier"),
            Family::Roberta => ("classifier.dense", "classifier.out_proj"),
        };
        let unsupported = |what: String| Err(Error::new(ErrorKind::Unsupported, what));
        match tensors.shape(&format!("{score}.weight")) {
            Some([1, _]) => {}
            Some([classes, _]) => {
                return unsupported(format!("the model has {classes} classes: a reranker has one"));
            }
            _ => return unsupported("the model has no classifier: it is not a reranker".to_owned()),
        }
        let prefix = tensors.prefix(family.prefix(), &format!("{dense}.weight"));
        let size = shape.hidden_size;
        Ok(Self {
            size,
            dense: tensors.linear(&format!("{prefix}{dense}"), size, size)?,
            is_tanh: family != Family::DistilBert,
            score: tensors.linear(score, 1, size)?,
        })
    }

    /// Computes the score from the vectors of a pair's tokens.
    fn score(&self, rows: &[f32]) -> f32 {
        // An empty query and an empty text may have no token.
        let Some(first) = rows.get(..self.size) else { return f32::MIN };
        let mut pooled = self.dense.apply(first);
        if self.is_tanh {
            tanh(&mut pooled);
        } else {
            for number in &mut pooled {
                *number = number.max(0.0);
            }
        }
        self.score.apply(&pooled)[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_when_nobody_waits_and_gives_a_text_the_same_score_among_any_others() {
        let reranker = LocalReranker::open("tests/data/models/reranker-bert").unwrap();
        let texts: Vec<String> = (0..20).map(|n| "the red fox ran home ".repeat(n)).collect();
        assert!(reranker.0.scores("the fox", &texts, &Weak::new()).is_err());
        let waiting = Arc::new(());
        let anybody = Arc::downgrade(&waiting);
        let scores = reranker.0.scores("the fox", &texts, &anybody).unwrap();
        for (text, score) in texts.iter().zip(scores) {
            let alone = reranker.0.scores("the fox", std::slice::from_ref(text), &anybody).unwrap();
            assert_eq!(alone, [score], "{} bytes", text.len());
        }
    }
}
