//! Selects what competes for a place in a context: the session's turns by their places, and recalled items by rank.
//! Reports in the receipt what became of each candidate.

use std::sync::Arc;

use crate::{
    compress::sketch,
    config::Config,
    embed::pieces::pieces,
    model::{
        ids::SessionId,
        place::Seq,
        profile::Parts,
        receipt::{ItemOutcome, MOST_PROMOTED, ReceiptItem},
        tier::MemoryTier,
        turn::Turn,
    },
    recall::{
        answer::{Hit, Searched},
        pack::{Candidate, Focus, FoundBy, Item, PackOutcome, Packed, Request, Section},
        recalled::{Recalled, RecalledItem},
        rerank::by_reranker,
        session_turns::{NEWEST_GETS_TOKENS, SessionTurns},
        wishes::Applying,
    },
};

/// The part of the cold share that may say who the user is.
const ANCHOR_TOKENS: u32 = 150;
/// The part of the cold share that may say how the user wants to be answered.
const WISH_TOKENS: u32 = 100;
/// If turns fit the message, memories may take the cold share divided by this: memories are short, and turns say more.
const KNOWN_PART: u32 = 3;

/// Indices of requests. Those for the session's turns come first, then promoted turns, which are also shown for their place.
const OF_SESSION: usize = 4;
const ANCHORS: usize = OF_SESSION + 1;
const WISHES: usize = ANCHORS + 1;
const KNOWN: usize = WISHES + 1;
const RECALLED: usize = KNOWN + 1;

/// Returns the requests in the order of serving. Each gets its share and what those before it left.
pub(crate) fn requests<'t>(
    config: &Config,
    turns: &'t SessionTurns,
    recalled: &'t Searched,
    budget_tokens: u32,
) -> [Request<'t>; RECALLED + 1] {
    let recent = turns.recent.iter().map(Arc::as_ref);
    let crowded_out = turns.crowded_out.iter().map(Arc::as_ref);
    let recent = Request {
        most_tokens: turns.recent_tokens,
        first_gets: Some(NEWEST_GETS_TOKENS),
        ..Request::newest(config.shares.hot, in_section(Section::RecentTurns, recent))
    };
    let anchor_tokens = ANCHOR_TOKENS.min(config.shares.cold);
    let anchors = recalled.anchors.iter().filter_map(|recalled| match &recalled.item {
        RecalledItem::Anchor(anchor) => Some(Candidate::new(Item::Anchor(anchor), Section::WhoTheUserIs)),
        _ => None,
    });
    let anchors = Request { most_tokens: anchor_tokens, ..Request::ranked(anchor_tokens, anchors.collect()) };
    let wish_tokens = WISH_TOKENS.min(config.shares.cold - anchor_tokens);
    let wishes = recalled.wishes.iter().map(|Applying { wish, .. }| {
        let stands_for_turn = wish.is_all && Some(wish.session_id) != turns.session;
        Candidate::new(Item::Wish(wish, stands_for_turn), Section::Wishes)
    });
    let wishes = Request { most_tokens: wish_tokens, ..Request::ranked(wish_tokens, wishes.collect()) };
    let units = unit_candidates(recalled, turns.session);
    let most_tokens = room_for(recalled.confidence, budget_tokens);
    let cold_tokens = config.shares.cold - anchor_tokens - wish_tokens;
    let has_turns = units.iter().any(|unit| !unit.is_below_floor);
    let known_tokens =
        if has_turns { (config.shares.cold / KNOWN_PART).min(cold_tokens) } else { cold_tokens };
    let most_known = if has_turns { known_tokens.min(most_tokens) } else { most_tokens };
    let known = memory_candidates(recalled, turns);
    [
        recent,
        Request::newest(config.shares.warm, in_session(crowded_out, recalled)),
        Request::ranked(0, in_section(Section::EarlierInSession, &turns.referred)),
        Request::older(0, in_session(&turns.window, recalled)),
        Request::ranked(0, in_section(Section::EarlierConversations, &turns.promoted)),
        anchors,
        wishes,
        Request { most_tokens: most_known, ..Request::ranked(known_tokens, known) },
        Request { most_tokens, ..Request::ranked(cold_tokens - known_tokens, units) },
    ]
}

