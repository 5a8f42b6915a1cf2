//! The prepared queries in `sql/`: each returns the right rows, and runs in the sqlite3 shell.

use std::{
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use chrono::TimeDelta;
use rusqlite::{Connection, OpenFlags, types::ValueRef};
use thermocline::{
    Attribute, ContextOptions, EdgeType, Edit, MemoryKind, NewEdge, NewMemory, NewTurn, Origin,
    RecallOptions, RunJobs, Summarizer, Summarizing, Turn, UserId, Verdict,
    blocking::{Session, Thermocline, User},
};
use uuid::Uuid;

use crate::dump::meddle;
use crate::support::{Fixture, at, turn, turn_of};

/// The arguments of queries with parameters.
const PARAMETERS: [(&str, &str); 2] = [(":now", "2026-03-04 09:30"), (":words", "night train")];

/// The rows for `seed`, with cells separated by bars. `*` is any cell; `...` is any further rows.
const EXPECTED: &[(&str, &[&str])] = &[
    (
        "anchor_history.sql",
        &[
            "1 | user.home | Bern | 2026-03-01 13:00 | 2026-03-03 14:00 | superseded | Basel | 1 | 0",
            "1 | user.home | Basel | 2026-03-03 14:00 |  | holds |  | 1 | 0",
            "1 | user.likes | fog | 2026-03-01 13:00 | 2026-03-01 13:00 | retracted |  | 1 | 0",
            "1 | user.likes | tea?[2J and toast | 2026-03-01 13:00 |  | holds |  | 1 | 0",
        ],
    ),
    (
        "anchors.sql",
        &[
            "1 | user.home | Basel | 0.5 | 2026-03-03 | 1 | ",
            "1 | user.likes | tea?[2J and toast | 0.5 | 2026-03-01 | 1 | ",
        ],
    ),
    ("archive_size.sql", &["3 | 7 | letters | 1 | 2 | * | * | *", " |  | all of them | 1 | 2 | * | * | *"]),
    (
        "biggest_turns.sql",
        &[
            "2 | 3 | garden | 2 | * | 2026-03-02 09:03:00 | warm | 1490 | 2979",
            "3 | 8 | notes | 1 | * | 2026-02-28 10:04:00 | warm | 61 | 272",
            "2 | 3 | garden | 3 | * | 2026-03-02 09:04:00 | hot | 20 | 39",
            "1 | 4 |  | 1 | * | 2026-03-04 08:00:00 | hot | 14 | 50",
            "1 | 1 | trip | 2 | * | 2026-03-01 12:01:00 | warm | 12 | 42",
            "...",
        ],
    ),
    (
        "bytes_by_table.sql",
        &["sqlite_schema | * | 0 | * | *", "conversation_turns | * | 32768 | * | *", "..."],
    ),
    (
        "cold_turns.sql",
        &[
            "2026-02-28 10:00 | 3 | 7 | letters | 1 | verbatim | caller | 9 | Where is the quay?",
            "2026-02-28 10:01 | 3 | 7 | letters | 2 | archived |  | * | The ferry there goes from the quay behind the fish market, p",
            "2026-02-28 10:02 | 3 | 7 | letters | 3 | verbatim | * | * | And back?",
            "2026-02-28 10:03 | 3 | 7 | letters | 4 | archived |  | * | The ferry back goes from the quay behind the fish market, pa",
        ],
    ),
    (
        "critical_turns.sql",
        &[
            "1 | 1 | trip | 2 | 2026-03-01 12:01:00 | warm | caller | I am afraid of heights.",
            "3 | 7 | letters | 1 | 2026-02-28 10:00:00 | cold | * | Where is the quay?",
        ],
    ),
    (
        "embedding.sql",
        &[
            "own-model | r2 | 2 | 1 | 9 | 3 | 1 | 14",
            "own-model | r2 | 2 | 2 | 8 | 0 | 0 | 0",
            "own-model | r2 | 2 | 3 | 5 | 3 | 0 | 0",
        ],
    ),
    (
        "find_words.sql",
        &[
            "1 | 4 |  | 1 | 2026-03-04 08:00:00 | assistant | was it? Tell me of the Night Train.",
            "1 | 1 | trip | 1 | 2026-03-01 12:00:00 | user | The night train leaves at nine.",
        ],
    ),
    (
        "hot_now.sql",
        &[
            "1 | 4 |  | 1 | 2026-03-04 08:00:00 | 14 | Home again.",
            "2 | 3 | garden | 3 | 2026-03-02 09:04:00 | 20 | x x x x x x x x x x x x x x x x x x x x",
            "2 | 6 | diary | 1 | 2026-03-02 09:03:30 | 9 | A note?[2J to myself.",
        ],
    ),
    (
        "jobs.sql",
        &[
            "4 | compress | 3 | 8 | notes | due | * | 0 | 1 | 1 | *",
            "1 | compress | 1 | 1 | trip | due | 2026-03-01 12:06:00 | 0 | 6 | 0 | ",
            "2 | compress | 1 | 2 |  | due | 2026-03-04 08:00:00 | 0 | 2 | 0 | ",
        ],
    ),
    (
        "last_turns.sql",
        &[
            "2026-02-28 10:00 | 3 | 7 | 1 | user: Where is the quay? | assistant: Behind the market.",
            "2026-02-28 10:01 | 3 | 7 | 2 | (summary): The ferry there goes from the quay be | ",
            "2026-02-28 10:02 | 3 | 7 | 3 | user: And back? | assistant: From the same quay.",
            "2026-02-28 10:03 | 3 | 7 | 4 | (summary): The ferry back goes from the quay beh | ",
            "2026-02-28 10:04 | 3 | 8 | 1 | user: The train goes from the quay behind the fi | ",
            "2026-03-01 12:00 | 1 | 1 | 1 | user: The night train leaves at nine. | assistant: Pack a book.",
            "2026-03-01 12:01 | 1 | 1 | 2 | user: I am afraid of heights. | assistant: No cable car, then.",
            "2026-03-01 12:02 | 1 | 1 | 3 | user: question 3 | assistant: answer 3",
            "2026-03-01 12:03 | 1 | 1 | 4 | user: question 4 | assistant: answer 4",
            "2026-03-01 12:04 | 1 | 1 | 5 | user: question 5 | assistant: answer 5",
            "2026-03-01 12:05 | 1 | 1 | 6 | user: question 6 | assistant: answer 6",
            "2026-03-02 09:00 | 1 | 2 | 1 | user: question 1 | assistant: answer 1",
            "2026-03-02 09:01 | 1 | 2 | 2 | user: question 2 | assistant: answer 2",
            "2026-03-02 09:02 | 2 | 3 | 1 | Mira: Shall I prune the roses? | assistant: In March, yes.",
            "2026-03-02 09:03 | 2 | 3 | 2 | user: x x x x x x x x x x x x x x x x x x x x x  | ",
            "2026-03-02 09:03 | 2 | 6 | 1 | user: A note?[2J to myself. | ",
            "2026-03-02 09:04 | 2 | 3 | 3 | user: x x x x x x x x x x x x x x x x x x x x | ",
            "2026-03-04 08:00 | 1 | 4 | 1 | user: Home again. | assistant: How was it? Tell me of the Night Trai",
        ],
    ),
    (
        "longest_sessions.sql",
        &[
            "1 | 1 | trip | 6 | 47 | 2026-03-01 12:00 | 0 d 00:05 | ended by call",
            "3 | 7 | letters | 4 | 214 | 2026-02-28 10:00 | 0 d 00:03 | ended by call",
            "2 | 3 | garden | 3 | 1522 | 2026-03-02 09:02 | 0 d 00:02 | open",
            "1 | 2 |  | 2 | 12 | 2026-03-02 09:00 | 0 d 00:01 | ended by silence",
            "3 | 8 | notes | 1 | 61 | 2026-02-28 10:04 | 0 d 00:00 | ended by call",
            "1 | 4 |  | 1 | 14 | 2026-03-04 08:00 | 0 d 00:00 | open",
            "2 | 6 | diary | 1 | 9 | 2026-03-02 09:03 | 0 d 00:00 | open",
        ],
    ),
    (
        "of_use.sql",
        &[
            "profile | default | 4 | 1 | 100.0",
            "tier | warm | 10 | 1 | 50.0",
            "tier | cold | 5 | 2 | 25.0",
            "tier | hot | 5 | 1 | 25.0",
        ],
    ),
    (
        "memories_by_kind.sql",
        &["configuration | 1 | 1 | 1 | 0 | 0.60 | 0.80 | 0", "decision | 1 | 0 | 0 | 0 | 0.90 | 0.80 | 0"],
    ),
    (
        "memories_by_trust.sql",
        &[
            "2 | 3 | user | caller | 1 | 1 | 2026-03-04 | 2026-03-04",
            "2 | 2 | assistant | caller | 1 | 0 | 2026-03-04 | 2026-03-04",
            "2 | 1 | tool | caller | 1 | 1 | 2026-03-04 | 2026-03-04",
        ],
    ),
    (
        "memories_now.sql",
        &[
            "2 | 1 | decision | mid | 2 | 0.9 | 0.8 | 0 | 0 | home | garden roses | 2026-03-04 08:34 | Prune?[2J roses",
            "2 | 3 | configuration | mid | 3 | 0.6 | 0.8 | 0 | 0 |  |  | 2026-03-04 08:33 | The bed",
        ],
    ),
    (
        "memory_edges.sql",
        &[
            "2 | 3 | The bed | supersedes | 2 | The bed | 1 | accepted | user | ",
            "2 | 4 | The bed | contradicts | 3 | The bed | 0.9 | accepted | tool | ",
            "2 | 1 | Prune?[2J roses | follows | 2 | The bed | 0.5 | accepted | assistant | after frost",
        ],
    ),
    (
        "memory_history.sql",
        &[
            "2026-03-04 08:31:00 | 2 | 1 | 1 | save |  | active | assistant | 0 |  | Prune?[2J roses",
            "2026-03-04 08:32:00 | 2 | 2 | 1 | save |  | active | user | 0 |  | The bed",
            "2026-03-04 08:33:00 | 2 | 2 | 2 | supersede | active | superseded | user | 0 | the same slot | The bed",
            "2026-03-04 08:33:00 | 2 | 3 | 1 | save |  | active | user | 0 |  | The bed",
            "2026-03-04 08:34:00 | 2 | 1 | 2 | edit |  |  | user | 1 |  | Prune?[2J roses",
            "2026-03-04 08:34:00 | 2 | 1 | 3 | undo |  |  | user | 0 |  | Prune?[2J roses",
            "2026-03-04 08:34:00 | 2 | 4 | 1 | save |  | archived | tool | 0 |  | The bed",
        ],
    ),
    (
        "memory_slots.sql",
        &[
            "2 | bed:1 | configuration |  |  | 2 | active |  | 3 | 2026-03-04 08:33 | 3 | Peas grow there.",
            "2 | bed:1 | configuration |  |  | 1 | archived |  | 1 | 2026-03-04 08:34 | 4 | Stones grow there.",
            "2 | bed:1 | configuration |  |  | 1 | superseded | 3 | 3 | 2026-03-04 08:32 | 2 | Beans grow there.",
        ],
    ),
    (
        "memory_sources.sql",
        &[
            "2 | 1 | Prune?[2J roses | caller |  |  | assistant | caller | 2026-03-04 08:31 | ",
            "2 | 1 | Prune?[2J roses | turn | 3 | 1 | assistant | caller | 2026-03-02 09:02 | In March",
            "2 | 3 | The bed | caller |  |  | user | caller | 2026-03-04 08:33 | ",
            "2 | 4 | The bed | caller |  |  | tool | caller | 2026-03-04 08:34 | ",
        ],
    ),
    (
        "open_reviews.sql",
        &["2026-03-04 08:34:00 | 2 | * | contradiction | 4 | The bed | 3 | The bed | trust 1 against 3"],
    ),
    (
        "open_sessions.sql",
        &[
            "2 | 3 | * | garden | home | 3 | 1522 | 2026-03-02 09:04:00 | 2 d 00:26",
            "1 | 4 | * |  |  | 1 | 14 | 2026-03-04 08:00:00 | 0 d 01:30",
            "2 | 5 | * |  |  | 0 | 0 | 2026-03-04 08:01:00 | 0 d 01:29",
            "2 | 6 | * | diary |  | 1 | 9 | 2026-03-04 08:01:00 | 0 d 01:29",
        ],
    ),
    (
        "receipts.sql",
        &[
            "1 | 2026-03-04 09:00:00 | 3 |  |  | Where does the ferry?[2J go from? | default | 2 | 0 |  |  | * | 0 | []",
            "2 | 2026-03-04 09:00:00 | 1 | 4 |  | When does the night train leave? | default | * | * | * | 4400 | * | 0 | []",
        ],
    ),
    (
        "summaries.sql",
        &[
            "2026-02-28 10:01 | 3 | 7 | letters | 2 | archived | ferryman | 16 | The ferry there goes from the quay behind the fish market, past the hour. | ferry, quay, fish market",
            "2026-02-28 10:03 | 3 | 7 | letters | 4 | archived | ferryman | 16 | The ferry back goes from the quay behind the fish market, past the hour. | ferry, quay, fish market",
        ],
    ),
    (
        "talk_through_time.sql",
        &[
            "1 |  | 1 | trip | 2026-03-01 12:00 | 2026-03-01 12:05 | 6 | ended by call",
            "1 | 0 d 20:55 | 2 |  | 2026-03-02 09:00 | 2026-03-02 09:01 | 2 | ended by silence",
            "1 | 1 d 22:59 | 4 |  | 2026-03-04 08:00 | 2026-03-04 08:00 | 1 | open",
            "2 |  | 3 | garden | 2026-03-02 09:02 | 2026-03-02 09:04 | 3 | open",
            "2 | overlaps | 6 | diary | 2026-03-02 09:03 | 2026-03-02 09:03 | 1 | open",
            "3 |  | 7 | letters | 2026-02-28 10:00 | 2026-02-28 10:03 | 4 | ended by call",
            "3 | 0 d 00:01 | 8 | notes | 2026-02-28 10:04 | 2026-02-28 10:04 | 1 | ended by call",
        ],
    ),
    (
        "tokens_per_day.sql",
        &[
            "2026-02-28 | 1 | 2 | 5 | 2 | 69 | 9 | 78",
            "2026-03-01 | 1 | 1 | 6 | 0 | 25 | 22 | 47",
            "2026-03-02 | 2 | 3 | 6 | 0 | 1532 | 11 | 1543",
            "2026-03-04 | 1 | 1 | 1 | 0 | 3 | 11 | 14",
        ],
    ),
    (
        "turns_per_tier.sql",
        &[
            "1 | 1 | trip | warm | verbatim | 6 | 1 | 6 | 47 | 157",
            "1 | 2 |  | warm | verbatim | 2 | 1 | 2 | 12 | 36",
            "1 | 4 |  | hot | verbatim | 1 | 1 | 1 | 14 | 50",
            "2 | 3 | garden | hot | verbatim | 1 | 3 | 3 | 20 | 39",
            "2 | 3 | garden | warm | verbatim | 2 | 1 | 2 | 1502 | 3017",
            "2 | 6 | diary | hot | verbatim | 1 | 1 | 1 | 9 | 21",
            "3 | 7 | letters | cold | verbatim | 2 | 1 | 3 | 17 | 64",
            "3 | 7 | letters | cold | summary | 2 | 2 | 4 | 197 | 145",
            "3 | 8 | notes | warm | verbatim | 1 | 1 | 1 | 61 | 272",
        ],
    ),
    (
        "users_by_size.sql",
        &[
            "2 | 00000000-0000-0000-0000-000000000007 |  | 3 | 4 | 1531 | 3077 | 0 | 0 | 2026-03-02 09:04",
            "3 | * | nora | 2 | 5 | 275 | 336 | 145 | * | 2026-02-28 10:04",
            "1 | * | alex | 3 | 9 | 73 | 243 | 0 | 0 | 2026-03-04 08:00",
        ],
    ),
    (
        "why_critical.sql",
        &["summary | long | 2 | 1 | 50.0", "verbatim | * | 1 | 1 | 25.0", "verbatim | * | 1 | 1 | 25.0"],
    ),
    (
        "why_recalled.sql",
        &["2 | 1 | turn | 1 | 1 | 2026-03-01 12:00:00 | warm | * | packed | whole | * | * | ", "..."],
    ),
    (
        "why_it_moved.sql",
        &[
            "hot | warm | session_end | 12 | 4 | 2026-02-28 10:04:00 | 2026-03-04 08:00:00",
            "warm | cold | compression | 4 | 1 | 2026-02-28 10:05:00 | 2026-02-28 10:05:00",
            "hot | warm | token_budget | 2 | 1 | 2026-03-02 09:03:00 | 2026-03-02 09:04:00",
            "hot | warm | turn_limit | 1 | 1 | 2026-03-01 12:05:00 | 2026-03-01 12:05:00",
        ],
    ),
];

#[test]
fn each_question_gets_the_expected_rows() {
    let fixture = Fixture::new();
    drop(seed(&fixture));
    let conn = connect(&fixture, OpenFlags::SQLITE_OPEN_READ_ONLY);
    for file in questions() {
        check(&conn, &file);
    }
}

#[test]
fn each_expectation_has_its_question() {
    let names: Vec<_> = questions().iter().map(|file| name(file)).collect();
    for (expected, _) in EXPECTED {
        assert!(names.iter().any(|name| name == expected), "no such file: sql/{expected}");
    }
}

#[test]
fn the_readme_lists_each_question() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    for file in questions() {
        let text = fs::read_to_string(&file).unwrap();
        let question = text.lines().next().and_then(|line| line.strip_prefix("-- ")).unwrap();
        let row = format!("| {question} | [{0}]({0}) |", name(&file));
        assert!(readme.contains(&row), "sql/README.md lacks the row {row}");
    }
}

