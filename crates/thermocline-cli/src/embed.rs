//! `thermocline embed`: shows how many turns are embedded, and rebuilds the vectors of the named embedders, or of the
//! built-in one.

use std::fmt::Write as _;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use thermocline::{EmbeddingStatus, JobKind, JobsReport, RunJobs};

use crate::{
    exit::Failure,
    find::{self, Db},
    jobs,
    output::Output,
    plain,
    recall_args::EmbedArgs,
};

/// The result of a rebuild.
#[derive(Debug, Serialize)]
struct Rebuilt {
    users: u64,
    #[serde(flatten)]
    report: JobsReport,
    seconds: f64,
}

pub(crate) fn rebuild(db: &Db, args: &EmbedArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable_with(db, args.embedder.config()?)?;
    if args.drop_others {
        memory.drop_other_vectors()?;
    }
    let users = memory.rebuild_vectors()?;
    let options = RunJobs::default().only(JobKind::Embed);
    let (report, seconds) = jobs::with_progress(&memory, options, "embedding", out)?;
    out.answer(&Rebuilt { users, report, seconds }, |rebuilt| {
        let Rebuilt { users, report, seconds } = rebuilt;
        let (users, turns) = (HumanCount(*users), HumanCount(report.turns));
        format!(
            "users     {users}\nembedded  {turns} turns (one counts for each model)\nseconds   {seconds:.1}\n"
        )
    })?;
    if report.later > 0 && !out.is_json() {
        out.talk("some turns could not be embedded; jobs run tries again, and jobs list says why");
    }
    Ok(())
}

pub(crate) fn status(db: &Db, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let status = memory.embedding_status()?;
    if status.is_empty() && !out.is_json() {
        out.talk(
            "the file has no vectors yet; jobs run makes them, and until then recall works without them",
        );
        return Ok(());
    }
    out.answer(&status, |status| text(status))
}

fn text(status: &[EmbeddingStatus]) -> String {
    const WIDEST: usize = 40;
    let name = |of: &EmbeddingStatus| plain::line(&of.space.model, WIDEST);
    let width = status.iter().map(|of| name(of).chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!(
        "{:<36}  {:<width$}  {:>5}  {:>21}  {:>7}  {:>10}\n",
        "user", "model", "dims", "embedded", "refused", "size"
    );
    for of in status {
        let _ = writeln!(
            text,
            "{:<36}  {:<width$}  {:>5}  {:>21}  {:>7}  {:>10}",
            of.user_id.to_string(),
            name(of),
            of.space.dims,
            format!("{} of {}", HumanCount(of.embedded), HumanCount(of.turns)),
            HumanCount(of.gaps).to_string(),
            HumanBytes(of.bytes).to_string(),
        );
    }
    text
}
