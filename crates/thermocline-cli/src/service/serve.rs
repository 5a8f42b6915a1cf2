//! `thermocline serve`: runs a server for HTTP and MCP.
#![allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    reason = "the comments are the help, which shows no Markdown"
)]

use std::{
    env,
    future::Future,
    io,
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use clap::Args;
use thermocline::Thermocline;
use thermocline_server::{
    handles,
    limits::Limits,
    log,
    metrics::Metrics,
    server::{self, Ended, Refusal, Server},
    settings::{Layers, Settings, Wrong, own_file},
};
use tokio::runtime;

use crate::{
    exit::{Exit, Failure},
    find::Db,
    output::Output,
    sensor_file::SensorArgs,
    service::{configured, io_failure},
};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address and port to listen on, or unix:PATH [default: 127.0.0.1:7411].
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// The key file, as created by `thermocline key`; with it, every request needs a key.
    #[arg(long, value_name = "FILE")]
    keys: Option<String>,

    /// Refuse to start without keys.
    #[arg(long)]
    require_key: bool,

    /// A proxy in front of this server handles TLS.
    #[arg(long)]
    behind_proxy: bool,

    /// The certificate chain, PEM; read again on SIGHUP.
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,

    /// The certificate's private key, PEM.
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,

    /// A host name of this server in addition to localhost.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,

    /// An origin whose pages may send requests: https://example.org
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Write a line of JSON for each operation that changes, destroys or administers, and for each call that is beyond a
    /// key's rights or rate. A request without a valid key, and one that is refused because the server is busy, has a line
    /// in the log alone.
    #[arg(long, value_name = "FILE")]
    audit: Option<String>,

    /// The folder for backups.
    #[arg(long, value_name = "FOLDER")]
    backup_folder: Option<String>,

    /// Any other setting: memory.hot_turns=7
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,

    /// The settings file [default: thermocline/thermocline.toml in your configuration folder, if it exists: below
    /// $XDG_CONFIG_HOME or ~/.config]. A file in the working directory is not read.
    #[arg(long, value_name = "FILE", env = "THERMOCLINE_CONFIG")]
    config: Option<PathBuf>,

    /// Print all settings and where each came from, and do nothing else.
    #[arg(long)]
    print_config: bool,

    #[command(flatten)]
    sensors: SensorArgs,
}

pub(crate) fn run(db: &Db, args: &ServeArgs, out: &Output) -> Result<(), Failure> {
    let (layers, file) = layers(args).map_err(|wrong| misused(&wrong))?;
    let settings = layers.settings().map_err(|wrong| misused(&wrong))?;
    if args.print_config {
        return out.answer(&settings, |_| layers.shown());
    }
    out.talk(&match file {
        Some(path) => format!("settings: {}", path.display()),
        None => "settings: no file".to_owned(),
    });
    db.check_writable()?;
    let format = settings.log.format.parse().map_err(Failure::refused)?;
    log::begin(format, &settings.log.level, io::stderr).map_err(Failure::refused)?;
    handles::raise();
    let metrics = Arc::new(Metrics::default());
    let mut config = args.sensors.add_served_to(configured(&settings)?)?;
    config.on_event = metrics.on_event();
    let threads = Limits::threads(settings.memory.readers);
    let runtime = runtime::Builder::new_multi_thread().max_blocking_threads(threads).enable_all().build();
    runtime.map_err(io_failure)?.block_on(async {
        let memory = Thermocline::open_with(&db.path, config).await?;
        let served = serve(memory.clone(), &settings, metrics, out).await;
        let closed = memory.close().await;
        match served? {
            Ended::Told => Ok(closed?),
            Ended::Broken => Err(Failure::new(
                Exit::Unexpected,
                "the thread that writes the file died; restart the server to reopen the file",
            )),
        }
    })
}

async fn serve(
    memory: Thermocline,
    settings: &Settings,
    metrics: Arc<Metrics>,
    out: &Output,
) -> Result<Ended, Failure> {
    let service = server::service(memory, settings, metrics).map_err(refused)?;
    let server = Server::start(Arc::new(service), &settings.service).await.map_err(refused)?;
    let end = told_to_end(&server).map_err(io_failure)?;
    let address = server.address().to_string();
    let address = match server.tls() {
        Some(_) => address.replacen("http:", "https:", 1),
        None => address,
    };
    out.talk(&format!("listening on {address}"));
    Ok(server.run(end).await)
}

/// Returns the settings from the file and the environment, and the file that was read.
pub(super) fn stated(config: Option<&Path>) -> Result<(Layers, Option<PathBuf>), Wrong> {
    let mut layers = Layers::new();
    let file = config
        .map(Path::to_owned)
        .or_else(|| own_file().filter(|path| !matches!(path.try_exists(), Ok(false))));
    file.as_deref().map_or(Ok(()), |path| layers.file(path))?;
    layers.environment(
        env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )?;
    Ok((layers, file))
}

fn layers(args: &ServeArgs) -> Result<(Layers, Option<PathBuf>), Wrong> {
    let (mut layers, file) = stated(args.config.as_deref())?;
    let named = [
        ("service.listen", &args.listen),
        ("service.keys", &args.keys),
        ("service.tls_cert", &args.tls_cert),
        ("service.tls_key", &args.tls_key),
        ("service.audit", &args.audit),
        ("service.backup_folder", &args.backup_folder),
    ];
    for (name, value) in named {
        value.as_ref().map_or(Ok(()), |value| layers.flag(name, value))?;
    }
    let switches = [("service.require_key", args.require_key), ("service.behind_proxy", args.behind_proxy)];
    for (name, _) in switches.into_iter().filter(|(_, is_set)| *is_set) {
        layers.flag(name, "true")?;
    }
    let lists =
        [("service.allowed_hosts", &args.allow_host), ("service.allowed_origins", &args.allow_origin)];
    for (name, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
        layers.flag(name, &values.join(","))?;
    }
    for set in &args.set {
        let (name, value) = set.split_once('=').unwrap_or((set, ""));
        layers.flag(name, value)?;
    }
    Ok((layers, file))
}

/// Completes when a signal asks the process to end; a second signal ends it at once. SIGHUP reloads the certificate.
#[cfg(unix)]
fn told_to_end(server: &Server) -> io::Result<impl Future<Output = ()> + use<>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hangup = signal(SignalKind::hangup())?;
    let tls = server.tls().cloned();
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = hangup.recv() => if let Some(Err(error)) = tls.as_ref().map(|tls| tls.reload()) {
                    tracing::error!(%error, "the previous certificate stays in use");
                },
            }
        }
        tracing::info!("stopping: running requests finish first; a second signal stops at once");
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            process::exit(Exit::Unexpected as i32);
        });
    })
}

#[cfg(not(unix))]
fn told_to_end(_: &Server) -> io::Result<impl Future<Output = ()> + use<>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        tokio::spawn(async {
            let _ = tokio::signal::ctrl_c().await;
            process::exit(Exit::Unexpected as i32);
        });
    })
}

pub(super) fn misused(wrong: &Wrong) -> Failure {
    Failure::new(Exit::Misused, wrong.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn refused(refusal: Refusal) -> Failure {
    Failure::new(Exit::Refused, refusal.to_string())
}
