//! Any sequence of records, ends, silences, kills and reopenings keeps the invariants and gives the same state as a
//! simple model.

use chrono::TimeDelta;
use proptest::prelude::*;
use thermocline::{Durability, ErrorKind, RecordOutcome, Reply, blocking::Session};

use crate::support::{Fixture, hot, turn_of, warm};

#[derive(Clone, Debug)]
enum Step {
    /// Records a turn of this many tokens.
    Record(usize),
    /// Records an earlier turn again.
    Repeat(usize),
    /// Records a message of this many tokens, without its reply.
    Message(usize),
    /// Adds a reply of this many tokens to the waiting message.
    Complete(usize),
    /// Replaces one of the last turns, this many before the newest, with one of this many tokens.
    Replace(usize, usize),
    End,
    New,
    /// This many hours of silence; if negative, the clock goes back.
    Silence(i64),
    /// All handles are dropped and the file is opened again.
    Reopen,
    /// The process dies: only the bytes that are in the files by now remain.
    Kill,
    /// The other handle of the same session takes over.
    Other,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => prop_oneof![1_usize..60, 1_usize..800, 1_490_usize..1_510, 3_000_usize..3_010].prop_map(Step::Record),
        2 => (0_usize..40).prop_map(Step::Repeat),
        4 => (1_usize..800).prop_map(Step::Message),
        4 => (1_usize..800).prop_map(Step::Complete),
        3 => (0_usize..9, 1_usize..800).prop_map(|(back, size)| Step::Replace(back, size)),
        1 => Just(Step::End),
        1 => Just(Step::New),
        2 => (-30_i64..50).prop_map(Step::Silence),
        1 => Just(Step::Reopen),
        1 => Just(Step::Kill),
        2 => Just(Step::Other),
    ];
    prop::collection::vec(step, 1..50)
}

/// The expected state of a session.
#[derive(Clone, Debug, Default)]
struct Expected {
    sizes: Vec<u32>,
    /// How many of these are no longer hot.
    evicted: usize,
    /// The message that waits for its reply.
    waiting: Option<u32>,
    ended: bool,
}

impl Expected {
    /// Adds a turn or a message; the rule from the papers decides which others are evicted.
    fn push(&mut self, size: usize, waits: bool) {
        self.settle();
        let size = u32::try_from(size).unwrap();
        if waits {
            self.waiting = Some(size);
        } else {
            self.sizes.push(size);
        }
        self.evict();
    }

    fn evict(&mut self) {
        loop {
            let hot: Vec<u32> = self.sizes[self.evicted..].iter().chain(&self.waiting).copied().collect();
            if hot.len() <= 1 || (hot.len() <= 5 && hot.iter().sum::<u32>() <= 1_500) {
                return;
            }
            self.evicted += 1;
        }
    }

    /// Makes the newest turns hot again after others were removed, as many as the limits allow.
    fn refill(&mut self) {
        self.evicted = self.evicted.min(self.sizes.len());
        while self.evicted > 0 {
            let hot = &self.sizes[self.evicted - 1..];
            if hot.len() > 1 && (hot.len() > 5 || hot.iter().sum::<u32>() > 1_500) {
                return;
            }
            self.evicted -= 1;
        }
    }

    fn settle(&mut self) {
        self.sizes.extend(self.waiting.take());
    }

    fn is_empty(&self) -> bool {
        self.sizes.is_empty() && self.waiting.is_none()
    }

    fn end(&mut self) {
        self.settle();
        (self.ended, self.evicted) = (true, self.sizes.len());
    }

    #[track_caller]
    fn check(&self, session: &Session) {
        let count = self.sizes.len();
        let (first_hot, waiting) = (self.evicted, usize::from(self.waiting.is_some()));
        let places =
            |range: std::ops::Range<usize>| range.map(|n| u32::try_from(n + 1).unwrap()).collect::<Vec<_>>();
        assert_eq!(hot(session), places(first_hot..count + waiting));
        let tokens: u32 = self.sizes[first_hot..].iter().chain(&self.waiting).sum();
        assert_eq!(session.hot().unwrap().total_tokens(), tokens);
        let warm = warm(session);
        assert_eq!(warm, places(first_hot - warm.len()..first_hot), "no gap between warm and hot");
        let info = session.info().unwrap();
        assert_eq!((info.turn_count as usize, info.ended_at.is_some()), (count, self.ended));
        assert_eq!(info.incomplete_turn.is_some(), self.waiting.is_some());
        assert_eq!(info.total_tokens, self.sizes.iter().map(|&size| u64::from(size)).sum::<u64>());
        assert_eq!(
            session.transitions(None, 1_000).unwrap().len(),
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
                Step::Record(size) | Step::Message(size) => {
                    let (id, waits) = (recorded.len(), matches!(step, Step::Message(_)));
                    let outcome = match step {
                        Step::Message(_) => session.record_message(turn_of(size)),
                        _ => session.record(turn_of(size).caller_id(id.to_string())),
                    };
                    if expected.ended {
                        prop_assert_eq!(outcome.unwrap_err().kind(), ErrorKind::SessionEnded);
                        continue;
                    }
                    let outcome = outcome.unwrap();
                    let is_silent = silence >= TimeDelta::hours(24) && !expected.is_empty();
                    prop_assert_eq!(outcome.continues.is_some(), is_silent);
                    if is_silent {
                        expected = Expected::default();
                        other = fixture.alex().session_by_id(session.id()).unwrap();
                    }
                    expected.push(size, waits);
                    if !waits {
                        recorded.push((size, outcome));
                    }
                    silence = TimeDelta::zero();
                }
                Step::Complete(size) => {
                    let Some(waiting) = session.info().unwrap().incomplete_turn else { continue };
                    let reply = "y".to_owned() + &" y".repeat(size - 1);
                    session.complete(waiting, Reply::new(reply)).unwrap();
                    expected.waiting = expected.waiting.map(|message| message + u32::try_from(size).unwrap());
                    expected.settle();
                    expected.evict();
                    silence = TimeDelta::zero();
                }
                Step::Replace(back, size) => {
                    let place = expected.sizes.len().saturating_sub(back + 1);
                    let number = u32::try_from(place + 1).unwrap();
                    let Some(turn) = session.turn(number).unwrap() else { continue };
                    let outcome = session.record(turn_of(size).replacing(turn.id));
                    let is_silent = silence >= TimeDelta::hours(24);
                    if expected.ended || is_silent {
                        let why = if expected.ended { ErrorKind::SessionEnded } else { ErrorKind::InvalidInput };
                        prop_assert_eq!(outcome.unwrap_err().kind(), why);
                        continue;
                    }
                    prop_assert_eq!(outcome.unwrap().turn_number, number);
                    expected.waiting = None;
                    expected.sizes.truncate(place);
                    expected.refill();
                    expected.push(size, false);
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
                    expected.end();
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
