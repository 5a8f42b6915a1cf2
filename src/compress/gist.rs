//! The most telling part of what one side of a turn said: whole clauses of one sentence, to the letter.

use std::ops::Range;

use crate::{
    english::{
        dull_words::is_dull,
        fillers::without_fillers,
        sentences::{Sentence, Setting, sentences},
        stop_words::is_stop_word,
        times::{MONTHS, WEEKDAYS},
    },
    model::turn::Side,
    text::{
        cuts::ELLIPSIS,
        plain::plain,
        terms::{TermKind, for_each_term, is_unspaced},
    },
};

/// What a side said in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gist {
    /// One line. Of double quotes it has none, so that it can stand between two.
    pub(crate) text: String,
    pub(crate) act: Act,
}

/// What saying it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It tells something.
    Said,
    /// It is a question.
    Asked,
    /// It is code or data, without a sentence.
    Sent,
}

/// No more than this of a text's start, and of its end, is looked at: behind a long paste stands the question.
const HEAD_BYTES: usize = 12 * 1_024;
const TAIL_BYTES: usize = 2 * 1_024;
/// A line of code with a word in it comes within so many bytes, or is not quoted.
const CODE_BYTES: usize = 2_048;
/// Of a longer sentence only the start is looked at. It is no sentence that a person wrote.
const MAX_SENTENCE_BYTES: usize = 1_500;

/// The gist of `text` in at most `max_bytes`, unless its only word is longer; `None` if it has nothing to quote.
pub(crate) fn gist(text: &str, side: Side, max_bytes: usize) -> Option<Gist> {
    let sentences = looked_at(text);
    let last = sentences.len().saturating_sub(1);
    let mut best: Option<(u32, Gist)> = None;
    for (index, sentence) in sentences.iter().enumerate() {
        let line = line_of(sentence);
        let said = without_fillers(&line);
        if said.is_empty() {
            continue;
        }
        let Some((score, shortened)) = best_part(said, side, max_bytes) else { continue };
        let score = score * worth_of_place(sentence, side, index, last);
        if best.as_ref().is_none_or(|(best_score, _)| score > *best_score) {
            let act = if shortened.ends_with(['?', '？']) { Act::Asked } else { Act::Said };
            best = Some((score, Gist { text: shortened, act }));
        }
    }
    match best {
        Some((score, gist)) if score > 0 => Some(gist),
        // Nothing but pleasantries, or no sentence at all.
        _ => first_words(text, sentences.first(), max_bytes),
    }
}

fn looked_at(text: &str) -> Vec<Sentence<'_>> {
    let head = text.floor_char_boundary(HEAD_BYTES);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES)).max(head);
    let mut found = sentences(&text[..head]);
    // What is cut at the start of the tail is no whole sentence.
    found.extend(sentences(&text[tail..]).into_iter().skip(1));
    found
}

fn line_of(sentence: &Sentence<'_>) -> String {
    let cut = sentence.text.floor_char_boundary(MAX_SENTENCE_BYTES);
    plain(&sentence.text[..cut]).replace('"', "'")
}

fn first_words(text: &str, sentence: Option<&Sentence<'_>>, max_bytes: usize) -> Option<Gist> {
    if let Some(sentence) = sentence {
        let line = line_of(sentence);
        let act = if line.ends_with(['?', '？']) { Act::Asked } else { Act::Said };
        return cut(&line, max_bytes).map(|text| Gist { text, act });
    }
    let head = &text[..text.floor_char_boundary(CODE_BYTES)];
    let lines = || {
        head.lines().filter(|line| !line.trim().starts_with("```")).map(|line| plain(line).replace('"', "'"))
    };
    let code = lines().find(|line| line.contains(char::is_alphanumeric));
    let (line, act) = match code {
        Some(line) => (line, Act::Sent),
        None => (lines().find(|line| !line.is_empty())?, Act::Said),
    };
    cut(&line, max_bytes).map(|text| Gist { text, act })
}

