//! The state that a vault keeps between two syncs: what was written into which file. It is in the folder, next to the files,
//! so that a copied, moved or restored folder brings the state that matches its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::hex::hex;

/// The path of the state.
pub(crate) const STATE: &str = "_sync.json";
/// The version of the state's format; other versions are not read.
const VERSION: u32 = 2;
/// How many earlier contents of a file are remembered.
const MOST_OLDER: usize = 16;

/// The first half of a SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FileHash(String);

/// Returns enough of a hash to distinguish two values of one field.
pub(crate) fn short_hash_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..6])
}

pub(crate) fn hash_of(bytes: &[u8]) -> FileHash {
    FileHash(hex(&Sha256::digest(bytes)[..16]))
}

/// What was written into a vault's files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct VaultState {
    version: u32,
    /// The user's revision at the last write.
    #[serde(default)]
    revision: u64,
    /// By path.
    files: BTreeMap<String, WrittenFile>,
    /// Whether it differs from the state that is saved in the folder.
    #[serde(skip)]
    is_changed: bool,
}

/// What was written into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// The memory or edge that the file shows; `None` for a page about many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<uuid::Uuid>,
    /// The hash of the current content, as it was written, or as an edit was taken in.
    pub(crate) hash: FileHash,
    /// The hash of the content being written, from before the rename until the content is known to be in place. While it is
    /// set, a missing or torn file does not mean that somebody touched it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<FileHash>,
    /// For a memory or an edge: a hash of each field, to distinguish an edit in the file from a change here.
    #[serde(default, skip_serializing_if = "FieldHashes::is_empty")]
    pub(crate) fields: FieldHashes,
    /// The stamp of the input that the file was made from, or empty: the same input gives the same file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) stamp: String,
    /// The hashes of earlier contents, newest last: a file with one of them is out of date, not edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) older: Vec<FileHash>,
}

/// A hash of each field by its name, stored as one text, because most files never need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FieldHashes(String);

impl FieldHashes {
    pub(crate) fn of(fields: &BTreeMap<String, String>) -> Self {
        let fields: Vec<String> = fields.iter().map(|(name, hash)| format!("{name}:{hash}")).collect();
        Self(fields.join(";"))
    }

    pub(crate) fn by_name(&self) -> BTreeMap<String, String> {
        let fields = self.0.split(';').filter_map(|field| field.split_once(':'));
        fields.map(|(name, hash)| (name.to_owned(), hash.to_owned())).collect()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns one stamp for all parts that something is made from.
pub(crate) fn stamp_of<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize()[..16])
}

/// Whether a file of a vault may have this path: below the folder, and not hidden, because other tools keep hidden files.
fn is_plain(path: &str) -> bool {
    path == ".gitignore" || path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

impl WrittenFile {
    /// Adds the hashes of what was written before.
    pub(crate) fn after(self, before: Option<&Self>) -> Self {
        let mut older = before.map(|before| before.older.clone()).unwrap_or_default();
        older.extend(before.map(|before| before.hash.clone()));
        older.retain(|hash| *hash != self.hash);
        older.drain(..older.len().saturating_sub(MOST_OLDER));
        Self { older, ..self }
    }

    /// Whether a file with this hash has an earlier content, and is out of date.
    pub(crate) fn was(&self, hash: &FileHash) -> bool {
        !self.is_of(hash) && self.older.contains(hash)
    }

    /// Whether a file with this hash has the content that was written, or that was being written.
    pub(crate) fn is_of(&self, hash: &FileHash) -> bool {
        self.hash == *hash || self.pending.as_ref() == Some(hash)
    }
}

impl VaultState {
    /// Reads the state. An unreadable state counts as empty: then no file counts as written by a sync, and none is
    /// overwritten blindly.
    pub(crate) fn read(bytes: Option<&[u8]>) -> Self {
        let read = bytes.and_then(|bytes| serde_json::from_slice::<Self>(bytes).ok());
        let mut state = read.filter(|state| state.version == VERSION).unwrap_or_default();
        state.files.retain(|path, _| is_plain(path));
        state.version = VERSION;
        state
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it is plain data")
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Notes the revision of what is being written. Saved only together with the files, because alone it changes nothing.
    pub(crate) fn is_of_revision(&mut self, revision: u64) {
        self.revision = revision;
    }

    pub(crate) fn files(&self) -> &BTreeMap<String, WrittenFile> {
        &self.files
    }

    pub(crate) fn get(&self, path: &str) -> Option<&WrittenFile> {
        self.files.get(path)
    }

    pub(crate) fn put(&mut self, path: &str, written: WrittenFile) {
        if self.files.get(path) != Some(&written) {
            self.files.insert(path.to_owned(), written);
            self.is_changed = true;
        }
    }

    pub(crate) fn remove(&mut self, path: &str) -> Option<WrittenFile> {
        let removed = self.files.remove(path);
        self.is_changed |= removed.is_some();
        removed
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Records that the state was saved in the folder.
    pub(crate) fn is_saved(&mut self) {
        self.is_changed = false;
    }
}
