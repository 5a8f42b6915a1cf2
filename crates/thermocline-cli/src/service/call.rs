//! `thermocline call`: one operation, without a server.

use std::sync::Arc;

use clap::Args;
use serde_json::Value;
use thermocline_server::{
    caller::Caller,
    ops::{self, call::Surface, problem::Problem},
    service::Asked,
};

use crate::{
    exit::{Exit, Failure},
    find::Db,
    output::Output,
    service::{open, runtime},
};

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The operation; --list names them.
    #[arg(required_unless_present = "list")]
    operation: Option<String>,

    /// The request, a JSON object.
    #[arg(default_value = "{}")]
    request: String,

    /// The user it is about.
    #[arg(long)]
    user: Option<String>,

    /// List the operations.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(db: &Db, args: &CallArgs, out: &Output) -> Result<(), Failure> {
    let Some(name) = args.operation.as_deref().filter(|_| !args.list) else {
        let rows: Vec<_> = ops::table().iter().map(|row| (row.spec.name, row.spec.summary)).collect();
        return out.answer(&rows, |rows| {
            rows.iter().fold(String::new(), |text, (name, summary)| format!("{text}{name:<20} {summary}\n"))
        });
    };
    let row =
        ops::find(name).ok_or_else(|| Failure::not_found("there is no such operation; --list names them"))?;
    let request: Value = serde_json::from_str(&args.request)
        .map_err(|error| Failure::caused(Exit::Misused, "the request is not valid JSON", error))?;
    let reply = runtime()?.block_on(async {
        let service = open(db).await?;
        let asked = Asked {
            caller: Arc::new(Caller::local()),
            user: args.user.clone(),
            surface: Surface::Shell,
            request,
            spool: None,
        };
        let reply = service.run(row, asked).await.map_err(|problem| failure(&problem))?;
        service.memory.close().await?;
        Ok::<_, Failure>(reply)
    })?;
    let body: Value = serde_json::from_str(&reply.body)
        .map_err(|error| Failure::caused(Exit::Unexpected, "the answer is not valid JSON", error))?;
    out.answer(&body, |body| format!("{body:#}\n"))
}

fn failure(problem: &Problem) -> Failure {
    let exit = match problem.code.facts().exit {
        2 => Exit::Misused,
        3 => Exit::Refused,
        4 => Exit::NotFound,
        5 => Exit::FileUnusable,
        6 => Exit::TryAgain,
        _ => Exit::Unexpected,
    };
    Failure::new(exit, problem.detail.clone())
}