#[test]
fn the_words_of_summaries_are_found() {
    let fixture = Fixture::new();
    drop(seed(&fixture));
    let conn = connect(&fixture, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let rows = ask_with(&conn, &folder().join("find_words.sql"), &[(":words", "FERRY back")]);
    assert_eq!(
        rows,
        [
            "3 | 7 | letters | 4 | 2026-02-28 10:03:00 | (summary) | The ferry back goes from the quay behind the fish market, pa"
        ]
    );
}

#[test]
fn a_job_waits_for_its_next_try_or_for_somebody() {
    let fixture = Fixture::new();
    drop(seed(&fixture));
    let file = folder().join("jobs.sql");
    let writer = connect(&fixture, OpenFlags::SQLITE_OPEN_READ_WRITE);
    for (state, now, waits) in [
        ("queued", "2026-02-28 10:06", "put off"),
        ("queued", "2026-02-28 10:07", "due"),
        ("running", "2026-02-28 10:06", "running"),
        ("running", "2026-02-28 10:07", "cut off"),
        ("failed", "2026-02-28 10:07", "given up"),
    ] {
        writer.execute("UPDATE jobs SET state = ?1 WHERE job_no = 4", [state]).unwrap();
        let rows = ask_with(&writer, &file, &[(":now", now)]);
        let place = if state == "failed" { 2 } else { 0 };
        let expected = format!("4 | compress | 3 | 8 | notes | {waits} | ");
        assert!(rows[place].starts_with(&expected), "{state}: {rows:?}");
    }
}

/// A backend's `users` table may have only an id.
#[test]
fn each_question_runs_in_a_backends_own_database() {
    let fixture = Fixture::new();
    let id = Uuid::from_u128(7);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let backend = connect(&fixture, flags);
    backend.execute_batch("CREATE TABLE users (id BLOB NOT NULL PRIMARY KEY)").unwrap();
    backend.execute("INSERT INTO users (id) VALUES (?1)", [id.as_bytes()]).unwrap();
    drop(backend);
    let user = fixture.open().user_by_id(UserId::from_uuid(id)).unwrap();
    user.session().unwrap().record(turn(1)).unwrap();

    let conn = connect(&fixture, OpenFlags::SQLITE_OPEN_READ_ONLY);
    for file in questions() {
        let rows = ask(&conn, &file);
        if name(&file) == "users_by_size.sql" {
            assert_eq!(rows, [format!("1 | {id} |  | 1 | 1 | 6 | 18 | 0 | 0 | 2026-03-01 12:00")]);
        }
    }
}

/// Runs while a program uses the file. The shell is not ours: if it is missing, the test is skipped.
#[test]
fn each_question_runs_in_the_sqlite3_shell() {
    let fixture = Fixture::new();
    let _in_use = seed(&fixture);
    for file in questions() {
        let mut shell = Command::new("sqlite3");
        shell.args(["-batch", "-readonly", "-bail"]).stdin(File::open(&file).unwrap());
        for (parameter, value) in PARAMETERS {
            shell.arg("-cmd").arg(format!(".parameter set {parameter} \"'{value}'\""));
        }
        let output = match shell.arg(fixture.path()).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            output => output.unwrap(),
        };
        let (shown, complaint) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && complaint.is_empty(), "{}: {complaint}", file.display());
        assert!(!shown.trim().is_empty(), "{} shows nothing", file.display());
    }
}

