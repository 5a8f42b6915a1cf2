//! Cues: small patterns of words that tell what a statement does.
//!
//! A pattern is words separated by blanks. `a|b` is either `a` or `b`, `@class` a word of a class, `x?` is optional, `*2` is
//! up to two words of any kind, `#` a number, `!x` means that `x` does not follow. `^` means that the statement begins here
//! or a mark precedes, `$` that the statement ends here or a mark follows. Up to two adverbs between the words of a pattern
//! are skipped.

use std::collections::HashMap;

use crate::english::{
    lists::List,
    statements::{Statement, StatementToken},
};

/// Patterns, found by the words that they can begin with.
#[derive(Debug)]
pub(crate) struct Cues {
    patterns: Vec<Pattern>,
    by_first_word: HashMap<&'static str, Vec<usize>>,
}

/// A match of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CueMatch {
    /// The pattern's index in the list.
    pub(crate) pattern: usize,
    /// The first token of the match; `end` is the token after its last.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

#[derive(Debug)]
struct Pattern {
    at_start: bool,
    elements: Vec<Element>,
}

#[derive(Debug)]
enum Element {
    /// Words, including `#` and `$`.
    Word {
        words: Vec<&'static str>,
        is_optional: bool,
    },
    Any {
        most: usize,
    },
    Not {
        words: Vec<&'static str>,
    },
}

