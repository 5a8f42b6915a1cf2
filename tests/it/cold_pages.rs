//! Pages of cold turns and summaries of all sessions, by time.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use thermocline::{ErrorKind, NewTurn, RunJobs, SummaryId, TurnId, blocking::User};

use crate::{
    dump::{ask, meddle},
    support::{Fixture, at},
};

/// Records two conversations in the reverse of the order in which they were said, with some turns at one instant, and
/// compresses them. One turn in five is kept verbatim. One later turn is not cold.
fn told(fixture: &Fixture) -> User {
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    for (key, first) in [("late", "2026-02-20T09:00:00Z"), ("early", "2026-01-10T09:00:00Z")] {
        let session = alex.session_named(key).unwrap();
        for n in 0..15_i32 {
            let long = format!("The lamp beside the bridge of {key}{n} is old. ").repeat(8);
            let turn = NewTurn::new(&*long, &*long).said_at(at(first) + TimeDelta::minutes((n / 3).into()));
            session.record(if n % 5 == 0 { turn.critical() } else { turn }).unwrap();
        }
        session.end().unwrap();
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    alex.session_named("open").unwrap().record(NewTurn::new("Warm?", "Hot.")).unwrap();
    alex
}

#[test]
fn cold_turns_come_newest_first_by_when_they_were_said() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    let all = alex.cold_turns(None, 1_000).unwrap();
    assert_eq!(all.len(), 30);
    let times: Vec<_> = all.iter().map(|turn| turn.timestamp).collect();
    assert!(times.is_sorted_by(|a, b| a >= b));
    assert_eq!(all.iter().map(|turn| turn.id).collect::<BTreeSet<_>>().len(), 30, "each once");
    assert!(all[0].said.user_message.contains("late14") && all[29].said.user_message.contains("early0"));
    for limit in [1, 4, 29, 30] {
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = alex.cold_turns(after, limit).unwrap();
            assert!(page.len() <= limit as usize);
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            paged.extend(page);
        }
        assert_eq!(paged, all, "pages of {limit}");
    }
}

#[test]
fn summaries_come_newest_first_by_when_their_turns_were_said() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    let all = alex.summaries(None, 1_000).unwrap();
    let archived: usize = ask(&fixture.path(), "SELECT count(*) FROM archived_turns");
    assert!(all.len() == archived && archived > 10, "{archived}");
    assert!(all.iter().map(|summary| summary.timestamp).is_sorted_by(|a, b| a >= b));
    let (mut paged, mut after) = (Vec::new(), None);
    while let Some(last) = {
        let page = alex.summaries(after, 7).unwrap();
        let last = page.last().map(|summary| summary.id);
        paged.extend(page);
        last
    } {
        after = Some(last);
    }
    assert_eq!(paged, all);
}

#[test]
fn a_page_is_of_its_user_within_its_limits_and_leaves_out_what_is_damaged() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    let nora = fixture.open().user("nora").unwrap();
    assert_eq!((nora.cold_turns(None, 9).unwrap(), nora.summaries(None, 9).unwrap()), (vec![], vec![]));
    let known = (alex.cold_turns(None, 1).unwrap()[0].id, alex.summaries(None, 1).unwrap()[0].id);
    let unknown = (TurnId::from_uuid(uuid::Uuid::nil()), SummaryId::from_uuid(uuid::Uuid::nil()));
    for (user, (turn, summary)) in [(&nora, known), (&alex, unknown)] {
        assert_eq!(user.cold_turns(Some(turn), 9).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(user.summaries(Some(summary), 9).unwrap_err().kind(), ErrorKind::NotFound);
    }
    for limit in [0, 1_001] {
        assert_eq!(alex.cold_turns(None, limit).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(alex.summaries(None, limit).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let summaries = alex.summaries(None, 1_000).unwrap();
    meddle(
        &fixture.path(),
        "UPDATE conversation_turns SET ai_response = 'no' WHERE memory_tier = 'cold';
         UPDATE conversation_summaries SET summary_text = 'no'
         WHERE turn_key IN (SELECT turn_key FROM conversation_summaries ORDER BY timestamp DESC, turn_key DESC LIMIT 4)",
    );
    assert_eq!(alex.summaries(None, 3).unwrap(), summaries[4..7]);
    assert_eq!(alex.cold_turns(None, 1_000).unwrap().len(), summaries.len());
}

#[test]
fn pages_are_read_over_an_index() {
    let fixture = Fixture::new();
    told(&fixture);
    let conn = crate::dump::reader(&fixture.path());
    for (table, which, index) in [
        ("conversation_turns", "memory_tier = 'cold'", "idx_turns_cold"),
        ("conversation_summaries", "original = 'archived'", "idx_summaries_time"),
    ] {
        let plan: Vec<String> = conn
            .prepare(&format!(
                "EXPLAIN QUERY PLAN SELECT timestamp, turn_key FROM {table}
                 WHERE user_id = x'07' AND {which} AND (timestamp, turn_key) < ('2026', 7)
                 ORDER BY timestamp DESC, turn_key DESC LIMIT 9"
            ))
            .and_then(|mut stmt| stmt.query_map([], |row| row.get("detail"))?.collect())
            .unwrap();
        assert!(plan.len() == 1 && plan[0].contains(index) && plan[0].contains("timestamp<?"), "{plan:?}");
    }
}
