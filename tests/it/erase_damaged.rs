//! An erase reads only keys of what it deletes: it works whatever the other columns of the rows hold.

use std::{collections::BTreeSet, path::Path, thread};

use rusqlite::{Connection, OpenFlags};
use thermocline::{
    ContextOptions, Durability, Erased, Error, MemoryId, NewTurn, Origin, RunJobs, SessionId, TurnId, UserId,
    blocking::{Thermocline, User},
};

use crate::{
    dump::{Dump, assert_same, dump_of_user, rewrite},
    support::{Fixture, long_turn, turn},
};

/// A file with a user who has a row in every table, and another user.
struct Story {
    fixture: Fixture,
    user: UserId,
    archived: TurnId,
    hot: TurnId,
    told: SessionId,
    asked: SessionId,
    /// The rows of the other user.
    others: Dump,
}

fn fill(memory: &Thermocline, name: &str) -> (UserId, [TurnId; 2], [SessionId; 2]) {
    let user = memory.user(name).unwrap();
    let told = user.session_named("told").unwrap();
    let said = NewTurn::new(format!("My name is {name}. I live in Bergen and I love lamps."), "Really?");
    let archived = told.record(said).unwrap().turn_id;
    (1..9).for_each(|n| drop(told.record(long_turn(n)).unwrap()));
    told.record(NewTurn::new("I live in Bergen, as I said, and I love lamps. I love chess.", "Yes."))
        .unwrap();
    told.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let asked = user.session_named("asked").unwrap();
    let hot = asked.record(NewTurn::new("I moved to Oslo, and I play chess.", "Nice.")).unwrap().turn_id;
    let replaced = asked.record(turn(2).caller_id("replaced")).unwrap().turn_id;
    asked.record(turn(3).replacing(replaced)).unwrap();
    let context = asked.context("What of my lamp and the kettle?", ContextOptions::default()).unwrap();
    asked.record(turn(1).answering(context.receipt)).unwrap();
    asked.record_message(NewTurn::new("And its hay?", "")).unwrap();
    (user.id(), [archived, hot], [told.id(), asked.id()])
}

/// Rows that this story does not write, in tables whose rows are made by larger files or by providers.
const ROWS: &str = "
    INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error) SELECT user_no, space_no, 1, 1, '' FROM user_spaces;
    INSERT INTO jobs (kind, user_id, subject_id, dedupe_key, next_run_at, created_at)
    SELECT 'compress', user_id, id, hex(id), '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z'
    FROM conversation_sessions WHERE caller_id = 'told';
    INSERT INTO postings (user_no, word, first_seq, last_seq, unit_count, data)
    SELECT user_no, 1, 1, 1, 1, x'' FROM user_scopes;
    INSERT INTO unit_blocks (user_no, block_no, body) SELECT user_no, 0, x'' FROM user_scopes;
    INSERT INTO promotions (user_no, session_no, seq, promoted_at)
    SELECT user_no, 2, 1, '2026-03-01T12:00:00.000Z' FROM user_scopes;";

/// A memory that stays if its source or its successor is erased, with an episode and a review that lose something then.
const STAYS: &str = "
    CREATE TEMP TABLE stays AS SELECT * FROM user_memories WHERE memory_no = 2;
    UPDATE stays SET memory_no = 3, id = x'00000000000070008000000000000009', learning_source = 'manual', session_no = NULL;
    INSERT INTO user_memories SELECT * FROM stays;
    INSERT INTO memory_state (memory_no, user_no) VALUES (3, 1);
    INSERT INTO memory_sources (user_no, memory_no, source_kind, source_id, origin, made_by, seq, said_at, quote)
    SELECT user_no, 3, source_kind, source_id, origin, made_by, seq, said_at, quote FROM memory_sources WHERE memory_no = 1;
    INSERT INTO memory_changes (user_no, memory_no, change_no, op, group_id, made_by, made_at, reason, before)
    SELECT user_no, 3, 1, 'edit', group_id, made_by, made_at, '', '{\"title\":\"Lamps\"}' FROM memory_changes WHERE memory_no = 2;
    INSERT INTO memory_reviews (id, user_no, kind, memory_no, other_no, opened_at, why)
    SELECT randomblob(16), user_no, 'contradiction', 3, 1, opened_at, why FROM memory_reviews;
    INSERT INTO memory_episodes (id, user_no, role, memory_no, session_no, happened_at, outcome)
    SELECT randomblob(16), user_no, 'use', 3, 1, happened_at, 'success' FROM memory_episodes WHERE memory_no = 1;";

