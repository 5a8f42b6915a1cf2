//! The sensors that the command line configures: a file states what they may read, run and query, which checks there are,
//! and whom they serve.
#![allow(clippy::doc_markdown, reason = "the comments of arguments are the help, which shows no Markdown")]

use std::{collections::BTreeMap, fs::File, io::Read, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value};
use thermocline::{CommandSensor, Config, Expect, FsSensor, HttpSensor, NamedChecks, Sensor};

use crate::{exit::Failure, plain};

/// Sensors that check whether memories still hold.
#[derive(Args, Debug)]
#[command(next_help_heading = "Sensors (without them, nothing is checked)")]
pub(crate) struct SensorArgs {
    /// The file that lists the sensors, everything that they may read, run or query, their checks, and the users whom they
    /// serve over HTTP and MCP (without users: nobody). A JSON list; memory watch --help shows one.
    #[arg(long, value_name = "FILE", env = "THERMOCLINE_SENSORS")]
    pub(crate) sensors: Option<PathBuf>,

    /// How long one look of a sensor may take, in milliseconds. After that, the result is unknown.
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sensor_timeout_ms: u64,
}

impl SensorArgs {
    /// Adds the sensors to the configuration of a verb. One that names no users serves all.
    pub(crate) fn add_to(&self, config: Config) -> Result<Config, Failure> {
        self.add(config, &Served::all())
    }

    /// Adds the sensors to the configuration of a server. One that names no users serves nobody.
    #[cfg(feature = "service")]
    pub(crate) fn add_served_to(&self, config: Config) -> Result<Config, Failure> {
        self.add(config, &Served::default())
    }

    fn add(&self, mut config: Config, unstated: &Served) -> Result<Config, Failure> {
        config.sensor_timeout = Duration::from_millis(self.sensor_timeout_ms);
        let Some(path) = &self.sensors else { return Ok(config) };
        let shown = plain::line(&path.display().to_string(), usize::MAX);
        let text = read(path)
            .map_err(|error| Failure::refused(format!("the sensors in {shown} cannot be read: {error}")))?;
        let listed: Vec<Map<String, Value>> = serde_json::from_str(&text)
            .map_err(|error| Failure::refused(format!("{shown} is not a list of sensors: {error}")))?;
        for (listed, place) in listed.into_iter().zip(1..) {
            let sensor = sensor(listed, unstated)
                .map_err(|why| Failure::refused(format!("sensor {place} in {shown}: {why}")))?;
            config.sensors.push(sensor);
        }
        Ok(config)
    }
}

/// Reads the file. It names programs, so it is refused like settings if somebody else can write it.
fn read(path: &PathBuf) -> Result<String, String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    #[cfg(feature = "service")]
    {
        let about = file.metadata().map_err(|error| error.to_string())?;
        thermocline_server::access::check_writer("the sensor file", path, &about)?;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

/// The fields that all sensors in the file may have.
const COMMON: [&str; 5] = ["name", "reliability", "window_s", "users", "checks"];

#[derive(Deserialize)]
struct Common {
    name: Option<String>,
    reliability: Option<f64>,
    window_s: Option<u64>,
    users: Option<Value>,
    #[serde(default)]
    checks: BTreeMap<String, Value>,
}

/// What a sensor may look at.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Reach {
    Fs(Files),
    Command(Programs),
    Http(Addresses),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    roots: BTreeMap<String, PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    commands: BTreeMap<String, Program>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    /// The program and its arguments.
    argv: Vec<String>,
    folder: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Addresses {
    #[serde(default)]
    urls: BTreeMap<String, String>,
    /// Addresses that may be on this machine or in a private network.
    #[serde(default)]
    private_urls: BTreeMap<String, String>,
}

/// A check in the file: what its sensor looks at, and what is expected of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedCheck {
    subject: String,
    #[serde(default)]
    expect: Map<String, Value>,
}

/// Returns a sensor with the settings that all sensors have, limited to its checks and its users.
macro_rules! limited {
    ($sensor:ident, $common:ident, $unstated:ident) => {{
        if let Some(name) = &$common.name {
            $sensor = $sensor.named(name);
        }
        if let Some(reliability) = $common.reliability {
            $sensor = $sensor.reliability(reliability);
        }
        if let Some(seconds) = $common.window_s {
            $sensor = $sensor.window(Duration::from_secs(seconds));
        }
        limit(NamedChecks::new($sensor), $common, $unstated)
    }};
}

/// Returns the sensor that an entry of the file describes. Errors say which part of the entry is wrong.
fn sensor(entry: Map<String, Value>, unstated: &Served) -> Result<Arc<dyn Sensor>, String> {
    let (common, reach): (Map<_, _>, Map<_, _>) =
        entry.into_iter().partition(|(field, _)| COMMON.contains(&field.as_str()));
    let wrong = |error: serde_json::Error| error.to_string();
    let common: Common = serde_json::from_value(Value::Object(common)).map_err(wrong)?;
    let refused = |error: thermocline::Error| error.to_string();
    match serde_json::from_value(Value::Object(reach)).map_err(wrong)? {
        Reach::Fs(listed) => {
            let mut sensor = FsSensor::new();
            for (name, folder) in listed.roots {
                sensor = sensor.root(name, folder).map_err(refused)?;
            }
            limited!(sensor, common, unstated)
        }
        Reach::Command(listed) => {
            let mut sensor = CommandSensor::new();
            for (name, Program { argv, folder }) in listed.commands {
                let (program, args) =
                    argv.split_first().ok_or_else(|| format!("the command {name} has no program"))?;
                sensor = sensor.command(name, program, args, folder).map_err(refused)?;
            }
            limited!(sensor, common, unstated)
        }
        Reach::Http(listed) => {
            let mut sensor = HttpSensor::new();
            for (name, url) in listed.urls {
                sensor = sensor.url(name, url).map_err(refused)?;
            }
            for (name, url) in listed.private_urls {
                sensor = sensor.private_url(name, url).map_err(refused)?;
            }
            limited!(sensor, common, unstated)
        }
    }
}

