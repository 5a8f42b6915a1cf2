//! The table of operations, and everything generated from it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, missing_docs, reason = "nothing outside sees a test")]

mod bench;

#[path = "../http/client.rs"]
#[allow(dead_code, reason = "the tests of HTTP need more of it")]
mod client;
#[path = "../http/fixture.rs"]
#[allow(dead_code, reason = "the tests of HTTP need more of it")]
mod fixture;
#[path = "../mcp/talk.rs"]
#[allow(dead_code, reason = "the tests of MCP need more of it")]
mod talk;

mod names;
mod openapi;
mod own_row;
mod pages;
mod problems;
mod refused;
mod rounds;
mod times;
mod trust;
mod walk;
mod wall;
