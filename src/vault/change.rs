//! What became of the files of a vault since they were last written.

use crate::{
    model::{
        ids::MemoryId,
        memory::{edit::Edit, new::NewMemory},
        vault::RefusedFile,
    },
    vault::{relation::Relation, state::WrittenFile, ties::Ties},
};

/// What became of a file since it was last written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A person edited a memory, here or on another machine.
    Edit { path: String, id: MemoryId, edit: Box<Edit>, ties: Ties, followed: Option<Box<Followed>> },
    /// A person wrote a memory.
    New { path: String, memory: Box<NewMemory>, relations: Vec<Relation>, followed: Option<Box<Followed>> },
    /// The file is another machine's, and says what is known.
    Known { path: String, followed: Box<Followed> },
    /// The file says only what is already known: it is written again.
    Taken { path: String },
    /// The memory and its file both changed, or the file is out of date or torn: its text is set aside. If the memory is
    /// known, a person is asked.
    Conflict { path: String, id: Option<MemoryId> },
    /// A person removed the file.
    Gone { path: String, id: MemoryId },
    /// The memory was forgotten, hidden or erased on another machine.
    Buried { path: String, id: MemoryId },
}

/// The changes found in a folder.
#[derive(Debug, Default)]
pub(crate) struct FolderChanges {
    pub(crate) incoming: Vec<Incoming>,
    pub(crate) refused: Vec<RefusedFile>,
}

/// A version of a file that another machine wrote. It is recorded once the memory says the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Followed {
    pub(crate) written: WrittenFile,
    /// Whether the file stays as it is. Otherwise it is written again, because it does not follow all versions that it is
    /// made from.
    pub(crate) is_adopted: bool,
    /// Whether a version that was made here apart from it gives way to it: a person is asked.
    pub(crate) is_contested: bool,
    /// The memory that supersedes this one; empty if none does.
    pub(crate) superseded_by: String,
}
