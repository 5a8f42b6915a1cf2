//! Doctor finds what is broken, names it, and never stops at a damaged file.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use chrono::TimeDelta;
use rusqlite::Connection;
use tempfile::TempDir;
use thermocline::{
    Attribute, Config, Diagnosis, Durability, NewTurn, Originals, RecallOptions, RunJobs, SnapshotId,
    blocking::Thermocline,
};
use uuid::Uuid;

use crate::{
    dump::{meddle, rewrite},
    knowledge::{self, as_text},
    scripted::{Scripted, reads_anchors},
    support::{Fixture, long_turn, turn, turn_of},
    transfer::import,
};

const ERASES: &str = "no erase is unfinished (running the jobs finishes it)";
const TAKEN_OVER: &str =
    "what other programs inserted is taken over (opening the file and running the jobs does it)";
const REFERENCES: &str = "references between tables point to rows that exist";
const USERS: &str = "every user's rows belong to a user of this file";
const SAME_USER: &str = "a turn and its session belong to the same user";
const TURN_COUNT: &str =
    "a session's turn_count counts the turns recorded in it, and those erased one by one";
const PLACE: &str =
    "every recorded turn is in one place: a row, the archive, or deleted with a summary in its place";
const SAME_TURN: &str = "what stands in a turn's place is that turn";
const SUMMARY: &str = "every archived turn has a summary, and every summary of an archived turn its turn";
const COLD: &str = "only ended sessions are compressed, and no turn of a cold session is warm";
const EVIDENCE: &str = "every anchor has evidence, and all evidence its anchor and its turn";
const ONE_VALUE: &str = "an attribute with one value has at most one current value";
const ORDER: &str = "every turn stands in the order of recall";
const SESSION_TOKENS: &str = "a session's total_tokens is the sum over its turns";
const SIDES: &str = "a turn's total_tokens is the sum of its sides";
const HOT_NEWEST: &str = "the hot turns of a session are its newest";
const NEWEST_HOT: &str = "the newest turn of an open session is hot, and no turn of an ended one";
const HOT_LIMIT: &str = "a session has at most 50 hot turns";
const SCHEMA: &str = "tables, indexes, views and triggers are as this version makes them, and nothing of another program acts on them";
const LAST_MOVE: &str = "every turn outside of hot has a record of its last move";
const WAITS: &str = "a turn that waits for its reply is the newest of an open session";
const NO_PART: &str = "no turn that was set aside is part of the memory, nor is its caller's id used there";
const ASIDE_READ: &str = "every turn beside the memory can be read, and is the one that was recorded";
const SUCCESSOR: &str =
    "an ended session whose talk can go on may have a successor: a later session of its user";
const SESSIONS_READ: &str = "every session can be read";
const TURNS_READ: &str = "every turn can be read";
const TEXTS: &str = "every text is the one that was recorded";
const WORDS: &str = "the words of a turn match its text";
const TOKENS: &str = "the token counts of a turn match its text";
const ARCHIVE_READ: &str = "every archived turn can be read, and is the one that was recorded";
const SUMMARIES_READ: &str = "every summary can be read";
const FAR: &str = "no user is indexed or embedded beyond the recorded turns";
const OF_USE: &str = "what waits to be embedded again, and what was of use, is a turn of its user";
const PROMOTED: &str = "every turn that is warm for its use is in an open session of its user";
const INDEXED_WORDS: &str = "the index has the words of every turn that is indexed, and no others";
const INDEXED_FACTS: &str = "the index knows where, when and how long every indexed turn is";
const VECTORS: &str = "every vector belongs to a turn of its user";
const ROWS: &str = "every row is what was written";
const PAGES: &str = "the pages of the file are sound";
const BEGINNING: &str = "every memory has its state and its beginning";
const UNIT: &str = "every memory that holds or is archived has its unit, which is its own";
const UNIT_OF_MEMORY: &str = "every unit of a memory has its memory and its words";
const USED: &str = "a memory's use counts are those of its uses";
const PASSED: &str = "every check that a memory passed is counted";
const TRUST: &str =
    "no memory is trusted more than what it was made from, unless a person rewrote or approved it";
