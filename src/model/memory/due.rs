//! Memories that should be shown to a person again.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::model::memory::known::Memory;

/// A memory that is due to be shown to a person again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Due {
    /// The day (UTC) since which the memory is due.
    pub due_on: NaiveDate,
    /// The memory.
    pub memory: Memory,
}
