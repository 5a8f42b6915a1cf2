//! TLS, with a certificate that is replaced while the server runs.

use std::{fs, path::Path, sync::Arc};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use thermocline_server::tls::Tls;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer},
};

use crate::fixture::{Running, Setup};

/// Writes a new certificate and its key; returns the certificate, for a client to trust.
fn write(cert: &Path, key: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert: made, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(cert, made.pem()).unwrap();
    fs::write(key, signing_key.serialize_pem()).unwrap();
    #[cfg(unix)]
    fs::set_permissions(key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    made.der().clone()
}

/// Sends a request over TLS as a client that trusts only this certificate.
async fn ask(server: &Running, trusted: CertificateDer<'static>) -> std::io::Result<String> {
    let thermocline_server::http::Address::Tcp(address) = server.address else { panic!("on TCP") };
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let mut stream =
        TlsConnector::from(Arc::new(config)).connect(name, TcpStream::connect(address).await?).await?;
    stream.write_all(b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[test]
fn answers_come_over_tls_and_nothing_comes_without() {
    let mut setup = Setup::default();
    let (cert, key) = (setup.path("cert.pem"), setup.path("key.pem"));
    let trusted = write(&cert, &key);
    (setup.settings.tls_cert, setup.settings.tls_key) = (Some(cert), Some(key));
    let server = setup.start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(ask(&server, trusted)).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let mut plain = server.client();
    plain.write(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!((0..16).any(|_| plain.is_closed()), "an alert at most");
}

#[test]
fn a_certificate_that_cannot_be_read_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    write(&cert, &key);
    let tls = Tls::open(&cert, &key).unwrap();
    tls.reload().unwrap();
    fs::write(&cert, "no certificate").unwrap();
    assert!(tls.reload().is_err());
    write(&cert, &key);
    tls.reload().unwrap();
    write(&cert, &folder.path().join("another.pem"));
    assert!(tls.reload().is_err(), "of another key");
}

#[cfg(unix)]
#[test]
fn a_private_key_that_others_may_read_is_refused_at_the_start_and_later() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    write(&cert, &key);
    let tls = Tls::open(&cert, &key).unwrap();
    for mode in [0o640, 0o604, 0o660, 0o644] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        for refused in [Tls::open(&cert, &key).map(|_| ()), tls.reload()] {
            let why = refused.unwrap_err().to_string();
            assert!(why.contains(&format!("chmod 600 {}", key.display())), "{why}");
        }
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
    tls.reload().unwrap();
}
