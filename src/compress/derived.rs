//! The versions of the rules by which data was derived from units. When a build changes its rules, the data is derived anew.

use crate::{
    compress::{anchors, critical},
    text::words,
};

/// Versions of rules, one for each kind of derived data.
///
/// In a user's row, for each kind of data: `n` if all of it was derived by version `n` or newer; `-n` while a job updates it
/// to version `n`; 0 if unknown. A row without a number has version 1, which wrote no number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleVersions {
    /// Words and traits of turns, and the times that they speak of.
    pub(crate) words: i64,
    /// The reasons why turns are kept verbatim.
    pub(crate) critical: i64,
    /// Anchors found by rules.
    pub(crate) anchors: i64,
}

/// A set of kinds of derived data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) words: bool,
    pub(crate) critical: bool,
    pub(crate) anchors: bool,
}

impl Kinds {
    pub(crate) const WORDS: Self = Self { words: true, critical: false, anchors: false };
    pub(crate) const ALL: Self = Self { words: true, critical: true, anchors: true };
}

impl RuleVersions {
    /// The version of a row without a number.
    pub(crate) const FIRST: i64 = 1;

    /// The versions of this build.
    pub(crate) const NOW: Self = Self {
        words: words::RULES_VERSION,
        critical: critical::RULES_VERSION,
        anchors: anchors::RULES_VERSION,
    };

    /// Returns the row's versions after this build has derived something of these kinds. A version is lowered if this
    /// build's rules are older than the row's, or older than those to which a newer build's unfinished job updates it.
    pub(crate) fn with_derived(self, kinds: Kinds) -> Self {
        let lowered = self.map(|row, now| match row {
            row if row > now => now,
            row if row < -now => 0, // The versions of what that job has not reached are unknown.
            row => row,
        });
        Self {
            words: if kinds.words { lowered.words } else { self.words },
            critical: if kinds.critical { lowered.critical } else { self.critical },
            anchors: if kinds.anchors { lowered.anchors } else { self.anchors },
        }
    }

    /// Returns the versions once a job of this build has begun to update what older rules derived.
    pub(crate) fn begun(self) -> Self {
        self.map(|row, now| if row.abs() < now { -now } else { row })
    }

    /// Returns the versions once that job is done.
    pub(crate) fn ended(self) -> Self {
        self.map(|row, now| if row == -now { now } else { row })
    }

    /// Returns the kinds that a running job of this build derives anew.
    pub(crate) fn stale(self) -> Kinds {
        let Self { words, critical, anchors } = Self::NOW;
        Kinds {
            words: self.words == -words,
            critical: self.critical == -critical,
            anchors: self.anchors == -anchors,
        }
    }

    /// Whether anything was derived by older rules than this build's.
    pub(crate) fn is_stale(self) -> bool {
        self.ended() != self.begun().ended() || self.stale() != Kinds::default()
    }

    /// Whether a job of a newer build is deriving something anew by its own rules.
    pub(crate) fn awaits_newer(self) -> bool {
        let Self { words, critical, anchors } = Self::NOW;
        self.words < -words || self.critical < -critical || self.anchors < -anchors
    }

    fn map(self, of: impl Fn(i64, i64) -> i64) -> Self {
        let now = Self::NOW;
        Self {
            words: of(self.words, now.words),
            critical: of(self.critical, now.critical),
            anchors: of(self.anchors, now.anchors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(of: impl Fn(i64) -> i64) -> RuleVersions {
        RuleVersions::default().map(|_, now| of(now))
    }

    #[test]
    fn a_job_brings_what_is_older_to_the_rules_of_its_build() {
        let older = RuleVersions::default();
        assert!(older.is_stale() && older.stale() == Kinds::default());
        let begun = older.begun();
        assert_eq!((begun, begun.is_stale()), (all(|now| -now), true));
        assert_eq!(begun.stale(), Kinds { words: true, critical: true, anchors: true });
        assert_eq!(begun.begun(), begun, "begun again, it goes on");
        assert_eq!(begun.ended(), RuleVersions::NOW);
        assert!(!RuleVersions::NOW.is_stale());
        let one = RuleVersions { anchors: 0, ..RuleVersions::NOW };
        assert_eq!(one.begun().stale(), Kinds { anchors: true, ..Kinds::default() });
    }

    #[test]
    fn what_an_older_build_derives_is_said_to_be_older() {
        assert_eq!(all(|now| now + 1).with_derived(Kinds::ALL), RuleVersions::NOW);
        let newer = all(|now| now + 1);
        let words = RuleVersions { words: RuleVersions::NOW.words, ..newer };
        assert_eq!(newer.with_derived(Kinds::WORDS), words);
        assert_eq!(
            all(|now| -now - 1).with_derived(Kinds::ALL),
            RuleVersions::default(),
            "a newer build's job begins anew, and so does one of this build"
        );
        for row in [RuleVersions::default(), RuleVersions::NOW, RuleVersions::NOW.begun(), all(|now| -now)] {
            assert_eq!(row.with_derived(Kinds::ALL), row);
        }
    }

    #[test]
    fn what_a_newer_build_is_at_is_left_to_it() {
        let newer = all(|now| -now - 1);
        assert_eq!((newer.begun(), newer.stale()), (newer, Kinds::default()));
        assert!(newer.awaits_newer() && !all(|now| -now).awaits_newer() && !all(|now| now + 1).is_stale());
    }
}
