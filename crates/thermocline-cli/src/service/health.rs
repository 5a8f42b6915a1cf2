//! `thermocline health`: asks a server whether it is ready, for container images without curl.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::{
    io::{self, Read, Write},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use serde_json::Value;
use thermocline_server::settings::ServiceSettings;
use ureq::{Agent, tls::TlsConfig};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    service::serve::{self, misused},
};

/// How long each step of the request may take.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The server's address: HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH [default: where the settings
    /// say that serve listens]. The certificate is not verified, because nothing secret is sent or read.
    #[arg(value_name = "ADDRESS")]
    address: Option<String>,

    /// The server's settings file [default: the one that serve reads].
    #[arg(long, value_name = "FILE", env = "THERMOCLINE_CONFIG")]
    config: Option<PathBuf>,
}

pub(crate) fn run(args: &HealthArgs, out: &Output) -> Result<(), Failure> {
    let address = if let Some(address) = &args.address {
        address.clone()
    } else {
        let (layers, _) = serve::stated(args.config.as_deref()).map_err(|wrong| misused(&wrong))?;
        listening(&layers.settings().map_err(|wrong| misused(&wrong))?.service)
    };
    let (is_ready, body) = ask(&address)
        .map_err(|error| Failure::caused(Exit::TryAgain, format!("{address} does not answer"), error))?;
    let said: Value = serde_json::from_str(body.trim()).unwrap_or_default();
    if !said["is_ready"].is_boolean() {
        return Err(Failure::new(Exit::TryAgain, format!("what answers at {address} is not thermocline")));
    }
    if is_ready {
        return out.answer(&said, |_| "ready\n".to_owned());
    }
    let reasons = said["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Err(Failure::new(Exit::Unhealthy, format!("not ready: {}", reasons.collect::<Vec<_>>().join(", "))))
}

/// Returns the address at which a server with these settings can be reached from its own machine.
fn listening(settings: &ServiceSettings) -> String {
    if settings.tls_cert.is_some() && !settings.listen.starts_with("unix:") {
        format!("https://{}", settings.listen)
    } else {
        settings.listen.clone()
    }
}

/// Returns whether the server says that it is ready, and the body of its response.
fn ask(address: &str) -> io::Result<(bool, String)> {
    #[cfg(unix)]
    if let Some(path) = address.strip_prefix("unix:") {
        let stream = std::os::unix::net::UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        return talk(stream);
    }
    let address = address.trim_end_matches('/');
    let url = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let tls = TlsConfig::builder().disable_verification(true).build();
    let agent = Agent::config_builder()
        .tls_config(tls)
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(PATIENCE))
        .build()
        .new_agent();
    let mut answer = agent.get(format!("{url}/health/ready")).call().map_err(ureq::Error::into_io)?;
    let is_ready = answer.status() == 200;
    let body =
        answer.body_mut().with_config().limit(64 << 10).read_to_string().map_err(ureq::Error::into_io)?;
    Ok((is_ready, body))
}

#[cfg(unix)]
fn talk(mut stream: impl Read + Write) -> io::Result<(bool, String)> {
    stream.write_all(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(64 << 10).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    Ok((head.starts_with("HTTP/1.1 200"), body.to_owned()))
}
