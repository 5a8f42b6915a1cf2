//! What the HTTP interface promises, over real loopback sockets; one module per behaviour.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, missing_docs, reason = "nothing outside sees a test")]

#[path = "../../../../tests/it/canaries.rs"]
mod canaries;
mod client;
mod drawn;
mod fixture;
mod logged;

mod access;
mod audit;
mod bodies;
mod conditions;
mod connections;
mod families;
mod guards;
mod keys;
mod listening;
mod load;
mod logs;
mod mcp;
mod metrics;
mod names;
mod readiness;
mod sensors;
mod tenants;
mod tls;
mod transfers;
