//! Refused calls on their way into the audit file: the first of a kind in a minute is written at once, and of the others
//! their number, when the minute is over. So whoever is refused fills no file, and nothing that happened is missing.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The refusals of the running minute.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<HashMap<Refusal, Counted>>);

/// What refusals are counted by: all of it is known before the request is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refusal {
    pub(crate) key: String,
    pub(crate) surface: &'static str,
    pub(crate) operation: &'static str,
    /// The problem's code.
    pub(crate) outcome: &'static str,
}

/// How many refusals of a kind followed the one that was written.
#[derive(Debug)]
struct Counted {
    minute: i64,
    more: u64,
}

impl Refusals {
    /// Counts a refusal in this minute, of which [`due`](Self::due) has been asked. Returns whether it is the first of its
    /// kind, and so is written at once.
    pub(crate) fn is_first(&self, refusal: Refusal, minute: i64) -> bool {
        let mut kinds = self.kinds();
        if let Some(counted) = kinds.get_mut(&refusal) {
            counted.more += 1;
            return false;
        }
        kinds.insert(refusal, Counted { minute, more: 0 });
        true
    }

    /// Takes what was counted before this minute: each kind that had more than one refusal, and how many more.
    pub(crate) fn due(&self, minute: i64) -> Vec<(Refusal, u64)> {
        let is_over = |_: &Refusal, counted: &mut Counted| counted.minute != minute;
        let mut kinds = self.kinds();
        let over = kinds.extract_if(is_over).filter(|(_, counted)| counted.more > 0);
        over.map(|(refusal, counted)| (refusal, counted.more)).collect()
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<Refusal, Counted>> {
        // Counts stay valid even if another holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refusal_of_a_minute_is_written_at_once_and_the_others_are_counted() {
        let refusals = Refusals::default();
        let of = |key: &str| Refusal {
            key: key.to_owned(),
            surface: "http",
            operation: "record",
            outcome: "too-fast",
        };
        assert!(refusals.is_first(of("a"), 7) && refusals.is_first(of("b"), 7));
        assert!((0..4_000).all(|_| !refusals.is_first(of("a"), 7)));
        assert!(refusals.due(7).is_empty());
        assert_eq!(refusals.due(8), [(of("a"), 4_000)]);
        assert!(refusals.due(8).is_empty() && refusals.is_first(of("a"), 8));
    }
}
