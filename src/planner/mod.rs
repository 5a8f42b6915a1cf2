//! LLM#1 before the answer: what it is asked about a message, and what of its answer is a plan of the search. Pure: who
//! asks it, for how long and how often, is for `recall`.

mod answer;
pub(crate) mod known;
mod prompt;

pub(crate) use answer::{SearchPlan, UnusablePlan, read};
pub(crate) use prompt::{MOST_WISHES, prompt};

use std::time::Duration;

/// How long a context waits for a plan by default: the reply cannot begin before it.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(1_500);
