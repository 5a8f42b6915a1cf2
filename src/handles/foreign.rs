//! Importing and restoring memories from files, and showing one memory as a file.

use std::collections::{HashMap, HashSet};

use crate::{
    error::{ErrorKind, Result},
    event::in_span,
    handles::{Memories, off_thread},
    model::{
        edge::Direction,
        ids::MemoryId,
        memory::saved::SaveOutcome,
        turn::Origin,
        vault::{FileFormat, ImportedFiles, RefusedFile},
    },
    store::scope::UserKey,
    vault::{
        foreign::{self, ForeignMemory},
        incoming::new_edge,
        one,
        relation::Relation,
        restore::{self, ReadVault},
        ties,
    },
};

impl Memories {
    /// Imports files of other programs as memories. Each file is given as its path and its text. It may be plain markdown,
    /// markdown with a head in the format of the cognitive or the continuum paper, a log of the continuum paper, or a file
    /// of the entry paper: the entries of a day, or JSON. The memories count as the words of `origin`; their confidence is
    /// at most .80 and their frequency at most `mid`. A file's counters, checks and unknown fields are stored with the
    /// memory and not interpreted. The file's own id becomes the [caller's id](crate::Memory::caller_id), so importing the
    /// same files again saves nothing. Relations are added once all memories are saved.
    ///
    /// A file that cannot be read is left out and reported with the line of the problem. The other memories are saved
    /// one by one; one that is refused is reported too.
    ///
    /// Errors: only those of reading and writing the database.
    pub async fn import_files(
        &self,
        files: impl IntoIterator<Item = (String, String)>,
        origin: Origin,
    ) -> Result<ImportedFiles> {
        let files: Vec<(String, String)> = files.into_iter().collect();
        let importing = Box::pin(self.import_all(files, origin));
        in_span("import_files", (self.scope.user_id, None), importing).await
    }

