//! Jobs: work that outlives a process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{JobInfo, JobKind, JobsReport, RunJobs, UserId};

use crate::ops::{
    Operation, Result, Row,
    call::{self, Call, set},
    page::{Cursor, Limit, Page, PageRequest},
    row,
    spec::{Class, Route, Spec},
};

/// The value of `job` that selects every job that was given up or waits for another try.
const ALL: &str = "all";

/// Returns the job operations.
pub fn rows() -> Vec<Row> {
    vec![row::<JobList>(), row::<JobRun>(), row::<JobRetry>()]
}

/// Asks for a page of the file's jobs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobListRequest {
    /// Maximum number of jobs, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists jobs.
#[derive(Debug)]
pub struct JobList;

impl Operation for JobList {
    const SPEC: Spec = Spec::inspects(
        "job_list",
        "The file's jobs, in the order in which they were queued: ids and counts, nothing that was said.",
        Route::get("/v1/jobs"),
    );
    type Request = JobListRequest;
    type Response = Page<JobInfo>;

    fn run(call: Call, request: JobListRequest) -> Result<Page<JobInfo>> {
        let asked: PageRequest<i64> = PageRequest::new("job_list", request.limit, request.cursor.as_ref())?;
        Ok(asked.page(call.memory().jobs(asked.after, asked.to_read())?, |job| job.job_no))
    }
}

/// Which jobs to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRunRequest {
    /// Maximum number of jobs to run. Default: all that are due.
    pub max_jobs: Option<u64>,
    /// Only jobs of this kind; if set, silent sessions are not ended. Default: any kind.
    pub kind: Option<JobKind>,
    /// Only jobs on the data of the user with this id; if set, silent sessions are not ended. Default: all users.
    pub user_id: Option<UserId>,
}

/// Runs jobs that are due.
#[derive(Debug)]
pub struct JobRun;

impl Operation for JobRun {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::administers(
            "job_run",
            "Run jobs that are due, and end silent sessions unless a kind or a user_id is named; a worker may run at the same time.",
            Route::post("/v1/jobs/run"),
        )
    };
    type Request = JobRunRequest;
    type Response = JobsReport;

    fn run(call: Call, request: JobRunRequest) -> Result<JobsReport> {
        let run = set(RunJobs::default(), request.max_jobs, RunJobs::max_jobs);
        let run = set(run, request.kind, RunJobs::only);
        let run = set(run, request.user_id, RunJobs::of_user);
        Ok(call.memory().run_jobs(run)?)
    }
}

/// A job to retry.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfJob {
    /// The job's number, or `all`.
    #[schemars(regex(pattern = "^([0-9]{1,18}|all)$"))]
    pub job: String,
}

/// The result of retrying jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Retried {
    /// The number of jobs that are queued to run again.
    pub jobs: u64,
}

/// Retries jobs that were given up or wait for another try.
#[derive(Debug)]
pub struct JobRetry;

impl Operation for JobRetry {
    const SPEC: Spec = Spec::administers(
        "job_retry",
        "Retry now a job that was given up or waits for another try, or all such jobs.",
        Route::post("/v1/jobs/{job}/retry"),
    );
    type Request = OfJob;
    type Response = Retried;

    fn run(call: Call, request: OfJob) -> Result<Retried> {
        let job_no = match request.job.as_str() {
            ALL => None,
            number => Some(call::number("job", number)?),
        };
        Ok(Retried { jobs: call.memory().retry_jobs(job_no)? })
    }
}
