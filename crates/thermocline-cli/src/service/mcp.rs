//! `thermocline mcp`: MCP on standard input and output.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use thermocline::Config;
use thermocline_server::{
    caller::{Caller, Users},
    mcp::{self, ToolProfile, Toolbox},
    ops::call::check_user_name,
};

use crate::{
    exit::Failure,
    find::Db,
    service::{io_failure, open, runtime},
};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The user whose memory is used: a name, or id: followed by an id. Added when something is first saved.
    #[arg(long, value_parser = user_name)]
    user: String,

    /// Which tools the model sees.
    #[arg(long, value_enum, default_value_t, value_name = "PROFILE")]
    tools: Tools,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Tools {
    /// Six tools, for turns, facts and memories.
    #[default]
    Core,
    /// A separate tool for most operations on sessions, turns and facts, and those of core that save and change memories.
    Full,
    /// The tools of full that only read.
    Readonly,
    /// Sixteen tools, for memories.
    Knowledge,
}

fn user_name(text: &str) -> Result<String, String> {
    check_user_name(text).map(|()| text.to_owned()).map_err(|problem| problem.detail)
}

pub(crate) fn run(db: &Db, args: &McpArgs) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let service = open(db, Config::default()).await?;
        let memory = service.memory.clone();
        let profile = match args.tools {
            Tools::Core => ToolProfile::Core,
            Tools::Full => ToolProfile::Full,
            Tools::Readonly => ToolProfile::Readonly,
            Tools::Knowledge => ToolProfile::Knowledge,
        };
        // The person who starts this has access to the file, and gives a model access to one user's memory.
        let caller = Caller { users: Users::One(args.user.clone()), ..Caller::local() };
        let server = Toolbox::new(service).server(profile, Arc::new(caller), args.user.as_str());
        mcp::serve_stdio(server).await.map_err(io_failure)?;
        Ok(memory.close().await?)
    })
}
