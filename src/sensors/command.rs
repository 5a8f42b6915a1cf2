//! A sensor that runs programs that the configuration names: a build, a test, anything that answers yes or no.
//!
//! A program that does not end in time, or writes too much, is killed, with its whole process group where possible. It is
//! also waited for, so that it leaves no zombie.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Read,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::{
    clock::Deadline,
    error::{Error, Result},
    model::sensor::{CheckVerdict, Expect, UnknownReason},
    sensors::{Sensor, SensorTraits, checked_subject, read, set_traits},
};

/// The maximum size of output that is read: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;
/// How long to wait between two checks for the end of a program that closed its output.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Runs programs that the configuration names, and checks how they end. By default its name is `code`, its reliability 1.0,
/// and it has no window, so a pass holds as long as the memory's own window or its volatility says. Without a configured
/// command it runs nothing.
///
/// A subject is the name of a command. The expectation has `exit_code` (default 0) and `contains` (a text in the program's
/// standard output). A program ended by a signal fails. If the program could not be started, did not end and close its
/// output by the deadline, or wrote more than 1 MiB, the sensor cannot tell.
///
/// No part of a command comes from a memory, and no shell interprets it. It runs in the folder given for it, with an empty
/// environment and no input; its standard error is discarded. At the deadline, or once it has written too much, it is
/// killed: on Unix with the feature `files` together with its process group, otherwise alone.
#[derive(Clone, Debug)]
pub struct CommandSensor {
    traits: SensorTraits,
    commands: BTreeMap<String, Argv>,
}

#[derive(Clone, Debug)]
struct Argv {
    program: PathBuf,
    args: Vec<OsString>,
    folder: PathBuf,
}

set_traits!(CommandSensor);

impl CommandSensor {
    /// Creates a sensor that may not run anything yet.
    pub fn new() -> Self {
        Self { traits: SensorTraits::new("code", 1.0), commands: BTreeMap::new() }
    }

    /// Allows this program to be run with these arguments in this folder. Memories refer to the command by this name.
    ///
    /// Errors: `InvalidInput` for a name that is empty, longer than 256 bytes, or contains a colon or control characters,
    /// and for a program or folder that is not an absolute path: `PATH` is not searched.
    pub fn command<A: Into<OsString>>(
        mut self,
        name: impl Into<String>,
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item = A>,
        folder: impl Into<PathBuf>,
    ) -> Result<Self> {
        let name = checked_subject("name of a command", name)?;
        let (program, folder) = (program.into(), folder.into());
        if !program.is_absolute() || !folder.is_absolute() {
            return Err(Error::invalid(format!(
                "the program and the folder of the command {name} must be absolute paths"
            )));
        }
        let args = args.into_iter().map(Into::into).collect();
        self.commands.insert(name, Argv { program, args, folder });
        Ok(self)
    }
}

impl Default for CommandSensor {
    fn default() -> Self {
        Self::new()
    }
}

/// The deserialized expectation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandExpectation {
    exit_code: Option<i32>,
    contains: Option<String>,
}

/// How a program ended, and its output.
struct ProgramResult {
    status: ExitStatus,
    output: Vec<u8>,
}

impl Argv {
    fn run(&self, deadline: Deadline) -> std::result::Result<ProgramResult, UnknownReason> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.folder).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|_| UnknownReason::Unreachable)?;
        let ended = watch(&mut child, deadline);
        if ended.is_err() {
            kill(&mut child);
        }
        ended
    }
}

/// Reads the output of a program and waits for its end, at most until the deadline.
fn watch(child: &mut Child, deadline: Deadline) -> std::result::Result<ProgramResult, UnknownReason> {
    let output = read_output(child).ok_or(UnknownReason::Unreachable)?;
    let output = match output.recv_timeout(deadline.remaining()) {
        Ok(Some(output)) if output.len() as u64 > MAX_BYTES => return Err(UnknownReason::TooLarge),
        Ok(Some(output)) => output,
        Ok(None) | Err(RecvTimeoutError::Disconnected) => return Err(UnknownReason::Unreachable),
        Err(RecvTimeoutError::Timeout) => return Err(UnknownReason::Late),
    };
    // The process is not waited for before this: afterwards its group can no longer be killed.
    while !deadline.has_passed() {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(ProgramResult { status, output }),
            Ok(None) => thread::park_timeout(BETWEEN_LOOKS),
            Err(_) => return Err(UnknownReason::Unreachable),
        }
    }
    Err(UnknownReason::Late)
}

/// Reads all output of a program, or one byte more than allowed, on a separate thread, because a program that writes nothing
/// and does not end blocks that thread until it is killed. The inner `None` means that the output could not be read.
fn read_output(child: &mut Child) -> Option<Receiver<Option<Vec<u8>>>> {
    let stdout = child.stdout.take()?;
    let (reply, output) = channel();
    let read = move || {
        let mut bytes = Vec::new();
        let read = stdout.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        drop(reply.send(read.ok().map(|_| bytes))); // The receiver may no longer wait.
    };
    thread::Builder::new().name("thermocline-output".to_owned()).spawn(read).ok().map(|_| output)
}

