//! Writes that no caller waits for: receipts and uses. They are queued when the caller is answered, and written later, in
//! groups.

use crate::{
    model::{place::Seq, receipt::Receipt},
    store::{rows::memories::uses::AnsweringTurn, scope::Scope},
};

/// A write that no caller waits for.
#[derive(Debug)]
pub(crate) enum WriteBehind {
    Receipt(Scope, Box<NewReceipt>),
    /// A turn's report that it answers the context of a receipt.
    Use(Scope, AnsweringTurn),
}

/// A receipt to store.
#[derive(Debug)]
pub(crate) struct NewReceipt {
    pub(crate) receipt: Receipt,
    /// The units that are promoted in the session if a turn answers this context, best first.
    pub(crate) at_hand: Vec<Seq>,
    /// The user's epoch at the time of the recall.
    pub(crate) epoch: i64,
}
