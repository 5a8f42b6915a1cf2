//! Packs turns into chunks that fit a model's window.
//!
//! Sizes are estimates from the stored token counts of turns: the model's own tokenizer is unknown, and JSON adds tokens.

use std::borrow::Cow;

use crate::{
    model::{ids::TurnId, turn::Turn},
    text::cuts::left_out_between,
};

/// The size of the instructions, and of what a repair prompt adds to them.
const INSTRUCTION_TOKENS: u32 = 1_600;
/// The size of a turn's frame in JSON: its alias, date and names.
const FRAME_TOKENS: u32 = 60;
/// The size of a verdict: a sentence, keywords, some anchors with their quotes.
const VERDICT_TOKENS: u32 = 220;
/// Tokenizers differ, and escapes add tokens: ten of ours are at most about twelve of the model's.
const MARGIN: (u32, u32) = (12, 10);
/// Small models lose count with more turns in one prompt.
const MAX_TURNS: usize = 20;

/// Turns that the model is asked about in one prompt.
#[derive(Debug)]
pub(super) struct TurnChunk<'a> {
    turns: Cow<'a, [Turn]>,
    /// The most tokens shown of one turn.
    max_shown_tokens: u32,
}

impl TurnChunk<'_> {
    pub(super) fn turns(&self) -> &[Turn] {
        &self.turns
    }

    pub(super) fn ids(&self) -> Vec<TurnId> {
        self.turns.iter().map(|turn| turn.id).collect()
    }

    /// The chunk reduced to these turns.
    pub(super) fn only(&self, ids: &[TurnId]) -> Self {
        let turns: Vec<Turn> = self.turns.iter().filter(|turn| ids.contains(&turn.id)).cloned().collect();
        Self { turns: Cow::Owned(turns), max_shown_tokens: self.max_shown_tokens }
    }

    /// Returns the two sides of a turn as the prompt shows them: of a giant turn, the head and the tail of each side.
    pub(super) fn shown<'t>(&self, turn: &'t Turn) -> [Cow<'t, str>; 2] {
        let said = [turn.said.user_message.as_str(), turn.said.ai_response.as_str()];
        let tokens = [turn.tokens.user_message_tokens, turn.tokens.ai_response_tokens];
        let [user, reply] = shares(tokens, self.max_shown_tokens);
        [cut(said[0], tokens[0], user), cut(said[1], tokens[1], reply)]
    }
}

/// Packs the turns, in order, into as few chunks as possible. Every turn is in one chunk.
pub(super) fn pack(turns: &[Turn], window_tokens: u32) -> Vec<TurnChunk<'_>> {
    let room = window_tokens.saturating_sub(INSTRUCTION_TOKENS);
    let max_shown_tokens = room.saturating_sub(FRAME_TOKENS + VERDICT_TOKENS) / MARGIN.0 * MARGIN.1;
    let mut chunks = Vec::new();
    let (mut start, mut used) = (0, 0_u32);
    for (at, turn) in turns.iter().enumerate() {
        let shown = turn.tokens.total_tokens.min(max_shown_tokens);
        let cost = shown.saturating_mul(MARGIN.0) / MARGIN.1 + FRAME_TOKENS + VERDICT_TOKENS;
        if at > start && (used.saturating_add(cost) > room || at - start >= MAX_TURNS) {
            chunks.push(TurnChunk { turns: Cow::Borrowed(&turns[start..at]), max_shown_tokens });
            (start, used) = (at, 0);
        }
        used = used.saturating_add(cost);
    }
    if start < turns.len() {
        chunks.push(TurnChunk { turns: Cow::Borrowed(&turns[start..]), max_shown_tokens });
    }
    chunks
}

/// Returns how many tokens of each side are shown: both whole if they fit; otherwise up to half of the room for the smaller
/// side, and the rest for the larger one.
fn shares(tokens: [u32; 2], room: u32) -> [u32; 2] {
    let half = room / 2;
    let [user, reply] = tokens;
    if user.saturating_add(reply) <= room {
        tokens
    } else if user <= half {
        [user, room - user]
    } else if reply <= half {
        [room - reply, reply]
    } else {
        [half, room - half]
    }
}

/// Shortens a text to its share: two thirds of the room for its head and one third for its tail, with a mark between them.
fn cut(text: &str, tokens: u32, allowed: u32) -> Cow<'_, str> {
    if tokens <= allowed {
        return Cow::Borrowed(text);
    }
    let bytes = text.len() as u64 * u64::from(allowed) / u64::from(tokens);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(text.len());
    let head = text.floor_char_boundary(bytes / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 3).max(head);
    Cow::Owned([&text[..head], &left_out_between(tokens - allowed), &text[tail..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(user_tokens: u32, reply_tokens: u32) -> Turn {
        let mut turn = Turn::sample(1, "word ".repeat(user_tokens as usize), user_tokens + reply_tokens);
        turn.said.ai_response = "wort ".repeat(reply_tokens as usize);
        turn.tokens.user_message_tokens = user_tokens;
        turn.tokens.ai_response_tokens = reply_tokens;
        turn
    }

    #[track_caller]
    fn check(sizes: &[u32], window_tokens: u32, expected: &[usize]) {
        let turns: Vec<Turn> = sizes.iter().map(|&tokens| turn(tokens, 0)).collect();
        let chunks = pack(&turns, window_tokens);
        assert_eq!(chunks.iter().map(|chunk| chunk.turns().len()).collect::<Vec<_>>(), expected, "{sizes:?}");
        let packed: Vec<TurnId> = chunks.iter().flat_map(TurnChunk::ids).collect();
        assert_eq!(packed, turns.iter().map(|turn| turn.id).collect::<Vec<_>>());
    }

    #[test]
    fn chunks_fit_the_window() {
        check(&[], 8_000, &[]);
        check(&[100; 10], 8_000, &[10]);
        check(&[1_000; 10], 8_000, &[4, 4, 2]);
        check(&[1_000; 10], 128_000, &[10]);
        check(&[10; 45], 128_000, &[20, 20, 5]);
        check(&[10, 80_000, 10], 8_000, &[1, 1, 1]);
        check(&[80_000, 80_000], 3_000, &[1, 1]);
        check(&[10, 10], 0, &[1, 1]);
    }

    #[test]
    fn a_giant_turn_shows_its_head_and_tail() {
        let mut giant = turn(80_000, 10);
        giant.said.user_message = format!("HEAD {} TAIL", giant.said.user_message);
        let chunk = &pack(std::slice::from_ref(&giant), 8_000)[0];
        let [user, reply] = chunk.shown(&giant);
        assert!(user.starts_with("HEAD") && user.ends_with("TAIL"));
        assert!(user.contains(" [... 74"), "the mark says how much");
        assert!(user.len() < 27_000 && user.len() > 24_000, "{}", user.len());
        assert_eq!(reply, giant.said.ai_response);
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut giant = turn(80_000, 80_000);
        giant.said.user_message = "黒猫🦊".repeat(30_000);
        let chunk = &pack(std::slice::from_ref(&giant), 3_000)[0];
        let [user, reply] = chunk.shown(&giant);
        assert!(user.len() < 10_000 && reply.len() < 10_000);
    }
}
