//! Where the server listens: it never opens an address that its operator believes to be closed.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
};

use thermocline_server::{http::Address, settings::ServiceSettings};

use crate::fixture::{Setup, server, whole_key};

#[track_caller]
fn check_refused(setup: Setup, why: &str) {
    let Err(refusal) = setup.try_start() else { panic!("it starts") };
    assert!(refusal.to_string().contains(why), "{refusal}");
}

fn changed(change: impl FnOnce(&mut ServiceSettings)) -> Setup {
    let mut setup = Setup::default();
    change(&mut setup.settings);
    setup
}

fn with_key(change: impl FnOnce(&mut ServiceSettings)) -> Setup {
    let (mut setup, [_]) = Setup::default().keys([whole_key()]);
    change(&mut setup.settings);
    setup
}

#[test]
fn other_addresses_need_a_key_and_tls_or_a_proxy() {
    let everywhere = |settings: &mut ServiceSettings| "0.0.0.0:0".clone_into(&mut settings.listen);
    check_refused(changed(everywhere), "there is no key");
    check_refused(
        changed(|settings| (everywhere(settings), settings.behind_proxy = true).1),
        "there is no key",
    );
    check_refused(with_key(everywhere), "unencrypted");
    drop(with_key(|settings| (everywhere(settings), settings.behind_proxy = true).1).start());
    check_refused(changed(|settings| settings.require_key = true), "require_key");
    check_refused(changed(|settings| settings.behind_proxy = true), "there is no key");
    let named = |settings: &mut ServiceSettings| settings.allowed_hosts.push("memory.example.org".to_owned());
    check_refused(changed(named), "there is no key");
    drop(with_key(named).start());
}

#[test]
fn a_key_file_that_is_not_there_or_not_understood_or_not_ours_alone_is_a_refusal_to_start() {
    let with_file = |text: Option<&str>, mode: u32| {
        let mut setup = Setup::default();
        let path = setup.path("keys.toml");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        setup.settings.keys = Some(path);
        setup
    };
    check_refused(with_file(None, 0), "cannot be read");
    check_refused(with_file(Some("nonsense"), 0o600), "cannot be parsed");
    check_refused(with_file(Some("[[key]]\nid = \"a\"\nsecret = \"s\""), 0o600), "cannot be parsed");
    check_refused(with_file(Some(""), 0o644), "chmod 600");
    check_refused(with_file(Some(""), 0o600), "there is no key");
    let (setup, [_]) = Setup::default().keys([whole_key()]);
    let text = fs::read_to_string(setup.path("keys.toml")).unwrap();
    let twice = format!("{text}\n{}", &text[text.find("[[key]]").unwrap()..]);
    check_refused(with_file(Some(&twice), 0o600), "two keys");
}

#[test]
fn a_second_server_at_the_same_address_says_so() {
    let first = server();
    let Address::Tcp(address) = first.address else { panic!("on TCP") };
    check_refused(changed(|settings| settings.listen = address.to_string()), "another server");
}

#[test]
fn a_socket_in_the_file_system_is_its_owners_alone() {
    let mut setup = Setup::default();
    let path = setup.path("socket");
    setup.settings.listen = format!("unix:{}", path.display());
    let mut server = setup.start();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    check_refused(changed(|settings| settings.listen = format!("unix:{}", path.display())), "another server");
    server.wait();
    assert!(!path.exists());
}

#[test]
fn a_socket_that_a_killed_server_left_is_replaced_and_another_file_is_not() {
    let mut setup = Setup::default();
    let path = setup.path("socket");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    setup.settings.listen = format!("unix:{}", path.display());
    drop(setup.start());
    let mut setup = Setup::default();
    let path = setup.path("file");
    fs::write(&path, "a file").unwrap();
    setup.settings.listen = format!("unix:{}", path.display());
    check_refused(setup, "cannot listen");
}
