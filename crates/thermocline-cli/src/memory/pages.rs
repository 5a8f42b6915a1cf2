//! `thermocline memory core`, `reflection` and `reflect`: show texts about all memories, and find similar memories.

use std::fmt::Write as _;

use serde_json::json;
use thermocline::{CoreOptions, Reflected, Trust};

use crate::{
    exit::Failure,
    find::Db,
    memory::{
        named,
        tending_args::{CoreArgs, PageArgs},
    },
    output::Output,
};

pub(crate) fn core(db: &Db, args: &CoreArgs, out: &Output) -> Result<(), Failure> {
    let mut options = CoreOptions::default().max_tokens(args.max_tokens).per_section(args.per_section);
    options.at = args.at;
    options.min_trust = Trust::from_number(args.min_trust).unwrap_or(options.min_trust);
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    out.answer(&memories.core(options)?, |core| core.text.clone())
}

pub(crate) fn reflection(db: &Db, args: &PageArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    let text = memories.reflection()?;
    out.answer(&json!({ "text": text }), |_| text.clone())
}

pub(crate) fn reflect(db: &Db, args: &PageArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_change(db, &args.user)?;
    out.answer(&memories.reflect()?, told)
}

fn told(reflected: &Reflected) -> String {
    let Reflected { memories, without_vectors, edges, merges, .. } = reflected;
    let mut text = format!("compared {memories} memories, {without_vectors} of them without a vector\n");
    for edge in edges {
        let _ = writeln!(
            text,
            "  proposed: {} {} {} ({})",
            edge.from,
            edge.edge_type.as_str(),
            edge.to,
            edge.context
        );
    }
    for merge in merges {
        let _ = writeln!(
            text,
            "  asked, in review {}: are {} and {} the same? ({})",
            merge.review_id, merge.memory_id, merge.other_id, merge.why
        );
    }
    if edges.is_empty() && merges.is_empty() {
        text.push_str("nothing new is proposed\n");
    }
    text
}
