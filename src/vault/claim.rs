//! Makes a memory to save from what a file claims, with limits on what a file may say about itself.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value};

use crate::{
    model::{
        memory::{
            new::NewMemory,
            procedure::Procedure,
            words::{Frequency, MemoryKind, MemoryStatus},
        },
        turn::Origin,
    },
    vault::file::MemoryFile,
};

/// The maximum confidence that a file may claim.
const MOST_CONFIDENCE: f64 = 0.8;
/// The field that keeps the claims that exceed the limits.
const CLAIMED: &str = "claimed";

/// Moves into the uninterpreted fields what does not fit: the steps of a memory that is not a procedure, and what superseded
/// the memory, which only a person here may say. `kind` is the kind of a file that states none.
pub(super) fn keep_unfitting(file: &mut MemoryFile, kind: MemoryKind) {
    let by = std::mem::take(&mut file.superseded_by);
    if !by.is_empty() {
        file.extra.insert("superseded_by".to_owned(), by.into());
    }
    if file.kind.unwrap_or(kind) == MemoryKind::Procedure {
        return;
    }
    let Procedure { steps, preconditions, postconditions, .. } = std::mem::take(&mut file.procedure);
    for (name, lines) in
        [("steps", steps), ("preconditions", preconditions), ("postconditions", postconditions)]
    {
        if !lines.is_empty() {
            file.extra.insert(name.to_owned(), lines.into());
        }
    }
}

/// Turns a file into a memory to save. Its confidence is at most 0.8, and its frequency at most mid. Claims that exceed this
/// are kept, but not interpreted.
pub(crate) fn claim(
    file: MemoryFile,
    kind: MemoryKind,
    stem: &str,
    (origin, pinned): (Origin, bool),
) -> NewMemory {
    let claims = claims(&file, origin);
    let (title, content) = titled(&file, stem);
    let mut new = NewMemory::new(file.kind.unwrap_or(kind), title, content);
    let is_procedure = new.kind == MemoryKind::Procedure;
    new.procedure = Some(file.procedure).filter(|procedure| is_procedure && !procedure.is_empty());
    new.tags = file.tags;
    new.importance = file.importance;
    new.confidence = file.confidence.map(|confidence| confidence.min(MOST_CONFIDENCE));
    new.information_type = file.information_type.unwrap_or_default();
    new.volatility = file.volatility;
    new.validity_window = file.validity_window;
    new.frequency = file.frequency.map(|frequency| frequency.min(Frequency::Mid));
    new.goal_signature = file.goal_signature;
    new.task_type = file.task_type;
    new.project = file.project;
    new.summary = file.summary;
    new.said_at = file.created;
    new.caller_id = Some(file.id).filter(|id| !id.is_empty());
    new.pinned = pinned;
    new.origin = origin;
    new.extra = with_claims(file.extra, claims);
    new
}

/// Returns the claims of a file that exceed the limits, by their names in the file.
fn claims(file: &MemoryFile, origin: Origin) -> Map<String, Value> {
    let text = |text: &str| Value::from(text);
    let confidence = file.confidence.filter(|confidence| *confidence > MOST_CONFIDENCE);
    let frequency = file.frequency.filter(|frequency| *frequency > Frequency::Mid);
    let of_check = file.validation.as_ref();
    let at = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, false);
    let claims = [
        ("confidence", confidence.map(|confidence| format!("{confidence:?}").into())),
        ("memory_frequency", frequency.map(|frequency| text(frequency.as_str()))),
        ("origin", file.origin.filter(|claimed| *claimed != origin).map(|origin| text(origin.as_str()))),
        ("status", file.status.filter(|it| *it != MemoryStatus::Active).map(|it| text(it.as_str()))),
        ("validated_by", of_check.map(|check| text(&check.validated_by))),
        ("validated_at", of_check.and_then(|check| check.validated_at).map(|it| at(it).into())),
        ("reliability", of_check.and_then(|check| check.reliability).map(|it| format!("{it:?}").into())),
    ];
    claims.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Adds the claims to the uninterpreted fields of a file. If the file has a field of that name, it is not overwritten.
fn with_claims(mut extra: Map<String, Value>, claims: Map<String, Value>) -> Map<String, Value> {
    if !claims.is_empty() {
        extra.entry(CLAIMED).or_insert(Value::Object(claims));
    }
    extra
}

/// Returns the title and content of a file. If it has no title, the title is its first heading or its name.
pub(super) fn titled(file: &MemoryFile, stem: &str) -> (String, String) {
    let content = file.content.trim();
    if !file.title.is_empty() {
        return (file.title.clone(), content.to_owned());
    }
    if let Some((heading, rest)) = content.strip_prefix("# ").and_then(|text| text.split_once('\n'))
        && !rest.trim().is_empty()
    {
        return (heading.trim().to_owned(), rest.trim().to_owned());
    }
    (stem.replace(['-', '_'], " "), content.to_owned())
}
