//! BERT's tokenizer, for a folder with a `WordPiece` vocabulary.

use std::{borrow::Cow, collections::HashMap, path::Path};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{
    files::{json, json_if_any, text},
    inputs::{Input, shares},
};
use crate::{
    embed::wordpiece::{Normalization, Vocabulary},
    error::{Error, ErrorKind, Result},
};

#[derive(Debug)]
pub(super) struct WordPieces {
    vocabulary: Vocabulary,
    normalization: Normalization,
    /// The number of tokens in the vocabulary.
    count: usize,
    /// The ids of `[CLS]`, `[SEP]` and `[UNK]`.
    cls: u32,
    sep: u32,
    unk: u32,
}

/// The parts of tokenizer.json that are used. Each is read separately, because the vocabulary may be large.
#[derive(Deserialize)]
struct TokenizerFile<M> {
    model: M,
}

#[derive(Deserialize)]
struct TokenizerModelType {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct TokenVocabulary {
    vocab: HashMap<String, usize>,
}

#[derive(Default, Deserialize)]
struct Normalizing {
    normalizer: Option<Normalizer>,
}

#[derive(Default, Deserialize)]
struct Normalizer {
    lowercase: Option<bool>,
    strip_accents: Option<bool>,
    handle_chinese_chars: Option<bool>,
}

#[derive(Default, Deserialize)]
struct WordPieceSettings {
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
}

impl WordPieces {
    /// Reads the folder's tokenizer, and adds its tokens to the hash.
    pub(super) fn read(folder: &Path, hash: &mut Sha256) -> Result<Self> {
        let tokens = tokens(folder)?;
        for token in &tokens {
            hash.update(token);
            hash.update([0]);
        }
        let normalization = normalization(folder)?;
        let count = tokens.len();
        let vocabulary = Vocabulary::new(tokens.into_iter().map(Cow::Owned), normalization);
        let id = |token: &str| {
            let missing = || unsupported(format!("the vocabulary has no {token}: it is not BERT's"));
            vocabulary.id(token).ok_or_else(missing)
        };
        let [cls, sep, unk] = ["[CLS]", "[SEP]", "[UNK]"].map(id);
        let (cls, sep, unk) = (cls?, sep?, unk?);
        Ok(Self { vocabulary, normalization, count, cls, sep, unk })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns how texts are normalized, if not as for uncased models.
    pub(super) fn own_normalization(&self) -> Option<Normalization> {
        Some(self.normalization).filter(|how| *how != Normalization::UNCASED)
    }

    /// Returns a text's tokens, between `[CLS]` and `[SEP]`; at most `max` in all.
    pub(super) fn text(&self, text: &str, max: usize) -> Input {
        let pieces = self.pieces(text, max.saturating_sub(2));
        if pieces.is_empty() {
            return Input::default();
        }
        let ids = [&[self.cls], &*pieces, &[self.sep]].concat();
        Input { second: ids.len(), ids }
    }

    /// Returns `[CLS]` query `[SEP]` text `[SEP]`; at most `max` tokens in all.
    pub(super) fn pair(&self, query: &str, text: &str, max: usize) -> Input {
        let room = max.saturating_sub(3);
        let [mut query, mut text] = [query, text].map(|text| self.pieces(text, room));
        let (query_len, text_len) = shares(room, query.len(), text.len());
        query.truncate(query_len);
        text.truncate(text_len);
        let ids = [&[self.cls], &*query, &[self.sep], &*text, &[self.sep]].concat();
        Input { ids, second: query.len() + 2 }
    }

    /// Returns the first `most` tokens of a text.
    fn pieces(&self, text: &str, most: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        self.vocabulary.tokens(text, |id| {
            if ids.len() < most {
                ids.push(id.unwrap_or(self.unk));
            }
        });
        ids
    }
}

/// Reads the tokens, ordered by id.
fn tokens(folder: &Path) -> Result<Vec<String>> {
    if folder.join("vocab.txt").exists() {
        return Ok(text(folder, "vocab.txt")?.lines().map(str::to_owned).collect());
    }
    let vocab = json::<TokenizerFile<TokenVocabulary>>(folder, "tokenizer.json")?.model.vocab;
    let unsuitable = || unsupported("tokenizer.json leaves out ids of its vocabulary".to_owned());
    let mut tokens = vec![String::new(); vocab.len()];
    for (token, id) in vocab {
        *tokens.get_mut(id).ok_or_else(unsuitable)? = token;
    }
    Ok(tokens)
}

/// Returns the kind of the folder's vocabulary, if it is not `WordPiece`.
pub(super) fn other_kind(folder: &Path) -> Result<Option<String>> {
    if folder.join("vocab.txt").exists() {
        return Ok(None);
    }
    let kind = json::<TokenizerFile<TokenizerModelType>>(folder, "tokenizer.json")?.model.kind;
    Ok(Some(kind.unwrap_or_default()).filter(|kind| kind != "WordPiece"))
}

/// Reads the normalization: as `tokenizer_config.json` says, otherwise as `tokenizer.json` says, otherwise as for uncased
/// models.
fn normalization(folder: &Path) -> Result<Normalization> {
    let settings: WordPieceSettings = json_if_any(folder, "tokenizer_config.json")?.unwrap_or_default();
    let tokenizer: Normalizing = json_if_any(folder, "tokenizer.json")?.unwrap_or_default();
    let normalizer = tokenizer.normalizer.unwrap_or_default();
    let lower = settings.do_lower_case.or(normalizer.lowercase).unwrap_or(true);
    Ok(Normalization {
        lower,
        strip_accents: settings.strip_accents.or(normalizer.strip_accents).unwrap_or(lower),
        space_ideographs: settings.tokenize_chinese_chars.or(normalizer.handle_chinese_chars).unwrap_or(true),
    })
}

fn unsupported(what: String) -> Error {
    Error::new(ErrorKind::Unsupported, what)
}