/// Takes a turn's first sentence as the summary; gives no verdict about turns that speak of a train.
#[derive(Debug)]
struct Ferryman;

impl Summarizer for Ferryman {
    fn name(&self) -> &'static str {
        "ferryman"
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        let verdict = |turn: &Turn| {
            let first = turn.said.user_message.split_inclusive(['.', '?']).next().unwrap_or_default();
            Verdict::summary(turn.id, first).topic_keywords(["ferry", "quay", "fish market"])
        };
        let verdicts =
            turns.iter().filter(|turn| !turn.said.user_message.contains("train")).map(verdict).collect();
        Box::pin(async move { Ok(verdicts) })
    }
}

/// Returns a file of three users. Alex's sessions: 1 is named and ended by call, 2 ended by silence, 4 continues it. Those
/// of Mira, who has no name here: 3 is long silent, 5 is empty, 6 is recorded late. Nora's: 7 is compressed; the job of 8
/// was postponed, and those of 1 and 2 have waited since they ended. Two turns are critical, one fills the hot tier.
fn seed(fixture: &Fixture) -> Thermocline {
    let mut config = fixture.config.clone();
    config.summarizer = Some(Arc::new(Ferryman));
    let memory = Thermocline::open_with(fixture.path(), config).unwrap();
    let alex = memory.user("alex").unwrap();
    let mira = memory.user_by_id(UserId::from_uuid(Uuid::from_u128(7))).unwrap();
    let say = |session: &Session, turn: NewTurn| {
        session.record(turn).unwrap();
        fixture.clock.advance(TimeDelta::minutes(1));
    };

    let trip = alex.session_named("trip").unwrap();
    say(&trip, NewTurn::new("The night train leaves at nine.", "Pack a book."));
    say(&trip, NewTurn::new("I am afraid of heights.", "No cable car, then.").critical());
    for n in 3..=6 {
        say(&trip, turn(n));
    }
    trip.end().unwrap();

    fixture.clock.set(at("2026-03-02T09:00:00Z"));
    let unnamed = alex.session().unwrap();
    say(&unnamed, turn(1));
    say(&unnamed, turn(2));
    let garden = mira.session_named("garden").unwrap();
    garden.set_project(Some("home")).unwrap();
    say(&garden, NewTurn::new("Shall I prune the roses?", "In March, yes.").user_name("Mira"));
    say(&garden, turn_of(1_490));
    say(&garden, turn_of(20));

    fixture.clock.set(at("2026-03-04T08:00:00Z"));
    say(&unnamed, NewTurn::new("Home again.", "How was it?\nTell me of the Night Train."));
    mira.session().unwrap();
    let diary = mira.session_named("diary").unwrap();
    say(&diary, NewTurn::new("A note\u{1b}[2J to myself.", "").said_at(at("2026-03-02T09:03:30Z")));
    set_anchors(fixture, &alex);

    // Nora's sessions come before all others, whose jobs are set aside meanwhile.
    meddle(&fixture.path(), "UPDATE jobs SET state = 'failed'");
    fixture.clock.set(at("2026-02-28T10:00:00Z"));
    let nora = memory.user("nora").unwrap();
    let ferry =
        |way| format!("The {way} goes from the quay behind the fish market, past the hour. ").repeat(4);
    let letters = nora.session_named("letters").unwrap();
    say(&letters, NewTurn::new("Where is the quay?", "Behind the market.").critical());
    say(&letters, NewTurn::new(ferry("ferry there"), ferry("ferry there")));
    say(&letters, NewTurn::new("And back?", "From the same quay."));
    say(&letters, NewTurn::new(ferry("ferry back"), "Yes."));
    letters.end().unwrap();
    let notes = nora.session_named("notes").unwrap();
    say(&notes, NewTurn::new(ferry("train"), ""));
    notes.end().unwrap();
    // One run each: in one, a summarizer that has failed is not asked again.
    let reports = [(); 2].map(|()| memory.run_jobs(RunJobs::default().max_jobs(1)).unwrap());
    assert_eq!(reports.map(|report| (report.done, report.later)), [(1, 0), (0, 1)]);
    meddle(&fixture.path(), "UPDATE jobs SET state = 'queued'");
    know(fixture, &memory);
    ask_memory(fixture, &memory, &nora);
    memory
}

