//! Thermocline over HTTP and MCP, from one table of operations.
//!
//! [`ops`] is the table; it defines each operation once. [`service`] runs every call, from any surface: it first checks
//! what the caller may do, and then runs the operation. `http` and `mcp` are surfaces on top of that, and decide nothing.
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "what is promised are HTTP and MCP; these types are the binary's and the tests'"
)]

pub mod access;
pub mod audit;
mod bodies;
pub mod caller;
pub mod handles;
pub mod health;
pub mod http;
pub mod keys;
pub mod limits;
pub mod log;
pub mod mcp;
pub mod metrics;
pub mod ops;
mod places;
mod rates;
mod refusals;
pub mod server;
pub mod service;
pub mod settings;
pub mod tls;