/// How much a sentence's place counts, in percent: a message tells most about its author, a reply where it begins.
fn worth_of_place(sentence: &Sentence<'_>, side: Side, index: usize, last: usize) -> u32 {
    let setting = match sentence.setting {
        _ if sentence.text.starts_with('[') => 30, // a note, as `[image: a dog]`
        _ if sentence.text.contains('\\') => 40,   // a formula
        _ if sentence.text.starts_with("Thank") => 30,
        Setting::Prose => 100,
        Setting::Item => 60,
        Setting::Quoted => 50,
        Setting::Heading => 40,
    };
    let place = match side {
        // A reply begins with its answer, and ends with an offer of more.
        Side::Reply if index <= 1 => 300,
        Side::Reply if index <= 3 => 200,
        Side::Reply if index == last && sentence.text.ends_with('?') => 40,
        Side::User if index == 0 || index == last => 110,
        _ => 100,
    };
    setting * place / 100
}

/// A run of clauses and what it tells.
fn best_part(line: &str, side: Side, max_bytes: usize) -> Option<(u32, String)> {
    let clauses = clauses(line);
    let weights: Vec<u32> = clauses.iter().map(|clause| weight(&line[clause.range()], side)).collect();
    let mut best: Option<(u32, Range<usize>)> = None;
    for (first, from) in clauses.iter().enumerate().filter(|(_, clause)| clause.can_begin) {
        let mut sum = 0;
        for (weight, to) in weights[first..].iter().zip(&clauses[first..]) {
            let range = from.start..to.end;
            if shown_len(line, &range) > max_bytes {
                break;
            }
            sum += weight;
            // What is whole reads better than what is cut.
            let whole = 2 * u32::from(range.start == 0) + u32::from(range.end == line.len());
            let score = if sum == 0 { 0 } else { sum + whole };
            if best.as_ref().is_none_or(|(best, _)| score > *best) {
                best = Some((score, range));
            }
        }
    }
    match best {
        Some((score, range)) if score > 0 => Some((score, shown(line, &range))),
        // No clause fits: the start of the sentence.
        _ => cut(line, max_bytes).map(|text| (weight(&text, side), text)),
    }
}

fn shown_len(line: &str, range: &Range<usize>) -> usize {
    let cuts = usize::from(range.start > 0) + usize::from(range.end < line.len());
    range.len() + ELLIPSIS.len() * cuts
}

fn shown(line: &str, range: &Range<usize>) -> String {
    let mut part = &line[range.clone()];
    let mut is_cut = range.end < line.len();
    // A bracket that the cut left open.
    if let Some((before, _)) = part.rsplit_once(" (").filter(|(_, inside)| is_cut && !inside.contains(')')) {
        part = before;
    }
    is_cut |= part.ends_with([':', ',', ';']);
    let part = part.trim_end_matches([':', ',', ';', '-', '–', '—', ' ']);
    let before = if range.start > 0 { ELLIPSIS } else { "" };
    let behind = if is_cut { ELLIPSIS } else { "" };
    format!("{before}{part}{behind}")
}

/// As many whole words from the start as fit, and the mark of the cut; never a part of a word.
fn cut(line: &str, max_bytes: usize) -> Option<String> {
    if line.len() <= max_bytes {
        return (!line.is_empty()).then(|| line.to_owned());
    }
    let room = line.floor_char_boundary(max_bytes.saturating_sub(ELLIPSIS.len()));
    let is_border = |at: usize| {
        let (left, right) = (line[..at].chars().next_back(), line[at..].chars().next());
        let is_unspaced = |c: Option<char>| c.is_some_and(is_unspaced);
        right.is_some_and(char::is_whitespace) || (is_unspaced(left) && is_unspaced(right))
    };
    let mut end = (1..=room).rev().find(|&at| line.is_char_boundary(at) && is_border(at))?;
    // `... error on the` reads better as `... error`.
    while let Some((before, word)) = line[..end].rsplit_once(' ')
        && is_stop_word(&word.to_lowercase())
        && before.contains(' ')
    {
        end = before.len();
    }
    Some(shown(line, &(0..end)))
}

/// A part of a line that can be cut off and reads well.
#[derive(Debug, PartialEq, Eq)]
struct Clause {
    start: usize,
    end: usize,
    /// Whether it can stand first: not `to jump` or `as a cook`.
    can_begin: bool,
}

