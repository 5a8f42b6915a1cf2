//! `thermocline backup`: copies the whole file while others use it.

use indicatif::HumanBytes;
use serde::Serialize;

use crate::{
    args::BackupArgs,
    exit::Failure,
    find::{self, Db},
    output::Output,
    plain,
};

#[derive(Debug, Serialize)]
struct WrittenBackup {
    file: String,
    bytes: u64,
}

pub(crate) fn run(db: &Db, args: &BackupArgs, out: &Output) -> Result<(), Failure> {
    let bytes = {
        let memory = find::memory(db)?;
        let _progress = out.progress(None, "copying");
        memory.backup(&args.to)?
    };
    out.answer(&WrittenBackup { file: args.to.display().to_string(), bytes }, |written| {
        format!("{}: {}\n", plain::line(&written.file, usize::MAX), HumanBytes(written.bytes))
    })
}
