//! Counts tokens exactly. Text without word boundaries is counted in windows ([`long_text`](super::long_text)).

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tiktoken_rs::CoreBPE;

use crate::text::{
    long_text,
    memo::{Memo, Pool},
    pretokens::{self, PretokenRules, SideBySide},
};

/// A tokenizer's tables, and what is cached with them for the life of the process.
struct Counter {
    /// The name that the file stores.
    name: &'static str,
    /// How ASCII text is split.
    rules: PretokenRules,
    load: fn() -> CoreBPE,
    tables: OnceLock<CoreBPE>,
    /// Whether [`Tokenizer::preload`] was called.
    is_preloaded: AtomicBool,
    /// The counts of recently counted pieces.
    known: Pool<Memo<u32>>,
}

impl Counter {
    const fn new(name: &'static str, rules: PretokenRules, load: fn() -> CoreBPE) -> Self {
        Self {
            name,
            rules,
            load,
            tables: OnceLock::new(),
            is_preloaded: AtomicBool::new(false),
            known: Pool::new(Memo::new),
        }
    }
}

/// Declares the tokenizers: each with its name, its splitting rules for ASCII, and its loader.
macro_rules! tokenizers {
    ($($(#[$doc:meta])* $tokenizer:ident = $name:literal, $rules:expr, $load:path;)*) => {
        /// A tokenizer of `OpenAI`'s models. Text that looks like a special token is counted as ordinary text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Tokenizer {
            $($(#[$doc])* $tokenizer,)*
        }

        impl Tokenizer {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$tokenizer),*];

            fn counter(self) -> &'static Counter {
                match self {
                    $(Self::$tokenizer => {
                        static COUNTER: Counter =
                            Counter::new($name, $rules, || $load().expect("the tables are part of the program"));
                        &COUNTER
                    })*
                }
            }
        }
    };
}

tokenizers! {
    /// GPT-4o and later. The default.
    O200kBase = "o200k_base", PretokenRules::O200k, tiktoken_rs::o200k_base;
    /// GPT-4 and GPT-3.5.
    Cl100kBase = "cl100k_base", PretokenRules::Cl100k, tiktoken_rs::cl100k_base;
}

impl Tokenizer {
    /// The default tokenizer.
    pub(crate) const DEFAULT: Self = Self::O200kBase;

    /// Returns the name of the tokenizer, as the file stores it: `o200k_base`, `cl100k_base`.
    pub fn as_str(self) -> &'static str {
        self.counter().name
    }

    /// Returns the number of tokens in `text`. The first call for a tokenizer in a process loads its tables, or waits until
    /// they are loaded (0.1-0.9 s).
    pub fn count(self, text: &str) -> u32 {
        let tables = self.tables();
        let Counter { rules, known, .. } = self.counter();
        known.with(|known| {
            let mut tokens = 0_u32;
            for block in blocks(text) {
                if !block.is_ascii() {
                    tokens = tokens.saturating_add(clamp_u32(long_text::count(tables, block)));
                    continue;
                }
                pretokens::for_each(block, *rules, |piece| {
                    let count = known.get(piece, || count_of_piece(tables, piece));
                    tokens = tokens.saturating_add(count);
                });
            }
            tokens
        })
    }

    /// Counts the tokens of one side of a turn, and of the line that quotes it: `Name: `, the text, with a blank at the
    /// start of each further line, and a line break. The two mostly coincide, so the shared part is counted once.
    pub(crate) fn count_quoted(self, side: &str, line: &str) -> [u32; 2] {
        let (label, body) = line.split_at(line.find(':').map_or(0, |at| at + 1));
        let Some(walk) = SideBySide::new(side, body) else { return [self.count(side), self.count(line)] };
        let tables = self.tables();
        let Counter { rules, known, .. } = self.counter();
        let [of_side, of_body] = known.with(|known| {
            let mut tokens = [0_u32; 2];
            walk.for_each(*rules, |piece, is_in| {
                let count = known.get(piece, || count_of_piece(tables, piece));
                for (tokens, is_in) in tokens.iter_mut().zip(is_in) {
                    *tokens = tokens.saturating_add(if is_in { count } else { 0 });
                }
            });
            tokens
        });
        [of_side, of_body.saturating_add(self.count(label))]
    }

    /// Starts loading the tables on a separate thread, once per process, so that no call has to wait for them later.
    pub(crate) fn preload(self) {
        if !self.counter().is_preloaded.swap(true, Ordering::Relaxed) {
            // If no thread can be started, the first count loads them: later, but with the same result.
            let _ = thread::Builder::new().name("thermocline-tokens".into()).spawn(move || {
                self.tables();
            });
        }
    }

    /// Whether a count would have to wait for the tables.
    pub(crate) fn is_ready(self) -> bool {
        self.counter().tables.get().is_some()
    }

    fn tables(self) -> &'static CoreBPE {
        let counter = self.counter();
        counter.tables.get_or_init(counter.load)
    }
}

