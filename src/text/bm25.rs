//! Ranks texts for a query by words.

use std::cmp::Ordering;

use crate::text::words::Word;

/// The usual values of Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Ranks texts that are passed in one at a time, so that they are never all in memory. Statistics are over these texts.
///
/// BM25 with idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
pub(crate) struct Ranking<'q, K> {
    query: &'q [Word],
    /// The key and the length of each text that has a word of the query.
    hits: Vec<(K, u32)>,
    /// For each hit, how often it has each word of the query, at most 255. All are in one byte vector: common words hit most
    /// texts, and a list for each hit took 265 MB for 64 words in a million texts.
    counts: Vec<u8>,
    seen_count: u32,
    total_len: u64,
}

impl<'q, K: Ord + Copy> Ranking<'q, K> {
    pub(crate) fn new(query: &'q [Word]) -> Self {
        Self { query, hits: Vec::new(), counts: Vec::new(), seen_count: 0, total_len: 0 }
    }

    /// Adds one text: how many words it has, and how often it has each word of the query.
    pub(crate) fn see(&mut self, key: K, len: u32, counts: &[u8]) {
        debug_assert_eq!(counts.len(), self.query.len(), "one count for each word of the query");
        self.seen_count += 1;
        self.total_len += u64::from(len);
        if counts.iter().any(|&count| count > 0) {
            self.hits.push((key, len));
            self.counts.extend_from_slice(counts);
        }
    }

    /// Returns the best `k` of the texts with at least one word of the query, best first; on a tie, the greater key, and so
    /// the newer text, comes first.
    pub(crate) fn best(self, k: usize) -> Vec<(K, f64)> {
        let n = f64::from(self.seen_count);
        #[expect(clippy::cast_precision_loss, reason = "an average length needs no 53 bits")]
        let average_len = (self.total_len as f64 / n.max(1.0)).max(1.0);
        let idf: Vec<f64> = (0..self.query.len())
            .map(|w| self.counts_of_hits().filter(|counts| counts[w] > 0).count())
            .map(|df| f64::from(u32::try_from(df).unwrap_or(u32::MAX)))
            .map(|df| libm::log(1.0 + (n - df + 0.5) / (df + 0.5)))
            .collect();

        let mut ranked: Vec<(K, f64)> = self
            .hits
            .iter()
            .zip(self.counts_of_hits())
            .map(|(&(key, len), counts)| {
                let long = K1 * (1.0 - B + B * f64::from(len) / average_len);
                let part = |(&count, idf): (&u8, &f64)| {
                    let tf = f64::from(count);
                    idf * tf * (K1 + 1.0) / (tf + long)
                };
                (key, round(counts.iter().zip(&idf).map(part).sum()))
            })
            .collect();
        // A million hits need not be sorted, only the best of them.
        if k < ranked.len() {
            ranked.select_nth_unstable_by(k, by_rank);
            ranked.truncate(k);
        }
        ranked.sort_unstable_by(by_rank);
        ranked
    }

    fn counts_of_hits(&self) -> impl Iterator<Item = &[u8]> {
        self.counts.chunks_exact(self.query.len().max(1)) // Chunks of size zero would panic.
    }
}

/// Orders better scores first; on a tie, the greater key.
fn by_rank<K: Ord>(a: &(K, f64), b: &(K, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0))
}

/// Rounds a score to 1e-6, so that the last bits of a logarithm decide nothing.
fn round(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::{EncodedWords, WordCounts, query_words};

    #[track_caller]
    fn check(texts: &[&str], query: &str, expected: &[usize]) {
        for k in [0, 1, 2, 10] {
            assert_eq!(best(texts, query, k), expected[..k.min(expected.len())], "{query:?}, the best {k}");
        }
    }

    fn best(texts: &[&str], query: &str, k: usize) -> Vec<usize> {
        let encoded: Vec<Vec<u8>> = texts.iter().map(|text| WordCounts::of_text(text).encode()).collect();
        let query_words = query_words(query);
        let mut ranking = Ranking::new(&query_words);
        for (i, words) in encoded.iter().enumerate() {
            let words = EncodedWords::parse(words).unwrap();
            let counts = query_words.iter().map(|word| u8::try_from(words.count(*word)).unwrap_or(u8::MAX));
            ranking.see(i, words.len(), &counts.collect::<Vec<_>>());
        }
        ranking.best(k).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn rare_words_and_short_texts_come_first() {
        check(&["the cat and the dog", "cat", "dog dog dog", "bird"], "cat", &[1, 0]);
        check(&["cat fish", "cat bird", "cat"], "cat bird", &[1, 2, 0]);
    }

    #[test]
    fn the_newer_of_equals_comes_first() {
        check(&["cat one", "cat two", "cat six"], "cat", &[2, 1, 0]);
    }

    #[test]
    fn a_word_said_a_thousand_times_is_a_word_said_often() {
        check(&["cat", &"cat ".repeat(1_000), "dog"], "cat", &[1, 0]);
    }

    #[test]
    fn no_word_finds_nothing() {
        check(&["cat"], "", &[]);
        check(&[], "cat", &[]);
    }
}
