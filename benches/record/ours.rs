//! Records by the crate, in sessions whose hot tiers are full.

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

/// The number of different texts; later turns repeat them.
const TEXTS: usize = 256;

/// The caller's id of a recorded turn with a text of the measured length.
pub const SAME_TEXT: &str = "same-text";
/// The caller's id of a recorded turn with a single word.
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
            // Records every text once, because the bare alternative writes their rows. After this, every hot tier is
            // full.
            for (n, turn) in ours.turns().take(count.max(8 * sessions)).enumerate() {
                ours.sessions[n % sessions].record(turn).await.unwrap();
            }
            ours
        })
    }

    /// Returns an endless sequence of turns.
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

    /// Times a record of a known turn, which does everything except writing.
    pub fn record_known(&self, runtime: &Runtime, caller_id: &str) -> Duration {
        let turn = self.known_turn(caller_id);
        timed_on(runtime, async { self.sessions[0].record(turn).await.unwrap() })
    }

    fn known_turn(&self, caller_id: &str) -> NewTurn {
        let (user, reply) =
            if caller_id == ONE_WORD { ("Yes", "") } else { (&*self.texts[0].0, &*self.texts[0].1) };
        NewTurn::new(user, reply).caller_id(caller_id)
    }

    /// Times the counting of a turn's tokens: those of both sides, and those of the turn as a context shows it.
    pub fn count_tokens(&self, n: usize) -> Duration {
        let (user, reply) = &self.texts[n % self.texts.len()];
        let piece = format!("User: {user}\nAssistant: {reply}\n");
        timed(|| [user, reply, &piece].map(|text| Tokenizer::O200kBase.count(text)))
    }

    /// Runs one of the sessions that record concurrently.
    pub fn caller(&self, n: usize) -> impl Future<Output = Rate> + Send + use<> {
        let (session, mut turns) = (self.sessions[n].clone(), self.turns().skip(n * 8));
        repeat(move || {
            let (session, turn) = (session.clone(), turns.next().unwrap());
            async move {
                assert_eq!(session.record(turn).await.unwrap().evicted.len(), 1, "the hot tier is full");
            }
        })
    }

    /// Returns rows like those of the recorded turns in the file, for the bare alternative to write.
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
