//! Whether a message needs the turns before it to be understood.

use crate::recall::query::{
    asked::Asked,
    names::name_end,
    reading::{Part, Reading},
};

/// A message of more words says what it is about.
const MOST_WORDS: usize = 40;
/// With so many words of content there is enough to search by, whatever a pronoun in it means.
const ENOUGH_CONTENT: usize = 5;

/// True for `and what did he say about it?`, `why?`, `tell me more`, `what about the other one?`. In doubt false: a
/// question that stands on its own must not be searched for with the words of another.
pub(super) fn is_follow_up(reading: &Reading<'_>, is_only_time: bool, asked: &[Asked]) -> bool {
    /// Longer ones say something, if only in words that are too common to count.
    const SHORT: usize = 6;
    let words: Vec<&str> = reading.words().collect();
    let contents = reading.content_count();
    if words.is_empty() || words.len() > MOST_WORDS || contents >= ENOUGH_CONTENT || stands_alone(&words) {
        return false;
    }
    if continues(&words, contents) {
        return true;
    }
    if is_only_time {
        return false;
    }
    let is_bare = contents == 0 && words.len() <= SHORT && asked.is_empty() && !points_back(&words);
    is_bare || is_elliptic(reading, &words, contents) || has_open_pronoun(reading)
}

/// Greetings, thanks, and questions about the two who talk.
fn stands_alone(words: &[&str]) -> bool {
    const SOCIAL: &[&str] = &[
        "hello",
        "hi",
        "hey",
        "thanks",
        "thank",
        "you",
        "bye",
        "goodbye",
        "good",
        "morning",
        "night",
        "evening",
        "afternoon",
        "ok",
        "okay",
        "cool",
        "great",
        "nice",
        "lol",
        "haha",
        "wow",
        "welcome",
        "please",
        "sorry",
        "there",
        "very",
        "much",
        "so",
        "a",
        "lot",
        "again",
        "for",
        "everything",
        "see",
        "later",
        "today",
        "day",
        "fine",
        "awesome",
        "perfect",
        "test",
        "help",
        "me",
        "my",
        "friend",
        "the",
        "all",
        "well",
        "then",
        "now",
        "what",
        "is",
        "up",
        "how",
        "are",
        "doing",
        "your",
        "yourself",
        "can",
        "i",
        "am",
        "back",
        "have",
    ];
    const PHRASES: &[&str] = &[
        "how are you",
        "who are you",
        "what are you",
        "your name",
        "what can you do",
        "can you help",
        "are you there",
        "about me",
        "about you",
        "about yourself",
        "remember me",
        "know me",
        "who am i",
        "what time is it",
        "how is it going",
        "how 's it going",
        "what is up",
        "what 's up",
        "what day is it",
        "good morning",
        "good night",
    ];
    let said = format!(" {} ", words.join(" "));
    let is_social = words.iter().all(|word| SOCIAL.contains(word))
        && words.iter().any(|word| {
            matches!(
                *word,
                "hello"
                    | "hi"
                    | "hey"
                    | "thanks"
                    | "thank"
                    | "bye"
                    | "goodbye"
                    | "good"
                    | "ok"
                    | "okay"
                    | "cool"
                    | "great"
                    | "nice"
                    | "lol"
                    | "haha"
                    | "wow"
                    | "welcome"
                    | "sorry"
                    | "awesome"
                    | "perfect"
                    | "help"
                    | "test"
                    | "fine"
            )
        });
    is_social || PHRASES.iter().any(|phrase| said.contains(&format!(" {phrase} ")))
}

/// `and Berlin?`, `what about the dog?`: a sentence that another one began.
fn continues(words: &[&str], contents: usize) -> bool {
    const MOST_CONTENT: usize = 2;
    let starts = |phrase: &[&str]| words.starts_with(phrase);
    let is_led = starts(&["and"])
        || starts(&["but"])
        || starts(&["or"])
        || starts(&["what", "about"])
        || starts(&["how", "about"])
        || starts(&["what", "if"])
        || starts(&["as", "for"])
        || starts(&["same", "for"])
        || starts(&["same", "with"]);
    is_led && contents <= MOST_CONTENT
}

/// `what did you say earlier`: points into the talk, and is searched for there.
fn points_back(words: &[&str]) -> bool {
    const POINTING: &[&str] = &[
        "earlier",
        "remember",
        "recall",
        "before",
        "previously",
        "last",
        "remind",
        "mentioned",
        "first",
        "beginning",
    ];
    let says = words
        .windows(3)
        .any(|three| three[0] == "did" && matches!(three[2], "say" | "tell" | "talk" | "ask"));
    says || words.iter().any(|word| POINTING.contains(word))
}

/// `which restaurant?`, `who won?`: a question without its sentence.
fn is_elliptic(reading: &Reading<'_>, words: &[&str], contents: usize) -> bool {
    let asks = matches!(words[0], "which" | "what" | "how" | "when" | "where" | "who" | "why" | "whose");
    let has_verb = words.iter().any(|word| {
        matches!(
            *word,
            "is" | "are"
                | "was"
                | "were"
                | "am"
                | "'s"
                | "do"
                | "does"
                | "did"
                | "can"
                | "could"
                | "will"
                | "would"
                | "should"
                | "has"
                | "have"
                | "to"
        )
    });
    let has_name = reading.parts().any(|part| (1..part.tokens.len()).any(|at| name_end(part, at) > at));
    asks && words.len() <= 3 && contents <= 1 && !has_verb && !has_name
}

