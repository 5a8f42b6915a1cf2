//! A context: what LLM#2 gets with a message.

use std::time::Duration;

use serde::Serialize;

use crate::{
    clock::Stopwatch,
    config::Config,
    error::{Error, Result},
    model::{
        chat::{ChatMessage, ChatRole},
        ids::{AnchorId, MemoryId, ReceiptId, SessionId, TurnId},
        memory::recalled::MemoryFlags,
        profile::Parts,
        receipt::{ItemKind, Newer, PackedAs, Receipt, SameSource},
        tier::MemoryTier,
    },
    recall::{
        answer::{self, Gathered, Searched, WantedUnits},
        candidates,
        context_options::{ContextOptions, Shows},
        message::{DEFAULT_MIN_CONFIDENCE, Message},
        pack::{self, Item, RenderedPiece, Section},
        recalled::RecalledItem,
        session_turns::SessionTurns,
        sieve::Sieve,
        user_indexes::{IndexLease, UserIndexes},
        wishes::WishesWanted,
    },
    store::{Store, acts::lifecycle, behind::NewReceipt, scope::Scope, snapshot::Snapshot},
    text::render,
};

/// What LLM#2 gets: one string, or messages. Also lists the items in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Context {
    /// The rendered context; empty if there is nothing to show, or no room for it. [For
    /// messages](ContextOptions::for_messages) it does not contain the recent turns, except for quotes of those sides that
    /// come from tools, documents or the backend.
    pub text: String,
    /// [For messages](ContextOptions::for_messages): the recent turns, oldest first. Otherwise empty, because `text`
    /// contains them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<ChatMessage>,
    #[serde(skip)]
    block_bytes: usize,
    /// Token count of `text` by the configured tokenizer. For messages: of all their contents, plus 5
    /// ([`ChatMessage::FRAME_TOKENS`]) for each message.
    pub tokens: u32,
    /// The budget; `tokens` never exceeds it.
    pub budget_tokens: u32,
    /// The items in the context, in the order of the text.
    pub items: Vec<ContextItem>,
    /// Numbers of turns of the session that were wanted but do not fit, not even in part, ascending: hot turns, turns of the
    /// warm window, and turns that the message refers back to.
    pub left_out: Vec<u32>,
    /// The confidence that something recalled answers the message, from 0 to 1.
    pub confidence: f64,
    /// What failed, so that the context was built without it. Empty if all went well.
    pub missing: Vec<String>,
    /// The context's receipt. The turn with the reply to the message should name it
    /// ([`NewTurn::answering`](crate::NewTurn::answering)).
    pub receipt: ReceiptId,
}

impl Context {
    /// Returns the context as a chat API takes it: a system message with `text`, if there is any, then `recent`. The caller
    /// appends the user's new message itself, even if it is already recorded and waits for its reply.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> thermocline::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a folder");
    /// use thermocline::{ChatMessage, ChatRole, ContextOptions, NewTurn, Thermocline};
    ///
    /// let memory = Thermocline::open(folder.path().join("memory.db")).await?;
    /// let session = memory.user("alex").await?.session().await?;
    /// session.record(NewTurn::new("I moved to Lisbon.", "How do you like it?")).await?;
    ///
    /// let context = session.context("It is warm!", ContextOptions::default().for_messages()).await?;
    /// let mut messages = vec![ChatMessage::new(ChatRole::System, "You are a helpful companion.")];
    /// messages.extend(context.messages());
    /// messages.push(ChatMessage::new(ChatRole::User, "It is warm!"));
    /// assert_eq!(messages[1], ChatMessage::new(ChatRole::User, "I moved to Lisbon."));
    /// assert_eq!(messages[2], ChatMessage::new(ChatRole::Assistant, "How do you like it?"));
    /// # memory.close().await
    /// # }
    /// ```
    ///
    /// Roles need not alternate: an empty side produces no message. The text of a message is as it was said, except for
    /// control tokens and for characters that hide or reorder text, as everywhere in a context, and for the mark where a
    /// turn is cut. Names of speakers are not shown. If a side of a turn comes from a tool, a document or the backend
    /// ([`Origin`](crate::Origin)), it is never a message: `text` quotes it below `<turn 7>`, and `<turn 7: User (document),
    /// quoted in the memory>` takes its place among the messages.
    ///
    /// If the context was not requested [`for_messages`](ContextOptions::for_messages), the result is one message with all
    /// of the text; the message's frame is not counted in `tokens`.
    pub fn messages(&self) -> Vec<ChatMessage> {
        let text = Some(&self.text).filter(|text| !text.is_empty());
        let system = text.map(|text| ChatMessage::new(ChatRole::System, text));
        system.into_iter().chain(self.recent.iter().cloned()).collect()
    }

