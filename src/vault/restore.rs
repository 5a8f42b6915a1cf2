//! Reads a whole vault back: memories with their ids, edges, births and notes. What the files say of themselves is believed,
//! even about who said it. So this is only for files of the user's own vault, and for a user who has nothing yet.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::{
    memory::{entities::entities, frequency::most_settled, page::tidy, terms::terms},
    model::{
        edge::{Direction, Edge, EdgeStatus, EdgeType},
        episode::{Episode, EpisodeRole},
        ids::{EdgeId, EpisodeId, MemoryId},
        memory::{
            known::Memory,
            standing::Standing,
            state::MemoryState,
            trust::Trust,
            words::{Frequency, LearningSource, MemoryKind, MemoryStatus, Resurfacing},
        },
        turn::Origin,
        vault::RefusedFile,
    },
    store::transfer::restore::RestoredMemories,
    vault::{
        body::as_typed,
        edge_file::{EdgeFile, FOLDER},
        file::MemoryFile,
        guard::is_active,
        head::read_time,
        places::kind_of_folder,
        places::{as_link, has_ending, is_of_memory},
        sections::moment,
        ties,
    },
};

/// The file with the uses of memories, which are stored separately from the memories' files.
pub(crate) const STATE: &str = "_state.json";

/// The content of a vault.
#[derive(Debug, Default)]
pub(crate) struct ReadVault {
    pub(crate) restored: RestoredMemories,
    /// The file of each memory.
    pub(crate) paths: HashMap<MemoryId, String>,
    /// The number of relations and edges to memories without a file.
    pub(crate) unrelated: u64,
}

