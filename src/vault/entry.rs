//! The formats of the entry paper: the memories of a day, a page of what has settled, the log of relations, and one memory
//! as JSON.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{
    english::sentences::sentences,
    memory::{page::tidy, resurface::next_due},
    model::{
        edge::{Edge, EdgeStatus, EdgeType},
        episode::{Episode, EpisodeRole},
        ids::MemoryId,
        memory::{
            known::Memory,
            procedure::Procedure,
            trust::Trust,
            words::{Frequency, MemoryKind, MemoryStatus, Outcome, Resurfacing},
        },
    },
    text::memory::MemoryText,
    vault::{
        body::{inert, with_line_feeds},
        export::{ExportState, WantedFile, When},
        frontmatter::{self, words},
        guard,
        head::HeadWriter,
        sections::{comment, guarded, pages},
    },
};

/// The maximum length of a title in bytes; a longer one is cut at a word.
const TITLE_BYTES: usize = 120;
/// The maximum number of relations in the comment of a day's memory, because it has limited room.
const MOST_LINKS: usize = 100;

/// Returns all files of the layout. `log` is the current log of relations; the returned log is `None` if nothing is to be
/// added.
pub(crate) fn wanted(known: &ExportState, log: &str) -> (BTreeMap<String, WantedFile>, Option<String>) {
    let births: HashMap<MemoryId, &Episode> = known
        .episodes
        .iter()
        .filter(|episode| episode.role == EpisodeRole::Birth)
        .filter_map(|episode| Some((episode.memory_id?, episode)))
        .collect();
    let edges = known.shown_edges();
    let mut beside: HashMap<MemoryId, Vec<&Edge>> = HashMap::new();
    for edge in &edges {
        beside.entry(edge.from).or_default().push(edge);
        beside.entry(edge.to).or_default().push(edge);
    }
    let mut days: BTreeMap<NaiveDate, Vec<(DateTime<Utc>, String)>> = BTreeMap::new();
    let is_short = |memory: &&Memory| {
        memory.status == MemoryStatus::Active && matches!(memory.frequency, Frequency::High | Frequency::Mid)
    };
    for memory in known.memories.iter().rev().filter(is_short) {
        let edges = beside.remove(&memory.id).unwrap_or_default();
        let section = moment(memory, births.get(&memory.id).copied(), &edges);
        days.entry(memory.said_at.date_naive()).or_default().push((memory.said_at, section));
    }
    let mut files = BTreeMap::new();
    for (on, mut of_day) in days {
        of_day.sort_by_key(|(at, _)| *at);
        for (number, page) in (1..).zip(pages("", of_day.into_iter().map(|(_, section)| section))) {
            let more = if number == 1 { String::new() } else { format!("_{number}") };
            files.insert(format!("memory/{on}{more}.md"), WantedFile::page(page, When::TextDiffers));
        }
    }
    files.insert("MEMORY.md".to_owned(), WantedFile::page(curated(&known.memories), When::UntilEdited));
    let more = log_of(log, &edges, known.now);
    let log = more
        .map(|more| format!("{log}{}{more}", if log.is_empty() || log.ends_with('\n') { "" } else { "\n" }));
    (files, log)
}

/// Writes the memories that have settled, in one sentence each; after that a person maintains the file.
fn curated(memories: &[Memory]) -> String {
    let mut text = "# Memory\n".to_owned();
    for memory in memories.iter().rev() {
        if memory.frequency >= Frequency::Low && memory.status == MemoryStatus::Active {
            let sentence = text_of(memory).in_one_sentence(&memory.summary).to_owned();
            let _ = writeln!(text, "- **{}:** {}", tidy(&memory.title), tidy(&sentence));
        }
    }
    inert(&text)
}

