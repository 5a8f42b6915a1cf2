//! Where something stands: a turn in its session, and what a unit of recall stands for.

use serde::Serialize;

use crate::model::word_enum::word_enum;

/// A session, by its number in this file. Never used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionNo(pub(crate) i64);

/// A turn's session, and its number there, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) session: SessionNo,
    pub(crate) turn_number: u32,
}

/// What a unit of recall stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The turn at a place, wherever it is now.
    Turn(Place),
    /// Something that is no turn. It stands in the user's order, and in no session; nobody shows it yet.
    Other,
}

word_enum! {
    /// What a unit is, as its row says it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub(crate) enum UnitKind {
        Turn = "turn",
        Other = "other",
    }
    pub(crate) fn from_word;
}

impl Owner {
    pub(crate) fn kind(self) -> UnitKind {
        match self {
            Self::Turn(_) => UnitKind::Turn,
            Self::Other => UnitKind::Other,
        }
    }

    /// Where the turn is; `None`: it is no turn.
    pub(crate) fn place(self) -> Option<Place> {
        match self {
            Self::Turn(place) => Some(place),
            Self::Other => None,
        }
    }
}
