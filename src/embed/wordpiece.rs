//! Splits text into tokens of BERT's vocabularies: normalizes it, splits it into words, and each word into the longest known
//! pieces.
//!
//! Does exactly what Hugging Face's `tokenizers` does for BERT (after `BasicTokenizer` and `WordpieceTokenizer` of Devlin et
//! al. 2018), because a model's vectors belong to these tokens. Takes time linear in the text, whatever it contains.

use std::{borrow::Cow, collections::HashMap};

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A word with more characters is unknown.
const MAX_WORD_CHARS: usize = 100;
/// The prefix that marks, in a vocabulary, a piece that does not start a word.
const CONTINUES: &str = "##";

/// How a vocabulary's model expects a text to be normalized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Normalization {
    pub(crate) lower: bool,
    pub(crate) strip_accents: bool,
    /// Whether each Chinese character is a word.
    pub(crate) space_ideographs: bool,
}

impl Normalization {
    /// The normalization of uncased models.
    pub(crate) const UNCASED: Self = Self { lower: true, strip_accents: true, space_ideographs: true };
}

/// A vocabulary: the index of each token in its list.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    normalization: Normalization,
    starts: HashMap<Cow<'static, str>, u32>,
    continuations: HashMap<Cow<'static, str>, u32>,
    /// The length of the longest piece in bytes: longer ones are not looked up.
    longest: usize,
}

impl Vocabulary {
    /// Creates the vocabulary of these tokens, in their order, for texts that are first normalized in this way.
    pub(crate) fn new(
        tokens: impl IntoIterator<Item = Cow<'static, str>>,
        normalization: Normalization,
    ) -> Self {
        let (mut starts, mut continuations) = (HashMap::new(), HashMap::new());
        let mut longest = 0;
        for (id, token) in (0..).zip(tokens) {
            let continued = match &token {
                Cow::Borrowed(token) => token.strip_prefix(CONTINUES).map(Cow::Borrowed),
                Cow::Owned(token) => token.strip_prefix(CONTINUES).map(|piece| Cow::Owned(piece.to_owned())),
            };
            let (map, piece) = match continued {
                Some(piece) if !piece.is_empty() => (&mut continuations, piece),
                _ => (&mut starts, token),
            };
            longest = longest.max(piece.len());
            map.insert(piece, id);
        }
        Self { normalization, starts, continuations, longest }
    }

    /// Returns the index of a token that starts a word, or is a word.
    #[cfg(feature = "local")]
    pub(crate) fn id(&self, token: &str) -> Option<u32> {
        self.starts.get(token).copied()
    }

    /// Calls `each` with every token of the text, in order; `None` for a word that is not in the vocabulary.
    pub(crate) fn tokens(&self, text: &str, mut each: impl FnMut(Option<u32>)) {
        let mut ids = Vec::new();
        for_each_word(&normalized(text, self.normalization), |word| {
            ids.clear();
            if !self.word_pieces(word, &mut ids) {
                return each(None);
            }
            for &id in &ids {
                each(Some(id));
            }
        });
    }

    /// Splits a word into pieces, each the longest that fits; returns false if no piece fits somewhere.
    fn word_pieces(&self, word: &str, ids: &mut Vec<u32>) -> bool {
        // A char has at most 4 bytes, so most words need not be counted.
        if word.len() > MAX_WORD_CHARS && word.chars().nth(MAX_WORD_CHARS).is_some() {
            return false;
        }
        let mut map = &self.starts;
        let mut rest = word;
        while !rest.is_empty() {
            let mut end = rest.floor_char_boundary(self.longest);
            let found = loop {
                if end == 0 {
                    return false;
                }
                match map.get(&rest[..end]) {
                    Some(&id) => break id,
                    None => end = rest.floor_char_boundary(end - 1),
                }
            };
            ids.push(found);
            rest = &rest[end..];
            map = &self.continuations;
        }
        true
    }
}

/// Removes control characters; if configured, also removes accents, lowercases, and puts spaces around ideographs.
fn normalized(text: &str, how: Normalization) -> String {
    if text.is_ascii() {
        let kept = text.chars().filter(|c| !c.is_ascii_control() || matches!(c, '\t' | '\n' | '\r'));
        return if how.lower { kept.map(|c| c.to_ascii_lowercase()).collect() } else { kept.collect() };
    }
    let spaced = text.chars().filter(|&c| !is_control(c)).flat_map(|c| {
        let space = (how.space_ideographs && is_ideograph(c)).then_some(' ');
        [space, Some(c), space].into_iter().flatten()
    });
    let text: String = if how.strip_accents {
        let is_accent = |c: char| !c.is_ascii() && c.general_category() == GeneralCategory::NonspacingMark;
        spaced.nfd().filter(|&c| !is_accent(c)).collect()
    } else {
        spaced.collect()
    };
    if how.lower { text.chars().flat_map(char::to_lowercase).collect() } else { text }
}

