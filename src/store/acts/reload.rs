//! Reads turns back from the file, with token counts by the tokenizer in use.

use crate::{
    config::Config,
    error::{ErrorKind, Result},
    model::{ids::SessionId, turn::Turn},
    store::{
        rows::{aside, sessions, turns},
        scope::Scope,
        sql::Sql,
    },
    text::measure,
    tier::hot::{HotLimits, HotTier},
};

/// Reads a session's hot tier from its rows: its hot turns, and the message that waits for its reply.
pub(crate) fn hot(conn: &dyn Sql, scope: &Scope, session: SessionId, config: &Config) -> Result<HotTier> {
    let limits = HotLimits { turns: config.hot_turns, tokens: config.hot_tokens };
    let found = turns::hot(conn, scope, session)?;
    let mut damaged = found.damaged;
    let waiting = match aside::incomplete(conn, scope, session) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            damaged.push(sessions::existing(conn, scope, session)?.info.turn_count + 1);
            None
        }
        waiting => waiting?.map(|waiting| waiting.turn),
    };
    let turns = found.turns.into_iter().chain(waiting).map(|turn| recounted(turn, config));
    Ok(HotTier::from_rows(limits, turns, damaged))
}

/// Counts a turn again if another tokenizer or an earlier piece format counted it. Its row stays unchanged.
pub(crate) fn recounted(mut turn: Turn, config: &Config) -> Turn {
    if !measure::are_counts_of(&turn, config.tokenizer) {
        turn.tokens = measure::count_tokens(&turn.said, config.tokenizer);
    }
    turn
}
