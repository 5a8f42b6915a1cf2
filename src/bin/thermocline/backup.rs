//! `thermocline backup`: a whole copy of the file, while others use it.

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use serde::Serialize;

use crate::{cli::BackupArgs, exit::Failure, find, output::Output, plain};

#[derive(Debug, Serialize)]
struct Written {
    file: PathBuf,
    bytes: u64,
}

pub(crate) fn run(db: &Path, args: &BackupArgs, out: &Output) -> Result<(), Failure> {
    let bytes = {
        let memory = find::memory(db)?;
        let _progress = out.progress(None, "copying");
        memory.backup(&args.to)?
    };
    out.answer(&Written { file: args.to.clone(), bytes }, |written| {
        let file = plain::line(&written.file.display().to_string(), usize::MAX);
        format!("{file}: {}\n", HumanBytes(written.bytes))
    })
}