/// Returns the part of the budget that recalled items may take: all of it from a confidence of 0.75 up, below that in
/// proportion, but always room for one item. So little is shown if little is likely to answer, and the likeliest items come
/// first. Chosen on the sets of docs/recall.md.
fn room_for(confidence: f64, budget_tokens: u32) -> u32 {
    const SURE: f64 = 0.75;
    const ONE_THING_TOKENS: u32 = 120;
    let room = f64::from(budget_tokens) * (confidence / SURE).min(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the budget")]
    let room = room as u32;
    room.max(ONE_THING_TOKENS)
}

/// Returns the recalled item of a candidate, if it is a candidate because it was recalled.
pub(crate) fn recalled_as((request, index): (usize, usize), searched: &Searched) -> Option<&Recalled> {
    match request {
        ANCHORS => searched.anchors.get(index),
        KNOWN => memories(searched).nth(index).map(|hit| &hit.recalled),
        RECALLED => said(searched).nth(index).map(|hit| &hit.recalled),
        _ => None,
    }
}

/// The recalled memories, best first.
fn memories(searched: &Searched) -> impl Iterator<Item = &Hit> {
    searched.units.iter().filter(|hit| hit.recalled.memory().is_some())
}

/// The recalled turns and summaries, best first.
fn said(searched: &Searched) -> impl Iterator<Item = &Hit> {
    searched.units.iter().filter(|hit| hit.recalled.memory().is_none())
}

/// Returns how well the wish of a candidate fits, if the candidate is a wish.
pub(crate) fn wish_fit((request, index): (usize, usize), searched: &Searched) -> Option<f64> {
    searched.wishes.get(index).filter(|_| request == WISHES).map(|wish| wish.fit)
}

/// Returns the numbers of the session's own turns that found no room, ascending.
pub(crate) fn left_out(requests: &[Request<'_>], outcomes: &[Vec<PackOutcome>]) -> Vec<u32> {
    let of_session = requests[..OF_SESSION].iter().zip(outcomes);
    let mut left_out: Vec<u32> = of_session
        .flat_map(|(request, outcomes)| request.candidates.iter().zip(outcomes))
        .filter(|(_, outcome)| **outcome == PackOutcome::NoRoom)
        .filter_map(|(candidate, _)| match candidate.item {
            Item::Turn(turn) => Some(turn.turn_number),
            Item::Summary(..) | Item::Anchor(_) | Item::Wish(..) | Item::Memory(_) => None,
        })
        .collect();
    left_out.sort_unstable();
    left_out.dedup(); // What the message refers back to is also in the window.
    left_out
}

/// Turns as candidates for one section.
fn in_section<'t>(section: Section, turns: impl IntoIterator<Item = &'t Turn>) -> Vec<Candidate<'t>> {
    turns.into_iter().map(|turn| Candidate::new(Item::Turn(turn), section)).collect()
}

/// Returns earlier turns of the session as candidates. One that was recalled too may be shown as the part that matched.
fn in_session<'t>(turns: impl IntoIterator<Item = &'t Turn>, recalled: &'t Searched) -> Vec<Candidate<'t>> {
    let mut candidates = in_section(Section::EarlierInSession, turns);
    for hit in recalled.units.iter().filter(|hit| !hit.is_below_floor) {
        let seq = hit.recalled.seq();
        let found = candidates
            .iter_mut()
            .find(|found| matches!(found.item, Item::Turn(turn) if Some(turn.seq) == seq));
        if let Some(candidate) = found {
            candidate.newer = hit.recalled.newer;
            candidate.found_by = Some(FoundBy { words: &recalled.words, focus: focus(hit) });
        }
    }
    candidates
}

