//! The tiering paper's tables: a program's statements written for them run on a file of ours, as printed.

use std::{collections::BTreeSet, fs, io::ErrorKind, path::Path, process::Command};

use rusqlite::{Connection, OpenFlags};
use thermocline::{
    ContextOptions, JobKind, MemoryTier, NewTurn, RecallOptions, RecalledItem, RunJobs, SessionId, UserId,
    blocking::{Session, Thermocline, User},
};
use uuid::Uuid;

use crate::{
    dump::{ask, dump, dump_without},
    support::{Fixture, at, hot, warm},
    transfer::export,
};

/// The ids in the statements.
const USER: u128 = 7;
const SESSION: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;

/// Returns the statements of a file, without comments.
fn statements(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/paper").join(file);
    let text = fs::read_to_string(path).unwrap();
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("--")).collect();
    text.join("\n").split_inclusive(";\n").map(str::to_owned).collect()
}

/// Opens a connection as another program does, without any of our settings.
fn other_program(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

/// Creates a file with the user of the statements, only through the library.
fn with_user(fixture: &Fixture) -> Thermocline {
    let memory = fixture.open();
    user(&memory);
    memory
}

fn user(memory: &Thermocline) -> User {
    memory.user_by_id(UserId::from_uuid(Uuid::from_u128(USER))).unwrap()
}

fn session(memory: &Thermocline) -> Session {
    user(memory).session_by_id(SessionId::from_uuid(Uuid::from_u128(SESSION))).unwrap()
}

/// Returns an id as stored in the tables.
fn bytes(id: u128) -> [u8; 16] {
    id.to_be_bytes()
}

fn insert_all(path: &Path) {
    let conn = other_program(path);
    for statement in statements("inserts.sql") {
        let rows = statement.matches("(x'").count();
        assert_eq!(conn.execute(&statement, []).unwrap(), rows, "{statement}");
    }
}

/// Returns the numbers of the turns that a question recalls by its words.
fn recalled(user: &User, query: &str) -> BTreeSet<u32> {
    let recall = user.recall(query, RecallOptions::default()).unwrap();
    assert_eq!(recall.missing, Vec::<String>::new());
    let number = |item: &RecalledItem| match item {
        RecalledItem::Turn(turn) => turn.turn_number,
        other => panic!("{other:?}"),
    };
    recall.items.iter().filter(|found| found.parts.words > 0.0).map(|found| number(&found.item)).collect()
}

#[test]
fn a_program_made_for_the_papers_tables_writes_and_asks_as_printed() {
    let fixture = Fixture::new();
    with_user(&fixture).close().unwrap();
    insert_all(&fixture.path());
    let conn = other_program(&fixture.path());
    for query in statements("queries.sql") {
        let rows = conn
            .prepare(&query)
            .and_then(|mut stmt| stmt.query_map([], |_| Ok(()))?.collect::<Result<Vec<_>, _>>());
        assert!(!rows.unwrap().is_empty(), "{query}");
    }
    drop(conn);

    let memory = fixture.open();
    assert!(memory.doctor().unwrap().is_healthy(), "{:#?}", memory.doctor().unwrap());
    let (alex, session) = (user(&memory), session(&memory));
    assert_eq!(
        (hot(&session), warm(&session)),
        (vec![3, 4, 5, 6, 7], vec![1, 2]),
        "the tiers have their limits"
    );
    assert_eq!(session.transitions(None, 1_000).unwrap().len(), 2);
    let turn = session.turn(7).unwrap().unwrap();
    assert_eq!((turn.timestamp, turn.is_identity_critical, turn.seq), (at("2026-02-28T09:30:00Z"), true, 7));
    assert!(recalled(&alex, "who sells a lantern?").contains(&4));
    let info = session.info().unwrap();
    let sum: u32 = (1..=7).map(|n| session.turn(n).unwrap().unwrap().tokens.total_tokens).sum();
    assert_eq!((info.turn_count, info.total_tokens), (7, u64::from(sum)));

    // The inserted turns are what `record` would have made of them.
    let twin = Fixture::new();
    let recorded = twin.session();
    for number in 1..=7 {
        let turn = session.turn(number).unwrap().unwrap();
        let known = recorded.record(NewTurn::new(&*turn.said.user_message, &*turn.said.ai_response)).unwrap();
        let known = recorded.turn(known.turn_number).unwrap().unwrap();
        assert_eq!((&turn.tokens, turn.seq), (&known.tokens, known.seq));
    }
    let derived = "SELECT group_concat(hex(t.words) || hex(r.content_hash) || t.tier_pad || t.turn_key)
                   FROM conversation_turns AS t JOIN recall_units AS r ON r.seq = t.seq";
    assert_eq!(ask::<String>(&fixture.path(), derived), ask::<String>(&twin.path(), derived));

    // Their session ends, is compressed, restored and erased like any other.
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
    assert_eq!(session.turn(2).unwrap().unwrap().memory_tier, MemoryTier::Cold);
    session.restore().unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
    alex.erase().unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
    assert_eq!(ask::<u32>(&fixture.path(), "SELECT count(*) FROM recall_units"), 0);
}

#[test]
fn they_run_in_the_sqlite3_shell() {
    let fixture = Fixture::new();
    with_user(&fixture).close().unwrap();
    for file in ["inserts.sql", "queries.sql"] {
        for statement in statements(file) {
            let output = match Command::new("sqlite3")
                .args(["-batch", "-bail"])
                .arg(fixture.path())
                .arg(&statement)
                .output()
            {
                Err(error) if error.kind() == ErrorKind::NotFound => return, // It is not ours.
                output => output.unwrap(),
            };
            assert!(output.status.success() && output.stderr.is_empty(), "{statement}: {output:?}");
        }
    }
    assert!(fixture.open().doctor().unwrap().is_healthy());
}

#[test]
fn a_running_program_shows_an_inserted_turn_at_once_and_finds_its_words_when_it_has_taken_it_over() {
    let fixture = Fixture::new();
    let memory = with_user(&fixture);
    let alex = user(&memory);
    let talk = alex.session().unwrap();
    talk.record(NewTurn::new("The kettle whistles.", "So it does.")).unwrap();
    recalled(&alex, "kettle"); // What recall keeps in memory is loaded.
    let insert = |number: u32, text: &str| {
        other_program(&fixture.path())
            .execute(
                "INSERT INTO conversation_turns (id, user_id, session_id, turn_number, user_message, ai_response,
                   user_message_tokens, ai_response_tokens, total_tokens)
                 VALUES (?1, ?2, ?3, ?4, ?5, '', 900, 900, 1800)",
                (bytes(number.into()), bytes(USER), talk.id().as_uuid().into_bytes(), number, text),
            )
            .unwrap();
    };
    insert(2, "A heron stands in the pond.");
    assert_eq!(hot(&talk), [1, 2]);
    let context = talk.context("And now?", ContextOptions::default()).unwrap();
    assert!(context.text.contains("A heron stands in the pond."), "{}", context.text);
    assert_eq!(context.missing, Vec::<String>::new());
    assert!(!recalled(&alex, "where is the heron?").contains(&2));
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(recalled(&alex, "where is the heron?").contains(&2));

    // Any write for the user takes inserted turns over, too.
    insert(3, "An otter came, too.");
    let next = talk.record(NewTurn::new("And a fox?", "No.")).unwrap();
    assert_eq!((next.turn_number, next.seq, hot(&talk)), (4, 4, vec![1, 2, 3, 4]));
    assert_eq!(recalled(&alex, "an otter?"), BTreeSet::from([3]));
    insert(5, "A badger sleeps.");
    talk.end().unwrap();
    memory.run_jobs(RunJobs::default().only(JobKind::Compress)).unwrap();
    assert_eq!(recalled(&alex, "a badger?"), BTreeSet::from([5]));
    assert!(memory.doctor().unwrap().is_healthy(), "{:#?}", memory.doctor().unwrap());
}

