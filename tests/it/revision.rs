//! A user's revision shows whether any of that user's data was written; writes for other users do not change it.

use std::{cell::Cell, collections::BTreeSet, io::Cursor};

use chrono::TimeDelta;
use thermocline::{
    Attribute, ContextOptions, CoreOptions, Decision, EdgeType, Edit, EpisodeFilter, MemoryFilter, NewEdge,
    NewNote, NewSensor, NewTurn, Origin, Outcome, QuarantineSource, RecallOptions, Reply, ReviewFilter,
    RunJobs, SaveOutcome, TendOptions, Use,
    blocking::{Memories, Thermocline, User},
};

use crate::{
    dump::meddle,
    memories::{fix, port, saying},
    scripted::{Scripted, first_words},
    support::{Fixture, at, long_texts, turn},
    transfer::export,
};

/// Two users, and their revisions when last checked.
struct Two {
    file: Thermocline,
    alex: User,
    blake: User,
    seen: Cell<(u64, u64)>,
}

impl Two {
    fn new(fixture: &Fixture) -> Self {
        let file = fixture.open();
        let (alex, blake) = (file.user("alex").unwrap(), file.user("blake").unwrap());
        blake.session_named("chat").unwrap().record(turn(1)).unwrap();
        let seen = Cell::new((alex.revision().unwrap(), blake.revision().unwrap()));
        Self { file, alex, blake, seen }
    }

    fn look(&self) -> [(u64, u64); 2] {
        let now = (self.alex.revision().unwrap(), self.blake.revision().unwrap());
        [self.seen.replace(now), now]
    }

    /// Does something that writes only for alex.
    #[track_caller]
    fn writes<T>(&self, what: &str, act: impl FnOnce() -> thermocline::Result<T>) -> T {
        let done = act().unwrap_or_else(|error| panic!("{what}: {error}"));
        let [before, now] = self.look();
        assert!(now.0 > before.0 && now.1 == before.1, "{what}: {before:?}, {now:?}");
        done
    }

    /// Does something that writes nothing but receipts.
    #[track_caller]
    fn reads<T>(&self, what: &str, ask: impl FnOnce() -> thermocline::Result<T>) -> T {
        let answer = ask().unwrap_or_else(|error| panic!("{what}: {error}"));
        self.alex.receipts(1).unwrap(); // Those that waited are written now.
        let [before, now] = self.look();
        assert_eq!(before, now, "{what}");
        answer
    }

    fn memories(&self) -> Memories {
        self.alex.memories().by(Origin::User)
    }
}

