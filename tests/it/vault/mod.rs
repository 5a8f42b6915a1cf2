//! Memories as files: what is written, what people do to them, and what comes back.

mod claiming;
mod conflicts;
mod cut_short;
mod editing;
mod erased;
mod forms;
mod hostile;
mod inert;
mod killed;
mod older;
mod relating;
mod shared;
mod writing;

pub use killed::child_syncs;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use thermocline::{Faults, MemoryId, VaultOptions, VaultReport, blocking::Vault};

use crate::memories::Known;

/// A user with a vault.
pub struct Kept {
    pub known: Known,
    pub folder: PathBuf,
    /// The folder that everything is in, deleted when this is dropped.
    temporary: tempfile::TempDir,
}

impl Kept {
    pub fn new() -> Self {
        Self::of(Known::new())
    }

    fn of(known: Known) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kept = Self { known, folder: folder.path().join("notes"), temporary: folder };
        kept.vault(VaultOptions::default()).init().unwrap();
        kept
    }

    /// Copies the file and the folder as they are now; accesses to the copy have these faults.
    fn copy(&self, faults: Faults) -> Self {
        fn copy(from: &Path, to: &Path) {
            fs::create_dir_all(to).unwrap();
            for entry in fs::read_dir(from).unwrap() {
                let path = entry.unwrap().path();
                let to = to.join(path.file_name().unwrap());
                if path.is_dir() {
                    copy(&path, &to);
                } else {
                    fs::copy(&path, &to).unwrap();
                }
            }
        }
        let (mut fixture, folder) = (self.known.fixture.copy(), tempfile::tempdir().unwrap());
        fixture.config.faults = faults;
        copy(&self.folder, &folder.path().join("notes"));
        Self { known: Known::of(fixture), folder: folder.path().join("notes"), temporary: folder }
    }

    pub fn vault(&self, options: VaultOptions) -> Vault {
        self.known.file.user("alex").unwrap().vault(&self.folder, options)
    }

    #[track_caller]
    pub fn sync(&self) -> VaultReport {
        self.vault(VaultOptions::default()).sync().unwrap()
    }

    /// Checks that a sync finds nothing to do.
    #[track_caller]
    pub fn check_quiet(&self) {
        let report = self.sync();
        let done = [&report.written, &report.removed, &report.edited, &report.saved, &report.conflicts];
        assert!(done.iter().all(|paths| paths.is_empty()) && report.refused.is_empty(), "{report:?}");
    }

    /// Returns the path of a memory's file.
    #[track_caller]
    pub fn path(&self, id: MemoryId) -> String {
        let id = id.to_string().replace("mem_", "\nid: ");
        let found: Vec<String> =
            self.tree().into_iter().filter(|(_, text)| text.contains(&id)).map(|(path, _)| path).collect();
        let found: Vec<_> =
            found.into_iter().filter(|path| path.contains(".md") && !path.contains("conflict")).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap()
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the additional files of conflicts.
    fn beside(&self) -> Vec<String> {
        self.tree().into_keys().filter(|path| path.ends_with(".conflict.md")).collect()
    }

    /// Replaces text in a memory's file.
    fn replace(&self, id: MemoryId, from: &str, to: &str) -> String {
        let path = self.path(id);
        let text = self.text(&path);
        assert!(text.contains(from), "{from}: {text}");
        self.put(&path, &text.replace(from, to));
        path
    }

    /// Returns everything that git would keep, by path.
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
