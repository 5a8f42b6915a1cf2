//! Generates the files of the cognitive layout that are not about one memory or edge (days, the profile, a page of what has
//! settled, the index, the state, the vectors, the configuration), except the core and the reflection.

use std::{collections::BTreeMap, fmt::Write as _};

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Map, Value, json};

use crate::{
    memory::page::{tidy, tidy_tag},
    model::{
        anchor::Anchor,
        edge::Edge,
        episode::Episode,
        ids::MemoryId,
        memory::{
            known::Memory,
            words::{Frequency, MemoryStatus},
        },
    },
    vault::{file::MemoryFile, head::time, places::as_link, relation::edge_name, state::VaultState},
};

/// The files that git should ignore: those that use changes, those that are derived from others, and those that only this
/// folder needs.
pub(crate) const IGNORED: &str = "/CORE.md\n/REFLECTION.md\n/PROFILE.md\n/MEMORY.md\n/episodes/\n/_*.json\n/_lock\n/.thermocline\n\
     .thermocline-new*\n*.conflict.md\n";

/// The folder of the tombstones.
pub(crate) const GRAVES: &str = "_shared/forgotten/";
/// The path of the salt from which the ids of new files are made.
pub(crate) const SALT: &str = "_shared/salt.json";

/// Writes what is for other machines: the tombstones, and the salt; by path.
pub(crate) fn shared(state: &VaultState) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for (name, buried) in state.buried() {
        let text = serde_json::to_string(buried).expect("it is plain data");
        pages.push((format!("{GRAVES}{name}.json"), text + "\n"));
    }
    if !state.salt().is_empty() {
        pages.push((SALT.to_owned(), format!("{}\n", json!({ "salt": state.salt() }))));
    }
    pages
}

/// Writes the page of a day: its episodes, in order. `paths` are the files of memories.
pub(crate) fn day(on: NaiveDate, episodes: &[&Episode], paths: &BTreeMap<MemoryId, String>) -> String {
    let mut text = format!("# {on}\n");
    for episode in episodes {
        let _ = writeln!(text, "## {} - {}", episode.happened_at.format("%H:%M"), tidy(&episode.title));
        if let Some(kind) = episode.kind {
            let _ = writeln!(text, "- **Type:** {}", kind.as_str());
        }
        let tags: Vec<String> =
            episode.tags.iter().map(|tag| tidy_tag(tag)).filter(|tag| !tag.is_empty()).collect();
        if !tags.is_empty() {
            let _ = writeln!(text, "- **Tags:** {}", tags.join(", "));
        }
        if let Some(path) = episode.memory_id.and_then(|id| paths.get(&id)) {
            let name = path.rsplit('/').next().unwrap_or(path);
            let name = without_digits(name.strip_suffix(".md").unwrap_or(name));
            let _ = writeln!(text, "- **Memory:** [{}](../{})", tidy(name), as_link(path));
        }
        let summary = tidy(&episode.summary);
        let says_more = summary.trim_end_matches('.') != tidy(&episode.title).trim_end_matches('.');
        if !summary.is_empty() && says_more {
            let _ = writeln!(text, "- **Summary:** {summary}");
        }
    }
    text
}

/// Returns a file's name without the six digits of the memory's id.
fn without_digits(name: &str) -> &str {
    let is_id = |end: &str| end.len() == 6 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.rsplit_once('-').filter(|(_, end)| is_id(end)).map_or(name, |(name, _)| name)
}

/// Writes who the user is, according to the anchors that hold. This page is not read back.
pub(crate) fn profile(anchors: &[Anchor]) -> String {
    let mut text = "# Profile (auto-generated)\n".to_owned();
    let current: Vec<&Anchor> = anchors.iter().filter(|anchor| anchor.is_current()).collect();
    if current.is_empty() {
        text.push_str("Nothing is known yet.\n");
    }
    for anchor in current {
        let _ = writeln!(
            text,
            "- **{} {}:** {}",
            tidy(&anchor.subject),
            anchor.attribute.as_str().replace('_', " "),
            tidy(&anchor.value)
        );
    }
    text
}

