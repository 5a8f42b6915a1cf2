//! Determines in which script a text is written and, as far as possible, in which language.

use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
};

use crate::{
    english::lists::{List, list},
    text::words,
};

/// Scripts and their letters. Han and Kana are one, because Japanese mixes them.
#[rustfmt::skip]
const SCRIPTS: [(&str, &[RangeInclusive<char>]); 9] = [
    ("Latin", &['a'..='z', 'A'..='Z', '\u{aa}'..='\u{24f}', '\u{1e00}'..='\u{1eff}', '\u{ff21}'..='\u{ff5a}']),
    ("Greek", &['\u{370}'..='\u{3ff}', '\u{1f00}'..='\u{1fff}']),
    ("Cyrillic", &['\u{400}'..='\u{52f}']),
    ("Hebrew", &['\u{590}'..='\u{5ff}']),
    ("Arabic", &['\u{600}'..='\u{6ff}', '\u{750}'..='\u{77f}', '\u{fb50}'..='\u{fefc}']),
    ("Devanagari", &['\u{900}'..='\u{97f}']),
    ("Thai", &['\u{e00}'..='\u{e7f}']),
    ("Hangul", &['\u{1100}'..='\u{11ff}', '\u{3130}'..='\u{318f}', '\u{ac00}'..='\u{d7a3}']),
    ("Han", &['\u{3005}'..='\u{3007}', '\u{3041}'..='\u{30ff}', '\u{3400}'..='\u{4dbf}', '\u{4e00}'..='\u{9fff}',
        '\u{f900}'..='\u{faff}', '\u{ff66}'..='\u{ff9f}', '\u{20000}'..='\u{3ffff}']),
];

/// A Han character or a Hangul syllable says about as much as three letters.
const LETTERS_PER_IDEOGRAM: u32 = 3;
/// A text with fewer weighted letters may be a name or a number in any script.
const MIN_LETTERS: u32 = 8;
/// A text is written in a script if at least one in this many of its letters belongs to it. Names and terms in other scripts
/// are part of every language.
const WRITTEN_ONE_IN: u32 = 4;
/// How many bytes of a text are profiled: more say nothing new about its language.
const MAX_PROFILED_BYTES: usize = 20_000;

/// The letters of a text, counted by script, and its language if that is clear.
struct LanguageProfile {
    letters: u32,
    by_script: HashMap<&'static str, u32>,
    kana: u32,
    language: Option<usize>,
}

impl LanguageProfile {
    fn of(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_PROFILED_BYTES)];
        let mut new = Self { letters: 0, by_script: HashMap::new(), kana: 0, language: None };
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            let script = script_of(c);
            let weight = if matches!(script, "Han" | "Hangul") { LETTERS_PER_IDEOGRAM } else { 1 };
            new.letters += weight;
            *new.by_script.entry(script).or_default() += weight;
            if is_kana(c) {
                new.kana += weight;
            }
        }
        if new.is_written_in("Latin") {
            new.language = language_of(text);
        }
        new
    }

    /// Whether a summary with this profile is in the language of the text that `self` describes; `None` if that cannot be
    /// determined.
    fn agrees(&self, summary: &Self) -> Option<bool> {
        if self.letters < MIN_LETTERS || summary.letters < MIN_LETTERS {
            return None;
        }
        let mut written = self.by_script.keys().filter(|&&script| self.is_written_in(script));
        if !written.any(|&script| summary.is_written_in(script)) {
            return Some(false);
        }
        // Japanese is never long without Kana, and Chinese never has any.
        if self.is_written_in("Han") && summary.is_written_in("Han") {
            let is_japanese = |profile: &Self| profile.kana * 10 > profile.letters;
            if is_japanese(self) != is_japanese(summary) && (self.kana == 0 || summary.kana == 0) {
                return Some(false);
            }
        }
        match (self.language, summary.language) {
            (Some(own), Some(other)) => Some(own == other),
            (None, Some(_)) => None,
            (_, None) => Some(true),
        }
    }

    fn is_written_in(&self, script: &str) -> bool {
        self.by_script.get(script).is_some_and(|&letters| letters * WRITTEN_ONE_IN >= self.letters)
    }
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}')
}