const SOURCES: &str = "every turn that a memory was made of is a turn of its user";
const CHANGES: &str =
    "the changes of a memory are numbered from 1 without a gap, and are as many as its revision says";
const ASKED: &str = "what was saved to wait for a person has a review";
const SUPERSEDING: &str = "every superseded memory has an edge from its successor";
const EXTRACTED: &str = "every session that was searched for memories belongs to its user";
const MEMORIES_READ: &str = "every memory can be read";
const MEMORY_TEXTS: &str = "every memory says what was saved";
const TERMS: &str = "the tags and entities of a memory are counted, and folded as they were written";
const MEMORY_WORDS: &str = "the words of a memory's unit match its text";
const SUCCESSORS: &str = "the successor of a memory is another memory of its user";

/// Changes that break `seed`, and the checks that report them. In braces, the key of a session stands for its turns, the
/// name of a user for the user's id, and the title of a memory (with `_`) for the memory.
const BREAKS: &[(&str, &[&str])] = &[
    (
        "INSERT INTO jobs (kind, user_id, dedupe_key, next_run_at, created_at)
         SELECT 'erase', id, 'erase', '', '' FROM users WHERE name = 'alex'",
        &[ERASES],
    ),
    (
        "UPDATE user_scopes SET inserted_seq = -1 WHERE user_id = {mira}",
        &[TAKEN_OVER, INDEXED_WORDS, INDEXED_FACTS, VECTORS],
    ),
    ("UPDATE conversation_turns SET snapshot_id = zeroblob(16) WHERE {one}", &[REFERENCES]),
    ("UPDATE conversation_sessions SET user_id = {nobody} WHERE caller_id = 'empty'", &[USERS]),
    ("UPDATE conversation_turns SET user_id = {mira} WHERE {one}", &[SAME_USER, ORDER]),
    ("UPDATE conversation_turns SET user_id = {nobody} WHERE {one}", &[USERS, SAME_USER]),
    ("UPDATE conversation_sessions SET turn_count = 2 WHERE caller_id = 'one'", &[TURN_COUNT]),
    ("UPDATE conversation_turns SET caller_id = 'other' WHERE {one}", &[SAME_TURN]),
    ("DELETE FROM conversation_turns WHERE {one}", &[PLACE, SESSION_TOKENS]),
    ("DELETE FROM recall_units WHERE caller_id = 'first'", &[TURN_COUNT, ORDER]),
    ("UPDATE conversation_sessions SET total_tokens = 1 WHERE caller_id = 'one'", &[SESSION_TOKENS]),
    (
        "UPDATE conversation_turns SET user_message_tokens = 99, counted_by = 'another/1' WHERE {one}",
        &[SIDES],
    ),
    ("UPDATE conversation_turns SET memory_tier = 'hot' WHERE {evicted} AND turn_number = 1", &[HOT_NEWEST]),
    ("UPDATE conversation_turns SET memory_tier = 'hot' WHERE {ended}", &[NEWEST_HOT]),
    ("UPDATE conversation_turns SET memory_tier = 'hot' WHERE {long}", &[HOT_LIMIT]),
    ("DELETE FROM memory_tier_transitions WHERE turn_number = 2", &[LAST_MOVE]),
    ("UPDATE memory_tier_transitions SET to_tier = 'cold' WHERE turn_number = 2", &[LAST_MOVE]),
    ("UPDATE conversation_sessions SET successor_id = zeroblob(16) WHERE caller_id = 'silent'", &[SUCCESSOR]),
    ("UPDATE conversation_sessions SET successor_id = id WHERE caller_id = 'silent'", &[SUCCESSOR]),
    (
        "UPDATE conversation_sessions SET successor_id = (SELECT id FROM conversation_sessions
           WHERE user_id = {mira}) WHERE caller_id = 'silent'",
        &[SUCCESSOR],
    ),
    (
        "UPDATE conversation_sessions SET successor_id = (SELECT id FROM conversation_sessions
           WHERE caller_id = 'silent' AND part = 2) WHERE caller_id IN ('one', 'ended')",
        &[SUCCESSOR],
    ),
    (
        "UPDATE conversation_sessions SET end_reason = 'call', caller_id = NULL
         WHERE caller_id = 'silent' AND part = 1",
        &[SUCCESSOR],
    ),
    ("UPDATE conversation_sessions SET erased_turns = 1 WHERE caller_id = 'one'", &[TURN_COUNT]),
    ("UPDATE turns_aside SET user_id = {nobody} WHERE replaced_by IS NOT NULL", &[USERS, WAITS]),
    ("UPDATE turns_aside SET turn_number = 9 WHERE replaced_by IS NULL", &[WAITS]),
    ("UPDATE turns_aside SET caller_id = 'first' WHERE replaced_by IS NOT NULL", &[NO_PART]),
    ("UPDATE turns_aside SET content_hash = zeroblob(16) WHERE replaced_by IS NULL", &[ASIDE_READ]),
    ("UPDATE turns_aside SET turn = '{}'", &[ASIDE_READ]),
    (
        "UPDATE conversation_sessions SET last_active_at = 'yesterday' WHERE caller_id = 'one'",
        &[SESSIONS_READ],
    ),
    ("UPDATE conversation_sessions SET started_at = '' WHERE caller_id = 'one'", &[SESSIONS_READ]),
    ("UPDATE conversation_sessions SET ended_at = 'now' WHERE caller_id = 'ended'", &[SESSIONS_READ]),
    (
        "UPDATE conversation_sessions SET project = CAST(x'ff' AS TEXT) WHERE caller_id = 'one'",
        &[SESSIONS_READ],
    ),
    ("UPDATE conversation_turns SET timestamp = '2026-02-30T00:00:00.000Z' WHERE {one}", &[TURNS_READ]),
    ("UPDATE conversation_turns SET user_origin = 'oracle' WHERE {one}", &[TURNS_READ]),
    ("UPDATE conversation_turns SET assistant_origin = '' WHERE {one}", &[TURNS_READ]),
    ("UPDATE conversation_turns SET piece_tokens = -1 WHERE {one}", &[TURNS_READ]),
    ("UPDATE conversation_turns SET user_message = CAST(x'ff' AS TEXT) WHERE {one}", &[ROWS, TURNS_READ]),
    ("UPDATE conversation_turns SET ai_response = 'something else' WHERE {one}", &[ROWS, TURNS_READ]),
    (
        "UPDATE conversation_turns SET user_message = '', ai_response = user_message || ai_response WHERE {one}",
        &[ROWS, TURNS_READ],
    ),
    ("UPDATE recall_units SET content_hash = zeroblob(16) WHERE caller_id = 'first'", &[ROWS, TURNS_READ]),
    ("UPDATE recall_units SET content_hash = x'00' WHERE caller_id = 'first'", &[ROWS, TURNS_READ]),
    ("UPDATE conversation_turns SET words = x'' WHERE {one}", &[WORDS]),
    ("UPDATE conversation_turns SET words = x'010000000000000000' WHERE {one}", &[WORDS]),
    ("UPDATE conversation_turns SET piece_tokens = piece_tokens + 1 WHERE {one}", &[TOKENS]),
    (
        "UPDATE conversation_turns SET user_message_tokens = user_message_tokens + 1,
           ai_response_tokens = ai_response_tokens - 1 WHERE {one}",
        &[TOKENS],
    ),
    // Memories, by their titles: those of the export that is imported in `seed`.
    ("DELETE FROM memory_state WHERE {the_lamp}", &[BEGINNING]),
    ("DELETE FROM memory_episodes WHERE role = 'birth' AND {lamps}", &[BEGINNING]),
    ("UPDATE user_memories SET seq = NULL WHERE {the_lamp}", &[UNIT]),
    ("UPDATE user_memories SET seq = 1 WHERE {the_lamp}", &[UNIT]),
    ("UPDATE recall_units SET content_hash = zeroblob(16) WHERE owner_id = (SELECT id FROM user_memories WHERE {the_lamp})", &[UNIT]),
    ("DELETE FROM memory_units WHERE {the_lamp}", &[UNIT, UNIT_OF_MEMORY]),
    (
        "INSERT INTO memory_units (user_no, seq, memory_no, words)
         SELECT user_no, 1, memory_no, x'' FROM user_memories WHERE {the_lamp}",
        &[UNIT_OF_MEMORY],
    ),
    ("DELETE FROM user_memories WHERE {lamps}", &[REFERENCES]),
    ("UPDATE memory_state SET usage_count = usage_count - 1 WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_state SET usage_count = 5 WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_state SET access_count = 1 WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_state SET success_rate = 0.6 WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_state SET success_rate = NULL WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_state SET context_count = 2 WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_state SET project_count = 0 WHERE {the_lamp}", &[USED]),
    ("UPDATE memory_episodes SET outcome = 'success' WHERE outcome = 'failure'", &[USED]),
    ("UPDATE memory_changes SET op = 'check', new_value = 'pass' WHERE change_no = 1 AND {two_lamps}", &[PASSED]),
    ("UPDATE user_memories SET trust = 2 WHERE {no_lamps}", &[TRUST]),
    ("UPDATE user_memories SET origin = 'document' WHERE {three_lamps}", &[TRUST]),
    ("UPDATE user_memories SET trust = 2, origin = 'assistant' WHERE {no_lamps}", &[TRUST]),
    ("UPDATE memory_sources SET seq = seq + 1 WHERE source_kind = 'turn' AND {the_lamp}", &[SOURCES]),
    ("UPDATE memory_sources SET source_id = randomblob(16) WHERE source_kind = 'turn' AND {the_lamp}", &[SOURCES]),
    ("DELETE FROM memory_changes WHERE {the_lamp}", &[CHANGES]),
    ("DELETE FROM memory_changes WHERE change_no = 1 AND {two_lamps}", &[CHANGES]),
    ("UPDATE memory_changes SET change_no = 3 WHERE change_no = 2", &[CHANGES]),
    ("UPDATE extracted_sessions SET session_no = 1", &[EXTRACTED]),
    ("UPDATE user_memories SET said_at = 'yesterday' WHERE {lamps}", &[MEMORIES_READ]),
    ("UPDATE user_memories SET extra = '[]' WHERE {lamps}", &[MEMORIES_READ]),
    ("UPDATE user_memories SET content = 'Other words.' WHERE {three_lamps}", &[MEMORY_TEXTS]),
    ("UPDATE user_memories SET kind = 'fix' WHERE {lamps}", &[MEMORY_TEXTS]),
    ("UPDATE memory_terms SET term = 'Lamps' WHERE term = 'lamps'", &[TERMS]),
    ("UPDATE memory_terms SET position = 3 WHERE position = 2 AND kind = 'entity'", &[TERMS]),
    ("UPDATE memory_units SET words = x'' WHERE {the_lamp}", &[MEMORY_WORDS]),
    ("DELETE FROM memory_terms WHERE term = 'at night'", &[MEMORY_WORDS]),
    ("DELETE FROM memory_edges WHERE type = 'supersedes'", &[SUPERSEDING]),
    ("DELETE FROM memory_reviews WHERE {no_lamps}", &[ASKED]),
    ("UPDATE user_memories SET revision = revision + 1 WHERE {three_lamps}", &[CHANGES]),
    ("UPDATE user_memories SET superseded_by = 99999 WHERE {two_lamps}", &[SUCCESSORS, SUPERSEDING]),
    ("UPDATE user_memories SET superseded_by = memory_no WHERE {two_lamps}", &[SUCCESSORS, SUPERSEDING]),
    (
        "UPDATE user_memories SET status = 'superseded', seq = NULL,
           superseded_by = (SELECT memory_no FROM user_memories WHERE {two_lamps}) WHERE {three_lamps};
         DELETE FROM recall_units WHERE kind = 'memory' AND seq = (SELECT seq FROM memory_units WHERE {three_lamps});
         DELETE FROM memory_units WHERE {three_lamps}",
        &[SUCCESSORS, SUPERSEDING],
    ),
    // The archive and its summaries: `{archived}` and `{deleted}` are compressed sessions.
    ("UPDATE conversation_summaries SET user_id = {nobody} WHERE {archived}", &[USERS]),
    ("UPDATE archived_frames SET user_id = {nobody}", &[USERS]),
    ("DELETE FROM archived_turns", &[PLACE, SUMMARY, ARCHIVE_READ]),
    ("DELETE FROM conversation_summaries WHERE {archived}", &[SUMMARY, SESSION_TOKENS]),
    ("DELETE FROM conversation_summaries WHERE {deleted}", &[PLACE, SESSION_TOKENS]),
    ("UPDATE conversation_summaries SET original = 'deleted' WHERE {archived}", &[PLACE]),
    ("UPDATE conversation_summaries SET original = 'archived' WHERE {deleted}", &[PLACE, SUMMARY]),
    ("UPDATE conversation_summaries SET original_turn_id = randomblob(16) WHERE {deleted}", &[SAME_TURN]),
    ("UPDATE archived_turns SET turn_id = randomblob(16)", &[SAME_TURN, SUMMARY, ARCHIVE_READ]),
    ("UPDATE conversation_turns SET memory_tier = 'warm' WHERE {archived}", &[COLD, LAST_MOVE]),
    (
        "UPDATE conversation_sessions SET ended_at = NULL, end_reason = NULL WHERE caller_id = 'archived'",
        &[COLD],
    ),
    ("UPDATE archived_turns SET seq = seq + 1000", &[ORDER, ARCHIVE_READ]),
    ("UPDATE conversation_summaries SET seq = seq + 1000", &[ORDER]),
    ("UPDATE archived_frames SET body = x'00'", &[ARCHIVE_READ]),
    ("UPDATE archived_frames SET body = substr(body, 1, length(body) - 4)", &[ARCHIVE_READ]),
    ("UPDATE archived_turns SET position = position + 1", &[ARCHIVE_READ]),
    (
        "UPDATE recall_units SET content_hash = zeroblob(16) WHERE seq IN (SELECT seq FROM archived_turns)",
        &[ARCHIVE_READ],
    ),
    ("UPDATE conversation_summaries SET topic_keywords = '{}'", &[SUMMARIES_READ]),
    ("UPDATE conversation_summaries SET identity_anchor_ids = '[1]'", &[SUMMARIES_READ]),
    ("UPDATE conversation_summaries SET timestamp = 'now'", &[SUMMARIES_READ]),
    ("UPDATE conversation_summaries SET summary_text = CAST(x'ff' AS TEXT)", &[SUMMARIES_READ]),
    // Anchors: one of a turn, one that superseded it by hand.
    ("UPDATE identity_anchors SET user_id = {nobody}", &[USERS, EVIDENCE]),
    ("DELETE FROM derivations", &[EVIDENCE]),
    ("DELETE FROM identity_anchors", &[EVIDENCE]),
    ("UPDATE derivations SET seq = seq + 1 WHERE source_kind = 'turn'", &[EVIDENCE]),
    ("UPDATE derivations SET source_id = randomblob(16) WHERE source_kind = 'turn'", &[EVIDENCE]),
    ("UPDATE identity_anchors SET valid_until = NULL WHERE superseded_by IS NOT NULL", &[ONE_VALUE]),
    // The index: `indexed` is a session of 128 turns, in the postings, blocks and vectors; what comes after it is not.
    ("UPDATE user_scopes SET indexed_seq = 1000 WHERE user_no = 1", &[FAR, INDEXED_WORDS, INDEXED_FACTS]),
    ("UPDATE user_scopes SET last_seq = last_seq - 1 WHERE user_no = 1", &[ORDER]),
    ("UPDATE user_spaces SET embedded_seq = 1000", &[FAR]),
    ("INSERT INTO vector_gaps SELECT user_no, space_no, 1000, 1, '', x'' FROM user_spaces", &[OF_USE]),
    ("INSERT INTO unit_uses SELECT user_no, 1000, 1, '', x'', NULL FROM user_spaces", &[OF_USE]),
    (
        "INSERT INTO promotions SELECT 1, session_no, 1000, '', x'' FROM conversation_sessions WHERE caller_id = 'one'",
        &[OF_USE],
    ),
    (
        "INSERT INTO promotions SELECT 1, session_no, 1, '', x'' FROM conversation_sessions WHERE caller_id = 'ended'",
        &[PROMOTED],
    ),
    (
        "INSERT INTO promotions SELECT 2, session_no, 1, '', x'' FROM conversation_sessions WHERE caller_id = 'one'",
        &[PROMOTED],
    ),
    ("DELETE FROM postings WHERE word = (SELECT max(word) FROM postings)", &[INDEXED_WORDS]),
    (
        "UPDATE postings SET data = zeroblob(1) WHERE word = (SELECT max(word) FROM postings)",
        &[INDEXED_WORDS],
    ),
    ("UPDATE postings SET data = x'80' WHERE word = (SELECT max(word) FROM postings)", &[INDEXED_WORDS]),
    ("UPDATE postings SET unit_count = unit_count + 1 WHERE unit_count > 100", &[INDEXED_WORDS]),
    ("UPDATE postings SET last_seq = last_seq + 1 WHERE unit_count > 100", &[INDEXED_WORDS]),
    // Postings of a word that nobody said: for an indexed turn, for a turn after the index, for a turn that never was.
    ("INSERT INTO postings VALUES (1, 5, 7, 7, 1, x'00', x'')", &[INDEXED_WORDS]),
    ("INSERT INTO postings VALUES (1, 5, 150, 150, 1, x'00', x'')", &[INDEXED_WORDS]),
    ("INSERT INTO postings VALUES (1, 5, 1000, 1000, 1, x'00', x'')", &[INDEXED_WORDS]),
    ("INSERT INTO postings VALUES (2, 5, 1000, 1000, 1, x'00', x'')", &[INDEXED_WORDS]),
    ("DELETE FROM unit_blocks WHERE block_no = 1", &[INDEXED_FACTS]),
    ("UPDATE unit_blocks SET block_no = 7 WHERE block_no = 1", &[INDEXED_FACTS]),
    ("UPDATE unit_blocks SET body = substr(body, 1, 26) WHERE block_no = 1", &[INDEXED_FACTS]),
    ("UPDATE unit_blocks SET body = substr(body, 2) WHERE block_no = 1", &[INDEXED_FACTS]),
    (
        "UPDATE recall_units SET said_at = '2020-01-01T00:00:00.000Z' WHERE user_no = 1 AND seq = 3",
        &[INDEXED_FACTS],
    ),
    ("UPDATE vector_blocks SET block_no = 100 WHERE block_no = 1", &[VECTORS]),
    ("UPDATE vector_blocks SET user_no = 2", &[VECTORS]),
    ("UPDATE vector_blocks SET body = substr(body, 2)", &[VECTORS]),
];

