//! Finds numbers in folded text, in digits or words: those that a source supplies, and those that a claim makes.
//!
//! A number is compared as digits without separators and needless zeros: `1,000`, `1000` and "a thousand" are `1000`. A
//! form that can be read in two ways counts as both numbers in a source; in a claim, one of the two has to be supplied.

use std::collections::HashSet;

use crate::english::numbers::{InWords, NumberToken, east_asian, in_words, loose, tokens, zeros_of};

/// A number that a claim makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NumberClaim {
    /// The ways to read the number: the source must supply one of these,
    readings: Vec<String>,
    /// or all of these parts, if there are any: the parts of `07.05.2023`.
    parts: Vec<String>,
}

impl NumberClaim {
    pub(super) fn is_supported(&self, supplied: &HashSet<String>) -> bool {
        self.readings.iter().any(|reading| supplied.contains(reading))
            || (!self.parts.is_empty() && self.parts.iter().all(|part| supplied.contains(part)))
    }
}

/// Returns every number that this text may name.
pub(super) fn supplied(folded: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut previous: Option<(usize, String)> = None;
    for (token, at) in tokens(folded) {
        match token {
            NumberToken::Digits(raw) => {
                let behind = &folded[at + raw.len()..];
                let (readings, parts) = readings_of(raw);
                found.extend(moved(&readings, raw, behind).0);
                found.extend(readings);
                found.extend(parts);
                // "1 000": digits, one space, three digits.
                if let Some((end, before)) = previous.take()
                    && at == end + 1
                    && raw.len() == 3
                    && folded[end..].starts_with(' ')
                {
                    let joined = before + raw;
                    found.insert(canonical(&joined));
                    previous = Some((at + raw.len(), joined));
                } else if raw.len() <= 3 {
                    previous = Some((at + raw.len(), raw.to_owned()));
                }
            }
            NumberToken::Word(word) => {
                previous = None;
                found.extend(loose(word).chain(east_asian(word)).map(|number| number.to_string()));
            }
            NumberToken::Other(_) => {}
        }
    }
    let in_words: Vec<u64> = in_words(folded).iter().map(InWords::number).collect();
    for pair in in_words.windows(2).filter(|pair| pair.iter().all(|number| (10..100).contains(number))) {
        found.insert((pair[0] * 100 + pair[1]).to_string()); // "nineteen ninety-five"
    }
    found.extend(in_words.iter().map(u64::to_string));
    found
}

/// Returns every number that this text certainly names. Words that usually count nothing ("one of them", "first", "a
/// couple") are excluded.
pub(super) fn claimed(folded: &str) -> Vec<NumberClaim> {
    const COUNT_NOTHING: [&str; 3] = ["one", "first", "second"];
    let mut claims = Vec::new();
    for (token, at) in tokens(folded) {
        if let NumberToken::Digits(raw) = token {
            if folded[..at].ends_with(':') && raw == "00" {
                continue; // "7:00" for "at seven"
            }
            let (mut readings, parts) = readings_of(raw);
            let (moved, is_certain) = moved(&readings, raw, &folded[at + raw.len()..]);
            if is_certain {
                readings.clear(); // A 9 does not prove "9 billion".
            }
            readings.extend(moved);
            claims.push(NumberClaim { readings, parts });
        }
    }
    let words = in_words(folded).into_iter().filter(|found| !COUNT_NOTHING.contains(&found.only_word));
    claims.extend(
        words.map(|found| NumberClaim { readings: vec![found.number().to_string()], parts: Vec::new() }),
    );
    claims
}

