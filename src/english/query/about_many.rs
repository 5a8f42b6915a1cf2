//! Recognizes questions about many turns: summaries, orders of events, everything said in a period.

use std::sync::LazyLock;

use crate::{
    english::{
        classes::CLASSES,
        cues::Cues,
        lists::list,
        statements::{StatementToken, spoken},
    },
    text::words::MAX_QUERY_BYTES,
};

static MANY: LazyLock<Cues> = LazyLock::new(|| Cues::new(list!("about_many").lines(), CLASSES));

/// Returns the topic of a question about many turns: the sentence without the words that ask for many. `None` if the
/// sentence asks for one thing.
pub(super) fn topic(sentence: &str) -> Option<String> {
    let mut cuts = Vec::new();
    for statement in spoken(sentence, MAX_QUERY_BYTES) {
        let from = statement.text.as_ptr() as usize - sentence.as_ptr() as usize;
        for found in MANY.all(&statement) {
            let tokens = &statement.tokens[found.start..found.end];
            // `The Order of the Phoenix` is a name.
            let is_name = |(at, token): (usize, &StatementToken<'_>)| {
                found.start + at > 0 && token.is_capital() && token.lower != "i"
            };
            if let [first, .., last] | [first @ last] = tokens
                && !tokens.iter().enumerate().any(is_name)
            {
                cuts.push((from + first.start, from + last.end()));
            }
        }
    }
    if cuts.is_empty() {
        return None;
    }
    cuts.sort_unstable();
    let (mut topic, mut at) = (String::new(), 0);
    for (start, end) in cuts {
        if start >= at {
            topic.push_str(&sentence[at..start]);
        }
        at = end.max(at);
    }
    topic.push_str(&sentence[at..]);
    Some(topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: Option<&str>) {
        let found = topic(sentence).map(|topic| topic.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), expected, "{sentence:?}");
    }

    #[test]
    fn a_question_for_many_turns_is_known_by_how_it_asks_and_asks_of_the_rest() {
        check(
            "Summarize what we said of the garden over the past few months.",
            Some("we said of the garden ."),
        );
        check("In which order did I repair the boats?", Some("did I repair the boats?"));
        check("How many different instruments did I play?", Some("instruments did I play?"));
        check("Can you give me a complete overview of my travels so far?", Some("Can you my travels ?"));
        check("What have Ida and Jon in common?", None);
        check("Who gave me The Order of the Phoenix?", None);
        for one in
            ["Where is the samovar?", "Did I order the lamp?", "Who wrote the summary?", "What time is it?"]
        {
            check(one, None);
        }
    }
}
