//! Checks whether memories still hold. Asks their sensors outside any transaction, each time on a new thread and for a
//! bounded time, and stores the results.

use std::{
    collections::{HashMap, HashSet},
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use crate::{
    clock::Deadline,
    error::Result,
    jobs::job::{Job, JobEnd},
    model::{
        place::MemoryNo,
        sensor::{CheckVerdict, HUMAN, MemoryCheck, NewSensor, ToCheck, UnknownReason},
        stored_time::StoredTime,
    },
    own_thread::on_own_thread,
    sensors::{Sensor, known::of_name, last_looks::LastLook},
    store::{
        Store,
        acts::memories::check::SensorFinding,
        scope::Scope,
        sensor_reads::{ToLook, Which},
        slice_error::SliceResult,
    },
};

/// After this many late answers, a sensor is not asked again in the same run, because each of them may cost a thread.
const MOST_LATE: u32 = 3;

/// Checks memories while the caller waits, and returns the results.
pub(crate) async fn validate(store: &Store, scope: Scope, which: ToCheck) -> Result<Vec<MemoryCheck>> {
    store.check_writable()?;
    let mut looks = Looks::new(store, &scope)?;
    let mut checks = Vec::new();
    match which {
        ToCheck::Memories(ids) => {
            let found = store.snapshot()?.to_look_at(&scope, &ids)?;
            keep_all(store, scope, &mut looks, found, &mut checks).await?;
        }
        ToCheck::Stale => {
            let mut next = Some(MemoryNo::default());
            while let Some(after) = next {
                let of = (Which::All, &looks.sensors[..]);
                let (found, behind) = store.snapshot()?.stale_to_look_at(&scope, after, of)?;
                keep_all(store, scope, &mut looks, found, &mut checks).await?;
                next = behind;
            }
        }
    }
    Ok(checks)
}

async fn keep_all(
    store: &Store,
    scope: Scope,
    looks: &mut Looks<'_>,
    memories: Vec<ToLook>,
    checks: &mut Vec<MemoryCheck>,
) -> Result<()> {
    for memory in memories {
        for what in &memory.sensors {
            checks.push(match looks.look(&memory, what).await {
                SensorOutcome::Kept(looked) => store.write(move |tx| tx.keep_check(&scope, &looked)).await?,
                SensorOutcome::Told(looked) => looked.told(),
            });
        }
    }
    Ok(())
}

/// Checks the stale memories of a user that are not at rest after the last check.
pub(super) async fn validate_due(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let (store, scope) = (job.store(), job.scope);
    let mut looks = Looks::new(store, &scope)?;
    let mut next = Some(MemoryNo::default());
    while let Some(after) = next {
        let of = (Which::Due, &looks.sensors[..]);
        let (found, behind) = store.snapshot()?.stale_to_look_at(&scope, after, of)?;
        for memory in found {
            for what in &memory.sensors {
                let Some(seen) = job.holding(looks.look(&memory, what)).await? else {
                    return Ok(JobEnd::Stopped);
                };
                if let SensorOutcome::Kept(looked) = seen {
                    job.slice(move |tx| tx.keep_check(&scope, &looked)).await?;
                }
            }
        }
        next = behind;
    }
    job.finish().await
}

/// The result of asking a sensor.
enum SensorOutcome {
    /// A result to store: the sensor was asked, or a person is to be asked.
    Kept(SensorFinding),
    /// A result that is not stored, because the sensor was not asked.
    Told(SensorFinding),
}

/// Asks the sensors that serve a user, and counts their late answers during one run.
struct Looks<'s> {
    store: &'s Store,
    /// Shared, so that they can be read while a look is counted.
    sensors: Arc<[Arc<dyn Sensor>]>,
    /// How often each sensor was late, by its name.
    late: HashMap<String, u32>,
}

impl<'s> Looks<'s> {
    fn new(store: &'s Store, scope: &Scope) -> Result<Self> {
        let sensors = store.snapshot()?.serving(scope, &store.config().sensors)?;
        Ok(Self { store, sensors: sensors.into(), late: HashMap::new() })
    }

    /// Asks one sensor whether a memory still holds, unless its last look at the same still stands.
    async fn look(&mut self, memory: &ToLook, what: &NewSensor) -> SensorOutcome {
        let finding = |verdict| SensorFinding {
            memory: memory.memory,
            content_hash: memory.content_hash,
            what: what.clone(),
            verdict,
            looked_at: None,
            reliability: 0.0,
            window: None,
        };
        let unknown = |why| finding(CheckVerdict::Unknown(why));
        if what.sensor == HUMAN {
            return SensorOutcome::Kept(unknown(UnknownReason::Asked));
        }
        let Some(sensor) = of_name(&self.sensors, &what.sensor).map(Arc::clone) else {
            return SensorOutcome::Told(unknown(UnknownReason::NotConfigured));
        };
        let found = |look: &LastLook| SensorFinding {
            looked_at: Some(look.at),
            reliability: sensor.reliability(),
            window: sensor.window(),
            ..finding(look.verdict)
        };
        let (now, rest) = (self.now(), sensor.rest());
        let about = (memory.memory, memory.content_hash);
        // Whoever asks for the same meanwhile waits for this look, and gets its result.
        let mut last = None;
        if !rest.is_zero() {
            last = Some(self.store.last_looks().of(what, now).lock_owned().await);
        }
        if let Some(look) =
            last.as_mut().and_then(|last| last.as_mut()).filter(|look| look.stands(self.now()))
        {
            let is_new = look.told.insert(about);
            return if is_new { SensorOutcome::Kept(found(look)) } else { SensorOutcome::Told(found(look)) };
        }
        if self.late.get(&what.sensor).is_some_and(|times| *times >= MOST_LATE) {
            return SensorOutcome::Told(unknown(UnknownReason::Late));
        }
        // Noted before the look: a caller who does not wait for the result does not make the sensor look again.
        let late = CheckVerdict::Unknown(UnknownReason::Late);
        let mut look = LastLook { at: self.now(), rest, verdict: late, told: HashSet::from([about]) };
        if let Some(last) = &mut last {
            **last = Some(LastLook { told: HashSet::new(), ..look });
        }
        look.verdict = self.ask(&sensor, what).await;
        let kept = SensorOutcome::Kept(found(&look));
        if let Some(last) = &mut last {
            **last = Some(look);
        }
        kept
    }

    fn now(&self) -> StoredTime {
        StoredTime::clamped(self.store.config().clock.now())
    }

    /// Has a sensor look, on a thread of its own and for a bounded time.
    async fn ask(&mut self, sensor: &Arc<dyn Sensor>, what: &NewSensor) -> CheckVerdict {
        let limit = self.store.config().sensor_timeout;
        let (asked, subject, expect) = (Arc::clone(sensor), what.subject.clone(), what.expect.clone());
        let deadline = Deadline::after(limit).instant();
        // The thread has no async runtime, because the host's sensor may have its own.
        let look = move || {
            let look = || asked.check(&subject, &expect, deadline);
            let verdict = panic::catch_unwind(AssertUnwindSafe(look));
            Ok(verdict.unwrap_or(CheckVerdict::Unknown(UnknownReason::Panicked)))
        };
        let verdict = match tokio::time::timeout(limit, on_own_thread("thermocline-look", look)).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(_)) => CheckVerdict::Unknown(UnknownReason::Unreachable),
            Err(_) => CheckVerdict::Unknown(UnknownReason::Late),
        };
        if verdict == CheckVerdict::Unknown(UnknownReason::Late) {
            *self.late.entry(what.sensor.clone()).or_default() += 1;
        }
        verdict
    }
}