/// Returns the name of a letter's script; empty for one that is not listed.
fn script_of(c: char) -> &'static str {
    let has = |ranges: &[RangeInclusive<char>]| ranges.iter().any(|range| range.contains(&c));
    SCRIPTS.iter().find(|(_, ranges)| has(ranges)).map_or("", |(name, _)| name)
}

/// Whether a summary can belong to a turn with these sides: one of them is in its language, or none is clearly in another.
pub(super) fn fits(sides: &[&str], summary: &str) -> bool {
    let summary = LanguageProfile::of(summary);
    let agreed: Vec<Option<bool>> =
        sides.iter().map(|side| LanguageProfile::of(side).agrees(&summary)).collect();
    agreed.contains(&Some(true)) || !agreed.contains(&Some(false))
}

/// Whether words around this letter are written without spaces.
pub(super) fn is_unspaced_char(c: char) -> bool {
    matches!(script_of(c), "Han" | "Hangul" | "Thai")
}

/// Frequent words, folded, that are on no other language's list.
static FREQUENT: List = list!("frequent");
/// How many frequent words a text must have before its language is named: chance produces a few.
const MIN_FREQUENT: usize = 4;

/// Returns the language of this text, as a line of [`FREQUENT`], if that is clear: the text has at least twice as many words
/// of that language's list as of any other.
fn language_of(text: &str) -> Option<usize> {
    let folded = words::fold(text);
    let words: Vec<&str> =
        folded.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let mut counts: Vec<(usize, usize)> = (0..)
        .zip(FREQUENT.lines())
        .map(|(language, list)| {
            let frequent: HashSet<&str> = list.split(' ').collect();
            (words.iter().filter(|word| frequent.contains(*word)).count(), language)
        })
        .collect();
    counts.sort_unstable();
    let [.., (second, _), (most, best)] = counts[..] else { return None };
    (most >= MIN_FREQUENT && most >= 2 * second).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, summary: &str, allowed: bool) {
        assert_eq!(fits(&[source], summary), allowed, "{summary:?} of {source:?}");
    }

    const ENGLISH: &str = "I have been to the market and it was full of people that I know from the school.";
    const GERMAN: &str =
        "Der Nutzer war auf dem Markt und hat sich mit den Leuten von der Schule unterhalten.";

    #[test]
    fn another_script_is_another_language() {
        check(ENGLISH, "Пользователь был на рынке.", false);
        check(ENGLISH, "用户去了市场，见到了学校的朋友。", false);
        check("Я была на рынке и купила яблоки.", "The user went to the market and bought apples.", false);
        check("Я была на рынке и купила яблоки.", "Пользовательница купила яблоки на рынке.", true);
        check("ฉันไปตลาดกับเพื่อนเมื่อวานนี้", "The user went to the market.", false);
    }

    #[test]
    fn foreign_names_and_terms_are_no_other_language() {
        check("我昨天用 Visual Studio Code 写了代码。", "用户用 Visual Studio Code 写代码。", true);
        check(ENGLISH, "At the market (рынок) the user met people from the school.", true);
        check("Wie sagt man 你好 auf Deutsch?", "Es geht um 你好 auf Deutsch.", true);
    }

    #[test]
    fn chinese_is_not_japanese() {
        check("我昨天去了市场，买了很多苹果。", "ユーザーは昨日、市場でりんごを買った。", false);
        check("昨日、市場でりんごをたくさん買いました。", "用户昨天在市场上买了很多苹果。", false);
        check("昨日、市場でりんごをたくさん買いました。", "ユーザーは市場でりんごを買った。", true);
    }

    #[test]
    fn languages_of_one_script_are_told_apart_when_clear() {
        check(ENGLISH, GERMAN, false);
        check(GERMAN, ENGLISH, false);
        check(GERMAN, GERMAN, true);
        check("ok thanks, see you tomorrow", GERMAN, true); // Too short to tell.
    }

    #[test]
    fn one_side_in_its_language_is_enough_and_unclear_ones_do_not_count() {
        assert!(fits(&[ENGLISH, GERMAN], GERMAN) && fits(&[GERMAN, ENGLISH], GERMAN));
        assert!(fits(&["ok thanks", ""], GERMAN));
        assert!(!fits(&["ok thanks", ENGLISH], GERMAN) && !fits(&[ENGLISH, ""], GERMAN));
    }

    #[test]
    fn little_text_is_of_any_language() {
        check("ok", "ОК", true);
        check("123", ENGLISH, true);
    }
}
