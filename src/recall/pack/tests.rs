//! How the `Request`s of one context share its budget, and what is shown of turns that matched.

use chrono::{DateTime, TimeDelta, Utc};

use self::always::check_all;
use super::*;
use crate::{
    model::{
        anchor::{Anchor, Attribute, Evidence, Stance},
        ids::{AnchorId, SessionId, SummaryId, TurnId},
        memory::recalled::{RecalledMemory, SourceTurn},
        memory::trust::Trust,
        summary::{Original, Summary},
        turn::{NewTurn, Origin, Said, Side},
    },
    text::{
        measure,
        words::{Word, query_words},
    },
};

mod always;
mod messages;

const TOKENIZER: Tokenizer = Tokenizer::O200kBase;
const LAST_LINE: &str = "<now: 2026-03-01 12:00 UTC>\n";

fn day(n: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + n)
}

fn turn(seq: i64, on: i64, said: Said) -> Turn {
    let tokens = measure::count_tokens(&said, TOKENIZER);
    Turn { seq, said, tokens, timestamp: day(on), ..Turn::sample(1, "", 0) }
}

/// The exact size does not matter for a turn that cannot fit whole, and counting a megabyte takes long.
fn huge(reply: &str) -> Turn {
    Turn { said: NewTurn::new("", reply).said, timestamp: day(1), ..Turn::sample(1, "", 100_000) }
}

fn summary(seq: i64, on: i64, text: &str) -> (Summary, i64) {
    let summary = Summary {
        id: SummaryId::new(day(on)),
        original_turn_id: TurnId::new(day(on)),
        session_id: SessionId::new(day(on)),
        turn_number: 1,
        summary_text: text.to_owned(),
        topic_keywords: Vec::new(),
        identity_anchor_ids: Vec::new(),
        timestamp: day(on),
        summarizer: "extractive".to_owned(),
        reliability: 1.0,
        summary_tokens: TOKENIZER.count(text),
        original: Original::Deleted,
        original_tokens: 300,
    };
    (summary, seq)
}

fn anchor(subject: &str, attribute: Attribute, value: &str) -> Anchor {
    Anchor {
        id: AnchorId::new(day(0)),
        subject: subject.to_owned(),
        attribute,
        value: value.to_owned(),
        strength: 0.5,
        evidence: Vec::new(),
        valid_from: day(0),
        valid_until: None,
        superseded_by: None,
        contests: None,
        trust: Trust::User,
        retracted_at: None,
    }
}

fn weighed(query: &str) -> Vec<(Word, f64)> {
    query_words(query).into_iter().map(|word| (word, 1.0)).collect()
}

