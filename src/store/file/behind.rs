//! The writer's buffer of receipts and uses. No caller waits for these, so they are written a little later, in groups.

use std::time::Duration;

use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

use crate::{clock::Deadline, store::behind::WriteBehind};

/// The number of waiting entries at which they are written. Their transaction delays a record by less than a millisecond.
const MOST: usize = 16;
/// How long an entry waits at most. A kill loses only entries younger than this.
const LONGEST: Duration = Duration::from_millis(100);

/// The waiting entries, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct WrittenLater {
    entries: Vec<WriteBehind>,
    /// The deadline of the oldest entry.
    deadline: Option<Deadline>,
    /// The runtime whose timer limits the wait for an order. `None` until it is needed.
    runtime: Option<Runtime>,
}

impl WrittenLater {
    pub(super) fn add(&mut self, entries: impl IntoIterator<Item = WriteBehind>) {
        self.entries.extend(entries);
        if !self.entries.is_empty() && self.deadline.is_none() {
            self.deadline = Some(Deadline::after(LONGEST));
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.entries.len() >= MOST || self.deadline.is_some_and(Deadline::has_passed)
    }

    pub(super) fn take(&mut self) -> Vec<WriteBehind> {
        self.deadline = None;
        std::mem::take(&mut self.entries)
    }

    /// Blocks until the next order arrives or the waiting entries are due.
    pub(super) fn next_order<O>(&mut self, orders: &mut mpsc::Receiver<O>) -> Next<O> {
        let Some(deadline) = self.deadline else {
            return orders.blocking_recv().map_or(Next::Closed, Next::Order);
        };
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => match Builder::new_current_thread().enable_time().build() {
                Ok(runtime) => runtime,
                Err(_) => return Next::Due,
            },
        };
        let received =
            runtime.block_on(async { tokio::time::timeout(deadline.remaining(), orders.recv()).await });
        self.runtime = Some(runtime);
        match received {
            Ok(order) => order.map_or(Next::Closed, Next::Order),
            Err(_) => Next::Due,
        }
    }
}

/// What the writer does next.
pub(super) enum Next<O> {
    Order(O),
    /// The waiting entries are due.
    Due,
    /// No sender is left.
    Closed,
}
