//! Several processes save concurrently.

use std::collections::HashSet;

use thermocline::{MemoryFilter, MemoryStatus, Origin, SaveOutcome, blocking::Thermocline};

use crate::{
    children::{self, say},
    memories::{Known, fix, port},
};

/// How many memories each process saves.
const EACH: u32 = 30;

/// Runs in each child process: saves the same memories as the other processes, and reports the outcomes.
pub fn child_saves(path: &str) {
    let memories = Thermocline::open(path).unwrap().user("alex").unwrap().memories();
    for n in 0..EACH {
        let saved = memories.save(fix(&format!("{n}")).tags([std::process::id().to_string()])).unwrap();
        say(&format!("{} {}", saved.memory.id, saved.outcome == SaveOutcome::New));
    }
}

/// Runs in a child process: saves one memory after another into the same slot.
pub fn child_takes_a_slot(path: &str, first: &str) {
    let memories = Thermocline::open(path).unwrap().user("alex").unwrap().memories();
    let first: u32 = first.parse().unwrap();
    for n in 0..EACH {
        let saved = memories.save(port(first + n).origin(Origin::User)).unwrap();
        say(&format!("{} {}", saved.memory.id, saved.memory.version));
    }
}

#[test]
fn the_same_that_two_processes_save_at_once_is_one_memory_with_the_tags_of_both() {
    let known = Known::new();
    let path = known.fixture.path();
    let path = path.to_str().unwrap();
    let mut running: Vec<_> = (0..3).map(|_| children::start("save_memories", &[path])).collect();
    let said: Vec<String> = running.iter_mut().flat_map(children::Running::lines).collect();
    assert_eq!(said.len(), 3 * EACH as usize);
    let ids: HashSet<&str> = said.iter().map(|line| line.split_once(' ').unwrap().0).collect();
    let new = said.iter().filter(|line| line.ends_with("true")).count();
    assert_eq!((ids.len(), new), (EACH as usize, EACH as usize), "each is new once");
    for memory in known.memories.list(MemoryFilter::default(), None, 1_000).unwrap() {
        assert_eq!(memory.tags.len(), 3, "{memory:?}");
    }
    known.check_sound();
}

#[test]
fn of_what_two_processes_put_into_a_slot_one_holds_and_the_others_are_superseded_in_order() {
    let known = Known::new();
    let path = known.fixture.path();
    let path = path.to_str().unwrap();
    let mut running: Vec<_> =
        ["1000", "2000"].map(|first| children::start("take_a_slot", &[path, first])).into_iter().collect();
    let said: Vec<String> = running.iter_mut().flat_map(children::Running::lines).collect();
    let versions: HashSet<&str> = said.iter().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(
        (said.len(), versions.len()),
        (2 * EACH as usize, 2 * EACH as usize),
        "no version is given twice"
    );
    let all = known.memories.list(MemoryFilter::default().statuses([]), None, 1_000).unwrap();
    let active: Vec<_> = all.iter().filter(|memory| memory.status == MemoryStatus::Active).collect();
    assert_eq!((all.len(), active.len(), active[0].version), (2 * EACH as usize, 1, 2 * EACH));
    let mut at = all.iter().find(|memory| memory.version == 1).unwrap();
    for version in 1..=2 * EACH {
        assert_eq!(at.version, version);
        let Some(by) = at.superseded_by else { break };
        at = all.iter().find(|memory| memory.id == by).unwrap();
    }
    assert_eq!(at.id, active[0].id, "the chain ends at what holds");
    known.check_sound();
}
