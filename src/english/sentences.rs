//! Splits text into sentences: prose, without code, tables and the marks at the start of lines.

use crate::{
    english::lists::{List, is_in, list},
    text::render::is_line_break,
};

/// One sentence, verbatim: a slice of the text that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    pub(crate) text: &'a str,
    pub(crate) setting: Setting,
}

/// The kind of block that a sentence is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// A paragraph.
    Prose,
    /// An item of a list.
    Item,
    /// A heading, or a line entirely in bold.
    Heading,
    /// A line after `>`.
    Quoted,
}

/// Returns the sentences of a text, in order.
pub(crate) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let (mut blocks, mut is_open): (Vec<LineBlock>, bool) = (Vec::new(), false);
    let mut skipped_until: Option<&str> = None;
    // In `\r\n` only `\n` ends the line; otherwise every such line would be followed by a blank one.
    for line in text.split_inclusive(|c| c != '\r' && is_line_break(c)) {
        let trimmed = line.trim();
        if let Some(end) = skipped_until {
            if trimmed.starts_with(end) || (end != "```" && trimmed.ends_with(end)) {
                skipped_until = None;
            }
            continue;
        }
        skipped_until = skipped_block(trimmed);
        let (setting, content) = match setting_of(trimmed) {
            Some(found) if skipped_until.is_none() => found,
            _ => {
                is_open = false;
                continue;
            }
        };
        let start = content.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + content.len();
        match blocks.last_mut().filter(|open| is_open && open.goes_on(text, setting, content)) {
            Some(open) => open.end = end,
            None => blocks.push(LineBlock { start, end, setting }),
        }
        is_open = true;
    }
    let mut found = Vec::new();
    for LineBlock { start, end, setting } in blocks {
        split(&text[start..end], setting, &mut found);
    }
    found
}

/// Consecutive lines that are read as one text.
struct LineBlock {
    start: usize,
    end: usize,
    setting: Setting,
}

/// A line of at least this length may be wrapped, so that the next one continues its sentence.
const WRAPPED_BYTES: usize = 60;

impl LineBlock {
    fn goes_on(&self, text: &str, setting: Setting, content: &str) -> bool {
        let so_far = &text[self.start..self.end];
        let last_line = so_far.rsplit(is_line_break).next().unwrap_or(so_far);
        let is_ended = so_far.ends_with(['.', '!', '?', ':', ';', '。', '！', '？']);
        let starts_low = content.chars().next().is_some_and(char::is_lowercase);
        setting == Setting::Prose
            && matches!(self.setting, Setting::Prose | Setting::Item)
            && (starts_low || (last_line.len() >= WRAPPED_BYTES && !is_ended))
    }
}

/// Returns the mark that ends the block of code or formulas that this line opens; `None` if it opens none.
fn skipped_block(line: &str) -> Option<&'static str> {
    const BLOCKS: [(&str, &str); 4] = [("```", "```"), ("~~~", "~~~"), ("\\[", "\\]"), ("$$", "$$")];
    let begins = BLOCKS.iter().find_map(|(start, end)| Some((line.strip_prefix(start)?, *end)));
    // A fence may also end a line: `so: ~~~`.
    let opens = |(start, _): &&(&str, &str)| line.ends_with(start) && line.matches(start).count() == 1;
    let (rest, end) = begins.or_else(|| Some(("", BLOCKS[..2].iter().find(opens)?.1)))?;
    (!rest.contains(end)).then_some(end)
}

/// Returns the setting of a line, and its text without the mark; `None` for code, tables, rules and blank lines.
fn setting_of(line: &str) -> Option<(Setting, &str)> {
    let is_markup = ["```", "~~~", "\\[", "$$", "|"].iter().any(|mark| line.starts_with(mark));
    if is_markup || !line.contains(|c: char| c.is_alphanumeric() || !c.is_ascii()) {
        return None;
    }
    let (mut setting, mut rest) = (Setting::Prose, line);
    if let Some(quoted) = rest.strip_prefix('>') {
        (setting, rest) = (Setting::Quoted, quoted.trim_start_matches(['>', ' ']));
    }
    if let Some(heading) = rest.trim_start_matches('#').strip_prefix(' ').filter(|_| rest.starts_with('#')) {
        (setting, rest) = (Setting::Heading, heading.trim_start());
    } else if let Some(item) = item(rest) {
        setting = if setting == Setting::Quoted { setting } else { Setting::Item };
        rest = item;
    }
    if setting == Setting::Prose && rest.starts_with("**") && rest.trim_end_matches(':').ends_with("**") {
        setting = Setting::Heading;
    }
    (setting == Setting::Heading || !is_code(rest)).then_some((setting, rest))
}

