//! The file formats of memories: what is written is read back the same, whatever it says.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use thermocline::{
    EdgeType, Edit, ErrorKind, FileFormat, Frequency, InformationType, Layout, Memory, MemoryFilter,
    MemoryId, MemoryKind, MemoryStatus, NewEdge, NewMemory, NewNote, Origin, Outcome, Procedure,
    ReviewFilter, TaskType, VaultOptions, VaultReport,
};

use chrono::TimeDelta;

use crate::{
    memories::{Known, fix},
    vault::Kept,
};

impl Kept {
    #[track_caller]
    fn all(&self) -> Vec<Memory> {
        let filter = MemoryFilter::default().statuses([
            MemoryStatus::Active,
            MemoryStatus::Archived,
            MemoryStatus::Superseded,
        ]);
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let some = self.known.memories.list(filter.clone(), after, 1_000).unwrap();
            let Some(last) = some.last() else { return all };
            after = Some(last.id);
            all.extend(some);
        }
    }
}

/// Returns all files in a folder, by path, except those that only we read.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                walk(root, &path, found);
            } else if !["_sync.json", "_lock", ".thermocline"].contains(&name.as_str()) {
                found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// A field of another program's file never becomes one of our fields, however its name is written.
#[test]
fn names_of_an_imported_entry_mean_nothing_in_its_file() {
    let noted = Kept::new();
    let entry = r#"{"id": "e1", "content": "The port is 8443.", "slot": "api:port", "origin": "user", "status": "superseded",
        "origin: user\nstatus": "archived", "pinned": true, "memory_frequency": "ultra-low", "a\"b: c": [1, {"d": [2.5, null, {"e": []}]}],
        "---": "x", "superseded_by": null, "retrieval": {"access_count": 5, "last_accessed": null}}"#;
    let files = [("e.json".to_owned(), entry.to_owned())];
    assert_eq!(noted.known.memories.import_files(files, Origin::Document).unwrap().saved, 1);
    let before = noted.all().remove(0);
    assert_eq!(before.extra["retrieval"]["access_count"], 5);
    noted.sync();
    noted.check_quiet();
    let path = noted.path(before.id);
    noted.put(&path, &noted.text(&path).replace("The port is 8443.", "The port is 8444."));
    let report = noted.sync();
    assert_eq!((report.edited.len(), report.refused.len(), report.conflicts.len()), (1, 0, 0), "{report:?}");
    let after = noted.all().remove(0);
    assert_eq!((after.content.as_str(), &after.extra), ("The port is 8444.", &before.extra));
    assert_eq!(
        (after.status, after.origin, after.pinned, after.frequency, after.goal_signature.as_deref()),
        (before.status, before.origin, false, before.frequency, None)
    );
    noted.check_quiet();
}

/// Editing one part of a file changes nothing else of the memory.
#[test]
fn an_edit_of_one_thing_leaves_all_others_as_they_were_whatever_they_say() {
    let noted = Kept::new();
    let odd = [
        "issue #5",
        "a: b",
        "\"quoted\"",
        "'single'",
        "[x]",
        "{a: b}",
        "- item",
        "# heading",
        "--- x",
        "日本 é",
        "&a *b !c",
        "| >",
        "back\\slash",
        "tab\there",
        "null",
        "5",
        " leading",
    ];
    let contents =
        ["---\n", "\n\nbehind blank lines\n\n\n", "    indented\ncode  ", "<!-- links -->", "a\r\nb\rc\r"];
    let ids: Vec<MemoryId> = odd
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let content = format!("{} {number} {text}", contents[number % contents.len()]);
            let content = format!("{content}{}", contents[(number + 1) % contents.len()]);
            let memory = NewMemory::new(MemoryKind::Procedure, format!("{text}\n{number}"), content)
                .tags([format!("{text} {number}"), format!("t{number} #b, c]")])
                .summary(*text)
                .project(*text)
                .procedure(Procedure::new([*text, "Push # so"]).preconditions([*text]));
            noted.known.save(memory).id
        })
        .collect();
    noted.sync();
    noted.check_quiet();
    let before = noted.all();
    for id in &ids {
        let path = noted.path(*id);
        noted.put(&path, &noted.text(&path).replace("importance: 0.6", "importance: 0.25"));
    }
    let report = noted.sync();
    assert_eq!((report.edited.len(), report.refused.len()), (ids.len(), 0), "{report:?}");
    for (before, after) in before.iter().zip(noted.all()) {
        let changed = noted.known.memories.history(after.id, None, 1).unwrap().remove(0);
        assert_eq!(after.importance.to_string(), "0.25");
        let mut expected = before.clone();
        (expected.importance, expected.revision, expected.standing) =
            (0.25, after.revision, after.standing.clone());
        expected.updated_at = after.updated_at;
        assert_eq!(after, expected, "{changed:?}");
    }
    noted.check_quiet();
}

