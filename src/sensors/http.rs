//! A sensor for addresses that the configuration names: whether a service answers, and what it says.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    clock::Deadline,
    endpoint::address::{EndpointAddress, Got, NoAnswer},
    error::Result,
    model::sensor::{CheckVerdict, Expect, UnknownReason},
    sensors::{Sensor, SensorTraits, checked_subject, host::same, read, set_traits},
};

/// The maximum size of an answer that is read: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;

/// Sends a GET request to addresses that the configuration names. By default its name is `http` and its reliability 0.85.
/// Feature `llm`.
///
/// A subject is the name of an address. The expectation has `status` (an HTTP status; default any from 200 to 299), and
/// `pointer` (a JSON pointer) with `equals` (the value that the answer's JSON has there). A missing value fails, and so does
/// a status other than the stated one. If no status is stated, an answer outside 200 to 299 says nothing about the subject,
/// and the sensor cannot tell. Nor can it tell if no answer comes in time, or if the answer's JSON is needed but is invalid
/// or larger than 1 MiB.
///
/// No part of an address comes from a memory. No redirect is followed, no proxy is used, and no key is sent except one in
/// the address itself. A request goes to this machine, a private network or a link-local address only if its address was
/// added with [`private_url`](Self::private_url).
///
/// ```
/// use std::time::Duration;
///
/// use thermocline::HttpSensor;
///
/// # fn run() -> thermocline::Result<()> {
/// let api = HttpSensor::new().private_url("api", "http://localhost:8443/health")?;
/// let weather = HttpSensor::new()
///     .named("weather")
///     .window(Duration::from_secs(3_600))
///     .url("lisbon", "https://api.open-meteo.com/v1/forecast?latitude=38.7&longitude=-9.1&current=is_day")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HttpSensor {
    traits: SensorTraits,
    addresses: BTreeMap<String, EndpointAddress>,
}

set_traits!(HttpSensor);

impl HttpSensor {
    /// Creates a sensor that may not send requests yet.
    pub fn new() -> Self {
        Self { traits: SensorTraits::new("http", 0.85), addresses: BTreeMap::new() }
    }

    /// Allows requests to this address. Memories refer to it by this name.
    ///
    /// Errors: `InvalidInput` for a name that is empty, longer than 256 bytes, or contains a colon or control characters,
    /// and for an address that is not `http` or `https` with a host, or contains a user, a password or a fragment.
    pub fn url(self, name: impl Into<String>, url: impl Into<String>) -> Result<Self> {
        self.with(name, url, false)
    }

    /// Allows requests to this address like [`url`](Self::url), also if it is on this machine or a private network.
    pub fn private_url(self, name: impl Into<String>, url: impl Into<String>) -> Result<Self> {
        self.with(name, url, true)
    }

    fn with(mut self, name: impl Into<String>, url: impl Into<String>, may_be_private: bool) -> Result<Self> {
        let name = checked_subject("name of an address", name)?;
        self.addresses.insert(name, EndpointAddress::new(url, may_be_private)?);
        Ok(self)
    }
}

impl Default for HttpSensor {
    fn default() -> Self {
        Self::new()
    }
}

/// The deserialized expectation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpExpectation {
    status: Option<u16>,
    pointer: Option<String>,
    #[serde(default, deserialize_with = "some")]
    equals: Option<Value>,
}

/// Deserializes a field that is present as `Some`, even if it is null.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl HttpExpectation {
    fn read(expect: &Expect) -> Option<Self> {
        let expected: Self = read(expect)?;
        let is_pointer = |pointer: &String| pointer.is_empty() || pointer.starts_with('/');
        let is_understood = expected.pointer.is_some() == expected.equals.is_some()
            && expected.pointer.as_ref().is_none_or(is_pointer);
        is_understood.then_some(expected)
    }

    fn of(&self, Got { status, body }: &Got) -> CheckVerdict {
        match self.status {
            Some(expected) if expected != *status => return CheckVerdict::of(false, status.to_string()),
            Some(_) => {}
            None if (200..300).contains(status) => {}
            None if (300..400).contains(status) => return CheckVerdict::Unknown(UnknownReason::Refused),
            None => return CheckVerdict::Unknown(UnknownReason::Unreachable),
        }
        let (Some(pointer), Some(expected)) = (&self.pointer, &self.equals) else {
            return CheckVerdict::of(true, status.to_string());
        };
        match serde_json::from_slice::<Value>(body) {
            Ok(answer) => match answer.pointer(pointer) {
                Some(value) => CheckVerdict::of(same(value, expected), value.to_string()),
                None => CheckVerdict::of(false, "there is nothing"),
            },
            Err(_) => CheckVerdict::Unknown(UnknownReason::Other),
        }
    }
}

