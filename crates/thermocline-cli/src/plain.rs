//! Makes users' text safe for a terminal: replaces characters that control the terminal, hide text or reorder it by U+FFFD.
//! Zero-width joiners stay, because some writing systems need them.

/// The character that replaces a character which must not reach the terminal.
const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// Returns the text as one line of at most `max_chars` characters; line breaks and other white space become single
/// spaces.
pub(crate) fn line(text: &str, max_chars: usize) -> String {
    let mut chars = single_spaced(text);
    let mut shown: String = chars.by_ref().take(max_chars).collect();
    if chars.next().is_some() {
        shown.pop();
        shown.truncate(shown.trim_end().len());
        shown.push('…');
    }
    shown
}

/// Returns the text with its own line breaks.
pub(crate) fn block(text: &str) -> String {
    let shown = |c| if is_hidden(c) && c != '\n' && c != '\t' { REPLACED } else { c };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Breaks the text between words into lines of at most `width` characters; a longer word stays whole. Each line is
/// indented by `indent`, and each continuation line also by `hanging`.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str, hanging: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut row = indent.to_owned();
        let mut is_first = true;
        for word in line.split(' ') {
            if !is_first && row.chars().count() + 1 + word.chars().count() > width {
                out.push_str(row.trim_end());
                out.push('\n');
                row = [indent, hanging].concat();
            } else if !is_first {
                row.push(' ');
            }
            row.push_str(word);
            is_first = false;
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out
}

/// Whether a character controls the terminal, hides text or reorders it. Zero-width joiners are allowed, because some
/// writing systems need them.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the characters of `text` without leading white space, and with single spaces between words.
fn single_spaced(text: &str) -> impl Iterator<Item = char> {
    let mut was_blank = true;
    text.trim().chars().filter_map(move |c| {
        let blank = c.is_whitespace();
        let repeated = blank && was_blank;
        was_blank = blank;
        match c {
            _ if repeated => None,
            _ if blank => Some(' '),
            c if is_hidden(c) => Some(REPLACED),
            c => Some(c),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(line(text, 10), expected, "{text:?}");
    }

    #[test]
    fn a_line_has_no_breaks_and_no_commands() {
        check(" a \r\n\n b\tc ", "a b c");
        check("\u{1b}[31mred", "\u{fffd}[31mred");
        check("a\u{9b}2J\u{202e}b", "a\u{fffd}2J\u{fffd}b");
        check("a\u{2028}b\u{85}c", "a b c");
        check("", "");
    }

    #[test]
    fn a_longer_line_is_cut_with_a_mark() {
        check("ten chars.", "ten chars.");
        check("more than ten", "more than…");
        check("eleven char", "eleven ch…");
    }

    #[test]
    fn a_block_keeps_its_line_breaks() {
        assert_eq!(block("a\r\n\tb\n\u{1b}c\rd"), "a\n\tb\n\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn wrapped_lines_are_indented_and_no_word_is_broken() {
        assert_eq!(
            wrapped("one two three\n\n x unbreakableword y\n", 9, "  ", "> "),
            "  one two\n  > three\n\n   x\n  > unbreakableword\n  > y\n"
        );
    }
}
