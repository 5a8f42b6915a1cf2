//! `thermocline jobs`: lists, runs and retries the jobs in the file.

use std::{collections::HashMap, fmt::Write as _, thread, time::Duration};

use chrono::{DateTime, Utc};
use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{
    Clock, Extract, JobInfo, JobKind, JobState, JobsReport, Originals, RunJobs, SystemClock, UserId,
    blocking::{Thermocline, User},
};

use crate::{
    args::{JobsListArgs, JobsRetryArgs, JobsRunArgs},
    counts::counted,
    exit::Failure,
    find::{self, Db},
    output::Output,
    pages, plain, providers, session,
};

const NEEDS_LLM: &str = "originals are deleted only if LLM#1 wrote their summaries, and no LLM#1 is \
     configured; add --llm-url and --llm-model, or leave out --originals";

const NOBODY_PROPOSES: &str =
    "no LLM#1 is configured to propose memories; add --llm-url and --llm-model, or use --extract rules";

/// A job, and the name of its session.
#[derive(Debug, Serialize)]
struct ListedJob {
    #[serde(flatten)]
    job: JobInfo,
    /// The session's key, otherwise its id; `None` if the job is about a whole user, or the file.
    session: Option<String>,
}

/// The result of a run, and how long it took.
#[derive(Debug, Serialize)]
struct Ran {
    #[serde(flatten)]
    report: JobsReport,
    seconds: f64,
    /// The number of jobs done per second.
    jobs_per_second: f64,
    /// The jobs on which other processes work.
    held: Vec<LeasedJob>,
}

/// A job on which another process works.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct LeasedJob {
    job_no: i64,
    kind: JobKind,
    /// When the lease of that process ends, unless it renews it. After that, the next process that runs jobs takes the
    /// job over.
    until: DateTime<Utc>,
}

#[derive(Debug, Serialize)]
struct RetriedJobs {
    /// The number of jobs that this made due.
    queued: u64,
}

pub(crate) fn list(db: &Db, args: &JobsListArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let jobs = SessionNames::new(&memory).listed(pages::jobs_after(&memory, args.after, args.limit)?)?;
    if jobs.is_empty() && !out.is_json() {
        out.talk("no job is waiting");
        return Ok(());
    }
    out.answer(&jobs, |jobs| listed(jobs, SystemClock.now()))
}

pub(crate) fn run(db: &Db, args: &JobsRunArgs, out: &Output) -> Result<(), Failure> {
    let mut config = args.sensors.add_to(args.embedder.config()?)?;
    config.originals = args.originals.into();
    config.summarizer = providers::summarizer(&args.llm)?;
    if config.originals == Originals::Delete && config.summarizer.is_none() {
        return Err(Failure::refused(NEEDS_LLM));
    }
    config.extract = args.extract.into();
    if config.extract == Extract::Llm && config.summarizer.is_none() {
        return Err(Failure::refused(NOBODY_PROPOSES));
    }
    let memory = find::writable_with(db, config)?;
    let (report, seconds, held) = run_all(&memory, args, out)?;
    let jobs_per_second = if seconds > 0.0 { count(report.done) / seconds } else { 0.0 };
    out.answer(&Ran { report, seconds, jobs_per_second, held }, ran)?;
    if !out.is_json() {
        tell_left(&memory, out)?;
    }
    Ok(())
}

/// Prints what a run left undone, and what to do about it.
pub(crate) fn tell_left(memory: &Thermocline, out: &Output) -> Result<(), Failure> {
    for line in left(&pages::jobs(memory)?) {
        out.talk(&line);
    }
    Ok(())
}

/// How often to check whether other processes have finished their jobs, with `--wait`.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Runs the jobs that are due. With `--wait`, also waits for jobs on which other processes work, and runs those that they
/// leave undone. Returns the report, the seconds of work, and the jobs on which others still work.
fn run_all(
    memory: &Thermocline,
    args: &JobsRunArgs,
    out: &Output,
) -> Result<(JobsReport, f64, Vec<LeasedJob>), Failure> {
    let (mut all, mut all_seconds) = (JobsReport::default(), 0.0);
    loop {
        let mut options = RunJobs::default();
        if let Some(max) = args.max {
            options = options.max_jobs(max - begun(&all));
        }
        let (report, seconds) = with_progress(memory, options, "running jobs", out)?;
        all += report;
        all_seconds += seconds;
        let now = SystemClock.now();
        let held = held(&pages::jobs(memory)?, now);
        let is_enough = args.max.is_some_and(|max| begun(&all) >= max);
        let Some(soonest) = held.iter().map(|held| held.until).min().filter(|_| args.wait && !is_enough)
        else {
            return Ok((all, all_seconds, held));
        };
        thread::sleep((soonest - now).to_std().unwrap_or_default().min(BETWEEN_LOOKS));
    }
}

