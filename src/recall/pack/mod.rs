//! Packs turns, summaries, anchors, wishes and memories into a token budget, which it counts exactly. A pure function.
//!
//! A request is a list of candidates, such as the newest turns or the recalled ones, with a share of the budget. Requests
//! are served in order, and what one leaves goes to the next. In each, candidates are taken by rank, and those that do not
//! fit are skipped. A turn is shown whole, but of a long recalled turn only the part that matched is shown or, if none did,
//! its summary or its beginning. The newest turns of the session are a stretch: a turn that does not fit is cut, and if not
//! even a part fits, the stretch ends, so that it has no hole. Then what is left of the whole budget is offered again:
//! the stretch continues, then what had no room is added, whole or in part, and short extracts grow.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

use crate::{
    model::{
        chat::ChatMessage,
        receipt::{Newer, PackedAs},
        turn::Turn,
    },
    text::{
        cuts::LEFT_OUT_LINE_TOKENS,
        render::{self, PREAMBLE},
        tokens::Tokenizer,
    },
};

mod extract;
mod item;
mod messages;
mod outcome;
mod part;
mod request;
mod section;
mod spans;

use extract::TurnExtract;
pub(crate) use item::{Candidate, Focus, FoundBy, Item};
use item::{ShownKey, counted_within, summary_piece};
pub(crate) use messages::pack_messages;
pub(crate) use outcome::PackOutcome;
use part::part_of;
use request::Serving;
pub(crate) use request::{Request, fit_whole};
pub use section::Section;
pub(super) use spans::WordHits;

/// A rendered item.
pub(crate) struct RenderedPiece<'t> {
    pub(crate) item: Item<'t>,
    pub(crate) section: Section,
    pub(crate) packed_as: PackedAs,
    pub(crate) text: String,
    pub(crate) tokens: u32,
    /// Something later about the same thing: the text has a mark above the piece.
    pub(crate) newer: Option<Newer>,
    /// The index of its request, and of its candidate in that request.
    pub(crate) of: (usize, usize),
}

/// A packed context.
pub(crate) struct Packed<'t> {
    pub(crate) text: String,
    /// The length of the block in bytes: the text before the recent turns and the last line. 0 if no item is in it.
    pub(crate) block_bytes: usize,
    /// The recent turns as messages, oldest first, if requested.
    pub(crate) recent: Vec<ChatMessage>,
    pub(crate) tokens: u32,
    /// In the order of the text.
    pub(crate) pieces: Vec<RenderedPiece<'t>>,
    /// The outcome of each candidate, in the order of the requests and of their candidates.
    pub(crate) outcomes: Vec<Vec<PackOutcome>>,
}

/// A cut turn has at least this many tokens: a smaller part says too little to justify its date and mark.
const LEAST_PART_TOKENS: u32 = 48;
/// A turn of the stretch that does not fit is first cut to at most this, so that one long turn leaves room for those before
/// it. At the end it grows into what is left.
const CUT_TOKENS: u32 = 200;
/// The same limit for a turn that is cut to reach an older one: recalled turns need the room. With 200, a context of one
/// open session showed 76.4 instead of 81.7 % of BEAM's evidence (2026-11).
const BRIDGE_TOKENS: u32 = EXTRACT_TOKENS;
/// An extract of a recalled turn has at least this many tokens: about the one sentence that matched.
const LEAST_EXTRACT_TOKENS: u32 = 40;
/// A turn of at most this many tokens is shown whole if recalled.
const BRIEF_TOKENS: u32 = 100;
/// A longer turn is shown as an extract of at most this size, so that 900 tokens hold a dozen.
const EXTRACT_TOKENS: u32 = 72;
/// Text around a match is added only to extracts shorter than this: the room is more useful to the next turn.
const ENOUGH_TOKENS: u32 = 40;
/// If there is room left when all others are in, an extract grows to this size.
const GROWN_TOKENS: u32 = 240;

