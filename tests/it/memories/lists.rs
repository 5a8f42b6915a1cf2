//! Lists of memories, of tags, of changes.

use chrono::TimeDelta;
use thermocline::{
    ErrorKind, Frequency, MemoryFilter, MemoryId, MemoryKind, MemoryStatus, NewMemory, TaskType, TermCount,
};

use crate::{
    dump::meddle,
    memories::{Known, fix, saying, titles},
};

#[test]
fn a_list_is_the_same_in_pages_of_any_size_newest_first() {
    let known = Known::new();
    for n in 0..30 {
        let tags = [("two", 2), ("three", 3)].iter().filter(|(_, by)| n % by == 0).map(|(tag, _)| *tag);
        known.save(fix(&format!("{n:02}")).tags(tags.collect::<Vec<_>>()));
    }
    for (tags, count) in [(&[][..], 30), (&["two"][..], 15), (&["three", "TWO"][..], 5), (&["none"][..], 0)] {
        let filter = || tags.iter().fold(MemoryFilter::default(), |filter, tag| filter.tag(*tag));
        let whole = known.titles(filter());
        assert_eq!(whole.len(), count, "{tags:?}");
        assert!(whole.is_sorted_by(|a, b| a > b), "{whole:?}");
        for size in [1, 2, 7, 30] {
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let page = known.memories.list(filter(), after, size).unwrap();
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                paged.extend(titles(&page));
            }
            assert_eq!(paged, whole, "pages of {size}");
        }
    }
    let nobody = MemoryId::from_uuid(uuid::Uuid::from_u128(7));
    let refused =
        |after, limit| known.memories.list(MemoryFilter::default(), after, limit).unwrap_err().kind();
    assert_eq!(refused(Some(nobody), 10), ErrorKind::NotFound);
    assert_eq!([refused(None, 0), refused(None, 1_001)], [ErrorKind::InvalidInput; 2]);
}

#[test]
fn a_filter_asks_for_all_that_it_says() {
    let known = Known::new();
    known.save(fix("fix").confidence(0.9).frequency(Frequency::Low));
    known.save(NewMemory::new(MemoryKind::Decision, "decision", "We took it.").task_type(TaskType::Research));
    known.save(fix("of p").project("p").confidence(0.5));
    known.save(fix("of q").project("q"));
    let gone = known.save(fix("gone"));
    known.memories.forget(gone.id).unwrap();
    let check = |filter: MemoryFilter, expected: &[&str]| assert_eq!(known.titles(filter), expected);
    check(MemoryFilter::default(), &["of q", "of p", "decision", "fix"]);
    check(MemoryFilter::default().kinds([MemoryKind::Decision, MemoryKind::Error]), &["decision"]);
    check(MemoryFilter::default().frequencies([Frequency::Low]), &["fix"]);
    check(MemoryFilter::default().task_type(TaskType::Research), &["decision"]);
    check(MemoryFilter::default().min_confidence(0.8), &["of q", "decision", "fix"]);
    check(MemoryFilter::default().project("p"), &["of p", "decision", "fix"]);
    check(MemoryFilter::default().statuses([MemoryStatus::Forgotten]), &["gone"]);
    check(MemoryFilter::default().statuses([]), &["gone", "of q", "of p", "decision", "fix"]);
    let all = MemoryFilter::default().kinds([MemoryKind::Fix]).project("p").min_confidence(0.4);
    check(all, &["of p", "fix"]);
}

#[test]
fn two_spellings_of_a_tag_are_one() {
    let known = Known::new();
    known.save(fix("a").tags(["#Redis", "redis", "ＲＥＤＩＳ", "open source"]));
    known.save(fix("b").tags(["ＲＥＤＩＳ"]).entities(["Redis"]));
    let forgotten = known.save(fix("c").tags(["gone", "redis"]));
    known.memories.forget(forgotten.id).unwrap();
    let memory = &known.memories.list(MemoryFilter::default().tag("#redis"), None, 10).unwrap()[1];
    assert_eq!(memory.tags, ["Redis", "open source"]);
    for spelling in ["redis", "#REDIS", "ＲＥＤＩＳ"] {
        assert_eq!(known.titles(MemoryFilter::default().tag(spelling)), ["b", "a"], "{spelling}");
    }
    let shown = |terms: Vec<TermCount>| -> Vec<(String, u64)> {
        terms.into_iter().map(|of| (of.term, of.memories)).collect()
    };
    let tags = known.memories.tags(None, 10).unwrap();
    assert_eq!(shown(tags), [("open source".to_owned(), 1), ("redis".to_owned(), 2)]);
    assert_eq!(shown(known.memories.tags(Some("Open  Source"), 10).unwrap()), [("redis".to_owned(), 2)]);
    assert_eq!(known.memories.tags(None, 1).unwrap().len(), 1);
    let about = known.memories.entities(None, 10).unwrap();
    assert!(about.iter().any(|of| (of.term.as_str(), of.name.as_str()) == ("redis", "Redis")), "{about:?}");
}

#[test]
fn a_history_is_read_backwards_by_pages() {
    let known = Known::new();
    let id = known.save(fix("a")).id;
    for n in 0..9 {
        known.fixture.clock.advance(TimeDelta::seconds(1));
        known.memories.edit(id, saying(&format!("Way {n}."))).unwrap();
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = known.memories.history(id, before, 4).unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.change_no);
        seen.extend(page.iter().map(|change| change.change_no));
    }
    assert_eq!(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    let newest = &known.memories.history(id, None, 1).unwrap()[0];
    assert_eq!(newest.before.as_ref().unwrap()["content"], "Way 7.");
    assert_eq!((newest.made_by.as_str(), newest.memory_id), ("user", id));
}

#[test]
fn what_is_damaged_is_an_error_by_its_id_and_left_out_of_lists() {
    let known = Known::new();
    let [a, b, c] = ["a", "b", "c"].map(|title| known.save(fix(title)).id);
    meddle(&known.fixture.path(), "UPDATE user_memories SET content = 'forged' WHERE title = 'b'");
    assert_eq!(known.memories.get(b).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(known.titles(MemoryFilter::default()), ["c", "a"]);
    assert_eq!(known.titles(MemoryFilter::default().tag("x")), Vec::<String>::new());
    let page = known.memories.list(MemoryFilter::default(), None, 2).unwrap();
    assert_eq!(titles(&page), ["c", "a"], "a page is filled up");
    assert!(!known.file.doctor().unwrap().is_healthy());
    assert_eq!(known.memories.edit(b, saying("Anew.")).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(known.memories.erase(b).unwrap().memories, 1, "and it can be erased");
    known.check_sound();
    for id in [a, c] {
        known.get(id);
    }
}

#[test]
fn an_id_is_found_by_its_beginning() {
    let known = Known::new();
    let [a, b] = ["a", "b"].map(|title| known.save(fix(title)).id);
    let kind =
        |prefix: &str| known.memories.find(prefix).map(|memory| memory.id).map_err(|error| error.kind());
    assert_eq!(kind(&a.to_string()), Ok(a));
    assert_eq!(kind(&b.as_uuid().simple().to_string()), Ok(b));
    assert_eq!(kind(&a.to_string()[..12]), Err(ErrorKind::InvalidInput), "both were saved then");
    for wrong in ["", "mem_", "mem_01", "xyz12", "mem_0123456789abcdef0123456789abcdef0"] {
        assert_eq!(kind(wrong), Err(ErrorKind::InvalidInput), "{wrong}");
    }
    assert_eq!(kind("ffff"), Err(ErrorKind::NotFound));
}
