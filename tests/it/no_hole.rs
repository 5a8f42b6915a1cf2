//! The newest turns of a session are shown without a hole, and what is left out is listed.

use proptest::prelude::*;
use thermocline::{
    ChatMessage, Context, ContextOptions, Durability, NewTurn, PackedAs, RunJobs, Section, Shares, Tokenizer,
    blocking::Session,
};

use crate::support::{Fixture, Kept, turn_of};

/// The smallest part of a turn, and the most tokens of the frame lines that come with it.
const LEAST_PART_TOKENS: u32 = 48;
const MOST_FRAME_TOKENS: u32 = 32;

fn session_of(sizes: &[usize]) -> Kept {
    let mut fixture = Fixture::new();
    fixture.config.durability = Durability::Relaxed;
    let session = fixture.session();
    for &tokens in sizes {
        session.record(turn_of(tokens)).unwrap();
    }
    Kept { session, _fixture: fixture }
}

/// Returns a message of this many tokens that is unlike anything ever said.
fn message_of(tokens: usize) -> String {
    " zebra".repeat(tokens)
}

/// Returns options with which a context shows turns only for their places.
fn by_place() -> ContextOptions {
    ContextOptions::default().min_confidence(1.0)
}

fn shown(context: &Context) -> Vec<u32> {
    context.items.iter().filter_map(|item| item.turn_number).collect()
}

fn ask(session: &Session, message_tokens: usize, options: ContextOptions) -> Context {
    session.context(&message_of(message_tokens), options).unwrap()
}

/// Checks what is shown, oldest first, and what is left out.
#[track_caller]
fn check(context: &Context, expected: impl IntoIterator<Item = u32>, left_out: &[u32]) {
    assert_eq!(shown(context), expected.into_iter().collect::<Vec<_>>(), "{:?}", context.items);
    assert_eq!(context.left_out, left_out);
}

#[test]
fn what_a_long_message_drops_from_hot_is_shown_as_the_newest_of_the_earlier_turns() {
    let session = session_of(&[220; 12]);
    let context = ask(&session, 1_200, by_place());
    check(&context, 1..=12, &[]);
    let recent = context.items.iter().filter(|item| item.section == Section::RecentTurns);
    assert_eq!(recent.map(|item| item.turn_number.unwrap()).collect::<Vec<_>>(), [10, 11, 12]);
    assert!(context.items.iter().all(|item| item.packed_as == PackedAs::Whole));
    assert_eq!(session.hot().unwrap().len(), 5, "no turn has moved");
}

#[test]
fn a_long_message_makes_no_turn_vanish_from_messages() {
    let session = session_of(&[220; 12]);
    let context = ask(&session, 1_200, by_place().for_messages());
    check(&context, 1..=12, &[]);
    assert_eq!(context.recent.len(), 5);
    assert!(context.tokens >= 12 * 220 + 5 * ChatMessage::FRAME_TOKENS);
}

#[test]
fn turns_that_just_fill_hot_leave_no_hole_for_the_lines_around_them() {
    let session = session_of(&[300; 9]);
    check(&ask(&session, 5, by_place().budget_tokens(2_900)), 1..=9, &[]);
}

#[test]
fn a_turn_too_long_for_its_place_is_cut_and_hides_none_before_it() {
    for huge in [3_500, 16_000] {
        let sizes = [100, 100, 100, 100, huge, 100, 100, 100, 100, 100, 100];
        let session = session_of(&sizes);
        let context = ask(&session, 5, by_place());
        check(&context, 1..=11, &[]);
        let cut = &context.items[4];
        assert_eq!((cut.turn_number, cut.packed_as), (Some(5), PackedAs::Extract));
        assert!(context.tokens > 4_300, "it has all that the others leave: {}", context.tokens);
    }
}

#[test]
fn all_that_is_not_shown_is_left_out_and_nothing_else() {
    let session = session_of(&[300; 30]);
    let context = ask(&session, 5, by_place().budget_tokens(1_000));
    let oldest = shown(&context)[0];
    check(&context, oldest..=30, &(1..oldest).collect::<Vec<_>>());
}

