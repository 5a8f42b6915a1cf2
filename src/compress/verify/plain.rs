//! Plain text: no markup, nothing hidden, no frame, no control token, no refusal.

use crate::{
    compress::verify::{flaw::Flaw, source::Source},
    english::lists::{List, list},
    text::{
        control,
        render::{is_hidden, is_line_break},
        words,
    },
};

/// Blanks at the ends off, runs of them inside as one space. Line breaks inside stay: they are a flaw.
pub(super) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        let is_blank = c.is_whitespace() && !is_line_break(c);
        if !is_blank {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

/// One line of plain text that looks like no frame.
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
    if has_frame(text) {
        return Err(Flaw::ForgedFrame);
    }
    if has_markup(text) {
        return Err(Flaw::Markup);
    }
    Ok(())
}

/// Joiners and marks of direction, which scripts and emoji need and Latin text does not.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{61c}')
}

/// Who may not seem to speak in a summary.
static ROLES: List = list!("roles");

/// Where this crate's own frame begins, and parts of chat templates that are no tokens.
const FRAMES: [&str; 6] = ["|>", "<memory", "</memory", "<now:", "<recent turns", "###"];

fn has_frame(text: &str) -> bool {
    let folded = text.to_lowercase();
    if FRAMES.iter().any(|frame| folded.contains(frame)) || control::starts(text).next().is_some() {
        return true;
    }
    // "System:" begins a frame where a sentence may begin; "her operating system: Linux" does not.
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
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        if c == '<' && (next.is_alphabetic() || matches!(next, '/' | '!' | '?')) {
            return true;
        }
    }
    ["```", "](", "{\"", "[{"].iter().any(|mark| text.contains(mark))
}

/// How a model says that it will not do it; `_` for blanks.
static REFUSALS: List = list!("refusals");

/// A summary is no refusal, unless it repeats the turn to the letter.
pub(super) fn check_voice(summary: &str, source: &Source) -> Result<(), Flaw> {
    let folded = words::fold(summary).replace('\u{2019}', "'").replace(' ', "_");
    let folded = folded.trim_start_matches(|c: char| !c.is_alphanumeric());
    if REFUSALS.words().any(|refusal| folded.starts_with(refusal)) && !source.has_text(summary) {
        return Err(Flaw::Refusal);
    }
    Ok(())
}
