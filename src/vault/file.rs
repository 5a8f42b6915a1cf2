//! The file of a memory, in the format of the cognitive paper: a head and a text. Our own fields are written only if they
//! differ from the default.

use std::{borrow::Cow, fmt::Write as _, time::Duration};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value as Json};

use crate::{
    model::{
        memory::{
            known::Memory,
            procedure::Procedure,
            trust::Trust,
            words::{Frequency, InformationType, MemoryKind, MemoryStatus, TaskType, Volatility},
        },
        turn::Origin,
    },
    vault::{
        body::{body, content, with_block, with_line_feeds, without_block},
        frontmatter::{self, Field, FieldValue, FrontmatterError, quoted, words},
        guard::{guarded, is_active, is_active_name, unguarded},
        head::{HeadWriter, REST, hyphenated, number, read_time, read_window, time, window},
        lineage::Lineage,
        relation::{Relation, relations, written},
    },
};

/// The last check that the memory passed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Validation {
    pub(crate) validated_by: String,
    pub(crate) validated_at: Option<DateTime<Utc>>,
    pub(crate) reliability: Option<f64>,
}

/// The content of a memory's file. A field that the file does not state is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MemoryFile {
    pub(crate) id: String,
    pub(crate) kind: Option<MemoryKind>,
    pub(crate) title: String,
    pub(crate) tags: Vec<String>,
    pub(crate) importance: Option<f64>,
    pub(crate) confidence: Option<f64>,
    pub(crate) procedure: Procedure,
    pub(crate) created: Option<DateTime<Utc>>,
    pub(crate) updated: Option<DateTime<Utc>>,
    pub(crate) relations: Vec<Relation>,
    pub(crate) frequency: Option<Frequency>,
    pub(crate) volatility: Option<Volatility>,
    pub(crate) information_type: Option<InformationType>,
    pub(crate) validation: Option<Validation>,
    pub(crate) validity_window: Option<Duration>,
    pub(crate) goal_signature: Option<String>,
    pub(crate) task_type: Option<TaskType>,
    pub(crate) project: Option<String>,
    pub(crate) origin: Option<Origin>,
    pub(crate) status: Option<MemoryStatus>,
    /// The id of the memory that superseded it; empty if none did.
    pub(crate) superseded_by: String,
    pub(crate) summary: String,
    /// Whether the text is written so that nothing in it is active. It is read as it was.
    pub(crate) inert: bool,
    /// The versions that the file follows.
    pub(crate) lineage: Lineage,
    /// Uninterpreted fields.
    pub(crate) extra: Map<String, Json>,
    pub(crate) content: String,
}

/// The fields that have a meaning. All other fields are uninterpreted, and an uninterpreted field is never written under one
/// of these names.
pub(super) const NAMES: [&str; 29] = [
    "id",
    "type",
    "title",
    "tags",
    "importance",
    "confidence",
    "confidence_score",
    "steps",
    "preconditions",
    "postconditions",
    "created",
    "created_at",
    "updated",
    "relations",
    "memory_frequency",
    "volatility",
    "information_type",
    "validation",
    "validity_window",
    "goal_signature",
    "task_type",
    "project",
    "origin",
    "status",
    "superseded_by",
    "summary",
    "inert",
    "lineage",
    REST,
];
/// The fields within `validation`.
const OF_VALIDATION: [&str; 4] = ["validated_by", "validated_at", "reliability", "validity_window"];

