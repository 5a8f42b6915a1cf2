//! The words of a text, folded, stemmed, hashed and counted; and a turn's other properties ([`TurnTraits`]).
//!
//! A turn's words are stored with it as one small BLOB, the forward list, from which the index is built. Query strings
//! pass through the same functions and become numbers, so a search by words puts no text into SQL.
//!
//! Folding: Unicode NFKC, lower case, without Latin, Greek and Cyrillic accents. A word is a run of letters, digits and
//! marks. An apostrophe inside it is dropped (`don't` is `dont`); `+` and `#` stay after one or two letters (`c++`, `c#`).
//! Scripts written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) produce a word for each character and one
//! for each pair of neighbours. English words are stemmed (Snowball); English stop words are left out.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{
    UnicodeNormalization,
    char::{decompose_canonical, is_combining_mark},
};

use crate::{
    english::{
        statements::statements,
        stop_words::is_stop_word,
        wishes::{has_wish_word, wishes},
    },
    model::turn::{Origin, Said},
    text::memo::{FNV_OFFSET, Memo, Pool, fnv},
};

/// The version of the rules that derive a turn's words, its traits and the time it speaks of (`times::EventDays`). Increased
/// when the result changes for any turn, so that forward lists and the index are rewritten.
pub(crate) const RULES_VERSION: i64 = 4;

/// The most distinct words of a query that are looked up: the first ones.
pub(crate) const MAX_QUERY_WORDS: usize = 64;
/// How much of a query is read, for its words and for what it points to: people ask in a sentence or two. Enough for 64
/// words of any natural language; a longer query is cut at a character boundary.
pub(crate) const MAX_QUERY_BYTES: usize = 4_096;

/// A folded and stemmed word: FNV-1a over its UTF-8, 64 bits folded to 32 by xor
/// (draft-eastlake-fnv, sections 2 and 3). Of 300,000 different words about 11 pairs collide.
pub(crate) type Word = u32;

/// How many words at the beginning of the user's side and of the reply, stop words not counted, are the head of a turn:
/// people say there what it is about.
pub(crate) const HEAD_WORDS: [usize; 2] = [40, 20];
const MAX_HEAD_COUNT: u8 = 63;

/// How often a word occurs in each field of a turn. Counts stop at 63 in the head and at 255 in the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldCounts {
    /// Whether the word is part of the name of the author of the user's side: people ask what somebody said.
    pub(crate) name: bool,
    /// The count in the first words of both sides ([`HEAD_WORDS`]).
    pub(crate) head: u8,
    /// The count in all other words.
    pub(crate) rest: u8,
}

impl FieldCounts {
    /// Returns how often the word occurs in all fields together.
    pub(crate) fn total(self) -> u32 {
        u32::from(self.name) + u32::from(self.head) + u32::from(self.rest)
    }

    /// Encodes the name and the head in one byte, the rest in another.
    pub(crate) fn to_bytes(self) -> [u8; 2] {
        [u8::from(self.name) << 7 | self.head.min(MAX_HEAD_COUNT), self.rest]
    }

    pub(crate) fn from_bytes([head, rest]: [u8; 2]) -> Self {
        Self { name: head >> 7 == 1, head: head & MAX_HEAD_COUNT, rest }
    }
}

/// Properties of a turn other than its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each may be so by itself")]
pub(crate) struct TurnTraits {
    /// Whether the turn contains a question that it does not answer.
    pub(crate) asks: bool,
    /// Whether the user's side has a word for what holds permanently.
    pub(crate) wishes: bool,
    /// Whether the turn has a reply.
    pub(crate) has_reply: bool,
    /// Whether the author of the user's side has a name.
    pub(crate) is_named: bool,
    /// Whether the user states or ends a standing wish.
    pub(crate) states_wish: bool,
}

impl TurnTraits {
    fn of(said: &Said) -> Self {
        let has_reply = !said.ai_response.is_empty();
        Self {
            asks: !has_reply && ends_in_question(&said.user_message),
            wishes: has_wish_word(&said.user_message),
            has_reply,
            is_named: said.user_name.is_some(),
            states_wish: said.user_origin == Origin::User
                && !wishes(&statements(&said.user_message)).is_empty(),
        }
    }

    pub(crate) fn to_byte(self) -> u8 {
        [self.asks, self.wishes, self.has_reply, self.is_named, self.states_wish]
            .iter()
            .enumerate()
            .fold(0, |byte, (bit, &is_so)| byte | u8::from(is_so) << bit)
    }

