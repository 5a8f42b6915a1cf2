//! Memories are recalled together with turns, on one scale; one piece of knowledge takes one place; of an edited memory
//! only the current text is recalled.
#![expect(clippy::float_cmp, reason = "a score that is worked out again has the same bits")]

use chrono::TimeDelta;
use thermocline::{
    Edit, Filter, Frequency, ItemKind, Memory, MemoryFilter, MemoryKind, NewMemory, NewTurn, Of, Origin,
    Profile, Recall, RecallOptions, Recalled, RecalledItem, RunJobs, SaveOutcome, StaleReason, TaskType,
    TurnId, Volatility, blocking::User,
};

use super::{answers, asked_at, options, tell_all};
use crate::{
    dump::{assert_same, dump},
    support::Fixture,
};

/// Returns alex, who said something about lamps, boats and bread.
fn told() -> (Fixture, User) {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("talk").unwrap();
    for (id, message) in [
        ("lamp", "The lamp in the cellar flickers whenever the pump runs."),
        ("boat", "We took the boat across the bay on Sunday."),
        ("bread", "I bake bread with rye and honey every Friday."),
    ] {
        session.record(NewTurn::new(message, "I see.").caller_id(id)).unwrap();
    }
    (fixture, alex)
}

fn turn(alex: &User, id: &str) -> TurnId {
    alex.turn_by_caller_id(id).unwrap().id
}

fn fix(title: &str, content: &str) -> NewMemory {
    NewMemory::new(MemoryKind::Fix, title, content).origin(Origin::User)
}

#[track_caller]
fn save(alex: &User, memory: NewMemory) -> Memory {
    alex.memories().by(Origin::User).save(memory).unwrap().memory
}

#[track_caller]
fn ask(alex: &User, query: &str, options: RecallOptions) -> Recall {
    let recall = alex.recall(query, options).unwrap();
    assert!(recall.missing.is_empty(), "{:?}", recall.missing);
    for item in &recall.items {
        let is_anchor = matches!(item.item, RecalledItem::Anchor(_));
        assert!(is_anchor || item.parts.score(&Profile::Default) > 0.0);
    }
    recall
}

/// Returns a short name: a memory's title, or the caller's id of a turn.
fn name(item: &Recalled) -> String {
    match &item.item {
        RecalledItem::Memory(memory) => memory.memory.title.clone(),
        RecalledItem::Turn(turn) => turn.caller_id.clone().unwrap(),
        _ => "other".to_owned(),
    }
}

fn names(recall: &Recall) -> Vec<String> {
    recall.items.iter().map(name).collect()
}

fn of(of: Of) -> RecallOptions {
    RecallOptions::default().of(of)
}

#[test]
fn a_memory_is_recalled_among_turns_and_its_score_can_be_worked_out_again() {
    let (_fixture, alex) = told();
    save(&alex, fix("Flickering lamp", "A filter before the pump keeps the lamp from flickering."));
    let query = "Why does the lamp flicker when the pump runs?";
    let recall = ask(&alex, query, RecallOptions::default());
    assert_eq!(names(&recall)[..2], ["lamp", "Flickering lamp"]);
    for item in &recall.items {
        assert_eq!(item.score, item.parts.score(&Profile::Default));
        let is_memory = item.memory().is_some();
        assert_eq!(item.parts.memory > 0.0, is_memory);
        let parts = serde_json::to_value(item.parts).unwrap();
        assert_eq!(parts.get("memory").is_some(), is_memory, "{parts}");
    }
    let memory = &recall.items[1];
    assert_eq!(memory.memory_tier(), None);
    assert_eq!(memory.parts.memory, 1.0, "{:?}", memory.parts);
    assert!(memory.confidence > 0.5, "{}", memory.confidence);
    let json = serde_json::to_value(memory).unwrap();
    assert_eq!((&json["kind"], &json["memory"]["kind"]), (&"memory".into(), &"fix".into()));
}

