//! The closed list of forms in which people tell who they are: words, and what the value after them means.

use std::sync::LazyLock;

use crate::{
    english::{
        claims::values::{ValueReader, reader},
        classes::CLASSES,
        cues::Cues,
        lists::{List, list},
    },
    model::anchor::{Attribute, Stance},
};

/// One form: the words before a value, and what the value means.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimForm {
    pub(super) pattern: &'static str,
    pub(super) attribute: Attribute,
    pub(super) kind: &'static str,
    pub(super) read: ValueReader,
    /// When the form applies: `ends`, `mine`, `since`, `until`, or empty. `lists/forms.txt` explains them.
    pub(super) manner: &'static str,
}

impl ClaimForm {
    pub(super) fn stance(&self) -> Stance {
        if self.manner == "ends" { Stance::Ends } else { Stance::Holds }
    }
}

static LINES: List = list!("forms");

/// The forms, and their patterns in the same order.
pub(super) static FORMS: LazyLock<(Vec<ClaimForm>, Cues)> = LazyLock::new(|| {
    let forms: Vec<ClaimForm> = LINES.lines().filter_map(form).collect();
    let cues = Cues::new(forms.iter().map(|form| form.pattern), CLASSES);
    (forms, cues)
});

fn form(line: &'static str) -> Option<ClaimForm> {
    let (about, pattern) = line.split_once(": ")?;
    let mut words = about.split(' ');
    let attribute = Attribute::from_word(words.next()?)?;
    let kind = words.next()?;
    Some(ClaimForm {
        pattern,
        attribute,
        kind,
        read: reader(kind)?,
        manner: words.next().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_form() {
        assert_eq!(FORMS.0.len(), LINES.lines().count());
        for form in &FORMS.0 {
            assert!(["", "ends", "mine", "since", "until"].contains(&form.manner), "{}", form.pattern);
        }
    }
}
