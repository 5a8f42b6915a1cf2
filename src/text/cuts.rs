//! Marks for what is left out of what was said, in contexts, summaries and prompts.

/// A line of the frame in an extract of a turn: something is left out before, between or after what is shown. As short as
/// possible, because it occurs two or three times in a turn of 70 tokens.
pub(crate) const GAP: &str = "<...>\n";

/// Returns a line of the frame in a context, after the beginning of a turn: the turn continues, and this many tokens had no
/// room. The line occurs once, and says how much the reader does not see.
pub(crate) fn left_out_line(tokens: u32) -> String {
    format!("<{tokens} tokens of this turn left out>\n")
}

/// The maximum number of tokens of a [`left_out_line`].
pub(crate) const LEFT_OUT_LINE_TOKENS: u32 = 12;

/// The end of the words that a built-in summary quotes: the sentence continues.
pub(crate) const ELLIPSIS: &str = "...";

/// Returns the mark between the head and the tail of a giant side in a prompt to LLM#1.
pub(crate) fn left_out_between(tokens: u32) -> String {
    format!(" [... {tokens} tokens left out ...] ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::Tokenizer;

    #[test]
    fn the_line_of_what_is_left_out_has_no_more_tokens_than_are_kept_for_it() {
        for tokenizer in Tokenizer::ALL {
            assert_eq!(tokenizer.count(&left_out_line(u32::MAX)), LEFT_OUT_LINE_TOKENS, "{tokenizer:?}");
        }
    }
}
