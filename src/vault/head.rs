//! Writes the head of a file, and converts the times, windows and numbers in it.

use std::{fmt::Write as _, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value as Json};

use crate::{
    model::{memory::procedure::Procedure, stored_time::StoredTime},
    vault::{
        frontmatter::{self, quoted},
        guard::is_active_name,
    },
};

/// The field for the names that a head cannot contain as they are: JSON, as a text.
pub(super) const REST: &str = "extra";

/// A head being written.
#[derive(Default)]
pub(super) struct HeadWriter {
    text: String,
    /// Fields to leave out.
    pub(super) without: &'static [&'static str],
}

impl HeadWriter {
    /// Returns a file with this head and, after it, this text.
    pub(super) fn above(self, body: &str) -> String {
        format!("---\n{}---\n{body}", self.text)
    }

    /// Returns the lines of the head.
    pub(super) fn names(self) -> String {
        self.text
    }

    pub(super) fn procedure(&mut self, Procedure { steps, preconditions, postconditions, .. }: &Procedure) {
        self.list("steps", steps);
        self.list("preconditions", preconditions);
        self.list("postconditions", postconditions);
    }

    pub(super) fn number(&mut self, name: &str, is: Option<f64>) {
        self.line(name, is.map(number));
    }

    pub(super) fn time(&mut self, name: &str, at: Option<DateTime<Utc>>) {
        self.line(name, at.map(time));
    }

    pub(super) fn line(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value.filter(|_| !self.without.contains(&name)) {
            let _ = writeln!(self.text, "{name}: {value}");
        }
    }

    pub(super) fn plain(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        self.line(name, value.map(|value| value.as_ref().to_owned()));
    }

    pub(super) fn id(&mut self, name: &str, id: &str) {
        self.line(name, (!id.is_empty()).then(|| frontmatter::id(id)));
    }

    /// Writes uninterpreted fields: as fields of the head if they read back unchanged, otherwise as JSON in the field
    /// [`REST`]. `names` are the fields that have a meaning. With `is_inert`, names that plugins may act
    /// on, such as `banner`, are JSON.
    pub(super) fn extra(&mut self, extra: &Map<String, Json>, names: &[&str], is_inert: bool) {
        /// The most names and values that are written as fields, so that there is room for all other fields that a head may
        /// have.
        const MOST: (usize, usize) = (20, 200);
        let (mut count, mut items, mut rest) = (0, 0, Map::new());
        for (name, value) in extra {
            let found = frontmatter::inline(value)
                .filter(|_| frontmatter::is_name(name) && !names.contains(&name.as_str()));
            match found.filter(|(text, _)| !(is_inert && is_active_name(name, text))) {
                Some((text, more)) if count < MOST.0 && items + more <= MOST.1 => {
                    (count, items) = (count + 1, items + more);
                    self.line(name, Some(text));
                }
                _ => drop(rest.insert(name.clone(), value.clone())),
            }
        }
        if !rest.is_empty() {
            self.line(REST, Some(quoted(&Json::Object(rest).to_string())));
        }
    }

    pub(super) fn list(&mut self, name: &str, texts: &[String]) {
        if texts.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "{name}:");
        for text in texts {
            let _ = writeln!(self.text, "  - {}", quoted(text));
        }
    }

    /// Appends lines unchanged.
    pub(super) fn raw(&mut self, lines: &str) {
        self.text.push_str(lines);
    }
}

pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, false)
}

/// Parses a time that can be stored; without a zone, it is in UTC.
pub(crate) fn read_time(text: &str) -> Option<DateTime<Utc>> {
    any_time(text).and_then(|at| StoredTime::try_from(at).ok()).map(DateTime::from)
}

fn any_time(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let zoned = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc()).ok();
    zoned
        .or_else(|| {
            let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
            forms
                .iter()
                .find_map(|form| chrono::NaiveDateTime::parse_from_str(text, form).ok())
                .map(|at| at.and_utc())
        })
        .or_else(|| {
            let day = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
            Some(day.and_time(chrono::NaiveTime::MIN).and_utc())
        })
}

/// Parses how long a check holds, as the memory information paper writes it: `6h`, `1 week`, `6 months` of 30 days each,
/// `immediate`.
pub(super) fn read_window(text: &str) -> Option<Duration> {
    let text = text.trim().to_ascii_lowercase();
    if text == "immediate" {
        return Some(Duration::ZERO);
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let count: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim().trim_end_matches('s') {
        // The unit `s` is empty here, because the letter was trimmed.
        "" | "sec" | "second" => 1,
        "m" | "min" | "minute" => 60,
        "h" | "hour" => 3_600,
        "d" | "day" => 86_400,
        "w" | "week" => 7 * 86_400,
        "month" => 30 * 86_400,
        "y" | "year" => 365 * 86_400,
        _ => return None,
    };
    count.checked_mul(unit).map(Duration::from_secs)
}

pub(super) fn window(window: Duration) -> String {
    let seconds = window.as_secs();
    match seconds {
        0 => "immediate".to_owned(),
        _ if seconds.is_multiple_of(86_400) => format!("{}d", seconds / 86_400),
        _ if seconds.is_multiple_of(3_600) => format!("{}h", seconds / 3_600),
        _ if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

/// Returns a word as the papers write it: `ultra-low`, `semi-static`.
pub(super) fn hyphenated(word: &str) -> String {
    word.replace('_', "-")
}

/// Returns the shortest form that reads back as the same number.
pub(super) fn number(number: f64) -> String {
    format!("{number:?}")
}
