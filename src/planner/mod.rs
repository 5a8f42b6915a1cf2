//! LLM#1 as planner: what it is asked about a message, and which parts of its answer are a plan of the search. Pure:
//! `recall` decides who asks it, for how long and how often.

mod answer;
pub(crate) mod known;
mod prompt;

pub(crate) use answer::{SearchPlan, UnusablePlan, read};
pub(crate) use prompt::{MOST_WISHES, prompt};

use std::time::Duration;

/// How long a context waits for a plan by default: the reply cannot start before.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(1_500);
