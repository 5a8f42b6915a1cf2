//! A chat that uses the documented API, and the rows that it leaves in the file.

use std::{collections::BTreeSet, path::Path, sync::Arc, thread, time::Duration};

use rusqlite::Connection;
use thermocline::{
    Config, ContextOptions, Durability, Faults, NewTurn, ReceiptId, Session, Thermocline, User,
};
use tokio::runtime::Runtime;

use crate::{
    changes::{Change, Kind, Log},
    support::{Length, plain, rounds::timed_on, text::Writer, user::OneUser},
};

/// One message and its reply.
pub type Said = (String, String);

/// Generates messages and replies. None occurs twice, as in real use.
pub fn said(length: Length, count: usize) -> Vec<Said> {
    let mut writer = Writer::new(17);
    (0..count).map(|_| writer.sides(length)).collect()
}

/// Returns the configuration of every file in this benchmark: without the worker, so no job runs in the background, and with
/// triggers that log what is written.
pub fn config(durability: Durability) -> Config {
    let mut config = Config::default();
    (config.worker, config.durability, config.faults) = (false, durability, Faults::with_triggers());
    config
}

/// A session of a user with a long history.
pub struct Chat<'r> {
    pub runtime: &'r Runtime,
    pub memory: Thermocline,
    pub user: User,
    pub session: Session,
    /// A connection that reads the file directly.
    conn: Connection,
}

impl<'r> Chat<'r> {
    pub fn open(runtime: &'r Runtime, of: &OneUser, path: &Path, durability: Durability) -> Self {
        let (memory, user, session) = runtime.block_on(async {
            let memory = Thermocline::open_with(path, config(durability)).await.unwrap();
            memory.ready().await.unwrap();
            let (user, _) = of.user_and_session(&memory).await;
            let session = user.session_named("documented").await.unwrap();
            (memory, user, session)
        });
        Self { runtime, memory, user, session, conn: plain::reader(path) }
    }

    /// Requests a context for a message in this session; its receipt may not be in the file yet.
    pub fn context_in(&self, session: &Session, message: &str) -> (ReceiptId, Duration) {
        let mut receipt = None;
        let options = ContextOptions::default().budget_tokens(4_400);
        let elapsed = timed_on(self.runtime, async {
            let context = session.context(message, options).await.unwrap();
            receipt = Some(context.receipt);
            context
        });
        (receipt.expect("it was just set"), elapsed)
    }

    pub fn context(&self, message: &str) -> (ReceiptId, Duration) {
        self.context_in(&self.session, message)
    }

    /// Waits until the receipt is in the file. In practice it is there long before an LLM has answered.
    pub fn wait_for(&self, receipt: ReceiptId) {
        let id = receipt.as_uuid().as_bytes().to_vec();
        let mut stmt = self.conn.prepare_cached("SELECT 1 FROM recall_receipts WHERE id = ?1").unwrap();
        while !stmt.exists([&id]).unwrap() {
            thread::sleep(Duration::from_micros(50));
        }
    }

    /// Makes the documented call to record a turn.
    pub fn record(&self, (message, reply): &Said, id: &str, receipt: ReceiptId) -> Duration {
        let turn = NewTurn::new(message, reply).caller_id(id).answering(receipt);
        timed_on(self.runtime, async { self.session.record(turn).await.unwrap() })
    }

    pub fn hot(&self) -> Duration {
        timed_on(self.runtime, async { self.session.hot().await.unwrap() })
    }

    pub fn close(self) {
        self.runtime.block_on(self.memory.close()).unwrap();
    }
}

/// The changes that one message makes in the file.
pub struct Step {
    /// The changes by the context: its receipt.
    pub context: Vec<Change>,
    /// The changes by the record, including its share of what is written later.
    pub record: Vec<Change>,
}

pub struct Captured {
    /// The changes by opening the session, and by a few contexts.
    pub opening: Vec<Change>,
    pub steps: Vec<Step>,
}

/// Makes the documented calls once in a separate file, and returns what they wrote. What the library writes later because of
/// records is distributed evenly over the records, but a change counts only for the newest record before it, or for later
/// ones.
pub fn capture(runtime: &Runtime, of: &OneUser, path: &Path, said: &[Said]) -> Captured {
    let mut log = Log::start(path);
    let chat = Chat::open(runtime, of, path, Durability::Relaxed);
    let mut opening = log.read();
    for (message, _) in said.iter().take(3) {
        chat.wait_for(chat.context(message).0);
    }
    let of_contexts = log.read();
    let kinds: BTreeSet<(Arc<str>, Kind)> =
        of_contexts.iter().map(|change| (Arc::clone(&change.table), change.kind)).collect();
    // Once there are enough receipts, each context also removes the oldest one.
    let is_of_context = |change: &Change| {
        let is_written = |kind| kinds.contains(&(Arc::clone(&change.table), kind));
        is_written(change.kind) || (change.kind == Kind::Delete && is_written(Kind::Insert))
    };
    opening.extend(of_contexts);

    let (mut steps, mut behind) = (Vec::new(), Vec::new());
    for (n, said) in said.iter().enumerate() {
        let (receipt, _) = chat.context(&said.0);
        chat.wait_for(receipt);
        let (context, late): (Vec<_>, Vec<_>) = log.read().into_iter().partition(is_of_context);
        behind.extend(late.into_iter().map(|change| (n, change)));
        chat.record(said, &format!("message-{n}"), receipt);
        steps.push(Step { context, record: log.read() });
    }
    chat.close();
    behind.extend(log.read().into_iter().map(|change| (steps.len(), change)));
    share_out(behind, &mut steps);
    Captured { opening, steps }
}

fn share_out(behind: Vec<(usize, Change)>, steps: &mut [Step]) {
    let (all, count) = (behind.len(), steps.len());
    let mut shared = 0;
    let mut behind = behind.into_iter().peekable();
    for (n, step) in steps.iter_mut().enumerate() {
        while shared * count < all * (n + 1)
            && let Some((_, change)) = behind.next_if(|(written, _)| *written <= n + 1)
        {
            step.record.push(change);
            shared += 1;
        }
    }
    if let Some(last) = steps.last_mut() {
        last.record.extend(behind.map(|(_, change)| change));
    }
}