/// People may edit the text and the strength of an edge in its file; the rest of it is in the memories' files.
#[test]
fn an_edited_file_of_an_edge_is_an_edit_of_the_edge() {
    let noted = Kept::new();
    let [from, to] = ["Keepalive", "Drops"].map(|title| noted.known.save(fix(title)).id);
    let edge = NewEdge::new(EdgeType::PartOf).context("in May").description("Since then it holds.");
    let id = noted.known.memories.relate(from, edge, to).unwrap().id;
    noted.sync();
    let found: Vec<String> =
        tree(&noted.folder).into_keys().filter(|path| path.starts_with("graph/edges/")).collect();
    let [path] = &found[..] else { panic!("{found:?}") };
    let text = noted.text(path);
    assert!(text.contains("type: RELATED_TO\nedge_type: part_of\n"), "{text}");
    noted.known.fixture.clock.advance(TimeDelta::seconds(2));
    noted.put(path, &text.replace("strength: 0.9", "strength: 0.4").replace("Since then", "Since June"));
    let report = noted.sync();
    assert_eq!((&report.edited, report.refused.len()), (&vec![path.clone()], 0), "{report:?}");
    let edge = noted.known.memories.edge(id).unwrap();
    assert_eq!((edge.description.as_str(), edge.context.as_str()), ("Since June it holds.", "in May"));
    assert!((edge.strength - 0.4).abs() < 1e-9 && edge.edge_type == EdgeType::PartOf);
    noted.check_quiet();

    // A field that must not be edited there, and a file that cannot be read, stay as they are.
    let text = noted.text(path);
    for (wrong, line) in [
        (text.replace("edge_type: part_of", "edge_type: causes"), None),
        (text.replace("Keepalive", "Other"), None),
        (text.replace("strength: 0.4", "strength: 4"), Some(9)),
        (text.replace("Since June it holds.\n", ""), None),
    ] {
        noted.put(path, &wrong);
        let report = noted.sync();
        assert_eq!((report.refused.len(), report.refused[0].line), (1, line), "{report:?}");
        assert_eq!(noted.text(path), wrong);
    }
    noted.put(path, &text);
    noted.check_quiet();

    // Both sides changed the text, and an older file comes back: the known text stays, and the other text is put into an
    // additional file.
    noted.put(path, &text.replace("Since June", "Since July"));
    noted.known.fixture.clock.advance(TimeDelta::seconds(2));
    let other = NewEdge::new(EdgeType::PartOf).origin(Origin::User).description("Since August it holds.");
    noted.known.memories.relate(from, other, to).unwrap();
    assert_eq!(noted.sync().conflicts, [path.as_str()]);
    assert!(noted.text(path).contains("Since August"));
    assert!(noted.text(&path.replace(".md", ".conflict.md")).contains("Since July"));
    noted.put(path, &text.replace("Since June", "Since May"));
    assert_eq!(noted.sync().conflicts, [path.as_str()]);
    noted.check_quiet();
    noted.put("graph/edges/a--SOLVES--b-000000.md", &text);
    assert_eq!(noted.sync().refused.len(), 1, "no edge is made of a file");
}

/// The continuum paper's printed examples of file heads, each with the path of its file.
const OF_C: [(&str, &str); 5] = [
    (
        "workspace/state/context.md",
        "memory_frequency: high\nvolatility: high\nupdate_trigger: execution\nretention_policy: volatile\n\
      confidence_score: 1.0  # Always reflects current state\ncreated_at: \"2025-11-09T00:00:00Z\"\n",
    ),
    (
        "memory/short_term/2025-11-09_14-30-00_agent_interaction.md",
        "memory_frequency: high\nvolatility: high\n\
      update_trigger: execution\nretention_policy: temporary\nconfidence_score: 0.8  # Based on execution success\n\
      consolidation_threshold: 0.75\nusage_count: 1\nsuccess_rate: 1.0\ncreated_at: \"2025-11-09T14:30:00Z\"\n\
      learning_source: execution\n",
    ),
    (
        "memory/long_term/execution_trace_research_v1.md",
        "memory_frequency: mid\nvolatility: medium\nupdate_trigger: success\n\
      retention_policy: persistent\nconfidence_score: 0.85\nconsolidation_threshold: 0.95\nusage_count: 15\nsuccess_rate: 0.93\n\
      last_accessed: \"2025-11-09T16:00:00Z\"\ncreated_at: \"2025-11-09T14:30:00Z\"\nfrequency_history: [\"high\", \"mid\"]\n\
      transition_timestamps: [\"2025-11-09T14:30:00Z\", \"2025-11-09T15:00:00Z\"]\n\
      goal_signature: \"research_web_content_summarize\"\ntask_type: \"research\"\ncontext_fingerprint: \"abc123\"\n\
      learning_source: consolidation\npattern_confidence: 0.85\nvalidation_count: 3\n",
    ),
    (
        "system/memory_log.md",
        "memory_frequency: low\nvolatility: low\nupdate_trigger: consolidation\nretention_policy: persistent\n\
      confidence_score: 0.96\nconsolidation_threshold: 0.99\nusage_count: 45\nsuccess_rate: 0.97\n\
      last_accessed: \"2025-11-09T18:00:00Z\"\ncreated_at: \"2025-10-01T00:00:00Z\"\nfrequency_history: [\"high\", \"mid\", \"low\"]\n\
      transition_timestamps: [\"2025-10-01T00:00:00Z\", \"2025-10-05T00:00:00Z\", \"2025-10-20T00:00:00Z\"]\n\
      goal_signature: \"multi_source_research_analysis\"\ntask_type: \"research\"\nlearning_source: consolidation\n\
      pattern_confidence: 0.96\nvalidation_count: 25\ncross_project_validated: true\n",
    ),
    (
        "SmartLibrary.md",
        "memory_frequency: ultra-low\nvolatility: low\nupdate_trigger: manual\nretention_policy: permanent\n\
      confidence_score: 0.99\nusage_count: 200\nsuccess_rate: 0.99\ncreated_at: \"2025-09-01T00:00:00Z\"\n\
      frequency_history: [\"high\", \"mid\", \"low\", \"ultra-low\"]\nlearning_source: consolidation\npattern_confidence: 0.99\n\
      validation_count: 100\ncross_project_validated: true\nsystem_core_component: true\n",
    ),
];

