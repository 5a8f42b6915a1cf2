//! Memories lend score to their neighbours, if requested.

use thermocline::{
    EdgeType, Memory, MemoryKind, NewEdge, NewMemory, Of, Origin, RecallOptions, Recalled,
    blocking::{Memories, User},
};

use crate::support::Fixture;

fn saved(memories: &Memories, title: &str, content: &str) -> Memory {
    let memory = NewMemory::new(MemoryKind::Fix, title, content).origin(Origin::User);
    memories.save(memory).unwrap().memory
}

/// Returns the memories recalled about the lighthouse, with or without what memories lend to their neighbours.
fn found(alex: &User, k: usize, graph: bool) -> Vec<Recalled> {
    let options = RecallOptions::default().of(Of::Memories).k(k).graph(graph);
    alex.recall("Is the lighthouse lit?", options).unwrap().items
}

fn title(item: &Recalled) -> &str {
    &item.memory().unwrap().memory.title
}

#[test]
fn what_stands_beside_a_memory_that_is_found_comes_up_with_what_it_was_lent() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let memories = alex.memories();
    let light = saved(&memories, "Lighthouse", "The lighthouse is lit at dusk.");
    let keeper = saved(&memories, "Keeper", "Old Jonas has the key.");
    let far = saved(&memories, "Jonas", "He lives in Porto.");
    let edge = NewEdge::new(EdgeType::DependsOn).strength(0.8);
    memories.relate(light.id, edge, keeper.id).unwrap();
    memories.relate(keeper.id, NewEdge::new(EdgeType::RelatedTo), far.id).unwrap();
    let own = |items: &[Recalled], name: &str| items.iter().find(|item| title(item) == name).cloned();
    let (plain, lent) = (found(&alex, 10, false), found(&alex, 10, true));
    let light = own(&lent, "Lighthouse").unwrap();
    let before = own(&plain, "Keeper").map_or(0.0, |item| item.parts.neighbours);
    let keeper = own(&lent, "Keeper").expect("it was lent");
    let from_light = 0.3 * 0.8 * own(&plain, "Lighthouse").unwrap().score;
    assert!(keeper.parts.neighbours - before >= from_light - 1e-6, "{:?}", keeper.parts);
    assert!(keeper.score < light.score);
    let receipt = alex.recall("the lighthouse", RecallOptions::default().graph(true)).unwrap().receipt;
    assert!(alex.receipt(receipt).unwrap().explain().contains("memories lent to their neighbours"));
}

#[test]
fn what_took_a_place_is_lent_nothing_and_what_contradicts_comes_with_its_counterpart_or_not() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let memories = alex.memories().by(Origin::User);
    let light = saved(&memories, "Lighthouse", "The lighthouse is lit at dusk.");
    let contrary = saved(&memories, "Darkness", "Qqq zzz.");
    memories.relate(contrary.id, NewEdge::new(EdgeType::Contradicts).origin(Origin::User), light.id).unwrap();
    let next = NewMemory::new(MemoryKind::Fix, "Lighthouse", "The lighthouse is lit at night.");
    let both = found(&alex, 10, true);
    assert_eq!(both.iter().map(title).collect::<Vec<_>>(), ["Lighthouse", "Darkness"]);
    assert!(both.iter().all(|item| item.memory().unwrap().flags.contested));
    assert_eq!(found(&alex, 1, true).iter().map(title).collect::<Vec<_>>(), ["Lighthouse"]);
    let next = memories.supersede(light.id, next.origin(Origin::User)).unwrap().memory;
    let found = found(&alex, 10, true);
    assert_eq!(found[0].memory().unwrap().memory.id, next.id);
    assert!(found.iter().all(|item| item.memory().unwrap().memory.id != light.id));
    assert!(!found[0].memory().unwrap().flags.contested);
}
