//! Procedures: how something is done, as steps.

use serde::{Deserialize, Serialize};

/// The steps of a memory of the kind [`MemoryKind::Procedure`](crate::MemoryKind::Procedure).
///
/// ```
/// use thermocline::Procedure;
/// let deploy = Procedure::new(["Run the tests", "Push the image"]).preconditions(["On main"]);
/// assert_eq!(deploy.steps.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Procedure {
    /// What to do, in order.
    pub steps: Vec<String>,
    /// What must hold before the steps.
    pub preconditions: Vec<String>,
    /// What holds after the steps.
    pub postconditions: Vec<String>,
}

impl Procedure {
    /// Creates a procedure with these steps, in order.
    pub fn new<S: Into<String>>(steps: impl IntoIterator<Item = S>) -> Self {
        Self { steps: owned(steps), ..Self::default() }
    }

    /// Sets what must hold before the steps.
    #[must_use]
    pub fn preconditions<S: Into<String>>(mut self, conditions: impl IntoIterator<Item = S>) -> Self {
        self.preconditions = owned(conditions);
        self
    }

    /// Sets what holds after the steps.
    #[must_use]
    pub fn postconditions<S: Into<String>>(mut self, conditions: impl IntoIterator<Item = S>) -> Self {
        self.postconditions = owned(conditions);
        self
    }

    /// Returns whether there are neither steps nor conditions.
    pub fn is_empty(&self) -> bool {
        self.lines().next().is_none()
    }

    /// Returns all lines: the steps, then what must hold before them and what holds after them.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        let lines = self.steps.iter().chain(&self.preconditions).chain(&self.postconditions);
        lines.map(String::as_str)
    }
}

fn owned<S: Into<String>>(lines: impl IntoIterator<Item = S>) -> Vec<String> {
    lines.into_iter().map(Into::into).collect()
}
