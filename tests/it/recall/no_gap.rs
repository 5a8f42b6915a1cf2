//! A turn can be recalled as soon as the call that records it returns, and stays so whichever tier it moves to.

use thermocline::{MemoryTier, NewTurn, Originals, RecalledItem, RunJobs, blocking::User};

use super::{found_by_words, recall, story, tell};
use crate::{
    scripted::{Scripted, first_words},
    support::Fixture,
};

/// Words of a single turn: at its beginning, where a summary has it, and at its end, where none does.
const EARLY: &str = "marmalade";
const LATE: &str = "zeppelin";

fn the_turn() -> NewTurn {
    let middle = "The table stood near the window and the window was open all day long. ".repeat(6);
    NewTurn::new(
        format!("We boiled the {EARLY} of the whole year. {middle}"),
        format!("Like a {LATE}, then?"),
    )
    .caller_id("it")
}

/// Checks that both of its words find it, with any handle, in this tier.
#[track_caller]
fn check_found(fixture: &Fixture, alex: &User, tier: MemoryTier, when: &str) {
    for user in [alex, &fixture.alex()] {
        for word in [EARLY, LATE] {
            let recall = recall(user, word);
            let found = found_by_words(&recall, "it").unwrap_or_else(|| panic!("{when}, by {word}"));
            assert_eq!(found.memory_tier(), Some(tier), "{when}");
            assert_eq!(found.turn().unwrap().said, the_turn_said(), "{when}");
            assert_eq!(found, &recall.items[0], "{when}");
        }
    }
}

fn the_turn_said() -> thermocline::Said {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(the_turn()).unwrap();
    session.turn(1).unwrap().unwrap().said
}

#[test]
fn a_turn_is_recalled_from_its_record_through_eviction_end_compression_indexing_and_restoration() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session_named("chat").unwrap();
    tell(&session, 0..3);
    session.record(the_turn()).unwrap();
    check_found(&fixture, &alex, MemoryTier::Hot, "just recorded");
    tell(&session, 3..12);
    check_found(&fixture, &alex, MemoryTier::Warm, "evicted");
    session.end().unwrap();
    check_found(&fixture, &alex, MemoryTier::Warm, "in an ended session");
    memory.run_jobs(RunJobs::default()).unwrap();
    let summary = alex.summary_by_caller_id("it").unwrap().unwrap();
    assert!(summary.summary_text.contains(EARLY) && !summary.summary_text.contains(LATE), "{summary:?}");
    check_found(&fixture, &alex, MemoryTier::Cold, "in the archive");
    tell(&alex.session_named("more").unwrap(), 12..140);
    check_found(&fixture, &alex, MemoryTier::Cold, "before it is indexed");
    memory.run_jobs(RunJobs::default()).unwrap();
    let indexed = "SELECT indexed_seq FROM user_scopes";
    assert_eq!(crate::dump::ask::<u32>(&fixture.path(), indexed), 128);
    check_found(&fixture, &alex, MemoryTier::Cold, "indexed");
    session.restore().unwrap();
    check_found(&fixture, &alex, MemoryTier::Warm, "restored");
    session.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    check_found(&fixture, &alex, MemoryTier::Cold, "compressed again");
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_turn_that_was_indexed_before_it_is_compressed_is_recalled_after_it() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session_named("chat").unwrap();
    session.record(the_turn()).unwrap();
    tell(&session, 0..130);
    memory.run_jobs(RunJobs::default()).unwrap();
    check_found(&fixture, &alex, MemoryTier::Warm, "indexed while its session is open");
    session.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    check_found(&fixture, &alex, MemoryTier::Cold, "compressed");
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_deleted_original_is_recalled_by_its_summary_and_no_more_by_its_own_words() {
    for indexed_first in [false, true] {
        let mut fixture = Fixture::new();
        fixture.config.originals = Originals::Delete;
        fixture.config.summarizer = Some(Scripted::each(first_words));
        let memory = fixture.open();
        let alex = memory.user("alex").unwrap();
        let session = alex.session_named("chat").unwrap();
        tell(&session, 0..3);
        session.record(the_turn()).unwrap();
        if indexed_first {
            tell(&session, 3..140);
            memory.run_jobs(RunJobs::default()).unwrap();
        }
        check_found_before(&fixture, &alex);
        let elsewhere = fixture.alex(); // With all of it in memory.
        assert!(found_by_words(&recall(&elsewhere, LATE), "it").is_some());
        session.end().unwrap();
        memory.run_jobs(RunJobs::default()).unwrap();
        if !indexed_first {
            tell(&alex.session_named("more").unwrap(), 3..140);
            memory.run_jobs(RunJobs::default()).unwrap();
        }
        for user in [&alex, &elsewhere, &fixture.alex()] {
            assert!(found_by_words(&recall(user, LATE), "it").is_none(), "indexed first: {indexed_first}");
            let by_summary = recall(user, EARLY);
            let found = found_by_words(&by_summary, "it").unwrap();
            let RecalledItem::Summary { summary, seq: 4, .. } = &found.item else { panic!("{found:?}") };
            assert!(summary.summary_text.contains(EARLY));
            assert!(found.parts.meaning > 0.0, "its summary is embedded: {found:?}");
            assert_eq!(found, &by_summary.items[0]);
        }
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{diagnosis:?}");
        assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "nothing is left to be done");
        let gaps = "SELECT count(*) FROM vector_gaps";
        assert_eq!(crate::dump::ask::<u32>(&fixture.path(), gaps), 0, "indexed first: {indexed_first}");
    }
}

