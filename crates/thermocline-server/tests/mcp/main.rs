//! What the MCP interface promises, one module per behaviour.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, missing_docs, reason = "nothing outside sees a test")]

#[path = "../http/client.rs"]
#[allow(dead_code, reason = "the tests of HTTP need more of it")]
mod client;
#[path = "../http/fixture.rs"]
#[allow(dead_code, reason = "the tests of HTTP need more of it")]
mod fixture;

mod calls;
mod eras;
mod http;
mod profiles;
mod reading;
mod refusals;
mod talk;
