//! `thermocline memory show`: shows a memory in full, with the meaning of its numbers, its sources and its neighbours.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;
use thermocline::{
    Direction, Frequency, Memory, MemorySource, MemoryStatus, Neighbour, Origin, SourceName, StaleReason,
    Trust, Volatility, blocking::User,
};

use crate::{
    counts::counted,
    exit::Failure,
    find::Db,
    memory::{args::ShowArgs, named, words},
    output::Output,
    places, plain,
};

/// The maximum number of edges that are shown with a memory; `memory neighbours` lists all.
const EDGES: u32 = 20;

/// A memory, its sources, and its neighbours.
#[derive(Debug, Serialize)]
struct ShownMemory {
    #[serde(flatten)]
    memory: Memory,
    sources: Vec<MemorySource>,
    neighbours: Vec<Neighbour>,
}

pub(crate) fn run(db: &Db, args: &ShowArgs, out: &Output) -> Result<(), Failure> {
    let (_file, user, memory) = named::one(db, &args.memory)?;
    let memories = user.memories();
    if let Some(format) = args.format {
        let text = memories.as_file(memory.id, format)?;
        // Another program gets the text of a file unchanged. On a terminal, control characters in it would take effect,
        // so they are replaced.
        return out.print(&if out.has_person() { plain::block(&text) } else { text });
    }
    let sources = memories.sources(memory.id)?;
    let neighbours = memories.neighbours(memory.id, None, EDGES)?;
    let mut places = Vec::new();
    if !out.is_json() {
        places = sources.iter().map(|source| place(&user, source)).collect::<Result<Vec<_>, _>>()?;
    }
    out.answer(&ShownMemory { memory, sources, neighbours }, |shown| text(shown, &places))
}

fn text(ShownMemory { memory, sources, neighbours }: &ShownMemory, places: &[String]) -> String {
    let mut text = format!("{}\n", plain::line(&memory.title, usize::MAX));
    for (what, is) in lines(memory) {
        let _ = writeln!(text, "{what:<11} {is}");
    }
    if !sources.is_empty() {
        text += "sources\n";
    }
    for (source, place) in sources.iter().zip(places) {
        let _ = writeln!(text, "  {}  {place}", day(source.said_at));
        if !source.quote.is_empty() {
            let _ = writeln!(text, "    \"{}\"", plain::line(&source.quote, usize::MAX));
        }
    }
    if !neighbours.is_empty() {
        text += "edges\n";
    }
    for neighbour in neighbours {
        let _ = writeln!(text, "  {}", edge(neighbour));
    }
    if !memory.summary.is_empty() {
        let _ = write!(text, "\n{}\n", plain::line(&memory.summary, usize::MAX));
    }
    let _ = write!(text, "\n{}\n", plain::block(&memory.content).trim_end());
    text + &procedure(memory)
}

/// Returns the fields of a memory, one per line.
fn lines(memory: &Memory) -> Vec<(&'static str, String)> {
    let mut lines = vec![("id", memory.id.to_string())];
    let mut add = |what, is: Option<String>| lines.extend(is.map(|is| (what, is)));
    add("caller id", memory.caller_id.as_ref().map(|id| plain::line(id, usize::MAX)));
    add("kind", Some(kind(memory)));
    add("status", Some(status(memory)));
    add("note", minded(memory));
    add("frequency", Some(format!("{}, since {}", frequency(memory.frequency), day(memory.frequency_since))));
    add("trust", Some(trust(memory)));
    add("importance", Some(importance(memory)));
    add("confidence", Some(format!("{:.2}", memory.confidence)));
    add(
        "reliability",
        Some(memory.reliability.map_or("not assessed".to_owned(), |share| format!("{share:.2}"))),
    );
    add("volatility", Some(volatility(memory)));
    add("used", Some(used(memory)));
    add("checked", memory.state.validated_at.map(|at| checked(memory, at)));
    add("slot", memory.goal_signature.as_ref().map(|slot| plain::line(slot, usize::MAX)));
    add("tags", joined(&memory.tags, "#"));
    add("about", joined(&memory.entities, ""));
    add("revision", Some(revision(memory)));
    lines
}

fn kind(memory: &Memory) -> String {
    let mut kind = memory.kind.as_str().to_owned();
    if let Some(project) = &memory.project {
        let _ = write!(kind, ", of project {}", plain::line(project, usize::MAX));
    }
    if let Some(task) = memory.task_type {
        let _ = write!(kind, ", for {}", task.as_str());
    }
    kind
}

fn status(memory: &Memory) -> String {
    let status = match (memory.status, memory.superseded_by) {
        (MemoryStatus::Superseded, Some(by)) => format!("superseded by {by}"),
        (MemoryStatus::Archived, _) => "archived: recalled at half its weight".to_owned(),
        (MemoryStatus::Forgotten, _) => "forgotten: hidden until memory undo".to_owned(),
        (status, _) => status.as_str().to_owned(),
    };
    if memory.pinned { status + ", pinned" } else { status }
}

