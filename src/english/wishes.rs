//! Standing wishes: how things are to be from now on.

/// Whether a text says how things are to be from now on, in words that say so often; some say only that something is
/// always so. It lifts what is found; what is kept for ever is judged by [`moments`](crate::english::moments).
pub(crate) fn states_wish(text: &str) -> bool {
    const PHRASES: &[&str] = &[
        " always ",
        " never ",
        " from now on ",
        " going forward ",
        " i prefer ",
        " i'd prefer ",
        " i would prefer ",
        " i'd rather ",
    ];
    /// What is pasted behind it says nothing of wishes.
    const LOOKED_AT: usize = 4_096;
    let words = text[..text.floor_char_boundary(LOOKED_AT)]
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '\u{2019}'))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('\u{2019}', "'"));
    let spaced = words.fold(" ".to_owned(), |spaced, word| spaced + &word + " ");
    PHRASES.iter().any(|phrase| spaced.contains(phrase))
}
