//! A receipt can be read with the names of its items and the beginnings of their texts.

use thermocline::{
    Attribute, ContextOptions, ErrorKind, ItemKind, MemoryKind, NewMemory, NewTurn, Origin, RunJobs,
};

use crate::{
    dump::meddle,
    support::{Fixture, at},
};

#[test]
fn a_receipt_with_texts_says_where_each_item_is_when_it_was_said_and_how_it_begins() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let boat = alex.session_named("boat").unwrap();
    let said = NewTurn::new("My boat is\ncalled Petrel, and she lies in Lisbon.", "A fine name.");
    let turn =
        boat.record(said.user_name("Alex").caller_id("m1").said_at(at("2026-02-03T10:00:00Z"))).unwrap();
    let fix = NewMemory::new(MemoryKind::General, "The boat Petrel", "The boat Petrel lies in Lisbon.");
    let known = alex.memories().by(Origin::User).save(fix.origin(Origin::User)).unwrap().memory;
    let anchor = alex.set_anchor("user", Attribute::Home, "Lisbon").unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let other = alex.session_named("other").unwrap();
    let context =
        other.context("Where do I live, and where is the boat Petrel?", ContextOptions::default()).unwrap();
    let shown = alex.receipt_with_texts(context.receipt).unwrap();
    assert_eq!(shown.receipt, alex.receipt(context.receipt).unwrap());
    assert_eq!((shown.session.as_deref(), shown.texts.len()), (Some("other"), shown.receipt.items.len()));
    let text = |kind: ItemKind| {
        let at = shown.receipt.items.iter().position(|item| item.kind == kind);
        shown.texts[at.unwrap_or_else(|| panic!("{kind:?}: {shown:?}"))].clone().unwrap()
    };
    let of_turn = text(ItemKind::Turn);
    assert_eq!((of_turn.place.as_str(), of_turn.caller_id.as_deref()), ("boat/1", Some("m1")));
    assert_eq!(of_turn.said_at, at("2026-02-03T10:00:00Z"));
    assert_eq!(of_turn.words, "Alex: My boat is called Petrel, and she lies in Lisbon.");
    assert_eq!(
        (text(ItemKind::Memory).place, text(ItemKind::Memory).words),
        ("general".into(), "The boat Petrel".into())
    );
    assert_eq!(text(ItemKind::Anchor).words, "user.home: Lisbon");
    let words = shown.explain();
    for part in [
        "It was for session other.",
        "2026-02-03  boat/1, m1, ",
        "     user.home: Lisbon\n",
        "all scores are the same",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let blake = memory.user("blake").unwrap();
    assert_eq!(blake.receipt_with_texts(context.receipt).unwrap_err().kind(), ErrorKind::NotFound);

    // An item that is not shown any more leaves a gap, and so does a damaged one.
    memory.close().unwrap();
    meddle(&fixture.path(), "UPDATE conversation_turns SET user_message = 'something else'");
    meddle(&fixture.path(), "UPDATE user_memories SET title = 'something else'");
    let alex = fixture.open().user("alex").unwrap();
    alex.retract_anchor(anchor).unwrap();
    let left = alex.receipt_with_texts(context.receipt).unwrap();
    let gaps = left.receipt.items.iter().zip(&left.texts).filter(|(_, text)| text.is_none());
    let gaps: Vec<_> = gaps.map(|(item, _)| item.owner_id).collect();
    assert!(gaps.contains(turn.turn_id.as_uuid()) && gaps.contains(known.id.as_uuid()), "{left:?}");
    assert!(left.explain().contains("no longer there"));
}
