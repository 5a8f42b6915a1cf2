//! Packs for chat APIs: what is known and recalled as one block, the newest turns as the original messages.
//!
//! The block is packed first. Room for the newest turns is reserved whether they need it or not, so that what they say
//! changes no byte of the block. The newest turns also get what the block leaves. They are shown without a gap, from the
//! newest back to the first that does not fit; that one is cut, or left out if too little of it would remain.

use crate::{
    model::{
        chat::{ChatMessage, ChatRole},
        receipt::PackedAs,
        turn::{Side, Turn},
    },
    recall::pack::{
        Item, LEAST_PART_TOKENS, PackOutcome, Packed, Packer, RenderedPiece, Request, Section,
        item::most_bytes, part::between_words,
    },
    text::{
        cuts::{LEFT_OUT_LINE_TOKENS, left_out_line},
        render::{self, PREAMBLE},
        tokens::Tokenizer,
    },
};

/// A shorter beginning of a side is useless.
const LEAST_BYTES: usize = 24;
/// An upper bound for ordinary text; a beginning with more bytes per token is not tried.
const BYTES_PER_TOKEN: usize = 8;

/// Packs the requests. The first request contains the newest turns, newest first; `keeps_room` says whether there are or
/// will be any to show. Contents and [frames](ChatMessage::FRAME_TOKENS) together have at most `budget_tokens`.
pub(crate) fn pack_messages<'t>(
    requests: &[Request<'t>],
    budget_tokens: u32,
    keeps_room: bool,
    last_line: &str,
    tokenizer: Tokenizer,
) -> Packed<'t> {
    let newest = &requests[0];
    let kept = if keeps_room { kept_for(newest, budget_tokens) } else { 0 };
    let room = budget_tokens.saturating_sub(kept).saturating_sub(ChatMessage::FRAME_TOKENS);
    let mut block = Packer::new(requests, room, last_line, tokenizer);
    block.fill(1);
    let mut packed = block.finish(last_line);
    if !packed.text.is_empty() {
        packed.tokens += ChatMessage::FRAME_TOKENS;
    }

    let quotes_begin = tokenizer.count(Section::RecentTurns.title());
    let text_begins = tokenizer.count(PREAMBLE) + tokenizer.count(last_line) + ChatMessage::FRAME_TOKENS;
    let (mut quotes, mut pieces) = (Vec::new(), Vec::new());
    let mut left = budget_tokens.saturating_sub(packed.tokens).min(newest.most_tokens);
    for (index, candidate) in newest.candidates.iter().enumerate() {
        let Item::Turn(turn) = candidate.item else { continue };
        let with_lines =
            |shown: &QuotedTurn| match (shown.quote.is_empty() || !quotes.is_empty(), &*packed.text) {
                (true, _) => shown.all_tokens(),
                (false, "") => shown.all_tokens() + quotes_begin + text_begins,
                (false, _) => shown.all_tokens() + quotes_begin,
            };
        let Some(shown) = as_much_as_fits(turn, left, &with_lines, tokenizer) else { break };
        let (tokens, packed_as) = (with_lines(&shown), shown.packed_as);
        (packed.tokens, left) = (packed.tokens + tokens, left - tokens);
        packed.outcomes[0][index] = PackOutcome::Packed(packed_as);
        let (item, section) = (candidate.item, candidate.section);
        let text = String::new();
        pieces.push(RenderedPiece {
            item,
            section,
            packed_as,
            text,
            tokens: shown.tokens,
            newer: None,
            of: (0, index),
        });
        packed.recent.extend(shown.messages.into_iter().rev());
        if !shown.quote.is_empty() {
            quotes.push(shown.quote);
        }
        if packed_as != PackedAs::Whole {
            break;
        }
    }
    packed.pieces.extend(pieces.into_iter().rev());
    packed.recent.reverse();
    if !quotes.is_empty() {
        let above = packed.text.strip_suffix(last_line).unwrap_or(PREAMBLE);
        let quotes: String = quotes.into_iter().rev().collect();
        packed.text = [above, Section::RecentTurns.title(), &quotes, last_line].concat();
    }
    debug_assert_eq!(packed.tokens, counted(&packed, tokenizer), "the sum is the tokenizer's own count");
    packed
}

/// Returns the tokens reserved for the newest turns: their share, but at most half of the budget, and at least what the
/// newest turn must get.
fn kept_for(newest: &Request<'_>, budget_tokens: u32) -> u32 {
    let frames = LEFT_OUT_LINE_TOKENS + 2 * ChatMessage::FRAME_TOKENS;
    let least = newest.first_gets.map_or(0, |first| first.saturating_add(frames));
    newest.share_tokens.min(budget_tokens / 2).max(least)
}

