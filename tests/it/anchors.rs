//! Anchors are folded from what turns say, strengthened once by each turn, and corrected by people.

use chrono::TimeDelta;
use thermocline::{
    Attribute, ErrorKind, FoundAnchor, NewTurn, Origin, RunJobs, Turn, Verdict,
    blocking::{Session, Thermocline, User},
};

use crate::{
    scripted::{Scripted, first_words, reads_anchors},
    support::{Fixture, at, turn},
    transfer::export,
};

/// Opens a file whose summarizer reads explicit statements, such as `likes is tea.`, `home is no longer Oslo.`
fn memory(fixture: &mut Fixture) -> (Thermocline, User) {
    fixture.config.summarizer = Some(Scripted::each(reads_anchors));
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    (memory, user)
}

/// Says these lines, one turn each, in a separate session, and compresses it.
fn say(memory: &Thermocline, user: &User, lines: &[&str]) -> Session {
    let session = user.new_session().unwrap();
    for &line in lines {
        session.record(NewTurn::new(line, "")).unwrap();
    }
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    session
}

/// Returns every anchor as `key value strength`, with a leading `-` if it no longer holds.
fn shown(user: &User) -> Vec<String> {
    let show = |anchor: thermocline::Anchor| {
        let mark = if anchor.is_current() { "" } else { "- " };
        format!("{mark}{} {} {}", anchor.key(), anchor.value, anchor.strength)
    };
    user.anchors(None, 1_000).unwrap().into_iter().map(show).collect()
}

#[track_caller]
fn check(sessions: &[&[&str]], expected: &[&str]) {
    let mut fixture = Fixture::new();
    let (memory, user) = memory(&mut fixture);
    for lines in sessions {
        say(&memory, &user, lines);
    }
    assert_eq!(shown(&user), expected, "{sessions:?}");
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

#[test]
fn of_one_the_newest_holds_and_of_many_all_do() {
    check(&[&["The home is Oslo."]], &["user.home Oslo 0.5"]);
    check(
        &[&["The home is Oslo.", "The home is Bergen."]],
        &["user.home Bergen 0.5", "- user.home Oslo 0.5"],
    );
    check(
        &[&["The home is Oslo."], &["The home is Bergen."]],
        &["user.home Bergen 0.5", "- user.home Oslo 0.5"],
    );
    check(
        &[&["Among likes is tea.", "Among likes is jazz."]],
        &["user.likes jazz 0.5", "user.likes tea 0.5"],
    );
    check(&[&["The home is Oslo.", "The home is no longer Oslo."]], &["- user.home Oslo 0.5"]);
}

#[test]
fn each_turn_that_says_so_makes_it_stronger_once() {
    check(&[&["Among likes is tea.", "Again, likes is tea."]], &["user.likes tea 0.75"]);
    check(
        &[&["Among likes is tea.", "Yes, likes is TEA."], &["And likes is tea."]],
        &["user.likes tea 0.875"],
    );
    check(&[&["Among likes is tea. I said, likes is tea."]], &["user.likes tea 0.5"]);
}

#[test]
fn a_turn_that_is_compressed_twice_is_one_source() {
    let mut fixture = Fixture::new();
    let (memory, user) = memory(&mut fixture);
    let session = say(&memory, &user, &["Among likes is tea.", "The home is Oslo."]);
    let before = user.anchors(None, 1_000).unwrap();
    for _ in 0..3 {
        session.restore().unwrap();
        assert_eq!(user.anchors(None, 1_000).unwrap(), before, "restoring takes nothing away");
        session.compress().unwrap();
        memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!(user.anchors(None, 1_000).unwrap(), before);
    }
}

#[test]
fn what_is_set_by_hand_supersedes_and_taking_it_back_undoes_it() {
    let mut fixture = Fixture::new();
    let (memory, user) = memory(&mut fixture);
    say(&memory, &user, &["The home is Oslo."]);
    fixture.clock.advance(TimeDelta::days(1));
    let bergen = user.set_anchor("user", Attribute::Home, "Bergen").unwrap();
    assert_eq!(shown(&user), ["user.home Bergen 0.5", "- user.home Oslo 0.5"]);
    let anchors = user.anchors(None, 1_000).unwrap();
    assert_eq!(
        (anchors[1].superseded_by, anchors[1].valid_until),
        (Some(bergen), Some(anchors[0].valid_from))
    );
    assert_eq!((anchors[0].evidence[0].turn_id, anchors[0].evidence[0].made_by.as_str()), (None, "caller"));

    user.retract_anchor(bergen).unwrap();
    assert_eq!(shown(&user), ["- user.home Bergen 0", "user.home Oslo 0.5"]);
    assert_eq!(user.anchors(None, 1_000).unwrap()[1].superseded_by, None);
    assert_eq!(
        user.set_anchor("user", Attribute::Home, " bergen ").unwrap(),
        bergen,
        "two spellings are one value"
    );
    assert_eq!(user.anchors(None, 1_000).unwrap()[0].id, bergen);
    assert!(user.anchors(None, 1_000).unwrap()[0].is_current());
}

#[test]
fn what_was_taken_back_does_not_come_back_by_compressing_again_but_by_being_said_again() {
    let mut fixture = Fixture::new();
    let (memory, user) = memory(&mut fixture);
    let session = say(&memory, &user, &["Among likes is tea."]);
    user.retract_anchor(user.anchors(None, 1_000).unwrap()[0].id).unwrap();
    assert_eq!(shown(&user), ["- user.likes tea 0"]);
    session.restore().unwrap();
    session.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(shown(&user), ["- user.likes tea 0"]);
    say(&memory, &user, &["Now likes is tea."]);
    assert_eq!(shown(&user), ["user.likes tea 0.5"]);
    assert_eq!(
        user.anchors(None, 1_000).unwrap()[0].evidence.len(),
        2,
        "what it was taken back from stays on record"
    );
}

#[test]
fn what_was_said_before_a_retraction_and_compressed_after_it_does_not_count() {
    let mut fixture = Fixture::new();
    let (memory, user) = memory(&mut fixture);
    let id = user.set_anchor("user", Attribute::Likes, "tea").unwrap();
    let session = user.session().unwrap();
    session.record(NewTurn::new("Among likes is tea.", "")).unwrap();
    user.retract_anchor(id).unwrap();
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(shown(&user), ["- user.likes tea 0"]);
}

/// Claims everything that a turn says about everybody, whatever its source.
fn gullible(turn: &Turn) -> Verdict {
    let said = &turn.said;
    let claims = [&said.user_message, &said.ai_response].into_iter().flat_map(|text| {
        ["user", "assistant", "mira"]
            .into_iter()
            .map(move |subject| FoundAnchor::new(subject, Attribute::Note, text.trim_end_matches('.'), text))
    });
    claims.filter(|claim| !claim.quote.is_empty()).fold(first_words(turn), Verdict::anchor)
}

#[test]
fn nobody_but_who_speaks_is_believed_of_themself_and_no_tool_or_document_at_all() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(gullible));
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let session = user.session().unwrap();
    let sides = || NewTurn::new("green lamps", "yellow doors");
    for origin in [Origin::Tool, Origin::Document, Origin::System] {
        session.record(sides().user_origin(origin).assistant_origin(origin)).unwrap();
    }
    session.record(NewTurn::new("red kettles", "").user_name("Mira")).unwrap();
    session.record(NewTurn::new("blue bridges", "white stones")).unwrap();
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let expected =
        ["assistant.note white stones 0.5", "mira.note red kettles 0.5", "user.note blue bridges 0.5"];
    assert_eq!(shown(&user), expected);
}