    /// Returns the beginning of `text`: all that precedes the recent turns and the last line, which states the time. It has
    /// what is known and recalled, and the earlier turns of the session. Empty if none of these is shown.
    ///
    /// Suitable for prompt caches: the same items in the same form give the same bytes. The block does not depend on the
    /// time, or on scores and their order: items are ordered by section. Within a section, anchors are ordered by subject
    /// and attribute, turns of this session by the order of recording, and everything else by day and then by the order of
    /// recording. [For messages](ContextOptions::for_messages), it does not depend on the size of the recent turns either.
    /// So if a message is asked again later, or after another turn was recorded, its block is the same as long as the same
    /// items are recalled in the same form. A turn that leaves hot appears at the end of the block, as the newest of its
    /// session; if there is no room for it, it displaces other items.
    pub fn block(&self) -> &str {
        &self.text[..self.block_bytes]
    }
}

/// An item of a context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ContextItem {
    /// What kind of item it is.
    pub kind: ItemKind,
    /// The turn, the turn that a summary stands for, or the turn that states a wish. `None` for an anchor or a memory.
    pub turn_id: Option<TurnId>,
    /// The turn's session. `None` for an anchor or a memory.
    pub session_id: Option<SessionId>,
    /// The turn's number in its session. `None` for an anchor or a memory.
    pub turn_number: Option<u32>,
    /// The caller's own id for the turn or memory.
    pub caller_id: Option<String>,
    /// The turn's tier. `None` unless the item is a turn.
    pub memory_tier: Option<MemoryTier>,
    /// The anchor, if the item is one.
    pub anchor_id: Option<AnchorId>,
    /// The memory, if the item is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<MemoryId>,
    /// The section that shows the item.
    pub section: Section,
    /// How much of the item is shown.
    pub packed_as: PackedAs,
    /// The item's tokens in the context, without the lines of the frame.
    pub tokens: u32,
    /// The score in recall; greater is better. `None` for a turn that is shown for its place in the session, or because
    /// it was of use there.
    pub score: Option<f64>,
    /// The confidence that the item answers the message, from 0 to 1. `None` for a wish, and for a turn that is shown for
    /// its place in the session, or because it was of use there.
    pub confidence: Option<f64>,
    /// The parts that score and confidence are computed from.
    pub parts: Option<Parts>,
    /// The reranker's score, on its own scale; greater is better. `None` if no reranker scored it for this context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// The latest turn about the same thing, if the message asks how things are and this item is older: the text then marks
    /// this item `<outdated? see 2024-03-02>`. `None` if nothing later was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// Of a memory: warnings about it, which the text shows in brackets after its kind and date.
    #[serde(skip_serializing_if = "MemoryFlags::is_empty")]
    pub flags: MemoryFlags,
    /// Items of the same piece of knowledge that fit less well: this item was recalled instead of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
}

impl ContextItem {
    fn of(piece: &RenderedPiece<'_>, recalled: &Searched) -> Self {
        let unit = candidates::recalled_as(piece.of, recalled);
        let (turn, summary, anchor) = match piece.item {
            Item::Turn(turn) => (Some(turn), None, None),
            Item::Wish(..) | Item::Memory(_) => (None, None, None),
            Item::Summary(summary, _) => (None, Some(summary), None),
            Item::Anchor(anchor) => (None, None, Some(anchor)),
        };
        let wish = if let Item::Wish(wish, _) = piece.item { Some(wish) } else { None };
        let memory = if let Item::Memory(memory) = piece.item { Some(memory) } else { None };
        let caller_id = match unit.map(|unit| &unit.item) {
            Some(RecalledItem::Summary { caller_id, .. }) => caller_id.as_ref(),
            Some(RecalledItem::Memory(memory)) => memory.memory.caller_id.as_ref(),
            _ => turn.and_then(|turn| turn.caller_id.as_ref()),
        };
        Self {
            kind: piece.item.kind(),
            turn_id: turn
                .map(|turn| turn.id)
                .or(summary.map(|summary| summary.original_turn_id))
                .or(wish.map(|wish| wish.turn_id)),
            session_id: turn
                .map(|turn| turn.session_id)
                .or(summary.map(|summary| summary.session_id))
                .or(wish.map(|wish| wish.session_id)),
            turn_number: turn
                .map(|turn| turn.turn_number)
                .or(summary.map(|summary| summary.turn_number))
                .or(wish.map(|wish| wish.turn_number)),
            caller_id: caller_id.or(wish.and_then(|wish| wish.caller_id.as_ref())).cloned(),
            memory_tier: turn.map(|turn| turn.memory_tier),
            anchor_id: anchor.map(|anchor| anchor.id),
            memory_id: memory.map(|memory| memory.memory.id),
            section: piece.section,
            packed_as: piece.packed_as,
            tokens: piece.tokens,
            score: unit.map(|unit| unit.score).or(candidates::wish_fit(piece.of, recalled)),
            confidence: unit.map(|unit| unit.confidence),
            parts: unit.map(|unit| unit.parts),
            rerank_score: unit.and_then(|unit| unit.rerank_score),
            newer: piece.newer,
            flags: memory.map(|memory| memory.flags.clone()).unwrap_or_default(),
            same_source: unit.map(|unit| unit.same_source.clone()).unwrap_or_default(),
        }
    }
}

