//! Takes over turns and sessions that another program inserted. The file's triggers fill in what SQL can compute. The next
//! act on the user adds the rest: words, token counts, content hash, checksums, evictions, and the jobs that are due.
//!
//! Until then such a turn is hot and shown, its tokens are counted whenever it is read, and no search by words finds it. An
//! act first locks the user's row, which takes the turns over, so it sees no such turn, except one that cannot be read or is
//! in a session that cannot be read. Only receipts and uses are written without taking turns over. No such turn is in an
//! ended session, because a trigger rejects inserts there and ending a session is an act.

use std::collections::BTreeSet;

use crate::{
    compress::derived::Kinds,
    config::Config,
    error::{Result, sound},
    index::INDEX_AFTER,
    model::{job::JobKind, stored_time::StoredTime, turn::Turn},
    store::{
        acts::reload,
        rows::{
            jobs::{self, NewJob},
            sessions,
            turn_row::NOT_COUNTED,
            turns, units, users,
        },
        scope::Scope,
        sql::{Sql, UserRow},
    },
    text::{
        measure::{content_hash, count_tokens},
        words::WordCounts,
    },
};

/// How many turns are taken over in one transaction, if no act waits for all of them.
pub(crate) const SLICE_UNITS: u32 = 64;

/// Takes over at most `limit` of the units that another program inserted.
pub(crate) fn take_over(
    (sql, config, now): (&dyn Sql, &Config, StoredTime),
    scope: &Scope,
    user: &UserRow,
    limit: u32,
) -> Result<()> {
    let Some(first) = user.inserted_seq else { return Ok(()) };
    let (mut next, mut left) = (first, limit);
    let mut touched = BTreeSet::new();
    while next <= user.last_seq && left > 0 {
        let some = units::places_from(sql, scope, next, left.min(SLICE_UNITS))?;
        let Some((last, _)) = some.last() else { break };
        next = last.next()?;
        left -= u32::try_from(some.len()).map_or(left, |taken| taken.min(left));
        for (seq, place) in some {
            // A turn that cannot be read stays as it is, so that it does not block writing. Doctor reports it.
            let Some(turn) = sound(turns::by_number(sql, scope, place))?.filter(is_not_taken_over) else {
                continue;
            };
            let Some(mut session) = sound(sessions::by_id(sql, scope, turn.session_id))? else { continue };
            let (said, tokens) = (&turn.said, count_tokens(&turn.said, config.tokenizer));
            let others = session.info.total_tokens.saturating_sub(turn.tokens.total_tokens.into());
            session.info.total_tokens = others + u64::from(tokens.total_tokens);
            turns::set_measured(sql, scope, place, &tokens, &WordCounts::of(said).encode())?;
            units::set_hash(sql, scope, seq, content_hash(&said.user_message, &said.ai_response))?;
            sessions::set_counts(sql, scope, &session)?;
            touched.insert((place.session, turn.session_id));
        }
    }
    for (session_no, session) in touched {
        for gone in reload::hot(sql, scope, session, config)?.settle() {
            turns::leave_hot(sql, scope, session_no.turn(gone.turn.turn_number), gone.reason, now)?;
        }
    }
    let rules = user.rules.with_derived(Kinds::WORDS);
    if rules != user.rules {
        users::set_rules(sql, scope, rules)?;
    }
    let is_done = next > user.last_seq || left > 0;
    if is_done {
        sessions::seal(sql, scope)?;
    }
    users::set_inserted(sql, scope, if is_done { None } else { Some(next) })?;
    users::raise_epoch(sql, scope)?; // Readers that have the turns without their words, or as hot, must read them again.
    queue_jobs((sql, config, now), scope, user)
}

/// Queues the jobs that `record` queues turn by turn. Workers are not woken; they find the jobs when they next look.
fn queue_jobs(
    (sql, config, now): (&dyn Sql, &Config, StoredTime),
    scope: &Scope,
    user: &UserRow,
) -> Result<()> {
    let waiting = user.last_seq.since(user.indexed_seq);
    let is_due = waiting >= INDEX_AFTER;
    let queue = |kind: JobKind, total_count| {
        jobs::insert(sql, &NewJob { kind, scope, session: None, priority: kind.priority(), total_count }, now)
    };
    if is_due {
        queue(JobKind::Index, waiting)?;
    }
    if (is_due || !config.embedders.is_empty()) && !jobs::is_queued(sql, scope, JobKind::Embed)? {
        queue(JobKind::Embed, 0)?;
    }
    Ok(())
}

fn is_not_taken_over(turn: &Turn) -> bool {
    turn.tokens.counted_by == NOT_COUNTED
}