#[test]
fn the_evidence_of_every_anchor_can_be_read_and_stands_in_its_turn() {
    let mut fixture = Fixture::new();
    let (memory, user) = memory(&mut fixture);
    let long = format!("The home is Oslo. {}", "The lamp stands beside the old bridge. ".repeat(12));
    let session = say(&memory, &user, &["Hello.", &long, "Among likes is tea.", "The home is Bergen."]);
    let anchors = user.anchors(None, 1_000).unwrap();
    assert_eq!(anchors.len(), 3);
    for anchor in anchors {
        for evidence in &anchor.evidence {
            let turn = user.turn(evidence.turn_id.unwrap()).unwrap();
            assert!(turn.said.user_message.contains(&evidence.quote), "{evidence:?}");
            assert!(evidence.quote.contains(&anchor.value));
            assert_eq!((evidence.made_by.as_str(), evidence.said_at), ("scripted", turn.timestamp));
        }
    }
    let oslo = user.anchors(None, 1_000).unwrap().into_iter().find(|anchor| anchor.value == "Oslo").unwrap();
    let summary = session.summaries(None, 1_000).unwrap().into_iter().next().unwrap();
    assert_eq!(
        (summary.turn_number, summary.identity_anchor_ids),
        (2, vec![oslo.id]),
        "the long turn was summarized"
    );
}

