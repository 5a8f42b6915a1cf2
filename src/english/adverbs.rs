//! Adverbs that change nothing about what is claimed: patterns pass over them.

use std::{collections::HashSet, sync::LazyLock};

/// Whether this word, in lower case, is one.
pub(crate) fn is_passed_over(lower: &str) -> bool {
    PASSED_OVER_WORDS.contains(lower)
}

static PASSED_OVER_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| PASSED_OVER.iter().copied().collect());

const PASSED_OVER: &[&str] = &[
    "really",
    "just",
    "also",
    "actually",
    "now",
    "still",
    "always",
    "finally",
    "recently",
    "officially",
    "currently",
    "totally",
    "absolutely",
    "so",
    "very",
    "honestly",
    "definitely",
    "basically",
    "truly",
    "simply",
    "only",
    "both",
    "all",
    "too",
    "pretty",
    "quite",
    "kinda",
    "sort",
    "super",
    "already",
    "even",
    "ever",
    "usually",
    "often",
    "mostly",
    "probably",
    "particularly",
    "especially",
    "since",
    "then",
    "have",
    "been",
    "personally",
    "deeply",
    "genuinely",
    "completely",
];
