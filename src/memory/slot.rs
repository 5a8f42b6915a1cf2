//! Who may take the place of whom.

use crate::model::{memory::trust::Trust, turn::Origin};

/// Whose words a memory has, and how far they are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Voice {
    pub(crate) origin: Origin,
    pub(crate) trust: Trust,
}

/// Whether one memory may take the place of another without a person's word: it is trusted as far at least, and what the
/// user said gives way only to what the user says.
pub(crate) fn may_take_the_place(new: Voice, old: Voice) -> bool {
    new.trust >= old.trust && (old.origin != Origin::User || new.origin == Origin::User)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(new: Origin, old: (Origin, Trust), expected: bool) {
        let new = Voice { origin: new, trust: Trust::of(new) };
        let old = Voice { origin: old.0, trust: old.1 };
        assert_eq!(may_take_the_place(new, old), expected, "{new:?} {old:?}");
    }

    #[test]
    fn what_is_trusted_as_far_takes_the_place_and_the_users_words_only_the_users() {
        check(Origin::User, (Origin::User, Trust::User), true);
        check(Origin::User, (Origin::Assistant, Trust::Assistant), true);
        check(Origin::Assistant, (Origin::Assistant, Trust::Assistant), true);
        check(Origin::System, (Origin::Assistant, Trust::Assistant), true);
        check(Origin::System, (Origin::System, Trust::User), true);
        check(Origin::System, (Origin::User, Trust::User), false);
        check(Origin::Assistant, (Origin::User, Trust::User), false);
        check(Origin::Tool, (Origin::Assistant, Trust::Assistant), false);
        check(Origin::Tool, (Origin::Document, Trust::Foreign), true);
        check(Origin::User, (Origin::User, Trust::Approved), false);
    }
}
