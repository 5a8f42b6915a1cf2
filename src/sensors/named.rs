//! A sensor whose checks the operator has written down, for memories of people who do not run the machine.

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, Result},
    model::sensor::{CheckVerdict, Expect, UnknownReason},
    sensors::{Sensor, checked_subject},
};

/// How long a look stands. Whoever asks, a check makes its sensor look once in this time.
const REST: Duration = Duration::from_mins(1);

/// Whether a sensor serves the user with this name.
type Serves = Arc<dyn Fn(Option<&str>) -> bool + Send + Sync>;

/// Limits a sensor to checks that whoever runs it has written down: each has a name, a subject and an expectation. A memory
/// names a check as its subject, and expects nothing of its own. So whatever is stored or imported, it decides neither what
/// is looked at nor what is compared, and nobody can read a file, an output or an answer by guessing at it.
///
/// A check looks once a minute, whoever asks; in between, its last result is given. By default it serves every user.
///
/// ```
/// use thermocline::{Expect, HostSensor, NamedChecks, NewSensor};
///
/// # fn run() -> thermocline::Result<()> {
/// let runtime = HostSensor::new().value("port", || Some(8443.into()))?;
/// let sensor = NamedChecks::new(runtime)
///     .check("api_port", "port", Expect::default().with("equals", 8443))?
///     .serving(|user| user.is_some_and(|name| name.starts_with("acme/")));
/// let watched = NewSensor::new("runtime", "api_port");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct NamedChecks {
    sensor: Arc<dyn Sensor>,
    /// The subject and the expectation of each check.
    checks: BTreeMap<String, (String, Expect)>,
    serves: Serves,
}

impl NamedChecks {
    /// Wraps a sensor, which has no checks yet.
    pub fn new(sensor: impl Sensor + 'static) -> Self {
        Self { sensor: Arc::new(sensor), checks: BTreeMap::new(), serves: Arc::new(|_| true) }
    }

    /// Adds a check under this name.
    ///
    /// Errors: `InvalidInput` for a name that is empty, longer than 256 bytes, or contains a colon or control characters,
    /// and if the sensor does not know the subject, or cannot check the expectation.
    pub fn check(
        mut self,
        name: impl Into<String>,
        subject: impl Into<String>,
        expect: Expect,
    ) -> Result<Self> {
        let (name, subject) = (checked_subject("name of a check", name)?, subject.into());
        if !self.sensor.understands(&subject, &expect) {
            return Err(Error::invalid(format!(
                "the sensor does not know the subject of the check {name}, or cannot check what is expected"
            )));
        }
        self.checks.insert(name, (subject, expect));
        Ok(self)
    }

    /// Serves only the users for whom this returns true, by their names; `None` is a user without a name. For any other
    /// user, it is as if the sensor were not configured.
    #[must_use]
    pub fn serving(mut self, serves: impl Fn(Option<&str>) -> bool + Send + Sync + 'static) -> Self {
        self.serves = Arc::new(serves);
        self
    }

    /// Returns the subject and the expectation of a check, if a memory names it and expects nothing of its own.
    fn named(&self, name: &str, expect: &Expect) -> Option<&(String, Expect)> {
        self.checks.get(name).filter(|_| expect.fields().is_empty())
    }
}

impl Sensor for NamedChecks {
    fn name(&self) -> &str {
        self.sensor.name()
    }

    fn reliability(&self) -> f64 {
        self.sensor.reliability()
    }

    fn window(&self) -> Option<Duration> {
        self.sensor.window()
    }

    fn rest(&self) -> Duration {
        REST
    }

    fn serves(&self, user: Option<&str>) -> bool {
        (self.serves)(user)
    }

    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        self.named(subject, expect).is_some()
    }

    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict {
        match self.named(subject, expect) {
            Some((subject, expect)) => self.sensor.check(subject, expect, deadline),
            None => CheckVerdict::Unknown(UnknownReason::NotUnderstood),
        }
    }
}

impl fmt::Debug for NamedChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedChecks")
            .field("sensor", &self.sensor)
            .field("checks", &self.checks)
            .finish_non_exhaustive()
    }
}