impl Sensor for HttpSensor {
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
        self.addresses.contains_key(subject) && HttpExpectation::read(expect).is_some()
    }

    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict {
        let (Some(address), Some(expected)) = (self.addresses.get(subject), HttpExpectation::read(expect))
        else {
            return CheckVerdict::Unknown(UnknownReason::NotUnderstood);
        };
        let max_bytes = expected.pointer.is_some().then_some(MAX_BYTES);
        match address.get(max_bytes, Deadline::from(deadline).remaining()) {
            Ok(got) => expected.of(&got),
            Err(NoAnswer::Late) => CheckVerdict::Unknown(UnknownReason::Late),
            Err(NoAnswer::Private) => CheckVerdict::Unknown(UnknownReason::Refused),
            Err(NoAnswer::TooLarge) => CheckVerdict::Unknown(UnknownReason::TooLarge),
            Err(NoAnswer::Unreachable) => CheckVerdict::Unknown(UnknownReason::Unreachable),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::endpoint::scripted::{Scripted, ScriptedStep};

    /// Long enough for a loaded machine; tests do not wait for it.
    const PATIENT: Duration = Duration::from_secs(30);

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
    fn check(expect: Value, step: ScriptedStep, expected: CheckVerdict) {
        let endpoint = Scripted::new(vec![step]);
        let sensor = HttpSensor::new().private_url("it", &endpoint.url).unwrap();
        let deadline = Deadline::after(PATIENT).instant();
        let verdict = sensor.check("it", &Expect::new(expect.clone()).unwrap(), deadline);
        assert_eq!(verdict, expected, "{expect}");
        endpoint.thread.join().unwrap();
    }

    fn answer(status: u16, body: &Value) -> ScriptedStep {
        ScriptedStep::Answer(status, body.to_string())
    }

    #[test]
    fn an_answer_has_a_status_and_a_value_at_a_place() {
        let (pass, fail) =
            (|seen: &str| CheckVerdict::of(true, seen), |seen: &str| CheckVerdict::of(false, seen));
        let body = json!({ "port": 8443, "hosts": ["a", "b"] });
        check(json!({}), answer(204, &json!(null)), pass("204"));
        check(json!({ "status": 404 }), answer(404, &body), pass("404"));
        check(json!({ "status": 200 }), answer(503, &body), fail("503"));
        check(json!({ "pointer": "/port", "equals": 8443 }), answer(200, &body), pass("8443"));
        check(json!({ "pointer": "/hosts/1", "equals": "a" }), answer(200, &body), fail("\"b\""));
        check(json!({ "pointer": "/gone", "equals": null }), answer(200, &body), fail("there is nothing"));
        check(json!({ "pointer": "", "equals": body }), answer(200, &body), pass(&body.to_string()));
    }

    #[test]
    fn what_is_no_answer_to_the_question_cannot_tell() {
        let unknown = CheckVerdict::Unknown;
        let asked = json!({ "pointer": "/port", "equals": 8443 });
        check(asked.clone(), answer(503, &json!({ "port": 1 })), unknown(UnknownReason::Unreachable));
        check(asked.clone(), answer(302, &json!({ "port": 1 })), unknown(UnknownReason::Refused));
        check(asked.clone(), ScriptedStep::Answer(200, "<html>".to_owned()), unknown(UnknownReason::Other));
        check(asked.clone(), ScriptedStep::Close, unknown(UnknownReason::Unreachable));
        let endless = ScriptedStep::Endless("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        check(asked, endless, unknown(UnknownReason::TooLarge));
    }

    #[test]
    fn only_what_the_configuration_names_is_asked() {
        let sensor = HttpSensor::new().url("own", "http://127.0.0.1:9/").unwrap();
        let deadline = Deadline::after(PATIENT).instant();
        let look = |subject| sensor.check(subject, &Expect::default(), deadline);
        assert_eq!(look("own"), CheckVerdict::Unknown(UnknownReason::Refused));
        for subject in ["", "http://127.0.0.1:9/", "own/../other", "Own"] {
            assert_eq!(look(subject), CheckVerdict::Unknown(UnknownReason::NotUnderstood), "{subject}");
        }
        let understands = |expect| sensor.understands("own", &Expect::new(expect).unwrap());
        assert!(understands(json!({ "pointer": "/a", "equals": null })));
        assert!(
            !understands(json!({ "pointer": "a", "equals": 1 })) && !understands(json!({ "pointer": "/a" }))
        );
        assert!(!understands(json!({ "url": "http://127.0.0.1:9/" })));
    }
}
