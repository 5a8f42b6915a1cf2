//! What compression learns from use: which turns are kept because they were of use, and which rules no longer keep turns.
//! The decisions rest on counts alone, and affect only later compressions: a summarized turn stays summarized.

use std::collections::HashSet;

use crate::model::critical::CriticalRule;

/// A turn that was the best recalled item in this many contexts is never summarized. Counting how often a turn was shown
/// would not do: in conversations in which every reply answered a context, 90 % of all turns were shown in three contexts,
/// and 9 to 13 % were the best of three (2026-11).
pub(crate) const USES_THAT_KEEP: u32 = 3;
/// A rule that kept nothing useful in this many chances stops keeping turns.
pub(crate) const CHANCES_OF_A_RULE: u64 = 200;

/// How useful the turns that a rule keeps verbatim have been for one user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleRecord {
    pub(crate) rule: CriticalRule,
    /// How often a turn that only this rule keeps was considered for a context that showed recalled items.
    pub(crate) chances: u64,
    /// How often such a turn was shown.
    pub(crate) taken: u64,
}

impl RuleRecord {
    /// Whether the rule has stopped keeping turns.
    pub(crate) fn has_stopped(&self) -> bool {
        !self.rule.never_stops() && self.taken == 0 && self.chances >= CHANCES_OF_A_RULE
    }
}

/// What the counts of one user say when turns are compressed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LearnedCriticality {
    /// Turns that were the best of [`USES_THAT_KEEP`] contexts, by their `seq`.
    pub(crate) used: HashSet<i64>,
    /// Rules that no longer keep turns.
    pub(crate) stopped: Vec<CriticalRule>,
}

impl LearnedCriticality {
    /// Returns why a turn is kept: the first, in the order of [`CriticalRule`], of the rules that apply and have not
    /// stopped. [`CriticalRule::Used`] applies to the turns in `used`.
    pub(crate) fn rule(
        &self,
        seq: i64,
        holding: impl IntoIterator<Item = CriticalRule>,
    ) -> Option<CriticalRule> {
        let used = self.used.contains(&seq).then_some(CriticalRule::Used);
        holding.into_iter().chain(used).filter(|rule| !self.stopped.contains(rule)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CriticalRule::{Caller, Emotion, FirstTurn, Preference, Summarizer, Used};

    #[test]
    fn a_rule_stops_after_two_hundred_chances_without_use_unless_somebody_asked_for_it() {
        let stops = |rule, chances, taken| RuleRecord { rule, chances, taken }.has_stopped();
        assert!(stops(Emotion, 200, 0) && stops(Summarizer, 900, 0));
        assert!(!stops(Emotion, 199, 0) && !stops(Emotion, 9_000, 1));
        assert!(![Caller, Preference, Used].into_iter().any(|rule| stops(rule, 9_000, 0)));
    }

    #[test]
    fn a_turn_is_kept_by_what_has_not_stopped_or_for_its_use() {
        let learned = LearnedCriticality { used: HashSet::from([7]), stopped: vec![Emotion] };
        assert_eq!(learned.rule(1, [Emotion]), None);
        assert_eq!(learned.rule(1, [Emotion, FirstTurn]), Some(FirstTurn));
        assert_eq!(learned.rule(7, [Emotion]), Some(Used));
        assert_eq!(learned.rule(7, [Summarizer]), Some(Used));
        assert_eq!(learned.rule(7, [FirstTurn]), Some(FirstTurn));
        assert_eq!(learned.rule(1, []), None);
    }
}
