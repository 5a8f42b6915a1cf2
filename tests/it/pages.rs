//! History and lists by page: a list is the same whatever its page size, and contains nothing twice.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use thermocline::{
    Attribute, ErrorKind, MemoryTier, NewTurn, Originals, PastTurn, RunJobs, SessionId, Summary, Transition,
    TurnState, UserId,
    blocking::{Session, Thermocline},
};
use uuid::Uuid;

use crate::{
    dump::{meddle, reader},
    scripted::{Scripted, first_words},
    support::{Fixture, long_texts, long_turn, turn},
};

fn numbers(page: &[PastTurn]) -> Vec<u32> {
    page.iter().map(PastTurn::turn_number).collect()
}

/// Records a session of 30 turns, every fourth of them short.
fn talk(memory: &Thermocline, key: &str) -> Session {
    let session = memory.user("alex").unwrap().session_named(key).unwrap();
    for n in 1..=30 {
        let said = if n % 4 == 0 { turn(n) } else { long_turn(n) };
        session.record(said.caller_id(format!("{key}/{n}"))).unwrap();
    }
    session
}

fn texts(n: usize) -> (String, String) {
    if n.is_multiple_of(4) { (format!("question {n}"), format!("answer {n}")) } else { long_texts(n) }
}

/// Checks that the history has each turn's text, or its summary if the original is `deleted`; in pages of any size, in both
/// directions.
#[track_caller]
fn check(what: &str, session: &Session, tiers: &[MemoryTier], deleted: impl Fn(u32) -> bool) {
    let whole = session.turns(None, 1_000).unwrap();
    assert_eq!(numbers(&whole), (1..=30).collect::<Vec<_>>(), "{what}");
    let mut found = BTreeSet::new();
    for (past, n) in whole.iter().zip(1..) {
        let caller_id = format!("{what}/{n}");
        match past {
            PastTurn::Turn(turn) if !deleted(turn.turn_number) => {
                assert_eq!(
                    (&turn.said.user_message, &turn.said.ai_response),
                    (&texts(n).0, &texts(n).1),
                    "{what}"
                );
                assert_eq!(turn.caller_id.as_ref(), Some(&caller_id));
                assert_eq!(session.turn(turn.turn_number).unwrap().as_ref(), Some(&**turn), "{what}");
                found.insert(turn.memory_tier.as_str());
            }
            PastTurn::Summary { summary, caller_id: of } if deleted(summary.turn_number) => {
                assert_eq!(of.as_ref(), Some(&caller_id), "{what}");
                assert!(summary.summary_text.starts_with("The user said"), "{what}");
            }
            other => panic!("{what}: {other:?}"),
        }
    }
    assert_eq!(found, tiers.iter().map(|tier| tier.as_str()).collect(), "{what}");
    for limit in [1, 2, 7, 29, 30, 31] {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        loop {
            let page = session.turns(there.last().map(PastTurn::turn_number), limit).unwrap();
            assert!(page.len() <= limit as usize);
            there.extend(page.iter().cloned());
            let page = session.turns_before(back.first().map(PastTurn::turn_number), limit).unwrap();
            back.splice(0..0, page.iter().cloned());
            if page.is_empty() {
                break;
            }
        }
        assert_eq!(there, whole, "{what}: pages of {limit}");
        assert_eq!(back, whole, "{what}: pages of {limit}, from the newest on");
    }
}

#[test]
fn a_history_is_whole_wherever_its_turns_live() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let memory = fixture.open();
    let archived = talk(&memory, "archived");
    let none = |_| false;
    check("archived", &archived, &[MemoryTier::Hot, MemoryTier::Warm], none);
    archived.end().unwrap();
    check("archived", &archived, &[MemoryTier::Warm], none);
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(archived.summaries(None, 1_000).unwrap().len() > 10);
    check("archived", &archived, &[MemoryTier::Cold], none);

    fixture.config.originals = Originals::Delete;
    let memory = fixture.open();
    let deleted = talk(&memory, "deleted");
    deleted.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let gone: BTreeSet<u32> =
        deleted.summaries(None, 1_000).unwrap().iter().map(|summary| summary.turn_number).collect();
    assert!(gone.len() > 10 && gone.len() < 30);
    check("deleted", &deleted, &[MemoryTier::Cold], |number| gone.contains(&number));
    archived.restore().unwrap();
    check("archived", &archived, &[MemoryTier::Warm], none);
}

