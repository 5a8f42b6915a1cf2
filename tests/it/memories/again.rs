//! Saving a memory again: it gets what it lacked, or comes back if it was forgotten; or the result says why not.

use chrono::TimeDelta;
use thermocline::{
    ErrorKind, InformationType, LearningSource, MemoryStatus, NewMemory, NewTurn, Origin, Outcome,
    SaveOutcome,
};

use crate::memories::{Known, fix, port, saying};

#[test]
fn what_a_known_memory_lacked_is_filled_and_what_it_has_otherwise_is_named() {
    let known = Known::new();
    let session = known.file.user("alex").unwrap().session().unwrap();
    let turn = session.record(NewTurn::new("Keepalive mends it.", "Noted.")).unwrap().turn_id;
    let first = known.save(fix("Keepalive"));
    let again = fix("Keepalive").goal_signature("Redis").summary("Mend it.").caller_id("k").pinned();
    let again = again.source(turn, "Keepalive mends it").importance(0.1).reliability(0.4);
    let saved = known.memories.save(again.clone().origin(Origin::User)).unwrap();
    assert_eq!((saved.outcome, saved.memory.id), (SaveOutcome::Known, first.id));
    let memory = &saved.memory;
    assert_eq!((memory.goal_signature.as_deref(), memory.summary.as_str()), (Some("redis"), "Mend it."));
    assert_eq!(
        (memory.caller_id.as_deref(), memory.pinned, memory.reliability),
        (Some("k"), true, Some(0.4))
    );
    assert_eq!(known.memories.sources(first.id).unwrap().len(), 2);
    assert_eq!(saved.not_taken, ["importance"]);
    let once_more = known.memories.save(again.origin(Origin::User)).unwrap();
    assert_eq!(once_more.memory.revision, memory.revision, "nothing is new");

    let other = fix("Keepalive").goal_signature("tcp").summary("Otherwise.").caller_id("l");
    let other = known.memories.save(other.origin(Origin::User)).unwrap();
    assert_eq!(other.not_taken, ["summary", "goal_signature", "caller_id"]);
    known.check_sound();
}

#[test]
fn how_a_known_memory_began_and_what_it_is_about_stay_and_are_named() {
    let known = Known::new();
    let talk = known.session("talk");
    let stated = || {
        let stated = fix("Keepalive").entities(["Redis", "socket"]).outcome(Outcome::Success);
        let stated = stated.information_type(InformationType::SemiStatic).session(talk.id());
        stated.task_id("t1").task_name("Mend it").trigger("It broke").origin(Origin::User)
    };
    let first = known.save(stated());
    let same = known.memories.save(stated().entities(["#socket", "redis"])).unwrap();
    assert_eq!((same.memory.id, same.not_taken), (first.id, vec![]), "it says the same of it");

    let other = fix("Keepalive").entities(["TCP"]).outcome(Outcome::Failure);
    let other = other.information_type(InformationType::Dynamic).session(known.session("other").id());
    let other = other.learning_source(LearningSource::Execution).task_id("t2").task_name("Again");
    let saved = known.memories.save(other.trigger("It broke again").origin(Origin::User)).unwrap();
    assert_eq!(
        saved.not_taken,
        [
            "entities",
            "information_type",
            "learning_source",
            "outcome",
            "session",
            "task_id",
            "task_name",
            "trigger"
        ]
    );
    assert_eq!(saved.memory, same.memory, "it stays as it was");
    known.check_sound();
}

#[test]
fn who_is_trusted_less_fills_nothing_and_adds_no_tag() {
    let known = Known::new();
    let first = known.save(fix("Keepalive").tags(["redis"]));
    let by_assistant = fix("Keepalive").goal_signature("redis").pinned().tags(["tcp"]);
    let saved = known.memories.save(by_assistant).unwrap();
    assert_eq!(
        (saved.outcome, saved.not_taken),
        (SaveOutcome::Known, vec!["tags".into(), "pinned".into(), "goal_signature".into()])
    );
    assert_eq!(saved.memory.tags, ["redis"]);
    let by_tool = known.memories.save(fix("Keepalive").tags(["evil"]).origin(Origin::Tool)).unwrap();
    assert_eq!((by_tool.memory.tags.len(), by_tool.not_taken), (1, vec!["tags".to_owned()]));
    assert_eq!(known.get(first.id).goal_signature, None);
    known.check_sound();
}

#[test]
fn a_known_memory_that_gets_a_slot_takes_the_place_there_or_leaves_it() {
    let known = Known::new();
    let free = |number: u32| {
        NewMemory::new(
            thermocline::MemoryKind::Configuration,
            "The port of the API",
            format!("It runs on port {number}."),
        )
    };
    let assistants = known.memories.save(free(3)).unwrap().memory;
    let holder = known.save(port(1));
    let mine = known.save(free(2));
    let saved = known.memories.save(port(3)).unwrap();
    assert_eq!((saved.memory.id, saved.not_taken), (assistants.id, vec!["goal_signature".to_owned()]));
    let saved = known.memories.save(port(2).origin(Origin::User)).unwrap();
    assert_eq!((saved.memory.id, saved.outcome), (mine.id, SaveOutcome::Superseded(holder.id)));
    assert_eq!((saved.memory.version, holder.version), (2, 1));
    assert_eq!(known.get(holder.id).superseded_by, Some(mine.id));
    known.check_sound();
    known.memories.undo(mine.id).unwrap();
    assert_eq!(known.get(holder.id).status, MemoryStatus::Active);
    known.check_sound();
}