/// Packs the requests. The text has at most `budget_tokens` by `tokenizer`'s own count; it is empty if nothing fits.
pub(crate) fn pack<'t>(
    requests: &[Request<'t>],
    budget_tokens: u32,
    last_line: &str,
    tokenizer: Tokenizer,
) -> Packed<'t> {
    let mut packer = Packer::new(requests, budget_tokens, last_line, tokenizer);
    packer.fill(0);
    packer.finish(last_line)
}

struct Packer<'r, 't> {
    requests: &'r [Request<'t>],
    tokenizer: Tokenizer,
    /// Tokens of the first and the last line.
    ends_tokens: u32,
    /// Tokens for all sections together.
    room: u32,
    /// Tokens of the line above the turns of a day; all dates have the same count.
    date_tokens: u32,
    /// Tokens of the line that marks something as outdated; all dates have the same count here too.
    mark_tokens: u32,
    title_tokens: [u32; Section::ALL.len()],
    /// The content of each section, in the order of the text.
    sections: [Vec<RenderedPiece<'t>>; Section::ALL.len()],
    /// Total tokens of all sections as rendered: counts of pieces and frame lines add up.
    tokens: u32,
    /// The tokens that each request has taken, including frame lines.
    tokens_of: Vec<u32>,
    shown: HashSet<ShownKey>,
    /// The turns that the shown memories rest on.
    told: HashSet<i64>,
    outcomes: Vec<Vec<PackOutcome>>,
    /// The extracts of turns already searched for matches, because searching takes longer than everything else.
    extracts: HashMap<(usize, usize), TurnExtract<'t>>,
}

