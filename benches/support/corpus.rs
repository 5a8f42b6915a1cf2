//! Files of a known size. One part is recorded through the public API, and then its rows are multiplied with SQL.
//!
//! In most files, the recorded part is 40 sessions of 50 turns by 4 users, recorded alternately, like concurrent
//! conversations. Each copy of the part has its own users, sessions, turns and units (with other ids, and shifted numbers),
//! but the same texts. `doctor` checks a new file of at most 10,000 turns. Files are kept and reused, except in a test.
//! Their sessions stay open, so each has its hot tier.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::Connection;
use tempfile::TempDir;
use thermocline::{Config, Durability, RunJobs, Session, Thermocline};

use super::{Length, folder, is_test, runtime, scratch, table::thousands, text::Writer};

/// The version of these files. A change to how they are made increases it, so that no old file is used.
pub const FORMAT: u32 = 3;

/// The migrations whose hash is part of a file's name, because the schema of an unreleased version may still change.
const SCHEMA: [&str; 3] = [
    include_str!("../../migrations/V1__sessions_and_turns.sql"),
    include_str!("../../migrations/V3__cold_storage.sql"),
    include_str!("../../migrations/V5__recall.sql"),
];

/// The part of a file that is recorded and then multiplied.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    users: usize,
    sessions_of_user: usize,
    turns_of_session: usize,
}

impl Part {
    const fn of_bench() -> Self {
        Self { users: 4, sessions_of_user: 10, turns_of_session: 50 }
    }

    pub const fn of_test() -> Self {
        Self { users: 2, sessions_of_user: 2, turns_of_session: 10 }
    }

    /// Returns a part that is one session.
    const fn one_session(turns: usize) -> Self {
        Self { users: 1, sessions_of_user: 1, turns_of_session: turns }
    }

    fn sessions(self) -> usize {
        self.users * self.sessions_of_user
    }

    pub fn turns(self) -> usize {
        self.sessions() * self.turns_of_session
    }
}

/// A file whose sessions are all open.
pub struct Corpus {
    pub path: PathBuf,
    pub length: Length,
    pub turns: usize,
    part: Part,
    /// The folder of a test's file, deleted when this is dropped.
    _scratch: Option<TempDir>,
}

impl Corpus {
    /// Returns a file with at least this many turns.
    pub fn of(turns: usize, length: Length) -> Self {
        let part = if is_test() { Part::of_test() } else { Part::of_bench() };
        Self::made(part, turns.div_ceil(part.turns()), length)
    }

    /// Returns a file with one session of this many turns.
    pub fn one_session(turns: usize, length: Length) -> Self {
        Self::made(Part::one_session(turns), 1, length)
    }

    /// Returns a file with at least this many users, each with 250 turns (20 in a test).
    pub fn of_users(users: usize, length: Length) -> Self {
        let part = if is_test() { Part::of_test() } else { Part { sessions_of_user: 5, ..Part::of_bench() } };
        Self::made(part, users.div_ceil(part.users), length)
    }

