//! Separates what a message asks from what it tells.

use crate::english::{
    dull_words::is_dull,
    lists::{List, list, spaced},
    sentences::{Setting, sentences},
};

/// A message split into sentences.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asks<'a> {
    /// The sentences that ask for something, in the order of the message.
    pub(super) asks: Vec<&'a str>,
    /// Everything between the asking sentences: told, quoted, pasted.
    pub(super) told: Vec<&'a str>,
}

/// How many bytes of a sentence are examined: its beginning shows whether it asks.
const LOOKED_AT: usize = 64;

impl<'a> Asks<'a> {
    /// Finds the questions and requests of a message. A message without any is entirely told.
    pub(super) fn of(message: &'a str) -> Self {
        let start_of = |text: &str| text.as_ptr() as usize - message.as_ptr() as usize;
        let own = |setting| matches!(setting, Setting::Prose | Setting::Item);
        let mut asks: Vec<&str> = sentences(message)
            .into_iter()
            .filter(|sentence| own(sentence.setting) && is_ask(sentence.text))
            .map(|sentence| sentence.text)
            .collect();
        asks.retain(|ask| says_something(ask));
        let (mut told, mut from) = (Vec::new(), 0);
        for ask in &asks {
            told.push(&message[from..start_of(ask)]);
            from = start_of(ask) + ask.len();
        }
        told.push(&message[from..]);
        told.retain(|text| text.contains(char::is_alphanumeric));
        Self { asks, told }
    }
}

/// Whether a question asks for anything that could be searched for: `Really?` and `Is it?` do not.
fn says_something(sentence: &str) -> bool {
    /// This many words say something, however common they are.
    const ENOUGH: usize = 3;
    let spaced = spaced(sentence);
    spaced.split_whitespace().count() >= ENOUGH
        || spaced.split_whitespace().any(|word| !is_dull(&word.replace('\'', "")))
}

/// Whether a sentence asks: in any language by its mark, in English by its beginning.
fn is_ask(sentence: &str) -> bool {
    static REQUESTS: List = list!("requests");
    static OPENINGS: List = list!("request_openings");
    // The marks that it ends with: `?!` counts as both, `?)` as the first.
    let marks = &sentence[sentence.trim_end_matches(|c: char| !c.is_alphanumeric()).len()..];
    if marks.contains(is_question_mark) {
        return true;
    }
    let beginning = spaced(&sentence[..sentence.floor_char_boundary(LOOKED_AT)]);
    // The first word: `what` in `what's`.
    let first = beginning.split([' ', '\'']).find(|word| !word.is_empty());
    let opens = first.is_some_and(|word| OPENINGS.contains(word));
    (opens && !marks.contains('!')) || REQUESTS.is_part_of(&beginning)
}

fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '‽' | '⁇' | '⁈')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, asks: &[&str], told: &[&str]) {
        let found = Asks::of(message);
        assert_eq!(found.asks, asks, "{message:?}");
        let found: Vec<&str> = found.told.iter().map(|text| text.trim()).collect();
        assert_eq!(found, told, "{message:?}");
    }

    #[test]
    fn questions_and_requests_are_told_from_what_is_told() {
        check("Where is my key?", &["Where is my key?"], &[]);
        check(
            "It rained all day. Where is my key? I had it.",
            &["Where is my key?"],
            &["It rained all day.", "I had it."],
        );
        check("I am back. Remind me what Ida wants", &["Remind me what Ida wants"], &["I am back."]);
        check("I am back. where's my key", &["where's my key"], &["I am back."]);
        check("We move!", &[], &["We move!"]);
        check("What a day!", &[], &["What a day!"]);
        check("今天下雨。他几岁？另外，她呢？", &["他几岁？", "另外，她呢？"], &["今天下雨。"]);
        check(
            "Fix it?\n```\nlet a = b?;\n```\n> Why not?",
            &["Fix it?"],
            &["```\nlet a = b?;\n```\n> Why not?"],
        );
        check("", &[], &[]);
        check("Really? Where is the samovar? Is it?", &["Where is the samovar?"], &["Really?", "Is it?"]);
        check("Really?", &[], &["Really?"]);
        check("You sold the samovar?! I am shocked.", &["You sold the samovar?!"], &["I am shocked."]);
        check("(Where is the samovar?) I wonder.", &["(Where is the samovar?)"], &["I wonder."]);
    }
}
