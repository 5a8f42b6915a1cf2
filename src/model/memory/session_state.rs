//! State that a session stores for as long as it lasts: an agent's plan, its variables.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A named text that a session stores for as long as it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionState {
    /// The name of the text, such as `plan`.
    pub name: String,
    /// The text.
    pub text: String,
    /// When the text was last written, by the system clock.
    pub updated_at: DateTime<Utc>,
}
