//! The hot tier: the last turns of a session, and which of them are evicted.

use std::{collections::VecDeque, sync::Arc};

use serde::{Serialize, Serializer};

use crate::model::{
    tier::MoveReason,
    turn::{Turn, TurnState},
};

/// The last turns of one session, oldest first.
///
/// There are at most [`HotLimits::turns`] turns with at most [`HotLimits::tokens`] tokens together. The newest turn is never
/// evicted, so it may exceed the limit of tokens by itself. A tier that was recorded under larger limits may exceed these
/// until the next turn is recorded. `total_tokens` is the sum over `turns`.
// It caches the session's rows with `memory_tier = 'hot'`. Cloning is cheap, because the turns are shared.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HotTier {
    #[serde(serialize_with = "as_turns")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Turn>"))]
    turns: VecDeque<Arc<Turn>>,
    total_tokens: u32,
    limits: HotLimits,
    /// The numbers of the tier's turns whose rows are damaged. They are not shown, and become warm when the session ends.
    damaged: Vec<u32>,
}

/// The limits of the hot tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HotLimits {
    /// The maximum number of turns, at least 1.
    pub turns: usize,
    /// The maximum number of tokens of all turns' texts together.
    pub tokens: u32,
}

impl HotLimits {
    /// Returns limits of this many turns and this many tokens.
    pub fn new(turns: usize, tokens: u32) -> Self {
        Self { turns, tokens }
    }
}

fn as_turns<S: Serializer>(turns: &VecDeque<Arc<Turn>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(turns.iter().map(Arc::as_ref))
}

/// The maximum number of turns for which space is reserved in advance: several times the usual limit.
const MAX_RESERVED_TURNS: usize = 64;

/// A turn that was evicted from the hot tier.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evicted {
    /// The turn, which is warm now.
    pub turn: Arc<Turn>,
    /// The limit that was exceeded, as the reason of the move.
    pub reason: MoveReason,
}

impl HotTier {
    /// Returns an empty tier with these limits.
    pub fn new(limits: HotLimits) -> Self {
        // A limit may be set so high that it has no effect. Then the tier grows as turns are added.
        let capacity = limits.turns.saturating_add(1).min(MAX_RESERVED_TURNS);
        Self { turns: VecDeque::with_capacity(capacity), total_tokens: 0, limits, damaged: Vec::new() }
    }

    /// Returns a tier with the turns of the file's rows, oldest first, even if they exceed the limits. The next push
    /// enforces the limits.
    pub(crate) fn from_rows(
        limits: HotLimits,
        turns: impl IntoIterator<Item = Turn>,
        damaged: Vec<u32>,
    ) -> Self {
        let turns: VecDeque<Arc<Turn>> = turns.into_iter().map(Arc::new).collect();
        let total_tokens =
            turns.iter().fold(0, |sum: u32, turn| sum.saturating_add(turn.tokens.total_tokens));
        Self { turns, total_tokens, limits, damaged }
    }

    /// Adds the newest turn, and returns the turns that this evicts, oldest first.
    pub fn push(&mut self, turn: Arc<Turn>) -> Vec<Evicted> {
        self.total_tokens = self.total_tokens.saturating_add(turn.tokens.total_tokens);
        self.turns.push_back(turn);
        self.settle()
    }

    /// Evicts the oldest turns until the limits hold, and returns them, oldest first. Rows may hold more than the limits
    /// allow.
    pub(crate) fn settle(&mut self) -> Vec<Evicted> {
        let mut evicted = Vec::new();
        while self.turns.len() > 1 {
            let reason = if self.turns.len() > self.limits.turns {
                MoveReason::TurnLimit
            } else if self.total_tokens > self.limits.tokens {
                MoveReason::TokenBudget
            } else {
                break;
            };
            if let Some(turn) = self.turns.pop_front() {
                self.total_tokens = self.total_tokens.saturating_sub(turn.tokens.total_tokens);
                evicted.push(Evicted { turn, reason });
            }
        }
        evicted
    }

    /// Removes the newest turn if it is incomplete. It is added again with its reply.
    pub(crate) fn take_incomplete(&mut self) {
        let waits = self.turns.back().is_some_and(|turn| turn.state == TurnState::Incomplete);
        if waits && let Some(turn) = self.turns.pop_back() {
            self.total_tokens = self.total_tokens.saturating_sub(turn.tokens.total_tokens);
        }
    }

