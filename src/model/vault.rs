//! A folder that shows a user's memories as files: its options, and reports of what was done.

use serde::{Deserialize, Serialize};

use crate::model::{turn::Origin, word_enum::word_enum};

word_enum! {
    /// Which files a folder has, by the paper that defines them. A folder never changes its layout; only the first one is
    /// synced.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Layout {
        /// The cognitive paper: one file per memory in a folder per kind, pages about many, edges, days.
        #[default]
        Cognitive = "cognitive",
        /// The continuum paper: one file per memory by how settled it is, and logs of what has settled.
        Continuum = "continuum",
        /// The entry paper: days of what is `high` or `mid`, a log of relations, MEMORY.md.
        Entry = "entry",
    }
    pub fn from_word;
}

word_enum! {
    /// The form of one memory as a file.
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

/// How a vault is synced.
///
/// ```
/// use thermocline::{Origin, VaultOptions};
/// let options = VaultOptions::default().origin(Origin::User).deletes(true);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct VaultOptions {
    /// Whose words new files have. Default: [`Origin::Document`], whatever they claim. For a folder in which only the user
    /// writes: [`Origin::User`]. Only people edit files, so an edit always counts as the user's.
    pub origin: Origin,
    /// Whether a memory is forgotten if its file is removed. Default: no, the file is written again.
    pub deletes: bool,
    /// At most this many memories are forgotten; if there are more, all are refused. Default: 20, or a tenth of all if that
    /// is less, but at least one.
    pub max_deletes: Option<u64>,
    /// Whether nothing is changed, neither in the folder nor in the memory file. Default: no.
    pub dry_run: bool,
    /// Which files the folder has. Default: [`Layout::Cognitive`].
    pub layout: Layout,
    /// Whether links to related memories follow a memory's text, in the form Obsidian follows, and whether links that a
    /// person writes into the text become relations. Set by [`init`](crate::Vault::init); the folder keeps it. Default: no.
    pub links: bool,
    /// Whether `_embeddings.json` has a vector of the configured model for each memory. Set by [`init`](crate::Vault::init);
    /// the folder keeps it. Default: no.
    pub embeddings: bool,
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
        }
    }
}

impl VaultOptions {
    /// Whose words new files have.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Whether a memory is forgotten if its file is removed.
    #[must_use]
    pub fn deletes(mut self, deletes: bool) -> Self {
        self.deletes = deletes;
        self
    }

    /// At most this many memories are forgotten.
    #[must_use]
    pub fn max_deletes(mut self, memories: u64) -> Self {
        self.max_deletes = Some(memories);
        self
    }

    /// Which files the folder has.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Whether the files contain links, as Obsidian follows them.
    #[must_use]
    pub fn links(mut self, links: bool) -> Self {
        self.links = links;
        self
    }

    /// Whether `_embeddings.json` has a vector for each memory.
    #[must_use]
    pub fn embeddings(mut self, embeddings: bool) -> Self {
        self.embeddings = embeddings;
        self
    }

    /// Only reports what would be done.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// What was done in a vault, by the paths of its files; in a dry run, what would be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VaultReport {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Files that were up to date, and were not written.
    pub unchanged: u64,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed because what they showed is forgotten, hidden, erased, or has moved.
    pub removed: Vec<String>,
    /// Files whose edits were taken in.
    pub edited: Vec<String>,
    /// Files that became new memories.
    pub saved: Vec<String>,
    /// Files that a person removed, so that their memories were forgotten.
    pub forgotten: Vec<String>,
    /// Files whose texts were set aside next to them as `NAME.conflict.md`, because both the file and the memory had
    /// changed, or the file was out of date. For each of these that shows a memory, a review asks a person.
    pub conflicts: Vec<String>,
    /// Files that were left as they are.
    pub refused: Vec<RefusedFile>,
}

/// A file that was left as it is, and why. Quotes nothing from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedFile {
    /// Its path in the vault.
    pub path: String,
    /// The line with the problem, from 1; `None` if it is the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The problem, and what to do.
    pub why: String,
}

impl RefusedFile {
    /// A whole file that a program could not hand over.
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
    /// Memories that are new, or hold again.
    pub saved: u64,
    /// Memories that were already known.
    pub known: u64,
    /// Memories that wait for a person, because the one that holds their slot is trusted more.
    pub waiting: u64,
    /// Relations between them, and to memories that were already known.
    pub related: u64,
    /// Relations that were left out because their other end is not a memory of the user.
    pub unrelated: u64,
    /// Files that were left out in whole or in part.
    pub refused: Vec<RefusedFile>,
}
