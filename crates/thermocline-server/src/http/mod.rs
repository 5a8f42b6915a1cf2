//! HTTP: routes derived from the table, and what guards them.

mod about;
mod answer;
mod body;
mod conditions;
mod guard;
mod id;
mod json;
mod layers;
mod listen;
mod mcp;
pub mod openapi;
mod query;
mod route;
mod spool;
mod stall;

use std::sync::Arc;

use axum::http::{HeaderMap, header};

pub use guard::Guard;
pub use listen::{Address, Listener, serve};

use crate::{
    caller::Caller,
    health::ServerHealth,
    keys::{self, Keys},
    ops::Result,
    service::Service,
};

/// What the HTTP surface needs.
#[derive(Debug)]
pub struct Http {
    /// The memory, and the path of every call.
    pub service: Arc<Service>,
    /// Who may call.
    pub callers: Callers,
    /// Where requests may come from.
    pub guard: Guard,
    /// The maximum size of a body, in bytes.
    pub max_body_bytes: usize,
    /// The maximum size of an import, in bytes.
    pub max_import_bytes: u64,
    /// Identifies this run of the server.
    pub run: String,
    /// The server's state.
    pub health: Arc<ServerHealth>,
}

/// Who may call.
#[derive(Debug)]
pub enum Callers {
    /// Anyone who reaches the address.
    Local(Arc<Caller>),
    /// Holders of keys.
    Keys(Arc<Keys>),
}

impl Callers {
    /// The caller, by the request's key if there are keys.
    pub fn find(&self, headers: &HeaderMap) -> Result<Arc<Caller>> {
        match self {
            Self::Local(caller) => Ok(Arc::clone(caller)),
            Self::Keys(keys) => keys.find(key_in(headers).ok_or_else(keys::no_key)?),
        }
    }
}

/// The key of a request that carries exactly one.
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
