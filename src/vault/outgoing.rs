//! Writes the files that a vault should have, and removes those that it should no longer have. Sets aside texts that people
//! wrote and that would be lost.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    error::Result,
    model::vault::{RefusedFile, VaultReport},
    vault::{
        disk::{Disk, DiskFileKind, OnDisk},
        export::{WantedFile, When, shows_the_same_lines},
        places::{has_ending, is_of_memory, most_bytes, without_case},
        state::{FieldHashes, FileHash, STATE, VaultState, WrittenFile, hash_of},
    },
};

/// How many files are written in one call: one sync makes all of them durable.
const AT_ONCE: usize = 1_000;
/// The maximum number of texts that are set aside for one file.
const MOST_BESIDE: usize = 1_000;

/// What is known about the existing files.
#[derive(Debug, Default)]
pub(crate) struct There {
    pub(crate) files: BTreeMap<String, Option<FileHash>>,
    /// Files whose edits were taken in, so that they may be overwritten.
    pub(crate) taken: BTreeSet<String>,
    /// Memories' files that another machine wrote and that were taken in: they stay as they are.
    pub(crate) adopted: BTreeSet<String>,
    /// Files that are left untouched.
    pub(crate) kept: BTreeSet<String>,
    /// Files whose texts should be set aside.
    pub(crate) beside: BTreeSet<String>,
}

impl There {
    pub(crate) fn of(files: &[OnDisk]) -> Self {
        let hash = |found: &DiskFileKind| match found {
            DiskFileKind::Text(hash) => Some(hash.clone()),
            DiskFileKind::Refused(_) => None,
        };
        let files = files.iter().map(|file| (file.path.clone(), hash(&file.found))).collect();
        Self { files, ..Self::default() }
    }

    /// Returns the hash of a file whose edit was taken in.
    fn taken_as(&self, path: &str) -> Option<FileHash> {
        self.files.get(path).filter(|_| self.taken.contains(path)).cloned().flatten()
    }

    /// Whether a file is as it was last written, and was written from the input with this stamp.
    pub(crate) fn is_settled(&self, path: &str, stamp: &str, written: Option<&WrittenFile>) -> bool {
        let hash = self.files.get(path).and_then(Option::as_ref);
        !stamp.is_empty()
            && !self.beside.contains(path)
            && written.is_some_and(|it| it.stamp == stamp && it.pending.is_none() && Some(&it.hash) == hash)
    }

    /// Whether a file is as it was last written, or as its edit was taken in.
    fn is_as_written(&self, path: &str, written: &WrittenFile) -> bool {
        let hash = self.files.get(path).and_then(Option::as_ref);
        self.taken.contains(path) || hash.is_some_and(|hash| written.is_of(hash))
    }
}

/// What to do to the folder, in the order of the fields.
#[derive(Debug, Default)]
struct FolderPlan<'w> {
    /// Files to rename, each with its new name, because their texts are kept.
    beside: Vec<(String, String)>,
    write: Vec<(&'w String, &'w WantedFile)>,
    remove: Vec<String>,
    /// Files that are no longer wanted, to be removed from the state.
    forget: Vec<String>,
}