impl MemoryFile {
    /// Returns the content of the file for a memory and its relations.
    pub(crate) fn of(memory: &Memory, relations: Vec<Relation>) -> Self {
        let default = |is_default: bool| !is_default;
        Self {
            id: memory.id.as_uuid().to_string(),
            kind: Some(memory.kind),
            title: memory.title.clone(),
            tags: memory.tags.clone(),
            importance: Some(memory.importance),
            confidence: Some(memory.confidence),
            procedure: memory.procedure.clone().unwrap_or_default(),
            created: Some(memory.said_at),
            updated: Some(memory.updated_at),
            relations,
            frequency: Some(memory.frequency).filter(|it| default(*it == Frequency::Mid)),
            volatility: Some(memory.volatility)
                .filter(|it| default(*it == memory.information_type.default_volatility())),
            information_type: Some(memory.information_type)
                .filter(|it| default(*it == InformationType::default())),
            validation: memory.state.validated_by.clone().map(|validated_by| Validation {
                validated_by,
                validated_at: memory.state.validated_at,
                reliability: memory.reliability,
            }),
            validity_window: memory.validity_window,
            goal_signature: memory.goal_signature.clone(),
            task_type: memory.task_type,
            project: memory.project.clone(),
            origin: Some(memory.origin).filter(|it| default(*it == Origin::Assistant)),
            status: Some(memory.status).filter(|it| default(*it == MemoryStatus::Active)),
            superseded_by: memory.superseded_by.map(|by| by.as_uuid().to_string()).unwrap_or_default(),
            summary: memory.summary.clone(),
            inert: memory.trust < Trust::User
                && (is_active(&memory.content)
                    || memory.extra.iter().any(|(name, value)| is_active_name(name, &value.to_string()))),
            lineage: Lineage::default(),
            extra: memory.extra.clone(),
            content: with_line_feeds(&memory.content),
        }
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> String {
        self.write_with("")
    }

    /// Writes the file, with this block of links after its text.
    pub(crate) fn write_with(&self, block: &str) -> String {
        let mut head = HeadWriter::default();
        self.write_names(&mut head);
        head.extra(&self.extra, &NAMES, self.inert);
        head.above(&with_block(body(&self.shown()), block))
    }

    /// Returns the text as it is written.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        if self.inert { guarded(&self.content) } else { Cow::Borrowed(&self.content) }
    }

    /// Turns the text that was written into the one that it stands for. Called once all fields are read.
    pub(super) fn read_shown(&mut self) {
        if self.inert {
            self.content = unguarded(&self.content);
        }
    }

