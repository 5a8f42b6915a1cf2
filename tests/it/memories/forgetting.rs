//! Forgotten memories are kept, hidden, and can come back.

use thermocline::{ErrorKind, Forgotten, MemoryFilter, MemoryKind, MemoryStatus};

use crate::memories::{Known, fix};

#[test]
fn what_is_forgotten_is_in_no_list_and_comes_back_with_its_id() {
    let known = Known::new();
    let memory = known.save(fix("Keepalive"));
    let Forgotten { group, memories, .. } = known.memories.forget(memory.id).unwrap();
    assert_eq!((memories, group.is_some()), (vec![memory.id], true));
    assert_eq!(known.titles(MemoryFilter::default()), Vec::<String>::new());
    assert_eq!(known.titles(MemoryFilter::default().statuses([MemoryStatus::Forgotten])), ["Keepalive"]);
    assert_eq!(known.get(memory.id).status, MemoryStatus::Forgotten);
    assert_eq!(known.memories.forget(memory.id).unwrap().group, None, "it was forgotten before");
    let undone = known.memories.undo(memory.id).unwrap();
    assert_eq!((undone.group, undone.memories[0].id), (group.unwrap(), memory.id));
    assert_eq!(known.titles(MemoryFilter::default()), ["Keepalive"]);
    known.check_sound();
}

#[test]
fn of_a_project_what_is_for_all_of_them_is_not_forgotten() {
    let known = Known::new();
    known.save(fix("For all"));
    let of_one = known.save(fix("Of one").project("p1"));
    assert_eq!(known.titles(MemoryFilter::default().project("p1")), ["Of one", "For all"]);
    assert_eq!(known.titles(MemoryFilter::default().project("p1").project_alone()), ["Of one"]);
    let forgotten = known.memories.forget_all(MemoryFilter::default().project("p1")).unwrap();
    assert_eq!(forgotten.memories, [of_one.id]);
    assert_eq!(known.titles(MemoryFilter::default()), ["For all"]);
}

#[test]
fn what_a_filter_lets_pass_is_forgotten_and_comes_back_as_one() {
    let known = Known::new();
    for n in 0..150 {
        known.save(fix(&format!("fix {n}")).tags([if n % 2 == 0 { "even" } else { "odd" }]));
    }
    let filter = || MemoryFilter::default().kinds([MemoryKind::Fix]).tag("#Even");
    let wanted = known.memories.list(filter(), None, 1_000).unwrap();
    let forgotten = known.memories.forget_all(filter()).unwrap();
    assert_eq!(forgotten.memories, wanted.iter().map(|memory| memory.id).collect::<Vec<_>>());
    assert_eq!(forgotten.memories.len(), 75);
    assert_eq!(known.titles(MemoryFilter::default()).len(), 75);
    let undone = known.memories.undo(forgotten.memories[40]).unwrap();
    assert_eq!((Some(undone.group), undone.memories.len()), (forgotten.group, 75));
    assert_eq!(known.titles(MemoryFilter::default()).len(), 150);
    let none = known.memories.forget_all(MemoryFilter::default().tag("nobody")).unwrap();
    assert_eq!((none.group, none.memories.len()), (None, 0));
    let refused = known.memories.forget_all(MemoryFilter::default().min_confidence(2.0)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    known.check_sound();
}