/// Brings the folder to the wanted state. In a dry run, only reports what would be done.
///
/// What will be written is recorded before anything is touched. So after an interruption, the state knows each file in its
/// old form, in its new form, or as being written.
pub(crate) fn write(
    disk: &Disk,
    state: &mut VaultState,
    wanted: &BTreeMap<String, WantedFile>,
    there: &There,
    report: &mut VaultReport,
) -> Result<()> {
    let plan = plan(disk, state, wanted, there, report);
    report.removed.extend(plan.remove.iter().cloned());
    if report.dry_run {
        report.written.extend(plan.write.iter().map(|(path, _)| (*path).clone()));
        return Ok(());
    }
    let mut before = HashMap::new();
    for (path, file) in &plan.write {
        before.insert(*path, state.get(path).cloned());
        state.put(path, being_written(state.get(path), file, there.taken_as(path)));
    }
    if state.is_changed() && !(plan.write.is_empty() && plan.beside.is_empty()) {
        save(disk, state)?;
    }
    for (from, to) in &plan.beside {
        disk.rename(from, to)?;
    }
    // If case is ignored, a removed file and its replacement may have the same name: it is removed first.
    let names: BTreeSet<String> = plan.write.iter().map(|(path, _)| without_case(path)).collect();
    let (first, last): (Vec<_>, Vec<_>) =
        plan.remove.iter().partition(|path| names.contains(&without_case(path)));
    for path in first {
        disk.remove(path)?;
    }
    let is_as_seen =
        |path: &str, now: &FileHash| there.files.get(path).is_some_and(|seen| seen.as_ref() == Some(now));
    let mut left = BTreeSet::new();
    for some in plan.write.chunks(AT_ONCE) {
        left.extend(
            disk.write(some.iter().map(|(path, file)| (path.as_str(), file.text.as_bytes())), is_as_seen)?,
        );
    }
    for path in last {
        disk.remove(path)?;
    }
    for (path, file) in plan.write {
        if left.contains(path) {
            let why = "it was edited in the meantime: the next sync reads it".to_owned();
            report.refused.push(RefusedFile { path: path.clone(), line: None, why });
            match before.remove(path).flatten() {
                Some(before) => state.put(path, before),
                None => drop(state.remove(path)),
            }
            continue;
        }
        report.written.push(path.clone());
        let now = written(file).after(state.get(path));
        state.put(path, now);
    }
    for path in &plan.forget {
        state.remove(path);
    }
    if state.is_changed() { save(disk, state) } else { Ok(()) }
}

/// Decides what to do. Files that need no writing are recorded in the state.
fn plan<'w>(
    disk: &Disk,
    state: &mut VaultState,
    wanted: &'w BTreeMap<String, WantedFile>,
    there: &There,
    report: &mut VaultReport,
) -> FolderPlan<'w> {
    let mut plan = FolderPlan::default();
    let set_beside = |plan: &mut FolderPlan<'w>, report: &mut VaultReport, path: &str| {
        let Some(to) = free_name(disk, path) else {
            let why = "too many .conflict.md files are beside it: remove them";
            report.refused.push(RefusedFile { path: path.to_owned(), line: None, why: why.to_owned() });
            return false;
        };
        plan.beside.push((path.to_owned(), to));
        report.conflicts.push(path.to_owned());
        true
    };
    let mut left: BTreeSet<&str> = BTreeSet::new();
    for path in &there.beside {
        if !set_beside(&mut plan, report, path) {
            left.insert(path);
        }
    }
    let is_kept = |path: &str| there.kept.contains(path) || left.contains(path);
    for (path, file) in wanted.iter().filter(|(path, _)| !is_kept(path)) {
        if file.text.len() as u64 > most_bytes(path) {
            let why = format!("it would be larger than {} MiB, and is not written", most_bytes(path) >> 20);
            report.refused.push(RefusedFile { path: path.clone(), line: None, why });
            continue;
        }
        if let Some(before) = state.get(path).filter(|_| there.adopted.contains(path)) {
            report.unchanged += 1;
            let stands_for = FieldHashes::of(&file.fields);
            state.put(path, WrittenFile { stands_for, stamp: file.stamp.clone(), ..before.clone() });
            continue;
        }
        match what_is_due(disk, (path, file), state.get(path), there) {
            FileAction::Nothing => {
                report.unchanged += 1;
                if let Some(before) = state.get(path).filter(|it| it.stamp != file.stamp) {
                    // The file would show the same: with the new stamp, the next run knows it.
                    state.put(path, WrittenFile { stamp: file.stamp.clone(), ..before.clone() });
                }
            }
            FileAction::Note => {
                report.unchanged += 1;
                let now = written(file).after(state.get(path));
                state.put(path, now);
            }
            FileAction::Write => plan.write.push((path, file)),
            FileAction::Beside => {
                if set_beside(&mut plan, report, path) {
                    plan.write.push((path, file));
                }
            }
            FileAction::Edited => {
                report.refused.push(RefusedFile {
                    path: path.clone(),
                    line: None,
                    why: "it was edited: sync reads the edit".to_owned(),
                });
            }
        }
    }
    for (path, written) in state.files().iter().filter(|(path, _)| !wanted.contains_key(*path)) {
        if is_kept(path) {
            continue;
        }
        let is_there = there.files.contains_key(path) && !there.beside.contains(path);
        if is_there && there.is_as_written(path, written) {
            plan.remove.push(path.clone());
        } else if is_there && !set_beside(&mut plan, report, path) {
            continue;
        }
        plan.forget.push(path.clone());
    }
    plan
}

