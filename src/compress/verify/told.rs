//! Compares the words of a summary with those of its turn.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    compress::verify::{flaw::Flaw, language, source::SourceText},
    english::lists::{List, list},
    text::words::{self, Word},
};

/// At least one in this many content words of a summary must be in its turn, otherwise the summary is about something else.
/// The bar is low, since a good paraphrase shares few words: of 69 written by hand in different styles, the lowest shared 3
/// of 9 on a short turn; of 1,239 that a model made from single turns of people's chats, 2 % shared less than one in three
/// (2026-11). Of summaries compared with short turns of strangers, 19 in 20 shared less than 1 in 5.
const SHARED_ONE_IN: usize = 3;
/// The same for a long turn, where many words are shared by chance: the lowest share of a good paraphrase was 7 of 14.
const SHARED_BY_CHANCE_ONE_IN: usize = 2;
/// A turn with at least this many different words is long: a reply of some 3,000 characters.
const LONG_TURN_WORDS: usize = 200;
/// The most content words in a row that the turn may lack; more of them state something else. Text appended to half of an
/// honest summary had 4 or more in 17 of 20 cases. Of good paraphrases, those by hand had 5 in one of 49 and otherwise at
/// most 3, and those by a model 4 or more in one of 10. In doubt the summary is refused, which only means that the built-in
/// summarizer is used.
const MAX_FOREIGN_RUN: usize = 3;
/// A sentence of a summary is checked by itself if it has at least this many content words: a shorter one is easily
/// paraphrased.
const LEAST_MEASURED: usize = 3;
/// In scripts without spaces, a pair of characters counts as half a word.
const PAIRS_PER_WORD: usize = 2;

/// Reporting words, which every summary may use, whatever its turn says.
static TELLING: LazyLock<HashSet<Word>> = LazyLock::new(|| stems(&list!("telling")));

/// Returns the words of a list in comparable form.
pub(super) fn stems(list: &List) -> HashSet<Word> {
    list.words().flat_map(words::query_words).collect()
}

/// The origin of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOrigin {
    /// The turn has it.
    Turns,
    /// The turn lacks it.
    Foreign,
    /// Neither: a stop word, a reporting word, or a number or date, which are checked separately.
    Nobodys,
}

impl WordOrigin {
    fn of(word: Word, source: &SourceText) -> Self {
        if source.has_word(word) { Self::Turns } else { Self::Foreign }
    }
}

/// One word of a summary.
#[derive(Debug)]
pub(super) struct ToldWord<'a> {
    /// The word, folded.
    pub(super) text: &'a str,
    /// The word in comparable form; `None` for a stop word.
    pub(super) word: Option<Word>,
    pub(super) whose: WordOrigin,
    /// Whether it ends a sentence, or a part of one before a semicolon or colon.
    pub(super) is_last: bool,
}

/// Splits a folded summary, from which dates are removed, into its words. A run of characters in a script without spaces is
/// one word, and its origin is [`WordOrigin::Nobodys`].
pub(super) fn told<'a>(folded: &'a str, source: &SourceText) -> Vec<ToldWord<'a>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '\'';
    let mut told: Vec<ToldWord<'_>> = Vec::new();
    let mut rest = folded;
    while let Some(start) = rest.find(is_part) {
        if let Some(last) = told.last_mut() {
            last.is_last |= rest[..start].contains(['.', '!', '?', ';', ':', '\u{2026}']);
        }
        rest = &rest[start..];
        let (text, behind) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        rest = behind;
        let word = words::query_words(text).first().copied();
        let whose = match word {
            Some(word) if !text.starts_with(|c: char| c.is_numeric()) && !TELLING.contains(&word) => {
                let is_unspaced = text.contains(language::is_unspaced_char);
                if is_unspaced { WordOrigin::Nobodys } else { WordOrigin::of(word, source) }
            }
            _ => WordOrigin::Nobodys,
        };
        told.push(ToldWord { text, word, whose, is_last: false });
    }
    told
}

/// Folds a summary and removes the dates that the source supports, as [`told`] expects it.
pub(super) fn folded(summary: &str, source: &SourceText) -> String {
    source.without_supported_dates(&words::fold(summary).replace('\u{2019}', "'"))
}

/// Checks that a summary is about its turn, and no part of it is about something else.
pub(super) fn check(told: &[ToldWord<'_>], source: &SourceText) -> Result<(), Flaw> {
    let is_by_chance = source.word_count() >= LONG_TURN_WORDS;
    let one_in = if is_by_chance { SHARED_BY_CHANCE_ONE_IN } else { SHARED_ONE_IN };
    let is_little = |(shared, all): (usize, usize)| shared < all.div_ceil(one_in).max(1);
    // A summary without a content word only says that something was said.
    if is_little(shared(told, source)) {
        return Err(Flaw::Unrelated);
    }
    let mut sentences = told.split_inclusive(|word| word.is_last).map(|sentence| shared(sentence, source));
    if sentences.any(|counts| counts.1 >= LEAST_MEASURED && is_little(counts))
        || longest_foreign_run(told, source) > MAX_FOREIGN_RUN * PAIRS_PER_WORD
    {
        return Err(Flaw::ForeignWords);
    }
    Ok(())
}

/// Returns how many content words of the summary its turn has, and how many content words there are.
fn shared(told: &[ToldWord<'_>], source: &SourceText) -> (usize, usize) {
    let (mut shared, mut all) = (0, 0);
    for word in told {
        let is_unspaced = word.text.contains(language::is_unspaced_char);
        let content = if is_unspaced { words::query_words(word.text) } else { Vec::new() };
        let is_number = word.text.starts_with(|c: char| c.is_numeric()); // Already checked: the turn has it.
        shared += content.iter().filter(|&&word| source.has_word(word)).count();
        shared += usize::from(word.whose == WordOrigin::Turns || is_number);
        all += content.len() + usize::from(word.whose != WordOrigin::Nobodys || is_number);
    }
    (shared, all)
}

/// Returns the length of the longest run of words that the turn lacks, in pairs of characters. A word with spaces around it
/// counts as [`PAIRS_PER_WORD`].
fn longest_foreign_run(told: &[ToldWord<'_>], source: &SourceText) -> usize {
    let (mut longest, mut run) = (0, 0);
    let mut count = |whose: WordOrigin, weight: usize| {
        run = match whose {
            WordOrigin::Turns => 0,
            WordOrigin::Foreign => run + weight,
            WordOrigin::Nobodys => run,
        };
        longest = longest.max(run);
    };
    for word in told {
        count(word.whose, PAIRS_PER_WORD);
        let chars: Vec<char> = word.text.chars().collect();
        for pair in chars.windows(2).filter(|pair| pair.iter().all(|&c| language::is_unspaced_char(c))) {
            let pair: String = pair.iter().collect();
            // Two characters produce a word for each of them, and one for both.
            count(
                words::query_words(&pair)
                    .last()
                    .map_or(WordOrigin::Nobodys, |&word| WordOrigin::of(word, source)),
                1,
            );
        }
    }
    longest
}
