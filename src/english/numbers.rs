//! Numbers in a text: in digits, in English words, in some words of other languages, and in Han characters.

use std::{collections::HashMap, sync::LazyLock};

use crate::english::lists::{List, list};

const ONES: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen";
const ORDINALS: &str = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth \
    thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth";

fn place_in(list: &str, word: &str) -> Option<u32> {
    (0..).zip(list.split(' ')).find(|(_, name)| *name == word).map(|(number, _)| number)
}

/// Parses a number with `fewest` to `most` digits.
pub(crate) fn digits(text: &str, fewest: usize, most: usize) -> Option<u32> {
    let is_number = (fewest..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Returns the value of a number word in lower case, from zero to nineteen.
pub(crate) fn small(word: &str) -> Option<u32> {
    /// A map, because every word of a message is looked up, and most are not numbers.
    static BY_WORD: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| ONES.split(' ').zip(0..).collect());
    BY_WORD.get(word).copied()
}

/// Returns the value of a number in words, in lower case, from zero to ninety-nine.
pub(crate) fn cardinal(word: &str) -> Option<u32> {
    let (tens, ones) = word.split_once('-').unwrap_or((word, "zero"));
    match Some(tens).filter(|tens| tens.ends_with('y')).and_then(part_of) {
        Some(NumeralPart::Sum(tens)) => {
            Some(u32::try_from(tens).ok()? + small(ones).filter(|ones| *ones < 10)?)
        }
        _ => small(word),
    }
}

pub(crate) enum NumberToken<'a> {
    /// Digits, including separators.
    Digits(&'a str),
    Word(&'a str),
    Other(char),
}

/// Splits a text into tokens with their positions.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (NumberToken<'_>, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let start = at;
        let (token, len) = if first.is_ascii_digit() {
            let len = digits_len(rest);
            (NumberToken::Digits(&rest[..len]), len)
        } else if first.is_alphabetic() {
            let len = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
            (NumberToken::Word(&rest[..len]), len)
        } else {
            (NumberToken::Other(first), first.len_utf8())
        };
        at += len;
        Some((token, start))
    })
}

/// Returns the length of the digits, including separators that another digit follows.
fn digits_len(text: &str) -> usize {
    let end =
        text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '\'')).unwrap_or(text.len());
    let run = &text[..end];
    let doubled = run.as_bytes().windows(2).position(|pair| !pair.iter().any(u8::is_ascii_digit));
    run[..doubled.unwrap_or(end)].trim_end_matches(['.', ',', '\'']).len()
}

/// Returns how many zeros a word after digits stands for.
pub(crate) fn zeros_of(word: &str) -> Option<usize> {
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

#[derive(Clone, Copy)]
enum NumeralPart {
    /// 0 to 19, and the tens.
    Sum(u64),
    /// A dozen or a hundred multiplies the part before it; a thousand and more multiplies everything before it and ends the
    /// part.
    Factor(u64),
}

fn part_of(word: &str) -> Option<NumeralPart> {
    const TENS: &str = "? ? twent thirt fort fift sixt sevent eight ninet";
    // "twenty", "twentieth", "twenties"
    let stem = ["y", "ieth", "ies"].iter().find_map(|end| word.strip_suffix(end));
    let tens = || stem.and_then(|stem| place_in(TENS, stem)).map(|tens| 10 * tens);
    if let Some(number) = small(word).or_else(|| place_in(ORDINALS, word)).or_else(tens) {
        return Some(NumeralPart::Sum(number.into()));
    }
    Some(NumeralPart::Factor(match word {
        "dozen" | "dozens" => 12,
        "hundred" | "hundreds" | "hundredth" => 100,
        "thousand" | "thousands" => 1_000,
        "million" | "millions" => 1_000_000,
        "billion" | "billions" => 1_000_000_000,
        _ => return None,
    }))
}

/// A number in English words. The arithmetic saturates: nobody needs more than 64 bits of "billion billion".
pub(crate) struct InWords<'a> {
    done: u64,
    current: u64,
    last: NumeralPart,
    /// The word if the number is a single word; otherwise empty.
    pub(crate) only_word: &'a str,
}

