//! English words in general: how common they are, and which mean nearly the same.
//!
//! A user's own history is too short to show this. `assets/built_in/README.md` says how the file is made, and from what.
//! The file is read in place: nothing is built at the start, and a look-up is a binary search.

use std::ops::Range;

use crate::text::words::Word;

/// All little-endian, one after the other:
///
/// - the counts of words and of synonyms, u32;
/// - the words, u32, ascending;
/// - each word's place among the tokens of the vocabulary from "the" on, which is 0, u16;
/// - how many synonyms each word has, u8;
/// - where the synonyms of each 64th word begin, u32, the first word's first: those of one word follow those of the
///   word before;
/// - the synonyms, each the index of a word, u16, nearest first for each word;
/// - their cosines, u8, 255 for 1.
pub(super) static FILE: &[u8] = include_bytes!("../../assets/built_in/words.bin");

static LEXICON: Lexicon = Lexicon::read(FILE);

/// How many words share one start of synonyms.
const BLOCK: usize = 64;

/// The commonness of a word that is not in the file.
const RARE: f64 = 0.000_3;
/// The commonness of the most common words.
const COMMON: f64 = 0.3;

/// Returns the share of turns in which a word can be expected, from 0.0003 to 0.3. By Zipf's law, it is `60 / (place + 96)`
/// for the word's place in the vocabulary, which lists whole words by frequency; words with the same stem have the share of
/// the most frequent one. In a short history every word is rare, "brought" as well as "Lisbon".
pub(crate) fn commonness(word: Word) -> f64 {
    find(word).map_or(RARE, |at| {
        let place = u16::from_le_bytes(LEXICON.places[at]);
        (60.0 / (f64::from(place) + 96.0)).min(COMMON)
    })
}

/// Returns at most 16 other words that mean nearly the same, nearest first, with the cosines of their vectors, from 0.35 to
/// 1, in steps of 1/255.
pub(crate) fn synonyms(word: Word) -> impl Iterator<Item = (Word, f64)> {
    find(word).into_iter().flat_map(synonyms_at).map(|at| {
        let other = usize::from(u16::from_le_bytes(LEXICON.synonyms[at]));
        (word_at(other), f64::from(LEXICON.cosines[at]) / f64::from(u8::MAX))
    })
}

fn find(word: Word) -> Option<usize> {
    LEXICON.words.binary_search_by_key(&word, |bytes| Word::from_le_bytes(*bytes)).ok()
}

fn word_at(at: usize) -> Word {
    Word::from_le_bytes(LEXICON.words[at])
}

/// Returns where the synonyms of the word at this index are.
fn synonyms_at(at: usize) -> Range<usize> {
    let block = at / BLOCK;
    let before = LEXICON.counts[block * BLOCK..at].iter().map(|&count| usize::from(count)).sum::<usize>();
    let start = u32::from_le_bytes(LEXICON.starts[block]) as usize + before;
    start..start + usize::from(LEXICON.counts[at])
}

/// The parts of [`FILE`].
struct Lexicon {
    words: &'static [[u8; 4]],
    places: &'static [[u8; 2]],
    counts: &'static [u8],
    starts: &'static [[u8; 4]],
    synonyms: &'static [[u8; 2]],
    cosines: &'static [u8],
}

impl Lexicon {
    /// Runs in the compiler: with a file of another size, the crate does not compile.
    const fn read(file: &'static [u8]) -> Self {
        let (head, file) = take::<4>(file, 2);
        let words_count = u32::from_le_bytes(head[0]) as usize;
        let synonyms_count = u32::from_le_bytes(head[1]) as usize;
        let (words, file) = take(file, words_count);
        let (places, file) = take(file, words_count);
        let (counts, file) = file.split_at(words_count);
        let (starts, file) = take(file, words_count.div_ceil(BLOCK));
        let (synonyms, cosines) = take(file, synonyms_count);
        assert!(cosines.len() == synonyms_count, "a cosine for each synonym, and nothing behind them");
        Self { words, places, counts, starts, synonyms, cosines }
    }
}