    /// Writes the file's fields, except those in `without` and the uninterpreted ones.
    pub(super) fn write_besides(&self, head: &mut HeadWriter, without: &'static [&'static str]) {
        head.without = without;
        self.write_names(head);
        head.without = &[];
    }

    fn write_names(&self, head: &mut HeadWriter) {
        head.id("id", &self.id);
        head.plain("type", self.kind.map(MemoryKind::as_str));
        head.line("title", (!self.title.is_empty()).then(|| quoted(&self.title)));
        head.line("tags", (!self.tags.is_empty()).then(|| words(&self.tags)));
        head.number("importance", self.importance);
        head.number("confidence", self.confidence);
        head.procedure(&self.procedure);
        head.time("created", self.created);
        head.time("updated", self.updated);
        head.raw(&written(&self.relations));
        head.plain("memory_frequency", self.frequency.map(|it| hyphenated(it.as_str())));
        head.plain("volatility", self.volatility.map(Volatility::as_str));
        head.plain("information_type", self.information_type.map(|it| hyphenated(it.as_str())));
        head.raw(&self.validation.as_ref().map(validated).unwrap_or_default());
        head.line("validity_window", self.validity_window.map(window));
        head.line("goal_signature", self.goal_signature.as_deref().map(quoted));
        head.plain("task_type", self.task_type.map(TaskType::as_str));
        head.line("project", self.project.as_deref().map(quoted));
        head.plain("origin", self.origin.map(Origin::as_str));
        head.plain("status", self.status.map(MemoryStatus::as_str));
        head.id("superseded_by", &self.superseded_by);
        head.line("summary", (!self.summary.is_empty()).then(|| quoted(&self.summary)));
        head.plain("inert", self.inert.then_some("true"));
        head.line("lineage", (!self.lineage.is_unknown()).then(|| self.lineage.to_string()));
    }

    /// Reads a file. Refuses a value of the wrong type with its line; keeps unknown fields.
    pub(crate) fn read(file: &str) -> Result<Self, FrontmatterError> {
        let parts = frontmatter::read(file)?;
        let mut read = Self { content: content(without_block(parts.body)), ..Self::default() };
        for field in &parts.fields {
            read.take(field)?;
        }
        read.read_shown();
        Ok(read)
    }

    pub(super) fn take(&mut self, field: &Field) -> Result<(), FrontmatterError> {
        if !NAMES.contains(&field.name.as_str()) {
            self.extra.insert(field.name.clone(), field.value.to_json());
            return Ok(());
        }
        let refused = |why| FrontmatterError { line: field.line, why };
        let text = || field.value.text().ok_or(refused("it is not a single value"));
        let texts = || field.value.texts().ok_or(refused("it is not a list of texts"));
        /// Parses a word from a list, in any case; an empty word means that nothing is stated.
        macro_rules! word {
            ($of:ty) => {{
                let word = text()?.to_ascii_lowercase().replace('-', "_");
                match word.as_str() {
                    "" => None,
                    word => Some(
                        <$of>::from_word(word).ok_or(refused("it is not one of the words allowed here"))?,
                    ),
                }
            }};
        }
        let share = || {
            let number: f64 = text()?.parse().map_err(|_| refused("it is not a number"))?;
            (0.0..=1.0).contains(&number).then_some(number).ok_or(refused("it is not a number from 0 to 1"))
        };
        let instant = || {
            read_time(text()?)
                .ok_or(refused("it is not a time of the years 1 to 9999 like 2025-12-06T16:25:58+00:00"))
        };
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        match field.name.as_str() {
            "id" => text()?.clone_into(&mut self.id),
            "type" => self.kind = word!(MemoryKind),
            "title" => text()?.clone_into(&mut self.title),
            "tags" => self.tags = texts()?,
            "importance" => self.importance = Some(share()?),
            "confidence" => self.confidence = Some(share()?),
            "confidence_score" if self.confidence.is_none() => self.confidence = Some(share()?),
            "steps" => self.procedure.steps = texts()?,
            "preconditions" => self.procedure.preconditions = texts()?,
            "postconditions" => self.procedure.postconditions = texts()?,
            "created" => {
                if let Some(saved) = self.created.replace(instant()?) {
                    self.extra.insert("created_at".to_owned(), time(saved).into());
                }
            }
            "created_at" if self.created.is_none() => self.created = Some(instant()?),
            "updated" => self.updated = Some(instant()?),
            "relations" => self.relations = relations(field)?,
            "memory_frequency" => self.frequency = word!(Frequency),
            "volatility" => self.volatility = word!(Volatility),
            "information_type" => self.information_type = word!(InformationType),
            "validation" => {
                self.validation = validation(field)?;
                // The memory information paper has the window inside the validation.
                let window =
                    field.value.named("validity_window").and_then(FieldValue::text).and_then(read_window);
                self.validity_window = self.validity_window.or(window);
                if let FieldValue::Map(names) = &field.value {
                    let rest = names.iter().filter(|(name, _)| !OF_VALIDATION.contains(&name.as_str()));
                    let rest: Map<String, Json> =
                        rest.map(|(name, value)| (name.clone(), value.to_json())).collect();
                    if !rest.is_empty() {
                        self.extra.insert("validation".to_owned(), rest.into());
                    }
                }
            }
            "validity_window" => {
                self.validity_window =
                    Some(read_window(text()?).ok_or(refused("it is not a duration like 6h or 1 week"))?);
            }
            "goal_signature" => self.goal_signature = some(text()?),
            "task_type" => self.task_type = word!(TaskType),
            "project" => self.project = some(text()?),
            "origin" => self.origin = word!(Origin),
            "status" => self.status = word!(MemoryStatus),
            "superseded_by" => text()?.clone_into(&mut self.superseded_by),
            "summary" => text()?.clone_into(&mut self.summary),
            "inert" => self.inert = text()?.parse().map_err(|_| refused("it is neither true nor false"))?,
            "lineage" => match field.value.text().map(str::parse) {
                Some(Ok(lineage)) => self.lineage = lineage,
                _ => drop(self.extra.insert(field.name.clone(), field.value.to_json())),
            },
            REST => self.take_rest(&field.value),
            // This is another name for a field that was already read.
            name => drop(self.extra.insert(name.to_owned(), field.value.to_json())),
        }
        Ok(())
    }

    /// Reads the fields that the head cannot contain as they are. A field that the head itself states is not overwritten.
    fn take_rest(&mut self, value: &FieldValue) {
        match value.text().map(serde_json::from_str::<Map<String, Json>>) {
            Some(Ok(rest)) => {
                for (name, value) in rest {
                    self.extra.entry(name).or_insert(value);
                }
            }
            _ => drop(self.extra.insert(REST.to_owned(), value.to_json())),
        }
    }
}

