//! HTTP: the routes that are derived from the table, those of MCP and those about the server, and the checks before them.

mod about;
mod answer;
mod body;
mod conditions;
mod connections;
mod guard;
mod id;
mod json;
mod layers;
mod listen;
mod log_line;
mod mcp;
pub mod openapi;
mod query;
mod route;
mod spool;
mod stall;

use std::sync::Arc;

use axum::http::{HeaderMap, header};

pub use guard::Guard;
pub(crate) use guard::check_origin;
pub use listen::{Address, Listener, serve};

use crate::{
    caller::Caller,
    health::ServerHealth,
    keys::{self, Keys},
    ops::Result,
    service::Service,
};

/// The state of the HTTP surface.
#[derive(Debug)]
pub struct Http {
    /// The service that runs every call.
    pub service: Arc<Service>,
    /// Whether callers need keys.
    pub callers: Callers,
    /// The checks of where requests come from.
    pub guard: Guard,
    /// Whether connections come from a proxy, so that their addresses are not those of the clients.
    pub is_behind_proxy: bool,
    /// The maximum size of a body other than an import, in bytes.
    pub max_body_bytes: usize,
    /// The maximum size of an import, in bytes.
    pub max_import_bytes: u64,
    /// The id of this run of the server, which is part of every `ETag`.
    pub run: String,
    /// The server's state.
    pub health: Arc<ServerHealth>,
}

/// Whether callers need keys.
#[derive(Debug)]
pub enum Callers {
    /// No: anyone who reaches the address may call, as this caller.
    Local(Arc<Caller>),
    /// Yes: each caller needs one of these keys.
    Keys(Arc<Keys>),
}

impl Callers {
    /// Returns the caller of a request; if there are keys, its key decides.
    pub fn find(&self, headers: &HeaderMap) -> Result<Arc<Caller>> {
        match self {
            Self::Local(caller) => Ok(Arc::clone(caller)),
            Self::Keys(keys) => keys.find(key_in(headers).ok_or_else(keys::no_key)?),
        }
    }
}

/// Returns the key of a request, if it carries exactly one.
fn key_in(headers: &HeaderMap) -> Option<&str> {
    let bearers = headers.get_all(header::AUTHORIZATION).iter().map(|value| {
        let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
    });
    let plain = headers.get_all("x-api-key").iter().map(|value| value.to_str().ok());
    let mut keys = bearers.chain(plain);
    match (keys.next(), keys.next()) {
        (Some(key), None) => key,
        _ => None,
    }
}
