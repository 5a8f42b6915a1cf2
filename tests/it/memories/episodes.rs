//! Episodes: births of memories, and notes of the day.

use chrono::TimeDelta;
use thermocline::{EpisodeFilter, EpisodeRole, ErrorKind, MemoryId, MemoryKind, NewNote, Outcome, SessionId};

use crate::{
    memories::{Known, fix},
    support::at,
};

#[test]
fn a_note_is_kept_once_and_a_memory_begins_once() {
    let known = Known::new();
    let memory = known
        .save(fix("Keepalive").tags(["redis"]).outcome(Outcome::Success).said_at(at("2026-02-01T00:00:00Z")));
    let note = || {
        NewNote::new("Moved the bot")
            .summary("To websockets.")
            .kind(MemoryKind::Decision)
            .tags(["#Bot", "bot"])
            .memory(memory.id)
            .caller_id("n1")
    };
    let noted = known.memories.note(note()).unwrap();
    assert!(noted.is_new);
    let kept = noted.episode;
    assert_eq!((kept.role, kept.tags.as_slice()), (EpisodeRole::Note, &["Bot".to_owned()][..]));
    assert_eq!((kept.memory_id, kept.kind), (Some(memory.id), Some(MemoryKind::Decision)));
    let again = known.memories.note(note()).unwrap();
    assert_eq!((again.episode, again.is_new), (kept.clone(), false));
    let other = known.memories.note(note().summary("To polling.")).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Conflict);
    let happened = known.memories.episodes(EpisodeFilter::default(), None, 10).unwrap();
    assert_eq!(happened.len(), 2);
    assert_eq!((happened[0].id, happened[1].role), (kept.id, EpisodeRole::Birth));
    let birth = &happened[1];
    assert_eq!((birth.title.as_str(), birth.outcome), ("Keepalive", Some(Outcome::Success)));
    assert_eq!(
        (birth.summary.as_str(), birth.tags.as_slice()),
        ("Keepalive is how it is mended.", &["redis".to_owned()][..])
    );
    assert_eq!(birth.happened_at, at("2026-02-01T00:00:00Z"));
    known.check_sound();
}

#[test]
fn what_happened_is_listed_by_time_in_pages() {
    let known = Known::new();
    for n in 0..10 {
        known.memories.note(NewNote::new(format!("note {n}"))).unwrap();
        known.memories.note(NewNote::new(format!("same time {n}"))).unwrap();
        known.fixture.clock.advance(TimeDelta::hours(1));
    }
    known.save(fix("born"));
    let whole: Vec<String> = shown(&known, EpisodeFilter::default());
    assert_eq!((whole.len(), whole[0].as_str(), whole[1].as_str()), (21, "born", "same time 9"));
    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let page = known.memories.episodes(EpisodeFilter::default(), after, 4).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        paged.extend(page.into_iter().map(|episode| episode.title));
    }
    assert_eq!(paged, whole);
    let notes = EpisodeFilter::default().roles([EpisodeRole::Note]);
    assert_eq!(shown(&known, notes.clone()).len(), 20);
    let within = notes.since(at("2026-03-01T14:00:00Z")).until(at("2026-03-01T16:00:00Z"));
    assert_eq!(shown(&known, within), ["same time 3", "note 3", "same time 2", "note 2"]);
    assert_eq!(shown(&known, EpisodeFilter::default().roles([EpisodeRole::Use])), Vec::<String>::new());
    assert_eq!(shown(&known, EpisodeFilter::default().roles([])).len(), 21);
}

fn shown(known: &Known, filter: EpisodeFilter) -> Vec<String> {
    let happened = known.memories.episodes(filter, None, 1_000).unwrap();
    happened.into_iter().map(|episode| episode.title).collect()
}

#[test]
fn notes_out_of_bounds_or_about_nothing_that_is_there_are_refused() {
    let known = Known::new();
    let kind = |note: NewNote| known.memories.note(note).unwrap_err().kind();
    assert_eq!(kind(NewNote::new(" ")), ErrorKind::InvalidInput);
    assert_eq!(kind(NewNote::new("x".repeat(201))), ErrorKind::InvalidInput);
    let nobody = uuid::Uuid::from_u128(7);
    assert_eq!(kind(NewNote::new("a").memory(MemoryId::from_uuid(nobody))), ErrorKind::NotFound);
    assert_eq!(kind(NewNote::new("a").session(SessionId::from_uuid(nobody))), ErrorKind::NotFound);
    let after = Some(thermocline::EpisodeId::from_uuid(nobody));
    let refused = known.memories.episodes(EpisodeFilter::default(), after, 10).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}
