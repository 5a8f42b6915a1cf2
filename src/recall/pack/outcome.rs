//! What happens to the candidates for a place in a context.

use crate::model::receipt::{ItemOutcome, PackedAs};

/// The outcome of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackOutcome {
    /// The context shows it, in this form.
    Packed(PackedAs),
    /// The context already shows it, because of another request.
    AlreadyShown,
    /// There was no room for it or a part of it.
    NoRoom,
    /// It fits the message too badly.
    BelowFloor,
}

impl PackOutcome {
    /// The outcome as receipts store it.
    pub(crate) fn of_item(self) -> ItemOutcome {
        match self {
            Self::Packed(_) => ItemOutcome::Packed,
            Self::AlreadyShown => ItemOutcome::AlreadyShown,
            Self::NoRoom => ItemOutcome::NoRoom,
            Self::BelowFloor => ItemOutcome::BelowFloor,
        }
    }
}
