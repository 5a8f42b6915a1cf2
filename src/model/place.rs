//! Numbers that identify users, sessions, memories and units of recall within one database file, and a turn's place in
//! its session.

use serde::Serialize;

use crate::{
    error::{Error, ErrorKind, Result},
    model::word_enum::word_enum,
};

/// A user's number in this file. Never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserNo(pub(crate) i64);

/// A session's number in this file. Never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionNo(pub(crate) i64);

/// A memory's number in this file. Never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MemoryNo(pub(crate) i64);

/// A turn's session, and the turn's number there, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) session: SessionNo,
    pub(crate) turn_number: u32,
}

/// The number of bits that a turn's number takes in its key.
const TURN_NUMBER_BITS: u32 = 24;
/// The maximum number of turns in a session.
pub(crate) const MAX_TURN_NUMBER: u32 = (1 << TURN_NUMBER_BITS) - 1;

impl SessionNo {
    /// Returns the place of the session's turn with this number.
    pub(crate) fn turn(self, turn_number: u32) -> Place {
        Place { session: self, turn_number }
    }

    /// Returns a place before the session's first turn.
    pub(crate) fn start(self) -> Place {
        self.turn(0)
    }

    /// Returns a place after the session's last turn.
    pub(crate) fn end(self) -> Place {
        Self(self.0 + 1).start()
    }
}

impl Place {
    /// A place after every other place.
    pub(crate) const LAST: Self =
        Self { session: SessionNo(i64::MAX >> TURN_NUMBER_BITS), turn_number: MAX_TURN_NUMBER };

    /// Combines the session and the number in one key. Keys sort like places, so a session's turns are adjacent.
    pub(crate) fn key(self) -> i64 {
        self.session.0 << TURN_NUMBER_BITS | i64::from(self.turn_number)
    }

    /// Splits a key into the session and the number.
    pub(crate) fn of_key(key: i64) -> Self {
        let turn_number = u32::try_from(key & i64::from(MAX_TURN_NUMBER)).expect("it has 24 bits");
        Self { session: SessionNo(key >> TURN_NUMBER_BITS), turn_number }
    }
}

/// The number of a unit of recall in the user's order of recording, from 1; 0 comes before all units. Never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Seq(pub(crate) u32);

impl Seq {
    /// Converts a number from the archive or the public API. A number outside the range of units is damage.
    pub(crate) fn of(number: i64) -> Result<Self> {
        let seq = u32::try_from(number).map(Self);
        seq.map_err(|_| {
            Error::new(ErrorKind::Corrupt, "a turn's number is out of range for a unit; run doctor")
        })
    }

    /// Returns how many units come after `other`, up to this one.
    pub(crate) fn since(self, other: Self) -> u32 {
        self.0.saturating_sub(other.0)
    }

    /// Returns the number of the next unit to be recorded.
    pub(crate) fn next(self) -> Result<Self> {
        let next = self.0.checked_add(1).map(Self);
        next.ok_or_else(|| {
            Error::invalid("the user's memory is full: it has as many units as can be numbered")
        })
    }
}

impl From<Seq> for i64 {
    fn from(seq: Seq) -> Self {
        seq.0.into()
    }
}

/// What a unit of recall belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The turn at a place, in whatever tier it is now.
    Turn(Place),
    /// A current or earlier text of a memory. It has a place in the user's order, but no session.
    Memory,
}

word_enum! {
    /// The kind of a unit, as its row stores it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub(crate) enum UnitKind {
        Turn = "turn",
        Memory = "memory",
    }
    pub(crate) fn from_word;
}

impl Owner {
    pub(crate) fn kind(self) -> UnitKind {
        match self {
            Self::Turn(_) => UnitKind::Turn,
            Self::Memory => UnitKind::Memory,
        }
    }

    /// Returns the turn's place; `None` if the unit is not a turn.
    pub(crate) fn place(self) -> Option<Place> {
        match self {
            Self::Turn(place) => Some(place),
            Self::Memory => None,
        }
    }
}
