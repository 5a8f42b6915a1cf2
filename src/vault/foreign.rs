//! Reads memories from files of other programs: the formats of the cognitive and the continuum paper, the continuum paper's
//! logs, the entry paper's days and JSON, and texts without a head. `claim` limits what a file may say about itself.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Map, Value as Json};

use crate::{
    memory::bounds::MAX_LINE_BYTES,
    model::{
        memory::{
            new::{Birth, NewMemory},
            procedure::Procedure,
            words::{Frequency, MemoryKind, Outcome},
        },
        turn::Origin,
    },
    text::memory::MemoryText,
    vault::{
        claim::{claim, keep_unfitting},
        entry::{kind_of, title_of},
        file::{MemoryFile, Validation},
        frontmatter::{Field, FrontmatterError, fields},
        head::{read_time, time},
        relation::{Relation, edge_type},
        sections::{LogSection, moment, sections, uncommented, unguarded},
    },
};

/// The maximum length of an id or a name in an episode, in bytes.
const MAX_WORD_BYTES: usize = 256;
/// The maximum number of memories in a file: each is saved by itself, so that what others write comes between them, and a
/// megabyte can hold sixty thousand.
const MOST_OF_A_FILE: usize = 10_000;

/// A memory claimed by a file, and its relations by the file's own ids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignMemory {
    pub(crate) memory: NewMemory,
    pub(crate) relations: Vec<Relation>,
}

/// Reads the memories of a file, whatever its form: JSON, a day, a log, or one memory with or without a head.
pub(crate) fn read(name: &str, text: &str, origin: Origin) -> Result<Vec<ForeignMemory>, FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.split('.').next().unwrap_or(stem);
    let begins = text.trim_start();
    if begins.lines().next().is_some_and(|line| line.starts_with("# ") && line.ends_with("(auto-generated)"))
    {
        return Err(FrontmatterError { line: 1, why: "it is a generated page, not a memory" });
    }
    let of_files = if begins.starts_with(['{', '[']) && !begins.starts_with("[[") {
        of_json(text)?
    } else if is_day(text) {
        day(stem, &text.replace("\r\n", "\n"))?
    } else {
        let text = text.replace("\r\n", "\n");
        let sections = sections(&text);
        if text.starts_with("---\n") && !sections.is_empty() {
            of_log(sections)?
        } else {
            vec![(MemoryFile::read(&text)?, Birth::default())]
        }
    };
    if of_files.len() > MOST_OF_A_FILE {
        let why = "it has more than 10,000 memories; split it into several files";
        return Err(FrontmatterError { line: 1, why });
    }
    let mut found = Vec::with_capacity(of_files.len());
    for (mut file, birth) in of_files {
        if file.content.trim().is_empty() {
            return Err(FrontmatterError { line: 1, why: "it has no text" });
        }
        let relations = file.relations.clone();
        let kind = kind_of(birth.outcome);
        keep_unfitting(&mut file, kind);
        keep_claims(&mut file);
        let mut memory = claim(file, kind, stem, (origin, false));
        memory.birth = birth;
        found.push(ForeignMemory { memory, relations });
    }
    Ok(found)
}

/// Moves into the uninterpreted fields what only a check or a person here may say about a memory.
fn keep_claims(file: &mut MemoryFile) {
    let Some(Validation { validated_by, validated_at, reliability }) = file.validation.take() else { return };
    let kept = file.extra.entry("validation").or_insert_with(|| Json::Object(Map::new()));
    if let Json::Object(names) = kept {
        names.insert("validated_by".to_owned(), validated_by.into());
        names.extend(validated_at.map(|at| ("validated_at".to_owned(), time(at).into())));
        names.extend(reliability.map(|share| ("reliability".to_owned(), share.into())));
    }
}

/// Whether a text is a day of the entry paper: it has headings with a time, and no head.
fn is_day(text: &str) -> bool {
    !text.starts_with("---") && text.lines().any(|line| moment(line).is_some())
}

/// A memory as a file states it, and how the memory was learned.
type Claimed = (MemoryFile, Birth);

/// Reads a day of the entry paper, `memory/YYYY-MM-DD.md`. Each memory has a heading, a text, fields in a comment, and tags.
fn day(stem: &str, text: &str) -> Result<Vec<Claimed>, FrontmatterError> {
    let on = stem.get(..10).and_then(|day| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok());
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|at| moment(lines[*at]).is_some()).collect();
    let mut found = Vec::with_capacity(starts.len());
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let Some((time, title)) = moment(lines[start]) else { continue };
        let created = on.and_then(|on| read_time(&format!("{on} {time}")));
        found.push(entry_of_day((title, created), &lines[start + 1..end], start + 1)?);
    }
    Ok(found)
}

