//! Classes of words that patterns name: kin, animals, professions, days ...

use crate::english::{
    cues::WordClass,
    lists::{List, list},
};

/// The classes by the names that patterns use.
pub(crate) static CLASSES: &[WordClass] = &ALL;

static ALL: [WordClass; 19] = [
    ("close", list!("close")),
    ("kin", list!("kin")),
    ("pet", list!("pets")),
    ("language", list!("languages")),
    ("condition", list!("conditions")),
    ("diet", list!("diets")),
    ("job", list!("jobs")),
    ("month", list!("months")),
    ("day", list!("days")),
    ("ordinal", list!("ordinals")),
    ("food", list!("foods")),
    ("event", list!("events")),
    ("order", list!("orders")),
    ("habit", list!("habits")),
    ("answer", list!("answers")),
    ("manner", list!("manner")),
    ("wording", list!("wording")),
    ("i", List::new("i we")),
    ("my", List::new("my our")),
];

/// Whether `word` belongs to the class with this name.
pub(crate) fn is_of(class: &str, word: &str) -> bool {
    CLASSES.iter().any(|(name, list)| *name == class && list.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        english::dull_words::is_dull,
        times::{MONTHS, WEEKDAYS},
    };

    #[test]
    fn days_and_months_are_known_as_such_and_name_no_topic() {
        for day in WEEKDAYS {
            assert!(is_of("day", day) && is_dull(day), "{day}");
        }
        for month in MONTHS {
            assert!(is_of("month", month) && is_dull(month), "{month}");
        }
    }
}
