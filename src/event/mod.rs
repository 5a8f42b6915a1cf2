//! What an operator may want to hear of. One function, [`OnEvent::emit`], tells the hook and `tracing`, so that they
//! cannot disagree.
//!
//! Events and spans hold ids, counts, kinds of errors, and the names of models that the configuration gave: never what
//! anybody said, a caller's key or name, or a provider's own words, in which a key may stand.

mod kinds;
mod tell;
#[cfg(feature = "tracing")]
mod traced;

pub use kinds::{Event, JobRef, ProviderRole};
pub use tell::OnEvent;
pub(crate) use tell::{in_job_span, in_span};
