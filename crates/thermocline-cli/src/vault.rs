//! `thermocline vault`: keeps a user's memories as a folder of markdown files.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::{fmt::Write as _, path::PathBuf, thread, time::Duration};

use clap::{Args, Subcommand};
use thermocline::{
    ErrorKind, Layout, NewerFiles, Origin, RefusedFile, VaultOptions, VaultReport, blocking::Vault,
};

use crate::{
    args::UserArg,
    exit::Failure,
    find::Db,
    memory::{named, words},
    output::Output,
    plain,
};

/// The maximum number of files of each kind that are listed; `--json` lists all.
const NAMED: usize = 20;

#[derive(Debug, Subcommand)]
pub(crate) enum VaultVerb {
    /// Make a folder the vault of a user.
    ///
    /// Existing files in it stay. Run it once, then use sync. The folder remembers these options; to change them, run init
    /// again.
    #[command(after_help = "Examples:\n  thermocline vault init notes --user alex\n  \
                            thermocline vault init notes --user alex --links")]
    Init(InitArgs),
    /// Show what a sync would do, file by file.
    ///
    /// Changes nothing.
    #[command(after_help = "Example:\n  thermocline vault status notes --user alex")]
    Status(SyncArgs),
    /// Import edits from the folder, then write what is known.
    ///
    /// A person may edit, move, add and remove the files below graph and vault; memories in vault are pinned. An edit counts
    /// as the user's, and can be undone (memory undo). Generated files: CORE.md, REFLECTION.md, PROFILE.md, episodes,
    /// graph/edges, and names that start with an underscore; MEMORY.md and .gitignore until you write into them. If a file
    /// and its memory both changed in the same place, the memory wins, and the file's text is saved next to it as
    /// NAME.conflict.md. Unreadable files stay as they are, and are listed with the line of the error.
    #[command(after_help = "Examples:\n  thermocline vault init notes\n  thermocline vault sync notes\n  \
                            thermocline vault sync notes --origin user --deletes\n  \
                            thermocline vault sync notes --every 60")]
    Sync(SyncArgs),
    /// Write what is known into the folder, and import nothing from it.
    ///
    /// --layout continuum writes one file per memory by how settled it is (memory/short_term, memory/long_term), and logs of
    /// what has settled (system/memory_log.md, SmartLibrary.md). --layout entry writes unsettled memories by day
    /// (memory/2026-01-29.md), a log of relations (memory/graph.jsonl), and MEMORY.md once. Both create the folder, which
    /// keeps its layout, and work in one direction only: memory import reads such files back as claims.
    #[command(after_help = "Examples:\n  thermocline vault export notes --user alex\n  \
                            thermocline vault export traces --user alex --layout continuum")]
    Export(VaultExportArgs),
}

#[derive(Args, Debug)]
pub(crate) struct FolderArgs {
    /// The folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    #[command(flatten)]
    user: UserArg,
}

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    of: FolderArgs,

    /// Add links to related memories after each memory's text, for Obsidian; links that you add in its text become
    /// relations.
    #[arg(long)]
    links: bool,

    /// Write a vector for each memory into _embeddings.json.
    #[arg(long)]
    embeddings: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VaultExportArgs {
    #[command(flatten)]
    of: FolderArgs,

    /// The layout of the files, by the paper that defines it.
    #[arg(long, default_value = "cognitive", value_parser = words::layout())]
    layout: Layout,
}

#[derive(Args, Debug)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    of: FolderArgs,

    /// The origin of new files; use user for a folder in which only the user writes.
    #[arg(long, value_name = "ORIGIN", default_value = "document", value_parser = words::origin())]
    origin: Origin,

    /// Forget memories whose files were removed; otherwise the files are written again.
    #[arg(long)]
    deletes: bool,

    /// Forget at most this many, because files were removed or another machine of the folder forgot the memories
    /// (_shared/forgotten); if there are more, stop and forget none [default: 20, or a tenth of all if that is less].
    #[arg(long, value_name = "N")]
    max_deletes: Option<u64>,

    /// What to do with files that are newer than the database, after a backup was put back: take what they say, or set
    /// them aside as NAME.conflict.md and write what the database says. Without this, the sync stops.
    #[arg(long, value_name = "WHAT", value_parser = words::newer())]
    newer: Option<NewerFiles>,

    /// Change nothing, and report what would be done, like vault status.
    #[arg(long)]
    dry_run: bool,

    /// Repeat every this many seconds, until you stop it.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: Option<u64>,
}

