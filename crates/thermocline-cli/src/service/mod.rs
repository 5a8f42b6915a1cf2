//! The verbs over the service crate, and what they share.

pub(crate) mod call;
pub(crate) mod key;
pub(crate) mod mcp;
pub(crate) mod serve;

use std::{io, sync::Arc};

use thermocline::Thermocline;
use thermocline_server::service::Service;
use tokio::runtime;

use crate::{
    exit::{Exit, Failure},
    find::{self, Db},
};

async fn open(db: &Db) -> Result<Arc<Service>, Failure> {
    db.check_writable()?;
    let mut config = find::verb_config();
    config.worker = true;
    let memory = Thermocline::open_with(&db.path, config).await?;
    Ok(Arc::new(Service::new(memory)))
}

fn runtime() -> Result<runtime::Runtime, Failure> {
    runtime::Builder::new_multi_thread().enable_all().build().map_err(io_failure)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn io_failure(error: io::Error) -> Failure {
    Failure::new(Exit::Unexpected, error.to_string())
}
