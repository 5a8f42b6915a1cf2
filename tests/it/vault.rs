//! Memories as files: what is written, what people do to it, and what comes back.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use chrono::TimeDelta;
use thermocline::{
    EdgeType, ErrorKind, Frequency, MemoryFilter, MemoryId, MemoryKind, MemoryStatus, NewEdge, NewMemory,
    Origin, Outcome, Procedure, RecallOptions, TendOptions, Trust, Use, VaultOptions, VaultReport,
    blocking::Vault,
};

use crate::memories::{Known, fix, saying};

/// A user with a vault.
struct Kept {
    known: Known,
    folder: PathBuf,
    _folder: tempfile::TempDir,
}

impl Kept {
    fn new() -> Self {
        let (known, folder) = (Known::new(), tempfile::tempdir().unwrap());
        let kept = Self { known, folder: folder.path().join("notes"), _folder: folder };
        kept.vault(VaultOptions::default()).init().unwrap();
        kept
    }

    fn vault(&self, options: VaultOptions) -> Vault {
        self.known.file.user("alex").unwrap().vault(&self.folder, options)
    }

    #[track_caller]
    fn sync(&self) -> VaultReport {
        self.vault(VaultOptions::default()).sync().unwrap()
    }

    /// A sync that finds nothing to do.
    #[track_caller]
    fn check_quiet(&self) {
        let report = self.sync();
        let done = [&report.written, &report.removed, &report.edited, &report.saved, &report.conflicts];
        assert!(done.iter().all(|paths| paths.is_empty()) && report.refused.is_empty(), "{report:?}");
    }

    /// The path of a memory's file.
    #[track_caller]
    fn path(&self, id: MemoryId) -> String {
        let id = id.to_string().replace("mem_", "id: ");
        let found: Vec<String> =
            self.tree().into_iter().filter(|(_, text)| text.contains(&id)).map(|(path, _)| path).collect();
        let found: Vec<_> =
            found.into_iter().filter(|path| path.contains(".md") && !path.contains("conflict")).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap()
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces something in the file of a memory.
    fn replace(&self, id: MemoryId, from: &str, to: &str) -> String {
        let path = self.path(id);
        let text = self.text(&path);
        assert!(text.contains(from), "{from}: {text}");
        self.put(&path, &text.replace(from, to));
        path
    }

    /// All that git would keep, by its path.
    fn tree(&self) -> BTreeMap<String, String> {
        fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    walk(root, &path, found);
                } else if !name.starts_with('_') {
                    found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(&self.folder, &self.folder, &mut found);
        found
    }
}

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

    // A checkout of an old commit: what it says was, and comes back into nothing.
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
    // What is forgotten, hidden or erased elsewhere leaves the folder.
    kept.known.memories.forget(ids[5]).unwrap();
    kept.known.memories.erase(ids[6]).unwrap();
    let report = kept.sync();
    assert_eq!(report.removed.iter().filter(|path| path.starts_with("graph/")).count(), 2, "{report:?}");
    kept.check_quiet();
}

