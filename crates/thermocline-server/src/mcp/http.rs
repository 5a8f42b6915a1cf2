//! MCP over HTTP: each request is answered on its own, without a session.

use std::sync::Arc;

use axum::{body::Body, extract::Request, response::Response};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::mcp::Mcp;

/// Answers a request whose body is an MCP message. The route has already read the body within its limits.
///
/// The layers before the route have already checked host, origin and key, so this does not check them again: a second
/// check could only contradict the first.
pub async fn answer(mcp: Mcp, request: Request) -> Response {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service =
        StreamableHttpService::new(move || Ok(mcp.clone()), Arc::<NeverSessionManager>::default(), config);
    service.handle(request).await.map(Body::new)
}
