//! LLM#1 as planner: the prompt about a message, and the search plan in the answer. Pure functions: `recall` asks LLM#1, and
//! decides when and for how long.

mod answer;
pub(crate) mod known;
mod prompt;

pub(crate) use answer::{SearchPlan, UnusablePlan, read};
pub(crate) use prompt::{MOST_WISHES, prompt};

use std::time::Duration;

/// How long a context waits for a plan by default. The reply to the user cannot start before that.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(1_500);
