//! Folders prepared by an attacker: their contents are refused or inert, nothing outside is read or written, and what was
//! known stays as it was.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use thermocline::{MemoryFilter, MemoryId, MemoryStatus, Origin, Trust, VaultOptions};

use crate::memories::{Known, fix};

/// What nobody outside the machine may learn.
const SECRET: &str = "The canary of the machine.\n";
/// The most time that a sync of a small folder may take.
const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 50 });

/// Returns everything in a folder: types and contents.
fn all(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let text =
            if kind.is_file() { fs::read_to_string(entry.path()).unwrap() } else { format!("{kind:?}") };
        found.insert(entry.file_name().to_string_lossy().into_owned(), text);
    }
    found
}

/// A user with one memory, and a folder for vaults and for files outside of them.
struct Prepared {
    known: Known,
    id: MemoryId,
    folder: tempfile::TempDir,
}

impl Prepared {
    fn new() -> Self {
        let (known, folder) = (Known::new(), tempfile::tempdir().unwrap());
        fs::create_dir(folder.path().join("outside")).unwrap();
        let id = known.save(fix("Known")).id;
        Self { known, id, folder }
    }

    /// Checks a new folder, synced once, to which something is added.
    #[track_caller]
    fn check(&self, name: &str, put: impl FnOnce(&Path, &Path)) {
        let (outside, notes) = (self.folder.path().join("outside"), self.folder.path().join(name));
        fs::write(outside.join("secret.md"), SECRET).unwrap();
        let vault = |options| self.known.file.user("alex").unwrap().vault(&notes, options);
        vault(VaultOptions::default().links(true)).init().unwrap();
        vault(VaultOptions::default()).sync().unwrap();
        let before = self.known.get(self.id);
        put(&notes, &outside);
        let there = all(&outside);
        #[expect(clippy::disallowed_methods, reason = "how long it takes is what is asked")]
        let begun = Instant::now();
        // Whether the sync fails or not, it takes nothing from the folder. If the folder was taken away, its files are gone,
        // too.
        let deletes = notes.join("graph").is_dir() && !notes.join("graph").is_symlink();
        let report = vault(VaultOptions::default().deletes(deletes)).sync();
        let taken = begun.elapsed();
        assert!(taken < MOST, "{name}: {taken:?}");
        assert_eq!(all(&outside), there, "{name}: {report:?}");
        let mut after = self.known.get(self.id);
        after.standing = before.standing.clone();
        assert_eq!(after, before, "{name}: {report:?}");
        let statuses = [MemoryStatus::Active, MemoryStatus::Archived, MemoryStatus::Superseded];
        let found = self.known.memories.list(MemoryFilter::default().statuses(statuses), None, 100).unwrap();
        for memory in found.iter().filter(|memory| memory.id != self.id) {
            assert_eq!(
                (memory.trust, memory.status),
                (Trust::Foreign, MemoryStatus::Active),
                "{name}: {memory:?}"
            );
            assert!(
                memory.origin == Origin::Document && memory.confidence <= 0.8 && !memory.pinned,
                "{name}"
            );
            assert!(!format!("{memory:?}").contains("canary"), "{name}: {memory:?}");
            // So that the next case finds the same.
            self.known.memories.erase(memory.id).unwrap();
        }
        assert_eq!(self.known.memories.neighbours(self.id, None, 9).unwrap().len(), 0, "{name}");
        // A file in the place of a page was renamed, and has its old contents.
        for (path, text) in all(&notes).iter().filter(|(path, _)| !path.ends_with(".conflict.md")) {
            assert!(name.starts_with("hard") || !text.contains("canary"), "{name}: {path}");
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_of_the_folder_is_left_alone() {
    use std::os::unix::{fs::symlink, net::UnixListener};
    let prepared = Prepared::new();
    // Links in the place of files that are read or written.
    for (number, path) in [
        "graph/fixes/linked.md",
        "vault/linked.md",
        "CORE.md",
        "REFLECTION.md",
        "PROFILE.md",
        "MEMORY.md",
        ".gitignore",
        "_index.json",
        "_state.json",
        "_config.json",
        "_sync.json",
        "_lock",
        ".thermocline",
        "graph/edges/a--SOLVES--b-000000.md",
        "episodes/2026-03-01.md",
        "CORE.conflict.md",
    ]
    .iter()
    .enumerate()
    {
        prepared.check(&format!("link-{number}"), |notes, outside| {
            let at = notes.join(path);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&at);
            symlink(outside.join("secret.md"), at).unwrap();
        });
    }
    // Folders that are links: to a place outside, in a circle, to nothing.
    for (number, path) in ["graph/workflows", "graph/edges", "vault", "episodes", "graph"].iter().enumerate()
    {
        prepared.check(&format!("folder-{number}"), |notes, outside| {
            let _ = fs::remove_dir_all(notes.join(path));
            fs::create_dir_all(notes.join(path).parent().unwrap()).unwrap();
            symlink(outside, notes.join(path)).unwrap();
        });
    }
    prepared.check("circle", |notes, _| symlink(notes, notes.join("graph/fixes/circle")).unwrap());
    prepared.check("nowhere", |notes, _| {
        symlink("/nowhere/at/all", notes.join("graph/fixes/nowhere.md")).unwrap();
    });
    // Hard links, devices, sockets, pipes, folders in the place of files.
    for path in ["graph/fixes/linked.md", "CORE.md", "_index.json", "_sync.json"] {
        let name = format!("hard-{}", path.replace('/', "-"));
        prepared.check(&name, |notes, outside| {
            let _ = fs::remove_file(notes.join(path));
            fs::hard_link(outside.join("secret.md"), notes.join(path)).unwrap();
        });
    }
    for path in ["graph/fixes/pipe.md", "CORE.md", "_sync.json", "_lock"] {
        let name = format!("pipe-{}", path.replace('/', "-"));
        prepared.check(&name, |notes, _| {
            let _ = fs::remove_file(notes.join(path));
            let made = std::process::Command::new("mkfifo").arg(notes.join(path)).status().unwrap();
            assert!(made.success());
        });
    }
    prepared
        .check("socket", |notes, _| drop(UnixListener::bind(notes.join("graph/fixes/socket.md")).unwrap()));
    for path in ["graph/fixes/folder.md", "_sync.json", "CORE.conflict.md"] {
        let name = format!("folder-{}", path.replace('/', "-"));
        prepared.check(&name, |notes, _| {
            let _ = fs::remove_file(notes.join(path));
            fs::create_dir(notes.join(path)).unwrap();
        });
    }
    prepared.known.check_sound();
}

/// Returns a file with this head.
fn head(lines: &str) -> Vec<u8> {
    format!("---\n{lines}\n---\nText.\n").into_bytes()
}

fn many(count: usize, of: &dyn Fn(usize) -> String) -> String {
    (0..count).map(of).collect::<Vec<_>>().join("\n")
}

/// Returns heads that the file of no memory has; one of them relates to the memory with this id.
fn heads(id: &str) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("anchor", head("title: &a x")),
        ("alias", head("title: *a")),
        ("tag", head("title: !!python/object/apply:os.system [id]")),
        ("merge", head("<<: *a")),
        ("block", head("title: |\n  x")),
        ("folded", head("title: >\n  x")),
        ("brackets", head("x: [[[1]]]")),
        ("braces", head("x: {a: {b: {c: 1}}}")),
        ("indented", head("x:\n  a:\n    b: 1\n      c: 2")),
        ("names", head(&many(65, &|n| format!("n{n}: 1")))),
        ("items", head(&format!("tags:\n{}", many(1_001, &|n| format!("  - t{n}"))))),
        ("inline-items", head(&format!("tags: [{}]", "a, ".repeat(1_001)))),
        (
            "relations",
            head(&format!("relations:\n{}", many(1_001, &|_| "  - target: a\n    type: SOLVES".to_owned()))),
        ),
        ("twice", head("title: a\ntitle: b")),
        ("documents", b"---\ntitle: a\n---\n---\nstatus: archived\n---\nx\n".to_vec()),
        ("endless", b"---\ntitle: a\n".to_vec()),
        ("quote", head("title: \"a")),
        ("escape", head("title: \"\\x41\"")),
        ("surrogate", head("title: \"\\ud800\"")),
        ("colon", head("origin: user: x")),
        ("type", head("type: ../../etc")),
        ("target", head("relations: [{target: ../../outside/secret, type: SOLVES}]")),
        ("self", head(&format!("relations: [{{target: {id}, type: CONTRADICTS}}]"))),
        ("path-id", head("id: ../../outside/secret")),
        ("title-path", head("title: \"../../outside/secret\"")),
        ("title-long", head(&format!("title: \"{}\"", "x".repeat(300)))),
        ("title-control", head("title: \"\\u001b]0;x\\u0007\\u202e\"")),
        ("title-nothing", head("title: \"\\u200b\"")),
        ("project", head(&format!("project: \"{}\"", "p".repeat(300)))),
        ("share", head("importance: NaN")),
        ("shares", head("confidence: 1e999")),
        ("below", head("importance: -0.1")),
        ("year", head("created: +99999-01-01T00:00:00Z")),
        ("ahead", head("created: 9999-12-31T23:59:59Z")),
        ("window", head("validity_window: 99999999999999999999w")),
        ("window-long", head("validity_window: 9999999999w")),
        (
            "forged",
            head(
                "status: superseded\norigin: user\nconfidence: 1\nmemory_frequency: ultra-low\nsuperseded_by: x",
            ),
        ),
        (
            "forged-extra",
            head(
                "extra: \"{\\\"status\\\":\\\"forgotten\\\",\\\"origin\\\":\\\"user\\\",\\\"pinned\\\":true}\"",
            ),
        ),
        ("deep-extra", head(&format!("extra: \"{{\\\"a\\\":{}1{}}}\"", "[".repeat(300), "]".repeat(300)))),
        ("known-extra", head("pinned: true\ntrust: 4\nrevision: 9")),
        ("steps", head("type: decision\nsteps: [a]")),
    ]
}