/// Returns the text of a list item: the text after `-`, `*`, `+`, a bullet, `1.`, `a)` and a task's checkbox.
fn item(line: &str) -> Option<&str> {
    let mark_end = line.find([' ', '\t'])?;
    let mark = &line[..mark_end];
    let is_bullet = matches!(mark, "-" | "*" | "+" | "•" | "–" | "◦" | "▪" | "·");
    let is_number = mark.len() <= 4
        && mark.strip_suffix(['.', ')']).is_some_and(|n| {
            !n.is_empty() && (n.bytes().all(|b| b.is_ascii_digit()) || (n.len() == 1 && mark.ends_with(')')))
        });
    let rest = line[mark_end..].trim_start();
    let rest =
        ["[ ]", "[x]", "[X]"].iter().find_map(|done| rest.strip_prefix(done)).unwrap_or(rest).trim_start();
    ((is_bullet || is_number) && !rest.is_empty()).then_some(rest)
}

/// Whether a line is unfenced code: it ends like a statement, or has many signs.
fn is_code(line: &str) -> bool {
    /// In code every eighth character of a line is a sign, in prose hardly any.
    const SIGNS_IN: usize = 8;
    const FEWEST_SIGNS: usize = 3;
    if line.starts_with("</") || ["{", "}", ";", "=>", "/>"].iter().any(|end| line.ends_with(end)) {
        return true;
    }
    if line.contains("://") {
        return false;
    }
    let is_sign = |c: &char| "{}()[]<>=;_\\|&$^".contains(*c);
    let signs = line.chars().filter(is_sign).count();
    signs >= FEWEST_SIGNS && signs * SIGNS_IN >= line.chars().filter(|c| !c.is_whitespace()).count()
}

/// Splits a block of lines into sentences.
fn split<'a>(text: &'a str, setting: Setting, found: &mut Vec<Sentence<'a>>) {
    let (mut start, mut at) = (0, 0);
    let mut push = |part: &'a str| {
        let part = part.trim();
        if !part.is_empty() {
            found.push(Sentence { text: part, setting });
        }
    };
    while let Some(before) = text[at..].find(is_end) {
        let mark_at = at + before;
        let behind = text[mark_at..].trim_start_matches(is_end);
        let marks_end = text.len() - behind.len();
        at = text.len() - behind.trim_start_matches(CLOSING).len();
        if ends_sentence(text, mark_at, marks_end, at) {
            push(&text[start..at]);
            start = at;
        }
    }
    push(&text[start..]);
}

/// Closing quotes, brackets and bold marks that may follow an end.
const CLOSING: [char; 12] = ['"', '\'', '”', '’', ')', ']', '*', '_', '」', '』', '）', '»'];

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '‽' | '؟' | '۔' | '।') || is_wide_end(c)
}

/// Whether this mark ends a sentence without a space after it.
fn is_wide_end(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．')
}

/// Whether the marks in `mark_at..marks_end` end a sentence. `end` is where the closing quotes and brackets after them end.
fn ends_sentence(text: &str, mark_at: usize, marks_end: usize, end: usize) -> bool {
    let marks = &text[mark_at..marks_end];
    if marks.contains(is_wide_end) {
        return true;
    }
    let behind = &text[end..];
    if !behind.starts_with(char::is_whitespace) {
        return false;
    }
    let next = behind.trim_start().chars().next().unwrap_or(' ');
    let next_is_low = next.is_lowercase();
    if marks == "." {
        return !ends_short_form(&text[..mark_at], next);
    }
    // No sentence ends before a lower-case word in `"Really?" she asked` and `Well ... and then`.
    !(next_is_low && (end > marks_end || marks.starts_with("..") || marks.starts_with('…')))
}

/// Abbreviations: those that never end a sentence, those that end none before a number, and those that end none before a
/// lower-case letter.
static LEADING: List = list!("short_forms");
const NUMBERED: &str = "no nr fig vol ch p pp";
static TRAILING: List = list!("short_forms_at_ends");

