//! `thermocline restore`: puts a backup in the place of the file.

use indicatif::HumanBytes;
use serde::Serialize;
use thermocline::{BackupFile, ReplacedFile, RestoredFile};

use crate::{
    args::RestoreArgs,
    exit::{Exit, Failure},
    find::Db,
    output::Output,
    plain,
};

#[derive(Debug, Serialize)]
struct RestoredBackup {
    file: String,
    bytes: u64,
    /// Where the replaced file is now.
    replaced: Option<String>,
}

pub(crate) fn run(db: &Db, args: &RestoreArgs, out: &Output) -> Result<(), Failure> {
    db.check_writable()?;
    let backup = {
        let _progress = out.progress(None, "checking");
        BackupFile::open(&args.backup)?
    };
    if !args.yes && db.path.exists() {
        confirm(db, args, out)?;
    }
    let replaced = if args.delete_replaced { ReplacedFile::Delete } else { ReplacedFile::Keep };
    let restored = {
        let progress = out.progress(Some(backup.bytes()), "copying");
        backup.restore(&db.path, replaced, |bytes| progress.at(bytes))?
    };
    let RestoredFile { bytes, replaced, .. } = restored;
    let shown = |path: &std::path::Path| path.display().to_string();
    let restored = RestoredBackup { file: shown(&db.path), bytes, replaced: replaced.as_deref().map(shown) };
    out.answer(&restored, |restored| {
        let line = |text: &str| plain::line(text, usize::MAX);
        let mut text = format!("{}: {}\n", line(&restored.file), HumanBytes(restored.bytes));
        if let Some(replaced) = &restored.replaced {
            text.push_str("the replaced file is now ");
            text.push_str(&line(replaced));
            text.push('\n');
        }
        text
    })
}

/// Asks for confirmation at the terminal; without a terminal, nothing is replaced unless `--yes` is given.
fn confirm(db: &Db, args: &RestoreArgs, out: &Output) -> Result<(), Failure> {
    let file = plain::line(&db.path.display().to_string(), usize::MAX);
    let fate = if args.delete_replaced { "deleted" } else { "kept beside it" };
    match out.ask(&format!("Replace {file} by the backup? What is there now is {fate}. Type yes: "))? {
        Some(answer) if answer.trim() == "yes" => Ok(()),
        Some(_) => Err(Failure::refused("not confirmed; nothing was replaced")),
        None => Err(Failure::new(
            Exit::Refused,
            format!("nothing was replaced without --yes; it would replace {file}, which would be {fate}"),
        )),
    }
}
