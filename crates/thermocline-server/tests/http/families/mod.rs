//! The library's promises, tested over HTTP: about erasing, about several users, about a broken index, about failing
//! providers, and about turns that move through the tiers.

mod broken_index;
mod degradation;
mod erase;
mod foreign_ids;
mod isolation;
mod no_gap;
mod words;

use std::{sync::Arc, thread, time::Duration};

use serde_json::{Map, Value, json};
use thermocline::{Durability, ManualClock, Origin};
use thermocline_server::{
    keys::New,
    ops::{
        self,
        spec::{Body, Method, Target},
    },
};

use crate::{
    client::{Answer, Client},
    drawn::{self, Ids},
    fixture::{Running, Setup, whole_key},
};

const WHO: [&str; 7] =
    ["My sister", "The neighbour", "Our teacher", "Grandfather", "The plumber", "Aunt Wilma", "The ferryman"];
const DID: [&str; 11] = [
    "repaired",
    "painted",
    "sold",
    "lost",
    "borrowed",
    "photographed",
    "cleaned",
    "hid",
    "measured",
    "admired",
    "sketched",
];
const WHAT: [&str; 13] = [
    "bicycle",
    "violin",
    "greenhouse",
    "telescope",
    "canoe",
    "typewriter",
    "accordion",
    "beehive",
    "loom",
    "sundial",
    "weathervane",
    "chandelier",
    "lighthouse",
];
/// Text that makes a turn long enough to be summarized.
const MORE: &str = "It took the whole afternoon, and in the end everybody was content with how it had turned out. \
    Nobody had expected that, least of all the people who were standing around and giving advice. There was soup \
    afterwards, with dark bread and far too much pepper for the younger ones. The weather held until the evening.";

/// The time at which the tests in this folder start, and of most questions.
const NOW: &str = "2026-03-01T12:00:00Z";

/// Returns the n-th story as a turn to record. The first 1,000 are all different; every third is long.
fn story(session: &str, n: usize) -> Value {
    let what = WHAT[n % WHAT.len()];
    let more = if n.is_multiple_of(3) { MORE } else { "" };
    json!({
        "session": session, "caller_id": format!("s{n}"),
        "user_message": format!("{} {} the {what}. {more}", WHO[n % WHO.len()], DID[n % DID.len()]),
        "ai_response": format!("So the {what} is number {n} on the list."),
        "said_at": format!("2026-0{}-{:02}T10:00:00Z", 1 + n / 28 % 2, 1 + n % 28),
    })
}

/// A server with a stopped clock, whose jobs run only on request; and a key with all scopes.
struct Site {
    server: Running,
    key: String,
    clock: Arc<ManualClock>,
}

impl Site {
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// Starts a site, after `change` has changed its memory or settings.
    fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let clock = Arc::new(ManualClock::new(NOW.parse().unwrap()));
        let person = New { origin: Origin::User, ..whole_key() };
        let (mut setup, [key]) = Setup::default().keys([person]);
        setup.config.clock = clock.clone();
        setup.config.durability = Durability::Relaxed; // These tests simulate no power loss.
        change(&mut setup);
        Self { server: setup.start(), key, clock }
    }

    fn person(&self, name: &str) -> Person<'_> {
        Person { site: self, client: self.server.client(), name: name.to_owned(), ids: Ids::default() }
    }

    /// Runs all jobs that are due.
    #[track_caller]
    fn run_jobs(&self) -> Value {
        let answer = self.person("").send("POST", "/v1/jobs/run", Some(&json!({})));
        assert_eq!(answer.status, 200, "{}", answer.json());
        answer.json()
    }

    /// Checks that the doctor finds the file sound.
    #[track_caller]
    fn check_sound(&self) {
        let diagnosis = self.person("").send("POST", "/v1/doctor", Some(&json!({}))).json();
        let checks = diagnosis["checks"].as_array().unwrap();
        assert!(checks.len() > 20, "{diagnosis}");
        for check in checks {
            assert_eq!(check["problems"], 0, "{check}");
        }
    }
}

