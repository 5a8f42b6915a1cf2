//! How a memory was used and checked.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::model::memory::words::Resurfacing;

/// How a memory was used and checked: counts and times, which change no text and do not raise the revision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct MemoryState {
    /// Contexts that showed it and were answered, and uses that were reported.
    pub access_count: u32,
    /// The last of them, by the system clock; `None` if it was never used.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Uses whose outcome says whether it helped.
    pub usage_count: u32,
    /// The share of these in which it helped, from 0 to 1; `None` if there are none.
    pub success_rate: Option<f64>,
    /// Sessions in which it helped.
    pub context_count: u32,
    /// Projects in which it helped.
    pub project_count: u32,
    /// The newest check it passed, by the system clock; `None` if it passed none.
    pub validated_at: Option<DateTime<Utc>>,
    /// The sensor of that check.
    pub validated_by: Option<String>,
    /// Checks that it passed.
    pub validation_count: u32,
    /// Whether it is shown to a person again after a time.
    pub resurfacing: Resurfacing,
    /// How often a person said they had looked at it.
    pub resurfaced_count: u32,
    /// The day a person last looked at it or dismissed it.
    pub resurfaced_on: Option<NaiveDate>,
    /// How often it was dismissed; it is not shown again after the third time.
    pub dismiss_count: u32,
}

impl MemoryState {
    /// Whether it helped in at least two projects.
    pub fn is_cross_project_validated(&self) -> bool {
        self.project_count >= 2
    }
}