#[test]
fn many_inserted_turns_are_taken_over_and_indexed() {
    let fixture = Fixture::new();
    let memory = with_user(&fixture);
    insert_all(&fixture.path());
    let conn = other_program(&fixture.path());
    conn.execute_batch(
        "WITH RECURSIVE n(n) AS (SELECT 8 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
         INSERT INTO conversation_turns (id, user_id, session_id, turn_number, user_message, ai_response,
           user_message_tokens, ai_response_tokens, total_tokens)
         SELECT CAST(printf('%016d', n) AS BLOB), x'00000000000000000000000000000007',
                x'11111111111111111111111111111111', n, 'The post number' || n || ' is painted.', '', 1, 1, 2 FROM n",
    )
    .unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let indexed =
        "SELECT indexed_seq || ' ' || last_seq || ' ' || coalesce(inserted_seq, '-') FROM user_scopes";
    assert_eq!(ask::<String>(&fixture.path(), indexed), "256 300 -");
    assert!(recalled(&user(&memory), "number299").contains(&299));
    assert_eq!(hot(&session(&memory)).len(), 5);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_user_who_has_no_memory_yet_gets_one_with_the_first_session() {
    let fixture = Fixture::new();
    fixture.open().close().unwrap();
    let conn = other_program(&fixture.path());
    conn.execute("INSERT INTO users (id, created_at) VALUES (?1, '2026-03-01T12:00:00.000Z')", [bytes(USER)])
        .unwrap();
    drop(conn);
    insert_all(&fixture.path());
    let memory = fixture.open();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(hot(&session(&memory)), [3, 4, 5, 6, 7]);
    assert!(memory.doctor().unwrap().is_healthy(), "{:#?}", memory.doctor().unwrap());
}

/// Checks that each statement is refused with its message, and leaves nothing.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_cannot_be_taken_over_is_refused_in_words() {
    let fixture = Fixture::new();
    let memory = with_user(&fixture);
    let other = memory.user("nora").unwrap().session().unwrap();
    let ended = user(&memory).session_named("ended").unwrap();
    ended.end().unwrap();
    let chat = user(&memory).session_named("chat").unwrap();
    chat.record(thermocline::NewTurn::new("A lamp.", "").caller_id("known")).unwrap();
    memory.close().unwrap();
    other_program(&fixture.path()).execute_batch(&statements("inserts.sql")[..2].concat()).unwrap();
    let rows = || dump_without(&fixture.path(), &["sqlite_sequence.*"]);
    let before = rows();
    let quoted = |id: SessionId| format!("x'{}'", id.as_uuid().simple());
    let turn = |columns: &str, values: &str| {
        format!(
            "INSERT INTO conversation_turns (user_message, ai_response, user_message_tokens, ai_response_tokens,
               total_tokens, {columns}) VALUES ('a', 'b', 1, 1, 2, {values})"
        )
    };
    let of_user = |session: &str, number: u32| {
        turn(
            "id, user_id, session_id, turn_number",
            &format!("randomblob(16), x'00000000000000000000000000000007', {session}, {number}"),
        )
    };
    let here = "x'11111111111111111111111111111111'";
    let with = |columns: &str, values: &str| {
        turn(
            &format!("user_id, session_id, turn_number, {columns}"),
            &format!("x'00000000000000000000000000000007', {here}, 2, {values}"),
        )
    };
    let session = |columns: &str, values: &str| {
        format!(
            "INSERT INTO conversation_sessions (user_id, {columns}) VALUES (x'00000000000000000000000000000007', {values})"
        )
    };
    for (statement, words) in [
        (of_user(&quoted(other.id()), 1), "no open session of this user_id has this session_id"),
        (of_user(&quoted(ended.id()), 1), "no open session of this user_id has this session_id"),
        (of_user("randomblob(16)", 1), "no open session of this user_id has this session_id"),
        (of_user(here, 3), "turn_number must be the turn_count of its session plus 1"),
        (
            of_user(here, 1),
            "UNIQUE constraint failed: conversation_turns.session_id, conversation_turns.turn_number",
        ),
        (of_user(here, 0), "CHECK constraint failed: turn_number BETWEEN 1 AND 16777215"),
        (with("id", "x'a0000000000000000000000000000001'"), "another turn has this id"),
        (
            with("id", "'a0000000-0000-0000-0000-000000000002'"),
            "cannot store TEXT value in BLOB column conversation_turns.id",
        ),
        (with("id", "x'02'"), "conversation_turns.id must be a UUID as a BLOB of 16 bytes"),
        (with("id, memory_tier", "randomblob(16), 'warm'"), "a new turn is hot: leave out memory_tier"),
        (with("id, timestamp", "randomblob(16), 'noon'"), "must be a time of the years 1 to 9999"),
        (with("id, timestamp", "randomblob(16), 0"), "must be a time of the years 1 to 9999"),
        (with("id, caller_id", "randomblob(16), 'known'"), "another turn of this user has this caller_id"),
        (
            with("id, turn_key", "randomblob(16), (SELECT min(turn_key) FROM conversation_turns)"),
            "another turn has this turn_key",
        ),
        (with("id, metadata", "randomblob(16), 'not JSON'"), "metadata must be a JSON object"),
        (with("id, metadata", "randomblob(16), '[1]'"), "metadata must be a JSON object"),
        (
            with("id, user_name", "randomblob(16), ''"),
            "caller_id, user_name and assistant_name have 1 to 256 bytes",
        ),
        (
            with("id", "randomblob(16)").replace("('a', 'b'", "('', ''"),
            "a turn has a text on one side at least",
        ),
        (
            with("id, user_origin", "randomblob(16), 'robot'"),
            "an origin is user, assistant, tool, document or system",
        ),
        (
            with("id, is_identity_critical", "randomblob(16), 2"),
            "CHECK constraint failed: is_identity_critical IN (0, 1)",
        ),
        (
            of_user(here, 2).replace("1, 1, 2", "1, -1, 2"),
            "the token counts of a turn must be from 0 to 2147483647",
        ),
        (session("id", &quoted(other.id())), "a session of another user has this id"),
        (
            session("id, caller_id", "randomblob(16), 'chat'"),
            "another session has this session_no, or this caller_id and part",
        ),
        (
            session("id, session_no", "randomblob(16), 1"),
            "another session has this session_no, or this caller_id and part",
        ),
        (session("id, started_at", "randomblob(16), 0"), "must be a time of the years 1 to 9999"),
        (session("id", "x'02'"), "conversation_sessions.id must be a UUID as a BLOB of 16 bytes"),
        (session("id, turn_count", "randomblob(16), 3"), "a new session is open and empty"),
        (session("id, ended_at", "randomblob(16), '2026-03-01'"), "CHECK constraint failed"),
        (session("id, started_at", "randomblob(16), 'noon'"), "must be a time of the years 1 to 9999"),
    ] {
        for keyword in ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE"] {
            let statement = statement.replacen("INSERT", keyword, 1);
            match other_program(&fixture.path()).execute(&statement, []) {
                Err(error) => {
                    let is_replaced = keyword != "INSERT" && words.starts_with("UNIQUE");
                    assert!(is_replaced || error.to_string().contains(words), "{error}: {statement}");
                }
                Ok(written) => assert!(written == 0 && keyword == "INSERT OR IGNORE", "{statement}"),
            }
            assert_eq!(rows(), before, "{statement}");
        }
    }
    assert!(fixture.open().doctor().unwrap().is_healthy());
}

