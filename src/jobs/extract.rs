//! Extracts from one ended session: first ratings of the memories that the session used, from the user's own words; then
//! new memories, which rules find and LLM#1, if configured, proposes.
//!
//! The session is read outside any transaction. Ratings are written one by one; another try writes none again. The uses
//! that stay unrated are deleted. All memories are written in the slice that marks the session as extracted and ends the
//! job.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    compress::verify::{self, Proven},
    config::Extract,
    cooldown::until_configured,
    error::{ErrorKind, Result},
    jobs::{
        job::{Job, JobEnd, now},
        provider::ask_summarizer,
    },
    memory::{
        copies::Runs,
        extract::{
            Finding, Hearing, Learned, Proof, best,
            rating::{echoed, verdict},
        },
    },
    model::{
        episode::Use,
        memory::trust::Trust,
        stored_time::StoredTime,
        turn::{Side, Turn},
    },
    store::{
        Store,
        acts::memories::extract::{Harvest, Rating},
        rows::{memories::extracted::NotedUse, sessions::SessionRow},
        scope::Scope,
        slice_error::{SliceError, SliceResult},
    },
    text::words,
};

/// Extracts ratings and memories from the job's session.
pub(super) async fn extract(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let Some(session_id) = job.lease.session_id else { return job.finish().await };
    let (store, scope) = (job.store(), job.scope);
    let Some(session) = store.snapshot()?.find_session(&scope, session_id)? else {
        return job.finish().await;
    };
    if session.info.ended_at.is_none() || store.snapshot()?.is_extracted(&scope, &session)? {
        return job.finish().await;
    }
    if !rate(job, &session).await? {
        return Ok(JobEnd::Stopped);
    }
    let heard = match listen(job, &session).await? {
        ListenOutcome::All(heard) => heard,
        ListenOutcome::Not(ended) => return Ok(ended),
    };
    let mut harvest = Vec::new();
    for (found, by) in heard {
        if let Some(found) = unknown(store, &scope, found)? {
            let of = (session_id, session.info.project.as_deref());
            match Harvest::of(found, of, by.as_deref()) {
                Err(error) if error.kind() == ErrorKind::InvalidInput => {} // The memory exceeds a bound.
                measured => harvest.push(measured?),
            }
        }
    }
    let made = job.slice(move |tx| tx.end_extraction(&scope, session_id, &harvest)).await?;
    job.worked.count_memories(made);
    Ok(JobEnd::Done)
}

/// The result of [`listen`].
enum ListenOutcome {
    /// All findings to keep, each with the name of the summarizer that proposed it, or `None` if rules found it.
    All(Vec<(Finding, Option<String>)>),
    /// Not all turns were read. The job ends in this way.
    Not(JobEnd),
}

/// Finds what all turns teach, in order, by rules and by LLM#1. The proposals of LLM#1 get the places that the rules leave.
async fn listen(job: &Job<'_, '_>, session: &SessionRow) -> SliceResult<ListenOutcome> {
    let (store, scope, config) = (job.store(), job.scope, job.store().config());
    let mut asked = config.summarizer.as_ref().filter(|_| config.extract == Extract::Llm);
    let name = asked.map(|summarizer| summarizer.name().to_owned());
    let (mut hearing, mut proposed, mut next) = (Hearing::default(), Vec::new(), 1);
    while next <= session.info.turn_count {
        if job.run.is_stopped() {
            return Ok(ListenOutcome::Not(JobEnd::Stopped));
        }
        let (turns, behind) = store.snapshot()?.turns_from(&scope, session, next)?;
        next = behind;
        for turn in &turns {
            hearing.hear(turn);
        }
        let Some(summarizer) = asked.filter(|_| !turns.is_empty()) else { continue };
        if let Some((until, why)) = store.cooldowns().summarizer.waits_until(config.clock.now()) {
            return Ok(ListenOutcome::Not(JobEnd::Waits(StoredTime::clamped(until), why)));
        }
        let turns = Arc::new(turns);
        let of = Arc::clone(&turns);
        match ask_summarizer(job, summarizer, |asked| async move { asked.propose(&of).await }).await {
            Ok(Some(proposals)) => {
                let proven = verify::proposals(&turns, proposals);
                proposed.extend(proven.into_iter().map(|proven| learned(proven, &hearing)));
            }
            Ok(None) => return Ok(ListenOutcome::Not(JobEnd::Stopped)),
            Err(SliceError::Failed(error)) if error.is_misconfiguration() => {
                return Ok(ListenOutcome::Not(JobEnd::Waits(
                    StoredTime::clamped(until_configured(*now(store))),
                    error,
                )));
            }
            // On the last try, the job continues without LLM#1.
            Err(SliceError::Failed(_)) if job.lease.attempts >= config.summarizer_tries => asked = None,
            Err(SliceError::Failed(error)) => return Ok(ListenOutcome::Not(JobEnd::Later(error))),
            Err(error) => return Err(error),
        }
    }
    job.advance(session.info.turn_count as usize);
    let by_rules = best(hearing.found(), &[]);
    proposed.retain(|found: &Finding| !found.learned.is_fleeting());
    let more = best(proposed, &by_rules);
    let by_rules = by_rules.into_iter().map(|found| (found, None));
    Ok(ListenOutcome::All(by_rules.chain(more.into_iter().map(|found| (found, name.clone()))).collect()))
}

