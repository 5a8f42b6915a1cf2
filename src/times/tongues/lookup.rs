//! Looks up which month or weekday a word names, and in which languages.

use std::{collections::HashMap, sync::LazyLock};

use crate::times::{
    english::MONTHS,
    tongues::{names::NameMeaning, tables::TONGUES},
};

/// Returns the months or weekdays that a folded word names, each with the index of its language in [`TONGUES`].
pub(super) fn named(folded: &str) -> &'static [(usize, NameMeaning)] {
    static BY_NAME: LazyLock<HashMap<String, Vec<(usize, NameMeaning)>>> = LazyLock::new(|| {
        let mut by_name: HashMap<String, Vec<(usize, NameMeaning)>> = HashMap::new();
        for (tongue, names) in TONGUES.iter().map(|tongue| &tongue.names).enumerate() {
            for (word, name) in names.all() {
                let known = by_name.entry(word).or_default();
                if !known
                    .iter()
                    .any(|(of, name)| *of == tongue && !matches!(name, NameMeaning::Month(_, false)))
                {
                    known.push((tongue, name));
                }
            }
        }
        by_name
    });
    BY_NAME.get(folded).map_or(&[], Vec::as_slice)
}

/// Returns the month with this folded name in English or another larger language, 1 to 12. `may` is also a verb.
pub(crate) fn month_in_any_language(folded: &str) -> Option<u32> {
    let is_short = folded.len() == 3 || folded == "sept";
    let english = (1..).zip(MONTHS).find(|(_, name)| *name == folded || is_short && name.starts_with(folded));
    let month = |(_, name): &(usize, NameMeaning)| match name {
        // Short names are words in other languages: `set`, `out`.
        NameMeaning::Month(month, is_written) if *is_written || matches!(folded, "okt" | "dez") => {
            Some(*month)
        }
        _ => None,
    };
    english.map(|(month, _)| month).or_else(|| named(folded).iter().find_map(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_all_names() {
        for tongue in &TONGUES {
            assert!(tongue.names.all().count() >= 12 + 12 + 7, "{tongue:?}");
        }
    }

    #[test]
    fn months_are_known_in_any_larger_language() {
        for name in ["march", "mar", "marz", "mars", "marzo", "marco", "maart", "марта"] {
            assert_eq!(month_in_any_language(name), Some(3), "{name}");
        }
        for name in ["set", "out", "led", "lis", "pro"] {
            assert_eq!(month_in_any_language(name), None, "{name}");
        }
    }
}
