//! The file of an edge that has its own text, in the format of the cognitive paper.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::{
    model::{
        edge::{Edge, EdgeType},
        memory::{known::Memory, trust::Trust},
    },
    vault::{
        body::{body, content, with_line_feeds},
        frontmatter::{self, Field, FrontmatterError, quoted},
        guard::{guarded, is_active, unguarded},
        head::{HeadWriter, read_time},
        relation::{edge_type, type_name},
        state::short_hash_of,
    },
};

/// The folder of the files of edges.
pub(crate) const FOLDER: &str = "graph/edges/";

/// The content of an edge's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EdgeFile {
    pub(crate) id: String,
    pub(crate) edge_type: Option<EdgeType>,
    pub(crate) from_id: String,
    pub(crate) from_title: String,
    pub(crate) to_id: String,
    pub(crate) to_title: String,
    pub(crate) strength: Option<f64>,
    pub(crate) created: Option<DateTime<Utc>>,
    pub(crate) updated: Option<DateTime<Utc>>,
    pub(crate) description: String,
    /// Whether the description is written so that nothing in it is active. It is read as it was.
    pub(crate) inert: bool,
}

impl EdgeFile {
    /// Returns the content of the file for an edge between these two memories.
    pub(crate) fn of(edge: &Edge, [from, to]: [&Memory; 2]) -> Self {
        Self {
            id: edge.id.to_string(),
            edge_type: Some(edge.edge_type),
            from_id: from.id.as_uuid().to_string(),
            from_title: from.title.clone(),
            to_id: to.id.as_uuid().to_string(),
            to_title: to.title.clone(),
            strength: Some(edge.strength),
            created: Some(edge.created_at),
            updated: Some(edge.updated_at),
            description: with_line_feeds(&edge.description),
            inert: Trust::of(edge.origin) < Trust::User && is_active(&edge.description),
        }
    }

    /// Writes the file. A type that the paper lacks is written as `RELATED_TO`, with our own type in a second field.
    pub(crate) fn write(&self) -> String {
        let (name, besides) = self.edge_type.map(type_name).unzip();
        let mut head = HeadWriter::default();
        let title = |title: &String| (!title.is_empty()).then(|| quoted(title));
        head.id("id", &self.id);
        head.plain("type", name);
        head.plain("edge_type", besides.flatten());
        head.id("from_id", &self.from_id);
        head.line("from_title", title(&self.from_title));
        head.id("to_id", &self.to_id);
        head.line("to_title", title(&self.to_title));
        head.number("strength", self.strength);
        head.time("created", self.created);
        head.time("updated", self.updated);
        head.plain("inert", self.inert.then_some("true"));
        head.above(&if self.inert { body(&guarded(&self.description)) } else { body(&self.description) })
    }

    /// Reads a file. Refuses a field that an edge's file does not have, because it would be lost.
    pub(crate) fn read(file: &str) -> Result<Self, FrontmatterError> {
        let parts = frontmatter::read(file)?;
        let mut read = Self { description: content(parts.body), ..Self::default() };
        for field in &parts.fields {
            read.take(field)?;
        }
        if read.inert {
            read.description = unguarded(&read.description);
        }
        Ok(read)
    }

    fn take(&mut self, field: &Field) -> Result<(), FrontmatterError> {
        let refused = |why| FrontmatterError { line: field.line, why };
        let text = field.value.text().ok_or(refused("it is not a single value"))?;
        let edge_type = || {
            let found = edge_type(text).filter(|(_, is_reversed)| !is_reversed).map(|(found, _)| found);
            found.ok_or(refused("it is not an edge type"))
        };
        let instant = || {
            read_time(text)
                .ok_or(refused("it is not a time of the years 1 to 9999 like 2025-12-06T16:25:58+00:00"))
        };
        match field.name.as_str() {
            "id" => text.clone_into(&mut self.id),
            "type" => self.edge_type = self.edge_type.or(Some(edge_type()?)),
            "edge_type" => self.edge_type = Some(edge_type()?),
            "from_id" => text.clone_into(&mut self.from_id),
            "from_title" => text.clone_into(&mut self.from_title),
            "to_id" => text.clone_into(&mut self.to_id),
            "to_title" => text.clone_into(&mut self.to_title),
            "strength" => {
                let number: f64 = text.parse().map_err(|_| refused("it is not a number"))?;
                let share = (0.0..=1.0).contains(&number).then_some(number);
                self.strength = Some(share.ok_or(refused("it is not a number from 0 to 1"))?);
            }
            "created" => self.created = Some(instant()?),
            "updated" => self.updated = Some(instant()?),
            "inert" => self.inert = text.parse().map_err(|_| refused("it is neither true nor false"))?,
            _ => return Err(refused("the file of an edge has no such field")),
        }
        Ok(())
    }

