//! English words that say nothing about what a text is about.

use std::{collections::HashSet, sync::LazyLock};

/// Folded as `words` folds (no apostrophes). The list of the Snowball project
/// (snowballstem.org/algorithms/english/stop.txt) and its contractions without apostrophes.
const STOP_WORDS: &str = "\
    a about above after again against all am an and any are arent as at be because been before being below \
    between both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during each \
    few for from further had hadnt has hasnt have havent having he hed her here heres hers herself hes him \
    himself his how hows i id if im in into is isnt it its itself ive just lets me more most mustnt my \
    myself no nor not of off on once only or other ought our ours ourselves out over own same shant she shes \
    should shouldnt so some such than that thats the their theirs them themselves then there theres these \
    they theyd theyll theyre theyve this those through to too under until up very was wasnt we were werent \
    weve what whats when whens where wheres which while who whom whos why whys will with wont would wouldnt \
    you youd youll your youre yours yourself yourselves youve";

static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split(' ').collect());

pub(crate) fn is_stop_word(folded: &str) -> bool {
    SET.contains(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_meaning_are_no_stop_words() {
        assert!(is_stop_word("the") && is_stop_word("yourselves") && is_stop_word("a"));
        assert!(!is_stop_word("well") && !is_stop_word("paint") && !is_stop_word(""));
    }
}