fn begun(report: &JobsReport) -> u64 {
    report.done + report.later + report.failed
}

/// Returns the jobs on which others work; called while this process works on none.
fn held(jobs: &[JobInfo], now: DateTime<Utc>) -> Vec<LeasedJob> {
    let held = jobs.iter().filter(|job| job.state == JobState::Running && job.next_run_at > now);
    held.map(|job| LeasedJob { job_no: job.job_no, kind: job.kind, until: job.next_run_at }).collect()
}

/// Runs jobs with a progress bar; returns the report, and the seconds that they took.
pub(crate) fn with_progress(
    memory: &Thermocline,
    options: RunJobs,
    doing: &'static str,
    out: &Output,
) -> Result<(JobsReport, f64), Failure> {
    let progress = out.job_progress(doing);
    let mut shown = progress.clone();
    let report = memory.run_jobs(options.on_progress(move |progress| shown.at(progress)))?;
    let seconds = progress.elapsed().as_secs_f64();
    progress.end();
    Ok((report, seconds))
}

pub(crate) fn retry(db: &Db, args: &JobsRetryArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable(db)?;
    let queued = memory.retry_jobs(args.job_no)?;
    if let Some(number) = args.job_no
        && queued == 0
        && !pages::jobs(&memory)?.iter().any(|job| job.job_no == number)
    {
        let path = memory.path().display();
        return Err(Failure::not_found(format!("{path} has no job with that number; jobs list shows them")));
    }
    out.answer(&RetriedJobs { queued }, |retried| match (retried.queued, args.job_no) {
        (0, None) => "No job had been postponed or given up.\n".to_owned(),
        (0, Some(_)) => "This job is already due, or a process is working on it.\n".to_owned(),
        (1, _) => "1 job is due now: thermocline jobs run\n".to_owned(),
        (queued, _) => format!("{} jobs are due now: thermocline jobs run\n", HumanCount(queued)),
    })
}

/// Looks up the names of jobs' sessions. A user's name cannot be looked up by id.
struct SessionNames<'a> {
    memory: &'a Thermocline,
    users: HashMap<UserId, Option<User>>,
}

impl<'a> SessionNames<'a> {
    fn new(memory: &'a Thermocline) -> Self {
        Self { memory, users: HashMap::new() }
    }

    fn listed(mut self, jobs: Vec<JobInfo>) -> Result<Vec<ListedJob>, Failure> {
        jobs.into_iter().map(|job| Ok(ListedJob { session: self.session(&job)?, job })).collect()
    }

    fn session(&mut self, job: &JobInfo) -> Result<Option<String>, Failure> {
        let (Some(user_id), Some(session_id)) = (job.user_id, job.session_id) else { return Ok(None) };
        if !self.users.contains_key(&user_id) {
            self.users.insert(user_id, self.memory.find_user_by_id(user_id)?);
        }
        // The session may have been erased since the jobs were read.
        let session = match &self.users[&user_id] {
            Some(user) => find::found(user.session_by_id(session_id))?,
            None => None,
        };
        Ok(Some(match session {
            Some(session) => session::name(&session.info()?),
            None => session_id.to_string(),
        }))
    }
}

