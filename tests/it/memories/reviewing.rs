//! Reviews: what waits for a person, and what their decision does.

use std::time::Duration;

use chrono::TimeDelta;
use thermocline::{
    ChangeOp, Decision, ErrorKind, Frequency, Memory, MemoryId, MemoryStatus, Origin, Outcome, Review,
    ReviewFilter, ReviewId, ReviewKind, SaveOutcome, Trust, Use, Volatility,
};

use crate::memories::{Known, fix, port};

use Decision::{Approved, Rejected};

/// Returns the memory that holds a slot, the one that waits for it, and the review.
fn contested() -> (Known, MemoryId, MemoryId, ReviewId) {
    let known = Known::new();
    let holds = known.save(port(1)).id;
    let saved = known.memories.save(port(2).origin(Origin::Assistant)).unwrap();
    let SaveOutcome::Waits(review) = saved.outcome else { panic!("{:?}", saved.outcome) };
    assert!(known.get(holds).contested && saved.memory.contested);
    (known, holds, saved.memory.id, review)
}

/// Saves memories, and opens a review of this kind: about the first, with the last as the other one if there are two.
fn asked<const N: usize>(
    kind: &str,
    memories: [thermocline::NewMemory; N],
) -> (Known, [Memory; N], ReviewId) {
    let known = Known::new();
    let saved = memories.map(|memory| known.memories.save(memory).unwrap().memory);
    let other = if N > 1 { "(SELECT max(memory_no) FROM user_memories)" } else { "NULL" };
    let known = known.rewritten(&format!(
        "INSERT INTO memory_reviews (id, user_no, kind, memory_no, other_no, opened_at, why)
         SELECT x'00000000000070008000000000000001', user_no, '{kind}', memory_no, {other},
                '2026-03-01T12:00:00.000Z', 'a rule' FROM user_memories ORDER BY memory_no LIMIT 1"
    ));
    let review = open(&known)[0].id;
    (known, saved, review)
}

fn open(known: &Known) -> Vec<Review> {
    known.memories.reviews(ReviewFilter::default(), None, 100).unwrap()
}

#[track_caller]
fn decide(known: &Known, review: ReviewId, decision: Decision) -> Vec<Memory> {
    let decided = known.memories.decide(review, decision, "alex").unwrap();
    assert_eq!(
        (decided.review.decision, decided.review.decided_by.as_deref()),
        (Some(decision), Some("alex"))
    );
    known.check_sound();
    decided.memories
}

#[track_caller]
fn refused(known: &Known, review: ReviewId, by: &str) -> ErrorKind {
    known.memories.decide(review, Approved, by).unwrap_err().kind()
}

#[test]
fn what_waits_takes_the_place_once_a_person_says_so() {
    let (known, holds, waits, review) = contested();
    assert_eq!(known.memories.review(review).unwrap().kind, ReviewKind::Contradiction);
    decide(&known, review, Approved);
    let [old, new] = [holds, waits].map(|id| known.get(id));
    assert_eq!((old.status, old.superseded_by), (MemoryStatus::Superseded, Some(waits)));
    assert_eq!((new.status, new.version, new.trust), (MemoryStatus::Active, 2, Trust::Assistant));
    assert!(!old.contested && !new.contested);
    assert_eq!(open(&known), []);
    known.memories.undo(waits).unwrap();
    assert_eq!(known.states([holds, waits]).map(|it| it.0), [MemoryStatus::Active, MemoryStatus::Archived]);
    assert!(known.memories.review(review).unwrap().decision.is_some(), "it stays decided");
    known.check_sound();
}

#[test]
fn what_waits_is_forgotten_once_a_person_says_no() {
    let (known, holds, waits, review) = contested();
    decide(&known, review, Rejected);
    let [old, new] = [holds, waits].map(|id| known.get(id));
    assert_eq!((old.status, new.status), (MemoryStatus::Active, MemoryStatus::Forgotten));
    assert!(!old.contested);
    assert_eq!(known.memories.history(waits, None, 10).unwrap()[0].reason, "a person rejected it");
}

