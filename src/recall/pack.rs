//! Packs turns into a token budget, exactly. A pure function of its arguments.
//!
//! Each section has a share of the budget. Sections are filled in their order, whole turns first, each turn by
//! its priority, skipping what does not fit and going on; what a section leaves flows on to the next. Then what
//! is left of the whole budget is offered again, to parts of turns too.

use std::fmt::Write as _;

use chrono::NaiveDate;
use serde::Serialize;

use crate::{
    model::turn::Turn,
    text::{
        render::{self, PREAMBLE},
        tokens::Tokenizer,
    },
};

/// A part of a context, in the order in which they are rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Section {
    /// Warm turns of the session.
    EarlierInSession,
    /// Hot turns.
    RecentTurns,
}

impl Section {
    /// The line above the section.
    fn title(self) -> &'static str {
        match self {
            Self::EarlierInSession => "<earlier in this session>\n",
            Self::RecentTurns => "<recent turns>\n",
        }
    }
}

/// How much of a turn is in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PackedAs {
    /// All of it.
    Whole,
    /// What the user said; the reply is left out.
    UserHalf,
    /// The beginning of it, verbatim.
    Extract,
}

/// What a section may draw on.
pub(crate) struct Request<'t> {
    pub(crate) section: Section,
    /// Its share of the budget; what earlier sections left is added.
    pub(crate) share_tokens: u32,
    /// What it may take at the very most.
    pub(crate) most_tokens: u32,
    /// The first turn always enters, with about this many tokens at least, where the budget has them.
    pub(crate) first_gets: Option<u32>,
    /// The most wanted first.
    pub(crate) turns: Vec<&'t Turn>,
}

/// A turn in its rendered form.
pub(crate) struct Piece<'t> {
    pub(crate) turn: &'t Turn,
    pub(crate) section: Section,
    pub(crate) packed_as: PackedAs,
    pub(crate) text: String,
    pub(crate) tokens: u32,
}

/// A packed context.
pub(crate) struct Packed<'t> {
    pub(crate) text: String,
    pub(crate) tokens: u32,
    /// In the order of the text.
    pub(crate) pieces: Vec<Piece<'t>>,
    /// Turns that had no room.
    pub(crate) left_out: Vec<&'t Turn>,
}

/// Parts smaller than this say too little for the room of their date and mark.
const LEAST_PART_TOKENS: u32 = 48;
/// The mark of what is left out never has more tokens than this.
const MARK_TOKENS: u32 = 12;

/// Packs what is requested. The text has at most `budget_tokens` by `tokenizer`'s own count of it; it is empty if
/// not even one turn fits.
pub(crate) fn pack<'t>(
    requests: &[Request<'t>],
    budget_tokens: u32,
    last_line: &str,
    tokenizer: Tokenizer,
) -> Packed<'t> {
    let frame_tokens = tokenizer.count(PREAMBLE) + tokenizer.count(last_line);
    let mut packer = Packer {
        tokenizer,
        room: budget_tokens.saturating_sub(frame_tokens),
        date_tokens: tokenizer.count(&render::date_line(NaiveDate::default())),
        sections: requests
            .iter()
            .map(|request| Filled {
                request,
                title_tokens: tokenizer.count(request.section.title()),
                pieces: Vec::new(),
            })
            .collect(),
    };
    packer.fill();
    packer.finish(budget_tokens, last_line)
}

struct Packer<'r, 't> {
    tokenizer: Tokenizer,
    /// Tokens for all sections together.
    room: u32,
    /// Tokens of the line above the turns of a day: any day, since its digits make as many tokens.
    date_tokens: u32,
    sections: Vec<Filled<'r, 't>>,
}

struct Filled<'r, 't> {
    request: &'r Request<'t>,
    title_tokens: u32,
    /// Oldest first.
    pieces: Vec<Piece<'t>>,
}

