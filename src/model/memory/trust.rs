//! Trust: how far something is trusted, which at first depends on whose words it has. Also the wall that all acts ask: what
//! is trusted less changes nothing that is trusted more.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, ErrorKind, Result},
    model::origin::Origin,
};

/// How far something that has an origin is trusted: a turn, a session, a memory, an edge, or the evidence for an anchor. A
/// memory is at first trusted as far as the least trusted of its origin and its [sources](crate::MemorySource). In JSON and
/// in the file, a number from 1 to 4.
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

    /// Whether somebody who is trusted this far may change something that is trusted as far as `held`. The user may change
    /// anything, even what a person approved.
    pub fn may_change(self, held: Self) -> bool {
        self >= held.min(Self::User)
    }

    /// The user's trust: that of a row that says nothing else.
    pub(crate) const fn users() -> Self {
        Self::User
    }

    /// Whether this is the user's trust, which rows and exports leave out.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(crate) fn is_users(&self) -> bool {
        *self == Self::User
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

impl Origin {
    /// Returns the one of two origins that is trusted less; the first if they are trusted alike.
    pub(crate) fn less_trusted(self, other: Self) -> Self {
        if Trust::of(other) < Trust::of(self) { other } else { self }
    }
}

/// The wall: fails if what `by` asks for would change something that is trusted more. `what` names it, without its text.
pub(crate) fn check_may_change(by: Origin, held: Trust, what: impl fmt::Display) -> Result<()> {
    if Trust::of(by).may_change(held) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "{what} is trusted more than the {}, who asks for this: nothing was changed; whoever acts for the user may \
             change it, such as a key made with `--origin user`",
            by.as_str()
        ),
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trusted_less_changes_nothing_that_is_trusted_more() {
        for (by, most) in [
            (Origin::Tool, Trust::Foreign),
            (Origin::Document, Trust::Foreign),
            (Origin::Assistant, Trust::Assistant),
            (Origin::User, Trust::Approved),
            (Origin::System, Trust::Approved),
        ] {
            for held in Trust::EVERY {
                assert_eq!(check_may_change(by, held, "it").is_ok(), held <= most, "{by:?} {held:?}");
            }
        }
    }
}
