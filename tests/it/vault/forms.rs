//! Files that say the same in another form, and files of the maximum size.

use std::fs;

use chrono::TimeDelta;
use thermocline::{
    Attribute, EdgeType, EpisodeFilter, MemoryKind, NewEdge, NewMemory, NewNote, VaultOptions,
};

use crate::{
    memories::{fix, saying},
    vault::Kept,
};

/// Returns a vault with files of several kinds, and one of its memories.
fn full() -> (Kept, thermocline::MemoryId) {
    let kept = Kept::new();
    let [id, other] = ["Keepalive", "Other"].map(|title| kept.known.save(fix(title).importance(0.9)).id);
    let described = NewEdge::new(EdgeType::Solves).description("Since then it holds.");
    kept.known.memories.relate(id, described, other).unwrap();
    kept.sync();
    (kept, id)
}

#[test]
fn line_ends_and_marks_of_other_systems_are_no_edits() {
    let (kept, id) = full();
    let before = kept.tree();
    let bent = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    for (path, text) in &before {
        if path.contains(".md") {
            kept.put(path, &bent(text));
        }
    }
    let revision = kept.known.get(id).revision;
    kept.check_quiet();
    assert_eq!(kept.known.get(id).revision, revision);
    assert_eq!(kept.text(&kept.path(id)), bent(&before[&kept.path(id)]), "they are left as they are");
    // Changes of a memory are still written, and edits of its file are still taken.
    kept.known.fixture.clock.advance(TimeDelta::seconds(2));
    kept.known.memories.edit(id, saying("Said here.\nAnd there.")).unwrap();
    let report = kept.sync();
    assert!(report.conflicts.is_empty() && report.refused.is_empty(), "{report:?}");
    assert!(kept.text(&kept.path(id)).ends_with("Said here.\nAnd there.\n"));
    let path = kept.path(id);
    kept.put(&path, &bent(&kept.text(&path)).replace("Said here.", "Typed here."));
    assert_eq!(kept.sync().edited, [path]);
    assert_eq!(kept.known.get(id).content, "Typed here.\nAnd there.");
    kept.check_quiet();
    // Without a state, as in a fresh checkout.
    for (path, text) in kept.tree() {
        if path.contains(".md") {
            kept.put(&path, &bent(&text.replace("\r\n", "\n").replace('\u{feff}', "")));
        }
    }
    fs::remove_file(kept.folder.join("_sync.json")).unwrap();
    let report = kept.sync();
    assert!(report.written.iter().all(|path| path.starts_with('_')), "{report:?}");
    assert!(
        report.conflicts.is_empty() && report.edited.is_empty() && report.refused.is_empty(),
        "{report:?}"
    );
    kept.check_quiet();
}

#[test]
fn what_lies_beside_a_file_is_never_written_over() {
    let (kept, id) = full();
    let path = kept.path(id);
    let beside = |number: &str| path.replace(".md", &format!("{number}.conflict.md"));
    fs::write(kept.folder.join(beside("")), b"caf\xe9").unwrap();
    fs::create_dir(kept.folder.join(beside(".2"))).unwrap();
    kept.replace(id, "Keepalive is", "Typed is");
    kept.known.fixture.clock.advance(TimeDelta::seconds(2));
    kept.known.memories.edit(id, saying("Said here.")).unwrap();
    kept.sync();
    assert_eq!(fs::read(kept.folder.join(beside(""))).unwrap(), b"caf\xe9");
    assert!(kept.text(&beside(".3")).contains("Typed is"), "{:?}", kept.beside());
    kept.check_quiet();
}

#[test]
fn a_file_that_differs_from_another_by_its_case_alone_is_one_file() {
    let (kept, id) = full();
    let first = kept.path(id);
    let upper = first.replace("keepalive", "KeepAlive");
    fs::rename(kept.folder.join(&first), kept.folder.join(&upper)).unwrap();
    assert!(kept.sync().written.iter().all(|path| !path.starts_with("graph/")));
    assert_eq!(kept.path(id), upper, "it keeps the name that it was given");
    kept.replace(id, "title: \"Keepalive\"", "title: \"Keepalive!\"");
    let report = kept.sync();
    assert_eq!((report.removed, kept.path(id)), (vec![upper], first));
    kept.check_quiet();
}

