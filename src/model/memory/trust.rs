//! Trust: how far a memory is trusted, which at first depends on whose words it has.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    model::turn::Origin,
};

/// How far a memory is trusted: at first as far as the least trusted of its origin and its
/// [sources](crate::MemorySource). In JSON and in the file, a number from 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "u8", try_from = "u8")]
#[non_exhaustive]
pub enum Trust {
    /// 1: a tool or a document said it, or a source is in quarantine. The memory settles no further than
    /// [`Frequency::Mid`](crate::Frequency::Mid).
    Foreign = 1,
    /// 2: the assistant said it.
    Assistant = 2,
    /// 3: the user or the backend said it.
    User = 3,
    /// 4: a person approved that the assistant's words stay forever.
    Approved = 4,
}

impl Trust {
    const EVERY: [Self; 4] = [Self::Foreign, Self::Assistant, Self::User, Self::Approved];

    /// Returns the trust of words of this origin.
    pub fn of(origin: Origin) -> Self {
        match origin {
            Origin::User | Origin::System => Self::User,
            Origin::Assistant => Self::Assistant,
            Origin::Tool | Origin::Document => Self::Foreign,
        }
    }

    /// Returns the number, from 1 to 4.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the trust with this number; `None` if it is not from 1 to 4.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::EVERY.into_iter().find(|each| each.number() == number)
    }
}

impl From<Trust> for u8 {
    fn from(trust: Trust) -> Self {
        trust.number()
    }
}

impl TryFrom<u8> for Trust {
    type Error = Error;

    fn try_from(number: u8) -> Result<Self> {
        let trust = Self::from_number(number);
        trust.ok_or_else(|| Error::invalid(format!("trust is a number from 1 to 4, not {number}")))
    }
}
