//! Memories: what is known in addition to what was said, and everything that is done with them, except in recall and in
//! files.

mod again;
mod answering;
mod bounds;
mod changing;
mod cut_short;
mod damage;
mod edges;
mod editing;
mod episodes;
mod erasing;
mod extracting;
mod forgetting;
mod isolation;
mod lists;
mod merging;
mod named_checks;
mod pages;
mod processes;
mod quarantining;
mod reporting;
mod resurfacing;
mod reviewing;
mod saving;
pub mod sensing;
mod sensing_jobs;
mod session_state;
mod superseding;
mod tending;
mod trusting;
mod undoing;
mod using;

use thermocline::{
    Edit, Memory, MemoryFilter, MemoryId, MemoryKind, MemoryStatus, NewMemory, Origin, SaveOutcome, Saved,
    blocking::{Memories, Session, Thermocline},
};

pub use processes::{child_saves, child_takes_a_slot};

use crate::{dump::rewrite, support::Fixture};

/// A file with alex, who makes all changes.
pub struct Known {
    pub fixture: Fixture,
    pub file: Thermocline,
    pub memories: Memories,
}

impl Known {
    pub fn new() -> Self {
        Self::of(Fixture::new())
    }

    /// Returns alex's memories in this fixture's file.
    pub fn of(fixture: Fixture) -> Self {
        let file = fixture.open();
        let memories = file.user("alex").unwrap().memories().by(Origin::User);
        Self { fixture, file, memories }
    }

    /// Changes rows of the file, and opens it again.
    pub fn rewritten(self, sql: &str) -> Self {
        self.file.close().unwrap();
        rewrite(&self.fixture.path(), sql);
        Self::of(self.fixture)
    }

    /// Returns a session of alex.
    pub fn session(&self, key: &str) -> Session {
        self.file.user("alex").unwrap().session_named(key).unwrap()
    }

    /// Saves a memory as alex's own words.
    #[track_caller]
    pub fn save(&self, memory: NewMemory) -> Memory {
        self.memories.save(memory.origin(Origin::User)).unwrap().memory
    }

    /// Saves a memory, and returns the outcome.
    #[track_caller]
    pub fn outcome(&self, memory: NewMemory) -> SaveOutcome {
        self.memories.save(memory).unwrap().outcome
    }

    #[track_caller]
    pub fn get(&self, id: MemoryId) -> Memory {
        self.memories.get(id).unwrap()
    }

    /// Returns the titles of what passes a filter, newest first.
    #[track_caller]
    pub fn titles(&self, filter: MemoryFilter) -> Vec<String> {
        titles(&self.memories.list(filter, None, 1_000).unwrap())
    }

    /// Returns the status and the text of each of these memories.
    #[track_caller]
    pub fn states<const N: usize>(&self, ids: [MemoryId; N]) -> [(MemoryStatus, String); N] {
        ids.map(|id| {
            let memory = self.get(id);
            (memory.status, memory.content)
        })
    }

    /// Checks that doctor finds nothing.
    #[track_caller]
    pub fn check_sound(&self) {
        check_sound(&self.file);
    }
}

/// Checks that doctor finds nothing in this file.
#[track_caller]
pub fn check_sound(file: &Thermocline) {
    let found = file.doctor().unwrap();
    let problems: Vec<_> = found.checks.into_iter().filter(|check| check.problems > 0).collect();
    assert!(problems.is_empty(), "{problems:?}");
}

/// Returns a fix with this title and a matching content.
pub fn fix(title: &str) -> NewMemory {
    NewMemory::new(MemoryKind::Fix, title, format!("{title} is how it is mended."))
}

/// Returns a memory that holds a slot.
pub fn port(number: u32) -> NewMemory {
    NewMemory::new(MemoryKind::Configuration, "The port of the API", format!("It runs on port {number}."))
        .goal_signature("api:port")
}

pub fn titles(memories: &[Memory]) -> Vec<String> {
    memories.iter().map(|memory| memory.title.clone()).collect()
}

/// Returns an edit of the content alone.
pub fn saying(content: &str) -> Edit {
    Edit::default().content(content)
}

#[track_caller]
pub fn expect_superseded(saved: &Saved, old: MemoryId) {
    assert_eq!(saved.outcome, SaveOutcome::Superseded(old));
}
