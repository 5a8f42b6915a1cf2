//! Sensors: the trait, four implementations, and a limit to what is written down. This is the only code that reads other programs' files, starts a program,
//! or asks an address to find out whether a memory still holds.
//!
//! A memory names a sensor, a subject and an expectation; these are data. Only the configuration says what the four may
//! read, run or request, and names it; a subject refers to it by that name.

mod command;
#[cfg(feature = "files")]
mod fs;
mod host;
#[cfg(feature = "llm")]
mod http;
pub(crate) mod known;
pub(crate) mod last_looks;
mod named;

#[cfg(feature = "files")]
pub use self::fs::FsSensor;
#[cfg(feature = "llm")]
pub use self::http::HttpSensor;
pub use self::{command::CommandSensor, host::HostSensor, named::NamedChecks};

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

/// Checks whether a memory still holds. A sensor must only look. It must not guess: if it is not sure, it says that it
/// cannot tell.
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
    /// Returns the sensor's name as rows and warnings show it, such as `fs`. 1 to 200 bytes without control characters,
    /// unique among the configured sensors; `human` is reserved for a person. Called once, when the file is opened, like
    /// [`reliability`](Self::reliability) and [`window`](Self::window).
    fn name(&self) -> &str;

    /// Returns how reliable a pass is, from 0 to 1. After a pass, this is the memory's reliability, and the memory's
    /// confidence does not rise above it.
    fn reliability(&self) -> f64;

    /// Returns how long a pass holds for a memory that states no window. If this is longer than the window of the memory's
    /// volatility, it becomes the memory's window, up to 180 days. Otherwise, and with the default `None`, the volatility
    /// decides. A memory of low volatility gets no window, because it does not grow stale.
    fn window(&self) -> Option<Duration> {
        None
    }

    /// Returns how long a look stands: within this time, whoever asks for the same subject and expectation gets its result,
    /// and the sensor does not look again. Called once, when the file is opened. Default: zero, each check looks.
    fn rest(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns whether the sensor looks for the user with this name; `None` is a user without a name. For a user whom it
    /// does not serve, it is as if it were not configured, whoever asks. Default: true.
    fn serves(&self, user: Option<&str>) -> bool {
        let _ = user;
        true
    }

    /// Returns whether the sensor knows this subject and can check this expectation, without looking at the subject. If
    /// not, no memory can be watched with them. Default: true.
    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        let _ = (subject, expect);
        true
    }

    /// Checks whether the expectation holds for the subject. Both come from whatever wrote or imported the memory: they are
    /// data, and must not decide what is read or run.
    ///
    /// Runs on a separate thread, which belongs to no runtime, so it may block. If it does not return by the deadline
    /// ([`Config::sensor_timeout`](crate::Config::sensor_timeout)), or panics, the result is unknown; the thread ends when
    /// the call returns.
    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict;
}

/// The traits that the built-in sensors share.
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

/// Checks the name of something that the configuration allows to be checked: 1 to 256 bytes, without `:` and control
/// characters.
pub(crate) fn checked_subject(what: &str, name: impl Into<String>) -> Result<String> {
    let name = name.into();
    check_name(what, Some(&name))?;
    if name.contains(':') || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!("the {what} has a colon or a control character")));
    }
    Ok(name)
}

/// Deserializes an expectation. `None` if it has an unknown field, or one of another type.
pub(crate) fn read<T: DeserializeOwned>(expect: &Expect) -> Option<T> {
    serde_json::from_value(serde_json::Value::Object(expect.0.clone())).ok()
}

/// Declares the setters of a sensor's common traits.
macro_rules! set_traits {
    ($sensor:ident) => {
        impl $sensor {
            /// Sets another name, such as `weather`, so that a configuration may have several sensors of this type.
            #[must_use]
            pub fn named(mut self, name: impl Into<String>) -> Self {
                self.traits.name = name.into();
                self
            }

            /// Sets how reliable a pass is, from 0 to 1.
            #[must_use]
            pub fn reliability(mut self, reliability: f64) -> Self {
                self.traits.reliability = reliability;
                self
            }

            /// Sets how long a pass holds if the memory states no window; see [`Sensor::window`](crate::Sensor::window).
            #[must_use]
            pub fn window(mut self, window: std::time::Duration) -> Self {
                self.traits.window = Some(window);
                self
            }
        }
    };
}
pub(crate) use set_traits;
