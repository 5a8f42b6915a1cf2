//! A database that was put back to a backup, below a folder that was written since.

use chrono::TimeDelta;
use thermocline::{EdgeType, ErrorKind, NewEdge, NewerFiles, VaultOptions};

use crate::{
    memories::{Known, fix, saying},
    vault::Kept,
};

/// A folder with texts that its database no longer has: one memory was edited, one saved, and two related with a text.
/// After the backup was put back, `since` happened.
fn put_back(since: impl FnOnce(&Known)) -> Kept {
    let kept = Kept::new();
    let [edited, other] = ["Edited", "Other"].map(|title| kept.known.save(fix(title)).id);
    kept.sync();
    let backup = kept.known.fixture.copy();
    kept.known.fixture.clock.advance(TimeDelta::seconds(5));
    kept.known.memories.edit(edited, saying("What was said later.")).unwrap();
    let later = kept.known.save(fix("Later")).id;
    let edge = NewEdge::new(EdgeType::Solves).description("Why it is solved.");
    kept.known.memories.relate(later, edge, other).unwrap();
    kept.sync();
    kept.check_quiet();
    let Kept { folder, temporary, .. } = kept;
    let known = Known::of(backup);
    known.fixture.clock.advance(TimeDelta::seconds(9));
    since(&known);
    Kept { known, folder, temporary }
}

fn edited(known: &Known) -> thermocline::MemoryId {
    let all = known.memories.list(thermocline::MemoryFilter::default(), None, 50).unwrap();
    all.into_iter().find(|memory| memory.title == "Edited").unwrap().id
}

#[test]
fn an_older_database_stops_the_sync_before_it_touches_anything() {
    let many_edits = |known: &Known| {
        for number in 0..9 {
            known.memories.edit(edited(known), saying(&format!("Said otherwise, {number}."))).unwrap();
        }
    };
    for since in [|_: &Known| {}, many_edits] {
        let kept = put_back(since);
        let before = kept.tree();
        let error = kept.vault(VaultOptions::default()).sync().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains("older than the folder"), "{error}");
        let looked = kept.vault(VaultOptions::default()).status().unwrap();
        assert!(
            looked.newer.len() >= 2 && looked.removed.is_empty() && looked.written.is_empty(),
            "{looked:?}"
        );
        let exported = kept.vault(VaultOptions::default()).export().unwrap();
        assert_eq!(exported.newer, looked.newer);
        let mut after = kept.tree();
        for page in ["CORE.md", "REFLECTION.md", "MEMORY.md", "PROFILE.md"] {
            assert!(after.remove(page).is_some());
        }
        assert!(
            after.iter().all(|(path, text)| path.starts_with("episodes/") || before.get(path) == Some(text))
        );
    }
}

#[test]
fn what_the_folder_alone_has_is_taken_in_under_its_own_ids() {
    let kept = put_back(|_| {});
    let later = kept.tree().into_iter().find(|(path, _)| path.contains("fixes/later")).unwrap().1;
    let report = kept.vault(VaultOptions::default().newer(NewerFiles::Take)).sync().unwrap();
    assert!(report.conflicts.is_empty() && report.refused.is_empty(), "{report:?}");
    assert_eq!(kept.known.get(edited(&kept.known)).content, "What was said later.");
    let id = later.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().parse().unwrap();
    assert_eq!(kept.known.get(id).title, "Later");
    let edges = kept.known.memories.neighbours(id, None, 9).unwrap();
    assert_eq!(edges[0].edge.description, "Why it is solved.");
    kept.check_quiet();
    kept.known.check_sound();
}

#[test]
fn what_the_folder_alone_has_is_set_aside_if_so_wished() {
    let kept = put_back(|_| {});
    let report = kept.vault(VaultOptions::default().newer(NewerFiles::SetAside)).sync().unwrap();
    assert_eq!(report.conflicts.len(), 4, "{report:?}");
    let aside: String = kept.beside().iter().map(|path| kept.text(path)).collect();
    for text in ["What was said later.", "Later", "Why it is solved."] {
        assert!(aside.contains(text), "{text}: {aside}");
    }
    assert_ne!(kept.known.get(edited(&kept.known)).content, "What was said later.");
    kept.check_quiet();
    kept.known.check_sound();
}

#[test]
fn the_folder_of_another_user_stays_theirs() {
    let kept = Kept::new();
    kept.known.save(fix("Of alex"));
    kept.sync();
    let blake = kept.known.file.user("blake").unwrap().vault(&kept.folder, VaultOptions::default());
    for done in [blake.init(), blake.sync().map(drop)] {
        assert_eq!(done.unwrap_err().kind(), ErrorKind::Conflict);
    }
}

#[test]
fn a_user_who_was_moved_keeps_the_folder() {
    let kept = Kept::new();
    let [id, gone] = ["Kept", "Gone"].map(|title| kept.known.save(fix(title)).id);
    kept.known.memories.edit(id, saying("It says more.")).unwrap();
    kept.sync();
    kept.known.memories.edit(id, saying("It says other things.")).unwrap();
    kept.known.memories.erase(gone).unwrap();
    let exported = crate::transfer::export(&kept.known.file.user("alex").unwrap());
    let fixture = crate::support::Fixture::new();
    crate::transfer::import(&fixture.open(), "alex", &exported).unwrap();
    let Kept { folder, temporary, .. } = kept;
    let moved = Kept { known: Known::of(fixture), folder, temporary };
    let report = moved.sync();
    assert!(report.newer.is_empty() && report.conflicts.is_empty(), "{report:?}");
    assert!(moved.text(&moved.path(id)).contains("It says other things."));
}