/// How many recalled turns compete for a place.
const RECALLED_TURNS: usize = 32;

/// What a context is packed from.
pub(crate) struct Ingredients {
    turns: SessionTurns,
    recalled: Searched,
    missing: Vec<String>,
    took: Duration,
}

impl Gathered for Ingredients {
    fn searched(&mut self) -> &mut Searched {
        &mut self.recalled
    }

    fn missing(&mut self) -> &mut Vec<String> {
        &mut self.missing
    }
}

/// Gathers what is relevant to a message in a session or its successor; `None` for a session that has not begun. If a
/// reranker reads more than a context needs, searches that deep. Reads one moment of the file and writes nothing.
pub(crate) fn gather(
    store: &Store,
    indexes: &UserIndexes,
    scope: &Scope,
    session: Option<SessionId>,
    (message, options): (&Message, &ContextOptions),
    depth: usize,
) -> Result<Ingredients> {
    let (config, watch) = (store.config(), Stopwatch::start());
    let min_confidence = options.min_confidence.unwrap_or(DEFAULT_MIN_CONFIDENCE);
    if !(0.0..=1.0).contains(&min_confidence) {
        return Err(Error::invalid(format!("min_confidence is {min_confidence}; it must be from 0 to 1")));
    }
    let waiting = indexes.of(scope);
    let index = waiting.wait();
    let snapshot = store.marked_snapshot()?;
    let read = || read(&snapshot, config, index, (scope, session), (message, options, min_confidence), depth);
    let (turns, recalled, missing) = snapshot.together(read)?;
    drop(snapshot);
    if recalled.is_index_damaged {
        store.mend(scope);
    }
    Ok(Ingredients { turns, recalled, missing, took: watch.elapsed() })
}

/// Reads the turns of the session and what is recalled in addition. Also returns what is missing.
fn read(
    snapshot: &Snapshot<'_>,
    config: &Config,
    index: IndexLease<'_>,
    (scope, session): (&Scope, Option<SessionId>),
    (message, options, min_confidence): (&Message, &ContextOptions, f64),
    depth: usize,
) -> Result<(SessionTurns, Searched, Vec<String>)> {
    let session = session.map(|session| snapshot.latest_session(scope, session)).transpose()?;
    session.as_ref().map_or(Ok(()), |session| lifecycle::check_can_go_on(&session.info))?;
    let (mut missing, sections) = (Vec::new(), Shows::of(options, session.as_ref()));
    let (of, shape) = ((scope, session.as_ref()), (sections, options.for_messages));
    let mut turns = SessionTurns::read(snapshot, config, of, message, shape, &mut missing)?;

    let epoch = snapshot.extent(scope).map_or(0, |extent| extent.epoch);
    missing.extend(message.plan_missed_in(epoch));
    let question = message.question(&turns.before(message), RECALLED_TURNS.max(depth));
    let question = question.wishing(WishesWanted::Applying);
    let question = question.surer_than(min_confidence).planned(message.plan_in(epoch));
    let mut question = question.with_anchors(sections.who_the_user_is);
    if !sections.wishes {
        question.wishes = WishesWanted::None;
    }
    let sieve = Sieve::of(snapshot, scope, &message.filter, &mut missing);
    let sieve = sieve.and_then(|sieve| sieve.of_things(snapshot, scope, (&message.of, &message.filter)));
    let hidden = turns.not_recalled()?;
    let sieve = sieve.map(|sieve| sections.narrowed(sieve, session.as_ref()).hiding(hidden));
    let recalled = sieve.as_ref().map_err(Clone::clone).and_then(|sieve| {
        let at_hand = turns.earlier();
        answer::search(snapshot, index, scope, &question, WantedUnits::AboveFloor, (sieve, &at_hand))
    });
    let recalled = recalled.unwrap_or_else(|error| {
        missing.push(format!("recall: {error}"));
        Searched { epoch, ..Searched::default() }
    });
    missing.extend(recalled.missing.iter().cloned());
    if let (Some(session), Ok(sieve)) = (&session, &sieve) {
        turns.read_promoted(snapshot, (scope, session), (sieve, &recalled), &mut missing);
    }
    Ok((turns, recalled, missing))
}

