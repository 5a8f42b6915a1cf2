//! Checks whether memories still hold. Asks their sensors outside any transaction, each time on a new thread and for a
//! bounded time, and stores the results.

use std::{
    collections::HashMap,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use crate::{
    clock::Deadline,
    config::Config,
    error::Result,
    jobs::job::{Job, JobEnd},
    model::{
        place::MemoryNo,
        sensor::{CheckVerdict, HUMAN, MemoryCheck, NewSensor, ToCheck, UnknownReason},
    },
    own_thread::on_own_thread,
    sensors::known::of_name,
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
    let mut looks = Looks::new(store.config());
    let mut checks = Vec::new();
    match which {
        ToCheck::Memories(ids) => {
            let found = store.snapshot()?.to_look_at(&scope, &ids)?;
            keep_all(store, scope, &mut looks, found, &mut checks).await?;
        }
        ToCheck::Stale => {
            let mut next = Some(MemoryNo::default());
            while let Some(after) = next {
                let of = (Which::All, &store.config().sensors[..]);
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
    let mut looks = Looks::new(store.config());
    let mut next = Some(MemoryNo::default());
    while let Some(after) = next {
        let of = (Which::Due, &store.config().sensors[..]);
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

/// Asks sensors, and counts their late answers during one run.
struct Looks<'c> {
    config: &'c Config,
    /// How often each sensor was late, by its name.
    late: HashMap<String, u32>,
}

impl<'c> Looks<'c> {
    fn new(config: &'c Config) -> Self {
        Self { config, late: HashMap::new() }
    }

    /// Asks one sensor whether a memory still holds.
    async fn look(&mut self, memory: &ToLook, what: &NewSensor) -> SensorOutcome {
        let looked = |verdict, reliability, window| SensorFinding {
            memory: memory.memory,
            content_hash: memory.content_hash,
            what: what.clone(),
            verdict,
            reliability,
            window,
        };
        let unknown = |why| looked(CheckVerdict::Unknown(why), 0.0, None);
        if what.sensor == HUMAN {
            return SensorOutcome::Kept(unknown(UnknownReason::Asked));
        }
        let Some(sensor) = of_name(&self.config.sensors, &what.sensor) else {
            return SensorOutcome::Told(unknown(UnknownReason::NotConfigured));
        };
        if self.late.get(&what.sensor).is_some_and(|times| *times >= MOST_LATE) {
            return SensorOutcome::Told(unknown(UnknownReason::Late));
        }
        let limit = self.config.sensor_timeout;
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
        SensorOutcome::Kept(looked(verdict, sensor.reliability(), sensor.window()))
    }
}
