//! One user with a long history, alone in a file or with other users. The history is recorded through the public API. Every
//! session but the last has ended and is compressed. All turns are indexed and embedded, except the newest, which do not
//! fill a block of the index.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use chrono::{DateTime, TimeDelta, Utc};
use tempfile::TempDir;
use thermocline::{Config, Durability, RunJobs, Session, Thermocline, User};

use super::{
    Length,
    corpus::{Corpus, FORMAT, schema},
    folder, is_test, runtime, scratch,
    table::thousands,
    text::Writer,
};

/// The name of the measured user.
pub const NAME: &str = "alex";
/// The seed of the user's text.
pub const SEED: u64 = 11;
const TURNS_OF_SESSION: usize = 50;

/// A file with one measured user.
pub struct OneUser {
    pub path: PathBuf,
    pub length: Length,
    /// The number of turns of the user.
    pub turns: usize,
    /// About the number of turns of all other users together.
    pub strangers: usize,
    /// The folder of a test's file, deleted when this is dropped.
    _scratch: Option<TempDir>,
}

impl OneUser {
    /// Returns the file of a user with `turns` turns, in which other users have about `strangers` turns in total.
    pub fn of(turns: usize, length: Length, strangers: usize) -> Self {
        let scratch = is_test().then(scratch);
        let kept_in = scratch.as_ref().map_or_else(folder, |scratch| scratch.path().to_owned());
        let file =
            format!("{}-{turns}-of-one-beside-{strangers}-v{FORMAT}-{:08x}.db", length.name(), schema());
        let path = kept_in.join(file);
        if !path.exists() {
            make(&path, turns, length, strangers);
        }
        io::copy(&mut File::open(&path).unwrap(), &mut io::sink()).unwrap();
        Self { path, length, turns, strangers, _scratch: scratch }
    }

    /// Opens the file without the worker, so that no job runs in the background.
    pub async fn open(&self) -> Thermocline {
        open(&self.path).await
    }

    /// Returns the user and the open session.
    pub async fn user_and_session(&self, memory: &Thermocline) -> (User, Session) {
        let user = memory.find_user(NAME).await.unwrap().expect("the user is in the file");
        let key = session_key(self.turns - 1);
        let session = user.find_session(&key).await.unwrap().expect("the session is in the file");
        (user, session)
    }

    /// Returns the time of a query: five minutes after the time of the turn that would come next.
    pub fn now(&self) -> DateTime<Utc> {
        said_at(self.turns) + TimeDelta::minutes(5)
    }

    /// Returns the number of the user's turns as a table shows it, with that of other users' turns, if there are any.
    pub fn size(&self) -> String {
        match self.strangers {
            0 => thousands(self.turns),
            strangers => format!("{} beside {}", thousands(self.turns), thousands(strangers)),
        }
    }
}

/// Opens the file at a path without the worker, so that no job runs in the background.
pub async fn open(path: &Path) -> Thermocline {
    let mut config = Config::default();
    config.worker = false;
    config.recall_bytes = usize::MAX;
    let memory = Thermocline::open_with(path, config).await.unwrap();
    memory.ready().await.unwrap();
    memory
}

fn session_key(turn: usize) -> String {
    format!("talk-{}", turn / TURNS_OF_SESSION)
}

/// Returns the time of a turn: three sessions per day, one turn per minute.
fn said_at(turn: usize) -> DateTime<Utc> {
    let first: DateTime<Utc> = "2020-01-06T08:00:00Z".parse().unwrap();
    let (session, place) = (turn / TURNS_OF_SESSION, turn % TURNS_OF_SESSION);
    first + TimeDelta::hours(8 * session as i64) + TimeDelta::minutes(place as i64)
}

/// Makes the file under another name first, so that an incomplete file is never used.
#[allow(clippy::print_stderr, reason = "making a large file takes minutes; say what is going on")]
fn make(path: &Path, turns: usize, length: Length, strangers: usize) {
    let start = Instant::now();
    let half_made = path.with_extension("making");
    for leftover in ["making", "making-wal", "making-shm"] {
        let _ = fs::remove_file(path.with_extension(leftover));
    }
    if strangers > 0 {
        fs::copy(&Corpus::of(strangers, length).path, &half_made).unwrap();
    }
    let mut config = Config::default();
    config.worker = false;
    config.durability = Durability::Relaxed;
    // The user's text is the same with and without other users.
    let mut writer = Writer::new(SEED);
    runtime().block_on(async {
        let memory = Thermocline::open_with(&half_made, config).await.unwrap();
        let user = memory.user(NAME).await.unwrap();
        let mut session = user.session_named(&session_key(0)).await.unwrap();
        for n in 0..turns {
            if n > 0 && n % TURNS_OF_SESSION == 0 {
                session.end_at(said_at(n - 1)).await.unwrap();
                session = user.session_named(&session_key(n)).await.unwrap();
            }
            let turn = writer.turn(length).caller_id(format!("turn-{n}")).said_at(said_at(n));
            session.record(turn).await.unwrap();
        }
        let recorded = start.elapsed();
        let report = memory.run_jobs(RunJobs::default()).await.unwrap();
        assert_eq!((report.failed, report.later), (0, 0), "{report:?}");
        memory.close().await.unwrap();
        if !is_test() {
            eprintln!("recorded in {:.0} s, {report:?}", recorded.as_secs_f64());
        }
    });
    for leftover in ["making-wal", "making-shm"] {
        let _ = fs::remove_file(path.with_extension(leftover));
    }
    fs::rename(&half_made, path).unwrap();
    if !is_test() {
        eprintln!("made {} in {:.0} s", path.display(), start.elapsed().as_secs_f64());
    }
}