fn counted(packed: &Packed<'_>, tokenizer: Tokenizer) -> u32 {
    let text = Some(&*packed.text).filter(|text| !text.is_empty());
    let contents = text.into_iter().chain(packed.recent.iter().map(|message| &*message.content));
    contents.map(|content| tokenizer.count(content) + ChatMessage::FRAME_TOKENS).sum()
}

/// A turn, or its beginning, as messages, and the part that the text quotes.
struct QuotedTurn {
    messages: Vec<ChatMessage>,
    quote: String,
    packed_as: PackedAs,
    /// Tokens of the contents and the quote.
    tokens: u32,
}

impl QuotedTurn {
    fn all_tokens(&self) -> u32 {
        let frames = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        self.tokens.saturating_add(frames.saturating_mul(ChatMessage::FRAME_TOKENS))
    }

    /// The parts of both sides, followed by the mark that `left_out` tokens are missing.
    fn of(turn: &Turn, parts: [&str; 2], left_out: Option<u32>, tokenizer: Tokenizer) -> Self {
        let [user, reply] = parts;
        let mark = left_out.map(left_out_line).unwrap_or_default();
        let (mut messages, mut quote) = (Vec::new(), String::new());
        for (side, part) in [(Side::User, user), (Side::Reply, reply)] {
            if part.trim().is_empty() {
                continue; // No API accepts an empty message.
            }
            let is_last = side == Side::Reply || reply.trim().is_empty();
            let mark = if is_last { &*mark } else { "" };
            let (origin, role) = match side {
                Side::User => (turn.said.user_origin, ChatRole::User),
                Side::Reply => (turn.said.assistant_origin, ChatRole::Assistant),
            };
            let content = if origin.is_foreign() {
                quote += &render::turn_line(turn.turn_number);
                quote += &render::side_line(&turn.said, side, part);
                quote += mark;
                render::stand_in(&turn.said, side, turn.turn_number)
            } else if mark.is_empty() {
                render::spoken(part).into_owned()
            } else {
                format!("{}\n{}", render::spoken(part), mark.trim_end())
            };
            messages.push(ChatMessage::new(role, content));
        }
        let packed_as = match left_out {
            None => PackedAs::Whole,
            Some(_) if user == turn.said.user_message && reply.is_empty() => PackedAs::UserHalf,
            Some(_) => PackedAs::Extract,
        };
        let contents: u32 = messages.iter().map(|message| tokenizer.count(&message.content)).sum();
        Self { tokens: contents + tokenizer.count(&quote), messages, quote, packed_as }
    }
}

/// Returns the turn, or its longest beginning, whose `cost` fits into `room` tokens.
fn as_much_as_fits(
    turn: &Turn,
    room: u32,
    cost: &dyn Fn(&QuotedTurn) -> u32,
    tokenizer: Tokenizer,
) -> Option<QuotedTurn> {
    let [user, reply] = [Side::User, Side::Reply].map(|side| turn.said.side(side));
    if turn.text_bytes() as u64 <= most_bytes(room) {
        let whole = QuotedTurn::of(turn, [user, reply], None, tokenizer);
        if cost(&whole) <= room {
            return Some(whole);
        }
    }
    if room < LEAST_PART_TOKENS {
        return None;
    }
    // Cuts the user's side followed by the reply at one place.
    let cut = |at: usize| {
        let user_part = beginning(user, at);
        let reply_part = if user_part == user { beginning(reply, at - user.len()) } else { "" };
        [user_part, reply_part]
    };
    let (mut fits, mut too_long) = (0, turn.text_bytes().min(room as usize * BYTES_PER_TOKEN));
    while too_long - fits > 1 {
        let middle = usize::midpoint(fits, too_long);
        // No mark is longer than this one.
        let shown = QuotedTurn::of(turn, cut(middle), Some(u32::MAX), tokenizer);
        if cost(&shown) <= room { fits = middle } else { too_long = middle }
    }
    let parts = cut(fits);
    let shown_tokens: u32 = parts.iter().map(|part| tokenizer.count(part)).sum();
    let left_out = turn.tokens.total_tokens.saturating_sub(shown_tokens);
    let part = QuotedTurn::of(turn, parts, Some(left_out), tokenizer);
    (!part.messages.is_empty() && cost(&part) <= room).then_some(part)
}

/// The beginning of a side up to about this byte, cut between words if possible; empty if it would be useless.
fn beginning(text: &str, until: usize) -> &str {
    if until >= text.len() {
        return text;
    }
    let part = between_words(&text[..text.floor_char_boundary(until)]);
    if part.len() < LEAST_BYTES { "" } else { part }
}