/// Returns a table of jobs, in the order in which they were queued.
fn listed(jobs: &[ListedJob], now: DateTime<Utc>) -> String {
    let mut text = format!(
        "{:>5}  {:<8}  {:<7}  {:>13}  {:>5}  {:<16}  {:<36}  session\n",
        "job", "kind", "state", "turns", "tries", "next run", "user"
    );
    for ListedJob { job, session } in jobs {
        let _ = writeln!(
            text,
            "{:>5}  {:<8}  {:<7}  {:>13}  {:>5}  {:<16}  {:<36}  {}",
            job.job_no,
            job.kind.as_str(),
            job.state.as_str(),
            match job.total_count {
                0 if job.done_count == 0 => "-".to_owned(),
                0 => HumanCount(job.done_count.into()).to_string(),
                total => format!("{} of {}", HumanCount(job.done_count.into()), HumanCount(total.into())),
            },
            job.attempts,
            next_run(job, now),
            job.user_id.map_or_else(|| "none: the file".to_owned(), |id| id.to_string()),
            session.as_deref().unwrap_or(if job.user_id.is_some() { "all" } else { "-" }),
        );
        if let Some(error) = &job.last_error {
            let _ = writeln!(text, "       {}", plain::line(error, usize::MAX));
        }
    }
    text
}

fn next_run(job: &JobInfo, now: DateTime<Utc>) -> String {
    match job.state {
        JobState::Failed => "when retried".to_owned(),
        JobState::Queued if job.next_run_at <= now => "due".to_owned(),
        JobState::Running if job.next_run_at <= now => "due, interrupted".to_owned(),
        JobState::Queued => job.next_run_at.format("%Y-%m-%d %H:%M").to_string(),
        _ => "now".to_owned(),
    }
}

fn ran(ran: &Ran) -> String {
    let Ran { report, seconds, jobs_per_second, held } = ran;
    let JobsReport { ended_sessions, done, later, failed, turns, .. } = *report;
    let held = held.iter().fold(String::new(), |text, LeasedJob { job_no, kind, until }| {
        let (kind, until) = (kind.as_str(), until.format("%Y-%m-%d %H:%M:%S UTC"));
        text + &format!(
            "Another process holds job {job_no} ({kind}) until {until}, or longer if needed; \
            jobs run --wait waits for it.\n"
        )
    });
    if (ended_sessions, done, later, failed) == (0, 0, 0, 0) {
        return if held.is_empty() { "No job was due.\n".to_owned() } else { held };
    }
    let mut text = String::new();
    for (what, number) in [
        ("sessions ended by silence", ended_sessions),
        ("jobs done", done),
        ("to be tried again", later),
        ("given up", failed),
        ("turns", turns),
    ] {
        let _ = writeln!(text, "{what:<26} {:>9}", HumanCount(number).to_string());
    }
    text += &summaries(report);
    let _ = writeln!(text, "{:<26} {seconds:>9.1}, {jobs_per_second:.1} jobs/s", "seconds");
    text + &held
}

/// Says who wrote the summaries of a run; empty if there are none.
pub(crate) fn summaries(report: &JobsReport) -> String {
    let mut text = String::new();
    for (what, number) in [
        ("summaries by the LLM", report.summaries),
        ("by the built-in summarizer", report.built_in_summaries),
        ("of them, the LLM failing", report.fallbacks),
        ("memories extracted", report.memories),
        ("uses rated", report.rated_uses),
    ] {
        if number > 0 {
            let _ = writeln!(text, "{what:<26} {:>9}", HumanCount(number).to_string());
        }
    }
    text
}

/// Says what a run left undone, and what to do about it.
fn left(jobs: &[JobInfo]) -> Vec<String> {
    let count = |state| jobs.iter().filter(|job| job.state == state).count();
    let waiting = count(JobState::Queued) + count(JobState::Running);
    let failed = count(JobState::Failed);
    let misconfigured = jobs.iter().filter(|job| job.waits_for_configuration()).count();
    let mut lines = Vec::new();
    if waiting > 0 {
        let jobs = counted(waiting, "job");
        lines.push(format!("not done yet: {jobs}; thermocline jobs list says when and why"));
    }
    if misconfigured > 0 {
        let jobs = counted(misconfigured, "job");
        lines.push(format!("waiting for another configuration of the LLM or embedder: {jobs}"));
    }
    if failed > 0 {
        let jobs = counted(failed, "job");
        lines.push(format!("given up: {jobs}; thermocline jobs list says why, jobs retry queues them again"));
    }
    lines
}

#[expect(clippy::cast_precision_loss, reason = "a rate is no exact number")]
fn count(number: u64) -> f64 {
    number as f64
}
