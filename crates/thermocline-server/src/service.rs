//! Runs every call, whoever makes it: checks the caller's rights and rate, waits briefly if too many operations run, runs
//! the operation, and records the call in metrics, logs and the audit file.

use std::{
    fs::File,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use thermocline::{
    Clock, MemoryId, SystemClock, Thermocline, UserId,
    blocking::{self, User},
};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Notify,
    task::{block_in_place, spawn_blocking},
    time::Instant,
};
use tracing::Span;

use crate::{
    audit::{self, Audit, AuditLine},
    bodies::AwaitedBody,
    caller::Caller,
    limits::Limits,
    metrics::Metrics,
    ops::{
        self, OperationReply, Row,
        call::{Call, Surface},
        file::LastStats,
        problem::{Code, Problem},
        spec::Effect,
    },
    refusals::{Refusal, Refusals},
};

/// The memory, and the state that all surfaces share.
#[derive(Debug)]
pub struct Service {
    /// The memory.
    pub memory: Thermocline,
    /// The same memory, for the threads that run operations.
    here: blocking::Thermocline,
    /// The table of operations.
    pub table: &'static [Row],
    /// The folder for backups; `None` if backups are refused.
    pub backup_folder: Option<PathBuf>,
    /// The file's counts, as they were last read.
    pub stats: LastStats,
    /// The limits on concurrency, call rates and request bodies.
    pub limits: Limits,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// The audit file; `None` if none is kept.
    pub audit: Option<Audit>,
    /// The refused calls that are not in the audit file yet.
    refusals: Refusals,
    /// When each of `TROUBLES` last occurred.
    troubles: Mutex<[Option<Instant>; TROUBLES.len()]>,
    alarm: Notify,
}

/// Problems with the file that make the server not ready for [`TROUBLE_LASTS`] after they last occurred.
const TROUBLES: [(Code, &str); 2] = [(Code::ReadOnly, "read-only"), (Code::Corrupt, "corrupt")];

/// Long enough for probes and people to notice, and short enough that the server becomes ready soon after the file is
/// repaired.
const TROUBLE_LASTS: Duration = Duration::from_mins(1);

/// A call before it is authorized.
#[derive(Debug)]
pub struct CallRequest {
    /// The caller.
    pub caller: Arc<Caller>,
    /// The user: a name, or `id:<uuid>`; `None` for an operation on the file.
    pub user: Option<String>,
    /// The surface through which the call came.
    pub surface: Surface,
    /// The request, as JSON.
    pub request: Value,
    /// For an operation that writes JSON Lines ([`Body`](crate::ops::spec::Body)): an empty file. For one that reads them: a
    /// file that contains them, positioned at its start. The surface keeps a clone of the handle (`File::try_clone`), and
    /// rewinds it before sending what the operation wrote.
    pub spool: Option<File>,
}

/// An authorized call whose request has not been read yet.
#[derive(Debug)]
pub struct Admitted {
    row: &'static Row,
    call: Call,
}

/// A user and its revision, which a response reflects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The user.
    pub user: UserId,
    /// The user's [`revision`](thermocline::User::revision).
    pub number: u64,
}

/// A response with its revision.
#[derive(Debug)]
pub struct Tagged {
    /// `None` if the caller already has the response for this revision.
    pub reply: Option<OperationReply>,
    /// `None` if the user is unknown.
    pub revision: Option<Revision>,
}

/// What metrics, logs and the audit file need to know about a running call.
struct CallNote {
    row: &'static Row,
    service: Arc<Service>,
    caller: Arc<Caller>,
    surface: Surface,
    found: Arc<OnceLock<User>>,
    gone: Arc<OnceLock<MemoryId>>,
    /// Ids of the request; empty if the call is not audited.
    about: Map<String, Value>,
    begun: Instant,
}

impl Service {
    /// Creates a service with the whole table over this memory, without a backup folder and without an audit file.
    ///
    /// # Panics
    /// Outside a Tokio runtime, and in a single-threaded one: operations need the threads of a multi-threaded runtime.
    pub fn new(memory: Thermocline) -> Self {
        let runtime = Handle::current();
        assert_ne!(
            runtime.runtime_flavor(),
            RuntimeFlavor::CurrentThread,
            "operations run on one of several threads"
        );
        Self {
            here: blocking::Thermocline::on(memory.clone(), runtime),
            memory,
            table: ops::table(),
            backup_folder: None,
            stats: LastStats::default(),
            limits: Limits::default(),
            metrics: Arc::default(),
            audit: None,
            refusals: Refusals::default(),
            troubles: Mutex::default(),
            alarm: Notify::new(),
        }
    }

    /// Returns the memory, for a thread that may block.
    pub(crate) fn here(&self) -> &blocking::Thermocline {
        &self.here
    }