fn limit(mut sensor: NamedChecks, common: Common, unstated: &Served) -> Result<Arc<dyn Sensor>, String> {
    for (name, check) in common.checks {
        let StatedCheck { subject, expect } =
            serde_json::from_value(check).map_err(|error| format!("the check {name}: {error}"))?;
        let expect = Expect::new(Value::Object(expect)).map_err(|error| error.to_string())?;
        sensor = sensor.check(name, subject, expect).map_err(|error| error.to_string())?;
    }
    let served = common.users.as_ref().map_or_else(|| Ok(unstated.clone()), Served::read)?;
    Ok(Arc::new(sensor.serving(move |user| served.has(user))))
}

/// The users whom a sensor serves; by default nobody.
#[derive(Clone, Debug, Default, PartialEq)]
struct Served {
    all: bool,
    names: Vec<String>,
    /// Each ends with `/`.
    prefixes: Vec<String>,
}

impl Served {
    fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    fn read(stated: &Value) -> Result<Self, String> {
        let mut served = Self::default();
        match stated {
            Value::Array(listed) => listed.iter().try_for_each(|one| served.add(one))?,
            one => served.add(one)?,
        }
        Ok(served)
    }

    /// Adds `"all"`, `"acme/*"`, a name, `{"name": ...}` or `{"prefix": ...}`.
    fn add(&mut self, stated: &Value) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("users: {stated} {why}"));
        let (kind, text) = match stated {
            Value::String(text) if text == "all" => ("all", text.as_str()),
            Value::String(text) => match text.strip_suffix('*') {
                Some(prefix) => ("prefix", prefix),
                None => ("name", text.as_str()),
            },
            Value::Object(fields) => match fields.iter().next() {
                Some((kind, Value::String(text))) if fields.len() == 1 => (kind.as_str(), text.as_str()),
                _ => return wrong("is neither {\"name\": ...} nor {\"prefix\": ...}"),
            },
            _ => return wrong("is neither \"all\", a name, \"acme/*\" nor a list of these"),
        };
        match kind {
            "all" if !stated.is_object() => self.all = true,
            "prefix" if text.len() > 1 && text.ends_with('/') => self.prefixes.push(text.to_owned()),
            "prefix" => return wrong("is not a prefix of names that ends with /, such as \"acme/*\""),
            "name" if stated.is_string() && matches!(text, "any" | "") => {
                return wrong("may mean everybody: write \"all\", or {\"name\": ...}");
            }
            "name" => self.names.push(text.to_owned()),
            _ => return wrong("is neither {\"name\": ...} nor {\"prefix\": ...}"),
        }
        Ok(())
    }

    /// Whether the user with this name is served; a user without a name is served only with all.
    fn has(&self, user: Option<&str>) -> bool {
        let is_named = |user: &str| {
            self.names.iter().any(|name| name == user)
                || self.prefixes.iter().any(|prefix| user.starts_with(prefix))
        };
        self.all || user.is_some_and(is_named)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(stated: &Value, served: &[&str], not: &[&str]) {
        let users = Served::read(stated).unwrap();
        for (names, expected) in [(served, true), (not, false)] {
            for name in names {
                assert_eq!(users.has(Some(name)), expected, "{stated} and {name}");
            }
        }
        assert_eq!(users.has(None), users.all);
    }

    #[test]
    fn a_sensor_serves_whom_the_file_names_and_no_name_stands_for_others() {
        check(&json!("alex"), &["alex"], &["Alex", "alex2", "alex/x", ""]);
        check(&json!("acme/*"), &["acme/kim", "acme/*"], &["acme", "acme2/kim", "acmé/kim"]);
        check(&json!(["alex", "acme/*"]), &["alex", "acme/kim"], &["blake"]);
        check(&json!("all"), &["alex", "all", ""], &[]);
        check(&json!(["all"]), &["alex"], &[]);
        check(&json!([]), &[], &["alex", ""]);
        check(&json!({ "name": "all" }), &["all"], &["alex"]);
        check(&json!({ "name": "acme/*" }), &["acme/*"], &["acme/kim"]);
        check(&json!([{ "name": "any" }, { "prefix": "acme/" }]), &["any", "acme/kim"], &["alex"]);
    }

    #[test]
    fn users_that_could_mean_others_are_refused() {
        for stated in [
            json!("any"),
            json!(""),
            json!("*"),
            json!("/*"),
            json!("acme*"),
            json!({ "prefix": "acme" }),
            json!({ "all": "x" }),
            json!({ "name": "a", "prefix": "b/" }),
            json!({ "name": 1 }),
            json!({}),
            json!(true),
            json!(null),
            json!([["alex"]]),
        ] {
            let why = Served::read(&stated).expect_err(&stated.to_string());
            assert!(why.starts_with("users: "), "{why}");
        }
    }
}
