//! How memories relate to each other, as stated in their files.

use std::fs;

use chrono::TimeDelta;
use serde_json::json;
use thermocline::{Edge, EdgeType, MemoryId, NewEdge};

use crate::{
    memories::{fix, saying},
    vault::Kept,
};

fn edges(kept: &Kept, id: MemoryId) -> Vec<Edge> {
    let found = kept.known.memories.neighbours(id, None, 20).unwrap();
    found.into_iter().map(|neighbour| neighbour.edge).collect()
}

fn uuid(id: MemoryId) -> String {
    id.to_string().replace("mem_", "")
}

/// Saves two memories, and an edge with its own text from the first to the second.
fn described() -> (Kept, MemoryId, MemoryId) {
    let kept = Kept::new();
    let [from, to] = ["Keepalive", "Drops"].map(|title| kept.known.save(fix(title)).id);
    let edge =
        NewEdge::new(EdgeType::Solves).context("in May").strength(0.7).description("Since then it holds.");
    kept.known.memories.relate(from, edge, to).unwrap();
    kept.sync();
    (kept, from, to)
}

#[test]
fn an_edge_that_is_edited_in_a_file_keeps_its_text() {
    let (kept, from, to) = described();
    kept.replace(from, "strength: 0.7", "strength: 0.9");
    kept.sync();
    let edge = edges(&kept, from).remove(0);
    assert_eq!((edge.strength, edge.context.as_str()), (0.9, "in May"));
    assert_eq!(edge.description, "Since then it holds.");
    assert!(kept.text(&kept.path(to)).contains("strength: 0.9"), "the other end lists it");
    kept.check_quiet();
    // From the other end, without saying how strong it is.
    kept.replace(to, "context: \"in May\"", "context: \"in June\"");
    kept.replace(to, "    strength: 0.9\n", "");
    kept.sync();
    let edge = edges(&kept, from).remove(0);
    assert_eq!((edge.strength, edge.context.as_str()), (0.9, "in June"));
    assert_eq!(edge.description, "Since then it holds.");
    kept.check_quiet();
    // The type and the direction change, and the edge keeps its text.
    kept.replace(from, "type: SOLVES\n    direction: outgoing", "type: CAUSES\n    direction: incoming");
    kept.sync();
    let [edge] = &edges(&kept, from)[..] else { panic!("{:?}", edges(&kept, from)) };
    assert_eq!((edge.edge_type, edge.from, edge.to), (EdgeType::Causes, to, from));
    assert_eq!((edge.description.as_str(), edge.strength), ("Since then it holds.", 0.9));
    kept.check_quiet();
    kept.known.check_sound();
}