/// Kills a program, with its whole group where possible, and waits for it.
fn kill(child: &mut Child) {
    #[cfg(all(unix, feature = "files"))]
    {
        let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // The program leads the group and has not been waited for yet, so the group's number is not reused.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
    let _ = child.kill(); // It may have ended.
    let _ = child.wait();
}

impl Sensor for CommandSensor {
    fn name(&self) -> &str {
        &self.traits.name
    }

    fn reliability(&self) -> f64 {
        self.traits.reliability
    }

    fn window(&self) -> Option<Duration> {
        self.traits.window
    }

    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        self.commands.contains_key(subject) && read::<CommandExpectation>(expect).is_some()
    }

    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict {
        let (Some(argv), Some(expected)) = (self.commands.get(subject), read::<CommandExpectation>(expect))
        else {
            return CheckVerdict::Unknown(UnknownReason::NotUnderstood);
        };
        match argv.run(deadline.into()) {
            Ok(ProgramResult { status, output }) => {
                let contains = |text: &String| String::from_utf8_lossy(&output).contains(text.as_str());
                let holds = status.code() == Some(expected.exit_code.unwrap_or_default())
                    && expected.contains.as_ref().is_none_or(contains);
                let seen = [status.code().unwrap_or(-1).to_string().as_bytes(), b"\n", &output].concat();
                CheckVerdict::of(holds, seen)
            }
            Err(why) => CheckVerdict::Unknown(why),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sensor::CheckResult;

    /// Tests do not wait this long.
    const PATIENT: Duration = Duration::from_mins(1);
    const SHORT: Duration = Duration::from_millis(100);

    /// A sensor whose command `it` runs this shell script: the configuration may name a shell.
    fn shell(script: &str, folder: &std::path::Path) -> CommandSensor {
        CommandSensor::new().command("it", "/bin/sh", ["-c", script], folder).unwrap()
    }

    fn run(script: &str, expect: &Expect, within: Duration) -> CheckVerdict {
        let folder = tempfile::tempdir().unwrap();
        shell(script, folder.path()).check("it", expect, Deadline::after(within).instant())
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
    fn check(script: &str, expect: Expect, expected: CheckResult) {
        assert_eq!(run(script, &expect, PATIENT).result(), expected, "{script} {expect:?}");
    }

    #[test]
    fn how_a_program_ends_and_what_it_writes_say_whether_it_holds() {
        use CheckResult::{Fail, Pass, Unknown};
        let any = Expect::default;
        check("exit 0", any(), Pass);
        check("exit 1", any(), Fail);
        check("exit 3", any().exit_code(3), Pass);
        check("kill -9 $$", any(), Fail);
        check("echo it is 8443", any().contains("8443"), Pass);
        check("echo it is 8443 >&2", any().contains("8443"), Fail);
        check("exit 0", any().with("exit", 0), Unknown);
    }

    #[test]
    fn it_has_no_environment_and_no_input_and_stands_in_its_folder() {
        check("test -z \"$HOME$USER$CARGO\"", Expect::default(), CheckResult::Pass);
        check("read line; test -z \"$line\"", Expect::default(), CheckResult::Pass);
        let folder = tempfile::tempdir().unwrap();
        let sensor = shell("echo here > seen", folder.path());
        let deadline = Deadline::after(PATIENT).instant();
        assert_eq!(sensor.check("it", &Expect::default(), deadline).result(), CheckResult::Pass);
        assert!(folder.path().join("seen").exists());
    }

    #[test]
    fn only_what_the_configuration_names_runs() {
        let folder = tempfile::tempdir().unwrap();
        let sensor = shell("touch ran", folder.path());
        let deadline = Deadline::after(PATIENT).instant();
        for subject in ["", "it ", "it;touch ran", "/bin/sh", "rm"] {
            let verdict = sensor.check(subject, &Expect::default(), deadline);
            assert_eq!(verdict, CheckVerdict::Unknown(UnknownReason::NotUnderstood), "{subject}");
        }
        assert!(!folder.path().join("ran").exists());
        for (program, folder) in [("sh", "/"), ("./sh", "/"), ("/bin/sh", "here")] {
            assert!(CommandSensor::new().command("it", program, ["-c"], folder).is_err(), "{program}");
        }
        let gone = CommandSensor::new().command("it", "/no/such/program", [""; 0], "/").unwrap();
        let verdict = gone.check("it", &Expect::default(), deadline);
        assert_eq!(verdict, CheckVerdict::Unknown(UnknownReason::Unreachable));
    }

    #[test]
    fn one_that_floods_its_output_or_hangs_is_killed() {
        let flood = run("while :; do echo flood; done", &Expect::default(), PATIENT);
        assert_eq!(flood, CheckVerdict::Unknown(UnknownReason::TooLarge));
        // It closes its output and stays; or it keeps writing, slowly.
        for script in ["exec >&-; exec sleep 1000", "echo a; exec sleep 1000"] {
            let late = run(script, &Expect::default(), SHORT);
            assert_eq!(late, CheckVerdict::Unknown(UnknownReason::Late), "{script}");
        }
    }

    #[cfg(all(target_os = "linux", feature = "files"))]
    #[test]
    fn what_is_killed_leaves_no_zombie_and_none_of_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let sensor = shell("sleep 1000 & echo $! $$ > pids; wait", folder.path());
        // Repeats until the script has written them: the load of the machine must not matter.
        let mut within = SHORT;
        let pids = loop {
            sensor.check("it", &Expect::default(), Deadline::after(within).instant());
            match std::fs::read_to_string(folder.path().join("pids")) {
                Ok(pids) if pids.ends_with('\n') => break pids,
                _ => within *= 2,
            }
        };
        let state = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        let mut pids = pids.split_whitespace();
        let (child, leader) = (pids.next().unwrap(), pids.next().unwrap());
        assert_eq!(state(leader), None, "it was waited for");
        // The child's new parent may reap it at any time: it is at least killed.
        let is_dead = |stat: String| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"));
        while !state(child).is_none_or(is_dead) {
            thread::yield_now();
        }
    }
}
