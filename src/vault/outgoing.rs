//! Writing what a vault is to have, and taking away what it is not to have any more.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::Result,
    model::vault::{RefusedFile, VaultReport},
    vault::{
        disk::{Disk, Found, OnDisk},
        export::{Wanted, When, shows_the_same_lines},
        incoming::{has_ending, is_of_memory},
        state::{FileHash, STATE, State, Written, hash_of},
    },
};

/// So many files are written at once: one sync of the folder makes all of them last.
const AT_ONCE: usize = 1_000;

/// What is known of the files as they are.
#[derive(Debug, Default)]
pub(crate) struct There {
    pub(crate) files: BTreeMap<String, Option<FileHash>>,
    /// Files whose edits were taken: what a person typed there is known.
    pub(crate) taken: BTreeSet<String>,
    /// Files that nobody touches.
    pub(crate) kept: BTreeSet<String>,
    /// Files whose texts are to be kept beside them.
    pub(crate) beside: BTreeSet<String>,
}

impl There {
    pub(crate) fn of(files: &[OnDisk]) -> Self {
        let hash = |found: &Found| match found {
            Found::Text(hash) => Some(hash.clone()),
            Found::Refused(_) => None,
        };
        let files = files.iter().map(|file| (file.path.clone(), hash(&file.found))).collect();
        Self { files, ..Self::default() }
    }

    /// Whether a file is as it was written last, or as its edit was taken.
    fn is_as_written(&self, path: &str, written: &Written) -> bool {
        let hash = self.files.get(path).cloned().flatten();
        self.taken.contains(path)
            || hash.is_some_and(|hash| hash == written.hash || Some(hash) == written.pending)
    }
}

/// Brings the folder to what is wanted. Of a dry run it only tells what would be done.
pub(crate) fn write(
    disk: &Disk,
    state: &mut State,
    wanted: &BTreeMap<String, Wanted>,
    there: &mut There,
    report: &mut VaultReport,
) -> Result<()> {
    for path in std::mem::take(&mut there.beside) {
        if !report.dry_run {
            set_beside(disk, &path)?;
        }
        there.files.remove(&path);
        report.conflicts.push(path);
    }
    let there = &*there;
    let before = state.clone();
    let mut files = Vec::new();
    for (path, file) in wanted.iter().filter(|(path, _)| !there.kept.contains(*path)) {
        match what_is_due(disk, (path, file), state.files.get(path), there) {
            Due::Nothing => report.unchanged += 1,
            Due::Note => {
                report.unchanged += 1;
                state.files.insert(path.clone(), written(file));
            }
            Due::Write => files.push((path, file)),
            Due::Beside => {
                report.conflicts.push(path.clone());
                if !report.dry_run {
                    set_beside(disk, path)?;
                }
                files.push((path, file));
            }
            Due::Edited => {
                report.refused.push(RefusedFile {
                    path: path.clone(),
                    line: None,
                    why: "it was edited: a sync takes that".to_owned(),
                });
            }
        }
    }
    let (mut gone, mut forgotten) = (Vec::new(), Vec::new());
    for (path, written) in state.files.iter().filter(|(path, _)| !wanted.contains_key(*path)) {
        if there.kept.contains(path) {
            continue;
        }
        forgotten.push(path.clone());
        if !there.files.contains_key(path) {
            continue;
        }
        if there.is_as_written(path, written) {
            gone.push(path.clone());
        } else {
            report.conflicts.push(path.clone());
            if !report.dry_run {
                set_beside(disk, path)?;
            }
        }
    }
    report.written.extend(files.iter().map(|(path, _)| (*path).clone()));
    report.removed.extend(gone.iter().cloned());
    if report.dry_run {
        return Ok(());
    }
    for (path, file) in &files {
        let hash = hash_of(file.text.as_bytes());
        let entry = state
            .files
            .entry((*path).clone())
            .or_insert_with(|| Written { hash: hash.clone(), ..written(file) });
        entry.pending = Some(hash);
    }
    if !files.is_empty() {
        save(disk, state)?;
    }
    for some in files.chunks(AT_ONCE) {
        disk.write(some.iter().map(|(path, file)| (path.as_str(), file.text.as_bytes())))?;
    }
    for path in &gone {
        disk.remove(path)?;
    }
    for (path, file) in files {
        state.files.insert(path.clone(), written(file));
    }
    for path in &forgotten {
        state.files.remove(path);
    }
    if *state == before { Ok(()) } else { save(disk, state) }
}

fn written(file: &Wanted) -> Written {
    Written { id: file.id, hash: hash_of(file.text.as_bytes()), pending: None, fields: file.fields.clone() }
}

fn save(disk: &Disk, state: &State) -> Result<()> {
    disk.write([(STATE, state.written().as_slice())])
}

/// What is to be done for a file.
enum Due {
    Nothing,
    /// It is there as it is to be, and only that is not known yet.
    Note,
    Write,
    /// A person wrote into a file that nobody reads back: their text is kept beside.
    Beside,
    /// A person edited it, and nobody has taken that.
    Edited,
}

fn what_is_due(disk: &Disk, (path, file): (&str, &Wanted), written: Option<&Written>, there: &There) -> Due {
    let Some(hash) = there.files.get(path) else {
        // What is written once stays away, where a person took it away.
        let is_over = file.when == When::Once && written.is_some();
        return if is_over { Due::Nothing } else { Due::Write };
    };
    if file.when == When::Once {
        return if written.is_some() { Due::Nothing } else { Due::Note };
    }
    if *hash == Some(hash_of(file.text.as_bytes())) {
        let is_noted = written.is_some_and(|it| Some(&it.hash) == hash.as_ref() && it.fields == file.fields);
        return if is_noted { Due::Nothing } else { Due::Note };
    }
    let as_written = written.filter(|written| there.is_as_written(path, written));
    match (as_written, file.when) {
        (Some(written), When::FieldsDiffer) if !there.taken.contains(path) => {
            if file.shows_the_same(&written.fields) && written.pending.is_none() {
                Due::Nothing
            } else {
                Due::Write
            }
        }
        (Some(_), When::LinesDiffer) => {
            let is_same = disk.text(path).is_some_and(|text| shows_the_same_lines(&text, &file.text));
            if is_same { Due::Nothing } else { Due::Write }
        }
        (Some(_), _) => Due::Write,
        (None, _) if has_ending(path, "json") || has_ending(path, "jsonl") => Due::Write,
        (None, _) if is_of_memory(path) && written.is_some() => Due::Edited,
        // It shows the same, or it would have been set beside.
        (None, _) if is_of_memory(path) => Due::Write,
        (None, _) => Due::Beside,
    }
}

/// Gives a file the name `NAME.conflict.md`; what lies there already keeps its own.
fn set_beside(disk: &Disk, path: &str) -> Result<()> {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let names = std::iter::once(format!("{stem}.conflict.md"))
        .chain((2..1_000).map(|number| format!("{stem}.{number}.conflict.md")));
    let mut names = names.filter(|name| disk.text(name).is_none());
    disk.rename(path, &names.next().unwrap_or_else(|| format!("{stem}.conflict.md")))
}
