//! What the crate promises, one module per behaviour.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, missing_docs, reason = "nothing outside sees a test")]

mod support;

mod dump;
/// The crate's own scripted endpoint for tests.
#[cfg(feature = "llm")]
#[path = "../../src/endpoint/scripted.rs"]
#[allow(dead_code, reason = "the crate's own tests need more of it")]
mod endpoint;
mod knowledge;
mod scripted;

mod again;
mod anchors;
mod by_names;
mod canaries;
mod changes;
#[cfg(feature = "llm")]
mod chat_backend;
mod children;
mod cold_pages;
mod compression;
mod context;
mod crash;
mod damage;
mod doctor;
mod erase;
mod erase_damaged;
mod erase_turn;
mod events;
mod foreign_schema;
mod health;
mod imports;
mod isolation;
mod jobs;
mod layers;
mod lost;
mod memories;
mod memories_context;
mod memories_transfer;
mod messages;
mod metadata;
mod model;
mod no_hole;
mod one_turn;
mod opening;
mod pages;
mod paper;
mod parity;
mod portable_sql;
mod providers;
mod read_only;
mod recall;
mod recording;
mod remember;
mod restored;
mod revision;
#[cfg(feature = "schema")]
mod schema;
mod sessions;
mod sql;
mod stored_times;
mod swap_kill;
#[cfg(feature = "tracing")]
mod traced;
mod transfer;
mod trust;
#[cfg(feature = "files")]
mod vault;
#[cfg(feature = "files")]
mod vault_formats;
#[cfg(feature = "files")]
mod vault_hostile;
mod wishes;
