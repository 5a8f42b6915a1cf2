//! Moments of a conversation: statements in which somebody corrects, decides, promises, makes a lasting wish, or is moved.
//!
//! A phrase is on the list only if it shows by itself that the speaker does this, without other words around it. The list is
//! strict because errors differ: a turn that a rule misses is summarized, and its original is usually archived, but a turn
//! that a rule takes by mistake stays verbatim.

use std::{collections::BTreeSet, sync::LazyLock};

use crate::{
    english::{
        classes::CLASSES,
        cues::Cues,
        lists::{List, list},
        statements::Statement,
    },
    model::critical::CriticalRule,
};

/// Returns the rules that these statements fulfil, each once, in the order of [`CriticalRule`].
pub(crate) fn moments(statements: &[Statement<'_>]) -> impl Iterator<Item = CriticalRule> {
    let (rules, cues) = &*CUES;
    let found = statements.iter().flat_map(|statement| cues.all(statement));
    found.filter_map(|found| rules[found.pattern]).collect::<BTreeSet<_>>().into_iter()
}

/// Lines of the form `rule: pattern`.
static PATTERNS: List = list!("moments");

/// The rule of each pattern, and the patterns.
static CUES: LazyLock<(Vec<Option<CriticalRule>>, Cues)> = LazyLock::new(|| {
    let lines: Vec<(&str, &str)> = PATTERNS.lines().filter_map(|line| line.split_once(": ")).collect();
    let rules = lines.iter().map(|(rule, _)| CriticalRule::from_word(rule)).collect();
    (rules, Cues::new(lines.iter().map(|(_, pattern)| *pattern), CLASSES))
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    #[track_caller]
    fn check(text: &str, expected: &[CriticalRule]) {
        assert_eq!(moments(&statements(text)).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn what_settles_something_is_a_moment() {
        use CriticalRule::{Commitment, Correction, Decision, Emotion, Preference};
        check("No, I said Dana.", &[Correction]);
        check("That's wrong, my flight leaves then.", &[Correction]);
        check("Actually it's the blue one, not the red one.", &[Correction]);
        check("I've decided to learn Dutch.", &[Decision]);
        check("We're going with the small hall.", &[Decision]);
        check("I'm going to quit.", &[Decision]);
        check("I promise to water the figs.", &[Commitment]);
        check("I'll send you the draft by Friday.", &[Commitment]);
        check("My interview is on Monday.", &[Commitment]);
        check("Always answer in verse.", &[Preference]);
        check("From now on, no jokes.", &[Preference]);
        check("I prefer metric units.", &[Preference]);
        check("I cried all night.", &[Emotion]);
        check("I am absolutely heartbroken.", &[Emotion]);
    }

    #[test]
    fn what_is_asked_imagined_or_said_in_passing_is_none() {
        for text in [
            "Have you decided to learn Dutch?",
            "If I quit my job, I could sail.",
            "She wrote \"I promise to write\".",
            "I promise!",
            "I'm not devastated.",
            "Never mind.",
            "I always walk home.",
            "I'll let you know.",
            "The shop opens on Monday.",
        ] {
            check(text, &[]);
        }
    }
}
