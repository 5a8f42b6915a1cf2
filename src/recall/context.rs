//! A context: what LLM#2 is handed with a message.

use std::{collections::HashSet, sync::Arc};

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::{
    clock::Stopwatch,
    error::{ErrorKind, Result},
    model::{
        ids::{AnchorId, ReceiptId, SessionId, TurnId},
        instant,
        profile::{Parts, Profile},
        receipt::Receipt,
        tier::MemoryTier,
        turn::Turn,
    },
    recall::{
        answer::{self, Recalled, RecalledItem, Searched},
        candidates::{self, SessionTurns},
        embedders::QueryVector,
        find::Question,
        pack::{self, Item, ItemKind, Outcome, PackedAs, Piece, Request, Section},
        query::{self, Query},
        search,
        user_indexes::UserIndexes,
    },
    store::{
        Store,
        acts::reload,
        rows::{
            originals,
            receipts::{self, NewReceipt},
            sessions, turns, units,
        },
        scope::Scope,
    },
    text::render,
    tier::{
        hot::{HotLimits, HotTier},
        warm::{WarmTier, Window},
    },
};

/// How a context is to be.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ContextOptions {
    /// Tokens of the final string at most. Default: the sum of the configured shares, 4,400.
    pub budget_tokens: Option<u32>,
    /// The moment of asking, which the context shows so that its dates mean something. Default: the clock's.
    pub now: Option<DateTime<Utc>>,
    /// How recalled turns are ranked. Default: [`Config::profile`](crate::Config::profile).
    pub profile: Option<Profile>,
}

impl ContextOptions {
    /// A context of at most so many tokens.
    #[must_use]
    pub fn budget_tokens(mut self, tokens: u32) -> Self {
        self.budget_tokens = Some(tokens);
        self
    }

    /// Recalled turns ranked by this profile.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// A context as of this moment.
    #[must_use]
    pub fn now(mut self, now: DateTime<Utc>) -> Self {
        self.now = Some(now);
        self
    }
}

/// What LLM#2 is handed: one string, and the parts it was made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Context {
    /// The rendered context; empty if there is nothing to show, or no room for it.
    pub text: String,
    /// Its tokens, by the configured tokenizer's own count of `text`.
    pub tokens: u32,
    /// What `tokens` never exceeds.
    pub budget_tokens: u32,
    /// What is in it, in the order of the text.
    pub items: Vec<ContextItem>,
    /// Turns of the session that were wanted and had no room, by their numbers in it.
    pub left_out: Vec<u32>,
    /// What failed, so that the context was built without it. Empty when all went well.
    pub missing: Vec<String>,
    /// Its receipt: to be named by the turn that the context answers ([`NewTurn::answering`](crate::NewTurn::answering)).
    pub receipt: ReceiptId,
}

/// One thing in a context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextItem {
    /// What it is.
    pub kind: ItemKind,
    /// The turn, or that which its summary stands for. An anchor has none.
    pub turn_id: Option<TurnId>,
    /// The turn's session. An anchor has none.
    pub session_id: Option<SessionId>,
    /// The turn's place in the session. An anchor has none.
    pub turn_number: Option<u32>,
    /// The caller's own id for the turn.
    pub caller_id: Option<String>,
    /// Where the turn lives. Only turns have one.
    pub memory_tier: Option<MemoryTier>,
    /// The anchor. Only anchors have one.
    pub anchor_id: Option<AnchorId>,
    /// Where in the context it stands.
    pub section: Section,
    /// How much of it is there.
    pub packed_as: PackedAs,
    /// Its tokens there, lines of the frame not counted.
    pub tokens: u32,
    /// Its rank among what was recalled, greater is better; none: it is there for its place in the session.
    pub score: Option<f64>,
    /// What the score was made of.
    pub parts: Option<Parts>,
}

