//! `thermocline memory watch`, `unwatch`, `sensors` and `validate`: add and remove sensors of memories, and check
//! memories with them.

use std::fmt::Write as _;

use serde::Serialize;
use thermocline::{
    Config, MemoryCheck, MemoryId, MemorySensor, NewSensor, ToCheck,
    blocking::{Memories, Thermocline, User},
};

use crate::{
    args::UserArg,
    exit::Failure,
    find::{self, Db},
    memory::{
        named,
        sensor_args::{UnwatchArgs, ValidateArgs, WatchArgs, WatchersArgs},
    },
    output::Output,
    plain,
    sensor_file::SensorArgs,
};

/// A memory and its sensors.
#[derive(Debug, Serialize)]
struct WatchedMemory {
    memory_id: MemoryId,
    sensors: Vec<MemorySensor>,
}

pub(crate) fn watch(db: &Db, args: &WatchArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = with_sensors(db, &args.memory.user, &args.sensors)?;
    let id = named::memory(&memories, &args.memory.memory)?.id;
    let memories = memories.by(args.origin.or_who_sits_there(out));
    memories.watch(id, NewSensor::new(&args.sensor, &args.check))?;
    answer(&memories, id, out)
}

pub(crate) fn unwatch(db: &Db, args: &UnwatchArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_change(db, &args.memory.user)?;
    let id = named::memory(&memories, &args.memory.memory)?.id;
    let memories = memories.by(args.origin.or_who_sits_there(out));
    memories.unwatch(id, &args.sensor, args.check.as_deref())?;
    answer(&memories, id, out)
}

pub(crate) fn list(db: &Db, args: &WatchersArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) =
        named::of(find::memory_with(db, config(&args.sensors)?)?, &args.memory.user)?;
    let id = named::memory(&memories, &args.memory.memory)?.id;
    answer(&memories, id, out)
}

pub(crate) fn validate(db: &Db, args: &ValidateArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = with_sensors(db, &args.user, &args.sensors)?;
    let which = if args.stale {
        ToCheck::Stale
    } else {
        let ids = args.memories.iter().map(|name| Ok(named::memory(&memories, name)?.id));
        ToCheck::from(ids.collect::<Result<Vec<_>, Failure>>()?)
    };
    let checks = memories.validate(which)?;
    if checks.is_empty() && !out.is_json() {
        out.talk("no sensor watches these; memory watch adds one");
        return Ok(());
    }
    let mut titles = Vec::new();
    if !out.is_json() {
        let title = |check: &MemoryCheck| {
            let memory = find::found(memories.get(check.memory_id))?;
            Ok(memory.map_or_else(|| check.memory_id.to_string(), |memory| plain::line(&memory.title, 60)))
        };
        titles = checks.iter().map(title).collect::<Result<_, Failure>>()?;
    }
    out.answer(&checks, |checks| {
        let lines = checks.iter().zip(&titles);
        lines.fold(String::new(), |mut text, (check, title)| {
            let _ = writeln!(text, "{}", line(check, title));
            text
        })
    })
}

/// Returns the configuration of a verb, with these sensors.
fn config(sensors: &SensorArgs) -> Result<Config, Failure> {
    sensors.add_to(find::verb_config())
}

fn with_sensors(
    db: &Db,
    user: &UserArg,
    sensors: &SensorArgs,
) -> Result<(Thermocline, User, Memories), Failure> {
    named::of(find::writable_with(db, config(sensors)?)?, user)
}

fn answer(memories: &Memories, memory_id: MemoryId, out: &Output) -> Result<(), Failure> {
    let watched = WatchedMemory { memory_id, sensors: memories.sensors(memory_id)? };
    if watched.sensors.is_empty() && !out.is_json() {
        out.talk("no sensor watches it");
        return Ok(());
    }
    out.answer(&watched, |watched| {
        watched.sensors.iter().fold(String::new(), |mut text, sensor| {
            let _ = write!(text, "{}", place(&sensor.sensor, &sensor.subject));
            if !sensor.is_configured {
                text += "  (not configured for this user: never checked)";
            }
            text + "\n"
        })
    })
}

/// Returns a sensor and the name of its check: `fs api_port`.
fn place(sensor: &str, check: &str) -> String {
    plain::line(&format!("{sensor} {check}"), 120).trim_end().to_owned()
}

/// Returns a check as a line: `fail     fs api_port  confidence 0.40, reliability 0.30  The port of the API`.
fn line(check: &MemoryCheck, title: &str) -> String {
    let mut line = format!("{:<8} {}", check.result.as_str(), place(&check.sensor, &check.subject));
    if let Some(why) = check.why {
        let _ = write!(line, "  {}", why.as_str());
    }
    if let Some(confidence) = check.confidence {
        let _ = write!(line, "  confidence {confidence:.2}");
    }
    if let Some(reliability) = check.reliability {
        let _ = write!(line, ", reliability {reliability:.2}");
    }
    let _ = write!(line, "  {title}");
    if let Some(review) = check.review {
        let _ = write!(line, "\n         a person is asked whether it holds (review {review})");
    }
    line
}