/// What pronouns so far may stand for.
#[derive(Clone, Copy, Debug, Default)]
struct Antecedents {
    has_person: bool,
    has_thing: bool,
}

/// Whether a pronoun stands where nothing before it says whom or what it means.
fn has_open_pronoun(reading: &Reading<'_>) -> bool {
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
    const WEATHER: &[&str] = &[
        "rain", "raining", "rains", "snow", "snowing", "snows", "cold", "hot", "warm", "late", "dark",
        "sunny", "windy", "cloudy",
    ];
    (at + 1..part.tokens.len()).any(|later| {
        let word = part.lower(later);
        let next = part.lower(later + 1);
        let is_clause = matches!(word, "that" | "if" | "when") && !next.is_empty() && later > at + 1;
        let is_infinitive = word == "to" && !next.is_empty() && !part.is_stop(later + 1);
        is_clause || is_infinitive || (WEATHER.contains(&word) && later <= at + 3)
    })
}

/// `is that true`, `why this?`: not `that book`, `I think that you`, `this is my dog`.
fn is_pronoun(part: Part<'_>, at: usize) -> bool {
    const BEHIND_AUXILIARY: &[&str] = &[
        "true",
        "before",
        "after",
        "then",
        "ok",
        "okay",
        "right",
        "wrong",
        "possible",
        "mean",
        "work",
        "normal",
        "good",
        "bad",
        "better",
        "correct",
        "enough",
        "sound",
        "make",
        "help",
        "happen",
        "because",
        "so",
        "really",
        "still",
        "with",
        "for",
        "about",
        "from",
        "in",
        "on",
        "at",
        "to",
        "all",
        "too",
        "again",
        "different",
        "sense",
    ];
    let (next, second) = (part.lower(at + 1), part.lower(at + 2));
    let is_verb = matches!(
        next,
        "is" | "'s"
            | "was"
            | "are"
            | "were"
            | "will"
            | "would"
            | "can"
            | "could"
            | "does"
            | "did"
            | "has"
            | "had"
            | "means"
            | "mean"
    );
    let introduces = is_verb && matches!(second, "a" | "an" | "my" | "the" | "our" | "what" | "how" | "why");
    let is_asked = matches!(
        part.before(at),
        "is" | "was" | "are" | "were" | "does" | "did" | "do" | "has" | "would" | "will" | "can"
    );
    (part.is_end(at + 1)
        || is_verb
        || (is_asked && BEHIND_AUXILIARY.contains(&next))
        || matches!(next, "instead" | "again"))
        && !introduces
}

/// `the other one`, `which one`: not `one day`, `no one`, `one of the dogs`.
fn is_one(part: Part<'_>, at: usize) -> bool {
    const BEFORE: &[&str] = &[
        "the", "other", "another", "first", "second", "third", "last", "next", "this", "that", "which",
        "better", "best", "cheaper", "cheapest", "bigger", "smaller", "old", "new", "same", "only", "right",
        "wrong", "these", "those",
    ];
    BEFORE.contains(&part.before(at)) && !part.is_content(at + 1)
}

/// Words behind which a noun stands.
fn leads_to_noun(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "my"
            | "your"
            | "our"
            | "some"
            | "any"
            | "every"
            | "each"
            | "no"
            | "another"
            | "which"
            | "what"
            | "whose"
            | "this"
            | "that"
            | "these"
            | "those"
            | "all"
            | "both"
            | "more"
            | "most"
            | "many"
            | "few"
            | "such"
            | "of"
            | "in"
            | "on"
            | "at"
            | "for"
            | "from"
            | "with"
            | "about"
            | "by"
            | "into"
            | "without"
            | "between"
            | "under"
            | "over"
            | "near"
            | "like"
            | "as"
            | "and"
            | "or"
            | "'s"
            | "two"
            | "three"
            | "than"
    )
}

/// What follows a noun that begins a sentence: `cats are`, `music and`.
fn goes_on(next: &str) -> bool {
    matches!(
        next,
        "is" | "are"
            | "was"
            | "were"
            | "can"
            | "do"
            | "does"
            | "have"
            | "has"
            | "will"
            | "and"
            | "or"
            | "of"
            | "in"
    )
}

/// Whether only a person does this: what `it` means is then somebody's, not they.
fn speaks(verb: &str) -> bool {
    matches!(
        verb,
        "say"
            | "says"
            | "said"
            | "think"
            | "thinks"
            | "thought"
            | "tell"
            | "tells"
            | "told"
            | "like"
            | "likes"
            | "liked"
            | "feel"
            | "felt"
            | "know"
            | "knew"
            | "mention"
            | "mentioned"
            | "react"
            | "want"
            | "wants"
            | "wanted"
            | "do"
            | "did"
            | "buy"
            | "bought"
            | "get"
            | "got"
            | "love"
            | "loves"
            | "loved"
            | "enjoy"
            | "enjoyed"
            | "make"
            | "made"
            | "give"
            | "gave"
            | "find"
            | "found"
            | "see"
            | "saw"
    )
}
