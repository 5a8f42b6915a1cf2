//! Follow-up writes that may wait: they are written after the acknowledgement, many at once.

use crate::{
    model::{place::Seq, receipt::Receipt},
    store::{rows::memories::uses::AnsweringTurn, scope::Scope},
};

/// Something to write after the acknowledgement.
#[derive(Debug)]
pub(crate) enum WriteBehind {
    Receipt(Scope, Box<NewReceipt>),
    /// A turn reports that it answers a receipt's context.
    Use(Scope, AnsweringTurn),
}

/// A receipt to keep, and the user's epoch at the recall.
#[derive(Debug)]
pub(crate) struct NewReceipt {
    pub(crate) receipt: Receipt,
    /// Units that become promoted in the session once its context was of use, best first.
    pub(crate) at_hand: Vec<Seq>,
    pub(crate) epoch: i64,
}
