//! The only code that prints: data on stdout, as text or as JSON (one document, or one per line), and messages to people on
//! stderr.

use std::{
    fmt::Write as _,
    io::{self, ErrorKind, IsTerminal, Write},
    time::Duration,
};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use serde::Serialize;
use thermocline::JobProgress;

use crate::{
    exit::{Exit, Failure},
    plain,
};

/// How often to write a line about progress if there is no terminal for a bar.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Where and how a verb prints.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether stdout should be one JSON document.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a person uses the command: both stdin and stdout are a terminal.
    #[expect(clippy::unused_self, reason = "whoever asks was handed the output")]
    pub(crate) fn has_person(&self) -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Prints the result of a verb: as text for people, or as JSON.
    pub(crate) fn answer<T: Serialize>(
        &self,
        answer: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        if !self.json {
            return self.print(&text(answer));
        }
        let json = serde_json::to_string_pretty(answer).map_err(|error| {
            Failure::caused(Exit::Unexpected, "the answer cannot be written as JSON", error)
        })?;
        self.print(&(escaped(&json) + "\n"))
    }

    /// Prints one of many results as a line of JSON.
    pub(crate) fn line<T: Serialize>(&self, answer: &T) -> Result<(), Failure> {
        let json = serde_json::to_string(answer).map_err(|error| {
            Failure::caused(Exit::Unexpected, "the answer cannot be written as JSON", error)
        })?;
        self.print(&(escaped(&json) + "\n"))
    }

    /// Prints data unchanged. If the reader has closed the pipe, it needs no more, so this is not an error.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn print(&self, data: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::caused(Exit::FileUnusable, "the output could not be written", error))
            }
            _ => Ok(()),
        }
    }

    /// Returns stdout, for data that is too large for memory.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn data(&self) -> impl Write + Send + 'static {
        io::stdout()
    }

    /// Prints a line on stderr, for a person.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn talk(&self, line: &str) {
        // If stderr is closed, no reader is left to tell.
        let _ = writeln!(io::stderr().lock(), "{}", plain::line(line, usize::MAX));
    }

    /// Says why a verb failed: as text for a person, or as JSON in the last line of stderr.
    pub(crate) fn failed(&self, failure: &Failure) {
        if !self.json {
            return self.talk(&format!("thermocline: failed: {failure}"));
        }
        // If stderr is closed, no reader is left to tell.
        let _ = writeln!(io::stderr().lock(), "{}", escaped(&failure.to_json().to_string()));
    }

    /// Asks the person at the terminal, and returns the line typed; `None` if there is no terminal.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn ask(&self, question: &str) -> Result<Option<String>, Failure> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        // If the question cannot be shown, it is not answered with yes.
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{}", plain::line(question, usize::MAX) + " ").and_then(|()| stderr.flush());
        let mut answer = String::new();
        io::stdin()
            .read_line(&mut answer)
            .map_err(|error| Failure::caused(Exit::FileUnusable, "the answer cannot be read", error))?;
        Ok(Some(answer))
    }

    /// Shows a person where to type.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn prompt(&self, prompt: &str) {
        // If stderr is closed, no reader is left to prompt.
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{prompt}").and_then(|()| stderr.flush());
    }

    /// Returns a progress bar for jobs; more jobs may become due while they run.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn job_progress(&self, doing: &'static str) -> JobsShown {
        let template = "{prefix} {wide_bar} {human_pos} of {human_len}, {msg}, {eta} left";
        let style = ProgressStyle::with_template(template).expect("the template is sound");
        let bar = ProgressBar::new(0).with_style(style).with_prefix(doing).with_message("0 turns");
        JobsShown { bar, last_line: Duration::ZERO }
    }

    /// Returns a progress bar that fills up to `total` bytes, or a spinner if the total is unknown.
    #[expect(clippy::unused_self, reason = "whoever prints was handed the output")]
    pub(crate) fn progress(&self, total: Option<u64>, doing: &'static str) -> Progress {
        let (bar, template) = match total {
            Some(bytes) => (
                ProgressBar::new(bytes),
                "{msg} {wide_bar} {bytes} of {total_bytes}, {percent} %, {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
        };
        let style = ProgressStyle::with_template(template).expect("the templates are sound");
        let bar = bar.with_style(style).with_message(doing);
        if total.is_none() && !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Progress(bar)
    }
}

/// The progress of a verb, on stderr if that is a terminal; it disappears when dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn at(&self, bytes: u64) {
        self.0.set_position(bytes);
    }

    /// Shows that `done` of `of` equal parts are done.
    pub(crate) fn at_part(&self, done: usize, of: usize) {
        self.0.set_position(self.0.length().unwrap_or_default() / of.max(1) as u64 * done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress of a run of jobs, on stderr: a bar if that is a terminal, otherwise a line every 10 s.
#[derive(Clone, Debug)]
pub(crate) struct JobsShown {
    bar: ProgressBar,
    last_line: Duration,
}

impl JobsShown {
    pub(crate) fn at(&mut self, progress: &JobProgress) {
        let JobProgress { jobs_due, jobs_ended, turns, .. } = *progress;
        self.bar.set_length(jobs_due);
        self.bar.set_position(jobs_ended);
        self.bar.set_message(format!("{} turns", HumanCount(turns)));
        if self.bar.is_hidden() && self.elapsed() >= self.last_line + BETWEEN_LINES {
            self.last_line = self.elapsed();
            let (ended, due) = (HumanCount(jobs_ended), HumanCount(jobs_due));
            // If stderr is closed, no reader is left to tell.
            let _ = writeln!(io::stderr().lock(), "{ended} of {due} jobs, {} turns", HumanCount(turns));
        }
    }

    /// Returns the time since the start, from a monotonic clock.
    pub(crate) fn elapsed(&self) -> Duration {
        self.bar.elapsed()
    }

    pub(crate) fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// Escapes every character of a JSON text that could control a terminal. These characters occur only in strings, because
/// `serde_json` writes none elsewhere.
fn escaped(json: &str) -> String {
    if !json.contains(|c| plain::is_hidden(c) && c != '\n') {
        return json.to_owned();
    }
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if plain::is_hidden(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_value_and_loses_its_control_characters() {
        let value = "a\u{9b}31m\u{202e}\u{e0041}\u{7f}é\n";
        let safe = escaped(&serde_json::to_string_pretty(&[value]).unwrap());
        assert!(!safe.contains(|c: char| plain::is_hidden(c) && c != '\n'), "{safe:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&safe).unwrap(), [value]);
    }
}
