//! Decides whether a query asks what happened at a time that it names, and whether it asks when something was.

use crate::{
    english::lists::{List, is_in, list},
    text::words::MAX_QUERY_BYTES,
    times::words::{Gap, QueryWord, words},
};

/// Whether a query that names a time asks what happened then, rather than what was said: `what was on the 19th?`
pub(crate) fn asks_of_events(query: &str) -> bool {
    static TALK: List = list!("talk_of_times");
    let words = read(query);
    let has = |is_so: fn(&str) -> bool| words.iter().any(|word| is_so(&word.lower));
    let is_of_events = |word: &str| is_in("was were is are happen happened happening on", word);
    has(is_of_events) && !has(|word| TALK.contains(word))
}

/// Whether a query asks when something was or will be: `when did I see the dentist?`, not `what did I say when I left?`
pub(crate) fn asks_when(query: &str) -> bool {
    const WHICH: &str = "what which";
    const PERIODS: &str = "day date month year";
    let words = read(query);
    let begins = |at: usize| at == 0 || words[at].gap != Gap::Blank || words[at - 1].lower == "and";
    let asks = |(at, word): (usize, &QueryWord)| {
        let next = words.get(at + 1).map_or("", |next| &*next.lower);
        (word.lower == "when" && begins(at) && is_in("did do does was were is are will has have am", next))
            || (is_in(WHICH, &word.lower) && is_in(PERIODS, next))
            || (word.lower == "long" && next == "ago")
    };
    words.iter().enumerate().any(asks)
}

fn read(query: &str) -> Vec<QueryWord> {
    words(&query[..query.floor_char_boundary(MAX_QUERY_BYTES)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_for_a_time_is_known_by_how_it_begins() {
        for query in [
            "When did I see the dentist?",
            "Tell me, when is my flight?",
            "what day did we meet",
            "How long ago did I move?",
            "In which month were we in Rome?",
        ] {
            assert!(asks_when(query), "{query}");
        }
        for query in [
            "What did I say when I left?",
            "when I was ill, what helped?",
            "What do I like?",
            "",
            "all day long",
        ] {
            assert!(!asks_when(query), "{query}");
        }
    }

    #[test]
    fn a_question_for_what_was_said_asks_for_no_events() {
        for (query, expected) in [
            ("What was on the 19th?", true),
            ("What happened last week?", true),
            ("What were we discussing two days ago?", false),
            ("Remember last week?", false),
            ("last week", false),
        ] {
            assert_eq!(asks_of_events(query), expected, "{query}");
        }
    }
}