impl ContextItem {
    fn of(piece: &Piece<'_>, recalled: &Searched) -> Self {
        let unit = match piece.of {
            (2, at) => recalled.anchors.get(at),
            (3, at) => recalled.units.get(at).map(|hit| &hit.recalled),
            _ => None,
        };
        let (turn, summary, anchor) = match piece.item {
            Item::Turn(turn) => (Some(turn), None, None),
            Item::Summary(summary, _) => (None, Some(summary), None),
            Item::Anchor(anchor) => (None, None, Some(anchor)),
        };
        Self {
            kind: piece.item.kind(),
            turn_id: turn.map(|turn| turn.id).or(summary.map(|summary| summary.original_turn_id)),
            session_id: turn.map(|turn| turn.session_id).or(summary.map(|summary| summary.session_id)),
            turn_number: turn.map(|turn| turn.turn_number).or(summary.map(|summary| summary.turn_number)),
            caller_id: turn.and_then(|turn| turn.caller_id.clone()).or_else(|| summarized(unit)),
            memory_tier: turn.map(|turn| turn.memory_tier),
            anchor_id: anchor.map(|anchor| anchor.id),
            section: piece.section,
            packed_as: piece.packed_as,
            tokens: piece.tokens,
            score: unit.map(|unit| unit.score),
            parts: unit.map(|unit| unit.parts),
        }
    }
}

/// How many turns a message that refers back may bring in from the whole session.
const REFERRED_TURNS: usize = 8;
/// How many turns of all that was said compete for a place.
const RECALLED_TURNS: usize = 32;

/// What a context is asked for with.
pub(crate) struct Asked<'a> {
    pub(crate) message: &'a str,
    /// The message in the spaces of embedders that are not built in.
    pub(crate) vectors: &'a [QueryVector],
    pub(crate) options: ContextOptions,
}

/// The caller's own id of a turn of which only the summary is left.
fn summarized(unit: Option<&Recalled>) -> Option<String> {
    match &unit?.item {
        RecalledItem::Summary { caller_id, .. } => caller_id.clone(),
        _ => None,
    }
}

/// Builds the context for a message in a session; none: in one that has not begun. Reads only; the receipt is the caller's
/// to keep.
pub(crate) fn build(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    session: Option<SessionId>,
    asked: &Asked<'_>,
) -> Result<(Context, NewReceipt)> {
    let (config, watch) = (store.config(), Stopwatch::start());
    let Asked { message, vectors, options } = *asked;
    let budget_tokens = options.budget_tokens.unwrap_or(config.shares.total());
    let asked_at = instant::clamped(config.clock.now());
    let now = instant::checked(options.now.unwrap_or(asked_at))?;
    let profile = options.profile.unwrap_or(config.profile);
    profile.check()?;
    let mut missing = Vec::new();
    let no_hot = || Arc::new(HotTier::new(HotLimits { turns: config.hot_turns, tokens: config.hot_tokens }));
    let hot = match session.map(|session| store.hot(scope, session)) {
        None => no_hot(),
        Some(Err(error)) if error.kind() == ErrorKind::Corrupt => {
            missing.push(format!("hot tier: {error}"));
            no_hot()
        }
        Some(hot) => hot?,
    };
    missing.extend(hot.damaged().iter().map(|number| damaged_turn("hot tier", *number)));
    let query = Query::understand(message, now);
    let referring = query.refers_back.then_some(message);
    let warm = match session {
        Some(session) => wanted_warm(store, scope, session, &hot, referring, &mut missing),
        None => Vec::new(),
    };

    let last_turns: Vec<&Turn> = hot.turns().collect();
    let words = query::expanded(&query, &last_turns);
    let meaning = query::text_to_embed(&query, message, &last_turns);
    let question = Question {
        query: &query,
        words: &words,
        meaning: &meaning,
        vectors,
        now,
        profile,
        k: RECALLED_TURNS,
    };
    // Hot turns come first and are shown. Of the warm ones many may have no room: what fits is recalled among them too.
    let mut hidden: Vec<u32> = hot.turns().filter_map(|turn| u32::try_from(turn.seq).ok()).collect();
    hidden.sort_unstable();
    let recalled = answer::search(store, indexes, scope, &question, (&hidden, &warm));
    let recalled = recalled.unwrap_or_else(|error| {
        missing.push(format!("recall: {error}"));
        let epoch = store.read(|conn| units::extent(conn, scope)).map_or(0, |extent| extent.epoch);
        Searched { epoch, ..Searched::default() }
    });
    missing.extend(recalled.missing.iter().cloned());
    let shown: HashSet<i64> = hot.turns().chain(&warm).map(|turn| turn.seq).collect();
    let promoted = match session {
        Some(session) => promoted(store, scope, session, &shown, &recalled, &mut missing),
        None => Vec::new(),
    };

    let session_turns = SessionTurns { id: session, hot: &hot, warm: &warm, promoted: &promoted };
    let requests = candidates::requests(config, message, &session_turns, &recalled);
    let packed = pack::pack(&requests, budget_tokens, &render::now_line(now), config.tokenizer);
    let left_out = left_out(&requests[..2], &packed.outcomes);
    let receipt = Receipt {
        id: ReceiptId::new(asked_at),
        session_id: session,
        asked_at,
        now,
        query: answer::kept_query(message),
        profile,
        understood: recalled.understood(&query),
        missing: missing.clone(),
        budget_tokens: Some(budget_tokens),
        tokens: Some(packed.tokens),
        took_us: watch.elapsed_us(),
        used_at: None,
        items: candidates::receipt_items(&requests, &packed, &recalled),
    };
    let items = packed.pieces.iter().map(|piece| ContextItem::of(piece, &recalled)).collect();
    let context = Context {
        text: packed.text,
        tokens: packed.tokens,
        budget_tokens,
        items,
        left_out,
        missing,
        receipt: receipt.id,
    };
    Ok((context, NewReceipt { receipt, epoch: recalled.epoch }))
}

