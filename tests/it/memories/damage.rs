//! Doctor notices missing changes, edges and reviews of a memory.

use thermocline::Origin;

use crate::memories::{Known, fix, port, saying};

/// Deletes rows without the library, and checks which invariant doctor reports as broken.
#[track_caller]
fn check(script: &str, promise: &str) {
    let known = Known::new();
    let edited = known.save(fix("Keepalive"));
    known.memories.edit(edited.id, saying("Another text altogether, then.")).unwrap();
    known.save(port(1));
    known.save(port(2));
    known.memories.save(port(3).origin(Origin::Tool)).unwrap();
    known.check_sound();
    let found = known.rewritten(script).file.doctor().unwrap();
    let problems: Vec<_> = found.checks.into_iter().filter(|check| check.problems > 0).collect();
    assert!(problems.iter().any(|check| check.holds.contains(promise)), "{script}: {problems:?}");
}

#[test]
fn a_change_an_edge_or_a_review_that_is_gone_is_found() {
    check("DELETE FROM memory_changes WHERE op = 'edit'", "as many as its revision says");
    check("DELETE FROM memory_edges WHERE type = 'supersedes'", "edge from its successor");
    check("DELETE FROM memory_reviews", "has a review");
}
