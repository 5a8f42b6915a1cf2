//! Checks whether an anchor's value fits its attribute: a name looks like a name, an age like an age. The rules are small
//! and closed; in doubt they refuse.
//!
//! The cue words are English words and some of other languages, all folded.

use crate::{
    compress::verify::{language, numbers},
    english::{
        classes::is_of,
        dull_words::is_dull,
        lists::{List, list, without_possessive},
        numbers::small,
        stop_words::is_stop_word,
    },
    model::anchor::{Attribute, Cardinality, FoundAnchor, Stance},
    text::words,
};

/// The form of a value.
#[derive(Clone, Copy)]
enum ValueForm {
    /// Capitalized by the speaker if the script has capitals; not a common word; directly after a cue.
    Name,
    /// Each of its words, except small ones, is capitalized by the speaker.
    Proper,
    /// One number of years, from 1 to 130.
    Age,
    /// Contains a month or a number.
    Day,
    /// Only pronouns.
    Pronouns,
    /// A phrase, not a sentence.
    Phrase,
}

/// Returns the form and the maximum number of words of an attribute's values. `sister Anna` or `type 2 diabetes` fit well
/// into eight words; a note is what fits nowhere else.
const fn rule_of(attribute: Attribute) -> (ValueForm, usize) {
    match attribute {
        Attribute::Name => (ValueForm::Name, 4),
        Attribute::Pronouns => (ValueForm::Pronouns, 6),
        Attribute::Birthday => (ValueForm::Day, 5),
        Attribute::Age => (ValueForm::Age, 4),
        Attribute::Home | Attribute::Hometown | Attribute::Employer => (ValueForm::Proper, 6),
        Attribute::Note => (ValueForm::Phrase, 16),
        _ => (ValueForm::Phrase, 8),
    }
}

/// Words in a quote that prove an attribute: lines of `attribute: cue|cue`. Phrases such as `called Petrel` and
/// `this is Petrel` are not cues for a name, because they may refer to a boat.
static CUES: List = list!("answer_cues");
/// The key in [`CUES`] of the words which say that something is no longer so, or never was.
const ENDED: &str = "ended";

static PRONOUNS: List = list!("pronouns");
static WITHIN_NAMES: List = list!("within_names");

/// Whether this value, said in this quote, answers the attribute; and, if the anchor says that it no longer holds, whether
/// the quote says so.
pub(super) fn answers(found: &FoundAnchor, value: &str, quote: &str) -> bool {
    let attribute = found.attribute;
    let (form, most_words) = rule_of(attribute);
    let parts: Vec<&str> = value.split_whitespace().collect();
    let is_of_form = match form {
        ValueForm::Name => is_proper(&parts, quote) && parts.iter().all(|part| is_no_common_word(part)),
        ValueForm::Proper => is_proper(&parts, quote),
        ValueForm::Age => is_age(value),
        ValueForm::Day => is_day(value),
        ValueForm::Pronouns => is_pronouns(value),
        ValueForm::Phrase => is_phrase(value),
    };
    parts.len() <= most_words
        && is_of_form
        && has_cue(attribute.as_str(), value, quote)
        && (found.stance == Stance::Holds || has_cue(ENDED, value, quote))
        && (attribute.cardinality() == Cardinality::Many || stands_in(value, quote))
}

/// Whether all words of the value are in the quote.
fn stands_in(value: &str, quote: &str) -> bool {
    let quoted = words::query_words(quote);
    words::query_words(value).iter().all(|word| quoted.contains(word))
}

/// Whether the speaker capitalizes each word, if its script has capitals. If the speaker uses no capitals, the value is
/// refused.
fn is_proper(parts: &[&str], quote: &str) -> bool {
    let is_written = |part: &str| {
        let bare = bare(part);
        let Some(first) = bare.chars().next() else { return true };
        let has_case = first.is_lowercase() || first.is_uppercase();
        let is_capital = |word: &str| word.chars().next().is_some_and(|c| c.is_uppercase() || c.is_numeric());
        let lower = bare.to_lowercase();
        !has_case
            || WITHIN_NAMES.contains(&lower)
            || quote
                .split(|c: char| c.is_whitespace() || matches!(c, '-' | '/' | '\u{2014}'))
                .map(self::bare)
                .any(|word| is_capital(word) && word.to_lowercase() == lower)
    };
    let is_small = |part: &&str| WITHIN_NAMES.contains(&part.to_lowercase());
    !parts.iter().all(is_small)
        && parts
            .iter()
            .flat_map(|part| part.split(['-', '/']))
            .all(|part| part.is_empty() || is_written(part))
}

/// Returns the word without surrounding signs, and without a possessive `'s`.
fn bare(word: &str) -> &str {
    without_possessive(word.trim_matches(|c: char| !c.is_alphanumeric()))
}

fn is_no_common_word(part: &str) -> bool {
    let lower = bare(part).to_lowercase();
    WITHIN_NAMES.contains(&lower)
        || !(is_stop_word(&lower) || is_dull(&lower) || is_of("day", &lower) || is_of("language", &lower))
}

fn is_age(value: &str) -> bool {
    let folded = words::fold(value);
    let named = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_only_one = numbers::claimed(&folded).len() == 1;
    let digits: Vec<u32> =
        folded.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse().ok()).collect();
    match *digits {
        [years] => {
            (1..=130).contains(&years) && !folded.contains(['-', '+', '.', ',', '/', '$', '%', '\u{20ac}'])
        }
        [] => has_only_one || named.into_iter().any(|word| small(word).is_some()),
        _ => false,
    }
}

fn is_day(value: &str) -> bool {
    let folded = words::fold(value);
    let mut parts = folded.split(|c: char| !c.is_alphanumeric());
    folded.contains(|c: char| c.is_ascii_digit()) || parts.any(|word| is_of("month", word))
}

fn is_pronouns(value: &str) -> bool {
    let folded = words::fold(value);
    let mut parts = folded.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some()
        && parts.all(|part| PRONOUNS.contains(part) || part.chars().all(language::is_unspaced_char))
}

/// Whether no sentence ends within the value.
fn is_phrase(value: &str) -> bool {
    let inside = value.trim_end_matches(['.', '!', '?', '\u{3002}']);
    !inside.contains([';', '\u{3002}']) && !["! ", "? ", ": "].iter().any(|end| inside.contains(end))
}

/// Whether the quote contains a cue for this attribute (`CUES`), or the attribute has none. The cue of a name must directly
/// precede the name.
fn has_cue(of: &str, value: &str, quote: &str) -> bool {
    let lines = CUES.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(": "));
    let mut cues = lines.flat_map(|line| line.split('|')).peekable();
    if cues.peek().is_none() {
        return true;
    }
    let folded = |text: &str| words::fold(text).replace('\u{2019}', "'");
    let (quote, value) = (folded(quote), folded(value));
    let is_word = |c: char| c.is_alphanumeric() && !language::is_unspaced_char(c);
    let mut found = cues.flat_map(|cue| quote.match_indices(cue)).map(|(at, cue)| (at, at + cue.len()));
    found.any(|(start, end)| {
        let is_whole = !quote[..start].ends_with(is_word) && !quote[end..].starts_with(is_word);
        let is_unspaced = quote[start..end].ends_with(language::is_unspaced_char);
        let is_before_name = || {
            // Only directly after the cue: in "I'm in Lisbon", `in Lisbon` is not a name.
            quote[end..].trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(&value)
        };
        (is_whole || is_unspaced) && (of != Attribute::Name.as_str() || is_before_name())
    })
}