/// Saves a few things that Mira, who has no name here, knows; a tool contradicts one of them.
fn know(fixture: &Fixture, memory: &Thermocline) {
    let mira = memory.user_by_id(UserId::from_uuid(Uuid::from_u128(7))).unwrap();
    let memories = mira.memories().by(Origin::User);
    let turn = mira.find_session("garden").unwrap().unwrap().turn(1).unwrap().unwrap().id;
    let save = |memory: NewMemory| {
        fixture.clock.advance(TimeDelta::minutes(1));
        memories.save(memory).unwrap().memory.id
    };
    fixture.clock.set(at("2026-03-04T08:30:00Z"));
    let roses =
        NewMemory::new(MemoryKind::Decision, "Prune\u{1b}[2J\nroses", "In March.").origin(Origin::User);
    let roses =
        save(roses.source(turn, "In March").tags(["garden", "roses"]).project("home").importance(0.9));
    let bed = |text: &str, origin: Origin| {
        NewMemory::new(MemoryKind::Configuration, "The bed", text).goal_signature("bed:1").origin(origin)
    };
    let beans = save(bed("Beans grow there.", Origin::User));
    save(bed("Peas grow there.", Origin::User));
    save(bed("Stones grow there.", Origin::Tool));
    memories.relate(roses, NewEdge::new(EdgeType::Follows).context("after\nfrost"), beans).unwrap();
    memories.edit(roses, Edit::default().confidence(0.9)).unwrap();
    memories.undo(roses).unwrap();
}

