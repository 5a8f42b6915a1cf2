//! The operations that exchange memories with other programs, as the texts of files. They read and write no path that a
//! caller gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{FileFormat, ImportedFiles, Origin};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    memories::name::MemoryName,
    problem::Problem,
    row,
    spec::{Class, Replaces, Route, Spec},
};

/// The maximum number of files in one import.
const MOST_FILES: usize = 1_000;

pub(super) fn rows() -> Vec<Row> {
    vec![row::<MemoryFileShow>(), row::<MemoryImport>()]
}

/// A memory to show, and a file format.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRequest {
    /// The memory: its id, 4 or more of the id's first or last digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The file format. Default: markdown.
    pub format: Option<FileFormat>,
}

/// A file's text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileText {
    /// The text.
    pub text: String,
}

/// Shows a memory as a file.
#[derive(Debug)]
pub struct MemoryFileShow;

impl Operation for MemoryFileShow {
    const SPEC: Spec = Spec::reads(
        "memory_file",
        "One memory as the text of a file: markdown as in a vault, or the entry paper's JSON.",
        Route::get("/v1/users/{user}/memories/{memory}/file"),
    );
    type Request = FileRequest;
    type Response = FileText;

    fn run(call: Call, request: FileRequest) -> Result<FileText> {
        let format = request.format.unwrap_or(FileFormat::Markdown);
        let memories = call.memories()?;
        Ok(FileText { text: memories.as_file(request.memory.id(&memories)?, format)? })
    }
}

/// Files to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// The files: at most 1,000.
    #[schemars(length(min = 1, max = MOST_FILES))]
    pub files: Vec<OneFile>,
    /// The origin of the texts. Default: document. Only the caller's own origin, tool, document, or a less trusted origin
    /// is accepted.
    pub origin: Option<Origin>,
}

/// A file to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneFile {
    /// The file's name, which may tell something about its content: `graph/fixes/redis.md`. No file is read from this
    /// path.
    pub name: String,
    /// The file's text: markdown with or without front matter, or the entry paper's formats: the markdown of a day, or
    /// JSON.
    pub text: String,
}

/// Imports files.
#[derive(Debug)]
pub struct MemoryImport;

impl Operation for MemoryImport {
    const SPEC: Spec = Spec {
        class: Class::Long,
        replaces: Replaces::Something,
        ..Spec::adds(
            "memory_import",
            "Import other programs' files as memories, as claims; importing the same files again saves nothing.",
            Route::post("/v1/users/{user}/memories/import"),
        )
    };
    type Request = ImportRequest;
    type Response = ImportedFiles;

    fn run(call: Call, request: ImportRequest) -> Result<ImportedFiles> {
        if !(1..=MOST_FILES).contains(&request.files.len()) {
            return Err(Problem::invalid("files", format!("a request imports 1 to {MOST_FILES} files")));
        }
        let origin = call.origin(request.origin.or(Some(Origin::Document)))?;
        let memories = call.user_or_new()?.memories().by(call.caller.origin);
        let files = request.files.into_iter().map(|file| (file.name, file.text));
        Ok(memories.import_files(files, origin)?)
    }
}
