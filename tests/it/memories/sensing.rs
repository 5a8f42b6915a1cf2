//! Sensors check whether memories still hold: a pass counts as a check, a failure has consequences, and an undecided
//! result changes no number.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, channel},
    },
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use serde_json::{Value, json};
use thermocline::{
    ChangeOp, CheckResult, CheckVerdict, Decision, ErrorKind, Expect, HostSensor, Memory, MemoryCheck,
    MemoryId, NewMemory, NewSensor, Origin, Sensor, StaleReason, ToCheck, UnknownReason, Volatility,
};

use crate::{
    dump::{ask, assert_same, dump_of_user},
    memories::{Known, fix, port, saying},
    support::Fixture,
    transfer::{export, import},
};

/// A timeout that is never fully waited for.
const PATIENT: Duration = Duration::from_mins(1);

/// The port as the host reports it; `None` if it cannot tell now.
#[derive(Clone, Default)]
pub struct Port(Arc<Mutex<Option<u32>>>);

impl Port {
    pub fn set(&self, port: Option<u32>) {
        *self.0.lock().unwrap() = port;
    }

    /// Returns a sensor with this name and reliability that reports the port.
    pub fn sensor(&self, name: &str, reliability: f64) -> Arc<dyn Sensor> {
        let port = self.clone();
        let value = move || port.0.lock().unwrap().map(Value::from);
        let sensor = HostSensor::new().named(name).reliability(reliability);
        Arc::new(sensor.value("port", value).unwrap())
    }
}

/// Returns alex's memories, in a file with these sensors.
pub fn with_sensors(sensors: Vec<Arc<dyn Sensor>>) -> Known {
    let mut fixture = Fixture::new();
    fixture.config.sensors = sensors;
    fixture.config.sensor_timeout = PATIENT;
    Known::of(fixture)
}

/// Returns alex's memories, the port that the host reports, and its sensor `runtime` with reliability 0.8.
fn with_port() -> (Known, Port) {
    let port = Port::default();
    (with_sensors(vec![port.sensor("runtime", 0.8)]), port)
}

/// Expects that the port is 8443.
pub fn is_8443(sensor: &str) -> NewSensor {
    NewSensor::new(sensor, "port").expect(Expect::default().with("equals", 8443))
}

impl Known {
    /// Saves that the port is 8443, and attaches a sensor that checks it.
    #[track_caller]
    pub fn watched(&self, memory: NewMemory, sensor: &str) -> Memory {
        let memory = self.save(memory);
        self.memories.watch(memory.id, is_8443(sensor)).unwrap();
        memory
    }

    /// Runs all sensors of a memory.
    #[track_caller]
    pub fn look(&self, id: MemoryId) -> Vec<MemoryCheck> {
        self.memories.validate(id).unwrap()
    }

    /// Returns the checks in a memory's history, oldest first: for each, the result before it, its own result, and the
    /// reason.
    #[track_caller]
    pub fn checks(&self, id: MemoryId) -> Vec<(Option<String>, String, String)> {
        let mut changes = self.memories.history(id, None, 1_000).unwrap();
        changes.retain(|change| change.op == ChangeOp::Check);
        changes.reverse();
        let told = changes.into_iter().map(|of| (of.old_value, of.new_value.unwrap(), of.reason));
        told.collect()
    }

    fn advance(&self, delta: TimeDelta) {
        self.fixture.clock.advance(delta);
    }
}

fn results(checks: &[MemoryCheck]) -> Vec<CheckResult> {
    checks.iter().map(|check| check.result).collect()
}

/// Checks the confidence and reliability after a check by a sensor of reliability `by` that passes or fails.
#[track_caller]
fn check_numbers(
    (confidence, reliability): (f64, Option<f64>),
    by: f64,
    passes: bool,
    expected: (f64, Option<f64>),
) {
    let said = Port::default();
    let known = with_sensors(vec![said.sensor("runtime", by)]);
    said.set(Some(if passes { 8443 } else { 80 }));
    let memory = port(8443).confidence(confidence);
    let memory = reliability.map_or(memory.clone(), |reliability| memory.reliability(reliability));
    let id = known.watched(memory, "runtime").id;
    let checks = known.look(id);
    let memory = known.get(id);
    assert_eq!((memory.confidence, memory.reliability), expected, "{confidence} {reliability:?} by {by}");
    assert_eq!((checks[0].confidence, checks[0].reliability), (Some(expected.0), expected.1));
    assert_eq!(memory.state.validation_count, u32::from(passes));
    known.check_sound();
}

