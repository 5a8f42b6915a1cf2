//! The columns of the table about one user, and a row without a plain alternative.

use crate::support::{
    Length,
    rounds::{Measured, Sample},
    table::{Report, Target, percentiles, time, verdict},
};

pub const COLUMNS: [&str; 10] = [
    "one user, 10,000 turns",
    "turn (characters)",
    "p50 / p95",
    "same rows p50 / p95",
    "ratio",
    "one bare row p50 / p95",
    "ratio",
    "CPU of ours / same rows",
    "target",
    "verdict",
];

/// Adds a row for a measurement without a plain alternative.
pub fn row(question: &str, length: Length, sample: &Sample, target: Target, report: &mut Report) {
    let dash = || "-".to_owned();
    let measured = Measured { ours: sample.clone(), plain: None, ratio: None };
    report.line(&[
        question.to_owned(),
        length.to_string(),
        percentiles(sample, &[50, 95]),
        dash(),
        dash(),
        dash(),
        dash(),
        dash(),
        if let Target::Under(most) = target { format!("< {}", time(most)) } else { dash() },
        verdict(&measured, target).to_owned(),
    ]);
}
