//! One memory supersedes another.

use thermocline::{EdgeType, Edit, ErrorKind, MemoryFilter, MemoryStatus, Origin, SaveOutcome};

use crate::memories::{Known, expect_superseded, fix, port};

#[test]
fn what_is_superseded_is_kept_and_the_new_one_is_one_version_more() {
    let known = Known::new();
    let old = known.save(fix("Old").project("p").importance(0.95));
    let saved = known.memories.supersede(old.id, fix("New").origin(Origin::User)).unwrap();
    expect_superseded(&saved, old.id);
    assert_eq!((saved.memory.version, saved.memory.importance), (2, 0.95));
    assert_eq!(saved.memory.project.as_deref(), Some("p"), "what is not said is as it was");
    let kept = known.get(old.id);
    assert_eq!((kept.status, kept.superseded_by), (MemoryStatus::Superseded, Some(saved.memory.id)));
    let beside = known.memories.neighbours(old.id, None, 10).unwrap();
    assert_eq!(beside.len(), 1);
    assert_eq!((beside[0].edge.edge_type, beside[0].edge.from), (EdgeType::Supersedes, saved.memory.id));
    assert_eq!(known.titles(MemoryFilter::default()), ["New"]);
    let refused = known.memories.supersede(old.id, fix("Newer")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains(&saved.memory.id.to_string()), "{refused}");
    known.check_sound();
}

#[test]
fn a_repeated_call_supersedes_once() {
    let known = Known::new();
    let old = known.save(fix("Old"));
    let new = || fix("New").origin(Origin::User).caller_id("n");
    let first = known.memories.supersede(old.id, new()).unwrap();
    let again = known.memories.supersede(old.id, new()).unwrap();
    assert_eq!((again.memory.id, again.outcome), (first.memory.id, first.outcome));
    assert_eq!(known.memories.history(old.id, None, 10).unwrap().len(), 2);
}

#[test]
fn the_users_words_wait_for_the_users_word() {
    let known = Known::new();
    let old = known.save(fix("Mine"));
    let waiting = known.memories.supersede(old.id, fix("Yours")).unwrap();
    assert!(matches!(waiting.outcome, SaveOutcome::Waits(_)), "{waiting:?}");
    assert_eq!(known.get(old.id).status, MemoryStatus::Active);
    assert!(known.get(old.id).contested && waiting.memory.contested);
    let assistant = known.memories.clone().by(Origin::Assistant);
    let by = assistant.supersede_by(old.id, waiting.memory.id).unwrap();
    assert!(matches!(by.outcome, SaveOutcome::Waits(_)), "{by:?}");
    known.check_sound();
}

#[test]
fn a_ring_of_memories_that_supersede_one_another_cannot_be_made() {
    let known = Known::new();
    let [a, b, c] = ["a", "b", "c"].map(|title| known.save(fix(title)).id);
    expect_superseded(&known.memories.supersede_by(a, b).unwrap(), a);
    expect_superseded(&known.memories.supersede_by(b, c).unwrap(), b);
    let refused = |old, new| known.memories.supersede_by(old, new).unwrap_err().kind();
    assert_eq!(refused(c, a), ErrorKind::Conflict);
    assert_eq!(refused(c, c), ErrorKind::InvalidInput);
    assert_eq!(known.get(c).version, 3);
    let same = known.memories.supersede(c, fix("c").origin(Origin::User)).unwrap_err();
    assert_eq!(same.kind(), ErrorKind::InvalidInput, "it says what stands there");
    known.check_sound();
}

#[test]
fn what_is_known_already_takes_the_place_itself() {
    let known = Known::new();
    let [old, new] = ["old", "new"].map(|title| known.save(fix(title)));
    let saved = known.memories.supersede(old.id, fix("new").origin(Origin::User)).unwrap();
    assert_eq!(saved.memory.id, new.id);
    expect_superseded(&saved, old.id);
    assert_eq!(known.titles(MemoryFilter::default()), ["new"]);
    known.check_sound();
}

#[test]
fn a_slot_goes_along_and_one_that_somebody_else_has_is_refused() {
    let known = Known::new();
    let old = known.save(port(1));
    let unnamed = thermocline::NewMemory::new(old.kind, "Ports", "There are two now.").origin(Origin::User);
    let saved = known.memories.supersede(old.id, unnamed).unwrap();
    assert_eq!(saved.memory.goal_signature.as_deref(), Some("api:port"));
    let other = known.save(fix("Other").goal_signature("fix"));
    let third = known.save(fix("Third"));
    let refused =
        known.memories.supersede(third.id, fix("Fourth").goal_signature("fix").origin(Origin::User));
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains(&other.id.to_string()), "{refused}");
    assert_eq!(known.get(third.id).status, MemoryStatus::Active, "nothing was done");
    known.memories.edit(third.id, Edit::default().importance(0.1)).unwrap();
    known.check_sound();
}
