//! MCP over HTTP: each request is answered for itself, and nothing is remembered of it.
//!
//! `/mcp` is the memory of the key's one user, `/mcp/users/{user}` that of the one it names. `?tools=` names the profile.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
    routing::any,
};
use percent_encoding::percent_decode_str;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::{
    caller::{Caller, Users},
    mcp::{Mcp, Profile, Toolbox},
    ops::{
        Result,
        problem::{Code, Problem},
    },
};

/// What stands before a user's name in a path.
const USERS: &str = "/mcp/users/";

/// Both routes. Who asks is found by the layer of keys, and stands in the request's extensions; host and origin were looked at
/// before, by the guard that every route has.
pub fn routes<S: Clone + Send + Sync + 'static>(toolbox: &Toolbox, max_body_bytes: usize) -> Router<S> {
    let toolbox = toolbox.clone();
    let handler = any(move |Extension(caller): Extension<Arc<Caller>>, request: Request| {
        let toolbox = toolbox.clone();
        async move {
            match server(&toolbox, caller, &request) {
                Ok(mcp) => answer(mcp, max_body_bytes, request).await,
                Err(problem) => problem.into_response(),
            }
        }
    });
    Router::new().route("/mcp", handler.clone()).route("/mcp/users/{user}", handler)
}

/// Whose memory the request is for, and with which tools.
fn server(toolbox: &Toolbox, caller: Arc<Caller>, request: &Request) -> Result<Mcp> {
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
        return Err(Problem::new(
            Code::NotAllowed,
            "this key may not do that; `thermocline key list` shows what it may",
        ));
    }
    Ok(toolbox.server(profile, caller, user))
}

fn profile(query: &str) -> Result<Profile> {
    let found = match query.strip_prefix("tools=") {
        Some(word) => Profile::from_word(word),
        None => query.is_empty().then(Profile::default),
    };
    found.ok_or_else(|| {
        let words = Profile::EVERY.map(Profile::as_str).join(", ");
        Problem::bad_request(format!("this address takes one field in its query, tools: one of {words}"))
    })
}

/// A message as the body, its answer as the response.
///
/// A second list of hosts and origins here could only contradict the guard's.
async fn answer(mcp: Mcp, max_body_bytes: usize, request: Request) -> Response {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_max_request_body_bytes(max_body_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service =
        StreamableHttpService::new(move || Ok(mcp.clone()), Arc::<NeverSessionManager>::default(), config);
    service.handle(request).await.map(Body::new)
}
