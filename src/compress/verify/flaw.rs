//! What can be wrong with LLM#1's verdict on a turn.

use std::fmt;

use crate::model::summary::MAX_SUMMARY_TOKENS;

/// Defines each flaw together with its text.
macro_rules! flaws {
    ($($flaw:ident: $text:literal,)*) => {
        /// What is wrong with a verdict. Its text tells a model, or a person, how to correct the verdict, and never quotes
        /// anyone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Flaw {
            $($flaw,)*
        }

        impl fmt::Display for Flaw {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$flaw => write!(f, $text),)*
                }
            }
        }
    };
}

flaws! {
    Missing: "the answer has no verdict for this turn",
    Duplicate: "the answer has more than one verdict for this turn",
    Empty: "the summary is empty",
    TooLong: "the summary is too long: one sentence of at most {MAX_SUMMARY_TOKENS} tokens is asked for",
    LineBreak: "the summary has a line break",
    HiddenCharacter: "the summary has characters that are not seen or that reorder text",
    Markup: "the summary has markup: plain text is asked for",
    ForgedFrame: "the summary looks like a speaker's tag or a frame: begin it with other words",
    Refusal: "this is a refusal, not a summary",
    Instruction: "the summary gives an instruction: say what was said, in the third person",
    OtherLanguage: "the summary is in another language than its turn",
    LongerThanTurn: "the summary is longer than its turn",
    ForeignLink: "the summary has a link that its turn lacks",
    ForeignEmail: "the summary has an address or @name that its turn lacks",
    ForeignNumber: "the summary has a number or date that its turn lacks",
    Unrelated: "the summary shares hardly a word with its turn",
    ForeignWords: "a part of the summary says what its turn does not say: use the words of the turn",
    Repeated: "the same summary is given for another turn",
}
