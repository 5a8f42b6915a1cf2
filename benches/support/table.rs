//! Tables in Markdown. They are printed to stdout while the benchmark runs, and written to a file; docs/figures has
//! copies of some of these files. A test prints and writes none.

use std::{
    fmt::{Display, Write as _},
    fs,
    time::Duration,
};

use super::{
    Length, folder, is_test,
    rounds::{Measured, Sample},
};

/// The target of a row.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// The median and the 95th percentile are under this duration.
    Under(Duration),
    /// `Measured::ratio`, of ours to the plain alternative, is at most this.
    Ratio(f64),
    /// No target: the figures are only reported.
    None,
}

/// A benchmark's report.
pub struct Report {
    name: &'static str,
    text: String,
    /// Sentences to print below the current table.
    kept: Vec<String>,
    /// The machine's load when the benchmark began; `None` if unknown. If another build runs, no row means much.
    load: Option<String>,
}

const COLUMNS: [&str; 8] = [
    "question",
    "turns in the file",
    "turn (characters)",
    "p50 / p95 / p99",
    "plain p50 / p95",
    "ratio",
    "target",
    "verdict",
];

impl Report {
    /// Creates a report that is saved as `<name>.md`.
    pub fn new(name: &'static str) -> Self {
        Self { name, text: String::new(), kept: Vec::new(), load: fs::read_to_string("/proc/loadavg").ok() }
    }

    /// Creates a report that begins with the table of most benchmarks.
    pub fn with_usual_columns(name: &'static str) -> Self {
        let mut report = Self::new(name);
        report.head(&COLUMNS);
        report
    }

    /// Starts a table.
    pub fn head(&mut self, columns: &[&str]) {
        self.print_notes();
        let separator = if self.text.is_empty() { "" } else { "\n" };
        self.print(&format!("{separator}| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len())));
    }

    /// Adds a row to a table of any form.
    pub fn line(&mut self, cells: &[String]) {
        self.print(&format!("| {} |\n", cells.join(" | ")));
    }

    /// Adds a row to a table of the usual form.
    pub fn row(&mut self, question: &str, size: &str, length: Length, measured: &Measured, target: Target) {
        let dash = || "-".to_owned();
        self.line(&[
            question.to_owned(),
            size.to_owned(),
            length.to_string(),
            percentiles(&measured.ours, &[50, 95, 99]),
            measured.plain.as_ref().map_or_else(dash, |plain| percentiles(plain, &[50, 95])),
            measured.ratio.map_or_else(dash, |ratio| format!("{ratio:.2}")),
            match target {
                Target::Under(most) => format!("< {}", time(most)),
                Target::Ratio(most) => format!("<= {most} times"),
                Target::None => dash(),
            },
            verdict(measured, target).to_owned(),
        ]);
    }

    /// Adds a sentence below a table.
    pub fn note(&mut self, sentence: &str) {
        self.print(&format!("\n{sentence}\n"));
    }

    /// Keeps a sentence, which is printed below the table once the table has all its rows.
    pub fn keep_note(&mut self, sentence: String) {
        self.kept.push(sentence);
    }

    fn print_notes(&mut self) {
        for sentence in std::mem::take(&mut self.kept) {
            self.note(&sentence);
        }
    }

    #[allow(clippy::print_stdout, reason = "a benchmark's report")]
    fn print(&mut self, text: &str) {
        // The figures of a test mean nothing, so they are neither shown nor saved.
        if !is_test() {
            print!("{text}");
        }
        self.text.push_str(text);
    }

    /// Saves the report.
    pub fn save(mut self) {
        self.print_notes();
        if let Some(load) = self.load.as_deref().and_then(|load| load.split(' ').next()) {
            let sentence = format!("The machine's load was {load} when this began.");
            self.note(&sentence);
        }
        if !is_test() {
            fs::write(folder().join(self.name).with_extension("md"), self.text).unwrap();
        }
    }
}

pub fn verdict(measured: &Measured, target: Target) -> &'static str {
    let (median, p95) = match target {
        Target::Under(most) => (measured.ours.median() < most, measured.ours.percentile(95) < most),
        Target::Ratio(most) => {
            let met = measured.ratio.is_some_and(|ratio| ratio <= most);
            (met, met)
        }
        Target::None => return "reported",
    };
    match (median, p95) {
        (true, true) => "met",
        (true, false) => "met by the median only",
        (false, _) => "missed",
    }
}

pub fn percentiles(sample: &Sample, percents: &[usize]) -> String {
    percents.iter().map(|&percent| time(sample.percentile(percent))).collect::<Vec<_>>().join(" / ")
}

/// Formats a duration with three digits and a unit.
pub fn time(duration: Duration) -> String {
    let nanos = duration.as_nanos() as f64;
    let (figure, unit) = match nanos {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "us"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let places = if figure < 10.0 { 2 } else { usize::from(figure < 100.0) };
    format!("{figure:.places$} {unit}")
}

/// Groups the digits of a number: `1,000,000`.
pub fn thousands(number: impl Display) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        let _ = write!(out, "{digit}");
    }
    out
}
