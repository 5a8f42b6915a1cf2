//! Two tenants with the same session keys, callers' ids and titles, side by side in one file: whatever either asks, by any
//! route and any tool, with its own ids or the other's, nothing of the other comes back. The requests are made from the
//! table's schemas, so that a new row is asked too; and none of them, well or badly formed, is a failure of the server.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "small numbers, drawn for requests"
)]

use std::env;

use serde_json::{Value, json};
use thermocline_server::{
    keys::New,
    ops::{self, schema, spec::Body},
};

use crate::{
    client::{Answer, Client},
    drawn::{Chance, Ids, Maker, has_body, path, query},
    fixture::{Running, Setup, whole_key},
};
use thermocline_server::caller::Users;

/// Words that only this tenant says.
const CANARIES: [&str; 2] = ["zinnoberkanarie", "malachitkanarie"];
const USERS: [&str; 2] = ["acme/sam", "other/sam"];
struct Tenant {
    client: Client,
    key: String,
    user: &'static str,
    canary: &'static str,
    foreign: &'static str,
}

impl Tenant {
    fn send(&mut self, running: &Running, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let mut headers = vec![("authorization", bearer.as_str())];
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
            headers.push(("accept", "application/json, text/event-stream"));
        }
        let answer = self.client.send(method, path, &headers, body.as_bytes());
        if answer.header("connection") == Some("close") {
            self.client = running.client();
        }
        self.check(method, path, &answer);
        answer
    }

    /// Nothing of the other tenant, and no failure of the server.
    fn check(&self, method: &str, path: &str, answer: &Answer) {
        let said = String::from_utf8_lossy(&answer.body).to_lowercase();
        let heads = format!("{:?}", answer.headers).to_lowercase();
        assert!(!said.contains(self.foreign) && !heads.contains(self.foreign), "{method} {path}: {said}");
        assert!(answer.status < 500 || answer.status == 503, "{method} {path}: {} {said}", answer.status);
    }
}

/// What a tenant begins with.
fn settle(running: &Running, tenant: &mut Tenant, ids: &mut Ids) {
    let canary = tenant.canary;
    let user = tenant.user.replace('/', "%2F");
    let mut post = |path: &str, body: Value| {
        let answer = tenant.send(running, "POST", &format!("/v1/users/{user}/{path}"), Some(&body));
        assert!(answer.status < 300, "{path}: {answer:?}");
        ids.learn("", &answer.json());
    };
    for n in 0..12 {
        post(
            "turns",
            json!({ "session": if n < 8 { "spring" } else { "summer" }, "caller_id": format!("m{n}"),
                "user_message": format!("My name is {canary}. I bought boat {n}, and the redis drops."),
                "ai_response": format!("A fine boat, {canary}, with a keepalive.") }),
        );
    }
    post("sessions/spring/end", json!({}));
    for n in 0..4 {
        post(
            "memories",
            json!({ "kind": "fix", "title": format!("Redis {n} {canary}"), "content": canary, "tags": [canary], "goal_signature": format!("slot:{n}") }),
        );
    }
    post("anchors", json!({ "attribute": "home", "value": canary }));
    post("recall", json!({ "query": format!("boat {canary}") }));
}

#[test]
fn no_tenant_is_ever_told_anything_of_another() {
    // By hand: THERMOCLINE_ANSWERS=100000 cargo test -p thermocline-server --test http tenant.
    let answers: usize = env::var("THERMOCLINE_ANSWERS").map_or(3_000, |answers| answers.parse().unwrap());
    let key = |prefix: &str| New {
        users: Users::Prefix(prefix.to_owned()),
        name: prefix.to_owned(),
        ..whole_key()
    };
    let (setup, keys) = Setup::default().keys([key("acme/"), key("other/")]);
    let running = setup.start();
    let mut tenants: Vec<Tenant> = keys
        .into_iter()
        .enumerate()
        .map(|(n, key)| Tenant {
            client: running.client(),
            key,
            user: USERS[n],
            canary: CANARIES[n],
            foreign: CANARIES[1 - n],
        })
        .collect();
    let mut ids = Ids::default();
    for tenant in &mut tenants {
        settle(&running, tenant, &mut ids);
    }
    let mut chance = Chance(29);
    let mut good = 0;
    for n in 0..answers {
        let tenant = &mut tenants[chance.below(2)];
        let row = chance.of(ops::table());
        // Else there would soon be nothing left to tell.
        let is_rare = row.spec.name.ends_with("_erase")
            || row.spec.body != Body::Json
            || row.spec.name.contains("forget_all");
        if is_rare && !chance.one_in(20) || row.spec.name == "user_erase" {
            continue;
        }
        // With the name of the other's user a key opens nothing at all.
        let user = if chance.one_in(10) { USERS[chance.below(2)] } else { tenant.user };
        let request = schema::request(row);
        let definitions = request["$defs"].clone();
        let mut maker = Maker { chance: &mut chance, ids: &ids, canary: tenant.canary, definitions };
        let mut fields = maker.object(&request);
        let path = path(row, user, &mut fields);
        let method = format!("{:?}", row.spec.http.method).to_uppercase();
        let answer = if has_body(row) {
            tenant.send(&running, &method, &path, Some(&fields.into()))
        } else {
            tenant.send(&running, &method, &format!("{path}{}", query(&fields)), None)
        };
        if user != tenant.user {
            assert_eq!(answer.status, 403, "{n}: {path}");
        } else if answer.status < 300 {
            good += 1;
            if let Ok(told) = serde_json::from_slice::<Value>(&answer.body) {
                ids.learn("", &told);
            }
        }
    }
    assert!(good * 5 > answers, "only {good} of {answers} requests were taken");
}
