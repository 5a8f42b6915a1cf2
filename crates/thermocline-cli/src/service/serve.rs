//! `thermocline serve`: HTTP.

use std::sync::Arc;

use clap::Args;
use thermocline_server::{
    caller::Caller,
    http::{self, Http},
};
use tokio::{net::TcpListener, signal};

use crate::{
    exit::{Exit, Failure},
    find::Db,
    output::Output,
    service::{io_failure, open, runtime},
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
        let listener = TcpListener::bind(&args.listen).await.map_err(|error| {
            Failure::caused(Exit::FileUnusable, format!("cannot listen on {}", args.listen), error)
        })?;
        let address = listener.local_addr().map_err(io_failure)?;
        out.talk(&format!("listening on http://{address}"));
        let http = Http {
            service,
            local: Arc::new(Caller::local()),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: 8 << 20,
        };
        let end = async {
            let _ = signal::ctrl_c().await;
        };
        http::serve(Arc::new(http), listener, end).await.map_err(io_failure)?;
        Ok(memory.close().await?)
    })
}
