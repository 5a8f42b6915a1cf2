//! The terms of a text as a person would mark them: words, numbers and links, verbatim.

use unicode_normalization::char::is_combining_mark;

/// A word, number or link: a slice of the text that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'a> {
    pub(crate) text: &'a str,
    /// Its position in the text, in bytes.
    pub(crate) at: usize,
    pub(crate) kind: TermKind,
}

/// The kind of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// Letters first; digits, and `'`, `-`, `.`, `_`, `&` between letters or digits; `C++`, `C#`.
    Word,
    /// Digits first: `3.5`, `1,000`, `15:30`, `4th`, `2024-03-15`.
    Number,
    /// A web or e-mail address.
    Link,
    /// A run of Han, Kana or of another script without spaces between words: a phrase rather than a word.
    Run,
}

/// Calls `each` with every term of `text`, in order.
pub(crate) fn for_each_term<'a>(text: &'a str, mut each: impl FnMut(Term<'a>)) {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let kind = match c {
            // Checked first, because some characters of these scripts are numerals too, but not part of a word.
            _ if script_of(c).is_some() => TermKind::Run,
            _ if c.is_numeric() => TermKind::Number,
            _ if c.is_alphabetic() => TermKind::Word,
            _ => {
                at += c.len_utf8();
                continue;
            }
        };
        let (len, kind) = match starts_chunk(&text[..at]).then(|| link_len(rest)).flatten() {
            Some(len) => (len, TermKind::Link),
            None if kind == TermKind::Run => (run_len(rest, c), kind),
            None => (word_len(rest), kind),
        };
        each(Term { text: &rest[..len], at, kind });
        at += len;
    }
}

/// Whether a link may begin after `before`: only at the start of a run of non-blanks, apart from a bracket or quote, so that
/// each run is examined once.
fn starts_chunk(before: &str) -> bool {
    before
        .strip_suffix(['(', '<', '[', '"', '\''])
        .unwrap_or(before)
        .chars()
        .next_back()
        .is_none_or(char::is_whitespace)
}

/// Returns the length of a link, if one starts here.
fn link_len(text: &str) -> Option<usize> {
    /// A longer address is of no use to a person.
    const LONGEST: usize = 2_048;
    let head = &text[..text.floor_char_boundary(LONGEST)];
    let chunk = &head[..head.find(|c: char| c.is_whitespace() || "<>\"`".contains(c)).unwrap_or(head.len())];
    let is_address =
        chunk.split_once("://").is_some_and(|(scheme, _)| scheme.bytes().all(|b| b.is_ascii_alphanumeric()));
    let is_mailbox = || {
        chunk.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty()
                && host.contains('.')
                && name.chars().all(|c| c.is_alphanumeric() || "._+-".contains(c))
        })
    };
    (is_address || chunk.starts_with("www.") || is_mailbox())
        .then(|| chunk.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*']).len())
}

/// Returns the length of the run of one script that starts with `first`.
fn run_len(text: &str, first: char) -> usize {
    let script = script_of(first);
    text.find(|c| script_of(c) != script).unwrap_or(text.len())
}

fn word_len(text: &str) -> usize {
    let mut len = 0;
    for (at, c) in text.char_indices() {
        let is_letter = |c: char| c.is_alphanumeric() && script_of(c).is_none();
        let is_part = is_letter(c)
            || is_combining_mark(c)
            || (matches!(c, '+' | '#') && at <= 3 && text[..at].trim_end_matches(['+', '#']).len() <= 2)
            || text[at + c.len_utf8()..]
                .chars()
                .next()
                .is_some_and(|next| is_letter(next) && joins(c, &text[..at], next));
        if !is_part {
            break;
        }
        len = at + c.len_utf8();
    }
    len
}