    /// Returns the number of each user's last session.
    pub fn last_sessions(&self) -> impl Iterator<Item = usize> + use<> {
        let (part, copies) = (self.part, self.turns / self.part.turns());
        let last = part.users * (part.sessions_of_user - 1);
        (0..copies).flat_map(move |copy| (0..part.users).map(move |n| copy * part.sessions() + last + n))
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> usize {
        self.turns / self.part.turns_of_session
    }

    /// Returns the name of a session's user, and the session's key.
    pub fn names(&self, session: usize) -> (String, String) {
        let (copy, place) = (session / self.part.sessions(), session % self.part.sessions());
        let user = user_name(place % self.part.users);
        let user = if copy == 0 { user } else { format!("{user}/{copy}") };
        (user, session_key(place / self.part.users))
    }

    /// Opens the file so that a session leaves memory as soon as another one is used.
    pub async fn open_forgetful(&self) -> Thermocline {
        let mut config = Config::default();
        config.worker = false;
        config.live_sessions = 1;
        let memory = Thermocline::open_with(&self.path, config).await.unwrap();
        memory.ready().await.unwrap();
        memory
    }

    /// Returns the handle of a session.
    pub async fn session(&self, memory: &Thermocline, session: usize) -> Session {
        let (user, key) = self.names(session);
        let user = memory.find_user(&user).await.unwrap().expect("the user is in the file");
        user.find_session(&key).await.unwrap().expect("the session is in the file")
    }

    /// Returns the number of turns, for a table.
    pub fn size(&self) -> String {
        thousands(self.turns)
    }

    fn made(part: Part, copies: usize, length: Length) -> Self {
        let turns = part.turns() * copies;
        let scratch = is_test().then(scratch);
        let kept_in = scratch.as_ref().map_or_else(folder, |scratch| scratch.path().to_owned());
        let sessions = part.sessions() * copies;
        let file = format!("{}-{turns}-in-{sessions}-v{FORMAT}-{:08x}.db", length.name(), schema());
        let path = kept_in.join(file);
        if !path.exists() {
            make(&path, part, copies, length);
        }
        // The file is read once, so that it is in the operating system's cache unless a row of the report says otherwise.
        io::copy(&mut File::open(&path).unwrap(), &mut io::sink()).unwrap();
        Self { path, length, turns, part, _scratch: scratch }
    }
}

fn user_name(user: usize) -> String {
    format!("user-{user}")
}

fn session_key(session: usize) -> String {
    format!("talk-{session}")
}

/// Makes the file under another name first, so that an incomplete file is never used.
#[allow(clippy::print_stderr, reason = "making a large file takes minutes; say what is going on")]
fn make(path: &Path, part: Part, copies: usize, length: Length) {
    let start = Instant::now();
    let half_made = path.with_extension("making");
    for leftover in ["making", "making-wal", "making-shm", "making-journal"] {
        let _ = fs::remove_file(path.with_extension(leftover));
    }
    record_part(&half_made, part, length);
    multiply(&half_made, part, copies);
    settle(&half_made, copies * part.turns() <= 10_000);
    File::open(&half_made).unwrap().sync_all().unwrap();
    // Closing has copied the whole WAL into the file, so these are only the remains of readers.
    let wal = half_made.with_extension("making-wal");
    assert_eq!(fs::metadata(&wal).map_or(0, |wal| wal.len()), 0, "the WAL is empty");
    for leftover in [wal, half_made.with_extension("making-shm")] {
        let _ = fs::remove_file(leftover);
    }
    fs::rename(&half_made, path).unwrap();
    if !is_test() {
        eprintln!("made {} in {:.0} s", path.display(), start.elapsed().as_secs_f64());
    }
}

fn record_part(path: &Path, part: Part, length: Length) {
    let mut config = Config::default();
    config.worker = false;
    config.durability = Durability::Relaxed;
    let mut writer = Writer::new(7);
    runtime().block_on(async {
        let memory = Thermocline::open_with(path, config).await.unwrap();
        let mut sessions = Vec::new();
        for place in 0..part.sessions() {
            let user = memory.user(&user_name(place % part.users)).await.unwrap();
            sessions.push(user.session_named(&session_key(place / part.users)).await.unwrap());
        }
        let first: DateTime<Utc> = "2025-01-06T08:00:00Z".parse().unwrap();
        for n in 0..part.turns_of_session {
            for (place, session) in sessions.iter().enumerate() {
                let said_at = first + TimeDelta::hours(3 * n as i64) + TimeDelta::minutes(place as i64);
                session.record(writer.turn(length).said_at(said_at)).await.unwrap();
            }
        }
        // Whole blocks of each user are indexed and embedded. The sessions stay open, so nothing is compressed.
        let report = memory.run_jobs(RunJobs::default()).await.unwrap();
        assert_eq!((report.failed, report.later), (0, 0), "{report:?}");
        memory.close().await.unwrap();
    });
}

/// Adds `copies - 1` copies of the part's rows.
fn multiply(path: &Path, part: Part, copies: usize) {
    let mut conn = Connection::open(path).unwrap();
    // The file need not survive a crash while it is made.
    conn.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000;
         PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;",
    )
    .unwrap();
    let tx = conn.transaction().unwrap();
    for copy in 1..copies {
        for sql in statements(&tx, part, copy) {
            tx.execute(&sql, []).unwrap_or_else(|error| panic!("{error}\n{sql}"));
        }
        copy_unit_blocks(&tx, part, copy);
    }
    // As migrations do: rows without checksums get them when the file is next opened.
    tx.execute("UPDATE thermocline_schema_history SET row_check = x'00000000'", []).unwrap();
    tx.commit().unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
}

