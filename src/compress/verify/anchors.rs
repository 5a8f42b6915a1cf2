//! Checks the anchors that LLM#1 found: an anchor is accepted only if the speaker that it is about says so in the turn.

use crate::{
    compress::verify::{
        answers, language, orders,
        plain::{self, tidy},
        source::SourceText,
        told,
    },
    model::{anchor::FoundAnchor, turn::Turn},
    text::{
        subjects::{folded_name, subjects},
        words,
    },
};

/// Enough for a name, a place, a thing; a note is a phrase.
const MAX_VALUE_BYTES: usize = 100;
/// A sentence or two: a longer quote proves nothing more.
const MAX_QUOTE_BYTES: usize = 500;
/// The most anchors of one turn that are examined: nobody says more about themselves in one turn.
const MAX_ANCHORS: usize = 20;

/// Returns the anchors that their turn proves, each once, with the turn's own words as quotes.
pub(super) fn clean(turn: &Turn, anchors: Vec<FoundAnchor>) -> Vec<FoundAnchor> {
    if anchors.is_empty() {
        return anchors;
    }
    let texts = [&turn.said.user_message, &turn.said.ai_response];
    let sides: Vec<SpeakerSide<'_>> = texts
        .into_iter()
        .zip(subjects(&turn.said))
        .filter_map(|(text, subject)| Some(SpeakerSide::new(text, subject?, turn)))
        .collect();
    let mut kept: Vec<FoundAnchor> = Vec::new();
    for anchor in anchors.into_iter().take(MAX_ANCHORS) {
        if let Some(good) = sides.iter().find_map(|side| side.believe(&anchor))
            && !kept.contains(&good)
        {
            kept.push(good);
        }
    }
    kept
}

/// A side of a turn whose speaker may say who they are.
struct SpeakerSide<'a> {
    text: &'a str,
    /// The only subject whose anchors this side can prove: its speaker.
    subject: String,
    normal: Normal,
    source: SourceText,
}

impl<'a> SpeakerSide<'a> {
    fn new(text: &'a str, subject: String, turn: &Turn) -> Self {
        let source = SourceText::of_text(text, turn.timestamp.date_naive());
        Self { text, subject, normal: Normal::of(text), source }
    }

    /// Returns the anchor with the quote as this side writes it; `None` if this side does not prove it.
    fn believe(&self, anchor: &FoundAnchor) -> Option<FoundAnchor> {
        if anchor.value.len() > 4 * MAX_VALUE_BYTES || anchor.quote.len() > 4 * MAX_QUOTE_BYTES {
            return None; // Checked before anything reads the texts.
        }
        let subject = folded_name(&anchor.subject);
        let value = tidy(&anchor.value);
        let is_short_and_plain = value.chars().any(char::is_alphanumeric)
            && value.len() <= MAX_VALUE_BYTES
            && plain::check(&value).is_ok();
        if self.subject != subject || !is_short_and_plain {
            return None;
        }
        let quote = self.normal.find(self.text, &anchor.quote)?;
        let is_proven = quote.len() <= MAX_QUOTE_BYTES
            && self.supports(&value, quote)
            && answers::answers(anchor, &value, quote)
            && self.is_no_order(&value);
        if !is_proven {
            return None;
        }
        Some(FoundAnchor { subject, value, quote: quote.to_owned(), ..anchor.clone() })
    }

    /// Whether the value contains no instruction to its reader.
    fn is_no_order(&self, value: &str) -> bool {
        orders::check_alone(&told::told(&told::folded(value, &self.source), &self.source)).is_ok()
    }

    /// Whether the speaker's own text contains every word and number of the value, and the quote contains some of it. Other
    /// text does not count: a document next to it may say anything.
    fn supports(&self, value: &str, quote: &str) -> bool {
        let mut content = words::query_words(value);
        content.retain(|&word| !is_number(word, value));
        if content.is_empty() && !value.chars().any(|c| c.is_ascii_digit()) {
            // Only stop words and signs, such as "they/them".
            return self.source.has_text(value);
        }
        let quoted = words::query_words(quote);
        content.iter().all(|&word| self.source.has_word(word))
            && (content.is_empty() || content.iter().any(|word| quoted.contains(word)))
            && self.source.check_facts(value).is_ok()
    }
}

/// Whether this word of the value is one of its numbers: those are checked as numbers, not as words.
fn is_number(word: words::Word, value: &str) -> bool {
    let folded = words::fold(value);
    let mut runs = folded
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|run| run.starts_with(|c: char| c.is_ascii_digit()));
    runs.any(|run| words::query_words(run).contains(&word))
}

/// A text normalized for comparing quotes, with a mapping back to the original: blanks become single spaces, curly quotes
/// and dashes become straight ones.
pub(super) struct Normal {
    text: String,
    /// For each byte of `text`, the byte of the original that it came from; then the original's end.
    origins: Vec<usize>,
}

impl Normal {
    pub(super) fn of(original: &str) -> Self {
        let mut new = Self { text: String::with_capacity(original.len()), origins: Vec::new() };
        for (at, c) in original.char_indices() {
            if c.is_whitespace() {
                if !new.text.is_empty() && !new.text.ends_with(' ') {
                    new.push(' ', at);
                }
            } else {
                let straight = match c {
                    '\u{2018}' | '\u{2019}' | '\u{201b}' => '\'',
                    '\u{201c}' | '\u{201d}' | '\u{201f}' => '"',
                    '\u{2010}' | '\u{2011}' | '\u{2013}' | '\u{2014}' => '-',
                    other => other,
                };
                new.push(straight, at);
            }
        }
        new.origins.push(original.len());
        new
    }

    fn push(&mut self, c: char, origin: usize) {
        self.text.push(c);
        self.origins.resize(self.text.len(), origin);
    }

    /// Finds the part of the original that matches this quote, in whole words.
    pub(super) fn find<'a>(&self, original: &'a str, quote: &str) -> Option<&'a str> {
        let wanted = Self::of(quote).text;
        let wanted = wanted.trim();
        if wanted.is_empty() {
            return None;
        }
        let (start, _) = self.text.match_indices(wanted).find(|(at, _)| {
            !is_inside_word(&self.text, *at) && !is_inside_word(&self.text, at + wanted.len())
        })?;
        original.get(self.origins[start]..self.origins[start + wanted.len()]).map(str::trim_end)
    }
}

/// Whether there are letters on both sides of this position, in a script that has spaces.
fn is_inside_word(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let behind = text[at..].chars().next();
    let is_letter = |c: char| c.is_alphanumeric() && !language::is_unspaced_char(c);
    before.is_some_and(is_letter) && behind.is_some_and(is_letter)
}