fn check_found_before(fixture: &Fixture, alex: &User) {
    for user in [alex, &fixture.alex()] {
        assert!(found_by_words(&recall(user, LATE), "it").is_some());
    }
}

#[test]
fn each_of_many_turns_is_recalled_by_what_it_says_before_and_after_all_jobs() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    super::tell_all(&alex, 150);
    for when in ["before", "after"] {
        for n in 0..150 {
            let said = story(n);
            let first = recall(&alex, &format!("{said:?} number {n} on the list"));
            assert!(!first.items.is_empty(), "{when}");
            let by_number = recall(&alex, &format!("number {n} on the list"));
            let expected = format!("s{n}");
            assert_eq!(super::ids(&by_number).first(), Some(&expected), "{when}");
        }
        memory.run_jobs(RunJobs::default()).unwrap();
    }
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn words_of_every_language_find_their_turns() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session_named("chat").unwrap();
    let said = [
        ("日本語で話しましょう。私は京都の図書館で働いています。", "京都の図書館"),
        ("我昨天在北京买了一辆红色的自行车。", "红色自行车"),
        ("어제 부산에서 친구와 낚시를 했어요.", "부산에서 낚시를"),
        ("Вчера мы ездили на дачу за грибами.", "дачу грибами"),
        ("Χθες αγόρασα ένα καινούργιο ποδήλατο στη Θεσσαλονίκη.", "ποδήλατο Θεσσαλονίκη"),
        ("أمس زرت المتحف الوطني في دمشق.", "المتحف الوطني"),
        ("Gestern habe ich im Garten Johannisbeeren gepflückt.", "Johannisbeeren gepflückt"),
        ("J'ai réparé l'échelle du grenier hier.", "échelle grenier"),
        ("เมื่อวานฉันไปตลาดน้ำ", "ตลาดน้ำ"),
    ];
    for (n, (text, _)) in said.iter().enumerate() {
        session.record(NewTurn::new(*text, "").caller_id(n.to_string())).unwrap();
    }
    tell(&session, 0..140);
    for when in ["before", "after"] {
        for (n, (_, query)) in said.iter().enumerate() {
            let recall = recall(&alex, query);
            let found = found_by_words(&recall, &n.to_string());
            assert_eq!(found, recall.items.first(), "{query}, {when} indexing: {:?}", super::lines(&recall));
            assert!(found.is_some(), "{query}, {when} indexing");
        }
        memory.run_jobs(RunJobs::default()).unwrap();
    }
}