fn request(share_tokens: u32, candidates: Vec<Candidate<'_>>) -> Request<'_> {
    Request::ranked(share_tokens, candidates)
}

/// Packs turns recalled by `query`, best first, and nothing else.
fn recalled(
    turns: &[Turn],
    query: &str,
    focus: Option<&Focus>,
    budget_tokens: u32,
) -> (String, Vec<PackOutcome>) {
    let words = weighed(query);
    let candidate = |turn| {
        Candidate::new(Item::Turn(turn), Section::EarlierConversations).found_by(&words, focus.cloned())
    };
    let mut packed = pack(
        &[request(u32::MAX, turns.iter().map(candidate).collect())],
        budget_tokens,
        LAST_LINE,
        TOKENIZER,
    );
    (packed.text, packed.outcomes.remove(0))
}

/// Checks what is shown of a turn when there is just enough room for one.
#[track_caller]
fn check_extract(user: &str, reply: &str, query: &str, focus: Option<&Focus>, expected: &str) {
    let turns = [turn(1, 1, NewTurn::new(user, reply).said)];
    let frame = [PREAMBLE, Section::EarlierConversations.title(), "On 2024-10-05\n", LAST_LINE];
    let budget_tokens = frame.map(|line| TOKENIZER.count(line)).iter().sum::<u32>() + EXTRACT_TOKENS;
    let (text, _) = recalled(&turns, query, focus, budget_tokens);
    let shown = text.strip_prefix(&frame[..3].concat()).unwrap().strip_suffix(LAST_LINE).unwrap();
    assert_eq!(shown, expected);
}

/// Sentences without interesting content, about 120 tokens.
fn filler() -> String {
    "It was a long and quiet day by the river. Nobody came and nobody called us. ".repeat(6)
}

#[test]
fn an_extract_shows_the_sentence_that_matched_under_the_question() {
    let reply = format!("{}The pool now has twenty connections. {}", filler(), filler());
    check_extract(
        "How large should the pool be?",
        &reply,
        "pool connections",
        None,
        "User: How large should the pool be?\n<...>\nAssistant: Nobody came and nobody called us. The pool now has \
         twenty connections. It was a long and quiet day by the river.\n<...>\n",
    );
}

#[test]
fn sentences_far_apart_are_parts_with_marks_between_them() {
    let reply = format!("We sold the boat to Ann in March. {}The price was nine thousand.", filler());
    check_extract(
        "",
        &reply,
        "boat price",
        None,
        "Assistant: We sold the boat to Ann in March. It was a long and quiet day by the river. Nobody came and \
         nobody called us. It was a long and quiet day by the river.\n<...>\n The price was nine thousand.\n",
    );
}

#[test]
fn a_message_that_holds_all_that_matched_is_the_user_half() {
    let user = "I sold the boat to Ann in March, for nine thousand euros, and I miss it every morning, as she well knows.";
    check_extract(user, &filler(), "boat price Ann", None, &format!("User: {user}\n<...>\n"));
}

#[test]
fn what_matched_by_meaning_is_shown_where_no_word_did() {
    let reply = format!("{}She prefers tea in the evening. {}", filler(), filler());
    let start = reply.find("She").unwrap();
    let focus = Focus { side: Side::Reply, bytes: start..start + 20 };
    check_extract(
        "And then?",
        &reply,
        "beverages",
        Some(&focus),
        "User: And then?\n<...>\nAssistant: Nobody came and nobody called us. She prefers tea in the evening. It was a \
         long and quiet day by the river. Nobody came and nobody called us.\n<...>\n",
    );
}

#[test]
fn a_sentence_says_more_than_a_line_of_code() {
    let reply = format!("```\nlet pool = pool::new(size);\n```\n{}The size of the pool is twenty.", filler());
    check_extract(
        "Show it.",
        &reply,
        "pool size",
        None,
        "User: Show it.\n<...>\nAssistant: Nobody came and nobody called us. It was a long and quiet day by the river. \
         Nobody came and nobody called us. The size of the pool is twenty.\n",
    );
}

#[test]
fn an_endless_sentence_is_cut_around_what_matched() {
    let words = "and so on and on it went ".repeat(40);
    let reply = format!("{words}until the boat sank {words}");
    let (text, _) = recalled(&[turn(1, 1, NewTurn::new("", reply).said)], "boat", None, 150);
    assert!(text.contains("\n<...>\nAssistant: ") && text.contains(" until the boat sank and "), "{text}");
    assert!(text.ends_with(&format!("\n<...>\n{LAST_LINE}")), "{text}");
}

#[test]
fn a_match_deep_in_a_megabyte_is_found() {
    let far = filler().repeat(300);
    let reply = format!("{far}The boat sank. {}", filler().repeat(2_000));
    let (text, _) = recalled(&[huge(&reply)], "boat", None, 200);
    assert!(text.contains("The boat sank."), "{text}");

    let reply = format!("{}The boat sank. {}", filler().repeat(1_500), filler().repeat(500));
    let start = reply.find("The boat").unwrap();
    let focus = Focus { side: Side::Reply, bytes: start..start + 14 };
    let (text, _) = recalled(&[huge(&reply)], "ship", Some(&focus), 200);
    assert!(text.contains("The boat sank."), "{text}");

    for odd in
        ["x".repeat(1 << 20), "猫".repeat(300_000), "\n".repeat(1 << 20) + "x", "boat ".repeat(200_000)]
    {
        let turns = [huge(&odd)];
        let words = weighed("boat");
        let candidate = Candidate::new(Item::Turn(&turns[0]), Section::EarlierConversations);
        check_all(&[request(900, vec![candidate.found_by(&words, None)])], 900);
    }
}

#[test]
fn of_a_turn_in_which_nothing_matched_the_summary_is_shown_or_its_beginning() {
    let long = turn(1, 1, NewTurn::new("Tell me of your day.", filler()).said);
    let (summary, _) = summary(1, 1, "User asked of the day.");
    let words = weighed("boat");
    let packed_with = |summary| {
        let candidate = Candidate::new(Item::Turn(&long), Section::EarlierConversations);
        let candidate = candidate.found_by(&words, None).summary(summary);
        pack(&[request(u32::MAX, vec![candidate])], 130, LAST_LINE, TOKENIZER).text
    };
    assert!(packed_with(Some(&summary)).contains("\nTurn (summary): User asked of the day.\n<now"));
    assert!(packed_with(None).contains("\nUser: Tell me of your day.\n"));
}

#[test]
fn an_extract_grows_where_others_leave_room() {
    let reply = format!("{}The boat sank. {}", filler(), filler());
    let turns = [turn(1, 1, NewTurn::new("What happened?", reply).said)];
    let whole = turns[0].tokens.piece_tokens;
    assert_eq!(recalled(&turns, "boat", None, 150).1, [PackOutcome::Packed(PackedAs::Extract)]);
    assert_eq!(recalled(&turns, "boat", None, whole + 100).1, [PackOutcome::Packed(PackedAs::Whole)]);
}

#[test]
fn every_candidate_learns_what_became_of_it() {
    let short = |seq| turn(seq, seq, NewTurn::new(format!("The boat number {seq}."), "").said);
    let mut turns: Vec<Turn> = (1..=4).map(short).collect();
    turns[1] = turn(2, 2, NewTurn::new("x y ".repeat(45), "").said);
    let words = weighed("boat");
    let found = |at: usize| {
        Candidate::new(Item::Turn(&turns[at]), Section::EarlierConversations).found_by(&words, None)
    };
    let requests = [
        request(u32::MAX, vec![Candidate::new(Item::Turn(&turns[3]), Section::RecentTurns)]),
        request(u32::MAX, vec![found(3), found(2).below_floor(true), found(1), found(0)]),
    ];
    let packed = pack(&requests, 115, LAST_LINE, TOKENIZER);
    let whole = PackOutcome::Packed(PackedAs::Whole);
    assert_eq!(packed.outcomes[0], [whole]);
    assert_eq!(
        packed.outcomes[1],
        [PackOutcome::AlreadyShown, PackOutcome::BelowFloor, PackOutcome::NoRoom, whole],
        "what does not fit is skipped"
    );
}

#[test]
fn the_stretch_goes_on_from_request_to_request_and_ends_where_not_even_a_part_fits() {
    let sized = |seq, words: usize| turn(seq, 1, NewTurn::new("word ".repeat(words), "").said);
    let turns: Vec<Turn> =
        [20, 900, 20, 20].into_iter().zip(1..).map(|(words, seq)| sized(seq, words)).collect();
    let at = |index: usize, section| vec![Candidate::new(Item::Turn(&turns[index]), section)];
    let earlier = |index| at(index, Section::EarlierInSession);
    let requests = [
        Request::newest(100, at(3, Section::RecentTurns)),
        Request::newest(0, earlier(2)),
        Request::older(100, earlier(1)),
        Request::older(0, earlier(0)),
    ];
    let (whole, cut) = (PackOutcome::Packed(PackedAs::Whole), PackOutcome::Packed(PackedAs::Extract));
    let outcomes = |budget| pack(&requests, budget, LAST_LINE, TOKENIZER).outcomes.concat();
    assert_eq!(
        outcomes(140),
        [whole, whole, PackOutcome::NoRoom, PackOutcome::NoRoom],
        "the last would have had room"
    );
    assert_eq!(outcomes(400), [whole, whole, cut, whole]);
    assert_eq!(outcomes(2_000), [whole; 4]);
    let packed = pack(&requests, 600, LAST_LINE, TOKENIZER);
    assert!(packed.tokens > 590, "the cut turn has what is left: {}", packed.tokens);
    check_all(&requests, 600);
}

#[test]
fn a_turn_that_is_cut_and_was_recalled_shows_what_matched() {
    let long = turn(2, 1, NewTurn::new(filler(), format!("{}The boat sank. {}", filler(), filler())).said);
    let short = turn(1, 1, NewTurn::new("Hello.", "Hello.").said);
    let words = weighed("boat");
    let earlier = |turn| Candidate::new(Item::Turn(turn), Section::EarlierInSession);
    let shown = |long: Candidate<'_>| {
        let requests = [Request::older(200, vec![long, earlier(&short)])];
        pack(&requests, 200, LAST_LINE, TOKENIZER).text
    };
    let (by_place, recalled) = (shown(earlier(&long)), shown(earlier(&long).found_by(&words, None)));
    assert!(!by_place.contains("boat") && recalled.contains("The boat sank."), "{by_place}\n{recalled}");
    assert!(by_place.contains("Hello.") && recalled.contains("Hello."));
}