/// Turns that are warm in the session since they were of use in it, and that nobody else asks for.
fn promoted(
    store: &Store,
    scope: &Scope,
    session: SessionId,
    shown: &HashSet<i64>,
    recalled: &Searched,
    missing: &mut Vec<String>,
) -> Vec<Turn> {
    /// They are the last to be served; more would find no room.
    const MOST: u32 = 16;
    let is_below_floor = candidates::below_floor(recalled);
    let is_asked_for = |seq: u32| {
        recalled.units.iter().any(|hit| hit.recalled.seq() == Some(seq.into()) && !is_below_floor(hit))
    };
    let mut damaged = Vec::new();
    let read = store.read(|conn| {
        let session_no = sessions::existing(conn, scope, session)?.session_no;
        let mut originals = originals::Reader::new(conn, scope);
        let mut turns = Vec::new();
        for seq in receipts::promoted(conn, scope, session_no, MOST)? {
            if !shown.contains(&seq.into())
                && !is_asked_for(seq)
                && let Some(unit) = turns::unit_by_seq(conn, scope, seq)?
            {
                let place = (unit.session_no, unit.turn_number);
                let reading = (store.config(), &mut originals);
                let found = answer::fetch(conn, scope, reading, (seq, place), &mut damaged)?;
                turns.extend(found.and_then(RecalledItem::into_turn));
            }
        }
        Ok(turns)
    });
    missing.append(&mut damaged);
    read.unwrap_or_else(|error| {
        missing.push(format!("promoted turns: {error}"));
        Vec::new()
    })
}