#[test]
fn who_is_being_erased_gets_no_session() {
    let fixture = Fixture::new();
    with_user(&fixture).close().unwrap();
    let conn = other_program(&fixture.path());
    conn.execute_batch(
        "INSERT INTO jobs (kind, user_id, dedupe_key, next_run_at, created_at)
         VALUES ('erase', x'00000000000000000000000000000007', 'erase:7', '2026', '2026')",
    )
    .unwrap();
    let error = conn.execute(&statements("inserts.sql")[0], []).unwrap_err();
    assert!(error.to_string().contains("this user is being erased"), "{error}");
}

#[test]
fn what_the_papers_indexes_are_for_is_asked_of_an_index() {
    let fixture = Fixture::new();
    with_user(&fixture).close().unwrap();
    insert_all(&fixture.path());
    let conn = other_program(&fixture.path());
    let check = |query: &str, index: &str| {
        let mut stmt = conn.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        let plan: Vec<String> =
            stmt.query_map([], |row| row.get("detail")).unwrap().collect::<Result<_, _>>().unwrap();
        assert!(plan[0].contains(index), "{query}: {plan:?}");
    };
    check(
        "SELECT * FROM conversation_turns WHERE memory_tier = 'warm'",
        "SEARCH conversation_turns USING INDEX idx_turns_warm",
    );
    check("SELECT * FROM conversation_turns WHERE memory_tier = 'hot'", "USING INDEX idx_turns_tier");
    check(
        "SELECT * FROM conversation_turns WHERE user_id = x'07' AND memory_tier = 'cold' ORDER BY timestamp DESC",
        "USING INDEX idx_turns_cold",
    );
    check("SELECT * FROM conversation_turns WHERE session_id = x'01' AND memory_tier = 'warm'", "INDEX");
    check("SELECT * FROM conversation_turns WHERE user_id = x'07'", "idx_turns_user");
    check("SELECT * FROM conversation_turns WHERE session_id = x'01'", "idx_turns_session");
    check("SELECT * FROM conversation_turns WHERE timestamp > '2026'", "idx_turns_timestamp");
    check("SELECT * FROM conversation_sessions WHERE user_id = x'07'", "idx_sessions_");
    check("SELECT * FROM conversation_sessions WHERE ended_at IS NULL", "idx_sessions_active");
}

