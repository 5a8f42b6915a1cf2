//! What looks at the world: the trait, and four sensors of ours. The only code that reads files of others, starts a
//! program, or asks an address whether a memory still holds.
//!
//! A memory says which sensor, which subject and what is expected; those are data. What may be read, run or asked stands in
//! the configuration alone, by names, and a subject is one of these names.

mod command;
#[cfg(feature = "files")]
mod fs;
mod host;
#[cfg(feature = "llm")]
mod http;
pub(crate) mod known;

#[cfg(feature = "files")]
pub use self::fs::FsSensor;
#[cfg(feature = "llm")]
pub use self::http::HttpSensor;
pub use self::{command::CommandSensor, host::HostSensor};

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;

use crate::{
    error::{Error, Result},
    model::sensor::{CheckVerdict, Expect},
    text::measure::check_name,
};

/// How long a sensor may take by default.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// Looks whether a memory still holds. It reads only, and cannot tell rather than guess.
///
/// ```
/// use std::time::Instant;
///
/// use thermocline::{CheckVerdict, Expect, Sensor};
///
/// /// Knows which features are switched on.
/// #[derive(Debug)]
/// struct Features(Vec<&'static str>);
///
/// impl Sensor for Features {
///     fn name(&self) -> &str {
///         "features"
///     }
///
///     fn reliability(&self) -> f64 {
///         0.9
///     }
///
///     fn check(&self, subject: &str, _: &Expect, _: Instant) -> CheckVerdict {
///         let is_on = self.0.contains(&subject);
///         CheckVerdict::of(is_on, if is_on { "on" } else { "off" })
///     }
/// }
///
/// let mut config = thermocline::Config::default();
/// config.sensors.push(std::sync::Arc::new(Features(vec!["dark-mode"])));
/// ```
pub trait Sensor: Send + Sync + fmt::Debug {
    /// As rows and receipts name it: `fs`. 1 to 200 bytes, of the sensors of a configuration each another; `human` is a
    /// person's. It is asked once, when the file is opened, and so are its reliability and its window.
    fn name(&self) -> &str;

    /// How good a pass is, from 0 to 1: what the reliability of the memory becomes. Its confidence does not rise above it.
    fn reliability(&self) -> f64;

    /// For how long a pass holds, where the memory states no window of its own; it has this one from then on. Zero: the
    /// memory is stale again at once, and is better looked up each time. Default: none, and the memory's volatility says.
    fn window(&self) -> Option<Duration> {
        None
    }

    /// Whether it knows this subject, and can look for this: what it does not is refused when somebody has it watch a
    /// memory. It looks at nothing for that. Default: it does.
    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        let _ = (subject, expect);
        true
    }

    /// Looks whether what is expected holds of the subject. Both come from whoever wrote the memory, or its import: they
    /// are data, and nothing is to be read or run because they say so.
    ///
    /// Runs on a thread of its own, which belongs to no runtime: it may block. What has not answered by the deadline
    /// ([`Config::sensor_timeout`](crate::Config::sensor_timeout)), or panics, cannot tell; its thread ends when it lets go.
    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict;
}

/// What a sensor of ours has in common with the others.
#[derive(Clone, Debug)]
pub(crate) struct SensorTraits {
    pub(crate) name: String,
    pub(crate) reliability: f64,
    pub(crate) window: Option<Duration>,
}

impl SensorTraits {
    pub(crate) fn new(name: &str, reliability: f64) -> Self {
        Self { name: name.to_owned(), reliability, window: None }
    }
}

/// A name by which a configuration calls what may be looked at: 1 to 256 bytes, without `:`.
pub(crate) fn checked_subject(what: &str, name: impl Into<String>) -> Result<String> {
    let name = name.into();
    check_name(what, Some(&name))?;
    if name.contains(':') || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!("the {what} has a colon or a control character")));
    }
    Ok(name)
}

/// The expectation as a sensor reads it. `None`: there is a field that it does not know, or one of another type.
pub(crate) fn read<T: DeserializeOwned>(expect: &Expect) -> Option<T> {
    serde_json::from_value(serde_json::Value::Object(expect.0.clone())).ok()
}

/// Declares how the common traits of a sensor are set.
macro_rules! set_traits {
    ($sensor:ident) => {
        impl $sensor {
            /// Another name, so that a configuration may have several of this sort: `weather`.
            #[must_use]
            pub fn named(mut self, name: impl Into<String>) -> Self {
                self.traits.name = name.into();
                self
            }

            /// How good a pass is, from 0 to 1.
            #[must_use]
            pub fn reliability(mut self, reliability: f64) -> Self {
                self.traits.reliability = reliability;
                self
            }

            /// For how long a pass holds, where the memory states no window; see
            /// [`Sensor::window`](crate::Sensor::window).
            #[must_use]
            pub fn window(mut self, window: std::time::Duration) -> Self {
                self.traits.window = Some(window);
                self
            }
        }
    };
}
pub(crate) use set_traits;