#[test]
fn a_check_proves_no_more_than_its_sensor_can() {
    check_numbers((0.80, None), 0.80, true, (0.80, Some(0.80)));
    check_numbers((0.80, None), 0.95, true, (0.82, Some(0.95)));
    check_numbers((0.945, None), 0.95, true, (0.95, Some(0.95)));
    check_numbers((0.97, None), 0.80, true, (0.97, Some(0.80)));
    check_numbers((0.80, Some(0.9)), 0.80, false, (0.40, Some(0.3)));
    check_numbers((0.80, None), 0.80, false, (0.40, Some(0.3)));
}

#[test]
fn what_passes_is_checked_and_what_fails_waits_for_a_person_and_is_minded() {
    let (known, port_of) = with_port();
    let id = known.watched(port(8443), "runtime").id;
    port_of.set(Some(8443));
    let passed = known.look(id).remove(0);
    assert_eq!((passed.result, passed.why, passed.review), (CheckResult::Pass, None, None));
    let memory = known.get(id);
    assert_eq!(memory.state.validated_by.as_deref(), Some("runtime"));
    assert_eq!(memory.state.validated_at, Some(memory.updated_at));
    port_of.set(Some(80));
    known.advance(TimeDelta::days(1));
    let failed = known.look(id).remove(0);
    assert_eq!(failed.result, CheckResult::Fail);
    let failed_again = known.look(id).remove(0);
    assert_eq!(failed_again.review, failed.review, "it is asked once");
    assert!(failed.review.is_some());
    let memory = known.get(id);
    assert_eq!(memory.standing.stale, [StaleReason::Weak]);
    assert!(memory.standing.unverified);
    assert_eq!(memory.state.validation_count, 1);
    // The sensor sees the same as before, so the numbers do not fall again.
    assert_eq!((memory.confidence, memory.reliability), (0.4, Some(0.3)));
    port_of.set(Some(81));
    assert_eq!(known.look(id)[0].confidence, Some(0.2), "this is new");
    let text = |result: &str| Some(result.to_owned());
    let (pass, fail) = ("pass".to_owned(), "fail".to_owned());
    assert_eq!(
        known.checks(id),
        [
            (None, pass, "confidence 0.80, reliability 0.80".to_owned()),
            (text("pass"), fail.clone(), "confidence 0.40, reliability 0.30".to_owned()),
            (text("fail"), fail.clone(), "as before".to_owned()),
            (text("fail"), fail, "confidence 0.20, reliability 0.30".to_owned()),
        ]
    );
    let why: String = ask(&known.fixture.path(), "SELECT why FROM memory_reviews WHERE kind = 'check'");
    assert_eq!(why, "runtime failed, confidence 0.40, reliability 0.30");
    port_of.set(Some(8443));
    assert_eq!(known.look(id)[0].reliability, Some(0.8));
    assert!(known.get(id).standing.stale.is_empty());
    known.check_sound();
}

#[test]
fn no_undo_takes_a_check_back_and_none_is_in_its_way() {
    let (known, port_of) = with_port();
    let id = known.watched(port(8443), "runtime").id;
    known.memories.edit(id, saying("The port is 8443.")).unwrap();
    port_of.set(Some(80));
    known.look(id);
    known.memories.undo(id).unwrap();
    let memory = known.get(id);
    assert_eq!((memory.content.as_str(), memory.confidence), ("It runs on port 8443.", 0.4));
    assert_eq!(known.memories.undo(id).unwrap_err().kind(), ErrorKind::Conflict);
    known.check_sound();
}

