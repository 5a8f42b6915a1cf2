//! Records through the crate, in sessions whose hot tiers are full.

use std::{path::Path, sync::Arc, time::Duration};

use thermocline::{Config, Durability, NewTurn, Session, Thermocline, Tokenizer};
use tokio::runtime::Runtime;

use crate::{
    Rate,
    bare::Rows,
    repeat,
    support::{
        Length, is_test, plain,
        rounds::{timed, timed_on},
        text::Writer,
    },
};

/// How many different texts there are; later turns repeat them.
const TEXTS: usize = 256;

/// The caller's id of a recorded turn like all the others,
pub const SAME_TEXT: &str = "same-text";
/// and of one with a single word.
pub const ONE_WORD: &str = "one-word";

pub struct Ours {
    memory: Thermocline,
    sessions: Vec<Session>,
    texts: Arc<Vec<(String, String)>>,
}

impl Ours {
    pub fn start(runtime: &Runtime, path: &Path, length: Length, sessions: usize) -> Self {
        let mut config = Config::default();
        config.worker = false;
        config.durability = Durability::Full;
        let mut writer = Writer::new(5);
        let count = if is_test() { 8 } else { TEXTS };
        let texts: Vec<_> = (0..count).map(|_| writer.sides(length)).collect();
        runtime.block_on(async {
            let memory = Thermocline::open_with(path, config).await.unwrap();
            memory.ready().await.unwrap();
            let user = memory.user("alex").await.unwrap();
            let mut ours = Self { memory, sessions: Vec::new(), texts: Arc::new(texts) };
            for n in 0..sessions {
                let session = user.session_named(&format!("talk-{n}")).await.unwrap();
                session.record(ours.known_turn(ONE_WORD)).await.unwrap();
                session.record(ours.known_turn(SAME_TEXT)).await.unwrap();
                ours.sessions.push(session);
            }
            // Every text once: the bare alternative writes their rows. After this every tier is full.
            for (n, turn) in ours.turns().take(count.max(8 * sessions)).enumerate() {
                ours.sessions[n % sessions].record(turn).await.unwrap();
            }
            ours
        })
    }

    /// An endless sequence of turns.
    pub fn turns(&self) -> impl Iterator<Item = NewTurn> + use<> {
        let texts = Arc::clone(&self.texts);
        (0..).map(move |n: usize| {
            let (user, reply) = &texts[n % texts.len()];
            NewTurn::new(user, reply)
        })
    }

    pub fn record(&self, runtime: &Runtime, turn: NewTurn) -> Duration {
        let mut evicted = 0;
        let elapsed = timed_on(runtime, async {
            evicted = self.sessions[0].record(turn).await.unwrap().evicted.len();
        });
        assert_eq!(evicted, 1, "the hot tier is full");
        elapsed
    }

    /// Records a known turn again: everything except the writing.
    pub fn record_known(&self, runtime: &Runtime, caller_id: &str) -> Duration {
        let turn = self.known_turn(caller_id);
        timed_on(runtime, async { self.sessions[0].record(turn).await.unwrap() })
    }

    fn known_turn(&self, caller_id: &str) -> NewTurn {
        let (user, reply) =
            if caller_id == ONE_WORD { ("Yes", "") } else { (&*self.texts[0].0, &*self.texts[0].1) };
        NewTurn::new(user, reply).caller_id(caller_id)
    }

    /// Counts both sides, and the turn as a context shows it.
    pub fn count_tokens(&self, n: usize) -> Duration {
        let (user, reply) = &self.texts[n % self.texts.len()];
        let piece = format!("User: {user}\nAssistant: {reply}\n");
        timed(|| [user, reply, &piece].map(|text| Tokenizer::O200kBase.count(text)))
    }

    /// One of the sessions that record concurrently.
    pub fn caller(&self, n: usize) -> impl Future<Output = Rate> + Send + use<> {
        let (session, mut turns) = (self.sessions[n].clone(), self.turns().skip(n * 8));
        repeat(move || {
            let (session, turn) = (session.clone(), turns.next().unwrap());
            async move {
                assert_eq!(session.record(turn).await.unwrap().evicted.len(), 1, "the hot tier is full");
            }
        })
    }

    /// Rows like those of recorded turns in the file, for the bare alternative to write.
    pub fn rows(&self) -> Rows {
        let conn = plain::reader(self.memory.path());
        let mut stmt = conn
            .prepare("SELECT * FROM conversation_turns WHERE caller_id IS NULL ORDER BY seq LIMIT ?1")
            .unwrap();
        let names: Vec<String> = stmt.column_names().into_iter().map(str::to_owned).collect();
        let read = |row: &rusqlite::Row<'_>| (0..names.len()).map(|column| row.get(column)).collect();
        let rows = stmt.query_map([self.texts.len()], read).unwrap().map(Result::unwrap).collect();
        Rows::new(rows, &names)
    }
}