/// The numbers of the turns without room, ascending.
fn left_out(requests: &[Request<'_>], outcomes: &[Vec<Outcome>]) -> Vec<u32> {
    let mut left_out: Vec<u32> = requests
        .iter()
        .zip(outcomes)
        .flat_map(|(request, outcomes)| request.candidates.iter().zip(outcomes))
        .filter(|(_, outcome)| **outcome == Outcome::NoRoom)
        .filter_map(|(candidate, _)| match candidate.item {
            Item::Turn(turn) => Some(turn.turn_number),
            Item::Summary(..) | Item::Anchor(_) => None,
        })
        .collect();
    left_out.sort_unstable();
    left_out
}

/// The warm turns that a context wants, the most wanted first: what a `referring` message refers back to, then the newest.
/// What cannot be read is named in `missing`.
fn wanted_warm(
    store: &Store,
    scope: &Scope,
    session: SessionId,
    hot: &HotTier,
    referring: Option<&str>,
    missing: &mut Vec<String>,
) -> Vec<Turn> {
    let mut or_missing = |what: &str, turns: Result<Vec<Turn>>| {
        turns.unwrap_or_else(|error| {
            missing.push(format!("{what}: {error}"));
            Vec::new()
        })
    };
    let mut wanted: Vec<Turn> = Vec::new();
    if let Some(message) = referring {
        let found = search_before(store, scope, session, hot.first_turn_number(), (message, REFERRED_TURNS));
        let found = found.map(|found| found.into_iter().map(|recalled| recalled.turn).collect());
        wanted = or_missing("search in the session", found);
    }
    let warm = window(store, scope, session, hot);
    let damaged = warm.as_ref().map_or(Vec::new(), |warm| warm.damaged.clone());
    let newest = or_missing("warm tier", warm.map(|warm| warm.turns));
    missing.extend(damaged.iter().map(|number| damaged_turn("warm tier", *number)));
    for turn in newest.into_iter().rev() {
        if wanted.iter().all(|found| found.seq != turn.seq) {
            wanted.push(turn);
        }
    }
    wanted
}

/// What a context says of a turn that is not what was recorded.
fn damaged_turn(tier: &str, number: u32) -> String {
    format!("{tier}: turn {number} of this session is damaged; doctor lists all damage")
}

/// The warm window of a session: the newest turns outside of hot.
pub(crate) fn window(store: &Store, scope: &Scope, session: SessionId, hot: &HotTier) -> Result<WarmTier> {
    let config = store.config();
    let mut window = Window { turns_left: config.warm_turns, tokens_left: config.warm_tokens };
    store.read(|conn| {
        let row = sessions::existing(conn, scope, session)?;
        let before = hot.first_turn_number().unwrap_or(row.info.turn_count + 1);
        let newest = turns::newest_before(conn, scope, row.session_no, before, |turn| {
            window.takes(turn.tokens.total_tokens)
        })?;
        let turns = newest.turns.into_iter().rev().map(|turn| reload::recounted(turn, config));
        let turns: Vec<Turn> = turns.collect();
        let total_tokens = turns.iter().map(|turn| turn.tokens.total_tokens).sum();
        let damaged = newest.damaged.into_iter().rev().collect();
        Ok(WarmTier { turns, total_tokens, damaged })
    })
}

/// The best turns of a session for a query; `before` leaves out what comes later.
pub(crate) fn search_before(
    store: &Store,
    scope: &Scope,
    session: SessionId,
    before: Option<u32>,
    query: (&str, usize),
) -> Result<Vec<search::Found>> {
    store.read(|conn| {
        let row = sessions::existing(conn, scope, session)?;
        let before = before.unwrap_or(row.info.turn_count + 1);
        search::in_session(conn, scope, store.config(), row.session_no, before, query)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Config,
        model::turn::NewTurn,
        store::{
            acts::{lifecycle, record},
            rows::users,
            scope::UserKey,
        },
        text::measure,
    };

    #[tokio::test]
    async fn without_the_warm_tier_the_context_is_built_from_what_is_left_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("c.db"), Config::default()).unwrap();
        let key = UserKey::Name("alex".to_owned());
        let scope = store.write(move |tx| users::find_or_add(tx.sql, &key, tx.now())).await.unwrap();
        let session = store.write(move |tx| lifecycle::resume_or_start(tx, &scope)).await.unwrap().info.id;
        for n in 0..9 {
            let turn = measure::measure(NewTurn::new(format!("turn {n}"), ""), store.config().tokenizer, 100);
            let turn = turn.unwrap();
            store.write(move |tx| record::record(tx, &scope, session, turn)).await.unwrap();
        }
        let indexes = UserIndexes::new(1 << 20);
        let asked = Asked { message: "earlier?", vectors: &[], options: ContextOptions::default() };
        let build = || build(&store, &indexes, &scope, Some(session), &asked).unwrap().0;
        assert_eq!((build().items.len(), build().missing.len()), (9, 0));

        // The hot tier is in memory; what the warm tier is read from is gone.
        let broken = "ALTER TABLE conversation_turns RENAME COLUMN ai_response TO lost";
        store.write(move |tx| Ok(tx.sql.execute_batch(broken)?)).await.unwrap();
        let context = build();
        assert_eq!((context.items.len(), context.missing.len()), (5, 2), "{:?}", context.missing);
        assert!(context.text.contains("turn 8"));
    }
}
