//! `thermocline serve`: HTTP.

use clap::Args;
use thermocline_server::{server::Server, settings::ServiceSettings};
use tokio::signal;

use crate::{
    exit::{Exit, Failure},
    find::Db,
    output::Output,
    service::{open, runtime},
};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on.
    #[arg(long, default_value = "127.0.0.1:7411", value_name = "ADDRESS")]
    listen: String,
}

pub(crate) fn run(db: &Db, args: &ServeArgs, out: &Output) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let service = open(db).await?;
        let memory = service.memory.clone();
        let settings = ServiceSettings { listen: args.listen.clone(), ..ServiceSettings::default() };
        let server = Server::start(service, &settings).await;
        let server = server.map_err(|refusal| Failure::new(Exit::FileUnusable, refusal.to_string()))?;
        out.talk(&format!("listening on {}", server.address()));
        let end = async {
            let _ = signal::ctrl_c().await;
        };
        server.run(end).await;
        Ok(memory.close().await?)
    })
}
