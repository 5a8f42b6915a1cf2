//! What follows the head of a file: the text, and then a block of links, which Obsidian follows. Also escapes pages, so that
//! titles in them are plain text.
//!
//! The block has a fixed form, by which the reader recognizes and removes it. A text that itself ends in that form gets one
//! more line after it, so that no part of the text is taken for the block.

use crate::{
    memory::page::tidy,
    vault::guard::{guarded, unguarded},
};

const BLOCK: &str = "<!-- links -->";
/// The line after a text that ends like one with a block, if the file has no block.
const NO_BLOCK: &str = "<!-- links: none -->";

/// Replaces all line ends of a text by line feeds, as in files.
pub(crate) fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the text after a head. One empty line before it and one line end after it are not part of it.
pub(super) fn content(body: &str) -> String {
    let body = with_line_feeds(body);
    let content = body.strip_prefix('\n').unwrap_or(&body);
    content.strip_suffix('\n').unwrap_or(content).to_owned()
}

/// Writes a text as it follows a head, so that [`content`] reads it back.
pub(super) fn body(content: &str) -> String {
    let before = if content.starts_with('\n') { "\n" } else { "" };
    format!("{before}{content}\n")
}

/// Escapes a page so that titles in it are plain text: no HTML, none of Obsidian's comments, nothing active.
pub(super) fn inert(page: &str) -> String {
    guarded(&page.replace('<', "&lt;").replace("%%", "%&#37;")).into_owned()
}

/// Reverses [`inert`].
pub(super) fn as_typed(page: &str) -> String {
    unguarded(page).replace("&lt;", "<").replace("&#37;", "%")
}

/// Writes a block of these links; empty if there are none.
pub(super) fn block(mut links: Vec<String>) -> String {
    links.sort_unstable();
    if links.is_empty() { String::new() } else { format!("{BLOCK}\n{}", links.concat()) }
}

/// Writes a link to a file, with the name of the relation: `SOLVES`, or one of our own types in capitals.
pub(super) fn link((name, besides): (&str, Option<&str>), path: &str, title: &str) -> String {
    let name = besides.map_or(name.to_owned(), str::to_ascii_uppercase);
    let title = inert(&tidy(&title.replace('|', " ")));
    format!("- {name} [[{}|{title}]]\n", stem(path))
}

/// Returns the name of a file without its extension, by which links refer to it.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// Appends the block to the text after a head.
pub(super) fn with_block(body: String, block: &str) -> String {
    if block.is_empty() && without_block(&body).len() == body.len() {
        return body;
    }
    let block = if block.is_empty() { format!("{NO_BLOCK}\n") } else { block.to_owned() };
    body + &block
}

/// Returns the text after a head without its block.
pub(super) fn without_block(body: &str) -> &str {
    let (mut rest, mut is_any) = (body.trim_end_matches(['\n', '\r']), false);
    loop {
        let start = rest.rfind('\n').map_or(0, |at| at + 1);
        let line = rest[start..].trim_end_matches('\r');
        if line == NO_BLOCK && !is_any || line == BLOCK && is_any {
            return &body[..start];
        }
        if start == 0 || !is_entry(line) {
            return body;
        }
        (rest, is_any) = (&rest[..start - 1], true);
    }
}

/// Removes from a text the block that `is_it` recognizes, wherever it is, because people also write after it. `None` if
/// there is none.
pub(super) fn without_known_block(text: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let starts = text.match_indices(BLOCK).map(|(at, _)| at);
    starts.filter(|at| *at == 0 || text[..*at].ends_with('\n')).find_map(|start| {
        let mut end = start + text[start..].find('\n')? + 1;
        while let Some(line) =
            text[end..].split_inclusive('\n').next().filter(|line| is_entry(line.trim_end()))
        {
            end += line.len();
            if is_it(&format!("{}\n", text[start..end].trim_end_matches('\n'))) {
                return Some(format!("{}{}", &text[..start], &text[end..]));
            }
        }
        None
    })
}

/// Whether a line is an entry of a block, like
/// `- SOLVES [[redis-connection-drops-000001|Redis connection drops under load]]`.
fn is_entry(line: &str) -> bool {
    let parts = line
        .strip_prefix("- ")
        .and_then(|line| line.strip_suffix("]]"))
        .and_then(|line| line.split_once(" [["));
    parts.is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "<!-- links -->\n- SOLVES [[drops-000001|Redis drops]]\n";

    #[test]
    fn the_block_is_taken_off_and_nothing_else() {
        for own in [
            "x\n",
            "x\n\n",
            "<!-- links -->\n",
            "<!-- links -->\n- a\n",
            "- SOLVES [[a|b]]\n",
            "",
            "x\n<!-- links -->\n",
        ] {
            assert_eq!(without_block(own), own);
            assert_eq!(without_block(&format!("{own}{ONE}")), own);
            assert_eq!(
                without_block(&format!("{own}{ONE}\r\n\n").replace('\n', "\r\n")),
                own.replace('\n', "\r\n")
            );
        }
        assert_eq!(with_block("x\n".to_owned(), ""), "x\n");
        assert_eq!(with_block(ONE.to_owned(), ""), format!("{ONE}<!-- links: none -->\n"));
    }

    proptest! {
        #[test]
        fn every_text_survives_the_block(
            own in "(<!-- links -->\n|<!-- links: none -->\n|- SOLVES \\[\\[a\\|b\\]\\]\n|\n|x){0,12}", has_block: bool,
        ) {
            let body = format!("{own}\n");
            let with = with_block(body.clone(), if has_block { ONE } else { "" });
            prop_assert_eq!(without_block(&with), body);
        }
    }
}
