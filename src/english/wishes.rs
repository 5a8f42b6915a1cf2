//! Standing wishes: sentences by which a user says how an assistant is to answer from now on, or that an earlier such wish
//! holds no longer; and what they are about.

use std::{collections::HashMap, sync::LazyLock};

use crate::english::{
    classes::{CLASSES, is_of},
    cues::{Cues, Found},
    lists::{List, is_in, list, spaced},
    statements::{Statement, Token},
    stop_words::is_stop_word,
};

/// A wish, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish<'a> {
    /// The sentence that says so; of a long one its end, from the wish on.
    pub(crate) text: &'a str,
    /// It only says that another wish holds no longer.
    pub(crate) only_ends: bool,
    /// What is wished for, as words: `emojis`. A manner of answers is called by one name, whichever way it is wanted: `length`
    /// of `Keep answers short` and of `I prefer long answers`.
    pub(crate) what: Vec<String>,
    /// When it is wished for, as words: `snacks` of `when I ask about snacks`; none: always.
    pub(crate) occasion: Vec<String>,
    /// It is about every answer: about how answers are, whatever they speak of.
    pub(crate) is_general: bool,
}

/// A wish is short: no longer text is one.
const MAX_BYTES: usize = 240;
/// Words of what holds for good.
static WISH_WORDS: List = list!("wish_words");
/// What `call me Sam` is about.
const ADDRESS: &str = "address";

/// Lines of `wish` or `end` and a pattern.
static PATTERNS: List = list!("wishes");
/// Words of wishes that say nothing of what they are about.
static IDLE: List = list!("idle_in_wishes");
static MANNER: List = list!("manner");
static REPORTING: List = list!("reporting");

/// Whether each of the patterns only ends wishes, and the patterns.
static CUES: LazyLock<(Vec<bool>, Cues)> = LazyLock::new(|| {
    let lines: Vec<(&str, &str)> = PATTERNS.lines().filter_map(|line| line.split_once(": ")).collect();
    let only_ends = lines.iter().map(|(does, _)| *does == "end").collect();
    (only_ends, Cues::new(lines.iter().map(|(_, pattern)| *pattern), CLASSES))
});

/// The manners of answers by the words that name them.
static MANNERS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = MANNER.lines().filter_map(|line| line.split_once(": "));
    lines.flat_map(|(manner, words)| words.split(' ').map(move |word| (word, manner))).collect()
});

/// Whether a text has a word of what holds for good: `always`, `I'd rather`. It lifts what is found, and states no wish.
pub(crate) fn has_wish_word(text: &str) -> bool {
    /// What is pasted behind it says nothing of wishes.
    const LOOKED_AT: usize = 4_096;
    WISH_WORDS.is_part_of(&spaced(&text[..text.floor_char_boundary(LOOKED_AT)]))
}

/// The wishes that these statements make or end, in their order: one of a sentence at most.
pub(crate) fn wishes<'a>(statements: &[Statement<'a>]) -> Vec<Wish<'a>> {
    let mut found: Vec<Wish<'a>> = Vec::new();
    for statement in statements {
        let Some((wish, sentence)) = wish_of(statement).zip(Some(statement.text)) else { continue };
        let is_of_same = |known: &Wish<'_>| {
            let sentence = sentence.as_bytes().as_ptr_range();
            sentence.contains(&known.text.as_ptr())
        };
        if !found.last().is_some_and(is_of_same) {
            found.push(wish);
        }
    }
    found
}

/// A statement without `And`, `also` and their like at its beginning.
fn without_joint<'a>(statement: &Statement<'a>) -> Statement<'a> {
    const JOINTS: &str = "and also but so then oh ok okay well , :";
    let is_joint = |token: &&Token<'_>| is_in(JOINTS, &token.lower);
    let joints = statement.tokens.iter().take_while(is_joint).count();
    Statement { tokens: statement.tokens[joints..].to_vec(), ..statement.clone() }
}

fn wish_of<'a>(statement: &Statement<'a>) -> Option<Wish<'a>> {
    let (only_ends, cues) = &*CUES;
    let statement = &without_joint(statement);
    let cue = cues.all(statement).into_iter().min_by_key(|cue| (only_ends[cue.pattern], cue.start));
    let (start, only_ends, is_address) = match (cue, address(&statement.tokens)) {
        (Some(Found { pattern, start, .. }), None) => (start, only_ends[pattern], false),
        (_, Some(start)) => (start, false, true),
        (None, None) => return None,
    };
    let start = statement.tokens[start].start;
    if is_reported(&statement.text[..start]) {
        return None;
    }
    let (before, wish) = statement.text.split_at(start);
    let text = if statement.text.len() > MAX_BYTES { wish } else { statement.text };
    if text.len() > MAX_BYTES {
        return None;
    }
    let (what, occasion) = without_occasion(before, clause(wish));
    let occasion = content(&occasion);
    let what = if is_address { vec![ADDRESS.to_owned()] } else { content(&what) };
    let is_manner = |word: &String| manner(word).is_some() || word == ADDRESS;
    let is_general = occasion.is_empty() && !what.is_empty() && what.iter().all(is_manner);
    let named = |word: String| manner(&word).map_or(word, str::to_owned);
    let mut what: Vec<String> = what.into_iter().map(named).collect();
    what.dedup();
    (!what.is_empty() || !occasion.is_empty()).then_some(Wish { text, only_ends, what, occasion, is_general })
}

