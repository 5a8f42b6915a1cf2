//! The section `[service]`: where the server listens, who may call it, and its limits.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The section `[service]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSettings {
    /// `127.0.0.1:7411`, or `unix:` and a path.
    pub listen: String,
    /// The key file; without one, anyone who reaches the address may call, so it has to be the loopback address.
    #[serde(with = "maybe")]
    pub keys: Option<PathBuf>,
    /// Refuse to start without keys, on the loopback too.
    pub require_key: bool,
    /// A proxy in front handles TLS.
    pub behind_proxy: bool,
    /// The certificate chain.
    #[serde(with = "maybe")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key.
    #[serde(with = "maybe")]
    pub tls_key: Option<PathBuf>,
    /// Host names of this server in addition to those of the loopback.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may send requests.
    pub allowed_origins: Vec<String>,
    /// The maximum size of a body, in bytes.
    pub max_body_bytes: usize,
    /// The maximum size of an import, in bytes.
    pub max_import_bytes: u64,
    /// The folder for backups; without one, they are refused.
    #[serde(with = "maybe")]
    pub backup_folder: Option<PathBuf>,
    /// The audit file; without one, none is kept.
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

/// A path as text; an empty one means none.
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