#[test]
fn every_write_of_a_session_moves_it_and_no_read_does() {
    let mut fixture = Fixture::new();
    fixture.config.verbatim_tokens = 0;
    let two = Two::new(&fixture);
    let alex = &two.alex;
    two.writes("session", || alex.session());
    two.reads("session", || alex.session());
    two.writes("new_session", || alex.new_session());
    let chat = two.writes("session_named", || alex.session_named("chat"));
    two.reads("session_named", || alex.session_named("chat"));
    let first = two.writes("record", || chat.record(turn(1).caller_id("1")));
    two.reads("record", || chat.record(turn(1).caller_id("1")));
    let message = two.writes("record_message", || chat.record_message(NewTurn::new("Who lights it?", "")));
    two.writes("complete", || chat.complete(message.turn_id, Reply::new("The keeper of the lamp.")));
    two.writes("set_project", || chat.set_project(Some("p")));
    two.writes("set_title", || chat.set_title(Some("t")));
    two.writes("set_metadata", || chat.set_metadata(Some(serde_json::json!({ "a": 1 }))));
    two.writes("set_state", || chat.set_state("mood", "calm"));
    let anchor = two.writes("set_anchor", || alex.set_anchor("user", Attribute::Likes, "sailing"));
    let by_mcp = || alex.set_anchor_by("user", Attribute::Likes, "rain", "mcp");
    let other = two.writes("set_anchor_by", by_mcp).id;
    two.writes("replace_anchor", || alex.replace_anchor(other, "snow", "mcp"));
    two.reads("anchor", || alex.anchor(other));
    let context = two.reads("context", || chat.context("Who lights the lamp?", ContextOptions::default()));
    two.reads("User::context", || alex.context("Who lights it?", ContextOptions::default()));
    two.reads("recall", || alex.recall("Who lights the lamp?", RecallOptions::default()));
    two.writes("record", || chat.record(turn(3).answering(context.receipt)));
    two.writes("record of a user", || alex.record(Some("by key"), turn(4)));
    two.writes("message of a user", || alex.record_message(Some("by key"), NewTurn::new("Who?", "")));
    two.reads("receipt", || alex.receipt(context.receipt));
    two.reads("receipt_with_texts", || alex.receipt_with_texts(context.receipt));
    two.reads("hot", || chat.hot());
    two.reads("warm", || chat.warm());
    two.reads("search", || chat.search("lamp", 5));
    two.reads("turn", || chat.turn(1));
    two.reads("turns", || chat.turns(None, 10));
    two.reads("turns_before", || chat.turns_before(None, 10));
    two.reads("replaced_at", || chat.replaced_at(1));
    two.reads("info", || chat.info());
    two.reads("state", || chat.state());
    two.reads("transitions", || chat.transitions(None, 1_000));
    two.reads("User::turn", || alex.turn(first.turn_id));
    two.reads("turn_by_caller_id", || alex.turn_by_caller_id("1"));
    two.reads("find_recorded", || alex.find_recorded(&turn(1).caller_id("1")));
    two.reads("find_session", || alex.find_session("chat"));
    two.reads("session_parts", || alex.session_parts("chat"));
    two.reads("session_by_id", || alex.session_by_id(chat.id()));
    two.reads("sessions", || alex.sessions(None, 10));
    two.reads("anchors", || alex.anchors(None, 10));
    two.reads("export", || alex.export(std::io::sink()));

    two.writes("end", || chat.end());
    two.reads("end", || chat.end());
    two.writes("run_jobs", || two.file.run_jobs(RunJobs::default()));
    two.reads("run_jobs", || two.file.run_jobs(RunJobs::default()));
    let summaries = two.reads("summaries", || chat.summaries(None, 1_000));
    two.reads("User::summaries", || alex.summaries(None, 10));
    two.reads("summary", || alex.summary(summaries[0].original_turn_id));
    two.reads("summary_by_caller_id", || alex.summary_by_caller_id("1"));
    two.reads("cold_turns", || alex.cold_turns(None, 10));
    two.writes("restore", || chat.restore());
    two.writes("compress", || chat.compress());
    two.writes("run_jobs", || two.file.run_jobs(RunJobs::default()));
    two.writes("retract_anchor", || alex.retract_anchor(anchor));
    let old = two.writes("session_named", || alex.session_named("old"));
    two.writes("record", || old.record(turn(1)));
    two.writes("end_at", || old.end_at(at("2026-03-01T12:00:00Z")));
    two.writes("erase_turn", || alex.erase_turn(first.turn_id));
    two.writes("Session::erase", || old.erase());
    let (lines, blakes) = (export(alex), two.blake.revision().unwrap());
    alex.erase().unwrap();
    assert_eq!(alex.revision().unwrap_err().kind(), thermocline::ErrorKind::NotFound);
    two.file.import("alex", Cursor::new(lines.into_bytes())).unwrap();
    assert!(two.file.user("alex").unwrap().revision().unwrap() > 0);
    assert_eq!(two.blake.revision().unwrap(), blakes);
}

#[test]
fn every_write_of_a_memory_moves_it_and_no_read_does() {
    let fixture = Fixture::new();
    let two = Two::new(&fixture);
    let memories = two.memories();
    let of_user = |title: &str| fix(title).origin(Origin::User);
    let save = |title: &str| two.writes("save", || memories.save(of_user(title))).memory.id;
    let (a, b) = (save("a"), save("b"));
    two.reads("save", || memories.save(of_user("a")));
    two.writes("edit", || memories.edit(a, saying("It is edited.")));
    two.reads("edit", || memories.edit(a, Edit::default()));
    two.writes("pin", || memories.pin(a));
    two.writes("unpin", || memories.unpin(a));
    two.writes("undo", || memories.undo(a));
    let edge = two.writes("relate", || memories.relate(a, NewEdge::new(EdgeType::Solves), b)).id;
    two.reads("edge", || memories.edge(edge));
    two.reads("neighbours", || memories.neighbours(a, None, 10));
    two.writes("unrelate", || memories.unrelate(edge));
    two.writes("note", || memories.note(NewNote::new("mine").memory(a)));
    two.writes("used", || memories.used(a, Use::of(Outcome::Success)));
    fixture.clock.advance(TimeDelta::days(3));
    two.writes("dismiss", || memories.dismiss(a));
    two.reads("dismiss", || memories.dismiss(a));
    fixture.clock.advance(TimeDelta::days(3));
    two.writes("resurfaced", || memories.resurfaced(a));
    two.writes("watch", || memories.watch(a, NewSensor::new("human", "")));
    two.reads("sensors", || memories.sensors(a));
    two.writes("validate", || memories.validate(a));
    two.writes("unwatch", || memories.unwatch(a, "human", None));
    two.writes("save", || memories.save(port(1).origin(Origin::User)));
    let waits = two.writes("save", || memories.save(port(2).origin(Origin::Assistant))).outcome;
    let SaveOutcome::Waits(review) = waits else { panic!("{waits:?}") };
    two.reads("review", || memories.review(review));
    two.reads("reviews", || memories.reviews(ReviewFilter::default(), None, 10));
    two.writes("decide", || memories.decide(review, Decision::Approved, "alex"));
    two.reads("get", || memories.get(a));
    two.reads("find", || memories.find(&a.to_string()));
    two.writes("save", || memories.save(of_user("key").caller_id("k")));
    two.reads("by_caller_id", || memories.by_caller_id("k"));
    two.reads("list", || memories.list(MemoryFilter::default(), None, 10));
    two.reads("due", || memories.due("2026-03-02".parse().unwrap(), 10));
    two.reads("history", || memories.history(a, None, 10));
    two.reads("sources", || memories.sources(a));
    two.reads("tags", || memories.tags(None, 10));
    two.reads("entities", || memories.entities(None, 10));
    two.reads("episodes", || memories.episodes(EpisodeFilter::default(), None, 10));
    two.reads("core", || memories.core(CoreOptions::default()));
    two.reads("reflection", || memories.reflection());
    two.writes("supersede", || memories.supersede(a, of_user("c")));
    let [old, new] = ["old", "new"].map(save);
    two.writes("supersede_by", || memories.supersede_by(old, new));
    let [one, other] = ["one", "other"].map(save);
    let merged = two.writes("merge", || memories.merge(vec![one, other], of_user("h")));
    two.writes("undo_group", || memories.undo_group(merged.group));
    let group =
        two.writes("quarantine", || memories.quarantine(QuarantineSource::Memory(other), "why")).group;
    two.writes("lift", || memories.lift(group.unwrap()));
    two.writes("forget", || memories.forget(b));
    two.writes("erase", || memories.erase(new));
    two.writes("tend", || memories.tend(TendOptions::default()));
    two.writes("reflect", || memories.reflect());
    two.writes("forget_all", || memories.forget_all(MemoryFilter::default()));
}