#[test]
fn summaries_and_moves_come_in_pages_behind_the_last_one_seen() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let session = talk(&memory, "talk");
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    session.restore().unwrap();
    session.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let (summaries, moves) =
        (session.summaries(None, 1_000).unwrap(), session.transitions(None, 1_000).unwrap());
    assert!(summaries.len() > 10 && summaries.is_sorted_by_key(|summary| summary.turn_number));
    let key = |moved: &Transition| (moved.turn_number, moved.move_number);
    assert!(moves.len() > 60 && moves.is_sorted_by_key(key), "{}", moves.len());
    for limit in [1, 3, 10, 1_000] {
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        loop {
            let after = found.last().map(|summary: &Summary| summary.turn_number);
            let page = session.summaries(after, limit).unwrap();
            let behind = session.transitions(seen.last().map(key), limit).unwrap();
            assert!(page.len() <= limit as usize && behind.len() <= limit as usize);
            if page.is_empty() && behind.is_empty() {
                break;
            }
            found.extend(page);
            seen.extend(behind);
        }
        assert_eq!((&found, &seen), (&summaries, &moves), "pages of {limit}");
    }
    for limit in [0, 1_001] {
        assert_eq!(session.summaries(None, limit).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(session.transitions(None, limit).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(session.summaries(Some(u32::MAX), 10).unwrap(), []);
    assert_eq!(session.transitions(Some((u32::MAX, 1)), 10).unwrap(), []);
}

#[test]
fn a_damaged_turn_is_named_and_its_page_shows_the_others() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let session = talk(&memory, "talk");
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let in_archive: Vec<u32> =
        session.summaries(None, 1_000).unwrap().iter().map(|summary| summary.turn_number).collect();
    let [row, misplaced, unsummarized] = [4, in_archive[1], in_archive[2]];
    memory.close().unwrap();
    meddle(
        &fixture.path(),
        &format!(
            "UPDATE conversation_turns SET user_message = 'something else' WHERE turn_number = {row};
             UPDATE archived_turns SET position = position + 1 WHERE turn_number = {misplaced};
             UPDATE conversation_summaries SET summary_text = 'something else'
             WHERE turn_number IN ({misplaced}, {unsummarized})"
        ),
    );
    let session = fixture.open().user("alex").unwrap().session_named("talk").unwrap();
    let page = session.turns(None, 30).unwrap();
    assert_eq!(numbers(&page), (1..=30).collect::<Vec<_>>());
    let damaged: Vec<u32> =
        page.iter().filter(|past| past.turn().is_none()).map(PastTurn::turn_number).collect();
    let mut expected = vec![row, misplaced];
    expected.sort_unstable();
    assert_eq!(damaged, expected, "a damaged summary costs its turn nothing");
    assert_eq!(session.turns(Some(row - 1), 1).unwrap(), [page[row as usize - 1].clone()]);
    let shown = serde_json::to_value(&page[row as usize - 1]).unwrap();
    assert_eq!(shown, json!({ "kind": "damaged", "turn_number": row }));
    meddle(&fixture.path(), "UPDATE archived_frames SET body = zeroblob(40)");
    let page = session.turns(None, 30).unwrap();
    let whole: Vec<u32> = page.iter().filter_map(|past| past.turn()).map(|turn| turn.turn_number).collect();
    assert!(whole.iter().all(|number| !in_archive.contains(number)) && whole.len() > 5, "{whole:?}");
}

#[test]
fn a_page_ends_where_its_session_ends() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let sessions = ["one", "two", "three"].map(|key| alex.session_named(key).unwrap());
    for session in &sessions {
        (1..=3).for_each(|n| drop(session.record(turn(n)).unwrap()));
    }
    let session = &sessions[1];
    let check = |page: thermocline::Result<Vec<PastTurn>>, expected: &[u32]| {
        let page = page.unwrap();
        assert_eq!(numbers(&page), expected);
        assert!(page.iter().all(|past| past.turn().is_some_and(|turn| turn.session_id == session.id())));
    };
    check(session.turns(None, 1_000), &[1, 2, 3]);
    check(session.turns(Some(0), 2), &[1, 2]);
    check(session.turns(Some(1), 1), &[2]);
    for beyond in [3, 4, 1 << 24, (1 << 24) + 1, u32::MAX] {
        check(session.turns(Some(beyond), 10), &[]);
    }
    check(session.turns_before(None, 2), &[2, 3]);
    for beyond in [4, 1 << 24, (1 << 24) + 2, u32::MAX] {
        check(session.turns_before(Some(beyond), 10), &[1, 2, 3]);
    }
    check(session.turns_before(Some(3), 1), &[2]);
    check(session.turns_before(Some(1), 10), &[]);
    check(session.turns_before(Some(0), 10), &[]);
    check(alex.new_session().unwrap().turns(None, 10), &[]);
}