/// Imports files twice: the second time nothing in Thermocline's file changes.
#[track_caller]
fn import_twice(known: &Known, files: &[(String, String)], saved: u64) {
    let report = known.memories.import_files(files.to_vec(), Origin::Document).unwrap();
    assert_eq!((report.saved, report.refused.len()), (saved, 0), "{report:?}");
    let dump = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alex.jsonl");
        known.file.user("alex").unwrap().export(fs::File::create(&path).unwrap()).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let before = dump();
    let report = known.memories.import_files(files.to_vec(), Origin::Document).unwrap();
    assert_eq!((report.saved, report.known, report.refused.len()), (0, saved, 0), "{report:?}");
    assert_eq!(dump(), before);
}

fn exported(noted: &Kept, layout: Layout) -> (PathBuf, VaultReport) {
    let folder = noted.folder.with_file_name(layout.as_str());
    let options = VaultOptions::default().layout(layout);
    let report = noted.known.file.user("alex").unwrap().vault(&folder, options).export().unwrap();
    (folder, report)
}

#[test]
fn c_the_papers_examples_are_claims_that_lose_nothing_and_are_written_in_its_form() {
    let noted = Kept::new();
    let files: Vec<(String, String)> = OF_C
        .iter()
        .enumerate()
        .map(|(number, (path, head))| {
            let id = format!("id: c{number}\n");
            ((*path).to_owned(), format!("---\n{id}{head}---\n# Trace {number}\n\nWhat to do, {number}.\n"))
        })
        .collect();
    import_twice(&noted.known, &files, 5);
    for (number, (path, head)) in OF_C.iter().enumerate() {
        let memory = noted.known.memories.by_caller_id(&format!("c{number}")).unwrap();
        assert!(memory.confidence <= 0.8 && memory.frequency <= Frequency::Mid, "{path}");
        for line in head.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            let is_a_field = [
                "memory_frequency",
                "volatility",
                "confidence_score",
                "created_at",
                "goal_signature",
                "task_type",
            ];
            if !is_a_field.contains(&name) {
                let kept = memory.extra.get(name).unwrap_or_else(|| panic!("{path}: {name} is lost"));
                let value = value.split("  #").next().unwrap().replace('"', "");
                assert_eq!(kept.to_string().replace('"', "").replace(',', ", "), value, "{path}: {name}");
            }
        }
    }
    let (folder, report) = exported(&noted, Layout::Continuum);
    let trace = "memory/long_term/execution_trace_trace-2_v1.md";
    assert_eq!(report.written.len(), 5, "{report:?}");
    let text = fs::read_to_string(folder.join(trace)).unwrap();
    let expected = "---\nmemory_frequency: mid\nvolatility: medium\nupdate_trigger: success\nretention_policy: persistent\n\
                    confidence_score: 0.8\nconsolidation_threshold: 0.95\nusage_count: 0\ncreated_at: \"2026-03-01T12:00:00Z\"\n\
                    goal_signature: \"research_web_content_summarize\"\ntask_type: \"research\"\nlearning_source: manual\n\
                    validation_count: 0\ncontext_fingerprint: \"abc123\"\npattern_confidence: 0.85\nid: ";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("extra: \"{\\\"consolidation_threshold\\\":0.95,"),
        "what it claimed is kept: {text}"
    );
    let (_, again) = exported(&noted, Layout::Continuum);
    assert_eq!((again.written.len(), again.conflicts.len()), (0, 0), "{again:?}");
}

