//! A folder that shows a user's memories as files: its options, and reports of what was done to it.

use serde::{Deserialize, Serialize};

use crate::model::{turn::Origin, word_enum::word_enum};

word_enum! {
    /// Which files a folder has. Each layout is named after the paper that defines it. A folder never changes its layout.
    /// Only the cognitive layout can be synced; the others are only exported.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Layout {
        /// The layout of the cognitive paper: one file for each memory, in a folder for its kind; pages about many
        /// memories; files of edges and of days.
        #[default]
        Cognitive = "cognitive",
        /// The layout of the continuum paper: one file for each memory that is `high` or `mid`, and logs of those that
        /// have settled further.
        Continuum = "continuum",
        /// The layout of the entry paper: for each day, a file of the active memories that are `high` or `mid`; a log of
        /// relations; `MEMORY.md`, with the active memories that have settled further.
        Entry = "entry",
    }
    pub fn from_word;
}

word_enum! {
    /// The file format of a single memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum FileFormat {
        /// The entry paper's JSON.
        Entry = "entry",
        /// The cognitive paper's markdown, as in a vault.
        Markdown = "markdown",
    }
    pub fn from_word;
}

word_enum! {
    /// What a sync does with files that are newer than the database, because the database was put back to a backup.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum NewerFiles {
        /// Saves what the files say: as edits of the memories that the database has, and as the memories that it lacks,
        /// with their ids.
        Take = "take",
        /// Keeps each file's text next to it, as `NAME.conflict.md`, and writes what the database says.
        SetAside = "set_aside",
    }
    pub fn from_word;
}

/// The options of a vault.
///
/// ```
/// use thermocline::{Origin, VaultOptions};
/// let options = VaultOptions::default().origin(Origin::User).deletes(true);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct VaultOptions {
    /// Whose words new files count as, whatever they claim. Default: [`Origin::Document`]. For a folder in which only
    /// the user writes: [`Origin::User`]. An edit of an existing file always counts as the user's, because only people
    /// edit files.
    pub origin: Origin,
    /// Whether a memory is forgotten if its file is removed. Default: no; the file is written again.
    pub deletes: bool,
    /// The maximum number of memories that one sync may forget, with [`deletes`](Self::deletes) or because another machine
    /// of the folder forgot them; if there are more, the sync fails. Default: a tenth of the active, archived and superseded memories, but at least 1
    /// and at most 20.
    pub max_deletes: Option<u64>,
    /// Whether [`export`](crate::Vault::export) and [`sync`](crate::Vault::sync) only report what they would do, and change
    /// neither the vault's files nor the memory file. Default: no.
    pub dry_run: bool,
    /// Which files the folder has. Default: [`Layout::Cognitive`].
    pub layout: Layout,
    /// Whether links to related memories follow a memory's text, in the form that Obsidian understands, and whether
    /// links that a person writes into the text become relations. [`init`](crate::Vault::init) stores this choice in the
    /// folder. Default: no.
    pub links: bool,
    /// Whether `_embeddings.json` has a vector for each memory that the first configured embedder, or else the built-in
    /// one, has embedded. [`init`](crate::Vault::init) stores this choice in the folder. Default: no.
    pub embeddings: bool,
    /// What to do with files that are newer than the database. Default: nothing, the sync fails before it touches
    /// anything.
    pub newer: Option<NewerFiles>,
}

impl Default for VaultOptions {
    fn default() -> Self {
        Self {
            origin: Origin::Document,
            deletes: false,
            max_deletes: None,
            dry_run: false,
            layout: Layout::default(),
            links: false,
            embeddings: false,
            newer: None,
        }
    }
}

impl VaultOptions {
    /// Sets whose words new files count as.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets whether a memory is forgotten if its file is removed.
    #[must_use]
    pub fn deletes(mut self, deletes: bool) -> Self {
        self.deletes = deletes;
        self
    }

    /// Sets the maximum number of memories that one sync may forget.
    #[must_use]
    pub fn max_deletes(mut self, memories: u64) -> Self {
        self.max_deletes = Some(memories);
        self
    }

    /// Sets which files the folder has.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Sets whether the files contain links, in the form that Obsidian understands.
    #[must_use]
    pub fn links(mut self, links: bool) -> Self {
        self.links = links;
        self
    }

    /// Sets whether `_embeddings.json` has a vector for each memory that is embedded.
    #[must_use]
    pub fn embeddings(mut self, embeddings: bool) -> Self {
        self.embeddings = embeddings;
        self
    }

    /// Sets what to do with files that are newer than the database.
    #[must_use]
    pub fn newer(mut self, newer: NewerFiles) -> Self {
        self.newer = Some(newer);
        self
    }

    /// Makes [`export`](crate::Vault::export) and [`sync`](crate::Vault::sync) only report what they would do.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// What was done in a vault, as lists of its files' paths; in a dry run, what would be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VaultReport {
    /// Whether this was a dry run, which changes nothing.
    pub dry_run: bool,
    /// The number of files that were up to date and not written.
    pub unchanged: u64,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed because what they showed is forgotten, hidden, erased or otherwise gone, or is now in
    /// another file.
    pub removed: Vec<String>,
    /// Files whose edits were applied to memories or relations.
    pub edited: Vec<String>,
    /// New files, which were saved as memories.
    pub saved: Vec<String>,
    /// Files that a person removed, so that their memories were forgotten.
    pub forgotten: Vec<String>,
    /// Files whose texts were set aside next to them (as `NAME.conflict.md`, or with a number), because both the file and
    /// the memory had changed, the file was out of date, or somebody had written into a file that is not read back. If the
    /// file shows a memory, a sync also opens a review, which asks a person.
    pub conflicts: Vec<String>,
    /// Files that are newer than the database, as after a backup was put back. Unless
    /// [`VaultOptions::newer`] says what to do with them, a dry run reports only these, and a sync fails.
    pub newer: Vec<String>,
    /// Files of which something was not read or not written, with the reason.
    pub refused: Vec<RefusedFile>,
}

/// A file of which something was not read or not written, and why. The reason quotes nothing from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedFile {
    /// The file's path in the vault, or as the caller gave it.
    pub path: String,
    /// The line with the problem, from 1; `None` if the problem concerns the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The problem, often with what to do about it.
    pub why: String,
}

impl RefusedFile {
    /// Creates an entry for a file that the caller could not read at all.
    #[must_use]
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, why: why.into() }
    }
}

/// The result of importing other programs' files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ImportedFiles {
    /// The number of memories that are new, or that became active again.
    pub saved: u64,
    /// The number of memories that were already known, including those that do not hold and stay so.
    pub known: u64,
    /// The number of memories that wait for a person, because they may not supersede the memory in their slot.
    pub waiting: u64,
    /// The number of relations that were added among the imported memories, and between them and others.
    pub related: u64,
    /// The number of relations that were left out because their other end is not a memory of the user, or because they
    /// cannot be added.
    pub unrelated: u64,
    /// Files that were left out in whole or in part.
    pub refused: Vec<RefusedFile>,
}
