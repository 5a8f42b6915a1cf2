//! The planner on the command line: LLM#1, asked before each recall.

use serde_json::{Value, json};

use crate::{
    endpoint::{Scripted, ScriptedStep},
    shell::Shell,
};

/// A message about something that nothing in the file is about.
const MESSAGE: &str = "Quarterly spreadsheets need another column.";

fn says(content: &str) -> ScriptedStep {
    ScriptedStep::Answer(200, json!({ "choices": [{ "message": { "content": content } }] }).to_string())
}

#[test]
fn a_context_is_planned_by_an_llm_and_why_shows_the_plan() {
    let shell = Shell::with_boats();
    let plan = json!({"queries": ["the berth of the boat Petrel"], "first_day": "", "last_day": "", "older_memory": true});
    let endpoint = Scripted::new(vec![says(&plan.to_string())]);
    let llm = ["--llm-url", &endpoint.url, "--llm-model", "m"];
    let before = shell.alex(&["context", MESSAGE]);
    let not_asked = shell.alex(&[&["context", MESSAGE], &llm[..]].concat());
    assert_eq!(not_asked.stdout, before.stdout, "without --plan nobody is asked");
    let planned = shell.alex(&[&["context", MESSAGE, "--plan"], &llm[..]].concat());
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    assert!(planned.stdout.contains("Petrel") && !before.stdout.contains("Petrel"), "{}", planned.stdout);
    let requests = endpoint.thread.join().unwrap();
    let body: Value = serde_json::from_str(requests[0].split_once("\r\n\r\n").unwrap().1).unwrap();
    assert!(body["messages"][1]["content"].as_str().unwrap().contains(MESSAGE), "{body}");
    assert_eq!(body["response_format"]["json_schema"]["schema"]["required"][0], "queries");
    let why = shell.alex(&["why", "last"]).stdout;
    assert!(why.contains("Planned by m in ") && why.contains("\"the berth of the boat Petrel\""), "{why}");
}

#[test]
fn without_a_plan_the_context_is_as_it_was_and_says_so() {
    let shell = Shell::with_boats();
    let before = shell.alex(&["context", "Where does my boat lie?"]).stdout;
    let endpoint = Scripted::new(vec![says("At the quay, I think.")]);
    for (url, why) in [(&*endpoint.url, "what it said could not be used"), ("http://127.0.0.1:9/v1", "")] {
        let asked = ["context", "Where does my boat lie?", "--plan", "--llm-url", url, "--llm-model", "m"];
        let run = shell.alex(&asked);
        assert_eq!((run.code, &run.stdout), (0, &before), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("missing: planner m: {why}")), "{}", run.stderr);
        assert!(!run.stderr.contains("At the quay"), "{}", run.stderr);
    }
}

#[test]
fn a_planner_that_cannot_be_had_is_named() {
    let shell = Shell::with_boats();
    let run = shell.alex(&["context", MESSAGE, "--plan"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("add --llm-url and --llm-model"), "{}", run.stderr);
    let llm = ["--plan", "--llm-url", "http://127.0.0.1:9/v1", "--llm-model", "m", "--plan-timeout-ms", "0"];
    assert_eq!(shell.alex(&[&["context", MESSAGE], &llm[..]].concat()).code, 3);
}
