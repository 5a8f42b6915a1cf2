//! The binary in a folder of its own, run as a person or a script runs it.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
};

use rusqlite::{Connection, OpenFlags, types::Value as SqlValue};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::dump::rewrite;

/// A folder in which the binary runs, deleted when this is dropped.
pub struct Shell {
    pub folder: TempDir,
}

/// The exit code of a run, and what it printed.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

impl Shell {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Returns a folder with a transcript of two sessions of alex, and a `thermocline.db` that contains them: `s1` with
    /// seven turns, then the open `s2`.
    pub fn with_talk() -> Self {
        /// The database, recorded once for all tests, because each process that counts tokens first has to load the
        /// tokenizer's tables.
        static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
        let shell = Self::new();
        shell.write("talk.jsonl", &talk());
        let recorded = RECORDED.get_or_init(|| {
            assert_eq!(shell.run(&["replay", "talk.jsonl", "--user", "alex"]).code, 0);
            assert_eq!(shell.files(), ["talk.jsonl", "thermocline.db"], "all is in the one file");
            fs::read(shell.path("thermocline.db")).unwrap()
        });
        fs::write(shell.path("thermocline.db"), recorded).unwrap();
        shell
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes the settings file of the user's own configuration folder.
    pub fn settings(&self, text: &str) {
        fs::create_dir_all(self.path("config/thermocline")).unwrap();
        self.write("config/thermocline/thermocline.toml", text);
        self.restrict("config/thermocline/thermocline.toml");
    }

    /// Lets only the owner read and write a file.
    pub fn restrict(&self, name: &str) {
        #[cfg(unix)]
        fs::set_permissions(self.path(name), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thermocline"));
        command.args(args).current_dir(self.folder.path()).env_remove("THERMOCLINE_DB");
        command.env("TMPDIR", self.folder.path()).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", self.path("config")).env("APPDATA", self.path("config"));
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        ended(&self.command(args).output().unwrap())
    }

    /// Runs a verb on the memories of alex. What changes one speaks for the user, unless the arguments say otherwise.
    pub fn memory(&self, verb: &str, args: &[&str]) -> Ended {
        const CHANGES: [&str; 13] = [
            "edit",
            "pin",
            "unpin",
            "undo",
            "forget",
            "relate",
            "unrelate",
            "used",
            "surfaced",
            "dismiss",
            "watch",
            "quarantine",
            "lift",
        ];
        let is_silent = CHANGES.contains(&verb) && !args.contains(&"--origin");
        let origin: &[&str] = if is_silent { &["--origin", "user"] } else { &[] };
        self.run(&[&["memory", verb, "--user", "alex"], args, origin].concat())
    }

    #[track_caller]
    pub fn memory_json(&self, verb: &str, args: &[&str]) -> Value {
        self.memory(verb, &[&["--json"], args].concat()).json()
    }

    /// Replays `transcript` for alex.
    pub fn replay(&self, transcript: &str) -> Ended {
        self.write("transcript.jsonl", transcript);
        self.run(&["replay", "transcript.jsonl", "--user", "alex"])
    }

    pub fn sql(&self, flags: OpenFlags) -> Connection {
        Connection::open_with_flags(self.path("thermocline.db"), flags).unwrap()
    }

    pub fn change(&self, sql: &str) {
        assert!(self.sql(OpenFlags::SQLITE_OPEN_READ_WRITE).execute(sql, []).unwrap() > 0, "{sql}");
        rewrite(&self.path("thermocline.db"), "");
        assert_eq!(self.run(&["stats"]).code, 0); // Opening the file once brings its rows into their final state.
    }

    /// Returns every row of every table.
    pub fn rows(&self) -> Vec<String> {
        let conn = self.sql(OpenFlags::SQLITE_OPEN_READ_ONLY);
        let of_table = |table: String| {
            let mut stmt = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = stmt.column_count();
            let row = |row: &rusqlite::Row<'_>| {
                let values: Vec<SqlValue> = (0..columns).map(|i| row.get(i).unwrap()).collect();
                Ok(format!("{table} {values:?}"))
            };
            stmt.query_map([], row).unwrap().collect::<rusqlite::Result<Vec<_>>>().unwrap()
        };
        let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
        let tables: Vec<String> =
            tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        tables.into_iter().flat_map(of_table).collect()
    }

    /// Returns the names of everything in the folder.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn ended(output: &std::process::Output) -> Ended {
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// Returns a line of a transcript, said `minute` minutes after noon.
pub fn line(session: &str, id: &str, minute: u32, user: &str, assistant: &str) -> String {
    let at = format!("2026-03-01T12:{minute:02}:00Z");
    json!({"session": session, "id": id, "at": at, "user": user, "assistant": assistant}).to_string() + "\n"
}

pub fn talk() -> String {
    let mut text = String::new();
    for n in 1..=7 {
        text +=
            &line("s1", &format!("a{n}"), n, &format!("I planted row {n} of beans."), "Water them at dusk.");
    }
    text + &line("s2", "b1", 30, "The beans are up!", "")
        + "\n"
        + &line("s2", "b2", 31, "All of them.", "Good.")
}
