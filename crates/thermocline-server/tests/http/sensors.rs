//! Sensors over the wire: they look for the users whom the operator named, by the checks that he wrote down, for keys that
//! may have them look, and once a minute.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use serde_json::{Value, json};
use thermocline::{Expect, HostSensor, NamedChecks, Origin};
use thermocline_server::{keys::New, ops::spec::KeyScope};

use crate::{
    client::Answer,
    fixture::{Running, Setup, whole_key},
};

const SECRET: &str = "hunter2-XyZ";

/// A server whose sensor `runtime` serves acme/*, with the check `password`, which passes, and `stranger`, which fails.
struct Watching {
    server: Running,
    /// The keys: all scopes, and all but `check`.
    keys: [String; 2],
    /// How often the sensor has looked.
    looks: Arc<AtomicU32>,
}

impl Watching {
    fn new() -> Self {
        let scopes = KeyScope::EVERY.into_iter().filter(|scope| *scope != KeyScope::Check).collect();
        let users = New { origin: Origin::User, ..whole_key() };
        let (mut setup, keys) = Setup::default().keys([users.clone(), New { scopes, ..users }]);
        let looks = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&looks);
        let value = move || {
            counted.fetch_add(1, Ordering::SeqCst);
            Some(SECRET.into())
        };
        let sensor = NamedChecks::new(HostSensor::new().value("secret", value).unwrap());
        let contains = |text: &str| Expect::default().contains(text);
        let sensor = sensor.check("password", "secret", contains("hunter2")).unwrap();
        let sensor = sensor.check("stranger", "secret", contains("another")).unwrap();
        let sensor = sensor.serving(|user| user.is_some_and(|name| name.starts_with("acme/")));
        setup.config.sensors.push(Arc::new(sensor));
        Self { server: setup.start(), keys, looks }
    }

    fn ask(&self, key: usize, method: &str, path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json"), ("x-api-key", self.keys[key].as_str())];
        self.server.client().send(method, path, &headers, body.to_string().as_bytes())
    }

    /// Saves a memory of the user and returns its address.
    fn save(&self, user: &str, id: &str) -> String {
        let memory = json!({ "title": id, "content": format!("What {id} says."), "caller_id": id });
        let saved = self.ask(0, "POST", &format!("/v1/users/{user}/memories"), &memory);
        assert_eq!(saved.status, 201, "{saved:?}");
        format!("/v1/users/{user}/memories/key:{id}/sensors")
    }

    fn watch(&self, address: &str, sensor: &str, check: &str) -> Answer {
        self.ask(0, "PUT", address, &json!({ "sensor": sensor, "check": check }))
    }

    fn validate(&self, user: &str, id: &str) -> Value {
        let body = json!({ "memories": [format!("key:{id}")] });
        let answer = self.ask(0, "POST", &format!("/v1/users/{user}/validate"), &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["items"].clone()
    }

    fn looks(&self) -> u32 {
        self.looks.load(Ordering::SeqCst)
    }
}

#[test]
fn a_check_is_named_and_says_whether_it_passed_and_no_more() {
    let watching = Watching::new();
    let address = watching.save("acme%2Fkim", "bank");
    let listed = watching.watch(&address, "runtime", "password").json();
    assert_eq!(listed["items"], json!([{ "sensor": "runtime", "check": "password", "is_configured": true }]));
    assert_eq!(watching.watch(&address, "runtime", "stranger").status, 200);
    let checks = watching.validate("acme%2Fkim", "bank");
    let told = |at: usize| [&checks[at]["check"], &checks[at]["result"]];
    assert_eq!(told(0), [&json!("password"), &json!("pass")]);
    assert_eq!(told(1), [&json!("stranger"), &json!("fail")]);
    // No answer says what was seen or expected, as a text or as a hash.
    let answers = [
        watching.ask(0, "GET", &address, &Value::Null),
        watching.ask(0, "GET", "/v1/users/acme%2Fkim/memories/key:bank/history", &Value::Null),
        watching.ask(0, "GET", "/v1/users/acme%2Fkim/export", &Value::Null),
    ];
    for text in
        answers.map(|answer| String::from_utf8(answer.body).unwrap()).iter().chain([&checks.to_string()])
    {
        for leak in ["hunter2", "another", "secret", "seen", "contains"] {
            assert!(!text.contains(leak), "{leak}: {text}");
        }
    }
}