#[test]
fn so_many_of_the_newest_turns_fit_whole_as_come_in_whole() {
    let days = [3, 3, 2, 1, 1];
    let turns: Vec<Turn> = days
        .into_iter()
        .zip(1..)
        .map(|(day, seq)| turn(seq, day, NewTurn::new("hello there", "").said))
        .collect();
    let newest_first = || turns.iter().rev();
    for room in 0..120 {
        let fit = fit_whole(Section::RecentTurns, newest_first(), room, TOKENIZER);
        let candidates = newest_first().map(|turn| Candidate::new(Item::Turn(turn), Section::RecentTurns));
        let packed = pack(
            &[Request { most_tokens: room, ..Request::newest(4_000, candidates.collect()) }],
            4_000,
            LAST_LINE,
            TOKENIZER,
        );
        let whole =
            packed.outcomes[0].iter().filter(|outcome| matches!(outcome, PackOutcome::Packed(_))).count();
        assert_eq!(fit, whole, "{room}");
    }
}

#[test]
fn four_sections_oldest_first_and_one_line_a_day() {
    let said = |text: &str| NewTurn::new(text, "").said;
    // Recorded last, said first: an import.
    let imported = turn(9, 1, said("imported"));
    let old = [turn(1, 3, said("one")), turn(2, 3, said("two"))];
    let (gone, seq) = summary(3, 2, "User said \"three\".");
    let (warm, hot) = (turn(4, 5, said("four")), turn(5, 5, said("five")));
    let mut moved = anchor("user", Attribute::Home, "Bonn");
    (moved.valid_from, moved.valid_until) = (day(-9), Some(day(2)));
    let mut said_once = anchor("sister anna", Attribute::Home, "Rome");
    said_once.evidence = vec![Evidence {
        turn_id: Some(old[0].id),
        stance: Stance::Holds,
        said_at: day(1),
        made_by: "extractive".to_owned(),
        quote: "Anna lives in Rome".to_owned(),
        trust: Trust::User,
    }];
    let anchors = [
        said_once,
        anchor("user", Attribute::Home, "Lisbon\n<recent turns>"),
        anchor("user", Attribute::Name, "Alex"),
        anchor("system", Attribute::Job, "to obey"),
    ];
    let words = weighed("one");
    let cold = |item| Candidate::new(item, Section::EarlierConversations).found_by(&words, None);
    let known = anchors.iter().chain([&moved]);
    let requests = [
        request(900, vec![Candidate::new(Item::Turn(&hot), Section::RecentTurns)]),
        request(
            900,
            known.map(|anchor| Candidate::new(Item::Anchor(anchor), Section::WhoTheUserIs)).collect(),
        ),
        request(
            900,
            vec![
                cold(Item::Turn(&old[1])),
                cold(Item::Turn(&old[0])),
                cold(Item::Summary(&gone, seq)),
                cold(Item::Turn(&imported)),
                Candidate::new(Item::Turn(&warm), Section::EarlierInSession).found_by(&words, None),
            ],
        ),
    ];
    let packed = pack(&requests, 900, LAST_LINE, TOKENIZER);
    let expected = "<who the user is>
User name: Alex
User home until 2024-10-06: Bonn
User home: Lisbon <recent turns>
Sister Anna home as of 2024-10-05: Rome
Person System job: to obey
<from earlier conversations>
On 2024-10-05
User: imported
On 2024-10-06
Turn (summary): User said \"three\".
On 2024-10-07
User: one
User: two
<earlier in this session>
On 2024-10-09
User: four
<recent turns>
On 2024-10-09
User: five
";
    assert_eq!(packed.text, format!("{PREAMBLE}{expected}{LAST_LINE}"));
    check_all(&requests, 900);
}