/// Returns the recalled memories as candidates, best first. A memory that rests on a turn shown for its place counts as
/// shown. Hot turns are always shown, other turns of the session if they have room.
fn memory_candidates<'t>(recalled: &'t Searched, turns: &SessionTurns) -> Vec<Candidate<'t>> {
    let candidate = |hit: &'t Hit| {
        let memory = hit.recalled.memory()?;
        let is_hot = memory.sources.iter().any(|source| turns.is_recent(source.seq));
        let candidate = Candidate::new(Item::Memory(memory), Section::WhatIsKnown);
        Some(candidate.below_floor(hit.is_below_floor).already_shown(is_hot))
    };
    memories(recalled).filter_map(candidate).collect()
}

/// Returns the recalled turns as candidates, best first.
fn unit_candidates(recalled: &Searched, session: Option<SessionId>) -> Vec<Candidate<'_>> {
    let candidates = said(recalled).filter_map(|hit| {
        let (item, of) = match &hit.recalled.item {
            RecalledItem::Turn(turn) => (Item::Turn(turn), turn.session_id),
            RecalledItem::Summary { summary, seq, .. } => (Item::Summary(summary, *seq), summary.session_id),
            RecalledItem::Anchor(_) | RecalledItem::Memory(_) => return None,
        };
        let section =
            if Some(of) == session { Section::EarlierInSession } else { Section::EarlierConversations };
        let candidate = Candidate::new(item, section)
            .found_by(&recalled.words, focus(hit))
            .summary(hit.summary.as_ref())
            .newer(hit.recalled.newer)
            .below_floor(hit.is_below_floor);
        Some(candidate)
    });
    candidates.collect()
}

/// Returns where a turn matched by meaning, if it matched by no word.
fn focus(hit: &Hit) -> Option<Focus> {
    let (number, _) = hit.piece.filter(|_| hit.recalled.parts.words == 0.0)?;
    let turn = hit.recalled.turn()?;
    let piece = pieces(&turn.said).into_iter().find(|piece| piece.number == number)?;
    Some(Focus { side: piece.side, bytes: piece.range })
}

/// Returns the units to keep at hand in this session once the context was of use: cold turns of other sessions that it shows
/// for what they say, not for their neighbours. Best first.
pub(crate) fn at_hand(packed: &Packed<'_>, recalled: &Searched, session: Option<SessionId>) -> Vec<Seq> {
    let shown = said(recalled).zip(&packed.outcomes[RECALLED]);
    let told = shown.filter_map(|(hit, outcome)| {
        let turn = hit.recalled.turn()?;
        let is_wanted = matches!(outcome, PackOutcome::Packed(_))
            && hit.has_evidence
            && turn.memory_tier == MemoryTier::Cold
            && Some(turn.session_id) != session
            && sketch::tells(&turn.said);
        is_wanted.then(|| Seq::of(turn.seq).ok()).flatten()
    });
    told.take(MOST_PROMOTED).collect()
}

/// Returns an item that is shown for its place in the session.
fn unscored(item: RecalledItem) -> Recalled {
    Recalled {
        item,
        score: 0.0,
        confidence: 0.0,
        parts: Parts::default(),
        rerank_score: None,
        newer: None,
        same_source: Vec::new(),
    }
}

