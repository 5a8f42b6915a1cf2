//! An erased turn leaves nothing behind, and its neighbours stay complete.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use thermocline::{
    ContextOptions, ErrorKind, MemoryTier, NewTurn, Originals, RecallOptions, RunJobs, TurnId,
    blocking::{Session, Thermocline, User},
};

use crate::{
    canaries::Words,
    dump::{assert_same, dump_of_user, reader},
    erase::{found, tells},
    scripted::Scripted,
    support::{Cut, Fixture, long_turn},
};

/// Where a turn is when it is erased.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Hot,
    Warm,
    Kept,
    Archived,
    Deleted,
    Replaced,
}

/// Records a turn whose texts, id and name consist of about two hundred canaries, one of them in words for an anchor; then
/// asks with three more, and with one of the turn's.
fn record_canaries(user: &User, session: &Session, words: &mut Words, is_kept: bool) -> TurnId {
    let said = format!("{} and the name is {}. {}", words.some(10), words.name(), words.some(120));
    let query = format!("{} {}", words.some(3), said.split(' ').next().unwrap());
    let said = NewTurn::new(said, words.some(60)).caller_id(words.next()).assistant_name(words.next());
    let said = if is_kept { said.critical() } else { said };
    let id = session.record(said).unwrap().turn_id;
    user.recall(&query, RecallOptions::default()).unwrap();
    session.context(&query, ContextOptions::default()).unwrap();
    id
}

/// Records a conversation with canaries in its fifth turn, and brings that turn into this place.
fn talk(fixture: &mut Fixture, words: &mut Words, place: Place) -> (Thermocline, User, Session, TurnId) {
    fixture.config.summarizer = Some(Scripted::each(tells));
    fixture.config.originals = if place == Place::Deleted { Originals::Delete } else { Originals::Archive };
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let session = user.session_named(&format!("{place:?}")).unwrap();
    let behind = if place == Place::Hot { 1 } else { 8 };
    let n = 10 * place as usize;
    (n..n + 4).for_each(|n| drop(session.record(long_turn(n)).unwrap()));
    let mut doomed = record_canaries(&user, &session, words, place == Place::Kept);
    if place == Place::Replaced {
        doomed = session.record(long_turn(1_000).replacing(doomed)).unwrap().turn_id;
    }
    (n + 4..n + 4 + behind).for_each(|n| drop(session.record(long_turn(1_000 + n)).unwrap()));
    if !matches!(place, Place::Hot | Place::Warm | Place::Replaced) {
        session.end().unwrap();
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    (memory, user, session, doomed)
}

#[test]
fn of_a_thousand_words_of_an_erased_turn_none_is_left_and_its_neighbours_are_to_the_byte() {
    let (mut fixture, mut words) = (Fixture::new(), Words::default());
    for place in [Place::Hot, Place::Warm, Place::Kept, Place::Archived, Place::Deleted, Place::Replaced] {
        let (memory, user, session, doomed) = talk(&mut fixture, &mut words, place);
        let seen = found(&fixture.path(), words.0);
        assert!(
            seen.len() > 60 || place == Place::Deleted,
            "{place:?}: {} words are in the file",
            seen.len()
        );
        let others = |user: &User| -> Vec<_> {
            let sessions = user.sessions(None, 1_000).unwrap().into_iter();
            let all = sessions.flat_map(|info| {
                let session = user.session_by_id(info.id).unwrap();
                (1..=info.turn_count)
                    .map(move |number| (session.turn(number).unwrap(), number))
                    .collect::<Vec<_>>()
            });
            let others = all.filter_map(|(turn, _)| turn).filter(|turn| turn.id != doomed);
            // Except for their tier: when a turn is erased, an older one may become hot again.
            others
                .map(|mut turn| {
                    turn.memory_tier = MemoryTier::Cold;
                    turn
                })
                .collect()
        };
        let before = (others(&user), session.info().unwrap().turn_count);
        let erased = user.erase_turn(doomed).unwrap();
        let turns = if place == Place::Replaced { 2 } else { 1 }; // The turn goes with what it had replaced.
        assert_eq!((erased.turns, erased.is_pending), (turns, false), "{place:?}");
        assert_eq!(found(&fixture.path(), words.0), BTreeSet::new(), "{place:?}");
        assert_eq!((others(&user), session.info().unwrap().turn_count), before, "{place:?}");
        assert!(user.receipts(10).unwrap().is_empty(), "a query may repeat it");
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{place:?}: {diagnosis:?}");
        memory.close().unwrap();
    }
    assert!(words.0 >= 1_000, "{}", words.0);
}

#[test]
fn while_somebody_reads_the_log_waits_for_a_job() {
    let (mut fixture, mut words) = (Fixture::new(), Words::default());
    let (memory, user, _session, doomed) = talk(&mut fixture, &mut words, Place::Archived);
    let held = reader(&fixture.path());
    held.execute_batch("BEGIN; SELECT count(*) FROM conversation_turns;").unwrap();
    assert!(user.erase_turn(doomed).unwrap().is_pending, "somebody still reads the old rows");
    assert!(!found(&fixture.path(), words.0).is_empty());
    held.execute_batch("COMMIT").unwrap();
    fixture.clock.advance(TimeDelta::hours(1));
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(found(&fixture.path(), words.0), BTreeSet::new());
}

#[test]
fn cut_short_at_any_statement_a_turn_is_erased_or_as_it_was() {
    for place in [Place::Warm, Place::Archived, Place::Replaced] {
        let (mut fixture, mut words) = (Fixture::new(), Words::default());
        let cut = Cut::of(&mut fixture.config);
        let (memory, _, _, doomed) = talk(&mut fixture, &mut words, place);
        memory.close().unwrap();
        cut.places();
        fixture.copy().open().user("alex").unwrap().erase_turn(doomed).unwrap();
        let places = cut.places();
        assert!(places.len() > 20, "{place:?}: {}", places.len());
        let before = dump_of_user(&fixture.path(), "alex");
        for (statement, times) in places {
            let copy = fixture.copy();
            let memory = copy.open();
            let user = memory.user("alex").unwrap();
            cut.after(times, &statement);
            let answer = user.erase_turn(doomed);
            // A statement that runs at every opening may have run before.
            let Err(error) = answer else { continue };
            cut.mend();
            if user.turn(doomed).is_ok() {
                assert_same(&dump_of_user(&copy.path(), "alex"), &before, &statement);
                user.erase_turn(doomed).unwrap();
            } else {
                assert_ne!(error.kind(), ErrorKind::NotFound);
                fixture.clock.advance(TimeDelta::hours(1));
                memory.run_jobs(RunJobs::default()).unwrap();
            }
            assert_eq!(found(&copy.path(), words.0), BTreeSet::new(), "{statement}");
        }
    }
}
