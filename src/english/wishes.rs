//! Standing wishes: sentences in which a user says how the assistant should answer from now on, or that an earlier wish no
//! longer holds; and what they are about.

use std::{collections::HashMap, sync::LazyLock};

use crate::english::{
    classes::{CLASSES, is_of},
    cues::{CueMatch, Cues},
    lists::{List, is_in, list, spaced},
    statements::{Statement, StatementToken},
    stop_words::is_stop_word,
};

/// What a sentence does to the user's wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// It asks for something.
    Wants,
    /// It asks that something not be done.
    Forbids,
    /// It ends a wish against something: `you can use emojis`.
    Allows,
    /// It ends a wish for something: `you don't need to confirm allergies`.
    Releases,
    /// It ends either kind: `forget what I said about snacks`.
    Forgets,
}

impl Does {
    /// Whether it only ends another wish.
    pub(crate) fn only_ends(self) -> bool {
        !matches!(self, Self::Wants | Self::Forbids)
    }
}

/// A wish, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish<'a> {
    /// The sentence that states the wish; if the sentence is long, only the part from the wish on.
    pub(crate) text: &'a str,
    pub(crate) does: Does,
    /// What is wished for, as words: `emojis`. A manner of answering has one name, whichever way it is wanted: `length` for
    /// `Keep answers short` and for `I prefer long answers`.
    pub(crate) what: Vec<String>,
    /// When it applies, as words: `snacks` in `when I ask about snacks`; empty if always.
    pub(crate) occasion: Vec<String>,
    /// Whether it is about every answer: about how answers are, whatever their topic.
    pub(crate) is_general: bool,
}

/// How much of a longer text is shown; a wish is short.
const MAX_BYTES: usize = 240;
/// Words that say that something holds permanently.
static WISH_WORDS: List = list!("wish_words");
/// What `call me Sam` is about.
const ADDRESS: &str = "address";

/// Lines of the form `effect: pattern`.
static PATTERNS: List = list!("wishes");
/// Words in wishes that say nothing about their topic.
static IDLE: List = list!("idle_in_wishes");
static MANNER: List = list!("manner");
static REPORTING: List = list!("reporting");
static FOR_ONCE: List = list!("for_once");

/// The effect of each pattern, and the patterns.
static CUES: LazyLock<(Vec<Does>, Cues)> = LazyLock::new(|| {
    let lines: Vec<(&str, &str)> = PATTERNS.lines().filter_map(|line| line.split_once(": ")).collect();
    let does = |kind: &str| match kind {
        "allow" => Does::Allows,
        "release" => Does::Releases,
        "forget" => Does::Forgets,
        _ => Does::Wants,
    };
    let kinds = lines.iter().map(|(kind, _)| does(kind)).collect();
    (kinds, Cues::new(lines.iter().map(|(_, pattern)| *pattern), CLASSES))
});

/// The manners of answering, by the words that name them.
static MANNERS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = MANNER.lines().filter_map(|line| line.split_once(": "));
    lines.flat_map(|(manner, words)| words.split(' ').map(move |word| (word, manner))).collect()
});

/// Whether a text has a word that says that something holds permanently: `always`, `I'd rather`. Such a word raises the
/// score of a found turn, but states no wish.
pub(crate) fn has_wish_word(text: &str) -> bool {
    /// How many bytes are examined: later text is pasted and says nothing about wishes.
    const LOOKED_AT: usize = 4_096;
    WISH_WORDS.is_part_of(&spaced(&text[..text.floor_char_boundary(LOOKED_AT)]))
}

/// Returns the wishes that these statements make or end, in order: at most one per sentence.
pub(crate) fn wishes<'a>(statements: &[Statement<'a>]) -> Vec<Wish<'a>> {
    let mut found: Vec<Wish<'a>> = Vec::new();
    if statements.first().is_some_and(is_prompt) {
        return found;
    }
    let mut heading = None;
    for statement in statements {
        if !statement.is_item {
            heading = Some(statement);
        } else if heading.is_some_and(|heading| !announces_own(heading)) {
            continue;
        }
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

/// Whether a message begins as a prompt: `You are an assistant of a bank`. Its wishes are for one occasion or for somebody
/// else.
fn is_prompt(first: &Statement<'_>) -> bool {
    let mut words = first.tokens.iter().map(|token| &*token.lower);
    words.next() == Some("you")
        && words.next() == Some("are")
        && words.next().is_some_and(|word| is_in("a an the", word))
}

/// Whether this heading announces a list of what the user wants: `My preferences:` does, `Our style guide` does not.
fn announces_own(heading: &Statement<'_>) -> bool {
    heading.tokens.last().is_some_and(|last| last.lower == ":")
        && heading.tokens.iter().any(|token| is_in("i me my you your please", &token.lower))
}

/// Returns a statement without a leading `And`, `also` and the like.
fn without_joint<'a>(statement: &Statement<'a>) -> Statement<'a> {
    const JOINTS: &str = "and also but so then oh ok okay well , :";
    let is_joint = |token: &&StatementToken<'_>| is_in(JOINTS, &token.lower);
    let joints = statement.tokens.iter().take_while(is_joint).count();
    Statement { tokens: statement.tokens[joints..].to_vec(), ..statement.clone() }
}