#[test]
fn a_message_that_waits_for_its_reply_is_the_last_of_its_history_and_what_was_replaced_is_not_in_it() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let ids: Vec<_> = (1..=3).map(|n| session.record(turn(n)).unwrap().turn_id).collect();
    session.record(turn(4).replacing(ids[1])).unwrap();
    session.record_message(NewTurn::new("And now?", "")).unwrap();
    let check = |page: thermocline::Result<Vec<PastTurn>>, expected: &[&str]| {
        let page = page.unwrap();
        let texts: Vec<&str> = page.iter().map(|past| &*past.turn().unwrap().said.user_message).collect();
        assert_eq!(texts, expected);
    };
    check(session.turns(None, 10), &["question 1", "question 4", "And now?"]);
    check(session.turns(None, 2), &["question 1", "question 4"]);
    check(session.turns(Some(2), 2), &["And now?"]);
    check(session.turns(Some(3), 2), &[]);
    check(session.turns_before(None, 1), &["And now?"]);
    check(session.turns_before(Some(3), 1), &["question 4"]);
    let last = session.turns_before(None, 1).unwrap().remove(0);
    assert_eq!(last.turn().map(|turn| turn.state), Some(TurnState::Incomplete));
    assert_eq!(last.turn(), session.turn(3).unwrap().as_ref());
}

#[test]
fn a_page_has_1_to_1_000_entries() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session().unwrap();
    let kinds = |limit| {
        [
            session.turns(None, limit).map(drop),
            session.turns_before(None, limit).map(drop),
            alex.sessions(None, limit).map(drop),
            alex.anchors(None, limit).map(drop),
            memory.jobs(None, limit).map(drop),
            memory.users(None, limit).map(drop),
        ]
        .map(|result| result.map_err(|error| error.kind()))
    };
    for limit in [0, 1_001, u32::MAX] {
        assert_eq!(kinds(limit), [Err(ErrorKind::InvalidInput); 6], "{limit}");
    }
    assert_eq!([kinds(1), kinds(1_000)], [[Ok(()); 6]; 2]);
}

/// Returns all pages of a list, with this many entries each.
fn pages<T, K>(
    limit: u32,
    page: impl Fn(Option<K>, u32) -> thermocline::Result<Vec<T>>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    loop {
        let next = page(all.last().map(&key), limit).unwrap();
        assert!(next.len() <= limit as usize);
        if next.is_empty() {
            return all;
        }
        all.extend(next);
    }
}

#[test]
fn sessions_are_listed_newest_first() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    let mut ids: Vec<SessionId> = Vec::new();
    for n in 0..7 {
        let session = alex.session_named(&format!("talk {n}")).unwrap();
        session.set_title(Some(&format!("Talk {n}"))).unwrap();
        ids.insert(0, session.id());
        blake.session_named(&format!("talk {n}")).unwrap();
    }
    for limit in [1, 3, 7, 8] {
        let found = pages(limit, |after, limit| alex.sessions(after, limit), |info| info.id);
        assert_eq!(found.iter().map(|info| info.id).collect::<Vec<_>>(), ids, "pages of {limit}");
        assert_eq!(found[0].title.as_deref(), Some("Talk 6"));
    }
    let others = blake.sessions(None, 1).unwrap()[0].id;
    assert_eq!(alex.sessions(Some(others), 1).unwrap_err().kind(), ErrorKind::NotFound);
    alex.session_by_id(ids[2]).unwrap().erase().unwrap();
    assert_eq!(alex.sessions(Some(ids[2]), 1).unwrap_err().kind(), ErrorKind::NotFound, "erased meanwhile");
    assert_eq!(alex.sessions(Some(ids[1]), 1).unwrap()[0].id, ids[3]);
}

