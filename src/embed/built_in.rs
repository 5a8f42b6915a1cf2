//! The embedder that ships with the crate: a table with a vector for each token. A text's vector is the weighted mean of
//! its tokens' vectors.
//!
//! It needs no download, no thread, and only microseconds per text. `assets/built_in/README.md` says how the table is made,
//! and from what.

use std::{borrow::Cow, fmt, sync::OnceLock};

use crate::embed::{
    Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace,
    quantize::Vector,
    wordpiece::{Normalization, Vocabulary},
};

/// The counts of rows and dims as u32, a scale for each row as f32, then the rows, one byte per number; all little-endian.
static TABLE: &[u8] = include_bytes!("../../assets/built_in/table.bin");
/// The rows' tokens, one per line.
pub(super) static TOKENS: &str = include_str!("../../assets/built_in/vocab.txt");

/// How many numbers the table has for each token.
const DIMS: usize = 256;
const HEAD_BYTES: usize = 8;
const SCALE_BYTES: usize = 4;

/// The embedder that ships with the crate: English, 256 numbers per vector, about 4 microseconds for a query.
///
/// Uses a static table made from the word embeddings of all-MiniLM-L6-v2: a text's vector is the weighted mean of its
/// tokens' vectors, in which frequent tokens weigh little. It knows what words mean, but not their order. Text in an unknown
/// script has no vector and is found only by words.
#[derive(Clone, Copy)]
pub struct BuiltIn {
    scales: &'static [[u8; SCALE_BYTES]],
    rows: &'static [[u8; DIMS]],
}

impl Default for BuiltIn {
    /// Costs nothing: the table is part of the program.
    fn default() -> Self {
        let count = TABLE.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
        let (scales, rows) = TABLE[HEAD_BYTES..].split_at(count * SCALE_BYTES);
        Self { scales: scales.as_chunks().0, rows: rows.as_chunks().0 }
    }
}

impl BuiltIn {
    /// The model name of its space.
    pub(crate) const MODEL: &str = "thermocline-built-in";

    /// Returns the vector of a text; `None` if the table knows none of its tokens. Takes time linear in the text.
    pub(crate) fn embed_text(&self, text: &str) -> Option<Vector> {
        Vector::of(&self.mean(text))
    }

    /// Returns the sum of the tokens' rows, which has the direction of their mean; only the direction matters. Numbers are
    /// summed in the order of the text, so that every machine rounds the same way.
    fn mean(&self, text: &str) -> [f32; DIMS] {
        let mut sum = [0.0; DIMS];
        vocabulary().tokens(text, |id| {
            // Tokens that the table does not know are ignored.
            let Some((scale, row)) = id.and_then(|id| self.row(id as usize)) else { return };
            for (sum, &byte) in sum.iter_mut().zip(row) {
                *sum += scale * f32::from(byte.cast_signed());
            }
        });
        sum
    }

    /// Returns the scale and the numbers of a token's row.
    pub(super) fn row(&self, id: usize) -> Option<(f32, &'static [u8; DIMS])> {
        Some((f32::from_le_bytes(*self.scales.get(id)?), self.rows.get(id)?))
    }
}

impl Embedder for BuiltIn {
    fn space(&self) -> EmbeddingSpace {
        EmbeddingSpace { model: Self::MODEL.to_owned(), revision: "1".to_owned(), dims: 256 }
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        Box::pin(async move { Ok(texts.iter().map(|text| self.mean(text).to_vec()).collect()) })
    }
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltIn")
            .field("tokens", &self.rows.len())
            .field("dims", &DIMS)
            .finish_non_exhaustive()
    }
}

