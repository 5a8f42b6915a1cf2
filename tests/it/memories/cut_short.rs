//! Cut short at any statement, an operation is wholly done or not at all, and can be done again.

use thermocline::{
    Decision, ErrorKind, LearningSource, MemoryFilter, MemoryId, NewTurn, Origin, Outcome, QuarantineSource,
    ReviewFilter, RunJobs, Use,
    blocking::{Memories, Thermocline},
};

use crate::{
    dump::{assert_same, dump_of_user},
    memories::{Known, fix, port, saying},
    support::{Cut, Fixture},
};

/// A file with a memory that took the place of another, in a slot, and one that a job made of a turn.
fn prepare(is_edited: bool) -> (Fixture, [MemoryId; 2], thermocline::TurnId) {
    let known = Known::new();
    let session = known.file.user("alex").unwrap().session().unwrap();
    let turn = session.record(NewTurn::new("The port is 2.", "Noted.")).unwrap().turn_id;
    let old = known.save(port(1).tags(["api"])).id;
    let new = known.save(port(2).source(turn, "port is 2")).id;
    known.save(fix("Learned").learning_source(LearningSource::Execution).source(turn, "The port"));
    if is_edited {
        known.memories.edit(new, saying("It runs on port 2 by now.")).unwrap();
    }
    known.file.close().unwrap();
    (known.fixture, [old, new], turn)
}

fn open(fixture: &Fixture) -> (Thermocline, Memories) {
    let file = fixture.open();
    let memories = file.user("alex").unwrap().memories().by(Origin::User);
    (file, memories)
}

/// Has each statement of what is done fail, each in a file of its own.
#[track_caller]
fn check(
    what: &str,
    least: usize,
    prepared: (&Fixture, &Cut),
    act: impl Fn(&Thermocline, &Memories) -> thermocline::Result<()>,
) {
    let (fixture, cut) = prepared;
    let copy = fixture.copy();
    let (file, memories) = open(&copy);
    cut.places();
    act(&file, &memories).unwrap();
    let places = cut.places();
    assert!(places.len() >= least, "{what}: {}", places.len());
    let before = dump_of_user(&fixture.path(), "alex");
    for (statement, times) in places {
        let copy = fixture.copy();
        let (file, memories) = open(&copy);
        cut.after(times, &statement);
        let answer = act(&file, &memories);
        // What runs at every opening may have run before.
        let Err(error) = answer else { continue };
        cut.mend();
        assert_ne!(error.kind(), ErrorKind::Internal, "{what}: {statement}");
        let after = dump_of_user(&copy.path(), "alex");
        if after == before {
            act(&file, &memories).unwrap();
        } else {
            assert!(what.starts_with("erase"), "{what}: {statement}: {error}");
            file.run_jobs(RunJobs::default()).unwrap();
        }
        let found = file.doctor().unwrap();
        assert!(found.is_healthy(), "{what}: {statement}: {found:?}");
        let holding = memories.list(MemoryFilter::default(), None, 100).unwrap();
        let in_slot = holding.iter().filter(|memory| memory.goal_signature.is_some()).count();
        assert!(in_slot <= 1, "{what}: {statement}");
    }
    assert_same(&dump_of_user(&fixture.path(), "alex"), &before, "the file that was copied");
}

#[test]
fn whichever_statement_fails_an_operation_is_wholly_done_or_not_at_all() {
    let (mut fixture, [old, _], _) = prepare(false);
    let cut = &Cut::of(&mut fixture.config);
    check("undo what took a place", 12, (&fixture, cut), |_, it| it.undo(old).map(drop));

    let (mut fixture, [_, new], turn) = prepare(true);
    let cut = &Cut::of(&mut fixture.config);
    let prepared = (&fixture, cut);
    let done = |answer: thermocline::Result<thermocline::Memory>| answer.map(drop);
    check("save", 10, prepared, |_, it| it.save(fix("Anew").tags(["a"])).map(drop));
    check("take the slot", 15, prepared, |_, it| it.save(port(3).origin(Origin::User)).map(drop));
    check("wait", 12, prepared, |_, it| it.save(port(4)).map(drop));
    check("edit", 8, prepared, |_, it| done(it.edit(new, saying("It runs elsewhere.").tags(["moved"]))));
    check("supersede", 15, prepared, |_, it| it.supersede(new, fix("Gone").origin(Origin::User)).map(drop));
    check("use", 6, prepared, |_, it| done(it.used(new, Use::of(Outcome::Success).caller_id("run"))));
    check("undo an edit", 8, prepared, |_, it| it.undo(new).map(drop));
    let source = QuarantineSource::Turn(turn);
    check("quarantine", 10, prepared, |_, it| it.quarantine(source, "why").map(drop));
    let two =
        |it: &Memories| it.list(MemoryFilter::default(), None, 2).unwrap().iter().map(|it| it.id).collect();
    check("merge", 15, prepared, |_, it| it.merge(two(it), fix("One").origin(Origin::User)).map(drop));
    check("reflect", 2, prepared, |_, it| it.reflect().map(drop));
    check("forget", 6, prepared, |_, it| it.forget_all(MemoryFilter::default()).map(drop));
    check("erase a memory", 15, prepared, |_, it| match it.erase(new) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        erased => erased.map(drop),
    });
    check("erase its turn", 15, prepared, |file, _| match file.user("alex").unwrap().erase_turn(turn) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        erased => erased.map(drop),
    });
}

#[test]
fn whichever_statement_fails_a_decision_is_wholly_done_or_not_at_all() {
    let known = Known::new();
    known.save(port(1));
    known.memories.save(port(2)).unwrap();
    known.file.close().unwrap();
    let mut fixture = known.fixture;
    let cut = &Cut::of(&mut fixture.config);
    for (decision, least) in [(Decision::Approved, 12), (Decision::Rejected, 6)] {
        check(decision.as_str(), least, (&fixture, cut), |_, it| {
            let review = it.reviews(ReviewFilter::default(), None, 1)?[0].id;
            it.decide(review, decision, "alex").map(drop)
        });
    }
}