/// Returns one statement for each table with rows of users, except `unit_blocks`; parents first. A column that is not
/// listed is copied unchanged, except `row_check`, which becomes zero.
fn statements(conn: &Connection, part: Part, copy: usize) -> Vec<String> {
    let (users, sessions) = (part.users * copy, part.sessions() * copy);
    let (last_user, last_session) = (part.users, part.sessions());
    // `new_*` are this copy's rows, to which the copied rows of the part belong.
    let new_user = format!("JOIN user_scopes AS new_user ON new_user.user_no = old_user.user_no + {users}");
    let of_user = format!("JOIN user_scopes AS old_user ON old_user.user_id = t.user_id {new_user}");
    let columns = |table: &str, changed: &[(&str, String)]| copied_columns(conn, table, changed);
    let of_users = |table: &str| {
        columns(table, &[("user_no", format!("t.user_no + {users}"))])
            + &format!("WHERE t.user_no <= {last_user}")
    };
    vec![
        columns("users", &[("id", "randomblob(16)".into()), ("name", format!("t.name || '/{copy}'"))])
            + &format!("JOIN user_scopes AS s ON s.user_id = t.id WHERE s.user_no <= {last_user}"),
        columns("user_scopes", &[("user_no", format!("t.user_no + {users}")), ("user_id", "n.id".into())])
            + &format!(
                "JOIN users AS o ON o.id = t.user_id JOIN users AS n ON n.name = o.name || '/{copy}'
                 WHERE t.user_no <= {last_user}"
            ),
        columns(
            "conversation_sessions",
            &[
                ("session_no", format!("t.session_no + {sessions}")),
                ("id", "randomblob(16)".into()),
                ("user_id", "new_user.user_id".into()),
            ],
        ) + &format!("{of_user} WHERE t.session_no <= {last_session}"),
        // In the order of recording, so that the pages fill as with concurrent conversations.
        columns(
            "conversation_turns",
            &[
                ("turn_key", format!("t.turn_key + ({sessions} << 24)")),
                ("id", "randomblob(16)".into()),
                ("user_id", "new_session.user_id".into()),
                ("session_id", "new_session.id".into()),
            ],
        ) + &format!(
            "JOIN conversation_sessions AS new_session ON new_session.session_no = (t.turn_key >> 24) + {sessions}
             WHERE t.turn_key < ({last_session} + 1) << 24 ORDER BY t.turn_key & 0xffffff, t.turn_key"
        ),
        columns(
            "recall_units",
            &[
                ("user_no", format!("t.user_no + {users}")),
                ("owner_id", "new_turn.id".into()),
                ("session_no", format!("t.session_no + {sessions}")),
            ],
        ) + &format!(
            "JOIN conversation_turns AS new_turn
               ON new_turn.turn_key = (t.session_no + {sessions}) << 24 | t.turn_number
             WHERE t.user_no <= {last_user}"
        ),
        columns(
            "memory_tier_transitions",
            &[
                ("user_no", format!("t.user_no + {users}")),
                ("session_no", format!("t.session_no + {sessions}")),
            ],
        ) + &format!("WHERE t.user_no <= {last_user} AND t.session_no <= {last_session}"),
        of_users("postings"),
        of_users("user_spaces"),
        of_users("vector_blocks"),
    ]
}

