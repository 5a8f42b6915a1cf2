//! Tests that any file is either read or refused, quickly, and that what was read is written so that it reads back the same.
//!
//! The tests read 20,000 files, made from the same seed each time, and long files of 128 KiB. If
//! `THERMOCLINE_VAULT_FILES` is set, they read that many files, and long files of 1 MiB.

use std::time::Duration;

use chrono::DateTime;

use crate::{
    clock::Stopwatch,
    model::turn::Origin,
    vault::{edge_file::EdgeFile, file::MemoryFile, foreign, restore},
};

/// The parts that files are made from.
const PARTS: &[&str] = &[
    "---\n",
    "\n",
    "\r\n",
    "id: ",
    "type: ",
    "title: ",
    "tags: ",
    "importance: ",
    "steps:\n",
    "relations:\n",
    "validation:\n",
    "created: ",
    "validity_window: ",
    "extra: ",
    "edge_type: ",
    "strength: ",
    "from_id: ",
    "- ",
    "  - ",
    "    ",
    "  ",
    "target: ",
    "x: ",
    ": ",
    ":",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "\"",
    "'",
    "\\",
    "\\u00",
    "#",
    " # so",
    "&a",
    "*a",
    "!!str ",
    "<<: ",
    "|",
    ">",
    "fix",
    "decision",
    "0.5",
    "1e999",
    "-1",
    "NaN",
    "null",
    "2025-12-06T16:25:58+00:00",
    "9999999999999w",
    "6h",
    "SOLVES",
    "part_of",
    "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
    "../../etc/passwd",
    "é",
    "日本",
    "\u{feff}",
    "\u{2028}",
    "\0",
    "## 14:30 - Title\n",
    "## 23:59 - x\n",
    "+262142-12-31 23:59",
    "-262143-01-01",
    "created: ",
    "- **Memory:** [a](../graph/fixes/a.md)\n",
    "- **Tags:** a, b\n",
    "<!--\n",
    "-->\n",
    "Tags: #a\n",
    "Text.\n",
    "<!-- links -->\n",
    "- SOLVES [[a|b]]\n",
    "{\"id\": \"a\", \"content\": \"b\"",
    "\"{\\\"a\\\":1}\"",
    "memory_frequency: low\n",
];

/// The maximum time for a file of the maximum length.
const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_000 } else { 50 });

struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, most: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).expect("it has 31 bits") % most
    }

    fn file(&mut self) -> String {
        let mut file = String::new();
        if self.below(4) > 0 {
            file += "---\n";
        }
        for _ in 0..self.below(40) {
            file += PARTS[self.below(PARTS.len())];
        }
        if self.below(3) > 0 {
            file += "\n---\n";
        }
        for _ in 0..self.below(6) {
            file += PARTS[self.below(PARTS.len())];
        }
        file
    }

    /// Returns a valid file with some of its characters lost, doubled or replaced.
    fn damaged(&mut self, file: &str) -> String {
        let mut chars: Vec<char> = file.chars().collect();
        for _ in 0..=self.below(4) {
            let at = self.below(chars.len());
            match self.below(3) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, chars[at]),
                _ => chars[at] = PARTS[self.below(PARTS.len())].chars().next().unwrap_or('x'),
            }
            if chars.is_empty() {
                break;
            }
        }
        chars.into_iter().collect()
    }
}

/// Reads a file in every way, and returns how many ways succeeded.
fn read(file: &str) -> usize {
    let mut ways = 0;
    if let Ok(read) = MemoryFile::read(file) {
        ways += 1;
        let written = read.write();
        assert_eq!(MemoryFile::read(&written).as_ref(), Ok(&read), "{file:?}\n{written}");
    }
    if let Ok(read) = EdgeFile::read(file) {
        ways += 1;
        assert_eq!(EdgeFile::read(&read.write()).as_ref(), Ok(&read), "{file:?}");
    }
    let days = ["2026-03-01", "+262142-12-31"].map(|day| (format!("episodes/{day}.md"), file.to_owned()));
    let vault =
        [("graph/fixes/a.md".to_owned(), file.to_owned()), (restore::STATE.to_owned(), file.to_owned())];
    if let Ok(read) = restore::read(&[&vault[..], &days].concat(), DateTime::UNIX_EPOCH) {
        ways += usize::from(read.restored.into_import().is_ok());
    }
    ways + usize::from(foreign::read("2026-01-29.md", file, Origin::Document).is_ok())
}

