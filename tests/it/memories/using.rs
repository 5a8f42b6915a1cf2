//! What a reported use does to its memory: it is counted once, is rated once, may make an archived memory active again, and
//! changes no text. Whose reports count, and how they are undone, is in `reporting`.

use chrono::TimeDelta;
use thermocline::{
    ContextOptions, Edit, EpisodeFilter, EpisodeRole, ErrorKind, Memory, MemoryId, MemoryStatus, NewNote,
    NewTurn, Origin, Outcome, ReceiptId, SaveOutcome, SessionId, Use,
};

use crate::{
    dump::{ask, assert_same, dump_of_user},
    memories::{Known, fix, port},
    support::{at, turn},
    transfer::{export, import},
};

impl Known {
    #[track_caller]
    fn used(&self, id: MemoryId, report: Use) -> Memory {
        self.memories.used(id, report).unwrap()
    }

    /// Reports this many uses, one after the other.
    #[track_caller]
    fn used_often(&self, id: MemoryId, outcome: Outcome, times: usize) -> Memory {
        (0..times).for_each(|_| drop(self.used(id, Use::of(outcome))));
        self.get(id)
    }
}

#[track_caller]
fn check(outcome: Outcome, times: usize, confidence: f64) {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    let after = known.used_often(id, outcome, times);
    assert!((after.confidence - confidence).abs() < 5e-5, "{outcome:?} {times}: {}", after.confidence);
    known.check_sound();
}

#[test]
fn what_helps_is_believed_more_and_what_fails_less() {
    check(Outcome::Success, 1, 0.8120);
    check(Outcome::Success, 5, 0.8532);
    check(Outcome::Success, 25, 0.9574);
    check(Outcome::Failure, 1, 0.7040);
    check(Outcome::Correction, 1, 0.4000);
    check(Outcome::Decision, 1, 0.8000);
    check(Outcome::Observation, 3, 0.8000);
}

#[test]
fn so_many_successes_lead_from_one_threshold_to_the_next() {
    let known = Known::new();
    for (from, to, times) in
        [(0.80, 0.95, 23), (0.80, 0.99, 49), (0.75, 0.95, 27), (0.75, 0.99, 53), (0.70, 0.75, 3)]
    {
        let id = known.save(fix(&format!("from {from} to {to}")).confidence(from)).id;
        assert!(known.used_often(id, Outcome::Success, times - 1).confidence < to, "{from} {to}");
        assert!(known.used(id, Use::of(Outcome::Success)).confidence >= to, "{from} {to}");
    }
    known.check_sound();
}

#[test]
fn the_success_rate_is_that_of_rated_uses() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    known.used(id, Use::default());
    known.used(id, Use::of(Outcome::Observation));
    let state = known.used(id, Use::of(Outcome::Success)).state;
    assert_eq!((state.access_count, state.usage_count, state.success_rate), (3, 1, Some(1.0)));
    assert_eq!(known.used(id, Use::of(Outcome::Failure)).state.success_rate, Some(0.5));
    let other = known.save(fix("Pool")).id;
    known.used_often(other, Outcome::Success, 19);
    known.used(other, Use::of(Outcome::Failure));
    let state = known.used(other, Use::of(Outcome::Correction)).state;
    assert_eq!((state.usage_count, state.success_rate), (21, Some(0.904_762)));
    known.check_sound();
}

#[test]
fn it_is_counted_in_how_many_sessions_and_projects_it_helped() {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    let [one, two] = ["one", "two"].map(|key| alex.session_named(key).unwrap());
    two.set_project(Some("homelab")).unwrap();
    let id = known.save(fix("Keepalive")).id;
    let helped = |of: Use| {
        let state = known.used(id, of).state;
        (state.context_count, state.project_count)
    };
    let success = || Use::of(Outcome::Success);
    assert_eq!(helped(success()), (0, 0));
    assert_eq!(helped(success().session(one.id())), (1, 0));
    assert_eq!(helped(success().session(one.id()).project("bot")), (1, 1));
    assert_eq!(helped(success().session(two.id())), (2, 2), "the session says the project");
    assert_eq!(helped(success().session(two.id()).project("homelab")), (2, 2));
    assert_eq!(helped(Use::of(Outcome::Failure).project("other")), (2, 2));
    assert!(known.get(id).state.is_cross_project_validated());
    known.check_sound();
}

#[test]
fn being_used_changes_no_text_no_revision_and_no_unit_and_only_a_rated_use_has_a_line_in_the_history() {
    let known = Known::new();
    let before = known.save(fix("Keepalive").tags(["redis"]));
    known.fixture.clock.advance(TimeDelta::days(1));
    known.used(before.id, Use::default());
    known.used(before.id, Use::of(Outcome::Observation));
    known.used_often(before.id, Outcome::Success, 3);
    let after = known.used_often(before.id, Outcome::Failure, 2);
    let mut same = after.clone();
    (same.state, same.standing, same.confidence) =
        (before.state.clone(), before.standing.clone(), before.confidence);
    assert_eq!(same, before);
    assert_eq!(after.state.last_used_at, Some(at("2026-03-02T12:00:00Z")));
    assert_eq!(known.memories.history(before.id, None, 10).unwrap().len(), 1 + 5);
    assert_eq!(ask::<u32>(&known.fixture.path(), "SELECT count(*) FROM memory_units"), 1);
    known.check_sound();
}