#[test]
fn a_text_as_long_as_may_be_is_taken_and_a_longer_one_is_named() {
    let (kept, id) = full();
    let longest = "é\n".repeat((64 << 10) / 3) + "x";
    let path = kept.replace(id, "Keepalive is how it is mended.", &longest);
    assert_eq!(kept.sync().edited, [path.as_str()]);
    assert_eq!(kept.known.get(id).content, longest);
    kept.check_quiet();
    kept.put(&path, &format!("{}y\n", kept.text(&path).trim_end()));
    let text = kept.text(&path);
    let report = kept.sync();
    assert_eq!((report.refused.len(), report.refused[0].path.as_str()), (1, path.as_str()), "{report:?}");
    assert_eq!((kept.text(&path), kept.known.get(id).content), (text, longest.clone()), "and left as it is");
    let new = NewMemory::new(MemoryKind::Decision, "Long", longest);
    kept.known.save(new);
    assert_eq!(kept.sync().refused.len(), 1, "the others go on");
}

#[test]
fn a_page_of_more_than_a_file_may_have_is_written_once() {
    let (kept, _) = full();
    for number in 0..1_100 {
        kept.known.memories.note(NewNote::new(format!("Note {number}")).summary("x".repeat(1_000))).unwrap();
    }
    assert_eq!(kept.known.memories.episodes(EpisodeFilter::default(), None, 1_000).unwrap().len(), 1_000);
    let report = kept.sync();
    assert_eq!(report.written, ["episodes/2026-03-01.md"]);
    assert!(kept.text("episodes/2026-03-01.md").len() > 1 << 20);
    kept.check_quiet();
}

#[test]
fn the_page_of_who_the_user_is_has_every_anchor() {
    let kept = Kept::new();
    let alex = kept.known.file.user("alex").unwrap();
    for number in 0..1_001 {
        alex.set_anchor(&format!("friend {number:04}"), Attribute::Home, "Lisbon").unwrap();
    }
    kept.sync();
    let text = kept.text("PROFILE.md");
    assert_eq!(text.matches("home:** Lisbon\n").count(), 1_001);
    assert!(text.ends_with("- **friend 1000 home:** Lisbon\n"));
}

#[test]
fn the_page_of_who_the_user_is_shows_only_what_holds() {
    let kept = Kept::new();
    let alex = kept.known.file.user("alex").unwrap();
    alex.set_anchor("user", Attribute::Home, "Porto").unwrap();
    kept.known.fixture.clock.advance(TimeDelta::seconds(1));
    alex.set_anchor("user", Attribute::Home, "Lisbon").unwrap();
    let taken_back = alex.set_anchor("user", Attribute::Likes, "tea").unwrap();
    alex.retract_anchor(taken_back).unwrap();
    kept.sync();
    assert_eq!(kept.text("PROFILE.md"), "# Profile (auto-generated)\n- **user home:** Lisbon\n");
}

#[test]
fn an_export_into_a_folder_whose_state_is_gone_overwrites_no_edit() {
    let (kept, id) = full();
    let path = kept.replace(id, "Keepalive is", "Typed is");
    fs::remove_file(kept.folder.join("_sync.json")).unwrap();
    let report = kept.vault(VaultOptions::default()).export().unwrap();
    assert_eq!((report.refused.len(), report.refused[0].path.as_str()), (1, path.as_str()), "{report:?}");
    assert!(kept.text(&path).contains("Typed is"));
}