/// Returns a sound file with sessions of many kinds, named by their keys.
pub fn seed() -> Fixture {
    let mut fixture = Fixture::new();
    (fixture.config.durability, fixture.config.hot_turns) = (Durability::Relaxed, 50);
    let memory = fixture.open();
    let indexed = memory.user("alex").unwrap().session_named("indexed").unwrap();
    for n in 1..=128 {
        indexed.record(turn(n)).unwrap();
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    for originals in [Originals::Archive, Originals::Delete] {
        fixture.config.originals = originals;
        fixture.config.summarizer = Some(Scripted::each(reads_anchors));
        let memory = fixture.open();
        let key = if originals == Originals::Archive { "archived" } else { "deleted" };
        let session = memory.user("alex").unwrap().session_named(key).unwrap();
        session.record(NewTurn::new("The name is Alex.", "")).unwrap();
        (2..=6).for_each(|n| drop(session.record(long_turn(n).caller_id(format!("{key}/{n}"))).unwrap()));
        session.end().unwrap();
        memory.run_jobs(RunJobs::default()).unwrap();
    }
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let named = |key: &str| user.session_named(key).unwrap();
    named("silent").record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::days(2));
    named("silent").record(turn(2)).unwrap(); // In its successor.
    let snapshot = SnapshotId::from_uuid(Uuid::from_u128(7));
    named("one").record(turn(1).caller_id("first").snapshot(snapshot)).unwrap();
    for text in [turn(1), turn(2), turn_of(1_500)] {
        named("evicted").record(text).unwrap();
    }
    for n in 1..=51 {
        named("long").record(turn(n)).unwrap();
    }
    named("ended").record(turn(1)).unwrap();
    named("ended").end().unwrap();
    named("empty");
    let replaced = named("waiting").record(turn(1).caller_id("replaced")).unwrap().turn_id;
    named("waiting").record(turn(2).replacing(replaced)).unwrap();
    named("waiting").record_message(NewTurn::new("And then?", "")).unwrap();
    user.set_anchor("user", Attribute::Name, "Bo").unwrap();
    memory.user("mira").unwrap().session().unwrap().record(turn(1)).unwrap();
    import(&memory, "noor", &as_text(&knowledge::seed())).unwrap();
    user.recall("question", RecallOptions::default()).unwrap();
    memory.close().unwrap(); // All of it is in the one file now.
    meddle(&fixture.path(), "VACUUM"); // No page is free, so every page belongs to a table.
    fixture
}

