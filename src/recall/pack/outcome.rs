//! What becomes of what competes for a place in a context.

use serde::Serialize;

use crate::model::receipt::{ItemOutcome, PackedAs};

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
            Self::Packed(_) => ItemOutcome::Packed,
            Self::AlreadyShown => ItemOutcome::AlreadyShown,
            Self::NoRoom => ItemOutcome::NoRoom,
            Self::BelowFloor => ItemOutcome::BelowFloor,
        }
        .as_str()
    }
}
