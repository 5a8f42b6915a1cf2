//! What a text supplies as proof: its words, numbers, dates, links, and the text itself.

use std::collections::HashSet;

use chrono::NaiveDate;
use unicode_normalization::UnicodeNormalization;

use crate::{
    compress::verify::{dates::Dates, flaw::Flaw, links, numbers},
    model::turn::Turn,
    text::words::{self, Word, WordCounts},
};

/// A text against which claims are checked, analysed once.
pub(super) struct SourceText {
    /// The text with compatible forms unified, in lower case, with blanks as single spaces. Accents stay, because a link
    /// without its accents is another link.
    text: String,
    words: Vec<Word>,
    numbers: HashSet<String>,
    dates: Dates,
}

impl SourceText {
    /// Analyses a whole turn: both sides, and who spoke.
    pub(super) fn of_turn(turn: &Turn) -> Self {
        let said = &turn.said;
        let names =
            [said.user_name.as_deref(), said.assistant_name.as_deref()].map(Option::unwrap_or_default);
        let text = [names[0], names[1], &said.user_message, &said.ai_response].join("\n");
        Self::of_text(&text, turn.timestamp.date_naive())
    }

    /// Analyses a text that was said on this day.
    pub(super) fn of_text(text: &str, said_on: NaiveDate) -> Self {
        let folded = words::fold(text);
        let counts = WordCounts::of_text(text).counts;
        Self {
            text: light(text),
            words: counts.iter().map(|count| count.word).collect(),
            numbers: numbers::supplied(&folded),
            dates: Dates::of(&folded, said_on),
        }
    }

    pub(super) fn has_word(&self, word: Word) -> bool {
        self.words.binary_search(&word).is_ok()
    }

    /// Whether the source contains all words of `text`. A text with only stop words must be contained as it is.
    pub(super) fn has_words_of(&self, text: &str) -> bool {
        let content = words::query_words(text);
        content.iter().all(|&word| self.has_word(word)) && (!content.is_empty() || self.has_text(text))
    }

    /// Returns how many different words the source has.
    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Whether the source contains this text, ignoring case and blanks.
    pub(super) fn has_text(&self, text: &str) -> bool {
        self.text.contains(&light(text))
    }

    /// Checks that all links, addresses, numbers and dates of a claim are in the source or follow from it.
    pub(super) fn check_facts(&self, claim: &str) -> Result<(), Flaw> {
        let claimed = light(claim);
        if let Some((_, flaw)) =
            links::claimed(&claimed).find(|(link, _)| !links::stands_in(&self.text, link))
        {
            return Err(flaw);
        }
        let rest = self.without_supported_dates(&words::fold(claim));
        if numbers::claimed(&rest).iter().all(|claim| claim.is_supported(&self.numbers)) {
            Ok(())
        } else {
            Err(Flaw::ForeignNumber)
        }
    }

    /// Returns the folded claim without the dates that are in the source or follow from it.
    pub(super) fn without_supported_dates(&self, folded: &str) -> String {
        self.dates.without_supported(folded, &self.numbers)
    }
}

/// Normalizes a text for comparisons in which accents count.
fn light(text: &str) -> String {
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}
