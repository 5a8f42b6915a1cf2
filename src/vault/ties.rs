//! Compares the relations in a memory's file with the existing edges. A relation to a memory that is not known yet is kept
//! in a field of the memory whose file states it.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    model::{
        edge::{Direction, Edge, EdgeType, NewEdge},
        ids::{EdgeId, MemoryId},
        memory::known::Memory,
        turn::Origin,
    },
    vault::{
        relation::{Relation, edge_type},
        state::short_hash_of,
    },
};

/// The uninterpreted field of a memory that keeps its relations to memories that are not known yet.
pub(crate) const UNKNOWN: &str = "unknown_relations";
/// The prefix of relations' names among the fields of a file.
const NAME: &str = "relation ";

/// The edges to add and to remove.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ties {
    pub(crate) add: Vec<(Relation, NewEdge)>,
    pub(crate) remove: Vec<EdgeId>,
    /// The names of relations to unknown memories that the file no longer lists.
    pub(crate) drop: Vec<String>,
}

/// The memories that files may refer to, by their ids and by their callers' ids.
#[derive(Debug, Default)]
pub(crate) struct MemoryNames(HashMap<String, MemoryId>);

impl MemoryNames {
    pub(crate) fn of(memories: &[Memory]) -> Self {
        let mut names = Self::default();
        for memory in memories {
            names.add(memory.id, memory.caller_id.as_deref());
        }
        names
    }

    pub(crate) fn add(&mut self, id: MemoryId, caller_id: Option<&str>) {
        self.0.insert(id.as_uuid().to_string(), id);
        self.0.extend(caller_id.map(|caller_id| (caller_id.to_owned(), id)));
    }

    /// Returns the memory that a relation leads to, by its id in any spelling.
    pub(crate) fn get(&self, target: &str) -> Option<MemoryId> {
        let id = Uuid::parse_str(target.trim_start_matches("mem_")).ok().map(|id| id.to_string());
        self.0.get(id.as_deref().unwrap_or(target)).copied()
    }

    /// Replaces the targets of relations to known memories by our own ids.
    pub(crate) fn spell_out(&self, relations: &mut [Relation]) {
        for relation in relations {
            if let Some(id) = self.get(&relation.target) {
                relation.target = id.as_uuid().to_string();
            }
        }
    }
}

/// Returns the name that identifies a relation within its file: a hash of its type, its other end and, if it matters, its
/// direction.
pub(crate) fn name(relation: &Relation) -> String {
    let direction = if relation.edge_type.is_symmetric() { "" } else { relation.direction.as_str() };
    let whole = format!("{} {direction} {}", relation.edge_type.as_str(), relation.target);
    format!("{NAME}{}", short_hash_of(&whole))
}

pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(NAME)
}

/// Returns the relations of a file as fields: the name and a hash of each.
pub(crate) fn fields(relations: &[Relation]) -> impl Iterator<Item = (String, String)> {
    relations.iter().map(|relation| {
        let Relation { strength, context, edge_id, .. } = relation;
        (name(relation), short_hash_of(&format!("{strength:?} {context:?} {edge_id}")))
    })
}

/// Returns an edge as the file of one of its ends states it.
pub(crate) fn relation(edge: &Edge, of: MemoryId) -> Relation {
    let (other, direction) =
        if edge.from == of { (edge.to, Direction::Outgoing) } else { (edge.from, Direction::Incoming) };
    Relation {
        target: other.as_uuid().to_string(),
        edge_type: edge.edge_type,
        direction,
        strength: Some(edge.strength),
        context: edge.context.clone(),
        edge_id: if edge.description.is_empty() { String::new() } else { edge.id.to_string() },
    }
}

/// Returns a person's changes to a file's relations: those whose names `is_edited` accepts. An edge that gets another type
/// or direction keeps its text.
pub(crate) fn ties(
    edges: &[Edge],
    memory: &Memory,
    relations: &[Relation],
    is_edited: impl Fn(&str) -> bool,
) -> Ties {
    let of = memory.id;
    let edges: BTreeMap<String, &Edge> = edges
        .iter()
        .filter(|edge| (edge.from == of || edge.to == of) && edge.edge_type != EdgeType::Supersedes)
        .map(|edge| (name(&relation(edge, of)), edge))
        .collect();
    let said: BTreeMap<String, &Relation> =
        relations.iter().map(|relation| (name(relation), relation)).collect();
    let is_dropped = |name: &str| is_edited(name) && !said.contains_key(name);
    let mut dropped: Vec<&Edge> =
        edges.iter().filter(|(name, _)| is_dropped(name)).map(|(_, edge)| *edge).collect();
    let remove = dropped.iter().map(|edge| edge.id).collect();
    let mut add = Vec::new();
    for (name, relation) in &said {
        if !is_edited(name) || relation.edge_type == EdgeType::Supersedes {
            continue;
        }
        let before = edges.get(name).copied().or_else(|| {
            let is_before = |edge: &&Edge| {
                edge.id.to_string() == relation.edge_id || self::relation(edge, of).target == relation.target
            };
            dropped.iter().position(is_before).map(|at| dropped.remove(at))
        });
        let mut edge = NewEdge::new(relation.edge_type).origin(Origin::User).context(&relation.context);
        edge.strength = relation.strength.or(before.map(|before| before.strength));
        edge.description = before.map(|before| before.description.clone()).unwrap_or_default();
        add.push(((*relation).clone(), edge));
    }
    let drop = unknown(memory).iter().map(name).filter(|name| is_dropped(name)).collect();
    Ties { add, remove, drop }
}

/// Returns the relations of a memory to memories that are not known yet.
pub(crate) fn unknown(memory: &Memory) -> Vec<Relation> {
    let Some(Value::Array(values)) = memory.extra.get(UNKNOWN) else { return Vec::new() };
    values.iter().filter_map(read).collect()
}

fn read(value: &Value) -> Option<Relation> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let (edge_type, is_reversed) = edge_type(text("type")?)?;
    let is_incoming = (text("direction") == Some("incoming")) != is_reversed;
    let strength = value.get("strength").and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()));
    Some(Relation {
        target: text("target").filter(|target| !target.is_empty())?.to_owned(),
        edge_type,
        direction: if is_incoming { Direction::Incoming } else { Direction::Outgoing },
        strength: strength.filter(|it| (0.0..=1.0).contains(it)),
        context: text("context").unwrap_or_default().to_owned(),
        edge_id: String::new(),
    })
}

/// Returns a memory's uninterpreted fields, with these relations to unknown memories.
pub(crate) fn with_unknown(extra: &Map<String, Value>, relations: &[Relation]) -> Map<String, Value> {
    let mut extra = extra.clone();
    extra.remove(UNKNOWN);
    if !relations.is_empty() {
        extra.insert(UNKNOWN.to_owned(), relations.iter().map(written).collect());
    }
    extra
}

/// Writes a relation with texts only, like everything that files say about themselves.
fn written(relation: &Relation) -> Value {
    let Relation { target, edge_type, direction, strength, context, .. } = relation;
    let mut value = json!({ "target": target, "type": edge_type.as_str(), "direction": direction.as_str() });
    if let Some(strength) = strength {
        value["strength"] = format!("{strength:?}").into();
    }
    if !context.is_empty() {
        value["context"] = context.as_str().into();
    }
    value
}
