//! HTTP: routes read off the table, and what guards them.

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

/// What the HTTP door needs.
#[derive(Debug)]
pub struct Http {
    /// The memory, and the way of a call.
    pub service: Arc<Service>,
    /// Who may ask.
    pub callers: Callers,
    /// Where requests may come from.
    pub guard: Guard,
    /// Bytes of a body at most.
    pub max_body_bytes: usize,
    /// Bytes of an import at most.
    pub max_import_bytes: u64,
    /// Names this run of the server.
    pub run: String,
    /// How the server is.
    pub health: Arc<ServerHealth>,
}

/// Who may ask.
#[derive(Debug)]
pub enum Callers {
    /// Whoever reaches this address.
    Local(Arc<Caller>),
    /// Who has a key.
    Keys(Arc<Keys>),
}

impl Callers {
    /// Who asks, by the request's key, if there are keys.
    pub fn find(&self, headers: &HeaderMap) -> Result<Arc<Caller>> {
        match self {
            Self::Local(caller) => Ok(Arc::clone(caller)),
            Self::Keys(keys) => keys.find(key_in(headers).ok_or_else(keys::no_key)?),
        }
    }
}

/// The key that a request carries, once.
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
