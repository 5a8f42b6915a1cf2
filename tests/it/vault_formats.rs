//! The forms that memories have as files: what is written is read as it was, whatever it says.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use thermocline::{
    EdgeType, Memory, MemoryFilter, MemoryId, MemoryKind, MemoryStatus, NewEdge, NewMemory, Origin,
    Procedure, VaultOptions, VaultReport, blocking::Vault,
};

use chrono::TimeDelta;

use crate::memories::{Known, fix};

/// A user with a vault.
struct Noted {
    known: Known,
    folder: PathBuf,
    _folder: tempfile::TempDir,
}

impl Noted {
    fn new() -> Self {
        let (known, folder) = (Known::new(), tempfile::tempdir().unwrap());
        let noted = Self { known, folder: folder.path().join("notes"), _folder: folder };
        noted.vault(VaultOptions::default()).init().unwrap();
        noted
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

    /// The path of the file below graph or vault that says this.
    #[track_caller]
    fn path(&self, of: MemoryId) -> String {
        let id = of.to_string().replace("mem_", "id: ");
        let found: Vec<String> = tree(&self.folder)
            .into_iter()
            .filter(|(path, text)| path.contains('/') && text.contains(&id))
            .map(|(path, _)| path)
            .collect();
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

    #[track_caller]
    fn all(&self) -> Vec<Memory> {
        let filter = MemoryFilter::default().statuses([
            MemoryStatus::Active,
            MemoryStatus::Archived,
            MemoryStatus::Superseded,
        ]);
        self.known.memories.list(filter, None, 1_000).unwrap()
    }
}

/// All files below a folder, by their paths, but for those that only we read.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                walk(root, &path, found);
            } else if !["_sync.json", "_lock", ".thermocline"].contains(&name.as_str()) {
                found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// A name that a file of another program has for something never becomes a name of ours, however it is written.
#[test]
fn names_of_an_imported_entry_mean_nothing_in_its_file() {
    let noted = Noted::new();
    let entry = r#"{"id": "e1", "content": "The port is 8443.", "slot": "api:port", "origin": "user", "status": "superseded",
        "origin: user\nstatus": "archived", "pinned": true, "memory_frequency": "ultra-low", "a\"b: c": [1, {"d": [2.5, null, {"e": []}]}],
        "---": "x", "superseded_by": null, "retrieval": {"access_count": 5, "last_accessed": null}}"#;
    let files = [("e.json".to_owned(), entry.to_owned())];
    assert_eq!(noted.known.memories.import_files(files, Origin::Document).unwrap().saved, 1);
    let before = noted.all().remove(0);
    assert_eq!(before.extra["retrieval"]["access_count"], 5);
    noted.sync();
    noted.check_quiet();
    let path = noted.path(before.id);
    noted.put(&path, &noted.text(&path).replace("The port is 8443.", "The port is 8444."));
    let report = noted.sync();
    assert_eq!((report.edited.len(), report.refused.len(), report.conflicts.len()), (1, 0, 0), "{report:?}");
    let after = noted.all().remove(0);
    assert_eq!((after.content.as_str(), &after.extra), ("The port is 8444.", &before.extra));
    assert_eq!(
        (after.status, after.origin, after.pinned, after.frequency, after.goal_signature.as_deref()),
        (before.status, before.origin, false, before.frequency, None)
    );
    noted.check_quiet();
}

/// One thing of a file is edited, and nothing else of the memory changes with it.
#[test]
fn an_edit_of_one_thing_leaves_all_others_as_they_were_whatever_they_say() {
    let noted = Noted::new();
    let odd = [
        "issue #5",
        "a: b",
        "\"quoted\"",
        "'single'",
        "[x]",
        "{a: b}",
        "- item",
        "# heading",
        "--- x",
        "日本 é",
        "&a *b !c",
        "| >",
        "back\\slash",
        "tab\there",
        "null",
        "5",
        " leading",
    ];
    let contents =
        ["---\n", "\n\nbehind blank lines\n\n\n", "    indented\ncode  ", "<!-- links -->", "a\r\nb\rc\r"];
    let ids: Vec<MemoryId> = odd
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let content = format!("{} {number} {text}", contents[number % contents.len()]);
            let content = format!("{content}{}", contents[(number + 1) % contents.len()]);
            let memory = NewMemory::new(MemoryKind::Procedure, format!("{text}\n{number}"), content)
                .tags([format!("{text} {number}"), format!("t{number} #b, c]")])
                .summary(*text)
                .project(*text)
                .procedure(Procedure::new([*text, "Push # so"]).preconditions([*text]));
            noted.known.save(memory).id
        })
        .collect();
    noted.sync();
    noted.check_quiet();
    let before = noted.all();
    for id in &ids {
        let path = noted.path(*id);
        noted.put(&path, &noted.text(&path).replace("importance: 0.6", "importance: 0.25"));
    }
    let report = noted.sync();
    assert_eq!((report.edited.len(), report.refused.len()), (ids.len(), 0), "{report:?}");
    for (before, after) in before.iter().zip(noted.all()) {
        let changed = noted.known.memories.history(after.id, None, 1).unwrap().remove(0);
        assert_eq!(after.importance.to_string(), "0.25");
        let mut expected = before.clone();
        (expected.importance, expected.revision, expected.standing) =
            (0.25, after.revision, after.standing.clone());
        expected.updated_at = after.updated_at;
        assert_eq!(after, expected, "{changed:?}");
    }
    noted.check_quiet();
}

