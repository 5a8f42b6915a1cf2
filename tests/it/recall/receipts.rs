//! A receipt says what a recall considered, how it ranked and what happened to it; only the newest receipts are kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use thermocline::{ContextOptions, ErrorKind, ItemKind, ItemOutcome, Receipt, RunJobs, Section};

use super::{QUESTIONS, asked_at, options, tell, tell_all};
use crate::{dump::ask, support::Fixture};

/// Checks that ranks count from 1, and that the score of each recalled item follows from its parts.
#[track_caller]
fn check_ranks(receipt: &Receipt) {
    for (rank, item) in (1..).zip(&receipt.items) {
        assert_eq!(item.rank, rank);
        if item.kind != ItemKind::Anchor && item.outcome == ItemOutcome::Recalled {
            assert!((item.parts.score(&receipt.profile) - item.score).abs() < 2e-6, "{item:?}");
        }
    }
}

/// Checks that the views show what the receipt says.
#[track_caller]
fn check_view(path: &Path, receipt: &Receipt) {
    let newest = "receipt_no = (SELECT max(receipt_no) FROM v_receipts)";
    for (rank, item) in (1..).zip(&receipt.items) {
        let ask_column = |column: &str| -> String {
            let column = format!("coalesce(CAST({column} AS TEXT), '-')");
            ask(path, &format!("SELECT {column} FROM v_receipt_items WHERE {newest} AND rank = {rank}"))
        };
        let or_none = |word: Option<&'static str>| word.unwrap_or("-").to_owned();
        assert_eq!(ask_column("kind"), item.kind.as_str());
        assert_eq!(ask_column("memory_tier"), or_none(item.memory_tier.map(|tier| tier.as_str())));
        assert_eq!(ask_column("packed_as"), or_none(item.packed_as.map(|packed_as| packed_as.as_str())));
        assert_eq!(ask_column("outcome"), item.outcome.as_str());
        assert_eq!(ask_column("tokens"), item.tokens.to_string());
        assert_eq!(ask_column("score").parse(), Ok(item.score));
        let parts: BTreeMap<String, f64> = serde_json::from_str(&ask_column("parts")).unwrap();
        let shares = item.parts.named().into_iter().filter(|(_, part)| *part != 0.0);
        assert_eq!(parts, shares.map(|(name, part)| (name.to_owned(), part)).collect());
    }
    let packed = receipt.items.iter().filter(|item| item.packed_as.is_some()).count();
    let counts = format!("SELECT items || ' ' || packed FROM v_receipts WHERE {newest}");
    assert_eq!(ask::<String>(path, &counts), format!("{} {packed}", receipt.items.len()));
}

#[test]
fn a_recalls_receipt_names_what_was_recalled_and_its_ranks_can_be_worked_out_again() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 150);
    memory.run_jobs(RunJobs::default()).unwrap();
    for query in QUESTIONS {
        let recall = alex.recall(query, options().k(12)).unwrap();
        let receipt = alex.receipt(recall.receipt).unwrap();
        assert_eq!((receipt.id, receipt.query.as_str()), (recall.receipt, *query));
        assert_eq!((receipt.now, receipt.session_id, receipt.used_at), (asked_at(), None, None));
        check_ranks(&receipt);
        check_view(&fixture.path(), &receipt);
        assert!(receipt.items.is_sorted_by(|a, b| a.score >= b.score));
        assert_eq!(receipt.items.len().min(12), recall.items.len(), "{query:?}");
        for (item, recalled) in receipt.items.iter().zip(&recall.items) {
            assert!((item.score - recalled.score).abs() < 1e-7, "{item:?}");
            for ((name, kept), (_, part)) in item.parts.named().into_iter().zip(recalled.parts.named()) {
                assert!((kept - part).abs() < 1e-7, "{name} {kept} {part}");
            }
            assert_eq!(item.owner_id, *recalled.turn().unwrap().id.as_uuid());
            assert_eq!(item.memory_tier, recalled.memory_tier());
        }
        let explained = receipt.explain();
        assert!(
            explained.contains(&format!("{query:?}")) && explained.contains("profile default"),
            "{explained}"
        );
    }
}