#[test]
fn compressing_again_moves_it_where_there_is_something_to_do() {
    let mut fixture = Fixture::new();
    let two = Two::new(&fixture);
    for key in ["one", "two"] {
        let chat = two.writes("session_named", || two.alex.session_named(key));
        for n in 1..9 {
            let (text, reply) = long_texts(n);
            two.writes("record", || chat.record(NewTurn::new(text, reply)));
        }
        two.writes("end", || chat.end());
    }
    two.writes("run_jobs", || two.file.run_jobs(RunJobs::default()));
    drop(two);
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let two = Two::new(&fixture);
    let one = two.reads("session_named", || two.alex.session_named("one"));
    assert!(two.writes("Session::compress_again", || one.compress_again()) > 0);
    assert_eq!(two.reads("Session::compress_again", || one.compress_again()), 0);
    assert_eq!(two.writes("User::compress_again", || two.alex.compress_again()), 1);
}

#[test]
fn what_another_program_inserts_moves_it_before_and_after_it_is_taken_over() {
    let fixture = Fixture::new();
    let two = Two::new(&fixture);
    let chat = two.writes("session_named", || two.alex.session_named("chat"));
    for n in 1..=2 {
        let insert = format!(
            "INSERT INTO conversation_turns (id, user_id, session_id, turn_number, user_message, ai_response,
                                             user_message_tokens, ai_response_tokens, total_tokens)
             SELECT randomblob(16), user_id, id, {n}, 'inserted', 'reply', 1, 1, 2
             FROM conversation_sessions WHERE caller_id = 'chat' AND user_id = (SELECT id FROM users WHERE name = 'alex')"
        );
        two.writes("an insert", || {
            meddle(&fixture.path(), &insert);
            Ok(())
        });
    }
    two.writes("record", || chat.record(turn(3)));
    assert!(two.file.doctor().unwrap().is_healthy());
}

#[test]
fn a_refused_act_and_opening_the_file_anew_leave_it() {
    let fixture = Fixture::new();
    let two = Two::new(&fixture);
    let chat = two.writes("session_named", || two.alex.session_named("chat"));
    two.writes("record", || chat.record(turn(1).caller_id("1")));
    two.reads("a conflict", || {
        chat.record(turn(2).caller_id("1")).unwrap_err();
        chat.record(NewTurn::new("", "")).unwrap_err();
        two.alex.retract_anchor(uuid::Uuid::nil().into()).unwrap_err();
        Ok(())
    });
    let before = two.alex.revision().unwrap();
    two.file.close().unwrap();
    assert_eq!(fixture.alex().revision().unwrap(), before);
}

/// Fails until a new method is tested as one that writes or one that reads.
#[test]
fn every_method_of_a_user_is_looked_at() {
    let tested = include_str!("revision.rs");
    let mut methods = BTreeSet::new();
    for handles in [
        include_str!("../../src/handles/blocking/memories.rs"),
        include_str!("../../src/handles/blocking/sensors.rs"),
        include_str!("../../src/handles/blocking/session.rs"),
        include_str!("../../src/handles/blocking.rs").split_once("impl User {").unwrap().1,
    ] {
        methods.extend(
            handles.split("    pub fn ").skip(1).filter_map(|method| method.split_once('(')).map(|it| it.0),
        );
    }
    // Methods that return another handle, or name this one.
    for name in ["id", "user_id", "memories", "vault", "by"] {
        methods.remove(name);
    }
    let missing: Vec<_> = methods.iter().filter(|name| !tested.contains(&format!(".{name}("))).collect();
    assert!(missing.is_empty() && methods.len() > 80, "{missing:?} of {}", methods.len());
}
