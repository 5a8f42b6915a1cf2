//! What a server is told.

use std::path::PathBuf;

/// The section `[service]`.
#[derive(Clone, Debug)]
pub struct ServiceSettings {
    /// `127.0.0.1:7411`, or `unix:` and a path.
    pub listen: String,
    /// The file of keys; none: whoever reaches the address may ask, so it has to be the loopback's.
    pub keys: Option<PathBuf>,
    /// Refuse to start without keys, on the loopback too.
    pub require_key: bool,
    /// Something in front speaks TLS.
    pub behind_proxy: bool,
    /// The certificate, and those above it.
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    pub tls_key: Option<PathBuf>,
    /// Names of this server beside those of the loopback.
    pub allowed_hosts: Vec<String>,
    /// Pages of other origins that may ask.
    pub allowed_origins: Vec<String>,
    /// Bytes of a body at most.
    pub max_body_bytes: usize,
    /// Bytes of an import at most.
    pub max_import_bytes: u64,
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
        }
    }
}