    /// Returns the turns, oldest first.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &Turn> + ExactSizeIterator {
        self.turns.iter().map(Arc::as_ref)
    }

    /// Returns the turns before a message, oldest first. Leaves out the message itself if it was recorded without its reply.
    pub(crate) fn before(&self, message: &str) -> Vec<&Turn> {
        self.turns().filter(|turn| !Self::is_waiting(turn, message)).collect()
    }

    /// Returns whether the turn is this message, recorded without its reply.
    pub(crate) fn is_waiting(turn: &Turn, message: &str) -> bool {
        turn.state == TurnState::Incomplete && turn.said.user_message == message
    }

    /// Returns the turns, newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Arc<Turn>> {
        self.turns.iter().rev()
    }

    /// Returns the number of turns, without damaged ones.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// Returns whether there are no turns, as in a session that is new or has ended.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns the number of tokens of all turns' texts together.
    pub fn total_tokens(&self) -> u32 {
        self.total_tokens
    }

    /// Returns the numbers of hot turns that are left out because their rows are damaged. Normally empty.
    pub fn damaged(&self) -> &[u32] {
        &self.damaged
    }

    /// Returns the number of the tier's oldest turn.
    pub(crate) fn first_turn_number(&self) -> Option<u32> {
        self.turns.front().map(|turn| turn.turn_number)
    }

    /// Returns the bytes of text and metadata that the turns hold, by which the cache of live sessions is limited.
    pub(crate) fn text_bytes(&self) -> usize {
        self.turns().map(Turn::kept_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turn_of(turn_number: u32, total_tokens: u32) -> Arc<Turn> {
        Arc::new(Turn::sample(turn_number, "x", total_tokens))
    }

    #[track_caller]
    fn check(recorded: &[u32], kept: &[u32], last_eviction: &[MoveReason]) {
        let mut hot = HotTier::new(HotLimits { turns: 5, tokens: 1_500 });
        let mut reasons = Vec::new();
        for (i, &tokens) in recorded.iter().enumerate() {
            let evicted = hot.push(turn_of(u32::try_from(i).unwrap() + 1, tokens));
            reasons = evicted.into_iter().map(|evicted| evicted.reason).collect();
        }
        let tokens: Vec<u32> = hot.turns().map(|turn| turn.tokens.total_tokens).collect();
        assert_eq!((tokens.as_slice(), reasons.as_slice()), (kept, last_eviction), "{recorded:?}");
    }

    use MoveReason::{TokenBudget, TurnLimit};

    #[test]
    fn the_oldest_turn_leaves_when_there_are_more_than_five() {
        check(&[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], &[]);
        check(&[1, 2, 3, 4, 5, 6], &[2, 3, 4, 5, 6], &[TurnLimit]);
    }

    #[test]
    fn the_oldest_turns_leave_when_the_tokens_exceed_the_budget() {
        check(&[500, 500, 500], &[500, 500, 500], &[]);
        check(&[500, 500, 500, 1], &[500, 500, 1], &[TokenBudget]);
        check(&[1, 1, 1, 1, 1, 1_499], &[1, 1_499], &[TurnLimit, TokenBudget, TokenBudget, TokenBudget]);
    }

    #[test]
    fn the_newest_turn_stays_even_over_budget() {
        check(&[1, 80_000], &[80_000], &[TokenBudget]);
        check(&[80_000, 1], &[1], &[TokenBudget]);
    }

    #[test]
    fn a_limit_that_limits_nothing_is_allowed() {
        let mut hot = HotTier::new(HotLimits { turns: usize::MAX, tokens: u32::MAX });
        assert!((1..=100).all(|number| hot.push(turn_of(number, 1)).is_empty()));
        assert_eq!(hot.len(), 100);
    }

    proptest! {
        #[test]
        fn no_sequence_of_turns_breaks_the_invariant(
            sizes in prop::collection::vec(0_u32..3_000, 0..60), turns in 1_usize..8, tokens in 1_u32..2_000,
        ) {
            let mut hot = HotTier::new(HotLimits { turns, tokens });
            let mut gone = 0;
            for (i, &size) in sizes.iter().enumerate() {
                let number = u32::try_from(i).unwrap() + 1;
                for evicted in hot.push(turn_of(number, size)) {
                    gone += 1;
                    prop_assert_eq!(evicted.turn.turn_number, gone, "the oldest leaves first");
                }
                let sum: u32 = hot.turns().map(|turn| turn.tokens.total_tokens).sum();
                prop_assert_eq!(sum, hot.total_tokens());
                prop_assert!(hot.len() <= turns);
                prop_assert!(sum <= tokens || hot.len() == 1);
                prop_assert_eq!(hot.turns().last().map(|turn| turn.turn_number), Some(number));
            }
        }
    }
}
