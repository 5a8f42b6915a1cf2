//! Whose reports of use move a memory's numbers, what the history says of them, and how they are undone.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use thermocline::{
    Change, ChangeOp, ContextOptions, Edit, Episode, EpisodeFilter, EpisodeRole, ErrorKind, ItemKind, Memory,
    MemoryId, MemoryStatus, NewTurn, Origin, Outcome, ReceiptId, TendOptions, Use, blocking::Memories,
};

use crate::{
    dump::{assert_same, dump_of_user},
    memories::{Known, fix, saying},
    support::turn,
    transfer::{export, import},
};

/// The tables with a memory's text, numbers, history and links.
const OF_MEMORY: [&str; 7] = [
    "user_memories",
    "memory_state",
    "memory_changes",
    "memory_edges",
    "memory_terms",
    "memory_sources",
    "memory_reviews",
];

impl Known {
    fn told(&self, by: Origin) -> Memories {
        self.memories.clone().by(by)
    }

    /// Returns the receipt of a new context that shows the memories.
    fn shown(&self, question: &str) -> ReceiptId {
        let session = self.session("asked");
        let context = session.context(question, ContextOptions::default()).unwrap();
        context.receipt
    }

    fn rows(&self) -> BTreeMap<String, Vec<String>> {
        let mut rows = dump_of_user(&self.fixture.path(), "alex");
        rows.retain(|table, _| OF_MEMORY.contains(&table.as_str()));
        rows
    }

    #[track_caller]
    fn changes(&self, id: MemoryId) -> Vec<Change> {
        self.memories.history(id, None, 100).unwrap()
    }

    #[track_caller]
    fn episodes_of(&self, role: EpisodeRole) -> Vec<Episode> {
        self.memories.episodes(EpisodeFilter::default().roles([role]), None, 100).unwrap()
    }
}

/// Returns what uses did to a memory.
fn numbers(memory: &Memory) -> (f64, u32, Option<f64>) {
    (memory.confidence, memory.state.usage_count, memory.state.success_rate)
}

#[test]
fn sixty_failures_that_somebody_trusted_less_reports_leave_the_users_memory_as_it_was() {
    for by in [Origin::Tool, Origin::Document, Origin::Assistant] {
        let known = Known::new();
        let id = known.save(fix("Keepalive")).id;
        let before = known.rows();
        for n in 0..60 {
            let outcome = if n % 2 == 0 { Outcome::Failure } else { Outcome::Correction };
            known.told(by).used(id, Use::of(outcome).caller_id(format!("r{n}")).project("p")).unwrap();
        }
        known.told(by).used(id, Use::of(Outcome::Success)).unwrap();
        known.told(by).used(id, Use::default()).unwrap();
        assert_same(&known.rows(), &before, by.as_str());
        assert_eq!(known.episodes_of(EpisodeRole::Report).len(), 62, "the reports are kept");
        assert!(known.episodes_of(EpisodeRole::Use).is_empty());
        known.fixture.clock.advance(TimeDelta::days(2));
        assert!(known.memories.tend(TendOptions::default()).unwrap().moves.is_empty());
        let used = known.memories.used(id, Use::of(Outcome::Failure)).unwrap();
        assert_eq!(numbers(&used), (0.704, 1, Some(0.0)), "the user's report counts, and it alone");
        assert_eq!((used.state.access_count, used.state.project_count), (1, 0));
        known.check_sound();
    }
}

#[test]
fn a_report_counts_for_what_is_trusted_no_more_than_its_reporter() {
    let ranks = [Origin::Tool, Origin::Assistant, Origin::User];
    for (rank, of) in ranks.into_iter().enumerate() {
        for (reporter, by) in ranks.into_iter().enumerate() {
            let known = Known::new();
            let id = known.memories.save(fix("Keepalive").origin(of)).unwrap().memory.id;
            let used = known.told(by).used(id, Use::of(Outcome::Success)).unwrap();
            assert_eq!(used.state.usage_count == 1, reporter >= rank, "{by:?} of {of:?}");
            known.check_sound();
        }
    }
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    let known = known.rewritten("UPDATE user_memories SET trust = 4");
    assert_eq!(known.memories.used(id, Use::of(Outcome::Success)).unwrap().state.usage_count, 1);
}

