//! A turn that answers a context uses each memory that the context showed, once.

use thermocline::{
    ContextItem, ContextOptions, Episode, EpisodeFilter, EpisodeRole, ErrorKind, ItemKind, MemoryId,
    MemoryStatus, NewMemory, NewTurn, Outcome, ReceiptId, Use, blocking::Session,
};

use crate::memories::{Known, fix, saying};

const QUERY: &str = "How is the skylight of the attic mended?";

/// Saves three memories, and requests in a session a context that shows them all.
fn shown() -> (Known, Session, [MemoryId; 3], ReceiptId) {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    let ids = ["The skylight", "A skylight in the attic", "Attic of the skylight"]
        .map(|title| known.save(fix(title)).id);
    let session = alex.session_named("now").unwrap();
    let receipt = context(&session, &ids);
    (known, session, ids, receipt)
}

#[track_caller]
fn context(session: &Session, ids: &[MemoryId]) -> ReceiptId {
    let context = session.context(QUERY, ContextOptions::default()).unwrap();
    let is_memory = |item: &&ContextItem| item.kind == ItemKind::Memory;
    let mut found: Vec<_> =
        context.items.iter().filter(is_memory).filter_map(|item| item.memory_id).collect();
    let mut ids = ids.to_vec();
    found.sort_unstable();
    ids.sort_unstable();
    assert_eq!(found, ids, "{}", context.text);
    context.receipt
}

#[track_caller]
fn answer(known: &Known, session: &Session, turn: NewTurn) {
    session.record(turn).unwrap();
    known.file.user("alex").unwrap().receipts(1).unwrap(); // Waits until everything that follows the answer is written.
}

fn uses(known: &Known) -> Vec<Episode> {
    let uses = EpisodeFilter::default().roles([EpisodeRole::Use]);
    known.memories.episodes(uses, None, 100).unwrap()
}

fn accesses(known: &Known, ids: [MemoryId; 3]) -> [u32; 3] {
    ids.map(|id| known.get(id).state.access_count)
}

#[test]
fn a_turn_that_answers_a_context_with_three_memories_and_is_sent_twice_uses_each_once() {
    let (known, session, ids, receipt) = shown();
    session.set_project(Some("house")).unwrap();
    let turn = || NewTurn::new(QUERY, "With tape.").caller_id("answer").answering(receipt);
    answer(&known, &session, turn());
    answer(&known, &session, turn());
    answer(&known, &session, NewTurn::new("And?", "So.").answering(receipt));
    assert_eq!(accesses(&known, ids), [1, 1, 1]);
    let noted = uses(&known);
    assert_eq!(noted.len(), 3);
    for of in noted {
        assert_eq!((of.receipt_id, of.turn_number, of.outcome), (Some(receipt), Some(1), None));
        assert_eq!((of.session_id, of.project.as_deref()), (Some(session.id()), Some("house")));
    }
    let state = known.get(ids[0]).state;
    assert!(state.last_used_at.is_some() && state.usage_count == 0, "nobody has said how it ended");
    known.check_sound();
}

#[test]
fn what_was_used_so_is_rated_once_and_counted_no_second_time() {
    let (known, session, ids, receipt) = shown();
    answer(&known, &session, NewTurn::new(QUERY, "With tape.").answering(receipt));
    let rated = known.memories.used(ids[0], Use::of(Outcome::Success).receipt(receipt)).unwrap().state;
    assert_eq!((rated.access_count, rated.usage_count, rated.context_count), (1, 1, 1));
    let again = known.memories.used(ids[0], Use::of(Outcome::Failure).receipt(receipt)).unwrap().state;
    assert_eq!(again, rated);
    assert_eq!(uses(&known).len(), 3);
    known.check_sound();
}

#[test]
fn what_was_reported_before_its_turn_is_recorded_counts_once() {
    let (known, session, ids, receipt) = shown();
    let report = Use::of(Outcome::Success).receipt(receipt);
    let first = known.memories.used(ids[0], report).unwrap().state;
    assert_eq!(first.context_count, 1, "the receipt says the session");
    answer(&known, &session, NewTurn::new(QUERY, "With tape.").answering(receipt));
    assert_eq!(accesses(&known, ids), [1, 1, 1]);
    known.check_sound();
}

#[test]
fn memories_that_were_edited_meanwhile_count_and_those_that_are_hidden_or_gone_do_not() {
    let (known, session, ids, receipt) = shown();
    known.memories.edit(ids[0], saying("The skylight is mended otherwise.")).unwrap();
    known.memories.forget(ids[1]).unwrap();
    answer(&known, &session, NewTurn::new(QUERY, "With tape.").answering(receipt));
    assert_eq!(accesses(&known, ids), [1, 0, 1]);

    let receipt = context(&session, &[ids[0], ids[2]]);
    known.memories.erase(ids[2]).unwrap();
    answer(&known, &session, NewTurn::new("And so?", "Yes.").answering(receipt));
    assert_eq!(known.get(ids[0]).state.access_count, 1, "receipts go with what is erased");
    known.check_sound();
}

#[test]
fn what_was_archived_holds_again_when_the_context_that_showed_it_is_answered() {
    let (known, session, ids, receipt) = shown();
    known.file.user("alex").unwrap().receipts(1).unwrap();
    let id = session.id();
    let known = known.rewritten("UPDATE user_memories SET status = 'archived'");
    let session = known.file.user("alex").unwrap().session_by_id(id).unwrap();
    answer(&known, &session, NewTurn::new(QUERY, "With tape.").answering(receipt));
    for id in ids {
        let memory = known.get(id);
        assert_eq!((memory.status, memory.state.access_count), (MemoryStatus::Active, 1));
        assert_eq!(known.memories.history(id, None, 10).unwrap()[0].reason, "used");
    }
    known.check_sound();
}

#[test]
fn another_users_receipt_uses_nothing() {
    let (known, _session, ids, receipt) = shown();
    let blake = known.file.user("blake").unwrap();
    let own: NewMemory = fix("The skylight");
    let own = blake.memories().save(own).unwrap().memory.id;
    let refused = blake.memories().used(own, Use::default().receipt(receipt)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    blake.session().unwrap().record(NewTurn::new(QUERY, "Tape.").answering(receipt)).unwrap();
    blake.receipts(1).unwrap();
    assert_eq!(accesses(&known, ids), [0, 0, 0]);
    assert_eq!(blake.memories().get(own).unwrap().state.access_count, 0);
    known.check_sound();
}
