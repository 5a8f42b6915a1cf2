//! Turns a text into tokens of a folder's model, whichever kind of vocabulary the folder has.

#[cfg(feature = "multilingual")]
use std::fs;
use std::path::Path;

use sha2::Sha256;
#[cfg(feature = "multilingual")]
use {
    super::{files::unreadable, inputs::shares},
    sha2::Digest,
    tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationDirection},
};

use super::{
    inputs::Input,
    wordpieces::{WordPieces, other_kind},
};
use crate::{
    embed::wordpiece::Normalization,
    error::{Error, ErrorKind, Result},
};

/// The most tokens that a one-letter text may have, special ones included: fewer than any model has room for.
const MOST_ADDED: usize = 16;

#[derive(Debug)]
pub(super) enum ModelTokens {
    WordPieces(WordPieces),
    /// Unigram and BPE vocabularies, with the normalization and post-processing that tokenizer.json specifies.
    #[cfg(feature = "multilingual")]
    Read(Box<Tokenizer>),
}

impl ModelTokens {
    /// Reads the folder's tokenizer, and adds what affects its tokens to the hash. All of its ids are below `vocab_size`.
    pub(super) fn read(folder: &Path, vocab_size: usize, hash: &mut Sha256) -> Result<Self> {
        let tokens = match other_kind(folder)? {
            None => Self::WordPieces(WordPieces::read(folder, hash)?),
            Some(kind) => Self::read_other(folder, &kind, hash)?,
        };
        // Special tokens are given by id, which may or may not be in the vocabulary.
        let added = [tokens.text("a", MOST_ADDED)?, tokens.pair("a", "a", MOST_ADDED)?];
        let highest = added.iter().flat_map(|input| &input.ids).max().map_or(0, |id| *id as usize + 1);
        if tokens.count().max(highest) > vocab_size {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "the vocabulary has more tokens than config.json says",
            ));
        }
        if added.iter().any(|input| input.ids.len() > MOST_ADDED) {
            return Err(Error::new(ErrorKind::Unsupported, "tokenizer.json adds too many tokens to a text"));
        }
        Ok(tokens)
    }

    #[cfg(not(feature = "multilingual"))]
    fn read_other(_: &Path, kind: &str, _: &mut Sha256) -> Result<Self> {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "tokenizer.json has no WordPiece vocabulary but {kind}, which needs the feature multilingual; build with it"
            ),
        ))
    }

    #[cfg(feature = "multilingual")]
    fn read_other(folder: &Path, kind: &str, hash: &mut Sha256) -> Result<Self> {
        const FILE: &str = "tokenizer.json";
        if !["Unigram", "BPE"].contains(&kind) {
            let said = format!(
                "{FILE} has a vocabulary of the kind {kind:?}: WordPiece, Unigram and BPE can be read"
            );
            return Err(Error::new(ErrorKind::Unsupported, said));
        }
        let bytes = fs::read(folder.join(FILE)).map_err(|error| unreadable(FILE, error))?;
        hash.update(&bytes);
        let unsuitable = |error| {
            Error::caused(
                ErrorKind::Unsupported,
                format!("{FILE} does not match its kind of vocabulary"),
                error,
            )
        };
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(unsuitable)?;
        tokenizer.with_truncation(None).map_err(unsuitable)?;
        tokenizer.with_padding(None);
        // User text is text, even if it looks like an end-of-text token.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self::Read(Box::new(tokenizer)))
    }

    /// Returns a number above all ids.
    fn count(&self) -> usize {
        match self {
            Self::WordPieces(pieces) => pieces.count(),
            #[cfg(feature = "multilingual")]
            Self::Read(tokenizer) => {
                tokenizer.get_vocab(true).into_values().max().map_or(0, |id| id as usize + 1)
            }
        }
    }

    /// Returns how texts are normalized, if neither as for uncased BERT models nor as tokenizer.json says.
    pub(super) fn own_normalization(&self) -> Option<Normalization> {
        match self {
            Self::WordPieces(pieces) => pieces.own_normalization(),
            #[cfg(feature = "multilingual")]
            Self::Read(_) => None,
        }
    }

    /// Returns a text's tokens with the special ones, at most `max` in all; empty for a text without tokens.
    #[cfg_attr(not(feature = "multilingual"), expect(clippy::unnecessary_wraps, reason = "others may fail"))]
    pub(super) fn text(&self, text: &str, max: usize) -> Result<Input> {
        match self {
            Self::WordPieces(pieces) => Ok(pieces.text(text, max)),
            #[cfg(feature = "multilingual")]
            Self::Read(tokenizer) => {
                let mut tokens = encoded(tokenizer, text)?;
                if tokens.is_empty() {
                    return Ok(Input::default());
                }
                cut(&mut tokens, max.saturating_sub(special(tokenizer, false)));
                finished(tokenizer, tokens, None, max)
            }
        }
    }

    /// Returns the tokens of a query and of a text, with the special ones, at most `max` in all.
    #[cfg_attr(not(feature = "multilingual"), expect(clippy::unnecessary_wraps, reason = "others may fail"))]
    pub(super) fn pair(&self, query: &str, text: &str, max: usize) -> Result<Input> {
        match self {
            Self::WordPieces(pieces) => Ok(pieces.pair(query, text, max)),
            #[cfg(feature = "multilingual")]
            Self::Read(tokenizer) => {
                let (mut query, mut text) = (encoded(tokenizer, query)?, encoded(tokenizer, text)?);
                let room = max.saturating_sub(special(tokenizer, true));
                let (query_len, text_len) = shares(room, query.len(), text.len());
                cut(&mut query, query_len);
                cut(&mut text, text_len);
                finished(tokenizer, query, Some(text), max)
            }
        }
    }
}

/// Returns a text's tokens, without special ones.
#[cfg(feature = "multilingual")]
fn encoded(tokenizer: &Tokenizer, text: &str) -> Result<Encoding> {
    tokenizer.encode_fast(text, false).map_err(|_| failed())
}

/// Returns how many special tokens are added to a text, or to a query and a text.
#[cfg(feature = "multilingual")]
fn special(tokenizer: &Tokenizer, is_pair: bool) -> usize {
    tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(is_pair))
}

#[cfg(feature = "multilingual")]
fn cut(tokens: &mut Encoding, most: usize) {
    tokens.truncate(most, 0, TruncationDirection::Right);
    // The tokenizer would keep the truncated part.
    drop(tokens.take_overflowing());
}

/// Adds the special tokens.
#[cfg(feature = "multilingual")]
fn finished(tokenizer: &Tokenizer, first: Encoding, second: Option<Encoding>, max: usize) -> Result<Input> {
    let tokens = tokenizer.post_process(first, second, true).map_err(|_| failed())?;
    let kinds = tokens.get_type_ids();
    let second = kinds.iter().position(|&kind| kind != 0).unwrap_or(kinds.len());
    let mut ids = tokens.get_ids().to_vec();
    ids.truncate(max); // What is added may be more than the tokenizer says.
    Ok(Input { second: second.min(ids.len()), ids })
}

#[cfg(feature = "multilingual")]
fn failed() -> Error {
    Error::provider_refused("the model's tokenizer.json fails on a text")
}
