//! Erased memories that are still in a copy of the folder kept elsewhere.

use std::fs;

use thermocline::{Faults, MemoryFilter, Origin, VaultOptions};

use crate::{dump::ask, memories::fix, support::turn, vault::Kept};

#[test]
fn an_erased_memory_does_not_come_back_from_an_old_copy() {
    let kept = Kept::new();
    let [erased, other] = ["Erased", "Other"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    let path = kept.path(erased);
    let old = kept.text(&path);
    kept.known.memories.erase(erased).unwrap();
    kept.sync();
    assert!(!kept.folder.join(&path).exists());
    let copies = ["graph/fixes/old.md".to_owned(), path];
    for path in &copies {
        kept.put(path, &old);
        let report = kept.sync();
        let named: Vec<_> = report.refused.iter().map(|file| &file.path).collect();
        assert_eq!((report.saved.len(), named), (0, vec![path]), "{report:?}");
        assert!(report.refused[0].why.contains("was erased"), "{report:?}");
        assert_eq!(&kept.text(path), &old, "it is left as it is");
        fs::remove_file(kept.folder.join(path)).unwrap();
    }
    let imported = kept.known.memories.import_files([("old.md".to_owned(), old)], Origin::User).unwrap();
    assert_eq!((imported.saved, imported.refused.len()), (0, 1), "{imported:?}");
    assert_eq!(kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap().len(), 1);
    assert_eq!(kept.known.get(other).title, "Other");
    kept.check_quiet();
    kept.known.check_sound();
}

#[test]
fn of_an_erased_memory_a_hash_of_its_id_is_left_until_its_user_goes() {
    let kept = Kept::new();
    let user = kept.known.file.user("alex").unwrap();
    let session = user.session_named("talk").unwrap();
    let said = session.record(turn(1)).unwrap();
    let learned = fix("Learned")
        .learning_source(thermocline::LearningSource::Execution)
        .source(said.turn_id, "question 1");
    let of_the_turn = kept.known.save(learned).id;
    let by_hand = kept.known.save(fix("By hand")).id;
    let kept_one = kept.known.save(fix("Kept")).id;
    let path = kept.known.fixture.path();
    let erased = || ask::<u64>(&path, "SELECT count(*) FROM erased_memories");
    kept.known.memories.erase(by_hand).unwrap();
    assert_eq!(erased(), 1);
    session.erase().unwrap();
    assert_eq!(erased(), 2, "and what a job had made of the session");
    assert!(kept.known.memories.get(of_the_turn).is_err());
    let others = kept.known.file.user("blake").unwrap();
    let theirs = others.memories().save(fix("Theirs")).unwrap().memory.id;
    others.memories().erase(theirs).unwrap();
    assert_eq!(erased(), 3);
    kept.known.get(kept_one);
    user.erase().unwrap();
    assert_eq!(erased(), 1, "the other user's");
    assert!(kept.known.file.doctor().unwrap().is_healthy());
}

#[test]
fn what_an_export_says_was_erased_is_refused_where_it_is_imported() {
    let kept = Kept::new();
    let erased = kept.known.save(fix("Erased")).id;
    kept.sync();
    let old = kept.text(&kept.path(erased));
    kept.known.memories.erase(erased).unwrap();
    let exported = crate::transfer::export(&kept.known.file.user("alex").unwrap());
    kept.known.file.user("alex").unwrap().erase().unwrap();
    let restored = kept.copy(Faults::default());
    crate::transfer::import(&restored.known.file, "alex", &exported).unwrap();
    let user = restored.known.file.user("alex").unwrap();
    assert_eq!(crate::transfer::export(&user), exported);
    let vault = user.vault(restored.folder.with_extension("again"), VaultOptions::default());
    vault.init().unwrap();
    fs::create_dir_all(restored.folder.with_extension("again").join("vault")).unwrap();
    fs::write(restored.folder.with_extension("again").join("vault/old.md"), old).unwrap();
    let report = vault.sync().unwrap();
    assert_eq!((report.saved.len(), report.refused.len()), (0, 1), "{report:?}");
}

#[test]
fn what_lies_beside_the_file_of_an_erased_memory_goes_too() {
    let kept = Kept::new();
    let [erased, other] = ["Erased", "Other"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    for id in [erased, other] {
        kept.replace(id, "is how it is mended", "holds a canary");
        kept.known.memories.edit(id, crate::memories::saying("Something else.")).unwrap();
    }
    assert_eq!(kept.sync().conflicts.len(), 2);
    let [path, kept_path] = [erased, other].map(|id| kept.path(id).replace(".md", ".conflict.md"));
    assert!(kept.text(&path).contains("canary"));
    kept.known.memories.erase(erased).unwrap();
    assert!(kept.sync().removed.contains(&path));
    assert!(!kept.folder.join(&path).exists() && kept.folder.join(kept_path).exists());
    kept.check_quiet();
}
