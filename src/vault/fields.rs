//! What the file of a memory says, as short hashes of its fields: they tell an edit from a change of the memory, and what
//! edits change from what use changes.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::{
    model::memory::known::Memory,
    vault::{
        file::MemoryFile,
        lineage::Lineage,
        state::{VaultState, WrittenFile, short_hash_of},
        ties,
    },
};

/// The name under which a memory's fields include the block of links, which is not part of its content.
pub(crate) const LINKS: &str = "links";

/// The name under which a memory's fields say that its text is written inert. A file that is inert without need stays.
const INERT: &str = "inert";

/// Fields that use and checks change without an edit, and in the file of an edge the titles of its ends. A file is not
/// written because of them alone.
const MOVED_BY_USE: [&str; 5] = ["confidence", "validation", "updated", "from_title", "to_title"];

/// Whether a file with these fields shows the same as one that was written before with the others.
pub(super) fn show_the_same(fields: &BTreeMap<String, String>, before: &BTreeMap<String, String>) -> bool {
    let is_inert = |fields: &BTreeMap<String, String>| fields.contains_key(INERT);
    lasting(fields).eq(lasting(before)) && (is_inert(before) || !is_inert(fields))
}

/// Returns the fields that edits change, with their hashes.
fn lasting(fields: &BTreeMap<String, String>) -> impl Iterator<Item = (&String, &String)> {
    fields.iter().filter(|(name, _)| !MOVED_BY_USE.contains(&name.as_str()) && *name != INERT)
}

/// Returns a checksum of what a memory's file says, whatever use has changed and however it is written.
pub(crate) fn checksum(fields: &BTreeMap<String, String>) -> String {
    let said = lasting(fields).filter(|(name, _)| *name != LINKS);
    short_hash_of(&said.flat_map(|(name, hash)| [name.as_str(), hash, ";"]).collect::<String>())
}

/// Returns the lineage of a memory's file that says this: one change more than before, if it said something else then.
pub(super) fn lineage(
    fields: &BTreeMap<String, String>,
    before: Option<&WrittenFile>,
    state: &VaultState,
) -> Lineage {
    match before {
        Some(before) if !before.lineage.is_unknown() && show_the_same(fields, &before.fields.by_name()) => {
            before.lineage.clone()
        }
        before => {
            let before = before.map(|before| before.lineage.clone()).unwrap_or_default();
            before.changed(state.copy(), checksum(fields))
        }
    }
}

/// Returns a short hash of each field of a memory's file, to detect edits.
pub(crate) fn fields(file: &MemoryFile, pinned: bool) -> BTreeMap<String, String> {
    let MemoryFile {
        id: _,
        kind,
        title,
        tags,
        importance,
        confidence,
        procedure,
        created,
        updated,
        relations,
        frequency,
        volatility,
        information_type,
        validation,
        validity_window,
        goal_signature,
        task_type,
        project,
        origin,
        status,
        superseded_by,
        summary,
        inert,
        lineage: _,
        extra,
        content,
    } = file;
    let seconds = |at: &Option<DateTime<Utc>>| at.map(|at| at.timestamp());
    [
        ("kind", format!("{kind:?}")),
        ("title", title.clone()),
        ("tags", format!("{tags:?}")),
        ("importance", format!("{importance:?}")),
        ("confidence", format!("{confidence:?}")),
        ("procedure", format!("{procedure:?}")),
        ("created", format!("{:?}", seconds(created))),
        ("updated", format!("{:?}", seconds(updated))),
        ("frequency", format!("{frequency:?}")),
        ("volatility", format!("{volatility:?}")),
        ("information_type", format!("{information_type:?}")),
        ("validation", format!("{validation:?}")),
        ("validity_window", format!("{validity_window:?}")),
        ("goal_signature", format!("{goal_signature:?}")),
        ("task_type", format!("{task_type:?}")),
        ("project", format!("{project:?}")),
        ("origin", format!("{origin:?}")),
        ("status", format!("{status:?}")),
        ("superseded_by", superseded_by.clone()),
        ("summary", summary.clone()),
        ("extra", format!("{extra:?}")),
        ("content", content.clone()),
        ("pinned", pinned.to_string()),
    ]
    .into_iter()
    .map(|(name, text)| (name.to_owned(), short_hash_of(&text)))
    .chain(inert.then(|| (INERT.to_owned(), String::new())))
    .chain(ties::fields(relations))
    .collect()
}

/// Returns the fields that determine the name of a memory's file.
pub(crate) fn named(memory: &Memory) -> BTreeMap<String, String> {
    let (kind, pinned) = (format!("{:?}", Some(memory.kind)), memory.pinned.to_string());
    [("kind", kind.as_str()), ("title", &memory.title), ("pinned", &pinned)]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), short_hash_of(text)))
        .collect()
}