#[test]
fn with_a_receipt_that_shows_the_memory_somebody_trusted_less_rates_it_once_a_day() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    let failure = |receipt| Use::of(Outcome::Failure).receipt(receipt);
    let receipts: Vec<_> = (0..4).map(|_| known.shown("Keepalive?")).collect();
    let rated = |by, receipt| known.told(by).used(id, failure(receipt)).unwrap().state.usage_count;
    assert_eq!(rated(Origin::Tool, receipts[0]), 1);
    assert_eq!(rated(Origin::Tool, receipts[0]), 1, "a context rates once");
    assert_eq!(rated(Origin::Tool, receipts[1]), 1, "and such a reporter once a day");
    assert_eq!(rated(Origin::Assistant, receipts[2]), 2, "each for itself");
    assert_eq!(rated(Origin::Assistant, receipts[3]), 2);
    known.fixture.clock.advance(TimeDelta::days(1));
    assert_eq!(rated(Origin::Tool, receipts[1]), 2, "what did not count does not count later");
    assert_eq!(rated(Origin::Tool, known.shown("Keepalive?")), 3);
    assert_eq!(known.episodes_of(EpisodeRole::Report).len(), 2);
    assert_eq!(
        known.memories.used(id, failure(receipts[3])).unwrap().state.usage_count,
        4,
        "the user's counts"
    );
    known.check_sound();
}

#[test]
fn a_receipt_that_does_not_show_the_memory_gives_no_say() {
    let known = Known::new();
    known.save(fix("Keepalive"));
    let sure = ContextOptions::default().min_confidence(1.0);
    let receipt =
        known.session("asked").context("Is the bridge or the keepalive old?", sure).unwrap().receipt;
    let items = known.file.user("alex").unwrap().receipt(receipt).unwrap().items;
    let left_out = items.iter().find(|item| item.kind == ItemKind::Memory && item.packed_as.is_none());
    let id = MemoryId::from_uuid(left_out.expect("it is below the floor").owner_id);
    let used = known.told(Origin::Tool).used(id, Use::of(Outcome::Failure).receipt(receipt)).unwrap();
    assert_eq!(used.state.usage_count, 0);
    known.check_sound();
}

#[test]
fn a_tool_makes_no_archived_memory_of_the_user_active_again_and_its_own_turns_use_none() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    let known = known.rewritten("UPDATE user_memories SET status = 'archived'");
    let session = known.session("asked");
    let before = known.rows();
    let tools = |receipt| {
        let turn =
            NewTurn::new("Keepalive?", "Yes.").user_origin(Origin::Tool).assistant_origin(Origin::Document);
        session.record(turn.answering(receipt)).unwrap();
    };
    tools(known.shown("How is keepalive mended?"));
    known.file.user("alex").unwrap().receipts(1).unwrap(); // Waits until what follows an answer is written.
    assert_same(&known.rows(), &before, "a turn of a tool answers for nobody");
    let receipt = known.shown("How is keepalive mended?");
    let used = known.told(Origin::Tool).used(id, Use::of(Outcome::Success).receipt(receipt)).unwrap();
    assert_eq!(used.status, MemoryStatus::Archived);
    known.check_sound();
}

#[test]
fn a_rated_use_is_in_the_history_with_its_numbers_and_undo_takes_it_back() {
    let known = Known::new();
    let before = known.save(fix("Keepalive"));
    let id = before.id;
    known.fixture.clock.advance(TimeDelta::hours(1));
    known.memories.used(id, Use::of(Outcome::Success).project("p").caller_id("run-1")).unwrap();
    let once = known.get(id);
    known.memories.used(id, Use::of(Outcome::Correction)).unwrap();
    let changes = known.changes(id);
    assert_eq!((changes[0].op, changes[0].made_by.as_str()), (ChangeOp::Use, "user"));
    assert_eq!(
        (changes[0].old_value.as_deref(), changes[0].new_value.as_deref()),
        (Some("0.812"), Some("0.406"))
    );
    assert_eq!(changes[0].reason, "correction: success rate 0.50, rated uses 2");
    let first = known.memories.undo_group(changes[1].group_id).unwrap_err();
    assert_eq!(first.kind(), ErrorKind::Conflict, "the later one first: {first}");
    known.memories.undo(id).unwrap();
    let undone = known.get(id);
    assert_eq!((numbers(&undone), &undone.state), (numbers(&once), &once.state));
    known.memories.undo(id).unwrap();
    let undone = known.get(id);
    assert_eq!((numbers(&undone), &undone.state), (numbers(&before), &before.state));
    assert_eq!(known.episodes_of(EpisodeRole::Report).len(), 2, "the reports are kept");
    let again = known.memories.used(id, Use::of(Outcome::Success).caller_id("run-1")).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict, "a repeated call does not count what was undone: {again}");
    assert_eq!(known.memories.used(id, Use::of(Outcome::Success)).unwrap().state.usage_count, 1);
    known.check_sound();
}

