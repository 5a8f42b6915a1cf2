//! The state that a vault keeps between two syncs: what was written into which file. It is in the folder, next to the files,
//! so that a copied, moved or restored folder brings the state that matches its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::{
    model::{hex::hex, ids::random_bits},
    vault::lineage::Lineage,
};

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
    /// The name under which the lineages of files count what was changed in this copy of the folder.
    #[serde(default)]
    copy: String,
    /// A random text that all copies of the folder share: see [`Self::id_of`].
    #[serde(default)]
    salt: String,
    /// By path.
    files: BTreeMap<String, WrittenFile>,
    /// The files of memories that are forgotten, hidden or erased, by their tombstones' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    buried: BTreeMap<String, Buried>,
    /// Whether it differs from the state that is saved in the folder.
    #[serde(skip)]
    is_changed: bool,
}

/// The file of a memory that is no longer shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Buried {
    pub(crate) lineage: Lineage,
    #[serde(default)]
    pub(crate) is_erased: bool,
}

/// What was written into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// The memory or edge that the file shows; `None` for a page about many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Uuid>,
    /// The hash of the current content, as it was written, or as an edit was taken in.
    pub(crate) hash: FileHash,
    /// The hash of the content being written, from before the rename until the content is known to be in place. While it is
    /// set, a missing or torn file does not mean that somebody touched it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<FileHash>,
    /// For a memory or an edge: a hash of each field, to distinguish an edit in the file from a change here.
    #[serde(default, skip_serializing_if = "FieldHashes::is_empty")]
    pub(crate) fields: FieldHashes,
    /// The versions that the file follows.
    #[serde(default, skip_serializing_if = "Lineage::is_unknown")]
    pub(crate) lineage: Lineage,
    /// The fields of the memory that the file stands for, if another machine wrote the file and says more or less than this
    /// one would: the file stays as it is until the memory changes here.
    #[serde(default, skip_serializing_if = "FieldHashes::is_empty")]
    pub(crate) stands_for: FieldHashes,
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
    /// Returns the state of a file that says this.
    pub(crate) fn new(id: Option<Uuid>, hash: FileHash, fields: &BTreeMap<String, String>) -> Self {
        Self {
            id,
            hash,
            pending: None,
            fields: FieldHashes::of(fields),
            lineage: Lineage::default(),
            stands_for: FieldHashes::default(),
            stamp: String::new(),
            older: Vec::new(),
        }
    }

    /// Adds the hashes of what was written before.
    pub(crate) fn after(self, before: Option<&Self>) -> Self {
        let mut older = before.map(|before| before.older.clone()).unwrap_or_default();
        older.extend(before.map(|before| before.hash.clone()));
        older.retain(|hash| *hash != self.hash);
        older.drain(..older.len().saturating_sub(MOST_OLDER));
        Self { older, ..self }
    }

    /// Returns the fields of the memory when the file was written or taken in.
    pub(crate) fn fields_then(&self) -> BTreeMap<String, String> {
        if self.stands_for.is_empty() { self.fields.by_name() } else { self.stands_for.by_name() }
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
        if state.copy.is_empty() {
            state.copy = format!("{:08x}", random_bits() & 0xffff_ffff);
        }
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

    /// The random text that all copies of the folder share.
    pub(crate) fn salt(&self) -> &str {
        &self.salt
    }

    /// Takes the salt that lies in the folder; without one, the folder gets a new one.
    pub(crate) fn take_salt(&mut self, found: Option<String>) {
        let is_missing = self.salt.is_empty();
        let new =
            found.or_else(|| is_missing.then(|| format!("{:016x}{:016x}", random_bits(), random_bits())));
        if let Some(salt) = new.filter(|salt| *salt != self.salt) {
            self.salt = salt;
            self.is_changed = true;
        }
    }

    /// Returns the id of the memory that a file without one becomes: the same in each copy of the folder, so that two
    /// machines that read the same new file do not save it twice. Without the salt, it says nothing about the text.
    pub(crate) fn id_of(&self, path: &str, text: &str) -> Uuid {
        let mut hash = Sha256::new();
        for part in [&self.salt, path, text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let bytes: [u8; 16] = std::array::from_fn({
            let hash = hash.finalize();
            move |at| hash[at]
        });
        Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// Returns the name under which lineages count what was changed in this copy of the folder.
    pub(crate) fn copy(&self) -> &str {
        &self.copy
    }

    pub(crate) fn buried(&self) -> &BTreeMap<String, Buried> {
        &self.buried
    }

    /// Records that a memory's file is gone for good, or until the memory comes back.
    pub(crate) fn bury(&mut self, tombstone: String, buried: Buried) {
        if self.buried.get(&tombstone) != Some(&buried) {
            self.buried.insert(tombstone, buried);
            self.is_changed = true;
        }
    }

    /// Takes back what was recorded of a file, because its memory is shown again.
    pub(crate) fn unbury(&mut self, tombstone: &str) -> Option<Buried> {
        let found = self.buried.remove(tombstone);
        self.is_changed |= found.is_some();
        found
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
