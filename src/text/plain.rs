//! Converts marked-up text of several lines into one line of plain text.

use crate::text::render::{is_hidden, is_line_break};

/// Returns one line: blanks and breaks become single spaces, hidden characters and the marks of Markdown and TeX are
/// removed, and a link `[text](address)` becomes its text. Everything else is copied in order.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        if let Some((label, after)) = link(rest) {
            label.chars().for_each(|c| push(&mut out, c, ""));
            rest = after;
        } else if let Some(after) =
            rest.strip_prefix("**").or_else(|| rest.strip_prefix("```")).or_else(|| tex_bracket(rest))
        {
            rest = after;
        } else {
            push(&mut out, c, behind);
            rest = behind;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn push(out: &mut String, c: char, behind: &str) {
    if c.is_whitespace() || is_line_break(c) {
        if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    } else if !(is_hidden(c) || (matches!(c, '`' | '*') && is_mark(out, behind))) {
        out.push(c);
    }
}

/// Whether a star or backtick is a mark, as in `*so*`, and not as in `3 * 4` and `3*4`: a mark has a letter or digit on at
/// most one side, and blanks on at most one.
fn is_mark(before: &str, behind: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let (left, right) = (before.chars().next_back(), behind.chars().next());
    let is_inside = is_word(left) && is_word(right);
    let is_alone = is_blank(left) && is_blank(right);
    !(is_inside || is_alone)
}

/// The longest text and the longest address of a link, in bytes. Anything longer is shown as it is, so that a text full of
/// brackets is not searched to its end for each bracket.
const MAX_LINK_BYTES: usize = 300;

/// Returns the text of a link or image at the start, and what follows the link.
fn link(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("![").or_else(|| text.strip_prefix('['))?;
    let label = &inner[..inner[..inner.floor_char_boundary(MAX_LINK_BYTES)].find("](")?];
    let behind = &inner[label.len() + 2..];
    let address = &behind[..behind[..behind.floor_char_boundary(MAX_LINK_BYTES)].find(')')?];
    let is_one = !label.contains(['[', '\n']) && !address.contains(char::is_whitespace);
    is_one.then(|| (label, &behind[address.len() + 1..]))
}

/// Returns the rest after `\(`, `\)`, `\[` or `\]`, which begin and end a formula.
fn tex_bracket(text: &str) -> Option<&str> {
    text.strip_prefix('\\')?.strip_prefix(['(', ')', '[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(plain(text), expected, "{text:?}");
    }

    #[test]
    fn blanks_and_breaks_become_single_spaces() {
        check("  a\n\n b\t\u{2028}c\r\n", "a b c");
        check("", "");
        check("a\u{a0}b\u{3000}c", "a b c");
    }

    #[test]
    fn what_hides_or_reorders_text_goes() {
        check("a\u{202e}b\u{200b}c\u{7}d\u{e0041}", "abcd");
        check("👩‍👩‍👧 stay", "👩‍👩‍👧 stay");
    }

    #[test]
    fn marks_of_markdown_and_tex_go() {
        check("**Use** `cargo test`, *now*", "Use cargo test, now");
        check("3 * 4 and 3*4 and snake_case, I`m", "3 * 4 and 3*4 and snake_case, I`m");
        check("``` `f(x)`. *(so)*", "f(x). (so)");
        check(r"so \( x = 2 \) holds", "so x = 2 holds");
    }

    #[test]
    fn a_link_is_its_text() {
        check("see [the book](https://a.example/b) and ![a cat](c.png).", "see the book and a cat.");
        check("https://a.example/b?c=d_e", "https://a.example/b?c=d_e");
        check("[image: a dog] (really) [1] f[i](x y)", "[image: a dog] (really) [1] f[i](x y)");
    }

    #[test]
    fn a_megabyte_of_brackets_is_read_in_passing() {
        assert_eq!(plain(&"[".repeat(1 << 20)).len(), 1 << 20);
    }
}
