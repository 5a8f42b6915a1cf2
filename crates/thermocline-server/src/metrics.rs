//! Metrics for operators. No label can contain a user, a session or anything that anybody said, because every label value
//! is a constant of the code.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::{Registry, Unit},
};
use serde_json::Value;
use thermocline::{Clock, Event, Health, OnEvent, ProviderRole, SystemClock};
use tokio::time::Instant;

use crate::ops::{problem::Code, spec::Class};

/// Bucket bounds of durations, from 0.1 ms to 30 s.
const SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0, 30.0];

/// Bucket bounds of a context's tokens, about doubling; the default budget is one of them.
const TOKENS: [f64; 10] =
    [50.0, 100.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_400.0, 8_800.0, 20_000.0, 100_000.0];

/// The counters, gauges and histograms.
pub struct Metrics {
    registry: Registry,
    operations: Family<OfOperation, Histogram, fn() -> Histogram>,
    rejected: Family<Reason, Counter>,
    failures: Family<Reason, Counter>,
    in_flight: Family<OfClass, Gauge>,
    connections: Gauge,
    missing: Counter,
    events: Family<OfEvent, Counter>,
    provider_failures: Family<OfProvider, Counter>,
    context_tokens: Histogram,
    context_left_out: Counter,
    commits: Counter<u64, AtomicU64>,
    commit_seconds: Counter<f64, AtomicU64>,
    turns: Family<Tier, Gauge>,
    jobs: Family<MetricsState, Gauge>,
    oldest_job: Gauge<f64, AtomicU64>,
    /// When the oldest job was queued.
    oldest_job_at: Mutex<Option<DateTime<Utc>>>,
    memories: Gauge,
    users: Gauge,
    sessions: Gauge,
    file_bytes: Gauge<i64, AtomicI64>,
    log_bytes: Gauge<i64, AtomicI64>,
    free_bytes: Gauge<i64, AtomicI64>,
    queued: Gauge,
    stats_age: Gauge<f64, AtomicU64>,
    /// Held while the counts are being read: waiting for a stuck writer takes one place of the long operations, not all.
    pub(crate) counting: tokio::sync::Mutex<()>,
    /// When the counts were read, or when this value was made if they have not been read yet.
    counted_at: Mutex<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfOperation {
    operation: &'static str,
    surface: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfClass {
    class: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfEvent {
    event: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfProvider {
    provider: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Tier {
    tier: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MetricsState {
    state: &'static str,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("thermocline"),
            operations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            rejected: Family::default(),
            failures: Family::default(),
            in_flight: Family::default(),
            connections: Gauge::default(),
            missing: Counter::default(),
            events: Family::default(),
            provider_failures: Family::default(),
            context_tokens: Histogram::new(TOKENS),
            context_left_out: Counter::default(),
            commits: Counter::default(),
            commit_seconds: Counter::default(),
            turns: Family::default(),
            jobs: Family::default(),
            oldest_job: Gauge::default(),
            oldest_job_at: Mutex::default(),
            memories: Gauge::default(),
            users: Gauge::default(),
            sessions: Gauge::default(),
            file_bytes: Gauge::default(),
            log_bytes: Gauge::default(),
            free_bytes: Gauge::default(),
            queued: Gauge::default(),
            stats_age: Gauge::default(),
            counting: tokio::sync::Mutex::default(),
            counted_at: Mutex::new(Instant::now()),
        };
        metrics.register();
        // Created now, so that the first event of a kind shows as an increase.
        for event in EVENTS {
            drop(metrics.events.get_or_create(&OfEvent { event }));
        }
        for code in Code::SERVERS {
            drop(metrics.failures.get_or_create(&Reason { reason: code.facts().word }));
        }
        for role in ROLES {
            drop(metrics.provider_failures.get_or_create(&OfProvider { provider: role.as_str() }));
        }
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let to = &mut self.registry;
        let operations = "Duration of operations, by outcome: ok, or a problem's code";
        to.register_with_unit("operation", operations, Unit::Seconds, self.operations.clone());
        let rejected = "Requests refused before they ran, by the problem's code";
        to.register("rejected", rejected, self.rejected.clone());
        let failures = "Problems that an operator has to act on, by their code";
        to.register("failures", failures, self.failures.clone());
        to.register("in_flight", "Operations running now, by class", self.in_flight.clone());
        to.register("connections", "Open connections", self.connections.clone());
        let missing =
            "Recalls and contexts that had to do without something, such as a provider or a damaged turn";
        to.register("recall_missing", missing, self.missing.clone());
        to.register("events", "Events in the background: jobs, providers, the file", self.events.clone());
        let failures = "Calls to a provider that yielded nothing, by the provider's role";
        to.register("provider_failures", failures, self.provider_failures.clone());
        to.register(
            "context_tokens",
            "Tokens of the contexts that were returned",
            self.context_tokens.clone(),
        );
        let left_out = "Turns of the running session left out of a context for lack of room";
        to.register("context_left_out", left_out, self.context_left_out.clone());
        to.register("commits", "Commits by the writer", self.commits.clone());
        let commit = "Total duration of the writer's commits";
        to.register_with_unit("commit", commit, Unit::Seconds, self.commit_seconds.clone());
        let oldest = "Age of the oldest job that is waiting or running";
        to.register_with_unit("job_oldest", oldest, Unit::Seconds, self.oldest_job.clone());
        to.register("turns", "Turns by tier", self.turns.clone());
        to.register("jobs", "Jobs waiting, running or given up", self.jobs.clone());
        to.register("memories", "Active memories", self.memories.clone());
        to.register("users", "Users with a memory in the file", self.users.clone());
        to.register("sessions_open", "Sessions that have not ended", self.sessions.clone());
        to.register_with_unit("file", "Size of the file", Unit::Bytes, self.file_bytes.clone());
        to.register_with_unit("log", "Size of the write-ahead log", Unit::Bytes, self.log_bytes.clone());
        to.register_with_unit("disk_free", "Free space on the disk", Unit::Bytes, self.free_bytes.clone());
        to.register("writer_queue_commands", "Commands waiting for the writer", self.queued.clone());
        let age = "Age of the counts of turns, jobs, users and sessions";
        to.register_with_unit("stats_age", age, Unit::Seconds, self.stats_age.clone());
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        to.register("build", "The running version", build);
    }

    /// Records the duration and the outcome of an operation that has ended.
    pub(crate) fn ran(
        &self,
        operation: &'static str,
        surface: &'static str,
        outcome: &'static str,
        took: Duration,
    ) {
        let of = OfOperation { operation, surface, outcome };
        self.operations.get_or_create(&of).observe(took.as_secs_f64());
    }

    /// Counts a request that was refused before it ran.
    pub(crate) fn rejected(&self, code: Code) {
        self.rejected.get_or_create(&Reason { reason: code.facts().word }).inc();
    }

    /// Counts a problem that an operator has to act on.
    pub(crate) fn failed(&self, code: Code) {
        self.failures.get_or_create(&Reason { reason: code.facts().word }).inc();
    }

    /// Counts an operation as running until the guard is dropped.
    pub(crate) fn in_flight(self: &Arc<Self>, class: Class) -> GaugeGuard {
        let gauge = self.in_flight.get_or_create(&OfClass { class: word_of(class) }).clone();
        GaugeGuard::one_of(gauge)
    }

    /// Counts a connection as open until the guard is dropped.
    pub(crate) fn connection(&self) -> GaugeGuard {
        GaugeGuard::one_of(self.connections.clone())
    }

    /// Counts one recall or context if it had to do without something, such as an embedder that did not answer, or a
    /// damaged turn; `things` names what.
    pub fn missing(&self, things: &[String]) {
        self.missing.inc_by(u64::from(!things.is_empty()));
    }

    /// Records the tokens of a returned context, and the number of turns of its session that it left out for lack of room.
    pub fn handed_out(&self, tokens: u32, left_out: usize) {
        self.context_tokens.observe(tokens.into());
        self.context_left_out.inc_by(left_out as u64);
    }

    /// Returns a hook that counts background events, for [`Config::on_event`](thermocline::Config::on_event).
    pub fn on_event(self: &Arc<Self>) -> OnEvent {
        let metrics = Arc::clone(self);
        OnEvent::new(move |event| {
            metrics.events.get_or_create(&OfEvent { event: event_word(event) }).inc();
            if let Event::ProviderFailed { provider, .. } = event {
                metrics.provider_failures.get_or_create(&OfProvider { provider: provider.as_str() }).inc();
            }
        })
    }

    /// Takes over the values that the file reports about itself.
    pub(crate) fn take_health(&self, health: &Health) {
        self.log_bytes.set(clamped(health.log_bytes));
        self.free_bytes.set(clamped(health.free_bytes.unwrap_or(0)));
        self.queued.set(clamped(health.queued_commands as u64));
        // The writer's counts only grow, but concurrent callers may arrive out of order, so the maximum is kept.
        self.commits.inner().fetch_max(health.commits, Ordering::Relaxed);
        let seconds = Duration::from_micros(health.commit_us).as_secs_f64();
        // For non-negative floats, the order of the bits is the order of the numbers.
        self.commit_seconds.inner().fetch_max(seconds.to_bits(), Ordering::Relaxed);
    }

    /// Takes over the counts returned by the operation `stats`.
    pub(crate) fn take_stats(&self, counted: &Value) {
        let number = |pointer: &str| counted.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
        for tier in counted.pointer("/stats/tiers").and_then(Value::as_array).into_iter().flatten() {
            let name = ["hot", "warm", "cold"].into_iter().find(|name| tier["tier"] == *name);
            if let (Some(tier_name), Some(turns)) = (name, tier["turns"].as_i64()) {
                self.turns.get_or_create(&Tier { tier: tier_name }).set(turns);
            }
        }
        self.jobs.get_or_create(&MetricsState { state: "waiting" }).set(number("/stats/jobs_waiting"));
        self.jobs.get_or_create(&MetricsState { state: "failed" }).set(number("/stats/jobs_failed"));
        let queued_at = counted.pointer("/stats/oldest_job_at").and_then(Value::as_str);
        *locked(&self.oldest_job_at) = queued_at.and_then(|at| at.parse().ok());
        self.memories.set(number("/stats/memories/active"));
        self.users.set(number("/stats/users"));
        self.sessions.set(number("/stats/open_sessions"));
        self.file_bytes.set(number("/stats/file_bytes"));
        let age = Duration::from_millis(number("/age_ms").unsigned_abs());
        if let Some(at) = Instant::now().checked_sub(age) {
            *locked(&self.counted_at) = at;
        }
    }

    /// Returns all metrics in the text format of `OpenMetrics`.
    pub fn text(&self) -> Result<String, fmt::Error> {
        self.stats_age.set(locked(&self.counted_at).elapsed().as_secs_f64());
        let queued_at = *locked(&self.oldest_job_at);
        let waits = queued_at.and_then(|at| (SystemClock.now() - at).to_std().ok());
        self.oldest_job.set(waits.unwrap_or_default().as_secs_f64());
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Locks a value that no panic can leave half written.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a gauge one higher for as long as the guard exists.
#[derive(Debug)]
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn one_of(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn word_of(class: Class) -> &'static str {
    match class {
        Class::Quick => "quick",
        Class::Recall => "recall",
        Class::Long => "long",
        Class::Erase => "erase",
    }
}

/// The words that [`event_word`] can return.
const EVENTS: [&str; 10] = [
    "job_started",
    "job_done",
    "job_fell_back",
    "job_waiting",
    "job_failed",
    "provider_failed",
    "writer_reopened",
    "scrub_pending",
    "log_grows",
    "other",
];

/// The roles that [`Event::ProviderFailed`] can have.
const ROLES: [ProviderRole; 4] =
    [ProviderRole::Summarizer, ProviderRole::Embedder, ProviderRole::Reranker, ProviderRole::Planner];

fn event_word(event: &Event) -> &'static str {
    match event {
        Event::JobStarted { .. } => "job_started",
        Event::JobDone { .. } => "job_done",
        Event::JobFellBack { .. } => "job_fell_back",
        Event::JobWaiting { .. } => "job_waiting",
        Event::JobFailed { .. } => "job_failed",
        Event::ProviderFailed { .. } => "provider_failed",
        Event::WriterReopened { .. } => "writer_reopened",
        Event::ScrubPending => "scrub_pending",
        Event::LogGrows { .. } => "log_grows",
        _ => "other",
    }
}

fn clamped(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
