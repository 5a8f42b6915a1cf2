//! The way of a call, whoever asks: what the caller may, how often, a place, a deadline; then the operation.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use thermocline::Thermocline;
use tokio::time;

use crate::{
    caller::Caller,
    limits::Limits,
    ops::{
        Reply, Row,
        call::{Call, Surface},
        problem::{Code, Problem},
    },
};

/// The memory, and what every surface shares.
#[derive(Debug)]
pub struct Service {
    /// The memory.
    pub memory: Thermocline,
    /// Where backups are written; `None`: the operation is refused.
    pub backup_folder: Option<PathBuf>,
    /// How much may be asked at once.
    pub limits: Limits,
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
        Self { memory, backup_folder: None, limits: Limits::default() }
    }

    /// Runs an operation for a caller, if the caller may.
    pub async fn run(self: &Arc<Self>, row: &'static Row, asked: Asked) -> Result<Reply, Problem> {
        self.admit(row, asked.caller, asked.user, asked.surface)?.run(asked.request).await
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
        Ok(Admitted { row, call: Call { service: Arc::clone(self), caller, user, surface } })
    }
}

impl Admitted {
    /// Runs the operation. Once it has a place it runs to its end, whether anybody still waits for it or not.
    pub async fn run(self, request: Value) -> Result<Reply, Problem> {
        let Self { row, call } = self;
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