impl<'r, 't> Packer<'r, 't> {
    fn new(requests: &'r [Request<'t>], budget_tokens: u32, last_line: &str, tokenizer: Tokenizer) -> Self {
        let ends_tokens = tokenizer.count(PREAMBLE) + tokenizer.count(last_line);
        let outcome_of = |candidate: &Candidate<'_>| match candidate {
            Candidate { is_below_floor: true, .. } => PackOutcome::BelowFloor,
            Candidate { is_already_shown: true, .. } => PackOutcome::AlreadyShown,
            _ => PackOutcome::NoRoom,
        };
        Self {
            requests,
            tokenizer,
            ends_tokens,
            room: budget_tokens.saturating_sub(ends_tokens),
            date_tokens: tokenizer.count(&render::date_line(NaiveDate::default())),
            mark_tokens: tokenizer.count(&render::newer_line(NaiveDate::default())),
            title_tokens: Section::ALL.map(|section| tokenizer.count(section.title())),
            sections: Section::ALL.map(|_| Vec::new()),
            tokens: 0,
            tokens_of: vec![0; requests.len()],
            shown: HashSet::new(),
            told: HashSet::new(),
            outcomes: requests
                .iter()
                .map(|request| request.candidates.iter().map(outcome_of).collect())
                .collect(),
            extracts: HashMap::new(),
        }
    }

    /// Serves the requests from the index `first` on.
    fn fill(&mut self, first: usize) {
        let (mut shares, mut waiting) = (0_u32, Vec::new());
        for (at, request) in self.requests.iter().enumerate().skip(first) {
            shares = shares.saturating_add(request.share_tokens);
            self.add_first(at, shares);
            for index in 0..request.candidates.len() {
                let of = (at, index);
                if !self.awaits(of) {
                    continue;
                }
                match (request.serving, &request.candidates[index].found_by) {
                    (Serving::Newest | Serving::Older, _) => self.lengthen(&mut waiting, of, shares),
                    (Serving::Ranked, Some(found_by)) => self.add_recalled(of, found_by, shares),
                    (Serving::Ranked, None) => _ = self.add_whole(of, shares),
                }
            }
        }
        self.offer_again(first);
        self.drop_told_wishes();
    }

    /// Offers what is left of the whole budget to all candidates.
    fn offer_again(&mut self, first: usize) {
        let requests = self.requests;
        let all = requests.iter().enumerate().skip(first);
        let all = all.flat_map(|(at, request)| (0..request.candidates.len()).map(move |index| (at, index)));
        let stretch: Vec<(usize, usize)> = all.clone().filter(|of| requests[of.0].is_stretch()).collect();
        let mut is_shown =
            |of| !self.awaits(of) || self.add_whole(of, u32::MAX) || self.cut(of, u32::MAX, CUT_TOKENS);
        _ = stretch.into_iter().all(&mut is_shown);
        for of in all.clone() {
            let awaits = !requests[of.0].is_stretch() && self.awaits(of);
            match &self.candidate(of).found_by {
                Some(found_by) if awaits => self.add_recalled(of, found_by, u32::MAX),
                None if awaits => _ = self.add_whole(of, u32::MAX) || self.cut(of, u32::MAX, u32::MAX),
                _ => self.grow(of),
            }
        }
        // A candidate without room may have been shown by a later request: `awaits` records that.
        for of in all {
            self.awaits(of);
        }
    }

    /// Drops the wishes that a shown turn contains as well.
    fn drop_told_wishes(&mut self) {
        let told: Vec<(usize, usize)> = self.sections[Section::Wishes as usize]
            .iter()
            .filter(|piece| self.sections.iter().flatten().any(|other| tells(other, piece)))
            .map(|piece| piece.of)
            .collect();
        for of in told {
            let candidate = self.candidate(of);
            let pieces = &mut self.sections[Section::Wishes as usize];
            let Some(at) = pieces.iter().position(|piece| piece.of == of) else { continue };
            let tokens = pieces.remove(at).tokens + self.frame_tokens(candidate);
            self.tokens -= tokens;
            self.tokens_of[of.0] -= tokens;
            self.outcomes[of.0][of.1] = PackOutcome::AlreadyShown;
        }
    }

    /// Adds a request's first candidate, if it must be shown in any case.
    fn add_first(&mut self, at: usize, shares: u32) {
        let request = &self.requests[at];
        if let (Some(least), Some(first)) = (request.first_gets, request.candidates.first()) {
            let least = self.frame_tokens(first).saturating_add(least).saturating_add(LEFT_OUT_LINE_TOKENS);
            let limit = shares.max(self.tokens.saturating_add(least));
            if self.awaits((at, 0)) && !self.add_whole((at, 0), limit) {
                self.cut((at, 0), limit, u32::MAX);
            }
        }
    }

    /// Adds the next turn of the stretch. Turns that wait are added before it, long ones cut, if it then still fits whole.
    /// If any of them still waits, or there is no room, this turn waits too.
    fn lengthen(&mut self, waiting: &mut Vec<(usize, usize)>, of: (usize, usize), limit: u32) {
        let bridge = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
        let bridge = bridge.saturating_mul(BRIDGE_TOKENS.saturating_add(self.date_tokens));
        if self.tokens_whole(of).saturating_add(bridge) <= self.room_for_piece(of, limit) {
            let between = std::mem::take(waiting);
            let without_room = between.iter().position(|of| {
                let is_brief = self.tokens_whole(*of) <= BRIDGE_TOKENS;
                !(if is_brief { self.add_whole(*of, limit) } else { self.cut(*of, limit, BRIDGE_TOKENS) })
            });
            waiting.extend(&between[without_room.unwrap_or(between.len())..]);
        }
        let is_next = waiting.is_empty();
        let is_newest = self.requests[of.0].serving == Serving::Newest;
        let is_shown =
            is_next && (self.add_whole(of, limit) || (is_newest && self.cut(of, limit, CUT_TOKENS)));
        if !is_shown {
            waiting.push(of);
        }
    }

    fn candidate(&self, (request, index): (usize, usize)) -> &'r Candidate<'t> {
        &self.requests[request].candidates[index]
    }

    /// Returns whether this candidate is still to be packed. If an item that shows the same was packed, records that.
    fn awaits(&mut self, of: (usize, usize)) -> bool {
        let is_shown = self.candidate(of).item.is_among(&self.shown) || self.is_told(of);
        let outcome = &mut self.outcomes[of.0][of.1];
        if *outcome == PackOutcome::NoRoom && is_shown {
            *outcome = PackOutcome::AlreadyShown;
        }
        *outcome == PackOutcome::NoRoom
    }

    /// Whether this turn was recalled and a memory that rests on it is shown. False for turns of the stretch, which are
    /// shown for their place.
    fn is_told(&self, of: (usize, usize)) -> bool {
        let candidate = self.candidate(of);
        let is_recalled = candidate.found_by.is_some() && self.requests[of.0].serving == Serving::Ranked;
        is_recalled && candidate.item.seq().is_some_and(|seq| self.told.contains(&seq))
    }

    /// The tokens that a request may still take while all of them together stay within `limit`.
    fn room_for(&self, request: usize, limit: u32) -> u32 {
        let most = self.requests[request].most_tokens.saturating_sub(self.tokens_of[request]);
        self.room.min(limit).saturating_sub(self.tokens).min(most)
    }

    /// The same for the piece of a candidate, minus the frame lines that come with it.
    fn room_for_piece(&self, of: (usize, usize), limit: u32) -> u32 {
        self.room_for(of.0, limit).saturating_sub(self.frame_tokens(self.candidate(of)))
    }

    /// Tokens of the frame lines that come with a candidate: its section's title, and its day.
    fn frame_tokens(&self, candidate: &Candidate<'t>) -> u32 {
        let pieces = &self.sections[candidate.section as usize];
        let title_tokens = if pieces.is_empty() { self.title_tokens[candidate.section as usize] } else { 0 };
        let place = place_among(pieces, candidate);
        let said_on = |place: usize| pieces.get(place).and_then(|piece| piece.item.said_on());
        let (above, below) = (place.checked_sub(1).and_then(said_on), said_on(place));
        let own = candidate.item.said_on();
        let dates = dates_between(above, own) + dates_between(own, below) - dates_between(above, below);
        let mark = u32::from(candidate.newer.is_some());
        title_tokens + dates * self.date_tokens + mark * self.mark_tokens
    }

    /// Tokens of a whole turn; 0 for any other item.
    fn tokens_whole(&self, of: (usize, usize)) -> u32 {
        match self.candidate(of).item {
            Item::Turn(turn) => turn.tokens.piece_tokens,
            Item::Summary(..) | Item::Anchor(_) | Item::Wish(..) | Item::Memory(_) => 0,
        }
    }

    /// Adds a whole candidate; returns whether it fits.
    fn add_whole(&mut self, of: (usize, usize), limit: u32) -> bool {
        let candidate = self.candidate(of);
        let whole = candidate.item.whole(self.room_for_piece(of, limit), self.tokenizer);
        let Some((packed_as, text, tokens)) = whole else { return false };
        self.add(of, packed_as, text, tokens);
        true
    }

    /// Adds as much of a turn as fits, at most this many tokens; returns whether it was added.
    fn cut(&mut self, of: (usize, usize), limit: u32, most_tokens: u32) -> bool {
        let room = self.room_for_piece(of, limit).min(most_tokens);
        let Item::Turn(turn) = self.candidate(of).item else { return false };
        if room < LEAST_PART_TOKENS {
            return false;
        }
        let tokenizer = self.tokenizer;
        let extract = self.candidate(of).found_by.as_ref().map(|found_by| self.extract(of, turn, found_by));
        let part = extract.filter(|extract| extract.has_match());
        let part = part.and_then(|extract| extract.within(room, ENOUGH_TOKENS, tokenizer));
        let part = part.or_else(|| part_of(turn, room, tokenizer));
        let Some((packed_as, text, tokens)) = part else { return false };
        self.add(of, packed_as, text, tokens);
        true
    }

    /// Adds a recalled item. The latest item about the same thing is added first, because an older one is not shown without
    /// it.
    fn add_recalled(&mut self, of: (usize, usize), found_by: &FoundBy<'t>, limit: u32) {
        if let Some(newest) = self.candidate(of).newer.and_then(|newer| self.recalled(newer.seq)) {
            if self.awaits(newest)
                && let Some(found_by) = &self.candidate(newest).found_by
            {
                self.add_brief(newest, found_by, limit);
            }
            if self.outcomes[newest.0][newest.1] == PackOutcome::NoRoom {
                return;
            }
        }
        self.add_brief(of, found_by, limit);
    }

    /// Finds the candidate that was recalled with this `seq`.
    fn recalled(&self, seq: i64) -> Option<(usize, usize)> {
        let is_it = |candidate: &Candidate<'_>| match candidate.item {
            Item::Turn(turn) => candidate.found_by.is_some() && turn.seq == seq,
            Item::Summary(_, of) => of == seq,
            Item::Anchor(_) | Item::Wish(..) | Item::Memory(_) => false,
        };
        let mut requests = self.requests.iter().enumerate();
        requests.find_map(|(at, request)| Some((at, request.candidates.iter().position(is_it)?)))
    }

    /// Adds a recalled item: whole if it is short, otherwise the part that matched, otherwise its summary.
    fn add_brief(&mut self, of: (usize, usize), found_by: &FoundBy<'t>, limit: u32) {
        let candidate = self.candidate(of);
        let Item::Turn(turn) = candidate.item else {
            self.add_whole(of, limit);
            return;
        };
        let (room, tokenizer) = (self.room_for_piece(of, limit), self.tokenizer);
        if turn.tokens.piece_tokens <= BRIEF_TOKENS && self.add_whole(of, limit) {
            return;
        }
        let summary = candidate.summary.and_then(|summary| {
            let (text, tokens) = counted_within(summary_piece(summary, room)?, room, tokenizer)?;
            Some((PackedAs::Summary, text, tokens))
        });
        if room < LEAST_EXTRACT_TOKENS && summary.is_none() {
            return;
        }
        let is_enough = |extract: &TurnExtract<'t>| {
            // If nothing in the turn matched, its summary says more than its beginning.
            room >= LEAST_EXTRACT_TOKENS && (summary.is_none() || extract.has_match())
        };
        let extract = Some(self.extract(of, turn, found_by)).filter(|extract| is_enough(extract));
        let part =
            extract.and_then(|extract| extract.within(room.min(EXTRACT_TOKENS), ENOUGH_TOKENS, tokenizer));
        if let Some((packed_as, text, tokens)) = part.or(summary) {
            self.add(of, packed_as, text, tokens);
        }
    }

    fn extract(&mut self, of: (usize, usize), turn: &'t Turn, found_by: &FoundBy<'t>) -> &TurnExtract<'t> {
        self.extracts.entry(of).or_insert_with(|| TurnExtract::of(turn, found_by))
    }

    /// Shows more of a turn that is shown in part, if there is room left.
    fn grow(&mut self, of: (usize, usize)) {
        let candidate = self.candidate(of);
        let PackOutcome::Packed(part @ (PackedAs::Extract | PackedAs::UserHalf | PackedAs::Summary)) =
            self.outcomes[of.0][of.1]
        else {
            return;
        };
        let Item::Turn(turn) = candidate.item else { return };
        let (room, tokenizer) = (self.room_for(of.0, u32::MAX), self.tokenizer);
        let pieces = &self.sections[candidate.section as usize];
        let place = place_among(pieces, candidate);
        let now = pieces[place].tokens;
        let grown = match candidate.item.whole(now + room, tokenizer) {
            Some(whole) => Some(whole),
            None if room < LEAST_EXTRACT_TOKENS || part == PackedAs::Summary => None,
            None => match &candidate.found_by {
                Some(found_by) => {
                    let most = GROWN_TOKENS.min(now + room);
                    self.extract(of, turn, found_by).within(most, GROWN_TOKENS, tokenizer)
                }
                None => part_of(turn, now + room, tokenizer),
            },
        };
        let Some((packed_as, text, tokens)) = grown.filter(|(_, _, tokens)| *tokens > now) else { return };
        let piece = &mut self.sections[candidate.section as usize][place];
        (piece.packed_as, piece.text, piece.tokens) = (packed_as, text, tokens);
        self.tokens += tokens - now;
        self.tokens_of[of.0] += tokens - now;
        self.outcomes[of.0][of.1] = PackOutcome::Packed(packed_as);
    }

    fn add(&mut self, of: (usize, usize), packed_as: PackedAs, text: String, tokens: u32) {
        let candidate = self.candidate(of);
        let all_tokens = tokens + self.frame_tokens(candidate);
        self.tokens += all_tokens;
        self.tokens_of[of.0] += all_tokens;
        self.shown.insert(candidate.item.key());
        if let Item::Memory(memory) = candidate.item {
            self.told.extend(memory.sources.iter().map(|source| source.seq));
        }
        self.outcomes[of.0][of.1] = PackOutcome::Packed(packed_as);
        let Candidate { item, section, newer, .. } = *candidate;
        let pieces = &mut self.sections[section as usize];
        let place = place_among(pieces, candidate);
        pieces.insert(place, RenderedPiece { item, section, packed_as, text, tokens, newer, of });
    }

    fn finish(self, last_line: &str) -> Packed<'t> {
        let pieces: Vec<RenderedPiece<'t>> = self.sections.into_iter().flatten().collect();
        let (text, block_bytes) = written(&pieces, last_line);
        let tokens = if text.is_empty() { 0 } else { self.ends_tokens + self.tokens };
        // Counts of pieces and frame lines add up (tests of `text::tokens`).
        debug_assert_eq!(tokens, self.tokenizer.count(&text), "the sum is the tokenizer's own count");
        Packed { text, block_bytes, recent: Vec::new(), tokens, pieces, outcomes: self.outcomes }
    }
}

