//! Starts other processes: this test binary runs itself, with the name of the task.
//!
//! A child's lines start with a mark, since the test harness prints lines of its own.

use std::{
    env,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const WHAT: &str = "THERMOCLINE_TEST_CHILD";
const MARK: &str = "child: ";

/// A running child.
pub struct Running {
    pub process: Child,
    pub stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Returns the next line that the child prints; `None` once it has ended.
    pub fn line(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.split_once(MARK).map(|(_, said)| said.to_owned()) // The harness may have begun the line.
        })
    }

    /// Returns all lines until the child ends; it must end normally.
    pub fn lines(&mut self) -> Vec<String> {
        let said: Vec<String> = std::iter::from_fn(|| self.line()).collect();
        assert!(self.process.wait().unwrap().success(), "the child failed after {said:?}");
        said
    }
}

/// Starts a child that does `what`.
pub fn start(what: &str, args: &[&str]) -> Running {
    spawn(Command::new(env::current_exe().unwrap()), what, args)
}

pub fn spawn(mut command: Command, what: &str, args: &[&str]) -> Running {
    let mut process = command
        .args(["children::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(WHAT, [&[what], args].concat().join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (stdin, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
    Running { process, stdin, lines: BufReader::new(stdout).lines() }
}

/// Starts a child to which file permissions apply. Root can access everything, so if the tests run as root, the child runs
/// as the user `nobody`, from a copy of this binary that `nobody` may execute.
#[cfg(unix)]
pub fn as_nobody(what: &str, args: &[&str]) -> Running {
    use std::os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    };
    let binary = tempfile::tempdir().unwrap();
    let copy = binary.path().join("child");
    std::fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    for path in [binary.path(), &copy] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&copy);
    if binary.path().metadata().unwrap().uid() == 0 {
        command.uid(65_534);
    }
    spawn(command, what, args) // The child runs, so its binary may be deleted.
}

/// Sends a line to the parent.
pub fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{MARK}{line}").unwrap();
    stdout.flush().unwrap();
}

/// Not a test by itself: what a child does. Without a parent it does nothing.
#[test]
fn child() {
    let Ok(told) = env::var(WHAT) else { return };
    let told: Vec<&str> = told.split('\n').collect();
    match told[..] {
        ["open_new", path] => crate::opening::child_opens_a_new_file(path),
        ["open_read_only", folder, kind] => crate::opening::child_opens_what_it_may_not_write(folder, kind),
        ["look", path] => crate::read_only::child_looks(path),
        ["record", path, name] => crate::crash::child_records_until_killed(path, name),
        ["record_200", path, name] => crate::crash::child_records_200(path, name),
        ["record_on_full_disk", path] => crate::crash::child_records_on_a_full_disk(path),
        ["change_turns", path, seed] => crate::one_turn::child_changes_turns_until_killed(path, seed),
        ["compress", path, now] => crate::swap_kill::child_compresses(path, now),
        ["embed", path, now] => crate::recall::child_embeds(path, now),
        ["recall", path, now, name, query] => crate::recall::child_recalls(path, now, name, query),
        ["erase", path, now, name] => crate::erase::child_erases(path, now, name),
        ["save_memories", path] => crate::memories::child_saves(path),
        ["take_a_slot", path, first] => crate::memories::child_takes_a_slot(path, first),
        #[cfg(feature = "files")]
        ["sync_vault", path, folder, now] => crate::vault::child_syncs(path, folder, now),
        _ => panic!("no child knows {told:?}"),
    }
}
