//! Undo restores every row except what `LEFT` names (history, revisions, units), or does nothing and says why.

use thermocline::{
    ChangeOp, Edit, ErrorKind, Frequency, MemoryFilter, MemoryKind, MemoryStatus, Origin, Procedure,
};

use crate::{
    dump::{assert_same, dump_without},
    memories::{Known, fix, port, saying},
};

/// What an undo may leave different: history, revisions, the unit of a text, sources, jobs, and what was erased.
pub const LEFT: &[&str] = &[
    "erased_memories.*",
    "memory_changes.*",
    "memory_units.*",
    "memory_sources.*",
    "recall_units.*",
    "sqlite_sequence.*",
    "user_memories.revision",
    "user_memories.seq",
    "user_memories.updated_at",
    "user_scopes.last_seq",
    "user_scopes.revision",
    "jobs.*",
];

/// Edits a memory, undoes it, and checks that every row is as before, except for `LEFT`.
#[track_caller]
fn check(known: &Known, id: thermocline::MemoryId, edit: &Edit) {
    let path = known.fixture.path();
    let (before, shown) = (dump_without(&path, LEFT), known.get(id));
    known.memories.edit(id, edit.clone()).unwrap();
    assert_ne!(dump_without(&path, LEFT), before, "{edit:?}");
    let undone = known.memories.undo(id).unwrap();
    assert_eq!(undone.memories.len(), 1);
    assert_same(&dump_without(&path, LEFT), &before, &format!("{edit:?}"));
    let now = known.get(id);
    assert_eq!((now.content, now.tags, now.standing), (shown.content, shown.tags, shown.standing));
}

#[test]
fn an_edit_is_undone_whatever_it_changed() {
    let known = Known::new();
    let id = known.save(fix("Keepalive").tags(["redis", "prod"]).reliability(0.7).summary("Mend it.")).id;
    for edit in [
        Edit::default().title("Other").content("Something else.").summary("Else."),
        Edit::default().kind(MemoryKind::Procedure).procedure(Some(Procedure::new(["Push"]))),
        Edit::default().tags(Vec::<String>::new()).entities(["Redis"]),
        Edit::default().frequency(Frequency::UltraLow),
        Edit::default().importance(1.0).confidence(0.3).reliability(None).consolidation_threshold(Some(0.5)),
        Edit::default().project(Some("p")).goal_signature(Some("slot")).pinned(true),
        Edit::default().validity_window(Some(std::time::Duration::from_mins(1))),
        Edit::default()
            .volatility(thermocline::Volatility::Medium)
            .resurfacing(thermocline::Resurfacing::Off),
    ] {
        check(&known, id, &edit);
    }
    known.check_sound();
}

#[test]
fn undo_goes_back_one_operation_at_a_time_and_no_undo_is_undone() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    for n in 1..=3 {
        known.memories.edit(id, saying(&format!("It is mended by way number {n}."))).unwrap();
    }
    for n in [2, 1] {
        let undone = known.memories.undo(id).unwrap();
        assert!(undone.memories[0].content.contains(&format!("number {n}")), "{undone:?}");
    }
    assert_eq!(known.memories.undo(id).unwrap().memories[0].content, "Keepalive is how it is mended.");
    let nothing = known.memories.undo(id).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::Conflict, "{nothing}");
    let history = known.memories.history(id, None, 10).unwrap();
    let shown: Vec<_> = history.iter().map(|change| (change.op, change.undone_by.is_some())).collect();
    let (undo, edit) = ((ChangeOp::Undo, false), (ChangeOp::Edit, true));
    assert_eq!(shown, [undo, undo, undo, edit, edit, edit, (ChangeOp::Save, false)]);
    assert_eq!(history[0].group_id, history[5].undone_by.unwrap(), "the last undo took the first edit back");
    known.memories.edit(id, saying("Anew.")).unwrap();
    assert_eq!(known.memories.undo(id).unwrap().memories[0].content, "Keepalive is how it is mended.");
}

