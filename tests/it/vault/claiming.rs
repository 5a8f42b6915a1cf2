//! Files that people add, and files of other programs.

use std::fs;

use thermocline::{Frequency, MemoryFilter, MemoryKind, Origin, Trust, VaultOptions};

use crate::{
    memories::{Known, fix},
    vault::Kept,
};

#[test]
fn a_new_file_is_a_claim_and_what_cannot_be_read_stays_as_it_is() {
    let kept = Kept::new();
    let known = kept.known.save(fix("Known")).id;
    let hidden = kept.known.save(fix("Hidden")).id;
    kept.sync();
    let hidden_file = kept.text(&kept.path(hidden));
    kept.known.memories.forget(hidden).unwrap();
    kept.sync();
    kept.put("graph/workflows/nginx-reload.md", "# Reload nginx\n\nAfter new certificates.\n");
    let claims = "---\nid: note-7\ntype: decision\ntitle: \"Use Go\"\nconfidence: 0.99\nmemory_frequency: ultra-low\nx-tool: {a: [1]}\n---\nIt compiles fast.\n";
    kept.put("graph/decisions/go.md", claims);
    let bad = [
        ("graph/fixes/empty.md", "---\ntitle: \"a\"\n---\n\n"),
        ("graph/fixes/much.md", "---\nimportance: 1.5\n---\nx\n"),
        ("graph/fixes/rumour.md", "---\ntype: rumour\n---\nx\n"),
        ("graph/fixes/block.md", "---\ntitle: |\n  x\n---\nx\n"),
        ("graph/fixes/hidden.md", hidden_file.as_str()),
        ("graph/fixes/twice.md", &kept.text(&kept.path(known))),
    ];
    for (path, text) in bad {
        kept.put(path, text);
    }
    let report = kept.sync();
    assert_eq!(report.saved, ["graph/decisions/go.md", "graph/workflows/nginx-reload.md"]);
    let refused: Vec<&str> = report.refused.iter().map(|file| file.path.as_str()).collect();
    let mut paths = bad.map(|(path, _)| path);
    paths.sort_unstable();
    assert_eq!(refused, paths, "{report:?}");
    for (path, text) in bad {
        assert_eq!(kept.text(path), text);
        fs::remove_file(kept.folder.join(path)).unwrap();
    }
    let of = |title: &str| {
        let all = kept.known.memories.list(MemoryFilter::default(), None, 50).unwrap();
        all.into_iter().find(|memory| memory.title == title).unwrap()
    };
    let (reload, go) = (of("Reload nginx"), of("Use Go"));
    assert_eq!(
        (reload.kind, reload.origin, reload.content.as_str()),
        (MemoryKind::Workflow, Origin::Document, "After new certificates.")
    );
    assert_eq!((go.confidence, go.frequency, go.trust), (0.8, Frequency::Mid, Trust::Foreign));
    assert_eq!(
        (go.caller_id.as_deref(), &go.extra["x-tool"]),
        (Some("note-7"), &serde_json::json!({"a": [1]}))
    );
    assert_eq!(kept.path(go.id), "graph/decisions/go.md", "it keeps its name");
    let claimed = serde_json::json!({"confidence": "0.99", "memory_frequency": "ultra_low"});
    assert_eq!(go.extra["claimed"], claimed, "what it claims beyond that is kept");
    assert_eq!(reload.extra.get("claimed"), None);
    kept.check_quiet();
    fs::remove_file(kept.folder.join("_sync.json")).unwrap();
    kept.check_quiet();
    let users = kept.vault(VaultOptions::default().origin(Origin::User));
    kept.put("vault/passport.md", "The passport is in the drawer.\n");
    users.sync().unwrap();
    let passport = of("passport");
    assert_eq!((passport.pinned, passport.trust), (true, Trust::User));
}

#[test]
fn files_of_other_programs_are_saved_once_and_tied() {
    let known = Known::new();
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = || {
        vec![
            file(
                "a.md",
                "---\nid: a\ntype: fix\ntitle: \"Keepalive\"\nrelations:\n- target: b\ntype: SOLVES\n- target: z\ntype: FOLLOWS\n---\nIt holds.\n",
            ),
            file(
                "b.json",
                r##"{"id": "b", "content": "Redis drops.", "tags": ["#redis"], "tier": "short"}"##,
            ),
            file("c.md", "---\ntype: rumour\n---\nx\n"),
        ]
    };
    let report = known.memories.import_files(files(), Origin::Document).unwrap();
    assert_eq!(
        (report.saved, report.related, report.unrelated, report.refused.len()),
        (2, 1, 1, 1),
        "{report:?}"
    );
    assert_eq!(report.refused[0].line, Some(2));
    let again = known.memories.import_files(files(), Origin::Document).unwrap();
    assert_eq!((again.saved, again.known), (0, 2), "{again:?}");
    let fix = known.memories.by_caller_id("a").unwrap();
    assert_eq!((fix.trust, fix.kind), (Trust::Foreign, MemoryKind::Fix));
    assert_eq!(known.memories.neighbours(fix.id, None, 9).unwrap()[0].title, "Redis drops");
    known.check_sound();
}

#[test]
fn steps_of_what_is_no_procedure_are_kept() {
    let kept = Kept::new();
    kept.put("graph/fixes/e.md", "---\ntype: fix\nsteps: [build, ship]\n---\nA fix.\n");
    let path = kept.sync().saved.remove(0);
    let memory = kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap().remove(0);
    assert_eq!(memory.extra["steps"], serde_json::json!(["build", "ship"]));
    assert!(kept.text(&path).contains("build"), "{}", kept.text(&path));
    kept.check_quiet();
}

#[test]
fn a_title_is_text_wherever_it_is_shown() {
    let kept = Kept::new();
    kept.known.save(fix("x <img src=http://localhost/y.png> %%").importance(1.0));
    kept.sync();
    for page in ["CORE.md", "episodes/2026-03-01.md"] {
        let text = kept.text(page);
        assert!(text.contains("&lt;img") && !text.contains('<') && !text.contains("%%"), "{text}");
    }
}

#[test]
fn a_file_of_a_time_that_cannot_be_stored_is_refused_with_its_line_and_the_others_are_saved() {
    let kept = Kept::new();
    let bad = [
        "2026-02-30T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "+10000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-23:59",
        "soon",
    ];
    for (n, created) in bad.iter().enumerate() {
        kept.put(
            &format!("graph/fixes/bad-{n}.md"),
            &format!("---\ntype: fix\ncreated: {created}\n---\nFix {n}.\n"),
        );
    }
    kept.put("graph/fixes/leap.md", "---\ntype: fix\ncreated: 2016-12-31T23:59:60Z\n---\nWait a second.\n");
    kept.put("graph/fixes/sound.md", "---\ntype: fix\ncreated: 2026-01-01T00:00:00Z\n---\nRestart it.\n");
    let report = kept.sync();
    assert_eq!(report.saved, ["graph/fixes/leap.md", "graph/fixes/sound.md"], "{report:?}");
    let refused: Vec<_> = report.refused.iter().map(|file| (file.path.clone(), file.line)).collect();
    let expected: Vec<_> = (0..bad.len()).map(|n| (format!("graph/fixes/bad-{n}.md"), Some(3))).collect();
    assert_eq!(refused, expected, "{report:?}");
    let all = kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap();
    let times: Vec<String> = all.iter().map(|memory| memory.said_at.to_rfc3339()).collect();
    assert!(times.contains(&"2016-12-31T23:59:59.999+00:00".to_owned()), "{times:?}");
    kept.known.check_sound();
}
