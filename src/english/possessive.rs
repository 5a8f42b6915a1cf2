//! `Anna's`.

/// Without the `'s` at its end.
pub(crate) fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}
