//! Who may change what: nobody can speak for somebody who is trusted more.

use thermocline::{
    CoreOptions, EdgeType, Edit, ErrorKind, MemoryFilter, MemoryId, MemoryKind, MemoryStatus, NewEdge,
    NewMemory, Origin, QuarantineSource, SaveOutcome, SourceName, Trust, blocking::Memories,
};

use crate::memories::{Known, expect_superseded, fix, port, saying};

fn by(known: &Known, origin: Origin) -> Memories {
    known.memories.clone().by(origin)
}

#[test]
fn what_a_tool_or_a_document_says_changes_nothing_that_is_trusted_more() {
    for origin in [Origin::Tool, Origin::Document] {
        let known = Known::new();
        let users = known.save(port(8443));
        let edited = known.memories.edit(users.id, Edit::default().importance(0.7)).unwrap();
        let other = known.memories.save(fix("Other").origin(origin)).unwrap().memory;
        let tool = by(&known, origin);
        let contradicts = || NewEdge::new(EdgeType::Contradicts).origin(origin);
        let refused = [
            tool.edit(users.id, saying("It runs on port 99.")).unwrap_err(),
            tool.edit(users.id, Edit::default().goal_signature(None)).unwrap_err(),
            tool.pin(users.id).unwrap_err(),
            tool.forget(users.id).unwrap_err(),
            tool.undo(users.id).unwrap_err(),
            tool.supersede(users.id, port(99).origin(origin)).unwrap_err(),
            tool.supersede_by(users.id, other.id).unwrap_err(),
            tool.supersede_by(other.id, users.id).unwrap_err(),
            tool.relate(other.id, contradicts(), users.id).unwrap_err(),
            tool.relate(users.id, contradicts(), other.id).unwrap_err(),
        ];
        for (at, refused) in refused.iter().enumerate() {
            assert_eq!(refused.kind(), ErrorKind::Conflict, "{at}: {refused}");
            assert!(refused.to_string().starts_with("the user stated mem_"), "{at}: {refused}");
        }
        assert_eq!(known.get(users.id), edited);
        let waiting = tool.save(port(99).origin(origin)).unwrap();
        assert!(matches!(waiting.outcome, SaveOutcome::Waits(_)), "{waiting:?}");
        tool.relate(other.id, NewEdge::new(EdgeType::Solves).origin(origin), users.id).unwrap();

        // A tool may change its own memory, but not what an assistant said.
        tool.edit(other.id, Edit::default().importance(0.9)).unwrap();
        let assistants = known.memories.save(fix("Assistant")).unwrap().memory;
        assert_eq!(tool.forget(assistants.id).unwrap_err().kind(), ErrorKind::Conflict);
        let forgotten = tool.forget_all(MemoryFilter::default()).unwrap();
        assert_eq!(forgotten.memories, [other.id], "what is trusted more is left");
        tool.undo(other.id).unwrap();
        known.check_sound();
    }
}

#[test]
fn an_assistant_changes_nothing_that_the_user_said_or_approved() {
    let known = Known::new();
    let assistant = by(&known, Origin::Assistant);
    let id = known.save(port(8443)).id;
    let users = known.memories.edit(id, Edit::default().importance(0.7)).unwrap();
    let other = known.memories.save(fix("Other")).unwrap().memory;
    let merged = NewMemory::new(MemoryKind::Fix, "Both", "Both of them at once.");
    let refused = [
        assistant.edit(id, saying("It runs on port 99.")).unwrap_err(),
        assistant.edit(id, Edit::default().importance(0.9).tags(["api"])).unwrap_err(),
        assistant.edit(id, Edit::default().project(Some("p"))).unwrap_err(),
        assistant.pin(id).unwrap_err(),
        assistant.forget(id).unwrap_err(),
        assistant.undo(id).unwrap_err(),
        assistant.erase(id).unwrap_err(),
        assistant.resurfaced(id).unwrap_err(),
        assistant.dismiss(id).unwrap_err(),
        assistant.merge(vec![id, other.id], merged).unwrap_err(),
    ];
    for (at, refused) in refused.iter().enumerate() {
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{at}: {refused}");
    }
    assert_eq!(known.get(id), users);
    let waits = assistant.supersede_by(id, other.id).unwrap();
    assert!(matches!(waits.outcome, SaveOutcome::Waits(_)), "a person decides: {waits:?}");
    assistant.edit(other.id, saying("This is the assistant's own.")).unwrap();
    known.memories.edit(other.id, Edit::default().importance(0.9)).unwrap();
    assert_eq!(assistant.undo(other.id).unwrap_err().kind(), ErrorKind::Conflict, "the user did that");
    assistant.forget(other.id).unwrap();
    known.memories.undo(id).unwrap();
    known.check_sound();
}

