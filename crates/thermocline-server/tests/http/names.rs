//! A user's name in a URL is opaque, except that `id:` begins an id: whatever else it contains, it is only compared, and
//! never taken for a path.

use crate::fixture::{TURN, server};

fn encoded(name: &str) -> String {
    name.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"))
}

#[test]
fn every_name_is_a_user_of_its_own() {
    let server = server();
    let long = "x".repeat(256);
    let names =
        ["..", ".", "/", "a/b", "%2F", "a b", "Zoë 🛥", "שלום", "+", "?", "#", ";", "a\\b", "\"'<>", &long];
    for (number, name) in names.into_iter().enumerate() {
        let said = format!(r#"{{"user_message":"Nobody else said canary{number}."}}"#);
        let answer = server.post(&format!("/v1/users/{}/turns", encoded(name)), &said);
        assert_eq!(answer.status, 201, "{name}: {answer:?}");
    }
    for (number, name) in names.into_iter().enumerate() {
        let answer =
            server.post(&format!("/v1/users/{}/recall", encoded(name)), r#"{"query":"canary said"}"#);
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains(&format!("canary{number}.")), "{name}: {text}");
        assert_eq!(
            text.matches("Nobody else said canary").count(),
            text.matches(&format!("said canary{number}.")).count()
        );
    }
}

#[test]
fn names_that_are_none_are_refused() {
    let server = server();
    let check = |name: &str, status| {
        let answer = server.post(&format!("/v1/users/{name}/turns"), TURN);
        assert_eq!(answer.status, status, "{name}: {answer:?}");
    };
    check(&"x".repeat(257), 422);
    check("%00", 422);
    check("%ff%fe", 400);
    check("", 422);
    check("id:019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e", 201);
    check("id:alex", 422);
}

#[test]
fn a_query_is_for_addresses_that_take_one() {
    let server = server();
    assert_eq!(server.post("/v1/users/alex/turns?session=a", TURN).code(), "bad-request");
}
