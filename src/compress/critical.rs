//! Finds the rules that make a turn critical: what the user says (for example who they are, what they decide, correct or
//! wish), marks and state snapshots of the backend, and the first turn of a session. `plan` and `learned` decide whether the
//! turn is kept.

use std::collections::BTreeSet;

use crate::{
    english::{moments::moments, statements::Statement, wishes::wishes},
    model::{
        anchor::FoundAnchor,
        critical::CriticalRule,
        ids::SnapshotId,
        turn::{Said, Turn},
    },
    text::subjects::subjects,
};

/// Version of these rules: increased when they judge any turn differently, so that kept turns are judged again.
pub(crate) const RULES_VERSION: i64 = 4;

/// Returns the rules that make this turn critical, in the order of [`CriticalRule`]; empty if the turn is not critical.
///
/// `before` is the backend's state at the previous turn of the session, `heard` the statements of the user's side, and
/// `found` the anchors that the rules of [`anchors`](super::anchors) find in the turn.
pub(crate) fn judge(
    turn: &Turn,
    before: Option<SnapshotId>,
    heard: &[Statement<'_>],
    found: &[FoundAnchor],
) -> Vec<CriticalRule> {
    let mut rules = Vec::new();
    if turn.is_identity_critical && turn.critical_rule == Some(CriticalRule::Caller) {
        rules.push(CriticalRule::Caller);
    }
    if changes_stage(turn, before) {
        rules.push(CriticalRule::StageChange);
    }
    if turn.turn_number == 1 {
        rules.push(CriticalRule::FirstTurn);
    }
    rules.extend(by_text(&turn.said, heard, found));
    rules.sort_unstable();
    rules
}

/// Whether the backend's state is known to have changed. A turn without a state does not count as a change: otherwise a turn
/// would be marked in every session in which a backend began to report states.
fn changes_stage(turn: &Turn, before: Option<SnapshotId>) -> bool {
    matches!((before, turn.snapshot_id), (Some(before), Some(now)) if before != now)
}

/// Returns the rules that the user's text fulfils. What tools, documents and assistants write says nothing about the user.
pub(crate) fn by_text(said: &Said, heard: &[Statement<'_>], found: &[FoundAnchor]) -> Vec<CriticalRule> {
    let [Some(user), _] = subjects(said) else { return Vec::new() };
    let claims = found.iter().any(|anchor| anchor.subject == user).then_some(CriticalRule::PersonalFact);
    let wishes = (!wishes(heard).is_empty()).then_some(CriticalRule::Preference);
    let rules: BTreeSet<CriticalRule> = moments(heard).chain(claims).chain(wishes).collect();
    rules.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use super::*;
    use crate::{compress::anchors::find, english::statements::statements, model::turn::Origin};

    fn judge(turn: &Turn, before: Option<SnapshotId>) -> Vec<CriticalRule> {
        let heard = statements(&turn.said.user_message);
        super::judge(turn, before, &heard, &find(&turn.said, &heard))
    }

    fn by_text(message: &str) -> Vec<CriticalRule> {
        judge(&turn(2, message), None)
    }
    use crate::model::ids::SnapshotId;

    #[test]
    fn another_judgement_has_another_version() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/criticality/tune.jsonl");
        let mut sum = crc32fast::Hasher::new();
        for line in fs::read_to_string(path).unwrap().lines() {
            let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
            sum.update(format!("{:?}", judge(&turn(2, labelled["user"].as_str().unwrap()), None)).as_bytes());
        }
        assert_eq!(
            (RULES_VERSION, sum.finalize()),
            (4, 3_595_811_643),
            "raise RULES_VERSION, and put the new sum here"
        );
    }

    #[track_caller]
    fn check(message: &str, expected: &[CriticalRule]) {
        assert_eq!(by_text(message), expected, "{message:?}");
    }

    #[test]
    fn what_is_evidence_of_an_anchor_is_kept() {
        check("My name is Wanja.", &[CriticalRule::PersonalFact]);
        check("I'm allergic to olives.", &[CriticalRule::PersonalFact]);
        check("I'm not allergic to olives.", &[CriticalRule::PersonalFact]);
        check("I can't stand olives.", &[]);
    }

    #[test]
    fn moments_are_kept_beside_facts() {
        use CriticalRule::{Decision, PersonalFact};
        check("My name is Wanja, and I've decided to learn Dutch.", &[PersonalFact, Decision]);
    }

    #[test]
    fn talk_questions_and_foreign_words_are_not() {
        for message in [
            "Nice weather today!",
            "Do you hate olives?",
            "My friend says she hates olives.",
            "She wrote \"I hate olives\".",
            "If I were a cook, what would I earn?",
            "Summarize:\n\nI was diagnosed with asthma. I cried.",
            "```\nI hate olives\n```",
            "> I hate olives",
            "",
        ] {
            check(message, &[]);
        }
    }

    fn turn(turn_number: u32, message: &str) -> Turn {
        Turn::sample(turn_number, message, 5)
    }

    #[test]
    fn marks_of_the_backend_are_rules() {
        use CriticalRule::{Caller, FirstTurn, StageChange};
        let [one, two] = [(); 2].map(|()| SnapshotId::from_uuid(uuid::Uuid::now_v7()));
        let at = |snapshot_id| Turn { snapshot_id, ..turn(2, "ok") };
        assert_eq!(judge(&at(Some(two)), Some(one)), [StageChange]);
        assert_eq!(judge(&at(Some(one)), Some(one)), []);
        assert_eq!(judge(&at(Some(one)), None), []);
        assert_eq!(judge(&at(None), Some(one)), []);
        assert_eq!(judge(&at(Some(one)), None), []);
        assert_eq!(judge(&turn(1, "ok"), None), [FirstTurn]);
        let marked = Turn { is_identity_critical: true, critical_rule: Some(Caller), ..turn(1, "I cried.") };
        assert_eq!(judge(&marked, None), [Caller, CriticalRule::Emotion, FirstTurn]);
        let judged = Turn { is_identity_critical: true, critical_rule: Some(FirstTurn), ..turn(2, "ok") };
        assert_eq!(judge(&judged, None), []);
    }

    #[test]
    fn only_what_the_user_wrote_is_judged() {
        let mut turn = turn(2, "I cried.");
        assert_eq!(judge(&turn, None), [CriticalRule::Emotion]);
        for origin in [Origin::Assistant, Origin::Tool, Origin::Document, Origin::System] {
            turn.said.user_origin = origin;
            assert_eq!(judge(&turn, None), []);
        }
        turn.said.ai_response = "I was diagnosed with asthma.".to_owned();
        assert_eq!(judge(&turn, None), []);
    }

    /// How many findings were right, how many were wrong, and how many expected ones were missed.
    #[derive(Default)]
    struct CriticalTally {
        right: u32,
        wrong: u32,
        missed: u32,
    }

    impl CriticalTally {
        fn add(&mut self, found: bool, wanted: bool) {
            match (found, wanted) {
                (true, true) => self.right += 1,
                (true, false) => self.wrong += 1,
                (false, true) => self.missed += 1,
                (false, false) => {}
            }
        }

        fn precision(&self) -> u32 {
            self.right * 100 / (self.right + self.wrong).max(1)
        }

        fn recall(&self) -> u32 {
            self.right * 100 / (self.right + self.missed).max(1)
        }
    }

    /// Measures the rules on a file of labelled turns: prints the counts of each rule, and checks the precision and the
    /// recall of all rules together against these floors, in percent.
    #[track_caller]
    #[expect(clippy::print_stderr, reason = "the figures are what one runs it for")]
    fn check_floors(file: &str, precision: u32, recall: u32) {
        let path = format!("{}/tests/data/criticality/{file}", env!("CARGO_MANIFEST_DIR"));
        let mut all = CriticalTally::default();
        let mut by_rule: BTreeMap<CriticalRule, CriticalTally> = BTreeMap::new();
        for line in fs::read_to_string(path).unwrap().lines() {
            let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
            let wanted: Vec<CriticalRule> = serde_json::from_value(labelled["critical"].clone()).unwrap();
            let found = judge(&turn(2, labelled["user"].as_str().unwrap()), None);
            all.add(!found.is_empty(), !wanted.is_empty());
            for rule in CriticalRule::ALL {
                by_rule.entry(rule).or_default().add(found.contains(&rule), wanted.contains(&rule));
            }
        }
        for (rule, tally) in by_rule.iter().filter(|(_, tally)| tally.right + tally.wrong + tally.missed > 0)
        {
            let CriticalTally { right, wrong, missed } = tally;
            eprintln!("{file} {}: {right} right, {wrong} wrong, {missed} missed", rule.as_str());
        }
        eprintln!("{file}: precision {} %, recall {} %", all.precision(), all.recall());
        assert!(all.precision() >= precision && all.recall() >= recall, "{file}: see above");
    }

    /// The rules are few and narrow: nearly every turn that they keep is worth keeping, and the archive has the turns that
    /// they miss.
    #[test]
    fn of_labelled_turns_nearly_all_that_are_kept_are_worth_it() {
        check_floors("tune.jsonl", 92, 35);
    }

    /// These turns were not read by anyone while the rules were written, so these figures are the honest ones.
    #[test]
    fn of_labelled_turns_that_nobody_read_too() {
        check_floors("held_out.jsonl", 90, 10);
    }
}