pub(crate) fn run(db: &Db, verb: &VaultVerb, out: &Output) -> Result<(), Failure> {
    match verb {
        VaultVerb::Init(args) => {
            let InitArgs { of: FolderArgs { folder, user }, links, embeddings } = args;
            let (_file, user, _) = named::to_change(db, user)?;
            user.vault(folder, VaultOptions::default().links(*links).embeddings(*embeddings)).init()?;
            let folder = folder.display().to_string();
            out.answer(&serde_json::json!({ "folder": folder }), |_| {
                let folder = plain::line(&folder, usize::MAX);
                format!("{folder} is a vault; thermocline vault sync {folder} writes and reads it\n")
            })
        }
        VaultVerb::Export(args) => {
            let (_file, user, _) = named::to_look(db, &args.of.user)?;
            let options = VaultOptions::default().layout(args.layout);
            answer(out, &user.vault(&args.of.folder, options), Vault::export)
        }
        VaultVerb::Status(args) => {
            let (_file, user, _) = named::to_look(db, &args.of.user)?;
            answer(out, &user.vault(&args.of.folder, args.options()), Vault::status)
        }
        VaultVerb::Sync(args) => sync(db, args, out),
    }
}

fn sync(db: &Db, args: &SyncArgs, out: &Output) -> Result<(), Failure> {
    let (_file, user, _) = named::to_change(db, &args.of.user)?;
    let vault = user.vault(&args.of.folder, args.options());
    loop {
        let done = answer(out, &vault, Vault::sync);
        let Some(seconds) = args.every else { return done };
        match done {
            // A person has to decide something, or another process is at work: until then, every round says so.
            Err(failure) if matches!(failure.kind(), Some(ErrorKind::Conflict | ErrorKind::Busy)) => {
                out.failed(&failure);
            }
            done => done?,
        }
        thread::sleep(Duration::from_secs(seconds));
    }
}

impl SyncArgs {
    fn options(&self) -> VaultOptions {
        let mut options = VaultOptions::default().origin(self.origin).deletes(self.deletes);
        options.max_deletes = self.max_deletes;
        options.newer = self.newer;
        options.dry_run = self.dry_run;
        options
    }
}

fn answer(
    out: &Output,
    vault: &Vault,
    act: impl FnOnce(&Vault) -> thermocline::Result<VaultReport>,
) -> Result<(), Failure> {
    let report = {
        let _progress = out.progress(None, "looking through the folder");
        act(vault)?
    };
    out.answer(&report, told)
}

/// Returns a refused file with the line and the reason: `notes/a.md, line 2: it is no number`.
pub(crate) fn place_and_why(file: &RefusedFile) -> String {
    let line = file.line.map_or(String::new(), |line| format!(", line {line}"));
    format!("{}{line}: {}", plain::line(&file.path, usize::MAX), plain::line(&file.why, 300))
}

fn told(report: &VaultReport) -> String {
    let VaultReport {
        dry_run,
        unchanged,
        written,
        removed,
        edited,
        saved,
        forgotten,
        conflicts,
        newer,
        refused,
        ..
    } = report;
    let mut text = String::new();
    let told = |done: &'static str, would: &'static str| if *dry_run { would } else { done };
    for (what, paths) in [
        (told("edited by you, saved", "edited by you, to be saved"), edited),
        (told("new, saved", "new, to be saved"), saved),
        (told("gone, forgotten", "gone, to be forgotten"), forgotten),
        (
            told(
                "changed on both sides; yours is kept as .conflict.md",
                "changed on both sides; yours would be kept as .conflict.md",
            ),
            conflicts,
        ),
        (told("written", "to be written"), written),
        (told("removed", "to be removed"), removed),
        (
            "newer than the database, as after a backup was put back; a sync stops, unless --newer says what to do",
            newer,
        ),
    ] {
        if paths.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{} {what}:", paths.len());
        for path in paths.iter().take(NAMED) {
            let _ = writeln!(text, "  {}", plain::line(path, usize::MAX));
        }
        if paths.len() > NAMED {
            let _ = writeln!(text, "  ... and {} more (--json names all)", paths.len() - NAMED);
        }
    }
    if !refused.is_empty() {
        let _ = writeln!(text, "{} left as they are:", refused.len());
        for file in refused {
            let _ = writeln!(text, "  {}", place_and_why(file));
        }
    }
    let _ = writeln!(text, "{unchanged} unchanged");
    text
}
