//! Numbers in folded text, written in digits or words: which ones a source supplies, which ones a claim makes.
//!
//! A number is compared as its digits without separators and needless zeros: `1,000`, `1000` and "a thousand" are
//! `1000`. Where a form can be read in two ways, a source supplies both and a claim needs one.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::english::numerals;

/// A number that a claim makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// One of these must be supplied ...
    readings: Vec<String>,
    /// ... or all of these, if there are any: the parts of `07.05.2023`.
    parts: Vec<String>,
}

impl Claim {
    pub(super) fn is_supported(&self, supplied: &HashSet<String>) -> bool {
        self.readings.iter().any(|reading| supplied.contains(reading))
            || (!self.parts.is_empty() && self.parts.iter().all(|part| supplied.contains(part)))
    }
}

/// Every number that this text may be said to name.
pub(super) fn supplied(folded: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut previous: Option<(usize, String)> = None;
    for (token, at) in tokens(folded) {
        match token {
            Token::Digits { raw, .. } => {
                let behind = &folded[at + raw.len()..];
                let (readings, parts) = readings_of(raw);
                found.extend(moved(&readings, raw, behind).0);
                found.extend(readings);
                found.extend(parts);
                // "1 000": digits, one space, three digits.
                if let Some((end, before)) = previous.take()
                    && at == end + 1
                    && raw.len() == 3
                    && folded[end..].starts_with(' ')
                {
                    let joined = before + raw;
                    found.insert(canonical(&joined));
                    previous = Some((at + raw.len(), joined));
                } else if raw.len() <= 3 {
                    previous = Some((at + raw.len(), raw.to_owned()));
                }
            }
            Token::Word(word) => {
                previous = None;
                found.extend(loose_words(word).iter().map(ToString::to_string));
                found.extend(east_asian(word));
            }
            Token::Other(_) => {}
        }
    }
    let in_words = in_words(folded);
    for pair in in_words.windows(2) {
        // "nineteen ninety-five"
        if let [a, b] = pair
            && (10..100).contains(&a.number)
            && (10..100).contains(&b.number)
        {
            found.insert((a.number * 100 + b.number).to_string());
        }
    }
    found.extend(in_words.into_iter().map(|found| found.number.to_string()));
    found
}

/// Every number that this text names for sure. Words that count nothing most of the time ("one of them", "first",
/// "a couple") are none.
pub(super) fn claimed(folded: &str) -> Vec<Claim> {
    const COUNT_NOTHING: [&str; 3] = ["one", "first", "second"];
    let mut claims = Vec::new();
    for (token, at) in tokens(folded) {
        if let Token::Digits { raw, before } = token {
            if before == Some(':') && raw == "00" {
                continue; // "7:00" for "at seven"
            }
            let (mut readings, parts) = readings_of(raw);
            let (moved, is_certain) = moved(&readings, raw, &folded[at + raw.len()..]);
            if is_certain {
                readings.clear(); // "9 billion" is not shown by a 9.
            }
            readings.extend(moved);
            claims.push(Claim { readings, parts });
        }
    }
    let words =
        in_words(folded).into_iter().filter(|found| !COUNT_NOTHING.contains(&found.only_word.as_str()));
    claims.extend(words.map(|found| Claim { readings: vec![found.number.to_string()], parts: Vec::new() }));
    claims
}

enum Token<'a> {
    /// Digits, with separators between them; `before` is the character in front.
    Digits {
        raw: &'a str,
        before: Option<char>,
    },
    Word(&'a str),
    Other(char),
}

/// Cuts a text into tokens with the places where they begin.
fn tokens(text: &str) -> impl Iterator<Item = (Token<'_>, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let start = at;
        let (token, len) = if first.is_ascii_digit() {
            let len = digits_len(rest);
            (Token::Digits { raw: &rest[..len], before: text[..at].chars().next_back() }, len)
        } else if first.is_alphabetic() {
            let len = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
            (Token::Word(&rest[..len]), len)
        } else {
            (Token::Other(first), first.len_utf8())
        };
        at += len;
        Some((token, start))
    })
}