fn written(file: &WantedFile) -> WrittenFile {
    WrittenFile {
        lineage: file.lineage.clone(),
        stamp: file.stamp.clone(),
        ..WrittenFile::new(file.id, hash_of(file.text.as_bytes()), &file.fields)
    }
}

/// Returns the state of a file while it is being written: its old content, and the one that it will have. An edit that was
/// taken in counts as the old content.
fn being_written(before: Option<&WrittenFile>, file: &WantedFile, taken: Option<FileHash>) -> WrittenFile {
    let to_be = written(file);
    let before = before.cloned().unwrap_or_else(|| to_be.clone());
    WrittenFile { hash: taken.unwrap_or(before.hash), pending: Some(to_be.hash), ..before }
}

fn save(disk: &Disk, state: &mut VaultState) -> Result<()> {
    disk.write([(STATE, state.to_bytes().as_slice())], |_, _| true)?;
    state.is_saved();
    Ok(())
}

/// What to do for a file.
enum FileAction {
    Nothing,
    /// Only update the state: the file is as it should be.
    Note,
    Write,
    /// Set the file's text aside and write: a person wrote into a file that is not read back.
    Beside,
    /// Leave the file: a person edited it, and the edit was not taken in.
    Edited,
}

fn what_is_due(
    disk: &Disk,
    (path, file): (&str, &WantedFile),
    written: Option<&WrittenFile>,
    there: &There,
) -> FileAction {
    if file.when == When::Settled {
        return FileAction::Nothing;
    }
    let Some(hash) = there.files.get(path).filter(|_| !there.beside.contains(path)) else {
        // If a person removed a file that becomes theirs once they touch it, it stays removed.
        let is_over = file.when == When::UntilEdited && written.is_some();
        return if is_over { FileAction::Nothing } else { FileAction::Write };
    };
    if file.when == When::UntilEdited {
        let is_same = *hash == Some(hash_of(file.text.as_bytes()));
        return match written {
            None => FileAction::Note,
            Some(written) if there.is_as_written(path, written) && !is_same => FileAction::Write,
            Some(_) => FileAction::Nothing,
        };
    }
    if *hash == Some(hash_of(file.text.as_bytes())) {
        let is_noted = written.is_some_and(|it| {
            Some(&it.hash) == hash.as_ref()
                && it.pending.is_none()
                && it.fields == FieldHashes::of(&file.fields)
        });
        return if is_noted { FileAction::Nothing } else { FileAction::Note };
    }
    let as_written = written.filter(|written| there.is_as_written(path, written));
    match as_written {
        None if has_ending(path, "json") || has_ending(path, "jsonl") => FileAction::Write,
        // The state is gone: the next sync reads which version it is.
        None if is_of_memory(path)
            && disk.text(path).is_some_and(|text| is_same_but_lineage(&text, &file.text)) =>
        {
            FileAction::Nothing
        }
        None if is_of_memory(path) => FileAction::Edited,
        Some(written) if file.when == When::FieldsDiffer && !there.taken.contains(path) => {
            let is_same = file.shows_the_same(&written.fields_then()) && written.pending.is_none();
            if is_same { FileAction::Nothing } else { FileAction::Write }
        }
        Some(_) if file.when == When::TextDiffers || is_of_memory(path) => FileAction::Write,
        as_written => {
            let Some(text) = disk.text(path) else { return FileAction::Beside };
            // Different line ends are not an edit.
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
            let is_same = match file.when {
                When::LinesDiffer => shows_the_same_lines(&text, &file.text),
                _ => text == file.text,
            };
            let is_ours =
                as_written.is_some() || written.is_some_and(|it| it.is_of(&hash_of(text.as_bytes())));
            match (is_same, is_ours) {
                (true, _) => FileAction::Nothing,
                (false, true) => FileAction::Write,
                (false, false) => FileAction::Beside,
            }
        }
    }
}

/// Whether two files of a memory differ at most in the versions that they follow.
fn is_same_but_lineage(one: &str, other: &str) -> bool {
    one.lines()
        .filter(|line| !line.starts_with("lineage: "))
        .eq(other.lines().filter(|line| !line.starts_with("lineage: ")))
}

