//! A sensor whose name, reliability and window are asked for only once, when the file is opened.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, Result},
    model::{
        memory::new::NewMemory,
        sensor::{CheckVerdict, Expect, HUMAN},
    },
    sensors::{Sensor, SensorTraits},
};

/// The maximum length of a sensor's name, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 200;

/// Wraps a sensor, and always returns the name, the reliability and the window that it had first.
#[derive(Debug)]
struct KnownSensor {
    traits: SensorTraits,
    rest: Duration,
    sensor: Arc<dyn Sensor>,
}

/// Asks each sensor for its name, its reliability and its window. Refuses a sensor that is outside the limits, has another
/// one's name, or panics.
pub(crate) fn all(sensors: Vec<Arc<dyn Sensor>>) -> Result<Vec<Arc<dyn Sensor>>> {
    let mut known: Vec<Arc<dyn Sensor>> = Vec::with_capacity(sensors.len());
    for sensor in sensors {
        let sensor = KnownSensor::of(sensor)?;
        let name = &sensor.traits.name;
        if known.iter().any(|other| other.name() == name.as_str()) {
            return Err(Error::invalid(format!("two sensors have the name {name}")));
        }
        known.push(Arc::new(sensor));
    }
    Ok(known)
}

/// Finds the configured sensor of this name.
pub(crate) fn of_name<'s>(sensors: &'s [Arc<dyn Sensor>], name: &str) -> Option<&'s Arc<dyn Sensor>> {
    sensors.iter().find(|sensor| sensor.name() == name)
}

/// Returns whether the name is that of a configured sensor, or stands for a person.
pub(crate) fn is_configured(sensors: &[Arc<dyn Sensor>], name: &str) -> bool {
    name == HUMAN || of_name(sensors, name).is_some()
}

impl KnownSensor {
    fn of(sensor: Arc<dyn Sensor>) -> Result<Self> {
        let asked = || {
            let (name, reliability) = (sensor.name().to_owned(), sensor.reliability());
            (SensorTraits { name, reliability, window: sensor.window() }, sensor.rest())
        };
        let (traits, rest) = panic::catch_unwind(AssertUnwindSafe(asked))
            .map_err(|_| Error::invalid("a sensor panicked when it was asked for its name"))?;
        let name = &traits.name;
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
            return Err(Error::invalid(format!(
                "a sensor's name has 1 to {MAX_NAME_BYTES} bytes and no control characters"
            )));
        }
        if name == HUMAN {
            return Err(Error::invalid(
                "the name human is reserved for the person who is asked; no sensor can have it",
            ));
        }
        if !(0.0..=1.0).contains(&traits.reliability) {
            return Err(Error::invalid(format!("the reliability of the sensor {name} is not from 0 to 1")));
        }
        if traits.window.is_some_and(|window| window > NewMemory::MAX_WINDOW) {
            return Err(Error::invalid(format!(
                "the window of the sensor {name} is longer than a hundred years"
            )));
        }
        Ok(Self { traits, rest, sensor })
    }
}

impl Sensor for KnownSensor {
    fn name(&self) -> &str {
        &self.traits.name
    }

    fn reliability(&self) -> f64 {
        self.traits.reliability
    }

    fn window(&self) -> Option<Duration> {
        self.traits.window
    }

    fn rest(&self) -> Duration {
        self.rest
    }

    fn serves(&self, user: Option<&str>) -> bool {
        panic::catch_unwind(AssertUnwindSafe(|| self.sensor.serves(user))).unwrap_or(false)
    }

    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        let asked = || self.sensor.understands(subject, expect);
        panic::catch_unwind(AssertUnwindSafe(asked)).unwrap_or(false)
    }

    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict {
        self.sensor.check(subject, expect, deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensors::HostSensor;

    #[track_caller]
    fn check(sensors: Vec<HostSensor>, expected: Option<&str>) {
        let sensors = sensors.into_iter().map(|sensor| Arc::new(sensor) as Arc<dyn Sensor>).collect();
        let refused = all(sensors).err().map(|error| error.to_string());
        match expected {
            Some(words) => assert!(refused.as_ref().is_some_and(|why| why.contains(words)), "{refused:?}"),
            None => assert_eq!(refused, None),
        }
    }

    #[test]
    fn a_sensor_has_a_name_of_its_own_and_a_reliability_from_0_to_1() {
        let sensor = |name: &str| HostSensor::new().named(name);
        check(vec![], None);
        check(vec![sensor("a"), sensor("b").window(Duration::ZERO)], None);
        check(vec![sensor("a"), sensor("a")], Some("two sensors"));
        check(vec![sensor("")], Some("1 to 200 bytes"));
        check(vec![sensor(&"a".repeat(201))], Some("1 to 200 bytes"));
        check(vec![sensor("a\nb")], Some("control"));
        check(vec![sensor("human")], Some("person"));
        check(vec![sensor("a").reliability(1.01)], Some("reliability"));
        check(vec![sensor("a").reliability(f64::NAN)], Some("reliability"));
        check(vec![sensor("a").window(Duration::MAX)], Some("hundred years"));
    }
}
