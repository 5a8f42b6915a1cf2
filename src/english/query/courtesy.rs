//! Removes what only leads up to a question, because politeness is not searched for.

use std::sync::LazyLock;

use crate::{
    english::{classes::CLASSES, cues::Cues, lists::list, statements::spoken},
    text::words::MAX_QUERY_BYTES,
};

static COURTESIES: LazyLock<Cues> = LazyLock::new(|| Cues::new(list!("courtesies").lines(), CLASSES));

/// Returns a sentence without a leading `could you please tell me`, `I was wondering if` and similar phrases.
pub(super) fn without_courtesy(sentence: &str) -> &str {
    let Some(statement) = spoken(sentence, MAX_QUERY_BYTES).into_iter().next() else { return sentence };
    let found = COURTESIES.starting(&statement.tokens).into_iter().map(|found| found.end).max();
    let last = found.and_then(|end| statement.tokens.get(end.checked_sub(1)?));
    let from = statement.text.as_ptr() as usize - sentence.as_ptr() as usize;
    let rest = last.map_or(sentence, |last| &sentence[from + last.end()..]);
    if rest.contains(char::is_alphanumeric) { rest.trim_start() } else { sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_what_stands_behind_its_courtesies() {
        for (said, asked) in [
            ("Could you please quickly tell me who has the samovar?", "who has the samovar?"),
            ("I was just wondering if Ida plays chess.", "Ida plays chess."),
            ("I'd like to know where the boat is.", "where the boat is."),
            ("Do you by chance remember my berth?", "my berth?"),
            ("Who told me?", "Who told me?"),
            ("Please!", "Please!"),
            ("Can you tell me?", "Can you tell me?"),
            ("", ""),
        ] {
            assert_eq!(without_courtesy(said), asked, "{said:?}");
        }
    }
}