impl InWords<'_> {
    pub(crate) fn number(&self) -> u64 {
        self.done.saturating_add(self.current)
    }

    /// Adds the part if it belongs to this number; returns whether it does.
    fn add(&mut self, part: NumeralPart) -> bool {
        let fits = match (self.last, part) {
            (_, NumeralPart::Factor(1_000..)) => self.current > 0,
            (NumeralPart::Sum(_), NumeralPart::Factor(_))
            | (NumeralPart::Factor(_), NumeralPart::Sum(_))
            | (NumeralPart::Sum(20..), NumeralPart::Sum(1..10)) => true,
            _ => false,
        };
        if fits {
            self.apply(part);
            self.only_word = "";
        }
        fits
    }

    fn apply(&mut self, part: NumeralPart) {
        let multiplied = |factor| self.current.max(1).saturating_mul(factor);
        (self.done, self.current) = match part {
            NumeralPart::Sum(number) => (self.done, self.current.saturating_add(number)),
            NumeralPart::Factor(factor) if factor < 1_000 => (self.done, multiplied(factor)),
            NumeralPart::Factor(factor) => (self.done.saturating_add(multiplied(factor)), 0),
        };
        self.last = part;
    }
}

/// Finds the numbers in words, each as long as possible: "two hundred and fifty", "twenty-five".
pub(crate) fn in_words(folded: &str) -> Vec<InWords<'_>> {
    let mut found: Vec<InWords<'_>> = Vec::new();
    let (mut is_open, mut after_digits) = (false, false);
    for (token, _) in tokens(folded) {
        let last = found.last_mut().filter(|_| is_open);
        match token {
            NumberToken::Other(' ' | '-') => continue,
            NumberToken::Word("and") => {
                is_open = last.is_some_and(|last| matches!(last.last, NumeralPart::Factor(_)));
            }
            NumberToken::Word(word) => match part_of(word) {
                Some(NumeralPart::Factor(_)) if after_digits => {} // "3 million" was read as digits.
                Some(part) => {
                    if !last.is_some_and(|last| last.add(part)) {
                        let mut new = InWords { done: 0, current: 0, last: part, only_word: word };
                        new.apply(part);
                        found.push(new);
                    }
                    is_open = true;
                }
                None => is_open = false,
            },
            _ => is_open = false,
        }
        after_digits = matches!(token, NumberToken::Digits(_));
    }
    found
}

/// Words that supply a number but do not claim one: each line is a number and its words.
static LOOSE: List = list!("loose_numbers");

/// The numbers of each word of [`LOOSE`]: a map, since every word of a source is looked up. A word may be two numbers:
/// `once` is also eleven in Spanish.
static LOOSE_BY_WORD: LazyLock<HashMap<&str, Vec<u64>>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<u64>> = HashMap::new();
    for (number, words) in LOOSE.lines().filter_map(|line| line.split_once(' ')) {
        for word in words.split(' ') {
            by_word.entry(word).or_default().extend(number.parse::<u64>());
        }
    }
    by_word
});

/// Returns the numbers that a folded word may stand for on its own.
pub(crate) fn loose(word: &str) -> impl Iterator<Item = u64> {
    LOOSE_BY_WORD.get(word).into_iter().flatten().copied()
}

/// Returns the numbers in a run of Han or Hangul letters. They only supply numbers and never claim one, since most of these
/// characters are parts of other words.
pub(crate) fn east_asian(word: &str) -> Vec<u64> {
    const DIGITS: &str = "零一二三四五六七八九";
    const FACTORS: [(char, u64); 4] = [('十', 10), ('百', 100), ('千', 1_000), ('万', 10_000)];
    let (mut found, mut total, mut current, mut in_row) = (Vec::new(), 0_u64, 0_u64, 0_u64);
    let mut is_open = false;
    for c in word.chars().chain([' ']) {
        let c = match c {
            '〇' => '零',
            '两' | '兩' => '二',
            '萬' => '万',
            other => other,
        };
        let digit = (0..).zip(DIGITS.chars()).find(|(_, known)| *known == c);
        let factor = FACTORS.iter().find(|(known, _)| *known == c);
        if let Some((digit, _)) = digit {
            (current, in_row) = (digit, in_row.saturating_mul(10).saturating_add(digit));
        } else if let Some(&(_, factor)) = factor {
            // 万 multiplies everything before it by ten thousand.
            total = if c == '万' {
                total.saturating_add(current).max(1).saturating_mul(factor)
            } else {
                total.saturating_add(current.max(1) * factor)
            };
            (current, in_row) = (0, 0);
        } else if is_open {
            found.extend([total.saturating_add(current), in_row]);
            (total, current, in_row) = (0, 0, 0);
        }
        is_open = digit.is_some() || factor.is_some();
    }
    found
}
