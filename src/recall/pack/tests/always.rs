//! Properties that hold for every packed context. Each context is parsed, and compared with what was packed.

use proptest::prelude::*;

use super::*;
use crate::model::memory::recalled::{RecalledMemory, SourceTurn};
use crate::text::{
    control,
    cuts::GAP,
    render::{is_hidden, is_line_break, label},
};

/// Text as it can be read back from a context.
fn normal(text: &str) -> String {
    let text = text.trim_end().replace("\r\n", "\n");
    let shown = |c| match c {
        _ if is_line_break(c) => '\n',
        _ if is_hidden(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    text.chars().map(shown).collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A piece as parsed using only the rule in the first line of a context.
#[derive(Debug, PartialEq)]
enum SeenPiece {
    Said(String, String),
    Further(String),
    Gap,
    LeftOut,
}

fn read(piece: &str) -> Vec<SeenPiece> {
    let mut seen = Vec::new();
    for line in piece.strip_suffix('\n').expect("a piece ends its last line").split('\n') {
        if format!("{line}\n") == GAP {
            seen.push(SeenPiece::Gap);
        } else if line.starts_with('<') {
            let tokens =
                line.strip_prefix('<').unwrap().strip_suffix(" tokens of this turn left out>").unwrap();
            tokens.parse::<u32>().unwrap();
            seen.push(SeenPiece::LeftOut);
        } else if line.is_empty() || line.starts_with(' ') {
            let line = line.strip_prefix(' ').unwrap_or(line);
            match seen.last_mut().unwrap() {
                SeenPiece::Said(_, text) | SeenPiece::Further(text) => text.extend(["\n", line]),
                SeenPiece::Gap | SeenPiece::LeftOut => seen.push(SeenPiece::Further(line.to_owned())),
            }
        } else {
            let (who, text) = line.split_once(": ").unwrap();
            seen.push(SeenPiece::Said(who.to_owned(), text.to_owned()));
        }
    }
    seen
}

/// Checks that a part of a turn shows only what was said, in its order, and marks every cut. Blanks do not count: one is
/// inserted into each control token.
#[track_caller]
fn check_part(said: &Said, piece: &str) {
    let labels = [
        label(said.user_name.as_deref(), said.user_origin, "User"),
        label(said.assistant_name.as_deref(), said.assistant_origin, "Assistant"),
    ];
    let mut rest = [&said.user_message, &said.ai_response].map(|side| without_blanks(&normal(side)));
    let mut shown = String::new();
    let (mut side, mut is_cut) = (0, false);
    let seen = read(piece);
    let mut labelled = Vec::new();
    for line in &seen {
        let text = match line {
            SeenPiece::Said(_, text) | SeenPiece::Further(text) => without_blanks(text),
            SeenPiece::Gap | SeenPiece::LeftOut => String::new(),
        };
        match line {
            SeenPiece::Gap | SeenPiece::LeftOut => {
                assert!(!is_cut, "two marks at one cut: {piece:?}");
                is_cut = true;
                continue;
            }
            SeenPiece::Said(who, _) => {
                // Both sides can have the same label; then the message comes first, if its text is there.
                side = (side..2)
                    .find(|&at| {
                        labels[at] == *who && !labelled.contains(&at) && rest[at].contains(text.as_str())
                    })
                    .expect("someone of the turn speaks");
                labelled.push(side);
            }
            SeenPiece::Further(_) => assert!(is_cut, "a further part without a mark: {piece:?}"),
        }
        let at = rest[side].find(text.as_str()).unwrap_or_else(|| panic!("{text:?} was said: {piece:?}"));
        rest[side] = rest[side][at + text.len()..].to_owned();
        shown += &text;
        is_cut = false;
    }
    let all = without_blanks(&normal(&said.user_message)) + &without_blanks(&normal(&said.ai_response));
    assert_eq!(control::starts(piece).next(), None, "a control token: {piece:?}");
    let is_marked = seen.iter().any(|line| matches!(line, SeenPiece::Gap | SeenPiece::LeftOut));
    assert_eq!(shown != all, is_marked, "a mark for what is left out, and only then: {piece:?}");
    if let Some(SeenPiece::Said(_, first)) = seen.first() {
        let whole =
            if normal(&said.user_message).trim().is_empty() { &said.ai_response } else { &said.user_message };
        assert!(
            without_blanks(&normal(whole)).starts_with(&without_blanks(first)),
            "cut without a mark: {piece:?}"
        );
    }
    if let Some(SeenPiece::Said(_, last) | SeenPiece::Further(last)) = seen.last() {
        let is_reply_empty = normal(&said.ai_response).trim().is_empty();
        let end = if is_reply_empty { &said.user_message } else { &said.ai_response };
        let is_whole_end = without_blanks(&normal(end)).ends_with(&without_blanks(last));
        assert!(is_whole_end, "the end is cut without a mark: {piece:?}");
    }
}

/// Checks all invariants.
#[track_caller]
pub(super) fn check_all(requests: &[Request<'_>], budget_tokens: u32) {
    let packed = pack(requests, budget_tokens, LAST_LINE, TOKENIZER);
    assert!(packed.tokens <= budget_tokens);
    assert_eq!(packed.tokens, TOKENIZER.count(&packed.text));
    let again = pack(requests, budget_tokens, LAST_LINE, TOKENIZER);
    assert_eq!((&packed.text, &packed.outcomes), (&again.text, &again.outcomes), "the same again");

    let mut expected = String::new();
    let mut above = (None, None);
    let mut keys = HashSet::new();
    for piece in &packed.pieces {
        assert!(keys.insert(piece.item.key()), "never the same twice");
        assert_eq!(packed.outcomes[piece.of.0][piece.of.1], PackOutcome::Packed(piece.packed_as));
        assert_eq!(piece.tokens, TOKENIZER.count(&piece.text));
        assert!(piece.text.starts_with(|c: char| c.is_alphabetic() || c == '<'), "{:?}", piece.text);
        if above.0 != Some(piece.section) {
            assert!(above.0 < Some(piece.section), "sections come in their order");
            expected += piece.section.title();
            above = (Some(piece.section), None);
        }
        if let Some(on) = piece.item.said_on().filter(|_| above.1 != piece.item.said_on()) {
            if piece.section == Section::EarlierConversations {
                assert!(above.1 < Some(on), "oldest first");
            }
            expected += &render::date_line(on);
            above.1 = Some(on);
        }
        expected += &piece.text;
        check_piece(piece);
    }
    if !expected.is_empty() {
        expected = format!("{PREAMBLE}{expected}{LAST_LINE}");
    }
    assert_eq!(packed.text, expected);

    // Read line by line: the frame has these lines and no other.
    let is_date = |line: &&str| line.strip_prefix("On ").is_some_and(|on| on.parse::<NaiveDate>().is_ok());
    let is_frame =
        |line: &&str| line.starts_with('<') && !line.ends_with(" left out>") && *line != GAP.trim_end();
    let titles: HashSet<Section> = packed.pieces.iter().map(|piece| piece.section).collect();
    let frame_lines = packed.text.lines().filter(is_frame).count();
    assert_eq!(frame_lines, if packed.pieces.is_empty() { 0 } else { titles.len() + 2 }, "{:?}", packed.text);
    assert_eq!(
        packed.text.lines().filter(is_date).count(),
        expected.matches("\nOn ").count()
            - packed
                .pieces
                .iter()
                .map(|piece| format!("\n{}", piece.text).matches("\nOn ").count())
                .sum::<usize>()
    );
    assert!(!packed.text.contains(|c| is_hidden(c) || (c != '\n' && is_line_break(c))), "{:?}", packed.text);

    let outcomes = requests.iter().zip(&packed.outcomes).flat_map(|(r, o)| r.candidates.iter().zip(o));
    let is_told = |item: Item<'_>| {
        packed.pieces.iter().any(|piece| match piece.item {
            Item::Memory(memory) => memory.sources.iter().any(|source| Some(source.seq) == item.seq()),
            _ => false,
        })
    };
    let mut packed_count = 0;
    for (candidate, outcome) in outcomes {
        packed_count += usize::from(matches!(outcome, PackOutcome::Packed(_)));
        match outcome {
            PackOutcome::Packed(_) => assert!(!candidate.is_below_floor),
            PackOutcome::AlreadyShown => assert!(candidate.item.is_among(&keys) || is_told(candidate.item)),
            PackOutcome::NoRoom => assert!(!candidate.item.is_among(&keys)),
            PackOutcome::BelowFloor => assert!(candidate.is_below_floor),
        }
    }
    assert_eq!(packed_count, packed.pieces.len());

    // The stretch has no hole: after a turn without room, none is shown for its place.
    let stretch = requests.iter().zip(&packed.outcomes).filter(|(request, _)| request.is_stretch());
    let stretch: Vec<PackOutcome> = stretch.flat_map(|(_, outcomes)| outcomes.iter().copied()).collect();
    let behind = stretch.iter().skip_while(|outcome| **outcome != PackOutcome::NoRoom);
    assert!(behind.clone().all(|outcome| !matches!(outcome, PackOutcome::Packed(_))), "{stretch:?}");
}

#[track_caller]
fn check_piece(piece: &RenderedPiece<'_>) {
    let seen = read(&piece.text);
    match (piece.item, piece.packed_as) {
        (Item::Turn(turn), PackedAs::Summary) => {
            assert!(
                matches!(&*seen, [SeenPiece::Said(who, _)] if who == "Turn (summary)"),
                "{seen:?} {turn:?}"
            );
        }
        (Item::Turn(turn), PackedAs::Whole) => {
            assert!(!seen.iter().any(|line| matches!(line, SeenPiece::Gap | SeenPiece::LeftOut)));
            check_part(&turn.said, &piece.text);
        }
        (Item::Turn(turn), _) => check_part(&turn.said, &piece.text),
        (Item::Summary(summary, _), as_what) => {
            assert_eq!(as_what, PackedAs::Summary);
            assert_eq!(
                seen,
                [SeenPiece::Said(
                    "Turn (summary)".to_owned(),
                    control::harmless(&normal(&summary.summary_text)).into_owned()
                )]
            );
        }
        (Item::Wish(wish, _), as_what) => {
            assert_eq!(as_what, PackedAs::Whole);
            assert!(matches!(&*seen, [SeenPiece::Said(..)]), "one line: {wish:?}");
        }
        (Item::Memory(known), as_what) => {
            assert!(matches!(as_what, PackedAs::Whole | PackedAs::Summary));
            let [SeenPiece::Said(who, text)] = &*seen else { panic!("one piece: {seen:?}") };
            assert_eq!(who, "Memory (decision, 2026-01-01)");
            // A dot may separate title and content.
            let letters = |text: &str| without_blanks(&normal(text)).replace('.', "");
            let content = letters(&known.memory.content);
            let all = letters(&known.memory.title) + &content;
            // A title that is also the beginning of the content is not repeated.
            let is_said = |all: &str| all.starts_with(&letters(text));
            assert!(is_said(&all) || is_said(&content) || as_what == PackedAs::Summary, "{text:?} {all:?}");
        }
        (Item::Anchor(anchor), _) => {
            let [SeenPiece::Said(who, value)] = &*seen else { panic!("one line: {seen:?}") };
            let dated = if anchor.valid_until.is_some() { " until " } else { " as of " };
            let who = who.rsplit_once(dated).map_or(&**who, |(who, _)| who);
            assert!(who.ends_with(anchor.attribute.as_str()), "{who:?}");
            assert_eq!(without_blanks(value), without_blanks(&normal(&anchor.value)));
            assert_eq!(piece.text.matches('\n').count(), 1);
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        6 => "[a-zA-Z ,.]{1,60}",
        4 => prop::sample::select(vec![
            "We sold the boat to Ann in March. ", "The pool has 20 connections. ", "Does the boat leak? ", "No.\n",
            "\n<recent turns>\n", "\nOn 2023-01-01\n", "<...>\n", "\n<...>\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}x",
            "\u{202e}boat\u{202c}", "\u{200b}", "\u{feff}", "\n<now: 1999-01-01 00:00 UTC>\n", "\nUser: boat\n", " [...] ",
            "\n<300 tokens of this turn left out>\n", "\nTurn (summary): boat\n", "```\nlet boat = 1;\n```\n", "| boat | pool |\n",
            "- the boat\n- the pool\n", "1. boat\n", "### Boat\n\n", "猫が船にいる。", "🦊👩\u{200d}👩\u{200d}👧", "/", "  ", "\t", "\n\n\n", "</who the user is>\n",
            "<|im_start|>", "<|im_", "end|>", "[INST]", "</s>", "<start_of_turn>", "<<SYS>>", "<", "[",
            "\u{301}", "'s", "12345 ", "\u{1}", "boat\u{0301}",
        ]).prop_map(str::to_owned),
        1 => ".{0,40}",
        1 => "(word ){1,200}",
        1 => "(boat){1,100}",
    ];
    prop_oneof![
        1 => Just(String::new()),
        12 => prop::collection::vec(fragment, 1..30).prop_map(|fragments| fragments.concat()),
    ]
}

fn any_name() -> impl Strategy<Value = Option<String>> {
    let names = vec![
        None,
        Some("Ann"),
        Some("On 2023-01-01"),
        Some("<recent turns>"),
        Some("Turn (summary)"),
        Some("Assistant"),
        Some("User"),
        Some("x\n<now: y>\n"),
        Some("🦊"),
        Some("\u{202e}a:b"),
    ];
    prop::sample::select(names).prop_map(|name| name.map(str::to_owned))
}

pub(super) fn any_said() -> impl Strategy<Value = Said> {
    let origins = prop::sample::select(vec![Origin::User, Origin::Tool, Origin::Document]);
    (any_text(), any_text(), any_name(), any_name(), origins).prop_map(
        |(user, reply, user_name, assistant_name, origin)| {
            let user = if user.is_empty() && reply.is_empty() { "x".to_owned() } else { user };
            let said = NewTurn::new(user, reply).said;
            Said { user_name, assistant_name, user_origin: origin, ..said }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_was_said_a_context_keeps_its_budget_its_frame_and_its_word(
        said in prop::collection::vec((any_said(), 0_i64..6), 1..24),
        summaries in prop::collection::vec((any_text(), 0_i64..6), 0..3),
        anchors in prop::collection::vec((any_text(), any_text(), 0..Attribute::ALL.len()), 0..6),
        memories in prop::collection::vec((any_text(), any_text(), 1_i64..30), 0..6),
        focuses in prop::collection::vec((0_usize..900, 0_usize..200, any::<bool>()), 24),
        query in prop::sample::select(vec!["boat pool", "the connections of Ann", "猫 船", "", "word", "nothing here"]),
        budgets in prop::collection::vec(0_u32..6_000, 1..4),
    ) {
        let turns: Vec<Turn> =
            said.into_iter().zip(1..).map(|((said, on), seq)| turn(seq, on, said)).collect();
        let gone: Vec<(Summary, i64)> =
            summaries.iter().zip(100..).map(|((text, on), seq)| summary(seq, *on, text)).collect();
        let anchors: Vec<Anchor> = anchors.into_iter()
            .filter(|(_, value, _)| !value.trim().is_empty())
            .map(|(subject, value, at)| anchor(&subject, Attribute::ALL[at], &value)).collect();
        let words = weighed(query);
        let (session, earlier) = turns.split_at(turns.len() / 2);
        let (warm, hot) = session.split_at(session.len() / 2);
        let mut cold: Vec<Candidate<'_>> = earlier.iter()
            .map(|turn| (Section::EarlierConversations, turn))
            .chain(warm.iter().map(|turn| (Section::EarlierInSession, turn)))
            .zip(&focuses)
            .map(|((section, turn), &(start, len, is_reply))| {
                let side = if is_reply { Side::Reply } else { Side::User };
                let focus = (len % 2 == 0).then_some(Focus { side, bytes: start..start + len });
                let stand_in = (len % 3 == 0).then(|| gone.first().map(|gone| &gone.0)).flatten();
                Candidate::new(Item::Turn(turn), section).found_by(&words, focus).summary(stand_in).below_floor(len % 7 == 0)
            })
            .collect();
        cold.extend(gone.iter().map(|(summary, seq)| Candidate::new(Item::Summary(summary, *seq), Section::EarlierConversations).found_by(&words, None)));
        let known: Vec<Candidate<'_>> =
            anchors.iter().map(|anchor| Candidate::new(Item::Anchor(anchor), Section::WhoTheUserIs)).collect();
        let memories: Vec<RecalledMemory> = memories.iter().zip(200..)
            .map(|((title, content, source), seq)| {
                let mut memory = RecalledMemory::sample(seq, title, content);
                memory.sources = turns.iter().filter(|turn| turn.seq == *source).map(source_of).collect();
                memory
            })
            .collect();
        let memories: Vec<Candidate<'_>> =
            memories.iter().map(|memory| Candidate::new(Item::Memory(memory), Section::WhatIsKnown)).collect();
        for budget_tokens in budgets {
            let mut hot_request = Request::newest(budget_tokens / 4, turns_in(Section::RecentTurns, hot));
            hot_request.first_gets = Some(200);
            let mut who = request(budget_tokens / 10, known.clone());
            who.most_tokens = 150;
            check_all(
                &[hot_request, Request::older(budget_tokens / 4, turns_in(Section::EarlierInSession, warm)), who, request(budget_tokens / 5, memories.clone()), request(budget_tokens / 3, cold.clone())],
                budget_tokens,
            );
        }
    }
}

fn source_of(turn: &Turn) -> SourceTurn {
    SourceTurn { turn_id: turn.id, caller_id: None, seq: turn.seq }
}

fn turns_in(section: Section, turns: &[Turn]) -> Vec<Candidate<'_>> {
    turns.iter().rev().map(|turn| Candidate::new(Item::Turn(turn), section)).collect()
}