#[test]
fn c_what_has_settled_stands_in_logs_that_are_read_back() {
    let noted = Kept::new();
    for number in 0..3 {
        let content = format!("## Not a section\n\n<!--\nid: x\n-->\n\nNumber {number}.");
        let memory =
            NewMemory::new(MemoryKind::Insight, format!("Insight {number}"), content).tags(["a b", "c"]);
        noted.known.save(memory.frequency(Frequency::Low));
    }
    let core = NewMemory::new(MemoryKind::Decision, "Rust", "We write Rust.").frequency(Frequency::UltraLow);
    noted.known.save(core);
    let high = noted.known.save(fix("New").frequency(Frequency::High));
    noted.known.memories.edit(high.id, Edit::default().frequency(Frequency::Mid)).unwrap();
    noted.known.memories.edit(high.id, Edit::default().frequency(Frequency::High)).unwrap();
    let (folder, _) = exported(&noted, Layout::Continuum);
    let files = tree(&folder);
    let paths: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!((paths[0], paths[2], paths.len()), ("SmartLibrary.md", "system/memory_log.md", 3));
    assert!(paths[1].starts_with("memory/short_term/2026-03-01_12-00-00_new-"), "{paths:?}");
    assert!(
        files[paths[1]].contains("frequency_history: [\"high\", \"mid\", \"high\"]\n"),
        "{}",
        files[paths[1]]
    );
    assert!(files[paths[2]].starts_with(
        "---\nmemory_frequency: low\nvolatility: low\nupdate_trigger: consolidation\nretention_policy: persistent\nconfidence_score: 0.8\n\
         ---\n# Memory Log\n\n## Insight 0\n\n<!--\nmemory_frequency: low\n"
    ), "{}", files[paths[2]]);
    let other = Known::new();
    let files: Vec<(String, String)> = files.into_iter().collect();
    import_twice(&other, &files, 5);
    let texts = |known: &Known| {
        let all = known.memories.list(MemoryFilter::default(), None, 99).unwrap();
        let mut texts: Vec<_> =
            all.into_iter().map(|memory| (memory.title, memory.content, memory.tags, memory.kind)).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(&other), texts(&noted.known));
    // A folder has one layout, and only the cognitive layout is synced.
    let at = |layout| {
        noted.known.file.user("alex").unwrap().vault(&folder, VaultOptions::default().layout(layout))
    };
    assert_eq!(at(Layout::Cognitive).sync().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(at(Layout::Entry).export().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(at(Layout::Continuum).sync().unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn c_a_history_is_whole_however_long_it_is() {
    let noted = Kept::new();
    let memory = noted.known.save(fix("New").frequency(Frequency::High));
    noted.known.memories.edit(memory.id, Edit::default().frequency(Frequency::Mid)).unwrap();
    for number in 0..1_001 {
        let importance = if number % 2 == 0 { 0.6 } else { 0.7 };
        noted.known.memories.edit(memory.id, Edit::default().importance(importance)).unwrap();
    }
    let (folder, _) = exported(&noted, Layout::Continuum);
    let files = tree(&folder);
    let [text] = &files.values().collect::<Vec<_>>()[..] else { panic!("{files:?}") };
    assert!(text.contains("frequency_history: [\"high\", \"mid\"]\n"), "{text}");
}

/// As printed in the entry paper.
const DAY: &str = "## 14:30 - Auth Design Decision

Decided to use JWT with 15-minute expiry instead of session tokens. Refresh tokens will last 7 days.

<!--
id: mem_a1b2c3
importance: 0.75
entities: [jwt, session-tokens, refresh-tokens]
links: [{to: mem_xyz, type: alternative_to, weight: 0.8}]
episode: {task: auth-design, outcome: decision}
-->

Tags: #auth #security #architecture
";

#[test]
fn e_the_papers_day_is_read_and_written_as_it_is_printed() {
    let noted = Kept::new();
    let tokens = "## 09:00 - Tokens\n\nSession tokens expire daily.\n\n<!--\nid: mem_xyz\n-->\n";
    let day = ("memory/2026-01-29.md".to_owned(), format!("{tokens}\n{DAY}"));
    import_twice(&noted.known, &[day], 2);
    let [xyz, abc] = ["mem_xyz", "mem_a1b2c3"].map(|id| noted.known.memories.by_caller_id(id).unwrap());
    assert_eq!(
        (abc.kind, &abc.extra["entities"]),
        (MemoryKind::Decision, &serde_json::json!(["jwt", "session-tokens", "refresh-tokens"]))
    );
    let entities = ["jwt", "session-tokens", "refresh-tokens"];
    noted.known.memories.edit(abc.id, Edit::default().entities(entities)).unwrap();
    noted.known.memories.edit(xyz.id, Edit::default().entities(Vec::<String>::new())).unwrap();
    let (folder, report) = exported(&noted, Layout::Entry);
    assert_eq!(report.written, ["MEMORY.md", "memory/2026-01-29.md", "memory/graph.jsonl"]);
    let text = fs::read_to_string(folder.join("memory/2026-01-29.md")).unwrap();
    let printed = DAY.replace("mem_a1b2c3", &abc.id.to_string()).replace("mem_xyz", &xyz.id.to_string());
    assert!(text.ends_with(&format!("-->\n\n{printed}")), "{text}");
    let log = fs::read_to_string(folder.join("memory/graph.jsonl")).unwrap();
    let line = format!(
        "{{\"at\":\"2026-03-01T12:00:00Z\",\"op\":\"add\",\"from\":\"{}\",\"to\":\"{}\",\"type\":\"alternative_to\",\"weight\":0.8}}\n",
        abc.id, xyz.id
    );
    assert_eq!(log, line);
    assert!(exported(&noted, Layout::Entry).1.written.is_empty());
    // The file is only appended to, whatever somebody wrote there.
    fs::write(folder.join("memory/graph.jsonl"), format!("{line}mine")).unwrap();
    let edge = noted.known.memories.neighbours(abc.id, None, 9).unwrap().remove(0).edge.id;
    noted.known.memories.unrelate(edge).unwrap();
    exported(&noted, Layout::Entry);
    let log = fs::read_to_string(folder.join("memory/graph.jsonl")).unwrap();
    assert!(
        log.starts_with(&format!("{line}mine\n{{"))
            && log.contains("\"op\":\"remove\"")
            && log.ends_with("}\n"),
        "{log}"
    );
    assert!(exported(&noted, Layout::Entry).1.written.is_empty());
}

#[test]
fn e_a_day_holds_what_is_not_settled_and_no_text_of_it_becomes_two() {
    let noted = Kept::new();
    let content = "## 10:00 - Not another one\n\n<!--\nid: mem_x\n-->\n\nTags: #no\n\\-->\n end";
    let odd = NewMemory::new(MemoryKind::Procedure, "A [title] -- `x`", content)
        .tags(["two words", "c++", "x--y"])
        .summary("So -- it is.")
        .procedure(Procedure::new(["Run # -->", "Push"]))
        .project("home -- lab")
        .outcome(Outcome::Success)
        .frequency(Frequency::High);
    noted.known.save(odd);
    noted.known.save(fix("Settled").frequency(Frequency::Low));
    noted.known.memories.note(NewNote::new("A note")).unwrap();
    let (folder, _) = exported(&noted, Layout::Entry);
    let files = tree(&folder);
    assert_eq!(files["MEMORY.md"], "# Memory\n- **Settled:** Settled is how it is mended.\n");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["MEMORY.md", "memory/2026-03-01.md"]);
    let other = Known::new();
    let day = ("2026-03-01.md".to_owned(), files["memory/2026-03-01.md"].clone());
    import_twice(&other, &[day], 1);
    let [was, is] = [&noted.known, &other].map(|known| {
        let all = known.memories.list(MemoryFilter::default(), None, 9).unwrap();
        all.into_iter().find(|memory| memory.title.starts_with("A [")).unwrap()
    });
    assert_eq!((is.title, is.content, is.tags, is.kind), (was.title, was.content, was.tags, was.kind));
    assert_eq!((is.procedure, is.summary, is.project), (was.procedure, was.summary, was.project));
}

#[test]
fn e_an_entry_has_all_names_of_the_paper_in_its_order_and_is_read_back() {
    let noted = Kept::new();
    let memory = NewMemory::new(MemoryKind::Decision, "Auth", "We use JWT. It expires.\r\nDaily.")
        .tags(["security"])
        .project("zbooks")
        .entities(["jwt"])
        .outcome(Outcome::Decision)
        .frequency(Frequency::UltraLow);
    let id = noted.known.save(memory).id;
    let other = noted.known.save(fix("Tokens")).id;
    noted.known.memories.relate(other, NewEdge::new(EdgeType::Causes), id).unwrap();
    let text = noted.known.memories.as_file(id, FileFormat::Entry).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("  \""))
        .map(|line| line.trim().split('"').nth(1).unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "id",
            "content",
            "summary",
            "tier",
            "importance",
            "episode",
            "entities",
            "tags",
            "links",
            "retrieval",
            "resurfacing",
            "status",
            "superseded_by",
            "title",
            "frequency",
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        json["links"],
        serde_json::json!([{"to": other.to_string(), "type": "caused_by", "weight": 0.7}])
    );
    assert_eq!((json["tier"].as_str(), json["summary"].as_str()), (Some("long"), Some("We use JWT.")));
    assert_eq!(json["episode"]["outcome"], "decision");
    assert_eq!(json["episode"]["timestamp"], "2026-03-01T12:00:00Z");
    assert_eq!(
        json["retrieval"],
        serde_json::json!({"access_count": 0, "last_accessed": null, "created_at": "2026-03-01T12:00:00Z",
        "decay_rate": null, "current_relevance": 1.0})
    );
    let elsewhere = Known::new();
    import_twice(&elsewhere, &[("a.json".to_owned(), text)], 1);
    let was = noted.known.get(id);
    let is = elsewhere.memories.list(MemoryFilter::default(), None, 9).unwrap().remove(0);
    assert_eq!((is.title, is.content, is.tags, is.kind), (was.title, was.content, was.tags, was.kind));
    assert_eq!((is.summary.as_str(), is.project, is.importance), ("", was.project, was.importance));
    assert_eq!(
        (is.frequency, is.extra["retrieval"]["created_at"].as_str()),
        (Frequency::Mid, Some("2026-03-01T12:00:00Z"))
    );
    let markdown = noted.known.memories.as_file(other, FileFormat::Markdown).unwrap();
    noted.sync();
    let kept = noted.text(&noted.path(other));
    assert_eq!(
        markdown,
        kept.split_inclusive('\n').filter(|line| !line.starts_with("lineage: ")).collect::<String>()
    );
    assert_eq!(
        noted
            .known
            .memories
            .as_file("mem_a1b2c3d4-e5f6-7890-abcd-ef1234567890".parse().unwrap(), FileFormat::Entry)
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn links_stand_behind_a_text_and_are_no_part_of_it() {
    let noted = Kept::new();
    let own = "See below.\n<!-- links -->\n- SOLVES [[mine]]";
    let from = noted.known.save(NewMemory::new(MemoryKind::Fix, "Keepalive", own)).id;
    let [to, third] = ["Drops | [of] Redis", "Pool"].map(|title| noted.known.save(fix(title)).id);
    noted.known.memories.relate(from, NewEdge::new(EdgeType::PartOf), to).unwrap();
    noted.sync();
    let plain = tree(&noted.folder);
    noted.vault(VaultOptions::default().links(true)).init().unwrap();
    let linked = || noted.vault(VaultOptions::default());
    let report = linked().sync().unwrap();
    assert!(report.edited.is_empty() && report.conflicts.is_empty(), "{report:?}");
    let (path, other) = (noted.path(from), noted.path(to));
    let stem = |path: &str| path.rsplit('/').next().unwrap().trim_end_matches(".md").to_owned();
    let block = format!("<!-- links -->\n- PART_OF [[{}|Drops of Redis]]\n", stem(&other));
    assert!(noted.text(&path).ends_with(&format!("{own}\n{block}")), "{}", noted.text(&path));
    assert!(!noted.text(&other).contains("<!-- links"), "the other end has backlinks");
    assert!(linked().sync().unwrap().written.is_empty());
    fs::remove_file(noted.folder.join("_sync.json")).unwrap();
    let report = linked().sync().unwrap();
    assert!(report.edited.is_empty() && report.conflicts.is_empty(), "{report:?}");

    // An edit of the text alone, with a link in it, and a new file with one.
    noted.put(
        &path,
        &noted
            .text(&path)
            .replace("See below.", &format!("See [[{}#why|the pool]].", stem(&noted.path(third)))),
    );
    noted.put("graph/decisions/new.md", &format!("It hangs on [[{other}]] and [[nothing]].\n"));
    let report = linked().sync().unwrap();
    assert_eq!((report.edited.len(), report.saved.len(), report.refused.len()), (1, 1, 0), "{report:?}");
    let edited = noted.known.get(from);
    assert!(
        edited.content.starts_with("See [[pool-") && edited.content.ends_with("\n- SOLVES [[mine]]"),
        "{}",
        edited.content
    );
    let beside = |id| {
        let found = noted.known.memories.neighbours(id, None, 9).unwrap();
        found
            .into_iter()
            .map(|found| (found.memory_id, found.edge.edge_type, found.edge.origin))
            .collect::<Vec<_>>()
    };
    let new = noted.all().into_iter().find(|memory| memory.title == "new").unwrap();
    assert_eq!(beside(third), [(from, EdgeType::RelatedTo, Origin::User)]);
    assert_eq!(beside(new.id), [(to, EdgeType::RelatedTo, Origin::Document)]);
    assert!(
        noted.text(&path).ends_with(&format!("{block}- RELATED_TO [[{}|Pool]]\n", stem(&noted.path(third))))
    );

    // Links follow new titles. Files without links are as before, except for what was edited.
    noted.known.memories.edit(third, Edit::default().title("Pool of 20")).unwrap();
    linked().sync().unwrap();
    assert!(noted.text(&path).ends_with("|Pool of 20]]\n"));
    assert!(linked().sync().unwrap().written.is_empty());
    noted.vault(VaultOptions::default()).init().unwrap();
    noted.sync();
    noted.check_quiet();
    assert!(
        noted.text(&path).ends_with("- SOLVES [[mine]]\n<!-- links: none -->\n"),
        "{}",
        noted.text(&path)
    );
    assert!(plain[&path].ends_with("- SOLVES [[mine]]\n<!-- links: none -->\n"));
}

/// Pseudo-random numbers, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn text(&mut self, parts: usize) -> String {
        const PARTS: [&str; 22] = [
            "word",
            " ",
            "日本",
            "é",
            "\"",
            "'",
            ": ",
            " #",
            "---",
            "\n",
            "[x]",
            "{y}",
            "- ",
            "\\",
            "🦀",
            "<!-- links -->",
            "&",
            "*",
            "|",
            "\t",
            "5",
            "\n\n",
        ];
        let count = 1 + self.below(parts);
        (0..count).map(|_| PARTS[self.below(PARTS.len())]).collect()
    }
}

/// Creates this many memories of all kinds, with any content, edges, uses and notes, and a few that are replaced. Returns by
/// how much the clock advanced.
fn generate(known: &Known, count: usize) -> TimeDelta {
    let mut taken = TimeDelta::zero();
    let mut wait = |milliseconds| {
        known.fixture.clock.advance(TimeDelta::milliseconds(milliseconds));
        taken += TimeDelta::milliseconds(milliseconds);
    };
    let mut numbers = Numbers(7);
    let mut ids: Vec<MemoryId> = Vec::new();
    for number in 0..count {
        wait(1_700);
        let kind = MemoryKind::ALL[numbers.below(MemoryKind::ALL.len())];
        let content = format!("{}x{number}{}", numbers.text(9), numbers.text(9));
        let mut memory = NewMemory::new(kind, format!("{} {number}", numbers.text(4)), content)
            .tags((0..numbers.below(3)).map(|n| format!("t{n}{}", numbers.text(3))))
            .summary(if number % 3 == 0 { numbers.text(5) } else { String::new() })
            .importance(f64::from(u32::try_from(numbers.below(1_000)).unwrap()) / 1_000.0);
        if kind == MemoryKind::Procedure {
            memory =
                memory.procedure(Procedure::new([format!("Run {}", numbers.text(4)), "Push".to_owned()]));
        }
        if number % 5 == 0 {
            memory = memory.project(format!("p{}", numbers.below(4))).task_type(TaskType::Research);
        }
        if number % 7 == 0 {
            memory = memory.goal_signature(format!("slot {}", numbers.below(2)));
        }
        if number % 11 == 0 {
            memory = memory
                .information_type(InformationType::Dynamic)
                .validity_window(std::time::Duration::from_hours(6));
        }
        if number % 13 == 0 {
            memory = memory.frequency(Frequency::High).confidence(0.33);
        } else if number % 11 != 0 && number % 17 == 0 {
            memory = memory.frequency(if number % 2 == 0 { Frequency::Low } else { Frequency::UltraLow });
        }
        if number % 19 == 0 {
            memory = memory.pinned();
        }
        let origin = [Origin::User, Origin::Assistant, Origin::Document]
            [if number % 17 == 0 { 0 } else { numbers.below(3) }];
        let id = known.memories.save(memory.origin(origin)).unwrap().memory.id;
        if number > 0 && number % 2 == 0 {
            let types: Vec<EdgeType> = EdgeType::ALL
                .iter()
                .copied()
                .filter(|edge| !matches!(edge, EdgeType::Supersedes | EdgeType::Contradicts))
                .collect();
            let mut edge = NewEdge::new(types[numbers.below(types.len())]).context(numbers.text(3));
            if number % 6 == 0 {
                edge = edge.description(format!("{} why {number}", numbers.text(5)));
            }
            let other = ids[numbers.below(ids.len())];
            if other != id {
                known.memories.relate(id, edge.strength(0.25), other).unwrap();
            }
        }
        if number % 9 == 0 {
            known.memories.used(id, thermocline::Use::default()).unwrap();
        }
        if number % 23 == 0 {
            let note = NewNote::new(format!("Note {number} {}", numbers.text(3)))
                .summary(numbers.text(4))
                .tags(["n"]);
            known.memories.note(if number % 2 == 0 { note.memory(id) } else { note }).unwrap();
        }
        if number % 29 == 0 {
            wait(100);
            let archived = NewMemory::new(kind, format!("Replaced {number}"), format!("Was {number}."))
                .origin(Origin::User);
            let old = known.memories.save(archived).unwrap().memory.id;
            // A memory that waits takes no other memory's place.
            let _ = known.memories.supersede_by(old, id);
        }
        ids.push(id);
    }
    taken
}

#[test]
fn a_vault_is_restored_into_an_empty_user_as_it_was() {
    let count = if cfg!(debug_assertions) { 300 } else { 1_000 };
    let count = std::env::var("THERMOCLINE_VAULT_MEMORIES").map_or(count, |count| count.parse().unwrap());
    let noted = Kept::new();
    let taken = generate(&noted.known, count);
    let exported = |noted: &Kept| noted.vault(VaultOptions::default()).export().unwrap();
    exported(&noted);
    assert!(exported(&noted).written.is_empty());
    let first = tree(&noted.folder);
    let other = Kept::new();
    other.known.fixture.clock.advance(taken);
    let files: Vec<(String, String)> = first.clone().into_iter().collect();
    let report = other.known.memories.restore_files(files.clone()).unwrap();
    assert_eq!((report.refused.len(), report.unrelated), (0, 0), "{report:?}");
    assert_eq!(report.saved, noted.all().len() as u64);
    exported(&other);
    let second = tree(&other.folder);
    // Files have seconds; the sixth digit of a score may depend on the milliseconds of the last use.
    let is_compared = |line: &&str| {
        !line.contains("decay_score") && !line.starts_with("lineage: ") && !line.contains("\"salt\"")
    };
    for (path, text) in &first {
        let other = second.get(path).map_or("", String::as_str);
        let pairs = text.lines().filter(is_compared).zip(other.lines().filter(is_compared));
        let differs = pairs.into_iter().find(|(one, other)| one != other);
        assert_eq!((differs, other.lines().count()), (None, text.lines().count()), "{path}");
    }
    assert_eq!(second.len(), first.len());
    assert!(exported(&other).written.is_empty());
    other.check_quiet();
    other.known.check_sound();
    assert_eq!(
        noted.all().into_iter().map(|memory| memory.id).collect::<Vec<_>>(),
        other.all().into_iter().map(|memory| memory.id).collect::<Vec<_>>()
    );
    let asked = |known: &Known| {
        let found = known.memories.reviews(ReviewFilter::default(), None, 1_000).unwrap();
        let mut pairs: Vec<_> = found.into_iter().map(|review| (review.memory_id, review.other_id)).collect();
        pairs.sort();
        pairs
    };
    assert_eq!(asked(&other.known), asked(&noted.known), "what waits for a person waits here, too");
    assert!(!asked(&noted.known).is_empty());
    // A restore is refused unless the user is empty.
    let refused = other.known.memories.restore_files(files.clone()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let blake = other.known.file.user("blake").unwrap();
    assert_eq!(
        blake.memories().restore_files(files).unwrap_err().kind(),
        ErrorKind::Conflict,
        "the ids are taken"
    );
    assert_eq!(blake.memories().list(MemoryFilter::default(), None, 9).unwrap().len(), 0);
    assert_eq!(tree(&other.folder), second);
}

#[test]
fn a_vault_with_a_file_that_cannot_be_restored_is_restored_in_no_part() {
    let known = Known::new();
    let good = "---\nid: 0199aaaa-0000-7000-8000-00000000000a\ntitle: \"A\"\n---\nx\n";
    for (bad, line) in [
        ("---\nimportance: 2\n---\nx\n", Some(2)),
        ("---\ntitle: \"no id\"\n---\nx\n", None),
        ("---\nid: 0199aaaa-0000-7000-8000-00000000000a\ntitle: \"twice\"\n---\nx\n", None),
        ("---\nid: 0199aaaa-0000-7000-8000-00000000000b\n---\nno title\n", None),
        ("---\nid: 0199aaaa-0000-7000-8000-00000000000b\ntitle: \"B\"\nstatus: quarantined\n---\nx\n", None),
        (
            "---\nid: 0199aaaa-0000-7000-8000-00000000000b\ntitle: \"B\"\norigin: tool\nmemory_frequency: low\n---\nx\n",
            None,
        ),
    ] {
        let files = [("graph/fixes/a.md", good), ("graph/fixes/b.md", bad), ("CORE.md", "---\nno head")];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let report = known.memories.restore_files(files).unwrap();
        assert_eq!((report.saved, report.refused.len()), (0, 1), "{bad}: {report:?}");
        assert_eq!((report.refused[0].path.as_str(), report.refused[0].line), ("graph/fixes/b.md", line));
    }
    assert_eq!(known.memories.list(MemoryFilter::default(), None, 9).unwrap().len(), 0);
    let approved =
        "---\nid: 0199aaaa-0000-7000-8000-00000000000b\ntitle: \"B\"\nmemory_frequency: ultra-low\n---\nx\n";
    let files = [("graph/fixes/a.md", good), ("vault/b.md", approved)];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(known.memories.restore_files(files).unwrap().saved, 2);
    let found = known.memories.get("mem_0199aaaa-0000-7000-8000-00000000000b".parse().unwrap()).unwrap();
    assert_eq!(
        (found.trust, found.pinned, found.frequency),
        (thermocline::Trust::Approved, true, Frequency::UltraLow)
    );
    known.check_sound();
}

#[test]
fn vectors_are_a_file_where_they_are_asked_for() {
    let noted = Kept::new();
    let ids = ["Redis drops connections", "The cat sleeps"].map(|title| noted.known.save(fix(title)).id);
    noted.sync();
    assert!(!noted.folder.join("_embeddings.json").exists());
    noted.vault(VaultOptions::default().embeddings(true)).init().unwrap();
    let with = || noted.vault(VaultOptions::default());
    assert_eq!(with().sync().unwrap().written, ["_embeddings.json"]);
    let json: serde_json::Value = serde_json::from_str(&noted.text("_embeddings.json")).unwrap();
    assert_eq!(json["model"], "built_in");
    for id in ids {
        let numbers = json["entries"][id.as_uuid().to_string()].as_array().unwrap();
        let length: f64 = numbers.iter().map(|number| number.as_f64().unwrap().powi(2)).sum();
        assert!(numbers.len() == 256 && (length - 1.0).abs() < 0.01, "{length}");
    }
    noted.known.fixture.clock.advance(TimeDelta::days(1));
    assert!(!with().sync().unwrap().written.contains(&"_embeddings.json".to_owned()));
    noted.vault(VaultOptions::default()).init().unwrap();
    noted.sync();
    assert!(!noted.folder.join("_embeddings.json").exists(), "nobody asks for it any more");
}

#[test]
fn a_file_whose_memory_was_replaced_is_known_and_not_saved_again() {
    let noted = Kept::new();
    let memories = &noted.known.memories;
    let file = ("a.md".to_owned(), "---\nid: a\ntype: fix\n---\n# Restart\n\nRestart it.\n".to_owned());
    assert_eq!(memories.import_files(vec![file.clone()], Origin::User).unwrap().saved, 1);
    let replaced = memories.by_caller_id("a").unwrap();
    memories.supersede(replaced.id, fix("Reload it").origin(Origin::User)).unwrap();
    let report = memories.import_files(vec![file], Origin::User).unwrap();
    assert_eq!((report.saved, report.known), (0, 1), "{report:?}");
    assert_eq!(noted.known.get(replaced.id).status, MemoryStatus::Superseded);
}

/// As printed in the cognitive paper; its relations are at the left margin, and refer to memories that do not exist.
#[test]
fn g_the_papers_sample_is_imported_and_written_in_its_form() {
    let sample = "---\nid: a1b2c3d4-e5f6-7890-abcd-ef1234567890\ntype: solution\ntitle: \"Fixed Redis connection timeouts\"\n\
                  tags: [redis, timeout, production, homelab]\nimportance: 0.8\nconfidence: 0.8\ncreated: 2025-12-06T16:25:58+00:00\n\
                  updated: 2025-12-06T16:25:58+00:00\nrelations:\n- target: def789ab-...\ntype: SOLVES\ndirection: outgoing\n\
                  strength: 0.8\ncontext: \"Keepalive prevents idle disconnections\"\n---\n\
                  Added socket_keepalive=True and socket_timeout=300 to Redis connection configuration.\n";
    let noted = Kept::new();
    let files = [("graph/solutions/fixed-redis-connection-timeouts-567890.md".to_owned(), sample.to_owned())];
    import_twice(&noted.known, &files, 1);
    noted.sync();
    let memory = noted.all().remove(0);
    let text = noted.text(&noted.path(memory.id));
    let (head, _) = sample.split_once("updated").unwrap();
    let expected = head.replace("a1b2c3d4-e5f6-7890-abcd-ef1234567890", &memory.id.as_uuid().to_string());
    assert!(text.starts_with(&expected), "{text}");
    let kept = "relations:\n  - target: def789ab-...\n    type: SOLVES\n    direction: outgoing\n    strength: 0.8\n    \
                context: \"Keepalive prevents idle disconnections\"\n";
    assert!(text.contains(kept), "{text}");
    noted.check_quiet();
}