#[test]
fn a_file_that_lost_its_id_is_known_by_its_path_and_one_without_a_head_is_named() {
    let kept = Kept::new();
    let id = kept.known.save(fix("Keepalive")).id;
    kept.sync();
    let path = kept.path(id);
    let whole = kept.text(&path);
    let without_id =
        |text: &str| text.split_inclusive('\n').filter(|line| !line.starts_with("id:")).collect::<String>();
    let with_a_blank = |text: &str| text.replacen("---\n", "--- \n", 1);
    for change in [&without_id as &dyn Fn(&str) -> String, &with_a_blank] {
        kept.put(&path, &change(&kept.text(&path)).replace("how it is mended", "how it was mended"));
        let report = kept.sync();
        assert_eq!((&report.edited, report.saved.len()), (&vec![path.clone()], 0), "{report:?}");
        assert!(kept.known.get(id).content.contains("was mended"));
        assert!(kept.text(&path).starts_with("---\nid: "), "it has its id again");
        kept.known.memories.undo(id).unwrap();
        kept.sync();
    }
    let (_, body) = whole.rsplit_once("---\n").unwrap();
    let ours = whole.replace("how it is mended", "ours");
    let merged = ours.replace("ours.", "\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n");
    for text in [
        body,
        &format!("\n{whole}"),
        &merged,
        &format!("<<<<<<< HEAD\n{whole}=======\n{whole}>>>>>>> other\n"),
    ] {
        kept.put(&path, text);
        let report = kept.vault(VaultOptions::default().deletes(true)).sync().unwrap();
        assert_eq!(
            (report.refused.len(), report.saved.len(), report.edited.len()),
            (1, 0, 0),
            "{text}: {report:?}"
        );
        assert_eq!(kept.text(&path), text, "it is left as it is");
    }
    assert_eq!(kept.known.memories.list(thermocline::MemoryFilter::default(), None, 9).unwrap().len(), 1);
}

#[test]
fn links_lead_to_files_whatever_people_call_them() {
    let kept = Kept::new();
    kept.put("graph/decisions/C# tips (1).md", "---\nimportance: 1.0\n---\nWe use tabs.\n");
    kept.vault(VaultOptions::default().origin(thermocline::Origin::User)).sync().unwrap();
    let link = "(graph/decisions/C%23%20tips%20%281%29.md)";
    assert!(kept.text("CORE.md").contains(link), "{}", kept.text("CORE.md"));
    assert!(kept.text("episodes/2026-03-01.md").contains(&link.replace("(graph", "(../graph")));
    kept.check_quiet();
}

#[test]
fn what_is_typed_behind_the_links_is_text_and_the_links_are_none() {
    let kept = Kept::new();
    let [id, other] = ["Keepalive", "Drops"].map(|title| kept.known.save(fix(title)).id);
    kept.known.memories.relate(id, NewEdge::new(EdgeType::Solves), other).unwrap();
    kept.vault(VaultOptions::default().links(true)).init().unwrap();
    kept.sync();
    let path = kept.path(id);
    kept.put(&path, &format!("{}My line.\n", kept.text(&path)));
    assert_eq!(kept.sync().edited, std::slice::from_ref(&path));
    assert_eq!(kept.known.get(id).content, "Keepalive is how it is mended.\nMy line.");
    assert_eq!(kept.text(&path).matches("<!-- links -->").count(), 1);
    assert!(kept.text(&path).ends_with("|Drops]]\n"));
    kept.check_quiet();
}

#[test]
fn the_list_of_what_has_settled_is_kept_up_until_a_person_writes_into_it() {
    let kept = Kept::new();
    let settled =
        |title: &str| fix(title).origin(thermocline::Origin::User).frequency(thermocline::Frequency::Low);
    let id = kept.known.save(settled("A canary")).id;
    kept.sync();
    assert!(kept.text("MEMORY.md").contains("A canary"));
    kept.known.memories.erase(id).unwrap();
    kept.known.save(settled("Keepalive"));
    kept.sync();
    let text = kept.text("MEMORY.md");
    assert!(text.contains("Keepalive") && !text.contains("canary"), "{text}");
    kept.put("MEMORY.md", &format!("{text}Mine.\n"));
    kept.known.save(settled("Other"));
    kept.sync();
    assert!(kept.text("MEMORY.md").ends_with("Mine.\n") && !kept.text("MEMORY.md").contains("Other"));
}
