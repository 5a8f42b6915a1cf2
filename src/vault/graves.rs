//! Tombstones, which tell the other machines of a shared folder that a memory was forgotten, hidden or erased: a file that is
//! only gone may be gone by mistake.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::{
    memory::slug,
    model::{hex::hex, ids::MemoryId, memory::known::Memory, vault::RefusedFile},
    store::rows::memories::erased::id_hash,
    vault::{
        change::Incoming,
        export::{ExportState, WantedFile, When},
        lineage::Descent,
        pages::GRAVES,
        places::is_of_memory,
        read::Hidden,
        state::{Buried, VaultState, WrittenFile, hash_of},
    },
};

/// Returns the name of a memory's tombstone: a hash of its random id, so that the id of an erased memory does not stay.
fn name_of(id: MemoryId) -> String {
    hex(&id_hash(id))
}

/// Reads the folder's salt.
pub(crate) fn salt(text: &str) -> Option<String> {
    let read: Value = serde_json::from_str(text).ok()?;
    let salt = read.get("salt")?.as_str()?;
    (salt.len() <= 64 && !salt.is_empty()).then(|| salt.to_owned())
}

/// Records which files are gone for good because their memories are hidden or erased, and takes back the records of memories
/// that are shown again. `hidden` and `known` are of one moment.
pub(crate) fn keep(state: &mut VaultState, known: &ExportState, hidden: &Hidden) {
    let gone = state.files().iter().filter(|(path, _)| is_of_memory(path)).filter_map(|(_, file)| {
        let (id, lineage) = (MemoryId::from(file.id?), file.lineage.clone());
        let is_gone = !lineage.is_unknown() && hidden.has(&id.to_string());
        is_gone.then(|| (id, lineage.bare()))
    });
    for (id, lineage) in gone.collect::<Vec<_>>() {
        bury(state, name_of(id), Buried { lineage, is_erased: hidden.is_erased(&id.to_string()) });
    }
    if state.buried().is_empty() {
        return;
    }
    for memory in &known.memories {
        if let Some(Buried { lineage, .. }) = state.unbury(&name_of(memory.id)) {
            // Its next file follows the one that is gone.
            let nothing = hash_of(b"");
            let file = WrittenFile {
                lineage,
                pending: Some(nothing.clone()),
                ..WrittenFile::new(Some(*memory.id.as_uuid()), nothing, &BTreeMap::new())
            };
            state.put(&slug::path((memory.kind, memory.pinned), &memory.title, memory.id), file);
        }
    }
}

/// Records a file that is gone, with what was recorded of it before.
fn bury(state: &mut VaultState, name: String, Buried { lineage, is_erased }: Buried) {
    let before = state.buried().get(&name).cloned().unwrap_or_default();
    let buried =
        Buried { lineage: lineage.joined(&before.lineage), is_erased: is_erased || before.is_erased };
    state.bury(name, buried);
}

/// What the tombstones of other machines ask for.
#[derive(Debug, Default)]
pub(crate) struct Graves {
    /// Memories to forget.
    pub(crate) incoming: Vec<Incoming>,
    /// Tombstones of memories that were edited here meanwhile.
    pub(crate) refused: Vec<RefusedFile>,
}

/// Reads the tombstones. Those of memories that are hidden here too are joined with what is known of them.
pub(crate) fn arrived<'f>(
    paths: impl Iterator<Item = &'f str>,
    text: impl Fn(&str) -> Option<String>,
    (known, wanted): (&ExportState, &BTreeMap<String, WantedFile>),
    state: &mut VaultState,
) -> Graves {
    let mut graves = Graves::default();
    let mut shown: Option<HashMap<String, &Memory>> = None;
    for path in paths.filter(|path| path.starts_with(GRAVES)) {
        let Some(name) = path.strip_prefix(GRAVES).and_then(|name| name.strip_suffix(".json")) else {
            continue;
        };
        let Some(Ok(theirs)) = text(path).map(|text| serde_json::from_str::<Buried>(&text)) else { continue };
        if state.buried().contains_key(name) {
            bury(state, name.to_owned(), theirs);
            continue;
        }
        let shown = shown.get_or_insert_with(|| {
            known.memories.iter().map(|memory| (name_of(memory.id), memory)).collect()
        });
        let Some(memory) = shown.get(name) else { continue };
        let id = memory.id;
        let written = state.files().iter().find(|(_, file)| file.id == Some(*id.as_uuid()));
        let is_known_there = written.is_some_and(|(path, written)| {
            let is_as_written = wanted
                .get(path)
                .is_some_and(|now| now.when == When::Settled || now.shows_the_same(&written.fields_then()));
            let descent = theirs.lineage.descent(&written.lineage.clone().bare());
            is_as_written && matches!(descent, Descent::Same | Descent::Newer)
        });
        match written {
            Some((file, _)) if theirs.is_erased || is_known_there => {
                graves.incoming.push(Incoming::Buried { path: file.clone(), id });
                bury(state, name.to_owned(), theirs);
            }
            _ => graves.refused.push(RefusedFile::new(
                path,
                "its memory was forgotten on another machine, and edited here: forget it here too, or undo that there",
            )),
        }
    }
    graves
}
