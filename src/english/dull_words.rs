//! Words that are too common in chats to name a topic, in addition to the stop words.

use crate::english::{
    lists::{List, list},
    stop_words::is_stop_word,
};

static TALK: List = list!("talk");
static FOREIGN: List = list!("foreign");

/// Whether this word, in lower case and without apostrophes, cannot be a topic by itself. Stop words are dull.
pub(crate) fn is_dull(lower: &str) -> bool {
    is_stop_word(lower) || TALK.contains(lower) || FOREIGN.contains(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_talk_are_dull_and_words_of_topics_are_not() {
        for word in ["the", "really", "certainly", "trying", "und", "für", "très", "porque", "você", "niet"]
        {
            assert!(is_dull(word), "{word}");
        }
        for word in ["budget", "guitar", "adoption", "python", "schule", "trabajo", "maison", ""] {
            assert!(!is_dull(word), "{word}");
        }
    }
}