/// The number of bytes of a unit in a row of `unit_blocks`; the positions of its session's number in them; and the number
/// of bytes of its event, which follows if the highest bit of the last byte is set (src/index/facts.rs).
const FACTS: (usize, std::ops::Range<usize>, usize) = (26, 1..9, 4);

/// Copies the part's rows of `unit_blocks`, and changes the session numbers in them.
fn copy_unit_blocks(conn: &Connection, part: Part, copy: usize) {
    let mut read = conn
        .prepare_cached("SELECT user_no, block_no, body FROM unit_blocks WHERE user_no <= ?1 ORDER BY rowid")
        .unwrap();
    let mut write =
        conn.prepare_cached("INSERT INTO unit_blocks (user_no, block_no, body) VALUES (?1, ?2, ?3)").unwrap();
    let of_part = read.query_map([part.users], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let of_part: Vec<(i64, i64, Vec<u8>)> = of_part.map(Result::unwrap).collect();
    for (user_no, block_no, mut body) in of_part {
        let mut at = 0;
        while let Some(unit) = body.get_mut(at..at + FACTS.0) {
            at += FACTS.0 + if unit[FACTS.0 - 1] >> 7 == 1 { FACTS.2 } else { 0 };
            let session_no = i64::from_le_bytes(unit[FACTS.1].try_into().unwrap());
            unit[FACTS.1].copy_from_slice(&(session_no + (part.sessions() * copy) as i64).to_le_bytes());
        }
        write.execute((user_no + (part.users * copy) as i64, block_no, body)).unwrap();
    }
}

/// Returns `INSERT INTO table (...) SELECT ... FROM table AS t`, with these columns changed, and `row_check` zero.
fn copied_columns(conn: &Connection, table: &str, changed: &[(&str, String)]) -> String {
    let mut stmt = conn.prepare_cached("SELECT name FROM pragma_table_info(?1) ORDER BY cid").unwrap();
    let names: Vec<String> = stmt.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let values: Vec<String> = names
        .iter()
        .map(|name| {
            if name == "row_check" {
                return "x'00000000'".to_owned();
            }
            changed
                .iter()
                .find(|(column, _)| column == name)
                .map_or_else(|| format!("t.{name}"), |(_, value)| value.clone())
        })
        .collect();
    format!("INSERT INTO {table} ({}) SELECT {} FROM {table} AS t ", names.join(", "), values.join(", "))
}

/// Opens and closes the file, so that it is in the state in which the crate leaves files; runs `doctor` if that is quick.
fn settle(path: &Path, is_quick: bool) {
    runtime().block_on(async {
        let memory = Thermocline::open(path).await.unwrap();
        if is_quick {
            let diagnosis = memory.doctor().await.unwrap();
            assert!(diagnosis.is_healthy(), "{diagnosis:#?}");
        }
        memory.close().await.unwrap();
    });
}

/// Returns a number that identifies the schema in the names of files.
pub fn schema() -> u32 {
    fingerprint(&SCHEMA.concat())
}

/// Returns the FNV-1a hash of a text.
fn fingerprint(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Makes the operating system drop the file's pages, as after a restart.
pub fn forget_pages(path: &Path) {
    // GNU dd does this without reading or writing anything; the system call itself would need unsafe code.
    let mut input = std::ffi::OsString::from("if=");
    input.push(path);
    let asked = Command::new("dd").arg(input).args(["iflag=nocache", "count=0", "status=none"]).status();
    assert!(asked.unwrap().success(), "GNU dd is needed for the first touch");
}
