//! Memories that are shown to a person again: when, and until when.

use chrono::{NaiveDate, TimeDelta};
use thermocline::{ChangeOp, Edit, ErrorKind, Frequency, MemoryId, Origin, Resurfacing, Volatility};

use crate::{
    memories::{Known, fix},
    support::at,
};

fn day(day: &str) -> NaiveDate {
    day.parse().unwrap()
}

/// Returns the titles of what is due on a day, each with the date since which it is due.
#[track_caller]
fn due(known: &Known, on: &str) -> Vec<(String, String)> {
    let due = known.memories.due(day(on), 100).unwrap();
    due.into_iter().map(|due| (due.memory.title, due.due_on.to_string())).collect()
}

/// Returns the date on which a memory becomes due, if that is before the year 10000.
fn next(known: &Known, id: MemoryId) -> Option<String> {
    let due = known.memories.due(day("9999-12-31"), 100).unwrap();
    due.into_iter().find(|due| due.memory.id == id).map(|due| due.due_on.to_string())
}

#[test]
fn what_matters_is_due_a_week_after_it_was_saved_the_longest_first() {
    let known = Known::new();
    known.fixture.clock.set(at("2026-01-01T12:00:00Z"));
    known.save(fix("late").importance(0.71));
    known.fixture.clock.set(at("2025-12-30T12:00:00Z"));
    known.save(fix("early").importance(0.9).frequency(Frequency::Low));
    known.save(fix("of little importance").importance(0.7));
    known.save(fix("just learned").importance(1.0).frequency(Frequency::High));
    known.save(fix("for ever").importance(1.0).frequency(Frequency::UltraLow));
    let tool = fix("a tool's words").importance(1.0).origin(Origin::Tool);
    known.memories.save(tool).unwrap();
    let off = known.save(fix("off").importance(1.0)).id;
    known.memories.edit(off, Edit::default().resurfacing(Resurfacing::Off)).unwrap();
    known.save(
        fix("stale").importance(1.0).volatility(Volatility::Medium).said_at(at("2025-01-01T00:00:00Z")),
    );
    let pair = |title: &str, on: &str| (title.to_owned(), on.to_owned());
    assert_eq!(due(&known, "2026-01-05"), []);
    assert_eq!(due(&known, "2026-01-06"), [pair("early", "2026-01-06")]);
    let both = [pair("early", "2026-01-06"), pair("late", "2026-01-08")];
    assert_eq!(due(&known, "2026-01-08"), both);
    assert_eq!(due(&known, "2030-01-01"), both);
    assert_eq!(known.memories.due(day("2030-01-01"), 1).unwrap().len(), 1);
    for limit in [0, 1_001] {
        assert_eq!(known.memories.due(day("2030-01-01"), limit).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn the_waits_grow_and_a_third_dismissal_is_the_last() {
    let known = Known::new();
    known.fixture.clock.set(at("2025-12-25T12:00:00Z"));
    let before = known.save(fix("Keepalive").importance(0.9));
    let id = before.id;
    assert_eq!(next(&known, id).as_deref(), Some("2026-01-01"));
    known.fixture.clock.set(at("2026-01-01T12:00:00Z"));
    known.memories.dismiss(id).unwrap();
    assert_eq!(next(&known, id).as_deref(), Some("2026-01-15"), "twice as long");
    let same = known.memories.dismiss(id).unwrap();
    assert_eq!(same.state.dismiss_count, 1, "on one day it is said once");
    known.fixture.clock.set(at("2026-01-15T12:00:00Z"));
    let seen = known.memories.resurfaced(id).unwrap();
    assert_eq!((seen.state.resurfaced_count, seen.state.resurfaced_on), (1, Some(day("2026-01-15"))));
    assert_eq!(next(&known, id).as_deref(), Some("2026-03-16"), "a month, twice as long");
    known.memories.resurfaced(id).unwrap();
    for _ in 0..2 {
        known.fixture.clock.advance(TimeDelta::days(1));
        known.memories.dismiss(id).unwrap();
    }
    let over = known.get(id);
    assert_eq!((over.state.resurfacing, over.state.dismiss_count), (Resurfacing::Dismissed, 3));
    assert_eq!(next(&known, id), None);
    known.fixture.clock.advance(TimeDelta::days(1));
    assert_eq!(known.memories.dismiss(id).unwrap().state.dismiss_count, 3);
    let history = known.memories.history(id, None, 100).unwrap();
    let told: Vec<_> =
        history.iter().map(|of| (of.op, of.new_value.as_deref().unwrap_or_default())).collect();
    let again = ChangeOp::Resurface;
    let expected = [(again, "dismissed"), (again, "dismissed"), (again, "seen"), (again, "dismissed")];
    assert_eq!(told[..4], expected);
    assert_eq!(known.get(id).revision, before.revision, "it says what it said");
    known.check_sound();

    known.memories.edit(id, Edit::default().resurfacing(Resurfacing::On)).unwrap();
    assert!(next(&known, id).is_some(), "somebody wants to see it again");
}

#[test]
fn looking_is_no_use_and_undo_goes_past_it() {
    let known = Known::new();
    let id = known.save(fix("Keepalive").importance(0.9)).id;
    known.memories.edit(id, Edit::default().importance(0.8)).unwrap();
    let seen = known.memories.resurfaced(id).unwrap();
    assert_eq!((seen.state.access_count, seen.state.last_used_at), (0, None));
    known.memories.undo(id).unwrap();
    let undone = known.get(id);
    assert_eq!((undone.importance, undone.state.resurfaced_count), (0.9, 1));
    known.memories.forget(id).unwrap();
    assert_eq!(known.memories.resurfaced(id).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(known.memories.dismiss(id).unwrap_err().kind(), ErrorKind::Conflict);
    known.check_sound();
}