fn wish_of<'a>(statement: &Statement<'a>) -> Option<Wish<'a>> {
    let (kinds, cues) = &*CUES;
    let statement = &without_joint(statement);
    let cue = cues.all(statement).into_iter().min_by_key(|cue| (kinds[cue.pattern].only_ends(), cue.start));
    let (first, does, is_address) = match (cue, address(&statement.tokens)) {
        (Some(CueMatch { pattern, start, .. }), None) => (start, kinds[pattern], false),
        (_, Some((start, true))) => (start, Does::Releases, true),
        (_, Some((start, false))) => (start, Does::Wants, true),
        (None, None) => return None,
    };
    let tokens = &statement.tokens[first..];
    let does = if does == Does::Wants && forbids(tokens) { Does::Forbids } else { does };
    let start = tokens[0].start;
    if is_reported(&statement.text[..start])
        || ends_reporting(&statement.text[start..])
        || is_for_once(statement.text)
    {
        return None;
    }
    let (before, wish) = statement.text.split_at(start);
    let text = if statement.text.len() > MAX_BYTES { shortened(wish) } else { statement.text };
    let (what, occasion) = without_occasion(before, shortened(clause(wish)));
    let occasion = content(&occasion);
    let what = if is_address { vec![ADDRESS.to_owned()] } else { content(&what) };
    let is_manner = |word: &String| manner(word).is_some() || word == ADDRESS;
    let is_general = occasion.is_empty()
        && (!what.is_empty() && what.iter().all(is_manner) || is_of_answering(tokens, &what));
    let named = |word: String| manner(&word).map_or(word, str::to_owned);
    let mut what: Vec<String> = what.into_iter().map(named).collect();
    what.dedup();
    (!what.is_empty() || !occasion.is_empty()).then_some(Wish { text, does, what, occasion, is_general })
}

/// Whether a wish with this beginning is against something: `never`, `don't`, `no more`.
fn forbids(tokens: &[StatementToken<'_>]) -> bool {
    const LOOKED_AT: usize = 8;
    tokens.iter().take(LOOKED_AT).any(|token| is_in("never not no stop quit avoid", &token.lower))
}

/// Whether the wish is about answering itself, and so about every answer: `reply in rhyme`, `use British spelling`,
/// `start your replies with`, `stop calling me sir`.
fn is_of_answering(tokens: &[StatementToken<'_>], what: &[String]) -> bool {
    const LOOKED_AT: usize = 8;
    const ANSWERS: &str = "answer reply respond speak";
    const WRITES: &str =
        "use using write say start begin end include add put format spell keep answer reply respond speak no";
    let lower = |at: usize| tokens.get(at).map_or("", |token| &*token.lower);
    (0..tokens.len().min(LOOKED_AT)).any(|at| {
        let of_words = || what.iter().any(|word| is_of("wording", word) || manner(word).is_some());
        let of_answers = || tokens[at + 1..].iter().any(|token| is_of("answer", &token.lower));
        (is_in(ANSWERS, lower(at)) && is_in("in like as with", lower(at + 1)))
            || (lower(at) == "calling" && lower(at + 1) == "me")
            || (is_in(WRITES, lower(at)) && (of_words() || of_answers()))
    })
}

/// Whether a sentence says that it is about a single answer, or about a text at hand: `for this task`, `just this once`.
fn is_for_once(sentence: &str) -> bool {
    FOR_ONCE.is_part_of(&spaced(sentence))
}

/// Whether a wish ends by naming somebody else who says it: `..., the landlady said`, `as Han Solo says`.
fn ends_reporting(wish: &str) -> bool {
    let words = spaced(wish);
    let words: Vec<&str> = words.split_whitespace().collect();
    let ends =
        matches!(words[..], [.., who, says] if is_in("says said writes wrote", says) && !is_in("i we", who));
    ends || wish.contains(", says ") || wish.contains(", said ")
}

/// Returns the first [`MAX_BYTES`] of a text, cut between words.
fn shortened(text: &str) -> &str {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    head.rfind(' ').map_or(head, |end| &head[..end])
}

/// Returns where `call me Sam` begins, and whether the wish is to stop: `don't call me Sam`.
fn address(tokens: &[StatementToken<'_>]) -> Option<(usize, bool)> {
    let at = tokens.windows(3).position(|three| {
        let [call, me, name] = three else { return false };
        let is_name = name.is_capital() && !is_of("day", &name.lower) && !is_of("month", &name.lower);
        // `ASAP` is not a name.
        let is_name = is_name && name.text.chars().any(char::is_lowercase);
        call.lower == "call" && me.lower == "me" && is_name && name.lower != "i"
    })?;
    let begins = |before: &StatementToken<'_>| {
        before.is_mark() || is_in("please just can may to always and so you never not", &before.lower)
    };
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    let is_no_longer = before.is_some_and(|before| is_in("never not", &before.lower));
    before.is_none_or(begins).then_some((at, is_no_longer))
}

/// Whether the words before a wish make it somebody else's: `My boss told me, always ...`.
fn is_reported(before: &str) -> bool {
    let words = spaced(before);
    let words: Vec<&str> = words.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        REPORTING.contains(word) && !words[..at].iter().rev().take(2).any(|word| is_in("i we", word))
    })
}

