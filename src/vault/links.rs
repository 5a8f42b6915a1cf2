//! Links that people write into the texts of memories: a memory becomes related to the memories that it links to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use crate::{
    model::{
        edge::{Direction, EdgeType},
        turn::Origin,
    },
    vault::{
        body::stem,
        change::Incoming,
        export::{ExportState, WantedFile},
        incoming::new_edge,
        places::is_of_memory,
        relation::Relation,
    },
};

/// Relates changed or new memories to the memories whose files their texts link to, if no edge connects the two yet.
pub(crate) fn tie(incoming: &mut [Incoming], known: &ExportState, wanted: &BTreeMap<String, WantedFile>) {
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
            _ => continue,
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

/// Returns the targets of a text's links: `[[name]]`, `[[name#part]]`, `[[name|as it is shown]]`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split("[[").skip(1)).filter_map(|rest| {
        let name = rest.split_once("]]")?.0;
        let name = name.split(['|', '#']).next().unwrap_or(name).trim();
        Some(name.strip_suffix(".md").unwrap_or(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_links_in_several_ways() {
        let found: Vec<&str> =
            names("See [[a]] and [[graph/fixes/b.md|that]].\n[[c#part]] [[ d ]] [[open\n]] [e]").collect();
        assert_eq!(found, ["a", "graph/fixes/b", "c", "d"]);
    }
}
