//! Decides when a job checks a memory with sensors again.

use chrono::{DateTime, TimeDelta, Utc};

use crate::model::sensor::CheckResult;

/// How long a memory rests after a check, however stale it is: a check may hold for no time at all, and a memory that fails
/// stays stale.
const REST: TimeDelta = TimeDelta::hours(1);
/// How often the rest doubles while no check passes: up to 32 hours, since what is offline or gone usually stays so.
const DOUBLINGS: usize = 5;
/// How many of the newest checks are considered.
pub(crate) const LOOKS: u32 = 6;

/// Whether a memory rests: `looks` are the times and results of its newest checks, the newest first. A check in the future,
/// from before the clock was set back, does not count.
pub(crate) fn is_resting(looks: &[(DateTime<Utc>, CheckResult)], now: DateTime<Utc>) -> bool {
    let Some((newest, _)) = looks.first() else { return false };
    let in_vain = looks.iter().take_while(|(_, result)| *result != CheckResult::Pass).count();
    let doublings = in_vain.saturating_sub(1).min(DOUBLINGS);
    let age = now - *newest;
    age >= TimeDelta::zero() && age < REST * (1 << doublings)
}

#[cfg(test)]
mod tests {
    use CheckResult::{Fail, Pass, Unknown};

    use super::*;
    use crate::memory::facts::sample::start;

    /// Checks whether a memory rests this many minutes after its newest check. The checks are an hour apart, the newest
    /// first.
    #[track_caller]
    fn check(results: &[CheckResult], minutes: i64, expected: bool) {
        let back = |at: usize| start() - TimeDelta::hours(i64::try_from(at).unwrap());
        let looks: Vec<_> = results.iter().enumerate().map(|(at, result)| (back(at), *result)).collect();
        let now = start() + TimeDelta::minutes(minutes);
        assert_eq!(is_resting(&looks, now), expected, "{results:?} after {minutes} minutes");
    }

    #[test]
    fn what_was_looked_at_rests_an_hour_and_longer_while_nothing_passes() {
        check(&[], 0, false);
        for result in [Pass, Fail, Unknown] {
            check(&[result], 0, true);
            check(&[result], 59, true);
            check(&[result], 60, false);
        }
        check(&[Unknown, Unknown], 119, true);
        check(&[Unknown, Fail], 120, false);
        check(&[Unknown, Pass, Unknown], 60, false);
        check(&[Unknown; 6], 32 * 60 - 1, true);
        check(&[Unknown; 9], 32 * 60, false);
    }

    #[test]
    fn a_clock_that_has_come_back_makes_nothing_rest() {
        check(&[Pass], -1, false);
        check(&[Unknown; 6], -60 * 24 * 365, false);
    }
}
