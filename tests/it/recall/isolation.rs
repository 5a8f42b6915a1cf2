//! What others said changes neither what is found nor its scores.

use thermocline::{ContextOptions, ErrorKind, NewTurn, RecallOptions, RunJobs};

use super::{answers, lines, options, recall, story, tell_all};
use crate::support::Fixture;

#[test]
fn a_users_answers_are_the_same_alone_and_beside_others_with_the_same_words() {
    let (alone, beside) = (Fixture::new(), Fixture::new());
    tell_all(&alone.alex(), 200);
    let memory = beside.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    tell_all(&blake, 150);
    let mixed = blake.session_named("mixed").unwrap();
    for (number, first) in (0..200).step_by(25).enumerate() {
        let session = alex.session_named(&format!("talk {number}")).unwrap();
        for n in first..first + 25 {
            session.record(story(n)).unwrap();
            // The same words, and one of them a hundred times.
            mixed
                .record(NewTurn::new("violin ".repeat(100), "telescope").caller_id(format!("m{n}")))
                .unwrap();
        }
        if first + 25 < 200 {
            session.end().unwrap();
        }
    }
    let expected = answers(&alone.alex());
    assert_eq!(answers(&alex), expected, "before the jobs");
    alone.open().run_jobs(RunJobs::default()).unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let expected = answers(&alone.alex());
    assert_eq!(answers(&alex), expected, "after the jobs");
    assert_eq!(answers(&beside.alex()), expected, "by another handle");
    blake.erase().unwrap();
    assert_eq!(answers(&alex), expected, "after they are gone");
}

#[test]
fn nothing_of_another_user_is_recalled_by_any_word_or_id() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    tell_all(&alex, 150);
    let session = blake.session().unwrap();
    let said = NewTurn::new("My garden has a pond with a heron.", "How fine.").caller_id("blake's");
    let recorded = session.record(said).unwrap();
    for jobs in [false, true] {
        if jobs {
            memory.run_jobs(RunJobs::default()).unwrap();
        }
        for query in ["garden pond heron", "blake's", &recorded.turn_id.to_string(), "blake", ""] {
            for recalled in alex.recall(query, RecallOptions::default().k(1_000)).unwrap().items {
                let turn = recalled.turn().unwrap();
                assert_eq!(turn.caller_id.as_deref().map(|id| &id[..1]), Some("s"), "{query:?}");
            }
        }
        let context =
            alex.session().unwrap().context("garden pond heron", ContextOptions::default()).unwrap();
        assert!(!context.text.contains("heron"), "{}", context.text);
        let found = recall(&blake, "violin canoe heron");
        assert_eq!(super::ids(&found), ["blake's"]);
    }
}

#[test]
fn another_users_receipts_are_not_found_and_count_nothing() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    let session = alex.session().unwrap();
    session.record(story(1)).unwrap();
    let context = session.context("violin", ContextOptions::default()).unwrap();
    assert_eq!(alex.receipt(context.receipt).unwrap().query, "violin");
    assert_eq!(blake.receipt(context.receipt).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(blake.receipts(10).unwrap(), []);
    blake.session().unwrap().record(story(1).answering(context.receipt)).unwrap();
    assert_eq!(alex.receipt(context.receipt).unwrap().used_at, None);
    assert_eq!(super::uses::counts(&memory, &fixture), Vec::<String>::new());
}

#[test]
fn who_has_said_nothing_recalls_nothing() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    tell_all(&memory.user("alex").unwrap(), 30);
    let blake = memory.user("blake").unwrap();
    for query in super::QUESTIONS {
        assert_eq!(lines(&blake.recall(query, options()).unwrap()), Vec::<String>::new());
    }
    assert_eq!(blake.session().unwrap().context("violin", ContextOptions::default()).unwrap().text, "");
}
