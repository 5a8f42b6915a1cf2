//! The way of a call, whoever asks: what the caller may, how often, a place, a deadline; then the operation.

use std::{fs::File, path::PathBuf, sync::Arc};

use serde_json::Value;
use thermocline::{Thermocline, UserId};
use tokio::time;

use crate::{
    caller::Caller,
    limits::Limits,
    ops::{
        self, Reply, Row,
        call::{Call, Surface},
        file::LastStats,
        problem::{Code, Problem},
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
    /// How much may be asked at once.
    pub limits: Limits,
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

/// A call that may be, before its request is read.
#[derive(Debug)]
pub struct Admitted {
    row: &'static Row,
    call: Call,
}

impl Service {
    /// The whole table over this memory, without a folder for backups.
    pub fn new(memory: Thermocline) -> Self {
        Self {
            memory,
            table: ops::table(),
            backup_folder: None,
            limits: Limits::default(),
            stats: LastStats::default(),
        }
    }

    /// The operation of this name.
    pub fn find(&self, name: &str) -> Option<&'static Row> {
        self.table.iter().find(|row| row.spec.name == name)
    }

    /// Runs an operation for a caller, if the caller may.
    pub async fn run(self: &Arc<Self>, row: &'static Row, asked: Asked) -> Result<Reply, Problem> {
        let Asked { caller, user, surface, request, spool } = asked;
        self.admit(row, caller, user, surface)?.run(request, spool).await
    }

    /// Decides from who asks, and for whom, whether a call may be, before anything is read of its request or of the file.
    pub fn admit(
        self: &Arc<Self>,
        row: &'static Row,
        caller: Arc<Caller>,
        user: Option<String>,
        surface: Surface,
    ) -> Result<Admitted, Problem> {
        caller.may(row.spec, user.as_deref())?;
        self.limits.count(&caller)?;
        Ok(Admitted { row, call: Call { service: Arc::clone(self), caller, user, surface, spool: None } })
    }
}

impl Admitted {
    /// Whose memory it is about, and its revision, if the file knows them.
    pub async fn revision(&self) -> Result<Option<(UserId, u64)>, Problem> {
        let Some(user) = self.call.find_user().await? else { return Ok(None) };
        Ok(Some((user.id(), user.revision().await?)))
    }

    /// Runs the operation. Once it has a place it runs to its end, whether anybody still waits for it or not.
    pub async fn run(self, request: Value, spool: Option<File>) -> Result<Reply, Problem> {
        let Self { row, mut call } = self;
        call.spool = spool;
        let class = row.spec.class;
        let place = call.service.limits.place(class).await?;
        let running = tokio::spawn(async move {
            let done = time::timeout(Limits::deadline(class), (row.run)(call, request)).await;
            drop(place);
            done
        });
        match running.await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(Problem::new(Code::TimedOut, "it took too long; it may have been done")),
            // What it panicked with may hold what somebody said.
            Err(_) => Err(Problem::unexpected(&"the operation panicked")),
        }
    }
}
