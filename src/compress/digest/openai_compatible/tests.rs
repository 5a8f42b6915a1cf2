//! Tests the client against a scripted endpoint on this machine.

use std::{net::TcpListener, time::Duration};

use super::*;
use crate::{
    endpoint::scripted::{Scripted, ScriptedStep, status},
    error::ErrorKind,
};

fn ok(content: &str) -> ScriptedStep {
    ScriptedStep::Answer(
        200,
        json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string(),
    )
}

fn prompt() -> ChatPrompt {
    ChatPrompt {
        system: "Be brief.".into(),
        user: "pottery".into(),
        answer_schema: "{\"type\":\"object\"}".into(),
    }
}

/// Long enough for a loaded machine if an answer comes, and never fully waited for.
const PATIENT: Duration = Duration::from_secs(30);

/// Checks the result of one call and that every step was taken; returns the requests.
#[track_caller]
fn check(steps: Vec<ScriptedStep>, expected: std::result::Result<&str, ErrorKind>) -> Vec<String> {
    check_within(PATIENT, steps, expected)
}

#[track_caller]
fn check_within(
    timeout: Duration,
    steps: Vec<ScriptedStep>,
    expected: std::result::Result<&str, ErrorKind>,
) -> Vec<String> {
    let endpoint = Scripted::new(steps);
    let model = OpenAiCompatible::new(&endpoint.url, "m").unwrap().api_key("sk-secret").timeout(timeout);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(model.complete(&prompt()));
    if let Err(error) = &result {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret") && !shown.contains("pottery"), "{shown}");
    }
    assert_eq!(result.as_deref().map_err(Error::kind), expected);
    endpoint.thread.join().unwrap()
}

#[test]
fn a_completion_is_asked_for_and_read() {
    let requests = check(vec![ok("{}")], Ok("{}"));
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
    assert!(head.to_lowercase().contains("\r\nauthorization: bearer sk-secret"));
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["model"], "m");
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    assert_eq!(body["messages"][1], json!({ "role": "user", "content": "pottery" }));
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({ "type": "object" }));
}

#[test]
fn endpoints_that_know_less_of_json_are_asked_for_less() {
    let modes = |requests: &[String]| -> Vec<usize> {
        requests
            .iter()
            .map(|text| text.matches("json_schema").count() + text.matches("json_object").count())
            .collect()
    };
    let requests = check(vec![status(400), ok("a")], Ok("a"));
    assert_eq!(modes(&requests), [2, 1]);
    let requests = check(vec![status(422), status(400), ok("a")], Ok("a"));
    assert_eq!(modes(&requests), [2, 1, 0]);
    check(vec![status(400), status(400), status(400)], Err(ErrorKind::ProviderRefused));
}

#[test]
fn what_an_endpoint_knows_is_remembered() {
    let endpoint = Scripted::new(vec![status(400), ok("a"), ok("b")]);
    let model = OpenAiCompatible::new(&endpoint.url, "m").unwrap();
    assert_eq!(model.ask(&prompt()).unwrap(), "a");
    assert_eq!(model.clone().ask(&prompt()).unwrap(), "b");
    assert!(endpoint.thread.join().unwrap()[2].contains("json_object"));
}

