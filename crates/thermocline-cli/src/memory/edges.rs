//! `thermocline memory relate`, `unrelate` and `neighbours`: relations between memories.

use serde::Serialize;
use thermocline::{Edge, EdgeId, Neighbour, NewEdge};

use crate::{
    exit::Failure,
    find::Db,
    memory::{
        list_args::{BesideArgs, RelateArgs, UnrelateArgs},
        named, show,
    },
    output::Output,
    pages, plain,
};

/// The edge that was removed.
#[derive(Debug, Serialize)]
struct Removed {
    edge: Edge,
}

pub(crate) fn relate(db: &Db, args: &RelateArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let mut edge = NewEdge::new(args.edge_type).origin(origin);
    if let Some(strength) = args.strength {
        edge = edge.strength(strength);
    }
    if let Some(context) = &args.context {
        edge = edge.context(context.as_str());
    }
    if let Some(description) = &args.description {
        edge = edge.description(description.as_str());
    }
    let (_file, _user, memories) = named::to_change(db, &args.from.user)?;
    let from = named::memory(&memories, &args.from.memory)?;
    let to = named::memory(&memories, &args.to)?;
    let edge = memories.by(origin).relate(from.id, edge, to.id)?;
    out.answer(&edge, |edge| {
        format!(
            "{} {} {}, {:.2}\n  {}\n",
            plain::line(&from.title, 60),
            edge.edge_type.as_str(),
            plain::line(&to.title, 60),
            edge.strength,
            edge.id
        )
    })
}

pub(crate) fn unrelate(db: &Db, args: &UnrelateArgs, out: &Output) -> Result<(), Failure> {
    let no_edge = || Failure::not_found("this user has no such edge; memory neighbours shows their ids");
    let id = args.edge.parse::<EdgeId>().map_err(|_| no_edge())?;
    let (_file, _user, memories) = named::to_change(db, &args.user)?;
    let edge = memories.edge(id)?;
    memories.by(args.origin.or_who_sits_there(out)).unrelate(id)?;
    out.answer(&Removed { edge }, |Removed { edge }| {
        format!("removed: {} {} {}\n", edge.from, edge.edge_type.as_str(), edge.to)
    })
}

pub(crate) fn neighbours(db: &Db, args: &BesideArgs, out: &Output) -> Result<(), Failure> {
    let (_file, user, memory) = named::one(db, &args.memory)?;
    let memories = user.memories();
    let page = |after, limit| memories.neighbours(memory.id, after, limit);
    let found = pages::list(None, args.limit, page, |neighbour: &Neighbour| neighbour.edge.id)?;
    if found.is_empty() && !out.is_json() {
        out.talk("it has no neighbours");
        return Ok(());
    }
    out.answer(&found, |found| {
        let line = |of: &Neighbour| format!("{}\n  edge {}\n", show::edge(of), of.edge.id);
        found.iter().map(line).collect()
    })
}
