//! How memories relate to each other.

use thermocline::{Direction, EdgeStatus, EdgeType, ErrorKind, MemoryId, NewEdge, Origin};

use crate::{
    dump::ask,
    memories::{Known, fix},
};

fn three(known: &Known) -> [MemoryId; 3] {
    ["a", "b", "c"].map(|title| known.save(fix(title)).id)
}

#[test]
fn an_edge_is_seen_from_both_ends() {
    let known = Known::new();
    let [a, b, _] = three(&known);
    let edge = NewEdge::new(EdgeType::Solves).context("It prevents idle drops").origin(Origin::User);
    let edge = known.memories.relate(a, edge, b).unwrap();
    assert_eq!((edge.from, edge.to, edge.strength, edge.status), (a, b, 0.8, EdgeStatus::Accepted));
    let seen = |id| {
        let beside = known.memories.neighbours(id, None, 10).unwrap();
        beside.iter().map(|it| (it.memory_id, it.title.clone(), it.direction, it.edge.id)).collect::<Vec<_>>()
    };
    assert_eq!(seen(a), [(b, "b".to_owned(), Direction::Outgoing, edge.id)]);
    assert_eq!(seen(b), [(a, "a".to_owned(), Direction::Incoming, edge.id)]);
    assert_eq!(known.memories.edge(edge.id).unwrap(), edge);
    known.memories.unrelate(edge.id).unwrap();
    assert_eq!(known.memories.unrelate(edge.id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(seen(a), []);
    known.check_sound();
}

#[test]
fn what_is_said_of_two_is_said_once() {
    let known = Known::new();
    let [a, b, _] = three(&known);
    let relate = |from, edge: NewEdge, to| known.memories.relate(from, edge, to).unwrap();
    let first = relate(a, NewEdge::new(EdgeType::RelatedTo).strength(0.3), b);
    let again = relate(b, NewEdge::new(EdgeType::RelatedTo).strength(0.9).context("both of Redis"), a);
    assert_eq!((again.id, again.strength, again.context.as_str()), (first.id, 0.9, "both of Redis"));
    assert_eq!((again.from, again.to), (a, b), "it holds both ways");
    let [there, back] =
        [(a, b), (b, a)].map(|(from, to)| relate(from, NewEdge::new(EdgeType::DependsOn), to).id);
    assert_ne!(there, back, "this one does not");
    assert_eq!(known.memories.neighbours(a, None, 10).unwrap().len(), 3);
    known.check_sound();
}

#[test]
fn edges_to_oneself_and_out_of_bounds_are_refused_and_rings_are_not() {
    let known = Known::new();
    let [a, b, c] = three(&known);
    let kind = |from, edge: NewEdge, to| known.memories.relate(from, edge, to).unwrap_err().kind();
    let solves = || NewEdge::new(EdgeType::Solves);
    assert_eq!(kind(a, solves(), a), ErrorKind::InvalidInput);
    assert_eq!(kind(a, solves().strength(1.1), b), ErrorKind::InvalidInput);
    assert_eq!(kind(a, NewEdge::new(EdgeType::Supersedes), b), ErrorKind::InvalidInput);
    let nobody = MemoryId::from_uuid(uuid::Uuid::from_u128(7));
    assert_eq!([kind(a, solves(), nobody), kind(nobody, solves(), a)], [ErrorKind::NotFound; 2]);
    for (from, to) in [(a, b), (b, c), (c, a)] {
        known.memories.relate(from, NewEdge::new(EdgeType::Follows), to).unwrap();
    }
    known.memories.forget(c).unwrap();
    assert_eq!(kind(a, solves(), c), ErrorKind::Conflict);
    assert_eq!(known.memories.neighbours(a, None, 10).unwrap().len(), 1, "what is forgotten is not shown");
    known.memories.undo(c).unwrap();
    assert_eq!(known.memories.neighbours(a, None, 10).unwrap().len(), 2);
    let old = known.memories.supersede_by(a, b).unwrap();
    assert_eq!(old.memory.id, b);
    let edges = known.memories.neighbours(a, None, 10).unwrap();
    let superseding = edges.iter().find(|it| it.edge.edge_type == EdgeType::Supersedes).unwrap();
    assert_eq!(known.memories.unrelate(superseding.edge.id).unwrap_err().kind(), ErrorKind::Conflict);
    known.check_sound();
}

#[test]
fn what_contradicts_one_that_holds_is_contested_and_what_is_archived_contests_nothing() {
    let known = Known::new();
    let [a, b, c] = three(&known);
    known.memories.relate(a, NewEdge::new(EdgeType::Contradicts).origin(Origin::User), b).unwrap();
    assert!(known.get(a).contested && known.get(b).contested && !known.get(c).contested);
    let path = known.fixture.path();
    known.file.close().unwrap();
    crate::dump::rewrite(&path, "UPDATE user_memories SET status = 'archived' WHERE title = 'b'");
    let memories = known.fixture.open().user("alex").unwrap().memories();
    assert!(!memories.get(a).unwrap().contested, "the other one does not hold");
    assert!(memories.get(b).unwrap().contested, "the other one does");
    memories.relate(b, NewEdge::new(EdgeType::Contradicts).origin(Origin::User), c).unwrap();
    assert!(!memories.get(c).unwrap().contested);
}

#[test]
fn a_hub_of_ten_thousand_edges_is_read_by_pages_and_goes_at_once() {
    let known = Known::new();
    let hub = known.save(fix("hub")).id;
    let other = known.save(fix("other")).id;
    known.memories.relate(other, NewEdge::new(EdgeType::PartOf).strength(1.0), hub).unwrap();
    known.file.close().unwrap();
    let path = known.fixture.path();
    crate::dump::rewrite(
        &path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
         INSERT INTO user_memories (id, user_no, kind, frequency, frequency_since, importance, confidence, origin, trust,
           learning_source, made_by, content_hash, said_at, created_at, updated_at, title, summary, content)
         SELECT unhex(format('%032x', i)), m.user_no, m.kind, m.frequency, m.frequency_since, 0.5, 0.5, m.origin, m.trust,
           m.learning_source, m.made_by, randomblob(16), m.said_at, m.created_at, m.updated_at, 'spoke ' || i, '', 'text'
         FROM n JOIN user_memories AS m ON m.title = 'hub';
         INSERT INTO memory_state (memory_no, user_no) SELECT memory_no, user_no FROM user_memories WHERE title LIKE 'spoke%';
         INSERT INTO memory_edges (id, user_no, from_no, to_no, type, strength, origin, created_at, updated_at)
         SELECT m.id, m.user_no, h.memory_no, m.memory_no, 'related_to', 0.5, m.origin, m.created_at, m.updated_at
         FROM user_memories AS m JOIN user_memories AS h ON h.title = 'hub' WHERE m.title LIKE 'spoke%';",
    );
    let file = known.fixture.open();
    let memories = file.user("alex").unwrap().memories().by(Origin::User);
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = memories.neighbours(hub, after, 1_000).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.edge.id);
        seen.extend(page.into_iter().map(|it| it.memory_id));
    }
    assert_eq!((seen.len(), seen[0]), (10_000, other), "the strongest comes first");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 10_000, "each once");
    assert_eq!(memories.erase(hub).unwrap().memories, 1);
    assert_eq!(ask::<u32>(&path, "SELECT count(*) FROM memory_edges"), 0);
    assert_eq!(memories.neighbours(other, None, 10).unwrap(), []);
}