#[test]
fn what_a_person_rejected_is_not_asked_again_for_thirty_days() {
    let slotless = || {
        let known = Known::new();
        let users = known.save(fix("The user's")).id;
        let mine = || fix("The assistant's").origin(Origin::Assistant);
        let saved = known.memories.supersede(users, mine()).unwrap();
        let SaveOutcome::Waits(review) = saved.outcome else { panic!("{:?}", saved.outcome) };
        (known, users, saved.memory.id, review)
    };
    let in_slot = port(2).origin(Origin::Assistant);
    let without = fix("The assistant's").origin(Origin::Assistant);
    for ((known, holds, waits, review), again) in [(contested(), in_slot), (slotless(), without)] {
        decide(&known, review, Rejected);
        known.fixture.clock.advance(TimeDelta::days(29));
        let saved = known.memories.save(again.clone()).unwrap();
        let in_place = known.memories.supersede(holds, again).unwrap();
        for said_again in [saved, in_place] {
            assert_eq!((said_again.memory.id, said_again.outcome), (waits, SaveOutcome::PutAway));
        }
        assert_eq!(
            known.states([holds, waits]).map(|it| it.0),
            [MemoryStatus::Active, MemoryStatus::Forgotten]
        );
        assert_eq!(open(&known), []);
        known.check_sound();
    }
}

#[test]
fn what_a_person_rejected_is_asked_again_after_the_rest_and_holds_once_the_user_says_it() {
    let (known, holds, waits, review) = contested();
    decide(&known, review, Rejected);
    known.fixture.clock.advance(TimeDelta::days(30));
    let again = known.memories.save(port(2).origin(Origin::Assistant)).unwrap();
    assert!(matches!(again.outcome, SaveOutcome::Waits(_)), "{again:?}");
    assert!(again.memory.id == waits && known.get(holds).contested);

    let (known, holds, waits, review) = contested();
    decide(&known, review, Rejected);
    let users = known.memories.save(port(2).origin(Origin::User)).unwrap();
    assert_eq!((users.memory.id, users.outcome), (waits, SaveOutcome::Superseded(holds)));
    known.check_sound();
}

