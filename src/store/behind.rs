//! What follows from an act and may wait: it is written behind the acknowledgement, many at once.

use crate::{
    model::{
        ids::{ReceiptId, SessionId},
        place::Seq,
        receipt::Receipt,
    },
    store::scope::Scope,
};

/// Something to be written behind the acknowledgement.
#[derive(Debug)]
pub(crate) enum Behind {
    Receipt(Scope, Box<NewReceipt>),
    /// A turn of this session says that it answers the receipt's context.
    Use(Scope, SessionId, ReceiptId),
}

/// A receipt to be kept, and the user's epoch at the recall.
#[derive(Debug)]
pub(crate) struct NewReceipt {
    pub(crate) receipt: Receipt,
    /// Units that are to be at hand in the session once its context was of use, the best first.
    pub(crate) at_hand: Vec<Seq>,
    pub(crate) epoch: i64,
}