/// Whether `c` joins what is before and after it into one word: `don't`, `e-mail`, `1,000`, `15:30`; but `a,b` is two words.
fn joins(c: char, before: &str, next: char) -> bool {
    match c {
        ',' | ':' => next.is_numeric() && before.ends_with(char::is_numeric),
        _ => matches!(c, '\'' | '\u{2019}' | '-' | '\u{2010}' | '\u{2011}' | '.' | '_' | '&'),
    }
}

/// Returns a number for each script without spaces between words; `None` for all others.
fn script_of(c: char) -> Option<u8> {
    match c {
        '\u{3041}'..='\u{309f}' => Some(0),                           // Hiragana
        '\u{30a1}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => Some(1), // Katakana
        '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Some(2), // Han
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Some(3), // Thai, Lao, Burmese, Khmer
        _ => None,
    }
}

/// Whether this run is Hiragana: endings and particles, hardly ever a topic.
pub(crate) fn is_hiragana(run: &str) -> bool {
    run.chars().next().and_then(script_of) == Some(0)
}

/// Whether this character's script has no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    script_of(c).is_some()
}

#[cfg(test)]
mod tests {
    use super::{
        TermKind::{Link, Number, Run, Word},
        *,
    };

    #[track_caller]
    fn check(text: &str, expected: &[(TermKind, &str)]) {
        let mut found = Vec::new();
        for_each_term(text, |term| {
            assert!(text[term.at..].starts_with(term.text));
            found.push((term.kind, term.text));
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn any_character_begins_a_term_of_its_own_or_none() {
        for c in '\0'..=char::MAX {
            for text in [format!("{c}"), format!("{c}a"), format!("a {c}")] {
                let mut count = 0;
                for_each_term(&text, |term| {
                    assert!(!term.text.is_empty(), "{c:?}");
                    count += 1;
                });
                assert!(count <= 2, "{c:?}");
            }
        }
        check("๕ ๒๕", &[(Run, "๕"), (Run, "๒๕")]);
        check("〇九", &[(Run, "〇九")]);
    }

    #[test]
    fn words_keep_what_joins_them() {
        check(
            "I don't use e-mail, R&D!",
            &[(Word, "I"), (Word, "don't"), (Word, "use"), (Word, "e-mail"), (Word, "R&D")],
        );
        check(
            "C++ or Node.js. a,b",
            &[(Word, "C++"), (Word, "or"), (Word, "Node.js"), (Word, "a"), (Word, "b")],
        );
        check("snake_case - 'quoted'", &[(Word, "snake_case"), (Word, "quoted")]);
        check("résumé हिन्दी", &[(Word, "résumé"), (Word, "हिन्दी")]);
        check("", &[]);
    }

    #[test]
    fn numbers_keep_their_points() {
        check(
            "1,000; 15:30, 3.5%, 2024-03-15",
            &[(Number, "1,000"), (Number, "15:30"), (Number, "3.5"), (Number, "2024-03-15")],
        );
        check("4th: 5", &[(Number, "4th"), (Number, "5")]);
    }

    #[test]
    fn links_are_one_term() {
        check("see (https://a.example/b?c=d,e).", &[(Word, "see"), (Link, "https://a.example/b?c=d,e")]);
        check("www.a.example, ann@b.example", &[(Link, "www.a.example"), (Link, "ann@b.example")]);
        check("@ann a@b", &[(Word, "ann"), (Word, "a"), (Word, "b")]);
    }

    #[test]
    fn scripts_without_spaces_give_runs() {
        check("猫が好きです", &[(Run, "猫"), (Run, "が"), (Run, "好"), (Run, "きです")]);
        check("東京タワー 2024年", &[(Run, "東京"), (Run, "タワー"), (Number, "2024"), (Run, "年")]);
    }

    #[test]
    fn a_megabyte_without_blanks_is_read_in_passing() {
        for text in ["a", "(a", "1.", "猫", "a@"] {
            let mut count = 0_usize;
            for_each_term(&text.repeat(1 << 20), |_| count += 1);
            assert!(count > 0);
        }
    }
}
