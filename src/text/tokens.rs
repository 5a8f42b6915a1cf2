//! Token counts: exact, and named after the tokenizer that made them.

use std::{sync::OnceLock, thread};

use tiktoken_rs::CoreBPE;

/// A tokenizer of `OpenAI`'s models. Text that looks like a special token is counted as the text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tokenizer {
    /// GPT-4o and later. The default.
    O200kBase,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
}

static O200K: OnceLock<CoreBPE> = OnceLock::new();
static CL100K: OnceLock<CoreBPE> = OnceLock::new();

/// Longer runs of blanks are counted in parts: tiktoken's regex overflows its stack at 999,999 of them. A part's
/// edge may add a token; shorter runs are exact.
const MAX_BLANKS: usize = 500_000;

impl Tokenizer {
    /// The name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// The tokens of `text`. The first call in a process loads the tables, or waits until they are loaded
    /// (0.1-0.9 s).
    pub fn count(self, text: &str) -> u32 {
        let tables = self.tables();
        let tokens: usize = parts(text).map(|part| tables.encode_ordinary(part).len()).sum();
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// Starts loading the tables on a thread of its own, so that nobody has to wait for them later.
    pub(crate) fn preload(self) {
        if !self.is_ready() {
            // Without a thread the first count loads them: later, and as right.
            let _ = thread::Builder::new().name("thermocline-tokens".into()).spawn(move || {
                self.tables();
            });
        }
    }

    /// Whether a count would have to wait for the tables.
    pub(crate) fn is_ready(self) -> bool {
        self.cell().get().is_some()
    }

    fn tables(self) -> &'static CoreBPE {
        self.cell().get_or_init(|| {
            let tables = match self {
                Self::O200kBase => tiktoken_rs::o200k_base(),
                Self::Cl100kBase => tiktoken_rs::cl100k_base(),
            };
            tables.expect("the tables are part of the program")
        })
    }

    fn cell(self) -> &'static OnceLock<CoreBPE> {
        match self {
            Self::O200kBase => &O200K,
            Self::Cl100kBase => &CL100K,
        }
    }
}

/// The text in one part, unless it has a run of blanks that has to be cut.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, behind) = rest.split_at(end_of_part(rest));
        rest = behind;
        Some(part)
    })
}

fn end_of_part(text: &str) -> usize {
    if text.len() <= MAX_BLANKS {
        return text.len();
    }
    let mut blanks = 0;
    for (at, c) in text.char_indices() {
        blanks = if c.is_whitespace() { blanks + 1 } else { 0 };
        if blanks > MAX_BLANKS {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, o200k: u32, cl100k: u32) {
        assert_eq!(
            (Tokenizer::O200kBase.count(text), Tokenizer::Cl100kBase.count(text)),
            (o200k, cl100k),
            "{text:?}"
        );
    }

    #[test]
    fn counts_are_those_of_tiktoken() {
        check("", 0, 0);
        check("Hello, world!", 4, 4);
        check("Thermocline: hot, warm and cold.", 11, 11);
        check("<|endoftext|>", 7, 7);
    }

    #[test]
    fn a_megabyte_of_blanks_is_counted_and_does_not_panic() {
        assert!(Tokenizer::O200kBase.count(&" ".repeat(1 << 20)) > 0);
        assert!(Tokenizer::O200kBase.count(&format!("{}x", "\n".repeat(1 << 20))) > 0);
    }
}