/// Counts a piece of ASCII text, which the tokenizer does not split.
fn count_of_piece(tables: &CoreBPE, piece: &str) -> u32 {
    clamp_u32(if piece.len() <= long_text::LONG {
        tables.encode_ordinary(piece).len()
    } else {
        long_text::count_stretch(tables, piece)
    })
}

/// Splits text where it changes between ASCII and non-ASCII, but only after a line break and before a letter, where every
/// tokenizer splits, whatever the surrounding text.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (block, behind) = rest.split_at(end_of_block(rest.as_bytes()));
        rest = behind;
        Some(block)
    })
}

/// Returns the end of the first block: of the lines that, like the first one, are either all ASCII or not.
fn end_of_block(text: &[u8]) -> usize {
    let mut line_start = 0;
    let mut first_is_ascii = None;
    for (at, pair) in text.windows(2).enumerate() {
        if pair[0] == b'\n' && pair[1].is_ascii_alphabetic() {
            let is_ascii = text[line_start..=at].is_ascii();
            if *first_is_ascii.get_or_insert(is_ascii) != is_ascii {
                return line_start;
            }
            line_start = at + 1;
        }
    }
    let is_ascii = text[line_start..].is_ascii();
    if first_is_ascii.is_some_and(|first| first != is_ascii) { line_start } else { text.len() }
}

