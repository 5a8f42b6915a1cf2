//! `thermocline serve`, `mcp` and `call`: the service crate, started from the command line.

use std::{io, sync::Arc};

use clap::Args;
use serde_json::Value;
use thermocline::Thermocline;
use thermocline_server::{
    caller::Caller,
    http::{self, Http},
    mcp::{self, Mcp},
    ops::{self, call::Surface, problem::Problem},
    service::{Asked, Service},
};
use tokio::{net::TcpListener, runtime, signal};

use crate::{
    exit::{Exit, Failure},
    find::{self, Db},
    output::Output,
};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:7411", value_name = "ADDRESS")]
    listen: String,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Whose memory it is: a name, or id: and an id. Added with the first thing that is kept.
    #[arg(long)]
    user: String,
}

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

pub(crate) fn serve(db: &Db, args: &ServeArgs) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let service = open(db).await?;
        let memory = service.memory.clone();
        let listener = TcpListener::bind(&args.listen).await.map_err(|error| {
            Failure::caused(Exit::FileUnusable, format!("cannot listen on {}", args.listen), error)
        })?;
        let address = listener.local_addr().map_err(io_failure)?;
        eprintln!("listening on http://{address}");
        let http = Http {
            service,
            local: Arc::new(Caller::local()),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: 8 << 20,
        };
        let end = async {
            let _ = signal::ctrl_c().await;
        };
        http::serve(Arc::new(http), listener, end).await.map_err(io_failure)?;
        Ok(memory.close().await?)
    })
}

pub(crate) fn mcp(db: &Db, args: &McpArgs) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let service = open(db).await?;
        let memory = service.memory.clone();
        let mcp = Mcp { service, caller: Arc::new(Caller::local()), user: args.user.clone() };
        mcp::serve_stdio(mcp).await.map_err(io_failure)?;
        Ok(memory.close().await?)
    })
}

pub(crate) fn call(db: &Db, args: &CallArgs, out: &Output) -> Result<(), Failure> {
    let Some(name) = args.operation.as_deref().filter(|_| !args.list) else {
        let rows: Vec<_> = ops::table().iter().map(|row| (row.spec.name, row.spec.summary)).collect();
        return out.answer(&rows, |rows| {
            rows.iter().map(|(name, summary)| format!("{name:<20} {summary}\n")).collect()
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
        };
        let reply = service.run(row, asked).await.map_err(|problem| failure(&problem))?;
        service.memory.close().await?;
        Ok::<_, Failure>(reply)
    })?;
    let body: Value = serde_json::from_str(&reply.body)
        .map_err(|error| Failure::caused(Exit::Unexpected, "the answer is not valid JSON", error))?;
    out.answer(&body, |body| format!("{body:#}\n"))
}

async fn open(db: &Db) -> Result<Arc<Service>, Failure> {
    db.check_writable()?;
    let mut config = find::verb_config();
    config.worker = true;
    let memory = Thermocline::open_with(&db.path, config).await?;
    Ok(Arc::new(Service { memory, backup_folder: None }))
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

fn runtime() -> Result<runtime::Runtime, Failure> {
    runtime::Builder::new_multi_thread().enable_all().build().map_err(io_failure)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn io_failure(error: io::Error) -> Failure {
    Failure::new(Exit::Unexpected, error.to_string())
}