/// A class of words: its name, and the words.
pub(crate) type WordClass = (&'static str, List);

/// The most adverbs in a row that are skipped.
const MOST_PASSED_OVER: usize = 2;

impl Cues {
    /// Parses the patterns of a list.
    pub(crate) fn new(patterns: impl IntoIterator<Item = &'static str>, classes: &[WordClass]) -> Self {
        let patterns: Vec<Pattern> =
            patterns.into_iter().map(|pattern| Pattern::read(pattern, classes)).collect();
        let mut by_first_word: HashMap<&'static str, Vec<usize>> = HashMap::new();
        for (index, pattern) in patterns.iter().enumerate() {
            for element in &pattern.elements {
                let Element::Word { words, is_optional } = element else { break };
                for word in words {
                    by_first_word.entry(word).or_default().push(index);
                }
                if !is_optional {
                    break;
                }
            }
        }
        Self { patterns, by_first_word }
    }

    /// Returns every match, in the order of the text, then of the list.
    pub(crate) fn all(&self, statement: &Statement<'_>) -> Vec<CueMatch> {
        let mut found = Vec::new();
        for start in 0..statement.tokens.len() {
            self.add_at(&statement.tokens, start, &mut found);
        }
        found
    }

    /// Returns the patterns that match at the first of these tokens, in the order of the list.
    pub(crate) fn starting(&self, tokens: &[StatementToken<'_>]) -> Vec<CueMatch> {
        let mut found = Vec::new();
        self.add_at(tokens, 0, &mut found);
        found
    }

    fn add_at(&self, tokens: &[StatementToken<'_>], start: usize, found: &mut Vec<CueMatch>) {
        // Patterns that begin with a number are listed under `#`.
        let word = tokens.get(start).map_or("", |token| if is_number(token) { "#" } else { &token.lower });
        let Some(patterns) = self.by_first_word.get(word) else { return };
        for &pattern in patterns {
            let Pattern { at_start, elements } = &self.patterns[pattern];
            let begins = start == 0 || tokens[start - 1].is_mark();
            if *at_start && !begins {
                continue;
            }
            if let Some(end) = matches(elements, tokens, start, true) {
                found.push(CueMatch { pattern, start, end });
            }
        }
    }

    /// Whether any pattern matches.
    pub(crate) fn any(&self, statement: &Statement<'_>) -> bool {
        !self.all(statement).is_empty()
    }
}

impl Pattern {
    fn read(pattern: &'static str, classes: &[WordClass]) -> Self {
        let (at_start, rest) = match pattern.strip_prefix("^ ") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        Self { at_start, elements: rest.split(' ').map(|element| Element::read(element, classes)).collect() }
    }
}

impl Element {
    fn read(element: &'static str, classes: &[WordClass]) -> Self {
        if let Some(most) = element.strip_prefix('*') {
            return Self::Any { most: most.parse().unwrap_or(1) };
        }
        if let Some(words) = element.strip_prefix('!') {
            return Self::Not { words: words.split('|').collect() };
        }
        let (element, is_optional) = element.strip_suffix('?').map_or((element, false), |rest| (rest, true));
        let mut words = Vec::new();
        for word in element.split('|') {
            match word.strip_prefix('@') {
                None => words.push(word),
                Some(name) => {
                    let class = classes.iter().find(|(class, _)| *class == name);
                    debug_assert!(class.is_some(), "there is a class {name}");
                    words.extend(class.iter().flat_map(|(_, list)| list.words()));
                }
            }
        }
        words.sort_unstable();
        words.dedup();
        Self::Word { words, is_optional }
    }
}

fn is_number(token: &StatementToken<'_>) -> bool {
    token.lower.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the end of a match of these elements that begins at `at`.
fn matches(elements: &[Element], tokens: &[StatementToken<'_>], at: usize, is_first: bool) -> Option<usize> {
    let Some((element, rest)) = elements.split_first() else { return Some(at) };
    match element {
        Element::Not { words } => {
            let is_there = tokens.get(at).is_some_and(|token| words.contains(&&*token.lower));
            (!is_there).then(|| matches(rest, tokens, at, false)).flatten()
        }
        Element::Any { most } => (0..=*most).find_map(|skipped| {
            let passes = tokens.get(at..at + skipped)?.iter().all(|token| !token.is_mark());
            passes.then(|| matches(rest, tokens, at + skipped, false)).flatten()
        }),
        Element::Word { words, is_optional } => {
            let has = |word: &str| words.binary_search(&word).is_ok();
            if has("$") && tokens.get(at).is_none_or(StatementToken::is_mark) {
                return matches(rest, tokens, at, false);
            }
            let most = if is_first { 0 } else { MOST_PASSED_OVER };
            for skipped in 0..=most {
                let Some(token) = tokens.get(at + skipped) else { break };
                let fits = has(&token.lower) || is_number(token) && has("#");
                if fits && let Some(end) = matches(rest, tokens, at + skipped + 1, false) {
                    return Some(end);
                }
                if !token.is_passed_over {
                    break;
                }
            }
            is_optional.then(|| matches(rest, tokens, at, is_first)).flatten()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[track_caller]
    fn check(pattern: &'static str, text: &str, expected: Option<&str>) {
        static CLASSES: [WordClass; 2] = [("pet", List::new("dog cat")), ("job", List::new("cook"))];
        let cues = Cues::new(["no such words", pattern], &CLASSES);
        let statements = statements(text);
        let found = statements.iter().find_map(|statement| {
            let found = cues.all(statement).first().copied()?;
            assert_eq!(found.pattern, 1);
            let words = statement.tokens[found.start..found.end].iter().map(|token| token.lower.as_str());
            Some(words.collect::<Vec<_>>().join(" "))
        });
        assert_eq!(found.as_deref(), expected, "{pattern:?} in {text:?}");
    }

    #[test]
    fn words_and_alternatives_are_found() {
        check("i like tea", "Well, I like tea", Some("i like tea"));
        check("i like tea", "I like coffee", None);
        check("i like|love tea", "I love tea", Some("i love tea"));
        check("i like|love tea", "I hate tea", None);
        check("i like tea", "I like. Tea", None);
    }

    #[test]
    fn adverbs_are_passed_over_but_no_more_than_two() {
        check("i like tea", "I really just like tea", Some("i really just like tea"));
        check("i like tea", "I really just also like tea", None);
        check("i like tea", "I do not like tea", None);
    }

    #[test]
    fn elements_may_be_missing_any_or_absent() {
        check("i like the? tea", "I like tea", Some("i like tea"));
        check("i like the? tea", "I like the tea", Some("i like the tea"));
        check("i like *2 tea", "I like some green tea", Some("i like some green tea"));
        check("i like *2 tea", "I like the cold green tea", None);
        check("i like *2 tea", "I like it, tea", None);
        check("i like !tea", "I like tea", None);
        check("i like !tea", "I like it", Some("i like"));
    }

    #[test]
    fn starts_ends_and_numbers_are_elements() {
        check("^ i like", "And so, I like tea", Some("i like"));
        check("^ i like", "And so I like tea", None);
        check("i like $", "I like!", Some("i like"));
        check("i like $", "I like tea", None);
        check("i like it|$", "I like", Some("i like"));
        check("i have # cats", "I have 2 cats", Some("i have 2 cats"));
        check("i have # cats", "I have no cats", None);
        check("# cats", "The 2 cats", Some("2 cats"));
        check("i like , tea", "I like, tea", Some("i like , tea"));
    }

    #[test]
    fn classes_are_alternatives_too() {
        check("my @pet", "My dog", Some("my dog"));
        check("my @pet|horse", "My horse", Some("my horse"));
        check("my @pet", "My bird", None);
        check("a *1 @job", "A good cook", Some("a good cook"));
    }
}