/// Copies a sound file; returns the copy's folder, which deletes it when dropped, and its path.
fn copy_of(fixture: &Fixture) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    fs::copy(fixture.path(), &path).unwrap();
    (folder, path)
}

/// Applies a change of `BREAKS`.
fn run(path: &Path, sql: &str) {
    let user = |name| format!("(SELECT id FROM users WHERE name = '{name}')");
    let mut sql = sql.replace("{mira}", &user("mira")).replace("{nobody}", &user("nobody"));
    for key in ["one", "evicted", "ended", "long", "archived", "deleted"] {
        let turns = format!("session_id = (SELECT id FROM conversation_sessions WHERE caller_id = '{key}')");
        sql = sql.replace(&format!("{{{key}}}"), &turns);
    }
    for name in ["the_lamp", "two_lamps", "three_lamps", "no_lamps", "lamps"] {
        let title = name.replace('_', " ");
        let memory =
            format!("memory_no = (SELECT memory_no FROM user_memories WHERE lower(title) = '{title}')");
        sql = sql.replace(&format!("{{{name}}}"), &memory);
    }
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::default()).unwrap();
    // `nobody` is a user who has no data here.
    let nobody = "INSERT INTO users (id, name, created_at) VALUES (randomblob(16), 'nobody', '')";
    conn.execute_batch(&format!("PRAGMA foreign_keys = OFF; {nobody}; {sql}")).unwrap();
    assert!(sql.starts_with("DROP") || conn.changes() > 0, "it changes nothing: {sql}");
    drop(conn);
    rewrite(path, ""); // Renews the checksums, so that the other checks are tested by themselves.
}

