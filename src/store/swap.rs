//! The swap: in one transaction summaries, anchors and archive come in, and what they stand for goes out.
//!
//! It reads again what it replaces, and writes nothing if a turn changed, was erased, or the job was lost.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    compress::{
        archive::Frame,
        plan::{NewSummary, Plan},
    },
    error::{Error, ErrorKind, Result},
    model::{
        ids::{AnchorId, SessionId, SummaryId, TurnId},
        summary::Summary,
        tier::MoveReason,
        turn::Turn,
    },
    store::{
        anchors::{self, Source},
        desk::Desk,
        jobs::{self, Lease},
        originals, sessions,
        summaries::{self, Original},
        turns::{self, turn_key},
        users::Scope,
    },
};

/// Some turns of one session, in its order, and what becomes of each.
#[derive(Debug)]
pub(crate) struct Swap {
    pub(crate) session: (SessionId, i64),
    pub(crate) fates: Vec<Fate>,
    /// The originals of those that are summarized, in their order; none: they are deleted.
    pub(crate) frame: Option<Frame>,
}

/// One turn, and what becomes of it.
#[derive(Debug)]
pub(crate) struct Fate {
    pub(crate) turn: Turn,
    pub(crate) plan: Plan,
}

/// Does it, for whoever holds the job.
pub(crate) fn swap(desk: &Desk<'_>, scope: &Scope, lease: &Lease, swap: &Swap) -> Result<()> {
    jobs::hold(desk, lease)?;
    let now = desk.now();
    let (session_id, session_no) = swap.session;
    let frame_no = match &swap.frame {
        Some(frame) => Some(originals::insert_frame(desk.tx, scope, session_id, frame)?),
        None => None,
    };
    let (mut folds, mut position) = (BTreeSet::new(), 0);
    for fate in &swap.fates {
        let place = (session_no, fate.turn.turn_number);
        expect_warm(desk.tx, scope, place, fate.turn.id)?;
        let mut anchor_ids = Vec::new();
        for found in &fate.plan.anchors {
            let turn = &fate.turn;
            let source = Source {
                turn: Some(turn.id),
                seq: turn.seq,
                said_at: turn.timestamp,
                made_by: &fate.plan.made_by,
            };
            let (id, fold) = anchors::state(desk.tx, scope, found, source, now)?;
            anchor_ids.push(id);
            folds.insert(fold);
        }
        match &fate.plan.sketch {
            None => turns::keep_cold(desk.tx, scope, place, fate.plan.rule)?,
            Some(sketch) => {
                let original = if frame_no.is_some() { Original::Archived } else { Original::Deleted };
                let summary = summary_of(&fate.turn, sketch, anchor_ids, now);
                let (seq, snapshot) = (fate.turn.seq, fate.turn.snapshot_id);
                summaries::insert(desk.tx, scope, session_no, seq, snapshot, original, &summary)?;
                if let Some(frame_no) = frame_no {
                    originals::insert_archived(desk.tx, scope, place, (frame_no, position))?;
                    position += 1;
                }
                turns::remove(desk.tx, scope, place)?;
            }
        }
        turns::record_move(desk.tx, scope, place, ("warm", "cold"), MoveReason::Compression, now)?;
    }
    anchors::refold(desk.tx, scope, &folds)?;
    let turns = u32::try_from(swap.fates.len()).unwrap_or(u32::MAX);
    jobs::progress(desk.tx, lease, turns, desk.config.summarizer_tries)
}

/// Says that a session has no turn left to compress, and ends the job. False: turns are left.
pub(crate) fn finish(desk: &Desk<'_>, scope: &Scope, lease: &Lease, session: SessionId) -> Result<bool> {
    jobs::hold(desk, lease)?;
    let session = sessions::existing(desk.tx, scope, session)?;
    if turns::warm_after(desk.tx, scope, session.session_no, 0, |turns| !turns.is_empty())?.is_empty() {
        sessions::set_cold(desk.tx, scope, session.session_no)?;
        jobs::finish(desk.tx, lease)?;
        return Ok(true);
    }
    Ok(false)
}

fn expect_warm(
    tx: &Connection,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
    id: TurnId,
) -> Result<()> {
    let is_warm = tx
        .prepare_cached(
            "SELECT id = ?3 AND memory_tier = 'warm' FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2",
        )?
        .query_row(params![turn_key(session_no, turn_number), scope.user_id, id], |row| row.get(0))
        .optional()?;
    if is_warm == Some(true) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Conflict, format!("turn {turn_number} changed meanwhile; nothing was written")))
}

fn summary_of(turn: &Turn, sketch: &NewSummary, anchors: Vec<AnchorId>, now: DateTime<Utc>) -> Summary {
    Summary {
        id: SummaryId::new(now),
        original_turn_id: turn.id,
        session_id: turn.session_id,
        turn_number: turn.turn_number,
        summary_text: sketch.summary_text.clone(),
        topic_keywords: sketch.topic_keywords.clone(),
        identity_anchor_ids: anchors,
        timestamp: turn.timestamp,
        summarizer: sketch.summarizer.clone(),
        reliability: sketch.reliability,
        summary_tokens: sketch.summary_tokens,
    }
}