/// Returns what to consider before trusting the memory.
fn minded(memory: &Memory) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for reason in &memory.standing.stale {
        parts.push(match reason {
            StaleReason::Expired => "its last check is too long ago",
            StaleReason::Old => "such information does not hold that long",
            StaleReason::Weak => "its source is weak",
            _ => "it is stale",
        });
    }
    if memory.contested {
        parts.push("contradicted by another memory (edges below)");
    }
    if memory.standing.unverified {
        parts.push("its source is not verified");
    }
    if memory.standing.look_up {
        parts.push("look it up rather than rely on it");
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn frequency(frequency: Frequency) -> String {
    let means = match frequency {
        Frequency::High => "just learned",
        Frequency::Mid => "saved by hand, or helped once",
        Frequency::Low => "helped repeatedly",
        Frequency::UltraLow => "stays forever",
        _ => "",
    };
    format!("{}: {means}", frequency.as_str())
}

/// Describes the trust in the memory, and the origin of its words.
pub(super) fn trust(memory: &Memory) -> String {
    let means = match memory.trust {
        Trust::Foreign => "a tool or a document says so",
        Trust::Assistant => "the assistant says so",
        Trust::User if memory.origin == Origin::System => "the backend says so",
        Trust::User => "the user says so",
        Trust::Approved => "a person approved it",
        _ => "",
    };
    format!("{}: {means}", memory.trust.number())
}

fn importance(memory: &Memory) -> String {
    let standing = &memory.standing;
    let now = if memory.pinned {
        "pinned: it does not fade".to_owned()
    } else {
        format!("{:.2} now, {}", standing.decay_score, standing.band.as_str())
    };
    format!("{:.2} ({now})", memory.importance)
}

fn volatility(memory: &Memory) -> String {
    let holds = match memory.volatility {
        Volatility::Low => "holds for months",
        Volatility::Medium => "holds for days",
        Volatility::High => "holds for hours",
        Volatility::Ephemeral => "holds for minutes",
        _ => "",
    };
    let mut text = format!("{}: {holds}", memory.volatility.as_str());
    if let Some(window) = memory.validity_window {
        let _ = write!(text, ", a check for {}", words::spelled(window));
    }
    text
}

pub(super) fn used(memory: &Memory) -> String {
    let state = &memory.state;
    let Some(last) = state.last_used_at else { return "never".to_owned() };
    let mut text = format!("{}, last {}", counted(state.access_count as usize, "time"), day(last));
    if let Some(rate) = state.success_rate {
        let _ = write!(
            text,
            "; helped in {:.0} % of {}, in {} and {}",
            100.0 * rate,
            counted(state.usage_count as usize, "rated use"),
            counted(state.context_count as usize, "session"),
            counted(state.project_count as usize, "project")
        );
    }
    text
}

fn checked(memory: &Memory, at: DateTime<Utc>) -> String {
    let by = memory.state.validated_by.as_deref().unwrap_or("somebody");
    let times = counted(memory.state.validation_count as usize, "time");
    format!("{}, by {}; it passed {times}", day(at), plain::line(by, 40))
}

fn revision(memory: &Memory) -> String {
    format!(
        "{}, version {}; said {}, saved {}, changed {}",
        memory.revision,
        memory.version,
        minute(memory.said_at),
        minute(memory.created_at),
        minute(memory.updated_at)
    )
}

fn procedure(memory: &Memory) -> String {
    let Some(procedure) = &memory.procedure else { return String::new() };
    let mut text = String::new();
    for (what, steps) in [
        ("before", &procedure.preconditions),
        ("steps", &procedure.steps),
        ("after", &procedure.postconditions),
    ] {
        if !steps.is_empty() {
            let _ = writeln!(text, "\n{what}");
        }
        for (number, step) in (1..).zip(steps) {
            let _ = writeln!(text, "  {number}. {}", plain::line(step, usize::MAX));
        }
    }
    text
}

/// Returns the tags at the end of a memory's line: `, #redis #production`.
pub(super) fn tags(memory: &Memory) -> String {
    joined(&memory.tags, "#").map_or_else(String::new, |tags| format!(", {tags}"))
}

fn joined(names: &[String], before: &str) -> Option<String> {
    let between = if before.is_empty() { ", " } else { " " };
    let names: Vec<String> =
        names.iter().map(|name| format!("{before}{}", plain::line(name, usize::MAX))).collect();
    (!names.is_empty()).then(|| names.join(between))
}

/// Describes an edge as seen from the memory: `solves Redis drops (mem_...), 0.80`.
pub(super) fn edge(neighbour: &Neighbour) -> String {
    let edge = &neighbour.edge;
    let title = plain::line(&neighbour.title, 60);
    let is_from_here = neighbour.direction == Direction::Outgoing || edge.edge_type.is_symmetric();
    let says = if is_from_here {
        format!("{} {title}", edge.edge_type.as_str())
    } else {
        format!("{title} {} this", edge.edge_type.as_str())
    };
    let mut text = format!("{says} ({}), {:.2}", neighbour.memory_id, edge.strength);
    if neighbour.status != MemoryStatus::Active {
        let _ = write!(text, ", {}", neighbour.status.as_str());
    }
    if !edge.context.is_empty() {
        let _ = write!(text, ": {}", plain::line(&edge.context, usize::MAX));
    }
    text
}

/// Returns the place of a source, and who found it.
fn place(user: &User, source: &MemorySource) -> Result<String, Failure> {
    let by = plain::line(&source.made_by, 40);
    Ok(match source.from {
        SourceName::Turn(turn) => {
            format!("{}, found by {by}", places::of_turn(user, turn)?)
        }
        SourceName::Memory(memory) => format!("{memory}, found by {by}"),
        SourceName::Import(_) => "imported".to_owned(),
        _ => format!("said in a call, by the {}", source.origin.as_str()),
    })
}

pub(super) fn day(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d").to_string()
}

pub(super) fn minute(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M").to_string()
}