fn entry_of_day(
    (title, created): (&str, Option<DateTime<Utc>>),
    lines: &[&str],
    first: usize,
) -> Result<Claimed, FrontmatterError> {
    let mut file = MemoryFile { title: title.to_owned(), created, ..MemoryFile::default() };
    let (mut content, mut comment, mut is_inside) = (Vec::new(), Vec::new(), false);
    for line in lines {
        match line.trim() {
            "<!--" => is_inside = true,
            "-->" => is_inside = false,
            _ if is_inside => comment.push(uncommented(line)),
            line if line.starts_with("Tags:") => {
                file.tags =
                    line[5..].split_whitespace().map(|tag| tag.trim_matches([',', '#']).to_owned()).collect();
            }
            _ => content.push(unguarded(line)),
        }
    }
    content.join("\n").trim().clone_into(&mut file.content);
    let mut birth = Birth::default();
    for field in of_comment(&comment, first)? {
        let text = field.value.text();
        match field.name.as_str() {
            "importance" => {
                file.importance =
                    text.and_then(|text| text.parse().ok()).filter(|it| (0.0..=1.0).contains(it));
            }
            "links" => file.relations = links(&field.value.to_json()),
            "episode" => {
                let episode = field.value.to_json();
                birth = birth_of(&episode, "task");
                file.project = episode.get("project").and_then(Json::as_str).map(str::to_owned);
                file.extra.insert("episode".to_owned(), episode);
            }
            "id" | "type" | "title" | "summary" | "tags" | "steps" | "preconditions" | "postconditions"
            | "inert" => {
                file.take(&field)?;
            }
            name => drop(file.extra.insert(name.to_owned(), field.value.to_json())),
        }
    }
    file.read_shown();
    Ok((file, birth))
}

/// Reads the fields of a comment, whose line numbers differ from those of a head.
fn of_comment(comment: &[String], first: usize) -> Result<Vec<Field>, FrontmatterError> {
    let lines: Vec<&str> = comment.iter().map(String::as_str).collect();
    let moved = |line| line + first;
    let refused = |refused: FrontmatterError| FrontmatterError { line: moved(refused.line), ..refused };
    let mut found = fields(&lines).map_err(refused)?;
    for field in &mut found {
        field.line = moved(field.line);
    }
    Ok(found)
}

/// Returns how a memory was learned, as far as an episode says it; values that are too long are only kept as uninterpreted.
fn birth_of(episode: &Json, task: &str) -> Birth {
    let text = |name: &str, most: usize| {
        let text = episode.get(name).and_then(Json::as_str).filter(|text| text.len() <= most);
        text.filter(|text| !text.trim().is_empty() && !text.contains('\0')).map(str::to_owned)
    };
    Birth {
        outcome: text("outcome", MAX_WORD_BYTES).as_deref().and_then(Outcome::from_word),
        task_id: text(task, MAX_WORD_BYTES),
        task_name: text("task_name", MAX_WORD_BYTES),
        trigger: text("trigger", MAX_LINE_BYTES),
        session_id: None,
    }
}

/// Reads the memories of a log of the continuum paper.
fn of_log(sections: Vec<LogSection<'_>>) -> Result<Vec<Claimed>, FrontmatterError> {
    let of_section = |LogSection { title, names: (names, first), content }: LogSection<'_>| {
        let mut file = MemoryFile { content, ..MemoryFile::default() };
        for field in of_comment(&names, first)? {
            file.take(&field)?;
        }
        file.read_shown();
        if file.title.is_empty() {
            title.clone_into(&mut file.title);
        }
        Ok((file, Birth::default()))
    };
    sections.into_iter().map(of_section).collect()
}

/// Reads the entry paper's JSON: one memory, or a list of them.
fn of_json(text: &str) -> Result<Vec<Claimed>, FrontmatterError> {
    let json: Json = serde_json::from_str(text)
        .map_err(|error| FrontmatterError { line: error.line(), why: "it is not valid JSON" })?;
    let entries = match json {
        Json::Array(entries) => entries,
        one => vec![one],
    };
    entries
        .into_iter()
        .map(|entry| match entry {
            Json::Object(entry) => of_entry(entry),
            _ => Err(FrontmatterError { line: 1, why: "a memory must be a JSON object" }),
        })
        .collect()
}

