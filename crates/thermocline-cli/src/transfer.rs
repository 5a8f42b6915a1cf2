//! `thermocline export` and `import`: write a user's whole memory as JSON Lines, and read it into another file.

use std::{
    error::Error as StdError,
    fmt::Write as _,
    fs::{self, File},
    io::{self, BufRead, BufReader, Cursor, Read},
    path::Path,
};

use indicatif::HumanCount;
use serde::Serialize;
use serde_json::Value;
use thermocline::Transferred;

use crate::{
    args::{ImportArgs, UserExportArgs},
    exit::{Exit, Failure},
    find::{self, Db},
    output::Output,
    plain,
};

/// The maximum length of the first line of an export, in bytes; real ones are far shorter.
const MAX_FIRST_LINE_BYTES: u64 = 1 << 10;

#[derive(Debug, Serialize)]
struct WrittenExport {
    file: String,
    #[serde(flatten)]
    counts: Transferred,
}

pub(crate) fn export(db: &Db, args: &UserExportArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    if args.to == Path::new("-") {
        let exported = user.export(out.data());
        if exported.as_ref().is_err_and(|error| is_broken_pipe(error)) {
            return Ok(()); // The reader has closed the pipe, so it needs no more.
        }
        out.talk(&one_line(&exported?));
        return Ok(());
    }
    let file = create(&args.to)?;
    let counts = {
        let _progress = out.progress(None, "exporting");
        written(&file, |to| Ok(user.export(to)?))
            // The file is removed, because an incomplete one must not pass for an export.
            .inspect_err(|_| drop(fs::remove_file(&args.to)))?
    };
    out.answer(&WrittenExport { file: args.to.display().to_string(), counts }, |written| {
        format!("{}\n{}", plain::line(&written.file, usize::MAX), table(&written.counts))
    })
}

pub(crate) fn import(db: &Db, args: &ImportArgs, out: &Output) -> Result<(), Failure> {
    let from: Box<dyn Read + Send> = if args.from == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(&args.from).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::no_file("export", &args.from, error),
            _ => Failure::caused(Exit::FileUnusable, "the export cannot be opened", error),
        })?)
    };
    // Checked before the file is opened, because input that is not an export must not create a database.
    let from = begun(BufReader::new(from))?;
    let memory = find::made(db, find::verb_config())?;
    let counts = {
        let _progress = out.progress(None, "importing");
        memory.import(&args.user, from)?
    };
    out.answer(&counts, table)
}

/// Creates a file that only its owner can read; never replaces an existing one.
fn create(path: &Path) -> Result<File, Failure> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::refused(format!("{} exists already; an export never replaces a file", path.display()))
        }
        io::ErrorKind::NotFound => {
            let message = format!("the folder of {} does not exist; create it first", path.display());
            Failure::caused(Exit::NotFound, message, error)
        }
        _ => Failure::caused(Exit::FileUnusable, "the export cannot be created there", error),
    })
}

/// Writes the export to the file, and returns once it is on disk.
fn written(
    file: &File,
    write: impl FnOnce(File) -> Result<Transferred, Failure>,
) -> Result<Transferred, Failure> {
    let failed = |error| Failure::caused(Exit::FileUnusable, "the export could not be written", error);
    let counts = write(file.try_clone().map_err(failed)?)?;
    file.sync_all().map_err(failed)?;
    Ok(counts)
}

/// Checks that the first line is that of an export, and returns the input from its start.
fn begun(mut from: impl BufRead + Send + 'static) -> Result<impl BufRead + Send + 'static, Failure> {
    let mut first = Vec::new();
    (&mut from)
        .take(MAX_FIRST_LINE_BYTES)
        .read_until(b'\n', &mut first)
        .map_err(|error| Failure::caused(Exit::FileUnusable, "the export cannot be read", error))?;
    match serde_json::from_slice::<Value>(&first) {
        Ok(line) if line["line"] == "memory" => Ok(Cursor::new(first).chain(from)),
        _ => Err(Failure::refused("this is not an export of a memory; thermocline export makes one")),
    }
}

fn is_broken_pipe(error: &(dyn StdError + 'static)) -> bool {
    let is_it = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(is_it) || error.source().is_some_and(is_broken_pipe)
}

fn rows(counts: &Transferred) -> [(&'static str, u64); 9] {
    [
        ("sessions", counts.sessions),
        ("turns", counts.turns),
        ("summaries", counts.summaries),
        ("anchors", counts.anchors),
        ("pieces of evidence", counts.derivations),
        ("tier moves", counts.transitions),
        ("memories", counts.memories),
        ("edges", counts.edges),
        ("episodes", counts.episodes),
    ]
}

fn table(counts: &Transferred) -> String {
    rows(counts).iter().fold(String::new(), |mut text, (what, count)| {
        let _ = writeln!(text, "  {what:<19} {:>9}", HumanCount(*count).to_string());
        text
    })
}

fn one_line(counts: &Transferred) -> String {
    rows(counts).map(|(what, count)| format!("{what} {}", HumanCount(count))).join(", ")
}
