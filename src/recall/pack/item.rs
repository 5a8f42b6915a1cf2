//! What can be packed: a turn, a summary that stands for one, an anchor, a wish, a memory.

use std::{collections::HashSet, ops::Range};

use chrono::{DateTime, NaiveDate, Utc};

use crate::{
    english::sentences::sentences,
    model::{
        anchor::{Anchor, Attribute},
        ids::{AnchorId, MemoryId},
        memory::{procedure::Procedure, recalled::RecalledMemory},
        receipt::{ItemKind, Newer, PackedAs},
        summary::Summary,
        turn::{Side, Turn},
    },
    recall::{
        pack::section::Section,
        wishes::{StandingWish, WishId},
    },
    text::{render, tokens::Tokenizer, words::Word},
};

/// Memory texts up to this many tokens are shown whole, and so are their steps.
const BRIEF_MEMORY_TOKENS: u32 = 120;

/// Something that can be packed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'t> {
    Turn(&'t Turn),
    /// The summary of a turn whose original is gone, and that turn's `seq`.
    Summary(&'t Summary, i64),
    Anchor(&'t Anchor),
    /// The wish, and whether it stands for its whole turn, because the turn says nothing else.
    Wish(&'t StandingWish, bool),
    Memory(&'t RecalledMemory),
}

/// An item that may be packed, and how it was found.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'t> {
    pub(crate) item: Item<'t>,
    /// The section that shows it. Recalled turns of this session are not shown among earlier conversations.
    pub(crate) section: Section,
    /// What it was found by. If set, a long turn is shown as the part that matched. If `None`, it is shown whole, or else as
    /// much of it as fits into what all others leave.
    pub(crate) found_by: Option<FoundBy<'t>>,
    /// The summary of the turn, used if no part of it is suitable.
    pub(crate) summary: Option<&'t Summary>,
    /// Whether it fits too badly to be shown, and is only reported.
    pub(crate) is_below_floor: bool,
    /// Whether another item shows the same in any case, so that it is only reported.
    pub(crate) is_already_shown: bool,
    /// The latest turn about the same thing. It is packed before this item, which is marked with its date.
    pub(crate) newer: Option<Newer>,
}

/// What a turn was found by.
#[derive(Clone, Debug)]
pub(crate) struct FoundBy<'t> {
    /// The words of the query, each once, with their weights; only the first 64 count.
    pub(crate) words: &'t [(Word, f64)],
    /// The piece that matched by meaning.
    pub(crate) focus: Option<Focus>,
}

/// A piece of one side of a turn, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Focus {
    pub(crate) side: Side,
    pub(crate) bytes: Range<usize>,
}

impl<'t> Candidate<'t> {
    /// A candidate wanted for its place, not for what it says.
    pub(crate) fn new(item: Item<'t>, section: Section) -> Self {
        Self {
            item,
            section,
            found_by: None,
            summary: None,
            is_below_floor: false,
            is_already_shown: false,
            newer: None,
        }
    }

    /// A candidate wanted for what it says.
    pub(crate) fn found_by(mut self, words: &'t [(Word, f64)], focus: Option<Focus>) -> Self {
        self.found_by = Some(FoundBy { words, focus });
        self
    }

    pub(crate) fn summary(mut self, summary: Option<&'t Summary>) -> Self {
        self.summary = summary;
        self
    }

    pub(crate) fn newer(mut self, newer: Option<Newer>) -> Self {
        self.newer = newer;
        self
    }

    pub(crate) fn already_shown(mut self, is_already_shown: bool) -> Self {
        self.is_already_shown = is_already_shown;
        self
    }

    pub(crate) fn below_floor(mut self, is_below_floor: bool) -> Self {
        self.is_below_floor = is_below_floor;
        self
    }
}

/// Identifies what is never shown twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ShownKey {
    Turn(i64),
    Anchor(AnchorId),
    Wish(WishId),
    Memory(MemoryId),
}

/// The sort key of an item in its section.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SectionPlace<'t> {
    /// Facts about the user come first.
    Anchor(bool, &'t str, Attribute, DateTime<Utc>, AnchorId),
    Turn(NaiveDate, i64),
    Wish(NaiveDate, WishId),
    Memory(NaiveDate, i64),
}

impl<'t> Item<'t> {
    pub(crate) fn kind(self) -> ItemKind {
        match self {
            Item::Turn(_) => ItemKind::Turn,
            Item::Summary(..) => ItemKind::Summary,
            Item::Anchor(_) => ItemKind::Anchor,
            Item::Wish(..) => ItemKind::Wish,
            Item::Memory(_) => ItemKind::Memory,
        }
    }

    pub(super) fn key(self) -> ShownKey {
        match self {
            Item::Turn(&Turn { seq, .. }) | Item::Summary(_, seq) => ShownKey::Turn(seq),
            Item::Anchor(anchor) => ShownKey::Anchor(anchor.id),
            Item::Wish(wish, true) => ShownKey::Turn(wish.seq.into()),
            Item::Wish(wish, false) => ShownKey::Wish(wish.id()),
            Item::Memory(memory) => ShownKey::Memory(memory.memory.id),
        }
    }