/// Returns the possible readings of digits, and their parts if there are several.
fn readings_of(raw: &str) -> (Vec<String>, Vec<String>) {
    let groups: Vec<&str> = raw.split(['.', ',', '\'']).collect();
    let (first, rest) = groups.split_first().map_or(("", &[] as &[&str]), |(first, rest)| (*first, rest));
    let are_thousands = |groups: &[&str]| first.len() <= 3 && groups.iter().all(|group| group.len() == 3);
    let mut readings = Vec::new();
    if are_thousands(rest) || rest.is_empty() {
        readings.push(canonical(&groups.concat()));
    }
    if let [middle @ .., fraction] = rest
        && are_thousands(middle)
    {
        readings.push(decimal(&(first.to_owned() + &middle.concat()), fraction));
    }
    if rest.len() < 2 {
        return (readings, Vec::new());
    }
    readings.push(raw.to_owned());
    (readings, groups.iter().map(|group| canonical(group)).collect())
}

/// Returns the readings of digits together with the word that follows them, and whether the digits cannot mean anything
/// else.
fn moved(readings: &[String], raw: &str, behind: &str) -> (Vec<String>, bool) {
    let behind = behind.trim_start_matches([' ', '-']);
    let word = &behind[..behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len())];
    if let Some(zeros) = zeros_of(word) {
        let is_unit_too = matches!(word, "m" | "b" | "mil" | "mille"); // Metres, for example.
        return (readings.iter().map(|number| scaled(number, zeros)).collect(), !is_unit_too);
    }
    let Ok(short) = raw.parse::<u32>() else { return (Vec::new(), false) };
    if (word == "pm" || behind.starts_with("p.m")) && short < 12 {
        (vec![(short + 12).to_string()], false)
    } else if word == "s" && raw.len() == 2 {
        (vec![(1900 + short).to_string()], false) // "the 90s"
    } else {
        (Vec::new(), false)
    }
}

fn canonical(digits: &str) -> String {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() { "0" } else { trimmed }.to_owned()
}

fn decimal(whole: &str, fraction: &str) -> String {
    let fraction = fraction.trim_end_matches('0');
    let whole = canonical(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// Returns the number with its decimal point moved right by this many digits.
fn scaled(number: &str, zeros: usize) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let padded = format!("{fraction:0<zeros$}");
    let (moved, rest) = padded.split_at(zeros);
    decimal(&format!("{whole}{moved}"), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether a claim is supported by a source.
    #[track_caller]
    fn check(source: &str, claim: &str, holds: bool) {
        let supplied = supplied(source);
        let holds_now = claimed(claim).iter().all(|claim| claim.is_supported(&supplied));
        assert_eq!(holds_now, holds, "{claim:?} from {source:?}");
    }

    #[test]
    fn the_same_number_in_other_writing() {
        check("it costs 1,000 euros", "1000 and 1.000 and one thousand and a thousand", true);
        check("it costs 1 000 euros", "1,000", true);
        check("three kids", "3 kids, the third, three", true);
        check("half of it, 50%", "fifty percent", true);
        check("twenty-five", "25", true);
        check("two hundred and fifty", "250", true);
        check("$1.5 million", "1,500,000 or 1.5m", true);
        check("20k runners", "20,000", true);
        check("at 7 pm", "19:00 or 7:00 pm", true);
        check("born in nineteen ninety-five", "1995", true);
        check("the 90s", "1990s", true);
        check("a dozen eggs", "12", true);
        check("21st", "twenty-first", true);
        check("zwei katzen", "2", true);
        check("我有三只猫和二十五条鱼", "3 and 25", true);
        check("3.50", "3.5", true);
        check("007", "7", true);
    }

    #[test]
    fn another_number_is_another_number() {
        check("it costs 1,000 euros", "10,000", false);
        check("three kids", "4 kids", false);
        check("three kids", "two kids", false);
        check("twenty-five", "26", false);
        check("3.5", "35", false);
        check("call 555-1234", "555-1235", false);
        check("no number", "10.0.0.1", false);
        check("no number", "one of the first, a second", true);
        check("", "10%", false);
        check("9 million", "9 billion", false);
    }

    #[test]
    fn endless_numbers_end() {
        let nines = "9".repeat(100_000);
        check(&nines, &nines, true);
        check("", &"billion ".repeat(10_000), false);
        check("", &"million thousand hundred ".repeat(10_000), false);
        check(&"九千万".repeat(10_000), "5", false);
    }
}
