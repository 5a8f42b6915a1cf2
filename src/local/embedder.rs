//! Sentence transformers: they compute a text's vector from those of its tokens.

use std::{fmt, path::Path, sync::Arc};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{
    files::{json_if_any, revision},
    inputs::Input,
    modules::{EmbeddingHead, Modules},
    prompts::prompts,
    safetensors::Tensors,
    shape::Shape,
    tokens::ModelTokens,
    transformer::Transformer,
};
use crate::{
    embed::{
        Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, prefixes::Prefixes, wordpiece::Normalization,
    },
    error::{Error, ErrorKind, Result},
    own_thread::on_own_thread,
};

/// The most tokens of a text, special ones included, if the folder does not say. The pieces of turns are hardly longer.
const MAX_TOKENS: usize = 256;
/// The most tokens of a text, whatever the folder says: the time for a long query grows with the square of its length.
const MOST_TOKENS: usize = 1_024;
/// The fewest tokens that a text may be cut to: two special ones, and one of the text.
const FEWEST_TOKENS: usize = 3;

/// A sentence transformer read from a folder. Feature `local`; it brings no dependencies, and needs no network.
///
/// ```no_run
/// use thermocline::LocalEmbedder;
///
/// # fn run() -> thermocline::Result<()> {
/// let embedder = LocalEmbedder::open("models/all-MiniLM-L6-v2")?;
/// // A model that wants a word before each text, in a folder that does not say so:
/// let embedder = LocalEmbedder::open("models/e5-small-v2")?.query_prefix("query: ").document_prefix("passage: ");
/// # Ok(())
/// # }
/// ```
///
/// The folder has the layout of model hubs: `config.json`, `model.safetensors`, and `vocab.txt` or `tokenizer.json`. These
/// are also read, if they exist: `tokenizer_config.json`, `modules.json` with the folders it names,
/// `sentence_bert_config.json` (or the same with another model type in its name) and `config_sentence_transformers.json`.
/// Supported:
///
/// | | |
/// |---|---|
/// | model types | `bert` (all-MiniLM, BGE, E5, GTE, Arctic and others of that form), `distilbert`, `roberta`, `xlm-roberta`, `camembert`; gelu, absolute positions |
/// | weights | 32-bit or 16-bit floats (`F16` or `BF16`), in one file |
/// | vocabularies | `WordPiece`, cased or not; with the feature `multilingual` Unigram and BPE as well (multilingual E5, paraphrase-multilingual-MiniLM, BGE-M3) |
/// | pooling | mean, `[CLS]`, last token |
/// | after pooling | `Dense` (tanh, identity), `Normalize` |
/// | prompts | for queries `query`; for documents `document`, `passage` or `corpus`; otherwise the default prompt |
/// | length of texts | `max_seq_length`, or 256 tokens if the folder does not say; never more than 1,024, nor more than the model has positions |
///
/// Anything else is refused with an error that names it; for such a model, implement [`Embedder`].
///
/// The embedder computes on a separate thread, in 32-bit floats, and gives the same numbers on every machine.
#[derive(Clone)]
pub struct LocalEmbedder {
    model: Arc<EmbedderModel>,
    prefixes: Prefixes,
}

struct EmbedderModel {
    /// The space of the vectors of texts without a prefix.
    space: EmbeddingSpace,
    tokens: ModelTokens,
    max_tokens: usize,
    /// Whether texts are lowercased first.
    is_lowered: bool,
    transformer: Transformer,
    head: EmbeddingHead,
}

impl LocalEmbedder {
    /// Reads the model in this folder. With a model of 90 MB, blocks for a few tenths of a second. Takes about as much
    /// memory as the model's file, and twice as much while reading.
    ///
    /// Errors: [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if a file is missing,
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if one cannot be read,
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for an unsupported model or an unsuitable JSON file, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for damaged weights, or a file that is not text or not JSON.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let prefixes = prompts(folder)?;
        Ok(Self { model: Arc::new(EmbedderModel::read(folder)?), prefixes })
    }

    /// Sets the prefix for each query, such as `"query: "` for E5. Default: the folder's prompt for queries, usually none.
    #[must_use]
    pub fn query_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.query = prefix.into();
        self
    }

    /// Sets the prefix for each document, such as `"passage: "` for E5. Default: the folder's prompt for documents, usually
    /// none. With another prefix all vectors are recomputed.
    #[must_use]
    pub fn document_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.document = prefix.into();
        self
    }
}

