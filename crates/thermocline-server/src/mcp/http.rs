//! MCP over HTTP: each request is answered for itself, and nothing is remembered of it.

use std::sync::Arc;

use axum::{body::Body, extract::Request, response::Response};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};

use crate::mcp::Mcp;

/// Answers a request whose body is a message, and was read within its bounds.
///
/// Host, origin and key were looked at before, by the one guard that every route has; a second list here could only contradict
/// it.
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
