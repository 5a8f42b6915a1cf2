//! `thermocline jobs compress-again`: an LLM summarizes again what the built-in summarizer summarized.

use serde::Serialize;
use thermocline::{JobKind, JobsReport, RunJobs};

use crate::{
    args::CompressAgainArgs,
    counts::counted,
    exit::Failure,
    find::{self, Db},
    jobs,
    output::Output,
    providers,
};

const NEEDS_LLM: &str = "no LLM#1 is configured, and the built-in summarizer would only repeat its result; \
     add --llm-url and --llm-model";

/// The sessions that were compressed again, and the report of the jobs that did it.
#[derive(Debug, Serialize)]
struct DoneAgain {
    /// The number of sessions that were restored in order to be compressed again.
    sessions: u64,
    #[serde(flatten)]
    report: JobsReport,
}

pub(crate) fn run(db: &Db, args: &CompressAgainArgs, out: &Output) -> Result<(), Failure> {
    let mut config = find::verb_config();
    config.summarizer = Some(providers::summarizer(&args.llm)?.ok_or_else(|| Failure::refused(NEEDS_LLM))?);
    let memory = find::writable_with(db, config)?;
    let user = find::user(&memory, &args.user)?;
    let sessions = match &args.session {
        Some(session) => u64::from(find::session(&user, session)?.compress_again()? > 0),
        None => user.compress_again()?,
    };
    // Runs the jobs of this user only, because the LLM was named for this user's texts.
    let options = RunJobs::default().only(JobKind::Compress).of_user(user.id());
    let (report, _) = jobs::with_progress(&memory, options, "compressing", out)?;
    out.answer(&DoneAgain { sessions, report }, text)?;
    if !out.is_json() {
        jobs::tell_left(&memory, out)?;
    }
    Ok(())
}

fn text(done: &DoneAgain) -> String {
    if done.sessions == 0 && done.report == JobsReport::default() {
        return "the built-in summarizer summarized nothing here; no session is compressed again\n"
            .to_owned();
    }
    let sessions = counted(usize::try_from(done.sessions).unwrap_or(usize::MAX), "session");
    format!("{sessions} restored\n{}", jobs::summaries(&done.report))
}
