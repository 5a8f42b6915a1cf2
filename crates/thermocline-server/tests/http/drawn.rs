//! Random requests made from the table's schemas, so that a new row is tested too.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "small numbers, drawn for requests"
)]

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thermocline_server::ops::{self, Row};

/// Words that both tenants say.
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

/// A random number generator: Knuth's MMIX.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % n
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Ids that answers have contained, at most 200 of each kind (`KINDS`), by the kind's name.
#[derive(Default)]
pub struct Ids(pub BTreeMap<&'static str, Vec<String>>);

impl Ids {
    pub const KINDS: [(&'static str, &'static [&'static str]); 9] = [
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

    /// Stores the ids that an answer contains.
    pub fn learn(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.learn(name, value)),
            Value::Array(items) => items.iter().for_each(|item| self.learn(name, item)),
            Value::String(id) if id.len() >= 36 && id.len() <= 40 && id.contains('-') => {
                for (kind, names) in Self::KINDS {
                    // A field that is only called `id` may be the id of anything, so every kind stores it.
                    if name == "id" || names.contains(&name) {
                        let ids = self.0.entry(kind).or_default();
                        if ids.len() < 200 && !ids.contains(id) {
                            ids.push(id.clone());
                        }
                    }
                }
            }
            _ => {}
        }
    }

    pub fn one(&self, kind: &str, chance: &mut Chance) -> Option<String> {
        let ids = self.0.get(kind)?;
        Some(chance.of(ids).clone())
    }
}

/// Makes random requests from schemas.
pub struct Maker<'a> {
    pub chance: &'a mut Chance,
    pub ids: &'a Ids,
    /// A word that is put into about half of the texts made.
    pub canary: &'static str,
    pub definitions: Value,
}

impl Maker<'_> {
    pub fn text(&mut self) -> String {
        let words = *self.chance.of(&WORDS);
        if self.chance.one_in(2) { format!("{words} {}", self.canary) } else { words.to_owned() }
    }

    pub fn object(&mut self, schema: &Value) -> Map<String, Value> {
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

    pub fn value(&mut self, name: &str, schema: &Value, depth: usize) -> Value {
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
                // A field that is only called `id` may take the id of anything.
                let named = Ids::KINDS.into_iter().find(|(kind, _)| name.contains(kind));
                let kind = if name == "id" { Some(*self.chance.of(&Ids::KINDS)) } else { named };
                let id = kind.and_then(|(kind, _)| self.ids.one(kind, self.chance));
                id.unwrap_or_else(|| self.text())
            }
        }
    }
}

pub fn path(row: &Row, user: &str, fields: &mut Map<String, Value>) -> String {
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

pub fn has_body(row: &Row) -> bool {
    !matches!(row.spec.http.method, ops::spec::Method::Get | ops::spec::Method::Delete)
}

pub fn query(fields: &Map<String, Value>) -> String {
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
