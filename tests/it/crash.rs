//! Nothing acknowledged is lost, whatever kills the process or fails underneath it.

use std::{collections::HashSet, path::Path, process::Command};

use rusqlite::Connection;
use thermocline::{Config, ErrorKind, RecordOutcome, blocking::Thermocline};

use crate::{
    children::{self, say},
    support::{Fixture, hot, turn, warm},
};

/// Returns a turn of a size that depends on `n`, so that both limits of the hot tier evict.
fn talk(name: &str, n: usize) -> thermocline::NewTurn {
    let words = "lorem ipsum ".repeat(n * 37 % 300);
    thermocline::NewTurn::new(format!("question {name} {n}"), words).caller_id(format!("{name}/{n}"))
}

/// Has two concurrent conversations, with sessions ending in between; reports each acknowledgement to the parent.
pub fn child_records_until_killed(path: &str, name: &str) {
    let memory = Thermocline::open(path).unwrap();
    std::thread::scope(|scope| {
        for thread in ["a", "b"] {
            let memory = memory.clone();
            scope.spawn(move || {
                let user = memory.user("alex").unwrap();
                for n in 0.. {
                    let session = user.session_named(&format!("{name} {thread} {}", n / 20)).unwrap();
                    let name = format!("{name}{thread}");
                    session.record(talk(&name, n)).unwrap();
                    say(&format!("{name}/{n}"));
                    if n % 20 == 19 {
                        session.end().unwrap();
                    }
                }
            });
        }
    });
}

/// Checks that the hot tiers of all sessions in memory equal those in the file, and are within their limits.
fn tiers_agree(memory: &Thermocline, path: &Path) {
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut in_file = conn
        .prepare(
            "SELECT turn_number FROM conversation_turns WHERE session_id = ?1 AND memory_tier = 'hot' ORDER BY 1",
        )
        .unwrap();
    let Config { hot_turns, hot_tokens, .. } = Config::default();
    let user = memory.user("alex").unwrap();
    for info in user.sessions(None, 1_000).unwrap() {
        let session = user.session_by_id(info.id).unwrap();
        let rows = in_file.query_map([info.id.as_uuid().as_bytes()], |row| row.get(0)).unwrap();
        let rows: Vec<u32> = rows.map(Result::unwrap).collect();
        assert_eq!(hot(&session), rows);
        let tier = session.hot().unwrap();
        assert!(tier.len() <= hot_turns && (tier.total_tokens() <= hot_tokens || tier.len() == 1));
        assert_eq!(tier.is_empty(), info.ended_at.is_some() || info.turn_count == 0);
    }
}

#[test]
fn processes_killed_while_recording_lose_no_acknowledged_turn() {
    // By hand: THERMOCLINE_KILLS=200 cargo test killed.
    let kills: usize = std::env::var("THERMOCLINE_KILLS").map_or(12, |kills| kills.parse().unwrap());
    let fixture = Fixture::new();
    let path = fixture.path();
    let (mut acknowledged, mut chance) = (HashSet::new(), 7_u64);
    for kill in 0..kills {
        let mut child = children::start("record", &[path.to_str().unwrap(), &kill.to_string()]);
        // A linear congruential generator (Knuth's MMIX); the moment is a number of turns and a little more.
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for _ in 0..chance >> 59 {
            acknowledged.insert(child.line().unwrap());
        }
        for _ in 0..chance >> 44 & 0xf_ffff {
            std::hint::spin_loop();
        }
        child.process.kill().unwrap();
        child.process.wait().unwrap();
        acknowledged.extend(std::iter::from_fn(|| child.line())); // Said before it died.

        let memory = Thermocline::open(&path).unwrap();
        tiers_agree(&memory, &path);
        if kill % 10 == 0 {
            let diagnosis = memory.doctor().unwrap();
            assert!(diagnosis.is_healthy(), "{diagnosis:?}");
        }
    }
    let memory = Thermocline::open(&path).unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
    let user = memory.user("alex").unwrap();
    assert!(acknowledged.len() >= kills, "the children were killed before they did anything");
    for id in &acknowledged {
        let (name, n) = id.split_once('/').unwrap();
        let found = user.turn_by_caller_id(id).unwrap();
        assert_eq!(found.said.user_message, format!("question {name} {n}"));
        // A caller who does not know whether its turn arrived may ask again.
        let again =
            user.session_by_id(found.session_id).unwrap().record(talk(name, n.parse().unwrap())).unwrap();
        assert_eq!((again.outcome, again.turn_id), (RecordOutcome::Known, found.id));
    }
}

