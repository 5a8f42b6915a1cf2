//! Checks that a text is plain: one line, no markup, nothing hidden, no control token, no refusal, and nothing that looks
//! like a frame of a prompt (`<memory`, `System:`).

use crate::{
    compress::verify::{flaw::Flaw, source::SourceText},
    english::lists::{List, list},
    text::{
        control,
        render::{is_hidden, is_line_break},
        words,
    },
};

/// Trims blanks at the ends, and collapses runs of them inside to one space. Line breaks inside stay: they are a flaw.
pub(super) fn tidy(text: &str) -> String {
    let words = text.trim().split(|c: char| c.is_whitespace() && !is_line_break(c));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Checks that a text is one line of plain text and does not look like a frame.
pub(super) fn check(text: &str) -> Result<(), Flaw> {
    if text.contains(is_line_break) {
        return Err(Flaw::LineBreak);
    }
    let mut before = ' ';
    for c in text.chars() {
        if is_hidden(c) || (is_joiner(c) && before.is_ascii()) {
            return Err(Flaw::HiddenCharacter);
        }
        before = c;
    }
    match (has_frame(text), has_markup(text)) {
        (true, _) => Err(Flaw::ForgedFrame),
        (_, true) => Err(Flaw::Markup),
        _ => Ok(()),
    }
}

/// Whether a character is a joiner or a direction mark, which scripts and emoji need and Latin text does not.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{61c}')
}

/// Roles that must not appear to speak in a summary.
static ROLES: List = list!("roles");

/// The beginnings of this crate's own frames, and parts of chat templates that `control` does not know.
const FRAMES: [&str; 6] = ["|>", "<memory", "</memory", "<now:", "<recent turns", "###"];

fn has_frame(text: &str) -> bool {
    let folded = text.to_lowercase();
    if FRAMES.iter().any(|frame| folded.contains(frame)) || control::starts(text).next().is_some() {
        return true;
    }
    // "System:" begins a frame if a sentence may begin there; "her operating system: Linux" does not.
    let mut starts_sentence = true;
    let mut words = folded.split(' ').peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        let name = bare.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_tag =
            bare.contains(':') || (bare == name && words.peek().is_some_and(|next| next.starts_with(':')));
        let role = name.split(':').next().unwrap_or(name);
        if starts_sentence && is_tag && ROLES.contains(role.trim_end_matches('s')) {
            return true;
        }
        starts_sentence = word.ends_with(['.', '!', '?', '"', ')', ']', '}', '|', '-', '*', '>', ';']);
    }
    false
}

fn has_markup(text: &str) -> bool {
    let begins_tag =
        |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '!' | '?'));
    text.split('<').skip(1).any(begins_tag)
        || ["```", "](", "{\"", "[{"].iter().any(|mark| text.contains(mark))
}

/// How models phrase a refusal; `_` stands for blanks.
static REFUSALS: List = list!("refusals");

/// Checks that a summary is not a refusal, unless it repeats the turn verbatim.
pub(super) fn check_voice(summary: &str, source: &SourceText) -> Result<(), Flaw> {
    let folded = words::fold(summary).replace('\u{2019}', "'").replace(' ', "_");
    let folded = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
    if REFUSALS.words().any(|refusal| folded.starts_with(refusal)) && !source.has_text(summary) {
        return Err(Flaw::Refusal);
    }
    Ok(())
}