fn broken(diagnosis: &Diagnosis) -> BTreeSet<String> {
    diagnosis.checks.iter().filter(|check| check.problems > 0).map(|check| check.holds.clone()).collect()
}

pub fn doctor(path: &Path) -> Diagnosis {
    let mut config = Config::default();
    config.worker = false; // It only looks.
    Thermocline::open_with(path, config).unwrap().doctor().unwrap()
}

#[test]
fn whatever_is_broken_is_reported_by_its_check_and_by_no_other() {
    let fixture = seed();
    let sound = doctor(&fixture.path());
    assert!(sound.is_healthy(), "{sound:?}");
    let mut never_broken: BTreeSet<&str> = sound.checks.iter().map(|check| check.holds.as_str()).collect();
    let mut wrong = Vec::new();
    for (sql, expected) in BREAKS {
        let (_folder, path) = copy_of(&fixture);
        run(&path, sql);
        let expected: BTreeSet<String> = expected.iter().map(|&holds| holds.to_owned()).collect();
        let found = broken(&doctor(&path));
        if found != expected {
            wrong.push(format!("{sql}: {found:#?}"));
        }
        never_broken.retain(|holds| !expected.contains(*holds));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        never_broken,
        BTreeSet::from([PAGES, SCHEMA, TEXTS]),
        "every check is seen to fail, these elsewhere"
    );
}