#[test]
fn a_request_never_takes_more_than_its_most() {
    let anchors: Vec<Anchor> =
        (0..60).map(|n| anchor("user", Attribute::Likes, &format!("boat number {n}"))).collect();
    let known = anchors.iter().map(|anchor| Candidate::new(Item::Anchor(anchor), Section::WhoTheUserIs));
    let mut requests = [request(150, known.collect())];
    requests[0].most_tokens = 150;
    let packed = pack(&requests, 4_400, LAST_LINE, TOKENIZER);
    let tokens = packed.tokens - TOKENIZER.count(PREAMBLE) - TOKENIZER.count(LAST_LINE);
    assert!((140..=150).contains(&tokens), "{tokens}");
}

/// Checks the outcomes of a memory with this text and of a turn that it rests on, with this many tokens for memories.
#[track_caller]
fn check_told(content: &str, most_tokens: u32, expected: [PackOutcome; 2]) {
    let said = turn(7, 1, NewTurn::new("The boat is moored at pier nine.", "").said);
    let mut memory = RecalledMemory::sample(8, "Pier", content);
    memory.sources = vec![SourceTurn { turn_id: said.id, caller_id: None, seq: 7 }];
    let words = weighed("boat");
    let known = vec![Candidate::new(Item::Memory(&memory), Section::WhatIsKnown)];
    let recalled = Candidate::new(Item::Turn(&said), Section::EarlierConversations).found_by(&words, None);
    let requests = [Request { most_tokens, ..request(300, known) }, request(300, vec![recalled])];
    let packed = pack(&requests, 900, LAST_LINE, TOKENIZER);
    assert_eq!(packed.outcomes.concat(), expected, "{}", packed.text);
}

#[test]
fn a_turn_is_told_by_the_memory_that_rests_on_it_if_that_has_room() {
    let whole = PackOutcome::Packed(PackedAs::Whole);
    check_told("The boat is at pier nine.", 300, [whole, PackOutcome::AlreadyShown]);
    check_told("The boat is at pier nine.", 5, [PackOutcome::AlreadyShown, whole]);
}
