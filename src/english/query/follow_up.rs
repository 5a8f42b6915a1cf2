//! Decides whether a message needs the previous turns to be understood, or refers back to what was said.

use crate::{
    english::{
        lists::{List, is_in, list, spaced},
        query::{
            asked::AskedAttribute, names::name_end, pronouns::has_open_pronoun, reading::MessageReading,
        },
    },
    text::words::MAX_QUERY_BYTES,
};

/// A message with more words says what it is about.
const MOST_WORDS: usize = 40;
/// This many content words are enough to search by, whatever a pronoun among them means.
const ENOUGH_CONTENT: usize = 5;

/// True for `and what did he say about it?`, `why?`, `tell me more`, `what about the other one?`. False if in doubt, because
/// a follow-up is searched for with the words of the question before it, and a complete question must not be.
pub(super) fn is_follow_up(
    reading: &MessageReading<'_>,
    is_only_time: bool,
    refers_back: bool,
    asked: &[AskedAttribute],
) -> bool {
    /// Longer messages say something, even if only in words that are too common to count.
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
    let is_bare = contents == 0 && words.len() <= SHORT && asked.is_empty() && !refers_back;
    is_bare || is_elliptic(reading, &words, contents) || has_open_pronoun(reading)
}

/// True for "you mentioned a book", "what did I say earlier?" and similar messages. English only: in other languages, the
/// window of recent turns and recall by meaning must suffice.
pub(super) fn refers_back(message: &str) -> bool {
    static POINTING: List = list!("pointing_back");
    POINTING.is_part_of(&spaced(&message[..message.floor_char_boundary(MAX_QUERY_BYTES)]))
}

/// Whether a message is complete by itself: greetings, thanks, and questions about the two participants.
fn stands_alone(words: &[&str]) -> bool {
    static GREETINGS: List = list!("greetings");
    static SOCIAL: List = list!("social");
    static OF_THE_TWO: List = list!("of_the_two");
    let said = format!(" {} ", words.join(" "));
    let is_social = words.iter().all(|word| SOCIAL.contains(word) || GREETINGS.contains(word))
        && words.iter().any(|word| GREETINGS.contains(word));
    is_social || OF_THE_TWO.is_part_of(&said)
}

/// Whether a message continues an earlier sentence: `and Berlin?`, `what about the dog?`.
fn continues(words: &[&str], contents: usize) -> bool {
    const MOST_CONTENT: usize = 2;
    const LEADING: &[&str] =
        &["and", "but", "or", "what about", "how about", "what if", "as for", "same for", "same with"];
    let said = words.join(" ") + " ";
    let is_led = LEADING.iter().any(|lead| said.strip_prefix(lead).is_some_and(|rest| rest.starts_with(' ')));
    is_led && contents <= MOST_CONTENT
}

/// Whether a message is a question but not a full sentence: `which restaurant?`, `who won?`.
fn is_elliptic(reading: &MessageReading<'_>, words: &[&str], contents: usize) -> bool {
    const VERBS: &str = "is are was were am 's do does did can could will would should has have to";
    let asks = matches!(words[0], "which" | "what" | "how" | "when" | "where" | "who" | "why" | "whose");
    let has_verb = words.iter().any(|word| is_in(VERBS, word));
    let has_name = reading.parts().any(|part| (1..part.tokens.len()).any(|at| name_end(part, at) > at));
    asks && words.len() <= 3 && contents <= 1 && !has_verb && !has_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: bool) {
        assert_eq!(refers_back(message), expected, "{message:?}");
    }

    #[test]
    fn messages_that_point_back_are_recognised() {
        check("You mentioned a book earlier, which one?", true);
        check("What did I say about Lisbon?", true);
        check("REMEMBER the dog?", true);
        check("As I said -- no.", true);
        check("How do I paint a sunrise?", false);
        check("An earlierish word", false);
        check("", false);
        check("🦊", false);
    }
}
