//! Runs sections of README, `docs/knowledge.md` and `docs/stories.md` as printed, so that they cannot differ from what
//! the binary does.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::shell::{Ended, Shell, ended};

/// Returns the text below a heading (`##`) of a page in the repository, up to the next one. Lines in code blocks are no
/// headings, even if they look like some.
fn section(page: &str, heading: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let (page, mut section) = (fs::read_to_string(path).unwrap(), String::new());
    let (mut is_here, mut is_code) = (false, false);
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        match line.strip_prefix("## ").filter(|_| !is_code) {
            Some(name) => is_here = name == heading,
            None if is_here => {
                section.push('\n');
                section.push_str(line);
            }
            None => {}
        }
    }
    section
}

/// Returns the commands in a section's sessions, each with its output. Sessions are the code blocks marked as `console`.
fn commands(section: &str) -> Vec<(&str, &str)> {
    let blocks = section.split("\n```").skip(1).step_by(2);
    let sessions = blocks.filter_map(|block| block.strip_prefix("console\n"));
    let told = sessions.flat_map(|session| session.strip_prefix("$ ").unwrap().split("\n$ "));
    told.map(|told| told.split_once('\n').unwrap_or((told, ""))).collect()
}

/// Runs a command line with the binary, as a script does, without a terminal.
fn run(shell: &Shell, line: &str) -> Ended {
    let binary = env!("CARGO_BIN_EXE_thermocline");
    let script = format!("thermocline() {{ '{binary}' \"$@\"; }}\n{line}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(shell.folder.path()).stdin(Stdio::null());
    ended(&command.env_remove("THERMOCLINE_DB").env_remove("THERMOCLINE_SENSORS").output().unwrap())
}

/// Runs the sessions of a section in one folder, and compares everything that they print to stdout.
#[track_caller]
fn check(page: &str, heading: &str, count: usize) {
    let (section, shell) = (section(page, heading), Shell::new());
    let told = commands(&section);
    assert_eq!(told.len(), count, "{heading}");
    for (line, expected) in told {
        let ended = run(&shell, line);
        assert_eq!(ended.code, 0, "{line}: {}", ended.stderr);
        let (printed, expected) = (timeless(&ended.stdout), timeless(expected));
        let lines = |text| str::trim_end(text).lines().collect::<Vec<_>>();
        assert!(fits(&lines(&expected), &lines(&printed)), "{line}\nprints\n{printed}\nand not\n{expected}");
    }
    assert_eq!(run(&shell, "thermocline doctor").code, 0);
}

/// Whether the output has exactly these lines. A line `...` matches any number of lines.
fn fits(expected: &[&str], printed: &[&str]) -> bool {
    match (expected, printed) {
        ([], printed) => printed.is_empty(),
        (["...", expected @ ..], _) => (0..=printed.len()).any(|some| fits(expected, &printed[some..])),
        ([line, expected @ ..], [first, printed @ ..]) => line_fits(line, first) && fits(expected, printed),
        (_, []) => false,
    }
}

/// Whether the output has this line. `...` in it matches any text.
fn line_fits(expected: &str, printed: &str) -> bool {
    let Some((before, expected)) = expected.split_once("...") else { return expected == printed };
    let Some(printed) = printed.strip_prefix(before) else { return false };
    printed.char_indices().any(|(at, _)| line_fits(expected, &printed[at..])) || expected.is_empty()
}

/// Replaces what differs in every run: ids, times, and what is made from ids.
fn timeless(text: &str) -> String {
    const ENDS: [char; 5] = [' ', '\n', ',', ')', '_'];
    let is_id = |part: &str| part.len() == 36 && part.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_digits = |part: &str, mark: char| {
        part.len() >= 5 && part.contains(mark) && part.chars().all(|c| c.is_ascii_digit() || c == mark)
    };
    let parts = text.split_inclusive(ENDS);
    let timeless = |part: &str| {
        let word = part.trim_end_matches(ENDS);
        let end = &part[word.len()..];
        match word {
            word if is_id(word) => format!("ID{end}"),
            word if is_digits(word, '-') || is_digits(word, ':') => format!("TIME{end}"),
            word => match word.strip_suffix(".md").and_then(|name| name.rsplit_once('-')) {
                Some((name, digits)) if digits.len() == 6 => format!("{name}-ID.md{end}"),
                _ => format!("{word}{end}"),
            },
        }
    };
    parts.map(timeless).collect()
}

#[test]
fn what_is_left_out_of_a_page_is_what_its_dots_stand_for() {
    for (expected, printed, holds) in [
        (&["a ... c", "..."][..], &["a b c"][..], true),
        (&["a...", "...", "d"], &["a", "b", "c", "d"], true),
        (&["a ... c"], &["a b d"], false),
        (&["a"], &["a", "b"], false),
        (&["...", "b"], &["a"], false),
        (&[], &["a"], false),
    ] {
        assert_eq!(fits(expected, printed), holds, "{expected:?} {printed:?}");
    }
    assert_eq!(timeless("since 2026-11-24 12:00, a-b-67fab1.md)"), "since TIME TIME, a-b-ID.md)");
}

#[test]
fn the_readmes_memories_are_printed_as_it_says() {
    check("README.md", "What memories are for", 4);
    check("docs/knowledge.md", "Memories", 8);
}

#[test]
fn a_coding_agent_finds_next_week_what_it_learned_today() {
    check("docs/stories.md", "1. A coding agent", 12);
}

#[test]
fn an_operations_assistants_facts_go_stale_and_a_person_decides() {
    check("docs/stories.md", "3. An operations assistant whose facts go stale", 15);
}
