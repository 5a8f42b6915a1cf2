//! Sentence transformers read from a folder, as model hubs have them: BERT models with uncased `WordPiece` tokens.

mod arithmetic;
mod bert;
mod files;
mod safetensors;

use std::{borrow::Cow, collections::HashMap, fmt, path::Path, sync::Arc};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use self::{
    bert::{Bert, Pooling, Shape},
    files::{json, text},
    safetensors::Tensors,
};
use crate::{
    aside::aside,
    embed::{Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, wordpiece::Vocabulary},
    error::{Error, ErrorKind, Result},
};

/// Of a text, with `[CLS]` and `[SEP]`. The pieces of turns are shorter.
const MAX_TOKENS: usize = 256;
/// So many tokens go through the model together: enough to read its weights seldom, few enough for the caches.
const BATCH_TOKENS: usize = 256;

/// A sentence transformer read from a folder. Feature `local`; it brings no dependencies, and needs no network.
///
/// ```no_run
/// use thermocline::LocalEmbedder;
///
/// # fn run() -> thermocline::Result<()> {
/// let embedder = LocalEmbedder::open("models/all-MiniLM-L6-v2")?;
/// # Ok(())
/// # }
/// ```
///
/// The folder is what model hubs have, as it is: `model.safetensors`, `config.json`, `vocab.txt` or `tokenizer.json`,
/// and, if there are any, `tokenizer_config.json` and `1_Pooling/config.json`. The model must be a BERT with an uncased
/// `WordPiece` vocabulary and mean or `[CLS]` pooling: all-MiniLM-L6-v2, all-MiniLM-L12-v2, bge-small-en-v1.5,
/// gte-small, e5-small-v2 and others of that kind. Queries and turns are embedded alike: prefixes that some models want
/// are not added.
///
/// It computes on one thread of its own, in 32-bit floats, and gives the same numbers on every machine. Of a text the
/// first 256 tokens count.
#[derive(Clone)]
pub struct LocalEmbedder(Arc<Model>);

struct Model {
    space: EmbeddingSpace,
    vocabulary: Vocabulary,
    /// Of `[CLS]`, `[SEP]` and `[UNK]`.
    cls: u32,
    sep: u32,
    unk: u32,
    max_tokens: usize,
    bert: Bert,
}

impl LocalEmbedder {
    /// Reads the model in this folder. Blocks, for a few tenths of a second with a model of 90 MB, and takes about as
    /// much memory as its file.
    ///
    /// Fails with [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) where a file is missing,
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for a model of another kind, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for a damaged file.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let shape: Shape = json(folder, "config.json")?;
        let tokens = tokens(folder)?;
        if tokens.len() > shape.vocab_size {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "the vocabulary has more tokens than config.json says",
            ));
        }
        let tensors = Tensors::read(&folder.join("model.safetensors"))?;
        let pooling = pooling(folder)?;
        let bert = Bert::new(&shape, &tensors, pooling)?;
        let space = EmbeddingSpace {
            model: format!("bert-{}x{}", shape.num_hidden_layers, shape.hidden_size),
            revision: revision(&tensors, &tokens, pooling),
            dims: u32::try_from(shape.hidden_size)
                .map_err(|error| Error::caused(ErrorKind::Unsupported, "vectors that are too long", error))?,
        };
        let vocabulary = Vocabulary::new(tokens.into_iter().map(Cow::Owned));
        let id = |token: &str| {
            let missing = || {
                Error::new(ErrorKind::Unsupported, format!("the vocabulary has no {token}: it is no BERT's"))
            };
            vocabulary.id(token).ok_or_else(missing)
        };
        let [cls, sep, unk] = ["[CLS]", "[SEP]", "[UNK]"].map(id);
        let (cls, sep, unk) = (cls?, sep?, unk?);
        let max_tokens = MAX_TOKENS.min(shape.max_position_embeddings);
        Ok(Self(Arc::new(Model { space, vocabulary, cls, sep, unk, max_tokens, bert })))
    }
}

impl Embedder for LocalEmbedder {
    fn space(&self) -> EmbeddingSpace {
        self.0.space.clone()
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        let (model, texts) = (Arc::clone(&self.0), texts.to_vec());
        Box::pin(aside("thermocline-embed", move || Ok(model.vectors(&texts))))
    }
}

