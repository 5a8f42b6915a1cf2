//! What becomes of what competes for a place in a context.

use crate::model::receipt::{ItemOutcome, PackedAs};

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackOutcome {
    /// It is in the context, in this form.
    Packed(PackedAs),
    /// It is in the context already, by another request.
    AlreadyShown,
    /// Neither it nor a part of it had room.
    NoRoom,
    /// It fits the message too badly.
    BelowFloor,
}

impl PackOutcome {
    /// As a receipt says it.
    pub(crate) fn of_item(self) -> ItemOutcome {
        match self {
            Self::Packed(_) => ItemOutcome::Packed,
            Self::AlreadyShown => ItemOutcome::AlreadyShown,
            Self::NoRoom => ItemOutcome::NoRoom,
            Self::BelowFloor => ItemOutcome::BelowFloor,
        }
    }
}
