//! `thermocline memory import`: imports the files of other programs as memories, or restores the memories of a vault.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use thermocline::{ImportedFiles, Origin, RefusedFile};

use crate::{
    args::UserArg,
    exit::{Exit, Failure},
    find::{self, Db},
    memory::{named, words},
    output::Output,
    plain,
    vault::place_and_why,
};

/// The maximum size of a file to import, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The maximum size of a file of a vault to restore, in bytes.
const MAX_RESTORED_BYTES: u64 = 64 << 20;

#[derive(Args, Debug)]
pub(crate) struct ImportFilesArgs {
    /// Files, or folders to search for .md and .json.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    user: UserArg,

    /// The origin of their words.
    #[arg(long, value_name = "ORIGIN", default_value = "document", value_parser = words::origin())]
    origin: Origin,

    /// Restore the vault in this folder for a user who has nothing yet: ids, origins, confidence, frequency, status and
    /// counts are taken from the files. Only for your own files; either all are restored, or none.
    #[arg(long, conflicts_with = "origin")]
    restore: bool,
}

/// The file in which a vault keeps what use has changed about its memories.
const STATE: &str = "_state.json";

pub(crate) fn run(db: &Db, args: &ImportFilesArgs, out: &Output) -> Result<(), Failure> {
    if args.restore {
        return restore(db, args, out);
    }
    let mut paths = Vec::new();
    for path in &args.files {
        look_for(path, &mut paths)?;
    }
    let (files, unread) = read(paths, MAX_BYTES);
    let (_file, _user, memories) = named::to_change(db, &args.user)?;
    let mut report = {
        let _progress = out.progress(None, "saving memories");
        memories.import_files(files, args.origin)?
    };
    report.refused.extend(unread);
    out.answer(&report, told)
}

fn restore(db: &Db, args: &ImportFilesArgs, out: &Output) -> Result<(), Failure> {
    let [folder] = &args.files[..] else {
        return Err(Failure::new(Exit::Refused, "restore takes exactly one folder: that of a vault"));
    };
    let mut paths = Vec::new();
    look_for(folder, &mut paths)?;
    let (mut files, unread) = read(paths, MAX_RESTORED_BYTES);
    if let Some(file) = unread.first() {
        return Err(Failure::new(Exit::Refused, format!("nothing was restored: {}", place_and_why(file))));
    }
    for (path, _) in &mut files {
        let below = Path::new(path.as_str()).strip_prefix(folder).unwrap_or(Path::new(path.as_str()));
        *path =
            below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    }
    let state = folder.join(STATE);
    if state.is_file() {
        let text = fs::read_to_string(&state)
            .map_err(|error| Failure::new(Exit::Refused, format!("{STATE}: {error}")))?;
        files.push((STATE.to_owned(), text));
    }
    let file = find::made(db, find::verb_config())?;
    let memories = find::user_or_new(&file, &args.user)?.memories();
    let report = {
        let _progress = out.progress(None, "restoring memories");
        memories.restore_files(files)?
    };
    if let Some(refused) = report.refused.first() {
        let more = report.refused.len() - 1;
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        return Err(Failure::new(
            Exit::Refused,
            format!("nothing was restored: {}{more}", place_and_why(refused)),
        ));
    }
    out.answer(&report, |report| {
        format!("restored {} memories, {} relations between them\n", report.saved, report.related)
    })
}

/// Returns the texts of the files, and the files that cannot be read.
fn read(paths: Vec<PathBuf>, most: u64) -> (Vec<(String, String)>, Vec<RefusedFile>) {
    let (mut files, mut unread) = (Vec::with_capacity(paths.len()), Vec::new());
    for path in paths {
        let shown = path.display().to_string();
        match text_of(&path, most) {
            Ok(text) => files.push((shown, text)),
            Err(why) => unread.push(RefusedFile::new(shown, why)),
        }
    }
    (files, unread)
}

fn text_of(path: &Path, most: u64) -> Result<String, String> {
    let of_file = fs::metadata(path).map_err(|error| error.to_string())?;
    if !of_file.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if of_file.len() > most {
        return Err(format!("it is larger than {} MiB, too large for a memory", most >> 20));
    }
    fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    })
}

fn look_for(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            Exit::Refused,
            format!("{}: {error}", plain::line(&path.display().to_string(), usize::MAX)),
        )
    };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path).and_then(Iterator::collect).map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (below, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        // Links are not followed: a link may lead anywhere, or back to a folder that contains it.
        let kind = entry.file_type().map_err(failed)?;
        let is_memory =
            kind.is_file() && below.extension().is_some_and(|ending| ending == "md" || ending == "json");
        if !name.starts_with(['.', '_']) && (kind.is_dir() || is_memory) {
            look_for(&below, found)?;
        }
    }
    Ok(())
}

fn told(report: &ImportedFiles) -> String {
    let ImportedFiles { saved, known, waiting, related, unrelated, refused, .. } = report;
    let mut text =
        format!("saved {saved}, known {known}, waiting for a person {waiting}; relations added {related}");
    if *unrelated > 0 {
        let _ = write!(text, ", left out {unrelated} whose other end is not a memory here");
    }
    text.push('\n');
    for file in refused {
        let _ = writeln!(text, "left out {}", place_and_why(file));
    }
    text
}
