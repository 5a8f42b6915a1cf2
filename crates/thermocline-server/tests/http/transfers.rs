//! Export and import over HTTP: an import is complete or refused, and its size is limited. Turns that were imported are
//! exported as the same bytes.

use thermocline::Origin;
use thermocline_server::keys::New;

use crate::{
    client::Answer,
    fixture::{Running, Setup, TURN, whole_key},
};

fn started(change: impl FnOnce(&mut Setup)) -> (Running, String) {
    let users = New { origin: Origin::User, ..whole_key() }; // Only the user imports.
    let (mut setup, [key]) = Setup::default().keys([users]);
    change(&mut setup);
    (setup.start(), key)
}

fn ask(server: &Running, key: &str, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
    server.client().send(method, path, &[("x-api-key", key), ("content-type", kind)], body)
}

const LINES: &str = "application/x-ndjson";

#[test]
fn what_was_exported_is_imported_and_exported_the_same() {
    let (server, key) = started(|_| {});
    for number in 0..300 {
        let body = format!(r#"{{"session":"s","user_message":"{number} {}"}}"#, "words ".repeat(300));
        assert_eq!(
            ask(&server, &key, "POST", "/v1/users/alex/turns", "application/json", body.as_bytes()).status,
            201
        );
    }
    let exported = ask(&server, &key, "GET", "/v1/users/alex/export", "-", b"");
    assert_eq!((exported.status, exported.header("content-type")), (200, Some(LINES)));
    assert!(exported.body.len() > 500_000 && exported.body.ends_with(b"\n"), "{}", exported.body.len());
    assert!(String::from_utf8_lossy(&exported.body).lines().count() > 300);
    let (other, key) = started(|_| {});
    let imported = ask(&other, &key, "POST", "/v1/users/sam/import", LINES, &exported.body);
    assert_eq!(imported.status, 201, "{}", String::from_utf8_lossy(&imported.body));
    let again = ask(&other, &key, "GET", "/v1/users/sam/export", "-", b"");
    let turns = |body: &[u8]| {
        let text = String::from_utf8(body.to_vec()).unwrap();
        text.lines().filter(|line| line.contains("user_message")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(turns(&exported.body), turns(&again.body));
    let twice = ask(&other, &key, "POST", "/v1/users/sam/import", LINES, &exported.body);
    assert_eq!(twice.status, 409, "{}", String::from_utf8_lossy(&twice.body));
}

#[test]
fn an_import_is_lines_within_its_size_and_all_or_nothing() {
    let (server, key) = started(|setup| setup.settings.max_import_bytes = 100_000);
    let import = |kind: &str, body: &[u8]| ask(&server, &key, "POST", "/v1/users/alex/import", kind, body);
    assert_eq!(import("application/json", b"{}").code(), "unsupported-media");
    assert_eq!(import("-", b"{}").code(), "unsupported-media");
    assert_eq!(import(LINES, &vec![b'x'; 100_001]).code(), "too-large");
    assert_eq!(import(LINES, b"nonsense\n").status, 422);
    assert_eq!(import(LINES, b"").status, 422);
    assert_eq!(ask(&server, &key, "GET", "/v1/users/alex", "-", b"").status, 404, "nothing was added");
}

#[test]
fn a_client_that_does_not_read_its_export_holds_no_reader() {
    let (server, key) = started(|setup| setup.config.readers = 1);
    let big = format!(r#"{{"session":"s","user_message":"{}"}}"#, "words ".repeat(150_000));
    for _ in 0..10 {
        assert_eq!(
            ask(&server, &key, "POST", "/v1/users/alex/turns", "application/json", big.as_bytes()).status,
            201
        );
    }
    let mut slow = server.client();
    slow.write(
        format!("GET /v1/users/alex/export HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n\r\n")
            .as_bytes(),
    );
    for _ in 0..3 {
        let answer = ask(&server, &key, "POST", "/v1/users/alex/turns", "application/json", TURN.as_bytes());
        assert_eq!(answer.status, 201);
        assert_eq!(ask(&server, &key, "GET", "/v1/users/alex/sessions", "-", b"").status, 200);
    }
    let whole = slow.answer(false);
    assert!(whole.status == 200 && whole.body.len() > 9_000_000);
}
