//! Checks that are written down: memories name them, they serve some users, and they look once a minute.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use chrono::TimeDelta;
use serde_json::json;
use thermocline::{
    CheckResult, ErrorKind, Expect, HostSensor, MemoryCheck, MemoryId, NamedChecks, NewSensor, UnknownReason,
    blocking::Memories,
};

use crate::memories::{Known, fix, sensing::with_sensors};

/// A port that the host reports, and how often it was asked.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<u32>>, Arc<AtomicU32>);

impl Counted {
    /// Returns a sensor with the check `api_port`, which expects 8443.
    fn sensor(&self) -> NamedChecks {
        let counted = self.clone();
        let value = move || {
            counted.1.fetch_add(1, Ordering::SeqCst);
            Some((*counted.0.lock().unwrap()).into())
        };
        let sensor = NamedChecks::new(HostSensor::new().value("port", value).unwrap());
        sensor.check("api_port", "port", Expect::default().with("equals", 8443)).unwrap()
    }

    fn set(&self, port: u32) {
        *self.0.lock().unwrap() = port;
    }

    fn looks(&self) -> u32 {
        self.1.load(Ordering::SeqCst)
    }
}

fn named() -> NewSensor {
    NewSensor::new("runtime", "api_port")
}

/// Returns alex's memories, with this sensor.
fn known(sensor: NamedChecks) -> Known {
    with_sensors(vec![Arc::new(sensor)])
}

#[track_caller]
fn look(memories: &Memories, id: MemoryId) -> MemoryCheck {
    memories.validate(id).unwrap().remove(0)
}

#[test]
fn a_memory_names_a_check_and_expects_nothing_of_its_own() {
    let port = Counted::default();
    port.set(8443);
    let known = known(port.sensor());
    let id = known.save(fix("a")).id;
    for what in [
        NewSensor::new("runtime", "port"),
        NewSensor::new("runtime", "port").expect(Expect::default().with("equals", 8443)),
        named().expect(Expect::default().with("equals", 8443)),
        named().expect(Expect::default().contains("8")),
        NewSensor::new("runtime", ""),
    ] {
        let refused = known.memories.watch(id, what).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    }
    known.memories.watch(id, named()).unwrap();
    assert_eq!(look(&known.memories, id).result, CheckResult::Pass);
    known.check_sound();
}

#[test]
fn a_check_whose_sensor_does_not_understand_it_is_refused_when_it_is_written_down() {
    let sensor = || NamedChecks::new(HostSensor::new().value("port", || None).unwrap());
    let equals = Expect::default().with("equals", 1);
    assert!(sensor().check("a", "port", equals.clone()).is_ok());
    for (name, subject, expect) in [
        ("a", "no-such", equals.clone()),
        ("a", "port", Expect::default().with("status", 200)),
        ("", "port", equals.clone()),
        ("a:b", "port", equals),
    ] {
        assert_eq!(sensor().check(name, subject, expect).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn a_look_stands_for_a_minute_and_counts_once_for_a_memory() {
    let port = Counted::default();
    let known = known(port.sensor());
    let [one, other] = ["a", "b"].map(|title| known.save(fix(title)).id);
    for id in [one, other] {
        known.memories.watch(id, named()).unwrap();
    }
    let first = look(&known.memories, one);
    assert_eq!((first.result, first.confidence.is_some()), (CheckResult::Fail, true));
    port.set(8443);
    known.fixture.clock.advance(TimeDelta::seconds(59));
    let again = look(&known.memories, one);
    assert_eq!((again.result, again.confidence, again.looked_at), (CheckResult::Fail, None, first.looked_at));
    let elsewhere = look(&known.memories, other);
    assert_eq!((elsewhere.result, elsewhere.looked_at), (CheckResult::Fail, first.looked_at));
    assert!(elsewhere.confidence.is_some(), "the result counts for each memory");
    assert_eq!((port.looks(), known.checks(one).len(), known.checks(other).len()), (1, 1, 1));
    known.fixture.clock.advance(TimeDelta::seconds(1));
    let later = look(&known.memories, one);
    assert_eq!((later.result, port.looks()), (CheckResult::Pass, 2));
    assert!(later.looked_at > first.looked_at);
    // A clock that was set back makes nothing stand.
    known.fixture.clock.advance(TimeDelta::hours(-1));
    look(&known.memories, one);
    assert_eq!(port.looks(), 3);
    known.check_sound();
}

#[test]
fn who_is_not_served_has_no_sensor() {
    let port = Counted::default();
    let known = known(port.sensor().serving(|user| user == Some("blake")));
    let blake = known.file.user("blake").unwrap().memories();
    let alexs = known.save(fix("a")).id;
    let unsaid = known.memories.watch(alexs, named()).unwrap_err();
    let unknown = known.memories.watch(alexs, NewSensor::new("no-such", "api_port")).unwrap_err();
    assert_eq!((unsaid.kind(), unknown.kind()), (ErrorKind::Unsupported, ErrorKind::Unsupported));
    assert_eq!(unsaid.to_string().replace("runtime", ""), unknown.to_string().replace("no-such", ""));
    let blakes = blake.save(fix("b")).unwrap().memory.id;
    blake.watch(blakes, named()).unwrap();
    assert!(blake.sensors(blakes).unwrap()[0].is_configured);
    assert_eq!(look(&blake, blakes).result, CheckResult::Fail);
    assert_eq!(port.looks(), 1);
}

#[test]
fn what_watches_for_somebody_who_is_not_served_is_not_asked_by_anyone() {
    let port = Counted::default();
    let served = Arc::new(Mutex::new(true));
    let asked = Arc::clone(&served);
    let known = known(port.sensor().serving(move |_| *asked.lock().unwrap()));
    let id = known.save(fix("a")).id;
    known.memories.watch(id, named()).unwrap();
    *served.lock().unwrap() = false;
    assert!(!known.memories.sensors(id).unwrap()[0].is_configured);
    let check = look(&known.memories, id);
    assert_eq!((check.result, check.why), (CheckResult::Unknown, Some(UnknownReason::NotConfigured)));
    assert_eq!((check.looked_at, port.looks()), (None, 0));
    assert!(known.checks(id).is_empty());
}

#[test]
fn a_sensor_that_panics_over_whom_it_serves_serves_nobody() {
    let known = known(Counted::default().sensor().serving(|_| panic!("{}", json!("unsure"))));
    let id = known.save(fix("a")).id;
    assert_eq!(known.memories.watch(id, named()).unwrap_err().kind(), ErrorKind::Unsupported);
}