/// Digits, each separator among them followed by another digit.
fn digits_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut len = 0;
    while let Some(&byte) = bytes.get(len) {
        let is_separator =
            matches!(byte, b'.' | b',' | b'\'') && bytes.get(len + 1).is_some_and(u8::is_ascii_digit);
        if !byte.is_ascii_digit() && !is_separator {
            break;
        }
        len += 1;
    }
    len
}

/// What digits may mean, and their parts if they are many.
fn readings_of(raw: &str) -> (Vec<String>, Vec<String>) {
    let groups: Vec<&str> = raw.split(['.', ',', '\'']).collect();
    let (first, rest) = groups.split_first().map_or(("", &[] as &[&str]), |(first, rest)| (*first, rest));
    let are_thousands = |groups: &[&str]| first.len() <= 3 && groups.iter().all(|group| group.len() == 3);
    let mut readings = Vec::new();
    if are_thousands(rest) || rest.is_empty() {
        readings.push(canonical(&groups.concat()));
    }
    if let [middle @ .., fraction] = rest
        && are_thousands(middle)
    {
        readings.push(decimal(&(first.to_owned() + &middle.concat()), fraction));
    }
    if rest.len() < 2 {
        return (readings, Vec::new());
    }
    readings.push(raw.to_owned());
    (readings, groups.iter().map(|group| canonical(group)).collect())
}

/// What digits mean with what stands behind them, and whether they cannot mean anything else.
fn moved(readings: &[String], raw: &str, behind: &str) -> (Vec<String>, bool) {
    let behind = behind.trim_start_matches([' ', '-']);
    let word = &behind[..behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len())];
    if let Some(zeros) = zeros_of(word) {
        let is_unit_too = matches!(word, "m" | "b" | "mil" | "mille"); // Metres, say.
        return (readings.iter().map(|number| scaled(number, zeros)).collect(), !is_unit_too);
    }
    let Ok(short) = raw.parse::<u32>() else { return (Vec::new(), false) };
    if (word == "pm" || behind.starts_with("p.m")) && short < 12 {
        (vec![(short + 12).to_string()], false)
    } else if word == "s" && raw.len() == 2 {
        (vec![(1900 + short).to_string()], false) // "the 90s"
    } else {
        (Vec::new(), false)
    }
}

/// How many zeros a word behind digits stands for.
fn zeros_of(word: &str) -> Option<usize> {
    Some(match word {
        "hundred" | "百" => 2,
        "k" | "thousand" | "tausend" | "mil" | "mille" | "千" => 3,
        "万" | "萬" => 4,
        "lakh" => 5,
        "m" | "mn" | "mio" | "million" | "millions" | "millionen" | "millones" | "milioni" | "miljoen" => 6,
        "b" | "bn" | "billion" | "billions" => 9,
        _ => return None,
    })
}

fn canonical(digits: &str) -> String {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() { "0" } else { trimmed }.to_owned()
}

