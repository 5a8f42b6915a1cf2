//! HTTP: routes read off the table, and what guards them.

mod answer;
mod body;
mod guard;
mod listen;
pub mod openapi;
mod route;

use std::sync::Arc;

pub use listen::serve;

use crate::{caller::Caller, service::Service};

/// What the HTTP door needs.
#[derive(Debug)]
pub struct Http {
    /// The memory, and the way of a call.
    pub service: Arc<Service>,
    /// Who asks where there are no keys.
    pub local: Arc<Caller>,
    /// Names by which this server is called beside those of the loopback.
    pub allowed_hosts: Vec<String>,
    /// Pages of other origins that may ask.
    pub allowed_origins: Vec<String>,
    /// Bytes of a body at most.
    pub max_body_bytes: usize,
}
