//! Builds a server from its settings, refuses settings that would let strangers in, and runs it.

use std::{fmt, future::Future, io, net::SocketAddr, sync::Arc};

use thermocline::Thermocline;
use tokio::net::lookup_host;

use crate::{
    audit::Audit,
    caller::Caller,
    health::ServerHealth,
    http::{self, Address, Callers, Guard, Http, Listener, check_origin},
    keys::Keys,
    limits::Limits,
    metrics::Metrics,
    service::Service,
    settings::{ServiceSettings, Settings},
    tls::Tls,
};

/// A server whose socket is open; [`run`](Self::run) serves it.
#[derive(Debug)]
pub struct Server {
    http: Arc<Http>,
    listener: Listener,
    address: Address,
    tls: Option<Tls>,
}

/// Why a server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to stop.
    Told,
    /// The file's writer is dead; the process's supervisor should start a new process.
    Broken,
}

/// Why a server refuses to start.
#[derive(Debug)]
pub struct Refusal(String);

const UNIX: &str = "unix:";

/// Builds the service for this memory with these settings.
///
/// Errors: the audit file cannot be opened, or the backup folder is not an existing folder.
pub fn service(memory: Thermocline, settings: &Settings, metrics: Arc<Metrics>) -> Result<Service, Refusal> {
    let audit = settings.service.audit.as_deref().map(Audit::open).transpose();
    let audit = audit.map_err(|error| Refusal(format!("the audit file cannot be opened: {error}")))?;
    let backup_folder = settings.service.backup_folder.clone();
    if let Some(folder) = backup_folder.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Refusal(format!("backup_folder is not a folder: {}; create it first", folder.display())));
    }
    let limits = Limits::new(settings.memory.readers);
    let mut service = Service::new(memory);
    service.audit = audit;
    service.backup_folder = backup_folder;
    service.limits = limits;
    service.metrics = metrics;
    Ok(service)
}

impl Server {
    /// Starts listening.
    ///
    /// Errors: the key file or the certificate cannot be used; the address cannot be listened on; the settings need a key
    /// that has not expired, and there is none; or keys would cross the network unencrypted.
    pub async fn start(service: Arc<Service>, settings: &ServiceSettings) -> Result<Self, Refusal> {
        let keys = settings.keys.as_deref().map(Keys::open).transpose();
        let keys = keys.map_err(|error| Refusal(error.to_string()))?.map(Arc::new);
        let tls = tls(settings)?;
        let has_keys = keys.as_ref().and_then(|keys| keys.count()).is_some_and(|count| count > 0);
        let listener = listener(settings, has_keys, tls.clone()).await?;
        let address = listener.address().map_err(|error| cannot_listen(settings, &error))?;
        let health = Arc::new(ServerHealth::new(Arc::clone(&service), keys.clone()));
        let mut guard = Guard {
            allowed_hosts: settings.allowed_hosts.clone(),
            allowed_origins: settings.allowed_origins.clone(),
        };
        // The server's own IP address is safe to allow: DNS rebinding needs a name.
        if let Address::Tcp(address) = address {
            guard.allowed_hosts.push(address.to_string());
        }
        let callers = keys.map_or_else(|| Callers::Local(Arc::new(Caller::local())), Callers::Keys);
        let http = Http {
            service,
            callers,
            guard,
            is_behind_proxy: settings.behind_proxy,
            max_body_bytes: settings.max_body_bytes,
            max_import_bytes: settings.max_import_bytes,
            run: format!("{:08x}", getrandom::u32().unwrap_or_default()),
            health,
        };
        Ok(Self { http: Arc::new(http), listener, address, tls })
    }

    /// The address where the server listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The TLS configuration, which can reload the certificate.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// Serves until `end` completes or the file's writer is dead, then gives running requests 10 s to finish. The memory
    /// stays open.
    pub async fn run(self, end: impl Future<Output = ()>) -> Ended {
        let health = Arc::clone(&self.http.health);
        // Started now: otherwise the first record would wait for this, for up to a second, and others would queue after
        // it.
        let memory = self.http.service.memory.clone();
        tokio::spawn(async move { memory.ready().await });
        let mut ended = Ended::Told;
        let either = async {
            tokio::select! {
                () = end => {}
                () = health.broken() => {
                    tracing::error!("nothing can be written any more; restart the server to reopen the file");
                    ended = Ended::Broken;
                }
            }
        };
        let service = Arc::clone(&self.http.service);
        http::serve(self.http, self.listener, either).await;
        service.write_refusals(true);
        ended
    }
}

async fn listener(settings: &ServiceSettings, has_keys: bool, tls: Option<Tls>) -> Result<Listener, Refusal> {
    if settings.require_key && !has_keys {
        return Err(no_keys("require_key is set"));
    }
    if settings.keys.is_some() && !has_keys {
        return Err(no_keys("the key file is empty"));
    }
    if (settings.behind_proxy || !settings.allowed_hosts.is_empty()) && !has_keys {
        return Err(no_keys("behind_proxy or allowed_hosts lets other machines reach it"));
    }
    settings.allowed_origins.iter().try_for_each(|origin| check_origin(origin)).map_err(Refusal)?;
    if !settings.allowed_origins.is_empty() && !has_keys {
        return Err(no_keys("allowed_origins lets the pages of other sites write"));
    }
    if let Some(path) = settings.listen.strip_prefix(UNIX) {
        #[cfg(unix)]
        return Listener::unix(path.into()).map_err(|error| cannot_listen(settings, &error));
        #[cfg(not(unix))]
        return Err(Refusal(format!("this system has no Unix sockets: {path}")));
    }
    let addresses = lookup_host(&settings.listen).await.map_err(|error| cannot_listen(settings, &error))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    let is_loopback = addresses.iter().all(|address| address.ip().is_loopback());
    if !is_loopback && !has_keys {
        return Err(no_keys("other machines could reach it"));
    }
    if !is_loopback && tls.is_none() && !settings.behind_proxy {
        return Err(Refusal(
            "other machines could reach it, and keys would cross the network unencrypted: set tls_cert and \
             tls_key, or behind_proxy if a proxy in front speaks TLS"
                .to_owned(),
        ));
    }
    Listener::tcp(&addresses, tls).map_err(|error| cannot_listen(settings, &error))
}

fn tls(settings: &ServiceSettings) -> Result<Option<Tls>, Refusal> {
    match (&settings.tls_cert, &settings.tls_key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Tls::open(cert, key)
            .map(Some)
            .map_err(|error| Refusal(format!("the certificate cannot be used: {error}"))),
        _ => Err(Refusal("tls_cert and tls_key go together; set both".to_owned())),
    }
}

fn no_keys(why: &str) -> Refusal {
    Refusal(format!(
        "{why}, and there is no key: make one with `thermocline key add`, and name its file in keys"
    ))
}

fn cannot_listen(settings: &ServiceSettings, error: &io::Error) -> Refusal {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "; is another server running there? `thermocline health` asks it",
        _ => "",
    };
    Refusal(format!("cannot listen on {}: {error}{hint}", settings.listen))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
