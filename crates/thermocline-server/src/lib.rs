//! Thermocline over HTTP and MCP, from one table of operations.
//!
//! [`ops`] is the table: what can be asked, each written once. [`service`] is the way of every call through it, whoever
//! asks: what the caller may do, then the operation. `http` and `mcp` are doors to that, and decide nothing.
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
