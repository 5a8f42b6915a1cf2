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
