//! Finds which attributes of anchors a message asks for, and whose.

use std::sync::LazyLock;

use crate::{
    english::{
        classes::{CLASSES, is_of},
        cues::Cues,
        lists::{List, list},
        query::reading::{MessageReading, QuerySentence},
    },
    model::anchor::Attribute::{self, Dislikes, Family, Likes, Pets},
};

/// A requested attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskedAttribute {
    pub(crate) attribute: Attribute,
    pub(crate) of: Whom,
}

/// Whose attribute it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// `where do I live`
    User,
    /// `what is your name`
    Assistant,
    /// `where does Anna live`, `where does my sister live`: the person who is named, if any.
    Other,
}

/// Lines of the form `attribute: pattern` or `past: pattern`.
static PATTERNS: List = list!("asked");

/// The attribute of each pattern, `None` for `past`, and the patterns.
static CUES: LazyLock<(Vec<Option<Attribute>>, Cues)> = LazyLock::new(|| {
    let lines: Vec<(&str, &str)> = PATTERNS.lines().filter_map(|line| line.split_once(": ")).collect();
    let attributes = lines.iter().map(|(name, _)| Attribute::from_word(name)).collect();
    (attributes, Cues::new(lines.iter().map(|(_, pattern)| *pattern), CLASSES))
});

/// Returns the attributes that the message asks for, each once, in the order of the attributes. An attribute of nobody in
/// particular is the user's, unless the message is only about others. The flag says whether the message asks how things used
/// to be: `where did I live`, `my old job`.
pub(super) fn asked(reading: &MessageReading<'_>, of_others: bool) -> (Vec<AskedAttribute>, bool) {
    let (attributes, cues) = &*CUES;
    let (mut found, mut of_past): (Vec<AskedAttribute>, bool) = (Vec::new(), false);
    for part in reading.parts() {
        for place in cues.all(part.sentence) {
            let Some(attribute) = attributes[place.pattern] else {
                of_past = true;
                continue;
            };
            let of = whom(attribute, part, place.start, place.end);
            let of = of.unwrap_or(if of_others { Whom::Other } else { Whom::User });
            let asked = AskedAttribute { attribute, of };
            if !found.contains(&asked) {
                found.push(asked);
            }
        }
    }
    // `what do I not like` asks only for dislikes.
    if reading.words().any(|word| word == "not") && found.iter().any(|asked| asked.attribute == Dislikes) {
        found.retain(|asked| asked.attribute != Likes);
    }
    found.sort_by_key(|asked| (asked.attribute, asked.of as u8));
    (found, of_past)
}

/// Returns whose attribute the words of a pattern ask for, if they say so. `my sister's birthday` asks for the sister's.
/// `Family` and `Pets` are exceptions: who the user's sister is, is an attribute of the user.
fn whom(attribute: Attribute, part: QuerySentence<'_>, start: usize, end: usize) -> Option<Whom> {
    let words = || (start..end).map(|at| part.lower(at));
    let has = |list: &[&str]| words().any(|word| list.contains(&word));
    // The words before the pattern: `my sister 's` in `my sister's birthday`.
    let led_by = || (start.saturating_sub(3)..start).map(|at| part.lower(at));
    let is_own_kind = matches!(attribute, Family | Pets);
    let is_relative = |word: &str| is_of("kin", word) || is_of("close", word) || is_of("pet", word);
    let is_others =
        !is_own_kind && (words().any(is_relative) || words().chain(led_by()).any(|word| word == "'s"));
    if has(&["i", "we", "am", "me", "us", "myself"]) || (has(&["my", "our"]) && !is_others) {
        Some(Whom::User)
    } else if has(&["your", "you", "yourself"]) {
        Some(Whom::Assistant)
    } else if is_others
        || has(&["he", "she", "his", "her", "does", "is", "was", "did", "has"])
        || led_by().any(|word| matches!(word, "his" | "her" | "their" | "your"))
    {
        Some(Whom::Other)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_but_the_note_is_asked_for_by_some_pattern() {
        let (attributes, _) = &*CUES;
        for attribute in Attribute::EVERY {
            assert_eq!(attributes.contains(&Some(attribute)), attribute != Attribute::Note, "{attribute:?}");
        }
        let lines = PATTERNS.lines().map(|line| line.split_once(": ").expect("a name and a pattern").0);
        assert!(lines.zip(attributes).all(|(name, attribute)| attribute.is_some() || name == "past"));
    }
}
