//! Whether a message refers back to something said earlier in the session.

use crate::{
    english::lists::{List, list, spaced},
    text::words::MAX_QUERY_BYTES,
};

static POINTING: List = list!("pointing_back");

/// True for "you mentioned a book", "what did I say earlier?" and their like. English only: in other languages
/// the window of recent turns has to do until recall by meaning.
pub(crate) fn refers_back(message: &str) -> bool {
    POINTING.is_part_of(&spaced(&message[..message.floor_char_boundary(MAX_QUERY_BYTES)]))
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
