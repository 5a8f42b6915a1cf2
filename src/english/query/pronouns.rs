//! Pronouns that nothing before them in the message explains.

use crate::english::{
    lists::{List, is_in, list},
    query::{
        names::name_end,
        reading::{Part, Reading},
    },
};

/// What pronouns so far may stand for.
#[derive(Clone, Copy, Debug, Default)]
struct Antecedents {
    has_person: bool,
    has_thing: bool,
}

/// Whether a pronoun stands where nothing before it says whom or what it means.
pub(super) fn has_open_pronoun(reading: &Reading<'_>) -> bool {
    let mut known = Antecedents::default();
    for part in reading.parts() {
        // Whether a word here would be a noun: behind an article, a preposition, and what describes it.
        let mut is_noun_place = false;
        let mut at = 0;
        while at < part.tokens.len() {
            let word = part.lower(at);
            if is_open(part, at, known) {
                return true;
            }
            let end = name_end(part, at);
            if end > at {
                let is_person = speaks(part.lower(end)) && !is_noun_place;
                known.has_person = true;
                known.has_thing |= !is_person;
                (at, is_noun_place) = (end, true);
                continue;
            }
            let begins = at == 0 && goes_on(part.lower(1));
            if matches!(
                word,
                "someone" | "somebody" | "anyone" | "everyone" | "everybody" | "people" | "person" | "who"
            ) {
                known.has_person = true;
            }
            if part.is_content(at) && (is_noun_place || begins) {
                known = Antecedents { has_person: true, has_thing: true };
                is_noun_place = true;
            } else if part.is_end(at) || (part.is_stop(at) && !leads_to_noun(word)) {
                is_noun_place = false;
            } else if leads_to_noun(word) {
                is_noun_place = true;
            }
            at += 1;
        }
    }
    false
}

fn is_open(part: Part<'_>, at: usize, known: Antecedents) -> bool {
    if part.is_time(at) {
        return false;
    }
    match part.lower(at) {
        "he" | "she" | "him" | "her" | "his" | "hers" => !known.has_person,
        "they" | "them" | "their" | "theirs" => !known.has_person && !known.has_thing,
        "it" => !known.has_thing && !is_expletive(part, at),
        "its" => !known.has_thing,
        "this" | "that" | "these" | "those" => !known.has_thing && is_pronoun(part, at),
        "one" | "ones" => !known.has_thing && is_one(part, at),
        "there" => {
            !known.has_thing
                && part.is_end(at + 1)
                && !matches!(part.before(at), "is" | "are" | "out" | "hello" | "hi" | "hey")
        }
        _ => false,
    }
}

/// `is it safe to eat`, `it is raining`, `what is it like to`: an `it` that means nothing before it.
fn is_expletive(part: Part<'_>, at: usize) -> bool {
    const WEATHER: &str = "rain raining rains snow snowing snows cold hot warm late dark sunny windy cloudy";
    (at + 1..part.tokens.len()).any(|later| {
        let word = part.lower(later);
        let next = part.lower(later + 1);
        let is_clause =
            matches!(word, "that" | "if" | "when" | "since") && !next.is_empty() && later > at + 1;
        let is_infinitive = word == "to" && !next.is_empty() && !part.is_stop(later + 1);
        is_clause || is_infinitive || (is_in(WEATHER, word) && later <= at + 3)
    })
}

/// `is that true`, `why this?`: not `that book`, `I think that you`, `this is my dog`.
fn is_pronoun(part: Part<'_>, at: usize) -> bool {
    static BEHIND_AUXILIARY: List = list!("behind_that");
    const VERBS: &str = "is 's was are were will would can could does did has had means mean";
    let (next, second) = (part.lower(at + 1), part.lower(at + 2));
    let is_verb = is_in(VERBS, next);
    let introduces = is_verb && matches!(second, "a" | "an" | "my" | "the" | "our" | "what" | "how" | "why");
    let is_asked = matches!(
        part.before(at),
        "is" | "was" | "are" | "were" | "does" | "did" | "do" | "has" | "would" | "will" | "can"
    );
    (part.is_end(at + 1)
        || is_verb
        || (is_asked && BEHIND_AUXILIARY.contains(next))
        || matches!(next, "instead" | "again"))
        && !introduces
}

/// `the other one`, `which one`: not `one day`, `no one`, `one of the dogs`.
fn is_one(part: Part<'_>, at: usize) -> bool {
    const BEFORE: &str = "the other another first second third last next this that which better best cheaper cheapest \
        bigger smaller old new same only right wrong these those";
    is_in(BEFORE, part.before(at)) && !part.is_content(at + 1)
}

/// Words behind which a noun stands.
fn leads_to_noun(word: &str) -> bool {
    static LEADING: List = list!("before_nouns");
    LEADING.contains(word)
}

/// What follows a noun that begins a sentence: `cats are`, `music and`.
fn goes_on(next: &str) -> bool {
    is_in("is are was were can do does have has will and or of in", next)
}

/// Whether only a person does this: what `it` means is then somebody's, not they.
fn speaks(verb: &str) -> bool {
    static SPEAKING: List = list!("speaking");
    SPEAKING.contains(verb)
}
