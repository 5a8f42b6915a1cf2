//! The way of a call, whoever asks: what the caller may, then the operation.

use std::{fs::File, path::PathBuf, sync::Arc};

use serde_json::Value;
use thermocline::Thermocline;

use crate::{
    caller::Caller,
    ops::{
        self, Reply, Row,
        call::{Call, Surface},
        file::LastStats,
        problem::Problem,
    },
};

/// The memory, and what every surface shares.
#[derive(Debug)]
pub struct Service {
    /// The memory.
    pub memory: Thermocline,
    /// What can be asked of it.
    pub table: &'static [Row],
    /// Where backups are written; `None`: the operation is refused.
    pub backup_folder: Option<PathBuf>,
    /// The last counts of the file.
    pub stats: LastStats,
}

/// One call, before it is decided whether it may be.
#[derive(Debug)]
pub struct Asked {
    /// Who asks.
    pub caller: Arc<Caller>,
    /// The user it is about: a name, or `id:<uuid>`.
    pub user: Option<String>,
    /// By which door.
    pub surface: Surface,
    /// The request, as JSON.
    pub request: Value,
    /// For an operation whose [body](crate::ops::spec::Body) is lines: an empty file that it writes them to, or a file of
    /// lines that it reads, at its beginning. The surface keeps a clone of the handle (`File::try_clone`), and goes back to
    /// the beginning before it sends what was written.
    pub spool: Option<File>,
}

impl Service {
    /// The whole table over this memory, without a folder for backups.
    pub fn new(memory: Thermocline) -> Self {
        Self { memory, table: ops::table(), backup_folder: None, stats: LastStats::default() }
    }

    /// The operation of this name.
    pub fn find(&self, name: &str) -> Option<&'static Row> {
        self.table.iter().find(|row| row.spec.name == name)
    }

    /// Runs an operation for a caller, if the caller may.
    pub async fn run(self: &Arc<Self>, row: &'static Row, asked: Asked) -> Result<Reply, Problem> {
        asked.caller.may(row.spec, asked.user.as_deref())?;
        let call = Call {
            service: Arc::clone(self),
            caller: asked.caller,
            user: asked.user,
            surface: asked.surface,
            spool: asked.spool,
        };
        (row.run)(call, asked.request).await
    }
}