/// Reads the files of a vault, each given with its path below the vault's folder. If one cannot be read, the whole vault is
/// refused.
pub(crate) fn read(files: &[(String, String)], now: DateTime<Utc>) -> Result<ReadVault, Vec<RefusedFile>> {
    let mut refused = Vec::new();
    let mut refuse = |path: &str, line, why: &str| {
        refused.push(RefusedFile { path: path.to_owned(), line, why: why.to_owned() });
    };
    let (mut found, mut described): (Vec<(Memory, MemoryFile)>, Vec<Edge>) = (Vec::new(), Vec::new());
    let mut paths: HashMap<MemoryId, String> = HashMap::new();
    let used = used(files);
    for (path, text) in files {
        if is_of_memory(path) {
            let read = MemoryFile::read(text).map_err(|refused| (Some(refused.line), refused.why));
            match read
                .and_then(|file| Ok((memory(path, &file, &used, now).map_err(|why| (None, why))?, file)))
            {
                Ok((memory, _)) if paths.contains_key(&memory.id) => {
                    refuse(path, None, "another file has the same id");
                }
                Ok((memory, file)) => {
                    paths.insert(memory.id, path.clone());
                    found.push((memory, file));
                }
                Err((line, why)) => refuse(path, line, why),
            }
        } else if is_of_edge(path) {
            let read = EdgeFile::read(text).map_err(|refused| (Some(refused.line), refused.why));
            match read.and_then(|file| edge(&file).ok_or((None, "it does not say which edge it is"))) {
                Ok(edge) => described.push(edge),
                Err((line, why)) => refuse(path, line, why),
            }
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    // In the order in which they were saved.
    found.sort_by_key(|(memory, _)| (memory.created_at, memory.id));
    let mut read = ReadVault { paths, ..ReadVault::default() };
    let edges = Edges::of(&mut found, described, &mut read.unrelated);
    read.restored.edges = edges.all;
    read.restored.memories = found.into_iter().map(|(memory, _)| memory).collect();
    read.restored.episodes = episodes(files, &read.restored.memories, &read.paths, now);
    Ok(read)
}

/// Whether a path is that of an edge's file.
fn is_of_edge(path: &str) -> bool {
    path.starts_with(FOLDER) && has_ending(path, "md") && !path.ends_with(".conflict.md")
}

/// Reads the uses of memories, by their ids.
fn used(files: &[(String, String)]) -> HashMap<String, MemoryState> {
    let text = files.iter().find(|(path, _)| path == STATE).map(|(_, text)| text.as_str());
    let json: Json = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let of_one = |(id, entry): (&String, &Json)| {
        let last = entry.get("last_accessed").and_then(Json::as_str);
        let state = MemoryState {
            access_count: entry.get("access_count")?.as_u64()?.try_into().ok()?,
            last_used_at: last.and_then(read_time),
            ..MemoryState::default()
        };
        Some((id.clone(), state))
    };
    json.get("entries").and_then(Json::as_object).into_iter().flatten().filter_map(of_one).collect()
}

/// Returns the memory in a file.
fn memory(
    path: &str,
    file: &MemoryFile,
    used: &HashMap<String, MemoryState>,
    now: DateTime<Utc>,
) -> Result<Memory, &'static str> {
    let uuid = Uuid::parse_str(file.id.trim_start_matches("mem_")).map_err(|_| "it has no memory id")?;
    let status = file.status.unwrap_or_default();
    if matches!(status, MemoryStatus::Forgotten | MemoryStatus::Quarantined) {
        return Err("its status is not one of active, archived, superseded");
    }
    let saved = saved_at(uuid).filter(|at| *at <= now);
    // A file has seconds, but our ids have milliseconds.
    let exact = |at: DateTime<Utc>| saved.filter(|saved| saved.timestamp() == at.timestamp()).unwrap_or(at);
    let said_at = file.created.map(exact).or(saved).unwrap_or(now);
    let created_at = saved.unwrap_or(said_at);
    let (frequency, origin) =
        (file.frequency.unwrap_or(Frequency::Mid), file.origin.unwrap_or(Origin::Assistant));
    let information_type = file.information_type.unwrap_or_default();
    let volatility = file.volatility.unwrap_or(information_type.default_volatility());
    let said = Trust::of(origin);
    // A memory that settled further than its volatility and its origin allow was approved by a person.
    let is_approved = frequency > most_settled(volatility, said) && said > Trust::Foreign;
    let kind = file.kind.or_else(|| kind_of_folder(path)).unwrap_or(MemoryKind::General);
    let validation = file.validation.as_ref();
    let mut state = used.get(&uuid.to_string()).cloned().unwrap_or_default();
    state.resurfacing = Resurfacing::On;
    state.validated_at = validation.and_then(|validation| validation.validated_at);
    state.validated_by = validation.map(|validation| validation.validated_by.clone());
    state.validation_count = state.validated_at.is_some().into();
    Ok(Memory {
        id: uuid.into(),
        kind,
        status,
        superseded_by: None,
        frequency,
        frequency_since: created_at,
        importance: file.importance.unwrap_or(0.5),
        confidence: file.confidence.unwrap_or(0.8),
        reliability: validation.and_then(|validation| validation.reliability),
        consolidation_threshold: None,
        information_type,
        volatility,
        validity_window: file.validity_window,
        origin,
        trust: if is_approved { Trust::Approved } else { said },
        learning_source: LearningSource::Manual,
        made_by: "import".to_owned(),
        pinned: path.starts_with("vault/"),
        session_id: None,
        project: file.project.clone(),
        goal_signature: file.goal_signature.clone(),
        task_type: file.task_type,
        version: 1,
        revision: 1,
        caller_id: None,
        said_at,
        created_at,
        updated_at: file.updated.map_or(created_at, exact),
        title: file.title.clone(),
        summary: file.summary.clone(),
        procedure: Some(file.procedure.clone()).filter(|procedure| !procedure.is_empty()),
        content: file.content.clone(),
        tags: tidied(&file.tags),
        entities: entities(&file.title, &file.content),
        extra: file.extra.clone(),
        state,
        contested: false,
        standing: Standing::default(),
    })
}

/// Returns when one of our ids was made.
fn saved_at(id: Uuid) -> Option<DateTime<Utc>> {
    let (seconds, nanos) = id.get_timestamp().filter(|_| id.get_version_num() == 7)?.to_unix();
    DateTime::from_timestamp(seconds.try_into().ok()?, nanos)
}

fn tidied(names: &[String]) -> Vec<String> {
    terms(names).into_iter().map(|term| term.name).collect()
}

/// Returns the edge in a file.
fn edge(file: &EdgeFile) -> Option<Edge> {
    let memory = |id: &str| Uuid::parse_str(id.trim_start_matches("mem_")).ok().map(MemoryId::from);
    let edge_type = file.edge_type?;
    let created_at = file.created.or(file.updated)?;
    Some(Edge {
        id: Uuid::parse_str(&file.id).ok()?.into(),
        from: memory(&file.from_id)?,
        to: memory(&file.to_id)?,
        edge_type,
        strength: file.strength.unwrap_or(edge_type.default_strength()),
        status: EdgeStatus::Accepted,
        // What is inert was not said by the user, and what is active was.
        origin: if file.inert { Origin::Assistant } else { Origin::User },
        created_at,
        updated_at: file.updated.unwrap_or(created_at),
        context: String::new(),
        description: file.description.clone(),
    })
}

/// All edges, each once, even if the files of both ends state it.
#[derive(Default)]
struct Edges {
    all: Vec<Edge>,
    places: HashMap<(MemoryId, MemoryId, EdgeType), usize>,
}

impl Edges {
    fn of(found: &mut [(Memory, MemoryFile)], described: Vec<Edge>, unrelated: &mut u64) -> Self {
        let known: HashMap<MemoryId, (DateTime<Utc>, Origin)> =
            found.iter().map(|(memory, _)| (memory.id, (memory.created_at, memory.origin))).collect();
        let mut edges = Self::default();
        for edge in described {
            if known.contains_key(&edge.from) && known.contains_key(&edge.to) && edge.from != edge.to {
                let of = [known[&edge.from].1, known[&edge.to].1];
                let origin = match edge.origin {
                    Origin::Assistant => least_trusted([least_trusted(of), Origin::Assistant]),
                    _ if is_active(&edge.description) => Origin::User,
                    _ => least_trusted(of),
                };
                edges.add(Edge { origin, ..edge });
            } else {
                *unrelated += 1;
            }
        }
        for (memory, file) in &mut *found {
            let mut unknown = Vec::new();
            for relation in &file.relations {
                let target =
                    Uuid::parse_str(relation.target.trim_start_matches("mem_")).ok().map(MemoryId::from);
                let Some(other) = target.filter(|id| known.contains_key(id) && *id != memory.id) else {
                    unknown.push(relation.clone());
                    continue;
                };
                let [here, there] = [known[&memory.id], known[&other]];
                let at = here.0.max(there.0);
                let (from, to) = match relation.direction {
                    Direction::Incoming => (other, memory.id),
                    Direction::Outgoing => (memory.id, other),
                };
                let strength = relation.strength.unwrap_or(relation.edge_type.default_strength());
                edges.add(Edge {
                    id: Uuid::parse_str(&relation.edge_id).map_or_else(|_| EdgeId::new(at), EdgeId::from),
                    from,
                    to,
                    edge_type: relation.edge_type,
                    strength,
                    status: EdgeStatus::Accepted,
                    origin: least_trusted([here.1, there.1]),
                    created_at: at,
                    updated_at: at,
                    context: relation.context.clone(),
                    description: String::new(),
                });
            }
            *unrelated += unknown.len() as u64;
            memory.extra = ties::with_unknown(&memory.extra, &unknown);
            let by = Uuid::parse_str(file.superseded_by.trim_start_matches("mem_")).ok().map(MemoryId::from);
            let by = by.filter(|by| known.contains_key(by) && *by != memory.id);
            match (memory.status, by) {
                (MemoryStatus::Superseded, Some(by)) => {
                    memory.superseded_by = Some(by);
                    edges.add_supersedes(by, memory);
                }
                // The memory that superseded this one has no file.
                (MemoryStatus::Superseded, None) => memory.status = MemoryStatus::Archived,
                _ => {}
            }
        }
        edges
    }

    /// Adds an edge, or completes the existing one.
    fn add(&mut self, edge: Edge) {
        let key = |from, to| (from, to, edge.edge_type);
        let turned = self.places.get(&key(edge.to, edge.from)).filter(|_| edge.edge_type.is_symmetric());
        if let Some(&place) = self.places.get(&key(edge.from, edge.to)).or(turned) {
            let known = &mut self.all[place];
            if known.context.is_empty() {
                known.context = edge.context;
            }
        } else {
            self.places.insert(key(edge.from, edge.to), self.all.len());
            self.all.push(edge);
        }
    }

    fn add_supersedes(&mut self, by: MemoryId, memory: &Memory) {
        self.add(Edge {
            id: EdgeId::new(memory.updated_at),
            from: by,
            to: memory.id,
            edge_type: EdgeType::Supersedes,
            strength: EdgeType::Supersedes.default_strength(),
            status: EdgeStatus::Accepted,
            origin: memory.origin,
            created_at: memory.updated_at,
            updated_at: memory.updated_at,
            context: String::new(),
            description: String::new(),
        });
    }
}

fn least_trusted([one, other]: [Origin; 2]) -> Origin {
    if Trust::of(one) < Trust::of(other) { one } else { other }
}

/// Returns births and notes. Within a minute, they are in the order of the days' files.
fn episodes(
    files: &[(String, String)],
    memories: &[Memory],
    paths: &HashMap<MemoryId, String>,
    now: DateTime<Utc>,
) -> Vec<Episode> {
    let mut by_path: HashMap<String, &Memory> = HashMap::new();
    for memory in memories {
        by_path.insert(as_link(&paths[&memory.id]), memory);
    }
    let mut days: BTreeMap<NaiveDate, String> = BTreeMap::new();
    for (path, text) in files {
        let day = path.strip_prefix("episodes/").and_then(|name| name.strip_suffix(".md"));
        if let Some(on) = day.and_then(|day| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()) {
            days.insert(on, as_typed(text));
        }
    }
    let (mut found, mut born) = (Vec::new(), HashSet::new());
    let mut last = DateTime::<Utc>::MIN_UTC;
    for (on, text) in days {
        let lines: Vec<&str> = text.lines().collect();
        let starts: Vec<usize> = (0..lines.len()).filter(|&at| moment(lines[at]).is_some()).collect();
        for (number, &start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(lines.len());
            let Some((time, title)) = moment(lines[start]) else { continue };
            let Some(minute) = read_time(&format!("{on} {time}")) else { continue };
            let of_one = OfDay::of(&lines[start + 1..end]);
            let about = of_one.path.and_then(|path| by_path.get(path).copied());
            let is_birth = |memory: &&Memory| {
                let since = memory.said_at.signed_duration_since(minute);
                (TimeDelta::zero()..TimeDelta::minutes(1)).contains(&since) && tidy(&memory.title) == title
            };
            if let Some(memory) = about.filter(is_birth).filter(|memory| born.insert(memory.id)) {
                last = last.max(memory.said_at);
                found.push(birth(memory));
            } else {
                last = last.max(minute);
                found.push(of_one.note(title, about, last));
            }
        }
    }
    found.extend(memories.iter().filter(|memory| !born.contains(&memory.id)).map(birth));
    found.sort_by_key(|episode| episode.happened_at);
    for episode in &mut found {
        episode.id = EpisodeId::new(now);
    }
    found
}

fn birth(memory: &Memory) -> Episode {
    Episode {
        memory_id: Some(memory.id),
        happened_at: memory.said_at,
        project: memory.project.clone(),
        ..episode(EpisodeRole::Birth)
    }
}

fn episode(role: EpisodeRole) -> Episode {
    Episode {
        id: EpisodeId::new(DateTime::UNIX_EPOCH),
        role,
        memory_id: None,
        session_id: None,
        turn_number: None,
        receipt_id: None,
        happened_at: DateTime::UNIX_EPOCH,
        outcome: None,
        kind: None,
        project: None,
        task_id: None,
        task_name: None,
        trigger: None,
        caller_id: None,
        title: String::new(),
        tags: Vec::new(),
        summary: String::new(),
    }
}

/// What the page of a day says below a title.
#[derive(Default)]
struct OfDay<'t> {
    kind: Option<MemoryKind>,
    tags: Vec<String>,
    path: Option<&'t str>,
    summary: &'t str,
}

impl<'t> OfDay<'t> {
    fn of(lines: &[&'t str]) -> Self {
        let mut of_day = Self::default();
        for line in lines {
            let Some((name, text)) = line.strip_prefix("- **").and_then(|line| line.split_once(":** "))
            else {
                continue;
            };
            match name {
                "Type" => of_day.kind = MemoryKind::from_word(text),
                "Tags" => of_day.tags = text.split(", ").map(str::to_owned).collect(),
                "Memory" => {
                    let link = text.split_once("](../").map(|(_, path)| path);
                    of_day.path = link.and_then(|link| link.strip_suffix(')'));
                }
                "Summary" => of_day.summary = text,
                _ => {}
            }
        }
        of_day
    }

    fn note(self, title: &str, about: Option<&Memory>, happened_at: DateTime<Utc>) -> Episode {
        Episode {
            memory_id: about.map(|memory| memory.id),
            happened_at,
            kind: self.kind,
            title: title.to_owned(),
            tags: tidied(&self.tags),
            summary: self.summary.to_owned(),
            ..episode(EpisodeRole::Note)
        }
    }
}
