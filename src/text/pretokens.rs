//! Splits ASCII text as the tokenizers' regular expressions do, about five times as fast.
//!
//! A tokenizer first splits text by a regular expression, then looks up each piece separately. So the count of a text is the
//! sum over its pieces, and pieces repeat, because words do. The tokenizer library's splitter runs a backtracking machine
//! over the general expression. For ASCII, which is most of the text, the same rules are the few lines below; other text is
//! left to that library. A property test compares the two.

/// How the two expressions differ on ASCII.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PretokenRules {
    /// `o200k_base`: an upper-case run and the lower-case run after it, with its contraction; `/` after line breaks joins
    /// the punctuation before them.
    O200k,
    /// `cl100k_base`: any letters; contractions stand alone.
    Cl100k,
}

/// Calls `each` with the pieces of `text`, in order. The text must be ASCII.
pub(super) fn for_each(text: &str, rules: PretokenRules, mut each: impl FnMut(&str)) {
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(piece_len(rest.as_bytes(), rules));
        each(piece);
        rest = behind;
    }
}

/// A text, and how a line quotes it: with a blank at the start and after each line break that another line follows, without
/// blanks at its end, and with a line break after it.
///
/// A piece depends on nothing before it. So wherever both walks are at the same position of the text, the next piece is the
/// same in both, until a line ends.
pub(super) struct SideBySide<'t> {
    text: &'t str,
    /// Where the blanks at the end of the text begin.
    trimmed: usize,
    quoted: &'t str,
}

impl<'t> SideBySide<'t> {
    /// Returns `None` if the text is not ASCII, or if its quoted form changes some characters.
    pub(super) fn new(text: &'t str, quoted: &'t str) -> Option<Self> {
        let is_plain = |b: u8| matches!(b, b' '..=b'~' | b'\t' | b'\n');
        if !text.bytes().all(is_plain) {
            return None;
        }
        let side_by_side = Self { text, trimmed: text.trim_end().len(), quoted };
        let breaks = (0..side_by_side.trimmed).filter(|&at| side_by_side.is_followed_by_blank(at)).count();
        // The lengths differ if a control token is shown with an additional blank.
        (quoted.len() == 1 + side_by_side.trimmed + breaks + 1 && quoted.is_ascii()).then_some(side_by_side)
    }

    /// Whether this is a line break after which the quoted form has a blank.
    fn is_followed_by_blank(&self, at: usize) -> bool {
        let text = self.text.as_bytes();
        text[at] == b'\n' && at + 1 < self.trimmed && text[at + 1] != b'\n'
    }

    /// Calls `each` with the pieces of both, shared ones once, and whether the text and the quoted form have the piece.
    pub(super) fn for_each(&self, rules: PretokenRules, mut each: impl FnMut(&str, [bool; 2])) {
        let (mut at, mut quoted_at, mut blanks) = (0, 0, 1);
        while at < self.text.len() || quoted_at < self.quoted.len() {
            // The position in the quoted form of what comes next in the text.
            let next_at = at + blanks;
            if quoted_at < self.quoted.len() && (quoted_at < next_at || at == self.text.len()) {
                let piece = first_piece(&self.quoted[quoted_at..], rules);
                quoted_at += piece.len();
                each(piece, [false, true]);
                continue;
            }
            let piece = first_piece(&self.text[at..], rules);
            let is_within_line = !piece.contains('\n') && at + piece.len() < self.trimmed;
            let is_shared = quoted_at == next_at && is_within_line;
            blanks += (at..at + piece.len()).filter(|&at| self.is_followed_by_blank(at)).count();
            at += piece.len();
            quoted_at += if is_shared { piece.len() } else { 0 };
            each(piece, [true, is_shared]);
        }
    }
}

fn first_piece(text: &str, rules: PretokenRules) -> &str {
    &text[..piece_len(text.as_bytes(), rules)]
}

/// Returns the length of the first piece, at least 1. The rules are in the order of the alternatives in the expression.
fn piece_len(text: &[u8], rules: PretokenRules) -> usize {
    let first = text[0];
    if rules == PretokenRules::Cl100k
        && let Some(len) = contraction_len(text)
    {
        return len;
    }
    // Letters, with at most one character before them that is not a letter, digit or line break.
    let lead = usize::from(!first.is_ascii_alphanumeric() && !is_line_break(first));
    let letters = letters_len(&text[lead..], rules);
    if letters > 0 {
        let len = lead + letters;
        let contraction = if rules == PretokenRules::O200k { contraction_len(&text[len..]) } else { None };
        return len + contraction.unwrap_or(0);
    }
    if first.is_ascii_digit() {
        return run_len(&text[..text.len().min(3)], |b| b.is_ascii_digit());
    }
    // Punctuation, with one blank before it and line breaks after it.
    let blank = usize::from(first == b' ');
    let marks = run_len(&text[blank..], |b| !is_space(b) && !b.is_ascii_alphanumeric());
    if marks > 0 {
        let len = blank + marks;
        return len
            + run_len(&text[len..], |b| is_line_break(b) || (b == b'/' && rules == PretokenRules::O200k));
    }
    // Blanks: up to the last line break among them, otherwise all but the last, which belongs to what follows.
    let blanks = run_len(text, is_space);
    if let Some(last) = text[..blanks].iter().rposition(|&b| is_line_break(b)) {
        return last + 1;
    }
    if blanks < text.len() && blanks > 1 { blanks - 1 } else { blanks }
}

fn letters_len(text: &[u8], rules: PretokenRules) -> usize {
    match rules {
        PretokenRules::Cl100k => run_len(text, |b| b.is_ascii_alphabetic()),
        PretokenRules::O200k => {
            let upper = run_len(text, |b| b.is_ascii_uppercase());
            upper + run_len(&text[upper..], |b| b.is_ascii_lowercase())
        }
    }
}

/// Returns the length of `'s`, `'t`, `'m`, `'d`, `'re`, `'ve` or `'ll`, in either case, if the text begins with one.
fn contraction_len(text: &[u8]) -> Option<usize> {
    let [b'\'', rest @ ..] = text else { return None };
    let at = |i: usize| rest.get(i).map(u8::to_ascii_lowercase);
    match (at(0), at(1)) {
        (Some(b's' | b't' | b'm' | b'd'), _) => Some(2),
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => Some(3),
        _ => None,
    }
}

fn run_len(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&b| !belongs(b)).unwrap_or(text.len())
}

fn is_line_break(b: u8) -> bool {
    matches!(b, b'\r' | b'\n')
}

/// Whether a byte is `\s` in the expressions.
fn is_space(b: u8) -> bool {
    matches!(b, b'\t'..=b'\r' | b' ')
}
