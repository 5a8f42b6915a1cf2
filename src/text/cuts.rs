//! Marks of what is left out of what was said. Each tells its reader something else.

/// In an extract of a turn, a line of the frame: something is left out before, between or behind what is shown. As short
/// as a mark can be, since it stands two or three times in a turn of 70 tokens.
pub(crate) const GAP: &str = "<...>\n";

/// In a context, behind the beginning of a turn, a line of the frame: the turn goes on, and so much of it had no room. It
/// stands once, and says how much the reader does not see.
pub(crate) fn left_out_line(tokens: u32) -> String {
    format!("<{tokens} tokens of this turn left out>\n")
}

/// That line never has more tokens than this.
pub(crate) const LEFT_OUT_LINE_TOKENS: u32 = 12;

/// In a built-in summary, at the end of the words that it quotes: the sentence goes on.
pub(crate) const ELLIPSIS: &str = "...";

/// In a prompt to LLM#1, between the head and the tail of a giant side.
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
