//! If a sync is interrupted, the next one ends as an undisturbed one would, and no memory is forgotten, whatever was
//! written before.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use chrono::TimeDelta;
use thermocline::{
    Faults, Memory, MemoryFilter, MemoryStatus, Moment, ReviewFilter, VaultOptions, VaultReport,
};

use crate::{
    memories::{fix, saying},
    vault::Kept,
};

/// The steps left until everything fails: accesses to the folder, and ends of transactions.
#[derive(Clone)]
struct Steps(Arc<AtomicI64>);

impl Steps {
    fn new() -> (Self, Faults) {
        let steps = Self(Arc::new(AtomicI64::new(i64::MAX)));
        let left = Arc::clone(&steps.0);
        let faults = Faults::new(move |moment, what| {
            let is_step = moment == Moment::Before && (what.starts_with("vault: ") || what == "COMMIT");
            is_step && left.fetch_sub(1, Ordering::SeqCst) <= 0
        });
        (steps, faults)
    }

    fn allow(&self, steps: i64) {
        self.0.store(steps, Ordering::SeqCst);
    }

    fn left(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Returns a vault in which changes of many kinds wait for a sync.
fn prepared() -> Kept {
    let kept = Kept::new();
    let names = ["edited", "renamed", "said", "both", "moved", "bent"];
    let [edited, renamed, said, both, moved, bent] = names.map(|name| kept.known.save(fix(name)).id);
    kept.sync();
    kept.replace(edited, "edited is how", "Typed is how");
    kept.replace(renamed, "title: \"renamed\"", "title: \"Another title\"");
    kept.replace(both, "both is how", "Typed there is how");
    kept.replace(bent, "bent is how it is mended.", "bent is how it is mended.\r\n");
    let path = kept.path(moved);
    kept.put(&path.replace("fixes", "decisions"), &kept.text(&path));
    fs::remove_file(kept.folder.join(&path)).unwrap();
    kept.put("graph/fixes/new.md", "New is how.\n");
    kept.put(
        "graph/fixes/named.md",
        "---\nid: note-7\nmemory_frequency: low\nconfidence: 0.99\n---\nNamed is how.\n",
    );
    kept.put("CORE.md", "mine\n");
    kept.known.fixture.clock.advance(TimeDelta::seconds(5));
    kept.known.memories.edit(said, saying("Said is how.")).unwrap();
    kept.known.memories.edit(both, saying("Said here is how.")).unwrap();
    kept.known.save(fix("late"));
    kept
}

/// Returns all memories, by title.
fn all(kept: &Kept) -> BTreeMap<String, Memory> {
    let statuses = [
        MemoryStatus::Active,
        MemoryStatus::Archived,
        MemoryStatus::Superseded,
        MemoryStatus::Forgotten,
        MemoryStatus::Quarantined,
    ];
    let found = kept.known.memories.list(MemoryFilter::default().statuses(statuses), None, 100).unwrap();
    found.into_iter().map(|memory| (memory.title.clone(), memory)).collect()
}

/// Returns what memories say, their statuses and their kinds, by title.
fn says(kept: &Kept) -> BTreeMap<String, (String, MemoryStatus, String)> {
    let say = |memory: Memory| (memory.content, memory.status, format!("{:?}", memory.kind));
    all(kept).into_iter().map(|(title, memory)| (title, say(memory))).collect()
}

fn sync_with_deletes(kept: &Kept) -> VaultReport {
    kept.vault(VaultOptions::default().deletes(true).max_deletes(100)).sync().unwrap()
}

/// Returns each line in any file of a folder, without times and ids, which differ from run to run.
fn lines(kept: &Kept) -> BTreeSet<String> {
    let is_lasting =
        |line: &&str| !["updated:", "id:", "> Last updated"].iter().any(|name| line.starts_with(name));
    let all: Vec<String> = kept.tree().into_values().collect();
    all.iter().flat_map(|text| text.lines().filter(is_lasting)).map(str::to_owned).collect()
}

#[test]
fn wherever_a_sync_is_cut_short_the_next_one_ends_the_same() {
    let prepared = prepared();
    let undisturbed = prepared.copy(Faults::default());
    undisturbed.sync();
    let expected = (says(&undisturbed), lines(&undisturbed));
    let mut step = 0;
    loop {
        let (steps, faults) = Steps::new();
        let kept = prepared.copy(faults);
        steps.allow(step);
        let cut = kept.vault(VaultOptions::default()).sync();
        if steps.left() >= 0 {
            cut.unwrap();
            break;
        }
        assert!(cut.is_err(), "step {step}");
        steps.allow(i64::MAX);
        let report = sync_with_deletes(&kept);
        assert!(report.forgotten.is_empty() && report.refused.is_empty(), "step {step}: {report:?}");
        assert_eq!(says(&kept), expected.0, "step {step}");
        assert_eq!(lines(&kept), expected.1, "step {step}");
        assert_eq!(kept.beside(), undisturbed.beside(), "step {step}");
        let asked = kept.known.memories.reviews(ReviewFilter::default(), None, 10).unwrap();
        assert_eq!(asked.len(), 1, "step {step}: one file is in conflict");
        kept.check_quiet();
        step += 1;
    }
    assert!(step > 30, "{step} steps");
}

#[test]
fn a_file_that_was_torn_while_it_was_written_is_no_edit() {
    let prepared = prepared();
    let undisturbed = prepared.copy(Faults::default());
    undisturbed.sync();
    for part in [0, 1, 2, 3] {
        let (steps, faults) = Steps::new();
        let kept = prepared.copy(faults);
        let before = kept.tree();
        // Everything is done except the last write of the state.
        steps.allow(1_000);
        undisturbed_steps(&prepared, &steps);
        let cut = kept.vault(VaultOptions::default()).sync();
        assert!(cut.is_err(), "{cut:?}");
        let mut torn = 0;
        for (path, text) in kept.tree() {
            let is_written = path.starts_with("graph/")
                && !path.contains(".conflict.")
                && before.get(&path) != Some(&text);
            if is_written {
                kept.put(&path, &text[..text.floor_char_boundary(text.len() * part / 4)]);
                torn += 1;
            }
        }
        assert!(torn > 5, "{torn}");
        steps.allow(i64::MAX);
        let report = sync_with_deletes(&kept);
        assert!(
            report.forgotten.is_empty() && report.edited.is_empty() && report.saved.is_empty(),
            "{report:?}"
        );
        assert_eq!(says(&kept), says(&undisturbed), "part {part}");
        kept.check_quiet();
        kept.known.check_sound();
    }
}

/// Allows enough steps for everything except the last write of the state.
fn undisturbed_steps(prepared: &Kept, steps: &Steps) {
    let (all, faults) = Steps::new();
    let kept = prepared.copy(faults);
    all.allow(100_000);
    kept.sync();
    // The state is written, synced, renamed, and synced.
    steps.allow(100_000 - all.left() - 4);
}

#[test]
fn a_state_that_was_torn_or_is_a_strangers_forgets_nothing() {
    let prepared = prepared();
    let whole = fs::read(prepared.folder.join("_sync.json")).unwrap();
    for part in 0..4 {
        let kept = prepared.copy(Faults::default());
        let before = says(&kept);
        fs::write(kept.folder.join("_sync.json"), &whole[..whole.len() * part / 4]).unwrap();
        let report = sync_with_deletes(&kept);
        assert!(report.forgotten.is_empty() && report.edited.is_empty(), "{report:?}");
        let after = says(&kept);
        for (title, memory) in before {
            assert_eq!(after[&title], memory, "what is known stands");
        }
        assert!(
            kept.tree().values().any(|text| text.contains("Typed is how")),
            "and what was typed lies beside"
        );
        kept.check_quiet();
    }
}

#[test]
fn what_cannot_be_looked_at_is_not_gone() {
    let kept = Kept::new();
    let ids = ["bent", "closed", "gone"].map(|name| kept.known.save(fix(name)).id);
    let decision =
        kept.known.save(thermocline::NewMemory::new(thermocline::MemoryKind::Decision, "Go", "It is Go.")).id;
    kept.sync();
    // One file is moved and cannot be read, the folder of another has become a file, and the third is deleted.
    let path = kept.path(ids[0]);
    let text = kept.text(&path).replace("type: fix", "type: [fix");
    fs::remove_file(kept.folder.join(&path)).unwrap();
    kept.put("graph/fixes/sub/bent.md", &text);
    fs::remove_dir_all(kept.folder.join("graph/decisions")).unwrap();
    fs::write(kept.folder.join("graph/decisions"), "no folder").unwrap();
    fs::remove_file(kept.folder.join(kept.path(ids[2]))).unwrap();
    let told = kept.vault(VaultOptions::default().deletes(true).max_deletes(9)).status().unwrap();
    assert_eq!(told.forgotten.len(), 1, "{told:?}");
    assert_eq!(kept.known.get(decision).status, MemoryStatus::Active);
}

#[test]
fn what_was_being_written_is_taken_away_by_the_next_run_that_may_write() {
    let kept = Kept::new();
    kept.known.save(fix("Keepalive"));
    kept.sync();
    kept.put("graph/fixes/.thermocline-new-3", "half of a te");
    let is_there = || kept.folder.join("graph/fixes/.thermocline-new-3").exists();
    kept.vault(VaultOptions::default()).status().unwrap();
    kept.vault(VaultOptions::default().dry_run()).export().unwrap();
    assert!(is_there(), "a look changes nothing");
    kept.check_quiet();
    assert!(!is_there());
}
