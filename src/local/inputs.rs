//! The input of a model: the token ids of one text, or of a query and a text.

/// The tokens of one text, or of a query and a text, with special tokens. Empty for a text without tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) ids: Vec<u32>,
    /// The index of the second text's first token; the number of tokens if there is only one text.
    pub(super) second: usize,
}

/// Returns how many tokens of a query and of a text are kept if both together may have `room`. The whole query is kept up to
/// half of the room, and more of it if the text is short; the text gets the rest.
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
