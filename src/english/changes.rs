//! Reads what a later statement says about a thing that an earlier statement mentioned: whether the thing changed or is
//! over, whether the statement is about now, and what kind of value the statement contains.

use std::sync::LazyLock;

use crate::english::{
    classes::{CLASSES, is_of},
    cues::{CueMatch, Cues},
    lists::{List, is_in, list},
    numbers::cardinal,
    statements::{Statement, StatementToken},
};

/// Lines of the form `kind: pattern`.
static PATTERNS: List = list!("changes");

static CUES: LazyLock<(Vec<&'static str>, Cues)> = LazyLock::new(|| {
    let lines: Vec<(&str, &str)> = PATTERNS.lines().filter_map(|line| line.split_once(": ")).collect();
    let kinds = lines.iter().map(|(kind, _)| *kind).collect();
    (kinds, Cues::new(lines.iter().map(|(_, pattern)| *pattern), CLASSES))
});

/// What a statement says about changes.
pub(crate) struct StatedChanges<'s, 'a> {
    tokens: &'s [StatementToken<'a>],
    found: Vec<(&'static str, CueMatch)>,
}

impl<'s, 'a> StatedChanges<'s, 'a> {
    pub(crate) fn of(statement: &'s Statement<'a>) -> Self {
        let (kinds, cues) = &*CUES;
        let is_month = |found: &CueMatch| statement.tokens[found.start].text == "May";
        let found = cues.all(statement).into_iter().filter(|found| !is_month(found));
        Self { tokens: &statement.tokens, found: found.map(|found| (kinds[found.pattern], found)).collect() }
    }

    /// Whether the statement tells how things were, or would be: `I used to live`, `I would pay`.
    pub(crate) fn is_not_so(&self) -> bool {
        self.found.iter().any(|(kind, _)| *kind == "not_so")
    }

    /// Whether the statement says that something is so from now on: `the kitchen is green now`.
    pub(crate) fn is_news(&self) -> bool {
        self.found.iter().any(|(kind, _)| *kind == "news")
    }

    /// Whether the statement says that the thing changed, or, with `or_elsewhere`, that it is elsewhere:
    /// `I moved the violin`. `is_of_thing` says whether the token at a position identifies the thing.
    pub(crate) fn is_changed(&self, is_of_thing: &dyn Fn(usize) -> bool, or_elsewhere: bool) -> bool {
        self.found.iter().any(|(kind, cue)| {
            let is_change = matches!(*kind, "end" | "change") || (or_elsewhere && *kind == "place");
            is_change && (self.has_object(cue, is_of_thing) || self.has_subject(cue, is_of_thing))
        })
    }

    /// Whether the statement says that the thing is over: `I quit Lindholm`, `Halloran retired`.
    pub(crate) fn is_over(&self, is_of_thing: &dyn Fn(usize) -> bool) -> bool {
        self.found.iter().any(|(kind, cue)| match *kind {
            "end" => self.has_object(cue, is_of_thing) || self.has_subject(cue, is_of_thing),
            "change" => self.has_subject(cue, is_of_thing),
            _ => false,
        })
    }

    /// Whether the thing is the object of a cue: `sold the Skoda`, `a new dentist`.
    fn has_object(&self, cue: &CueMatch, is_of_thing: &dyn Fn(usize) -> bool) -> bool {
        const BETWEEN: &str = "the a an my our his her their this that all of up";
        let next = (cue.end..self.tokens.len()).find(|&at| !is_in(BETWEEN, &self.tokens[at].lower));
        next.is_some_and(is_of_thing)
    }

    /// Whether the thing is the subject of a cue: `Ida has moved`, `the roof is new`.
    fn has_subject(&self, cue: &CueMatch, is_of_thing: &dyn Fn(usize) -> bool) -> bool {
        const BETWEEN: &str = "has have had is are was were been being got get to";
        let passed = |at: &usize| is_in(BETWEEN, &self.tokens[*at].lower) || self.tokens[*at].is_passed_over;
        (0..cue.start).rev().find(|at| !passed(at)).is_some_and(is_of_thing)
    }
}

/// The kind of value in a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// Neither a number nor a day.
    #[default]
    Words,
    /// A number, or a place in a row (`third`).
    Number,
    /// A month, or a word of the class `day`.
    Day,
}