#[test]
fn what_a_tool_said_first_the_user_can_say_too() {
    let known = Known::new();
    let mine = known.save(port(8443));
    let waiting = known.memories.save(port(99).origin(Origin::Tool)).unwrap().memory;
    assert_eq!(waiting.status, MemoryStatus::Archived);
    let saved = known.memories.save(port(99).origin(Origin::User)).unwrap();
    expect_superseded(&saved, mine.id);
    assert_eq!((saved.memory.id, saved.memory.trust), (waiting.id, Trust::User));
    assert!(!saved.memory.contested, "nobody is asked any more");
    let sources = known.memories.sources(waiting.id).unwrap();
    let callers: Vec<Origin> = sources
        .iter()
        .filter(|source| matches!(source.from, SourceName::Caller(_)))
        .map(|source| source.origin)
        .collect();
    assert_eq!(callers.len(), 2, "{callers:?}");
    known.check_sound();
    known.memories.undo(mine.id).unwrap();
    assert_eq!(
        (known.get(mine.id).status, known.get(waiting.id).trust),
        (MemoryStatus::Active, Trust::Foreign)
    );
    known.check_sound();
}

#[test]
fn what_holds_and_is_said_again_by_the_user_is_the_users() {
    let known = Known::new();
    let tools = known.memories.save(port(99).origin(Origin::Tool)).unwrap().memory;
    let again = known.memories.save(port(99).origin(Origin::User)).unwrap();
    assert_eq!((again.outcome, again.memory.id), (SaveOutcome::Known, tools.id));
    assert_eq!((again.memory.origin, again.memory.trust), (Origin::User, Trust::User));
    let next = known.memories.save(port(100).origin(Origin::Tool)).unwrap();
    assert!(matches!(next.outcome, SaveOutcome::Waits(_)), "{next:?}");
    let lowered = known.memories.save(port(99).origin(Origin::Tool)).unwrap();
    assert_eq!(lowered.memory.trust, Trust::User);
    known.check_sound();
}

#[test]
fn what_the_user_has_take_a_place_holds_and_is_trusted_as_before() {
    let known = Known::new();
    let mine = known.save(port(8443));
    let waiting: MemoryId = known.memories.save(port(99).origin(Origin::Tool)).unwrap().memory.id;
    let assistants = by(&known, Origin::Assistant).supersede_by(mine.id, waiting).unwrap();
    assert!(matches!(assistants.outcome, SaveOutcome::Waits(_)), "{assistants:?}");
    let saved = known.memories.supersede_by(mine.id, waiting).unwrap();
    expect_superseded(&saved, mine.id);
    assert_eq!((saved.memory.origin, saved.memory.trust), (Origin::Tool, Trust::Foreign));
    known.check_sound();
}

#[test]
fn another_text_below_a_title_of_a_document_launders_no_title() {
    let known = Known::new();
    let assistant = by(&known, Origin::Assistant);
    let page = || fix("Always run the script first").summary("Run the script.").origin(Origin::Document);
    let id = known.memories.save(page()).unwrap().memory.id;
    let other = saying("Nobody has seen why that is said, and it did not help here.");
    assert_eq!(assistant.edit(id, other.clone()).unwrap().trust, Trust::Foreign);
    let whole = other.content("The cache was too small for both.").title("Cache of both services");
    let edited = assistant.edit(id, whole).unwrap();
    assert_eq!((edited.origin, edited.trust), (Origin::Assistant, Trust::Assistant));
    known.check_sound();
}

#[test]
fn a_tool_or_a_document_hides_nothing_and_answers_for_nobody() {
    for origin in [Origin::Tool, Origin::Document] {
        let known = Known::new();
        let id = known.save(fix("Mine")).id;
        let tool = by(&known, origin);
        let refused = [
            tool.quarantine(QuarantineSource::Memory(id), "").unwrap_err(),
            tool.quarantine(QuarantineSource::Origin(Origin::User), "").unwrap_err(),
            tool.resurfaced(id).unwrap_err(),
            tool.dismiss(id).unwrap_err(),
        ];
        for refused in refused {
            assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        }
        assert_eq!(known.get(id).status, MemoryStatus::Active);
    }
}

#[test]
fn a_tool_overwrites_no_edge_of_somebody_who_is_trusted_more() {
    let known = Known::new();
    let [a, b] = ["a", "b"].map(|title| known.save(fix(title)).id);
    let solves = |origin| NewEdge::new(EdgeType::Solves).origin(origin);
    let users = known.memories.relate(a, solves(Origin::User).strength(0.3).context("in May"), b).unwrap();
    let tool = by(&known, Origin::Tool);
    assert_eq!(tool.relate(a, solves(Origin::Tool), b).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(tool.unrelate(users.id).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(known.memories.edge(users.id).unwrap(), users);
    let again = known.memories.relate(a, solves(Origin::User), b).unwrap();
    assert_eq!((again.id, again.strength, again.context.as_str()), (users.id, 0.8, ""), "it is said anew");
}

#[test]
fn what_a_tool_says_against_the_user_waits_and_puts_the_users_words_in_no_doubt() {
    let known = Known::new();
    let mine = known.save(port(8443).importance(0.9));
    known.memories.save(port(99).origin(Origin::Tool)).unwrap();
    assert!(!known.get(mine.id).contested);
    assert_eq!(known.memories.core(CoreOptions::default()).unwrap().memories, [mine.id]);
    known.memories.save(port(100).origin(Origin::Assistant)).unwrap();
    assert!(known.get(mine.id).contested);
    known.check_sound();
}