#[test]
fn a_contexts_receipt_names_what_became_of_each() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 150);
    memory.run_jobs(RunJobs::default()).unwrap();
    let session = alex.session_named("now").unwrap();
    tell(&session, 150..160);
    let mut outcomes = BTreeSet::new();
    for (query, budget) in [
        ("Who repaired the violin in Porto?", 4_400),
        ("telescope", 700),
        ("violin", 90),
        ("quetzalcoatlus", 4_400),
    ] {
        let options = ContextOptions::default().now(asked_at()).budget_tokens(budget);
        let context = session.context(query, options).unwrap();
        let receipt = alex.receipt(context.receipt).unwrap();
        check_ranks(&receipt);
        assert_eq!((receipt.session_id, receipt.budget_tokens), (Some(session.id()), Some(budget)));
        assert_eq!((receipt.tokens, &receipt.missing), (Some(context.tokens), &context.missing));
        let packed: Vec<_> = receipt.items.iter().filter(|item| item.packed_as.is_some()).collect();
        let of = |id| packed.iter().filter(|item| item.owner_id == id).collect::<Vec<_>>();
        assert_eq!(packed.len(), context.items.len(), "each in its place, once");
        for item in &context.items {
            let [line] = of(*item.turn_id.unwrap().as_uuid())[..] else { panic!("{item:?}") };
            assert_eq!((line.outcome, line.tokens), (ItemOutcome::Packed, item.tokens));
            // A turn that is shown for its place may also be a result with a score.
            assert!(item.score.is_none_or(|score| (score - line.score).abs() < 1e-7));
        }
        for item in receipt.items.iter().filter(|item| item.packed_as.is_none()) {
            assert_eq!(item.tokens, 0);
            assert!(
                [ItemOutcome::NoRoom, ItemOutcome::BelowFloor, ItemOutcome::AlreadyShown]
                    .contains(&item.outcome),
                "{item:?}"
            );
        }
        check_view(&fixture.path(), &receipt);
        outcomes.extend(receipt.items.into_iter().map(|item| item.outcome.as_str()));
    }
    assert_eq!(outcomes.into_iter().collect::<Vec<_>>(), ["below_floor", "no_room", "packed"]);
    // A turn that hot and warm show is not a candidate for the recalled part.
    let context = session
        .context(
            "Grandfather lost the kayak, number 155 on the list",
            ContextOptions::default().now(asked_at()),
        )
        .unwrap();
    let in_session: Vec<_> =
        context.items.iter().filter(|item| item.section != Section::EarlierConversations).collect();
    assert_eq!(in_session.len(), 10);
    assert!(in_session.iter().all(|item| item.score.is_none()));
}

#[test]
fn only_the_newest_receipts_are_kept() {
    let mut fixture = Fixture::new();
    fixture.config.receipts = 3;
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    tell(&alex.session().unwrap(), 0..5);
    tell(&blake.session().unwrap(), 0..5);
    let other = blake.recall("violin", options()).unwrap().receipt;
    let ids: Vec<_> =
        (0..7).map(|n| alex.recall(&format!("violin {n}"), options()).unwrap().receipt).collect();
    let newest = alex.receipt(ids[6]).unwrap();
    assert_eq!(newest.query, "violin 6");
    let queries: Vec<String> = alex.receipts(10).unwrap().into_iter().map(|receipt| receipt.query).collect();
    assert_eq!(queries, ["violin 6", "violin 5", "violin 4"]);
    for (n, id) in ids.iter().enumerate() {
        let kept = alex.receipt(*id).map(|receipt| receipt.items.len()).map_err(|error| error.kind());
        assert_eq!(kept, if n < 4 { Err(ErrorKind::NotFound) } else { Ok(5) }, "{n}");
    }
    assert_eq!(blake.receipt(other).unwrap().query, "violin", "another user's stay");
    let items = "SELECT count(*) FROM v_receipt_items";
    assert_eq!(ask::<u32>(&fixture.path(), items), 4 * 5);
}

#[test]
fn without_receipts_recall_writes_nothing() {
    let mut fixture = Fixture::new();
    fixture.config.receipts = 0;
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    tell(&session, 0..5);
    let before = crate::dump::dump(&fixture.path());
    let recall = alex.recall("violin", options()).unwrap();
    let context = session.context("violin", ContextOptions::default()).unwrap();
    for id in [recall.receipt, context.receipt] {
        assert_eq!(alex.receipt(id).unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert_eq!(crate::dump::dump(&fixture.path()), before);
}
