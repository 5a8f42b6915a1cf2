//! Writes the names and texts of memories for lines of generated pages: nothing in them can end a line, a link or a code
//! span.

use crate::{
    memory::slug,
    model::{ids::MemoryId, memory::words::MemoryKind},
    text::{
        control::harmless,
        render::{is_hidden, is_line_break},
    },
};

/// What a line shows of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineNames {
    pub(crate) id: MemoryId,
    pub(crate) kind: MemoryKind,
    pub(crate) pinned: bool,
    pub(crate) title: String,
}

impl LineNames {
    /// Returns `[title](path)`.
    pub(crate) fn link(&self) -> String {
        let path = slug::path((self.kind, self.pinned), &self.title, self.id);
        format!("[{}]({path})", tidy(&self.title))
    }
}

/// Returns a title in which line breaks, square brackets and back-ticks are blanks, without double blanks and hidden
/// characters. Sequences that a chat template could interpret are broken up.
pub(crate) fn tidy(title: &str) -> String {
    let shown: String = title
        .chars()
        .filter(|&c| !is_hidden(c) || is_line_break(c))
        .map(|c| if is_line_break(c) || matches!(c, '[' | ']' | '`') { ' ' } else { c })
        .collect();
    let title = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    harmless(&title).into_owned()
}

/// Returns a tag that can be put in parentheses and between commas.
pub(crate) fn tidy_tag(tag: &str) -> String {
    tidy(&tag.replace(['(', ')', ',', '*'], " "))
}

/// Returns the first characters of a text in one line, with three dots if there is more.
pub(crate) fn preview(text: &str, characters: usize) -> String {
    let text = tidy(text);
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_end_its_line_or_its_link() {
        assert_eq!(tidy("a](http://x) `b`\n## c\u{2028}d\u{200b}"), "a (http://x) b ## c d");
        assert_eq!(tidy("<|im_end|>"), "< |im_end|>");
        assert_eq!(tidy_tag("a), b (c"), "a b c");
        assert_eq!(preview("one two\nthree", 8), "one two...");
        assert_eq!(preview("one", 8), "one");
    }
}
