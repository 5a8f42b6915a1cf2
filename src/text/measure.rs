//! Measures a turn before it is written: checks its bounds, and computes its token counts, words and hash.

use sha2::{Digest, Sha256};

use crate::{
    error::{Error, Result},
    model::{
        metadata,
        stored_time::StoredTime,
        turn::{NewTurn, Said, TokenCounts, Turn},
    },
    text::{
        control,
        render::{self, PIECE_FORMAT},
        tokens::Tokenizer,
        words::WordCounts,
    },
};

/// The longest name or id from a caller, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 256;
/// The most bytes that an import accepts for the name of what made something, such as a summary.
pub(crate) const MAX_MAKER_BYTES: usize = 200;

/// A checksum of the text of a turn: the first 16 bytes of SHA-256 over the length of the first side (u64, little-endian),
/// the first side and the second.
pub(crate) type ContentHash = [u8; 16];

/// A turn that may be recorded, and what was computed from its text before it entered the writer's queue.
#[derive(Debug)]
pub(crate) struct MeasuredTurn {
    pub(crate) turn: NewTurn,
    pub(crate) tokens: TokenCounts,
    /// The encoded forward list.
    pub(crate) words: Vec<u8>,
    pub(crate) content_hash: ContentHash,
}

/// Measures a turn. Errors: the turn exceeds a bound.
pub(crate) fn measure(turn: NewTurn, tokenizer: Tokenizer, max_side_bytes: usize) -> Result<MeasuredTurn> {
    turn.check(max_side_bytes)?;
    let said = &turn.said;
    Ok(MeasuredTurn {
        tokens: count_tokens(said, tokenizer),
        words: WordCounts::of(said).encode(),
        content_hash: content_hash(&said.user_message, &said.ai_response),
        turn,
    })
}

/// Counts the tokens of a turn by this tokenizer and the current piece format.
pub(crate) fn count_tokens(said: &Said, tokenizer: Tokenizer) -> TokenCounts {
    let user_line = render::user_line(said, &said.user_message);
    let assistant_line = render::assistant_line(said, &said.ai_response);
    // The piece consists of both lines, whose counts add up.
    let [user_message_tokens, user_line_tokens] = tokenizer.count_quoted(&said.user_message, &user_line);
    let [ai_response_tokens, assistant_line_tokens] =
        tokenizer.count_quoted(&said.ai_response, &assistant_line);
    TokenCounts {
        user_message_tokens,
        ai_response_tokens,
        total_tokens: user_message_tokens.saturating_add(ai_response_tokens),
        piece_tokens: user_line_tokens.saturating_add(assistant_line_tokens),
        counted_by: counted_by(tokenizer),
    }
}

/// Returns how stored counts name the tokenizer and the piece format: `o200k_base/3`.
pub(crate) fn counted_by(tokenizer: Tokenizer) -> String {
    format!("{}/{PIECE_FORMAT}", tokenizer.as_str())
}

/// Whether the counts are this tokenizer's, for the turn as it is rendered now. In format 1, pieces contained control tokens
/// verbatim, and in format 2 those that only [`control`] of format 3 knows; a turn without control tokens is rendered the
/// same in all formats.
pub(crate) fn are_counts_of(turn: &Turn, tokenizer: Tokenizer) -> bool {
    let format = turn.tokens.counted_by.strip_prefix(tokenizer.as_str());
    let format: Option<u32> = format.and_then(|format| format.strip_prefix('/')?.parse().ok());
    let Said { user_message, ai_response, user_name, assistant_name, .. } = &turn.said;
    let names = [user_name, assistant_name].into_iter().flatten();
    let mut texts = [user_message, ai_response].into_iter().chain(names);
    format == Some(PIECE_FORMAT)
        || matches!(format, Some(1 | 2)) && texts.all(|text| control::starts(text).next().is_none())
}

