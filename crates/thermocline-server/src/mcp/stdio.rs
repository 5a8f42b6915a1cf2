//! MCP on standard input and output, for one user and one client, until the input ends.

use std::io;

use rmcp::{ServiceExt, service::ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite, stdin, stdout};

use crate::mcp::Mcp;

/// Serves on standard input and output until the input ends. Requests received before that are still answered.
///
/// Nothing else in the process may write to standard output.
pub async fn serve_stdio(mcp: Mcp) -> io::Result<()> {
    serve(mcp, stdin(), stdout()).await
}

/// Serves like [`serve_stdio`], on any two streams: one message per line.
pub async fn serve(
    mcp: Mcp,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let running = match mcp.serve((input, output)).await {
        Ok(running) => running,
        // The input ended before an initialization: the client sent nothing, or only asked what there is.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}
