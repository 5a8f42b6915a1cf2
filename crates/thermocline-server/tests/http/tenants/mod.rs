//! Two tenants in one file use the same session keys, callers' ids and slots. They send random requests through every
//! route (except the one that erases a user), tool, resource and prompt, with their own ids and each other's. No answer
//! contains the word that only the other tenant says. The log at the finest level, the audit file and the metrics contain
//! neither tenant's word. No request, whether well-formed or not, causes a server error other than 503. The requests are
//! made from the schemas of the table and of the tools, so that a new row is tested too.

mod mcp;

use std::{collections::BTreeMap, env, fs};

use serde_json::{Value, json};
use thermocline_server::{
    audit::Audit,
    caller::Users,
    keys::New,
    ops::{self, schema, spec::Body},
};

use crate::{
    client::{Answer, Client},
    drawn::{Chance, Ids, Maker, has_body, path, query},
    fixture::{Running, Setup, whole_key},
    logged::Logged,
};

/// A word for each tenant, which only that tenant says.
const CANARIES: [&str; 2] = ["zinnoberkanarie", "malachitkanarie"];
const USERS: [&str; 2] = ["acme/sam", "other/sam"];

struct Tenant<'a> {
    running: &'a Running,
    client: Client,
    /// Two keys: one for all users of the tenant, and one for this user.
    keys: [String; 2],
    user: &'static str,
    canary: &'static str,
    foreign: &'static str,
}

impl Tenant<'_> {
    fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        key: usize,
        body: Option<&Value>,
    ) -> Answer {
        let bearer = format!("Bearer {}", self.keys[key]);
        let mut headers = [headers, &[("authorization", bearer.as_str())]].concat();
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
            headers.push(("accept", "application/json, text/event-stream"));
        }
        let answer = self.client.send(method, path, &headers, body.as_bytes());
        if answer.header("connection") == Some("close") {
            self.client = self.running.client();
        }
        self.check(&format!("{method} {path} {body}"), &answer);
        answer
    }

    /// Checks that the answer does not contain the other tenant's word, and is no server error other than 503.
    fn check(&self, asked: &str, answer: &Answer) {
        let said = String::from_utf8_lossy(&answer.body).to_lowercase();
        let heads = format!("{:?}", answer.headers).to_lowercase();
        assert!(!said.contains(self.foreign) && !heads.contains(self.foreign), "{asked}: {said}");
        assert!(answer.status < 500 || answer.status == 503, "{asked}: {} {said}", answer.status);
    }

    /// Creates a tenant's initial data.
    fn settle(&mut self, ids: &mut Ids) {
        let canary = self.canary;
        let user = self.user.replace('/', "%2F");
        let mut post = |path: &str, body: Value| {
            let answer = self.send("POST", &format!("/v1/users/{user}/{path}"), &[], 0, Some(&body));
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

    /// Sends a random request to a route. Returns whether it was for the tenant's own user and was accepted; `None` if no
    /// request was sent.
    fn ask_route(&mut self, chance: &mut Chance, ids: &mut Ids) -> Option<bool> {
        let row = chance.of(ops::table());
        // Rare, because otherwise no data would be left to return.
        let is_rare = row.spec.name.ends_with("_erase")
            || row.spec.body != Body::Json
            || row.spec.name.contains("forget_all");
        if is_rare && !chance.one_in(20) || row.spec.name == "user_erase" {
            return None;
        }
        let user = self.asked_of(chance);
        let request = schema::request(row);
        let definitions = request["$defs"].clone();
        let mut maker = Maker { chance, ids, canary: self.canary, definitions };
        let mut fields = maker.object(&request);
        let path = path(row, user, &mut fields);
        let method = format!("{:?}", row.spec.http.method).to_uppercase();
        let answer = if has_body(row) {
            self.send(&method, &path, &[], 0, Some(&fields.into()))
        } else {
            self.send(&method, &format!("{path}{}", query(&fields)), &[], 0, None)
        };
        if user != self.user {
            assert_eq!(answer.status, 403, "{path}");
            return Some(false);
        }
        if answer.status < 300
            && let Ok(told) = serde_json::from_slice::<Value>(&answer.body)
        {
            ids.learn("", &told);
        }
        Some(answer.status < 300)
    }

    /// Returns the user for the next request: rarely the other tenant's, for whom every key is refused.
    fn asked_of(&self, chance: &mut Chance) -> &'static str {
        if chance.one_in(10) { USERS[chance.below(2)] } else { self.user }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of a run by hand")]
fn no_tenant_is_ever_told_anything_of_another() {
    // To run it longer by hand: THERMOCLINE_ANSWERS=100000 cargo test -p thermocline-server --test http tenant --
    // --nocapture
    let answers: usize = env::var("THERMOCLINE_ANSWERS").map_or(4_000, |answers| answers.parse().unwrap());
    let log = Logged::with(&CANARIES);
    let key = |users| New { users, ..whole_key() };
    let prefix = |prefix: &str| key(Users::Prefix(prefix.to_owned()));
    let one = |user: &str| key(Users::One(user.to_owned()));
    let new = [prefix("acme/"), prefix("other/"), one(USERS[0]), one(USERS[1]), whole_key()];
    let (mut setup, [acme, other, acme_one, other_one, whole]) = Setup::default().keys(new);
    let audit_path = setup.path("audit.jsonl");
    let audit = Audit::open(&audit_path).unwrap();
    setup.change = Box::new(move |service| service.audit = Some(audit));
    let running = setup.start();
    let mut tenants: Vec<Tenant<'_>> = [[acme, acme_one], [other, other_one]]
        .into_iter()
        .enumerate()
        .map(|(n, keys)| Tenant {
            running: &running,
            client: running.client(),
            keys,
            user: USERS[n],
            canary: CANARIES[n],
            foreign: CANARIES[1 - n],
        })
        .collect();
    let mut ids = Ids::default();
    for tenant in &mut tenants {
        tenant.settle(&mut ids);
    }
    let tools = mcp::Tools::of(&mut tenants[0]);
    let mut chance = Chance(29);
    let mut counts = BTreeMap::<&str, (usize, usize)>::new();
    let mut made = 0;
    while made < answers {
        let tenant = &mut tenants[chance.below(2)];
        let (by, taken) = if chance.one_in(2) {
            ("routes", tenant.ask_route(&mut chance, &mut ids))
        } else {
            tools.ask(tenant, &mut chance, &mut ids)
        };
        if let Some(is_good) = taken {
            let (all, good) = counts.entry(by).or_default();
            (*all, *good) = (*all + 1, *good + usize::from(is_good));
            made += 1;
        }
    }
    println!("asked, and taken: {counts:?}");
    for (by, (all, good)) in counts {
        assert!(good * 6 > all, "only {good} of {all} {by} were taken");
    }
    assert_eq!(log.text(), "", "lines of the log with what somebody said");
    let metrics = running.client().send("GET", "/metrics", &[("x-api-key", &whole)], b"");
    let audit = fs::read_to_string(audit_path).unwrap();
    assert!(metrics.status == 200 && audit.lines().count() > answers / 20, "{} lines", audit.lines().count());
    for said in [audit, String::from_utf8(metrics.body).unwrap()] {
        let line = said.lines().find(|line| CANARIES.iter().any(|word| line.to_lowercase().contains(word)));
        assert_eq!(line, None, "a line of what an operator reads");
    }
}