    pub(crate) fn from_byte(byte: u8) -> Self {
        let bit = |bit: u8| byte >> bit & 1 == 1;
        Self { asks: bit(0), wishes: bit(1), has_reply: bit(2), is_named: bit(3), states_wish: bit(4) }
    }
}

/// Whether there is a question mark near the end: often one more word follows a question.
fn ends_in_question(text: &str) -> bool {
    const NEAR_BYTES: usize = 80;
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(NEAR_BYTES))..];
    end.contains(['?', '\u{ff1f}', '\u{61f}'])
}

/// A word of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordCount {
    pub(crate) word: Word,
    pub(crate) counts: FieldCounts,
}

/// The forward list of one turn: its words, ascending, each once with its counts; the lengths of head and rest; the turn's
/// traits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordCounts {
    pub(crate) traits: TurnTraits,
    pub(crate) head_len: u32,
    pub(crate) rest_len: u32,
    pub(crate) counts: Vec<WordCount>,
}

impl WordCounts {
    /// Counts the words of a turn, and those of the name of the author of its user side.
    pub(crate) fn of(said: &Said) -> Self {
        let name = said.user_name.as_deref().unwrap_or_default();
        Self {
            traits: TurnTraits::of(said),
            ..Self::of_fields(name, [&said.user_message, &said.ai_response])
        }
    }

    /// Counts the words of a text that is not a turn.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::of_fields("", [text, ""])
    }

    fn of_fields(name: &str, sides: [&str; 2]) -> Self {
        const HEAD: u64 = 0;
        const REST: u64 = 1;
        const NAME: u64 = 2;
        // The field is in the lowest bits, so that sorting groups by word and, within a word, by field.
        let mut found: Vec<u64> = Vec::with_capacity((sides[0].len() + sides[1].len()) / 8);
        let (mut head_len, mut rest_len) = (0_u32, 0_u32);
        for (side, head_words) in sides.into_iter().zip(HEAD_WORDS) {
            let mut place = 0;
            for_each_word(side, |word| {
                let (field, len) =
                    if place < head_words { (HEAD, &mut head_len) } else { (REST, &mut rest_len) };
                found.push(u64::from(word) << 2 | field);
                *len = len.saturating_add(1);
                place += 1;
            });
        }
        for_each_word(name, |word| found.push(u64::from(word) << 2 | NAME));
        found.sort_unstable();

        let mut counts: Vec<WordCount> = Vec::with_capacity(found.len());
        for tagged in found {
            let word = Word::try_from(tagged >> 2).expect("a 32-bit word was shifted by two");
            if counts.last().is_none_or(|last| last.word != word) {
                counts.push(WordCount { word, counts: FieldCounts::default() });
            }
            let counts = &mut counts.last_mut().expect("one was just pushed").counts;
            match tagged & 3 {
                HEAD => counts.head = (counts.head + 1).min(MAX_HEAD_COUNT),
                REST => counts.rest = counts.rest.saturating_add(1),
                _ => counts.name = true,
            }
        }
        Self { traits: TurnTraits::default(), head_len, rest_len, counts }
    }

    /// Encodes the list. Version 1: a byte 1, a byte of traits, both lengths as u32, then for each word its u32 and two
    /// bytes of counts; all little-endian.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + ENTRY * self.counts.len());
        bytes.extend_from_slice(&[VERSION, self.traits.to_byte()]);
        bytes.extend_from_slice(&self.head_len.to_le_bytes());
        bytes.extend_from_slice(&self.rest_len.to_le_bytes());
        for WordCount { word, counts } in &self.counts {
            bytes.extend_from_slice(&word.to_le_bytes());
            bytes.extend_from_slice(&counts.to_bytes());
        }
        bytes
    }
}

const VERSION: u8 = 1;
const HEADER: usize = 10;
const ENTRY: usize = 6;

/// An encoded forward list, read in place.
#[derive(Clone, Copy)]
pub(crate) struct EncodedWords<'a> {
    pub(crate) traits: TurnTraits,
    /// How many words the head and the rest have, without stop words.
    pub(crate) head_len: u32,
    pub(crate) rest_len: u32,
    entries: &'a [[u8; ENTRY]],
}

