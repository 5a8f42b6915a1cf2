//! Relations between memories as files state them. A relation's type is read by its name in any supported format, and
//! written by its name in the cognitive paper.

use std::fmt::Write as _;

use crate::{
    model::edge::{Direction, EdgeType},
    vault::{
        frontmatter::{self, Field, FieldValue, FrontmatterError, quoted},
        head::number,
    },
};

/// How a memory relates to another one, as the first one's file states it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    /// The other memory's id.
    pub(crate) target: String,
    pub(crate) edge_type: EdgeType,
    pub(crate) direction: Direction,
    pub(crate) strength: Option<f64>,
    pub(crate) context: String,
    /// The id of the edge, if the edge has a file; otherwise empty.
    pub(crate) edge_id: String,
}

/// Returns a file's name for an edge type, and the type itself if files have no name for it: other readers then see only
/// that the two memories are related.
pub(super) fn type_name(edge_type: EdgeType) -> (&'static str, Option<&'static str>) {
    match edge_type {
        EdgeType::Solves => ("SOLVES", None),
        EdgeType::Causes => ("CAUSES", None),
        EdgeType::BuildsOn => ("BUILDS_ON", None),
        EdgeType::AlternativeTo => ("ALTERNATIVE_TO", None),
        EdgeType::DependsOn => ("REQUIRES", None),
        EdgeType::Follows => ("FOLLOWS", None),
        EdgeType::RelatedTo => ("RELATED_TO", None),
        other => ("RELATED_TO", Some(other.as_str())),
    }
}

/// Returns a file's name for an edge type.
pub(crate) fn edge_name(edge_type: EdgeType) -> &'static str {
    type_name(edge_type).0
}

/// Returns the type for a name in a file of any supported format, and whether the name states it from the other end.
pub(crate) fn edge_type(name: &str) -> Option<(EdgeType, bool)> {
    let name = name.trim().to_ascii_lowercase();
    match name.as_str() {
        "requires" => Some((EdgeType::DependsOn, false)),
        "caused_by" => Some((EdgeType::Causes, true)),
        name => EdgeType::from_word(name).map(|found| (found, false)),
    }
}

/// Reads the relations of a head.
pub(super) fn relations(field: &Field) -> Result<Vec<Relation>, FrontmatterError> {
    let refused = |why| FrontmatterError { line: field.line, why };
    let values = match &field.value {
        FieldValue::List(values) => values.as_slice(),
        FieldValue::Text(text) | FieldValue::Plain(text) if text.is_empty() => &[],
        _ => return Err(refused("the relations are not a list")),
    };
    values
        .iter()
        .map(|value| relation(value).ok_or(refused("a relation has no target, or an unknown type")))
        .collect()
}

fn relation(value: &FieldValue) -> Option<Relation> {
    let text = |name: &str| value.named(name).and_then(FieldValue::text);
    let (edge_type, is_reversed) = edge_type(text("edge_type").or(text("type"))?)?;
    let is_incoming = text("direction").is_some_and(|direction| direction.eq_ignore_ascii_case("incoming"));
    let direction = if is_incoming == is_reversed { Direction::Outgoing } else { Direction::Incoming };
    let target = text("target").filter(|target| !target.is_empty())?;
    Some(Relation {
        target: target.to_owned(),
        edge_type,
        direction,
        strength: text("strength").and_then(|text| text.parse().ok()).filter(|it| (0.0..=1.0).contains(it)),
        context: text("context").unwrap_or_default().to_owned(),
        edge_id: text("edge_id").unwrap_or_default().to_owned(),
    })
}

/// Renders relations for a head; empty if there are none.
pub(super) fn written(relations: &[Relation]) -> String {
    let mut text = String::new();
    if relations.is_empty() {
        return text;
    }
    text += "relations:\n";
    for relation in relations {
        let (name, besides) = type_name(relation.edge_type);
        let direction = match relation.direction {
            Direction::Incoming => "incoming",
            _ => "outgoing",
        };
        let _ = writeln!(
            text,
            "  - target: {}\n    type: {name}\n    direction: {direction}",
            frontmatter::id(&relation.target)
        );
        let mut below = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "    {name}: {value}");
            }
        };
        below("strength", relation.strength.map(number));
        below("context", (!relation.context.is_empty()).then(|| quoted(&relation.context)));
        below("edge_type", besides.map(str::to_owned));
        below("edge_id", (!relation.edge_id.is_empty()).then(|| frontmatter::id(&relation.edge_id)));
    }
    text
}