fn clamp_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::render;

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

    fn agrees_with_the_library(text: &str) -> Result<(), String> {
        for tokenizer in Tokenizer::ALL {
            let library = match tokenizer {
                Tokenizer::O200kBase => tiktoken_rs::o200k_base_singleton(),
                Tokenizer::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
            };
            let (ours, theirs) = (tokenizer.count(text), clamp_u32(library.encode_ordinary(text).len()));
            if ours != theirs {
                return Err(format!("{tokenizer:?} of {text:?}: {ours}, the library says {theirs}"));
            }
        }
        Ok(())
    }

    /// Strings that the expressions treat differently from their neighbours.
    fn fragment() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => prop::sample::select(vec![
                " ", "  ", "\n", "\n\n", "\r\n", "\r", "\t", "\u{b}", "\u{c}", "/", "//", "\n/", "'", "'s", "'S", "'ll",
                "'LL", "'re", "'d", "'x", "a", "A", "Ab", "aB", "ABc", "the", " The", "HTTPServer", "don't", "1", "12",
                "1234", "1,000", ".", "...", "?!", "(", "((", ")", "{}", "<|endoftext|>", "\u{1}", "\u{7f}", "_", "c++",
                "https://a.example/b?c=d", "    return x;\n", "- item\n", "## Title\n\n",
            ]).prop_map(str::to_owned),
            2 => prop::sample::select(vec!["\u{a0}", "\u{2028}", "é", "ſ", "'ſ", "’s", "猫", "🦊", "\u{301}", "ß", "—", "٣"]).prop_map(str::to_owned),
            2 => "[ -~\n\r\t]{0,12}",
            1 => ".{0,6}",
        ]
    }

    #[test]
    fn a_long_run_of_blanks_is_counted_in_a_side_and_in_its_line_as_by_itself() {
        for blanks in [600_000, 1_000_001] {
            let side = format!("a{}b", " ".repeat(blanks));
            let line = render::user_line(&crate::NewTurn::new(side.clone(), "").said, &side);
            let each = [Tokenizer::O200kBase.count(&side), Tokenizer::O200kBase.count(&line)];
            assert_eq!(Tokenizer::O200kBase.count_quoted(&side, &line), each);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn any_text_has_as_many_tokens_as_the_library_says(fragments in prop::collection::vec(fragment(), 0..40)) {
            agrees_with_the_library(&fragments.concat()).map_err(TestCaseError::fail)?;
        }

        #[test]
        fn a_side_and_its_line_are_counted_as_each_by_itself(
            name in prop_oneof![Just(None), "[A-Za-z :(<é]{1,9}".prop_map(Some)],
            fragments in prop::collection::vec(prop_oneof![4 => fragment(), 1 => prop::sample::select(vec![
                "\n/a", ".\n//b", "x \n \n y", "<|im_end|>", "<s>", "\u{200b}", "\u{c}", "  ", "\t\n", "'\ns", "9\n9", "A\nB",
            ]).prop_map(str::to_owned)], 0..40),
        ) {
            let text = fragments.concat();
            let mut said = crate::NewTurn::new(text.clone(), text.clone()).said;
            (said.user_name, said.assistant_origin) = (name, crate::Origin::Tool);
            for (side, line) in [
                (&text, render::user_line(&said, &text)), (&text, render::assistant_line(&said, &text)),
            ] {
                for tokenizer in Tokenizer::ALL {
                    let each = [tokenizer.count(side), tokenizer.count(&line)];
                    prop_assert_eq!(tokenizer.count_quoted(side, &line), each, "{:?}", line);
                }
            }
        }

        #[test]
        fn pieces_may_be_added_up(
            a in prop::collection::vec(fragment(), 0..20), b in prop::collection::vec(fragment(), 0..20),
        ) {
            let (a, b) = (format!("User: {}\n", a.concat()), format!("<{}\n", b.concat()));
            for tokenizer in Tokenizer::ALL {
                prop_assert_eq!(tokenizer.count(&(a.clone() + &b)), tokenizer.count(&a) + tokenizer.count(&b));
            }
        }
    }

    /// What the library's disagreement says behind the text, which is long.
    fn counts_in(differs: &str) -> &str {
        differs.rsplit("\": ").next().unwrap_or(differs)
    }

    #[test]
    fn a_megabyte_of_blanks_is_counted_and_does_not_panic() {
        assert_eq!(Tokenizer::O200kBase.count(&" ".repeat(1 << 20)), 1 << 13);
        assert!(Tokenizer::O200kBase.count(&format!("{}x", "\n".repeat(1 << 20))) > 0);
    }

    #[test]
    fn text_without_boundaries_has_as_many_tokens_as_the_library_says() {
        let short = [
            "a",
            "A",
            "ab",
            "abc",
            "aB",
            " ",
            "\n",
            "\t",
            " \n",
            "\r\n",
            "\n/",
            "!",
            "?!",
            "-=",
            "0",
            "1234567",
            "a1",
            "_",
            "aaab",
            "x'",
            "'s",
            "é",
            "ß",
            "ж",
            "Ж",
            "猫",
            "猫犬",
            "日本語の文章",
            "🦊",
            "🦊🐻",
            "👩\u{200d}👧",
            "e\u{301}",
            "\u{a0}",
            "\u{3000}",
            "\u{2028}",
            "—",
            "…",
            "é!",
            "é\n",
            "ความ",
            "मेरा",
            "\u{200b}",
            "\u{fffd}",
        ];
        for fragment in short {
            for (before, behind) in
                [("", ""), ("He said ", " and left."), ("é!", "\n  \nx"), ("🦊", "abc's 12")]
            {
                let run = fragment.repeat(3 * long_text::LONG / fragment.len() + 7);
                let text = format!("{before}{run}{behind}");
                if let Err(differs) = agrees_with_the_library(&text) {
                    panic!("{fragment:?} after {before:?}: {}", counts_in(&differs));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn long_text_of_few_fragments_has_as_many_tokens_as_the_library_says(
            few in prop::collection::vec(prop::sample::select(vec![
                "a", "Ab", "aB", " ", "\n", " \n", "\n/", "!", "?!", "1234567", "_", "'s", "é", "Ж", "猫犬", "🦊", "—",
            ]), 1..4),
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        ) {
            let round: String = order.iter().map(|at| few[at.index(few.len())]).collect();
            let text = round.repeat(3 * long_text::LONG / round.len().max(1) + 1);
            agrees_with_the_library(&text).map_err(|differs| {
                TestCaseError::fail(format!("{round:?}: {}", counts_in(&differs)))
            })?;
        }

        #[test]
        fn one_long_word_has_as_many_tokens_as_the_library_says(word in "[a-z]{9000}|[a-f猫-獅]{6000}|[ -/]{9000}|[а-я]{6000}") {
            agrees_with_the_library(&word).map_err(|differs| TestCaseError::fail(counts_in(&differs).to_owned()))?;
        }
    }
}