/// Returns the wish up to where its sentence continues with something else.
fn clause(wish: &str) -> &str {
    const GOES_ON: &str = "so but because since as though can could would will i thanks thank otherwise";
    let end = wish.match_indices([',', ';', '(', '—']).map(|(at, _)| at).find(|at| {
        let behind = wish[*at..].trim_start_matches(|c: char| !c.is_alphanumeric());
        let next = behind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        wish[*at..].starts_with([';', '(']) || is_in(GOES_ON, &next.to_lowercase())
    });
    &wish[..end.unwrap_or(wish.len())]
}

/// Splits a wish into what is wished for and the occasion, `when I ask about snacks`, which may come before or after it.
fn without_occasion(before: &str, wish: &str) -> (String, String) {
    let begins_occasion = |words: &str| {
        let markers =
            [" when ", " whenever ", " if ", " anytime ", " every time ", " each time ", " any time "];
        let places = markers.iter().filter_map(|marker| Some((words.find(marker)?, marker.len() - 1)));
        places.min()
    };
    let (before, words) = (before.split(['.', ';']).next_back().unwrap_or_default(), spaced(wish));
    match begins_occasion(&words) {
        // It begins with the occasion: `Whenever I ask about snacks, confirm my allergies`.
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

/// Returns the words that say what something is about, each once, in order.
fn content(spaced: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = "";
    // In `feel free to` and `no longer`, these words say nothing.
    let joins = |before: &str, word: &str| match word {
        "free" => before == "feel",
        "longer" => is_in("any no", before),
        _ => word == "feel",
    };
    for word in spaced.split_whitespace() {
        let folded = word.replace('\'', "");
        let is_joined = joins(std::mem::replace(&mut before, word), word);
        if !is_joined && !is_stop_word(&folded) && !IDLE.contains(&folded) && !found.contains(&folded) {
            found.push(folded);
        }
    }
    found
}

/// Returns the name of the manner of answering that this word refers to.
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

    /// Checks which wishes a text contains: `what @ occasion`, with a leading `!` for a wish about every answer, and `-` for
    /// one that only ends another.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let statements = statements(text);
        let told = |wish: Wish<'_>| {
            let mark = if wish.is_general { "!" } else { "" };
            let ends = if wish.does.only_ends() { "-" } else { "" };
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
        check("I'd prefer longer answers.", &["!length"]);
        check("Never use bullet points.", &["!bullets points"]);
        check("Never use more than 100 words.", &["!100 words"]);
        check("Always reply in lowercase.", &["!lowercase"]);
        check("Always use British spelling.", &["!british spelling"]);
        check("Stop calling me sir.", &["!calling sir"]);
        check("Please be brief from now on.", &["!length"]);
        check("No disclaimers, please.", &["!caveats"]);
        check("You should always ask before sending an email.", &["email"]);
    }

    #[test]
    fn ends_are_told_from_wishes() {
        check("You can use emojis again.", &["-!emojis"]);
        check("You don't have to confirm allergies anymore.", &["-confirm allergies"]);
        check("Forget what I said about snacks.", &["-snacks"]);
        check("Stop confirming allergies.", &["confirming allergies"]);
        check("Feel free to use emojis.", &["-!emojis"]);
        check("Use emojis, please.", &["-!emojis"]);
        check("Emojis are fine now.", &["-!emojis"]);
        check(
            "You don't need to confirm allergies when I ask about snacks.",
            &["-confirm allergies @ snacks"],
        );
        check("Don't call me Sam anymore.", &["-!address"]);
        check("I no longer want snacks.", &[]);
        check("I don't want alcohol anymore.", &[]);
    }

    #[test]
    fn a_long_wish_is_cut_and_a_prompt_or_a_pasted_list_is_none() {
        let long = format!("Never use emojis{}", " and so on".repeat(40));
        let statements = statements(&long);
        assert_eq!(wishes(&statements)[0].text.len(), 236);
        check("You are an assistant of a bank. Never use emojis.", &[]);
        check("Our style guide\n\n- Never use emojis.", &[]);
        check("My preferences:\n- Never use emojis.", &["!emojis"]);
        check("- Never use emojis.\n- Call me Sam.", &["!emojis", "!address"]);
        check("and ~~~\nNever use emojis.\n~~~", &[]);
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
            "Call me ASAP.",
            "For this task only: never use emojis.",
            "Please answer in French just this once.",
            "Avoid jargon in this paragraph.",
            "For the essay below, use metric units.",
            "From now on you must show a passport at that border.",
            "Make sure to always lock the door, the landlady said.",
            "They call me Sam.",
            "Whenever I go there, it rains.",
            "Keep it up!",
            "You can always ask me.",
        ] {
            check(text, &[]);
        }
    }
}