impl Story {
    fn new() -> Self {
        let mut fixture = Fixture::new();
        fixture.config.durability = Durability::Relaxed;
        let memory = fixture.open();
        let (user, [archived, hot], [told, asked]) = fill(&memory, "alex");
        fill(&memory, "mira");
        memory.close().unwrap();
        rewrite(&fixture.path(), &format!("{ROWS}{}{STAYS}", include_str!("../data/memories.sql")));
        fixture.open().close().unwrap(); // The rows have their checksums now.
        let others = dump_of_user(&fixture.path(), "mira");
        Self { fixture, user, archived, hot, told, asked, others }
    }
}

/// A column of a table with a user's data.
struct Column {
    table: String,
    name: String,
    kind: String,
}

/// All columns of the tables with a user's data, except the keys of these tables and those that say whose row it is.
fn columns(path: &Path) -> Vec<Column> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut stmt = conn
        .prepare(
            "SELECT t.name, c.name, c.type FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
             WHERE t.schema = 'main' AND t.type = 'table' AND c.pk = 0 AND c.name NOT IN ('user_id', 'user_no')
               AND (t.name = 'users' OR EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name IN ('user_id', 'user_no')))
             ORDER BY t.name, c.cid",
        )
        .unwrap();
    let rows =
        stmt.query_map([], |row| Ok(Column { table: row.get(0)?, name: row.get(1)?, kind: row.get(2)? }));
    rows.unwrap().map(Result::unwrap).collect()
}

/// What makes the column unreadable: a value that SQLite would refuse there, but that a damaged page may hold; and in a time
/// also one that was once accepted, of which the checksum holds.
fn damages(Column { name, kind, .. }: &Column) -> &'static [&'static str] {
    match kind.as_str() {
        "TEXT" if name.ends_with("_at") || ["timestamp", "valid_from", "valid_until"].contains(&&**name) => {
            &["x'ff00'", LEAP_SECOND]
        }
        "TEXT" => &["x'ff00'"],
        "INTEGER" | "REAL" => &["'no number'"],
        _ => &["'no blob'"],
    }
}

const LEAP_SECOND: &str = "'2016-12-31T23:59:60.000Z'";

fn writable(path: &Path) -> Connection {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    conn.execute_batch(
        "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN;
         PRAGMA writable_schema = ON; CREATE TEMP TABLE strict AS SELECT name, sql FROM sqlite_schema WHERE type = 'table';
         UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') STRICT', ')')
         WHERE type = 'table'; PRAGMA writable_schema = RESET",
    )
    .unwrap();
    conn
}

/// Writes a value to a column of all rows of alex, or of one row if the rows must differ. Returns how many rows it changed.
fn damage(conn: &Connection, Column { table, name, .. }: &Column, value: &str) -> usize {
    let has = |column: &str| {
        let sql = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
        conn.query_row(sql, [table.as_str(), column], |row| row.get::<_, bool>(0)).unwrap()
    };
    let alex = "(SELECT user_id FROM user_scopes WHERE user_no = 1)";
    let of_alex = match table.as_str() {
        "users" => format!("id = {alex}"),
        _ if has("user_id") => format!("user_id = {alex}"),
        _ => "user_no = 1".to_owned(),
    };
    let seal = if value == LEAP_SECOND { ", row_check = x'00000000'" } else { "" };
    let update = format!("UPDATE {table} SET {name} = {value}{seal} WHERE {of_alex}");
    let one = format!("{update} AND {name} = (SELECT min({name}) FROM {table} WHERE {of_alex})");
    conn.execute(&update, []).or_else(|_| conn.execute(&one, [])).unwrap()
}

