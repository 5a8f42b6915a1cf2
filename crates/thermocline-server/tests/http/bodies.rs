//! A body must be JSON and complete, and within the limits on size and time.

use crate::fixture::{Setup, TURN, server};

const TURNS: &str = "/v1/users/alex/turns";

#[track_caller]
fn check(body: &[u8], headers: &[(&str, &str)], status: u16, code: &str) {
    let server = server();
    let mut client = server.client();
    let answer = client.send("POST", TURNS, headers, body);
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{headers:?}");
    assert!(client_goes_on(&mut client), "{headers:?}");
}

/// Whether the connection has ended, or the server answers its next request correctly.
fn client_goes_on(client: &mut crate::client::Client) -> bool {
    client.write(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.try_answer(false).is_none_or(|answer| answer.status == 200)
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn what_is_no_json_object_is_refused() {
    for body in [
        "",
        "[]",
        "text",
        "{",
        r#"{"user_message":"a","user_message":"b"}"#,
        r#"{"user_message":"a","metadata":{"x":{"y":1,"y":2}}}"#,
        r#"{"user_message":"\ud800"}"#,
        r#"{"user_message":1}"#,
        r#"{"user_message":"a","no_such":1}"#,
    ] {
        check(body.as_bytes(), &[JSON], 400, "bad-request");
    }
    check(b"{\"user_message\":\"\xff\"}", &[JSON], 400, "bad-request");
    let deep = format!("{{\"metadata\":{{\"a\":{}{}}}}}", "[".repeat(500), "]".repeat(500));
    check(deep.as_bytes(), &[JSON], 400, "bad-request");
}

#[test]
fn what_says_that_it_is_something_else_is_refused() {
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
    ] {
        check(TURN.as_bytes(), &[("content-type", kind)], 415, "unsupported-media");
        check(b"", &[("content-type", kind)], 415, "unsupported-media");
    }
    check(TURN.as_bytes(), &[], 415, "unsupported-media");
    check(TURN.as_bytes(), &[JSON, ("content-encoding", "gzip")], 415, "unsupported-media");
    check(TURN.as_bytes(), &[JSON, JSON, ("content-type", "text/plain")], 415, "unsupported-media");
    let server = server();
    let kind = ("content-type", "application/json; charset=utf-8");
    assert_eq!(server.client().send("POST", TURNS, &[kind], TURN.as_bytes()).status, 201);
}

#[test]
fn nul_is_text_that_is_refused_and_a_whole_float_is_an_integer() {
    check(br#"{"user_message":"a\u0000b"}"#, &[JSON], 422, "invalid-input");
    let server = server();
    assert_eq!(server.post("/v1/users/alex/recall", r#"{"query":"boat","k":3.0}"#).status, 200);
    assert_eq!(server.post("/v1/users/alex/recall", r#"{"query":"boat","k":3.5}"#).code(), "bad-request");
}

#[test]
fn a_body_that_is_too_large_is_refused_whether_it_says_so_or_not() {
    let server = {
        let mut setup = Setup::default();
        setup.settings.max_body_bytes = 10_000;
        setup.start()
    };
    let body = format!(r#"{{"user_message":"{}"}}"#, "x".repeat(20_000));
    let answer = server.client().send("POST", TURNS, &[JSON], body.as_bytes());
    assert_eq!((answer.status, answer.code().as_str()), (413, "too-large"));
    let mut chunked = server.client();
    chunked.write(format!("POST {TURNS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes());
    for _ in 0..20 {
        chunked.write(format!("3e8\r\n{}\r\n", "x".repeat(1_000)).as_bytes());
    }
    assert_eq!(chunked.answer(false).code(), "too-large");
    let mut huge = server.client();
    huge.write(format!("POST {TURNS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n").as_bytes());
    assert_eq!(huge.answer(false).status, 413, "before anything was sent");
}

#[test]
fn a_body_of_a_mebibyte_of_escapes_is_recorded() {
    let server = server();
    let body = format!(r#"{{"user_message":"{}"}}"#, "\\u0041".repeat(1 << 20));
    let answer = server.post(TURNS, &body);
    assert_eq!(answer.status, 201, "{:?}", answer.headers);
}

#[test]
fn a_body_that_stops_coming_is_given_up() {
    let server = server();
    let mut client = server.client();
    client.write(format!("POST {TURNS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{").as_bytes());
    assert_eq!(client.answer(false).code(), "slow-body");
    assert!(client.is_closed());
}