/// Checks whether a memory is stale at this age, after a sensor of this reliability passed it, or after it was said.
#[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
#[track_caller]
fn check_stale(memory: NewMemory, by: Option<f64>, age: TimeDelta, expected: &[StaleReason]) {
    let said = Port::default();
    let known = with_sensors(vec![said.sensor("runtime", by.unwrap_or(1.0))]);
    said.set(Some(8443));
    let id = known.watched(memory.clone(), "runtime").id;
    if by.is_some() {
        known.advance(TimeDelta::hours(3));
        assert_eq!(results(&known.look(id)), [CheckResult::Pass]);
    }
    known.advance(age);
    assert_eq!(known.get(id).standing.stale, expected, "{memory:?} by {by:?} after {age}");
}

#[test]
fn a_check_holds_as_long_as_window_and_volatility_say() {
    use StaleReason::{Expired, Old, Weak};
    let of = |volatility| port(8443).volatility(volatility);
    let (day, hour, second) = (TimeDelta::days(1), TimeDelta::hours(1), TimeDelta::seconds(1));
    let windowed =
        |volatility, hours: u64| of(volatility).validity_window(Duration::from_secs(hours * 3_600));
    let passed = Some(0.9);
    let (low, medium) = (Volatility::Low, Volatility::Medium);
    check_stale(of(medium), passed, day * 7 - hour, &[]);
    check_stale(of(medium), passed, day * 7, &[]);
    check_stale(of(medium), passed, day * 7 + second, &[Expired]);
    check_stale(of(low), None, day * 3 * 365, &[]);
    check_stale(windowed(low, 180 * 24), passed, day * 181, &[Expired]);
    let (high, ephemeral) = (Volatility::High, Volatility::Ephemeral);
    check_stale(windowed(high, 24), passed, hour * 7, &[Old]);
    check_stale(of(high), None, TimeDelta::minutes(5), &[]);
    check_stale(windowed(ephemeral, 1), passed, TimeDelta::minutes(59), &[]);
    check_stale(windowed(ephemeral, 1), passed, TimeDelta::minutes(61), &[Expired, Old]);
    check_stale(windowed(low, 0), passed, TimeDelta::zero(), &[]);
    check_stale(windowed(low, 0), passed, TimeDelta::milliseconds(1), &[Expired]);
    check_stale(of(low), Some(0.39), TimeDelta::zero(), &[Weak]);
    check_stale(of(low), Some(0.40), TimeDelta::zero(), &[]);
}

