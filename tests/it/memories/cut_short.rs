//! An operation that is interrupted at any statement is done entirely or not at all, and can be repeated; only an erase may
//! be left for a job to finish.

use thermocline::{
    Decision, ErrorKind, LearningSource, MemoryFilter, MemoryId, NewTurn, Origin, Outcome, QuarantineSource,
    Result, ReviewFilter, RunJobs, TurnId, Use,
    blocking::{Memories, Thermocline},
};

use crate::{
    dump::{assert_same, dump_of_user},
    memories::{Known, fix, port, saying},
    support::{Cut, Fixture},
};

/// Returns a file with a memory that replaced another one in a slot, and a memory like those that a job makes from a turn;
/// the ids of the two in the slot; and the turn.
fn prepare(is_edited: bool) -> (Fixture, [MemoryId; 2], TurnId) {
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

/// Makes each statement of the operation fail, each in a separate file, and checks what is left.
#[track_caller]
fn check(
    what: &str,
    least: usize,
    prepared: (&Fixture, &Cut),
    act: impl Fn(&Thermocline, &Memories) -> Result<()>,
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
        // A statement that runs at every opening may have run before.
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

type Act = fn(&Thermocline, &Memories, [MemoryId; 2], TurnId) -> Result<()>;

/// Checks each of these in the file with or without an edit, with the minimum number of statements that it takes.
fn check_each(is_edited: bool, acts: &[(&str, usize, Act)]) {
    let (mut fixture, ids, turn) = prepare(is_edited);
    let cut = &Cut::of(&mut fixture.config);
    for (what, least, act) in acts {
        check(what, *least, (&fixture, cut), |file, it| act(file, it, ids, turn));
    }
}

#[test]
fn whichever_statement_fails_a_memory_is_wholly_saved_or_not_at_all() {
    check_each(
        true,
        &[
            ("save", 10, |_, it, _, _| it.save(fix("Anew").tags(["a"])).map(drop)),
            ("take the slot", 15, |_, it, _, _| it.save(port(3).origin(Origin::User)).map(drop)),
            ("wait", 12, |_, it, _, _| it.save(port(4)).map(drop)),
            ("supersede", 15, |_, it, [_, new], _| {
                it.supersede(new, fix("Gone").origin(Origin::User)).map(drop)
            }),
        ],
    );
}

#[test]
fn whichever_statement_fails_a_memory_is_wholly_changed_or_not_at_all() {
    check_each(false, &[("undo what took a place", 12, |_, it, [old, _], _| it.undo(old).map(drop))]);
    check_each(
        true,
        &[
            ("edit", 8, |_, it, [_, new], _| {
                it.edit(new, saying("It runs elsewhere.").tags(["moved"])).map(drop)
            }),
            ("use", 6, |_, it, [_, new], _| {
                it.used(new, Use::of(Outcome::Success).caller_id("run")).map(drop)
            }),
            ("undo an edit", 8, |_, it, [_, new], _| it.undo(new).map(drop)),
        ],
    );
}

#[test]
fn whichever_statement_fails_many_memories_are_wholly_changed_or_not_at_all() {
    check_each(
        true,
        &[
            ("quarantine", 10, |_, it, _, turn| it.quarantine(QuarantineSource::Turn(turn), "why").map(drop)),
            ("merge", 15, |_, it, _, _| {
                let two = it.list(MemoryFilter::default(), None, 2)?.iter().map(|it| it.id).collect();
                it.merge(two, fix("One").origin(Origin::User)).map(drop)
            }),
            ("reflect", 2, |_, it, _, _| it.reflect().map(drop)),
            ("forget", 6, |_, it, _, _| it.forget_all(MemoryFilter::default()).map(drop)),
        ],
    );
}

#[test]
fn whichever_statement_fails_a_memory_is_wholly_erased_or_not_at_all() {
    let gone = |erased: Result<()>| match erased {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        erased => erased,
    };
    let (mut fixture, [_, new], turn) = prepare(true);
    let cut = &Cut::of(&mut fixture.config);
    check("erase a memory", 15, (&fixture, cut), |_, it| gone(it.erase(new).map(drop)));
    check("erase its turn", 15, (&fixture, cut), |file, _| {
        gone(file.user("alex").unwrap().erase_turn(turn).map(drop))
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
