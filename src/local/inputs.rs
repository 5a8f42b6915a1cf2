//! The input of a model: the token ids of a text, or of a query and a text.

/// The tokens of one text, or of a query and a text, with the special ones. Empty for a text without tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) ids: Vec<u32>,
    /// Where the tokens of the second text begin; the end if there is only one.
    pub(super) second: usize,
}

/// How many tokens of a query and of a text are kept if both together may have `room`: the whole query up to half of the
/// room, and more if the text is short; the text gets the rest.
pub(super) fn shares(room: usize, query: usize, text: usize) -> (usize, usize) {
    let query = query.min((room / 2).max(room.saturating_sub(text)));
    (query, text.min(room - query))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_before_its_query() {
        for (room, query, text, expected) in [
            (10, 3, 4, (3, 4)),
            (10, 3, 40, (3, 7)),
            (10, 8, 40, (5, 5)),
            (10, 8, 3, (7, 3)),
            (10, 80, 0, (10, 0)),
            (1, 5, 5, (0, 1)),
            (0, 5, 5, (0, 0)),
        ] {
            assert_eq!(shares(room, query, text), expected, "{room} {query} {text}");
        }
    }
}