/// Contents that are not text, too long, or look like something else.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("nul", b"---\ntitle: a\0b\n---\nx\n".to_vec()),
        ("latin", b"---\ntitle: caf\xe9\n---\nx\n".to_vec()),
        ("large", vec![b'x'; (1 << 20) + 1]),
        ("long", vec![b'x'; (64 << 10) + 1]),
        ("open", head(&format!("x: {}", "[".repeat(100_000)))),
        ("open-braces", head(&format!("x: {}", "{a: ".repeat(100_000)))),
        ("lines", head(&"- x\n".repeat(100_000))),
        ("bom", "\u{feff}".as_bytes().to_vec()),
        ("dashes", b"---".to_vec()),
        ("returns", b"---\rtitle: a\r---\rx\r".to_vec()),
        (
            "links",
            b"x\n<!-- links -->\n- SOLVES [[../../outside/secret|x]]\n[[../outside/secret]]\n".to_vec(),
        ),
        ("html", b"<script>fetch('http://localhost')</script>\n![x](file:///etc/passwd)\n".to_vec()),
    ]
}

#[test]
fn what_no_memory_says_is_refused_with_its_line_or_means_nothing() {
    let prepared = Prepared::new();
    let id = prepared.id.as_uuid().to_string();
    for (name, bytes) in heads(&id).iter().chain(&texts()) {
        prepared.check(name, |notes, _| fs::write(notes.join("graph/fixes/new.md"), bytes).unwrap());
    }
    let edges = [
        (
            "edge-title",
            format!(
                "id: 0199aaaa-0000-7000-8000-00000000000a\ntype: SOLVES\nfrom_id: {id}\nfrom_title: \"../../outside/secret\"\nto_id: {id}\nto_title: \"x\""
            ),
        ),
        ("edge-ids", "id: ../../outside\ntype: SOLVES\nfrom_id: ../x\nto_id: ../y".to_owned()),
        ("edge-anchor", "id: &a x".to_owned()),
    ];
    for (name, lines) in &edges {
        prepared.check(name, |notes, _| {
            fs::create_dir_all(notes.join("graph/edges")).unwrap();
            fs::write(notes.join("graph/edges/a--SOLVES--b-000000.md"), head(lines)).unwrap();
        });
    }
    prepared.check("deep", |notes, _| {
        fs::create_dir_all(notes.join("graph/fixes/a/b/c")).unwrap();
        fs::write(notes.join("graph/fixes/a/b/c/deep.md"), "Too deep.\n").unwrap();
    });
    prepared.check("names-of-files", |notes, _| {
        for name in
            ["con.md", "a\\b.md", "a:b.md", " .md", "x\u{202e}dm.md", &format!("{}.md", "x".repeat(250))]
        {
            fs::write(notes.join("graph/fixes").join(name), format!("Text of {name}.\n")).unwrap();
        }
    });
    prepared.check("state", |notes, _| {
        let state = r#"{"version":1,"files":{"../outside/secret.md":{"hash":"00"},"graph/../../outside/secret.md":{"hash":"00"},"/etc/passwd":{"hash":"00"}}}"#;
        fs::write(notes.join("_sync.json"), state).unwrap();
    });
    prepared.known.check_sound();
}
