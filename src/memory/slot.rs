//! Decides which memory may take another's place, and whose words a memory counts as once somebody else has said the same.

use crate::{
    memory::terms::folded,
    model::{memory::trust::Trust, turn::Origin},
};

/// Returns a slot as it is stored and compared: `API:Port` and ` api:port` are the same. Empty if it names nothing.
pub(crate) fn tidy_slot(name: &str) -> String {
    folded(name)
}

/// Whose words a memory has, and how far they are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Voice {
    pub(crate) origin: Origin,
    pub(crate) trust: Trust,
}

/// Whether one memory may take another's place without a person's decision: it is trusted at least as much, and the user's
/// words give way only to the user's.
pub(crate) fn may_take_the_place(new: Voice, old: Voice) -> bool {
    new.trust >= old.trust && (old.origin != Origin::User || new.origin == Origin::User)
}

/// Whether a memory becomes the words of a second voice that says the same: if that voice is trusted more, or if both are
/// trusted like the user but only the second is the user.
pub(crate) fn is_raised_by(known: Voice, by: Voice) -> bool {
    let is_users = by.origin == Origin::User && known.origin != Origin::User;
    by.trust > known.trust || (by.trust == known.trust && by.trust == Trust::User && is_users)
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
    fn what_is_said_again_is_his_who_is_trusted_further() {
        let voice = |origin| Voice { origin, trust: Trust::of(origin) };
        let check = |known, by, expected| {
            assert_eq!(is_raised_by(voice(known), voice(by)), expected, "{known:?} {by:?}");
        };
        check(Origin::Tool, Origin::User, true);
        check(Origin::Tool, Origin::Assistant, true);
        check(Origin::Tool, Origin::Document, false);
        check(Origin::System, Origin::User, true);
        check(Origin::User, Origin::System, false);
        check(Origin::User, Origin::User, false);
        let approved = Voice { origin: Origin::Tool, trust: Trust::Approved };
        assert!(!is_raised_by(approved, voice(Origin::User)));
    }

    #[test]
    fn a_slot_is_compared_as_a_tag_is() {
        assert_eq!(tidy_slot(" API:Port\n"), "api:port");
        assert_eq!(tidy_slot("\u{200b}"), "");
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
