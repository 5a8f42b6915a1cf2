//! Everything that a handle returns has a JSON Schema, and the schema matches what serde writes.

use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use thermocline::{
    Anchor, AnchorStated, Attribute, Change, ChatMessage, Context, Core, CriticalRule, Decided, Decision,
    Diagnosis, Due, Edge, EmbeddingStatus, Episode, Erased, Filter, Forgotten, Found, Health, HotTier,
    JobInfo, JobsReport, Memory, MemoryCheck, MemoryFilter, MemoryId, MemorySensor, MemorySource, Merged,
    Neighbour, Noted, Origin, PastTurn, Profile, Quarantined, Recall, Receipt, ReceiptWithTexts, Recorded,
    Reflected, ReplacedTurn, Review, ReviewFilter, Saved, SessionInfo, SessionState, Shares, Stats, Summary,
    Tended, TermCount, Transferred, Transition, Turn, Undone, UserInfo, WarmTier, Weights,
};

const HANDLES: [&str; 6] = [
    include_str!("../../src/handles/thermocline.rs"),
    include_str!("../../src/handles/user.rs"),
    include_str!("../../src/handles/session.rs"),
    include_str!("../../src/handles/memories.rs"),
    include_str!("../../src/handles/sensors.rs"),
    include_str!("../../src/handles/vault.rs"),
];
/// Returned types without their own data: other handles, words and numbers.
const PLAIN: [&str; 15] = [
    "&Path",
    "&str",
    "()",
    "Memories",
    "Self",
    "Session",
    "SessionId",
    "AnchorId",
    "String",
    "Thermocline",
    "User",
    "UserId",
    "bool",
    "crate::Vault",
    "u64",
];

fn written<T: Serialize + JsonSchema>() -> (&'static str, Schema) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    (short_name::<T>(), generator.into_root_schema_for::<T>())
}

fn read<T: DeserializeOwned + JsonSchema>() -> (&'static str, Schema) {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    (short_name::<T>(), generator.into_root_schema_for::<T>())
}

fn short_name<T>() -> &'static str {
    std::any::type_name::<T>().rsplit("::").next().expect("a name has an end")
}

/// Returns the schemas of everything that the handles return.
fn returned() -> Vec<(&'static str, Schema)> {
    vec![
        written::<Anchor>(),
        written::<AnchorStated>(),
        written::<Change>(),
        written::<ChatMessage>(),
        written::<Context>(),
        written::<Core>(),
        written::<Decided>(),
        written::<Diagnosis>(),
        written::<Due>(),
        written::<Edge>(),
        written::<EmbeddingStatus>(),
        written::<Episode>(),
        written::<Noted>(),
        written::<Erased>(),
        written::<Forgotten>(),
        written::<Found>(),
        written::<Health>(),
        written::<HotTier>(),
        written::<JobInfo>(),
        written::<JobsReport>(),
        written::<Memory>(),
        written::<MemoryCheck>(),
        written::<MemorySensor>(),
        written::<MemorySource>(),
        written::<Merged>(),
        written::<Neighbour>(),
        written::<PastTurn>(),
        written::<Quarantined>(),
        written::<Recall>(),
        written::<Receipt>(),
        written::<ReceiptWithTexts>(),
        written::<Recorded>(),
        written::<Reflected>(),
        written::<ReplacedTurn>(),
        written::<Review>(),
        written::<Saved>(),
        written::<SessionInfo>(),
        written::<SessionState>(),
        written::<Stats>(),
        written::<Summary>(),
        written::<Tended>(),
        written::<TermCount>(),
        written::<Transferred>(),
        written::<Transition>(),
        written::<Turn>(),
        written::<Undone>(),
        written::<UserInfo>(),
        #[cfg(feature = "files")]
        written::<thermocline::VaultReport>(),
        written::<WarmTier>(),
    ]
}

/// Returns the schemas of types that arguments are read from.
fn asked_with() -> Vec<(&'static str, Schema)> {
    vec![
        read::<Attribute>(),
        read::<CriticalRule>(),
        read::<Decision>(),
        read::<Filter>(),
        read::<MemoryFilter>(),
        read::<MemoryId>(),
        read::<Origin>(),
        read::<Profile>(),
        read::<ReviewFilter>(),
        read::<Shares>(),
        read::<Weights>(),
    ]
}

/// Returns the names of the types that public functions return, without containers: `Result<Vec<Turn>>` is `Turn`, and so is
/// `(User, Turn)`.
fn returns(source: &str) -> impl Iterator<Item = &str> {
    let public = source
        .split("\n    pub ")
        .skip(1)
        .filter(|item| item.starts_with("fn ") || item.starts_with("async fn "));
    public.filter_map(|item| item.split_once(" {")?.0.split_once("-> ")).map(|(_, mut shown)| {
        for (holder, end) in
            [("Result<", '>'), ("Option<", '>'), ("Vec<", '>'), ("Arc<", '>'), ("(User, ", ')')]
        {
            shown = shown.strip_prefix(holder).and_then(|held| held.strip_suffix(end)).unwrap_or(shown);
        }
        shown.rsplit("::").next().filter(|_| shown != "crate::Vault").unwrap_or(shown)
    })
}

#[test]
fn all_that_a_handle_returns_has_a_schema() {
    let with_one: BTreeSet<_> = returned().iter().map(|(name, _)| *name).chain(PLAIN).collect();
    let missing: Vec<_> =
        HANDLES.into_iter().flat_map(returns).filter(|name| !with_one.contains(name)).collect();
    assert!(missing.is_empty(), "without a schema here: {missing:?}");
    assert!(HANDLES.into_iter().flat_map(returns).count() > 80);
}

#[test]
fn a_schema_says_which_fields_or_words_there_are_and_what_they_mean() {
    for (name, schema) in returned().into_iter().chain(asked_with()) {
        let says =
            ["properties", "oneOf", "anyOf", "enum", "pattern"].iter().any(|key| schema.get(*key).is_some());
        assert!(says, "{name}: {schema:?}");
        assert!(schema.get("description").is_some(), "{name} is not described");
    }
}

/// If serde has an attribute for a field, the schema has the same.
#[test]
fn a_schema_says_what_serde_writes() {
    let of = |schema: Schema, path: &str| schema.as_value().pointer(path).cloned().unwrap_or(Value::Null);
    let (_, receipt) = written::<Receipt>();
    assert_eq!(of(receipt, "/properties/took_us/type"), "integer");
    let (_, memory) = written::<Memory>();
    assert_eq!(of(memory.clone(), "/properties/validity_window_s/type"), json!(["integer", "null"]));
    assert_eq!(of(memory.clone(), "/$defs/Trust/type"), "integer");
    assert!(of(memory, "/$defs/MemoryId/pattern").as_str().unwrap().starts_with("^(mem_)?"));
    let (_, hot) = written::<HotTier>();
    assert_eq!(of(hot, "/properties/turns/items/$ref"), "#/$defs/Turn");
    let (_, info) = written::<SessionInfo>();
    assert_eq!(of(info.clone(), "/$defs/SessionId/format"), "uuid");
    assert_eq!(of(info, "/properties/started_at/format"), "date-time");
    let (_, diagnosis) = written::<Diagnosis>();
    assert_eq!(of(diagnosis, "/$defs/Check/properties/is_of_index"), Value::Null);
}
