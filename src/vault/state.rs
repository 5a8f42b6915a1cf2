//! What a vault remembers between two syncs: what was written into which file. It is in the folder, next to the files, so
//! that a folder that is copied, moved or restored brings the state that matches its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::hex::hex;

/// Its path.
pub(crate) const STATE: &str = "_sync.json";
/// The version of its format; others are not read.
const VERSION: u32 = 2;
/// How many earlier versions of a file are remembered.
const MOST_OLDER: usize = 16;

/// The first half of a SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FileHash(String);

/// Enough of a hash to distinguish two values of one field.
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
    /// By path.
    files: BTreeMap<String, WrittenFile>,
    /// Whether it differs from the state in the folder.
    #[serde(skip)]
    is_changed: bool,
}

/// What was written into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// The memory or edge that it shows; `None` for a page about many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<uuid::Uuid>,
    /// The hash of the current content, as it was written or taken in.
    pub(crate) hash: FileHash,
    /// The hash of the content being written, from before the rename until it is known to be in place. While it is set, the
    /// file may be missing or torn without anybody having touched it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<FileHash>,
    /// For a memory: a hash of each field, to distinguish an edit in the file from a change here.
    #[serde(default, skip_serializing_if = "FieldHashes::is_empty")]
    pub(crate) fields: FieldHashes,
    /// What it was made from, if that is known without making it: the same input gives the same file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) stamp: String,
    /// The hashes of earlier content, the newest last: a file with one of these is out of date, not edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) older: Vec<FileHash>,
}

/// A hash of each field by its name, in one text: for most files it is never needed.
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

/// One stamp for all parts that something is made from.
pub(crate) fn stamp_of<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize()[..16])
}

/// Whether a file of a vault may have this path: in the folder, and not hidden, where other tools keep theirs.
fn is_plain(path: &str) -> bool {
    path == ".gitignore" || path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

impl WrittenFile {
    /// The same, following what was written before.
    pub(crate) fn after(self, before: Option<&Self>) -> Self {
        let mut older = before.map(|before| before.older.clone()).unwrap_or_default();
        older.extend(before.map(|before| before.hash.clone()));
        older.retain(|hash| *hash != self.hash);
        older.drain(..older.len().saturating_sub(MOST_OLDER));
        Self { older, ..self }
    }

    /// Whether a file with this hash has earlier, outdated content.
    pub(crate) fn was(&self, hash: &FileHash) -> bool {
        !self.is_of(hash) && self.older.contains(hash)
    }

    /// Whether a file with this hash is as it was written, or as it was being written.
    pub(crate) fn is_of(&self, hash: &FileHash) -> bool {
        self.hash == *hash || self.pending.as_ref() == Some(hash)
    }
}

impl VaultState {
    /// Reads the state. An unreadable one counts as none: then no file counts as written, and none is overwritten blindly.
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

    /// Marks it as equal to the state in the folder.
    pub(crate) fn is_saved(&mut self) {
        self.is_changed = false;
    }
}
