//! The sensors that the command line configures: a file names what they may read, run and query.
#![allow(clippy::doc_markdown, reason = "the comments of arguments are the help, which shows no Markdown")]

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use serde::Deserialize;
use thermocline::{CommandSensor, Config, FsSensor, HttpSensor, Sensor};

use crate::{exit::Failure, plain};

/// Sensors that check whether memories still hold.
#[derive(Args, Debug)]
#[command(next_help_heading = "Sensors (without them, nothing is checked)")]
pub(crate) struct SensorArgs {
    /// The file that lists the sensors and everything that they may read, run or query: a JSON list. memory watch --help
    /// shows one.
    #[arg(long, value_name = "FILE", env = "THERMOCLINE_SENSORS")]
    pub(crate) sensors: Option<PathBuf>,

    /// How long one look of a sensor may take, in milliseconds. After that, the result is unknown.
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sensor_timeout_ms: u64,
}

impl SensorArgs {
    /// Adds the sensors to the configuration.
    pub(crate) fn add_to(&self, mut config: Config) -> Result<Config, Failure> {
        config.sensor_timeout = Duration::from_millis(self.sensor_timeout_ms);
        let Some(path) = &self.sensors else { return Ok(config) };
        let shown = plain::line(&path.display().to_string(), usize::MAX);
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::refused(format!("the sensors in {shown} cannot be read: {error}")))?;
        let listed: Vec<ListedSensor> = serde_json::from_str(&text)
            .map_err(|error| Failure::refused(format!("{shown} is not a list of sensors: {error}")))?;
        for listed in listed {
            config.sensors.push(listed.sensor()?);
        }
        Ok(config)
    }
}

/// A sensor in the file.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ListedSensor {
    Fs(Files),
    Command(Programs),
    Http(Addresses),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    name: Option<String>,
    reliability: Option<f64>,
    window_s: Option<u64>,
    roots: BTreeMap<String, PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    name: Option<String>,
    reliability: Option<f64>,
    window_s: Option<u64>,
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
    name: Option<String>,
    reliability: Option<f64>,
    window_s: Option<u64>,
    #[serde(default)]
    urls: BTreeMap<String, String>,
    /// Addresses that may be on this machine or in a private network.
    #[serde(default)]
    private_urls: BTreeMap<String, String>,
}

/// Adds the settings common to all sensors.
macro_rules! set {
    ($sensor:ident, $listed:ident) => {{
        if let Some(name) = $listed.name {
            $sensor = $sensor.named(name);
        }
        if let Some(reliability) = $listed.reliability {
            $sensor = $sensor.reliability(reliability);
        }
        if let Some(seconds) = $listed.window_s {
            $sensor = $sensor.window(Duration::from_secs(seconds));
        }
        Ok(Arc::new($sensor))
    }};
}

impl ListedSensor {
    fn sensor(self) -> Result<Arc<dyn Sensor>, Failure> {
        match self {
            Self::Fs(listed) => {
                let mut sensor = FsSensor::new();
                for (name, folder) in listed.roots {
                    sensor = sensor.root(name, folder)?;
                }
                set!(sensor, listed)
            }
            Self::Command(listed) => {
                let mut sensor = CommandSensor::new();
                for (name, Program { argv, folder }) in listed.commands {
                    let (program, args) = argv.split_first().ok_or_else(|| {
                        Failure::refused(format!("the command {} has no program", plain::line(&name, 60)))
                    })?;
                    sensor = sensor.command(name, program, args, folder)?;
                }
                set!(sensor, listed)
            }
            Self::Http(listed) => {
                let mut sensor = HttpSensor::new();
                for (name, url) in listed.urls {
                    sensor = sensor.url(name, url)?;
                }
                for (name, url) in listed.private_urls {
                    sensor = sensor.private_url(name, url)?;
                }
                set!(sensor, listed)
            }
        }
    }
}
