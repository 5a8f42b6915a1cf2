//! What a session keeps for as long as it lasts: an agent's plan, its variables.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Something that a session keeps for as long as it lasts, under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionState {
    /// Its name: `plan`.
    pub name: String,
    /// What it says.
    pub text: String,
    /// When it was written last, by the system clock.
    pub updated_at: DateTime<Utc>,
}
