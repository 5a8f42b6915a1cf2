//! Any sequence of records, ends, silences, kills and reopenings keeps the invariants, against a simple model.

use chrono::TimeDelta;
use proptest::prelude::*;
use thermocline::{Durability, ErrorKind, RecordOutcome, blocking::Session};

use crate::support::{Fixture, hot, turn_of, warm};

#[derive(Clone, Debug)]
enum Step {
    /// Records a turn of so many tokens.
    Record(usize),
    /// Records an earlier turn again.
    Repeat(usize),
    End,
    New,
    /// Nothing is said for so many hours.
    Silence(i64),
    /// All handles are dropped and the file is opened again.
    Reopen,
    /// The process dies: only the bytes that are in the files now are left.
    Kill,
    /// The other handle on the same session goes on.
    Other,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => prop_oneof![1_usize..60, 1_usize..800, 1_490_usize..1_510, 3_000_usize..3_010].prop_map(Step::Record),
        2 => (0_usize..40).prop_map(Step::Repeat),
        1 => Just(Step::End),
        1 => Just(Step::New),
        2 => (-30_i64..50).prop_map(Step::Silence),
        1 => Just(Step::Reopen),
        1 => Just(Step::Kill),
        2 => Just(Step::Other),
    ];
    prop::collection::vec(step, 1..50)
}

/// What a session must look like.
#[derive(Clone, Debug, Default)]
struct Expected {
    sizes: Vec<u32>,
    ended: bool,
}

impl Expected {
    /// How many of the newest turns are hot, by the rule as the papers state it.
    fn hot_len(&self) -> usize {
        let mut hot: Vec<u32> = Vec::new();
        for &size in &self.sizes {
            hot.push(size);
            while hot.len() > 1 && (hot.len() > 5 || hot.iter().sum::<u32>() > 1_500) {
                hot.remove(0);
            }
        }
        if self.ended { 0 } else { hot.len() }
    }

    #[track_caller]
    fn check(&self, session: &Session) {
        let count = self.sizes.len();
        let first_hot = count - self.hot_len();
        let places =
            |range: std::ops::Range<usize>| range.map(|n| u32::try_from(n + 1).unwrap()).collect::<Vec<_>>();
        assert_eq!(hot(session), places(first_hot..count));
        assert_eq!(session.hot().unwrap().total_tokens(), self.sizes[first_hot..].iter().sum::<u32>());
        let warm = warm(session);
        assert_eq!(warm, places(first_hot - warm.len()..first_hot), "no gap between warm and hot");
        let info = session.info().unwrap();
        assert_eq!((info.turn_count as usize, info.ended_at.is_some()), (count, self.ended));
        assert_eq!(info.total_tokens, self.sizes.iter().map(|&size| u64::from(size)).sum::<u64>());
        assert_eq!(
            session.transitions().unwrap().len(),
            first_hot,
            "every turn outside of hot has moved once"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_keeps_the_invariants(steps in steps()) {
        let mut fixture = Fixture::new();
        fixture.config.durability = Durability::Relaxed;
        fixture.config.live_sessions = 2;
        let mut session = fixture.session();
        let mut other = fixture.session();
        let (mut expected, mut silence) = (Expected::default(), TimeDelta::zero());
        let mut recorded: Vec<(usize, thermocline::Recorded)> = Vec::new();
        for step in steps {
            match step {
                Step::Record(size) => {
                    let id = recorded.len();
                    let outcome = session.record(turn_of(size).caller_id(id.to_string()));
                    if expected.ended {
                        prop_assert_eq!(outcome.unwrap_err().kind(), ErrorKind::SessionEnded);
                        continue;
                    }
                    let outcome = outcome.unwrap();
                    let is_silent = silence >= TimeDelta::hours(24) && !expected.sizes.is_empty();
                    prop_assert_eq!(outcome.continues.is_some(), is_silent);
                    if is_silent {
                        expected = Expected::default();
                        other = fixture.alex().session_by_id(session.id()).unwrap();
                    }
                    expected.sizes.push(u32::try_from(size).unwrap());
                    recorded.push((size, outcome));
                    silence = TimeDelta::zero();
                }
                Step::Repeat(n) if !recorded.is_empty() => {
                    let id = n % recorded.len();
                    let (size, first) = &recorded[id];
                    let again = session.record(turn_of(*size).caller_id(id.to_string())).unwrap();
                    prop_assert_eq!((again.turn_id, again.seq, again.outcome), (first.turn_id, first.seq, RecordOutcome::Known));
                }
                Step::Repeat(_) => {}
                Step::End => {
                    session.end().unwrap();
                    expected.ended = true;
                }
                Step::New => {
                    session = fixture.alex().new_session().unwrap();
                    other = fixture.alex().session_by_id(session.id()).unwrap();
                    (expected, silence) = (Expected::default(), TimeDelta::zero());
                }
                Step::Silence(hours) => {
                    fixture.clock.advance(TimeDelta::hours(hours));
                    silence += TimeDelta::hours(hours);
                }
                Step::Reopen | Step::Kill => {
                    let id = session.id();
                    if matches!(step, Step::Kill) {
                        fixture = fixture.copy();
                    }
                    session = fixture.alex().session_by_id(id).unwrap();
                    other = fixture.alex().session_by_id(id).unwrap();
                }
                Step::Other => std::mem::swap(&mut session, &mut other),
            }
            expected.check(&session);
            expected.check(&other);
        }
        let diagnosis = fixture.open().doctor().unwrap();
        prop_assert!(diagnosis.is_healthy(), "{:?}", diagnosis);
    }
}