#[test]
fn a_turn_of_another_session_that_is_at_hand_is_not_left_out_of_this_one() {
    let mut fixture = Fixture::new();
    fixture.config.durability = Durability::Relaxed;
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let old = alex.session_named("old").unwrap();
    old.record(
        NewTurn::new("The zebra lives at the old harbour, beside the lantern.", "A fine place.").critical(),
    )
    .unwrap();
    old.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let session = alex.session_named("now").unwrap();
    let context = session.context("Where does the zebra live?", ContextOptions::default()).unwrap();
    session.record(turn_of(200).answering(context.receipt)).unwrap();
    memory.stats().unwrap(); // What was of use is counted by now.
    let context = |budget| session.context("Thank you!", by_place().budget_tokens(budget)).unwrap();
    let of_others = |context: &Context| {
        context.items.iter().filter(|item| item.section == Section::EarlierConversations).count()
    };
    assert_eq!(of_others(&context(1_000)), 1, "it is at hand");
    let without_room = context(290);
    assert_eq!((of_others(&without_room), shown(&without_room), without_room.left_out), (0, vec![1], vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The turns shown for their places are the newest of the session, without a gap. Everything not shown is listed as left
    /// out, and of the newest of these not even a part would fit into the free tokens.
    #[test]
    fn whatever_their_lengths_the_newest_turns_have_no_hole_that_had_room(
        sizes in prop::collection::vec(prop_oneof![4 => 1_usize..300, 2 => 300_usize..1_800, 1 => 1_800_usize..6_000], 1..24),
        asked in prop::collection::vec((prop_oneof![1_usize..50, 50_usize..2_500], 0_u32..6_000), 1..6),
        shares in (0_u32..2_500, 0_u32..2_500, 1_u32..1_500),
        (hot_turns, hot_tokens) in (1_usize..9, 1_u32..4_000),
    ) {
        let mut fixture = Fixture::new();
        fixture.config.durability = Durability::Relaxed;
        (fixture.config.hot_turns, fixture.config.hot_tokens) = (hot_turns, hot_tokens);
        fixture.config.warm_tokens = 1_000_000;
        fixture.config.shares = Shares::default().hot(shares.0).warm(shares.1).cold(shares.2);
        let session = fixture.session();
        for &tokens in &sizes {
            session.record(turn_of(tokens)).unwrap();
        }
        for (message_tokens, budget_tokens) in asked {
            let context = ask(&session, message_tokens, by_place().budget_tokens(budget_tokens));
            let (shown, all) = (shown(&context), u32::try_from(sizes.len()).unwrap());
            let oldest = shown.first().copied().unwrap_or(all + 1);
            prop_assert_eq!(&shown, &(oldest..=all).collect::<Vec<_>>(), "no hole");
            prop_assert_eq!(&context.left_out, &(1..oldest).collect::<Vec<_>>(), "all others");
            let next = oldest.checked_sub(2).map_or(0, |at| u32::try_from(sizes[at as usize]).unwrap());
            let free = budget_tokens - context.tokens;
            let is_used = oldest == 1 || shown.is_empty() || free < next.min(LEAST_PART_TOKENS) + MOST_FRAME_TOKENS;
            prop_assert!(is_used, "{free} are free");
            prop_assert_eq!(context.tokens, Tokenizer::O200kBase.count(&context.text));

            let context = ask(&session, message_tokens, by_place().for_messages().budget_tokens(budget_tokens));
            let recent = context.items.iter().filter(|item| item.section == Section::RecentTurns);
            let recent: Vec<u32> = recent.map(|item| item.turn_number.unwrap()).collect();
            let oldest = recent.first().copied().unwrap_or(all + 1);
            prop_assert_eq!(recent, (oldest..=all).collect::<Vec<_>>(), "no hole among the messages");
            let seen: Vec<u32> = context.items.iter().filter_map(|item| item.turn_number).collect();
            let mut wanted = [seen.clone(), context.left_out.clone()].concat();
            wanted.sort_unstable();
            prop_assert_eq!(wanted, (1..=all).collect::<Vec<_>>(), "shown or left out");
        }
    }
}

#[test]
fn what_a_message_refers_back_to_is_left_out_only_if_it_is_not_shown() {
    let mut fixture = Fixture::new();
    fixture.config.durability = Durability::Relaxed;
    let session = fixture.session();
    session.record(NewTurn::new("My boat is called Petrel.", "A fine name.")).unwrap();
    for _ in 0..40 {
        session.record(turn_of(250)).unwrap();
    }
    let message = "You mentioned my boat earlier?";
    let context = session.context(message, by_place()).unwrap();
    assert_eq!(shown(&context)[0], 1);
    let oldest = shown(&context)[1];
    check(&context, [1].into_iter().chain(oldest..=41), &(2..oldest).collect::<Vec<_>>());
}
