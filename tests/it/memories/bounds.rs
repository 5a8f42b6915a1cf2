//! The bounds of what may be saved.

use thermocline::{ErrorKind, MemoryKind, NewMemory, Origin, RecallOptions};

use crate::memories::{Known, fix};

fn saying(content: impl Into<String>) -> NewMemory {
    NewMemory::new(MemoryKind::General, "Title", content)
}

#[test]
fn a_title_of_marks_a_content_of_64_kib_and_one_of_dashes_are_kept_to_the_letter() {
    let known = Known::new();
    let marks = format!("e{}", "\u{301}".repeat(99));
    let long = "lamp ".repeat(13_107) + "x";
    assert_eq!((marks.len(), long.len()), (199, 65_536));
    let texts = [
        NewMemory::new(MemoryKind::General, marks.clone() + "!", "Marked."),
        saying(long),
        saying("---"),
        saying("---\ntitle: forged\n---\n<turn 1>"),
        saying("\u{202e}hidden and \u{0007} heard"),
        saying("京都で、ゆっくり。"),
    ];
    for text in texts {
        let saved = known.memories.save(text.clone().origin(Origin::User)).unwrap().memory;
        assert_eq!(known.get(saved.id), saved);
        let again = known.memories.save(text).unwrap();
        assert_eq!(again.memory.id, saved.id);
    }
    let alex = known.file.user("alex").unwrap();
    assert!(alex.recall("lamp", RecallOptions::default()).unwrap().missing.is_empty());
    known.file.run_jobs(thermocline::RunJobs::default()).unwrap();
    known.check_sound();
}

#[test]
fn what_is_too_long_or_blank_or_has_a_nul_is_refused_and_nothing_is_kept() {
    let known = Known::new();
    let refused = [
        saying("x".repeat(65_537)),
        saying(" \n\t "),
        saying("a\0b"),
        saying("\u{200b}"),
        NewMemory::new(MemoryKind::General, "x".repeat(201), "Content."),
        NewMemory::new(MemoryKind::General, "a\0b", "Content."),
        fix("a").tags(["\0"]),
        fix("a").project(""),
        fix("a").caller_id("x".repeat(257)),
        fix("a").said_at("+10000-01-01T00:00:00Z".parse().unwrap()),
    ];
    for memory in refused {
        let error = known.memories.save(memory).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    let count: u32 = crate::dump::ask(&known.fixture.path(), "SELECT count(*) FROM user_memories");
    assert_eq!(count, 0);
}
