//! A folder that several machines share by git, each with a database of its own.
//!
//! Git is modelled: a merge takes each file that one side changed, and of a file that both changed the one side or the
//! other, as a person in a hurry does. If `THERMOCLINE_VAULT_SEEDS` is set, that many stories are told instead of one.

use std::{
    borrow::BorrowMut,
    collections::{BTreeMap, BTreeSet},
    fs,
};

use chrono::TimeDelta;
use thermocline::{
    EdgeType, Edit, ErrorKind, Memory, MemoryFilter, MemoryId, MemoryStatus, NewEdge, Origin, ReviewFilter,
    ReviewKind, VaultOptions, VaultReport,
};

use crate::{
    memories::{Known, fix, saying},
    support::Fixture,
    transfer,
    vault::Kept,
};

type Tree = BTreeMap<String, String>;

/// A machine with its database and its clone of the folder.
struct Machine {
    kept: Kept,
    /// What was pulled last.
    base: Tree,
    /// Words that a person typed into files since the last sync. If a merge takes the other side, only git has them.
    typed: Vec<String>,
}

impl Machine {
    fn of(known: Known) -> Self {
        Self { kept: Kept::of(known), base: Tree::new(), typed: Vec::new() }
    }

    fn sync(&mut self) -> VaultReport {
        let report =
            self.kept.vault(VaultOptions::default().origin(Origin::User).max_deletes(500)).sync().unwrap();
        let left: String = report.refused.iter().map(|file| self.kept.text(&file.path)).collect();
        self.typed.retain(|word| left.contains(word));
        report
    }

    /// Returns what git tracks.
    fn tracked(&self) -> Tree {
        let ignored = |path: &str| {
            let at_the_top = ["CORE.md", "REFLECTION.md", "PROFILE.md", "MEMORY.md", ".thermocline"];
            at_the_top.contains(&path) || path.starts_with("episodes/") || path.ends_with(".conflict.md")
        };
        let mut tree = self.kept.tree();
        tree.retain(|path, _| !ignored(path));
        for folder in ["_shared", "_shared/forgotten"] {
            for entry in fs::read_dir(self.kept.folder.join(folder)).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
                tree.extend(fs::read_to_string(path).ok().map(|text| (name, text)));
            }
        }
        tree
    }

    /// Merges what the others pushed, and pushes the result. Returns the typed words that the merge dropped.
    fn pull_and_push(&mut self, remote: &mut Tree, mut is_theirs: impl FnMut() -> bool) -> Vec<String> {
        let mut dropped = Vec::new();
        let ours = self.tracked();
        let paths: Vec<String> = ours.keys().chain(remote.keys()).cloned().collect();
        for path in paths {
            let (base, own, other) = (self.base.get(&path), ours.get(&path), remote.get(&path));
            let merged = match () {
                () if own == other || other == base => own,
                () if own == base || is_theirs() => other,
                () => own,
            };
            let is_dropped = |word: &&String| {
                let has = |text: Option<&String>| text.is_some_and(|text| text.contains(*word));
                has(own) && !has(merged)
            };
            dropped.extend(self.typed.iter().filter(is_dropped).cloned());
            let at = self.kept.folder.join(&path);
            match merged {
                Some(text) if Some(text) != own => self.kept.put(&path, text),
                None if own.is_some() => fs::remove_file(at).unwrap(),
                _ => {}
            }
        }
        *remote = self.tracked();
        self.base = remote.clone();
        dropped
    }

    fn memories(&self) -> Vec<Memory> {
        self.kept.known.memories.list(MemoryFilter::default(), None, 500).unwrap()
    }

    /// Returns everything that a person could still find: what the database keeps, and what lies in the folder.
    fn kept_texts(&self) -> String {
        let exported = transfer::export(&self.kept.known.file.user("alex").unwrap());
        exported + &self.kept.tree().into_values().collect::<String>()
    }
}

/// Three machines: where the memories are from, one with a copy of its database, and one to which the user was moved.
fn three() -> (Vec<Machine>, Tree) {
    let first = Known::new();
    for title in ["Ports", "Keys", "Boats", "Names"] {
        first.save(fix(title).origin(Origin::User));
    }
    let copied = Known::of(first.fixture.copy());
    let exported = transfer::export(&first.file.user("alex").unwrap());
    let moved = Fixture::new();
    let file = moved.open();
    transfer::import(&file, "alex", &exported).unwrap();
    drop(file);
    let machines: Vec<Machine> = [first, copied, Known::of(moved)].into_iter().map(Machine::of).collect();
    (machines, Tree::new())
}

struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % most
    }
}

/// Something that a person does on a machine. Returns the words that must not be lost.
fn act(machine: &mut Machine, random: &mut Xorshift, round: usize) -> Option<String> {
    let (kept, memories) = (&machine.kept, machine.memories());
    let word = format!("w{round}x");
    let some = |random: &mut Xorshift| memories.get(random.below(memories.len().max(1)));
    let is_active = |memory: &&Memory| memory.status == MemoryStatus::Active;
    let chosen = some(random).filter(is_active).map(|memory| memory.id);
    match (random.below(10), chosen) {
        (0..=2, Some(id)) => drop(kept.known.memories.edit(id, saying(&format!("It says {word}."))).unwrap()),
        (3, Some(id)) => {
            drop(kept.known.memories.edit(id, Edit::default().title(format!("T {word}"))).unwrap());
        }
        (4, Some(id)) => drop(kept.known.memories.edit(id, Edit::default().tags([word.clone()])).unwrap()),
        (5, Some(id)) => {
            let found = kept.tree().into_iter().find(|(path, text)| {
                !path.ends_with(".conflict.md") && text.contains(&format!("\nid: {}\n", id.as_uuid()))
            });
            let (path, text) = found?;
            kept.put(&path, &format!("{text}More, {word}.\n"));
            machine.typed.push(word.clone());
        }
        (6, _) => {
            kept.put(&format!("graph/fixes/{word}.md"), &format!("Written by hand, {word}.\n"));
            machine.typed.push(word.clone());
        }
        (7, Some(id)) => {
            let other = some(random).filter(is_active).filter(|other| other.id != id)?.id;
            let edge =
                NewEdge::new(EdgeType::Solves).origin(Origin::User).description(format!("Because {word}."));
            drop(kept.known.memories.relate(id, edge, other).ok()?);
            return None; // Of the texts of an edge, the later one stands.
        }
        (8, Some(id)) => {
            drop(kept.known.memories.forget(id).unwrap());
            return None;
        }
        (9, Some(id)) => {
            let new = fix(&format!("Now {word}")).origin(Origin::User);
            drop(kept.known.memories.supersede(id, new).ok()?);
        }
        _ => drop(kept.known.save(fix(&format!("New {word}")).origin(Origin::User))),
    }
    Some(word)
}

/// Lets the machines meet without that anybody does anything, until a whole round changes nothing. Returns the number of
/// rounds.
fn come_to_rest<M: BorrowMut<Machine>>(machines: &mut [M], remote: &mut Tree) -> usize {
    for round in 0..12 {
        let before = remote.clone();
        let mut is_quiet = true;
        for machine in machines.iter_mut().map(M::borrow_mut) {
            machine.pull_and_push(remote, || true);
            let report = machine.sync();
            let done = [&report.written, &report.removed, &report.edited, &report.saved, &report.forgotten];
            is_quiet &= done.iter().all(|paths| paths.is_empty()) && report.conflicts.is_empty();
            machine.pull_and_push(remote, || true);
        }
        if is_quiet && before == *remote {
            return round;
        }
    }
    let reports: Vec<VaultReport> = machines.iter_mut().map(|machine| machine.borrow_mut().sync()).collect();
    panic!("they do not come to rest: {reports:#?}");
}

/// What a person sees of the memories.
fn shown(machine: &Machine) -> BTreeMap<MemoryId, (MemoryStatus, String, String)> {
    let all = MemoryFilter::default().statuses([
        MemoryStatus::Active,
        MemoryStatus::Archived,
        MemoryStatus::Superseded,
        MemoryStatus::Forgotten,
    ]);
    let all = machine.kept.known.memories.list(all, None, 500).unwrap();
    all.into_iter().map(|memory| (memory.id, (memory.status, memory.title, memory.content))).collect()
}