/// Where `call me Sam` begins.
fn address(tokens: &[Token<'_>]) -> Option<usize> {
    let at = tokens.windows(3).position(|three| {
        let [call, me, name] = three else { return false };
        let is_name = name.is_capital() && !is_of("day", &name.lower) && !is_of("month", &name.lower);
        call.lower == "call" && me.lower == "me" && is_name && name.lower != "i"
    })?;
    let begins = |before: &Token<'_>| {
        before.is_mark() || is_in("please just can may to always and so you", &before.lower)
    };
    at.checked_sub(1).is_none_or(|before| begins(&tokens[before])).then_some(at)
}

/// Whether these words, which stand before it, make it somebody else's: `My boss told me, always ...`
fn is_reported(before: &str) -> bool {
    let words = spaced(before);
    let words: Vec<&str> = words.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        REPORTING.contains(word) && !words[..at].iter().rev().take(2).any(|word| is_in("i we", word))
    })
}

/// The wish up to where its sentence goes on with something else.
fn clause(wish: &str) -> &str {
    const GOES_ON: &str = "so but because since as though can could would will i thanks thank otherwise";
    let end = wish.match_indices([',', ';', '(', '—']).map(|(at, _)| at).find(|at| {
        let behind = wish[*at..].trim_start_matches(|c: char| !c.is_alphanumeric());
        let next = behind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        wish[*at..].starts_with([';', '(']) || is_in(GOES_ON, &next.to_lowercase())
    });
    &wish[..end.unwrap_or(wish.len())]
}

/// What is wished for, and on which occasion: `when I ask about snacks`, behind it or before it.
fn without_occasion(before: &str, wish: &str) -> (String, String) {
    let begins_occasion = |words: &str| {
        let markers =
            [" when ", " whenever ", " if ", " anytime ", " every time ", " each time ", " any time "];
        let places = markers.iter().filter_map(|marker| Some((words.find(marker)?, marker.len() - 1)));
        places.min()
    };
    let (before, words) = (before.split(['.', ';']).next_back().unwrap_or_default(), spaced(wish));
    match begins_occasion(&words) {
        // It begins with it: `Whenever I ask about snacks, confirm my allergies`.
        Some((0, len)) => {
            let (occasion, what) = wish.split_once(',').unwrap_or((wish, ""));
            (spaced(what), spaced(occasion)[len..].to_owned())
        }
        Some((at, len)) => (words[..=at].to_owned(), words[at + len..].to_owned()),
        None => {
            let before = spaced(before);
            let occasion = begins_occasion(&before).map_or("", |(at, len)| &before[at + len..]);
            (words, occasion.to_owned())
        }
    }
}

/// The words that say what something is about, each once, in their order.
fn content(spaced: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in spaced.split_whitespace() {
        let folded = word.replace('\'', "");
        if !is_stop_word(&folded) && !IDLE.contains(&folded) && !found.contains(&folded) {
            found.push(folded);
        }
    }
    found
}

/// The name of the manner of answers that this word tells.
fn manner(word: &str) -> Option<&'static str> {
    if is_of("language", word) {
        return Some("language");
    }
    MANNERS.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    /// Which wishes a text holds: `what @ occasion`, `!` before one of every answer, `-` before what only ends one.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let statements = statements(text);
        let told = |wish: Wish<'_>| {
            let mark = if wish.is_general { "!" } else { "" };
            let ends = if wish.only_ends { "-" } else { "" };
            let occasion = if wish.occasion.is_empty() {
                String::new()
            } else {
                format!(" @ {}", wish.occasion.join(" "))
            };
            format!("{ends}{mark}{}{occasion}", wish.what.join(" "))
        };
        let found: Vec<String> = wishes(&statements).into_iter().map(told).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn what_is_wished_for_and_when_is_told_apart() {
        check("Always confirm allergies when I ask about snacks.", &["confirm allergies @ snacks"]);
        check("Whenever I ask about recipes, list the calories.", &["lists calories @ recipes"]);
        check("If I mention my knee, always suggest stretches.", &["suggest stretches @ knee"]);
        check("Never recommend horror films.", &["recommend horror films"]);
        check("Please always cite your sources.", &["!sources"]);
    }

    #[test]
    fn what_is_about_every_answer_is_told_by_its_manner() {
        check("Keep your answers short.", &["!length"]);
        check("And also keep your answers short.", &["!length"]);
        check("I'd prefer long answers.", &["!length"]);
        check("Please don't use emojis", &["!emojis"]);
        check("From now on, answer in German.", &["!language"]);
        check("Call me Sam.", &["!address"]);
        check("No more puns, please.", &["!humor"]);
        check("Keep answers short when I ask about code.", &["length @ code"]);
    }

    #[test]
    fn ends_are_told_from_wishes() {
        check("You can use emojis again.", &["-!emojis"]);
        check("You don't have to confirm allergies anymore.", &["-confirm allergies"]);
        check("Forget what I said about snacks.", &["-snacks"]);
        check("Stop confirming allergies.", &["confirming allergies"]);
    }

    #[test]
    fn talk_questions_reports_and_orders_for_once_are_no_wishes() {
        for text in [
            "I always walk to work.",
            "It never rains here.",
            "Never mind.",
            "Always happy to help!",
            "Never give up!",
            "Please give me a list of snacks.",
            "Don't tell me that it is late.",
            "Do you always answer so fast?",
            "My boss says always answer the phone.",
            "My boss told me, always answer the phone.",
            "She wrote \"always confirm allergies\".",
            "Translate:\n\nAlways confirm allergies.",
            "> Always confirm allergies.",
            "```\nAlways confirm allergies.\n```",
            "I prefer tea.",
            "I prefer to write in the mornings.",
            "From now on I'll run every day.",
            "Call me tomorrow.",
            "They call me Sam.",
            "Whenever I go there, it rains.",
            "Keep it up!",
            "You can always ask me.",
        ] {
            check(text, &[]);
        }
    }
}