#[test]
fn a_known_memory_that_comes_back_into_its_slot_is_the_newest_version_there() {
    let known = Known::new();
    let first = known.save(port(1));
    known.memories.forget(first.id).unwrap();
    let second = known.save(port(2));
    let third = known.memories.supersede(second.id, port(3).origin(Origin::User)).unwrap().memory;
    assert_eq!(third.version, 2);
    let back = known.memories.save(port(1).origin(Origin::User)).unwrap();
    assert_eq!((back.memory.id, back.outcome), (first.id, SaveOutcome::Superseded(third.id)));
    assert_eq!(back.memory.version, 3);
    known.memories.undo(first.id).unwrap();
    assert_eq!([first.id, third.id].map(|id| known.get(id).version), [1, 2], "as before");
    known.check_sound();
}

#[test]
fn what_was_forgotten_comes_back_by_whoever_is_trusted_as_far() {
    let known = Known::new();
    for caller_id in [Some("k"), None] {
        let memory = || caller_id.map_or(fix("Keepalive"), |id| fix("Keepalive").caller_id(id)).project("p");
        let first = known.save(memory());
        known.memories.forget(first.id).unwrap();
        let by_assistant = known.memories.save(memory()).unwrap();
        if caller_id.is_some() {
            assert_eq!((by_assistant.outcome, by_assistant.memory.id), (SaveOutcome::PutAway, first.id));
            assert_eq!(by_assistant.memory.status, MemoryStatus::Forgotten);
        } else {
            assert_eq!(by_assistant.outcome, SaveOutcome::New, "it is another's word");
            known.memories.erase(by_assistant.memory.id).unwrap();
        }
        let back = known.memories.save(memory().origin(Origin::User)).unwrap();
        assert_eq!((back.outcome, back.memory.id), (SaveOutcome::Restored, first.id));
        assert_eq!(back.memory.status, MemoryStatus::Active);
        known.check_sound();
        known.memories.erase(first.id).unwrap();
    }
}

#[test]
fn what_was_superseded_says_so_to_whoever_saves_it_by_its_name() {
    let known = Known::new();
    let old = known.save(port(1).caller_id("one"));
    known.save(port(2));
    let again = known.memories.save(port(1).caller_id("one").origin(Origin::User)).unwrap();
    assert_eq!((again.outcome, again.memory.id), (SaveOutcome::PutAway, old.id));
    assert_eq!(again.memory.status, MemoryStatus::Superseded);
}

#[test]
fn blanks_at_the_ends_make_no_other_memory_and_case_no_other_slot() {
    let known = Known::new();
    let first = known.save(fix("Keepalive"));
    let text = |content: &str| NewMemory::new(thermocline::MemoryKind::Fix, " Keepalive\n", content);
    for content in ["Keepalive is how it is mended.\n", " Keepalive is how it is mended. "] {
        assert_eq!(known.memories.save(text(content)).unwrap().memory.id, first.id, "{content:?}");
    }
    assert_eq!(known.memories.edit(first.id, saying(&(first.content.clone() + "\n"))).unwrap().revision, 1);
    let holder = known.save(port(1));
    for slot in [" API:Port", "api:port\n", "ＡＰＩ:port"] {
        let waits = known.memories.save(port(2).goal_signature(slot)).unwrap().outcome;
        assert!(matches!(waits, SaveOutcome::Waits(_)), "{slot:?} {waits:?}");
    }
    let refused = known.memories.save(port(3).goal_signature("\u{200b}")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "it names nothing");
    assert_eq!(known.get(holder.id).goal_signature.as_deref(), Some("api:port"));
    known.check_sound();
}

#[test]
fn what_is_said_to_be_so_long_after_now_is_refused() {
    let known = Known::new();
    let now = known.save(fix("Now")).said_at;
    let tomorrow = known.memories.save(fix("Tomorrow").said_at(now + TimeDelta::hours(24)));
    assert!(tomorrow.is_ok(), "clocks and days differ");
    let later = known.memories.save(fix("Later").said_at(now + TimeDelta::hours(25))).unwrap_err();
    assert_eq!(later.kind(), ErrorKind::InvalidInput);
}

#[test]
fn what_waits_is_still_asked_when_what_it_waits_for_is_gone() {
    let known = Known::new();
    for erases in [false, true] {
        let holder = known.save(port(1));
        let waiting = known.memories.save(port(2).origin(Origin::Tool)).unwrap().memory;
        if erases {
            known.memories.erase(holder.id).unwrap();
        } else {
            known.memories.forget(holder.id).unwrap();
        }
        let now = known.get(waiting.id);
        assert!(now.contested && now.status == MemoryStatus::Archived, "a person is still asked: {now:?}");
        known.check_sound();
        let holds = known.memories.save(port(2).origin(Origin::Tool)).unwrap();
        assert_eq!((holds.outcome, holds.memory.contested), (SaveOutcome::Restored, false));
        known.memories.erase(waiting.id).unwrap();
        known.check_sound();
    }
}
