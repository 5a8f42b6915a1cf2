//! What a sync writes, and when it writes nothing.

use std::fs;

use chrono::TimeDelta;
use thermocline::{
    EdgeType, Edit, MemoryFilter, MemoryId, MemoryKind, NewEdge, NewMemory, Outcome, Procedure,
    RecallOptions, TendOptions, Use,
};

use crate::{memories::fix, vault::Kept};

#[test]
fn what_is_known_is_written_once_and_a_clone_of_it_changes_nothing() {
    let kept = Kept::new();
    for (number, kind) in MemoryKind::ALL.iter().enumerate() {
        let content =
            format!("Käse: \"{number}\" # so\n---\n<!-- links -->\n- [x] {{a: b}}\n\n日本語 {number}");
        let memory =
            NewMemory::new(*kind, format!("A \"title\": {number} [x]"), content).tags(["home lab", "redis"]);
        let steps = Procedure::new(["Run: tests", "Push"]);
        kept.known.save(if *kind == MemoryKind::Procedure { memory.procedure(steps) } else { memory });
    }
    let ids: Vec<MemoryId> = kept
        .known
        .memories
        .list(MemoryFilter::default(), None, 50)
        .unwrap()
        .iter()
        .map(|memory| memory.id)
        .collect();
    let described = NewEdge::new(EdgeType::Solves).description("Since then it holds.").context("in May");
    kept.known.memories.relate(ids[0], described, ids[1]).unwrap();
    kept.known.memories.relate(ids[1], NewEdge::new(EdgeType::PartOf), ids[2]).unwrap();
    let report = kept.sync();
    assert_eq!(
        report.written.iter().filter(|path| path.starts_with("graph/")).count(),
        ids.len() + 1,
        "{report:?}"
    );
    kept.check_quiet();
    let before = kept.tree();
    let memories = kept.known.memories.list(MemoryFilter::default(), None, 50).unwrap();
    fs::remove_file(kept.folder.join("_sync.json")).unwrap();
    let report = kept.sync();
    assert!(report.edited.is_empty() && report.saved.is_empty() && report.conflicts.is_empty(), "{report:?}");
    assert_eq!(kept.tree(), before);
    assert_eq!(kept.known.memories.list(MemoryFilter::default(), None, 50).unwrap(), memories);
    kept.check_quiet();
}

#[test]
fn a_day_says_once_what_was_saved() {
    let kept = Kept::new();
    let id = kept.known.save(NewMemory::new(MemoryKind::Fix, "Keepalive mends it", "Keepalive mends it.")).id;
    kept.known.fixture.clock.advance(TimeDelta::minutes(5));
    let other = kept.known.save(fix("Retries")).id;
    kept.sync();
    let expected = format!(
        "# 2026-03-01\n## 12:00 - Keepalive mends it\n- **Type:** fix\n- **Memory:** [keepalive-mends-it](../{})\n\
         ## 12:05 - Retries\n- **Type:** fix\n- **Memory:** [retries](../{})\n- **Summary:** Retries is how it is mended.\n",
        kept.path(id),
        kept.path(other)
    );
    assert_eq!(kept.text("episodes/2026-03-01.md"), expected);
    assert!(kept.text("PROFILE.md").ends_with("Nothing is known yet.\n"));
}

#[test]
fn use_makes_no_diff() {
    let kept = Kept::new();
    let ids: Vec<MemoryId> =
        (0..6).map(|number| kept.known.save(fix(&format!("fix {number}")).importance(0.9)).id).collect();
    kept.sync();
    let before = kept.tree();
    let alex = kept.known.file.user("alex").unwrap();
    for day in 0..7 {
        for number in 0..20 {
            alex.recall(&format!("How is fix {} mended?", number % 6), RecallOptions::default()).unwrap();
            let outcome = if (day, number) == (3, 0) { Outcome::Failure } else { Outcome::Success };
            kept.known.memories.used(ids[number % 6], Use::of(outcome)).unwrap();
        }
        kept.known.fixture.clock.advance(TimeDelta::days(1));
        let tended = kept.known.memories.tend(TendOptions::default()).unwrap();
        assert!(tended.moves.is_empty(), "day {day}: {tended:?}");
        kept.sync();
        assert_eq!(kept.tree(), before, "day {day}");
    }
    assert!((kept.known.get(ids[0]).confidence - 0.8).abs() > 0.01);
}

#[test]
fn a_generated_page_that_somebody_wrote_into_is_written_again_and_their_text_kept_beside() {
    let kept = Kept::new();
    kept.known.save(fix("Keepalive").importance(0.9));
    kept.sync();
    let core = kept.text("CORE.md");
    kept.put("CORE.md", &format!("{core}mine\n"));
    assert_eq!(kept.sync().conflicts, ["CORE.md"]);
    assert_eq!(kept.text("CORE.md"), core);
    assert!(kept.text("CORE.conflict.md").ends_with("mine\n"));
    kept.put("MEMORY.md", "# Mine\n");
    kept.check_quiet();
    assert_eq!(kept.text("MEMORY.md"), "# Mine\n", "it is a person's");
}

#[test]
fn what_no_file_shows_is_written_where_it_stands() {
    let kept = Kept::new();
    let [id, other] = ["Keepalive", "Other"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    let index = kept.text("_index.json");
    kept.known.memories.used(id, Use::of(Outcome::Success)).unwrap();
    let report = kept.sync();
    assert_eq!(report.written, ["_index.json", "_state.json"], "what use moves");
    assert_ne!(kept.text("_index.json"), index);
    kept.check_quiet();
    kept.known.fixture.clock.advance(TimeDelta::hours(3));
    kept.check_quiet();
    kept.known.fixture.clock.advance(TimeDelta::days(1));
    assert_eq!(kept.sync().written, ["_state.json"], "what fades is written once a day");
    kept.check_quiet();
    // An edge raises no revision: both of its ends list it.
    kept.known.memories.relate(id, NewEdge::new(EdgeType::Solves), other).unwrap();
    let report = kept.sync();
    assert_eq!(report.written.iter().filter(|path| path.starts_with("graph/")).count(), 2, "{report:?}");
    kept.check_quiet();
    kept.known.memories.edit(other, Edit::default().title("Another")).unwrap();
    let report = kept.sync();
    assert_eq!(report.removed.len(), 1, "{report:?}");
    assert!(report.written.iter().any(|path| path.starts_with("episodes/")), "the day follows: {report:?}");
    kept.check_quiet();
}