    /// Returns a short hash of each field, to detect edits.
    pub(crate) fn fields(&self) -> BTreeMap<String, String> {
        let Self {
            id: _,
            edge_type,
            from_id,
            from_title,
            to_id,
            to_title,
            strength,
            created: _,
            updated,
            description,
            inert: _,
        } = self;
        let seconds = |at: &Option<DateTime<Utc>>| format!("{:?}", at.map(|at| at.timestamp()));
        [
            ("type", format!("{edge_type:?}")),
            ("from_id", from_id.clone()),
            ("from_title", from_title.clone()),
            ("to_id", to_id.clone()),
            ("to_title", to_title.clone()),
            ("strength", format!("{strength:?}")),
            ("updated", seconds(updated)),
            ("description", description.clone()),
        ]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), short_hash_of(&text)))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An edge's file as the cognitive paper prints it.
    const PRINTED: &str = "---
id: 0199aaaa-0000-7000-8000-00000000000a
type: SOLVES
from_id: a1b2c3d4-e5f6-7890-abcd-ef1234567890
from_title: \"Fixed Redis connection timeouts\"
to_id: def789ab-0000-4000-8000-000000000001
to_title: \"Redis connection drops under load\"
strength: 0.8
created: 2025-12-06T16:25:58+00:00
updated: 2025-12-06T16:25:58+00:00
---
The keepalive fix directly resolves the idle disconnection problem.
";

    #[test]
    fn g_the_papers_edge_is_read_and_written_as_it_is_printed() {
        let read = EdgeFile::read(PRINTED).unwrap();
        assert_eq!((read.edge_type, read.strength), (Some(EdgeType::Solves), Some(0.8)));
        assert_eq!(read.write(), PRINTED);
    }

    #[test]
    fn a_type_that_the_paper_lacks_stands_beside_one_that_it_has() {
        for &edge_type in EdgeType::ALL {
            let file =
                EdgeFile { edge_type: Some(edge_type), description: "x".to_owned(), ..EdgeFile::default() };
            assert_eq!(EdgeFile::read(&file.write()).unwrap(), file);
        }
        let part = EdgeFile { edge_type: Some(EdgeType::PartOf), ..EdgeFile::default() };
        assert!(part.write().starts_with("---\ntype: RELATED_TO\nedge_type: part_of\n"));
    }

    #[test]
    fn what_is_not_what_its_name_promises_is_refused_with_its_line() {
        for head in [
            "type: LIKES",
            "type: caused_by",
            "strength: 2",
            "strength: much",
            "updated: soon",
            "x: y",
            "id: [a]",
        ] {
            assert_eq!(EdgeFile::read(&format!("---\n{head}\n---\nx\n")).unwrap_err().line, 2, "{head}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(
            id in "\\PC{0,9}", from_title in "(\\PC|\n|\"| #){0,20}", to_title in "(\\PC|---|: ){0,20}",
            strength in prop::option::of(0.0..=1.0), description in "( |\t|\\PC|\n|---\n|\u{2060}|<%){0,60}", inert: bool,
        ) {
            let file = EdgeFile {
                inert,
                from_id: id.clone(), to_id: id.clone(), id, from_title, to_title, strength, description,
                edge_type: Some(EdgeType::Follows), created: None, updated: read_time("2025-12-06"),
            };
            prop_assert_eq!(EdgeFile::read(&file.write()).unwrap(), file);
        }
    }
}