/// Returns the kind of value in a statement. A day takes precedence over a number.
pub(crate) fn kind(statement: &Statement<'_>) -> ValueKind {
    const UNITS: &str = "hour minute day week month year kilometre kilometer mile kilo litre liter dozen";
    let tokens = &statement.tokens;
    let lower = |at: usize| tokens.get(at).map_or("", |token| &*token.lower);
    let is_day = |token: &StatementToken<'_>| {
        is_of("day", &token.lower) || (is_of("month", &token.lower) && token.is_capital())
    };
    let is_number = |at: usize| match lower(at) {
        "one" => lower(at + 1) != "of" && !is_in("another the this that no", lower(at.wrapping_sub(1))),
        "a" | "an" => is_in(UNITS, lower(at + 1)),
        "half" => true,
        word => {
            word.contains(|c: char| c.is_ascii_digit()) || cardinal(word).is_some() || is_of("ordinal", word)
        }
    };
    if tokens.iter().any(is_day) {
        ValueKind::Day
    } else if (0..tokens.len()).any(is_number) {
        ValueKind::Number
    } else {
        ValueKind::Words
    }
}

/// Returns how a statement continues after one of its words: `my dentist is Brandt` and `my dentist is Okafor` continue
/// alike. `None` unless the second word from there is a preposition or has a capital.
pub(crate) fn goes_on(statement: &Statement<'_>, at: usize) -> Option<(String, String)> {
    const LEADS: &str = "in on at by under behind beside with from to into called named";
    let [verb, next, ..] = statement.tokens.get(at + 1..)? else { return None };
    let next = if next.is_capital() {
        "Name"
    } else if is_in(LEADS, &next.lower) {
        &next.lower
    } else {
        return None;
    };
    (!verb.is_mark()).then(|| (verb.lower.clone(), next.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::statements::statements;

    const THING: &str = "violin dentist skoda ida roof dog rent halloran";

    fn reads<T>(text: &str, read: impl Fn(&StatedChanges<'_, '_>, &dyn Fn(usize) -> bool) -> T) -> T {
        let statements = statements(text);
        let of_thing = |at: usize| is_in(THING, &statements[0].tokens[at].lower);
        read(&StatedChanges::of(&statements[0]), &of_thing)
    }

    #[test]
    fn a_change_is_one_of_the_thing_itself() {
        for (text, expected) in [
            ("I moved the violin to the cellar.", true),
            ("I have a new dentist.", true),
            ("Ida has moved, she lives in Oslo.", true),
            ("The roof of mine is new", false),
            ("The roof is new", true),
            ("I bought a new lead for my dog.", false),
            ("I moved my car out of the roof.", false),
            ("I put my violin into the attic.", false),
        ] {
            assert_eq!(reads(text, |changes, thing| changes.is_changed(thing, false)), expected, "{text}");
        }
        assert!(reads("I put my violin into the attic.", |changes, thing| changes.is_changed(thing, true)));
        assert!(reads("Halloran retired.", |changes, thing| changes.is_over(thing)));
        assert!(!reads("I moved to the violin.", |changes, thing| changes.is_over(thing)));
    }

    #[test]
    fn what_was_and_what_would_be_is_not_so() {
        for (text, expected) in [
            ("I used to pay 700 euros.", true),
            ("Back when I lived in Rome I ate pasta.", true),
            ("My rent would be 1200 euros.", true),
            ("I worked at Bosch before Siemens.", true),
            ("It was laid in May.", false),
            ("I moved the violin.", false),
        ] {
            assert_eq!(reads(text, |changes, _| changes.is_not_so()), expected, "{text}");
        }
    }

    #[test]
    fn values_are_of_kinds() {
        for (text, expected) in [
            ("My rent is 900 euros.", ValueKind::Number),
            ("My commute takes an hour.", ValueKind::Number),
            ("One of the cats caught a mouse.", ValueKind::Words),
            ("It is due on the third of May.", ValueKind::Day),
            ("I may pay the rent.", ValueKind::Words),
        ] {
            assert_eq!(kind(&statements(text)[0]), expected, "{text}");
        }
    }
}