/// Returns everything that was considered, in rank order: recalled items first, then the session's turns.
pub(crate) fn receipt_items(
    requests: &[Request<'_>],
    packed: &Packed<'_>,
    recalled: &Searched,
) -> Vec<ReceiptItem> {
    let fate = |mut item: ReceiptItem, of: (usize, usize)| {
        let outcome = packed.outcomes[of.0][of.1];
        item.outcome = outcome.of_item();
        if let PackOutcome::Packed(packed_as) = outcome {
            item.packed_as = Some(packed_as);
        }
        item.tokens = packed.pieces.iter().find(|piece| piece.of == of).map_or(0, |piece| piece.tokens);
        item
    };
    let (mut known_before, mut said_before) = (0, 0);
    let place_of = |hit: &'_ Hit| {
        let (request, before) = match hit.recalled.memory() {
            Some(_) => (KNOWN, &mut known_before),
            None => (RECALLED, &mut said_before),
        };
        *before += 1;
        (request, *before - 1)
    };
    let places: Vec<(usize, usize)> = recalled.units.iter().map(place_of).collect();
    let units = places.into_iter().zip(&recalled.units).map(|(of, hit)| (of, &hit.recalled));
    let anchors = recalled.anchors.iter().enumerate().map(|(at, unit)| ((ANCHORS, at), unit));
    let mut items: Vec<ReceiptItem> = units.map(|(of, unit)| fate(unit.receipt_item(0), of)).collect();
    items.extend(recalled.unread.iter().cloned());
    // Stable: equal scores keep their order.
    let by_score = |a: &ReceiptItem, b: &ReceiptItem| b.score.total_cmp(&a.score);
    items.sort_by(|a, b| by_reranker(a.rerank_score, b.rerank_score).then_with(|| by_score(a, b)));
    items.extend(anchors.map(|(of, unit)| fate(unit.receipt_item(0), of)));
    for (at, request) in requests[..ANCHORS].iter().enumerate() {
        for (index, candidate) in request.candidates.iter().enumerate() {
            let Item::Turn(turn) = candidate.item else { continue };
            if !matches!(packed.outcomes[at][index], PackOutcome::Packed(_)) {
                continue;
            }
            // A turn that is shown for its place and also fits the message is one item, with its score, and shown. One that
            // fits too badly is only shown for its place.
            items.retain(|item| item.seq != Some(turn.seq) || item.outcome != ItemOutcome::BelowFloor);
            let known = items.iter().position(|item| item.seq == Some(turn.seq));
            let known = known.unwrap_or_else(|| {
                let item = RecalledItem::Turn(Box::new(turn.clone()));
                items.push(ReceiptItem { confidence: None, ..unscored(item).receipt_item(0) });
                items.len() - 1
            });
            items[known] = fate(items[known].clone(), (at, index));
            if candidate.section == Section::EarlierConversations {
                items[known].outcome = ItemOutcome::Promoted;
            }
        }
    }
    let wishes = recalled.wishes.iter().enumerate();
    items.extend(wishes.map(|(at, wish)| fate(wish.wish.receipt_item(wish.fit), (WISHES, at))));
    for (rank, item) in (1..).zip(&mut items) {
        item.rank = rank;
    }
    items
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::model::{
        anchor::{Anchor, Attribute},
        ids::{AnchorId, SummaryId},
        memory::trust::Trust,
        receipt::ItemKind,
        summary::{Original, Summary},
    };

    #[track_caller]
    fn check(item: RecalledItem, kind: ItemKind) {
        let recalled = unscored(item);
        let line = recalled.receipt_item(1);
        assert_eq!((line.kind, line.outcome), (kind, ItemOutcome::Recalled));
        assert_eq!(serde_json::to_value(&recalled).unwrap()["kind"], kind.as_str());
    }

    #[test]
    fn what_is_recalled_is_named_in_receipts_and_in_json_by_the_words_of_its_kind() {
        let (at, turn) = (DateTime::UNIX_EPOCH, Turn::sample(1, "a", 1));
        let anchor = Anchor {
            id: AnchorId::new(at),
            subject: Anchor::USER.to_owned(),
            attribute: Attribute::Home,
            value: "Lisbon".to_owned(),
            strength: 0.5,
            evidence: Vec::new(),
            valid_from: at,
            valid_until: None,
            superseded_by: None,
            contests: None,
            trust: Trust::User,
            retracted_at: None,
        };
        let summary = Summary {
            id: SummaryId::new(at),
            original_turn_id: turn.id,
            session_id: turn.session_id,
            turn_number: 1,
            summary_text: "a".to_owned(),
            topic_keywords: Vec::new(),
            identity_anchor_ids: Vec::new(),
            timestamp: at,
            summarizer: "extractive".to_owned(),
            reliability: 1.0,
            summary_tokens: 1,
            original: Original::Deleted,
            original_tokens: 1,
        };
        check(RecalledItem::Turn(Box::new(turn)), ItemKind::Turn);
        check(
            RecalledItem::Summary { summary: Box::new(summary), seq: 1, caller_id: None },
            ItemKind::Summary,
        );
        check(RecalledItem::Anchor(Box::new(anchor)), ItemKind::Anchor);
    }
}