/// Returns the vocabulary. The first text that is embedded in a process reads it, in about 4 ms.
fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| Vocabulary::new(TOKENS.lines().map(Cow::Borrowed), Normalization::UNCASED))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::embed::lexicon;

    fn embedded(text: &str) -> Vector {
        BuiltIn::default().embed_text(text).expect("a text with words")
    }

    #[test]
    fn the_assets_are_those_that_their_readme_describes() {
        let readme = include_str!("../../assets/built_in/README.md");
        let assets = [("table.bin", TABLE), ("vocab.txt", TOKENS.as_bytes()), ("words.bin", lexicon::FILE)];
        for (name, bytes) in assets {
            let hash = crate::model::hex::hex(&Sha256::digest(bytes));
            assert!(readme.contains(&format!("\n| {name} | {hash} |\n")), "{name}: {hash}");
        }
        let table = BuiltIn::default();
        assert_eq!(table.scales.len(), table.rows.len());
        assert_eq!(table.rows.len(), TOKENS.lines().count());
        assert_eq!(TABLE.len(), HEAD_BYTES + table.rows.len() * (SCALE_BYTES + DIMS));
    }

    /// Texts, and the first numbers of their vectors of length 1, computed with numpy and the model's own tokenizer.
    const REFERENCE: [(&str, [f64; 4]); 12] = [
        ("My sister Anna moved to Lisbon last spring.", [-0.0037, -0.2516, -0.0588, 0.1779]),
        ("Where does Anna live now?", [-0.1694, -0.1887, -0.0826, 0.2419]),
        ("I am allergic to peanuts and shellfish.", [0.0181, -0.3302, 0.2259, -0.0585]),
        ("What food must I avoid?", [-0.3306, -0.1296, 0.0056, 0.0985]),
        ("Café crème, s'il vous plaît!", [-0.0737, -0.4037, 0.024, 0.2577]),
        ("The quarterly report is due on 14 March 2025.", [-0.2266, -0.0907, -0.2556, 0.1516]),
        ("When do I have to hand in the report?", [-0.2882, -0.1077, -0.0546, 0.196]),
        ("我喜欢喝茶。", [0.2865, 0.2784, 0.0948, 0.1462]),
        ("Ich wohne in Köln und arbeite als Ärztin.", [0.0153, -0.2721, 0.0871, 0.398]),
        ("HTTP 500 errors after deploying v2.3.1 to Kubernetes :(", [-0.2296, -0.272, -0.1702, 0.2104]),
        ("Привет, как дела?", [0.1103, 0.1827, -0.033, 0.4566]),
        ("antidisestablishmentarianism & floccinaucinihilipilification", [-0.2886, -0.3781, -0.0631, 0.3157]),
    ];

    /// The cosines between neighbouring texts: of the first with the second, of the second with the third and so on.
    const REFERENCE_COSINES: [f64; 11] =
        [0.5366, 0.2166, 0.2583, 0.2115, 0.1289, 0.3961, 0.0298, 0.0189, 0.2358, 0.124, 0.1326];

    /// By how much rounding to a byte may change a number.
    const ROUNDED: f64 = 0.004;

    #[test]
    fn vectors_are_those_of_the_reference() {
        for (text, expected) in REFERENCE {
            let vector = embedded(text);
            for (number, expected) in vector.numbers().iter().zip(expected) {
                let number = f64::from(*number) / vector.length();
                assert!((number - expected).abs() < ROUNDED, "{text}: {number} for {expected}");
            }
        }
        for (pair, expected) in REFERENCE.windows(2).zip(REFERENCE_COSINES) {
            let cosine = embedded(pair[0].0).cosine(&embedded(pair[1].0));
            assert!((f64::from(cosine) - expected).abs() < ROUNDED, "{pair:?}: {cosine} for {expected}");
        }
    }

    #[test]
    fn what_means_the_same_is_near() {
        let near = |a: &str, b: &str| embedded(a).cosine(&embedded(b));
        let dog = "My dog is ill.";
        assert!(near(dog, "The puppy is sick.") > near(dog, "The contract is signed.") + 0.1);
        // Case and spacing do not matter, and words that occur in every sentence hardly do.
        assert!(near(dog, "my  DOG\nis ill .") > 0.9999);
        assert!(near(dog, "dog ill") > 0.9);
    }

    #[test]
    fn text_without_words_has_no_vector() {
        for text in ["", " \n", "\u{200b}", "\u{10ffff}", "𒀀𒀁 𒀂"] {
            assert_eq!(BuiltIn::default().embed_text(text), None, "{text:?}");
        }
    }

    #[tokio::test]
    async fn the_trait_gives_the_same_vectors() {
        let embedder = BuiltIn::default();
        let texts = ["A red fox.", "", "I moved."].map(String::from);
        let vectors = embedder.embed(&texts, EmbeddingPurpose::Document).await.unwrap();
        assert_eq!(vectors.len(), texts.len());
        for (text, floats) in texts.iter().zip(&vectors) {
            assert_eq!(floats.len(), embedder.space().dims as usize);
            assert_eq!(Vector::of(floats), embedder.embed_text(text));
        }
    }
}
