//! The layout of the continuum paper: one file for each memory of frequency `high` or `mid`, and logs for the others.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value as Json};

use crate::{
    memory::{page::tidy, slug::slug},
    model::{
        change::{Change, ChangeOp},
        ids::MemoryId,
        memory::{
            known::Memory,
            words::{Frequency, MemoryKind, TaskType},
        },
    },
    vault::{
        body::body,
        export::{ExportState, WantedFile, When, relations},
        file::{MemoryFile, NAMES},
        frontmatter::{inline, quoted},
        guard::guarded,
        head::{HeadWriter, hyphenated},
        sections::{pages, section},
    },
};

/// Fields for which the continuum paper has its own names; the other fields of a memory follow them.
const COVERED: [&str; 19] = [
    "memory_frequency",
    "volatility",
    "update_trigger",
    "retention_policy",
    "confidence_score",
    "confidence",
    "consolidation_threshold",
    "usage_count",
    "success_rate",
    "last_accessed",
    "created_at",
    "frequency_history",
    "transition_timestamps",
    "consolidation_log",
    "goal_signature",
    "task_type",
    "learning_source",
    "validation_count",
    "cross_project_validated",
];
/// Fields of the continuum paper that a file stated itself, and that no rule here reads.
const KEPT: [&str; 3] = ["context_fingerprint", "pattern_confidence", "system_core_component"];

/// Returns all files of the layout. `histories` are the changes of memories, oldest first.
pub(crate) fn wanted(
    known: &ExportState,
    histories: &HashMap<MemoryId, Vec<Change>>,
) -> BTreeMap<String, WantedFile> {
    let mut relations = relations(&known.shown_edges());
    let mut files: BTreeMap<String, WantedFile> = BTreeMap::new();
    let mut logs: BTreeMap<Frequency, Vec<(&Memory, String)>> = BTreeMap::new();
    // Oldest first, because a log grows at its end.
    for memory in known.memories.iter().rev() {
        let history = histories.get(&memory.id).map_or(&[][..], Vec::as_slice);
        let file = MemoryFile::of(memory, relations.remove(&memory.id).unwrap_or_default());
        let head = head(memory, &file, history);
        let Some(path) = path(memory) else {
            let section = section(&guarded(&tidy(&memory.title)), &head.names(), &file.shown());
            logs.entry(memory.frequency).or_default().push((memory, section));
            continue;
        };
        let digits = memory.id.as_uuid().simple().to_string();
        let path =
            if files.contains_key(&path) { path.replacen("_v", &format!("-{digits}_v"), 1) } else { path };
        let page = WantedFile::page(head.above(&body(&file.shown())), When::TextDiffers);
        files.insert(path, WantedFile { id: Some(*memory.id.as_uuid()), ..page });
    }
    for (frequency, memories) in logs {
        let least = memories.iter().map(|(memory, _)| memory.confidence).fold(1.0, f64::min);
        let (stem, title) = match frequency {
            Frequency::UltraLow => ("SmartLibrary", "Smart Library"),
            _ => ("system/memory_log", "Memory Log"),
        };
        let mut head = HeadWriter::default();
        required(&mut head, frequency, "low", least);
        let beginning = head.above(&format!("# {title}\n"));
        let sections = memories.into_iter().map(|(_, section)| section);
        for (number, page) in (1..).zip(pages(&beginning, sections)) {
            let more = if number == 1 { String::new() } else { format!("_{number}") };
            files.insert(format!("{stem}{more}.md"), WantedFile::page(page, When::TextDiffers));
        }
    }
    files
}

/// Returns the path of a memory with its own file; `None` if it is in a log.
fn path(memory: &Memory) -> Option<String> {
    let name = slug(&memory.title);
    match memory.frequency {
        Frequency::High => {
            let digits = memory.id.as_uuid().simple().to_string();
            let at = memory.said_at.format("%Y-%m-%d_%H-%M-%S");
            Some(format!("memory/short_term/{at}_{name}-{}.md", &digits[digits.len() - 6..]))
        }
        Frequency::Mid => {
            let is_pattern = matches!(memory.kind, MemoryKind::CodePattern | MemoryKind::Insight);
            let sort = if is_pattern { "pattern" } else { "execution_trace" };
            Some(format!("memory/long_term/{sort}_{name}_v{}.md", memory.version))
        }
        Frequency::Low | Frequency::UltraLow => None,
    }
}

