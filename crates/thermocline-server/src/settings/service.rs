//! The section `[service]`: where the server listens, who may call it, and its limits.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The section `[service]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSettings {
    /// The address to listen on: a host and port, by default `127.0.0.1:7411`, or `unix:` and a path.
    pub listen: String,
    /// The key file. Without one, anyone who reaches the server may call, so `listen` has to be a loopback address or a Unix
    /// socket.
    #[serde(with = "maybe")]
    pub keys: Option<PathBuf>,
    /// Whether to refuse to start without keys, even on a loopback address or a Unix socket.
    pub require_key: bool,
    /// Whether a proxy in front of the server handles TLS.
    pub behind_proxy: bool,
    /// The certificate chain, as a PEM file.
    #[serde(with = "maybe")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, as a PEM file.
    #[serde(with = "maybe")]
    pub tls_key: Option<PathBuf>,
    /// Host names of this server in addition to those of the loopback address.
    pub allowed_hosts: Vec<String>,
    /// Origins whose web pages may send requests.
    pub allowed_origins: Vec<String>,
    /// The maximum size of a request body other than an import, in bytes.
    pub max_body_bytes: usize,
    /// The maximum size of an import, in bytes.
    pub max_import_bytes: u64,
    /// The folder for backups; if `None`, backups are refused.
    #[serde(with = "maybe")]
    pub backup_folder: Option<PathBuf>,
    /// The audit file; if `None`, no audit log is kept.
    #[serde(with = "maybe")]
    pub audit: Option<PathBuf>,
}

impl Default for ServiceSettings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7411".to_owned(),
            keys: None,
            require_key: false,
            behind_proxy: false,
            tls_cert: None,
            tls_key: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: 8 << 20,
            max_import_bytes: 256 << 20,
            backup_folder: None,
            audit: None,
        }
    }
}

/// Serializes an optional path as text; `None` is the empty text.
mod maybe {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer, ser::Error};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        match path {
            None => to.serialize_str(""),
            Some(path) => {
                to.serialize_str(path.to_str().ok_or_else(|| S::Error::custom("a path is not UTF-8"))?)
            }
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        let text = String::deserialize(from)?;
        Ok(if text.is_empty() { None } else { Some(text.into()) })
    }
}
