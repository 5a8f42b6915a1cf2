//! What most tests need: a file in a separate folder, a stopped clock, turns of a known size.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use tempfile::TempDir;
use thermocline::{
    Config, Faults, ManualClock, Moment, NewTurn,
    blocking::{Session, Thermocline, User},
};

/// A file that is deleted with the test.
pub struct Fixture {
    pub folder: TempDir,
    pub clock: Arc<ManualClock>,
    pub config: Config,
}

impl Fixture {
    /// Returns a folder for a file, and a configuration whose clock shows 2026-03-01 12:00.
    pub fn new() -> Self {
        let clock = Arc::new(ManualClock::new(at("2026-03-01T12:00:00Z")));
        let mut config = Config::default();
        config.clock = clock.clone();
        config.worker = false; // A test says itself when jobs run.
        config.read_timeout = Duration::from_mins(1); // How busy the machine is decides nothing.
        Self { folder: tempfile::tempdir().unwrap(), clock, config }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("memory.db")
    }

    pub fn open(&self) -> Thermocline {
        Thermocline::open_with(self.path(), self.config.clone()).unwrap()
    }

    pub fn alex(&self) -> User {
        self.open().user("alex").unwrap()
    }

    /// Copies the files as they are now into a separate folder, as a process that is killed now would leave them.
    pub fn copy(&self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for suffix in ["", "-wal"] {
            let name = format!("memory.db{suffix}");
            if self.folder.path().join(&name).exists() {
                std::fs::copy(self.folder.path().join(&name), folder.path().join(&name)).unwrap();
            }
        }
        Self { folder, clock: self.clock.clone(), config: self.config.clone() }
    }

    /// Returns an unnamed session of alex.
    pub fn session(&self) -> Session {
        self.alex().session().unwrap()
    }
}

/// Interrupts the writer: a statement fails, and keeps failing until [`mend`](Self::mend) is called.
#[derive(Clone, Default)]
pub struct Cut(Arc<Mutex<Cutting>>);

#[derive(Default)]
struct Cutting {
    /// Text in the statement that fails, and how often it may still run.
    fails: Option<(String, usize)>,
    has_failed: bool,
    /// The statements that ran, in order.
    ran: Vec<String>,
}

impl Cut {
    /// Makes the files that are opened with this configuration interruptible.
    pub fn of(config: &mut Config) -> Self {
        let cut = Self::default();
        let asked = cut.clone();
        config.faults =
            Faults::new(move |moment, statement| moment == Moment::Before && asked.meets(statement));
        cut
    }

    fn meets(&self, statement: &str) -> bool {
        let mut cutting = self.0.lock().unwrap();
        cutting.ran.push(statement.to_owned());
        match &mut cutting.fails {
            Some((part, left)) if statement.contains(part.as_str()) => {
                let fails = *left == 0;
                *left = left.saturating_sub(1);
                cutting.has_failed |= fails;
                fails
            }
            _ => false,
        }
    }

    /// Makes statements that contain `part` fail, after `times` more of them have run.
    pub fn after(&self, times: usize, part: &str) {
        self.0.lock().unwrap().fails = Some((part.to_owned(), times));
    }

    /// Lets every statement run again. Panics if none has failed, because then the test shows nothing.
    #[track_caller]
    pub fn mend(&self) {
        let mut cutting = self.0.lock().unwrap();
        assert!(std::mem::take(&mut cutting.has_failed), "nothing came to {:?}", cutting.fails);
        cutting.fails = None;
    }

    /// Returns each statement that has run since the last call, with the numbers of two of its runs, counted from 0: one
    /// after about a third of its runs, and the last. If these are the same run, it is returned once.
    pub fn places(&self) -> Vec<(String, usize)> {
        let mut times = BTreeMap::new();
        for statement in std::mem::take(&mut self.0.lock().unwrap().ran) {
            *times.entry(statement).or_insert(0) += 1;
        }
        let each = |(statement, times): (String, usize)| {
            BTreeSet::from([times / 3, times - 1]).into_iter().map(move |at| (statement.clone(), at))
        };
        times.into_iter().flat_map(each).collect()
    }
}

/// A session together with the fixture that keeps its file: without the file, the session could not be read.
pub struct Kept {
    pub session: Session,
    pub _fixture: Fixture,
}

impl std::ops::Deref for Kept {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

/// Returns an instant parsed from text.
pub fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Returns the n-th turn of a conversation: short, and different from all others.
pub fn turn(n: usize) -> NewTurn {
    NewTurn::new(format!("question {n}"), format!("answer {n}"))
}

/// Returns both sides of the n-th turn of a conversation: long enough to be summarized, and about nobody.
pub fn long_texts(n: usize) -> (String, String) {
    let things = ["lamp", "ladder", "kettle", "bridge", "window", "barrel", "lantern", "basket"];
    let thing = |at: usize| things[(n * 5 + at * 3) % things.len()];
    let sentence =
        |at: usize| format!("The {} number {n} stands beside the old {}. ", thing(at), thing(at + 1));
    let user: String = (0..4 + n % 3).map(sentence).collect();
    let reply: String = (4..6 + n % 4).map(sentence).collect();
    (user.trim_end().to_owned(), reply.trim_end().to_owned())
}

/// Returns the turn with the texts of [`long_texts`].
pub fn long_turn(n: usize) -> NewTurn {
    let (user, reply) = long_texts(n);
    NewTurn::new(user, reply).caller_id(format!("long/{n}"))
}

/// Returns a turn whose two sides have exactly `tokens` tokens together.
pub fn turn_of(tokens: usize) -> NewTurn {
    NewTurn::new("x".to_owned() + &" x".repeat(tokens - 1), "")
}

/// Returns the numbers of the hot turns.
pub fn hot(session: &Session) -> Vec<u32> {
    session.hot().unwrap().turns().map(|turn| turn.turn_number).collect()
}

/// Returns the numbers of the turns in the warm window.
pub fn warm(session: &Session) -> Vec<u32> {
    session.warm().unwrap().turns.iter().map(|turn| turn.turn_number).collect()
}