fn of_entry(mut entry: Map<String, Json>) -> Result<Claimed, FrontmatterError> {
    let refused = |why| FrontmatterError { line: 1, why };
    let text = |entry: &mut Map<String, Json>, name: &str| match entry.remove(name) {
        Some(Json::String(text)) => text,
        _ => String::new(),
    };
    let content = text(&mut entry, "content");
    let texts = |entry: &mut Map<String, Json>, name: &str| -> Vec<String> {
        let list = entry.remove(name);
        let list = list.as_ref().and_then(Json::as_array).into_iter().flatten();
        list.filter_map(|item| item.as_str().map(|tag| tag.trim_start_matches('#').to_owned())).collect()
    };
    let importance = entry.remove("importance").and_then(|it| it.as_f64());
    if importance.is_some_and(|it| !(0.0..=1.0).contains(&it)) {
        return Err(refused("importance is not a number from 0 to 1"));
    }
    let frequency = match text(&mut entry, "tier").as_str() {
        "" | "medium" => None,
        "short" | "ultra-short" => Some(Frequency::High),
        "long" => Some(Frequency::Low),
        _ => return Err(refused("tier is not one of ultra-short, short, medium, long")),
    };
    let frequency = match text(&mut entry, "frequency").as_str() {
        "" => frequency,
        word => Some(
            Frequency::from_word(word).ok_or(refused("frequency is not one of high, mid, low, ultra_low"))?,
        ),
    };
    let kind = match text(&mut entry, "type").as_str() {
        "" => None,
        word => Some(MemoryKind::from_word(word).ok_or(refused("type is not a kind of memory"))?),
    };
    let procedure = entry.remove("procedure").map(serde_json::from_value::<Procedure>).transpose();
    let procedure = procedure.map_err(|_| refused("procedure has no lists of steps"))?.unwrap_or_default();
    let (own_title, summary) = (text(&mut entry, "title"), text(&mut entry, "summary"));
    let first_sentence =
        MemoryText { kind: MemoryKind::General, title: "", content: &content, procedure: None };
    let summary = if summary == first_sentence.in_one_sentence("") { String::new() } else { summary };
    let episode = entry.get("episode").cloned().unwrap_or_default();
    let of_episode = |name: &str| episode.get(name).and_then(Json::as_str);
    let retrieved =
        entry.get("retrieval").and_then(|retrieval| retrieval.get("created_at")).and_then(Json::as_str);
    let created = of_episode("timestamp").or(retrieved).and_then(read_time);
    let file = MemoryFile {
        id: text(&mut entry, "id"),
        kind,
        title: if own_title.is_empty() { title_of(&content) } else { own_title },
        procedure,
        tags: texts(&mut entry, "tags"),
        importance,
        created,
        relations: links(&entry.remove("links").unwrap_or_default()),
        frequency,
        project: of_episode("project").map(str::to_owned),
        summary,
        content: content.trim().to_owned(),
        // The entry's counters are claims: they are kept, and not interpreted.
        extra: with_kept(entry),
        ..MemoryFile::default()
    };
    Ok((file, birth_of(&episode, "task_id")))
}

/// Moves the fields that were kept earlier next to the other fields of the file.
fn with_kept(mut entry: Map<String, Json>) -> Map<String, Json> {
    match entry.remove("extra") {
        Some(Json::Object(kept)) => {
            for (name, value) in kept {
                entry.entry(name).or_insert(value);
            }
        }
        Some(other) => drop(entry.insert("extra".to_owned(), other)),
        None => {}
    }
    entry
}

