//! How common words are in English at large: in a short history every word is rare, "brought" as well as "Lisbon".

use std::{collections::HashMap, sync::OnceLock};

use crate::{
    embed::built_in::TOKENS,
    text::words::{self, Word},
};

/// Where whole words begin in the vocabulary, "the" first, the others by how frequent they are.
const FIRST_WORD: usize = 997;
/// A word that is not in the vocabulary.
const RARE: f64 = 0.000_3;
/// The most common ones.
const COMMON: f64 = 0.3;

/// The share of turns in which a word is to be expected, from 0.0003 to 0.3: by Zipf's law from its place among the
/// vocabulary's whole words, `60 / (place + 96)`; of all words with one stem that of the most frequent.
pub(crate) fn of(word: Word) -> f64 {
    static SHARES: OnceLock<HashMap<Word, f64>> = OnceLock::new();
    SHARES.get_or_init(shares).get(&word).copied().unwrap_or(RARE)
}

fn shares() -> HashMap<Word, f64> {
    let mut shares = HashMap::with_capacity(16_384);
    let tokens = (0_u32..).zip(TOKENS.lines().skip(FIRST_WORD));
    for (place, token) in tokens.filter(|(_, token)| !token.starts_with("##")) {
        if let [word] = words::query_words(token)[..] {
            shares.entry(word).or_insert_with(|| (60.0 / (f64::from(place) + 96.0)).min(COMMON));
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(word: &str) -> f64 {
        of(words::query_words(word)[0])
    }

    #[test]
    fn frequent_words_are_common_and_unknown_ones_rare() {
        assert!(share("new") > share("bring"), "{} {}", share("new"), share("bring"));
        assert!(share("brought") > share("lisbon"));
        assert!((share("brought") - share("bring")).abs() < f64::EPSILON, "one stem");
        assert!((share("thermocline") - RARE).abs() < f64::EPSILON);
        assert!(share("new") <= COMMON);
    }
}