    /// Returns the operation with this name.
    pub fn find(&self, name: &str) -> Option<&'static Row> {
        self.table.iter().find(|row| row.spec.name == name)
    }

    /// Runs an operation, if the caller may run it.
    pub async fn run(
        self: &Arc<Self>,
        row: &'static Row,
        asked: CallRequest,
    ) -> Result<OperationReply, Problem> {
        let CallRequest { caller, user, surface, request, spool } = asked;
        self.admit(row, caller, user, surface)?.run(request, spool).await
    }

    /// Counts a request against its caller's rate, before anything else is decided: also one that is refused counts.
    pub(crate) fn count(
        &self,
        caller: &Caller,
        surface: &'static str,
        operation: &'static str,
    ) -> Result<(), Problem> {
        let counted = self.limits.count(caller);
        counted.inspect_err(|problem| self.note_refused(caller, surface, operation, problem))
    }

    /// Authorizes a call by its caller and user, before the request or the file is read.
    pub fn admit(
        self: &Arc<Self>,
        row: &'static Row,
        caller: Arc<Caller>,
        user: Option<String>,
        surface: Surface,
    ) -> Result<Admitted, Problem> {
        let may = caller.may(row.spec, user.as_deref());
        may.inspect_err(|problem| self.note_refused(&caller, word_of(&surface), row.spec.name, problem))?;
        name(row.spec.name, &caller);
        let call = Call {
            service: Arc::clone(self),
            caller,
            user,
            found: Arc::default(),
            gone: Arc::default(),
            surface,
            spool: None,
        };
        Ok(Admitted { row, call })
    }

    /// Awaits the body of a request, before any of it is read.
    pub(crate) fn await_body(&self, caller: &Caller) -> Result<AwaitedBody, Problem> {
        let awaited = self.limits.await_body(caller);
        awaited.inspect_err(|problem| self.metrics.rejected(problem.code))
    }

    /// Counts a call that is beyond its caller's rights or rate. The first of its kind in a minute gets a line in the audit
    /// file at once.
    pub(crate) fn note_refused(
        &self,
        caller: &Caller,
        surface: &'static str,
        operation: &'static str,
        problem: &Problem,
    ) {
        name(operation, caller);
        self.metrics.rejected(problem.code);
        let outcome = problem.code.facts().word;
        if self.audit.is_none() {
            return;
        }
        self.write_refusals(false);
        let refusal = Refusal { key: caller.id.clone(), surface, operation, outcome };
        if self.refusals.is_first(refusal, minute_now()) {
            let line =
                AuditLine { key: &caller.id, surface, operation, user_id: None, outcome, about: Map::new() };
            self.write_down(&line, false);
        }
    }

    /// Writes how many refusals followed those in the audit file, for the minutes that are over; for all if the server ends.
    pub(crate) fn write_refusals(&self, is_end: bool) {
        for (refusal, more) in self.refusals.due(if is_end { i64::MAX } else { minute_now() }) {
            let Refusal { key, surface, operation, outcome } = refusal;
            let about = Map::from_iter([("more".to_owned(), more.into())]);
            self.write_down(
                &AuditLine { key: &key, surface, operation, user_id: None, outcome, about },
                false,
            );
        }
    }

    /// Returns the problems with the file that occurred in the last minute.
    pub(crate) fn trouble(&self) -> impl Iterator<Item = &'static str> {
        let met = *self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: Option<Instant>| at.is_some_and(|at| at.elapsed() < TROUBLE_LASTS);
        TROUBLES.into_iter().zip(met).filter(move |(_, at)| is_recent(*at)).map(|(of, _)| of.1)
    }

    /// Waits until a call meets an unexpected error.
    pub(crate) async fn alarm(&self) {
        self.alarm.notified().await;
    }

    /// Logs and counts a problem if an operator has to act on it; other problems are the caller's.
    pub(crate) fn notice(&self, operation: &str, problem: &Problem) {
        let code = problem.code;
        if !code.is_servers() {
            return;
        }
        tracing::error!(operation, code = code.facts().word, detail = problem.detail, "failed");
        self.metrics.failed(code);
        if let Some(place) = TROUBLES.iter().position(|of| of.0 == code) {
            self.troubles.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(Instant::now());
        }
        if code == Code::Unexpected {
            self.alarm.notify_one();
        }
    }

    fn write_down(&self, line: &AuditLine<'_>, is_synced: bool) {
        let Some(audit) = &self.audit else { return };
        if let Err(error) = audit.write(line, is_synced) {
            tracing::error!(kind = %error.kind(), "the audit file cannot be written");
        }
    }
}

impl Admitted {
    /// The caller.
    pub(crate) fn caller(&self) -> &Caller {
        &self.call.caller
    }

    /// Runs the operation; waits briefly if too many others run. Once begun, it runs to its end, even if the caller no
    /// longer waits for it.
    pub async fn run(mut self, request: Value, spool: Option<File>) -> Result<OperationReply, Problem> {
        self.call.spool = spool;
        let run = self.row.run;
        self.placed(request, run, |reply| Some(reply)).await
    }