impl<'t> Packer<'_, 't> {
    fn fill(&mut self) {
        let mut shares = 0_u32;
        for at in 0..self.sections.len() {
            let request = self.sections[at].request;
            shares = shares.saturating_add(request.share_tokens);
            if let (Some(least), Some(&first)) = (request.first_gets, request.turns.first()) {
                let least = self.tokens_with(at, Some((first, least + MARK_TOKENS)));
                let limit = self.limit(at, shares).max(least).min(self.limit(at, u32::MAX));
                if !self.add_whole(at, first, limit) {
                    self.add_part(at, first, limit);
                }
            }
            for &turn in &request.turns {
                let limit = self.limit(at, shares);
                self.add_whole(at, turn, limit);
            }
        }
        for at in 0..self.sections.len() {
            for &turn in &self.sections[at].request.turns {
                let limit = self.limit(at, u32::MAX);
                if !self.add_whole(at, turn, limit) {
                    self.add_part(at, turn, limit);
                }
            }
        }
    }

    /// What section `at` may have in all, when the sections so far may have `shares` together.
    fn limit(&self, at: usize, shares: u32) -> u32 {
        let others: u32 = (0..self.sections.len())
            .filter(|&other| other != at)
            .map(|other| self.tokens_with(other, None))
            .sum();
        let most = self.sections[at].request.most_tokens;
        self.room.min(shares).saturating_sub(others).min(most)
    }

    fn holds(&self, turn: &Turn) -> bool {
        self.sections.iter().flat_map(|filled| &filled.pieces).any(|piece| piece.turn.seq == turn.seq)
    }

    /// Adds a turn as it is; true if it is in now, by this call or an earlier one.
    fn add_whole(&mut self, at: usize, turn: &'t Turn, limit: u32) -> bool {
        self.holds(turn) || {
            let tokens = turn.tokens.piece_tokens;
            // The text is made only if it fits: most of a long window does not.
            self.tokens_with(at, Some((turn, tokens))) <= limit && {
                self.add(at, turn, PackedAs::Whole, render::turn_piece(&turn.said), tokens);
                true
            }
        }
    }

    /// Adds as much of a turn as fits, if that is worth it.
    fn add_part(&mut self, at: usize, turn: &'t Turn, limit: u32) {
        let room = limit.saturating_sub(self.tokens_with(at, Some((turn, 0))));
        if room >= LEAST_PART_TOKENS
            && let Some((packed_as, text, tokens)) = part_of(turn, room, self.tokenizer)
        {
            self.add(at, turn, packed_as, text, tokens);
        }
    }

    fn add(&mut self, at: usize, turn: &'t Turn, packed_as: PackedAs, text: String, tokens: u32) {
        let filled = &mut self.sections[at];
        let section = filled.request.section;
        let place = filled.pieces.partition_point(|piece| piece.turn.seq < turn.seq);
        filled.pieces.insert(place, Piece { turn, section, packed_as, text, tokens });
    }

    /// The tokens of section `at` as rendered, with one more turn in it if one is given: pieces and lines of the
    /// frame may be added up.
    fn tokens_with(&self, at: usize, more: Option<(&Turn, u32)>) -> u32 {
        let filled = &self.sections[at];
        let mut turns: Vec<(i64, NaiveDate, u32)> =
            filled.pieces.iter().map(|piece| (piece.turn.seq, date_of(piece.turn), piece.tokens)).collect();
        turns.extend(more.map(|(turn, tokens)| (turn.seq, date_of(turn), tokens)));
        if turns.is_empty() {
            return 0;
        }
        turns.sort_unstable(); // By seq, as they are rendered.
        let date_lines = turns.chunk_by(|a, b| a.1 == b.1).count();
        let date_tokens = u32::try_from(date_lines).unwrap_or(u32::MAX).saturating_mul(self.date_tokens);
        turns.iter().fold(filled.title_tokens + date_tokens, |sum, turn| sum.saturating_add(turn.2))
    }

    fn finish(mut self, budget_tokens: u32, last_line: &str) -> Packed<'t> {
        self.sections.sort_by_key(|filled| filled.request.section);
        let left_out = self
            .sections
            .iter()
            .flat_map(|filled| &filled.request.turns)
            .filter(|turn| !self.holds(turn))
            .copied()
            .collect();
        let mut pieces: Vec<Piece<'t>> = self.sections.into_iter().flat_map(|filled| filled.pieces).collect();
        loop {
            let text = written(&pieces, last_line);
            let tokens = self.tokenizer.count(&text);
            if tokens <= budget_tokens {
                return Packed { text, tokens, pieces, left_out };
            }
            // The sums are exact, so this is never reached; if they are ever not, the budget still holds.
            debug_assert!(false, "{tokens} tokens in a budget of {budget_tokens}");
            pieces.remove(0);
        }
    }
}

/// The final string: frame, titles, dates, pieces.
fn written(pieces: &[Piece<'_>], last_line: &str) -> String {
    let mut text = String::new();
    let mut above: Option<(Section, NaiveDate)> = None;
    for piece in pieces {
        let here = (piece.section, date_of(piece.turn));
        if above.is_none() {
            text.push_str(PREAMBLE);
        }
        if above.is_none_or(|(section, _)| section != piece.section) {
            text.push_str(piece.section.title());
        }
        if above != Some(here) {
            text.push_str(&render::date_line(here.1));
        }
        text.push_str(&piece.text);
        above = Some(here);
    }
    if above.is_some() {
        text.push_str(last_line);
    }
    text
}

fn date_of(turn: &Turn) -> NaiveDate {
    turn.timestamp.date_naive()
}

/// As much of a turn as fits into `room` tokens: the user's side and as much of the reply as there is room for,
/// else the beginning of the user's side; with a mark of what is left out.
fn part_of(turn: &Turn, room: u32, tokenizer: Tokenizer) -> Option<(PackedAs, String, u32)> {
    let said = &turn.said;
    let whole_tokens = turn.tokens.piece_tokens;
    let room_for_text = room.saturating_sub(MARK_TOKENS);
    let user_line = render::user_line(said, &said.user_message);
    // Bytes bound tokens from below, so that a huge side is never counted: no token is over 128 bytes of text.
    let user_tokens =
        if user_line.len() as u64 > u64::from(room) * 128 { u32::MAX } else { tokenizer.count(&user_line) };

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
    let _ = text.write_str(&render::left_out_line(whole_tokens.saturating_sub(shown)));
    let tokens = tokenizer.count(&text);
    (tokens <= room && !text.is_empty()).then_some((packed_as, text, tokens))
}

/// The longest beginning of `text`, cut between words where there are any, whose line has at most `room` tokens.
fn longest_that_fits(
    text: &str,
    room: u32,
    tokenizer: Tokenizer,
    line: impl Fn(&str) -> String,
) -> Option<String> {
    /// A shorter beginning of a side says nothing.
    const LEAST_TOKENS: u32 = 8;
    /// Of ordinary text; a beginning longer than this is not tried.
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

/// Cuts off the last, perhaps broken, word, unless that would cost more than a fifth.
fn between_words(text: &str) -> &str {
    match text.rfind(char::is_whitespace) {
        Some(at) if at >= text.len() / 5 * 4 => &text[..at],
        _ => text,
    }
}
