//! Runs the example of a whole backend against an endpoint with scripted answers.

#[path = "../../examples/chat_backend.rs"]
#[allow(dead_code, reason = "main is for those who run it")]
mod example;

use serde_json::{Value, json};
use thermocline::blocking::Thermocline;

use crate::endpoint::{Scripted, ScriptedStep};

fn says(content: &str) -> ScriptedStep {
    ScriptedStep::Answer(200, json!({ "choices": [{ "message": { "content": content } }] }).to_string())
}

/// Returns the body of a request.
fn asked(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn a_backend_talks_remembers_and_lets_llm_1_keep_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let long = "The harbour was quiet and the wind came from the west. ".repeat(12);
    let verdicts = json!({ "turns": [
        { "id": "t1", "summary": "The user named their boat Petrel.", "keywords": ["boat", "Petrel"],
          "critical": true, "anchors": [] },
        { "id": "t2", "summary": "The user asked what the boat is called.", "keywords": ["boat", "name"],
          "critical": false, "anchors": [] },
    ] });
    let failing = ScriptedStep::Answer(500, String::new());
    let endpoint = Scripted::new(vec![says(&long), failing, says("Petrel."), says(&verdicts.to_string())]);

    let mut shown = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let talk = async {
        let path = path.to_str().unwrap();
        let backend =
            example::Backend::open(path, "alex", &endpoint.url, "m", Some("sk-secret".into())).await?;
        let typed = "I named my boat Petrel.\nIs anybody there?\nWhat is my boat called?\n";
        example::talk(backend, typed.as_bytes(), &mut shown).await
    };
    runtime.block_on(talk).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("[failed: the endpoint of LLM#2 answered with status 500]"), "{shown}");
    assert!(shown.contains("recalled]\nPetrel.\n"), "{shown}");

    let requests = endpoint.thread.join().unwrap();
    let third = asked(&requests[2]);
    let memory = third["messages"][0]["content"].as_str().unwrap();
    assert!(
        memory.contains("User: I named my boat Petrel.") && !memory.contains("Is anybody there?"),
        "{memory}"
    );
    assert_eq!(third["messages"][1]["content"], "What is my boat called?");
    assert_eq!(third["response_format"], Value::Null, "a reply is text");
    assert_ne!(asked(&requests[3])["response_format"], Value::Null, "verdicts are JSON");

    let memory = Thermocline::open(&path).unwrap();
    let sessions = memory.user("alex").unwrap().sessions(None, 1_000).unwrap();
    assert_eq!((sessions[0].turn_count, sessions[0].memory_tier.as_str()), (2, "cold"));
    assert!(memory.stats().unwrap().uses.iter().any(|of| of.aspect == "profile"), "use is counted");
}
