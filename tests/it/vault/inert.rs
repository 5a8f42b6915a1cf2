//! Texts that Obsidian, its plugins or other viewers would run, load or open.

use thermocline::{
    EdgeType, Frequency, Layout, MemoryFilter, MemoryId, NewEdge, NewMemory, Origin, VaultOptions,
};

use crate::{
    memories::{fix, saying},
    vault::Kept,
};

const ACTIVE: &str = "![x](http://evil/x.png) ![[http://evil/y.png]] <img src=http://evil/z.png>\n<script>x</script>\n\
                      ```dataviewjs\ndv.pages()\n```\n<% tp.x %> `$= dv.x()` `= this.x`\n[x](javascript:alert(1)) \
                      [y](file:///etc/passwd) obsidian://open\n\u{2060}\u{2060}own joiners\u{2060}";

/// What must not be in a file of somebody who is not the user.
const WHOLE: [&str; 10] =
    ["![", "<img", "<script", "```dataviewjs", "<%", "`$=", "`= ", "javascript:", "file:", "obsidian:"];

#[track_caller]
fn check_inert(kept: &Kept) {
    for (path, text) in kept.tree() {
        for whole in WHOLE {
            assert!(!text.contains(whole), "{whole} in {path}: {text}");
        }
    }
}

fn active(kept: &Kept, origin: Origin) -> MemoryId {
    let title = "![x](http://evil/t.png) <% tp.t %> `$= t`";
    let memory = NewMemory::new(thermocline::MemoryKind::Fix, title, ACTIVE)
        .summary("![s](http://evil/s.png) <script>")
        .tags(["<img>", "![tag]("])
        .entities(["<script>", "`= e`"])
        .project("<% p %>")
        .importance(1.0)
        .origin(origin);
    kept.known.memories.save(memory).unwrap().memory.id
}

#[test]
fn what_a_tool_a_document_or_an_assistant_says_is_inert_in_every_file() {
    for origin in [Origin::Tool, Origin::Document, Origin::Assistant] {
        let kept = Kept::new();
        let (id, other) = (active(&kept, origin), kept.known.save(fix("Other")).id);
        let edge = NewEdge::new(EdgeType::Solves).context("<% c %>").description(ACTIVE).origin(origin);
        kept.known.memories.relate(id, edge, other).unwrap();
        kept.vault(VaultOptions::default().links(true)).init().unwrap();
        kept.sync();
        check_inert(&kept);
        kept.check_quiet();
        // An edit of another part leaves the text as it was, byte for byte.
        kept.replace(id, "importance: 1.0", "importance: 0.9");
        assert_eq!(kept.sync().edited.len(), 1);
        assert_eq!(kept.known.get(id).content, ACTIVE);
        kept.replace(id, "own joiners", "other joiners");
        kept.sync();
        assert_eq!(kept.known.get(id).content, ACTIVE.replace("own", "other"));
        check_inert(&kept);
        kept.replace(id, "other joiners", "both changed");
        kept.known.memories.edit(id, saying("It says something else.")).unwrap();
        let report = kept.sync();
        assert_eq!(kept.beside().len(), 1, "{report:?}");
        check_inert(&kept);
    }
}

#[test]
fn what_the_user_says_stays_as_it_is() {
    let kept = Kept::new();
    let id = active(&kept, Origin::User);
    kept.sync();
    let text = kept.text(&kept.path(id));
    assert!(text.contains(ACTIVE) && !text.contains("inert"), "{text}");
    kept.put("graph/fixes/mine.md", "![[mine.png]]\n");
    kept.vault(VaultOptions::default().origin(Origin::User)).sync().unwrap();
    assert!(kept.text("graph/fixes/mine.md").contains("\n![[mine.png]]\n"));
}

#[test]
fn a_file_that_is_no_longer_trusted_becomes_inert() {
    let kept = Kept::new();
    kept.put("graph/fixes/theirs.md", "---\nbanner: http://evil/b.png\n---\n![[theirs.png]]\n");
    kept.sync();
    let text = kept.text("graph/fixes/theirs.md");
    assert!(text.contains("inert: true") && !text.contains("![[") && !text.contains("\nbanner"), "{text}");
    kept.check_quiet();
    let id = kept.known.memories.list(MemoryFilter::default(), None, 9).unwrap()[0].id;
    assert_eq!(kept.known.get(id).content, "![[theirs.png]]");
    assert_eq!(kept.known.get(id).extra["banner"], "http://evil/b.png");
}

#[test]
fn the_other_layouts_are_inert_and_read_back_as_they_were() {
    for layout in [Layout::Continuum, Layout::Entry] {
        for frequency in [Frequency::Mid, Frequency::Low] {
            let mut kept = Kept::new();
            let id = active(&kept, Origin::Assistant);
            let edit = thermocline::Edit::default().frequency(frequency);
            kept.known.memories.edit(id, edit).unwrap();
            kept.folder = kept.folder.with_extension("other");
            kept.vault(VaultOptions::default().layout(layout)).export().unwrap();
            check_inert(&kept);
            let other = crate::memories::Known::new();
            let files = kept
                .tree()
                .into_iter()
                .filter(|(path, _)| std::path::Path::new(path).extension().is_some_and(|name| name == "md"));
            other.memories.import_files(files, Origin::Document).unwrap();
            let found = other.memories.list(MemoryFilter::default(), None, 9).unwrap();
            if layout == Layout::Continuum || frequency == Frequency::Mid {
                let said: Vec<_> = found.iter().map(|memory| (&memory.title, &memory.content)).collect();
                let was = kept.known.get(id);
                assert!(said.contains(&(&was.title, &was.content)), "{said:?}");
            }
        }
    }
}
