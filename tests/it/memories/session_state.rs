//! The state that a session keeps for as long as it lasts.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use thermocline::{ErrorKind, MemoryFilter, NewTurn, RecallOptions, blocking::Session};

use crate::{
    canaries::Words,
    dump::{ask, assert_same, dump_without},
    erase::found,
    memories::{Known, fix},
    support::turn,
    transfer::export,
};

/// Returns the whole state: names and texts.
#[track_caller]
fn kept(session: &Session) -> Vec<(String, String)> {
    session.state().unwrap().into_iter().map(|state| (state.name, state.text)).collect()
}

fn pair(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

fn rows(known: &Known, of: &str) -> u32 {
    ask(&known.fixture.path(), &format!("SELECT count(*) FROM {of}"))
}

#[test]
fn a_plan_is_written_over_in_place_and_others_are_kept_beside_it() {
    let known = Known::new();
    let talk = known.session("talk");
    assert_eq!(kept(&talk), []);
    talk.set_state("plan", "1. look").unwrap();
    talk.set_state("context", "the attic").unwrap();
    known.fixture.clock.advance(TimeDelta::minutes(5));
    talk.set_state("plan", "1. look\n2. leap").unwrap();
    assert_eq!(kept(&talk), [pair("context", "the attic"), pair("plan", "1. look\n2. leap")]);
    let state = talk.state().unwrap();
    assert_eq!(state[1].updated_at - state[0].updated_at, TimeDelta::minutes(5));
    assert_eq!(rows(&known, "user_memories"), 2);
    assert_eq!(
        rows(&known, "memory_changes") + rows(&known, "memory_units") + rows(&known, "memory_episodes"),
        0
    );
    assert_eq!(ask::<u32>(&known.fixture.path(), "SELECT max(revision) FROM user_memories"), 1);
    talk.set_state("plan", "").unwrap();
    talk.set_state("nothing", "").unwrap();
    assert_eq!(kept(&talk), [pair("context", "the attic")]);
    assert_eq!(kept(&known.session("other")), [], "another session has its own");
    known.check_sound();
}

#[test]
fn stats_count_no_entry_of_a_sessions_state_as_a_memory() {
    let known = Known::new();
    known.session("talk").set_state("plan", "1. look").unwrap();
    let memories = || known.file.stats().unwrap().memories;
    assert_eq!((memories().active, memories().text_bytes), (0, 0));
    known.save(fix("Keepalive"));
    let bytes = memories().text_bytes;
    known.session("talk").set_state("context", "the attic").unwrap();
    assert_eq!((memories().active, memories().text_bytes), (1, bytes));
}

#[test]
fn it_goes_with_the_end_of_the_session_by_call_and_by_silence() {
    let known = Known::new();
    let talk = known.session("talk");
    talk.record(turn(1)).unwrap();
    talk.set_state("plan", "1. look").unwrap();
    talk.end().unwrap();
    assert_eq!((kept(&talk), rows(&known, "user_memories"), rows(&known, "memory_state")), (vec![], 0, 0));

    talk.record(turn(2)).unwrap();
    talk.set_state("plan", "of the next part").unwrap();
    assert_eq!(kept(&talk), [pair("plan", "of the next part")]);
    known.fixture.clock.advance(TimeDelta::days(2));
    assert_eq!(kept(&talk), [], "silence has ended it, though nobody has noticed yet");
    let silent = talk.id();
    talk.set_state("plan", "anew").unwrap();
    assert_ne!(talk.id(), silent, "the talk goes on");
    assert_eq!((kept(&talk), rows(&known, "user_memories")), (vec![pair("plan", "anew")], 1));
    known.check_sound();

    let unnamed = known.file.user("alex").unwrap().session().unwrap();
    unnamed.end().unwrap();
    assert_eq!(unnamed.set_state("plan", "x").unwrap_err().kind(), ErrorKind::SessionEnded);
}

#[test]
fn it_is_the_agents_own_neither_listed_nor_recalled_nor_exported() {
    let known = Known::new();
    let talk = known.session("talk");
    talk.record(turn(1)).unwrap();
    known.save(fix("Keepalive"));
    let alex = known.file.user("alex").unwrap();
    let before = export(&alex);
    talk.set_state("plan", "The xylophone is to be tuned.").unwrap();
    assert_eq!(export(&alex), before);
    assert_eq!(known.titles(MemoryFilter::default().statuses([])), ["Keepalive"]);
    let recalled = alex.recall("xylophone", RecallOptions::default()).unwrap();
    assert!(!format!("{recalled:?}").contains("tuned"));
    assert_eq!(known.memories.forget_all(MemoryFilter::default()).unwrap().memories.len(), 1);
    assert_eq!(kept(&talk).len(), 1);
}

#[test]
fn it_is_erased_with_its_session() {
    let known = Known::new();
    let talk = known.session("talk");
    let mut words = Words::default();
    talk.record(NewTurn::new("Hello.", "Hello.")).unwrap();
    talk.set_state(&words.next(), &words.some(3)).unwrap();
    talk.set_state("plan", &words.some(3)).unwrap();
    talk.set_state("plan", &words.some(3)).unwrap();
    talk.erase().unwrap();
    assert_eq!(found(&known.fixture.path(), words.0), BTreeSet::new());
    assert_eq!(rows(&known, "user_memories"), 0);
    known.check_sound();
}

#[test]
fn what_is_out_of_bounds_is_refused_and_changes_nothing() {
    let known = Known::new();
    let talk = known.session("talk");
    for n in 0..64 {
        talk.set_state(&format!("s{n}"), "x").unwrap();
    }
    let before = dump_without(&known.fixture.path(), &[]);
    for (name, text) in [("one more", "x"), ("", "x"), (" ", "x"), ("s1", " \n"), ("a\0", "x"), ("s1", "\0")]
    {
        assert_eq!(
            talk.set_state(name, text).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{name:?} {text:?}"
        );
    }
    assert_eq!(talk.set_state(&"x".repeat(201), "x").unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(
        talk.set_state("s1", &"x".repeat((64 << 10) + 1)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_same(&dump_without(&known.fixture.path(), &[]), &before, "refused");
    talk.set_state("s1", &"x".repeat(64 << 10)).unwrap();
}
