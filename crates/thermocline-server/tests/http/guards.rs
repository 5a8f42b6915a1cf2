//! What the server checks before anything else: it refuses foreign hosts and pages, heads that are too large or too
//! slow, and unknown addresses and methods.

use crate::{
    client::Client,
    fixture::{Setup, TURN, server, whole_key},
};

const JSON: (&str, &str) = ("content-type", "application/json");
const TURNS: &str = "/v1/users/alex/turns";

#[test]
fn foreign_requests_are_refused_on_the_loopback_too_and_write_nothing() {
    let server = server();
    for header in [
        ("host", "evil.example"),
        ("host", "localhost.evil.example:7411"),
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let answer = server.client().send("POST", TURNS, &[JSON, header], TURN.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (403, "foreign-request"), "{header:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let recalled = server.post("/v1/users/alex/recall", r#"{"query":"boat"}"#).json();
    assert_eq!(recalled["turns"].as_array().map_or(0, Vec::len), 0, "{recalled}");
    for path in ["/openapi.json", "/version", "/errors", "/no/such"] {
        assert_eq!(server.client().send("GET", path, &[("host", "evil.example")], b"").status, 403, "{path}");
    }
}

#[test]
fn who_probes_may_call_the_machine_by_any_name() {
    for path in ["/health/live", "/health/ready"] {
        assert_eq!(server().client().send("GET", path, &[("host", "10.0.0.7:7411")], b"").status, 200);
    }
}

#[test]
fn a_page_of_our_own_may_ask_and_one_that_is_allowed_is_told_so_without_credentials() {
    let (mut setup, [key]) = Setup::default().keys([whole_key()]);
    setup.settings.allowed_origins = vec!["https://page.example.org".to_owned()];
    let server = setup.start();
    let key = ("x-api-key", key.as_str());
    let own = [JSON, key, ("host", "localhost:7411"), ("origin", "http://localhost:7411")];
    let answer = server.client().send("POST", TURNS, &own, TURN.as_bytes());
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (201, None));
    let page = ("origin", "https://page.example.org");
    let answer = server.client().send("POST", TURNS, &[JSON, key, page], TURN.as_bytes());
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (201, Some(page.1)));
    assert_eq!(
        (answer.header("vary"), answer.header("access-control-allow-credentials")),
        (Some("origin"), None)
    );
    let asked = [page, ("access-control-request-method", "POST")];
    let answer = server.client().send("OPTIONS", TURNS, &asked, b"");
    assert_eq!(answer.status, 204, "{answer:?}");
    assert!(answer.header("access-control-allow-headers").unwrap().contains("authorization"));
}

#[test]
fn pages_of_other_sites_are_let_in_only_where_keys_are_needed_and_never_all_of_them() {
    let start = |origin: &str, has_keys: bool| {
        let mut setup = Setup::default();
        if has_keys {
            (setup, _) = setup.keys([whole_key()]);
        }
        setup.settings.allowed_origins = vec!["https://page.example.org".to_owned(), origin.to_owned()];
        setup.try_start().map(drop).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(start("https://other.example.org", true), Ok(()));
    let why = start("https://other.example.org", false).unwrap_err();
    assert!(why.contains("allowed_origins") && why.contains("key add"), "{why}");
    for origin in ["*", "null", "https://page.example.org/", "page.example.org"] {
        for has_keys in [true, false] {
            let why = start(origin, has_keys).unwrap_err();
            assert!(why.contains(&format!("{origin:?}")), "{why}");
        }
    }
}

#[test]
fn a_head_is_not_too_large_and_comes_soon() {
    let server = server();
    let long = "x".repeat(20_000);
    let answer = server.client().send("GET", "/version", &[("x-long", &long)], b"");
    assert_eq!(answer.status, 431);
    let mut slow = server.client();
    slow.write(b"GET /version HTTP/1.1\r\nHost: localhost\r\n");
    let begun = tokio::time::Instant::now();
    assert!(slow.try_answer(false).is_none_or(|answer| answer.status == 408));
    assert!((14..25).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

#[test]
fn a_trace_is_taken_up_and_returned() {
    let server = server();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let answer = server.client().send("GET", "/no/such", &[("traceparent", trace)], b"");
    assert_eq!(answer.header("x-request-id"), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
    assert_eq!((answer.header("traceparent"), answer.code().as_str()), (Some(trace), "no-such-route"));
    let [first, second] = [(); 2].map(|()| server.get("/version").header("x-request-id").unwrap().to_owned());
    assert_ne!(first, second);
}

#[test]
fn addresses_and_methods_that_are_not_there_are_problems() {
    let server = server();
    assert_eq!(server.get("/v1/users/alex/nothing").code(), "no-such-route");
    let answer = server.client().send("DELETE", "/v1/users/alex/recall", &[], b"");
    assert_eq!(
        (answer.status, answer.code().as_str(), answer.header("allow")),
        (405, "no-such-method", Some("POST"))
    );
    let answer = server.client().send("HEAD", "/version", &[], b"");
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert_eq!(server.client().send("TRACE", "/version", &[], b"").status, 405);
}

#[test]
fn requests_of_one_connection_are_answered_in_their_order_however_they_come() {
    let server = server();
    let mut client: Client = server.client();
    let one = format!(
        "POST {TURNS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{TURN}",
        TURN.len()
    );
    client.write(format!("{one}GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n{one}").as_bytes());
    let statuses = [(); 3].map(|()| client.answer(false).status);
    assert_eq!(statuses, [201, 200, 201]);
}
