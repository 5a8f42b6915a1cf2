//! A user is a scope: nothing of one user can be reached through another.

use thermocline::{Attribute, ContextOptions, ErrorKind, NewTurn, RecordOutcome, RunJobs};

use crate::{
    dump::{assert_same, dump_of_user},
    scripted::{Scripted, reads_anchors},
    support::{Fixture, hot, long_texts, turn, warm},
};

#[test]
fn another_users_sessions_and_turns_are_not_found_even_with_their_ids() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    let session = alex.session_named("chat").unwrap();
    let recorded = session.record(turn(1).caller_id("t1")).unwrap();

    assert_eq!(blake.session_by_id(session.id()).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(blake.turn(recorded.turn_id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(blake.turn_by_caller_id("t1").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(blake.find_session("chat").unwrap().is_none());
    assert!(blake.sessions(None, 1_000).unwrap().is_empty());
}

#[test]
fn users_may_use_the_same_keys_ids_and_words() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    for (name, other) in [("alex", "canaryblake"), ("blake", "canaryalex")] {
        let session = memory.user(name).unwrap().session_named("chat").unwrap();
        for n in 1..=9 {
            let said =
                thermocline::NewTurn::new(format!("canary{name} {n}"), "equal").caller_id(n.to_string());
            assert_eq!(session.record(said).unwrap().outcome, RecordOutcome::New);
        }
        assert_eq!((hot(&session), warm(&session)), (vec![5, 6, 7, 8, 9], vec![1, 2, 3, 4]));
        assert!(session.search(other, 10).unwrap().is_empty());
        assert_eq!(session.search("equal", 100).unwrap().len(), 9);
        let context = session.context("remember the canary? equal", ContextOptions::default()).unwrap();
        assert!(context.text.contains(&format!("canary{name} 1")) && !context.text.contains(other));
    }
}

#[test]
fn only_jobs_and_users_are_asked_without_a_user_and_neither_says_what_was_said() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session_named("canarykey").unwrap();
    session.set_title(Some("canarytitle")).unwrap();
    session.set_project(Some("canaryproject")).unwrap();
    session.set_metadata(Some(serde_json::json!({ "canarykey": "canaryvalue" }))).unwrap();
    let said = NewTurn::new("canarymessage", "canaryreply").user_name("canaryname").caller_id("canaryid");
    session.record(said.metadata(serde_json::json!({ "canarykey": "canaryvalue" }))).unwrap();
    alex.set_anchor("canarysubject", Attribute::Likes, "canaryvalue").unwrap();
    session.end().unwrap();
    let (jobs, users) = (memory.jobs(None, 1_000).unwrap(), memory.users(None, 1_000).unwrap());
    assert_eq!((jobs.len(), jobs[0].session_id, users.len()), (1, Some(session.id()), 1));
    let shown = serde_json::to_string(&(&jobs, &users)).unwrap();
    assert!(shown.contains("alex") && !shown.contains("canary"), "{shown}");
    assert!(!format!("{jobs:?}{users:?}").contains("canary"));
}

#[test]
fn the_same_name_and_the_same_id_are_the_same_user() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    assert_eq!(memory.user("alex").unwrap().id(), alex.id());
    assert_eq!(memory.user_by_id(alex.id()).unwrap().id(), alex.id());
    assert_eq!(memory.find_user("alex").unwrap().map(|user| user.id()), Some(alex.id()));
    assert!(memory.find_user("Alex").unwrap().is_none());
}

#[test]
fn compressing_anchors_exporting_restoring_and_erasing_touch_one_user_alone() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(reads_anchors));
    let memory = fixture.open();
    let users = ["alex", "blake"].map(|name| memory.user(name).unwrap());
    let sessions = [("canaryalex", &users[0]), ("canaryblake", &users[1])].map(|(canary, user)| {
        let session = user.session_named("chat").unwrap();
        for n in 1..=9 {
            let (text, reply) = long_texts(n);
            let said = NewTurn::new(format!("The {canary} likes is {canary}. {text}"), reply);
            session.record(said.caller_id(n.to_string())).unwrap();
        }
        session.end().unwrap();
        session
    });
    memory.run_jobs(RunJobs::default()).unwrap();
    let [(alex, session), (blake, other)] = [(&users[0], &sessions[0]), (&users[1], &sessions[1])];
    let summary = session.summaries(None, 1_000).unwrap().into_iter().next().unwrap();
    assert!(alex.summary(summary.original_turn_id).unwrap().is_some());
    assert!(blake.summary(summary.original_turn_id).unwrap().is_none());
    assert_eq!(blake.turn(summary.original_turn_id).unwrap_err().kind(), ErrorKind::NotFound);
    let anchors = alex.anchors(None, 1_000).unwrap();
    assert_eq!((anchors.len(), anchors[0].value.as_str()), (1, "canaryalex"));
    assert_eq!(blake.retract_anchor(anchors[0].id).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(other.search("canaryalex", 9).unwrap().is_empty());

    let blakes = dump_of_user(&fixture.path(), "blake");
    let exported = crate::transfer::export(alex);
    assert!(exported.contains("canaryalex") && !exported.contains("canaryblake"));
    session.restore().unwrap();
    session.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    alex.set_anchor("user", Attribute::Likes, "sailing").unwrap();
    alex.retract_anchor(anchors[0].id).unwrap();
    assert_same(&dump_of_user(&fixture.path(), "blake"), &blakes, "restored and compressed");
    session.erase().unwrap();
    assert_same(&dump_of_user(&fixture.path(), "blake"), &blakes, "a session erased");
    alex.erase().unwrap();
    assert_same(&dump_of_user(&fixture.path(), "blake"), &blakes, "all erased");
    assert_eq!(other.summaries(None, 1_000).unwrap().len(), 8);
    assert!(memory.doctor().unwrap().is_healthy());
}
