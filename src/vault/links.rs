//! Links that people write into the texts of memories: what they lead to is related.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use crate::{
    model::edge::{Direction, EdgeType},
    vault::{
        body::stem,
        export::{Known, Wanted},
        incoming::{Incoming, is_of_memory},
        relation::Relation,
    },
};

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
        let (of, text, relations) = match one {
            Incoming::Edit { id, edit, ties, .. } => {
                (Some(*id.as_uuid()), edit.content.as_deref(), &mut ties.add)
            }
            Incoming::New { memory, relations, .. } => (None, Some(memory.content.as_str()), relations),
            Incoming::Conflict { .. } | Incoming::Gone { .. } => continue,
        };
        for name in text.into_iter().flat_map(names) {
            let Some(&other) = files.get(name) else { continue };
            let target = other.to_string();
            let is_said =
                relations.iter().any(|relation| relation.target.trim_start_matches("mem_") == target);
            if Some(other) != of && !is_said && of.is_none_or(|of| !related.contains(&(of, other))) {
                relations.push(Relation {
                    target,
                    edge_type: EdgeType::RelatedTo,
                    direction: Direction::Outgoing,
                    strength: None,
                    context: String::new(),
                    edge_id: String::new(),
                });
            }
        }
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
    use super::*;

    #[test]
    fn people_write_links_in_several_ways() {
        let found: Vec<&str> =
            names("See [[a]] and [[graph/fixes/b.md|that]].\n[[c#part]] [[ d ]] [[open\n]] [e]").collect();
        assert_eq!(found, ["a", "graph/fixes/b", "c", "d"]);
    }
}