#[test]
fn a_text_is_held_against_what_its_unit_proves() {
    let fixture = seed();
    meddle(&fixture.path(), "UPDATE recall_units SET content_hash = zeroblob(16) WHERE caller_id = 'first'");
    let found = broken(&doctor(&fixture.path()));
    assert_eq!(found, BTreeSet::from([ROWS.to_owned(), TEXTS.to_owned()]));
}

#[test]
fn every_broken_turn_counts() {
    let fixture = seed();
    run(&fixture.path(), "UPDATE conversation_turns SET words = x'' WHERE {long} OR {evicted}");
    let diagnosis = doctor(&fixture.path());
    let words = diagnosis.checks.iter().find(|check| check.holds == WORDS).unwrap();
    assert_eq!(words.problems, 51 + 3);
}

#[test]
fn a_damaged_page_is_a_problem_and_no_error() {
    const PAGE: usize = 4_096;
    let fixture = seed();
    let bytes = fs::read(fixture.path()).unwrap();
    let (mut opened, pages) = (0, bytes.len() / PAGE);
    for page in 1..pages {
        let (_folder, path) = copy_of(&fixture);
        let mut damaged = bytes.clone();
        damaged[page * PAGE..(page + 1) * PAGE].fill(0xff);
        fs::write(&path, damaged).unwrap();
        // Some pages hold the schema, without which nothing can be opened.
        let Ok(memory) = Thermocline::open(&path) else { continue };
        opened += 1;
        let diagnosis = memory.doctor().unwrap();
        assert!(broken(&diagnosis).contains(PAGES), "page {page} of {pages}: {diagnosis:?}");
        assert!(diagnosis.settings.iter().any(|(name, _)| name == "page_size"));
    }
    assert!(opened > pages / 2, "{opened} of {pages} could be opened");
}

#[test]
fn settings_that_cannot_be_read_are_left_out() {
    let fixture = seed();
    run(
        &fixture.path(),
        "UPDATE thermocline_settings SET value = CAST(x'ff' AS TEXT) WHERE key = 'users_table'",
    );
    let diagnosis = doctor(&fixture.path());
    let names: Vec<&str> = diagnosis.settings.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"schema_version") && !names.contains(&"users_table"), "{names:?}");
}