/// Recalls for Nora, requests a context for Alex, and writes vectors and counts of use by hand.
fn ask_memory(fixture: &Fixture, memory: &Thermocline, nora: &User) {
    fixture.clock.set(at("2026-03-04T09:00:00Z"));
    nora.recall("Where does the ferry\u{1b}[2J go from?", RecallOptions::default().k(2)).unwrap();
    let alex = memory.user("alex").unwrap();
    let home = alex.session().unwrap();
    let context = home.context("When does the night train leave?", ContextOptions::default()).unwrap();
    alex.receipt(context.receipt).unwrap(); // It is written behind the answer.
    // What a job of an embedder, and turns that answer, would have written.
    meddle(
        &fixture.path(),
        "DELETE FROM user_spaces;
         DELETE FROM vector_blocks;
         DELETE FROM embedding_spaces;
         INSERT INTO embedding_spaces VALUES (1, 'own-model', 'r2', 2, 1, x'');
         INSERT INTO user_spaces SELECT user_no, 1, 3, x'' FROM user_scopes WHERE user_no <> 2;
         INSERT INTO vector_blocks (user_no, space_no, block_no, body) VALUES (1, 1, 0, zeroblob(14));
         INSERT INTO vector_gaps VALUES (1, 1, 2, 1, 'too long', x'');
         INSERT INTO use_counts (user_no, aspect, name, hits)
         VALUES (1, 'tier', 'cold', 3), (3, 'tier', 'cold', 2), (1, 'tier', 'hot', 5), (1, 'tier', 'warm', 10),
                (1, 'profile', 'default', 4)",
    );
}