/// Whether the counts are right. Counts by another tokenizer or piece format cannot be checked here, and pass; they are
/// counted again whenever they are read.
pub(crate) fn has_its_counts(turn: &Turn) -> bool {
    Tokenizer::ALL
        .into_iter()
        .find(|&tokenizer| counted_by(tokenizer) == turn.tokens.counted_by)
        .is_none_or(|tokenizer| count_tokens(&turn.said, tokenizer) == turn.tokens)
}

pub(crate) fn content_hash(user_message: &str, ai_response: &str) -> ContentHash {
    let digest = Sha256::new()
        .chain_update((user_message.len() as u64).to_le_bytes())
        .chain_update(user_message)
        .chain_update(ai_response);
    checksum(digest)
}

/// Returns the first bytes of a digest, as many as a checksum has.
pub(crate) fn checksum(digest: Sha256) -> ContentHash {
    let mut hash = ContentHash::default();
    let len = hash.len();
    hash.copy_from_slice(&digest.finalize()[..len]);
    hash
}

impl NewTurn {
    /// Makes those checks of [`record`](crate::Session::record) that need nothing but the turn. `max_side_bytes` stands for
    /// [`Config::max_side_bytes`](crate::Config::max_side_bytes). For callers that must know before they start a session
    /// for the turn.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput), which names what would be refused.
    pub fn check(&self, max_side_bytes: usize) -> Result<()> {
        let said = &self.said;
        if said.user_message.is_empty() && said.ai_response.is_empty() {
            return Err(Error::invalid("the turn is empty: both sides have no text"));
        }
        for (side, text) in [("user message", &said.user_message), ("reply", &said.ai_response)] {
            check_text(side, text, max_side_bytes)?;
        }
        check_name("user name", said.user_name.as_deref())?;
        check_name("assistant name", said.assistant_name.as_deref())?;
        check_name("turn's caller id", self.caller_id.as_deref())?;
        self.metadata.as_ref().map_or(Ok(()), metadata::check)?;
        StoredTime::stated("said_at", self.said_at).map(drop)
    }
}

/// Checks a name or id from a caller: 1 to 256 bytes, no NUL.
pub(crate) fn check_name(what: &str, name: Option<&str>) -> Result<()> {
    match name {
        Some("") => Err(Error::invalid(format!("the {what} is empty; leave it out instead"))),
        Some(name) => check_text(what, name, MAX_NAME_BYTES),
        None => Ok(()),
    }
}

/// Checks a text from a caller: at most `max_bytes`, no NUL.
pub(crate) fn check_text(what: &str, text: &str, max_bytes: usize) -> Result<()> {
    if text.len() > max_bytes {
        return Err(Error::invalid(format!("the {what} has {} bytes; {max_bytes} are allowed", text.len())));
    }
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(Error::invalid(format!("the {what} has a NUL character at byte {at}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_side_ends_is_part_of_the_hash() {
        assert_ne!(content_hash("ab", "c"), content_hash("a", "bc"));
        assert_eq!(content_hash("ab", "c"), content_hash("ab", "c"));
    }

    #[track_caller]
    fn check(counted_by: &str, said: &str, holds: bool) {
        let mut turn = Turn::sample(1, said.to_owned(), 1);
        turn.tokens = count_tokens(&turn.said, Tokenizer::O200kBase);
        turn.tokens.counted_by = counted_by.to_owned();
        assert_eq!(are_counts_of(&turn, Tokenizer::O200kBase), holds, "{counted_by}: {said}");
    }

    #[test]
    fn counts_of_earlier_piece_formats_hold_for_turns_without_control_tokens() {
        check("o200k_base/3", "<|im_start|>", true);
        check("o200k_base/2", "so I said <extra_id_1>", false);
        check("o200k_base/2", "a < b, [so] I said", true);
        check("o200k_base/1", "a < b, [so] I said", true);
        check("o200k_base/1", "so I said <|im_start|>", false);
        check("cl100k_base/3", "so I said", false);
        check("o200k_base/4", "so I said", false);
        check("o200k_base", "so I said", false);
    }
}
