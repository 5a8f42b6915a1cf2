//! Two tenants with the same session keys, callers' ids and titles, side by side in one file: whatever either asks, by any
//! route and any tool, with its own ids or the other's, nothing of the other comes back. The requests are made from the
//! table's schemas, so that a new row is asked too; and none of them, well or badly formed, is a failure of the server.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "small numbers, drawn for requests"
)]

use std::{collections::BTreeMap, env};

use serde_json::{Map, Value, json};
use thermocline_server::{
    keys::New,
    ops::{self, Row, schema, spec::Body},
};

use crate::{
    client::{Answer, Client},
    fixture::{Running, Setup, whole_key},
};
use thermocline_server::caller::Users;

/// Words that only this tenant says.
const CANARIES: [&str; 2] = ["zinnoberkanarie", "malachitkanarie"];
const USERS: [&str; 2] = ["acme/sam", "other/sam"];
/// What both say.
const WORDS: [&str; 8] = [
    "the boat",
    "my sister moved to Porto",
    "redis drops",
    "keepalive",
    "berth 14",
    "on Friday",
    "I named her",
    "a fine day",
];

/// Knuth's MMIX.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What either tenant was ever told an id of, by the name of the field that takes it.
#[derive(Default)]
struct Ids(BTreeMap<&'static str, Vec<String>>);

impl Ids {
    const KINDS: [(&'static str, &'static [&'static str]); 9] = [
        ("turn", &["turn_id", "original_turn_id"]),
        ("session", &["session_id"]),
        ("memory", &["memory_id"]),
        ("anchor", &["superseded_by"]),
        ("receipt", &["receipt"]),
        ("edge", &["edge_id"]),
        ("review", &["review", "review_id"]),
        ("group", &["group", "group_id"]),
        ("job", &["job_no"]),
    ];

    /// Keeps the ids of an answer.
    fn learn(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.learn(name, value)),
            Value::Array(items) => items.iter().for_each(|item| self.learn(name, item)),
            Value::String(id) if id.len() >= 36 && id.len() <= 40 && id.contains('-') => {
                for (kind, names) in Self::KINDS {
                    // A bare `id` may be of anything: every field that takes one is offered it.
                    if name == "id" || names.contains(&name) {
                        let ids = self.0.entry(kind).or_default();
                        if ids.len() < 200 {
                            ids.push(id.clone());
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn one(&self, kind: &str, chance: &mut Chance) -> Option<String> {
        let ids = self.0.get(kind)?;
        Some(chance.of(ids).clone())
    }
}

/// Makes requests from schemas.
struct Maker<'a> {
    chance: &'a mut Chance,
    ids: &'a Ids,
    canary: &'static str,
    definitions: Value,
}

impl Maker<'_> {
    fn text(&mut self) -> String {
        let words = *self.chance.of(&WORDS);
        if self.chance.one_in(2) { format!("{words} {}", self.canary) } else { words.to_owned() }
    }

    fn object(&mut self, schema: &Value) -> Map<String, Value> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let mut made = Map::new();
        for (name, schema) in properties {
            if required.contains(&name.as_str()) || self.chance.one_in(4) {
                made.insert(name.clone(), self.value(&name, &schema, 0));
            }
        }
        made
    }

    fn value(&mut self, name: &str, schema: &Value, depth: usize) -> Value {
        if let Some(to) = schema["$ref"].as_str() {
            let target = to.rsplit('/').next().and_then(|name| self.definitions.get(name)).cloned();
            return target.map_or(Value::Null, |target| self.value(name, &target, depth));
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.chance.of(values).clone();
        }
        if let Some(choices) = ["anyOf", "oneOf"].into_iter().find_map(|any| schema[any].as_array()).cloned()
        {
            let choice = self.chance.of(&choices).clone();
            return self.value(name, &choice, depth);
        }
        let kinds: Vec<String> = match &schema["type"] {
            Value::String(kind) => vec![kind.clone()],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => vec!["string".to_owned()],
        };
        match self.chance.of(&kinds).as_str() {
            "null" => Value::Null,
            "boolean" => self.chance.one_in(2).into(),
            "integer" => {
                (schema["minimum"].as_f64().unwrap_or_default() as i64 + self.chance.below(5) as i64).into()
            }
            "number" => (self.chance.below(11) as f64 / 10.0).into(),
            "array" if depth < 3 => {
                let item = schema["items"].clone();
                let count = schema["minItems"].as_u64().unwrap_or_default() as usize + self.chance.below(2);
                (0..count).map(|_| self.value(name, &item, depth + 1)).collect()
            }
            "object" if depth < 3 => self.object(schema).into(),
            "array" => json!([]),
            "object" => json!({}),
            _ => self.string(name, schema).into(),
        }
    }

    fn string(&mut self, name: &str, schema: &Value) -> String {
        if schema["format"] == "date-time" {
            return format!("2026-0{}-01T10:00:00Z", 1 + self.chance.below(9));
        }
        if schema["format"] == "date" {
            return format!("2026-0{}-01", 1 + self.chance.below(9));
        }
        match name {
            "session" if self.chance.one_in(3) => self
                .ids
                .one("session", self.chance)
                .map_or_else(|| "spring".to_owned(), |id| format!("id:{id}")),
            "session" => "spring".to_owned(),
            "turn" if self.chance.one_in(3) => format!("key:m{}", self.chance.below(9)),
            "caller_id" => format!("m{}", self.chance.below(9)),
            _ => {
                let kind = Ids::KINDS.into_iter().find(|(kind, _)| name.contains(kind));
                let id = kind.and_then(|(kind, _)| self.ids.one(kind, self.chance));
                id.unwrap_or_else(|| self.text())
            }
        }
    }
}

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

fn path(row: &Row, user: &str, fields: &mut Map<String, Value>) -> String {
    let encode = |text: &str| text.replace('%', "%25").replace('/', "%2F").replace(' ', "%20");
    let mut path = row.spec.http.path.replace("{user}", &encode(user));
    while let Some((before, rest)) = path.clone().split_once('{') {
        let (name, after) = rest.split_once('}').unwrap();
        let value = fields.remove(name).unwrap_or_default();
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        path = format!("{before}{}{after}", encode(&value));
    }
    path
}

fn has_body(row: &Row) -> bool {
    !matches!(row.spec.http.method, ops::spec::Method::Get | ops::spec::Method::Delete)
}

fn query(fields: &Map<String, Value>) -> String {
    let pairs: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_null() && !value.is_array() && !value.is_object())
        .map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={}", value.replace([' ', '/'], "+"))
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
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
