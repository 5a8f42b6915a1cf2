//! Files of other programs, as claims: memories of the cognitive and the continuum paper, days and JSON of the entry paper.

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Map, Value as Json};

use crate::{
    english::sentences::sentences,
    model::{
        memory::{
            new::NewMemory,
            words::{Frequency, MemoryKind, Outcome},
        },
        turn::Origin,
    },
    vault::{
        file::{MemoryFile, Relation, edge_type, read_time},
        frontmatter::{Refused, Value, fields},
        incoming::claim,
    },
};

/// A title is cut behind a word before it has more bytes.
const TITLE_BYTES: usize = 120;

/// A memory that a file claims, and what it is related to by the file's own ids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Foreign {
    pub(crate) memory: NewMemory,
    pub(crate) relations: Vec<Relation>,
}

/// The memories of a file, by what it looks like: JSON, a day, or one memory with a head or without.
pub(crate) fn read(name: &str, text: &str, origin: Origin) -> Result<Vec<Foreign>, Refused> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = stem.split('.').next().unwrap_or(stem);
    let begins = text.trim_start();
    let of_files = if begins.starts_with(['{', '[']) && !begins.starts_with("[[") {
        of_json(text)?
    } else if is_day(text) {
        day(stem, &text.replace("\r\n", "\n"))?
    } else {
        vec![(MemoryFile::read(text)?, None)]
    };
    let mut found = Vec::with_capacity(of_files.len());
    for (file, outcome) in of_files {
        if file.content.trim().is_empty() {
            return Err(Refused { line: 1, why: "there is no text" });
        }
        let relations = file.relations.clone();
        let kind =
            if outcome == Some(Outcome::Decision) { MemoryKind::Decision } else { MemoryKind::General };
        let mut memory = claim(file, kind, stem, (origin, false));
        memory.birth.outcome = outcome;
        found.push(Foreign { memory, relations });
    }
    Ok(found)
}

/// E: a day has headings with a time of the day, and no head.
fn is_day(text: &str) -> bool {
    !text.starts_with("---") && text.lines().any(|line| moment(line).is_some())
}

/// `## 14:30 - Title`.
fn moment(line: &str) -> Option<(&str, &str)> {
    let (time, title) = line.strip_prefix("## ")?.split_once(" - ")?;
    let is_time = time.len() == 5 && chrono::NaiveTime::parse_from_str(time, "%H:%M").is_ok();
    is_time.then_some((time, title.trim()))
}

type Claimed = (MemoryFile, Option<Outcome>);

/// E: a day, `memory/YYYY-MM-DD.md`: a heading, a text, what is said of it in a comment, its tags.
fn day(stem: &str, text: &str) -> Result<Vec<Claimed>, Refused> {
    let on = NaiveDate::parse_from_str(stem, "%Y-%m-%d").ok();
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
) -> Result<Claimed, Refused> {
    let mut file = MemoryFile { title: title.to_owned(), created, ..MemoryFile::default() };
    let (mut content, mut comment, mut outcome, mut is_inside) = (Vec::new(), Vec::new(), None, false);
    for line in lines {
        match line.trim() {
            "<!--" => is_inside = true,
            "-->" => is_inside = false,
            _ if is_inside => comment.push(line.replace("-\\u002d", "--")),
            line if line.starts_with("Tags:") => {
                file.tags =
                    line[5..].split_whitespace().map(|tag| tag.trim_matches([',', '#']).to_owned()).collect();
            }
            _ => content.push(*line),
        }
    }
    content.join("\n").trim().clone_into(&mut file.content);
    let comment: Vec<&str> = comment.iter().map(String::as_str).collect();
    // A line of the comment, not of a head.
    let said = fields(&comment).map_err(|refused| Refused { line: refused.line + first, ..refused })?;
    for field in said {
        let text = field.value.text();
        match field.name.as_str() {
            "id" => text.unwrap_or_default().clone_into(&mut file.id),
            "importance" => {
                file.importance =
                    text.and_then(|text| text.parse().ok()).filter(|it| (0.0..=1.0).contains(it));
            }
            "links" => file.relations = links(&field.value.to_json()),
            "episode" => {
                outcome = field.value.named("outcome").and_then(Value::text).and_then(Outcome::from_word);
                file.extra.insert("episode".to_owned(), field.value.to_json());
            }
            name => drop(file.extra.insert(name.to_owned(), field.value.to_json())),
        }
    }
    Ok((file, outcome))
}

/// E: one memory as JSON, or a list of them.
fn of_json(text: &str) -> Result<Vec<Claimed>, Refused> {
    let json: Json = serde_json::from_str(text)
        .map_err(|error| Refused { line: error.line(), why: "it is not valid JSON" })?;
    let entries = match json {
        Json::Array(entries) => entries,
        one => vec![one],
    };
    entries
        .into_iter()
        .map(|entry| match entry {
            Json::Object(entry) => of_entry(entry),
            _ => Err(Refused { line: 1, why: "a memory is a JSON object" }),
        })
        .collect()
}

fn of_entry(mut entry: Map<String, Json>) -> Result<Claimed, Refused> {
    let refused = |why| Refused { line: 1, why };
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
        return Err(refused("importance is no number from 0 to 1"));
    }
    let frequency = match text(&mut entry, "tier").as_str() {
        "" | "medium" => None,
        "short" | "ultra-short" => Some(Frequency::High),
        "long" => Some(Frequency::Low),
        _ => return Err(refused("tier is none of ultra-short, short, medium, long")),
    };
    let episode = entry.get("episode").cloned().unwrap_or_default();
    let of_episode = |name: &str| episode.get(name).and_then(Json::as_str);
    let retrieved =
        entry.get("retrieval").and_then(|retrieval| retrieval.get("created_at")).and_then(Json::as_str);
    let created = of_episode("timestamp").or(retrieved).and_then(read_time);
    let file = MemoryFile {
        id: text(&mut entry, "id"),
        title: title_of(&content),
        tags: texts(&mut entry, "tags"),
        importance,
        created,
        relations: links(&entry.remove("links").unwrap_or_default()),
        frequency,
        project: of_episode("project").map(str::to_owned),
        summary: text(&mut entry, "summary"),
        content: content.trim().to_owned(),
        // Its counters are claims: kept, and read by nothing.
        extra: entry,
        ..MemoryFile::default()
    };
    Ok((file, of_episode("outcome").and_then(Outcome::from_word)))
}

/// E: `[{"to": "mem_...", "type": "related_to", "weight": 0.8}]`.
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

/// The first sentence, cut behind a word where it is long.
fn title_of(content: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::edge::{Direction, EdgeType};

    #[track_caller]
    fn one(name: &str, text: &str) -> Foreign {
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
        let Foreign { memory, relations } = one("memory/2026-01-29.md", text);
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
        let Foreign { memory, relations } = one("a.json", text);
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