impl<'a> EncodedWords<'a> {
    /// Parses an encoded list. `None` if these bytes are not a forward list of a known version.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, entries) = bytes.split_at_checked(HEADER)?;
        let (entries, rest) = entries.as_chunks::<ENTRY>();
        if header[0] != VERSION || !rest.is_empty() {
            return None;
        }
        let head_len = u32::from_le_bytes(header[2..6].try_into().ok()?);
        let rest_len = u32::from_le_bytes(header[6..10].try_into().ok()?);
        Some(Self { traits: TurnTraits::from_byte(header[1]), head_len, rest_len, entries })
    }

    /// Returns how many words the turn has, without stop words.
    pub(crate) fn len(&self) -> u32 {
        self.head_len.saturating_add(self.rest_len)
    }

    /// Returns how often `word` occurs in the turn, in all fields together.
    pub(crate) fn count(&self, word: Word) -> u32 {
        self.field_counts(word).map_or(0, FieldCounts::total)
    }

    /// Returns how often `word` occurs in each field; `None` if it does not occur.
    pub(crate) fn field_counts(&self, word: Word) -> Option<FieldCounts> {
        let at = self.entries.binary_search_by_key(&word, |entry| word_of(*entry)).ok()?;
        Some(counts_of(self.entries[at]))
    }

    /// Iterates over the words, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Word, FieldCounts)> + use<'a> {
        self.entries.iter().map(|entry| (word_of(*entry), counts_of(*entry)))
    }
}

fn word_of(entry: [u8; ENTRY]) -> Word {
    Word::from_le_bytes([entry[0], entry[1], entry[2], entry[3]])
}

fn counts_of(entry: [u8; ENTRY]) -> FieldCounts {
    FieldCounts::from_bytes([entry[4], entry[5]])
}

/// Returns the words of a query, each once, in their order, at most [`MAX_QUERY_WORDS`].
pub(crate) fn query_words(query: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for_each_word(&query[..query.floor_char_boundary(MAX_QUERY_BYTES)], |word| {
        if words.len() < MAX_QUERY_WORDS && !words.contains(&word) {
            words.push(word);
        }
    });
    words
}

/// Calls `each` with every word of `text` except stop words, in order.
pub(crate) fn for_each_word(text: &str, mut each: impl FnMut(Word)) {
    SCRATCH.with(|scratch| {
        let Scratch { folded, word, stems } = scratch;
        fold_into(text, folded);
        let mut previous_unspaced: Option<char> = None;
        let mut chars = folded.chars().peekable();
        word.clear();
        while let Some(c) = chars.next() {
            if c.is_ascii_alphanumeric() || (!c.is_ascii() && is_spaced_word_char(c)) {
                word.push(c);
                previous_unspaced = None;
                continue;
            }
            let inside = match c {
                '\'' | '\u{2019}' => !word.is_empty() && chars.peek().is_some_and(|c| c.is_alphanumeric()),
                '+' | '#'
                    if (1..=4).contains(&word.len()) && word.trim_end_matches(['+', '#']).len() <= 2 =>
                {
                    word.push(c);
                    true
                }
                _ => false,
            };
            if inside {
                continue;
            }
            emit(word, stems, &mut each);
            if is_unspaced(c) {
                each(hash_chars(&[c]));
                if let Some(previous) = previous_unspaced {
                    each(hash_chars(&[previous, c]));
                }
                previous_unspaced = Some(c);
            } else {
                previous_unspaced = None;
            }
        }
        emit(word, stems, &mut each);
    });
}

fn emit(word: &mut String, stems: &mut Stems, each: &mut impl FnMut(Word)) {
    if !word.is_empty() {
        if let Some(hash) = stems.hash_of(word) {
            each(hash);
        }
        word.clear();
    }
}

/// Normalizes a text for comparing words: compatible forms unified, lower case, without Latin, Greek and Cyrillic accents.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Replaces the contents of `folded` by the folded text.
fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
        return;
    }
    for c in text.nfkc().flat_map(char::to_lowercase) {
        if c.is_ascii() || is_hangul_syllable(c) {
            folded.push(c);
        } else {
            decompose_canonical(c, |part| {
                if !matches!(part, '\u{300}'..='\u{36f}') {
                    folded.push(part);
                }
            });
        }
    }
}

fn is_spaced_word_char(c: char) -> bool {
    (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c)
}

