//! Compresses one ended session, chunk by chunk.
//!
//! Judging, summarizing and packing happen outside any transaction. Their results are then written in one transaction, a
//! swap. Turns without a good verdict from the summarizer stay as they are and are tried again later. After a few tries the
//! built-in summarizer takes over.

use std::{collections::HashMap, sync::Arc};

use chrono::TimeDelta;

use crate::{
    compress::{
        Summarizer, Verdict, archive,
        learned::LearnedCriticality,
        plan::{self, CHUNK_TURNS, PlanRules, Verdicts},
        verify::{self, Sorted},
    },
    config::{Extract, Originals},
    cooldown::until_configured,
    error::{Error, ErrorKind, Result},
    jobs::{
        embed,
        job::{Job, JobEnd, now},
        provider::ask_summarizer,
    },
    model::{
        ids::{SnapshotId, TurnId},
        stored_time::StoredTime,
        summary::{BUILT_IN, FALLBACK, Original},
        turn::Turn,
    },
    store::{
        Store,
        acts::swap::{Fate, Swap},
        rows::{sessions::SessionRow, turns::ReadTurns},
        scope::Scope,
        slice_error::{SliceError, SliceResult},
    },
};

/// The size in bytes at which a chunk ends, even if it has fewer than `CHUNK_TURNS` turns.
const CHUNK_BYTES: usize = 1 << 20;

/// How long the job waits before it checks again whether memories have been extracted from the session. It waits for that
/// only if originals are deleted.
const BETWEEN_LOOKS: TimeDelta = TimeDelta::minutes(1);