#[test]
fn a_use_that_is_reported_twice_counts_once() {
    let known = Known::new();
    let [a, b] = ["a", "b"].map(|title| known.save(fix(title)).id);
    let first = known.used(a, Use::of(Outcome::Success).caller_id("run-1"));
    assert_eq!(known.used(a, Use::of(Outcome::Success).caller_id("run-1")), first);
    assert_eq!(
        known.used(a, Use::of(Outcome::Failure).caller_id("run-1")),
        first,
        "what was said first stands"
    );
    assert_eq!(first.state.access_count, 1);
    let refused = known.memories.used(b, Use::of(Outcome::Success).caller_id("run-1")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    known.memories.note(NewNote::new("n").caller_id("note")).unwrap();
    assert_eq!(
        known.memories.used(a, Use::default().caller_id("note")).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    let unrated = known.used(b, Use::default().caller_id("run-2"));
    assert_eq!((unrated.state.access_count, unrated.state.usage_count), (1, 0));
    known.used(b, Use::of(Outcome::Observation).caller_id("run-2"));
    let rated = known.used(b, Use::of(Outcome::Success).caller_id("run-2").project("p"));
    assert_eq!((rated.state.access_count, rated.state.usage_count, rated.state.project_count), (1, 1, 1));
    assert_eq!(known.used(b, Use::of(Outcome::Failure).caller_id("run-2")), rated);
    known.check_sound();
}

#[test]
fn an_archived_memory_that_is_used_holds_again_unless_it_did_not_help() {
    let known = Known::new();
    let [a, b, c] = ["a", "b", "c"].map(|title| known.save(fix(title)).id);
    let known = known.rewritten("UPDATE user_memories SET status = 'archived'");
    assert_eq!(known.used(a, Use::default()).status, MemoryStatus::Active);
    assert_eq!(known.used(b, Use::of(Outcome::Failure)).status, MemoryStatus::Archived);
    assert_eq!(known.used(c, Use::of(Outcome::Success)).status, MemoryStatus::Active);
    let history = known.memories.history(a, None, 10).unwrap();
    assert_eq!((history[0].op.as_str(), history[0].reason.as_str()), ("status", "used"));
    known.memories.undo(a).unwrap();
    let undone = known.get(a);
    assert_eq!(
        (undone.status, undone.state.access_count),
        (MemoryStatus::Archived, 1),
        "it was used all the same"
    );
    known.check_sound();
}

#[test]
fn what_waits_for_a_person_and_what_lost_its_slot_stay_archived_when_used() {
    let known = Known::new();
    known.save(port(1));
    let saved = known.memories.save(port(2).origin(Origin::Assistant)).unwrap();
    assert!(matches!(saved.outcome, SaveOutcome::Waits(_)));
    let waiting = known.used(saved.memory.id, Use::of(Outcome::Success));
    assert_eq!((waiting.status, waiting.state.access_count), (MemoryStatus::Archived, 1));
    let known = known.rewritten("UPDATE memory_reviews SET decision = 'rejected', decided_at = opened_at");
    assert_eq!(known.used(saved.memory.id, Use::of(Outcome::Success)).status, MemoryStatus::Archived);
    known.check_sound();
}

#[test]
fn what_was_superseded_counts_for_itself_and_what_is_hidden_is_refused() {
    let known = Known::new();
    let old = known.save(port(1)).id;
    let new = known.memories.supersede(old, port(2).origin(Origin::User)).unwrap().memory.id;
    let used = known.used(old, Use::of(Outcome::Success));
    assert_eq!((used.status, used.state.usage_count), (MemoryStatus::Superseded, 1));
    assert_eq!(known.get(new).state.access_count, 0);
    known.memories.forget(new).unwrap();
    assert_eq!(known.memories.used(new, Use::default()).unwrap_err().kind(), ErrorKind::Conflict);
    known.check_sound();
}

#[test]
fn reports_out_of_bounds_or_of_what_is_not_there_are_refused() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    let kind = |report: Use| known.memories.used(id, report).unwrap_err().kind();
    let nobody = uuid::Uuid::from_u128(7);
    assert_eq!(kind(Use::default().session(SessionId::from_uuid(nobody))), ErrorKind::NotFound);
    assert_eq!(kind(Use::default().receipt(ReceiptId::from_uuid(nobody))), ErrorKind::NotFound);
    for report in [
        Use::default().project("x".repeat(257)),
        Use::default().caller_id(""),
        Use::default().task_id("x".repeat(257)),
        Use::default().task_name("x".repeat(257)),
        Use::default().trigger("x".repeat(1_025)),
    ] {
        assert_eq!(kind(report), ErrorKind::InvalidInput);
    }
    assert_eq!(known.get(id).state.access_count, 0);
}

#[test]
fn a_clock_that_was_a_year_ahead_and_times_to_come_do_no_harm() {
    let known = Known::new();
    let ahead = known.memories.save(fix("Keepalive").said_at(at("2027-09-01T00:00:00Z"))).unwrap_err();
    assert_eq!(ahead.kind(), ErrorKind::InvalidInput);
    let id = known.save(fix("Keepalive")).id;
    known.fixture.clock.advance(TimeDelta::days(365));
    assert_eq!(
        known.used(id, Use::of(Outcome::Success)).state.last_used_at,
        Some(at("2027-03-01T12:00:00Z"))
    );
    known.fixture.clock.set(at("2026-03-01T12:00:00Z"));
    let read = known.get(id);
    assert!(read.standing.decay_score > 0.0 && read.standing.stale.is_empty(), "{:?}", read.standing);
    let used = known.used(id, Use::of(Outcome::Success));
    assert_eq!(used.state.last_used_at, Some(at("2026-03-01T12:00:00Z")));
    assert_eq!((used.state.access_count, used.state.usage_count), (2, 2));
    known.check_sound();
}

#[test]
fn uses_and_what_they_did_go_out_with_an_export_and_count_once_where_they_come_in() {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    let session = alex.session_named("s").unwrap();
    session.record(turn(1)).unwrap();
    let id = known.save(fix("Keepalive")).id;
    let receipt = session.context("Keepalive?", ContextOptions::default()).unwrap().receipt;
    known.used(
        id,
        Use::of(Outcome::Success).receipt(receipt).project("p").task_id("t").task_name("T").trigger("x"),
    );
    let before = known.used(id, Use::of(Outcome::Failure).caller_id("run-1"));
    let exported = export(&alex);
    let other = Known::new();
    import(&other.file, "blake", &exported).unwrap();
    let blake = other.file.user("blake").unwrap();
    assert_eq!(export(&blake), exported);
    let memories = blake.memories();
    assert_eq!(memories.get(id).unwrap().state, before.state);
    for again in [Use::of(Outcome::Success).receipt(receipt), Use::of(Outcome::Success).caller_id("run-1")] {
        assert_eq!(memories.used(id, again).unwrap().state, before.state);
    }
    other.check_sound();
}

#[test]
fn a_session_that_is_erased_takes_the_contexts_with_it_and_leaves_the_uses_as_numbers() {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    let [gone, kept] = ["gone", "kept"].map(|key| alex.session_named(key).unwrap());
    gone.record(turn(1)).unwrap();
    let id = known.save(fix("Keepalive")).id;
    let of = |session: SessionId| Use::of(Outcome::Success).session(session).project("p").trigger("because");
    known.used(id, of(gone.id()));
    let before = known.used(id, of(kept.id()));
    assert_eq!((before.state.context_count, before.state.project_count), (2, 1));
    gone.erase().unwrap();
    let after = known.get(id);
    assert_eq!((after.state.context_count, after.state.project_count, after.state.usage_count), (1, 1, 2));
    assert_eq!(Some(after.confidence), Some(before.confidence));
    let uses = EpisodeFilter::default().roles([EpisodeRole::Use]);
    let uses = known.memories.episodes(uses, None, 10).unwrap();
    let told: Vec<_> = uses.iter().map(|of| (of.session_id, of.trigger.is_some())).collect();
    assert_eq!(told, [(Some(kept.id()), true), (None, false)]);
    known.check_sound();
}

#[test]
fn recalls_without_a_reported_use_change_nothing_of_memories() {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    let session = alex.session_named("s").unwrap();
    for title in ["The skylight", "The sealant", "The gutter"] {
        known.save(fix(title).tags(["roof"]));
    }
    session.record(NewTurn::new("The skylight leaks.", "Oh.")).unwrap();
    let of_memories = |known: &Known| {
        let mut rows = dump_of_user(&known.fixture.path(), "alex");
        rows.retain(|table, _| table.starts_with("memory_") || table == "user_memories");
        rows
    };
    let before = of_memories(&known);
    for n in 0..100 {
        alex.recall("How is the skylight mended?", thermocline::RecallOptions::default()).unwrap();
        session.context(&format!("And the sealant of {n}?"), ContextOptions::default()).unwrap();
        alex.receipts(1).unwrap();
    }
    assert_same(&of_memories(&known), &before, "what was recalled");
    known.memories.edit(known.save(fix("x")).id, Edit::default().pinned(true)).unwrap();
}

#[test]
fn a_use_out_of_a_context_that_did_not_find_the_memory_is_refused() {
    let known = Known::new();
    let session = known.session("s");
    session.record(turn(1)).unwrap();
    let receipt = session.context("Keepalive?", ContextOptions::default()).unwrap().receipt;
    let later = known.save(fix("Keepalive")).id;
    let report = Use::of(Outcome::Success).receipt(receipt);
    assert_eq!(known.memories.used(later, report).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(known.get(later).state.access_count, 0);
}