impl fmt::Debug for LocalEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalEmbedder").field(&self.0.space).finish()
    }
}

impl Model {
    fn vectors(&self, texts: &[String]) -> Vec<Vec<f32>> {
        let mut vectors = vec![vec![0.0; self.space.dims as usize]; texts.len()];
        let (mut batch, mut places, mut held) = (Vec::new(), Vec::new(), 0);
        let mut embed = |batch: &mut Vec<Vec<u32>>, places: &mut Vec<usize>| {
            for (place, vector) in places.drain(..).zip(self.bert.vectors(batch)) {
                vectors[place] = vector;
            }
            batch.clear();
        };
        for (place, text) in texts.iter().enumerate() {
            let ids = self.ids(text);
            if ids.is_empty() {
                continue;
            }
            if held + ids.len() > BATCH_TOKENS {
                embed(&mut batch, &mut places);
                held = 0;
            }
            held += ids.len();
            batch.push(ids);
            places.push(place);
        }
        embed(&mut batch, &mut places);
        vectors
    }

    /// The ids of a text's tokens, between `[CLS]` and `[SEP]`; none for a text without tokens.
    fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = vec![self.cls];
        self.vocabulary.tokens(text, |id| {
            if ids.len() < self.max_tokens - 1 {
                ids.push(id.unwrap_or(self.unk));
            }
        });
        if ids.len() == 1 {
            return Vec::new();
        }
        ids.push(self.sep);
        ids
    }
}

/// Identifies the model whatever its folder is called: the start of a hash over all that its vectors depend on.
fn revision(tensors: &Tensors, tokens: &[String], pooling: Pooling) -> String {
    const SHOWN: usize = 16;
    let mut hash = Sha256::new();
    hash.update(tensors.bytes());
    for token in tokens {
        hash.update(token);
        hash.update([0]);
    }
    hash.update([u8::from(pooling == Pooling::Cls)]);
    let mut revision = format!("{:x}", hash.finalize());
    revision.truncate(SHOWN);
    revision
}

/// The tokens, by their ids.
fn tokens(folder: &Path) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Settings {
        do_lower_case: Option<bool>,
    }
    #[derive(Deserialize)]
    struct Tokenizer {
        model: TokenModel,
    }
    #[derive(Deserialize)]
    struct TokenModel {
        #[serde(rename = "type")]
        kind: Option<String>,
        vocab: serde_json::Value,
    }
    if folder.join("tokenizer_config.json").exists() {
        let settings: Settings = json(folder, "tokenizer_config.json")?;
        if settings.do_lower_case == Some(false) {
            return Err(Error::new(ErrorKind::Unsupported, "the model's tokens are cased"));
        }
    }
    if folder.join("vocab.txt").exists() {
        return Ok(text(folder, "vocab.txt")?.lines().map(str::to_owned).collect());
    }
    let model = json::<Tokenizer>(folder, "tokenizer.json")?.model;
    let unsuitable = || Error::new(ErrorKind::Unsupported, "tokenizer.json has no WordPiece vocabulary");
    if model.kind.as_deref() != Some("WordPiece") {
        return Err(unsuitable());
    }
    let vocab: HashMap<String, usize> = serde_json::from_value(model.vocab).map_err(|_| unsuitable())?;
    let mut tokens = vec![String::new(); vocab.len()];
    for (token, id) in vocab {
        *tokens.get_mut(id).ok_or_else(unsuitable)? = token;
    }
    Ok(tokens)
}

/// The mean, unless the folder says otherwise.
fn pooling(folder: &Path) -> Result<Pooling> {
    #[derive(Deserialize)]
    struct Settings {
        #[serde(default)]
        pooling_mode_cls_token: bool,
        #[serde(default)]
        pooling_mode_mean_tokens: bool,
    }
    const FILE: &str = "1_Pooling/config.json";
    if !folder.join(FILE).exists() {
        return Ok(Pooling::Mean);
    }
    let settings: Settings = json(folder, FILE)?;
    match (settings.pooling_mode_cls_token, settings.pooling_mode_mean_tokens) {
        (false, true) => Ok(Pooling::Mean),
        (true, false) => Ok(Pooling::Cls),
        _ => Err(Error::new(ErrorKind::Unsupported, "the model pools neither by mean nor by [CLS]")),
    }
}

#[cfg(test)]
mod tests;