impl Clause {
    fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Words that join a clause to the one before; it reads better without them.
const JOINING: &[&str] = &["and", "but", "so", "und", "aber", "y", "pero", "et", "mais", "e", "ma", "mas"];
/// Words that a clause can end before, even where no comma stands.
const BORDERS: &[&str] = &[
    "and",
    "but",
    "because",
    "so",
    "which",
    "where",
    "when",
    "while",
    "although",
    "since",
    "if",
    "or",
    "as",
    "to",
    "by",
    "including",
    "und",
    "aber",
    "weil",
    "pero",
    "porque",
    "mais",
];
/// Such a word ends a clause of so many words: `milk and eggs` stays together.
const FEWEST_BEFORE_WORD: usize = 5;
/// A comma ends one of so many: `red, green and blue` stays together.
const FEWEST_BEFORE_COMMA: usize = 3;

/// Where a line can be cut and read well: behind commas and the like, and before conjunctions.
fn clauses(line: &str) -> Vec<Clause> {
    let mut found = Clauses { line, list: Vec::new(), start: 0, can_begin: true };
    let mut words = 0;
    let mut at = 0;
    for word in line.split_inclusive(' ') {
        let trimmed = word.trim_end();
        if words >= FEWEST_BEFORE_WORD && BORDERS.contains(&&*trimmed.to_lowercase()) {
            found.end_at(at, false);
            words = 0;
        }
        words += 1;
        for (mark, text) in word.match_indices(['，', '、', '；', '：', '。']) {
            found.end_at(at + mark + text.len(), true);
            words = 0;
        }
        at += word.len();
        let is_dash = matches!(trimmed, "-" | "–" | "—");
        // `March 15, 2024`, `3 m, 4 m` are not cut.
        let is_comma =
            trimmed.ends_with([',', ';', ':']) && !line[at..].starts_with(|c: char| c.is_ascii_digit());
        if word.len() > trimmed.len() && (is_dash || (is_comma && words >= FEWEST_BEFORE_COMMA)) {
            found.end_at(at, true);
            words = 0;
        }
    }
    found.end_at(line.len(), true);
    found.list
}

struct Clauses<'a> {
    line: &'a str,
    list: Vec<Clause>,
    start: usize,
    can_begin: bool,
}

impl Clauses<'_> {
    /// Ends a clause; the next one can begin a quotation if `next_can_begin`.
    fn end_at(&mut self, end: usize, next_can_begin: bool) {
        let part = &self.line[self.start..end];
        let mut start = end - part.trim_start().len();
        if let Some((word, rest)) = part.trim_start().split_once(' ').filter(|_| self.start > 0)
            && JOINING.contains(&&*word.to_lowercase())
        {
            start = end - rest.len();
            self.can_begin = true;
        }
        let end_of_text = self.start + part.trim_end().len();
        if start < end_of_text {
            self.list.push(Clause { start, end: end_of_text, can_begin: self.can_begin });
        }
        (self.start, self.can_begin) = (end, next_can_begin);
    }
}

/// How much a clause tells: its words that are no talk, names, numbers and times most; and what its author did.
fn weight(clause: &str, side: Side) -> u32 {
    /// Of a list of numbers the first two count.
    const MAX_NUMBERS: u32 = 2;
    let (mut sum, mut numbers) = (0, 0);
    let mut is_own = false;
    let mut lower = String::new();
    for_each_term(clause, |term| {
        lower.clear();
        lower.extend(
            term.text.chars().filter(|c| !matches!(c, '\'' | '\u{2019}')).flat_map(char::to_lowercase),
        );
        numbers += u32::from(term.kind == TermKind::Number);
        sum += match term.kind {
            TermKind::Number => {
                if numbers <= MAX_NUMBERS {
                    3
                } else {
                    0
                }
            }
            TermKind::Run => u32::try_from(term.text.chars().count().min(6)).unwrap_or(6),
            TermKind::Word if is_time(&lower) => 2,
            TermKind::Word if is_dull(&lower) => 0,
            TermKind::Word if term.at > 0 && term.text.starts_with(char::is_uppercase) => 3,
            TermKind::Word | TermKind::Link => 2,
        };
        is_own |= matches!(
            &*lower,
            "i" | "im" | "ive" | "ill" | "id" | "we" | "weve" | "ich" | "wir" | "je" | "yo"
        );
    });
    sum + if is_own && side == Side::User && sum > 0 { 4 } else { 0 }
}

fn is_time(lower: &str) -> bool {
    const TIMES: [&str; 8] = ["yesterday", "today", "tomorrow", "tonight", "last", "next", "recently", "ago"];
    // `may` is a verb too.
    TIMES.contains(&lower) || WEEKDAYS.contains(&lower) || (MONTHS.contains(&lower) && lower != "may")
}
