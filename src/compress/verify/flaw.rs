//! What can be wrong with what LLM#1 says of a turn.

use std::fmt;

use crate::model::summary::MAX_SUMMARY_TOKENS;

/// What was wrong with what was said of a turn. Its text tells a model, or a person, what to do about it; it never
/// quotes anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Flaw {
    /// Nothing was said of this turn.
    Missing,
    /// Two things were said of it.
    Duplicate,
    Empty,
    TooLong,
    LineBreak,
    HiddenCharacter,
    Markup,
    ForgedFrame,
    Refusal,
    Instruction,
    OtherLanguage,
    LongerThanTurn,
    ForeignLink,
    ForeignEmail,
    ForeignNumber,
    Unrelated,
    ForeignWords,
    Repeated,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Missing => "the answer has no verdict for this turn",
            Self::Duplicate => "the answer has more than one verdict for this turn",
            Self::Empty => "the summary is empty",
            Self::TooLong => {
                return write!(
                    f,
                    "the summary is too long: one sentence of at most {MAX_SUMMARY_TOKENS} tokens is asked for"
                );
            }
            Self::LineBreak => "the summary has a line break",
            Self::HiddenCharacter => "the summary has characters that are not seen or that reorder text",
            Self::Markup => "the summary has markup: plain text is asked for",
            Self::ForgedFrame => {
                "the summary looks like a speaker's tag or a frame: begin it with other words"
            }
            Self::Refusal => "this is a refusal, not a summary",
            Self::Instruction => "the summary gives an instruction: say what was said, in the third person",
            Self::OtherLanguage => "the summary is in another language than its turn",
            Self::LongerThanTurn => "the summary is longer than its turn",
            Self::ForeignLink => "the summary has a link that its turn lacks",
            Self::ForeignEmail => "the summary has an address or @name that its turn lacks",
            Self::ForeignNumber => "the summary has a number or date that its turn lacks",
            Self::Unrelated => "the summary shares hardly a word with its turn",
            Self::ForeignWords => {
                "a part of the summary says what its turn does not say: use the words of the turn"
            }
            Self::Repeated => "the same summary is given for another turn",
        };
        f.write_str(text)
    }
}
