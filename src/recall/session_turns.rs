//! What a session itself contributes to a context: its newest turns, what a message refers back to, and turns of other
//! sessions that were of use in it.
//!
//! The newest turns are one stretch, from the newest back: the recent turns, hot turns that have no room among the recent
//! ones, and the warm window. [`pack`](super::pack) shows the stretch without a hole.

use std::{collections::HashSet, sync::Arc};

use crate::{
    config::Config,
    error::{ErrorKind, Result},
    model::{
        ids::SessionId,
        place::{Owner, Seq},
        turn::Turn,
    },
    recall::{
        answer::{self, Searched},
        context_options::Shows,
        message::Message,
        pack::{self, Section},
        recalled::RecalledItem,
        search,
        sieve::Sieve,
    },
    store::{rows::sessions::SessionRow, scope::Scope, snapshot::Snapshot},
    tier::{
        hot::{HotLimits, HotTier},
        warm::{WarmTier, WarmWindow},
    },
};

/// The newest turn is shown with at least this many tokens.
pub(crate) const NEWEST_GETS_TOKENS: u32 = 200;
/// How many turns of the whole session a message that refers back may bring in.
const REFERRED_TURNS: usize = 8;
/// The warm window holds at least this many turns, if the session has them, however long they are: one long turn does not
/// hide all turns before it.
const LONG_TURNS: u32 = 8;

/// What a session contributes.
pub(crate) struct SessionTurns {
    /// `None` if the session has not begun.
    pub(crate) session: Option<SessionId>,
    /// Hot turns shown as the recent ones, newest first.
    pub(crate) recent: Vec<Arc<Turn>>,
    /// The most tokens that the recent turns may take.
    pub(crate) recent_tokens: u32,
    /// Hot turns that have no room among the recent ones, newest first: treated as if they were warm.
    pub(crate) crowded_out: Vec<Arc<Turn>>,
    /// What the message refers back to, most wanted first.
    pub(crate) referred: Vec<Turn>,
    /// The warm window, newest first.
    pub(crate) window: Vec<Turn>,
    /// Turns of other sessions that were of use in this one.
    pub(crate) promoted: Vec<Turn>,
    /// Whether there are, or will be, recent turns to show.
    pub(crate) keeps_room: bool,
    hot: Arc<HotTier>,
}

impl SessionTurns {
    /// Reads everything except the [promoted](Self::read_promoted) turns. What cannot be read is listed in `missing`.
    pub(crate) fn read(
        snapshot: &Snapshot<'_>,
        config: &Config,
        (scope, session): (&Scope, Option<&SessionRow>),
        message: &Message,
        (sections, as_messages): (Shows, bool),
        missing: &mut Vec<String>,
    ) -> Result<Self> {
        let hot = match session {
            Some(session) => hot(snapshot, config, scope, session, missing)?,
            None => Arc::new(no_hot(config)),
        };
        let mut recent: Vec<Arc<Turn>> = Vec::new();
        if sections.recent_turns {
            let is_sent = |turn: &Turn| as_messages && HotTier::is_waiting(turn, &message.text);
            recent.extend(hot.newest_first().filter(|turn| !is_sent(turn)).cloned());
        }
        let mut recent_tokens = u32::MAX;
        let mut crowded_out = Vec::new();
        if !as_messages {
            let message_tokens = config.tokenizer.count(&message.text);
            recent_tokens = config.live_tokens.saturating_sub(message_tokens).max(NEWEST_GETS_TOKENS);
        }
        if !as_messages && sections.earlier_in_session {
            let room = config.shares.hot.min(recent_tokens);
            let newest_first = recent.iter().map(Arc::as_ref);
            let fit = pack::fit_whole(Section::RecentTurns, newest_first, room, config.tokenizer);
            crowded_out = recent.split_off(fit.max(1).min(recent.len()));
        }
        let (mut referred, mut window) = (Vec::new(), Vec::new());
        if let Some(session) = session.filter(|_| sections.earlier_in_session) {
            if message.query().refers_back {
                let query = (&*message.text, REFERRED_TURNS);
                let found = search::in_session(snapshot, scope, session, hot.first_turn_number(), query);
                let found = found.map(|found| found.into_iter().map(|found| found.turn).collect());
                referred = or_missing("search in the session", found, missing);
            }
            let longest = config.warm_tokens.div_ceil(LONG_TURNS);
            let warm = self::window(snapshot, config, (scope, session), &hot, longest);
            let warm = or_missing("warm tier", warm, missing);
            missing.extend(warm.damaged.iter().map(|number| damaged_turn("warm tier", *number)));
            window.extend(warm.turns.into_iter().rev());
        }
        Ok(Self {
            session: session.map(|session| session.info.id),
            recent,
            recent_tokens,
            crowded_out,
            referred,
            window,
            promoted: Vec::new(),
            keeps_room: sections.recent_turns && session.is_some(),
            hot,
        })
    }