/// Reads the entry paper's links: `[{"to": "mem_...", "type": "related_to", "weight": 0.8}]`.
fn links(links: &Json) -> Vec<Relation> {
    use crate::model::edge::Direction;
    let links = links.as_array().into_iter().flatten();
    links
        .filter_map(|link| {
            let text = |name: &str| link.get(name).and_then(Json::as_str);
            let (edge_type, is_reversed) = edge_type(text("type")?)?;
            let weight = link.get("weight");
            let weight = weight.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()));
            Some(Relation {
                target: text("to")?.to_owned(),
                edge_type,
                direction: if is_reversed { Direction::Incoming } else { Direction::Outgoing },
                strength: weight.filter(|it| (0.0..=1.0).contains(it)),
                context: String::new(),
                edge_id: String::new(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::edge::{Direction, EdgeType};

    #[track_caller]
    fn one(name: &str, text: &str) -> ForeignMemory {
        let mut found = read(name, text, Origin::Document).unwrap();
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0)
    }

    #[test]
    fn e_a_day_as_the_paper_prints_it() {
        let text = "## 14:30 - Auth Design Decision\n\nDecided to use JWT with 15-minute expiry instead of session tokens. \
                    Refresh tokens will last 7 days.\n\n<!--\nid: mem_a1b2c3\nimportance: 0.75\nentities: [jwt, session-tokens, \
                    refresh-tokens]\nlinks: [{to: mem_xyz, type: alternative_to, weight: 0.8}]\nepisode: {task: auth-design, \
                    outcome: decision}\n-->\n\nTags: #auth #security #architecture\n";
        let ForeignMemory { memory, relations } = one("memory/2026-01-29.md", text);
        assert_eq!((memory.kind, memory.title.as_str()), (MemoryKind::Decision, "Auth Design Decision"));
        assert!(memory.content.ends_with("will last 7 days."), "{}", memory.content);
        assert_eq!(memory.tags, ["auth", "security", "architecture"]);
        assert_eq!((memory.importance, memory.birth.outcome), (Some(0.75), Some(Outcome::Decision)));
        assert_eq!(memory.said_at, read_time("2026-01-29T14:30:00Z"));
        assert_eq!(
            (relations[0].target.as_str(), relations[0].edge_type),
            ("mem_xyz", EdgeType::AlternativeTo)
        );
        assert_eq!(memory.extra["entities"][0], "jwt", "nothing is lost");
        let two = format!("{text}\n## 15:00 - Other\n\nText.\n");
        assert_eq!(read("d.md", &two, Origin::Document).unwrap().len(), 2);
    }

    #[test]
    fn e_an_entry_as_json() {
        let text = r##"{"id": "mem_7", "content": "Redis needs keepalive. It drops idle connections.", "summary": "Keepalive.",
            "tier": "long", "importance": 0.8, "episode": {"project": "homelab", "timestamp": "2026-01-29T14:30:00Z", "outcome": "success"},
            "tags": ["#redis"], "links": [{"to": "mem_8", "type": "caused_by", "weight": 0.7}],
            "retrieval": {"access_count": 5}, "status": "active"}"##;
        let ForeignMemory { memory, relations } = one("a.json", text);
        assert_eq!((memory.title.as_str(), memory.tags), ("Redis needs keepalive", vec!["redis".to_owned()]));
        assert_eq!(memory.frequency, Some(Frequency::Mid), "a claim settles no further");
        assert_eq!(
            (memory.project.as_deref(), memory.caller_id.as_deref()),
            (Some("homelab"), Some("mem_7"))
        );
        assert_eq!((relations[0].edge_type, relations[0].direction), (EdgeType::Causes, Direction::Incoming));
        assert_eq!(memory.extra["retrieval"]["access_count"], 5);
        assert!(read("a.json", "{\"content\": }", Origin::Document).unwrap_err().why.contains("JSON"));
        assert!(read("a.json", "[7]", Origin::Document).is_err());
    }

    #[test]
    fn i_what_a_file_claims_of_checks_and_successors_is_kept_and_read_by_nothing() {
        let text = "---\nvalidation:\n  validated_by: \"code_test_agent\"\n  validated_at: \"2025-11-14T10:00:00Z\"\n  \
                    validity_window: \"6h\"\n  reliability: 0.92\n  sensor: fs\nsuperseded_by: x\nsteps: [a]\n---\nText.\n";
        let memory = one("a.md", text).memory;
        let kept = serde_json::json!({"validated_by": "code_test_agent", "validated_at": "2025-11-14T10:00:00+00:00",
            "reliability": 0.92, "sensor": "fs"});
        assert_eq!((&memory.extra["validation"], memory.reliability), (&kept, None));
        assert_eq!(memory.validity_window, Some(std::time::Duration::from_hours(6)));
        assert_eq!(
            (&memory.extra["superseded_by"], &memory.extra["steps"]),
            (&"x".into(), &serde_json::json!(["a"]))
        );
    }

    #[test]
    fn c_a_trace_and_a_plain_text_are_memories_too() {
        let trace = "---\nmemory_frequency: low\nvolatility: low\nconfidence_score: 0.96\nusage_count: 45\ngoal_signature: \
                     \"multi_source\"\n---\n# Research, in steps\n\nAsk three sources.\n";
        let memory = one("memory/long_term/execution_trace_research_v1.md", trace).memory;
        assert_eq!(
            (memory.title.as_str(), memory.content.as_str()),
            ("Research, in steps", "Ask three sources.")
        );
        assert_eq!((memory.confidence, memory.frequency), (Some(0.8), Some(Frequency::Mid)));
        assert_eq!(memory.extra["usage_count"], 45);
        assert_eq!(one("notes/nginx-reload.md", "Reload it.\n").memory.title, "nginx reload");
        assert!(read("x.md", "---\nid: 7\n---\n\n", Origin::Document).is_err());
    }
}
