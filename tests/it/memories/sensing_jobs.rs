//! A memory shown as stale is checked by a job, once, and nothing stays due for ever.

use std::sync::Arc;

use chrono::TimeDelta;
use thermocline::{
    CheckResult, ContextOptions, JobKind, Memory, NewSensor, RunJobs, Sensor, StaleReason, ToCheck,
    Volatility, blocking::Session,
};

use crate::memories::{
    Known, fix, port,
    sensing::{Meanwhile, Port, is_8443, with_sensors},
};

/// Alex' memory of the port, which becomes stale after 7 days, what the sensor sees, and a session.
struct Story {
    known: Known,
    port: Port,
    memory: Memory,
    session: Session,
}

impl Story {
    fn new(sensors: impl FnOnce(&Port) -> Vec<Arc<dyn Sensor>>) -> Self {
        let said = Port::default();
        let known = with_sensors(sensors(&said));
        let memory = known.save(port(8443).volatility(Volatility::Medium));
        let session = known.file.user("alex").unwrap().session().unwrap();
        Self { known, port: said, memory, session }
    }

    /// Creates the story with the sensor `runtime`, which checks the memory.
    fn watched() -> Self {
        let story = Self::new(|port| vec![port.sensor("runtime", 0.8)]);
        story.known.memories.watch(story.memory.id, is_8443("runtime")).unwrap();
        story
    }

    /// Shows the memory, and returns how many jobs that look at memories are queued then.
    #[track_caller]
    fn shown(&self) -> usize {
        let context =
            self.session.context("On which port does the API run?", ContextOptions::default()).unwrap();
        assert!(context.text.contains("port 8443"), "{}", context.text);
        // Reading receipts waits until this one is written.
        let alex = self.known.file.user("alex").unwrap();
        assert_eq!(alex.receipts(1).unwrap()[0].id, context.receipt);
        self.queued()
    }

    fn queued(&self) -> usize {
        let jobs = self.known.file.jobs(None, 1_000).unwrap();
        jobs.iter().filter(|job| job.kind == JobKind::Validate).count()
    }

    /// Runs the jobs that look at memories, checks that none is left, and returns how many were done.
    #[track_caller]
    fn run(&self) -> u64 {
        let done = self.known.file.run_jobs(RunJobs::default().only(JobKind::Validate)).unwrap().done;
        assert_eq!(self.queued(), 0);
        done
    }

    fn advance(&self, delta: TimeDelta) {
        self.known.fixture.clock.advance(delta);
    }

    fn looks(&self) -> usize {
        self.known.checks(self.memory.id).len()
    }
}

#[test]
fn what_is_shown_as_stale_is_looked_at_by_one_job() {
    let story = Story::watched();
    assert_eq!(story.shown(), 0, "it is fresh");
    story.advance(TimeDelta::days(8));
    let known = &story.known;
    assert_eq!(known.get(story.memory.id).standing.stale, [StaleReason::Expired]);
    assert_eq!(story.shown(), 1);
    assert_eq!(story.shown(), 1, "once");
    assert_eq!(story.looks(), 0, "nothing was looked at while it was answered");
    story.port.set(Some(8443));
    assert_eq!(story.run(), 1);
    assert_eq!((story.looks(), known.get(story.memory.id).state.validation_count), (1, 1));
    assert_eq!(story.shown(), 0, "it is fresh again");
    known.check_sound();
}

#[test]
fn what_fails_or_cannot_be_told_rests_longer_each_time() {
    let story = Story::watched();
    story.advance(TimeDelta::days(8));
    let mut runs = Vec::new();
    for hour in 0..100 {
        if story.shown() == 1 {
            assert_eq!(story.run(), 1);
            runs.push(hour);
        }
        story.port.set((hour >= 40).then_some(80));
        story.advance(TimeDelta::hours(1));
    }
    assert_eq!(runs, [0, 1, 3, 7, 15, 31, 63, 95]);
    let memory = story.known.get(story.memory.id);
    let numbers = (memory.confidence, memory.reliability);
    assert_eq!(numbers, (0.4, Some(0.3)), "it failed again as it failed first");
    story.known.check_sound();
}