/// Calls `each` with each word. Words are separated by white space; each punctuation mark is a word.
fn for_each_word<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    for word in text.split_whitespace() {
        let mut start = 0;
        for (at, c) in word.char_indices().filter(|(_, c)| is_punctuation(*c)) {
            let end = at + c.len_utf8();
            [&word[start..at], &word[at..end]]
                .into_iter()
                .filter(|part| !part.is_empty())
                .for_each(&mut each);
            start = end;
        }
        if start < word.len() {
            each(&word[start..]);
        }
    }
}

/// Whether a character is removed: an invisible or unassigned one. Line breaks and tabs count as white space.
fn is_control(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ if c.is_ascii() => c.is_ascii_control(),
        _ => c.general_category_group() == GeneralCategoryGroup::Other,
    }
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Whether a character is a word in Chinese, by the blocks that `tokenizers` lists for BERT.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2b73f}'
        | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKENS: [&str; 16] = [
        "un", "##aff", "##able", "want", "##want", "##ed", "cafe", "!", "中", "国", "run", "##ning",
        "\u{3b1}", "é", "a", "##a",
    ];

    fn vocabulary(normalization: Normalization) -> Vocabulary {
        Vocabulary::new(TOKENS.map(Cow::Borrowed), normalization)
    }

    #[track_caller]
    fn check_with(normalization: Normalization, text: &str, expected: &str) {
        let mut found = Vec::new();
        vocabulary(normalization).tokens(text, |id| found.push(id.map_or("?", |id| TOKENS[id as usize])));
        assert_eq!(found.join(" "), expected, "{text:?}");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        check_with(Normalization::UNCASED, text, expected);
    }

    #[test]
    fn words_are_split_into_the_longest_pieces() {
        check("unaffable wanted running", "un ##aff ##able want ##ed run ##ning");
        check("UNAFFABLE", "un ##aff ##able");
        check("unwanted", "un ##want ##ed");
        check("unaffablex wanted", "? want ##ed");
        check("able", "?");
        check("", "");
    }

    #[test]
    fn accents_marks_and_invisible_characters_go() {
        check("Café CAFE\u{301}", "cafe cafe");
        check("ca\u{200b}fe c\0afe caf\u{fffd}e ca\u{ad}fe ca\u{85}fe", "cafe cafe cafe cafe cafe");
        check("\u{391} \u{3b1}\u{301}", "\u{3b1} \u{3b1}");
    }

    #[test]
    fn case_accents_and_ideographs_stay_where_the_model_tells_them_apart() {
        let uncased = Normalization::UNCASED;
        check_with(Normalization { lower: false, ..uncased }, "run RUN É é", "run ? ? ?");
        let cased = Normalization { lower: false, strip_accents: false, ..uncased };
        check_with(cased, "run Run é É cafe\0", "run ? é ? cafe");
        check_with(Normalization { strip_accents: false, ..uncased }, "É RUN", "é run");
        check_with(Normalization { space_ideographs: false, ..uncased }, "中国 中", "? 中");
    }

    #[test]
    fn marks_and_ideographs_are_words() {
        check("run!!run", "run ! ! run");
        check("中国run中", "中 国 run 中");
        check("run\u{3000}run\u{2028}run\trun\r\nrun", "run run run run run");
        check("run\u{2014}run", "run ? run");
        check("run$run", "run ? run");
        check("run\u{20ac}run", "?");
    }

    #[test]
    fn a_word_of_more_than_100_characters_is_unknown() {
        check(&"a".repeat(100), &format!("a{}", " ##a".repeat(99)));
        check(&"a".repeat(101), "?");
        check(&"\u{3b1}".repeat(101), "?");
    }

    proptest! {
        #[test]
        fn any_text_has_tokens_in_bounds(text in any::<String>()) {
            let mut count = 0;
            vocabulary(Normalization::UNCASED).tokens(&text, |id| {
                count += 1;
                assert!(id.is_none_or(|id| (id as usize) < TOKENS.len()));
            });
            // A character has at most three parts in lower case.
            prop_assert!(count <= 3 * text.len());
        }
    }
}