fn set_anchors(fixture: &Fixture, alex: &User) {
    let set = |attribute, value| alex.set_anchor("user", attribute, value).unwrap();
    fixture.clock.set(at("2026-03-01T13:00:00Z"));
    set(Attribute::Home, "Bern");
    set(Attribute::Likes, "tea\u{1b}[2J\nand toast");
    let fog = set(Attribute::Likes, "fog");
    fixture.clock.set(at("2026-03-03T14:00:00Z"));
    set(Attribute::Home, "Basel");
    alex.retract_anchor(fog).unwrap();
}

#[track_caller]
fn check(conn: &Connection, file: &Path) {
    let name = name(file);
    let rows = ask(conn, file);
    let expected = EXPECTED.iter().find(|(expected, _)| *expected == name);
    let Some((_, expected)) = expected else {
        panic!("sql/{name} has no expectation; it gives\n{}", rows.join("\n"))
    };
    let (expected, is_all) = match expected.split_last() {
        Some((&"...", first)) => (first, false),
        _ => (*expected, true),
    };
    let agrees = |row: &String, expected: &&str| {
        let (row, expected): (Vec<_>, Vec<_>) = (row.split(" | ").collect(), expected.split(" | ").collect());
        row.len() == expected.len() && row.iter().zip(expected).all(|(&cell, e)| e == "*" || e == cell)
    };
    let as_expected = (rows.len() == expected.len() || !is_all && rows.len() > expected.len())
        && rows.iter().zip(expected).all(|(row, expected)| agrees(row, expected));
    assert!(as_expected, "sql/{name} gives\n{}\nexpected\n{}", rows.join("\n"), expected.join("\n"));
}

