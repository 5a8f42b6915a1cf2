//! Finds the names in a message.

use crate::{
    english::{
        classes::is_of,
        dull_words::is_dull,
        lists::{is_in, without_possessive},
        query::reading::{MessageReading, QuerySentence},
        stop_words::is_stop_word,
    },
    text::subjects::folded_name,
};

const MOST: usize = 16;

/// Returns the names: capitalized words, adjacent ones as one name, folded like subjects of anchors.
pub(super) fn names(reading: &MessageReading<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let is_shouted = |part: QuerySentence<'_>| !part.sentence.text.contains(char::is_lowercase);
    if reading.parts().all(is_shouted) {
        return found; // Its capitals mean nothing.
    }
    for part in reading.parts() {
        let mut at = 0;
        while at < part.tokens.len() {
            let end = name_end(part, at);
            if end > at {
                let words: Vec<&str> =
                    part.tokens[at..end].iter().map(|token| without_possessive(token.text)).collect();
                let name = folded_name(&words.join(" "));
                if found.len() < MOST && !found.contains(&name) {
                    found.push(name);
                }
            }
            at = end.max(at + 1);
        }
    }
    found
}

/// Returns the end of the name that starts here, or `at` itself if none does.
pub(super) fn name_end(part: QuerySentence<'_>, at: usize) -> usize {
    const LONGEST: usize = 4;
    let run = (at..part.tokens.len()).take(LONGEST).take_while(|&at| can_be_name(part, at)).count();
    let is_first = at == 0 || part.is_end(at - 1);
    if run == 1 && is_first && !is_spoken_of(part, at) { at } else { at + run }
}

fn can_be_name(part: QuerySentence<'_>, at: usize) -> bool {
    let lower = part.lower(at);
    let bare = lower.replace('\'', "");
    // Days and months are not names, except months that are also names, such as `April`, where they are not part of a time.
    let is_doubtful_month = matches!(lower, "april" | "may" | "june" | "august" | "jan");
    let is_calendar = is_of("day", lower) || (is_of("month", lower) && !is_doubtful_month);
    part.is_capital(at)
        && lower != "i"
        && lower != "'s"
        && !part.is_time(at)
        && !is_calendar
        && !is_stop_word(&bare)
        && (is_doubtful_month || !is_dull(&bare) || begins_name(part, at))
}

/// Whether a common word begins a name: `New` in `New York`, inside a sentence.
fn begins_name(part: QuerySentence<'_>, at: usize) -> bool {
    let is_inside = at > 0 && !part.is_end(at - 1);
    let next = part.lower(at + 1);
    is_inside && part.is_capital(at + 1) && !is_dull(next) && next != "i"
}

/// Whether the first word of a sentence is a name. Every first word has a capital, so it is a name only if it is the
/// subject: `Anna's`, `Anna likes`, `Anna is`.
fn is_spoken_of(part: QuerySentence<'_>, at: usize) -> bool {
    let next = part.lower(at + 1);
    let is_verb =
        next.len() > 3 && next.ends_with('s') && !["ss", "us", "is"].iter().any(|end| next.ends_with(end));
    is_verb
        || (part.is_end(at + 1) && part.tokens.iter().filter(|token| !token.is_mark()).count() == 1)
        || is_in("'s is was has had did does said and told went will can wants", next)
}
