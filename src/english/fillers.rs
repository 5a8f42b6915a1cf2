//! Finds what people say before they get to the point: greetings, thanks, and names of those they speak to.

use crate::english::lists::{List, is_in, list};

static FILLERS: List = list!("fillers");
static ADDRESSING: List = list!("addressing");
/// The most words of an opening: `Hi`, `Sure thing`, `Thank you Anna`.
const MOST_WORDS: usize = 3;
/// The most openings in a row: `Oh, hey, thanks, Anna!`.
const MOST_OPENINGS: usize = 4;
/// The longest opening, in bytes.
const LONGEST: usize = 24;

const MARKS: [char; 5] = [',', '!', '.', '?', ':'];

/// Whether a sentence tells something about its author: `I have cancer.`
pub(crate) fn is_own(sentence: &str) -> bool {
    is_first_word_in("i i'm i've my we we're we've our", sentence)
}

/// Whether a sentence only says no, so that the next sentence must not be read without it: `Don't. Delete it tomorrow.`
pub(crate) fn refuses(sentence: &str) -> bool {
    sentence.split(' ').count() <= 2 && is_first_word_in("no nope don't stop never wait not", sentence)
}

fn is_first_word_in(list: &str, sentence: &str) -> bool {
    let first = sentence.split(' ').next().unwrap_or_default().to_lowercase().replace('\u{2019}', "'");
    is_in(list, first.trim_end_matches(MARKS))
}

/// Returns a sentence without `Wow,`, `Hey Caroline!` or `Sure thing,` at its start, and without the addressee's name at its
/// end; empty if nothing else is left.
pub(crate) fn without_fillers(sentence: &str) -> &str {
    let mut rest = sentence;
    let mut is_addressing = false;
    for _ in 0..MOST_OPENINGS {
        let Some((opening, behind)) = opening(rest) else { break };
        let first = opening.split(' ').next().unwrap_or_default().to_lowercase();
        let is_name = is_addressing && is_one_name(opening);
        let greets = ADDRESSING.contains(&first);
        // `So much happened.` is not an opening, and `Thank you!` is the whole sentence.
        let is_opening = FILLERS.contains(&first) && (!behind.is_empty() || greets || !opening.contains(' '));
        if !is_name && !is_opening {
            break;
        }
        is_addressing = greets;
        rest = behind;
    }
    without_address(rest)
}

/// Returns the words up to the first mark, if they are few, and what follows the mark.
fn opening(sentence: &str) -> Option<(&str, &str)> {
    let head = &sentence[..sentence.floor_char_boundary(LONGEST)];
    let end = match head.find(MARKS) {
        Some(end) => end,
        None if head.len() == sentence.len() => head.len(),
        None => return None,
    };
    let behind = sentence[end..].trim_start_matches(MARKS);
    let is_break = behind.is_empty() || behind.starts_with(char::is_whitespace);
    let words = head[..end].split(' ').filter(|word| !word.is_empty()).count();
    (is_break && (1..=MOST_WORDS).contains(&words)).then(|| (&head[..end], behind.trim_start()))
}

fn is_one_name(text: &str) -> bool {
    text.starts_with(char::is_uppercase)
        && text.chars().all(|c| c.is_alphabetic() || c == '-')
        && text.len() > 1
}

/// Removes `, Anna` at the end, unless it may be the last of a list.
fn without_address(sentence: &str) -> &str {
    let said = sentence.trim_end_matches(MARKS);
    match said.rsplit_once(", ") {
        Some((before, name)) if is_one_name(name) && !before.contains(',') => {
            let last_word = before.rsplit(' ').next().unwrap_or(before);
            if last_word.starts_with(char::is_uppercase) { sentence } else { before }
        }
        _ => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: &str) {
        assert_eq!(without_fillers(sentence), expected, "{sentence:?}");
    }

    #[test]
    fn openings_are_left_out() {
        check("Wow, I moved.", "I moved.");
        check("Oh, hey, thanks, Anna! I moved.", "I moved.");
        check("Sure thing, I do.", "I do.");
        check("Hey Caroline!", "");
        check("Thanks, Melanie!", "");
        check("Thanks", "");
        check("So, what now?", "what now?");
        check("Yes.", "");
    }

    #[test]
    fn what_says_something_stays() {
        check("No, I moved.", "No, I moved.");
        check("Great books are long, I think.", "Great books are long, I think.");
        check("So much happened.", "So much happened.");
        check("Max, my dog, died.", "Max, my dog, died.");
        check("Well-known, this is.", "Well-known, this is.");
        check("Hi.5 is a band.", "Hi.5 is a band.");
        check("", "");
    }

    #[test]
    fn the_name_at_the_end_is_whom_it_is_said_to() {
        check("That's so cool, Caroline!", "That's so cool");
        check("We saw Paris, London!", "We saw Paris, London!");
        check("I love bach, handel, Mozart!", "I love bach, handel, Mozart!");
    }
}
