//! Lists of words. Each is a file in `lists/`. It has words separated by blanks or line ends, or one entry per line: a
//! phrase, or a pattern of `english::cues`, some with a label before it. Lines that begin with `#` are comments.

use std::{collections::HashSet, sync::OnceLock};

/// The words of a file, parsed on first use.
pub(crate) struct List {
    text: &'static str,
    set: OnceLock<HashSet<&'static str>>,
    phrases: OnceLock<Vec<String>>,
}

/// The list in `lists/NAME.txt`: `static DULL: List = list!("dull");`
macro_rules! list {
    ($name:literal) => {
        $crate::english::lists::List::new(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/english/lists/",
            $name,
            ".txt"
        )))
    };
}
pub(crate) use list;

impl List {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, set: OnceLock::new(), phrases: OnceLock::new() }
    }

    /// The words, in the order of the file.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.lines().flat_map(str::split_whitespace)
    }

    /// The lines of a list of phrases, in the order of the file.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.lines().filter(|line| !line.starts_with('#'))
    }

    /// Whether this text, which must be [`spaced`], contains one of the list's lines as whole words.
    pub(crate) fn is_part_of(&self, spaced: &str) -> bool {
        let stands = |phrase: &str| {
            let is_whole =
                |at: usize| spaced[..at].ends_with(' ') && spaced[at + phrase.len()..].starts_with(' ');
            spaced.match_indices(phrase).any(|(at, _)| is_whole(at))
        };
        self.lines().any(stands)
    }

    /// Returns the words as phrases: in the file, `_` stands for a blank.
    pub(crate) fn phrases(&self) -> &[String] {
        self.phrases.get_or_init(|| self.words().map(|phrase| phrase.replace('_', " ")).collect())
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.set.get_or_init(|| self.words().collect()).contains(word)
    }
}

/// Whether a one-line list of words separated by blanks contains this one.
pub(crate) fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Returns `Anna` for `Anna's`.
pub(crate) fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}

/// Returns the words of a text in lower case, with straight apostrophes, and with a blank before and after each.
pub(crate) fn spaced(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '\u{2019}'));
    let mut spaced = String::with_capacity(text.len() + 2);
    spaced.push(' ');
    for word in words.filter(|word| !word.is_empty()) {
        if word.is_ascii() {
            spaced.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        } else {
            spaced.push_str(&word.to_lowercase().replace('\u{2019}', "'"));
        }
        spaced.push(' ');
    }
    spaced
}
