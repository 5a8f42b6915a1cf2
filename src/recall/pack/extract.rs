//! Extracts the part of a turn that matched: whole sentences if they fit, verbatim, with a mark wherever words are left
//! out.

use std::ops::Range;

use crate::{
    model::{
        receipt::PackedAs,
        turn::{Said, Side, Turn},
    },
    recall::pack::{
        item::{FoundBy, most_bytes},
        part::between_words,
        spans::{WordHits, clipped, overlap, spans},
    },
    text::{cuts::GAP, render, tokens::Tokenizer, words::Word},
};

/// The parts of a turn that can be shown.
pub(super) struct TurnExtract<'t> {
    said: &'t Said,
    words: &'t [(Word, f64)],
    /// In the order of the text.
    spans: Vec<ExtractSpan>,
    /// The span that matched best.
    best: usize,
}

struct ExtractSpan {
    side: Side,
    bytes: Range<usize>,
    hits: WordHits,
    /// How well the span answers: the weight of its query words, less for code, which repeats its names.
    weight: f64,
    is_in_focus: bool,
}

/// The chosen ranges, in order, without overlaps.
#[derive(Clone, Default)]
struct Chosen(Vec<(Side, Range<usize>)>);

/// This much of the user's side precedes what was found in the reply: it says what the reply is about.
const LEAD_BYTES: usize = 100;
/// The weight of a word in a line of code or of a table, relative to one in a sentence.
const CODE_WEIGHT: f64 = 0.6;
/// Words of the query below this share of the total weight do not justify one more sentence.
const LEAST_SHARE: f64 = 0.1;
/// How many additional sentences are tried.
const MAX_TRIES: usize = 6;
/// Fewer tokens leave no room for another sentence and its mark.
const LEAST_SENTENCE_TOKENS: u32 = 8;
/// For ordinary text. Text with more bytes than this per remaining token is not tried.
const BYTES_PER_TOKEN: usize = 6;

impl<'t> TurnExtract<'t> {
    pub(super) fn of(turn: &'t Turn, found_by: &FoundBy<'t>) -> Self {
        let (said, words) = (&turn.said, found_by.words);
        let mut found = Vec::new();
        for side in [Side::User, Side::Reply] {
            let focus = found_by.focus.as_ref().filter(|focus| focus.side == side).map(|focus| &focus.bytes);
            found.extend(spans(said.side(side), words, focus).into_iter().map(|span| ExtractSpan {
                side,
                weight: span.hits.weight(words) * if span.is_prose { 1.0 } else { CODE_WEIGHT },
                is_in_focus: focus.is_some_and(|focus| overlap(focus, &span.bytes)),
                bytes: span.bytes,
                hits: span.hits,
            }));
        }
        let is_better = |a: &ExtractSpan, b: &ExtractSpan| {
            let by_weight = a.weight.total_cmp(&b.weight);
            by_weight.then(a.is_in_focus.cmp(&b.is_in_focus)).is_gt()
        };
        let best =
            (1..found.len()).fold(0, |best, at| if is_better(&found[at], &found[best]) { at } else { best });
        Self { said, words, spans: found, best }
    }

    /// Whether the turn contains a match that justifies an extract.
    pub(super) fn has_match(&self) -> bool {
        self.spans.get(self.best).is_some_and(|best| best.is_in_focus || best.hits != WordHits::default())
    }

    /// The longest useful extract of at most `room` tokens. Text around the match is added while there are fewer than
    /// `enough` tokens.
    pub(super) fn within(
        &self,
        room: u32,
        enough: u32,
        tokenizer: Tokenizer,
    ) -> Option<(PackedAs, String, u32)> {
        let best = self.spans.get(self.best)?;
        let (mut chosen, mut shown) = self.best_within(best, room, tokenizer)?;
        let mut add = |side: Side, bytes: Range<usize>, chosen: &mut Chosen, while_less_than: u32| {
            let left = room.saturating_sub(shown.1);
            if shown.1 >= while_less_than
                || left < LEAST_SENTENCE_TOKENS
                || bytes.len() > left as usize * BYTES_PER_TOKEN
            {
                return false;
            }
            let more = chosen.with(side, bytes, self.said);
            match self.counted(&more, room, tokenizer) {
                Some(text) => {
                    (*chosen, shown) = (more, text);
                    true
                }
                None => false,
            }
        };

        if best.side == Side::Reply
            && let Some(lead) = self.lead()
        {
            add(Side::User, lead, &mut chosen, room);
        }
        let mut seen = best.hits;
        for index in self.more() {
            let span = &self.spans[index];
            let new = span.hits.without(seen).weight(self.words);
            if new > 0.0 && add(span.side, span.bytes.clone(), &mut chosen, room) {
                seen = seen.and(span.hits);
            }
        }
        // Text around the match, first what follows it.
        let (mut below, mut above) = (true, true);
        for distance in 1..=MAX_TRIES {
            let neighbour = |index: Option<usize>| {
                index.and_then(|index| self.spans.get(index)).filter(|span| span.side == best.side)
            };
            for (goes_on, index) in
                [(&mut below, Some(self.best + distance)), (&mut above, self.best.checked_sub(distance))]
            {
                *goes_on = *goes_on
                    && neighbour(index)
                        .is_some_and(|span| add(span.side, span.bytes.clone(), &mut chosen, enough));
            }
        }
        let packed_as = if chosen.is_user_half(self.said) { PackedAs::UserHalf } else { PackedAs::Extract };
        Some((packed_as, shown.0, shown.1))
    }

