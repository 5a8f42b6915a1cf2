//! A message as sentences of tokens, and the kind of each token.

use crate::{
    english::{
        dull_words::is_dull,
        lists::{List, list, spaced},
        statements::{Statement, StatementToken, spoken},
        stop_words::is_stop_word,
    },
    text::words::MAX_QUERY_BYTES,
    times::TimeSpan,
};

/// The sentences of a message.
#[derive(Debug)]
pub(super) struct MessageReading<'a> {
    pub(super) sentences: Vec<Statement<'a>>,
    /// For each sentence, which of its tokens belong to a time.
    is_time: Vec<Vec<bool>>,
}

impl<'a> MessageReading<'a> {
    pub(super) fn of(message: &'a str, spans: &[TimeSpan]) -> Self {
        let sentences = spoken(message, MAX_QUERY_BYTES);
        let is_time = |sentence: &Statement<'_>| {
            let at = sentence.text.as_ptr() as usize - message.as_ptr() as usize;
            let is_inside =
                |token: &StatementToken<'_>| spans.iter().any(|span| span.text.contains(&(at + token.start)));
            sentence.tokens.iter().map(is_inside).collect()
        };
        Self { is_time: sentences.iter().map(is_time).collect(), sentences }
    }

    /// Returns every sentence with its tokens and, for each token, whether it belongs to a time.
    pub(super) fn parts(&self) -> impl Iterator<Item = QuerySentence<'_>> {
        self.sentences.iter().zip(&self.is_time).map(|(sentence, is_time)| QuerySentence {
            sentence,
            tokens: &sentence.tokens,
            is_time,
        })
    }

    /// Returns the words in lower case, without marks.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let tokens = self.sentences.iter().flat_map(|sentence| &sentence.tokens);
        tokens.filter(|token| !token.is_mark()).map(|token| &*token.lower)
    }

    /// Returns how many words say what the message is about. Words in code and quotations are not counted here.
    pub(super) fn content_count(&self) -> usize {
        self.parts().map(|part| (0..part.tokens.len()).filter(|&at| part.is_content(at)).count()).sum()
    }
}

/// One sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuerySentence<'r> {
    pub(super) sentence: &'r Statement<'r>,
    pub(super) tokens: &'r [StatementToken<'r>],
    is_time: &'r [bool],
}

impl<'r> QuerySentence<'r> {
    /// Returns the word here in lower case; empty outside the sentence, and for a mark.
    pub(super) fn lower(self, at: usize) -> &'r str {
        self.tokens.get(at).filter(|token| !token.is_mark()).map_or("", |token| &token.lower)
    }

    pub(super) fn before(self, at: usize) -> &'r str {
        at.checked_sub(1).map_or("", |before| self.lower(before))
    }

    /// Whether a sentence or clause ends here.
    pub(super) fn is_end(self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(StatementToken::is_mark)
    }

    pub(super) fn is_capital(self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(StatementToken::is_capital)
    }

    pub(super) fn is_time(self, at: usize) -> bool {
        self.is_time.get(at).copied().unwrap_or_default()
    }

    /// Whether the word here says what the message is about: not a function word, filler or time.
    pub(super) fn is_content(self, at: usize) -> bool {
        let lower = self.lower(at);
        let bare = lower.trim_start_matches('\'').replace('\'', "");
        !bare.is_empty() && lower != "'s" && !self.is_time(at) && !is_dull(&bare) && !is_vague(&bare)
    }

    /// Whether the word here is a stop word.
    pub(super) fn is_stop(self, at: usize) -> bool {
        is_stop_word(&self.lower(at).replace('\'', ""))
    }
}

/// Whether no word of a message says what it is about, not even in code or a quotation.
pub(super) fn says_nothing(message: &str) -> bool {
    let is_said = |word: &str| is_dull(&word.replace('\'', "")) || is_vague(word);
    message.len() <= MAX_QUERY_BYTES && spaced(message).split_whitespace().all(is_said)
}

/// Whether a word only points or continues, and says nothing by itself.
fn is_vague(word: &str) -> bool {
    static VAGUE: List = list!("vague");
    VAGUE.contains(word)
}