fn validation(field: &Field) -> Result<Option<Validation>, FrontmatterError> {
    let FieldValue::Map(_) = &field.value else {
        let is_empty = field.value.text() == Some("");
        return if is_empty {
            Ok(None)
        } else {
            Err(FrontmatterError {
                line: field.line,
                why: "the validation is not a list of names and values",
            })
        };
    };
    let text = |name: &str| field.value.named(name).and_then(FieldValue::text);
    Ok(Some(Validation {
        validated_by: text("validated_by").unwrap_or_default().to_owned(),
        validated_at: text("validated_at").and_then(read_time),
        reliability: text("reliability").and_then(|text| text.parse().ok()),
    }))
}

/// Writes a check as part of a head.
fn validated(validation: &Validation) -> String {
    let mut text = format!("validation:\n  validated_by: {}\n", quoted(&validation.validated_by));
    if let Some(at) = validation.validated_at {
        let _ = writeln!(text, "  validated_at: {}", time(at));
    }
    if let Some(reliability) = validation.reliability {
        let _ = writeln!(text, "  reliability: {}", number(reliability));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::edge::{Direction, EdgeType};

    /// A memory's file as the cognitive paper prints it, with relations that are not indented.
    const PRINTED: &str = "---
id: a1b2c3d4-e5f6-7890-abcd-ef1234567890
type: solution
title: \"Fixed Redis connection timeouts\"
tags: [redis, timeout, production, homelab]
importance: 0.8
confidence: 0.8
created: 2025-12-06T16:25:58+00:00
updated: 2025-12-06T16:25:58+00:00
relations:
- target: def789ab-...
type: SOLVES
direction: outgoing
strength: 0.8
context: \"Keepalive prevents idle disconnections\"
---
Added socket_keepalive=True and socket_timeout=300 to Redis connection configuration.
";

    #[test]
    fn g_the_papers_sample_is_read_and_written_in_the_right_form() {
        let read = MemoryFile::read(PRINTED).unwrap();
        assert_eq!(
            (read.kind, read.title.as_str()),
            (Some(MemoryKind::Solution), "Fixed Redis connection timeouts")
        );
        assert_eq!(read.relations.len(), 1);
        let relation = &read.relations[0];
        assert_eq!((relation.edge_type, relation.strength), (EdgeType::Solves, Some(0.8)));
        let flat = "- target: def789ab-...\ntype: SOLVES\ndirection: outgoing\nstrength: 0.8\ncontext: ";
        let nested = "  - target: def789ab-...\n    type: SOLVES\n    direction: outgoing\n    strength: 0.8\n    context: ";
        assert_eq!(read.write(), PRINTED.replace(flat, nested));
        assert_eq!(MemoryFile::read(&read.write()).unwrap(), read);
    }

    #[test]
    fn g_a_procedure_has_lists() {
        let file = "---\nid: a1b2c3d4-...\ntype: procedure\ntitle: \"Deploy\"\nsteps:\n- \"Run tests\"\n- \"Push\"\npreconditions:\n- \
                    \"On main\"\npostconditions:\n- \"Healthy\"\n---\nStandard.\n";
        let read = MemoryFile::read(file).unwrap();
        assert_eq!(
            read.procedure,
            Procedure::new(["Run tests", "Push"]).preconditions(["On main"]).postconditions(["Healthy"])
        );
        assert_eq!(MemoryFile::read(&read.write()).unwrap(), read);
    }

    #[test]
    fn c_and_i_have_names_of_their_own_and_what_nothing_reads_is_kept() {
        let file = "---\nmemory_frequency: ultra-low\nvolatility: high\nupdate_trigger: execution\nconfidence_score: 0.85\nfrequency_history: \
                    [\"high\", \"mid\"]\ncreated_at: \"2025-11-09T14:30:00Z\"\nvalidation:\n  validated_by: \"code_test_agent\"\n  validated_at: \
                    \"2025-11-14T10:00:00Z\"\n  validity_window: \"6h\"\n  reliability: 0.92\nvalidity_window: 1 week\n---\n\nText.\n";
        let read = MemoryFile::read(file).unwrap();
        assert_eq!((read.frequency, read.confidence), (Some(Frequency::UltraLow), Some(0.85)));
        assert_eq!(read.validity_window, Some(Duration::from_hours(7 * 24)));
        assert_eq!(read.validation.as_ref().unwrap().reliability, Some(0.92));
        assert_eq!(read.extra["frequency_history"], serde_json::json!(["high", "mid"]));
        assert_eq!(read.content, "Text.");
        assert_eq!(MemoryFile::read(&read.write()).unwrap(), read);
    }

    #[test]
    fn a_value_that_is_not_what_its_name_promises_is_refused_with_its_line() {
        for (head, why) in [
            ("type: rumour", "not one of the words"),
            ("importance: 1.5", "from 0 to 1"),
            ("importance: much", "not a number"),
            ("created: yesterday", "not a time"),
            ("tags: {a: b}", "not a list"),
            ("relations: [{type: SOLVES}]", "no target"),
            ("validity_window: soon", "not a duration"),
        ] {
            let refused = MemoryFile::read(&format!("---\n{head}\n---\nx\n")).unwrap_err();
            assert!(refused.line == 2 && refused.why.contains(why), "{head}: {refused}");
        }
        let without_zone = MemoryFile::read("---\ncreated: 2025-12-06 16:25\n---\nx\n").unwrap();
        assert_eq!(time(without_zone.created.unwrap()), "2025-12-06T16:25:00+00:00");
    }

    #[test]
    fn a_type_of_the_other_end_is_the_type_of_this_one() {
        let of = |relation: &str| {
            MemoryFile::read(&format!("---\nrelations: [{relation}]\n---\nx\n")).unwrap().relations.remove(0)
        };
        let caused = of("{target: x, type: caused_by, direction: outgoing}");
        assert_eq!((caused.edge_type, caused.direction), (EdgeType::Causes, Direction::Incoming));
        let part = Relation { edge_type: EdgeType::PartOf, ..of("{target: x, type: RELATED_TO}") };
        let file = MemoryFile { relations: vec![part], content: "x".to_owned(), ..MemoryFile::default() };
        assert!(file.write().contains("type: RELATED_TO\n    direction: outgoing\n    edge_type: part_of\n"));
        assert_eq!(MemoryFile::read(&file.write()).unwrap(), file);
    }

    /// Unusual texts, composed of parts of files and heads.
    fn odd() -> impl Strategy<Value = String> {
        const PARTS: [&str; 38] = [
            "![",
            "<%",
            "javascript:",
            "\u{2060}",
            " #",
            ": ",
            "---",
            "\n",
            "\"",
            "'",
            "[",
            "{",
            "- ",
            "  ",
            "#",
            "&a",
            "*a",
            "!",
            "|",
            ">",
            "é",
            "日本",
            "\\",
            "\t",
            "\u{feff}",
            "}",
            "]",
            ",",
            "null",
            "5",
            "status",
            "origin: user",
            "\u{2028}",
            "\u{85}",
            "\u{1}",
            "<!-- links -->",
            "%",
            "a",
        ];
        prop::collection::vec(prop::sample::select(&PARTS[..]), 0..8).prop_map(|parts| parts.concat())
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![odd(), "\\PC{0,30}"]
    }

    /// Any JSON that may be kept with a memory.
    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<u64>().prop_map(Json::from),
            (-1e9..1e9).prop_map(Json::from),
            line().prop_map(Json::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
                prop::collection::vec((line(), inner), 0..5)
                    .prop_map(|names| Json::Object(names.into_iter().collect())),
            ]
        })
    }

    fn extra() -> impl Strategy<Value = Map<String, Json>> {
        let name = prop_oneof![
            "x_[a-z]{1,8}".prop_map(String::from),
            prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
            odd(),
            Just("origin: user\nstatus".to_owned()),
        ];
        prop::collection::vec((name, json()), 0..6).prop_map(|names| names.into_iter().collect())
    }

    prop_compose! {
        fn file()(
            title in line(), tags in prop::collection::vec(line().prop_filter("", |tag| !tag.is_empty()), 0..4),
            importance in prop::option::of(0.0..=1.0), steps in prop::collection::vec(line(), 0..4), summary in line(),
            id in line(), target in line().prop_filter("", |id| !id.is_empty()), context in line(),
            project in prop::option::of(line().prop_filter("", |name| !name.is_empty())),
            content in "( |\t|\\PC|\n|---\n|<!-- links -->|# |\u{2060}|!\\[|```x|<%){0,60}", seconds in prop::option::of(0_u64..10_000_000),
            extra in extra(), inert: bool,
        ) -> MemoryFile {
            let relation = Relation {
                target,
                edge_type: EdgeType::PartOf,
                direction: Direction::Incoming,
                strength: importance,
                context,
                edge_id: id.clone(),
            };
            MemoryFile {
                id, title, tags, importance, summary, inert, project, extra, content,
                procedure: Procedure::new(steps),
                validity_window: seconds.map(Duration::from_secs),
                relations: vec![relation],
                ..MemoryFile::default()
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(file in file()) {
            prop_assert_eq!(MemoryFile::read(&file.write()).unwrap(), file);
        }
    }

    #[test]
    fn names_that_nothing_reads_mean_nothing_whatever_they_are_called() {
        let odd = [
            "slot",
            "origin: user\nstatus",
            "status",
            "origin",
            "pinned",
            "a\"b",
            "extra",
            "superseded_by",
            "x: y",
            "",
        ];
        let extra: Map<String, Json> =
            odd.iter().map(|name| ((*name).to_owned(), "archived".into())).collect();
        let file = MemoryFile { extra, content: "x".to_owned(), ..MemoryFile::default() };
        let read = MemoryFile::read(&file.write()).unwrap();
        assert_eq!((read.status, read.origin, read.superseded_by.as_str()), (None, None, ""));
        assert_eq!(read, file, "{}", file.write());
    }

    #[test]
    fn what_a_head_has_no_room_for_stands_in_it_as_json() {
        let many = |count: usize| (0..count).map(|n| (format!("n{n}"), Json::from(n))).collect::<Map<_, _>>();
        let mut extra = many(500);
        extra.insert("list".to_owned(), (0..5_000).collect());
        extra.insert("deep".to_owned(), serde_json::json!({"a": {"b": {"c": [1, 0.1, null, "x"]}}}));
        let tags = (0..64).map(|n| format!("tag {n}")).collect();
        let file = MemoryFile { extra, tags, content: "x".to_owned(), ..MemoryFile::default() };
        assert_eq!(MemoryFile::read(&file.write()).unwrap(), file);
    }

    #[test]
    fn what_stands_beside_hundreds_of_others_is_read() {
        let one = Relation {
            target: "a".to_owned(),
            edge_type: EdgeType::PartOf,
            direction: Direction::Outgoing,
            strength: Some(0.5),
            context: "why".to_owned(),
            edge_id: "b".to_owned(),
        };
        let file = MemoryFile { relations: vec![one; 900], content: "x".to_owned(), ..MemoryFile::default() };
        assert_eq!(MemoryFile::read(&file.write()).unwrap(), file);
    }

    #[test]
    fn every_name_that_means_something_is_read() {
        for name in NAMES {
            let read = MemoryFile::read(&format!("---\n{name}: [[x]]\n---\nx\n"));
            assert!(read.is_err() || [REST, "lineage"].contains(&name), "{name}");
        }
    }
}
