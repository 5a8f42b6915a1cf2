//! A row that only this test has: it appears in HTTP, OpenAPI and MCP's full profile without a change to these surfaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use thermocline_server::{
    http::openapi,
    mcp::ToolProfile,
    ops::{
        self, Operation, Result, Row,
        call::Call,
        row,
        spec::{Route, Spec, Tool},
    },
};

use crate::{
    fixture::Setup,
    talk::{Home, NEW},
};

struct Greet;

/// Whom to greet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GreetRequest {
    /// The word of greeting.
    word: String,
    /// How often.
    #[schemars(range(min = 1, max = 9))]
    times: Option<u8>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Greeting {
    text: String,
}

impl Operation for Greet {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_greet", title: "Greet" }),
        ..Spec::reads("user_greet", "Greet the user.", Route::get("/v1/users/{user}/greetings/{word}"))
    };
    type Request = GreetRequest;
    type Response = Greeting;

    fn run(call: Call, request: GreetRequest) -> Result<Greeting> {
        let times = usize::from(request.times.unwrap_or(1));
        Ok(Greeting { text: format!("{} {}", request.word.repeat(times), call.user.unwrap_or_default()) })
    }
}

/// Returns the whole table and the test's own row.
fn table() -> &'static [Row] {
    let mut rows = ops::table().to_vec();
    rows.push(row::<Greet>());
    rows.leak()
}

#[test]
fn a_new_row_is_in_openapi() {
    let document = openapi::document(table());
    let operation = &document["paths"]["/v1/users/{user}/greetings/{word}"]["get"];
    assert_eq!(operation["operationId"], "user_greet");
    let [_, word, times, _] = &operation["parameters"].as_array().unwrap()[..] else { panic!("{operation}") };
    assert_eq!((&word["name"], &word["in"]), (&json!("word"), &json!("path")));
    assert_eq!(
        (&times["name"], &times["in"], &times["schema"]["maximum"]),
        (&json!("times"), &json!("query"), &json!(9))
    );
}

#[test]
fn a_new_row_is_answered_over_http() {
    let setup = Setup { change: Box::new(|service| service.table = table()), ..Setup::default() };
    let server = setup.start();
    let mut client = server.client();
    let answer = client.send("GET", "/v1/users/alex/greetings/hey?times=2", &[], b"");
    assert_eq!((answer.status, answer.json()), (200, json!({ "text": "heyhey alex" })));
    let wrong = client.send("GET", "/v1/users/alex/greetings/hey?tims=2", &[], b"");
    assert_eq!(wrong.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_row_is_a_tool_of_the_full_profile() {
    let home = Home::with(|service| service.table = table()).await;
    let mut alex = home.alex(ToolProfile::Full, NEW).await;
    let tools = alex.result("tools/list", json!({})).await["tools"].clone();
    let greet =
        tools.as_array().unwrap().iter().find(|tool| tool["name"] == "memory_greet").expect("it is a tool");
    assert_eq!(greet["inputSchema"]["required"], json!(["word"]));
    let answer = alex.call("memory_greet", json!({ "word": "hey" })).await;
    assert!(answer.text().ends_with("\nhey alex"), "{}", answer.text());
}
