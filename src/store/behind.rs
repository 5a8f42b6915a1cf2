//! What follows from an act and may wait: it is written behind the acknowledgement, many at once.

use crate::{
    model::{place::Seq, receipt::Receipt},
    store::{rows::memories::uses::AnsweringTurn, scope::Scope},
};

/// Something to be written behind the acknowledgement.
#[derive(Debug)]
pub(crate) enum WriteBehind {
    Receipt(Scope, Box<NewReceipt>),
    /// A turn says that it answers a receipt's context.
    Use(Scope, AnsweringTurn),
}

/// A receipt to be kept, and the user's epoch at the recall.
#[derive(Debug)]
pub(crate) struct NewReceipt {
    pub(crate) receipt: Receipt,
    /// Units that are to be at hand in the session once its context was of use, the best first.
    pub(crate) at_hand: Vec<Seq>,
    pub(crate) epoch: i64,
}
