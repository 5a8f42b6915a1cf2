//! Whether a message needs the turns before it to be understood.

use crate::english::query::{
    asked::Asked,
    names::name_end,
    pronouns::has_open_pronoun,
    reading::{Reading, is_in},
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
    const GREETINGS: &str = "\
        hello hi hey thanks thank bye goodbye good ok okay cool great nice lol haha wow welcome sorry \
        awesome perfect help test fine";
    // What may stand around them.
    const SOCIAL: &str = "\
        you morning night evening afternoon please there very much so a lot again for everything see \
        later today day me my friend the all well then now what is up how are doing your yourself can i \
        am back have";
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
    let is_social = words.iter().all(|word| is_in(SOCIAL, word) || is_in(GREETINGS, word))
        && words.iter().any(|word| is_in(GREETINGS, word));
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
    const POINTING: &str = "\
        earlier remember recall before previously last remind mentioned first beginning";
    let says = words
        .windows(3)
        .any(|three| three[0] == "did" && matches!(three[2], "say" | "tell" | "talk" | "ask"));
    says || words.iter().any(|word| is_in(POINTING, word))
}

/// `which restaurant?`, `who won?`: a question without its sentence.
fn is_elliptic(reading: &Reading<'_>, words: &[&str], contents: usize) -> bool {
    const VERBS: &str = "\
        is are was were am 's do does did can could will would should has have to";
    let asks = matches!(words[0], "which" | "what" | "how" | "when" | "where" | "who" | "why" | "whose");
    let has_verb = words.iter().any(|word| is_in(VERBS, word));
    let has_name = reading.parts().any(|part| (1..part.tokens.len()).any(|at| name_end(part, at) > at));
    asks && words.len() <= 3 && contents <= 1 && !has_verb && !has_name
}