impl Embedder for LocalEmbedder {
    fn space(&self) -> EmbeddingSpace {
        let space = self.model.space.clone();
        EmbeddingSpace { revision: self.prefixes.revision(&space.revision), ..space }
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a> {
        let (model, texts) = (Arc::clone(&self.model), texts.to_vec());
        let prefix = self.prefixes.of(purpose).to_owned();
        Box::pin(on_own_thread("thermocline-embed", move || model.vectors(&prefix, &texts)))
    }
}

impl fmt::Debug for LocalEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalEmbedder").field(&self.space()).finish()
    }
}

impl EmbedderModel {
    fn read(folder: &Path) -> Result<Self> {
        let listed = Modules::read(folder)?;
        let is_listed = listed.is_some();
        let modules = listed.unwrap_or_else(|| Modules::unlisted(folder));
        let own = &modules.transformer;
        let shape = Shape::read(own)?;
        if shape.is_classifier() && !is_listed {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "config.json describes a classifier, which gives no vectors: LocalReranker reads those with one class",
            ));
        }
        let tensors = Tensors::read(own)?;
        // Identifies the model whatever its folder is called: a hash over everything that its vectors depend on. Settings
        // that older models lack are hashed only if present, because the vectors of those models are stored under the hash
        // without them.
        let mut hash = Sha256::new();
        hash.update(tensors.bytes());
        let tokens = ModelTokens::read(own, shape.vocab_size, &mut hash)?;
        let head = modules.head(shape.hidden_size, &mut hash)?;
        if let Some(Normalization { lower, strip_accents, space_ideographs }) = tokens.own_normalization() {
            hash.update([lower, strip_accents, space_ideographs].map(u8::from));
        }
        let length = Length::read(own)?;
        let max_tokens = length.max_tokens(shape.positions());
        if max_tokens != MAX_TOKENS.min(shape.positions()) {
            hash.update(format!("max_tokens {max_tokens}"));
        }
        if length.do_lower_case {
            hash.update("do_lower_case");
        }
        let space = EmbeddingSpace {
            model: shape.name(),
            revision: revision(hash),
            dims: u32::try_from(head.dims()).expect("it was checked against the most that a vector may have"),
        };
        let transformer = Transformer::new(&shape, &tensors)?;
        Ok(Self { space, tokens, max_tokens, is_lowered: length.do_lower_case, transformer, head })
    }

    fn vectors(&self, prefix: &str, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let inputs = texts.iter().map(|text| self.input(prefix, text)).collect::<Result<Vec<_>>>()?;
        Ok(self.transformer.each(&inputs, |rows| self.head.vector(rows)))
    }

    /// Returns a text's tokens, with the prefix; empty for a text without tokens, whatever the prefix.
    fn input(&self, prefix: &str, text: &str) -> Result<Input> {
        if prefix.is_empty() {
            return self.tokenized(text);
        }
        if self.tokenized(text)?.ids.is_empty() {
            return Ok(Input::default());
        }
        self.tokenized(&format!("{prefix}{text}"))
    }

    fn tokenized(&self, text: &str) -> Result<Input> {
        if self.is_lowered {
            return self.tokens.text(&text.to_lowercase(), self.max_tokens);
        }
        self.tokens.text(text, self.max_tokens)
    }
}

/// A sentence transformer's settings about the texts it was trained with.
#[derive(Default, Deserialize)]
struct Length {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

impl Length {
    fn read(folder: &Path) -> Result<Self> {
        for kind in ["bert", "roberta", "distilbert", "camembert", "xlm-roberta"] {
            if let Some(length) = json_if_any(folder, &format!("sentence_{kind}_config.json"))? {
                return Ok(length);
            }
        }
        Ok(Self::default())
    }

    fn max_tokens(&self, positions: usize) -> usize {
        let asked = self.max_seq_length.unwrap_or(MAX_TOKENS);
        asked.clamp(FEWEST_TOKENS, MOST_TOKENS).min(positions)
    }
}