#[test]
fn turns_alone_memories_alone_and_which() {
    let (_fixture, alex) = told();
    save(&alex, fix("Lamp", "The lamp has a filter.").tags(["cellar"]).project("house"));
    let decision = NewMemory::new(MemoryKind::Decision, "Lamp shop", "Lamps are bought at Wilma's.");
    save(&alex, decision.confidence(0.6).task_type(TaskType::Research).frequency(Frequency::High));
    let check = |options: RecallOptions, expected: &[&str]| {
        let mut found = names(&ask(&alex, "the lamp", options));
        found.retain(|name| name.starts_with("Lamp") || name == "lamp");
        found.sort();
        assert_eq!(found, expected);
    };
    let memories = |filter: MemoryFilter| RecallOptions::default().memories(filter);
    let any = MemoryFilter::default;
    check(of(Of::All), &["Lamp", "Lamp shop", "lamp"]);
    check(of(Of::Turns), &["lamp"]);
    check(of(Of::Memories), &["Lamp", "Lamp shop"]);
    check(memories(any().kinds([MemoryKind::Decision])), &["Lamp shop", "lamp"]);
    check(memories(any().min_confidence(0.7)), &["Lamp", "lamp"]);
    check(memories(any().tag("#Cellar")).of(Of::Memories), &["Lamp"]);
    check(memories(any().project("boat")), &["Lamp shop", "lamp"]);
    check(memories(any().task_type(TaskType::Research)), &["Lamp shop", "lamp"]);
    check(memories(any().frequencies([Frequency::High])), &["Lamp shop", "lamp"]);
    alex.session_named("talk").unwrap().set_project(Some("boat")).unwrap();
    check(RecallOptions::default().filter(Filter::default().project("boat")), &["Lamp shop", "lamp"]);
    check(RecallOptions::default().filter(Filter::default().sessions([])), &[]);
    let wrong = memories(any().min_confidence(1.5));
    assert_eq!(alex.recall("lamp", wrong).unwrap_err().kind(), thermocline::ErrorKind::InvalidInput);
}

#[test]
fn a_filter_is_asked_before_the_best_are_chosen() {
    let (_fixture, alex) = told();
    for n in 0..90 {
        save(&alex, fix(&format!("Lamp {n}"), "The lamp flickers, the lamp in the cellar."));
    }
    save(&alex, NewMemory::new(MemoryKind::Insight, "Light", "A lamp is a light.").origin(Origin::User));
    let insights = MemoryFilter::default().kinds([MemoryKind::Insight]);
    let recall = ask(&alex, "the lamp in the cellar flickers", of(Of::Memories).memories(insights));
    assert_eq!(names(&recall), ["Light"]);
    assert_eq!(ask(&alex, "the lamp flickers", of(Of::Memories).k(80)).items.len(), 80);
}

#[test]
fn a_memory_and_the_turn_that_it_rests_on_are_one_piece() {
    let (_fixture, alex) = told();
    let lamp = fix("Cellar lamp", "The lamp in the cellar flickers whenever the pump runs.");
    let saved = save(&alex, lamp.source(turn(&alex, "lamp"), ""));
    let query = "Does the lamp in the cellar flicker whenever the pump runs?";
    let recall = ask(&alex, query, RecallOptions::default().k(2));
    assert_eq!(recall.items.len(), 2, "k counts pieces");
    let (best, turn_id) = (&recall.items[0], turn(&alex, "lamp"));
    let (kind, other) = match best.memory() {
        Some(memory) => {
            assert_eq!(memory.sources[0].caller_id.as_deref(), Some("lamp"));
            (ItemKind::Turn, *turn_id.as_uuid())
        }
        None => (ItemKind::Memory, *saved.id.as_uuid()),
    };
    assert_eq!((best.same_source[0].kind, best.same_source[0].owner_id), (kind, other));
    assert!(!["lamp", "Cellar lamp"].contains(&&*name(&recall.items[1])));

    let receipt = alex.receipt(recall.receipt).unwrap();
    assert_eq!(receipt.items[0].same_source, best.same_source);
    assert!(receipt.explain().contains("from the same source as"), "{}", receipt.explain());
    // A recall of memories alone finds the memory, and a recall of turns alone finds the turn.
    assert_eq!(names(&ask(&alex, query, of(Of::Memories)))[..1], ["Cellar lamp"]);
    assert_eq!(names(&ask(&alex, query, of(Of::Turns)))[..1], ["lamp"]);
}

#[test]
fn a_memory_and_its_turn_lend_each_other_and_what_is_saved_three_times_lends_once() {
    let (_fixture, alex) = told();
    let query = "Who bakes bread with honey?";
    let best_score = || {
        let recall = ask(&alex, query, RecallOptions::default());
        for item in &recall.items {
            assert_eq!(item.score, item.parts.score(&Profile::Default));
        }
        (recall.items[0].score, recall.items[0].parts.neighbours)
    };
    let (alone, lent_by_turns) = best_score();
    let save_as = |title: &str| {
        save(&alex, fix(title, "Bread with rye and honey is baked.").source(turn(&alex, "bread"), ""))
    };
    save_as("Bread");
    let (told_twice, lent) = best_score();
    assert!(told_twice > alone && lent >= lent_by_turns + 0.2, "{alone} {told_twice} {lent_by_turns} {lent}");
    save_as("Breads");
    save_as("The bread");
    let (told_often, _) = best_score();
    assert!((told_often - told_twice).abs() < 0.1, "{told_twice} {told_often}");
}