/// Writes the five fields that every file of the continuum paper has.
fn required(head: &mut HeadWriter, frequency: Frequency, volatility: &str, confidence: f64) {
    let (trigger, retention) = match frequency {
        Frequency::High => ("execution", "temporary"),
        Frequency::Mid => ("success", "persistent"),
        Frequency::Low => ("consolidation", "persistent"),
        Frequency::UltraLow => ("manual", "permanent"),
    };
    head.plain("memory_frequency", Some(hyphenated(frequency.as_str())));
    head.plain("volatility", Some(volatility));
    head.plain("update_trigger", Some(trigger));
    head.plain("retention_policy", Some(retention));
    head.number("confidence_score", Some(confidence));
}

/// Writes the paper's fields with our values, then the fields that the paper has no names for.
fn head(memory: &Memory, file: &MemoryFile, history: &[Change]) -> HeadWriter {
    let mut head = HeadWriter::default();
    required(&mut head, memory.frequency, memory.volatility.as_str(), memory.confidence);
    let state = &memory.state;
    let moves: Vec<&Change> = history
        .iter()
        .filter(|change| change.op == ChangeOp::Frequency && change.undone_by.is_none())
        .collect();
    head.number("consolidation_threshold", memory.consolidation_threshold.or(threshold(memory.frequency)));
    head.plain("usage_count", Some(state.usage_count.to_string()));
    head.number("success_rate", state.success_rate);
    head.line("last_accessed", state.last_used_at.map(instant));
    head.line("created_at", Some(instant(memory.created_at)));
    if let Some(last) = moves.last() {
        let before = moves.iter().filter_map(|change| change.old_value.as_deref());
        let history = before.chain([memory.frequency.as_str()]).map(|word| quoted(&hyphenated(word)));
        let times = std::iter::once(memory.created_at).chain(moves.iter().map(|change| change.made_at));
        head.line("frequency_history", Some(listed(history)));
        head.line("transition_timestamps", Some(listed(times.map(instant))));
        head.line("consolidation_log", (!last.reason.is_empty()).then(|| quoted(&last.reason)));
    }
    head.line("goal_signature", memory.goal_signature.as_deref().map(quoted));
    head.line("task_type", memory.task_type.map(TaskType::as_str).map(quoted));
    head.plain("learning_source", Some(memory.learning_source.as_str()));
    head.plain("validation_count", Some(state.validation_count.to_string()));
    head.plain("cross_project_validated", state.is_cross_project_validated().then_some("true"));
    for name in KEPT {
        head.line(name, memory.extra.get(name).and_then(inline).map(|(text, _)| text));
    }
    file.write_besides(&mut head, &COVERED);
    let is_kept = |name: &str| KEPT.contains(&name) && memory.extra.get(name).and_then(inline).is_some();
    let rest: Map<String, Json> = memory
        .extra
        .iter()
        .filter(|(name, _)| !is_kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    head.extra(&rest, &[&NAMES[..], &COVERED].concat(), file.inert);
    head
}

/// Returns the continuum paper's confidence from which a memory settles further.
fn threshold(frequency: Frequency) -> Option<f64> {
    match frequency {
        Frequency::High => Some(0.75),
        Frequency::Mid => Some(0.95),
        Frequency::Low => Some(0.99),
        Frequency::UltraLow => None,
    }
}

fn listed(texts: impl Iterator<Item = String>) -> String {
    let mut list = String::new();
    for text in texts {
        let _ = write!(list, "{}{text}", if list.is_empty() { "" } else { ", " });
    }
    format!("[{list}]")
}

/// Formats a time as the paper does.
fn instant(at: DateTime<Utc>) -> String {
    quoted(&at.to_rfc3339_opts(SecondsFormat::Secs, true))
}
