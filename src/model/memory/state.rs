//! How a memory was used and checked.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::model::memory::words::Resurfacing;

/// How often and when a memory was used, was checked, and was shown to a person again. Counting by itself changes no text
/// and does not raise the revision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct MemoryState {
    /// The number of contexts that showed the memory and were answered, plus the reported uses that are not among these.
    pub access_count: u32,
    /// When the memory was last used, by the system clock; `None` if never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The number of rated uses: those whose outcome says whether the memory helped.
    pub usage_count: u32,
    /// The share of rated uses in which the memory helped, from 0 to 1; `None` if no use is rated.
    pub success_rate: Option<f64>,
    /// The number of sessions in which the memory helped.
    pub context_count: u32,
    /// The number of projects in which the memory helped.
    pub project_count: u32,
    /// When the memory last passed a check, by the system clock; `None` if never.
    pub validated_at: Option<DateTime<Utc>>,
    /// The name of the sensor that the memory passed last, or `human` for a person; `None` if it never passed a check.
    pub validated_by: Option<String>,
    /// The number of checks that the memory passed.
    pub validation_count: u32,
    /// Whether the memory is shown to a person again after a time.
    pub resurfacing: Resurfacing,
    /// How often a person said that they had looked at the memory, counted at most once a day.
    pub resurfaced_count: u32,
    /// The day (UTC) on which a person last looked at the memory or dismissed it.
    pub resurfaced_on: Option<NaiveDate>,
    /// How often a person dismissed the memory since resurfacing was last switched on, counted at most once a day. After
    /// the third time the memory is not shown again until resurfacing is switched on.
    pub dismiss_count: u32,
}

impl MemoryState {
    /// Returns whether the memory helped in at least two projects.
    pub fn is_cross_project_validated(&self) -> bool {
        self.project_count >= 2
    }
}
