//! A claim, and the words that prove it.

use crate::{
    english::statements::Statement,
    model::anchor::{Attribute, Stance},
};

/// A claim that authors make about themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) attribute: Attribute,
    pub(crate) value: String,
    pub(crate) stance: Stance,
    /// The sentence, or the clause of a long one, verbatim.
    pub(crate) quote: String,
}

/// The longest quote, in bytes.
const MAX_QUOTE_BYTES: usize = 160;

/// Returns the sentence, or as much of it as fits a quote: the sentence up to the end of the claim's clause, or that clause
/// alone.
pub(super) fn quote(statement: &Statement<'_>, start: usize, end: usize) -> String {
    let text = statement.text;
    if text.len() <= MAX_QUOTE_BYTES {
        return text.to_owned();
    }
    let tokens = &statement.tokens;
    let last = (end..tokens.len()).find(|&at| tokens[at].is_mark()).unwrap_or(tokens.len());
    let to = tokens[last.max(1) - 1].end();
    let is_short = |from: &usize| (1..=MAX_QUOTE_BYTES).contains(&to.saturating_sub(*from));
    let clause = tokens[start.min(tokens.len() - 1)].start;
    let from = Some(tokens[0].start).filter(is_short).unwrap_or(clause);
    let clause = text.get(from..to.max(from)).unwrap_or(text);
    clause[..clause.floor_char_boundary(MAX_QUOTE_BYTES)].trim_end().to_owned()
}