#[test]
fn what_is_no_anchor_is_refused() {
    let mut fixture = Fixture::new();
    let (_memory, user) = memory(&mut fixture);
    for (subject, value) in [("", "tea"), ("user", ""), ("user", "a\u{0}b"), ("user", &"x".repeat(257))] {
        let error = user.set_anchor(subject, Attribute::Likes, value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{subject:?} {value:?}");
    }
    user.session().unwrap().record(turn(1)).unwrap();
    let stranger = thermocline::AnchorId::from_uuid(uuid::Uuid::from_u128(7));
    assert_eq!(user.retract_anchor(stranger).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(user.anchors(None, 1_000).unwrap(), []);
}

#[test]
fn who_sets_the_same_again_by_hand_says_no_more_than_before() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let id = user.set_anchor("user", Attribute::Home, "Lisbon").unwrap();
    let once = user.anchor(id).unwrap();
    assert_eq!(user.set_anchor("user", Attribute::Home, "Lisbon").unwrap(), id);
    assert_eq!(user.anchor(id).unwrap(), once);
    // A statement by somebody else counts, and so does the same statement after a retraction.
    let by_desk = || user.set_anchor_by("user", Attribute::Home, "Lisbon", "mcp:desk").unwrap();
    assert_eq!((by_desk().is_new, by_desk().is_new, by_desk().id), (true, false, id));
    assert!(user.anchor(id).unwrap().strength > once.strength);
    user.retract_anchor(id).unwrap();
    user.set_anchor("user", Attribute::Home, "Lisbon").unwrap();
    assert!(user.anchor(id).unwrap().is_current());
}

#[test]
fn who_sets_an_anchor_is_in_its_evidence_also_behind_an_export() {
    let fixture = Fixture::new();
    let user = fixture.alex();
    let id = user.set_anchor_by("user", Attribute::Home, "Oslo", "mcp:desk").unwrap().id;
    let plain = user.set_anchor("user", Attribute::Likes, "tea").unwrap();
    let maker = |user: &User, id| user.anchor(id).unwrap().evidence[0].made_by.clone();
    assert_eq!((maker(&user, id).as_str(), maker(&user, plain).as_str()), ("mcp:desk", "caller"));
    let other = Fixture::new();
    let memory = other.open();
    memory.import("alex", std::io::Cursor::new(export(&user).into_bytes())).unwrap();
    let moved = memory.user("alex").unwrap();
    let homes = moved.anchors(None, 10).unwrap();
    assert_eq!(homes[0].evidence[0].made_by, "mcp:desk");
    for by in [String::new(), " ".into(), "x".repeat(201), "a\0b".into()] {
        let refused = user.set_anchor_by("user", Attribute::Home, "Bergen", &by).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{by:?}");
    }
    user.set_anchor_by("user", Attribute::Home, "Bergen", &"x".repeat(200)).unwrap();
}

#[test]
fn a_replaced_anchor_keeps_its_dates_and_the_others_of_its_attribute_stay() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    user.session().unwrap().record(turn(1)).unwrap();
    let home = user.set_anchor("user", Attribute::Home, "Oslo").unwrap();
    let tea = user.set_anchor("user", Attribute::Likes, "tea").unwrap();
    user.set_anchor("user", Attribute::Likes, "boats").unwrap();
    // At the same instant by the clock, which stands still.
    let bergen = user.replace_anchor(home, "Bergen", "mcp:desk").unwrap();
    let mint = user.replace_anchor(tea, " mint ", "mcp:desk").unwrap();
    let expected = [
        "user.home Bergen 0.5",
        "- user.home Oslo 0.5",
        "user.likes boats 0.5",
        "user.likes mint 0.5",
        "- user.likes tea 0.5",
    ];
    assert_eq!(shown(&user), expected);
    let [old_home, old_tea] = [home, tea].map(|id| user.anchor(id).unwrap());
    assert_eq!(old_home.superseded_by, Some(bergen));
    assert!(old_home.valid_until.is_some() && old_tea.valid_until.is_some());
    assert_eq!(old_tea.valid_from, at("2026-03-01T12:00:00Z"));
    assert_eq!(user.anchor(mint).unwrap().evidence[0].made_by, "mcp:desk");

    // Replacing again changes nothing, and an anchor that does not hold is not replaced by another value.
    let revision = user.revision().unwrap();
    assert_eq!(user.replace_anchor(home, "bergen", "mcp:desk").unwrap(), bergen);
    assert_eq!(user.replace_anchor(tea, "mint", "mcp:desk").unwrap(), mint);
    for id in [home, tea] {
        let refused = user.replace_anchor(id, "coffee", "mcp:desk").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
    }
    assert_eq!(user.revision().unwrap(), revision);
    assert_eq!(shown(&user), expected);

    // The same value in other letters is the same anchor; an old value comes back.
    assert_eq!(user.replace_anchor(mint, "Mint", "x").unwrap(), mint);
    assert_eq!(user.anchor(mint).unwrap().value, "Mint");
    assert!(user.anchor(mint).unwrap().is_current());
    assert_eq!(user.replace_anchor(bergen, "Oslo", "x").unwrap(), home);
    assert!(user.anchor(home).unwrap().is_current() && !user.anchor(bergen).unwrap().is_current());

    let blake = memory.user("blake").unwrap();
    assert_eq!(blake.replace_anchor(home, "Rome", "x").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(blake.anchor(home).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(memory.doctor().unwrap().is_healthy());
}