fn decimal(whole: &str, fraction: &str) -> String {
    let fraction = fraction.trim_end_matches('0');
    let whole = canonical(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// The number with its point moved.
fn scaled(number: &str, zeros: usize) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let padded = format!("{fraction:0<zeros$}");
    let (moved, rest) = padded.split_at(zeros);
    decimal(&format!("{whole}{moved}"), rest)
}

/// A number written in English words.
struct InWords {
    number: u64,
    /// The word, if it is one; else empty.
    only_word: String,
}

#[derive(Clone, Copy)]
enum Part {
    /// 0 to 19.
    Small(u64),
    Tens(u64),
    /// A dozen, a hundred: what stands before is multiplied.
    Times(u64),
    /// A thousand and more: all before is multiplied and done.
    Scale(u64),
}

fn part_of(word: &str) -> Option<Part> {
    const ORDINALS: [&str; 20] = [
        "zeroth",
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
    ];
    const TENS: [&str; 8] = ["twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet"];
    let ordinal = || (0..).zip(ORDINALS).find(|(_, name)| *name == word).map(|(number, _)| number);
    if let Some(small) = numerals::small(word).map(u64::from).or_else(ordinal) {
        return Some(Part::Small(small));
    }
    // "twenty", "twentieth", "twenties"
    if let Some(stem) =
        word.strip_suffix("y").or_else(|| word.strip_suffix("ieth")).or_else(|| word.strip_suffix("ies"))
        && let Some(at) = TENS.iter().position(|&tens| tens == stem)
    {
        return Some(Part::Tens(20 + 10 * at as u64));
    }
    Some(match word {
        "dozen" | "dozens" => Part::Times(12),
        "hundred" | "hundreds" | "hundredth" => Part::Times(100),
        "thousand" | "thousands" => Part::Scale(1_000),
        "million" | "millions" => Part::Scale(1_000_000),
        "billion" | "billions" => Part::Scale(1_000_000_000),
        _ => return None,
    })
}

/// The numbers in words, each as long as it can be read on: "two hundred and fifty", "twenty-five".
fn in_words(folded: &str) -> Vec<InWords> {
    let mut found = Vec::new();
    let mut reading: Option<Reading> = None;
    let mut after_digits = false;
    for (token, _) in tokens(folded) {
        match token {
            Token::Word(word) => match part_of(word) {
                Some(Part::Times(_) | Part::Scale(_)) if after_digits => {} // "3 million" was read as digits.
                Some(part) => {
                    let goes_on = reading.as_mut().is_some_and(|reading| reading.add(part));
                    if !goes_on {
                        found.extend(reading.replace(Reading::new(part, word)).map(Reading::done));
                    }
                }
                None if word == "and" && reading.as_ref().is_some_and(Reading::may_have_and) => {}
                None => found.extend(reading.take().map(Reading::done)),
            },
            Token::Other(' ' | '-') => continue,
            Token::Other(_) => found.extend(reading.take().map(Reading::done)),
            Token::Digits { .. } => {
                found.extend(reading.take().map(Reading::done));
                after_digits = true;
                continue;
            }
        }
        after_digits = false;
    }
    found.extend(reading.map(Reading::done));
    found
}

/// A number in words while it is read. Saturating: no machine needs more than 64 bits of "billion billion".
struct Reading {
    total: u64,
    current: u64,
    last: Part,
    word: String,
    word_count: usize,
}

impl Reading {
    fn new(part: Part, word: &str) -> Self {
        let mut new = Self { total: 0, current: 0, last: part, word: word.to_owned(), word_count: 1 };
        new.apply(part);
        new
    }

    /// Whether the part belongs to this number; if so, it is added.
    fn add(&mut self, part: Part) -> bool {
        let fits = match (self.last, part) {
            (_, Part::Scale(_)) => self.current > 0,
            (Part::Small(_) | Part::Tens(_), Part::Times(_))
            | (Part::Times(_) | Part::Scale(_), Part::Small(_) | Part::Tens(_)) => true,
            (Part::Tens(_), Part::Small(small)) => (1..10).contains(&small),
            _ => false,
        };
        if fits {
            self.apply(part);
            self.last = part;
            self.word_count += 1;
        }
        fits
    }

    fn apply(&mut self, part: Part) {
        match part {
            Part::Small(number) | Part::Tens(number) => self.current = self.current.saturating_add(number),
            Part::Times(factor) => self.current = self.current.max(1).saturating_mul(factor),
            Part::Scale(factor) => {
                self.total = self.total.saturating_add(self.current.max(1).saturating_mul(factor));
                self.current = 0;
            }
        }
    }

    fn may_have_and(&self) -> bool {
        matches!(self.last, Part::Times(_) | Part::Scale(_))
    }

    fn done(self) -> InWords {
        let only_word = if self.word_count == 1 { self.word } else { String::new() };
        InWords { number: self.total.saturating_add(self.current), only_word }
    }
}

/// Words that supply a number and make no claim: too loose in English, or of other languages, where the same letters
/// may be another word. Folded, so without accents.
const LOOSE: [(u32, &str); 17] = [
    (1, "a an once single un une uno una ein eine um uma een один"),
    (2, "both couple pair twice double zwei deux dos due dois duas twee два две"),
    (3, "thrice triple trio drei trois tres tre drie три"),
    (4, "quartet vier quatre cuatro quattro quatro четыре"),
    (5, "funf cinq cinco cinque vijf пять"),
    (6, "sechs seis sei zes шесть"),
    (7, "sieben sept siete sette sete zeven семь"),
    (8, "acht huit ocho otto oito восемь"),
    (9, "neun neuf nueve nove negen девять"),
    (10, "decade zehn dix diez dieci dez tien десять"),
    (11, "elf onze once undici"),
    (12, "zwolf douze doce dodici doze twaalf"),
    (20, "zwanzig vingt veinte venti vinte twintig двадцать"),
    (25, "quarter"),
    (50, "half halves halb moitie mitad"),
    (100, "century hundert cent cien cento cem honderd сто"),
    (1000, "tausend mille mil duizend тысяча"),
];

/// By word, since every word of a source is looked up. A word may be two numbers: `once` is eleven in Spanish.
static LOOSE_BY_WORD: LazyLock<HashMap<&str, Vec<u32>>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<u32>> = HashMap::new();
    for (number, words) in LOOSE {
        for word in words.split(' ') {
            by_word.entry(word).or_default().push(number);
        }
    }
    by_word
});

