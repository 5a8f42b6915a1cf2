//! The two routes of MCP: `/mcp`, for a key with access to exactly one user, and `/mcp/users/{user}`, which names the user.
//! The query `?tools=` selects the profile.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use percent_encoding::percent_decode_str;

use crate::{
    bodies::AwaitedBody,
    caller::{Caller, Users, not_allowed},
    http::{Http, body, layers, route},
    mcp::{self, Mcp, ToolProfile, Toolbox},
    ops::{
        Result,
        problem::{Code, Problem},
    },
};

/// The path prefix before a user's name.
const USERS: &str = "/mcp/users/";

/// Returns both routes.
pub(super) fn routes(http: &Http) -> Router<Arc<Http>> {
    let toolbox = Arc::new(Toolbox::new(Arc::clone(&http.service)));
    let handler = any(
        move |State(http): State<Arc<Http>>, Extension(caller): Extension<Arc<Caller>>, request: Request| {
            let toolbox = Arc::clone(&toolbox);
            async move {
                let mcp = admitted(&toolbox, &http, Arc::clone(&caller), &request);
                match mcp.and_then(|mcp| Ok((mcp, http.service.await_body(&caller)?))) {
                    Ok((mcp, awaited)) => answer(&http, mcp, &caller, awaited, request)
                        .await
                        .unwrap_or_else(Problem::into_response),
                    Err(problem) => layers::refused(request, problem).await,
                }
            }
        },
    );
    Router::new().route("/mcp", handler.clone()).route("/mcp/users/{user}", handler)
}

/// Selects the user's memory and its tools; makes every decision that does not need the body.
fn admitted(toolbox: &Toolbox, http: &Http, caller: Arc<Caller>, request: &Request) -> Result<Mcp> {
    http.service.count(&caller, "mcp", "mcp")?;
    let profile = profile(request.uri().query().unwrap_or_default())?;
    let user = match (request.uri().path().strip_prefix(USERS), &caller.users) {
        (Some(user), _) => percent_decode_str(user)
            .decode_utf8()
            .map_err(|_| Problem::bad_request("the address is not UTF-8"))?
            .into_owned(),
        (None, Users::One(user)) => user.clone(),
        (None, _) => {
            return Err(Problem::bad_request(
                "this key is for several users: name one in the address, /mcp/users/{user}",
            ));
        }
    };
    if !caller.users.has(&user) {
        let problem = not_allowed();
        http.service.note_refused(&caller, "mcp", "mcp", &problem);
        return Err(problem);
    }
    body::check(request.headers(), http.max_body_bytes)?;
    Ok(toolbox.server(profile, caller, user))
}

fn profile(query: &str) -> Result<ToolProfile> {
    let found = match query.strip_prefix("tools=") {
        Some(word) => ToolProfile::from_word(word),
        None => query.is_empty().then(ToolProfile::default),
    };
    found.ok_or_else(|| {
        let words = ToolProfile::EVERY.map(ToolProfile::as_str).join(", ");
        Problem::bad_request(format!("this address takes one query field, tools: one of {words}"))
    })
}

async fn answer(
    http: &Http,
    mcp: Mcp,
    caller: &Caller,
    awaited: AwaitedBody,
    request: Request,
) -> Result<Response> {
    let (head, body) = request.into_parts();
    let limits = &http.service.limits;
    let (bytes, _room) = match head.method {
        Method::POST if !head.headers.contains_key(header::CONTENT_TYPE) => {
            return Err(body::unsupported(body::JSON));
        }
        Method::POST => body::bytes(body, http.max_body_bytes, limits, caller).await?,
        _ => (Vec::new(), limits.body(caller)),
    };
    drop(awaited);
    Ok(told(mcp::http::answer(mcp, Request::from_parts(head, Body::from(bytes))).await))
}

/// Renders a refusal by the protocol layer as on every other route, unless it is an MCP message, which stays as it is.
fn told(mut response: Response) -> Response {
    let status = response.status();
    let is_message = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == body::JSON);
    if status.is_success() || is_message {
        return response;
    }
    let problem = match status {
        StatusCode::METHOD_NOT_ALLOWED => route::no_such_method(),
        StatusCode::NOT_ACCEPTABLE => Problem::new(
            Code::NotAcceptable,
            "MCP answers in one of two forms: send Accept: application/json, text/event-stream",
        ),
        _ if status.is_server_error() => Problem::unexpected(&"the protocol returned no answer"),
        _ => Problem::bad_request(
            "the body is not an MCP message, or MCP-Protocol-Version names an unknown revision",
        ),
    };
    let allow = response.headers_mut().remove(header::ALLOW);
    let mut told = problem.into_response();
    told.headers_mut().extend(allow.map(|methods| (header::ALLOW, methods)));
    told
}