/// Returns an unused name next to a file: `NAME.conflict.md`, then `NAME.2.conflict.md`; `None` if there are too many.
fn free_name(disk: &Disk, path: &str) -> Option<String> {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let names = std::iter::once(format!("{stem}.conflict.md"))
        .chain((2..MOST_BESIDE).map(|number| format!("{stem}.{number}.conflict.md")));
    names.into_iter().find(|name| disk.is_gone(name))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::{faults::Faults, vault::lineage::Lineage};

    fn open(folder: &std::path::Path, faults: Faults) -> Disk {
        Disk::open(folder, ".thermocline", faults, |_| Ok(())).unwrap()
    }

    fn page(text: &str) -> WantedFile {
        let (fields, when, lineage) = (BTreeMap::new(), When::TextDiffers, Lineage::default());
        WantedFile { text: text.to_owned(), id: None, fields, when, lineage, stamp: String::new() }
    }

    #[test]
    fn a_page_that_is_too_large_is_named_and_the_others_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let disk = open(folder.path(), Faults::default());
        let large = "x".repeat((64 << 20) + 1);
        let wanted = [("episodes/a.md", page(&large)), ("episodes/b.md", page(&large[1..]))];
        let wanted = wanted.map(|(path, page)| (path.to_owned(), page)).into();
        let (mut state, mut report) = (VaultState::default(), VaultReport::default());
        write(&disk, &mut state, &wanted, &There::default(), &mut report).unwrap();
        assert_eq!((report.written, report.refused.len()), (vec!["episodes/b.md".to_owned()], 1));
        assert_eq!(report.refused[0].path, "episodes/a.md");
        assert!(!folder.path().join("episodes/a.md").exists());
        let there = There::of(&disk.files(|_| true).unwrap().files);
        let mut again = VaultReport::default();
        write(&disk, &mut state, &wanted, &there, &mut again).unwrap();
        assert_eq!((again.written.len(), again.unchanged, again.refused.len()), (0, 1, 1));
    }

    #[test]
    fn a_file_that_differs_only_in_case_goes_before_another_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let done = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&done);
        let faults = Faults::new(move |_, what| {
            seen.lock().unwrap().push(what.to_owned());
            false
        });
        let disk = open(folder.path(), faults);
        let (mut state, mut report) = (VaultState::default(), VaultReport::default());
        let upper = [("episodes/DAY.md".to_owned(), page("a"))].into();
        write(&disk, &mut state, &upper, &There::default(), &mut report).unwrap();
        let there = There::of(&disk.files(|_| true).unwrap().files);
        let lower = [("episodes/day.md".to_owned(), page("b"))].into();
        done.lock().unwrap().clear();
        write(&disk, &mut state, &lower, &there, &mut report).unwrap();
        let done = done.lock().unwrap();
        let at = |what: &str| done.iter().position(|done| done == what).unwrap();
        assert!(at("vault: remove episodes/DAY.md") < at("vault: rename to episodes/day.md"), "{done:?}");
        assert_eq!(std::fs::read_to_string(folder.path().join("episodes/day.md")).unwrap(), "b");
    }

    #[test]
    fn what_a_person_saves_while_a_sync_writes_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("graph/fixes/a.md");
        let disk = open(folder.path(), Faults::default());
        let (mut state, mut report) = (VaultState::default(), VaultReport::default());
        let before = [("graph/fixes/a.md".to_owned(), page("before\n"))].into();
        write(&disk, &mut state, &before, &There::default(), &mut report).unwrap();
        drop(disk);
        let edited = file.clone();
        // An editor saves between the scan of the folder and the first rename.
        let faults = Faults::new(move |_, what| {
            if what == "vault: write graph/fixes/a.md" {
                std::fs::write(&edited, "a person's words\n").unwrap();
            }
            false
        });
        let disk = open(folder.path(), faults);
        let there = There::of(&disk.files(|_| true).unwrap().files);
        let after = [("graph/fixes/a.md".to_owned(), page("after\n"))].into();
        write(&disk, &mut state, &after, &there, &mut report).unwrap();
        let beside = folder.path().join("graph/fixes/a.conflict.md");
        let texts = [file, beside].map(|path| std::fs::read_to_string(path).unwrap_or_default());
        assert!(texts.iter().any(|text| text == "a person's words\n"), "{texts:?}");
    }
}