fn is_hangul_syllable(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// Whether a character belongs to a script without spaces between words, or to Hangul, whose words include their particles.
fn is_unspaced(c: char) -> bool {
    is_hangul_syllable(c)
        || matches!(c,
            '\u{e00}'..='\u{eff}'        // Thai, Lao
            | '\u{1000}'..='\u{109f}'    // Burmese
            | '\u{1780}'..='\u{17ff}'    // Khmer
            | '\u{3005}'..='\u{3007}'    // Iteration mark, zero
            | '\u{3041}'..='\u{30ff}'    // Kana
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
            | '\u{20000}'..='\u{3ffff}')
}

fn hash_chars(chars: &[char]) -> Word {
    let mut buffer = [0; 4];
    let mut hash = FNV_OFFSET;
    for c in chars {
        hash = fnv(hash, c.encode_utf8(&mut buffer).as_bytes());
    }
    fold_hash(hash)
}

fn fold_hash(hash: u64) -> Word {
    Word::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).expect("both halves have 32 bits")
}

static SCRATCH: Pool<Scratch> = Pool::new(Scratch::new);

/// Reusable buffers for counting words.
struct Scratch {
    folded: String,
    word: String,
    stems: Stems,
}

impl Scratch {
    fn new() -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        Self { folded: String::new(), word: String::new(), stems: Stems { stemmer, known: Memo::new() } }
    }
}

/// The stemmer and a cache of recent stems; a look-up takes a tenth of the time of stemming.
struct Stems {
    stemmer: Stemmer,
    known: Memo<Option<Word>>,
}

/// Longer "words" are data, not language, and are neither stemmed nor cached.
const MAX_STEMMED_BYTES: usize = 32;