#[test]
fn a_pass_gives_its_sensors_window_to_what_grows_stale_and_makes_nothing_staler() {
    let said = Port::default();
    said.set(Some(8443));
    let value = |name: &str| {
        let said = said.clone();
        HostSensor::new().named(name).value("port", move || said.0.lock().unwrap().map(Value::from)).unwrap()
    };
    let now = Arc::new(value("now").window(Duration::ZERO));
    let month = Duration::from_hours(30 * 24);
    let known = with_sensors(vec![now, Arc::new(value("month").window(month))]);
    let id = known.watched(port(8443).volatility(Volatility::Medium), "month").id;
    known.look(id);
    known.memories.watch(id, is_8443("now")).unwrap();
    known.look(id);
    assert_eq!(known.get(id).validity_window, Some(month), "the longer one's");
    known.memories.unwatch(id, "month", None).unwrap();
    known.memories.edit(id, thermocline::Edit::default().validity_window(None)).unwrap();
    known.look(id);
    known.advance(TimeDelta::milliseconds(1));
    assert_eq!((known.get(id).validity_window, known.get(id).standing.stale), (None, vec![]));
    let lasting = known.watched(port(8443).project("x"), "month").id;
    known.look(lasting);
    assert_eq!(known.get(lasting).validity_window, None, "it does not grow stale");
    // A window of ten thousand years is refused, for a memory and for a sensor.
    let long = Duration::from_hours(10_000 * 366 * 24);
    let refused = known.memories.save(port(1).validity_window(long)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    let mut fixture = Fixture::new();
    fixture.config.sensors = vec![Arc::new(value("long").window(long))];
    let refused = thermocline::blocking::Thermocline::open_with(fixture.path(), fixture.config.clone());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn looking_away_and_again_lowers_nothing_once_more_and_a_tool_does_not_look_away_for_the_user() {
    let (known, port_of) = with_port();
    port_of.set(Some(80));
    let id = known.watched(port(8443).origin(Origin::User), "runtime").id;
    known.look(id);
    let before = (known.get(id).confidence, known.get(id).reliability);
    for _ in 0..3 {
        known.memories.unwatch(id, "runtime", None).unwrap();
        known.memories.watch(id, is_8443("runtime")).unwrap();
        assert_eq!(known.look(id)[0].result, CheckResult::Fail);
    }
    assert_eq!((known.get(id).confidence, known.get(id).reliability), before, "nothing new was seen");
    port_of.set(Some(81));
    assert!(known.look(id)[0].confidence < Some(before.0), "this is new");
    let tool = known.memories.clone().by(Origin::Tool);
    assert_eq!(tool.unwatch(id, "runtime", None).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(tool.watch(id, is_8443("runtime")).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(known.memories.sensors(id).unwrap().len(), 1);
}

#[test]
fn what_cannot_be_told_makes_nothing_truer_or_falser() {
    let (known, port_of) = with_port();
    let id = known.watched(port(8443), "runtime").id;
    port_of.set(Some(8443));
    known.look(id);
    let before = known.get(id);
    port_of.set(None);
    let check = known.look(id).remove(0);
    assert_eq!((check.result, check.why), (CheckResult::Unknown, Some(UnknownReason::Unreachable)));
    assert_eq!(known.get(id), before);
    assert_eq!(known.checks(id).pop().unwrap().2, "unreachable");
    known.check_sound();
}

#[cfg(all(unix, feature = "files", feature = "llm"))]
#[test]
fn offline_no_sensor_can_tell() {
    use thermocline::{CommandSensor, FsSensor, HttpSensor};
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let port = Port::default();
    let known = with_sensors(vec![
        Arc::new(FsSensor::new().root("ops", &gone).unwrap()),
        Arc::new(CommandSensor::new().command("test", gone.join("make"), ["test"], &gone).unwrap()),
        // Nothing listens at this address.
        Arc::new(HttpSensor::new().private_url("api", "http://127.0.0.1:1/").unwrap()),
        port.sensor("runtime", 0.9),
    ]);
    let id = known.save(fix("a")).id;
    for (sensor, subject) in [("fs", "ops:a"), ("code", "test"), ("http", "api")] {
        known.memories.watch(id, NewSensor::new(sensor, subject)).unwrap();
    }
    known.memories.watch(id, is_8443("runtime")).unwrap();
    let before = known.get(id);
    assert_eq!(results(&known.look(id)), [CheckResult::Unknown; 4]);
    assert_eq!(known.get(id), before);
}

#[test]
fn only_what_the_configuration_has_is_watched_and_looked_at() {
    let (known, port_of) = with_port();
    port_of.set(Some(80));
    let id = known.watched(port(8443), "runtime").id;
    let refused = |sensor: NewSensor| known.memories.watch(id, sensor).unwrap_err().kind();
    assert_eq!(refused(is_8443("fs")), ErrorKind::Unsupported);
    assert_eq!(refused(NewSensor::new("runtime", "Port")), ErrorKind::InvalidInput);
    let other = NewSensor::new("runtime", "port");
    assert_eq!(
        refused(other.clone().expect(Expect::default().contains("a").with("x", 1))),
        ErrorKind::InvalidInput
    );
    assert_eq!(refused(NewSensor::new("", "port")), ErrorKind::InvalidInput);
    assert_eq!(refused(NewSensor::new("human", "a".repeat(1_025))), ErrorKind::InvalidInput);
    let large = Expect::default().with("equals", "a".repeat(17 << 10));
    assert_eq!(refused(other.expect(large)), ErrorKind::InvalidInput);
    assert!(Expect::new(json!([1])).is_err());
    for n in 1..64 {
        known.memories.watch(id, NewSensor::new("human", format!("{n}"))).unwrap();
    }
    assert_eq!(refused(NewSensor::new("human", "64")), ErrorKind::InvalidInput);
    known.memories.unwatch(id, "human", None).unwrap();
    assert_eq!(known.memories.unwatch(id, "human", None).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(known.memories.sensors(id).unwrap().len(), 1);

    // A file that is opened without the sensor keeps the assignment, and checks nothing.
    known.file.close().unwrap();
    let mut fixture = known.fixture;
    fixture.config.sensors = Vec::new();
    let memories = fixture.open().user("alex").unwrap().memories().by(Origin::User);
    assert!(!memories.sensors(id).unwrap()[0].is_configured);
    let before = dump_of_user(&fixture.path(), "alex");
    let check = memories.validate(id).unwrap().remove(0);
    assert_eq!((check.result, check.why), (CheckResult::Unknown, Some(UnknownReason::NotConfigured)));
    assert_same(&dump_of_user(&fixture.path(), "alex"), &before, "nothing was looked at");
    memories.unwatch(id, "runtime", Some("port")).unwrap();
    assert_eq!(memories.sensors(id).unwrap(), []);
}

#[test]
fn what_is_watched_is_exported_and_imported_as_data() {
    let (known, port_of) = with_port();
    let id = known.watched(port(8443), "runtime").id;
    port_of.set(Some(80));
    known.look(id);
    let exported = export(&known.file.user("alex").unwrap());
    let target = Fixture::new();
    let file = target.open();
    import(&file, "alex", &exported).unwrap();
    let alex = file.user("alex").unwrap();
    assert_eq!(export(&alex), exported);
    let (here, there) = (known.memories.sensors(id).unwrap(), alex.memories().sensors(id).unwrap());
    assert_eq!(here[0].expect, there[0].expect);
    assert!(here[0].is_configured && !there[0].is_configured);
    let stored = |of: &Fixture| ask::<bool>(&of.path(), "SELECT seen_hash IS NOT NULL FROM memory_sensors");
    assert!(stored(&known.fixture) && !stored(&target), "not even the hash of what was seen leaves the file");
    let uncounted = exported.replace("\"new_value\":\"fail\"", "\"new_value\":\"pass\"");
    assert_ne!(uncounted, exported);
    assert_eq!(import(&file, "blake", &uncounted).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(file.doctor().unwrap().is_healthy());
}

#[test]
fn what_holds_no_more_is_neither_watched_nor_looked_at() {
    let (known, _port) = with_port();
    let [a, b] = [port(8443), port(80)].map(|memory| known.watched(memory, "runtime").id);
    assert_eq!(known.look(a), [], "it was superseded");
    assert_eq!(known.memories.watch(a, is_8443("runtime")).unwrap_err().kind(), ErrorKind::Conflict);
    known.memories.forget(b).unwrap();
    assert_eq!(known.look(b), []);
    assert_eq!(known.memories.validate(vec![a; 1_001]).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_person_is_asked_once() {
    let known = Known::new();
    let id = known.save(fix("a")).id;
    known.memories.watch(id, NewSensor::new("human", "")).unwrap();
    let asked = known.look(id).remove(0);
    assert_eq!((asked.result, asked.why), (CheckResult::Unknown, Some(UnknownReason::Asked)));
    assert!(asked.review.is_some());
    assert_eq!(known.look(id), [asked]);
    assert_eq!(known.checks(id).len(), 1);
    known.check_sound();
}

#[test]
fn a_person_who_decided_recently_is_not_said_to_be_asked() {
    let known = Known::new();
    let id = known.save(fix("a")).id;
    known.memories.watch(id, NewSensor::new("human", "")).unwrap();
    let review = known.look(id).remove(0).review.unwrap();
    known.memories.decide(review, Decision::Approved, "alex").unwrap();
    let rests = known.look(id).remove(0);
    assert_eq!((rests.result, rests.review), (CheckResult::Unknown, None));
    assert_eq!(rests.why, Some(UnknownReason::Decided));
    known.fixture.clock.advance(TimeDelta::days(30));
    let asked = known.look(id).remove(0);
    assert!(asked.review.is_some() && asked.why == Some(UnknownReason::Asked), "{asked:?}");
    known.check_sound();
}

/// A sensor that runs a test's action while it looks, and then passes.
pub struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Meanwhile {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(None)))
    }

    pub fn does(&self, what: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(what));
    }
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Sensor for Meanwhile {
    fn name(&self) -> &'static str {
        "meanwhile"
    }

    fn reliability(&self) -> f64 {
        0.9
    }

    fn check(&self, _: &str, _: &Expect, _: Instant) -> CheckVerdict {
        if let Some(what) = self.0.lock().unwrap().take() {
            what();
        }
        CheckVerdict::of(true, "it")
    }
}

/// What happens to a memory while a sensor looks at it.
type Change = fn(&thermocline::blocking::Memories, MemoryId);

#[test]
fn a_check_of_an_old_text_does_not_count() {
    let meanwhile = Meanwhile::new();
    let known = with_sensors(vec![meanwhile.clone()]);
    let sensor = NewSensor::new("meanwhile", "");
    let changes: [(Change, bool); 6] = [
        (|memories, id| drop(memories.edit(id, saying("Otherwise.")).unwrap()), false),
        (|memories, id| drop(memories.forget(id).unwrap()), false),
        (|memories, id| assert!(memories.erase(id).is_ok()), false),
        (|memories, id| memories.unwatch(id, "meanwhile", None).unwrap(), false),
        (
            |memories, id| {
                let other = NewSensor::new("meanwhile", "").expect(Expect::default().exists(true));
                memories.watch(id, other).unwrap();
            },
            false,
        ),
        (|memories, id| drop(memories.pin(id).unwrap()), true),
    ];
    for (at, (change, counts)) in changes.into_iter().enumerate() {
        let id = known.save(fix(&format!("fix {at}"))).id;
        known.memories.watch(id, sensor.clone()).unwrap();
        let memories = known.memories.clone();
        meanwhile.does(move || change(&memories, id));
        let check = known.look(id).remove(0);
        let expected = if counts {
            (CheckResult::Pass, None)
        } else {
            (CheckResult::Unknown, Some(UnknownReason::Changed))
        };
        assert_eq!((check.result, check.why), expected, "change {at}");
        if let Ok(memory) = known.memories.get(id) {
            assert_eq!(memory.state.validation_count, u32::from(counts), "change {at}");
        }
    }
    known.check_sound();
}

/// Looks until a test releases it, except at the subject `panics`, where it panics.
#[derive(Debug)]
struct Hangs(Mutex<Receiver<()>>);

impl Sensor for Hangs {
    fn name(&self) -> &'static str {
        "hangs"
    }

    fn reliability(&self) -> f64 {
        0.9
    }

    fn check(&self, subject: &str, _: &Expect, _: Instant) -> CheckVerdict {
        assert_ne!(subject, "panics", "as it should");
        let _ = self.0.lock().unwrap().recv();
        CheckVerdict::of(true, "it")
    }
}

#[test]
fn a_sensor_that_hangs_or_panics_cannot_tell_and_holds_nobody_up() {
    let (let_go, hangs) = channel();
    let mut fixture = Fixture::new();
    fixture.config.sensors = vec![Arc::new(Hangs(Mutex::new(hangs)))];
    fixture.config.sensor_timeout = Duration::from_millis(5);
    let file = fixture.open();
    let memories = file.user("alex").unwrap().memories();
    let save = |title: &str, subject: &str| {
        let id = memories.save(fix(title)).unwrap().memory.id;
        memories.watch(id, NewSensor::new("hangs", subject)).unwrap();
        id
    };
    let why = |id: MemoryId| memories.validate(id).unwrap()[0].why;
    // The first look of all may be late as well, on a busy machine: it cannot tell either.
    assert!(matches!(why(save("p", "panics")), Some(UnknownReason::Panicked | UnknownReason::Late)));
    let ids: Vec<MemoryId> = (0..5).map(|n| save(&format!("h{n}"), "")).collect();
    let checks = memories.validate(ids.clone()).unwrap();
    assert!(checks.iter().all(|check| check.why == Some(UnknownReason::Late)), "{checks:?}");
    let noted = |id: &MemoryId| memories.history(*id, None, 10).unwrap().len() - 1;
    assert_eq!(ids.iter().map(noted).collect::<Vec<_>>(), [1, 1, 1, 0, 0], "three times late is enough");
    assert_eq!(memories.validate(ToCheck::Stale).unwrap(), []);
    drop(let_go);
}
