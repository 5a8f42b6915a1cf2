//! The times of the lines of an export.

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    model::stored_time::StoredTime,
    store::transfer::{TransferLine, memories::KnowledgeLine},
};

/// Makes every time of a line one that can be stored. Errors: a year outside 1 to 9999.
pub(super) fn make_storable(line: &mut TransferLine) -> Result<()> {
    times_of(line).into_iter().try_for_each(|(name, at)| {
        *at = StoredTime::new(name, *at)?.into();
        Ok(())
    })
}

/// Returns every time of a line, with its name.
fn times_of(line: &mut TransferLine) -> Vec<(&'static str, &mut DateTime<Utc>)> {
    let mut times = Vec::new();
    match line {
        TransferLine::Session(session) => {
            times.push(("started_at", &mut session.started_at));
            times.extend(session.ended_at.as_mut().map(|at| ("ended_at", at)));
            times.push(("last_active_at", &mut session.last_active_at));
        }
        TransferLine::Turn(turn) | TransferLine::Archived(turn) => {
            times.push(("timestamp", &mut turn.timestamp));
        }
        TransferLine::Deleted(turn) => times.push(("timestamp", &mut turn.timestamp)),
        TransferLine::Aside(aside) => {
            times.push(("timestamp", &mut aside.turn.timestamp));
            times.extend(aside.replaced_at.as_mut().map(|at| ("replaced_at", at)));
        }
        TransferLine::Summary { summary, .. } => times.push(("timestamp", &mut summary.timestamp)),
        TransferLine::Anchor(anchor) => {
            times.extend(anchor.retracted_at.as_mut().map(|at| ("retracted_at", at)));
        }
        TransferLine::Derivation(derivation) => times.push(("said_at", &mut derivation.said_at)),
        TransferLine::Transition(moved) => times.push(("moved_at", &mut moved.moved_at)),
        TransferLine::Use(of) => times.push(("last_hit", &mut of.last_hit)),
        TransferLine::Knowledge(memory) => times.extend(times_of_memory(memory)),
        TransferLine::Edge(edge) => {
            times.extend([("created_at", &mut edge.created_at), ("updated_at", &mut edge.updated_at)]);
        }
        TransferLine::Episode(episode) => times.push(("happened_at", &mut episode.happened_at)),
        TransferLine::Extracted(extracted) => times.push(("extracted_at", &mut extracted.extracted_at)),
        TransferLine::Memory { .. }
        | TransferLine::UseCount(_)
        | TransferLine::Erased(_)
        | TransferLine::End(_) => {}
    }
    times
}

fn times_of_memory(memory: &mut KnowledgeLine) -> Vec<(&'static str, &mut DateTime<Utc>)> {
    let mut times = vec![
        ("frequency_since", &mut memory.frequency_since),
        ("said_at", &mut memory.said_at),
        ("created_at", &mut memory.created_at),
        ("updated_at", &mut memory.updated_at),
    ];
    times.extend(memory.state.last_used_at.as_mut().map(|at| ("last_used_at", at)));
    times.extend(memory.state.validated_at.as_mut().map(|at| ("validated_at", at)));
    times.extend(memory.sources.iter_mut().map(|source| ("said_at of a source", &mut source.said_at)));
    times.extend(memory.changes.iter_mut().map(|change| ("made_at of a change", &mut change.made_at)));
    for review in &mut memory.reviews {
        times.push(("opened_at of a review", &mut review.opened_at));
        times.extend(review.decided_at.as_mut().map(|at| ("decided_at of a review", at)));
    }
    times
}