#[test]
#[expect(clippy::print_stdout, reason = "whoever measures asks for it")]
fn whatever_files_say_they_are_read_or_refused_and_written_as_they_were_read() {
    const SOUND: &str = "---\nid: a1b2c3d4-e5f6-7890-abcd-ef1234567890\ntype: procedure\ntitle: \"A: b\"\ntags: [redis, \"x #5\"]\n\
                         importance: 0.8\nsteps:\n  - \"Run\"\nrelations:\n  - target: b\n    type: SOLVES\n    direction: outgoing\n\
                         validation:\n  validated_by: \"fs\"\n  reliability: 0.5\nx: {a: [1, null], b: \"c\"}\nextra: \"{\\\"status\\\":1}\"\n\
                         ---\nText.\n";
    let files =
        std::env::var("THERMOCLINE_VAULT_FILES").map_or(20_000, |files| files.parse().expect("a number"));
    let (mut numbers, mut ways, mut longest) = (Xorshift(7), 0, Duration::ZERO);
    for number in 0..files {
        let file = if number % 2 == 0 { numbers.file() } else { numbers.damaged(SOUND) };
        let begun = Stopwatch::start();
        ways += read(&file);
        longest = longest.max(begun.elapsed());
    }
    assert!(ways > files / 2, "of {files} files {ways} were read: most say nothing");
    println!("{files} files, read in {ways} ways, the longest took {longest:?}");
}

#[test]
#[expect(clippy::print_stdout, reason = "whoever measures asks for it")]
fn no_file_takes_longer_than_its_length_lets_it() {
    let is_whole = std::env::var_os("THERMOCLINE_VAULT_FILES").is_some();
    let long = if is_whole { 1 << 20 } else { 128 << 10 };
    let (mut longest, mut longest_foreign) = (Duration::ZERO, Duration::ZERO);
    for part in PARTS.iter().chain(&[
        "a: 1\n",
        "- x\n",
        "  - x\n",
        "- a: b\n",
        "[1, ",
        "{a: ",
        "'",
        "\\\"",
        "# x\n",
        "x x ",
        "a, ",
        "## a\n\n<!--\n",
        "\\",
        "- SOLVES [[a|b]]\n",
        "Dr. A. b? ",
        "\r",
        "-- ",
    ]) {
        for before in [
            "",
            "---\n",
            "---\na: ",
            "---\na: [",
            "---\na: {",
            "---\nrelations:\n",
            "---\na: \"",
            "---\n---\n",
            "## 14:30 - a\n<!--\n",
            "{\"content\": \"",
        ] {
            let file = before.to_owned() + &part.repeat((long - before.len()) / part.len());
            let begun = Stopwatch::start();
            drop(MemoryFile::read(&file));
            drop(EdgeFile::read(&file));
            let taken = begun.elapsed();
            longest = longest.max(taken);
            assert!(taken < MOST, "{before:?} and {part:?}: {taken:?}");
            let begun = Stopwatch::start();
            drop(foreign::read("2026-01-29.md", &file, Origin::Document));
            let taken = begun.elapsed();
            longest_foreign = longest_foreign.max(taken);
            assert!(taken < 10 * MOST, "{before:?} and {part:?}, of another program: {taken:?}");
        }
    }
    println!("files of {long} bytes took {longest:?} at most, those of other programs {longest_foreign:?}");
}
