//! A compression that is killed or fails at any point loses no turn, and ends with the same result as an undisturbed one.

use std::{io::Write, sync::Arc};

use chrono::TimeDelta;
use thermocline::{Clock, Config, JobProgress, ManualClock, NewTurn, RunJobs, blocking::Thermocline};

use crate::{
    children::{self, say},
    dump::{DRAWN, ask, assert_same, dump_without},
    scripted::{Scripted, reads_anchors},
    support::{Cut, Fixture, at, long_texts},
};

/// The number of turns of a session: so many that a process is nearly always inside a job.
const MANY: usize = 160;
/// Two and a half slices.
const FEW: usize = 40;

/// Returns both sides of a turn; some state a name that supersedes the last, some what the user likes.
fn texts(n: usize) -> (String, String) {
    let names = ["Alex", "Bo", "Charlie", "Dana"];
    let name = names[n / 4 % 4];
    let words = format!("Note {n} for the lamp, the ladder and the old bridge. ").repeat(5);
    match n % 4 {
        0 => (format!("The name is {name}. {words}"), "Noted, with thanks.".to_owned()),
        1 => (words, "Among the likes is tea.".to_owned()),
        2 => (format!("One of the likes is {name}. {words}"), String::new()),
        _ => long_texts(n),
    }
}

/// Records ended sessions that wait for compression.
fn prepare(sessions: usize, turns: usize) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.config.durability = thermocline::Durability::Relaxed;
    fixture.config.summarizer = Some(Scripted::each(reads_anchors));
    fixture.config.summarizer_tries = 20;
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    for key in 0..sessions {
        let session = user.session_named(&key.to_string()).unwrap();
        for n in 0..turns {
            let (user, reply) = texts(key * turns + n);
            session.record(NewTurn::new(user, reply)).unwrap();
        }
        session.end().unwrap();
    }
    memory.close().unwrap();
    fixture
}

/// Compresses everything, and reports each slice.
pub fn child_compresses(path: &str, now: &str) {
    let mut config = Config::default();
    config.clock = Arc::new(ManualClock::new(at(now)));
    config.worker = false;
    config.summarizer = Some(Scripted::each(reads_anchors));
    config.summarizer_tries = 20;
    let memory = Thermocline::open_with(path, config).unwrap();
    let tell = |progress: &JobProgress| say(&progress.turns.to_string());
    memory.run_jobs(RunJobs::default().on_progress(tell)).unwrap();
    say("done");
}

/// Checks that each turn is in one place, and the file is sound.
#[track_caller]
fn check_sound(fixture: &Fixture, turns: usize, with_doctor: bool) {
    let in_one_place = "SELECT count(*) FROM recall_units AS r
        WHERE (SELECT count(*) FROM conversation_turns AS t WHERE t.id = r.owner_id)
            + (SELECT count(*) FROM archived_turns AS a WHERE a.turn_id = r.owner_id) = 1";
    assert_eq!(ask::<usize>(&fixture.path(), in_one_place), turns);
    if with_doctor {
        let diagnosis = fixture.open().doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    }
}

#[test]
fn killed_at_random_moments_no_turn_is_lost_and_the_end_is_the_same() {
    // By hand: THERMOCLINE_KILLS=200 cargo test killed_at_random.
    let kills: usize = std::env::var("THERMOCLINE_KILLS").map_or(8, |kills| kills.parse().unwrap());
    let sessions = kills / 2 + 4;
    let fixture = prepare(sessions, MANY);
    let undisturbed = fixture.copy();
    undisturbed.open().run_jobs(RunJobs::default()).unwrap();

    let path = fixture.path();
    let (mut chance, mut while_running) = (7_u64, 0);
    for kill in 0..kills {
        fixture.clock.advance(TimeDelta::minutes(10)); // The lease of the one before has run out.
        let now = fixture.clock.now().to_rfc3339();
        let mut child = children::start("compress", &[path.to_str().unwrap(), &now]);
        // A linear congruential generator (Knuth's MMIX); the moment is a number of slices and a little more.
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for _ in 0..=(chance >> 61) % 6 {
            assert_ne!(child.line().unwrap(), "done", "there are too few sessions");
        }
        for _ in 0..chance >> 40 & 0x1_ffff {
            std::hint::spin_loop();
        }
        child.process.kill().unwrap();
        child.process.wait().unwrap();
        while_running += ask::<usize>(&path, "SELECT count(*) FROM jobs WHERE state = 'running'").min(1);
        check_sound(&fixture, sessions * MANY, kill % 7 == 0);
    }
    writeln!(std::io::stderr(), "{while_running} of {kills} kills while a job was running").unwrap();
    assert!(while_running > 0, "no kill met a running job");

    fixture.clock.advance(TimeDelta::minutes(10));
    let memory = fixture.open();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    check_sound(&fixture, sessions * MANY, true);
    assert_same(
        &dump_without(&path, DRAWN),
        &dump_without(&undisturbed.path(), DRAWN),
        "with and without kills",
    );
    check_texts(&memory, sessions, MANY);
}

/// Checks that every turn has its original text.
#[track_caller]
fn check_texts(memory: &Thermocline, sessions: usize, turns: usize) {
    let user = memory.user("alex").unwrap();
    for key in 0..sessions {
        let session = user.find_session(&key.to_string()).unwrap().unwrap();
        for n in 0..turns {
            let said = session.turn(u32::try_from(n + 1).unwrap()).unwrap().unwrap().said;
            assert_eq!((said.user_message, said.ai_response), texts(key * turns + n));
        }
    }
}

#[test]
fn whichever_statement_fails_no_turn_is_lost_and_the_next_try_ends_the_same() {
    let prepared = prepare(1, FEW);
    let mut fixture = prepared.copy();
    let cut = Cut::of(&mut fixture.config);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    let undisturbed = dump_without(&fixture.path(), DRAWN);
    // Vectors are made along the way; the next job makes those that are missing.
    let is_vectors = |statement: &str| {
        ["embedding_spaces", "user_spaces", "vector_blocks"].iter().any(|table| statement.contains(table))
    };
    let mut places = cut.places();
    places.retain(|(statement, _)| !is_vectors(statement));
    assert!(places.len() > 20, "{places:#?}");
    for (statement, times) in places {
        let mut fixture = prepared.copy();
        let cut = Cut::of(&mut fixture.config);
        let path = fixture.path();
        let memory = fixture.open();
        cut.after(times, &statement);
        let _ = memory.run_jobs(RunJobs::default()); // Fails, or says that the job failed.
        check_sound(&fixture, FEW, true);
        check_texts(&memory, 1, FEW);

        cut.mend();
        fixture.clock.advance(TimeDelta::minutes(10)); // The wait before the second try is over, and a lease.
        memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "{statement}");
        assert_same(&dump_without(&path, DRAWN), &undisturbed, &statement);
    }
}
