//! Shared code of the benchmarks: the places of their files, the sizes to measure, and whether this is only a test.
//!
//! The README.md next to this folder explains how to run the benchmarks. Most comparisons with a plain alternative are
//! timed by `rounds`.

#![allow(dead_code, reason = "each benchmark is a program of its own and uses a part of this")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures to print and places in short lists: far below what a cast could lose"
)]

pub mod beside;
pub mod corpus;
pub mod plain;
pub mod plain_recall;
pub mod rounds;
pub mod table;
pub mod text;
pub mod transcripts;
pub mod user;
pub mod vocabulary;
pub mod words;

use std::{
    env,
    fmt::{self, Display},
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The length of a turn, both sides together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// 140 characters, as people chat (LoCoMo's pairs have 270).
    Short,
    /// 4,500 characters, as an assistant writes (the mean of BEAM).
    Long,
}

impl Length {
    pub fn characters(self) -> usize {
        match self {
            Self::Short => 140,
            Self::Long => 4_500,
        }
    }

    /// Returns the length of the user's side; the rest is the reply.
    pub fn user_characters(self) -> usize {
        match self {
            Self::Short => 60,
            Self::Long => 500,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

impl Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), table::thousands(self.characters()))
    }
}

/// Whether this is a test. `cargo test --benches` and `cargo bench -- --test` only check whether the benchmarks run: tiny
/// files, few operations, no report. Criterion has the same rule.
pub fn is_test() -> bool {
    let has = |flag: &str| env::args().any(|arg| arg == flag);
    !has("--bench") || has("--test")
}

/// Returns this number of operations, or the few that a test needs.
pub fn operations(wanted: usize) -> usize {
    if is_test() { 3 } else { wanted }
}

/// Returns the lengths of turns to measure: `THERMOCLINE_BENCH_LENGTHS`, by default `short,long`.
pub fn lengths() -> Vec<Length> {
    let wanted = env::var("THERMOCLINE_BENCH_LENGTHS").unwrap_or_else(|_| "short,long".to_owned());
    let known = [Length::Short, Length::Long];
    wanted
        .split(',')
        .map(|name| known.into_iter().find(|length| length.name() == name.trim()).expect("short or long"))
        .collect()
}

/// Returns the numbers of turns to measure: `THERMOCLINE_BENCH_TURNS`, by default `10000,100000`.
pub fn sizes() -> Vec<usize> {
    if is_test() {
        return vec![2 * corpus::Part::of_test().turns()];
    }
    let wanted = env::var("THERMOCLINE_BENCH_TURNS").unwrap_or_else(|_| "10000,100000".to_owned());
    wanted.split(',').map(|turns| turns.trim().parse().expect("a number of turns")).collect()
}

/// Returns the number of other users' turns in the file: `THERMOCLINE_BENCH_STRANGERS`, by default 1,000,000.
pub fn strangers() -> usize {
    if is_test() {
        return 2 * corpus::Part::of_test().turns();
    }
    env::var("THERMOCLINE_BENCH_STRANGERS")
        .map_or(1_000_000, |turns| turns.trim().parse().expect("a number of turns"))
}

/// Returns the folder that keeps files and reports between runs: `THERMOCLINE_BENCH_DIR`, by default `bench-files` in the
/// target folder.
pub fn folder() -> PathBuf {
    let folder = match env::var_os("THERMOCLINE_BENCH_DIR") {
        Some(folder) => folder.into(),
        // Cargo's own folder for the output of benchmarks is `<target>/tmp`.
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-files"),
    };
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Creates a folder for the files that a benchmark writes, on the same disk as the files kept between runs. It is deleted
/// when the returned value is dropped.
pub fn scratch() -> TempDir {
    tempfile::Builder::new().prefix("scratch-").tempdir_in(folder()).unwrap()
}

/// Returns the runtime of a small backend: everything runs on the calling thread, except tokio's blocking pool.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}