/// Writes a memory of a day.
fn moment(memory: &Memory, birth: Option<&Episode>, edges: &[&Edge]) -> String {
    let title = guard::guarded(&tidy(&memory.title)).into_owned();
    let is_inert = memory.trust < Trust::User && guard::is_active(&memory.content);
    let content = with_line_feeds(&memory.content);
    let content = if is_inert { guard::guarded(content.trim()) } else { Cow::Borrowed(content.trim()) };
    let mut head = HeadWriter::default();
    head.plain("id", Some(memory.id.to_string()));
    head.number("importance", Some(memory.importance));
    head.line("entities", (!memory.entities.is_empty()).then(|| words(&memory.entities)));
    let mut links = links(memory.id, edges);
    links.truncate(MOST_LINKS);
    let of_link = |link: &Link| {
        let (to, kind) = (frontmatter::id(&link.to), link.kind);
        format!("{{to: {to}, type: {kind}, weight: {:?}}}", link.weight)
    };
    let inline: Vec<String> = links.iter().map(of_link).collect();
    head.line("links", (!inline.is_empty()).then(|| format!("[{}]", inline.join(", "))));
    let outcome = birth.and_then(|birth| birth.outcome);
    let of_episode = [
        ("task", birth.and_then(|birth| birth.task_id.as_deref().or(birth.task_name.as_deref()))),
        ("project", memory.project.as_deref()),
        ("outcome", outcome.map(Outcome::as_str)),
    ];
    let episode: Vec<String> = of_episode
        .into_iter()
        .filter_map(|(name, text)| Some(format!("{name}: {}", frontmatter::word(text?))))
        .collect();
    head.line("episode", (!episode.is_empty()).then(|| format!("{{{}}}", episode.join(", "))));
    // The paper has no place for the fields that follow.
    head.plain("type", (memory.kind != kind_of(outcome)).then(|| memory.kind.as_str()));
    head.line("title", (title != memory.title).then(|| frontmatter::quoted(&memory.title)));
    head.line("summary", (!memory.summary.is_empty()).then(|| frontmatter::quoted(&memory.summary)));
    head.procedure(memory.procedure.as_ref().unwrap_or(&Procedure::default()));
    head.plain("inert", is_inert.then_some("true"));
    let is_word = |tag: &String| !tag.contains([' ', '\t', ',', '#']) && !guard::is_active(tag);
    let is_plain = memory.tags.iter().all(is_word);
    head.line("tags", (!is_plain).then(|| words(&memory.tags)));
    let tags: Vec<String> =
        memory.tags.iter().filter(|tag| is_word(tag)).map(|tag| format!(" #{}", tidy(tag))).collect();
    let tags = if tags.is_empty() { String::new() } else { format!("\nTags:{}\n", tags.concat()) };
    format!(
        "## {} - {title}\n\n{}\n\n{}{tags}",
        memory.said_at.format("%H:%M"),
        guarded(&content),
        comment(&head.names()),
    )
}

/// Returns the kind of a memory in the entry paper's formats, according to the outcome of the task that it came from.
pub(crate) fn kind_of(outcome: Option<Outcome>) -> MemoryKind {
    if outcome == Some(Outcome::Decision) { MemoryKind::Decision } else { MemoryKind::General }
}

/// Returns the first line of the first sentence, cut at a word if it is long.
pub(crate) fn title_of(content: &str) -> String {
    let first =
        sentences(content).first().map_or(content, |sentence| sentence.text).trim().trim_end_matches('.');
    let first = first.lines().next().unwrap_or_default();
    if first.len() <= TITLE_BYTES {
        return first.to_owned();
    }
    let cut = &first[..first.floor_char_boundary(TITLE_BYTES)];
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}\u{2026}", &cut[..end])
}

/// A relation to another memory, in the form of the entry paper.
#[derive(Debug, Serialize)]
struct Link {
    to: String,
    #[serde(rename = "type")]
    kind: &'static str,
    weight: f64,
}

/// Returns the edges that a memory lists: those that lead from it. What it causes is not listed, but what caused it is.
fn links(of: MemoryId, edges: &[&Edge]) -> Vec<Link> {
    let mut edges: Vec<&&Edge> = edges.iter().filter(|edge| edge.status == EdgeStatus::Accepted).collect();
    edges.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.id.cmp(&b.id)));
    let of_edge = |edge: &&Edge| {
        let is_said_here = if edge.edge_type == EdgeType::Causes { edge.to == of } else { edge.from == of };
        let (other, kind) = match edge.edge_type {
            EdgeType::Causes => (edge.from, "caused_by"),
            _ => (edge.to, edge.edge_type.as_str()),
        };
        is_said_here.then(|| Link { to: other.to_string(), kind, weight: edge.strength })
    };
    edges.into_iter().filter_map(of_edge).collect()
}

/// A line of the log of relations.
#[derive(Debug, Serialize, Deserialize)]
struct LogLine {
    at: String,
    op: String,
    from: String,
    to: String,
    #[serde(rename = "type")]
    edge_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
}

/// Returns the lines to append to the log so that it lists all relations; `None` if it already does. Existing lines stay,
/// even unreadable ones.
fn log_of(log: &str, edges: &[&Edge], now: DateTime<Utc>) -> Option<String> {
    let mut told: BTreeMap<(String, String, String), Option<f64>> = BTreeMap::new();
    for line in log.lines().filter_map(|line| serde_json::from_str::<LogLine>(line).ok()) {
        let key = (line.from, line.to, line.edge_type);
        match line.op.as_str() {
            "add" => drop(told.insert(key, line.weight)),
            "remove" => drop(told.remove(&key)),
            _ => {}
        }
    }
    let mut more = String::new();
    let mut tell = |at, op: &str, (from, to, edge_type), weight| {
        let line = LogLine { at: instant(at), op: op.to_owned(), from, to, edge_type, weight };
        let _ = writeln!(more, "{}", serde_json::to_string(&line).expect("it is plain data"));
    };
    for edge in edges {
        let key = (edge.from.to_string(), edge.to.to_string(), edge.edge_type.as_str().to_owned());
        if told.remove(&key) != Some(Some(edge.strength)) {
            tell(edge.updated_at, "add", key, Some(edge.strength));
        }
    }
    for (key, _) in told {
        tell(now, "remove", key, None);
    }
    (!more.is_empty()).then_some(more)
}

