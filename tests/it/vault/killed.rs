//! A process that is killed during a sync.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use thermocline::{
    Clock, Config, ManualClock, MemoryFilter, MemoryId, MemoryStatus, VaultOptions, blocking::Thermocline,
};

use crate::{
    children::{self, Running, say},
    memories::{Known, fix, saying},
    support::at,
    vault::Kept,
};

const MEMORIES: usize = 16;

/// Syncs once, and reports when it begins and when it is done.
pub fn child_syncs(path: &str, folder: &str, now: &str) {
    let mut config = Config::default();
    config.clock = Arc::new(ManualClock::new(at(now)));
    config.worker = false;
    (config.read_timeout, config.record_timeout) = (Duration::from_mins(1), Duration::from_mins(1));
    let file = Thermocline::open_with(path, config).unwrap();
    let vault = file.user("alex").unwrap().vault(folder, VaultOptions::default());
    say("begins");
    match vault.sync() {
        Ok(_) => say("done"),
        Err(error) => say(&format!("failed: {error}")),
    }
}

/// Returns what each memory says; all of them must be active.
fn says(known: &Known) -> BTreeMap<MemoryId, String> {
    let found = known.memories.list(MemoryFilter::default(), None, 1_000).unwrap();
    assert!(found.iter().all(|memory| memory.status == MemoryStatus::Active));
    found.into_iter().map(|memory| (memory.id, memory.content)).collect()
}

/// The state of a vault, as it was before a child started.
struct StateFile {
    path: PathBuf,
    was: Vec<u8>,
}

impl StateFile {
    fn of(folder: &Path) -> Self {
        let path = folder.join("_sync.json");
        Self { was: fs::read(&path).unwrap(), path }
    }

    /// Whether the child has recorded what it will write.
    fn is_noted(&self) -> bool {
        fs::read(&self.path).unwrap() != self.was
    }
}

/// Waits until something is so, or the child has ended.
fn wait_for(child: &mut Running, is_so: impl Fn() -> bool) {
    while !is_so() && child.process.try_wait().unwrap().is_none() {
        std::hint::spin_loop();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a kill comes at a time of this machine")]
fn killed_at_random_moments_of_a_sync_nothing_is_lost_and_nothing_forgotten() {
    // By hand: THERMOCLINE_KILLS=200 cargo test killed_at_random_moments_of_a_sync.
    let kills: usize = std::env::var("THERMOCLINE_KILLS").map_or(30, |kills| kills.parse().unwrap());
    let mut kept = Kept::new();
    for number in 0..MEMORIES {
        kept.known.save(fix(&format!("fix {number}")));
    }
    kept.sync();
    let mut expected = says(&kept.known);
    let (mut chance, mut while_writing, mut while_running) = (7_u64, 0, 0);
    let mut took = (Duration::ZERO, Duration::ZERO);
    for kill in 0..kills {
        kept.known.fixture.clock.advance(TimeDelta::minutes(1));
        for (number, (id, says)) in expected.iter_mut().enumerate() {
            let new = format!("Round {kill} of {number}.");
            match (number + kill) % 3 {
                0 => drop(kept.known.memories.edit(*id, saying(&new)).unwrap()),
                1 => drop(kept.replace(*id, says, &new)),
                _ => continue,
            }
            *says = new;
        }
        let (path, now) = (kept.known.fixture.path(), kept.known.fixture.clock.now().to_rfc3339());
        let folder = kept.folder.to_str().unwrap().to_owned();
        kept.known.file.close().unwrap();
        let state = StateFile::of(&kept.folder);
        let mut child = children::start("sync_vault", &[path.to_str().unwrap(), &folder, &now]);
        assert_eq!(child.line().unwrap(), "begins");
        // A linear congruential generator (Knuth's MMIX). Of ten children, one ends undisturbed, which shows how long a sync
        // takes; three are killed at any moment, and the others once the folder is written to, which takes a small part of
        // the time.
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = f64::from(u32::try_from(chance >> 40 & 0x3ff).unwrap()) / 1_024.0;
        let (begun, mut ended) = (Instant::now(), None);
        if kill % 10 == 0 {
            wait_for(&mut child, || state.is_noted());
            let noted = begun.elapsed();
            ended = child.line();
            took = (begun.elapsed(), begun.elapsed().saturating_sub(noted));
        } else if kill % 10 < 4 {
            wait_for(&mut child, || begun.elapsed() >= took.0.mul_f64(share));
        } else {
            wait_for(&mut child, || state.is_noted());
            let noted = Instant::now();
            wait_for(&mut child, || noted.elapsed() >= took.1.mul_f64(share));
        }
        let _ = child.process.kill(); // It may have ended.
        child.process.wait().unwrap();
        ended = ended.or_else(|| child.line());
        assert!(ended.as_deref().is_none_or(|line| line == "done"), "kill {kill}: {ended:?}");
        while_writing += usize::from(fs::read_to_string(&state.path).unwrap().contains("\"pending\""));
        while_running += usize::from(ended.is_none());
        kept.known = Known::of(kept.known.fixture);
        let report = kept.vault(VaultOptions::default().deletes(true).max_deletes(1_000)).sync().unwrap();
        assert!(report.forgotten.is_empty() && report.saved.is_empty(), "kill {kill}: {report:?}");
        assert!(report.refused.is_empty(), "kill {kill}: {report:?}");
        assert_eq!(says(&kept.known), expected, "kill {kill}: {report:?}");
    }
    kept.check_quiet();
    writeln!(
        std::io::stderr(),
        "{while_running} of {kills} killed while it ran, {while_writing} while it wrote"
    )
    .unwrap();
    assert!(while_writing > 0, "no kill met files that were being written");
    assert_eq!(kept.beside(), [] as [&str; 0], "nobody typed where something else was said");
    kept.known.check_sound();
}