fn write(conn: &Connection) {
    conn.execute_batch(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = (SELECT s.sql FROM strict AS s WHERE s.name = sqlite_schema.name)
         WHERE type = 'table'; PRAGMA writable_schema = RESET; COMMIT",
    )
    .unwrap();
}

type Erase = (&'static str, fn(&Story, &User) -> Result<Erased, Error>);
const ERASES: &[Erase] = &[
    ("a turn", |story, user| user.erase_turn(story.hot)),
    ("an archived turn", |story, user| user.erase_turn(story.archived)),
    ("a memory", |_, user| user.memories().by(Origin::User).erase(memory_id(1))),
    ("a session", |story, user| user.session_by_id(story.told)?.erase()),
    ("an open session", |story, user| user.session_by_id(story.asked)?.erase()),
    ("a user", |_, user| user.erase()),
];

fn memory_id(number: u8) -> MemoryId {
    format!("mem_00000000-0000-7000-8000-0000000000{number:02x}").parse().unwrap()
}

/// Damages these columns in a copy of the file, and erases. Returns what failed.
fn tried(story: &Story, columns: &[(&Column, &str)], (what, erase): Erase) -> Result<(), String> {
    let copy = story.fixture.copy();
    let conn = writable(&copy.path());
    for (column, value) in columns {
        assert!(damage(&conn, column, value) > 0, "{}.{} has a value", column.table, column.name);
    }
    write(&conn);
    drop(conn);
    let memory = copy.open();
    let user = memory.user_by_id(story.user).unwrap();
    erase(story, &user).map_err(|error| format!("{what}: {error:?}"))?;
    memory.close().unwrap();
    assert_same(&dump_of_user(&copy.path(), "mira"), &story.others, what);
    Ok(())
}

/// Whether an erase may fail because of this column: it is the id by which the erase names what it deletes, or it is in the
/// user's own row, which stays unless the whole user is erased, and without which nothing can be written for the user.
fn may_fail(what: &str, Column { table, name, .. }: &Column) -> bool {
    match (table.as_str(), name.as_str()) {
        ("conversation_sessions" | "user_memories", "id") | ("user_scopes", _) => what != "a user",
        _ => false,
    }
}

/// Tries an erase with each column damaged: one column of each table at once, then the next one of each. If that fails,
/// tries each of these columns alone.
fn failures(story: &Story, columns: &[Column], erase: Erase) -> Vec<String> {
    let with_damages = |column| damages(column).iter().map(move |value| (column, *value));
    let mut left: Vec<_> =
        columns.iter().filter(|column| !may_fail(erase.0, column)).flat_map(with_damages).collect();
    let mut failed = Vec::new();
    while !left.is_empty() {
        let mut tables = BTreeSet::new();
        // What a turn's row lacks is taken from its unit.
        let lender = |table| if table == "recall_units" { "conversation_turns" } else { table };
        let (now, later) = left.into_iter().partition(|(column, _)| tables.insert(lender(&column.table)));
        let now: Vec<(&Column, &str)> = now;
        left = later;
        if let Err(together) = tried(story, &now, erase) {
            let alone = now.iter().filter_map(|one| Some((one, tried(story, &[*one], erase).err()?)));
            let named = |((column, value), error): (&(&Column, &str), String)| {
                format!("{}.{} = {value}: {error}", column.table, column.name)
            };
            let known = failed.len();
            failed.extend(alone.map(named));
            assert!(failed.len() > known, "{together}, but none of these alone: {tables:?}");
        }
    }
    failed
}

#[test]
fn an_erase_works_whatever_the_rows_hold_that_it_deletes() {
    let story = Story::new();
    let columns = columns(&story.fixture.path());
    assert!(columns.len() > 200, "{}", columns.len());
    let failed: Vec<String> = thread::scope(|scope| {
        let tries = ERASES.iter().map(|erase| scope.spawn(|| failures(&story, &columns, *erase)));
        let tries: Vec<_> = tries.collect();
        tries.into_iter().flat_map(|tries| tries.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}: {failed:#?}", failed.len());
}