pub fn child_records_200(path: &str, name: &str) {
    let session = Thermocline::open(path).unwrap().user("alex").unwrap().session_named(name).unwrap();
    for n in 0..200 {
        session.record(talk(name, n)).unwrap();
    }
    say("done");
}

#[test]
fn eight_processes_record_into_one_file_and_none_sees_an_error() {
    let fixture = Fixture::new();
    let mut children: Vec<_> = (0..8)
        .map(|n| children::start("record_200", &[fixture.path().to_str().unwrap(), &format!("process {n}")]))
        .collect();
    for child in &mut children {
        assert_eq!(child.lines(), ["done"]);
    }
    let memory = fixture.open();
    let sessions = memory.user("alex").unwrap().sessions(None, 1_000).unwrap();
    assert_eq!(sessions.iter().map(|session| session.turn_count).collect::<Vec<_>>(), [200; 8]);
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    tiers_agree(&memory, &fixture.path());
}

#[test]
fn what_another_opening_of_the_file_writes_is_seen() {
    let fixture = Fixture::new();
    let (here, there) = (fixture.session(), fixture.session());
    for n in 1..=8 {
        if n % 3 == 0 { &here } else { &there }.record(turn(n)).unwrap();
        assert_eq!(hot(&here), hot(&there));
    }
    assert_eq!((hot(&here), warm(&here)), (vec![4, 5, 6, 7, 8], vec![1, 2, 3]));
    there.end().unwrap();
    assert!(hot(&here).is_empty());
    assert_eq!(here.record(turn(9)).unwrap_err().kind(), ErrorKind::SessionEnded);
}

/// Records until the disk is full, waits until there is room, and continues with the same handle.
pub fn child_records_on_a_full_disk(path: &str) {
    let session = Thermocline::open(path).unwrap().user("alex").unwrap().session().unwrap();
    let mut n = 0;
    let error = loop {
        n += 1;
        match session.record(talk("full", n)) {
            Ok(_) => say(&format!("full/{n}")),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    say("failed");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    // The caller does not know whether the turn arrived, and asks again.
    session.record(talk("full", n)).unwrap();
    session.record(talk("full", n + 1)).unwrap();
    say(&format!("full/{}", n + 1));
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_fails_loses_nothing_acknowledged_and_the_handle_recovers() {
    let fixture = Fixture::new();
    fixture.session(); // The file and its tables are there.
    let mut command = Command::new("sh");
    // A limit on the size of files, at 400 kB, which fails writes once the signal for it is ignored.
    let script = "trap '' XFSZ; ulimit -S -f 800; exec \"$0\" \"$@\"";
    command.args(["-c", script, std::env::current_exe().unwrap().to_str().unwrap()]);
    let mut child = children::spawn(command, "record_on_full_disk", &[fixture.path().to_str().unwrap()]);
    let mut acknowledged: Vec<String> =
        std::iter::from_fn(|| child.line()).take_while(|line| line != "failed").collect();
    let pid = child.process.id().to_string();
    assert!(Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited"]).status().unwrap().success());
    std::io::Write::write_all(&mut child.stdin, b"go on\n").unwrap();
    acknowledged.extend(child.lines());

    let memory = fixture.open();
    assert!(memory.doctor().unwrap().is_healthy());
    assert!(acknowledged.len() > 2, "{acknowledged:?}");
    let user = memory.user("alex").unwrap();
    for id in acknowledged {
        user.turn_by_caller_id(&id).unwrap();
    }
}

#[test]
fn a_copy_of_the_files_at_any_moment_has_the_same_hot_tier() {
    let fixture = Fixture::new();
    let session = fixture.session();
    for n in 1..=12 {
        session.record(talk("copy", n)).unwrap();
        let copy = Fixture::new();
        for suffix in ["", "-wal"] {
            let file = |fixture: &Fixture| format!("{}{suffix}", fixture.path().display());
            std::fs::copy(file(&fixture), file(&copy)).unwrap();
        }
        assert_eq!(hot(&copy.session()), hot(&session));
    }
}

#[test]
fn with_relaxed_durability_another_opening_reads_what_was_acknowledged() {
    let fixture = Fixture::new();
    let mut config = Config::default();
    config.worker = false;
    config.durability = thermocline::Durability::Relaxed;
    let session =
        Thermocline::open_with(fixture.path(), config).unwrap().user("alex").unwrap().session().unwrap();
    session.record(turn(1)).unwrap();
    assert_eq!(hot(&fixture.session()), [1], "another opening reads it from the file");
}
