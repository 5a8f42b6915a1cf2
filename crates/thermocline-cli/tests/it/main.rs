//! The promises of the command, one module per behaviour.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, missing_docs, reason = "nothing outside sees a test")]

mod shell;

#[path = "../../../../tests/it/dump.rs"]
#[allow(dead_code, reason = "the library's tests need more of it")]
mod dump;
/// The library's own scripted endpoint for tests.
#[path = "../../../../src/endpoint/scripted.rs"]
#[allow(dead_code, reason = "the library's own tests need more of it")]
mod endpoint;
#[path = "../../../../tests/it/scripted.rs"]
#[allow(dead_code, reason = "the library's tests need more of it")]
mod scripted;

#[cfg(feature = "service")]
#[path = "../../benches/service/client.rs"]
#[allow(dead_code, clippy::expect_used, reason = "the benchmark needs more of it")]
mod service_client;

mod anchor;
#[cfg(feature = "service")]
mod call;
mod cli;
mod cold;
mod erase;
mod lists;
mod looking;
mod mcp;
mod memory;
mod memory_life;
mod openai;
mod paper;
mod planning;
#[cfg(feature = "service")]
mod printed;
mod recall;
mod replay;
mod reranking;
mod restore;
mod sensors;
#[cfg(feature = "service")]
mod service_end;
#[cfg(feature = "service")]
mod serving;
mod stories;
mod transfer;
mod vault;