    /// Restores the memories of a vault for a user who has nothing yet. Each file is given as its path below the
    /// vault's folder (`graph/fixes/a.md`, `vault/b.md`, `episodes/2026-03-01.md`, `_state.json`) and its text. This is
    /// for operators: ids, origins, confidence, frequency, status and use counts are taken from the files as they are,
    /// so pass only files that you trust. Pages about many memories are skipped, because they are generated again.
    /// Histories, sources, reviews and anchors are in no file; to move everything that a user has, use
    /// [`User::export`](crate::User::export).
    ///
    /// Either all files are restored or none: if one of them cannot be restored, the report names it and nothing is
    /// saved.
    ///
    /// Errors: `Conflict` if the user has any data, or if a memory is already in the memory file.
    pub async fn restore_files(
        &self,
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<ImportedFiles> {
        let files: Vec<(String, String)> = files.into_iter().collect();
        let restoring = Box::pin(self.restore_all(files));
        in_span("restore_files", (self.scope.user_id, None), restoring).await
    }

    async fn restore_all(&self, files: Vec<(String, String)>) -> Result<ImportedFiles> {
        let now = self.read(|snapshot, _| Ok(snapshot.now())).await?;
        let read = off_thread(move || Ok(restore::read(&files, *now))).await?;
        let ReadVault { restored, paths, unrelated } = match read {
            Ok(read) => read,
            Err(refused) => return Ok(ImportedFiles { refused, ..ImportedFiles::default() }),
        };
        let related = restored.edges.len() as u64;
        let import = match restored.into_import() {
            Ok(import) => import,
            Err((Some(memory), error)) => {
                let path = paths.get(&memory).cloned().unwrap_or_default();
                let refused = vec![RefusedFile { path, line: None, why: error.to_string() }];
                return Ok(ImportedFiles { refused, ..ImportedFiles::default() });
            }
            Err((None, error)) => return Err(error),
        };
        let key = UserKey::Id(self.scope.user_id);
        let counts = self.store.write(move |tx| tx.import(&key, import)).await?;
        Ok(ImportedFiles { saved: counts.memories, related, unrelated, ..ImportedFiles::default() })
    }

    /// Returns one memory as a file: as the entry paper's JSON, or as the markdown that a vault would contain.
    ///
    /// Errors: `NotFound`.
    pub async fn as_file(&self, id: MemoryId, format: FileFormat) -> Result<String> {
        self.read(move |snapshot, scope| one::as_file(snapshot, scope, id, format)).await
    }

    async fn import_all(&self, files: Vec<(String, String)>, origin: Origin) -> Result<ImportedFiles> {
        let mut report = ImportedFiles::default();
        let mut ids: HashMap<String, MemoryId> = HashMap::new();
        let mut to_relate: Vec<(MemoryId, Vec<Relation>)> = Vec::new();
        let mut found = Vec::with_capacity(files.len());
        for (path, text) in files {
            match foreign::read(&path, &text, origin) {
                Ok(of_file) => found.push((path, of_file)),
                Err(refused) => {
                    let why = refused.why.to_owned();
                    report.refused.push(RefusedFile { path, line: Some(refused.line), why });
                }
            }
        }
        let coming: HashSet<String> = found
            .iter()
            .flat_map(|(_, of_file)| of_file.iter().filter_map(|one| one.memory.caller_id.clone()))
            .collect();
        for (path, of_file) in found {
            for ForeignMemory { mut memory, relations } in of_file {
                let unknown = self.unknown(&relations, &coming).await?;
                memory.extra = ties::with_unknown(&memory.extra, &unknown);
                let own_id = memory.caller_id.clone();
                match self.save(memory).await {
                    Ok(saved) => {
                        match saved.outcome {
                            SaveOutcome::Known | SaveOutcome::PutAway => report.known += 1,
                            SaveOutcome::Waits(_) => report.waiting += 1,
                            _ => report.saved += 1,
                        }
                        ids.extend(own_id.map(|own_id| (own_id, saved.memory.id)));
                        to_relate.push((saved.memory.id, relations));
                    }
                    Err(error) if is_of_the_file(error.kind()) => {
                        report.refused.push(RefusedFile {
                            path: path.clone(),
                            line: None,
                            why: error.to_string(),
                        });
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        for (of, relations) in to_relate {
            for relation in relations {
                let other = match ids.get(&relation.target) {
                    Some(id) => Some(*id),
                    None => self.named(&relation.target).await?,
                };
                let Some(other) = other else {
                    report.unrelated += 1;
                    continue;
                };
                let (from, to) =
                    if relation.direction == Direction::Incoming { (other, of) } else { (of, other) };
                match self.relate(from, new_edge(&relation, origin), to).await {
                    Ok(_) => report.related += 1,
                    Err(error) if is_of_the_file(error.kind()) => report.unrelated += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(report)
    }

    /// Returns the relations whose target is neither known nor being imported.
    async fn unknown(&self, relations: &[Relation], coming: &HashSet<String>) -> Result<Vec<Relation>> {
        let mut unknown = Vec::new();
        for relation in relations {
            if !coming.contains(&relation.target) && self.named(&relation.target).await?.is_none() {
                unknown.push(relation.clone());
            }
        }
        Ok(unknown)
    }

    /// Finds a memory that is already known, by the id that a file gives it.
    async fn named(&self, target: &str) -> Result<Option<MemoryId>> {
        let found = match self.by_caller_id(target).await {
            Err(error) if is_of_the_file(error.kind()) => match target.parse() {
                Ok(id) => self.get(id).await,
                Err(error) => Err(error),
            },
            found => found,
        };
        match found {
            Ok(memory) => Ok(Some(memory.id)),
            Err(error) if is_of_the_file(error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether an error is about only one file's content, so that other files can still be imported.
pub(super) fn is_of_the_file(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidInput | ErrorKind::Conflict | ErrorKind::NotFound)
}
