//! TLS, with a certificate that can be replaced while the server runs.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
    server::TlsStream,
};

use crate::access::check_secret;

/// The TLS configuration. Clones share the certificate.
#[derive(Clone)]
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    config: Arc<RwLock<Arc<ServerConfig>>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("cert", &self.cert).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads a certificate chain and its private key from PEM files. On Unix, fails if anyone except its owner may read or
    /// write the key.
    pub fn open(cert: &Path, key: &Path) -> io::Result<Self> {
        let config = Arc::new(RwLock::new(read(cert, key)?));
        Ok(Self { cert: cert.to_owned(), key: key.to_owned(), config })
    }

    /// Reads both files again. On an error, the previous certificate and key stay in use.
    pub fn reload(&self) -> io::Result<()> {
        let config = read(&self.cert, &self.key)?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner));
        TlsAcceptor::from(config).accept(stream).await
    }
}

fn read(cert: &Path, key: &Path) -> io::Result<Arc<ServerConfig>> {
    let named = |path: &Path, error: &dyn fmt::Display| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
    };
    let certs = fs::read(cert).map_err(|error| named(cert, &error))?;
    let certs: Vec<_> = CertificateDer::pem_slice_iter(&certs)
        .collect::<Result<_, _>>()
        .map_err(|error| named(cert, &error))?;
    let mut file = File::open(key).map_err(|error| named(key, &error))?;
    let about = file.metadata().map_err(|error| named(key, &error))?;
    check_secret("the private key", key, &about)
        .map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
    let mut pem = Vec::new();
    file.read_to_end(&mut pem).map_err(|error| named(key, &error))?;
    let private = PrivateKeyDer::from_pem_slice(&pem).map_err(|error| named(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| named(cert, &error))?
        .with_no_client_auth()
        .with_single_cert(certs, private)
        .map_err(|error| named(cert, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
