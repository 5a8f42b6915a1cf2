//! `thermocline call`: runs one operation, without a server.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Seek},
    sync::Arc,
};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use thermocline::Config;
use thermocline_server::{
    caller::Caller,
    http::openapi,
    ops::{
        self, Row,
        call::Surface,
        problem::Problem,
        schema,
        spec::{Body, Effect, Target},
    },
    service::CallRequest,
};

use crate::{
    exit::{Exit, Failure},
    find::{self, Db},
    memory::args::OriginArgs,
    output::Output,
    service::{open, runtime},
};

#[derive(Debug, Args)]
#[allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]
pub(crate) struct CallArgs {
    /// The operation; --list names them.
    #[arg(required_unless_present_any = ["list", "openapi"])]
    operation: Option<String>,

    /// The request, a JSON object; - reads it from stdin. An operation that takes lines reads them from stdin.
    #[arg(default_value = "{}", value_name = "JSON")]
    request: String,

    /// The user: a name, or id: followed by an id.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    #[command(flatten)]
    origin: OriginArgs,

    /// List the operations: name, scope, HTTP method and path, and what each does.
    #[arg(long, conflicts_with_all = ["operation", "user", "openapi"])]
    list: bool,

    /// Print the JSON Schemas of the operation's request and response.
    #[arg(long, conflicts_with_all = ["list", "user", "openapi"])]
    schema: bool,

    /// Print the OpenAPI 3.1 document of all operations.
    #[arg(long, conflicts_with_all = ["operation", "user"])]
    openapi: bool,
}

/// An operation, for a list.
#[derive(Debug, Serialize)]
struct ListedOperation {
    name: &'static str,
    scope: &'static str,
    method: &'static str,
    path: &'static str,
    summary: &'static str,
}

pub(crate) fn run(db: &Db, args: &CallArgs, out: &Output) -> Result<(), Failure> {
    if args.openapi {
        return out.print(&format!("{:#}\n", openapi::document(ops::table())));
    }
    let Some(name) = args.operation.as_deref().filter(|_| !args.list) else { return list(out) };
    let row = ops::find(name).ok_or_else(|| {
        Failure::not_found("there is no such operation; thermocline call --list names them")
    })?;
    if args.schema {
        let schemas =
            serde_json::json!({ "request": schema::request(row), "response": schema::response(row) });
        return out.answer(&schemas, |schemas| format!("{schemas:#}\n"));
    }
    check_user(row, args.user.as_deref())?;
    let request = request(&args.request)?;
    let spool = spool(row)?;
    // By default a program's words are the assistant's: an agent that was tricked into running the command must not speak
    // for the user.
    let origin = args.origin.or_who_sits_there(out);
    let kept = spool.as_ref().map(File::try_clone).transpose().map_err(unspooled)?;
    let body = runtime()?.block_on(async {
        let service = open(db, config(row)).await?;
        let asked = CallRequest {
            caller: Arc::new(Caller::shell(origin)),
            user: args.user.clone(),
            surface: Surface::Shell,
            request,
            spool,
        };
        let answered = service.run(row, asked).await;
        service.memory.close().await?;
        Ok::<_, Failure>(answered.map_err(|problem| failure(&problem))?.body)
    })?;
    if let (Body::LinesOut, Some(mut lines)) = (row.spec.body, kept) {
        lines.rewind().and_then(|()| io::copy(&mut lines, &mut out.data())).map_err(unspooled)?;
        out.talk(&body);
        return Ok(());
    }
    let body: Value = serde_json::from_str(&body)
        .map_err(|error| Failure::caused(Exit::Unexpected, "the answer is not valid JSON", error))?;
    out.answer(&body, |body| format!("{body:#}\n"))
}

/// Returns the configuration for an operation. Only one that adds something for a user creates a missing file.
fn config(row: &Row) -> Config {
    let mut config = find::verb_config();
    config.must_exist = (row.spec.target, row.spec.effect) != (Target::User, Effect::Adds);
    config
}

fn list(out: &Output) -> Result<(), Failure> {
    let listed = |row: &Row| ListedOperation {
        name: row.spec.name,
        scope: row.spec.scope.as_str(),
        method: row.spec.http.method.as_str(),
        path: row.spec.http.path,
        summary: row.spec.summary,
    };
    let rows: Vec<ListedOperation> = ops::table().iter().map(listed).collect();
    out.answer(&rows, |rows| {
        rows.iter().fold(String::new(), |mut text, row| {
            let ListedOperation { name, scope, method, path, summary } = row;
            let _ = writeln!(text, "{name:<24} {scope:<8} {method:<6} {path}\n{:<24} {summary}", "");
            text
        })
    })
}

/// Says what to do if the user is missing, or is given although the operation needs none.
fn check_user(row: &Row, user: Option<&str>) -> Result<(), Failure> {
    match (row.spec.target, user) {
        (Target::User, None) => {
            Err(Failure::new(Exit::Misused, "the operation needs a user; name one with --user"))
        }
        (Target::File, Some(_)) => {
            Err(Failure::new(Exit::Misused, "the operation is about the whole file and takes no --user"))
        }
        _ => Ok(()),
    }
}

fn request(said: &str) -> Result<Value, Failure> {
    let text = match said {
        "-" => io::read_to_string(io::stdin()).map_err(|error| {
            Failure::caused(Exit::Misused, "the request could not be read from stdin", error)
        })?,
        text => text.to_owned(),
    };
    serde_json::from_str(&text)
        .map_err(|error| Failure::caused(Exit::Misused, "the request is not valid JSON", error))
}

/// Returns a file for an operation's lines, filled from stdin if the operation reads lines.
fn spool(row: &Row) -> Result<Option<File>, Failure> {
    if row.spec.body == Body::Json {
        return Ok(None);
    }
    let mut file = tempfile::tempfile().map_err(unspooled)?;
    if row.spec.body == Body::LinesIn {
        io::copy(&mut io::stdin().lock(), &mut file).and_then(|_| file.rewind()).map_err(unspooled)?;
    }
    Ok(Some(file))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unspooled(error: io::Error) -> Failure {
    Failure::new(
        Exit::FileUnusable,
        format!("the operation's lines could not be stored or forwarded: {error}"),
    )
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
    let place = problem.pointer.as_deref().map(|pointer| format!(" ({pointer})")).unwrap_or_default();
    Failure::new(exit, format!("{}{place}", problem.detail))
}