#[test]
fn undoing_a_use_that_brought_an_archived_memory_back_archives_it_again() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    let known = known.rewritten("UPDATE user_memories SET status = 'archived'");
    let before = known.get(id);
    assert_eq!(known.memories.used(id, Use::of(Outcome::Success)).unwrap().status, MemoryStatus::Active);
    let undone = known.memories.undo(id).unwrap().memories.remove(0);
    assert_eq!(
        (undone.status, undone.state, undone.confidence),
        (before.status, before.state, before.confidence)
    );
    known.check_sound();
}

#[test]
fn uses_stand_in_the_way_of_no_other_undo_and_an_edit_of_the_confidence_stands() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    known.memories.edit(id, saying("It is mended otherwise.")).unwrap();
    let edit = known.changes(id)[0].group_id;
    let used = known.memories.used(id, Use::of(Outcome::Success)).unwrap();
    let use_of = known.changes(id)[0].group_id;
    known.memories.undo_group(edit).unwrap();
    let undone = known.get(id);
    assert_eq!((&undone.state, undone.confidence), (&used.state, used.confidence));
    assert_eq!(undone.content, "Keepalive is how it is mended.");
    known.memories.edit(id, Edit::default().confidence(0.3)).unwrap();
    let stated = known.changes(id)[0].group_id;
    assert_eq!(known.memories.undo_group(use_of).unwrap_err().kind(), ErrorKind::Conflict, "the edit first");
    known.memories.undo_group(stated).unwrap();
    known.memories.undo_group(use_of).unwrap();
    assert_eq!(numbers(&known.get(id)), (0.8, 0, None));
    known.check_sound();
}

#[test]
fn whoever_is_trusted_less_does_not_take_back_what_the_user_reported() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    known.memories.used(id, Use::of(Outcome::Failure)).unwrap();
    let after = known.get(id);
    for by in [Origin::Tool, Origin::Document, Origin::Assistant] {
        assert_eq!(known.told(by).undo(id).unwrap_err().kind(), ErrorKind::Conflict);
        let group = known.changes(id)[0].group_id;
        assert_eq!(known.told(by).undo_group(group).unwrap_err().kind(), ErrorKind::Conflict);
    }
    assert_eq!(known.get(id), after);
}

#[test]
fn reports_and_undone_uses_go_out_with_an_export_and_still_count_nothing_where_they_come_in() {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    alex.session_named("s").unwrap().record(turn(1)).unwrap();
    let id = known.save(fix("Keepalive")).id;
    known.told(Origin::Tool).used(id, Use::of(Outcome::Failure).caller_id("tool")).unwrap();
    known.memories.used(id, Use::of(Outcome::Failure).caller_id("mistake")).unwrap();
    known.memories.undo(id).unwrap();
    known.memories.used(id, Use::of(Outcome::Success)).unwrap();
    let exported = export(&alex);
    let other = Known::new();
    import(&other.file, "blake", &exported).unwrap();
    let blake = other.file.user("blake").unwrap();
    assert_eq!(export(&blake), exported);
    let memories = blake.memories().by(Origin::User);
    assert_eq!(numbers(&memories.get(id).unwrap()), (0.812, 1, Some(1.0)));
    memories.undo(id).unwrap();
    assert_eq!(numbers(&memories.get(id).unwrap()), (0.8, 0, None));
    other.check_sound();
}
