//! A sensor for what the host program knows about itself: metrics, settings, the state of a device, each under a name.

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    error::Result,
    model::sensor::{CheckVerdict, Expect, UnknownReason},
    sensors::{Sensor, SensorTraits, checked_subject, read, set_traits},
};

/// Returns a value; `None` if it is not available now.
type ValueFn = Arc<dyn Fn() -> Option<Value> + Send + Sync>;

/// Compares values of the host program with what a memory expects. By default its name is `runtime` and its reliability
/// 0.90.
///
/// A subject is the name that the host gave to a value. The expectation is a comparison: `equals` (any JSON; numbers by
/// their value), `at_least` and `at_most` (numbers), `contains` (a text in a text, an item in a list); all that are given
/// must hold. An empty expectation expects `true`. A value of another type than the comparison fails; if there is no value,
/// the sensor cannot tell.
///
/// ```
/// use thermocline::HostSensor;
///
/// # fn run() -> thermocline::Result<()> {
/// let sensor = HostSensor::new().value("port", || Some(8443.into()))?.value("cache", || Some(true.into()))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HostSensor {
    traits: SensorTraits,
    values: BTreeMap<String, ValueFn>,
}

set_traits!(HostSensor);

impl HostSensor {
    /// Creates a sensor that knows no values.
    pub fn new() -> Self {
        Self { traits: SensorTraits::new("runtime", 0.90), values: BTreeMap::new() }
    }

    /// Adds a value under this name, which is read at each check. It is compared and hashed, but not stored.
    ///
    /// Errors: `InvalidInput` for a name that is empty, longer than 256 bytes, or contains a colon or control characters.
    pub fn value(
        mut self,
        name: impl Into<String>,
        value: impl Fn() -> Option<Value> + Send + Sync + 'static,
    ) -> Result<Self> {
        self.values.insert(checked_subject("name of a value", name)?, Arc::new(value));
        Ok(self)
    }
}

impl Default for HostSensor {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HostSensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSensor")
            .field("traits", &self.traits)
            .field("values", &self.values.keys())
            .finish_non_exhaustive()
    }
}

/// The comparison that an expectation asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostComparison {
    #[serde(default, deserialize_with = "some")]
    equals: Option<Value>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    contains: Option<Value>,
}

/// Deserializes a field that is present as `Some`, even if it is null.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl HostComparison {
    fn holds(&self, value: &Value) -> bool {
        let Self { equals, at_least, at_most, contains } = self;
        let is_empty = equals.is_none() && at_least.is_none() && at_most.is_none() && contains.is_none();
        let number = value.as_f64();
        let is_within = |bound: &Option<f64>, holds: fn(f64, f64) -> bool| {
            bound.is_none_or(|bound| number.is_some_and(|number| holds(number, bound)))
        };
        let has = |part: &Value| match (value, part) {
            (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
            (Value::Array(items), part) => items.iter().any(|item| same(item, part)),
            _ => false,
        };
        (!is_empty || *value == Value::Bool(true))
            && equals.as_ref().is_none_or(|expected| same(value, expected))
            && is_within(at_least, |number, bound| number >= bound)
            && is_within(at_most, |number, bound| number <= bound)
            && contains.as_ref().is_none_or(has)
    }
}

/// Whether two values are equal; numbers are compared by value, however they are written.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => a == b || a.as_f64().is_some_and(|a| Some(a) == b.as_f64()),
        _ => a == b,
    }
}

impl Sensor for HostSensor {
    fn name(&self) -> &str {
        &self.traits.name
    }

    fn reliability(&self) -> f64 {
        self.traits.reliability
    }

    fn window(&self) -> Option<Duration> {
        self.traits.window
    }

    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        self.values.contains_key(subject) && read::<HostComparison>(expect).is_some()
    }

    fn check(&self, subject: &str, expect: &Expect, _: Instant) -> CheckVerdict {
        let (Some(value), Some(compared)) = (self.values.get(subject), read::<HostComparison>(expect)) else {
            return CheckVerdict::Unknown(UnknownReason::NotUnderstood);
        };
        match value() {
            Some(value) => CheckVerdict::of(compared.holds(&value), value.to_string()),
            None => CheckVerdict::Unknown(UnknownReason::Unreachable),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{clock::Deadline, model::sensor::CheckResult};

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
    fn check(value: Value, expect: Value, expected: CheckResult) {
        let sensor = HostSensor::new().value("it", move || Some(value.clone())).unwrap();
        let deadline = Deadline::after(Duration::from_secs(1)).instant();
        let verdict = sensor.check("it", &Expect::new(expect.clone()).unwrap(), deadline);
        assert_eq!(verdict.result(), expected, "{sensor:?} {expect}");
    }

    #[test]
    fn a_value_is_compared_as_the_expectation_says() {
        use CheckResult::{Fail, Pass, Unknown};
        check(json!(true), json!({}), Pass);
        check(json!(1), json!({}), Fail);
        check(json!(8443), json!({ "equals": 8443.0 }), Pass);
        check(json!(8443), json!({ "equals": "8443" }), Fail);
        check(json!(null), json!({ "equals": null }), Pass);
        check(json!(7), json!({ "at_least": 7, "at_most": 7.5 }), Pass);
        check(json!(8), json!({ "at_least": 7, "at_most": 7.5 }), Fail);
        check(json!("x"), json!({ "at_least": 0 }), Fail);
        check(json!("the port is 8443"), json!({ "contains": "8443" }), Pass);
        check(json!(["a", 2]), json!({ "contains": 2.0 }), Pass);
        check(json!({ "a": 1 }), json!({ "contains": "a" }), Fail);
        check(json!(1), json!({ "equal": 1 }), Unknown);
        check(json!(1), json!({ "at_least": "1" }), Unknown);
    }

    #[test]
    fn what_it_does_not_know_or_cannot_say_now_it_cannot_tell() {
        let sensor = HostSensor::new().value("it", || None).unwrap();
        let deadline = Deadline::after(Duration::from_secs(1)).instant();
        let check = |subject| sensor.check(subject, &Expect::default(), deadline);
        assert_eq!(check("it"), CheckVerdict::Unknown(UnknownReason::Unreachable));
        assert_eq!(check("that"), CheckVerdict::Unknown(UnknownReason::NotUnderstood));
        assert!(
            sensor.understands("it", &Expect::default()) && !sensor.understands("that", &Expect::default())
        );
        for name in ["", "a:b", "a\nb"] {
            assert!(HostSensor::new().value(name, || None).is_err(), "{name:?}");
        }
    }
}