    /// Returns the `seq` of the turn, if the item is one or stands for one.
    pub(super) fn seq(self) -> Option<i64> {
        match self {
            Item::Turn(&Turn { seq, .. }) | Item::Summary(_, seq) => Some(seq),
            Item::Anchor(_) | Item::Wish(..) | Item::Memory(_) => None,
        }
    }

    /// Whether shown items already say all of it: the item itself, or one of the turns that a memory rests on.
    pub(super) fn is_among(self, shown: &HashSet<ShownKey>) -> bool {
        let rests_on = match self {
            Item::Memory(memory) => &memory.sources[..],
            _ => &[],
        };
        shown.contains(&self.key())
            || rests_on.iter().any(|source| shown.contains(&ShownKey::Turn(source.seq)))
    }

    /// Returns the day in the date line above the item.
    pub(super) fn said_on(self) -> Option<NaiveDate> {
        match self {
            Item::Turn(turn) => Some(turn.timestamp.date_naive()),
            Item::Summary(summary, _) => Some(summary.timestamp.date_naive()),
            Item::Wish(wish, _) => Some(wish.timestamp.date_naive()),
            Item::Anchor(_) | Item::Memory(_) => None,
        }
    }

    /// Returns the sort key. Items of this session are in its order; items of other sessions are ordered by day, whenever
    /// they were recorded.
    pub(super) fn place(self, section: Section) -> SectionPlace<'t> {
        let on = match section {
            Section::EarlierInSession | Section::RecentTurns => NaiveDate::default(),
            Section::WhoTheUserIs
            | Section::WhatIsKnown
            | Section::Wishes
            | Section::EarlierConversations => self.said_on().unwrap_or_default(),
        };
        match self {
            Item::Turn(&Turn { seq, .. }) | Item::Summary(_, seq) => SectionPlace::Turn(on, seq),
            Item::Wish(wish, _) => SectionPlace::Wish(on, wish.id()),
            Item::Memory(memory) => SectionPlace::Memory(memory.memory.said_at.date_naive(), memory.seq),
            Item::Anchor(anchor) => {
                let Anchor { subject, attribute, valid_from, id, .. } = anchor;
                SectionPlace::Anchor(subject != Anchor::USER, subject, *attribute, *valid_from, *id)
            }
        }
    }

    /// Renders the whole item, if it has at most `room` tokens. A turn is rendered only if it fits, because most turns of a
    /// long window do not.
    pub(super) fn whole(self, room: u32, tokenizer: Tokenizer) -> Option<(PackedAs, String, u32)> {
        let (text, tokens) = match self {
            Item::Memory(memory) => return memory_piece(memory, room, tokenizer),
            Item::Turn(turn) => {
                let tokens = turn.tokens.piece_tokens;
                (tokens <= room).then(|| (render::turn_piece(&turn.said), tokens))?
            }
            Item::Summary(summary, _) => counted_within(summary_piece(summary, room)?, room, tokenizer)?,
            Item::Anchor(anchor) => counted_within(render::anchor_line(anchor), room, tokenizer)?,
            Item::Wish(wish, _) => counted_within(wish.line.clone(), room, tokenizer)?,
        };
        let packed_as = if matches!(self, Item::Summary(..)) { PackedAs::Summary } else { PackedAs::Whole };
        Some((packed_as, text, tokens))
    }
}

/// Renders a memory for a context: its text with its steps if that is short and fits, otherwise its summary, or the first
/// sentence.
fn memory_piece(
    RecalledMemory { memory, flags, .. }: &RecalledMemory,
    room: u32,
    tokenizer: Tokenizer,
) -> Option<(PackedAs, String, u32)> {
    let is_brief = |text: &str| counted_within(text.to_owned(), BRIEF_MEMORY_TOKENS, tokenizer).is_some();
    let lines: Vec<&str> = memory.procedure.iter().flat_map(Procedure::lines).collect();
    if is_brief(&memory.content) && is_brief(&lines.join("\n")) {
        let whole = render::memory_piece(memory, flags, &memory.content, &lines);
        if let Some((text, tokens)) = counted_within(whole, room, tokenizer) {
            return Some((PackedAs::Whole, text, tokens));
        }
    }
    let first = || sentences(&memory.content).first().map_or("", |sentence| sentence.text);
    let summary = if memory.summary.trim().is_empty() { first() } else { &memory.summary };
    let summary = if is_brief(summary) { summary } else { "" };
    let (text, tokens) = counted_within(render::memory_piece(memory, flags, summary, &[]), room, tokenizer)?;
    Some((PackedAs::Summary, text, tokens))
}

/// Renders a summary for a context.
pub(super) fn summary_piece(summary: &Summary, room: u32) -> Option<String> {
    let is_short = summary.summary_text.len() as u64 <= most_bytes(room);
    is_short.then(|| render::summary_line(&summary.summary_text))
}

/// Returns an upper bound for the bytes of this many tokens: no token is longer than 128. Longer texts need not be counted.
pub(super) fn most_bytes(tokens: u32) -> u64 {
    u64::from(tokens) * 128
}

pub(super) fn counted_within(text: String, room: u32, tokenizer: Tokenizer) -> Option<(String, u32)> {
    if text.len() as u64 > most_bytes(room) {
        return None;
    }
    let tokens = tokenizer.count(&text);
    (tokens <= room).then_some((text, tokens))
}