/// Compresses the rest of the session.
pub(super) async fn compress(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let Some(session_id) = job.lease.session_id else { return job.finish().await };
    let (store, scope) = (job.store(), job.scope);
    let Some(session) = store.snapshot()?.find_session(&scope, session_id)? else {
        return job.finish().await;
    };
    let config = store.config();
    if config.extract != Extract::Off {
        let waits = job.slice(move |tx| tx.hear_before_compression(&scope, session_id)).await?;
        if waits && config.originals == Originals::Delete {
            // Memories cannot be extracted from deleted originals.
            let why = Error::new(ErrorKind::Busy, "the session has not been searched for memories yet");
            return Ok(JobEnd::Waits(now(store) + BETWEEN_LOOKS, why));
        }
    }
    // On the last try the built-in summarizer covers what the caller's does not.
    let built_in = match config.summarizer {
        None => Some(BUILT_IN),
        Some(_) => (job.lease.attempts >= config.summarizer_tries).then_some(FALLBACK),
    };
    let mut asks = job.lease.attempts <= config.summarizer_tries;
    let rules = PlanRules {
        verbatim_tokens: config.verbatim_tokens,
        tokenizer: config.tokenizer,
        built_in,
        is_deleting: config.originals == Originals::Delete,
    };
    let (mut after, mut trouble) = (0, None);
    loop {
        let CompressionChunk { read: ReadTurns { turns, damaged }, previous, learned } =
            read_chunk(store, &scope, &session, after)?;
        if let Some(number) = damaged.first() {
            let why = format!("turn {number} is damaged and stays as it is; doctor lists all damage");
            trouble = Some(Error::new(ErrorKind::Corrupt, why));
        }
        let Some(last) = turns.last() else { break };
        after = last.turn_number;
        let turns = Arc::new(turns);
        let mut verdicts = Verdicts::default();
        if let Some(summarizer) = config.summarizer.as_ref().filter(|_| asks) {
            if let Some((until, why)) = store.cooldowns().summarizer.waits_until(config.clock.now()) {
                return Ok(JobEnd::Waits(StoredTime::clamped(until), why));
            }
            match ask(job, summarizer, &turns).await {
                Ok(Some(sorted)) => {
                    trouble = what_is_wrong(&sorted).or(trouble);
                    verdicts = Verdicts { name: summarizer.name().to_owned(), by_turn: good(sorted) };
                }
                Ok(None) => return Ok(JobEnd::Stopped),
                Err(SliceError::Failed(error)) => {
                    if error.is_misconfiguration() {
                        // A misconfiguration can be corrected, so the built-in summarizer does not take over.
                        return Ok(JobEnd::Waits(StoredTime::clamped(until_configured(*now(store))), error));
                    }
                    if built_in.is_none() {
                        return Ok(JobEnd::Later(error));
                    }
                    (asks, trouble) = (false, Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        let plans = plan::plan(&turns, previous, &verdicts, &learned, rules);
        let fates = turns
            .iter()
            .zip(plans)
            .filter_map(|(turn, plan)| Some(Fate { turn: turn.clone(), plan: plan? }))
            .collect();
        if !swap_all(job, &session, fates).await? {
            return Ok(JobEnd::Stopped);
        }
    }
    // Other failures are ignored, because recall computes missing vectors itself.
    if let Err(SliceError::Lost) = embed::catch_up(job).await {
        return Err(SliceError::Lost);
    }
    let is_done = job.slice(move |tx| tx.finish_compression(&scope, session_id)).await?;
    let left = || Error::new(ErrorKind::Conflict, "turns are left");
    Ok(if is_done { JobEnd::Done } else { JobEnd::Later(trouble.unwrap_or_else(left)) })
}

/// The turns to compress next, and what is known about them.
struct CompressionChunk {
    read: ReadTurns,
    /// The backend's state at the turn before the first of these turns.
    previous: Option<SnapshotId>,
    learned: LearnedCriticality,
}

fn read_chunk(store: &Store, scope: &Scope, session: &SessionRow, after: u32) -> Result<CompressionChunk> {
    let mut bytes = 0;
    let is_enough = |turns: &[Turn]| {
        bytes += turns.last().map_or(0, Turn::text_bytes);
        turns.len() >= CHUNK_TURNS || bytes >= CHUNK_BYTES
    };
    let snapshot = store.snapshot()?;
    let read = snapshot.warm_after(scope, session, after, is_enough)?;
    let previous = match read.turns.first() {
        Some(first) => snapshot.state_at(scope, session, first.turn_number - 1)?,
        None => None,
    };
    let seqs = || read.turns.iter().map(|turn| turn.seq);
    let learned = match seqs().min().zip(seqs().max()) {
        Some(places) => snapshot.learned(scope, places)?,
        None => LearnedCriticality::default(),
    };
    Ok(CompressionChunk { read, previous, learned })
}

/// Asks LLM#1 about the turns and checks its answer. `None` if the run is told to stop.
async fn ask(
    job: &Job<'_, '_>,
    summarizer: &Arc<dyn Summarizer>,
    turns: &Arc<Vec<Turn>>,
) -> SliceResult<Option<Sorted>> {
    let of = Arc::clone(turns);
    let verdicts = ask_summarizer(job, summarizer, |asked| async move { asked.summarize(&of).await }).await?;
    Ok(verdicts.map(|verdicts| verify::sort(turns, verdicts)))
}

fn good(sorted: Sorted) -> HashMap<TurnId, Verdict> {
    sorted.turns.into_iter().filter_map(|(id, verdict)| Some((id, verdict.ok()?))).collect()
}

/// Returns an error that says how many turns have no good verdict, with the first flaw. It contains no text of the turns.
fn what_is_wrong(sorted: &Sorted) -> Option<Error> {
    let (_, flaw) = sorted.flawed().next()?;
    let (bad, all) = (sorted.flawed().count(), sorted.turns.len());
    Some(Error::provider(format!("the summarizer gave no usable verdict for {bad} of {all} turns: {flaw}")))
}

/// Swaps the turns of a chunk, slice by slice. Returns `false` if the run is told to stop.
async fn swap_all(job: &Job<'_, '_>, session: &SessionRow, mut fates: Vec<Fate>) -> Result<bool> {
    let sizes: Vec<usize> = fates.iter().map(|fate| fate.turn.kept_bytes()).collect();
    for slice in plan::slices(&sizes) {
        if job.run.is_stopped() {
            return Ok(false);
        }
        let count = slice.len();
        let fates: Vec<Fate> = fates.drain(..count).collect();
        let archived: Vec<&Turn> =
            fates.iter().filter(|fate| fate.becomes(Original::Archived)).map(|fate| &fate.turn).collect();
        let frame = if archived.is_empty() { None } else { Some(archive::pack(&archived)?) };
        let swap = Swap { session: (session.info.id, session.session_no), fates, frame };
        let scope = job.scope;
        let summarizers: Vec<String> = swap.fates.iter().filter_map(Fate::summarizer).collect();
        job.slice(move |tx| tx.swap_slice(&scope, &swap)).await?;
        for by in &summarizers {
            job.worked.count_summary(by);
        }
        job.advance(count);
    }
    Ok(true)
}
