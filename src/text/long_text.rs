//! Counts the tokens of text without word boundaries, in time that grows with its length.
//!
//! The library merges the bytes of a piece of text, such as a word or a run of blanks, with a queue over the whole piece. A
//! megabyte of blanks takes it seconds. So a long piece is counted in windows that overlap. Where two windows agree on a
//! token, the tokens of the first before it and those of the second after it are together those of the whole: byte pair
//! encoding is decided by neighbouring tokens alone, so that tokens are right if each two neighbours also stand next to one
//! another in the encoding of some text.
//! Only if a stretch of more than 4 KiB mixes digits or combining marks of other scripts with other signs, a window may be
//! split elsewhere than the whole, and the count may be off by a few.

use std::{collections::HashMap, rc::Rc};

use tiktoken_rs::CoreBPE;

/// Text without a boundary is counted in windows beyond this length, in bytes.
pub(super) const LONG: usize = 4_096;
/// The size of a window, in bytes: eight of the longest tokens, which are 128 blanks.
const WINDOW: usize = 1_024;
/// How far from its end a window's tokens are not used, because text behind the end could change them.
const MARGIN: usize = 192;
/// The largest window. Beyond it, windows that do not agree are joined as they are.
const MAX_WINDOW: usize = 256 * WINDOW;

/// Returns the number of tokens of a text, of which stretches of more than [`LONG`] bytes have no boundary.
pub(super) fn count(tables: &CoreBPE, text: &str) -> usize {
    let mut tokens = 0;
    let (mut from, mut boundary) = (0, 0);
    let ends = boundaries(text).chain([text.len()]);
    for end in ends {
        if end - boundary > LONG {
            tokens += tables.encode_ordinary(&text[from..boundary]).len();
            tokens += count_stretch(tables, &text[boundary..end]);
            from = end;
        }
        boundary = end;
    }
    tokens + tables.encode_ordinary(&text[from..]).len()
}

/// The places where every tokenizer splits, whatever stands around them: between a letter, and a blank or a mark of
/// punctuation. An apostrophe may belong to the word before it.
fn boundaries(text: &str) -> impl Iterator<Item = usize> {
    let pairs = text.char_indices().zip(text.chars().skip(1));
    pairs.filter(|((_, c), next)| is_boundary(*c, *next)).map(|((at, c), _)| at + c.len_utf8())
}

fn is_boundary(c: char, next: char) -> bool {
    match next {
        ' ' => c.is_alphabetic() && !c.is_numeric(),
        '\'' => false,
        _ if next.is_ascii() => is_letter(c) && !next.is_ascii_alphanumeric(),
        '\u{2010}'..='\u{2027}' | '、' | '。' | '〈'..='】' | '！'..='／' | '：'..='＠' => {
            is_letter(c)
        }
        _ => false,
    }
}

/// Whether this is a letter of the commonest scripts. The standard library's letters include marks, which a tokenizer may
/// take for punctuation.
fn is_letter(c: char) -> bool {
    let may_be = matches!(c,
        'A'..='z' | '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    may_be && c.is_alphabetic()
}

/// Counts a stretch without boundaries.
pub(super) fn count_stretch(tables: &CoreBPE, text: &str) -> usize {
    let mut windows = Windows { tables, text, known: HashMap::new() };
    let (mut tokens, mut counted, mut size) = (0, 0, WINDOW);
    let mut window = windows.at(0, size);
    loop {
        if window.end == text.len() {
            return tokens + window.ends().filter(|end| *end > counted).count();
        }
        let joint = window.joint(text).filter(|joint| joint.token_end > counted);
        let next = joint.as_ref().map(|joint| windows.at(joint.next, WINDOW));
        match joint.zip(next) {
            Some((joint, next)) if next.has_token(&joint) || size >= MAX_WINDOW => {
                tokens += window.ends().filter(|end| *end > counted && *end <= joint.token_end).count();
                (counted, window, size) = (joint.token_end, next, WINDOW);
            }
            _ => {
                size *= 4;
                window = windows.at(window.start, size);
            }
        }
    }
}

struct Windows<'t> {
    tables: &'t CoreBPE,
    text: &'t str,
    /// The tokens of earlier windows: text without boundaries mostly repeats itself.
    known: HashMap<&'t str, Rc<[usize]>>,
}

/// A part of the text, with its tokens.
struct Window {
    start: usize,
    end: usize,
    /// The ends of its tokens, counted from its start.
    lens: Rc<[usize]>,
}

/// Where one window hands over to the next: behind a token that both have.
struct Joint {
    token_start: usize,
    token_end: usize,
    /// The start of the next window.
    next: usize,
}

impl Windows<'_> {
    fn at(&mut self, start: usize, size: usize) -> Window {
        let end = self.text.floor_char_boundary(start.saturating_add(size));
        let part = &self.text[start..end];
        let tables = self.tables;
        let lens = self.known.entry(part).or_insert_with(|| {
            let mut end = 0;
            let tokens = tables.encode_ordinary(part);
            tokens
                .iter()
                .map(|token| {
                    end += tables.decode_bytes(&[*token]).map_or(0, |bytes| bytes.len());
                    end
                })
                .collect()
        });
        Window { start, end, lens: Rc::clone(lens) }
    }
}

impl Window {
    fn ends(&self) -> impl Iterator<Item = usize> {
        self.lens.iter().map(|len| self.start + len)
    }

    /// Returns the last joint that is far enough from the end. The next window begins a few tokens before it, at a character.
    fn joint(&self, text: &str) -> Option<Joint> {
        let last = self.lens.partition_point(|len| self.start + len + MARGIN <= self.end).checked_sub(1)?;
        let next = self.lens[..last.checked_sub(1)?].iter().rev();
        let next = next.map(|len| self.start + len).find(|at| text.is_char_boundary(*at))?;
        Some(Joint {
            token_start: self.start + self.lens[last - 1],
            token_end: self.start + self.lens[last],
            next,
        })
    }

    fn has_token(&self, joint: &Joint) -> bool {
        let mut starts = [self.start].into_iter().chain(self.ends()).zip(self.ends());
        starts.any(|token| token == (joint.token_start, joint.token_end))
    }
}