#[test]
fn memories_of_one_turn_that_say_different_things_each_have_a_place() {
    let (_fixture, alex) = told();
    for (title, content) in [
        ("Bread", "Alex bakes bread with rye and honey."),
        ("Bread of rye", "Alex bakes bread with rye and honey."),
        ("Fridays", "On Fridays Alex bakes."),
    ] {
        save(&alex, fix(title, content).source(turn(&alex, "bread"), ""));
    }
    let found = names(&ask(&alex, "What does Alex bake on Fridays?", of(Of::Memories)));
    assert!(found.len() == 2 && found.contains(&"Fridays".to_owned()), "{found:?}");
}

#[test]
fn what_was_corrected_stands_beside_the_turn_that_it_came_of() {
    let (_fixture, alex) = told();
    let memories = alex.memories().by(Origin::User);
    let saved =
        save(&alex, fix("Baking day", "Bread is baked every Friday.").source(turn(&alex, "bread"), ""));
    let query = "When is the bread with rye and honey baked?";
    let both = || {
        let mut found = names(&ask(&alex, query, RecallOptions::default()));
        found.retain(|name| ["Baking day", "bread"].contains(&&**name));
        found.len()
    };
    assert_eq!(both(), 1);
    memories.edit(saved.id, Edit::default().content("Since June bread is baked on Mondays.")).unwrap();
    assert_eq!(both(), 2);
    memories.undo(saved.id).unwrap();
    assert_eq!(both(), 1);
    memories.edit(saved.id, Edit::default().importance(0.9)).unwrap();
    assert_eq!(both(), 1, "it says the same");
}

#[test]
fn what_was_edited_is_found_by_its_text_of_now_alone() {
    let (fixture, alex) = told();
    let memories = alex.memories().by(Origin::User);
    let saved = save(&alex, fix("Xylophone", "The xylophone is out of tune."));
    for n in 0..70 {
        let edit = Edit::default().content(format!("The xylophone is out of tune, number {n}."));
        memories.edit(saved.id, edit).unwrap();
    }
    memories
        .edit(saved.id, Edit::default().title("Rent").content("It costs nine euros.").entities([""; 0]))
        .unwrap();
    let check = |alex: &User| {
        let of_old_words = ask(alex, "xylophone", of(Of::Memories));
        for item in &of_old_words.items {
            assert_eq!((item.parts.words, &*name(item)), (0.0, "Rent"), "{item:?}");
        }
        let found = ask(alex, "How many euros is the rent?", of(Of::Memories));
        assert_eq!(names(&found), ["Rent"]);
        assert_eq!(found.items[0].memory().unwrap().memory.content, "It costs nine euros.");
        found
    };
    let before = check(&alex);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    let after = check(&alex);
    assert_eq!(before.items, after.items, "by the index");
    assert_eq!(check(&fixture.alex()).items, after.items, "by a handle that reads the index");
    memories.forget(saved.id).unwrap();
    assert!(ask(&alex, "the rent", of(Of::Memories)).items.is_empty());
    memories.undo(saved.id).unwrap();
    assert_eq!(names(&ask(&alex, "the rent", of(Of::Memories))), ["Rent"]);
}

#[test]
fn what_is_stale_unverified_contested_or_archived_says_so_and_counts_less() {
    let (fixture, alex) = told();
    let port = fix("Port", "The harbour master answers on port 8443.").goal_signature("port");
    save(&alex, port.volatility(Volatility::High).reliability(0.6));
    let waits = NewMemory::new(MemoryKind::Fix, "Other port", "The harbour master answers on port 9000.");
    let waits = alex.memories().save(waits.goal_signature("port")).unwrap();
    assert!(matches!(waits.outcome, SaveOutcome::Waits(_)), "{:?}", waits.outcome);
    fixture.clock.advance(TimeDelta::hours(7));
    let recall = ask(&alex, "On which port does the harbour master answer?", of(Of::Memories));
    let found = |title: &str| {
        let item = recall.items.iter().find(|item| name(item) == title).unwrap();
        (item, item.memory().unwrap().flags.clone())
    };
    let (item, flags) = found("Port");
    assert_eq!(flags.stale, [StaleReason::Expired, StaleReason::Old]);
    assert!(flags.unverified && flags.look_up && !flags.archived);
    assert!((item.parts.memory - 0.4).abs() < 1e-9, "{:?}", item.parts);
    let (item, flags) = found("Other port");
    assert!(flags.archived && flags.stale.is_empty());
    assert!((item.parts.memory - 0.5).abs() < 1e-9, "{:?}", item.parts);

    let receipt = alex.receipt(recall.receipt).unwrap();
    let kept = receipt.items.iter().find(|item| item.flags.look_up).unwrap();
    assert_eq!((kept.kind, kept.memory_tier, kept.flags.unverified), (ItemKind::Memory, None, true));
    assert!(
        receipt.explain().contains("mind: stale, window over, check before use, unverified, look up"),
        "{}",
        receipt.explain()
    );
    let active = MemoryFilter::default();
    let recall = ask(&alex, "the port of the harbour master", of(Of::Memories).memories(active));
    assert_eq!(names(&recall), ["Port"]);
}

