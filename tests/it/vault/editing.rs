//! What people edit, move and delete.

use std::fs;

use chrono::TimeDelta;
use thermocline::{EdgeType, ErrorKind, MemoryId, MemoryKind, MemoryStatus, VaultOptions};

use crate::{
    memories::{fix, saying},
    vault::Kept,
};

#[test]
fn what_a_person_edits_is_the_users_and_can_be_undone() {
    let kept = Kept::new();
    let id = kept.known.memories.save(fix("Keepalive").tags(["redis"])).unwrap().memory.id;
    let other = kept.known.save(fix("Other")).id;
    kept.sync();
    let old = kept.replace(id, "Keepalive is how it is mended.", "A keepalive of 300 s.\r\nNo more.");
    kept.replace(id, "title: \"Keepalive\"", "title: \"Keepalive of Redis\"  # better");
    kept.replace(id, "tags: [redis]", "tags:\n  - redis\n  - Prod\naliases: [\"ka\"]");
    let uuid = other.to_string().replace("mem_", "");
    kept.replace(
        id,
        "---\nA keep",
        &format!("relations:\n  - target: {uuid}\n    type: caused_by\n    direction: outgoing\n---\nA keep"),
    );
    let report = kept.sync();
    assert_eq!((&report.edited, &report.removed), (&vec![old.clone()], &vec![old]), "{report:?}");
    let edited = kept.known.get(id);
    assert_eq!(
        (edited.title.as_str(), edited.content.as_str()),
        ("Keepalive of Redis", "A keepalive of 300 s.\nNo more.")
    );
    assert_eq!(
        (edited.tags, edited.extra["aliases"].clone()),
        (vec!["redis".into(), "Prod".into()], serde_json::json!(["ka"]))
    );
    assert_eq!(edited.revision, 2);
    assert_eq!(kept.known.memories.history(id, None, 1).unwrap()[0].made_by, "user");
    let edges = kept.known.memories.neighbours(id, None, 10).unwrap();
    assert_eq!(
        (edges[0].edge.edge_type, edges[0].edge.from),
        (EdgeType::Causes, other),
        "caused_by is causes from there"
    );
    assert!(kept.path(id).starts_with("graph/fixes/keepalive-of-redis-"));
    assert!(
        kept.text(&kept.path(other)).contains("type: CAUSES\n    direction: outgoing"),
        "both ends list it"
    );
    assert!(kept.text(&kept.path(id)).contains("aliases: [\"ka\"]"));
    kept.check_quiet();

    let same_folder = kept.folder.join("graph/fixes/other-name.md");
    fs::rename(kept.folder.join(kept.path(id)), &same_folder).unwrap();
    let report = kept.sync();
    assert!(same_folder.exists() && report.removed.is_empty() && report.conflicts.is_empty(), "{report:?}");
    assert_eq!(kept.path(id), "graph/fixes/other-name.md", "it keeps the name that it was given");
    kept.check_quiet();

    let (from, to) = (kept.path(id), "vault/mine.md");
    fs::create_dir_all(kept.folder.join("vault")).unwrap();
    fs::rename(kept.folder.join(&from), kept.folder.join(to)).unwrap();
    kept.sync();
    assert!(kept.known.get(id).pinned);
    fs::create_dir_all(kept.folder.join("graph/decisions")).unwrap();
    fs::rename(kept.folder.join(kept.path(id)), kept.folder.join("graph/decisions/x.md")).unwrap();
    kept.sync();
    let moved = kept.known.get(id);
    assert_eq!((moved.kind, moved.pinned), (MemoryKind::Decision, false));
    kept.check_quiet();

    let text = kept.text(&kept.path(id));
    let begins = text.find("relations:").unwrap();
    let ends = begins + text[begins..].find("strength").unwrap();
    let ends = ends + text[ends..].find('\n').unwrap() + 1;
    kept.put(&kept.path(id), &format!("{}{}", &text[..begins], &text[ends..]));
    kept.sync();
    assert_eq!(kept.known.memories.neighbours(id, None, 10).unwrap().len(), 0);
    kept.known.memories.undo(id).unwrap();
    kept.known.memories.undo(id).unwrap();
    kept.known.memories.undo(id).unwrap();
    assert_eq!(kept.known.get(id).title, "Keepalive");
    kept.sync();
    kept.check_quiet();
    kept.known.check_sound();
}