    /// The best span, or as much of it around its hits as fits.
    fn best_within(
        &self,
        best: &ExtractSpan,
        room: u32,
        tokenizer: Tokenizer,
    ) -> Option<(Chosen, (String, u32))> {
        /// Anything shorter is useless.
        const LEAST_BYTES: usize = 24;
        let text = self.said.side(best.side);
        let mut max_bytes = best.bytes.len().min(room as usize * BYTES_PER_TOKEN);
        loop {
            let bytes = if best.bytes.len() <= max_bytes {
                best.bytes.clone()
            } else {
                clipped(text, best.bytes.clone(), self.words, max_bytes)
            };
            let chosen = Chosen::default().with(best.side, bytes, self.said);
            if let Some(shown) = self.counted(&chosen, room, tokenizer) {
                return Some((chosen, shown));
            }
            max_bytes = max_bytes / 4 * 3;
            if max_bytes < LEAST_BYTES {
                return None;
            }
        }
    }

    /// The beginning of the user's side.
    fn lead(&self) -> Option<Range<usize>> {
        let text = &self.said.user_message;
        let spans = || self.spans.iter().take_while(|span| span.side == Side::User);
        let first = spans().next()?;
        let end =
            spans().map(|span| span.bytes.end).take_while(|end| end - first.bytes.start <= LEAD_BYTES).last();
        let end = end.unwrap_or_else(|| {
            let start = first.bytes.start;
            let cut = text.floor_char_boundary(start + LEAD_BYTES).min(first.bytes.end);
            start + between_words(&text[start..cut]).len()
        });
        (end > first.bytes.start).then_some(first.bytes.start..end)
    }

    /// Other spans with words of the query that the best one lacks, heaviest first.
    fn more(&self) -> Vec<usize> {
        let Some(best) = self.spans.get(self.best) else { return Vec::new() };
        let all: f64 = self.words.iter().map(|(_, weight)| weight).sum();
        let mut more: Vec<(f64, usize)> = (0..self.spans.len())
            .map(|index| (self.spans[index].hits.without(best.hits).weight(self.words), index))
            .filter(|(weight, _)| *weight > all * LEAST_SHARE)
            .collect();
        more.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        more.truncate(MAX_TRIES);
        more.into_iter().map(|(_, index)| index).collect()
    }

    fn counted(&self, chosen: &Chosen, room: u32, tokenizer: Tokenizer) -> Option<(String, u32)> {
        let bytes: usize = chosen.0.iter().map(|(_, bytes)| bytes.len()).sum();
        if bytes as u64 > most_bytes(room) {
            return None;
        }
        let text = chosen.rendered(self.said);
        let tokens = tokenizer.count(&text);
        (tokens <= room).then_some((text, tokens))
    }
}

impl Chosen {
    /// Adds a part of one side.
    fn with(&self, side: Side, bytes: Range<usize>, said: &Said) -> Self {
        let mut parts = self.0.clone();
        parts.push((side, bytes));
        parts.sort_by_key(|(side, bytes)| (*side, bytes.start));
        let mut joined: Vec<(Side, Range<usize>)> = Vec::with_capacity(parts.len());
        for (side, bytes) in parts {
            let text = said.side(side);
            match joined.last_mut() {
                Some((above, last))
                    if *above == side
                        && (bytes.start <= last.end || is_nothing(&text[last.end..bytes.start])) =>
                {
                    last.end = last.end.max(bytes.end);
                }
                _ => joined.push((side, bytes)),
            }
        }
        Self(joined)
    }

    /// All parts as quoted text, with a mark wherever something is left out.
    fn rendered(&self, said: &Said) -> String {
        let mut out = String::new();
        let mut is_gap = false;
        for side in [Side::User, Side::Reply] {
            let text = said.side(side);
            let mut at = 0;
            for (_, bytes) in self.0.iter().filter(|(of, _)| *of == side) {
                is_gap |= !text[at..bytes.start].trim().is_empty();
                if is_gap {
                    out.push_str(GAP);
                }
                let part = &text[bytes.clone()];
                if at == 0 {
                    out.push_str(&render::side_line(said, side, part));
                } else {
                    out.push_str(&render::further_line(part));
                }
                (at, is_gap) = (bytes.end, false);
            }
            is_gap |= !text[at..].trim().is_empty();
        }
        if is_gap {
            out.push_str(GAP);
        }
        out
    }

    /// Whether this is all of the user's side and nothing of the reply.
    fn is_user_half(&self, said: &Said) -> bool {
        matches!(&*self.0, [(Side::User, bytes)]
            if said.user_message[..bytes.start].trim().is_empty() && said.user_message[bytes.end..].trim().is_empty())
    }
}

/// Whether the text between two parts is only a little white space or list and heading marks.
fn is_nothing(between: &str) -> bool {
    /// A longer gap is marked as a cut: showing it is not worth its tokens.
    const MAX_BYTES: usize = 8;
    between.len() <= MAX_BYTES && !between.contains(char::is_alphanumeric)
}
