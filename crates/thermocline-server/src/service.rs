//! The way of a call, whoever asks: what the caller may, then the operation.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use thermocline::Thermocline;

use crate::{
    caller::Caller,
    ops::{
        Reply, Row,
        call::{Call, Surface},
        problem::Problem,
    },
};

/// The memory, and what every surface shares.
#[derive(Debug)]
pub struct Service {
    /// The memory.
    pub memory: Thermocline,
    /// Where backups are written; `None`: the operation is refused.
    pub backup_folder: Option<PathBuf>,
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

impl Service {
    /// Runs an operation for a caller, if the caller may.
    pub async fn run(self: &Arc<Self>, row: &'static Row, asked: Asked) -> Result<Reply, Problem> {
        asked.caller.may(row.spec, asked.user.as_deref())?;
        let call = Call {
            service: Arc::clone(self),
            caller: asked.caller,
            user: asked.user,
            surface: asked.surface,
        };
        (row.run)(call, asked.request).await
    }
}