/// Every column of the paper's tables exists, with the same type, and with a default if it has one there.
#[test]
fn every_column_of_the_paper_has_its_type_and_its_default() {
    let fixture = Fixture::new();
    fixture.open().close().unwrap();
    let theirs = Connection::open_in_memory().unwrap();
    theirs.execute_batch(&statements("tables.sql").concat()).unwrap();
    let columns = |conn: &Connection, table: &str| -> Vec<(String, String, Option<String>)> {
        let mut stmt = conn.prepare("SELECT name, type, dflt_value FROM pragma_table_info(?1)").unwrap();
        let rows = stmt.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    for table in ["conversation_turns", "conversation_sessions"] {
        let ours = columns(&other_program(&fixture.path()), table);
        for (name, kind, default) in columns(&theirs, table) {
            let (_, our_kind, our_default) = ours.iter().find(|(ours, ..)| *ours == name).unwrap();
            assert_eq!(*our_kind, kind, "{table}.{name}");
            match default.as_deref() {
                // Our default is the one form of times that sorts.
                Some("datetime('now')") => {
                    assert_eq!(
                        our_default.as_deref(),
                        Some("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"),
                        "{table}.{name}"
                    );
                }
                default => assert_eq!(our_default.as_deref(), default, "{table}.{name}"),
            }
        }
    }
}

#[test]
fn the_view_of_tiers_counts_what_the_archive_has() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let say = |session: &Session, count: usize| {
        for n in 0..count {
            let long = format!("The lamp beside the bridge number{n} is old. ").repeat(8);
            session.record(NewTurn::new(&*long, &*long)).unwrap();
        }
    };
    let old = alex.session_named("old").unwrap();
    say(&old, 11);
    old.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    say(&alex.session_named("new").unwrap(), 14);
    let sum = |column: &str, tier: &str| -> u32 {
        ask(
            &fixture.path(),
            &format!("SELECT coalesce(sum({column}), 0) FROM v_tiers WHERE memory_tier LIKE '{tier}'"),
        )
    };
    assert_eq!(sum("turns", "%"), 25);
    assert_eq!(sum("turns", "cold"), 11);
    assert_eq!(sum("archived", "cold"), ask::<u32>(&fixture.path(), "SELECT count(*) FROM archived_turns"));
    assert!(sum("archived", "cold") > 0);
    assert_eq!(
        sum("tokens", "%"),
        ask::<u32>(&fixture.path(), "SELECT sum(total_tokens) FROM conversation_sessions")
    );
}

