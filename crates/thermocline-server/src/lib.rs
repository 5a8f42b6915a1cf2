//! Thermocline over HTTP and MCP, from one table of operations.
//!
//! [`ops`] is the table: everything that can be asked, each defined once. [`service`] is the path of every call through it,
//! whoever calls: first what the caller may do, then the operation. `http` and `mcp` are surfaces on top of that, and decide
//! nothing.
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "what is promised are HTTP and MCP; these types are the binary's and the tests'"
)]

pub mod audit;
pub mod caller;
pub mod health;
pub mod http;
pub mod keys;
pub mod limits;
pub mod log;
pub mod mcp;
pub mod metrics;
pub mod ops;
pub mod server;
pub mod service;
pub mod settings;
pub mod tls;
