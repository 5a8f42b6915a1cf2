//! Events for the operator. [`OnEvent::emit`] is the only function that sends them, to both the hook and `tracing`, so
//! that the two cannot disagree.
//!
//! Events and spans contain ids, counts, times, kinds of errors, and the names of configured providers and models. They
//! never contain what anybody said, a caller's key or name, or a provider's own words, which may contain a key.

mod kinds;
mod tell;
#[cfg(feature = "tracing")]
mod traced;

pub use kinds::{Event, JobRef, ProviderRole};
pub use tell::OnEvent;
pub(crate) use tell::{in_job_span, in_span, in_span_found};
