//! Adverbs that change nothing about what is claimed: patterns pass over them.

use crate::english::lists::{List, list};

static PASSED_OVER: List = list!("adverbs");

/// Whether this word, in lower case, is one.
pub(crate) fn is_passed_over(lower: &str) -> bool {
    PASSED_OVER.contains(lower)
}