#[test]
fn always_is_the_wish_of_whoever_is_trusted_and_of_no_document() {
    for (origin, wish) in [(Origin::User, 1.0), (Origin::Document, 0.0), (Origin::Tool, 0.0)] {
        let (_fixture, alex) = told();
        let page = fix("Sails", "Always dry the sails before they are folded.").origin(origin);
        alex.memories().by(origin).save(page).unwrap();
        let recall = ask(&alex, "What of the sails before they are folded?", of(Of::Memories));
        assert_eq!(recall.items[0].parts.wish, wish, "{origin:?}");
    }
}

#[test]
fn the_continuum_knows_memories_alone_by_how_settled_they_are() {
    let (_fixture, alex) = told();
    let known = |title: &str, frequency| fix(title, "The lamp in the cellar flickers.").frequency(frequency);
    save(&alex, known("Just learned", Frequency::High));
    save(&alex, known("Proved", Frequency::Mid));
    save(&alex, known("Settled", Frequency::Low).confidence(0.99));
    save(&alex, known("Doubtful", Frequency::Mid).confidence(0.7));
    let continuum = || RecallOptions::default().profile(Profile::Continuum);
    let recall = alex.recall("the lamp in the cellar", continuum()).unwrap();
    assert_eq!(names(&recall), ["Proved", "Settled", "Just learned"]);
    for (item, weight) in recall.items.iter().zip([0.6, 0.3, 0.1]) {
        assert_eq!((item.parts.memory, item.score), (weight, item.parts.score(&Profile::Continuum)));
    }
    let lax = MemoryFilter::default().min_confidence(0.5);
    assert_eq!(alex.recall("the lamp", continuum().memories(lax)).unwrap().items.len(), 4);
    let receipt = alex.receipt(recall.receipt).unwrap();
    assert_eq!(receipt.profile, Profile::Continuum);
    assert_eq!(receipt.items[0].parts.score(&receipt.profile), receipt.items[0].score);
}

#[test]
fn memories_have_their_place_in_every_profile() {
    let (_fixture, alex) = told();
    save(&alex, fix("Lamp", "The lamp in the cellar flickers."));
    for profile in [Profile::Default, Profile::paper(), Profile::Recency] {
        let recall =
            alex.recall("the lamp in the cellar", RecallOptions::default().profile(profile)).unwrap();
        let memory = recall.items.iter().find(|item| item.memory().is_some()).expect("it is found");
        assert_eq!(memory.score, memory.parts.score(&profile), "{profile:?}");
    }
    // A query that names only a time is answered by what was said then.
    let recall = ask(&alex, "2026-03-01", RecallOptions::default());
    assert!(names(&recall).contains(&"Lamp".to_owned()), "{:?}", names(&recall));
    let other = RecallOptions::default().filter(Filter::default().until(asked_at() - TimeDelta::days(4_000)));
    assert!(ask(&alex, "the lamp", other).items.is_empty());
}

#[test]
fn without_a_memory_nothing_is_otherwise() {
    let with = |of: Option<Of>| {
        let mut fixture = Fixture::new();
        fixture.config.receipts = 0;
        let alex = fixture.alex();
        tell_all(&alex, 120);
        let options = of.map_or_else(options, |of| options().of(of).graph(true));
        let found = alex.recall("the violin", options).unwrap();
        (answers(&alex), serde_json::to_string(&found.items).unwrap())
    };
    let (plain, json) = with(None);
    assert_eq!(with(Some(Of::All)).0, plain);
    for word in ["memory", "flags", "same_source"] {
        assert!(!json.contains(&format!("\"{word}\"")), "{word}");
    }
}

#[test]
fn recalling_memories_writes_nothing_that_is_read() {
    let (mut fixture, alex) = told();
    let saved = save(&alex, fix("Lamp", "The lamp in the cellar flickers.").source(turn(&alex, "lamp"), ""));
    fixture.config.receipts = 0;
    let alex = fixture.alex();
    let before = dump(&fixture.path());
    for _ in 0..20 {
        let recall = ask(&alex, "the lamp in the cellar", of(Of::Memories));
        assert_eq!(recall.items[0].memory().unwrap().memory.id, saved.id);
    }
    assert_same(&before, &dump(&fixture.path()), "after 20 recalls");
}