/// Whether the period after `before` belongs to an abbreviation and ends nothing.
fn ends_short_form(before: &str, next: char) -> bool {
    /// How many bytes before the period are examined: the longest abbreviation, and the character before it.
    const LOOK_BACK: usize = 12;
    let tail = &before[before.ceil_char_boundary(before.len().saturating_sub(LOOK_BACK))..];
    let word = tail.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or(tail);
    let lower = word.to_lowercase();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    is_initial
        || LEADING.contains(&lower)
        || (next.is_numeric() && is_in(NUMBERED, &lower))
        || (next.is_lowercase() && TRAILING.contains(&lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = sentences(text).iter().map(|sentence| sentence.text).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[track_caller]
    fn check_setting(text: &str, expected: &[(Setting, &str)]) {
        let found: Vec<_> =
            sentences(text).iter().map(|sentence| (sentence.setting, sentence.text)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn points_questions_and_exclamations_end_sentences() {
        check("I moved. You did? Wow! ok", &["I moved.", "You did?", "Wow!", "ok"]);
        check("i live in bonn. my dog is max.", &["i live in bonn.", "my dog is max."]);
        check(
            "He said \"stop!\" He left. (Twice.) Then",
            &["He said \"stop!\"", "He left.", "(Twice.)", "Then"],
        );
        check("\"Really?\" she asked.", &["\"Really?\" she asked."]);
        check("Well... maybe. Well... Maybe", &["Well... maybe.", "Well...", "Maybe"]);
        check("", &[]);
        check(" \n ", &[]);
    }

    #[test]
    fn short_forms_numbers_and_addresses_do_not() {
        check(
            "Dr. Smith paid 3.5 euros at 5 p.m. on Monday.",
            &["Dr. Smith paid 3.5 euros at 5 p.m. on Monday."],
        );
        check("We met at 5 p.m. Then we ate.", &["We met at 5 p.m.", "Then we ate."]);
        check("J. Smith, e.g. in a.example/b.html?c=d.", &["J. Smith, e.g. in a.example/b.html?c=d."]);
        check("It was I. Then no. Not no. 6.", &["It was I.", "Then no.", "Not no. 6."]);
    }

    #[test]
    fn scripts_without_spaces_have_their_own_points() {
        check("昨日、猫を見た。「本当？」うん！", &["昨日、猫を見た。", "「本当？」", "うん！"]);
    }

    #[test]
    fn lines_end_sentences_unless_they_were_wrapped() {
        check("first line\nSecond line", &["first line", "Second line"]);
        check("first line\nsecond half", &["first line\nsecond half"]);
        check("first line\r\nsecond half", &["first line\r\nsecond half"]);
        let wrapped = "This line is so long that an editor wrapped it after these words:\nHere";
        check(wrapped, &wrapped.split('\n').collect::<Vec<_>>());
        let wrapped = "This line is so long that an editor wrapped it somewhere behind\nMonday at noon";
        check(wrapped, &[wrapped]);
    }

    #[test]
    fn marks_of_lines_are_left_out() {
        use Setting::{Heading, Item, Prose, Quoted};
        check_setting(
            "# Plan\n- [ ] buy 1.5 l milk\n2. eat\nb) sleep\n> she said so\n**Note:**\n\nDone.",
            &[
                (Heading, "Plan"),
                (Item, "buy 1.5 l milk"),
                (Item, "eat"),
                (Item, "sleep"),
                (Quoted, "she said so"),
                (Heading, "**Note:**"),
                (Prose, "Done."),
            ],
        );
        check_setting("- one\n\n- two\nmore of two", &[(Item, "one"), (Item, "two\nmore of two")]);
    }

    #[test]
    fn code_tables_and_formulas_are_left_out() {
        check("Look:\n```rust\nlet a = 1. Or 2;\n```\nNice.", &["Look:", "Nice."]);
        check("Look:\n~~~\nplain\n~~~\nNice.", &["Look:", "Nice."]);
        check("Look:\n```never closed\nplain", &["Look:"]);
        check("a\n```x = 1```\nB", &["a", "B"]);
        check("A table:\n| a | b |\n|---|---|\nEnd\n---\n", &["A table:", "End"]);
        check("So\n\\[\nx = 2\n\\]\nand\n$$ y $$\nthen", &["So", "and", "then"]);
        check(
            "Look:\nlet x = f(1);\nif (a == b) {\nfoo(bar[0], baz)\nIt fails (why?)",
            &["Look:", "It fails (why?)"],
        );
        check("See https://a.example/?a=(b)&c=[d]", &["See https://a.example/?a=(b)&c=[d]"]);
    }
}