fn loose_words(word: &str) -> &'static [u32] {
    LOOSE_BY_WORD.get(word).map_or(&[], Vec::as_slice)
}

/// The numbers in a run of Han or Hangul letters: they supply and never claim, since most of these characters are
/// parts of other words.
fn east_asian(word: &str) -> Vec<String> {
    const DIGITS: &str = "零一二三四五六七八九";
    let digit = |c: char| match c {
        '〇' => Some(0),
        '两' | '兩' => Some(2),
        _ => DIGITS.chars().position(|known| known == c).map(|at| at as u64),
    };
    let (mut found, mut total, mut current, mut in_row) = (Vec::new(), 0_u64, 0_u64, String::new());
    for c in word.chars().chain([' ']) {
        let factor = match c {
            '十' => Some(10),
            '百' => Some(100),
            '千' => Some(1_000),
            '万' | '萬' => Some(10_000),
            _ => None,
        };
        if let Some(digit) = digit(c) {
            current = digit;
            in_row.push_str(&digit.to_string());
        } else if let Some(factor) = factor {
            total = if factor == 10_000 {
                total.saturating_add(current).max(1).saturating_mul(factor)
            } else {
                total.saturating_add(current.max(1) * factor)
            };
            current = 0;
            in_row.clear();
        } else if total > 0 || !in_row.is_empty() {
            found.push((total + current).to_string());
            found.push(canonical(&in_row));
            (total, current) = (0, 0);
            in_row.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a claim is supported by a source.
    #[track_caller]
    fn check(source: &str, claim: &str, holds: bool) {
        let supplied = supplied(source);
        let holds_now = claimed(claim).iter().all(|claim| claim.is_supported(&supplied));
        assert_eq!(holds_now, holds, "{claim:?} from {source:?}");
    }

    #[test]
    fn the_same_number_in_other_writing() {
        check("it costs 1,000 euros", "1000 and 1.000 and one thousand and a thousand", true);
        check("it costs 1 000 euros", "1,000", true);
        check("three kids", "3 kids, the third, three", true);
        check("half of it, 50%", "fifty percent", true);
        check("twenty-five", "25", true);
        check("two hundred and fifty", "250", true);
        check("$1.5 million", "1,500,000 or 1.5m", true);
        check("20k runners", "20,000", true);
        check("at 7 pm", "19:00 or 7:00 pm", true);
        check("born in nineteen ninety-five", "1995", true);
        check("the 90s", "1990s", true);
        check("a dozen eggs", "12", true);
        check("21st", "twenty-first", true);
        check("zwei katzen", "2", true);
        check("我有三只猫和二十五条鱼", "3 and 25", true);
        check("3.50", "3.5", true);
        check("007", "7", true);
    }

    #[test]
    fn another_number_is_another_number() {
        check("it costs 1,000 euros", "10,000", false);
        check("three kids", "4 kids", false);
        check("three kids", "two kids", false);
        check("twenty-five", "26", false);
        check("3.5", "35", false);
        check("call 555-1234", "555-1235", false);
        check("no number", "10.0.0.1", false);
        check("no number", "one of the first, a second", true);
        check("", "10%", false);
        check("9 million", "9 billion", false);
    }

    #[test]
    fn endless_numbers_end() {
        let nines = "9".repeat(100_000);
        check(&nines, &nines, true);
        check("", &"billion ".repeat(10_000), false);
        check("", &"million thousand hundred ".repeat(10_000), false);
        check(&"九千万".repeat(10_000), "5", false);
    }
}