#[test]
fn a_review_is_decided_once_by_a_person_alone() {
    let (known, holds, waits, review) = contested();
    for by in ["", "tend", "reflect", "rules", "assistant", "Tool", "llm#1"] {
        assert_eq!(refused(&known, review, by), ErrorKind::InvalidInput, "{by:?}");
    }
    let alex = known.file.user("alex").unwrap();
    for origin in [Origin::Assistant, Origin::Tool, Origin::Document, Origin::System] {
        let refused = alex.memories().by(origin).decide(review, Approved, "alex").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{origin:?}");
    }
    let withdrawn = known.memories.decide(review, Decision::Withdrawn, "alex").unwrap_err();
    assert_eq!(withdrawn.kind(), ErrorKind::InvalidInput);
    let nobodys = ReviewId::from_uuid(uuid::Uuid::from_u128(7));
    assert_eq!(refused(&known, nobodys, "alex"), ErrorKind::NotFound);
    assert_eq!(known.states([holds, waits]).map(|it| it.0), [MemoryStatus::Active, MemoryStatus::Archived]);
    decide(&known, review, Approved);
    assert_eq!(refused(&known, review, "alex"), ErrorKind::Conflict);
    assert_eq!(known.memories.decide(review, Rejected, "alex").unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn what_waits_for_something_that_is_forgotten_or_erased_is_still_decided() {
    let (known, holds, waits, review) = contested();
    known.memories.forget(holds).unwrap();
    assert_eq!(known.memories.review(review).unwrap().decision, None);
    decide(&known, review, Approved);
    assert_eq!(known.states([holds, waits]).map(|it| it.0), [MemoryStatus::Forgotten, MemoryStatus::Active]);
    known.check_sound();

    let (known, holds, waits, review) = contested();
    known.memories.erase(holds).unwrap();
    decide(&known, review, Approved);
    assert_eq!(known.get(waits).status, MemoryStatus::Active);
    known.check_sound();

    let (known, _, waits, review) = contested();
    known.memories.forget(waits).unwrap();
    assert_eq!(known.memories.review(review).unwrap().decision, Some(Decision::Withdrawn));
    assert_eq!(refused(&known, review, "alex"), ErrorKind::Conflict);
}

#[test]
fn what_waits_does_not_hold_again_for_being_used() {
    let known = Known::new();
    let holds = known.save(fix("The user's")).id;
    let saved = known.memories.supersede(holds, fix("The assistant's").origin(Origin::Assistant)).unwrap();
    let SaveOutcome::Waits(review) = saved.outcome else { panic!("{:?}", saved.outcome) };
    let used = known.memories.used(saved.memory.id, Use::of(Outcome::Success)).unwrap();
    assert_eq!((used.status, used.state.usage_count), (MemoryStatus::Archived, 1));
    assert_eq!(known.memories.review(review).unwrap().decision, None);
    known.check_sound();
}

#[test]
fn reviews_are_listed_by_kind_and_page_those_that_are_decided_apart() {
    let known = Known::new();
    let mut ids = Vec::new();
    for n in 0..5 {
        let slot = |text: &str| fix(text).goal_signature(format!("slot {n}"));
        known.save(slot(&format!("user {n}")));
        let saved = known.memories.save(slot(&format!("assistant {n}")).origin(Origin::Assistant)).unwrap();
        let SaveOutcome::Waits(review) = saved.outcome else { panic!("{:?}", saved.outcome) };
        ids.push(review);
    }
    let list = |filter: ReviewFilter, after, limit| {
        let found = known.memories.reviews(filter, after, limit).unwrap();
        found.into_iter().map(|review| review.id).collect::<Vec<_>>()
    };
    assert_eq!(list(ReviewFilter::default(), None, 100), ids);
    assert_eq!(list(ReviewFilter::default(), Some(ids[1]), 2), ids[2..4]);
    assert_eq!(list(ReviewFilter::default().kinds([ReviewKind::Promote]), None, 10), []);
    let of_two = ReviewFilter::default().kinds([ReviewKind::Promote, ReviewKind::Contradiction]);
    assert_eq!(list(of_two, None, 10), ids);
    decide(&known, ids[2], Rejected);
    assert_eq!(list(ReviewFilter::default(), None, 100), [ids[0], ids[1], ids[3], ids[4]]);
    assert_eq!(list(ReviewFilter::default().decided(true), None, 100), [ids[2]]);
    let nobodys = Some(ReviewId::from_uuid(uuid::Uuid::from_u128(7)));
    let behind = known.memories.reviews(ReviewFilter::default(), nobodys, 10).unwrap_err();
    assert_eq!(behind.kind(), ErrorKind::NotFound);
}

#[test]
fn a_person_lets_a_memory_stay_for_ever_and_what_the_assistant_said_is_theirs_by_that() {
    for (origin, trust) in [(Origin::User, Trust::User), (Origin::Assistant, Trust::Approved)] {
        let (known, [memory], review) = asked("promote", [fix("a").frequency(Frequency::Low).origin(origin)]);
        decide(&known, review, Approved);
        let settled = known.get(memory.id);
        assert_eq!((settled.frequency, settled.trust), (Frequency::UltraLow, trust));
        let history = known.memories.history(memory.id, None, 10).unwrap();
        let moved = history.iter().find(|of| of.op == ChangeOp::Frequency).unwrap();
        assert_eq!(
            (moved.old_value.as_deref(), moved.new_value.as_deref()),
            (Some("low"), Some("ultra_low"))
        );
        assert_eq!(history.iter().any(|of| of.op == ChangeOp::Trust), origin == Origin::Assistant);
        known.memories.undo(memory.id).unwrap();
        let undone = known.get(memory.id);
        assert_eq!((undone.frequency, undone.trust), (memory.frequency, memory.trust));
        known.check_sound();
    }
    let (known, [memory], review) =
        asked("promote", [fix("a").frequency(Frequency::Low).origin(Origin::User)]);
    decide(&known, review, Rejected);
    assert_eq!(known.get(memory.id).frequency, Frequency::Low);
}

#[test]
fn what_a_tool_said_and_what_is_not_low_do_not_stay_for_ever() {
    for memory in [fix("a").origin(Origin::Tool), fix("a").origin(Origin::User)] {
        let (known, [memory], review) = asked("promote", [memory]);
        assert_eq!(refused(&known, review, "alex"), ErrorKind::Conflict);
        assert_eq!(known.get(memory.id), memory);
        assert_eq!(open(&known).len(), 1, "it is asked still");
    }
}

#[test]
fn what_is_flagged_stays_or_falls_back_to_mid() {
    let low = || fix("a").frequency(Frequency::Low).origin(Origin::User);
    let (known, [memory], review) = asked("flagged", [low()]);
    decide(&known, review, Approved);
    assert_eq!(known.get(memory.id), memory);
    let (known, [memory], review) = asked("flagged", [low()]);
    decide(&known, review, Rejected);
    assert_eq!(known.get(memory.id).frequency, Frequency::Mid);
}

#[test]
fn what_is_one_becomes_one_with_the_tags_of_both() {
    let two =
        || [fix("a").tags(["x", "y"]), fix("b").tags(["Y", "z"])].map(|memory| memory.origin(Origin::User));
    let (known, [a, b], review) = asked("merge", two());
    decide(&known, review, Approved);
    let (one, other) = (known.get(a.id), known.get(b.id));
    assert_eq!(one.tags, ["x", "y", "z"]);
    assert_eq!((other.status, other.superseded_by), (MemoryStatus::Superseded, Some(a.id)));
    assert_eq!((one.version, other.version), (2, 1));
    known.memories.undo(a.id).unwrap();
    assert_eq!((known.get(a.id).tags, known.get(b.id).status), (a.tags, MemoryStatus::Active));
    known.check_sound();
    let (known, [a, b], review) = asked("merge", two());
    decide(&known, review, Rejected);
    assert_eq!([known.get(a.id), known.get(b.id)], [a, b]);
}

#[test]
fn a_person_who_looks_is_a_sensor_for_half_a_year() {
    let (known, [memory], review) =
        asked("check", [fix("a").origin(Origin::User).reliability(0.3).volatility(Volatility::Medium)]);
    assert!(known.get(memory.id).standing.is_stale());
    decide(&known, review, Approved);
    let checked = known.get(memory.id);
    assert_eq!((checked.confidence, checked.reliability), (0.82, Some(0.95)));
    assert_eq!(checked.validity_window, Some(Duration::from_hours(180 * 24)));
    assert_eq!((checked.state.validation_count, checked.state.validated_by.as_deref()), (1, Some("human")));
    assert!(!checked.standing.is_stale());
    let history = known.memories.history(memory.id, None, 10).unwrap();
    assert_eq!((history[0].op, history[0].new_value.as_deref()), (ChangeOp::Check, Some("pass")));
    assert_eq!(known.memories.undo(memory.id).unwrap_err().kind(), ErrorKind::Conflict, "checks are facts");
    let own = Duration::from_hours(24);
    let (known, [memory], review) = asked("check", [fix("a").origin(Origin::User).validity_window(own)]);
    decide(&known, review, Approved);
    assert_eq!(known.get(memory.id).validity_window, Some(own));
    let (known, [memory], review) = asked("check", [fix("a").origin(Origin::User)]);
    decide(&known, review, Rejected);
    assert_eq!(known.get(memory.id).status, MemoryStatus::Forgotten);
    known.memories.undo(memory.id).unwrap();
    assert_eq!(known.get(memory.id).status, MemoryStatus::Active);
}

#[test]
fn that_a_file_in_conflict_was_looked_at_changes_no_memory() {
    for decision in [Approved, Rejected] {
        let (known, [memory], review) = asked("conflict", [fix("a")]);
        decide(&known, review, decision);
        assert_eq!((known.get(memory.id), open(&known).len()), (memory, 0), "{decision:?}");
    }
}