    /// Like [`run`](Self::run), for an operation that reads one user's data; does not run it if `is_known` says that the
    /// caller already has the response for the current revision. The revision is read first, so that the response is
    /// never older than its revision.
    pub async fn run_unless(
        self,
        request: Value,
        is_known: impl FnOnce(Revision) -> bool + Send + 'static,
    ) -> Result<Tagged, Problem> {
        let run = self.row.run;
        let work = move |call: Call, request| {
            let revision = call.find_user()?.map(|user| Revision::of(&user)).transpose()?;
            let reply = if revision.is_some_and(is_known) { None } else { Some(run(call, request)?) };
            Ok(Tagged { reply, revision })
        };
        self.placed(request, work, |tagged| tagged.reply.as_ref()).await
    }

    /// Waits while too many operations run, and runs this one. A panic becomes an error response; the connection stays open.
    async fn placed<T: Send + 'static>(
        self,
        request: Value,
        work: impl FnOnce(Call, Value) -> Result<T, Problem> + Send + 'static,
        reply_of: fn(&T) -> Option<&OperationReply>,
    ) -> Result<T, Problem> {
        let Self { row, call } = self;
        let class = row.spec.class;
        call.service.limits.count_items(&call.caller, &request);
        let place = call.service.limits.place(class, &call.caller).await;
        let place = place.inspect_err(|problem| call.service.metrics.rejected(problem.code))?;
        let is_audited = call.service.audit.is_some() && Audit::is_for(row.spec, &request);
        let noted = CallNote {
            row,
            service: Arc::clone(&call.service),
            caller: Arc::clone(&call.caller),
            surface: call.surface.clone(),
            found: Arc::clone(&call.found),
            gone: Arc::clone(&call.gone),
            about: if is_audited { audit::of_request(&request) } else { Map::new() },
            begun: Instant::now(),
        };
        let (service, span) = (Arc::clone(&noted.service), Span::current());
        let running = move || {
            let _entered = span.enter();
            let in_flight = noted.service.metrics.in_flight(class);
            let done = panic::catch_unwind(AssertUnwindSafe(|| work(call, request)));
            // The panic's message may contain what somebody said.
            let done = done.unwrap_or_else(|_| Err(Problem::unexpected(&"the operation panicked")));
            let folders = [noted.service.memory.path().parent(), noted.service.backup_folder.as_deref()];
            let done = done.map_err(|problem| folders.into_iter().fold(problem, Problem::without_folder));
            drop((place, in_flight));
            noted.note(done.as_ref().map(reply_of), is_audited);
            done
        };
        // Running on this thread saves a hop to another thread, but the runtime's other tasks then need a free worker
        // thread. If there are more operations than worker threads, a hop costs less. Blocking this task stalls no other
        // request: connections speak HTTP/1, and MCP has a task for each request.
        if service.limits.running() <= Handle::current().metrics().num_workers() {
            return block_in_place(running);
        }
        spawn_blocking(running).await.unwrap_or_else(|_| Err(Problem::unexpected(&"the call panicked")))
    }
}

impl Revision {
    fn of(user: &User) -> Result<Self, Problem> {
        Ok(Self { user: user.id(), number: user.revision()? })
    }
}

impl CallNote {
    fn note(self, done: Result<Option<&OperationReply>, &Problem>, is_audited: bool) {
        let (name, surface) = (self.row.spec.name, word_of(&self.surface));
        let outcome = done.err().map_or("ok", |problem| problem.code.facts().word);
        let took = self.begun.elapsed();
        self.service.metrics.ran(name, surface, outcome, took);
        let user_id = self.found.get().map(User::id);
        if let Some(user) = user_id {
            Span::current().record("user", tracing::field::display(user));
        }
        if let Err(problem) = done {
            self.service.notice(name, problem);
        }
        if self.surface != Surface::Http {
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            let user = user_id.map(tracing::field::display);
            tracing::info!(surface, operation = name, key = self.caller.id, user, outcome, micros, "ran");
        }
        if is_audited {
            let mut about = self.about;
            match done {
                Ok(Some(reply)) => {
                    let said = serde_json::from_str(&reply.body).unwrap_or_default();
                    about.extend(audit::of_response(&said));
                }
                Err(problem) if problem.code == Code::BadRequest => about.clear(), // It could not be read.
                _ => {}
            }
            if let Some(memory) = self.gone.get() {
                about.insert("memory".to_owned(), memory.to_string().into());
            }
            let key = &self.caller.id;
            let line = AuditLine { key, surface, operation: name, user_id, outcome, about };
            self.service.write_down(&line, self.row.spec.effect == Effect::Destroys);
        }
    }
}

/// The minutes since 1970.
fn minute_now() -> i64 {
    SystemClock.now().timestamp().div_euclid(60)
}

/// Adds the operation and the key to the request's log line.
fn name(operation: &'static str, caller: &Caller) {
    Span::current().record("operation", operation).record("key", caller.id.as_str());
}

fn word_of(surface: &Surface) -> &'static str {
    match surface {
        Surface::Http => "http",
        Surface::Mcp(_) => "mcp",
        Surface::Shell => "shell",
    }
}