/// Returns the rows as lines of text. A column for people is never a BLOB.
fn ask(conn: &Connection, file: &Path) -> Vec<String> {
    ask_with(conn, file, &PARAMETERS)
}

fn ask_with(conn: &Connection, file: &Path, parameters: &[(&str, &str)]) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let sql: String = text.lines().filter(|line| !line.starts_with('.')).flat_map(|l| [l, "\n"]).collect();
    let mut stmt = conn.prepare(&sql).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    for (parameter, value) in parameters {
        if let Some(index) = stmt.parameter_index(parameter).unwrap() {
            stmt.raw_bind_parameter(index, value).unwrap();
        }
    }
    let columns = stmt.column_count();
    let mut rows = stmt.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let cells = (0..columns).map(|column| match row.get_ref(column).unwrap() {
            ValueRef::Null => String::new(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
            ValueRef::Blob(_) => panic!("{} shows a BLOB", file.display()),
        });
        lines.push(cells.collect::<Vec<_>>().join(" | "));
    }
    lines
}

fn connect(fixture: &Fixture, flags: OpenFlags) -> Connection {
    Connection::open_with_flags(fixture.path(), flags).unwrap()
}

/// Returns every file with a query, by name.
fn questions() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|e| e == "sql")).collect();
    assert!(!files.is_empty());
    files.sort();
    files
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sql")
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}