    /// Returns the turns that precede the message, oldest first: they help to understand it, whether they are shown or not.
    pub(crate) fn before(&self, message: &Message) -> Vec<&Turn> {
        self.hot.before(&message.text)
    }

    /// Returns what must not be recalled: the recent turns, which are shown anyway or not wanted at all. Crowded-out turns
    /// may be recalled if they fit the message, because many of them may have no room as earlier turns.
    pub(crate) fn not_recalled(&self) -> Result<Vec<Seq>> {
        let is_earlier = |turn: &&Turn| self.crowded_out.iter().any(|earlier| earlier.seq == turn.seq);
        self.hot.turns().filter(|turn| !is_earlier(turn)).map(|turn| Seq::of(turn.seq)).collect()
    }

    /// Whether this is one of the hot turns shown as the recent ones.
    pub(crate) fn is_recent(&self, seq: i64) -> bool {
        self.recent.iter().any(|turn| turn.seq == seq)
    }

    /// The earlier turns of the session that are already read.
    pub(crate) fn earlier(&self) -> Vec<&Turn> {
        let crowded_out = self.crowded_out.iter().map(Arc::as_ref);
        crowded_out.chain(&self.referred).chain(&self.window).collect()
    }

    /// Reads the turns that are warm in the session because they were of use in it, if they pass the sieve and nothing else
    /// requests them.
    pub(crate) fn read_promoted(
        &mut self,
        snapshot: &Snapshot<'_>,
        (scope, session): (&Scope, &SessionRow),
        (sieve, recalled): (&Sieve, &Searched),
        missing: &mut Vec<String>,
    ) {
        let shown: HashSet<i64> = self.hot.turns().chain(self.earlier()).map(|turn| turn.seq).collect();
        let is_asked_for = |seq: Seq| {
            recalled.units.iter().any(|hit| hit.recalled.seq() == Some(seq.into()) && !hit.is_below_floor)
        };
        let mut damaged = Vec::new();
        let mut read = || {
            let (mut turns, mut originals) = (Vec::new(), snapshot.originals(scope));
            for seq in snapshot.promoted(scope, session)? {
                if !shown.contains(&seq.into())
                    && !is_asked_for(seq)
                    && let Some(unit) = snapshot.unit(scope, seq)?
                    && let Owner::Turn(place) = unit.owner
                {
                    let found =
                        answer::fetch(snapshot, scope, &mut originals, (seq, unit.owner), &mut damaged)?;
                    if let Some(RecalledItem::Turn(turn)) = found
                        && sieve.passes(place.session, turn.timestamp.timestamp_millis())
                    {
                        turns.push(*turn);
                    }
                }
            }
            Ok(turns)
        };
        let read: Result<Vec<Turn>> = read();
        missing.append(&mut damaged);
        self.promoted = or_missing("promoted turns", read, missing);
    }
}

/// Reads the hot tier; if it is damaged, returns an empty one and lists the damage in `missing`.
fn hot(
    snapshot: &Snapshot<'_>,
    config: &Config,
    scope: &Scope,
    session: &SessionRow,
    missing: &mut Vec<String>,
) -> Result<Arc<HotTier>> {
    let hot = match snapshot.hot(scope, session) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            missing.push(format!("hot tier: {error}"));
            Arc::new(no_hot(config))
        }
        hot => hot?,
    };
    missing.extend(hot.damaged().iter().map(|number| damaged_turn("hot tier", *number)));
    Ok(hot)
}

fn no_hot(config: &Config) -> HotTier {
    HotTier::new(HotLimits { turns: config.hot_turns, tokens: config.hot_tokens })
}

/// Returns the value that was read, or the default after adding the error to `missing`.
fn or_missing<T: Default>(what: &str, read: Result<T>, missing: &mut Vec<String>) -> T {
    read.unwrap_or_else(|error| {
        missing.push(format!("{what}: {error}"));
        T::default()
    })
}

/// What a context says about a turn that no longer matches what was recorded.
fn damaged_turn(tier: &str, number: u32) -> String {
    format!("{tier}: turn {number} of this session is damaged; doctor lists all damage")
}

/// The warm window of a session: the newest turns outside of hot. A turn counts as at most `longest` tokens.
pub(crate) fn window(
    snapshot: &Snapshot<'_>,
    config: &Config,
    (scope, session): (&Scope, &SessionRow),
    hot: &HotTier,
    longest: u32,
) -> Result<WarmTier> {
    let mut window = WarmWindow { turns_left: config.warm_turns, tokens_left: config.warm_tokens };
    let before = hot.first_turn_number().unwrap_or(session.info.turn_count + 1);
    let newest = snapshot
        .newest_before(scope, session, before, |turn| window.takes(turn.tokens.total_tokens.min(longest)))?;
    let turns: Vec<Turn> = newest.turns.into_iter().rev().collect();
    let total_tokens = turns.iter().map(|turn| turn.tokens.total_tokens).sum();
    let damaged = newest.damaged.into_iter().rev().collect();
    Ok(WarmTier { turns, total_tokens, damaged })
}
