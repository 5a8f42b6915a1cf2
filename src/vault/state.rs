//! What a vault remembers between two syncs: what was written into which file. It lies in the folder, beside the files, so
//! that a folder which is copied, moved or restored brings the state that its files are of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::hex::hex;

/// Where it lies.
pub(crate) const STATE: &str = "_sync.json";
/// Of this form; another one is not read.
const VERSION: u32 = 2;
/// So many times of a file are known.
const MOST_OLDER: usize = 16;

/// The first half of SHA-256, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct FileHash(String);

/// Enough of a hash to tell two values of one field apart.
pub(crate) fn short_hash_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..6])
}

pub(crate) fn hash_of(bytes: &[u8]) -> FileHash {
    FileHash(hex(&Sha256::digest(bytes)[..16]))
}

/// What was written into the files of a vault.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct VaultState {
    version: u32,
    /// By path.
    files: BTreeMap<String, WrittenFile>,
    /// Whether it differs from what lies in the folder.
    #[serde(skip)]
    is_changed: bool,
}

/// What was written into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// The memory or edge that it shows; none: a page about many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<uuid::Uuid>,
    /// Of what lies there, as far as that was written or taken in.
    pub(crate) hash: FileHash,
    /// Of what is being written, from before it is renamed until it is known to be there. As long as it stands here, the file
    /// may be missing or torn through nobody's doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<FileHash>,
    /// Of a memory: a hash of each field, by which an edit there and a change here are told apart.
    #[serde(default, skip_serializing_if = "FieldHashes::is_empty")]
    pub(crate) fields: FieldHashes,
    /// What it was made of, where that is known without making it: of the same, the same is made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) stamp: String,
    /// Of what was written before, the newest last: a file that is as it was once is of another time, and no edit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) older: Vec<FileHash>,
}

/// A hash of each field by its name, in one text: of most files nobody asks for them.
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

/// One stamp of all that something is made of.
pub(crate) fn stamp_of<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize()[..16])
}

/// Whether a file of a vault may have this path: below the folder, and not hidden, where the tools of others have theirs.
fn is_plain(path: &str) -> bool {
    path == ".gitignore" || path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

impl WrittenFile {
    /// The same, behind what was written before.
    pub(crate) fn after(self, before: Option<&Self>) -> Self {
        let mut older = before.map(|before| before.older.clone()).unwrap_or_default();
        older.extend(before.map(|before| before.hash.clone()));
        older.retain(|hash| *hash != self.hash);
        older.drain(..older.len().saturating_sub(MOST_OLDER));
        Self { older, ..self }
    }

    /// Whether a file with this hash is as it was written once, and is not any more.
    pub(crate) fn was(&self, hash: &FileHash) -> bool {
        !self.is_of(hash) && self.older.contains(hash)
    }

    /// Whether a file with this hash is as it was written, or as it was being written.
    pub(crate) fn is_of(&self, hash: &FileHash) -> bool {
        self.hash == *hash || self.pending.as_ref() == Some(hash)
    }
}

impl VaultState {
    /// Reads it. What cannot be read is none: then no file counts as written, and none is overwritten unseen.
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

    /// From here on it is what lies in the folder.
    pub(crate) fn is_saved(&mut self) {
        self.is_changed = false;
    }
}
