//! MCP on standard input and output: one user, one client, until the input ends.

use std::io;

use rmcp::{ServiceExt, service::ServerInitializeError, transport::stdio};

use crate::mcp::Mcp;

/// Answers until the input ends. What was asked before that is answered still.
///
/// Nothing else of the process may write to the standard output.
pub async fn serve_stdio(mcp: Mcp) -> io::Result<()> {
    let running = match mcp.serve(stdio()).await {
        Ok(running) => running,
        // A client that said nothing, or only asked what there is.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}