/// Whether a shown turn contains the sentence of a wish.
fn tells(piece: &RenderedPiece<'_>, wish: &RenderedPiece<'_>) -> bool {
    let (Item::Turn(turn), Item::Wish(told, _)) = (piece.item, wish.item) else { return false };
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = wish.text.split_once(": ").map_or("", |(_, sentence)| sentence.trim_end());
    turn.seq == i64::from(told.seq) && one_line(&piece.text).contains(sentence)
}

/// The position of a candidate among the pieces of its section.
fn place_among(pieces: &[RenderedPiece<'_>], candidate: &Candidate<'_>) -> usize {
    let place = candidate.item.place(candidate.section);
    pieces.partition_point(|piece| piece.item.place(piece.section) < place)
}

/// How many date lines come between two neighbours in a section. `None` is the section's edge or an item without a date;
/// within a section, either all items have a date or none has.
fn dates_between(above: Option<NaiveDate>, below: Option<NaiveDate>) -> u32 {
    u32::from(below.is_some() && above != below)
}

/// Renders the final text: frame, titles, dates, pieces. Also returns the length of the block in bytes.
fn written(pieces: &[RenderedPiece<'_>], last_line: &str) -> (String, usize) {
    let (mut text, mut block_bytes) = (String::new(), 0);
    let mut above: Option<(Section, Option<NaiveDate>)> = None;
    for piece in pieces {
        let here = (piece.section, piece.item.said_on());
        if above.is_none() {
            text.push_str(PREAMBLE);
        }
        if above.is_none_or(|(section, _)| section != piece.section) {
            text.push_str(piece.section.title());
        }
        if let Some(on) = here.1.filter(|_| above != Some(here)) {
            text.push_str(&render::date_line(on));
        }
        if let Some(newer) = piece.newer {
            text.push_str(&render::newer_line(newer.said_at.date_naive()));
        }
        text.push_str(&piece.text);
        if piece.section != Section::RecentTurns {
            block_bytes = text.len();
        }
        above = Some(here);
    }
    if above.is_some() {
        text.push_str(last_line);
    }
    (text, block_bytes)
}

#[cfg(test)]
mod tests;
