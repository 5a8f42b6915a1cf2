//! Calls by key over time: a key with a rate may run ahead of it by one period's calls.
//!
//! What a call costs is known only when its body was read. So a call needs room for one, and what it costs beyond that is
//! owed: the next calls wait until it is paid off. (This is the generic cell rate algorithm, ITU-T I.371, with debts.)

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::caller::{Per, Rate};

/// The calls of each key that has a rate.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<HashMap<String, Paid>>);

/// What a key has called.
#[derive(Debug)]
struct Paid {
    rate: Rate,
    /// When all that was called is paid off.
    until: Instant,
}

impl Rates {
    /// Counts a call of this key. Errors: how long the key has to wait for its next call. A call that is refused for this
    /// costs nothing: otherwise a client that is a little too fast would never be let in again.
    pub(crate) fn count(&self, key: &str, rate: Rate) -> Result<(), Duration> {
        let (period, of_one) = (period(rate), of_one(rate));
        let now = Instant::now();
        let mut keys = self.keys();
        let paid = paid(&mut keys, key, rate);
        let due = (paid.until.max(now) - now) + of_one;
        if let Some(wait) = due.checked_sub(period).filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        paid.until = now + due;
        Ok(())
    }

    /// Adds what a call cost beyond its first unit.
    pub(crate) fn charge(&self, key: &str, rate: Rate, units: u32) {
        let now = Instant::now();
        let mut keys = self.keys();
        let paid = paid(&mut keys, key, rate);
        let from = paid.until.max(now);
        paid.until = from.checked_add(of_one(rate).saturating_mul(units)).unwrap_or(from);
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<String, Paid>> {
        // Counts stay valid even if another holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what this key has called; a changed rate begins anew.
fn paid<'k>(keys: &'k mut HashMap<String, Paid>, key: &str, rate: Rate) -> &'k mut Paid {
    let paid = keys.entry(key.to_owned()).or_insert_with(|| Paid { rate, until: Instant::now() });
    if paid.rate != rate {
        *paid = Paid { rate, until: Instant::now() };
    }
    paid
}

fn period(rate: Rate) -> Duration {
    match rate.per {
        Per::Second => Duration::from_secs(1),
        Per::Minute => Duration::from_mins(1),
        Per::Hour => Duration::from_hours(1),
    }
}

/// The share of the period that one call takes.
fn of_one(rate: Rate) -> Duration {
    period(rate) / rate.times.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_may_call_as_often_in_a_period_as_its_rate_says() {
        let (rates, rate) = (Rates::default(), rate("3/m"));
        assert_eq!([(); 4].map(|()| rates.count("a", rate).is_ok()), [true, true, true, false]);
        assert!(rates.count("b", rate).is_ok());
        assert_eq!(rates.count("a", rate), Err(Duration::from_secs(20)));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!([(); 2].map(|()| rates.count("a", rate).is_ok()), [true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_call_costs_beyond_one_is_owed() {
        let (rates, rate) = (Rates::default(), rate("60/m"));
        rates.count("a", rate).unwrap();
        rates.charge("a", rate, 299);
        assert_eq!(rates.count("a", rate), Err(Duration::from_secs(241)));
        tokio::time::advance(Duration::from_secs(241)).await;
        rates.count("a", rate).unwrap();
        rates.charge("a", rate, u32::MAX);
        assert!(rates.count("a", rate).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_refused_and_comes_again_at_once_is_let_in_when_it_is_time() {
        let (rates, rate) = (Rates::default(), rate("1/m"));
        rates.count("a", rate).unwrap();
        for _ in 0..59 {
            assert!(rates.count("a", rate).is_err());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        rates.count("a", rate).unwrap();
    }
}
