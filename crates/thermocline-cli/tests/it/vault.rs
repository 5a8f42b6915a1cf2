//! The binary creates, writes and reads a folder of files, and imports the files of other programs.

use std::fs;

use crate::shell::Shell;

#[test]
fn a_folder_is_made_a_vault_written_edited_and_read_back() {
    let shell = Shell::with_talk();
    let run = |args: &[&str]| {
        let ended = shell.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        ended
    };
    shell.memory_json(
        "save",
        &["Redis timeouts", "Keepalive fixes them.", "--kind", "fix", "--caller-id", "ka"],
    );
    let notes = shell.path("notes").display().to_string();
    let refused = shell.run(&["vault", "sync", &notes, "--user", "alex"]);
    assert!(refused.code != 0 && !fs::exists(&notes).unwrap(), "{}", refused.stderr);
    run(&["vault", "init", &notes, "--user", "alex"]);
    let written = run(&["vault", "sync", &notes, "--user", "alex", "--json"]).json();
    let paths: Vec<&str> =
        written["written"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    let fix = paths.iter().find(|path| path.starts_with("graph/fixes/redis-timeouts-")).unwrap();
    let file = shell.path("notes").join(fix);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("Keepalive fixes", "A keepalive of 300 s fixes")).unwrap();
    let told = run(&["vault", "status", &notes, "--user", "alex"]).stdout;
    assert!(told.starts_with(&format!("1 edited by you, to be saved:\n  {fix}\n")), "{told}");
    let told = run(&["vault", "sync", &notes, "--user", "alex"]).stdout;
    assert!(told.starts_with(&format!("1 edited by you, saved:\n  {fix}\n")), "{told}");
    assert_eq!(shell.memory_json("show", &["ka"])["content"], "A keepalive of 300 s fixes them.");
    let told = run(&["vault", "sync", &notes, "--user", "alex"]).stdout;
    assert!(told.ends_with(" unchanged\n") && told.lines().count() == 1, "{told}");
}

#[test]
fn files_of_other_programs_are_taken_in_and_what_cannot_be_read_is_named() {
    let shell = Shell::with_talk();
    fs::create_dir(shell.path("old")).unwrap();
    shell.write("old/a.md", "---\nid: a\ntype: fix\ntitle: \"Keepalive\"\n---\nIt holds.\n");
    shell.write("old/b.md", "---\ntype: rumour\n---\nx\n");
    shell.write("old/_index.json", "{}");
    let old = shell.path("old").display().to_string();
    let told = shell.memory("import", &[&old]).stdout;
    assert!(told.starts_with("saved 1, known 0,"), "{told}");
    assert!(told.contains("b.md, line 2: it is not one of the words allowed here"), "{told}");
    assert!(shell.memory("import", &[&old]).stdout.starts_with("saved 0, known 1,"));
}

#[test]
fn the_forms_of_the_papers_are_written_and_a_vault_is_restored() {
    let shell = Shell::with_talk();
    let run = |args: &[&str]| {
        let ended = shell.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        ended
    };
    shell.memory_json(
        "save",
        &["Redis timeouts", "Keepalive fixes them. Always.", "--kind", "fix", "--caller-id", "ka"],
    );
    let at = |name: &str| shell.path(name).display().to_string();
    let (traces, days, notes) = (at("traces"), at("days"), at("notes"));
    let told = run(&["vault", "export", &traces, "--user", "alex", "--layout", "continuum"]).stdout;
    assert!(told.contains("memory/long_term/execution_trace_redis-timeouts_v1.md\n"), "{told}");
    let told = run(&["vault", "export", &days, "--user", "alex", "--layout", "entry"]).stdout;
    assert!(told.starts_with("2 written:\n  MEMORY.md\n  memory/"), "{told}");
    let refused = shell.run(&["vault", "sync", &days, "--user", "alex"]);
    assert!(refused.code != 0 && refused.stderr.contains("has the layout entry"), "{}", refused.stderr);
    let entry = shell.memory("show", &["ka", "--format", "entry"]).stdout;
    assert!(entry.starts_with("{\n  \"id\": \"mem_") && entry.contains("\"tier\": \"medium\""), "{entry}");
    assert!(shell.memory("show", &["ka", "--format", "markdown"]).stdout.starts_with("---\nid: "));

    run(&["vault", "init", &notes, "--user", "alex", "--links", "--embeddings"]);
    run(&["vault", "sync", &notes, "--user", "alex"]);
    assert!(shell.path("notes/_embeddings.json").exists());
    let refused = shell.memory("import", &["--restore", &notes]);
    assert!(refused.stderr.contains("this user already has a memory"), "{}", refused.stderr);
    let other = shell.path("other.db").display().to_string();
    let run_there = |args: &[&str]| run(&[&["--db", &other], args].concat());
    let told = run_there(&["memory", "import", "--user", "alex", "--restore", &notes]).stdout;
    assert_eq!(told, "restored 1 memories, 0 relations between them\n");
    let told = run_there(&["memory", "list", "--user", "alex"]).stdout;
    assert!(told.contains("Redis timeouts"), "{told}");
}