impl Stems {
    /// Returns the hash of a folded word's stem; `None` for a stop word.
    fn hash_of(&mut self, word: &str) -> Option<Word> {
        if word.len() > MAX_STEMMED_BYTES || !word.bytes().all(|b| b.is_ascii_lowercase()) {
            return Some(fold_hash(fnv(FNV_OFFSET, word.as_bytes())));
        }
        self.known.get(word, || {
            (!is_stop_word(word)).then(|| fold_hash(fnv(FNV_OFFSET, self.stemmer.stem(word).as_bytes())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::turn::NewTurn;

    /// Checks that the query finds the text if and only if `finds`.
    #[track_caller]
    fn check(text: &str, query: &str, finds: bool) {
        let encoded = WordCounts::of_text(text).encode();
        let words = EncodedWords::parse(&encoded).unwrap();
        let query = query_words(query);
        let found = !query.is_empty() && query.iter().all(|&word| words.count(word) > 0);
        assert_eq!(found, finds, "{text:?} by {query:?}");
    }

    #[test]
    fn other_words_have_another_version() {
        let sides = [
            (
                "Don't we ALWAYS ship C++ code \u{e9}t\u{e9}? I prefer running, \u{4f60}\u{597d}!",
                "Yes, 3.5 of them.",
            ),
            ("Is it going to be sunny?", ""),
            (
                "From now on, no jokes about boats and boating.",
                "Fine: the boats' names were removed. [image: a boat]",
            ),
        ];
        let mut sum = crc32fast::Hasher::new();
        for (user, reply) in sides {
            let mut turn = NewTurn::new(user.repeat(9), reply);
            sum.update(&WordCounts::of(&turn.said).encode());
            turn.said.user_name = Some("Zo\u{eb} Miller".into());
            sum.update(&WordCounts::of(&turn.said).encode());
        }
        for list in [
            include_str!("../english/lists/stop.txt"),
            include_str!("../english/lists/wish_words.txt"),
            include_str!("../english/lists/wishes.txt"),
            include_str!("../english/lists/orders.txt"),
        ] {
            list.lines().filter(|line| !line.starts_with('#')).for_each(|line| {
                sum.update(line.as_bytes());
                sum.update(b"\n");
            });
        }
        assert_eq!(
            (RULES_VERSION, sum.finalize()),
            (4, 3_354_667_732),
            "raise RULES_VERSION, and put the new sum here"
        );
    }

    #[test]
    fn words_are_found_in_any_case_form_and_accent() {
        check("Paintings of a sunrise", "painted sunrises", true);
        check("Der Fluß in Köln", "koln", true);
        check("Caroline's necklace", "caroline necklaces", true);
        check("I don't know", "dont", false); // a stop word
        check("Ελλάδα", "ΕΛΛΑΔΑ", true);
        check("straße", "STRASSE", false); // no case folding beyond lower case
        check("ﬁnance", "finance", true);
        check("a sunrise", "sunset", false);
    }

    #[test]
    fn odd_strings_are_words_or_nothing() {
        check("I write C++ and C#", "c++", true);
        check("I write C", "c++", false);
        check("50% of it", "50%", true);
        check("a@b.example", "b.example", true);
        check("anything", "\"", false);
        check("anything", "(", false);
        check("anything", "", false);
        check("the and of", "the", false);
        check("🦊 fox", "🦊", false);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_characters_and_pairs() {
        check("昨日、黒猫を見た", "黒猫", true);
        check("昨日、黒猫を見た", "猫", true);
        check("昨日、黒い猫を見た", "黒猫", false);
        check("ฉันชอบแมว", "แมว", true);
        check("나는 고양이를 좋아해", "고양이", true);
        check("שלום עולם", "עולם", true);
        check("मुझे हिन्दी पसंद है", "हिन्दी", true);
    }

    #[test]
    fn fields_are_counted_apart_and_counts_have_an_end() {
        let message = format!("{}fox dog {}", "bird ".repeat(HEAD_WORDS[0] - 1), "fox ".repeat(300));
        let mut said = NewTurn::new(message, "bird dog").said;
        said.user_name = Some("Melanie".to_owned());
        let words = WordCounts::of(&said);
        let counts = |word| {
            let word = query_words(word)[0];
            let found = words.counts.iter().find(|count| count.word == word).unwrap().counts;
            (found.name, found.head, found.rest)
        };
        assert_eq!(counts("fox"), (false, 1, 255));
        assert_eq!(counts("dog"), (false, 1, 1));
        assert_eq!(counts("bird"), (false, 40, 0));
        assert_eq!(counts("Melanie"), (true, 0, 0), "who speaks");
        assert_eq!((words.head_len, words.rest_len), (42, 301));
        let encoded = words.encode();
        let read = EncodedWords::parse(&encoded).unwrap();
        assert_eq!(
            read.iter().map(|(word, counts)| WordCount { word, counts }).collect::<Vec<_>>(),
            words.counts
        );
        assert_eq!(read.traits, words.traits);
    }

    #[track_caller]
    fn check_traits(message: &str, reply: &str, expected: [bool; 4]) {
        let traits = TurnTraits::of(&NewTurn::new(message, reply).said);
        assert_eq!([traits.asks, traits.wishes, traits.has_reply, traits.is_named], expected, "{message:?}");
        assert_eq!(TurnTraits::from_byte(traits.to_byte()), traits);
    }

    #[test]
    fn what_a_turn_is_shows_in_its_text() {
        check_traits("Where did you go?", "", [true, false, false, false]);
        check_traits("Where did you go? I was at home.", "", [true, false, false, false]);
        check_traits(
            "Did you? I went to the sea, and I stayed for as long as the water was warm enough for it, and then for a week more.",
            "",
            [false, false, false, false],
        );
        check_traits("Where did you go?", "Home.", [false, false, true, false]);
        check_traits("Please ALWAYS use metric units.", "", [false, true, false, false]);
        check_traits("I\u{2019}d rather walk.", "", [false, true, false, false]);
        check_traits("The hallways", "", [false, false, false, false]);
    }

    #[test]
    fn only_what_the_user_writes_states_a_wish() {
        let states = |said: &Said| {
            let traits = TurnTraits::of(said);
            assert_eq!(TurnTraits::from_byte(traits.to_byte()), traits);
            traits.states_wish
        };
        let mut said = NewTurn::new("Keep your answers short.", "Fine.").said;
        assert!(states(&said));
        said.user_origin = Origin::Document;
        assert!(!states(&said));
        assert!(!states(&NewTurn::new("I always walk.", "Keep your answers short.").said));
    }

    #[test]
    fn a_query_is_cut_at_64_words() {
        let query: Vec<String> = (0..100_000).map(|n| format!("w{n}")).collect();
        assert_eq!(query_words(&query.join(" ")).len(), MAX_QUERY_WORDS);
    }

    #[test]
    fn hashes_are_the_same_on_every_machine() {
        // FNV-1a 64 of "fox" is 0xd8cc_0918_66b4_7c6a: the file format depends on it.
        let hash = fnv(FNV_OFFSET, b"fox");
        assert_eq!(query_words("foxes"), [fold_hash(hash)]);
    }

    #[test]
    fn foreign_bytes_are_no_forward_list() {
        assert!(EncodedWords::parse(b"").is_none());
        assert!(EncodedWords::parse(&[2; HEADER]).is_none());
        assert!(EncodedWords::parse(&[1; HEADER + 1]).is_none());
    }
}