#[test]
fn without_a_sensor_that_is_configured_nothing_is_queued() {
    let story = Story::new(|_| Vec::new());
    story.advance(TimeDelta::days(8));
    assert_eq!(story.shown(), 0, "nothing looks at it");
    let story = Story::watched();
    let Story { known, memory, .. } = story;
    known.file.close().unwrap();
    let mut fixture = known.fixture;
    fixture.config.sensors = Vec::new();
    fixture.clock.advance(TimeDelta::days(8));
    let file = fixture.open();
    let memories = file.user("alex").unwrap().memories();
    let session = file.user("alex").unwrap().session().unwrap();
    let known = Known { fixture, file, memories };
    let story = Story { known, memory, session, port: Port::default() };
    assert_eq!(story.shown(), 0, "nothing may look");
    assert_eq!(story.known.memories.validate(ToCheck::Stale).unwrap(), []);
    assert_eq!(story.run(), 0);
}

#[test]
fn a_person_is_asked_by_a_job_and_not_again() {
    let story = Story::new(|_| Vec::new());
    story.known.memories.watch(story.memory.id, NewSensor::new("human", "")).unwrap();
    story.advance(TimeDelta::days(8));
    assert_eq!(story.shown(), 1);
    assert_eq!((story.run(), story.looks()), (1, 1));
    story.advance(TimeDelta::days(400));
    assert_eq!(story.shown(), 0, "the review is open");
    story.known.check_sound();
}

#[test]
fn a_clock_that_jumps_a_year_back_and_forth_makes_no_loop() {
    let story = Story::watched();
    story.advance(TimeDelta::days(8));
    for year in [1, -1, 1, -1, 1, 1, -2] {
        story.advance(TimeDelta::days(365) * year);
        let before = story.looks();
        for _ in 0..3 {
            story.shown();
            story.run();
        }
        assert!(story.looks() <= before + 1, "{year}: {} {}", before, story.looks());
    }
    story.known.check_sound();
}

#[test]
fn a_memory_that_is_erased_while_a_job_looks_is_gone() {
    let meanwhile = Meanwhile::new();
    let sensor: Arc<dyn Sensor> = meanwhile.clone();
    let story = Story::new(|_| vec![sensor]);
    let (id, memories) = (story.memory.id, story.known.memories.clone());
    story.known.memories.watch(id, NewSensor::new("meanwhile", "")).unwrap();
    let other = story.known.save(fix("Another one").volatility(Volatility::Medium));
    story.known.memories.watch(other.id, NewSensor::new("meanwhile", "")).unwrap();
    story.advance(TimeDelta::days(8));
    assert_eq!(story.shown(), 1);
    meanwhile.does(move || assert!(memories.erase(id).is_ok()));
    assert_eq!(story.run(), 1);
    assert!(story.known.memories.get(id).is_err());
    assert_eq!(story.known.get(other.id).state.validation_count, 1, "the job went on");
    story.known.check_sound();
}

#[test]
fn all_that_is_stale_is_looked_at_by_hand_however_lately_it_was() {
    let story = Story::watched();
    let known = &story.known;
    let more: Vec<Memory> = (0..70)
        .map(|n| {
            let memory = known.save(fix(&format!("Fix {n}")).volatility(Volatility::Medium));
            known.memories.watch(memory.id, is_8443("runtime")).unwrap();
            memory
        })
        .collect();
    assert_eq!(known.memories.validate(ToCheck::Stale).unwrap(), []);
    story.advance(TimeDelta::days(8));
    let unknown = known.memories.validate(ToCheck::Stale).unwrap();
    assert_eq!(unknown.len(), 71);
    assert!(unknown.iter().all(|check| check.result == CheckResult::Unknown));
    story.port.set(Some(8443));
    let passed = known.memories.validate(ToCheck::Stale).unwrap();
    assert_eq!(passed.iter().filter(|check| check.result == CheckResult::Pass).count(), 71);
    assert_eq!(known.memories.validate(ToCheck::Stale).unwrap(), []);
    assert!(known.get(more[69].id).standing.stale.is_empty());
    known.check_sound();
}
