//! Finds pronouns that refer to nothing earlier in the message.

use std::sync::LazyLock;

use crate::english::{
    classes::CLASSES,
    cues::Cues,
    lists::{List, is_in, list},
    query::{
        names::name_end,
        reading::{MessageReading, QuerySentence},
    },
};

/// Patterns in which `it` refers to nothing: `is it safe to eat`, `it is raining`.
static EXPLETIVES: LazyLock<Cues> = LazyLock::new(|| Cues::new(list!("empty_it").lines(), CLASSES));
/// Patterns in which `this` and `one` refer to something: `is that true`, `the other one`.
static POINTING: LazyLock<Cues> = LazyLock::new(|| Cues::new(list!("pointing_words").lines(), CLASSES));
/// Verbs of what only a person does. `it` cannot refer to a name before such a verb.
static SPEAKING: List = list!("speaking");
/// Words that a noun follows.
static BEFORE_NOUNS: List = list!("before_nouns");

/// Whether there is a pronoun whose referent is not named before it.
pub(super) fn has_open_pronoun(reading: &MessageReading<'_>) -> bool {
    // Whether a person or a thing that pronouns may refer to has been named so far.
    let (mut has_person, mut has_thing) = (false, false);
    for part in reading.parts() {
        let expletives = EXPLETIVES.all(part.sentence);
        let pointing = POINTING.all(part.sentence);
        let is_open = |at: usize, has_person: bool, has_thing: bool| match part.lower(at) {
            _ if part.is_time(at) => false,
            "he" | "she" | "him" | "her" | "his" | "hers" => !has_person,
            "they" | "them" | "their" | "theirs" => !has_person && !has_thing,
            _ if has_thing => false,
            "its" => true,
            "it" => expletives.iter().all(|place| place.start != at),
            "this" | "that" | "these" | "those" | "one" | "ones" => {
                pointing.iter().any(|place| (place.start..place.end).contains(&at))
                    && !(part.lower(at).starts_with("one") && part.is_content(at + 1))
            }
            "there" => part.is_end(at + 1) && !is_in("is are out hello hi hey", part.before(at)),
            _ => false,
        };
        // Whether a word here would be a noun: after an article, a preposition, or an adjective.
        let mut is_noun_place = false;
        let mut at = 0;
        while at < part.tokens.len() {
            if is_open(at, has_person, has_thing) {
                return true;
            }
            let word = part.lower(at);
            let end = name_end(part, at);
            if end > at {
                let is_person = SPEAKING.contains(part.lower(end)) && !is_noun_place;
                (has_person, has_thing) = (true, has_thing || !is_person);
                (at, is_noun_place) = (end, true);
                continue;
            }
            has_person |= is_in("someone somebody anyone everyone everybody people person who", word);
            if part.is_content(at) && (is_noun_place || begins_with_noun(part, at)) {
                (has_person, has_thing, is_noun_place) = (true, true, true);
            } else if BEFORE_NOUNS.contains(word) {
                is_noun_place = true;
            } else if part.is_end(at) || part.is_stop(at) {
                is_noun_place = false;
            }
            at += 1;
        }
    }
    false
}

/// Whether a sentence begins with a noun: `cats are`, `music and`.
fn begins_with_noun(part: QuerySentence<'_>, at: usize) -> bool {
    at == 0 && is_in("is are was were can do does have has will and or of in", part.lower(1))
}
