//! Several memories are merged into one, and separated again.

use thermocline::{
    ChangeOp, Edit, ErrorKind, LearningSource, MemoryFilter, MemoryId, MemoryStatus, Origin, SourceName,
    Trust,
};

use crate::{
    dump::{assert_same, dump_without},
    memories::{Known, fix, port, saying, undoing::LEFT},
};

fn three(known: &Known) -> Vec<MemoryId> {
    let save = |title| known.save(fix(title).project("p").tags(["t"]).importance(0.9)).id;
    ["Keepalive", "Keep it alive", "Alive"].map(save).to_vec()
}

#[test]
fn three_become_one_and_undo_brings_all_of_them_back() {
    let known = Known::new();
    let ids = three(&known);
    let before = dump_without(&known.fixture.path(), LEFT);
    let merged = known.memories.merge(ids.clone(), fix("One").origin(Origin::User)).unwrap();
    assert_eq!((merged.sources.as_slice(), merged.memory.version), (ids.as_slice(), 2));
    assert_eq!((merged.memory.project.as_deref(), merged.memory.importance), (Some("p"), 0.9));
    assert_eq!(merged.memory.learning_source, LearningSource::Consolidation);
    assert_eq!(known.titles(MemoryFilter::default()), ["One"]);
    for id in &ids {
        let memory = known.get(*id);
        assert_eq!((memory.status, memory.superseded_by), (MemoryStatus::Superseded, Some(merged.memory.id)));
        assert_eq!(known.memories.history(*id, None, 1).unwrap()[0].op, ChangeOp::Merge);
    }
    let sources = known.memories.sources(merged.memory.id).unwrap();
    let made_of = |id: &MemoryId| sources.iter().any(|source| source.from == SourceName::Memory(*id));
    assert!(sources.len() == 3 && ids.iter().all(made_of), "{sources:?}");
    known.check_sound();

    known.memories.edit(merged.memory.id, saying("One, edited.")).unwrap();
    let refused = known.memories.undo_group(merged.group).unwrap_err();
    assert!(refused.to_string().contains(&merged.memory.id.to_string()), "{refused}");
    known.memories.undo(merged.memory.id).unwrap();
    known.memories.undo_group(merged.group).unwrap();
    assert_eq!(known.titles(MemoryFilter::default()).len(), 3);
    assert_eq!(known.get(merged.memory.id).status, MemoryStatus::Forgotten);
    known.memories.erase(merged.memory.id).unwrap();
    let without_epoch = [LEFT, &["user_scopes.epoch"]].concat();
    let left = dump_without(&known.fixture.path(), &without_epoch);
    let before = before
        .into_iter()
        .map(|(table, rows)| {
            (table, rows.into_iter().map(|row| without(&row, "'epoch='0 ", "epoch=0 ")).collect())
        })
        .collect();
    assert_same(&left, &before, "every row but history");
    known.check_sound();
}

fn without(row: &str, one: &str, other: &str) -> String {
    row.replace(one, "").replace(other, "")
}

#[test]
fn a_merge_goes_with_any_of_what_it_was_made_of_and_the_others_hold_again() {
    let known = Known::new();
    let ids = three(&known);
    let merged = known.memories.merge(ids.clone(), fix("One").origin(Origin::User)).unwrap();
    assert_eq!(known.memories.erase(ids[1]).unwrap().memories, 2);
    assert_eq!(known.memories.get(merged.memory.id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!([ids[0], ids[2]].map(|id| known.get(id).status), [MemoryStatus::Active; 2]);
    let refused = known.memories.undo_group(merged.group).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    known.check_sound();
}

#[test]
fn a_merge_is_trusted_no_farther_than_the_least_of_what_it_is_made_of() {
    let known = Known::new();
    let mine = known.save(fix("Mine")).id;
    let theirs = known.memories.save(fix("Theirs").origin(Origin::Document)).unwrap().memory.id;
    let by_agent = known.file.user("alex").unwrap().memories();
    let refused = by_agent.merge(vec![mine, theirs], fix("Both")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains(&mine.to_string()), "{refused}");
    let both = known.memories.merge(vec![mine, theirs], fix("Both").origin(Origin::User)).unwrap().memory;
    assert_eq!((both.trust, both.origin), (Trust::Foreign, Origin::User));
    known.check_sound();
}

#[test]
fn what_cannot_become_one_is_refused_and_stays() {
    let known = Known::new();
    let (a, b) = (known.save(fix("a")).id, known.save(fix("b")).id);
    let held = known.save(port(1));
    let before = dump_without(&known.fixture.path(), &[]);
    let merge = |ids: Vec<MemoryId>, into: thermocline::NewMemory| {
        known.memories.merge(ids, into.origin(Origin::User)).unwrap_err().kind()
    };
    assert_eq!(merge(vec![a], fix("x")), ErrorKind::InvalidInput);
    assert_eq!(merge(vec![a, a], fix("x")), ErrorKind::InvalidInput);
    assert_eq!(merge(vec![a, b], port(2)), ErrorKind::Conflict, "the slot is another's");
    assert_eq!(merge(vec![a, b], port(1)), ErrorKind::Conflict, "another says the same");
    assert_same(&dump_without(&known.fixture.path(), &[]), &before, "nothing was done");
    known.memories.edit(a, Edit::default().pinned(true)).unwrap();
    let merged = known.memories.merge(vec![a, held.id], port(3).origin(Origin::User)).unwrap().memory;
    assert!(merged.pinned, "what was pinned stays so");
    assert_eq!(merge(vec![a, b], fix("x")), ErrorKind::Conflict, "a holds no more");
    known.check_sound();
}