#[test]
fn of_relations_that_both_changed_both_are_taken_unless_they_are_one() {
    let (kept, from, to) = described();
    let [third, fourth] = ["Third", "Fourth"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    let more = format!("relations:\n  - target: {}\n    type: FOLLOWS\n", uuid(third));
    kept.replace(from, "relations:\n", &more);
    kept.known.memories.relate(from, NewEdge::new(EdgeType::BuildsOn), fourth).unwrap();
    let report = kept.sync();
    assert!(report.edited.len() == 1 && report.conflicts.is_empty(), "{report:?}");
    let mut types: Vec<EdgeType> = edges(&kept, from).iter().map(|edge| edge.edge_type).collect();
    types.sort_unstable();
    assert_eq!(types, [EdgeType::Solves, EdgeType::BuildsOn, EdgeType::Follows]);
    kept.check_quiet();
    kept.replace(from, "strength: 0.7", "strength: 0.8");
    kept.known.memories.relate(from, NewEdge::new(EdgeType::Solves).strength(0.4), to).unwrap();
    assert_eq!(kept.sync().conflicts.len(), 1, "of one edge two things are said");
    kept.check_quiet();
}

#[test]
fn what_holds_both_ways_stands_at_both_ends_and_is_one_edge() {
    let kept = Kept::new();
    let [one, other] = ["Keepalive", "Polling"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    let listed = |id| format!("relations:\n  - target: {}\n    type: ALTERNATIVE_TO\n---\n", uuid(id));
    kept.replace(one, "---\nKeep", &format!("{}Keep", listed(other)));
    kept.replace(other, "---\nPoll", &format!("{}Poll", listed(one)));
    kept.sync();
    assert_eq!(edges(&kept, one).len(), 1, "{:?}", edges(&kept, one));
    for id in [one, other] {
        assert_eq!(kept.text(&kept.path(id)).matches("ALTERNATIVE_TO").count(), 1);
    }
    kept.check_quiet();
    // The direction that either file states makes no difference for this edge.
    let incoming =
        [one, other].into_iter().find(|id| kept.text(&kept.path(*id)).contains("incoming")).unwrap();
    kept.replace(incoming, "direction: incoming", "direction: outgoing");
    kept.check_quiet();
    for id in [one, other] {
        let (text, path) = (kept.text(&kept.path(id)), kept.path(id));
        let left = text.lines().filter(|line| !line.starts_with("relations:") && !line.starts_with("  "));
        kept.put(&path, &(left.collect::<Vec<_>>().join("\n") + "\n"));
    }
    let report = kept.sync();
    assert_eq!((edges(&kept, one).len(), report.refused.len()), (0, 0), "{report:?}");
    kept.check_quiet();
}

#[test]
fn a_relation_to_what_is_not_known_is_kept_and_tied_when_that_comes() {
    let kept = Kept::new();
    let id = kept.known.save(fix("Keepalive")).id;
    let erased = kept.known.save(fix("Erased")).id;
    kept.known.memories.erase(erased).unwrap();
    kept.sync();
    let target = |target: &str| format!("  - target: {target}\n    type: SOLVES\n    context: \"so\"\n");
    let all = [target("note-7"), target("\"no one # else\""), target(&uuid(erased))].concat();
    kept.replace(id, "---\nKeep", &format!("relations:\n{all}---\nKeep"));
    let report = kept.sync();
    assert_eq!((report.edited.len(), report.refused.len()), (1, 0), "{report:?}");
    let kept_with = &kept.known.get(id).extra["unknown_relations"];
    assert_eq!(kept_with.as_array().unwrap().len(), 2, "what was erased is not named: {kept_with}");
    assert_eq!(kept_with[0]["type"], json!("solves"));
    kept.check_quiet();
    let text = kept.text(&kept.path(id));
    assert!(
        text.contains("target: note-7\n    type: SOLVES\n") && !text.contains("unknown_relations"),
        "{text}"
    );
    // An edit of something else, and a lost state, leave the unknown relations as they are.
    kept.replace(id, "Keepalive is", "It is");
    assert!(kept.sync().conflicts.is_empty());
    fs::remove_file(kept.folder.join("_sync.json")).unwrap();
    assert!(kept.sync().conflicts.is_empty());
    kept.check_quiet();
    assert_eq!(edges(&kept, id), []);
    // One of the unknown memories comes as a file, with a relation to another unknown memory.
    kept.put(
        "graph/problems/drops.md",
        "---\nid: note-7\nrelations:\n  - target: note-8\n    type: FOLLOWS\n---\nIt drops.\n",
    );
    let report = kept.sync();
    assert_eq!((report.saved.len(), report.refused.len()), (1, 0), "{report:?}");
    let edge = edges(&kept, id).remove(0);
    assert_eq!((edge.edge_type, edge.from, edge.context.as_str()), (EdgeType::Solves, id, "so"));
    assert_eq!(kept.known.get(id).extra["unknown_relations"].as_array().unwrap().len(), 1);
    let drops = kept.known.memories.by_caller_id("note-7").unwrap();
    assert_eq!(drops.extra["unknown_relations"][0]["target"], json!("note-8"));
    kept.check_quiet();
    // The relation to the other unknown memory is removed from the file.
    let text = kept.text(&kept.path(id));
    let begins = text.find("  - target: \"no one").unwrap();
    let ends = begins + text[begins..].find("context").unwrap();
    let ends = ends + text[ends..].find('\n').unwrap() + 1;
    kept.put(&kept.path(id), &format!("{}{}", &text[..begins], &text[ends..]));
    kept.sync();
    assert_eq!(kept.known.get(id).extra.get("unknown_relations"), None);
    assert_eq!(edges(&kept, id).len(), 1);
    kept.check_quiet();
    kept.known.check_sound();
}

#[test]
fn what_a_job_proposed_is_in_no_file_and_stays() {
    let (kept, from, _) = described();
    let path = kept.known.fixture.path();
    crate::dump::meddle(&path, "UPDATE memory_edges SET status = 'proposed'");
    let kept = Kept { known: kept.known.rewritten("SELECT 1"), ..kept };
    kept.sync();
    let third = kept.known.save(fix("Third")).id;
    kept.sync();
    kept.replace(
        from,
        "---\nKeep",
        &format!("relations: [{{target: {}, type: FOLLOWS}}]\n---\nKeep", uuid(third)),
    );
    kept.sync();
    assert_eq!(edges(&kept, from).len(), 2);
    kept.check_quiet();
}

#[test]
fn an_old_checkout_takes_no_relation_away_and_brings_none_back() {
    let kept = Kept::new();
    let [a, b] = ["Keepalive", "Drops"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    let [of_a, of_b] = [a, b].map(|id| kept.path(id));
    let old = [kept.text(&of_a), kept.text(&of_b)];
    kept.known.fixture.clock.advance(TimeDelta::minutes(1));
    let edge = NewEdge::new(EdgeType::Solves).description("A long text.");
    let edge = kept.known.memories.relate(a, edge, b).unwrap();
    kept.sync();
    let newer = [kept.text(&of_a), kept.text(&of_b)];
    let put =
        |texts: &[String; 2]| [&of_a, &of_b].iter().zip(texts).for_each(|(path, text)| kept.put(path, text));
    put(&old);
    assert_eq!(kept.sync().conflicts.len(), 2);
    assert_eq!(kept.known.memories.neighbours(a, None, 9).unwrap()[0].edge.description, "A long text.");
    kept.known.fixture.clock.advance(TimeDelta::minutes(1));
    kept.known.memories.edit(a, saying("It keeps it alive.")).unwrap();
    kept.sync();
    let before = [kept.text(&of_a), kept.text(&of_b)];
    kept.known.memories.unrelate(edge.id).unwrap();
    kept.sync();
    for texts in [&before, &newer, &old] {
        put(texts);
        let report = kept.sync();
        assert!(report.edited.is_empty(), "{report:?}");
        assert!(kept.known.memories.neighbours(a, None, 9).unwrap().is_empty());
    }
    kept.check_quiet();
}
