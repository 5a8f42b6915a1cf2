//! Chooses between the version of a memory's file that this machine has and one that another machine of a shared folder
//! wrote.

use std::collections::BTreeMap;

use crate::{
    model::memory::{known::Memory, words::MemoryStatus},
    vault::{
        change::{Followed, Incoming},
        compare::{Base, FileEdit, edit},
        export::{ExportState, WantedFile},
        fields::{checksum, fields},
        file::MemoryFile,
        frontmatter::FrontmatterError,
        lineage::{Descent, Lineage},
        state::{FieldHashes, FileHash, VaultState, WrittenFile},
    },
};

/// A file in the folder that is not the version that this machine wrote or took in last.
pub(super) struct Version<'v> {
    pub(super) path: &'v str,
    pub(super) hash: &'v FileHash,
    pub(super) read: MemoryFile,
    /// What this machine wrote or took in last.
    pub(super) before: Option<WrittenFile>,
}

/// Which of two versions stands.
pub(super) enum Choice {
    /// The one in the folder: the memory is changed.
    Theirs(Incoming),
    /// The one that is known here. Its file follows both.
    Ours(Lineage),
}

impl Version<'_> {
    pub(super) fn descent(&self) -> Descent {
        self.read
            .lineage
            .descent(&self.before.as_ref().map(|before| before.lineage.clone()).unwrap_or_default())
    }

    /// Whether the file says what a machine wrote into it.
    pub(super) fn is_as_a_machine_wrote(&self) -> bool {
        let fields = fields(&self.read, self.path.starts_with("vault/"));
        self.read.lineage.is_of(&checksum(&fields))
    }

    /// Chooses. Of two versions that were made apart, all machines choose the same one: one in which the memory is
    /// superseded, or else the one with more changes.
    pub(super) fn choose(
        self,
        known: &ExportState,
        (memory, now): (&Memory, &WantedFile),
        state: &VaultState,
    ) -> Result<Choice, FrontmatterError> {
        let descent = self.descent();
        let Self { path, hash, read, before } = self;
        let (theirs, superseded_by, updated) =
            (read.lineage.clone(), read.superseded_by.clone(), read.updated);
        let is_as_written = before.as_ref().is_some_and(|before| now.shows_the_same(&before.fields_then()));
        let ours = match &before {
            Some(before) if is_as_written => before.lineage.clone(),
            Some(before) => before.lineage.changed(state.copy(), checksum(&now.fields)),
            None => Lineage::default(),
        };
        let compare = |read: MemoryFile, base| edit(known, (path, read, memory), (now, Some(base)));
        let merged = match &before {
            Some(before) if descent == Descent::Newer && !is_as_written => {
                let base = Base { is_later: true, ..Base::of(before) };
                Some(compare(read.clone(), base)?).filter(|(_, done)| !matches!(done, FileEdit::Conflict))
            }
            _ => None,
        };
        let is_merged = merged.is_some();
        let (fields, done) = merged.map_or_else(|| compare(read, Base::known(now)), Ok)?;
        let is_over = memory.status == MemoryStatus::Superseded;
        let is_later = updated.is_some_and(|at| at.timestamp() > memory.updated_at.timestamp());
        let gives_way = || match (is_over, !superseded_by.is_empty()) {
            (true, false) => false,
            (false, true) => true,
            _ => theirs.is_of(&checksum(&fields)) && theirs.stands_before(&ours),
        };
        let (lineage, is_adopted, is_contested) = match (descent, &done) {
            // What was changed here stands beside what was changed there.
            (Descent::Newer, _) if is_merged => (theirs, false, false),
            (Descent::Newer, FileEdit::Same) => (theirs, true, false),
            (Descent::Newer, _) if is_as_written || (before.is_none() && is_later) => (theirs, true, false),
            (_, FileEdit::Same) => (ours.joined(&theirs), false, false),
            (Descent::Newer | Descent::Apart, _) if before.is_some() && gives_way() => {
                (theirs.joined(&ours), false, true)
            }
            _ => {
                let before = before.map(|before| before.lineage).unwrap_or_default();
                return Ok(Choice::Ours(before.joined(&theirs)));
            }
        };
        let (path, id) = (path.to_owned(), memory.id);
        let written = WrittenFile { lineage, ..WrittenFile::new(Some(*id.as_uuid()), hash.clone(), &fields) };
        let written = written.after(before.as_ref());
        let followed = Box::new(Followed { written, is_adopted, is_contested, superseded_by });
        Ok(Choice::Theirs(match done {
            // What a superseded memory said is history, and is not edited.
            FileEdit::Edited(edit, ties) if !is_over => {
                Incoming::Edit { path, id, edit, ties, followed: Some(followed) }
            }
            FileEdit::Edited(..) | FileEdit::Same if is_adopted || is_over => {
                let written = WrittenFile { stands_for: FieldHashes::of(&now.fields), ..followed.written };
                Incoming::Known {
                    path,
                    followed: Box::new(Followed { written, is_adopted: true, ..*followed }),
                }
            }
            _ => Incoming::Known { path, followed },
        }))
    }

    /// Returns the state of a file that goes, because its memory has another one.
    pub(super) fn stale(hash: &FileHash) -> WrittenFile {
        WrittenFile::new(None, hash.clone(), &BTreeMap::new())
    }
}
