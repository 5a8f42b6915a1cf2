//! Nothing of one user's memories can be reached through another.

use thermocline::{
    ContextOptions, Decision, EdgeType, Edit, EpisodeFilter, ErrorKind, MemoryFilter, NewEdge, NewNote,
    NewSensor, NewTurn, Origin, Outcome, QuarantineSource, Result, ReviewFilter, SaveOutcome, TendOptions,
    ToCheck, Use,
};

use crate::{
    dump::{assert_same, dump_of_user},
    memories::{Known, fix, port, saying},
};

#[track_caller]
fn check_not_found<T: std::fmt::Debug>(what: &str, answer: Result<T>, told: &mut Option<String>) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{what}: {error}");
    // The error does not tell whether something belongs to somebody else or does not exist.
    let told = told.get_or_insert_with(|| error.to_string());
    assert_eq!(*told, error.to_string(), "{what}");
}

#[test]
fn another_users_memory_is_not_found_in_any_operation_even_with_its_id() {
    let known = Known::new();
    let alex = known.file.user("alex").unwrap();
    let turn = alex.session().unwrap().record(NewTurn::new("It is mine.", "Yes.")).unwrap();
    let [a, b] =
        ["a", "b"].map(|title| known.save(fix(title).caller_id(title).source(turn.turn_id, "mine")).id);
    let edge = known.memories.relate(a, NewEdge::new(EdgeType::Solves), b).unwrap().id;
    let note = known.memories.note(NewNote::new("mine").memory(a).caller_id("n")).unwrap().episode.id;
    known.memories.edit(a, saying("It is edited.")).unwrap();
    known.save(port(1));
    let waits = known.memories.save(port(2).origin(Origin::Assistant)).unwrap().outcome;
    let SaveOutcome::Waits(review) = waits else { panic!("{waits:?}") };
    let talk = alex.session_by_id(turn.session_id).unwrap();
    let receipt = talk.context("Is it mine?", ContextOptions::default()).unwrap().receipt;
    alex.receipts(1).unwrap();
    known.memories.watch(a, NewSensor::new("human", "")).unwrap();
    let before = dump_of_user(&known.fixture.path(), "alex");

    let blake = known.file.user("blake").unwrap().memories().by(Origin::User);
    let own = blake.save(fix("own").origin(Origin::User)).unwrap().memory.id;
    let told = &mut None;
    check_not_found("get", blake.get(a), told);
    check_not_found("find", blake.find(&a.to_string()), told);
    check_not_found("by_caller_id", blake.by_caller_id("a"), told);
    check_not_found("edit", blake.edit(a, Edit::default().pinned(true)), told);
    check_not_found("pin", blake.pin(a), told);
    check_not_found("unpin", blake.unpin(a), told);
    check_not_found("supersede", blake.supersede(a, fix("x")), told);
    check_not_found("supersede_by", blake.supersede_by(a, own), told);
    check_not_found("supersede_by", blake.supersede_by(own, a), told);
    check_not_found("undo", blake.undo(a), told);
    check_not_found("forget", blake.forget(a), told);
    check_not_found("merge", blake.merge(vec![own, a], fix("z")), told);
    check_not_found("quarantine", blake.quarantine(QuarantineSource::Memory(a), ""), told);
    let group = known.memories.history(a, None, 1).unwrap()[0].group_id;
    let told_of_groups = &mut None;
    check_not_found("undo_group", blake.undo_group(group), told_of_groups);
    check_not_found("lift", blake.lift(group), told_of_groups);
    check_not_found("quarantine", blake.quarantine(QuarantineSource::Turn(turn.turn_id), ""), &mut None);
    check_not_found(
        "quarantine",
        blake.quarantine(QuarantineSource::Session(turn.session_id), ""),
        &mut None,
    );
    check_not_found("quarantine", blake.quarantine(QuarantineSource::Call(*group.as_uuid()), ""), &mut None);
    check_not_found("erase", blake.erase(a), told);
    check_not_found("relate", blake.relate(a, NewEdge::new(EdgeType::Solves), own), told);
    check_not_found("relate", blake.relate(own, NewEdge::new(EdgeType::Solves), a), told);
    check_not_found("neighbours", blake.neighbours(a, None, 10), told);
    check_not_found("history", blake.history(a, None, 10), told);
    check_not_found("note", blake.note(NewNote::new("x").memory(a)), told);
    check_not_found("used", blake.used(a, Use::default()), told);
    check_not_found(
        "used",
        blake.used(a, Use::of(Outcome::Success).receipt(receipt).session(turn.session_id)),
        told,
    );
    check_not_found("resurfaced", blake.resurfaced(a), told);
    check_not_found("dismiss", blake.dismiss(a), told);
    check_not_found("used", blake.used(own, Use::default().receipt(receipt)), &mut None);
    check_not_found("used", blake.used(own, Use::default().session(turn.session_id)), &mut None);
    check_not_found("watch", blake.watch(a, NewSensor::new("human", "")), told);
    check_not_found("unwatch", blake.unwatch(a, "human", None), told);
    check_not_found("sensors", blake.sensors(a), told);
    check_not_found("validate", blake.validate(a), told);
    check_not_found("validate", blake.validate(vec![own, a]), told);
    let told = &mut None;
    check_not_found("review", blake.review(review), told);
    check_not_found("decide", blake.decide(review, Decision::Approved, "blake"), told);
    check_not_found("reviews", blake.reviews(ReviewFilter::default(), Some(review), 10), &mut None);
    assert_eq!(blake.reviews(ReviewFilter::default(), None, 10).unwrap(), []);
    assert_eq!(blake.due("9999-12-31".parse().unwrap(), 10).unwrap(), []);
    check_not_found("unrelate", blake.unrelate(edge), &mut None);
    check_not_found("edge", blake.edge(edge), &mut None);
    check_not_found("save", blake.save(fix("y").source(turn.turn_id, "")), &mut None);
    check_not_found("save", blake.save(fix("y").session(turn.session_id)), &mut None);
    check_not_found("list", blake.list(MemoryFilter::default(), Some(a), 10), &mut None);
    check_not_found("neighbours", blake.neighbours(own, Some(edge), 10), &mut None);
    check_not_found("episodes", blake.episodes(EpisodeFilter::default(), Some(note), 10), &mut None);

    assert_eq!(blake.validate(ToCheck::Stale).unwrap(), []);
    assert_eq!(blake.list(MemoryFilter::default().statuses([]), None, 10).unwrap().len(), 1);
    assert_eq!(blake.tags(None, 10).unwrap().len() + blake.entities(None, 10).unwrap().len(), 0);
    assert_eq!(blake.episodes(EpisodeFilter::default().roles([]), None, 10).unwrap().len(), 1);
    assert_eq!(blake.tend(TendOptions::default()).unwrap().memories, 1);
    assert_eq!(blake.reflect().unwrap().memories, 1);
    let mut forgotten = blake.forget_all(MemoryFilter::default()).unwrap().memories;
    assert_eq!(forgotten.pop(), Some(own));
    assert_same(&dump_of_user(&known.fixture.path(), "alex"), &before, "alex' memories");
    known.check_sound();
}

#[test]
fn users_may_have_the_same_texts_slots_and_callers_ids() {
    let known = Known::new();
    let blake = known.file.user("blake").unwrap().memories();
    let mine = known.save(port(1).caller_id("p"));
    let theirs = blake.save(port(1).caller_id("p")).unwrap();
    assert_eq!(theirs.outcome, thermocline::SaveOutcome::New);
    blake.erase(theirs.memory.id).unwrap();
    assert_eq!(known.get(mine.id), mine);
    known.file.user("blake").unwrap().erase().unwrap();
    assert_eq!(known.get(mine.id), mine);
    known.check_sound();
}