#[test]
fn a_failure_that_may_pass_is_told_from_one_that_will_not() {
    for passing in [408, 429, 500, 502, 503] {
        check(vec![status(passing)], Err(ErrorKind::Provider));
    }
    check(vec![status(413)], Err(ErrorKind::ProviderRefused));
    // A redirect is not followed: otherwise the error would be that of a closed port.
    for configured in [401, 402, 403, 404, 301, 302, 303, 307] {
        check(vec![status(configured)], Err(ErrorKind::ProviderMisconfigured));
    }
    // No other JSON mode is tried.
    let unknown = ScriptedStep::Answer(400, r#"{"error":{"code":"model_not_found"}}"#.to_owned());
    check(vec![unknown], Err(ErrorKind::ProviderMisconfigured));
}

#[test]
fn bodies_that_are_no_completion_are_failures() {
    for body in
        ["", "garbage", "{}", "{\"choices\":[]}", "{\"choices\":[{\"message\":{\"content\":null}}]}", "[[[["]
    {
        check(vec![ScriptedStep::Answer(200, body.to_owned())], Err(ErrorKind::Provider));
    }
    check(vec![ScriptedStep::Answer(200, "[".repeat(10_000))], Err(ErrorKind::Provider));
    check(vec![ok("")], Err(ErrorKind::Provider));
}

#[test]
fn an_endless_answer_is_cut() {
    for head in ["HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\nx: "] {
        let endpoint = Scripted::new(vec![ScriptedStep::Endless(head)]);
        let model = OpenAiCompatible::new(&endpoint.url, "m").unwrap().timeout(PATIENT);
        let error = model.ask(&prompt()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Provider);
        assert!(!error.to_string().contains("in time"), "by its size, not by the timeout: {error}");
        endpoint.thread.join().unwrap();
    }
}

#[test]
fn a_closed_connection_is_a_failure() {
    check(vec![ScriptedStep::Close], Err(ErrorKind::Provider));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = OpenAiCompatible::new(format!("http://{nobody}/v1"), "m").unwrap().timeout(PATIENT);
    assert_eq!(model.ask(&prompt()).unwrap_err().kind(), ErrorKind::Provider);
}

#[test]
fn a_silent_endpoint_is_cut_by_the_timeout() {
    check_within(Duration::from_millis(50), vec![ScriptedStep::Silence], Err(ErrorKind::Provider));
}

#[test]
fn a_summarizer_rides_out_an_overload() {
    use crate::compress::{Summarizer, digest::LlmSummarizer};
    let endpoint =
        Scripted::new(vec![status(500), ok("{\"turns\":[{\"id\":\"t1\",\"summary\":\"Saw a red fox.\"}]}")]);
    let model = OpenAiCompatible::new(&endpoint.url, "m").unwrap().timeout(PATIENT);
    let turn = crate::model::turn::Turn::sample(1, "I saw a red fox in the wood.", 10);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let verdicts = runtime.block_on(async {
        let mut summarizer = LlmSummarizer::new(Arc::new(model));
        summarizer.first_wait_ms = 1; // The endpoint runs in real time.
        summarizer.summarize(&[turn]).await
    });
    assert_eq!(verdicts.unwrap()[0].summary_text, "Saw a red fox.");
    assert_eq!(endpoint.thread.join().unwrap().len(), 2);
}

#[test]
fn a_base_url_is_an_address_and_nothing_else() {
    for good in ["https://api.openai.com/v1", "http://localhost:11434/v1/", "http://[::1]:8000"] {
        assert!(OpenAiCompatible::new(good, "m").is_ok(), "{good}");
    }
    for bad in [
        "",
        "localhost:1234",
        "ftp://host",
        "https://",
        "https://me:key@host",
        "https://host/v1?key=x",
        "http:///v1",
        "http://a b",
    ] {
        let error = OpenAiCompatible::new(bad, "m").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
        assert!(!error.to_string().contains("key="));
    }
}

#[test]
fn a_key_is_not_shown() {
    let model = OpenAiCompatible::new("https://host", "m").unwrap().api_key("sk-secret");
    assert_eq!(
        format!("{model:?}"),
        r#"OpenAiCompatible { endpoint: Endpoint { base_url: "https://host", api_key: Some("..."), timeout: 60s, .. }, model: "m", .. }"#
    );
    let broken = OpenAiCompatible::new("http://127.0.0.1:9", "m").unwrap().api_key("sk-secret\nx: y");
    let error = broken.ask(&prompt()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderMisconfigured);
    assert!(!format!("{error:?}").contains("secret"));
}