#[test]
fn of_two_edits_both_are_taken_unless_they_are_of_the_same() {
    let kept = Kept::new();
    let id = kept.known.save(fix("Keepalive").tags(["redis"])).id;
    kept.sync();
    kept.replace(id, "Keepalive is how it is mended.", "A keepalive of 300 s.");
    kept.known.memories.edit(id, thermocline::Edit::default().tags(["redis", "prod"])).unwrap();
    let report = kept.sync();
    assert!(report.edited.len() == 1 && report.conflicts.is_empty(), "{report:?}");
    let merged = kept.known.get(id);
    assert_eq!((merged.content.as_str(), merged.tags.len()), ("A keepalive of 300 s.", 2));
    kept.check_quiet();

    let path = kept.replace(id, "A keepalive of 300 s.", "Typed here.");
    kept.known.fixture.clock.advance(TimeDelta::seconds(2));
    kept.known.memories.edit(id, saying("Said there.")).unwrap();
    let report = kept.sync();
    assert_eq!((report.conflicts, report.edited.len()), (vec![path.clone()], 0));
    assert_eq!(kept.known.get(id).content, "Said there.");
    assert!(kept.text(&path).contains("Said there."));
    assert!(kept.text(&path.replace(".md", ".conflict.md")).contains("Typed here."));
    kept.check_quiet();

    // A checkout of an old commit: what it says is outdated, and changes nothing.
    let old = kept.text(&path);
    kept.known.fixture.clock.advance(TimeDelta::seconds(2));
    kept.known.memories.edit(id, saying("Said later.")).unwrap();
    kept.sync();
    kept.put(&path, &old);
    assert_eq!(kept.sync().conflicts.len(), 1);
    assert_eq!(kept.known.get(id).content, "Said later.");
    kept.check_quiet();
}

#[test]
fn a_file_that_is_gone_is_written_again_unless_its_memory_is_to_be_forgotten() {
    let kept = Kept::new();
    let ids: Vec<MemoryId> =
        (0..30).map(|number| kept.known.save(fix(&format!("fix {number}"))).id).collect();
    kept.sync();
    let path = kept.path(ids[0]);
    fs::remove_file(kept.folder.join(&path)).unwrap();
    assert_eq!(kept.sync().written, [path.as_str()]);
    for id in &ids[..4] {
        fs::remove_file(kept.folder.join(kept.path(*id))).unwrap();
    }
    let deletes = || VaultOptions::default().deletes(true);
    let refused = kept.vault(deletes()).sync().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "4 of 30 are more than a tenth: {refused}");
    assert_eq!(kept.known.get(ids[0]).status, MemoryStatus::Active);
    let told = kept.vault(deletes().max_deletes(4)).status().unwrap();
    assert_eq!((told.forgotten.len(), kept.known.get(ids[0]).status), (4, MemoryStatus::Active));
    assert_eq!(kept.vault(deletes().max_deletes(4)).sync().unwrap().forgotten.len(), 4);
    assert_eq!(kept.known.get(ids[0]).status, MemoryStatus::Forgotten);
    kept.check_quiet();
    // The files of memories that are forgotten, hidden or erased elsewhere leave the folder.
    kept.known.memories.forget(ids[5]).unwrap();
    kept.known.memories.erase(ids[6]).unwrap();
    let report = kept.sync();
    assert_eq!(report.removed.iter().filter(|path| path.starts_with("graph/")).count(), 2, "{report:?}");
    kept.check_quiet();
}

#[test]
fn an_export_overwrites_no_edit() {
    let kept = Kept::new();
    let id = kept.known.save(fix("Keepalive")).id;
    kept.sync();
    let path = kept.replace(id, "Keepalive is", "Edited is");
    kept.known.memories.edit(id, saying("Said there.")).unwrap();
    let report = kept.vault(VaultOptions::default()).export().unwrap();
    assert_eq!((report.refused.len(), report.refused[0].path.as_str()), (1, path.as_str()));
    assert!(kept.text(&path).contains("Edited is"));
    assert_eq!(kept.known.get(id).content, "Said there.");
}

#[test]
fn of_many_edits_at_once_each_is_a_revision_and_one_that_is_refused_keeps_no_other() {
    let kept = Kept::new();
    let ids: Vec<MemoryId> =
        (0..70).map(|number| kept.known.save(fix(&format!("fix {number}"))).id).collect();
    kept.sync();
    for id in &ids {
        kept.replace(*id, "is how it is mended.", "was how it was mended.");
    }
    let title = kept.known.get(ids[40]).title;
    let path =
        kept.replace(ids[40], &format!("title: \"{title}\""), &format!("title: \"{}\"", "x".repeat(201)));
    let report = kept.sync();
    assert_eq!((report.edited.len(), report.refused.len()), (69, 1), "{report:?}");
    assert_eq!(report.refused[0].path, path);
    assert!(report.edited.is_sorted(), "in the order of their paths");
    for id in ids.iter().filter(|id| **id != ids[40]) {
        let edited = kept.known.get(*id);
        assert!(edited.revision == 2 && edited.content.ends_with("was how it was mended."), "{edited:?}");
    }
    assert_eq!(kept.known.get(ids[40]).revision, 1);
}
