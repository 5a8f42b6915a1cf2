//! `thermocline mcp`: MCP on standard input and output.

use std::sync::Arc;

use clap::Args;
use thermocline_server::{caller::Caller, mcp::Mcp};

use crate::{
    exit::Failure,
    find::Db,
    service::{io_failure, open, runtime},
};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Whose memory it is: a name, or id: and an id. Added with the first thing that is kept.
    #[arg(long)]
    user: String,
}

pub(crate) fn run(db: &Db, args: &McpArgs) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let service = open(db).await?;
        let memory = service.memory.clone();
        let mcp = Mcp { service, caller: Arc::new(Caller::local()), user: args.user.clone() };
        thermocline_server::mcp::serve_stdio(mcp).await.map_err(io_failure)?;
        Ok(memory.close().await?)
    })
}
