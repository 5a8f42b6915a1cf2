//! The warm tier: turns that are no longer hot and not yet cold.

use serde::Serialize;

use crate::model::turn::Turn;

/// The newest warm turns of a session, oldest first.
///
/// There are at most [`Config::warm_turns`](crate::Config::warm_turns) turns with at most
/// [`Config::warm_tokens`](crate::Config::warm_tokens) tokens together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WarmTier {
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// The number of tokens of all turns' texts together.
    pub total_tokens: u32,
    /// The numbers of warm turns that are left out because their rows are damaged. Normally empty.
    pub damaged: Vec<u32>,
}

/// The room that is left in the window of warm turns, which is filled from the newest turn back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmWindow {
    pub(crate) turns_left: usize,
    pub(crate) tokens_left: u32,
}

impl WarmWindow {
    /// Takes the next older turn if it fits, and returns whether it does. The first turn that does not fit ends the window,
    /// because a gap in recent turns would be misleading.
    pub(crate) fn takes(&mut self, total_tokens: u32) -> bool {
        if self.turns_left == 0 || total_tokens > self.tokens_left {
            self.turns_left = 0;
            return false;
        }
        self.turns_left -= 1;
        self.tokens_left -= total_tokens;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(newest_first: &[u32], taken: usize) {
        let mut window = WarmWindow { turns_left: 3, tokens_left: 100 };
        assert_eq!(
            newest_first.iter().filter(|&&tokens| window.takes(tokens)).count(),
            taken,
            "{newest_first:?}"
        );
    }

    #[test]
    fn the_window_ends_at_its_turns_its_tokens_or_a_turn_that_does_not_fit() {
        check(&[1, 1, 1, 1], 3);
        check(&[50, 50, 1], 2);
        check(&[50, 51, 1], 1);
        check(&[101, 1], 0);
        check(&[], 0);
    }
}
