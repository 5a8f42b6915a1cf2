//! Realistic text: words in sentences. A seeded generator draws them from a large vocabulary with Zipf's frequencies, so
//! that every run on every machine has the same text.

use super::{
    Length,
    vocabulary::{Vocabulary, vocabulary},
};
use thermocline::NewTurn;

/// The generator `SplitMix64` by Steele, Lea and Flood: small, fast, and good enough to pick words and sessions.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns a number from 0 to just under 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The rank of the first word that is not a function word. A search ignores function words, so queries are made of later
/// words.
const FIRST_OF_MEANING: usize = 130;

/// Draws words and makes turns from them.
pub struct Writer {
    rng: Rng,
    vocabulary: &'static Vocabulary,
}

impl Writer {
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), vocabulary: vocabulary() }
    }

    /// Returns a turn of exactly this length.
    pub fn turn(&mut self, length: Length) -> NewTurn {
        let (user, reply) = self.sides(length);
        NewTurn::new(user, reply)
    }

    /// Returns the two sides of a turn of exactly this length.
    pub fn sides(&mut self, length: Length) -> (String, String) {
        let user = length.user_characters();
        (self.text(length, user), self.text(length, length.characters() - user))
    }

    /// Returns three words to search for: common words except function words, the commonest most often.
    pub fn common_words(&mut self) -> [String; 3] {
        let ranks = FIRST_OF_MEANING..self.vocabulary.common();
        [(); 3].map(|()| self.vocabulary.among(Length::Long, ranks.clone(), self.rng.unit()).to_owned())
    }

    /// Returns three names to search for, each of which is in few turns or in none.
    pub fn names(&mut self) -> [String; 3] {
        [(); 3].map(|()| {
            let mut name = String::new();
            self.name(&mut name);
            name
        })
    }

    /// Returns sentences, cut to exactly this many characters, all of them ASCII.
    fn text(&mut self, length: Length, characters: usize) -> String {
        let mut text = String::with_capacity(characters + 100);
        while text.len() < characters {
            if !text.is_empty() {
                text.push(' ');
            }
            self.sentence(length, &mut text);
        }
        text.truncate(characters - 1);
        text.push('.');
        text
    }

    fn sentence(&mut self, length: Length, text: &mut String) {
        let start = text.len();
        let words = 5 + self.rng.below(12);
        for n in 0..words {
            if n > 0 {
                text.push_str(if self.rng.below(9) == 0 { ", " } else { " " });
            }
            // One word in sixty is a name that hardly any other text contains, because most searches are for such words.
            if self.rng.below(60) == 0 {
                self.name(text);
            } else {
                let word = self.vocabulary.drawn(length, self.rng.unit());
                // Long turns have headings and lists, so many of their words are capitalized, or between marks.
                let marks = if length == Length::Long { self.rng.below(24) } else { 24 };
                let start = text.len() + usize::from(marks == 0) * 2;
                text.push_str(if marks == 0 { "**" } else { "" });
                text.push_str(word);
                if marks < 4 {
                    text[start..=start].make_ascii_uppercase();
                }
                text.push_str(if marks == 0 { "**" } else { "" });
            }
        }
        text[start..=start].make_ascii_uppercase();
        text.push(if self.rng.below(6) == 0 { '?' } else { '.' });
    }

    fn name(&mut self, text: &mut String) {
        const FIRST: [&str; 12] =
            ["Mar", "Bel", "Tor", "Lin", "Kas", "Ren", "Dov", "Sel", "Hal", "Pet", "Orl", "Vin"];
        const MIDDLE: [&str; 8] = ["a", "e", "i", "o", "an", "el", "or", "is"];
        const LAST: [&str; 10] = ["ta", "vel", "ston", "dor", "mi", "nek", "ria", "bo", "lund", "ga"];
        for syllables in [&FIRST[..], &MIDDLE[..], &LAST[..]] {
            let syllable = syllables[self.rng.below(syllables.len())];
            text.push_str(syllable);
        }
    }
}
