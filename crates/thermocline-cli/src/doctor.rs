//! `thermocline doctor`: checks whether the file is sound.

use std::{collections::BTreeMap, fmt::Write as _};

use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{Check, Diagnosis};

use crate::{
    args::DoctorArgs,
    exit::{Exit, Failure},
    find::{self, Db},
    output::Output,
    plain,
};

#[derive(Debug, Serialize)]
struct DoctorReport {
    healthy: bool,
    checks: Vec<Check>,
    settings: BTreeMap<String, String>,
}

pub(crate) fn run(db: &Db, args: &DoctorArgs, out: &Output) -> Result<(), Failure> {
    let diagnosis = {
        let memory = if args.mend { find::writable(db)? } else { find::read_only(db, find::verb_config())? };
        let _progress = out.progress(None, "checking");
        memory.doctor()?
    };
    let healthy = diagnosis.is_healthy();
    let Diagnosis { checks, settings, .. } = diagnosis;
    let failed = checks.iter().filter(|check| check.problems > 0).count();
    let report = DoctorReport { healthy, checks, settings: settings.into_iter().collect() };
    out.answer(&report, text)?;
    if healthy {
        return Ok(());
    }
    let checks = if failed == 1 { "one check".to_owned() } else { format!("{failed} checks") };
    Err(Failure::new(
        Exit::Unhealthy,
        format!("{checks} failed; keep the file, and put a backup back with thermocline restore"),
    ))
}

/// The maximum number of damaged rows in the text; `--json` lists more.
const MOST_PLACES: usize = 20;

fn text(report: &DoctorReport) -> String {
    let mut text = String::new();
    for check in &report.checks {
        let found = match check.problems {
            0 => "ok".to_owned(),
            1 => "1 problem".to_owned(),
            n => format!("{} problems", HumanCount(n)),
        };
        let _ = writeln!(text, "{found:<12}  {}", check.holds);
        for place in check.places.iter().take(MOST_PLACES) {
            let _ = writeln!(text, "{:<12}    {place}", "");
        }
    }
    text += "\nsettings\n";
    for (name, value) in &report.settings {
        let _ = writeln!(text, "  {name:<22}  {}", plain::line(value, usize::MAX));
    }
    text
}
