//! Compares tags and entities: `#Redis`, `redis` and `ＲＥＤＩＳ` are the same.

use crate::text::{render::is_hidden, words::fold};

/// A tag or an entity of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryTerm {
    /// The form that is compared.
    pub(crate) folded: String,
    /// The name as it was written, without `#`.
    pub(crate) name: String,
}

/// Returns the terms of these names, in order and without duplicates: the first spelling stays. Blank names are left out.
pub(crate) fn terms<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<MemoryTerm> {
    let mut terms: Vec<MemoryTerm> = Vec::new();
    for name in names {
        let name = tidy(name.as_ref());
        let folded = folded(&name);
        if !folded.is_empty() && terms.iter().all(|term| term.folded != folded) {
            terms.push(MemoryTerm { folded, name });
        }
    }
    terms
}

/// Returns a tag or an entity in the form that is compared; empty if it names nothing.
pub(crate) fn folded(name: &str) -> String {
    tidy(&fold(&tidy(name)))
}

/// Returns a name without a leading `#` and invisible characters, and with single blanks only inside.
fn tidy(name: &str) -> String {
    let shown: String = name.chars().filter(|&c| !is_hidden(c)).collect();
    let name = shown.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '＃' | '﹟'));
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[(&str, &str)]) {
        let terms = terms(names);
        let found: Vec<_> = terms.iter().map(|term| (term.folded.as_str(), term.name.as_str())).collect();
        assert_eq!(found, expected, "{names:?}");
    }

    #[test]
    fn spellings_of_a_tag_are_one_and_the_first_stays() {
        check(&["#Redis", "redis", "ＲＥＤＩＳ", " # redis "], &[("redis", "Redis")]);
        check(&["＃security", "Security"], &[("security", "security")]);
        check(&["Café", "cafe"], &[("cafe", "Café")]);
        check(&["open  source\n", "open source"], &[("open source", "open source")]);
        check(&["re\u{ad}dis", "\u{200b}redis"], &[("redis", "redis")]);
    }

    #[test]
    fn order_and_what_differs_stay() {
        check(&["b", "a", "B", "C#", "c"], &[("b", "b"), ("a", "a"), ("c#", "C#"), ("c", "c")]);
        check(
            &["open-source", "open source"],
            &[("open-source", "open-source"), ("open source", "open source")],
        );
    }

    #[test]
    fn what_names_nothing_is_left_out() {
        check(&["", " ", "#", "##", "\u{200b}"], &[]);
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for name in ["#Ｃ＃", "ﬁ", "İstanbul", "ß", "＃＃ a", "\u{fe5f}x", "x\u{2003}y"] {
            assert_eq!(folded(&folded(name)), folded(name), "{name:?}");
        }
    }
}