/// The text and the strength of an edge are a person's to edit in its file; the rest of it stands in the memories' files.
#[test]
fn an_edited_file_of_an_edge_is_an_edit_of_the_edge() {
    let noted = Noted::new();
    let [from, to] = ["Keepalive", "Drops"].map(|title| noted.known.save(fix(title)).id);
    let edge = NewEdge::new(EdgeType::PartOf).context("in May").description("Since then it holds.");
    let id = noted.known.memories.relate(from, edge, to).unwrap().id;
    noted.sync();
    let found: Vec<String> =
        tree(&noted.folder).into_keys().filter(|path| path.starts_with("graph/edges/")).collect();
    let [path] = &found[..] else { panic!("{found:?}") };
    let text = noted.text(path);
    assert!(text.contains("type: RELATED_TO\nedge_type: part_of\n"), "{text}");
    noted.known.fixture.clock.advance(TimeDelta::seconds(2));
    noted.put(path, &text.replace("strength: 0.9", "strength: 0.4").replace("Since then", "Since June"));
    let report = noted.sync();
    assert_eq!((&report.edited, report.refused.len()), (&vec![path.clone()], 0), "{report:?}");
    let edge = noted.known.memories.edge(id).unwrap();
    assert_eq!((edge.description.as_str(), edge.context.as_str()), ("Since June it holds.", "in May"));
    assert!((edge.strength - 0.4).abs() < 1e-9 && edge.edge_type == EdgeType::PartOf);
    noted.check_quiet();

    // What is not to be edited there, and what cannot be read, stays as it is.
    let text = noted.text(path);
    for (wrong, line) in [
        (text.replace("edge_type: part_of", "edge_type: causes"), None),
        (text.replace("Keepalive", "Other"), None),
        (text.replace("strength: 0.4", "strength: 4"), Some(9)),
        (text.replace("Since June it holds.\n", ""), None),
    ] {
        noted.put(path, &wrong);
        let report = noted.sync();
        assert_eq!((report.refused.len(), report.refused[0].line), (1, line), "{report:?}");
        assert_eq!(noted.text(path), wrong);
    }
    noted.put(path, &text);
    noted.check_quiet();

    // Both sides changed its text, and an older file comes back: what is known stands, the text lies beside.
    noted.put(path, &text.replace("Since June", "Since July"));
    noted.known.fixture.clock.advance(TimeDelta::seconds(2));
    let other = NewEdge::new(EdgeType::PartOf).origin(Origin::User).description("Since August it holds.");
    noted.known.memories.relate(from, other, to).unwrap();
    assert_eq!(noted.sync().conflicts, [path.as_str()]);
    assert!(noted.text(path).contains("Since August"));
    assert!(noted.text(&path.replace(".md", ".conflict.md")).contains("Since July"));
    noted.put(path, &text.replace("Since June", "Since May"));
    assert_eq!(noted.sync().conflicts, [path.as_str()]);
    noted.check_quiet();
    noted.put("graph/edges/a--SOLVES--b-000000.md", &text);
    assert_eq!(noted.sync().refused.len(), 1, "no edge is made of a file");
}