/// One memory as JSON: all fields of the entry paper in its order, then those that the paper has no place for.
#[derive(Debug, Serialize)]
struct VaultEntry<'m> {
    id: String,
    content: &'m str,
    summary: &'m str,
    tier: &'static str,
    importance: f64,
    episode: EpisodeOfEntry<'m>,
    entities: &'m [String],
    tags: Vec<String>,
    links: Vec<Link>,
    retrieval: Retrieval,
    resurfacing: ResurfacingOfEntry,
    status: &'static str,
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'m str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    procedure: Option<&'m Procedure>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: &'m Map<String, Json>,
}

#[derive(Debug, Serialize)]
struct EpisodeOfEntry<'m> {
    task_id: Option<&'m str>,
    task_name: Option<&'m str>,
    project: Option<&'m str>,
    session_id: Option<String>,
    timestamp: String,
    trigger: Option<&'m str>,
    outcome: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Retrieval {
    access_count: u32,
    last_accessed: Option<String>,
    created_at: String,
    decay_rate: Option<f64>,
    current_relevance: f64,
}

#[derive(Debug, Serialize)]
struct ResurfacingOfEntry {
    enabled: bool,
    schedule: Vec<NaiveDate>,
    completed: Vec<NaiveDate>,
    dismiss_count: u32,
}

/// Writes one memory as JSON.
pub(crate) fn json(memory: &Memory, birth: Option<&Episode>, edges: &[&Edge]) -> String {
    let outcome = birth.and_then(|birth| birth.outcome);
    let text = text_of(memory);
    let last = memory.state.resurfaced_on;
    let enabled = memory.state.resurfacing == Resurfacing::On;
    let due = next_due(
        last.unwrap_or(memory.created_at.date_naive()),
        memory.state.resurfaced_count,
        memory.state.dismiss_count,
    );
    let entry = VaultEntry {
        id: memory.id.to_string(),
        content: &memory.content,
        summary: text.in_one_sentence(&memory.summary),
        tier: tier(memory),
        importance: memory.importance,
        episode: EpisodeOfEntry {
            task_id: birth.and_then(|birth| birth.task_id.as_deref()),
            task_name: birth.and_then(|birth| birth.task_name.as_deref()),
            project: memory.project.as_deref(),
            session_id: birth.and_then(|birth| birth.session_id).map(|id| id.to_string()),
            timestamp: instant(memory.said_at),
            trigger: birth.and_then(|birth| birth.trigger.as_deref()),
            outcome: outcome.map(Outcome::as_str),
        },
        entities: &memory.entities,
        tags: memory.tags.iter().map(|tag| format!("#{tag}")).collect(),
        links: links(memory.id, edges),
        retrieval: Retrieval {
            access_count: memory.state.access_count,
            last_accessed: memory.state.last_used_at.map(instant),
            created_at: instant(memory.created_at),
            decay_rate: decay_rate(memory),
            current_relevance: memory.standing.current_relevance,
        },
        resurfacing: ResurfacingOfEntry {
            enabled,
            schedule: due.filter(|_| enabled).into_iter().collect(),
            completed: last.into_iter().collect(),
            dismiss_count: memory.state.dismiss_count,
        },
        status: memory.status.as_str(),
        superseded_by: memory.superseded_by.map(|by| by.to_string()),
        title: (memory.title != title_of(&memory.content)).then_some(memory.title.as_str()),
        kind: (memory.kind != kind_of(outcome)).then(|| memory.kind.as_str()),
        frequency: (memory.frequency == Frequency::UltraLow).then(|| memory.frequency.as_str()),
        procedure: memory.procedure.as_ref(),
        extra: &memory.extra,
    };
    serde_json::to_string_pretty(&entry).expect("it is plain data") + "\n"
}

/// Returns the paper's tier, which says how settled the memory is.
fn tier(memory: &Memory) -> &'static str {
    match memory.frequency {
        _ if memory.is_volatile() => "ultra-short",
        Frequency::High => "short",
        Frequency::Mid => "medium",
        Frequency::Low | Frequency::UltraLow => "long",
    }
}

/// Returns the paper's decay per day, by tier; `None` if the memory does not fade.
fn decay_rate(memory: &Memory) -> Option<f64> {
    match tier(memory) {
        "short" => Some(0.1),
        "medium" => Some(0.05),
        _ => None,
    }
}

fn text_of(memory: &Memory) -> MemoryText<'_> {
    let Memory { kind, title, content, procedure, .. } = memory;
    MemoryText { kind: *kind, title, content, procedure: procedure.as_ref() }
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
