//! Splits a turn into the texts that are embedded: short pieces of one side, each with its speaker's name, if there is
//! one.
//!
//! The vector of a long text is a mean without much meaning: on long replies, pieces are found where the whole reply is not.
//! The name is embedded too, because people ask by it ("what did Anna say ...").

use std::ops::Range;

use crate::{
    english::sentences::sentences,
    model::turn::{Said, Side},
    text::render::is_line_break,
};

/// The version of how the texts to embed are made from a turn. Vectors of different versions are never compared.
pub(crate) const TEXT_FORM: u32 = 1;

/// The approximate size of the pieces of a long side: a paragraph, and well under the 256 tokens that sentence transformers
/// read.
const PIECE_BYTES: usize = 700;
/// The maximum size of a piece, without its speaker's name.
const MAX_PIECE_BYTES: usize = 1_000;
/// The most pieces of a side. A longer side, from about 45 KB on, is represented by this many of its pieces, evenly spread
/// from the first to the last; words cover all of it. So a turn has at most 128 vectors.
const MAX_PIECES: usize = 64;

/// One text to embed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmbedPiece {
    /// The text for the embedder: `Name said, "text"`, or the text alone if the speaker has no name.
    pub(crate) text: String,
    /// Distinguishes the piece from the turn's other pieces; see [`place_of`].
    pub(crate) number: u8,
    pub(crate) side: Side,
    /// The bytes of the side that the piece represents.
    pub(crate) range: Range<usize>,
}

impl EmbedPiece {
    /// Returns a byte that distinguishes the pieces of a turn: the highest bit is the side, the others count its pieces.
    fn number(side: Side, at: usize) -> u8 {
        let at = u8::try_from(at).expect("a side has at most 64 pieces");
        if side == Side::Reply { REPLY | at } else { at }
    }
}

const REPLY: u8 = 0x80;

/// Returns the side and the index of the piece with this number.
pub(crate) fn place_of(number: u8) -> (Side, usize) {
    (if number & REPLY == 0 { Side::User } else { Side::Reply }, usize::from(number & !REPLY))
}

/// Returns the pieces of a turn, the user's first, each side's in order.
pub(crate) fn pieces(said: &Said) -> Vec<EmbedPiece> {
    let user = side_pieces(Side::User, &said.user_message, said.user_name.as_deref());
    let reply = side_pieces(Side::Reply, &said.ai_response, said.assistant_name.as_deref());
    user.chain(reply).collect()
}

fn side_pieces<'a>(
    side: Side,
    text: &'a str,
    name: Option<&'a str>,
) -> impl Iterator<Item = EmbedPiece> + 'a {
    let ranges = spread(cut(text));
    ranges.into_iter().enumerate().map(move |(at, range)| EmbedPiece {
        text: text_form(name, &text[range.clone()]),
        number: EmbedPiece::number(side, at),
        side,
        range,
    })
}

/// Returns the text that is embedded for a text and its speaker. `Name: text` finds a sixth less (measured on conversations
/// between people).
fn text_form(name: Option<&str>, text: &str) -> String {
    match name {
        Some(name) => format!("{name} said, \"{text}\""),
        None => text.to_owned(),
    }
}

/// Cuts the text into non-empty ranges without white space at their ends.
fn cut(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let whole = trimmed(text, 0..text.len());
    if whole.len() <= MAX_PIECE_BYTES {
        ranges.extend((!whole.is_empty()).then_some(whole));
        return ranges;
    }
    let ends: Vec<usize> = sentences(text)
        .iter()
        .map(|sentence| sentence.text.as_ptr() as usize - text.as_ptr() as usize + sentence.text.len())
        .collect();
    let mut rest = whole;
    while !rest.is_empty() {
        let end = next_end(text, &rest, &ends);
        let piece = trimmed(text, rest.start..end);
        ranges.extend((!piece.is_empty()).then_some(piece));
        rest = trimmed(text, end..rest.end);
    }
    ranges
}

