//! Zero to nineteen, in English words.

const NAMES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// What this word, in lower case, stands for.
pub(crate) fn small(word: &str) -> Option<u32> {
    (0..).zip(NAMES).find(|(_, name)| *name == word).map(|(number, _)| number)
}

/// `forty`, `forty-two`
pub(crate) fn years(word: &str) -> Option<u32> {
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let tens = |word: &str| (2..).zip(TENS).find(|(_, name)| *name == word).map(|(tens, _)| 10 * tens);
    match word.split_once('-') {
        Some((first, second)) => Some(tens(first)? + small(second).filter(|ones| (1..10).contains(ones))?),
        None => tens(word).or_else(|| small(word)),
    }
}