/// Packs the context. The caller must store the receipt.
pub(crate) fn pack(
    config: &Config,
    message: &Message,
    options: &ContextOptions,
    gathered: Ingredients,
) -> (Context, NewReceipt) {
    let (watch, budget_tokens) = (Stopwatch::start(), options.budget_tokens.unwrap_or(config.shares.total()));
    let Ingredients { turns, recalled, missing, took } = gathered;
    let session = turns.session;
    let requests = candidates::requests(config, &turns, &recalled, budget_tokens);
    let (last_line, tokenizer) = (render::now_line(message.now, recalled.last_talk), config.tokenizer);
    let packed = if options.for_messages {
        pack::pack_messages(&requests, budget_tokens, turns.keeps_room, &last_line, tokenizer)
    } else {
        pack::pack(&requests, budget_tokens, &last_line, tokenizer)
    };
    let left_out = candidates::left_out(&requests, &packed.outcomes);
    let mut receipt = Receipt {
        budget_tokens: Some(budget_tokens),
        tokens: Some(packed.tokens),
        took: took + watch.elapsed(),
        items: candidates::receipt_items(&requests, &packed, &recalled),
        ..recalled.receipt(message, session, &missing)
    };
    receipt.understood.without = options.without.iter().map(|section| section.as_str().to_owned()).collect();
    let at_hand = candidates::at_hand(&packed, &recalled, session);
    let items = packed.pieces.iter().map(|piece| ContextItem::of(piece, &recalled)).collect();
    let context = Context {
        text: packed.text,
        recent: packed.recent,
        block_bytes: packed.block_bytes,
        tokens: packed.tokens,
        budget_tokens,
        items,
        left_out,
        confidence: recalled.confidence,
        missing,
        receipt: receipt.id,
    };
    (context, NewReceipt { receipt, at_hand, epoch: recalled.epoch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{filter::Filter, turn::NewTurn},
        store::{acts::record::WantedSession, scope::UserKey, sql::RowExpectation},
        text::measure,
    };

    #[tokio::test]
    async fn without_the_warm_tier_the_context_is_built_from_what_is_left_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("c.db"), Config::default()).unwrap();
        let key = UserKey::Name("alex".to_owned());
        let scope = store.write(move |tx| tx.add_user(&key)).await.unwrap();
        let session = store.write(move |tx| tx.resume_session(&scope)).await.unwrap().info.id;
        for n in 0..9 {
            let turn = measure::measure(NewTurn::new(format!("turn {n}"), ""), store.config().tokenizer, 100);
            let turn = turn.unwrap();
            store.write(move |tx| tx.record(&scope, &WantedSession::Id(session), turn)).await.unwrap();
        }
        let indexes = UserIndexes::new(1 << 20);
        let message =
            Message::new(store.config(), "earlier?".to_owned(), None, None, Filter::default()).unwrap();
        let options = ContextOptions::default();
        let build = || {
            let gathered = gather(&store, &indexes, &scope, Some(session), (&message, &options), 0);
            super::pack(store.config(), &message, &options, gathered.unwrap()).0
        };
        assert_eq!((build().items.len(), build().missing.len()), (9, 0));

        // The hot tier is in memory; the source of the warm tier is gone.
        let broken = "ALTER TABLE conversation_turns RENAME COLUMN ai_response TO lost";
        store.write(move |tx| tx.sql.put(broken, &[], RowExpectation::Any)).await.unwrap();
        let context = build();
        // What recall finds there fits too badly to be read.
        assert_eq!((context.items.len(), context.missing.len()), (5, 1), "{:?}", context.missing);
        assert!(context.text.contains("turn 8"));
    }
}