#[test]
fn what_took_a_place_is_undone_from_either_end() {
    for of_old in [true, false] {
        let known = Known::new();
        let old = known.save(port(1));
        let before = dump_without(&known.fixture.path(), LEFT);
        let new = known.memories.supersede(old.id, port(2).origin(Origin::User)).unwrap().memory;
        let undone = known.memories.undo(if of_old { old.id } else { new.id }).unwrap();
        assert_eq!(undone.memories.len(), 2);
        assert_eq!(
            known.states([old.id, new.id]).map(|(status, _)| status),
            [MemoryStatus::Active, MemoryStatus::Forgotten]
        );
        assert_eq!(known.memories.neighbours(old.id, None, 10).unwrap(), []);
        known.check_sound();
        known.memories.erase(new.id).unwrap();
        assert_same(
            &dump_without(&known.fixture.path(), LEFT),
            &dump_after_erase(before),
            "but for the new one",
        );
    }
}

/// Returns the dump with the epoch raised, as by an erase.
fn dump_after_erase(mut dump: crate::dump::Dump) -> crate::dump::Dump {
    for row in dump.get_mut("user_scopes").unwrap() {
        *row = row.replace("'epoch='0", "'epoch='1").replace("epoch=0", "epoch=1");
    }
    dump
}

#[test]
fn who_took_the_place_of_somebody_that_was_there_stays() {
    let known = Known::new();
    let [old, new] = ["old", "new"].map(|title| known.save(fix(title)));
    known.memories.supersede_by(old.id, new.id).unwrap();
    known.memories.undo(new.id).unwrap();
    let [a, b] = [old.id, new.id].map(|id| known.get(id));
    assert_eq!(
        (a.status, a.superseded_by, b.status, b.version),
        (MemoryStatus::Active, None, MemoryStatus::Active, 1)
    );
    known.check_sound();
}

#[test]
fn a_later_change_of_any_of_its_memories_is_in_the_way_and_is_named() {
    let known = Known::new();
    let old = known.save(port(1));
    let new = known.memories.supersede(old.id, port(2).origin(Origin::User)).unwrap().memory;
    known.memories.edit(new.id, saying("It runs on port 2, and 3.")).unwrap();
    let refused = known.memories.undo(old.id).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(
        refused.to_string().contains(&new.id.to_string()) && refused.to_string().contains("edit"),
        "{refused}"
    );
    assert_eq!(known.get(old.id).status, MemoryStatus::Superseded, "nothing was done");
    known.memories.undo(new.id).unwrap(); // The edit.
    known.memories.undo(old.id).unwrap();
    assert_eq!(known.get(old.id).status, MemoryStatus::Active);
    known.check_sound();
}

#[test]
fn a_slot_that_was_taken_since_is_in_the_way_and_named() {
    let known = Known::new();
    let old = known.save(port(1));
    let without_slot = known.save(fix("Elsewhere"));
    known.memories.supersede_by(old.id, without_slot.id).unwrap();
    let holder = known.save(port(2));
    let refused = known.memories.undo(old.id).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains(&holder.id.to_string()), "{refused}");
    assert_eq!(known.get(old.id).superseded_by, Some(without_slot.id));
    known.memories.forget(holder.id).unwrap();
    known.memories.undo(old.id).unwrap();
    assert_eq!(known.get(old.id).status, MemoryStatus::Active);
    known.check_sound();
}

#[test]
fn the_same_that_was_saved_since_is_in_the_way() {
    let known = Known::new();
    let forgotten = known.save(fix("Keepalive"));
    known.memories.forget(forgotten.id).unwrap();
    let again = known.memories.save(fix("Keepalive")).unwrap().memory; // Another's words.
    let refused = known.memories.undo(forgotten.id).unwrap_err();
    assert!(refused.to_string().contains(&again.id.to_string()), "{refused}");
    assert_eq!(known.titles(MemoryFilter::default()).len(), 1);
}

#[test]
fn saving_alone_is_not_undone() {
    let known = Known::new();
    let id = known.save(fix("Keepalive")).id;
    assert_eq!(known.memories.undo(id).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(known.get(id).status, MemoryStatus::Active);
}