fn rounds(seed: u64, count: usize) {
    let (mut machines, mut remote) = three();
    let mut random = Xorshift(seed);
    for machine in &mut machines {
        machine.sync();
        machine.pull_and_push(&mut remote, || true);
    }
    come_to_rest(&mut machines, &mut remote);
    let mut words: Vec<String> = Vec::new();
    for round in 0..count {
        let machine = &mut machines[random.below(3)];
        machine
            .kept
            .known
            .fixture
            .clock
            .advance(TimeDelta::seconds(1) * i32::try_from(1 + random.below(90)).unwrap());
        for _ in 0..=random.below(3) {
            words.extend(act(machine, &mut random, round));
        }
        if random.below(3) > 0 {
            machine.sync();
        }
        if random.below(3) > 0 {
            let dropped = machine.pull_and_push(&mut remote, || random.below(2) == 0);
            words.retain(|word| !dropped.contains(word));
            if random.below(2) > 0 {
                machine.sync();
            }
        }
    }
    come_to_rest(&mut machines, &mut remote);
    let found: String = machines.iter().map(Machine::kept_texts).collect();
    let lost: Vec<&String> = words.iter().filter(|word| !found.contains(*word)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let all = [0, 1, 2].map(|place| shown(&machines[place]));
    let ids: BTreeSet<MemoryId> = all.iter().flat_map(|all| all.keys().copied()).collect();
    let reports: Vec<VaultReport> = machines.iter_mut().map(Machine::sync).collect();
    let named: BTreeSet<String> = reports
        .iter()
        .flat_map(|report| &report.refused)
        .map(|file| format!("{} {}", file.path, file.why))
        .collect();
    let differing = ids.iter().map(|id| (id, all.each_ref().map(|all| all.get(id))));
    // Where one machine forgot or superseded what another one changed, each keeps its own and says so, until a person
    // decides.
    let differing = differing.filter(|(_, all)| {
        let is = |status| all.iter().flatten().any(|(is, _, _)| *is == status);
        let is_same = all.iter().all(|one| one.is_some() && *one == all[0]);
        !is(MemoryStatus::Superseded) && !is(MemoryStatus::Forgotten) && !is_same
    });
    let differing: Vec<String> = differing.map(|(id, shown)| format!("{id} {shown:?}")).collect();
    assert!(
        differing.is_empty(),
        "{}\n{}",
        differing.join("\n"),
        named.into_iter().collect::<Vec<_>>().join("\n")
    );
    for machine in &machines {
        machine.kept.known.check_sound();
    }
}

#[test]
fn three_machines_come_to_rest_with_the_same_memories_and_lose_nothing() {
    let seeds = std::env::var("THERMOCLINE_VAULT_SEEDS").map_or(1, |seeds| seeds.parse().unwrap());
    for seed in 1..=seeds {
        rounds(seed, 100);
    }
}

/// Two machines whose folders say the same.
fn two() -> ([Machine; 2], Tree, MemoryId) {
    let first = Known::new();
    let id = first.save(fix("Ports").origin(Origin::User)).id;
    let second = Known::of(first.fixture.copy());
    let (mut machines, mut remote) = ([Machine::of(first), Machine::of(second)], Tree::new());
    come_to_rest(&mut machines, &mut remote);
    (machines, remote, id)
}

/// Lets a machine take in what the others pushed. Where both changed a file, theirs is taken.
fn pull(machine: &mut Machine, remote: &mut Tree) -> VaultReport {
    machine.pull_and_push(remote, || true);
    let report = machine.sync();
    machine.pull_and_push(remote, || true);
    report
}

#[test]
fn what_one_machine_says_later_is_taken_by_the_other_without_a_question() {
    let ([mut first, mut second], mut remote, id) = two();
    for text in ["It says one.", "It says two.", "It says three."] {
        first.kept.known.memories.edit(id, saying(text)).unwrap();
        first.sync();
    }
    pull(&mut first, &mut remote);
    let report = pull(&mut second, &mut remote);
    assert_eq!((report.edited.len(), report.conflicts.len(), report.refused.len()), (1, 0, 0), "{report:?}");
    assert_eq!(second.kept.known.get(id).content, "It says three.");
    assert_eq!(come_to_rest(&mut [first, second], &mut remote), 0);
}

#[test]
fn of_two_edits_made_apart_all_machines_keep_the_same_one_and_a_person_is_asked() {
    let ([mut first, mut second], mut remote, id) = two();
    first.kept.known.memories.edit(id, saying("It says first.")).unwrap();
    second.kept.known.memories.edit(id, saying("It says second.")).unwrap();
    pull(&mut first, &mut remote);
    second.sync();
    pull(&mut second, &mut remote);
    let asked = |machine: &Machine| {
        let open = machine.kept.known.memories.reviews(ReviewFilter::default(), None, 9).unwrap();
        open.iter().filter(|review| review.kind == ReviewKind::Conflict).count()
    };
    come_to_rest(&mut [&mut first, &mut second], &mut remote);
    let said = [&first, &second].map(|machine| machine.kept.known.get(id).content);
    assert_eq!(said[0], said[1]);
    assert_eq!(asked(&first) + asked(&second), 1);
    let all = first.kept_texts() + &second.kept_texts();
    assert!(["It says first.", "It says second."].iter().all(|text| all.contains(text)));
}

#[test]
fn edits_of_different_parts_are_merged() {
    let ([mut first, mut second], mut remote, id) = two();
    first.kept.known.memories.edit(id, saying("It says first.")).unwrap();
    second.kept.known.memories.edit(id, Edit::default().tags(["second".to_owned()])).unwrap();
    pull(&mut first, &mut remote);
    let report = pull(&mut second, &mut remote);
    assert!(report.conflicts.is_empty(), "{report:?}");
    come_to_rest(&mut [&mut first, &mut second], &mut remote);
    for machine in [&first, &second] {
        let memory = machine.kept.known.get(id);
        assert_eq!((memory.content.as_str(), memory.tags), ("It says first.", vec!["second".to_owned()]));
    }
}

#[test]
fn what_is_forgotten_or_erased_on_one_machine_is_forgotten_on_the_other_unless_it_was_edited_there() {
    let ([mut first, mut second], mut remote, id) = two();
    let [erased, edited] =
        ["Erased", "Edited"].map(|title| first.kept.known.save(fix(title).origin(Origin::User)).id);
    come_to_rest(&mut [&mut first, &mut second], &mut remote);
    second.kept.known.memories.edit(edited, saying("It says otherwise.")).unwrap();
    for id in [id, edited] {
        first.kept.known.memories.forget(id).unwrap();
    }
    first.kept.known.memories.erase(erased).unwrap();
    pull(&mut first, &mut remote);
    assert!(
        !remote.values().any(|text| text.contains(&erased.as_uuid().to_string())),
        "its id does not stay"
    );
    let report = pull(&mut second, &mut remote);
    assert_eq!((report.forgotten.len(), report.refused.len()), (2, 1), "{report:?}");
    let states = second.kept.known.states([id, erased, edited]).map(|(status, _)| status);
    assert_eq!(states, [MemoryStatus::Forgotten, MemoryStatus::Forgotten, MemoryStatus::Active]);
    let report = pull(&mut first, &mut remote);
    assert_eq!(report.refused.len(), 1, "the edited file is named: {report:?}");
    come_to_rest(&mut [first, second], &mut remote);
}

#[test]
fn a_file_that_both_machines_find_is_one_memory() {
    let ([mut first, mut second], mut remote, _) = two();
    first.kept.put("graph/fixes/hand.md", "Written by hand.\n");
    first.pull_and_push(&mut remote, || true);
    second.pull_and_push(&mut remote, || true);
    first.sync();
    second.sync();
    come_to_rest(&mut [&mut first, &mut second], &mut remote);
    assert_eq!(shown(&first), shown(&second));
    assert_eq!(shown(&first).len(), 2);
}

#[test]
fn what_supersedes_on_one_machine_supersedes_on_the_other() {
    let ([mut first, mut second], mut remote, id) = two();
    let new =
        first.kept.known.memories.supersede(id, fix("Newer ports").origin(Origin::User)).unwrap().memory.id;
    pull(&mut first, &mut remote);
    pull(&mut second, &mut remote);
    let old = second.kept.known.get(id);
    assert_eq!((old.status, old.superseded_by), (MemoryStatus::Superseded, Some(new)));
    assert_eq!(come_to_rest(&mut [first, second], &mut remote), 0);
}

#[test]
fn a_flood_of_tombstones_stops_the_sync_before_it_forgets_anything() {
    let ([first, second], mut remote, id) = two();
    let other = first.kept.known.save(fix("Keys").origin(Origin::User)).id;
    let mut machines = [first, second];
    come_to_rest(&mut machines, &mut remote);
    let [mut first, mut second] = machines;
    for id in [id, other] {
        first.kept.known.memories.forget(id).unwrap();
    }
    pull(&mut first, &mut remote);
    second.pull_and_push(&mut remote, || true);
    let error = second.kept.vault(VaultOptions::default().origin(Origin::User)).sync().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let states = second.kept.known.states([id, other]).map(|(status, _)| status);
    assert_eq!(states, [MemoryStatus::Active; 2]);
}
