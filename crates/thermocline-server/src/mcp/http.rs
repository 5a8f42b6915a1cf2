//! MCP over HTTP: each request is answered on its own, and nothing about it is remembered.

use std::sync::Arc;

use axum::{body::Body, extract::Request, response::Response};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::mcp::Mcp;

/// Answers a request whose body is a message that was read within its limits.
///
/// Host, origin and key have already been checked by the guard that every route shares; a second check here could only
/// contradict it.
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