#[test]
fn anchors_are_listed_by_subject_attribute_and_value_with_their_evidence() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    for user in [&alex, &blake] {
        for (subject, attribute, value) in [
            ("user", Attribute::Likes, "tea"),
            ("Anna", Attribute::Home, "Lisbon"),
            ("user", Attribute::Home, "Bern"),
            ("user", Attribute::Likes, "Boats"),
            ("user", Attribute::Home, "Basel"),
        ] {
            user.set_anchor(subject, attribute, value).unwrap();
            fixture.clock.advance(TimeDelta::minutes(1));
        }
    }
    let expected =
        ["anna.home Lisbon", "user.home Basel", "user.home Bern", "user.likes Boats", "user.likes tea"];
    for limit in [1, 2, 5, 6] {
        let found = pages(limit, |after, limit| alex.anchors(after, limit), |anchor| anchor.id);
        let shown: Vec<String> =
            found.iter().map(|anchor| format!("{} {}", anchor.key(), anchor.value)).collect();
        assert_eq!(shown, expected, "pages of {limit}");
        assert!(found.iter().all(|anchor| anchor.evidence.len() == 1));
        assert_eq!(found[2].superseded_by, Some(found[1].id));
    }
    for anchor in alex.anchors(None, 9).unwrap() {
        assert_eq!(alex.anchor(anchor.id).unwrap(), anchor, "one by its id is as in the list");
    }
    let others = blake.anchors(None, 1).unwrap()[0].id;
    assert_eq!(alex.anchor(others).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(alex.anchors(Some(others), 1).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn jobs_are_listed_in_the_order_in_which_they_were_queued() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let mut sessions = Vec::new();
    for n in 0..5 {
        let session = memory.user(&format!("user {n}")).unwrap().session().unwrap();
        session.record(turn(n)).unwrap();
        session.end().unwrap();
        sessions.push(Some(session.id()));
    }
    meddle(&fixture.path(), "UPDATE jobs SET state = 'failed', priority = 7 WHERE job_no = 2");
    for limit in [1, 2, 5, 6] {
        let found = pages(limit, |after, limit| memory.jobs(after, limit), |job| job.job_no);
        let found: Vec<_> = found.into_iter().map(|job| job.session_id).collect();
        assert_eq!(found, sessions, "pages of {limit}");
    }
}

#[test]
fn users_are_listed_with_their_counts() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let nameless = UserId::from_uuid(Uuid::from_u128(7));
    for (n, user) in
        [memory.user("alex"), memory.user_by_id(nameless), memory.user("chris")].into_iter().enumerate()
    {
        let user = user.unwrap();
        for _ in 0..n {
            let session = user.new_session().unwrap();
            (1..=2 * n).for_each(|n| drop(session.record(turn(n)).unwrap()));
        }
    }
    let tokens =
        memory.user("chris").unwrap().sessions(None, 9).unwrap().iter().map(|info| info.total_tokens).sum();
    for limit in [1, 2, 3, 4] {
        let found = pages(limit, |after, limit| memory.users(after, limit), |user| user.id);
        let shown: Vec<_> =
            found.iter().map(|user| (user.name.as_deref(), user.session_count, user.turn_count)).collect();
        assert_eq!(shown, [(Some("alex"), 0, 0), (None, 1, 2), (Some("chris"), 2, 8)], "pages of {limit}");
        assert_eq!((found[1].id, found[2].total_tokens), (nameless, tokens));
    }
    let alex = memory.user("alex").unwrap();
    for info in memory.users(None, 9).unwrap() {
        assert_eq!(memory.user_by_id(info.id).unwrap().info().unwrap(), info, "one alone is as in the list");
    }
    alex.erase().unwrap();
    assert_eq!(alex.info().unwrap_err().kind(), ErrorKind::NotFound, "they are no more");
    assert_eq!(memory.users(None, 9).unwrap().len(), 2);
    assert_eq!(memory.users(Some(alex.id()), 9).unwrap_err().kind(), ErrorKind::NotFound, "erased meanwhile");
}

#[test]
fn users_of_a_backends_own_table_are_listed_without_names() {
    let fixture = Fixture::new();
    let conn = Connection::open_with_flags(fixture.path(), OpenFlags::default()).unwrap();
    conn.execute_batch(
        "CREATE TABLE users (id BLOB PRIMARY KEY, email TEXT);
         INSERT INTO users VALUES (x'00000000000000000000000000000007', 'canary@example.org')",
    )
    .unwrap();
    drop(conn);
    let memory = fixture.open();
    let id = UserId::from_uuid(Uuid::from_u128(7));
    memory.user_by_id(id).unwrap().session().unwrap().record(turn(1)).unwrap();
    let users = memory.users(None, 10).unwrap();
    assert_eq!((users.len(), users[0].id, users[0].turn_count), (1, id, 1));
    assert_eq!(users[0].name, None);
}

#[test]
fn no_page_reads_what_is_before_or_behind_it() {
    let fixture = Fixture::new();
    drop(fixture.open());
    let conn = reader(&fixture.path());
    let pages = crate::portable_sql::statements_of_pages();
    // Of turns, their moves, summaries, sessions, anchors, jobs, users and their counts; of memories, changes, episodes and terms.
    assert_eq!(pages.len(), 16);
    for sql in pages {
        let mut stmt = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let (mut rows, mut plan) = (stmt.raw_query(), Vec::<String>::new());
        while let Some(row) = rows.next().unwrap() {
            plan.push(row.get("detail").unwrap());
        }
        assert!(
            plan.iter().all(|step| !step.contains("SCAN") && !step.contains("TEMP B-TREE")),
            "{sql}\n{plan:#?}"
        );
    }
}