/// Returns where the first piece of the rest ends: at the end of a sentence if one is near, otherwise of a line, otherwise
/// of a word. The rest is cut into equal parts, so that no piece is tiny.
fn next_end(text: &str, rest: &Range<usize>, sentence_ends: &[usize]) -> usize {
    if rest.len() <= MAX_PIECE_BYTES {
        return rest.end;
    }
    let wanted = rest.start + rest.len() / rest.len().div_ceil(PIECE_BYTES);
    let first = rest.start + PIECE_BYTES / 2;
    let last = text.floor_char_boundary(rest.start + MAX_PIECE_BYTES);
    let near = |end: &usize| end.abs_diff(wanted);

    let from = sentence_ends.partition_point(|&end| end < first);
    let until = sentence_ends.partition_point(|&end| end <= last);
    let window = text.ceil_char_boundary(first)..last;
    let places = |is_in: fn(char) -> bool| {
        let start = window.start;
        text[window.clone()].char_indices().filter(move |(_, c)| is_in(*c)).map(move |(at, _)| start + at)
    };
    sentence_ends[from..until]
        .iter()
        .copied()
        .min_by_key(near)
        .or_else(|| places(is_line_break).min_by_key(near))
        .or_else(|| places(char::is_whitespace).min_by_key(near))
        .unwrap_or(last)
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..(start + slice.trim().len())
}

/// Selects at most [`MAX_PIECES`] of the ranges, evenly spread, with the first and the last among them.
fn spread(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let count = ranges.len();
    if count <= MAX_PIECES {
        return ranges;
    }
    (0..MAX_PIECES).map(|at| ranges[at * (count - 1) / (MAX_PIECES - 1)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::turn::NewTurn;

    fn texts(said: &Said) -> Vec<String> {
        pieces(said).into_iter().map(|piece| piece.text).collect()
    }

    /// The lengths of the pieces that a message is cut into.
    #[track_caller]
    fn check(message: &str, lengths: &[usize]) {
        let found: Vec<usize> =
            pieces(&NewTurn::new(message, "").said).iter().map(|piece| piece.range.len()).collect();
        assert_eq!(found, lengths);
    }

    #[test]
    fn a_name_is_part_of_what_is_embedded() {
        let turn = NewTurn::new(" I moved. ", "Oh!\n").user_name("Anna").assistant_name("Tess");
        assert_eq!(texts(&turn.said), ["Anna said, \"I moved.\"", "Tess said, \"Oh!\""]);
        assert_eq!(texts(&NewTurn::new("I moved.", "Oh!").said), ["I moved.", "Oh!"]);
    }

    #[test]
    fn an_empty_side_has_no_piece() {
        assert!(texts(&NewTurn::new("", " \n\t").said).is_empty());
        let pieces = pieces(&NewTurn::new("", "Hello.").said);
        assert_eq!((pieces[0].side, pieces[0].range.clone()), (Side::Reply, 0..6));
    }

    #[test]
    fn a_long_side_is_cut_behind_sentences() {
        let sentence = "The boat left the harbour at noon with all of us aboard. "; // 57 bytes
        check(&sentence.repeat(17), &[968]);
        check(&sentence.repeat(24), &[683, 683]);
        check(&sentence.repeat(100), &[626, 626, 626, 626, 626, 626, 626, 683, 626]);
    }

    #[test]
    fn without_sentences_lines_and_words_are_cut_and_at_last_letters() {
        check(&"x = f(1);\n".repeat(130), &[649, 649]);
        check(&"boat ".repeat(260), &[649, 649]);
        check(&"b".repeat(2_500), &[1_000, 1_000, 500]);
        check(&"\u{1f600}".repeat(600), &[1_000, 1_000, 400]);
    }

    #[test]
    fn a_megabyte_has_64_pieces_from_its_first_to_its_last() {
        let message = "A sentence of the book. ".repeat(43_690);
        let found = pieces(&NewTurn::new(message.clone(), message.clone()).said);
        assert_eq!(found.len(), 2 * MAX_PIECES);
        assert_eq!(found[0].range.start, 0);
        assert_eq!(found[MAX_PIECES - 1].range.end, message.trim_end().len());
        let middle = found[MAX_PIECES / 2].range.start;
        assert!(middle.abs_diff(message.len() / 2) < message.len() / 50, "evenly: {middle}");
    }

    proptest! {
        #[test]
        fn pieces_are_in_order_within_bounds_and_leave_out_only_white_space(
            text in prop::collection::vec("[a-zà-ý .!?\n\u{4e00}-\u{4e20}]{0,300}", 0..40),
        ) {
            let text = text.concat();
            let found = pieces(&NewTurn::new(text.clone(), "").said);
            let mut at = 0;
            for piece in &found {
                prop_assert!(text[at..piece.range.start].trim().is_empty());
                prop_assert!(!piece.range.is_empty() && piece.range.len() <= MAX_PIECE_BYTES);
                prop_assert_eq!(&piece.text, &text[piece.range.clone()]);
                at = piece.range.end;
            }
            prop_assert!(text[at..].trim().is_empty() || found.len() == MAX_PIECES);
        }
    }
}
