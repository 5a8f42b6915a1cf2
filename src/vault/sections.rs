//! Several memories in one file, a log or a day. Each is a section: a heading, a text, and a comment with its fields.
//!
//! A line of a text that looks like part of this structure, apart from any leading backslashes, gets one more backslash in
//! front. So every text reads back unchanged, and none is split in two.

use std::fmt::Write as _;

/// The maximum size of a file of sections, in bytes: beyond it, the next section starts a new file.
const MAX_BYTES: usize = 512 << 10;

/// Parses the heading `## 14:30 - Title` into time and title.
pub(crate) fn moment(line: &str) -> Option<(&str, &str)> {
    let (time, title) = line.strip_prefix("## ")?.split_once(" - ")?;
    let is_time = time.len() == 5 && chrono::NaiveTime::parse_from_str(time, "%H:%M").is_ok();
    is_time.then_some((time, title.trim()))
}

/// Whether a line looks like a structural part of a section.
fn is_structure(line: &str) -> bool {
    matches!(line.trim_end(), "<!--" | "-->") || line.starts_with("Tags:") || moment(line).is_some()
}

/// Escapes a text so that no line looks like a structural part of a section.
pub(crate) fn guarded(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let rest = line.trim_start();
        if is_structure(rest.trim_start_matches('\\')) {
            format!("{}\\{rest}", &line[..line.len() - rest.len()])
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the original form of a line that [`guarded`] escaped.
pub(crate) fn unguarded(line: &str) -> String {
    let rest = line.trim_start();
    match rest.strip_prefix('\\') {
        Some(bare) if is_structure(rest.trim_start_matches('\\')) => {
            format!("{}{bare}", &line[..line.len() - rest.len()])
        }
        _ => line.to_owned(),
    }
}

/// Writes fields as a comment. No value in them can end the comment.
pub(crate) fn comment(names: &str) -> String {
    format!("<!--\n{}-->\n", names.replace("--", "-\\u002d"))
}

/// Returns the original form of a comment's line.
pub(crate) fn uncommented(line: &str) -> String {
    line.replace("-\\u002d", "--")
}

/// A section of a log: one memory.
#[derive(Debug, PartialEq)]
pub(crate) struct LogSection<'t> {
    pub(crate) title: &'t str,
    /// The lines of the comment, and the index of the first one among all lines of the file.
    pub(crate) names: (Vec<String>, usize),
    pub(crate) content: String,
}

/// Writes a section of a log: the heading of a memory, its fields, its text.
pub(crate) fn section(title: &str, names: &str, content: &str) -> String {
    format!("## {title}\n\n{}\n{}\n", comment(names), guarded(content))
}

/// Reads the sections of a log; empty if the text is not a log.
pub(crate) fn sections(text: &str) -> Vec<LogSection<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len())
        .filter(|&at| {
            lines[at].starts_with("## ")
                && lines.get(at + 1) == Some(&"")
                && lines.get(at + 2) == Some(&"<!--")
        })
        .collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let of = |(&start, end): (&usize, usize)| {
        let first = start + 3;
        let names = lines[first..end].iter().take_while(|line| **line != "-->").count();
        let content: Vec<String> =
            lines[(first + names + 1).min(end)..end].iter().map(|line| unguarded(line)).collect();
        LogSection {
            title: lines[start][3..].trim(),
            names: (lines[first..first + names].iter().map(|line| uncommented(line)).collect(), first),
            content: content.join("\n").trim_matches('\n').to_owned(),
        }
    };
    starts.iter().zip(ends).map(of).collect()
}

/// Distributes sections over files, each with the same beginning, and none larger than what is read again.
pub(crate) fn pages(beginning: &str, sections: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut pages = Vec::new();
    let mut page = String::new();
    for section in sections {
        if !page.is_empty() && page.len() + section.len() > MAX_BYTES {
            pages.push(std::mem::take(&mut page));
        }
        if page.is_empty() {
            page.push_str(beginning);
        }
        let blank = if page.is_empty() { "" } else { "\n" };
        let _ = write!(page, "{blank}{section}");
    }
    if !page.is_empty() {
        pages.push(page);
    }
    pages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_becomes_two_and_each_is_read_as_it_was(
            texts in prop::collection::vec("x(<!--\n|-->\n|## a\n\n<!--\n|## 14:30 - b\n|Tags: #c\n|\\\\|\n| |\\PC){0,20}x", 1..4),
            names in "[a-z]{1,5}: \"[-u002d>!\\\\]{0,9}\"",
        ) {
            let names = format!("{names}\n");
            let all: Vec<String> = texts.iter().map(|text| section("A title", &names, text)).collect();
            let log = pages("# Log\n", all).concat();
            let read = sections(&log);
            prop_assert_eq!(read.len(), texts.len());
            for (section, text) in read.iter().zip(&texts) {
                prop_assert_eq!((section.title, &section.content), ("A title", text));
                prop_assert_eq!(section.names.0.join("\n") + "\n", names.clone());
            }
        }
    }

    #[test]
    fn a_page_does_not_grow_beyond_what_is_read() {
        let pages = pages("# Log\n", std::iter::repeat_n("x".repeat(60_000), 40));
        assert_eq!(pages.len(), 5);
        assert!(pages.iter().all(|page| page.starts_with("# Log\n") && page.len() <= MAX_BYTES));
    }
}
