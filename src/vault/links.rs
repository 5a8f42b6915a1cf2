//! Obsidian: links from the file of a memory to those that it is related to, behind its text; and links that people write.
//!
//! The block has one form, which the reader takes off again. A text that ends in that form itself has one line more behind it,
//! so that nothing of it is taken for the block.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use crate::{
    memory::page::tidy,
    model::{
        edge::{Direction, Edge, EdgeType},
        ids::MemoryId,
        turn::Origin,
    },
    vault::{
        export::{Known, Wanted},
        file::{Relation, type_name},
        incoming::{Incoming, new_edge},
        places::is_of_memory,
    },
};

const BLOCK: &str = "<!-- links -->";
/// Behind a text that ends like one with a block, and has none.
const NO_BLOCK: &str = "<!-- links: none -->";

/// The block of a memory, from its edges to others; empty: there are none. `paths` are the files of memories.
pub(crate) fn block<'e>(
    edges: impl IntoIterator<Item = &'e Edge>,
    paths: &BTreeMap<MemoryId, String>,
    titles: &HashMap<MemoryId, &str>,
) -> String {
    let line = |edge: &Edge| {
        let (name, besides) = type_name(edge.edge_type);
        let name = besides.map_or(name.to_owned(), str::to_ascii_uppercase);
        let title = tidy(&titles.get(&edge.to)?.replace('|', " "));
        Some(format!("- {name} [[{}|{title}]]\n", stem(paths.get(&edge.to)?)))
    };
    let mut lines: Vec<String> = edges.into_iter().filter_map(line).collect();
    lines.sort_unstable();
    if lines.is_empty() { String::new() } else { format!("{BLOCK}\n{}", lines.concat()) }
}

/// What stands behind a head, with the block behind it.
pub(super) fn with_block(body: String, block: &str) -> String {
    if block.is_empty() && without_block(&body).len() == body.len() {
        return body;
    }
    let block = if block.is_empty() { format!("{NO_BLOCK}\n") } else { block.to_owned() };
    body + &block
}

/// What stands behind a head, without the block, if there is one.
pub(super) fn without_block(body: &str) -> &str {
    let (mut rest, mut is_any) = (body.trim_end_matches(['\n', '\r']), false);
    loop {
        let start = rest.rfind('\n').map_or(0, |at| at + 1);
        let line = rest[start..].trim_end_matches('\r');
        if line == NO_BLOCK && !is_any || line == BLOCK && is_any {
            return &body[..start];
        }
        if start == 0 || !is_entry(line) {
            return body;
        }
        (rest, is_any) = (&rest[..start - 1], true);
    }
}

/// `- SOLVES [[redis-connection-drops-000001|Redis connection drops under load]]`.
fn is_entry(line: &str) -> bool {
    let parts = line
        .strip_prefix("- ")
        .and_then(|line| line.strip_suffix("]]"))
        .and_then(|line| line.split_once(" [["));
    parts.is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// Relates what people changed or wrote to the files that their texts link to, where no edge stands between the two.
pub(crate) fn tie(incoming: &mut [Incoming], known: &Known, wanted: &BTreeMap<String, Wanted>) {
    let mut files: HashMap<&str, Uuid> = HashMap::new();
    for (path, file) in wanted.iter().filter(|(path, _)| is_of_memory(path)) {
        if let Some(id) = file.id {
            files.insert(stem(path), id);
            files.insert(path.strip_suffix(".md").unwrap_or(path), id);
        }
    }
    let related: HashSet<(Uuid, Uuid)> = known
        .edges
        .iter()
        .flat_map(|edge| [(edge.from, edge.to), (edge.to, edge.from)])
        .map(|(from, to)| (*from.as_uuid(), *to.as_uuid()))
        .collect();
    for one in incoming {
        let (of, text) = match &*one {
            Incoming::Edit { id, edit, .. } => (Some(*id.as_uuid()), edit.content.as_deref()),
            Incoming::New { memory, .. } => (None, Some(memory.content.as_str())),
            Incoming::Taken { .. } | Incoming::Conflict { .. } | Incoming::Gone { .. } => continue,
        };
        let linked = text.into_iter().flat_map(names).filter_map(|name| files.get(name).copied());
        let linked: BTreeSet<Uuid> = linked
            .filter(|other| Some(*other) != of && of.is_none_or(|of| !related.contains(&(of, *other))))
            .collect();
        for other in linked {
            let target = other.to_string();
            let is_it = |relation: &Relation| relation.target.trim_start_matches("mem_") == target;
            match one {
                Incoming::Edit { ties, .. } if !ties.add.iter().any(|(relation, _)| is_it(relation)) => {
                    let relation = related_to(&target);
                    let edge = new_edge(&relation, Origin::User);
                    ties.add.push((relation, edge));
                }
                Incoming::New { relations, .. } if !relations.iter().any(is_it) => {
                    relations.push(related_to(&target));
                }
                _ => {}
            }
        }
    }
}

fn related_to(target: &str) -> Relation {
    Relation {
        target: target.to_owned(),
        edge_type: EdgeType::RelatedTo,
        direction: Direction::Outgoing,
        strength: None,
        context: String::new(),
        edge_id: String::new(),
    }
}

/// What a text links to: `[[name]]`, `[[name#part]]`, `[[name|as it is shown]]`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split("[[").skip(1)).filter_map(|rest| {
        let name = rest.split_once("]]")?.0;
        let name = name.split(['|', '#']).next().unwrap_or(name).trim();
        Some(name.strip_suffix(".md").unwrap_or(name))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "<!-- links -->\n- SOLVES [[drops-000001|Redis drops]]\n";

    #[test]
    fn the_block_is_taken_off_and_nothing_else() {
        for own in [
            "x\n",
            "x\n\n",
            "<!-- links -->\n",
            "<!-- links -->\n- a\n",
            "- SOLVES [[a|b]]\n",
            "",
            "x\n<!-- links -->\n",
        ] {
            assert_eq!(without_block(own), own);
            assert_eq!(without_block(&format!("{own}{ONE}")), own);
            assert_eq!(
                without_block(&format!("{own}{ONE}\r\n\n").replace('\n', "\r\n")),
                own.replace('\n', "\r\n")
            );
        }
        assert_eq!(with_block("x\n".to_owned(), ""), "x\n");
        assert_eq!(with_block(ONE.to_owned(), ""), format!("{ONE}<!-- links: none -->\n"));
    }

    proptest! {
        #[test]
        fn every_text_survives_the_block(
            own in "(<!-- links -->\n|<!-- links: none -->\n|- SOLVES \\[\\[a\\|b\\]\\]\n|\n|x){0,12}", has_block: bool,
        ) {
            let body = format!("{own}\n");
            let with = with_block(body.clone(), if has_block { ONE } else { "" });
            prop_assert_eq!(without_block(&with), body);
        }
    }

    #[test]
    fn people_write_links_in_several_ways() {
        let found: Vec<&str> =
            names("See [[a]] and [[graph/fixes/b.md|that]].\n[[c#part]] [[ d ]] [[open\n]] [e]").collect();
        assert_eq!(found, ["a", "graph/fixes/b", "c", "d"]);
    }
}
