//! What goes into a model: the ids of a text's tokens, or of a query's with a text's.

/// The tokens of one text, or of a query and a text, with the special ones. Empty for a text without tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) ids: Vec<u32>,
    /// Where the tokens of the second kind begin; at the end for a text alone.
    pub(super) second: usize,
}

/// How many tokens of a query and of a text are kept if both together may have `room`: all of the query up to half of
/// it, and more if the text is short; of the text what is left.
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