/// Converts a proposal of LLM#1 to a finding, with the turns' own words as proof.
fn learned(proven: Proven, hearing: &Hearing) -> Finding {
    let proof = |(turn, said_by, quote): (Turn, _, String)| Proof {
        turn_id: turn.id,
        seq: turn.seq,
        said_at: turn.timestamp,
        origin: hearing.whose(&quote).unwrap_or(said_by),
        quote,
    };
    let proofs = proven.quotes.into_iter().map(proof).collect();
    Finding { learned: Learned::proposed(proven.new, proofs), solves: None }
}

/// Returns the finding if it is new. `None` if it says about the same as an active, forgotten or quarantined memory, or
/// repeats an anchor that its turns state. If only the problem that it solves is known, returns the fix without the problem.
fn unknown(store: &Store, scope: &Scope, found: Finding) -> Result<Option<Finding>> {
    if is_known(store, scope, &found.learned)? {
        return Ok(None);
    }
    let solves = match found.solves {
        Some(problem) if is_known(store, scope, &problem)? => None,
        problem => problem,
    };
    Ok(Some(Finding { solves, ..found }))
}

fn is_known(store: &Store, scope: &Scope, learned: &Learned) -> Result<bool> {
    let folded = words::fold(&learned.new.content);
    let mut rare: Vec<&str> =
        folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    rare.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    rare.dedup();
    let Some(first) = rare.first().copied() else { return Ok(false) };
    let word = |at: usize| rare.get(at).copied().unwrap_or(first);
    let (snapshot, runs) = (store.snapshot()?, learned.runs());
    let is_copy = |said: &String| {
        let other = Runs::of(said);
        runs.is_copy_of(&other) || other.is_copy_of(&runs)
    };
    if snapshot.memories_with(scope, [first, word(1), word(2)])?.iter().any(is_copy) {
        return Ok(true);
    }
    for proof in &learned.proofs {
        let stated = snapshot.stated_by(scope, proof.turn_id)?;
        let values = stated.iter().map(|anchor| words::fold(&anchor.value));
        if values.filter(|value| !value.is_empty()).any(|value| folded.contains(&value)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rates the session's uses of memories by the user's own words, and deletes the unrated ones. Returns `false` if the run is
/// told to stop. Ratings are counted at once, because a later try at the job finds them already written.
async fn rate(job: &Job<'_, '_>, session: &SessionRow) -> SliceResult<bool> {
    let (scope, session_id) = (job.scope, session.info.id);
    let mut by_turn: BTreeMap<u32, Vec<NotedUse>> = BTreeMap::new();
    for noted in job.store().snapshot()?.noted_uses(&scope, session)? {
        by_turn.entry(noted.turn_number).or_default().push(noted);
    }
    for uses in by_turn.values().filter(|uses| uses.iter().any(|noted| !noted.is_rated)) {
        if job.run.is_stopped() {
            return Ok(false);
        }
        if let Some(rating) = heard_rating(job.store(), &scope, session, uses)?
            && job.slice(move |tx| tx.rate_heard(&scope, &rating)).await?
        {
            job.worked.count_rated_use();
        }
    }
    while !job.run.is_stopped() {
        if !job.slice(move |tx| tx.forget_unrated(&scope, session_id)).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the rating of a memory that the context of one turn showed, from what the user said after the reply. `None` if
/// there is no rating, or if it is not clear which memory it is about.
fn heard_rating(
    store: &Store,
    scope: &Scope,
    session: &SessionRow,
    uses: &[NotedUse],
) -> Result<Option<Rating>> {
    /// The maximum length of the quote that is stored with a use, in bytes: room for a sentence.
    const MOST_BYTES: usize = 1_024;
    let Some(first) = uses.first() else { return Ok(None) };
    let snapshot = store.snapshot()?;
    let turn = |number| snapshot.turn_heard(scope, session, number);
    let (Some(reply), Some(next)) = (turn(first.turn_number)?, turn(first.turn_number + 1)?) else {
        return Ok(None);
    };
    let Some((outcome, quote)) = verdict(&next.said) else { return Ok(None) };
    let mut shown = Vec::with_capacity(uses.len());
    for noted in uses {
        let Some(said) = snapshot.said_by_memory(scope, noted.memory_no)? else { return Ok(None) };
        shown.push(said);
    }
    let Some(at) = echoed(&reply.said.ai_response, &shown).filter(|at| !uses[*at].is_rated) else {
        return Ok(None);
    };
    let quote = &quote[..quote.floor_char_boundary(MOST_BYTES)];
    let rated = Use::of(outcome).receipt(uses[at].receipt_id).trigger(quote);
    let trust = Trust::of(next.said.voice(Side::User));
    Ok(Some(Rating { memory: uses[at].memory_id, rated, trust }))
}