#[test]
fn what_is_looked_at_and_expected_does_not_come_over_the_wire() {
    let watching = Watching::new();
    let address = watching.save("acme%2Fkim", "bank");
    for body in [
        json!({ "sensor": "runtime", "subject": "secret", "expect": { "contains": "h" } }),
        json!({ "sensor": "runtime", "check": "password", "expect": { "contains": "h" } }),
        json!({ "sensor": "runtime", "check": "password", "subject": "secret" }),
        json!({ "sensor": "runtime", "check": "password", "equals": SECRET }),
        json!({ "sensor": "runtime", "check": "password", "pointer": "/a" }),
        json!({ "sensor": "runtime", "check": "secret" }),
        json!({ "sensor": "runtime", "check": "" }),
        json!({ "sensor": "runtime", "check": { "subject": "secret" } }),
    ] {
        let refused = watching.ask(0, "PUT", &address, &body);
        assert!((400..500).contains(&refused.status), "{body}: {refused:?}");
    }
    // An import keeps what it says, and nothing looks by it.
    watching.save("acme%2Fkim", "trap");
    watching.watch("/v1/users/acme%2Fkim/memories/key:trap/sensors", "runtime", "password");
    let exported = watching.ask(0, "GET", "/v1/users/acme%2Fkim/export", &Value::Null);
    let exported = String::from_utf8(exported.body).unwrap();
    let trapped = exported
        .replace(r#""subject":"password","expect":{}"#, r#""subject":"secret","expect":{"contains":"h"}"#);
    assert_ne!(trapped, exported);
    assert_eq!(watching.ask(0, "DELETE", "/v1/users/acme%2Fkim", &Value::Null).status, 200);
    let headers = [("content-type", "application/x-ndjson"), ("x-api-key", watching.keys[0].as_str())];
    let path = "/v1/users/acme%2Fkim/import";
    let imported = watching.server.client().send("POST", path, &headers, trapped.as_bytes());
    assert_eq!(imported.status, 201, "{imported:?}");
    let checks = watching.validate("acme%2Fkim", "trap");
    assert_eq!([&checks[0]["result"], &checks[0]["why"]], [&json!("unknown"), &json!("not understood")]);
    assert_eq!(watching.looks(), 0);
}

#[test]
fn who_is_not_served_or_may_not_check_learns_nothing_and_nothing_looks() {
    let watching = Watching::new();
    for user in ["eve", "acme", "acmé%2Fkim"] {
        let address = watching.save(user, "probe");
        let answers = ["password", "stranger", "no-such"].map(|check| {
            let refused = watching.watch(&address, "runtime", check);
            (refused.status, refused.json()["detail"].clone())
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]) && answers[0].0 >= 400, "{answers:?}");
        let unknown = watching.watch(&address, "no-such", "password");
        let (as_unknown, detail) = (unknown.status, unknown.json()["detail"].as_str().unwrap().to_owned());
        let expected = detail.replace("no-such", "runtime");
        assert_eq!(answers[0], (as_unknown, json!(expected)), "as if the sensor were not configured");
        // Watched before it lost its sensor, for example: imported from a user who is served.
        let served = watching.save("acme%2Fkim", &format!("of-{user}").replace(['%', 'é'], "-"));
        assert_eq!(watching.watch(&served, "runtime", "password").status, 200);
    }
    let exported = watching.ask(0, "GET", "/v1/users/acme%2Fkim/export", &Value::Null);
    assert_eq!(watching.ask(0, "DELETE", "/v1/users/acme%2Fkim", &Value::Null).status, 200);
    let headers = [("content-type", "application/x-ndjson"), ("x-api-key", watching.keys[0].as_str())];
    let imported =
        watching.server.client().send("POST", "/v1/users/mallory/import", &headers, &exported.body);
    assert_eq!(imported.status, 201, "{imported:?}");
    let checks = watching.validate("mallory", "of-eve");
    assert_eq!([&checks[0]["result"], &checks[0]["why"]], [&json!("unknown"), &json!("not configured")]);
    assert_eq!(checks[0]["looked_at"], Value::Null);
    let address = watching.save("acme%2Fkim", "mine");
    for (method, path, body) in [
        ("PUT", address.as_str(), json!({ "sensor": "runtime", "check": "password" })),
        ("POST", "/v1/users/acme%2Fkim/validate", json!({})),
    ] {
        assert_eq!(watching.ask(1, method, path, &body).status, 403, "{path}");
    }
    assert_eq!(watching.looks(), 0);
}

#[test]
fn a_check_looks_once_a_minute_whoever_asks_and_a_memory_gains_once_by_it() {
    let watching = Watching::new();
    for (user, id) in [("acme%2Fkim", "a"), ("acme%2Fkim", "b"), ("acme%2Flee", "c")] {
        let address = watching.save(user, id);
        assert_eq!(watching.watch(&address, "runtime", "password").status, 200);
    }
    let first = watching.validate("acme%2Fkim", "a");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| watching.validate("acme%2Flee", "c"));
        }
    });
    let others = [("acme%2Fkim", "a"), ("acme%2Fkim", "b"), ("acme%2Flee", "c")];
    let [again, second, third] = others.map(|(user, id)| watching.validate(user, id));
    for checks in [&again, &second, &third] {
        assert_eq!(checks[0]["result"], "pass");
        assert_eq!(checks[0]["looked_at"], first[0]["looked_at"], "the time of the one look");
    }
    assert_eq!(watching.looks(), 1);
    assert!(first[0]["confidence"].is_number() && again[0]["confidence"].is_null());
    let history = watching.ask(0, "GET", "/v1/users/acme%2Flee/memories/key:c/history", &Value::Null).json();
    let checked = |change: &&Value| change["op"] == "check";
    assert_eq!(history["items"].as_array().unwrap().iter().filter(checked).count(), 1, "{history}");
}