#[test]
fn a_statement_that_is_said_again_changes_nothing() {
    let fixture = Fixture::new();
    with_user(&fixture).close().unwrap();
    insert_all(&fixture.path());
    let before = dump(&fixture.path());
    let conn = other_program(&fixture.path());
    for statement in statements("inserts.sql") {
        let ignored = conn.execute(&statement.replacen("INSERT", "INSERT OR IGNORE", 1), []).unwrap();
        assert_eq!(ignored, 0, "{statement}");
        if statement.contains("conversation_turns") {
            conn.execute(&statement, []).unwrap_err();
            conn.execute(&statement.replacen("INSERT", "INSERT OR REPLACE", 1), []).unwrap_err();
        }
    }
    assert_eq!(dump(&fixture.path()), before);
}

#[test]
fn a_message_that_waits_for_its_reply_comes_first() {
    let fixture = Fixture::new();
    let memory = with_user(&fixture);
    let talk = user(&memory).session().unwrap();
    talk.record_message(NewTurn::new("Shall we?", "").caller_id("m1")).unwrap();
    let insert = |number: u32, caller_id: &str| {
        other_program(&fixture.path()).execute(
            "INSERT INTO conversation_turns (id, user_id, session_id, turn_number, user_message, ai_response,
               user_message_tokens, ai_response_tokens, total_tokens, caller_id)
             VALUES (randomblob(16), ?1, ?2, ?3, 'Over there.', '', 1, 0, 1, ?4)",
            (bytes(USER), talk.id().as_uuid().into_bytes(), number, caller_id),
        )
    };
    let refused = insert(1, "t1").unwrap_err().to_string();
    assert!(refused.contains("a message of this session waits for its reply"), "{refused}");
    let replaced = talk.record(NewTurn::new("Or not?", "No.").caller_id("t2")).unwrap();
    talk.record(NewTurn::new("Or not now?", "No.").replacing(replaced.turn_id)).unwrap();
    let refused = insert(3, "t2").unwrap_err().to_string();
    assert!(refused.contains("another turn of this user has this caller_id"), "{refused}");
    assert_eq!(insert(3, "t3").unwrap(), 1);
    assert_eq!(hot(&talk), [1, 2, 3]);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn an_inserted_turn_is_exported_as_one_that_was_recorded() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    let memory = with_user(&fixture);
    insert_all(&fixture.path());
    let text = export(&user(&memory));
    let copy = other.open();
    copy.import("alex", std::io::Cursor::new(text)).unwrap();
    assert!(recalled(&copy.user("alex").unwrap(), "a lantern?").contains(&4));
    assert!(copy.doctor().unwrap().is_healthy(), "{:#?}", copy.doctor().unwrap());
}