/// A client of the server that sends requests about one user, over one connection.
struct Person<'a> {
    site: &'a Site,
    client: Client,
    name: String,
    /// Ids that successful answers have contained so far.
    ids: Ids,
}

impl Person<'_> {
    /// Sends a request to any path; if the server is busy, retries like any client.
    fn send(&mut self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        const TRIES: usize = 300;
        let mut answer = self.send_once(method, path, body);
        for _ in 0..TRIES {
            if (answer.status, answer.header("retry-after").is_some()) != (503, true) {
                break;
            }
            thread::park_timeout(Duration::from_millis(10));
            answer = self.send_once(method, path, body);
        }
        answer
    }

    fn send_once(&mut self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut headers = vec![("x-api-key", self.site.key.as_str())];
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        let answer = self.client.send(method, path, &headers, body.as_bytes());
        if answer.header("connection") == Some("close") {
            self.client = self.site.server.client();
        }
        answer
    }

    /// Sends a request to a path of this user.
    fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let path = format!("/v1/users/{}{path}", self.name);
        self.send(method, &path, body)
    }

    /// Sends a request that must succeed; returns its answer.
    #[track_caller]
    fn done(&mut self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.ask(method, path, body);
        assert!(answer.status < 300, "{method} {path}: {} {:?}", answer.status, answer.json());
        let told = answer.json();
        self.ids.learn("", &told);
        told
    }

    /// Sends an MCP message; returns the answer.
    #[track_caller]
    fn ask_mcp(&mut self, message: &Value) -> Value {
        let headers = [
            ("x-api-key", self.site.key.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        let path = format!("/mcp/users/{}", self.name);
        let answer = self.client.send("POST", &path, &headers, message.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    #[track_caller]
    fn post(&mut self, path: &str, body: &Value) -> Value {
        self.done("POST", path, Some(body))
    }

    #[track_caller]
    fn get(&mut self, path: &str) -> Value {
        self.done("GET", path, None)
    }

    #[track_caller]
    fn recall(&mut self, query: &str) -> Value {
        self.post("/recall", &json!({ "query": query, "now": NOW }))
    }

    /// Records these stories.
    #[track_caller]
    fn tell(&mut self, session: &str, stories: impl IntoIterator<Item = usize>) {
        for n in stories {
            self.post("/turns", &story(session, n));
        }
    }

    /// Sends a request to every GET route about one user that answers JSON. If its path has an id, one request for each
    /// known id of its kind (at most 40), or for each of these session keys. Returns the answers.
    fn every_reading(&mut self, sessions: &[&str]) -> Vec<(String, Answer)> {
        let mut asked = Vec::new();
        for row in ops::table().iter().filter(|row| {
            row.spec.http.method == Method::Get
                && row.spec.target == Target::User
                && row.spec.body == Body::Json
        }) {
            let kind = row.spec.http.path.split('{').nth(2).and_then(|rest| rest.split('}').next());
            let names: Vec<String> = match kind {
                None => vec![String::new()],
                Some("session") => sessions.iter().map(|key| (*key).to_owned()).collect(),
                Some(kind) => self.ids.0.get(kind).into_iter().flatten().take(40).cloned().collect(),
            };
            for name in names {
                let fields =
                    [(kind.unwrap_or_default().to_owned(), name.into()), ("number".to_owned(), 1.into())];
                let path = drawn::path(row, &self.name, &mut Map::from_iter(fields));
                asked.push((path.clone(), self.send("GET", &path, None)));
            }
        }
        asked
    }
}

/// Returns the callers' ids of the recalled items that have one, best first.
fn ids(recall: &Value) -> Vec<&str> {
    recall["items"].as_array().unwrap().iter().filter_map(|recalled| recalled["caller_id"].as_str()).collect()
}