#[test]
fn a_new_file_is_a_claim_and_what_cannot_be_read_stays_as_it_is() {
    let kept = Kept::new();
    let known = kept.known.save(fix("Known")).id;
    let hidden = kept.known.save(fix("Hidden")).id;
    kept.sync();
    let hidden_file = kept.text(&kept.path(hidden));
    kept.known.memories.forget(hidden).unwrap();
    kept.sync();
    kept.put("graph/workflows/nginx-reload.md", "# Reload nginx\n\nAfter new certificates.\n");
    let claims = "---\nid: note-7\ntype: decision\ntitle: \"Use Go\"\nconfidence: 0.99\nmemory_frequency: ultra-low\nx-tool: {a: [1]}\n---\nIt compiles fast.\n";
    kept.put("graph/decisions/go.md", claims);
    let bad = [
        ("graph/fixes/empty.md", "---\ntitle: \"a\"\n---\n\n"),
        ("graph/fixes/much.md", "---\nimportance: 1.5\n---\nx\n"),
        ("graph/fixes/rumour.md", "---\ntype: rumour\n---\nx\n"),
        ("graph/fixes/block.md", "---\ntitle: |\n  x\n---\nx\n"),
        ("graph/fixes/hidden.md", hidden_file.as_str()),
        ("graph/fixes/twice.md", &kept.text(&kept.path(known))),
    ];
    for (path, text) in bad {
        kept.put(path, text);
    }
    let report = kept.sync();
    assert_eq!(report.saved, ["graph/decisions/go.md", "graph/workflows/nginx-reload.md"]);
    let refused: Vec<&str> = report.refused.iter().map(|file| file.path.as_str()).collect();
    let mut paths = bad.map(|(path, _)| path);
    paths.sort_unstable();
    assert_eq!(refused, paths, "{report:?}");
    for (path, text) in bad {
        assert_eq!(kept.text(path), text);
        fs::remove_file(kept.folder.join(path)).unwrap();
    }
    let of = |title: &str| {
        let all = kept.known.memories.list(MemoryFilter::default(), None, 50).unwrap();
        all.into_iter().find(|memory| memory.title == title).unwrap()
    };
    let (reload, go) = (of("Reload nginx"), of("Use Go"));
    assert_eq!(
        (reload.kind, reload.origin, reload.content.as_str()),
        (MemoryKind::Workflow, Origin::Document, "After new certificates.")
    );
    assert_eq!((go.confidence, go.frequency, go.trust), (0.8, Frequency::Mid, Trust::Foreign));
    assert_eq!(
        (go.caller_id.as_deref(), &go.extra["x-tool"]),
        (Some("note-7"), &serde_json::json!({"a": [1]}))
    );
    assert_eq!(kept.path(go.id), "graph/decisions/go.md", "it keeps its name");
    kept.check_quiet();
    let users = kept.vault(VaultOptions::default().origin(Origin::User));
    kept.put("vault/passport.md", "The passport is in the drawer.\n");
    users.sync().unwrap();
    let passport = of("passport");
    assert_eq!((passport.pinned, passport.trust), (true, Trust::User));
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_read_or_written_and_nothing_hostile_is_taken() {
    use std::os::unix::fs::symlink;
    let kept = Kept::new();
    let id = kept.known.save(fix("Known")).id;
    kept.sync();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(&secret, "A secret of the machine.\n").unwrap();
    let at = |path: &str| kept.folder.join(path);
    symlink(&secret, at("graph/fixes/link.md")).unwrap();
    fs::hard_link(&secret, at("graph/fixes/hard.md")).unwrap();
    symlink(outside.path(), at("graph/workflows")).unwrap();
    symlink(outside.path(), at("episodes2")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("graph/fixes/fifo.md")).status().unwrap().success());
    fs::write(at("graph/fixes/large.md"), "x".repeat(2 << 20)).unwrap();
    fs::write(at("graph/fixes/nul.md"), "a\0b").unwrap();
    fs::write(at("graph/fixes/latin.md"), b"caf\xe9").unwrap();
    fs::create_dir_all(at("graph/fixes/a/b/c/d")).unwrap();
    fs::write(at("graph/fixes/a/b/c/d/deep.md"), "Too deep.").unwrap();
    let report = kept.sync();
    assert_eq!((report.saved.len(), report.refused.len()), (0, 6), "{report:?}");
    assert_eq!(kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap().len(), 1);
    // A memory whose folder became a link is written nowhere.
    kept.known.memories.edit(id, thermocline::Edit::default().kind(MemoryKind::Workflow)).unwrap();
    assert_eq!(kept.vault(VaultOptions::default()).sync().unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "A secret of the machine.\n");
    let blake = kept.known.file.user("blake").unwrap().vault(&kept.folder, VaultOptions::default());
    assert_eq!(blake.sync().unwrap_err().kind(), ErrorKind::Conflict);
    let nowhere = kept.known.file.user("alex").unwrap().vault(outside.path(), VaultOptions::default());
    assert_eq!(nowhere.export().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "no lock is left in what is no vault");
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
fn files_of_other_programs_are_saved_once_and_tied() {
    let known = Known::new();
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = || {
        vec![
            file(
                "a.md",
                "---\nid: a\ntype: fix\ntitle: \"Keepalive\"\nrelations:\n- target: b\ntype: SOLVES\n- target: z\ntype: FOLLOWS\n---\nIt holds.\n",
            ),
            file(
                "b.json",
                r##"{"id": "b", "content": "Redis drops.", "tags": ["#redis"], "tier": "short"}"##,
            ),
            file("c.md", "---\ntype: rumour\n---\nx\n"),
        ]
    };
    let report = known.memories.import_files(files(), Origin::Document).unwrap();
    assert_eq!(
        (report.saved, report.related, report.unrelated, report.refused.len()),
        (2, 1, 1, 1),
        "{report:?}"
    );
    assert_eq!(report.refused[0].line, Some(2));
    let again = known.memories.import_files(files(), Origin::Document).unwrap();
    assert_eq!((again.saved, again.known), (0, 2), "{again:?}");
    let fix = known.memories.by_caller_id("a").unwrap();
    assert_eq!((fix.trust, fix.kind), (Trust::Foreign, MemoryKind::Fix));
    assert_eq!(known.memories.neighbours(fix.id, None, 9).unwrap()[0].title, "Redis drops");
    known.check_sound();
}
