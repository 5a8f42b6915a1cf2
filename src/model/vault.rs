//! A folder that shows a user's memories as files: how it is kept, and what was done there.

use serde::{Deserialize, Serialize};

use crate::model::{turn::Origin, word_enum::word_enum};

word_enum! {
    /// Which files a folder has, by the paper that they are of. A folder has one layout for ever; the first alone is synced.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Layout {
        /// The cognitive paper: a file a memory, by kinds, pages about many, edges, days.
        #[default]
        Cognitive = "cognitive",
        /// The continuum paper: a file a memory by how settled it is, and logs of what has settled.
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
        /// The cognitive paper's markdown, as a vault has it.
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
    /// Whose words new files have. Default: [`Origin::Document`], whatever they say of themselves. For a folder in which only
    /// the user writes: [`Origin::User`]. Whoever edits a file is a person: an edit is the user's in any case.
    pub origin: Origin,
    /// Whether a memory is forgotten whose file was taken away. Default: no, the file is written again.
    pub deletes: bool,
    /// So many memories are forgotten at most; more are refused, all of them. Default: 20, or a tenth of all if that is less,
    /// but always one.
    pub max_deletes: Option<u64>,
    /// Whether nothing is changed, neither in the folder nor in the file. Default: no.
    pub dry_run: bool,
    /// Which files the folder has. Default: [`Layout::Cognitive`].
    pub layout: Layout,
    /// Whether links to what a memory is related to stand behind its text, as Obsidian follows them, and whether it is related
    /// to what a person links to in its text. Said to [`init`](crate::Vault::init); the folder keeps it. Default: no.
    pub links: bool,
    /// Whether `_embeddings.json` shows a vector of the configured model for each memory. Said to
    /// [`init`](crate::Vault::init); the folder keeps it. Default: no.
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

    /// Whether a memory is forgotten whose file was taken away.
    #[must_use]
    pub fn deletes(mut self, deletes: bool) -> Self {
        self.deletes = deletes;
        self
    }

    /// So many memories are forgotten at most.
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

    /// Whether links stand in the files, as Obsidian follows them.
    #[must_use]
    pub fn links(mut self, links: bool) -> Self {
        self.links = links;
        self
    }

    /// Whether `_embeddings.json` shows a vector for each memory.
    #[must_use]
    pub fn embeddings(mut self, embeddings: bool) -> Self {
        self.embeddings = embeddings;
        self
    }

    /// Only tells what would be done.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// What was done in a vault, by the paths of its files; or, of a dry run, what would be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VaultReport {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Files that show what is known, and were not written.
    pub unchanged: u64,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were taken away, since what they showed is forgotten, hidden, erased, or elsewhere by now.
    pub removed: Vec<String>,
    /// Files whose edits were taken.
    pub edited: Vec<String>,
    /// Files that were new memories.
    pub saved: Vec<String>,
    /// Files that were taken away by a person, and their memories forgotten for that.
    pub forgotten: Vec<String>,
    /// Files whose texts lie beside them by now, as `NAME.conflict.md`: what they say, and what is known, changed both, or they
    /// are of another time. About each memory of these a review asks a person.
    pub conflicts: Vec<String>,
    /// Files that were left as they are.
    pub refused: Vec<RefusedFile>,
}

/// A file that was left as it is, and why. Nothing of what it says is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedFile {
    /// Its path in the vault.
    pub path: String,
    /// The line that is in the way, from 1; none: it is the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is in the way, and what to do.
    pub why: String,
}

impl RefusedFile {
    /// The whole of a file that a program could not hand over.
    #[must_use]
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, why: why.into() }
    }
}

/// What came of files of other programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ImportedFiles {
    /// Memories that are new, or hold again.
    pub saved: u64,
    /// Memories that were known.
    pub known: u64,
    /// Memories that wait for a person: what holds in their slot is trusted more.
    pub waiting: u64,
    /// Relations between them, and to what was known.
    pub related: u64,
    /// Relations whose other end is no memory of the user: they are left out.
    pub unrelated: u64,
    /// Files that were left out, or of which one memory was.
    pub refused: Vec<RefusedFile>,
}