/// Splits off the first `count` numbers of `N` bytes.
const fn take<const N: usize>(bytes: &'static [u8], count: usize) -> (&'static [[u8; N]], &'static [u8]) {
    let (taken, rest) = bytes.split_at(count * N);
    (taken.as_chunks().0, rest)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use super::*;
    use crate::{
        embed::{BuiltIn, built_in::TOKENS},
        text::words::query_words,
    };

    const MOST: usize = 16;
    const LEAST: f64 = 0.35;
    /// By how much rounding to a byte may change a cosine.
    const ROUNDED: f64 = 0.5 / 255.0 + 1e-9;

    fn word(text: &str) -> Word {
        query_words(text)[0]
    }

    /// The row, token and word of each whole word of the vocabulary that counts as one word here, frequent ones first.
    fn whole_words() -> impl Iterator<Item = (u32, &'static str, Word)> {
        let whole = (0..).zip(TOKENS.lines()).skip_while(|(_, token)| *token != "the");
        whole.filter(|(_, token)| !token.starts_with("##")).filter_map(|(id, token)| {
            let [word] = query_words(token)[..] else { return None };
            Some((id, token, word))
        })
    }

    #[test]
    fn frequent_words_are_common_and_unknown_ones_rare() {
        let share = |text| commonness(word(text));
        assert!(share("new") > share("bring"));
        assert!(share("bring") > share("lisbon"));
        assert!((share("brings") - share("bringing")).abs() < f64::EPSILON, "one stem");
        assert!((share("thermocline") - RARE).abs() < f64::EPSILON);
        assert!((share("new") - COMMON).abs() < f64::EPSILON);
    }

    #[test]
    fn every_word_of_the_vocabulary_is_as_common_as_its_place_says() {
        let the = TOKENS.lines().position(|token| token == "the").unwrap();
        let mut shares = HashMap::new();
        for (id, _, word) in whole_words() {
            let place = f64::from(id) - f64::from(u32::try_from(the).unwrap());
            shares.entry(word).or_insert_with(|| (60.0 / (place + 96.0)).min(COMMON));
        }
        assert_eq!(shares.len(), LEXICON.words.len(), "and the file has no others");
        for (word, share) in shares {
            assert!(find(word).is_some());
            assert!((commonness(word) - share).abs() < f64::EPSILON);
        }
    }

    #[track_caller]
    fn check(text: &str, means: &str) {
        let found = synonyms(word(text)).any(|(synonym, _)| synonym == word(means));
        assert!(found, "{text} means about {means}");
    }

    #[test]
    fn words_of_like_meaning_are_synonyms() {
        check("dogs", "puppy");
        check("physician", "doctor");
        check("bought", "purchase");
        check("lisbon", "portugal");
        assert!(synonyms(word("dog")).all(|(synonym, _)| synonym != word("contract")));
        assert_eq!(synonyms(word("thermocline")).count(), 0, "unknown");
        assert_eq!(synonyms(word("1980s")).count(), 0, "no word of letters");
    }

    #[test]
    fn the_file_is_in_order() {
        assert!(LEXICON.words.is_sorted_by(|a, b| Word::from_le_bytes(*a) < Word::from_le_bytes(*b)));
        let mut end = 0;
        for at in 0..LEXICON.words.len() {
            let range = synonyms_at(at);
            assert_eq!(range.start, end, "behind those of the word before");
            end = range.end;

            let found: Vec<(Word, f64)> = synonyms(word_at(at)).collect();
            assert!(found.len() <= MOST && found.is_sorted_by(|a, b| a.1 >= b.1));
            for (i, (synonym, cosine)) in found.iter().enumerate() {
                assert!(find(*synonym).is_some() && *synonym != word_at(at));
                assert!(found[..i].iter().all(|(other, _)| other != synonym), "each once");
                assert!((LEAST - ROUNDED..=1.0).contains(cosine));
            }
        }
        assert_eq!(end, LEXICON.synonyms.len());
    }

    /// The direction of each stem's vector: the mean of the directions of its words' rows.
    fn directions() -> BTreeMap<Word, Vec<f64>> {
        let table = BuiltIn::default();
        let mut sums: BTreeMap<Word, Vec<f64>> = BTreeMap::new();
        for (id, token, word) in whole_words() {
            if token.len() > 2 && token.bytes().all(|byte| byte.is_ascii_lowercase()) {
                let (_, numbers) = table.row(id as usize).unwrap();
                let numbers = direction(numbers.iter().map(|byte| f64::from(byte.cast_signed())).collect());
                let sum = sums.entry(word).or_insert_with(|| vec![0.0; numbers.len()]);
                for (sum, number) in sum.iter_mut().zip(numbers) {
                    *sum += number;
                }
            }
        }
        sums.into_iter().map(|(word, sum)| (word, direction(sum))).collect()
    }

    fn direction(mut numbers: Vec<f64>) -> Vec<f64> {
        let length = dot(&numbers, &numbers).sqrt();
        for number in &mut numbers {
            *number /= length;
        }
        numbers
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn synonyms_are_those_of_the_table() {
        const SAMPLE: &str = "dog paint sister lisbon guitar doctor car allergic wedding python \
            tuesday happy bring quarterly database server music mountain purple recipe";
        let directions = directions();
        for text in SAMPLE.split_whitespace() {
            let word = word(text);
            let own = &directions[&word];
            let others = directions.iter().filter(|(other, _)| **other != word);
            let mut near: Vec<(Word, f64)> =
                others.map(|(&other, vector)| (other, dot(own, vector))).collect();
            near.retain(|(_, cosine)| *cosine >= LEAST);
            near.sort_by(|a, b| b.1.total_cmp(&a.1));
            near.truncate(MOST);
            let found: Vec<(Word, f64)> = synonyms(word).collect();
            assert_eq!(found.len(), near.len(), "{text}");
            for (found, near) in found.iter().zip(near) {
                assert_eq!(found.0, near.0, "{text}");
                assert!((found.1 - near.1).abs() <= ROUNDED, "{text}: {} for {}", found.1, near.1);
            }
        }
    }
}
