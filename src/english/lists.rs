//! Lists of words. Each is a file of `lists/`: words with blanks or line ends between; a line that begins with `#` says
//! what they are.

use std::{collections::HashSet, sync::OnceLock};

/// The words of a file, read when they are asked for first.
pub(crate) struct List {
    text: &'static str,
    set: OnceLock<HashSet<&'static str>>,
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
        Self { text, set: OnceLock::new() }
    }

    /// The words, in the order of the file.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.set.get_or_init(|| self.words().collect()).contains(word)
    }
}
