//! Splits one side of a turn into spans, each with the query words that it contains. Spans are sentences, and lines of
//! anything that is not prose.

use std::ops::Range;

use crate::{
    english::sentences::sentences,
    text::{
        render::is_line_break,
        words::{MAX_QUERY_WORDS, Word, for_each_word},
    },
};

/// A part of a side that can be shown by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SideSpan {
    pub(super) bytes: Range<usize>,
    pub(super) hits: WordHits,
    /// Whether it is a sentence rather than a line of code or of a table.
    pub(super) is_prose: bool,
}

/// Which words of a query a text contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::recall) struct WordHits(u64);

const _: () = assert!(MAX_QUERY_WORDS <= u64::BITS as usize, "each word of a query is a bit");

impl WordHits {
    pub(in crate::recall) fn of(text: &str, words: &[(Word, f64)]) -> Self {
        let mut hits = 0;
        for_each_word(text, |word| {
            if let Some(index) = words.iter().take(MAX_QUERY_WORDS).position(|&(known, _)| known == word) {
                hits |= 1 << index;
            }
        });
        Self(hits)
    }

    /// The total weight of these words.
    pub(in crate::recall) fn weight(self, words: &[(Word, f64)]) -> f64 {
        let is_hit = |index: usize| self.0 >> index & 1 == 1;
        words
            .iter()
            .take(MAX_QUERY_WORDS)
            .enumerate()
            .filter(|(at, _)| is_hit(*at))
            .map(|(_, word)| word.1)
            .sum()
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// A longer text is examined in blocks, and only the best of them are split into sentences.
const WHOLE_BYTES: usize = 16 * 1_024;
const BLOCK_BYTES: usize = 4 * 1_024;
/// If a text is longer than all of these, the part between the first and the last blocks is not examined, unless the focus
/// is there: a megabyte would take ten milliseconds.
const FIRST_BLOCKS: usize = 48;
const LAST_BLOCKS: usize = 8;
/// How many blocks are split because of their words, and how many because of the focus.
const BLOCKS_BY_WORDS: usize = 2;
const BLOCKS_BY_FOCUS: usize = 2;

/// The spans of `text`, in order: all if it is short, otherwise those around matches and those at its beginning.
pub(super) fn spans(text: &str, words: &[(Word, f64)], focus: Option<&Range<usize>>) -> Vec<SideSpan> {
    let mut found = Vec::new();
    for block in looked_at(text, words, focus) {
        for (bytes, is_prose) in parts(text, block) {
            let hits = WordHits::of(&text[bytes.clone()], words);
            found.push(SideSpan { bytes, hits, is_prose });
        }
    }
    found
}

fn looked_at(text: &str, words: &[(Word, f64)], focus: Option<&Range<usize>>) -> Vec<Range<usize>> {
    let blocks = blocks(text, if text.len() <= WHOLE_BYTES { WHOLE_BYTES } else { BLOCK_BYTES });
    if blocks.len() <= 1 {
        return blocks;
    }
    let last = blocks.len().saturating_sub(LAST_BLOCKS).max(FIRST_BLOCKS);
    let mut by_weight: Vec<(f64, usize)> = (0..blocks.len())
        .filter(|&index| index < FIRST_BLOCKS || index >= last)
        .map(|index| (WordHits::of(&text[blocks[index].clone()], words).weight(words), index))
        .filter(|(weight, _)| *weight > 0.0)
        .collect();
    by_weight.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen = vec![0];
    chosen.extend(by_weight.iter().take(BLOCKS_BY_WORDS).map(|(_, index)| *index));
    if let Some(focus) = focus {
        let overlapping = (0..blocks.len()).filter(|&index| overlap(&blocks[index], focus));
        chosen.extend(overlapping.take(BLOCKS_BY_FOCUS));
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|index| blocks[index].clone()).collect()
}

/// The whole text in blocks that end at the end of a line, or otherwise of a word, if there is one nearby.
fn blocks(text: &str, block_bytes: usize) -> Vec<Range<usize>> {
    let mut blocks = Vec::with_capacity(text.len() / block_bytes + 1);
    let mut start = 0;
    while start < text.len() {
        let mut end = text.floor_char_boundary(start + block_bytes);
        if end < text.len() {
            let near = text.ceil_char_boundary(start + block_bytes / 4 * 3);
            let near_end = &text[near..end];
            if let Some(border) =
                near_end.rfind(is_line_break).or_else(|| near_end.rfind(char::is_whitespace))
            {
                end = text.ceil_char_boundary(near + border + 1);
            }
        }
        blocks.push(start..end);
        start = end;
    }
    blocks
}

/// Sentences, which are prose, and the lines between them, which are not. Every word is in one of them.
fn parts(text: &str, block: Range<usize>) -> Vec<(Range<usize>, bool)> {
    /// The mark of a list item or heading belongs to the text that it marks.
    const MAX_MARK_BYTES: usize = 8;
    let mut found = Vec::new();
    let mut at = block.start;
    for sentence in sentences(&text[block.clone()]) {
        let sentence_at = sentence.text.as_ptr() as usize - text.as_ptr() as usize;
        let between = &text[at..sentence_at];
        let line = between.rfind(is_line_break).map_or(between, |end| &between[end..]).trim_start();
        let start = if line.len() <= MAX_MARK_BYTES { sentence_at - line.len() } else { sentence_at };
        lines(text, at..start, &mut found);
        at = sentence_at + sentence.text.len();
        found.push((start..at, true));
    }
    lines(text, at..block.end, &mut found);
    found
}

fn lines(text: &str, bytes: Range<usize>, found: &mut Vec<(Range<usize>, bool)>) {
    for line in text[bytes].split(is_line_break) {
        let line = line.trim();
        if line.contains(char::is_alphanumeric) {
            let start = line.as_ptr() as usize - text.as_ptr() as usize;
            found.push((start..start + line.len(), false));
        }
    }
}

pub(super) fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Returns the best part of `text[bytes]`, at most `max_bytes` long and cut between words: the one whose query words weigh
/// most, with as much text before as after them. If it has no query word, returns its beginning.
pub(super) fn clipped(
    text: &str,
    bytes: Range<usize>,
    words: &[(Word, f64)],
    max_bytes: usize,
) -> Range<usize> {
    /// Only the beginning of a longer part is examined: no person wrote a sentence of this length.
    const MAX_BYTES: usize = 16 * 1_024;
    let end = text.floor_char_boundary(bytes.end.min(bytes.start + MAX_BYTES)).max(bytes.start);
    let pieces = pieces(text, bytes.start..end);
    let hits: Vec<WordHits> = pieces.iter().map(|piece| WordHits::of(&text[piece.clone()], words)).collect();
    let fits = |first: usize, last: usize| pieces[last].end - pieces[first].start <= max_bytes;

    let mut best = (0.0, 0..0);
    for first in 0..pieces.len() {
        // A window that begins without a word of the query is no better than one that begins later.
        if hits[first] == WordHits::default() {
            continue;
        }
        let (mut seen, mut last_hit) = (hits[first], first);
        for last in (first..pieces.len()).take_while(|&last| last == first || fits(first, last)) {
            if seen.and(hits[last]) != seen {
                (seen, last_hit) = (seen.and(hits[last]), last);
            }
        }
        let weight = seen.weight(words);
        if weight > best.0 {
            best = (weight, first..last_hit + 1);
        }
    }
    let (mut first, mut behind) = (best.1.start, best.1.end.clamp(1, pieces.len().max(1)));
    if pieces.is_empty() {
        return bytes.start..end;
    }
    // Extends as far as it fits, alternating between both sides.
    loop {
        let before = first;
        let last = behind;
        if first > 0 && best.0 > 0.0 && fits(first - 1, behind - 1) {
            first -= 1;
        }
        if behind < pieces.len() && fits(first, behind) {
            behind += 1;
        }
        if (first, behind) == (before, last) {
            return pieces[first].start..pieces[behind - 1].end;
        }
    }
}

/// Runs of non-blanks; longer ones are split into parts of a few characters, because some scripts have no blanks.
fn pieces(text: &str, bytes: Range<usize>) -> Vec<Range<usize>> {
    const MAX_PIECE_BYTES: usize = 24;
    let mut found = Vec::new();
    for run in text[bytes].split_whitespace() {
        let mut start = run.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + run.len();
        while start < end {
            let cut = if end - start <= 2 * MAX_PIECE_BYTES { end } else { start + MAX_PIECE_BYTES };
            let cut = text.floor_char_boundary(cut);
            found.push(start..cut);
            start = cut;
        }
    }
    found
}
