//! Whether a message refers back to something said earlier in the session.

use crate::text::words::MAX_QUERY_BYTES;

/// Words that point back, after folding to lower case and single spaces.
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "you mentioned", "i mentioned", "we mentioned", "mentioned earlier", "mentioned before", "you said",
    "i said", "as i said", "you told", "i told you", "we talked", "we discussed", "we spoke",
    "you suggested", "you recommended", "you proposed", "you explained", "you were saying",
    "i was saying", "earlier", "previously", "remember", "recall", "remind me", "going back to",
    "back to what", "coming back to", "like before", "as before", "from before", "said before",
    "asked before", "told you before", "last time", "again what", "what was the", "what were the",
    "what did i", "what did you", "what did we", "did i tell", "did i say", "did you say",
    "the first one", "the other one", "at the beginning", "at the start", "so far",
];

/// True for "you mentioned a book", "what did I say earlier?" and their like. English only: in other languages
/// the window of recent turns has to do until recall by meaning.
pub(crate) fn refers_back(message: &str) -> bool {
    let words: Vec<String> = message[..message.floor_char_boundary(MAX_QUERY_BYTES)]
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let folded = format!(" {} ", words.join(" "));
    PHRASES.iter().any(|phrase| folded.contains(&format!(" {phrase} ")))
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
