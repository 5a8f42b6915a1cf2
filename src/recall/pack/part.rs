//! Cuts a turn to the tokens that are left: shows its beginning, verbatim, because that says what the turn is about.

use crate::{
    model::{receipt::PackedAs, turn::Turn},
    recall::pack::item::most_bytes,
    text::{
        cuts::{LEFT_OUT_LINE_TOKENS, left_out_line},
        render,
        tokens::Tokenizer,
    },
};

/// Renders as much of a turn as fits into `room` tokens: the user's side and the beginning of the reply; if there is no room
/// for that, the user's side; otherwise its beginning. A mark says how much is left out. `None` if nothing useful fits.
pub(super) fn part_of(turn: &Turn, room: u32, tokenizer: Tokenizer) -> Option<(PackedAs, String, u32)> {
    let said = &turn.said;
    let whole_tokens = turn.tokens.piece_tokens;
    let room_for_text = room.saturating_sub(LEFT_OUT_LINE_TOKENS);
    let user_line = render::user_line(said, &said.user_message);
    let is_huge = user_line.len() as u64 > most_bytes(room);
    let user_tokens = if is_huge { u32::MAX } else { tokenizer.count(&user_line) };

    let (packed_as, mut text) = if user_tokens <= room_for_text {
        let rest = room_for_text - user_tokens;
        match longest_that_fits(&said.ai_response, rest, tokenizer, |part| render::assistant_line(said, part))
        {
            Some(reply) => (PackedAs::Extract, user_line + &reply),
            None => (PackedAs::UserHalf, user_line),
        }
    } else {
        let line = |part: &str| render::user_line(said, part);
        (PackedAs::Extract, longest_that_fits(&said.user_message, room_for_text, tokenizer, line)?)
    };
    let shown = tokenizer.count(&text);
    text.push_str(&left_out_line(whole_tokens.saturating_sub(shown)));
    let tokens = tokenizer.count(&text);
    (tokens <= room && !text.is_empty()).then_some((packed_as, text, tokens))
}

/// Returns the longest beginning of `text`, cut between words if possible, whose line has at most `room` tokens.
fn longest_that_fits(
    text: &str,
    room: u32,
    tokenizer: Tokenizer,
    line: impl Fn(&str) -> String,
) -> Option<String> {
    /// A shorter beginning of a side is useless.
    const LEAST_TOKENS: u32 = 8;
    /// An upper bound for ordinary text; a beginning with more bytes per token is not tried.
    const BYTES_PER_TOKEN: usize = 8;
    if room < LEAST_TOKENS || text.is_empty() {
        return None;
    }
    let (mut fits, mut too_long) = (0, text.len().min(room as usize * BYTES_PER_TOKEN) + 1);
    let mut best = None;
    while too_long - fits > 1 {
        let middle = usize::midpoint(fits, too_long);
        let candidate = line(between_words(&text[..text.floor_char_boundary(middle)]));
        if tokenizer.count(&candidate) <= room {
            fits = middle;
            best = (!candidate.is_empty()).then_some(candidate);
        } else {
            too_long = middle;
        }
    }
    best
}

/// Removes the last word, which may be cut off, unless that would remove more than a fifth of the text.
pub(super) fn between_words(text: &str) -> &str {
    match text.rfind(char::is_whitespace) {
        Some(at) if at >= text.len() / 5 * 4 => &text[..at],
        _ => text,
    }
}
