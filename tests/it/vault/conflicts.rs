//! A memory and its file that were both changed: the additional file, and what a person is asked.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use thermocline::{Decision, Faults, MemoryId, Review, ReviewFilter, ReviewKind};

use crate::{
    memories::{fix, saying},
    vault::Kept,
};

fn open(kept: &Kept) -> Vec<Review> {
    kept.known.memories.reviews(ReviewFilter::default().kinds([ReviewKind::Conflict]), None, 10).unwrap()
}

/// Changes both a memory and its file.
fn change_both(kept: &Kept, id: MemoryId, word: &str) {
    let said = kept.known.get(id).content;
    kept.replace(id, &said, &format!("Typed {word}."));
    kept.known.fixture.clock.advance(TimeDelta::seconds(2));
    kept.known.memories.edit(id, saying(&format!("Said {word}."))).unwrap();
}

#[test]
fn a_conflict_asks_a_person_once_until_it_is_decided() {
    let kept = Kept::new();
    let [id, other] = ["Keepalive", "Other"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    change_both(&kept, id, "first");
    kept.vault(thermocline::VaultOptions::default()).status().unwrap();
    assert_eq!(open(&kept), [], "a look asks nothing");
    kept.sync();
    let asked = open(&kept);
    assert_eq!((asked.len(), asked[0].memory_id), (1, id));
    assert!(!asked[0].why.contains("Typed"), "nothing of what was typed: {asked:?}");
    kept.check_quiet();
    change_both(&kept, id, "second");
    kept.sync();
    assert_eq!(open(&kept), asked, "it is asked already");
    assert_eq!(kept.beside().len(), 2);
    kept.known.memories.decide(asked[0].id, Decision::Approved, "alex").unwrap();
    assert_eq!((open(&kept).len(), kept.known.get(id).content.as_str()), (0, "Said second."));
    kept.check_quiet();
    assert_eq!(open(&kept), []);
    change_both(&kept, id, "third");
    change_both(&kept, other, "third");
    kept.put("CORE.md", "mine\n");
    kept.sync();
    let about: BTreeSet<MemoryId> = open(&kept).iter().map(|review| review.memory_id).collect();
    assert_eq!(
        (open(&kept).len(), about),
        (2, BTreeSet::from([id, other])),
        "each conflict is news, and a page is nobody's"
    );
    kept.known.check_sound();
    let copy = kept.copy(Faults::default());
    let exported = crate::transfer::export(&copy.known.file.user("alex").unwrap());
    let fixture = crate::support::Fixture::new();
    let moved = fixture.open();
    crate::transfer::import(&moved, "alex", &exported).unwrap();
    assert!(moved.doctor().unwrap().is_healthy());
}
