//! A session's history, read page by page.

use serde::Serialize;

use crate::model::{
    place::{MAX_TURN_NUMBER, Place, SessionNo},
    summary::Summary,
    turn::Turn,
};

/// One turn of a session's history: the turn itself, or what is left of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PastTurn {
    /// The turn as it was said, in whatever tier.
    Turn(Box<Turn>),
    /// The summary of a turn whose original was deleted.
    Summary {
        /// The summary.
        #[serde(flatten)]
        summary: Box<Summary>,
        /// The caller's own id for the turn.
        caller_id: Option<String>,
    },
    /// A damaged turn, which differs from what was recorded. `doctor` reports where the damage is; a backup may have
    /// the turn.
    Damaged {
        /// The turn's number in the session, from 1.
        turn_number: u32,
    },
}

impl PastTurn {
    /// Returns the turn's number in the session, from 1. Pass it on to get the page after this turn, or the one before it.
    pub fn turn_number(&self) -> u32 {
        match self {
            Self::Turn(turn) => turn.turn_number,
            Self::Summary { summary, .. } => summary.turn_number,
            Self::Damaged { turn_number } => *turn_number,
        }
    }

    /// Returns the turn; `None` if only its summary is left, or if it is damaged.
    pub fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            _ => None,
        }
    }
}

/// The part of a session's history that a page is taken from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HistoryEnd {
    /// The first turns after this one.
    After(u32),
    /// The last turns before this one.
    Before(u32),
}

impl HistoryEnd {
    /// Returns the places between which the page lies.
    pub(crate) fn bounds(self, session: SessionNo) -> (Place, Place) {
        match self {
            Self::After(number) => (session.turn(number.min(MAX_TURN_NUMBER)), session.end()),
            Self::Before(number) if number > MAX_TURN_NUMBER => (session.start(), session.end()),
            Self::Before(number) => (session.start(), session.turn(number)),
        }
    }
}
