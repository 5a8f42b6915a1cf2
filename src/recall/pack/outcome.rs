//! What becomes of what competes for a place in a context.

use serde::Serialize;

/// How much of something is in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PackedAs {
    /// All of it.
    Whole,
    /// What the user said; the reply is left out.
    UserHalf,
    /// Parts of it, verbatim: what matched, or the beginning.
    Extract,
    /// Its summary, marked as such.
    Summary,
}

impl PackedAs {
    /// The word in a receipt.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::UserHalf => "user_half",
            Self::Extract => "extract",
            Self::Summary => "summary",
        }
    }
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It is in the context, in this form.
    Packed(PackedAs),
    /// It is in the context already, by another request.
    AlreadyShown,
    /// Neither it nor a part of it had room.
    NoRoom,
    /// It fits the message too badly.
    BelowFloor,
}

impl Outcome {
    /// The word in a receipt.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Packed(_) => "packed",
            Self::AlreadyShown => "already_shown",
            Self::NoRoom => "no_room",
            Self::BelowFloor => "below_floor",
        }
    }
}
