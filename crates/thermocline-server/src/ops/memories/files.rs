//! Memories as files of other programs, by their texts: no path of the caller's is read or written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{FileFormat, ImportedFiles, Origin};

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    memories::name::MemoryName,
    problem::Problem,
    row,
    spec::{Class, Route, Spec},
};

/// Files of one import at most.
const MOST_FILES: usize = 1_000;

pub(super) fn rows() -> Vec<Row> {
    vec![row::<MemoryFileShow>(), row::<MemoryImport>()]
}

/// A memory, and the form of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRequest {
    /// The memory: its id, 4 or more of its digits, or `key:` and the caller's own id.
    pub memory: MemoryName,
    /// The form of the file. Default: markdown.
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
        "One memory as the text of a file: markdown as a vault has it, or the entry paper's JSON.",
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

/// Files to take in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// The files: at most 1,000.
    #[schemars(length(min = 1, max = MOST_FILES))]
    pub files: Vec<OneFile>,
    /// Whose words they are: the caller's own, unless they are of somebody who is trusted less. Default: a document's.
    pub origin: Option<Origin>,
}

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneFile {
    /// Its name, which may say what it is: `graph/fixes/redis.md`. Nothing is read from there.
    pub name: String,
    /// Its text: markdown with or without a head, a day, or the entry paper's JSON.
    pub text: String,
}

/// Takes files in.
#[derive(Debug)]
pub struct MemoryImport;

impl Operation for MemoryImport {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::adds(
            "memory_import",
            "Take files of other programs in as memories, as claims; the same files again save nothing.",
            Route::post("/v1/users/{user}/memories/import"),
        )
    };
    type Request = ImportRequest;
    type Response = ImportedFiles;

    fn run(call: Call, request: ImportRequest) -> Result<ImportedFiles> {
        if !(1..=MOST_FILES).contains(&request.files.len()) {
            return Err(Problem::invalid("files", format!("1 to {MOST_FILES} files are taken in at once")));
        }
        let origin = call.origin(request.origin.or(Some(Origin::Document)))?;
        let memories = call.user_or_new()?.memories().by(call.caller.origin);
        let files = request.files.into_iter().map(|file| (file.name, file.text));
        Ok(memories.import_files(files, origin)?)
    }
}