/// Writes the first version of a file that a person then maintains by hand: the memories that have settled.
pub(crate) fn curated(memories: &[Memory], paths: &BTreeMap<MemoryId, String>) -> String {
    let mut text = "# Memory\n".to_owned();
    let settled = |memory: &&Memory| {
        matches!(memory.frequency, Frequency::Low | Frequency::UltraLow)
            && memory.status == MemoryStatus::Active
    };
    for memory in memories.iter().filter(settled) {
        if let Some(path) = paths.get(&memory.id) {
            let _ = writeln!(text, "- [{}]({})", tidy(&memory.title), as_link(path));
        }
    }
    text
}

/// Writes `_index.json`, which finds memories among the files.
pub(crate) fn index(
    files: &[(String, MemoryFile)],
    edges: &BTreeMap<String, &Edge>,
    updated: DateTime<Utc>,
) -> String {
    let entry = |(path, file): &(String, MemoryFile)| {
        let relations: Vec<Value> = file
            .relations
            .iter()
            .map(|relation| {
                let mut entry = json!({
                    "target": relation.target,
                    "type": edge_name(relation.edge_type),
                    "direction": relation.direction.as_str(),
                    "strength": relation.strength,
                });
                if !relation.context.is_empty() {
                    entry["context"] = relation.context.clone().into();
                }
                entry
            })
            .collect();
        let entry = json!({
            "title": file.title,
            "type": file.kind.map(|kind| kind.as_str()),
            "tags": file.tags,
            "importance": file.importance,
            "confidence": file.confidence,
            "created": file.created.map(time),
            "updated": file.updated.map(time),
            "path": path,
            "relations": relations,
        });
        (file.id.clone(), entry)
    };
    let edges: Map<String, Value> = edges
        .iter()
        .map(|(path, edge)| {
            let entry = json!({
                "type": edge_name(edge.edge_type),
                "from_id": edge.from.as_uuid(),
                "to_id": edge.to.as_uuid(),
                "strength": edge.strength,
                "path": path,
            });
            (edge.id.to_string(), entry)
        })
        .collect();
    let entries: Map<String, Value> = files.iter().map(entry).collect();
    let index = json!({ "version": 2, "updated": time(updated), "count": entries.len(), "edges": edges, "entries": entries });
    format!("{index:#}\n")
}

/// Writes `_state.json`: the uses of memories.
pub(crate) fn state(memories: &[Memory], updated: DateTime<Utc>) -> String {
    /// The cognitive paper's score of a pinned memory, which never fades.
    const PINNED: f64 = 999.0;
    let entry = |memory: &Memory| {
        let score = if memory.pinned { PINNED } else { memory.standing.decay_score };
        let entry = json!({
            "access_count": memory.state.access_count,
            "last_accessed": memory.state.last_used_at.map(time),
            "decay_score": score,
        });
        (memory.id.as_uuid().to_string(), entry)
    };
    let entries: Map<String, Value> = memories.iter().map(entry).collect();
    format!("{:#}\n", json!({ "version": 1, "updated": time(updated), "entries": entries }))
}

/// Writes `_config.json`, without anything private: no key, no address.
pub(crate) fn config(embedder: Option<&str>) -> String {
    format!("{:#}\n", json!({ "embedding_provider": embedder.unwrap_or("built_in") }))
}

/// Writes `_embeddings.json`: one vector per memory, each on a line.
pub(crate) fn embeddings(
    directions: &[(MemoryId, Vec<f64>)],
    model: Option<&str>,
    updated: DateTime<Utc>,
) -> String {
    let of_one = |(id, numbers): &(MemoryId, Vec<f64>)| {
        // The cognitive paper prints four digits.
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:.4}")).collect();
        format!("    \"{}\": [{}]", id.as_uuid(), numbers.join(", "))
    };
    let entries: Vec<String> = directions.iter().map(of_one).collect();
    format!(
        "{{\n  \"model\": {},\n  \"updated\": \"{}\",\n  \"entries\": {{\n{}\n  }}\n}}\n",
        json!(model.unwrap_or("built_in")),
        time(updated),
        entries.join(",\n")
    )
}
