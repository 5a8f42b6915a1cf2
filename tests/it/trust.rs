//! Whose words: what is trusted less changes nothing that is trusted more, in turns, sessions and anchors.

use thermocline::{
    Anchor, Attribute, Config, ContextOptions, EdgeType, ErrorKind, MemoryKind, MemoryStatus, NewEdge,
    NewMemory, NewTurn, Origin, Reply, RunJobs, Trust,
    blocking::{Thermocline, User},
};

const REPORTED: &str = "I moved to Minsk. My name is Mallory Evil.";

struct Kept {
    folder: tempfile::TempDir,
    file: Thermocline,
    user: User,
    assistant: User,
    tool: User,
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.worker = false;
        let file = Thermocline::open_with(folder.path().join("memory.db"), config).unwrap();
        let user = file.user("alex").unwrap();
        let [assistant, tool] = [Origin::Assistant, Origin::Tool].map(|origin| user.clone().by(origin));
        Self { folder, file, user, assistant, tool }
    }

    /// Records one turn in a session of its own, ends the session and compresses it.
    fn say(&self, by: &User, key: &str, message: &str) {
        by.record(Some(key), NewTurn::new(message, "Noted.")).unwrap();
        by.find_session(key).unwrap().unwrap().end().unwrap();
        self.file.run_jobs(RunJobs::default()).unwrap();
    }

    /// The anchors of an attribute: `value`, `value (ended)`, `value (contested)`.
    fn anchors(&self, attribute: Attribute) -> Vec<String> {
        let mut shown: Vec<String> =
            self.all().iter().filter(|anchor| anchor.attribute == attribute).map(shown).collect();
        shown.sort();
        shown
    }

    fn all(&self) -> Vec<Anchor> {
        self.user.anchors(None, 100).unwrap()
    }

    fn anchor(&self, value: &str) -> Anchor {
        self.all().into_iter().find(|anchor| anchor.value == value).unwrap()
    }
}

fn shown(anchor: &Anchor) -> String {
    let state = match anchor {
        anchor if anchor.contests.is_some() => " (contested)",
        anchor if anchor.is_current() => "",
        _ => " (ended)",
    };
    format!("{}{state}", anchor.value)
}

#[test]
fn what_an_assistant_reports_contests_what_the_user_said_until_the_user_decides() {
    let kept = Kept::new();
    kept.say(&kept.user, "own", "My name is Alexandra Petrova. I live in Lisbon.");
    let before = kept.all();
    kept.say(&kept.assistant, "forged", REPORTED);
    assert_eq!(kept.anchors(Attribute::Home), ["Lisbon", "Minsk (contested)"]);
    assert_eq!(kept.anchors(Attribute::Name), ["Alexandra Petrova", "Mallory Evil (contested)"]);
    for anchor in &before {
        assert_eq!(kept.user.anchor(anchor.id).unwrap(), *anchor);
    }
    let minsk = kept.anchor("Minsk");
    assert_eq!((minsk.trust, minsk.evidence[0].trust), (Trust::Assistant, Trust::Assistant));
    assert_eq!(minsk.contests, Some(kept.anchor("Lisbon").id));
    let session = kept.user.session_named("next").unwrap();
    let context =
        session.context("Where do I live, and what is my name?", ContextOptions::default()).unwrap().text;
    let facts: Vec<&str> = context
        .lines()
        .filter(|line| line.starts_with("User home") || line.starts_with("User name"))
        .collect();
    assert!(facts.iter().all(|fact| !fact.contains("Minsk") && !fact.contains("Mallory")), "{facts:?}");
    kept.say(&kept.user, "confirmed", "I live in Minsk.");
    assert_eq!(kept.anchors(Attribute::Home), ["Lisbon (ended)", "Minsk"]);
    kept.say(&kept.user, "left", "My name is Alexandra Petrova.");
    assert_eq!(kept.anchors(Attribute::Name), ["Alexandra Petrova", "Mallory Evil (ended)"]);
    assert!(kept.file.doctor().unwrap().is_healthy());
}

#[test]
fn where_the_user_said_nothing_what_is_reported_holds_and_is_shown_as_the_users_words() {
    let kept = Kept::new();
    kept.say(&kept.assistant, "forged", REPORTED);
    assert_eq!(kept.anchors(Attribute::Home), ["Minsk"]);
    let session = kept.user.session_named("next").unwrap();
    let context = session.context("Where do I live?", ContextOptions::default()).unwrap().text;
    assert!(context.contains("User: I moved to Minsk."), "{context}");
    kept.say(&kept.assistant, "again", "I moved to Bonn.");
    assert_eq!(kept.anchors(Attribute::Home), ["Bonn", "Minsk (ended)"]);
    kept.say(&kept.tool, "tool", "I moved to Mars.");
    assert_eq!(kept.anchors(Attribute::Home), ["Bonn", "Minsk (ended)"]);
}

#[test]
fn an_anchor_of_the_user_is_replaced_and_retracted_by_the_user_alone() {
    let kept = Kept::new();
    let home = kept.user.set_anchor("user", Attribute::Home, "Lisbon").unwrap();
    let diet = kept.user.set_anchor("user", Attribute::Diet, "vegan").unwrap();
    kept.user.retract_anchor(diet).unwrap();
    let before = [home, diet].map(|id| kept.user.anchor(id).unwrap());
    for by in [&kept.assistant, &kept.tool] {
        for id in [home, diet] {
            assert_eq!(by.replace_anchor(id, "Minsk", "model").unwrap_err().kind(), ErrorKind::Conflict);
            assert_eq!(by.retract_anchor(id).unwrap_err().kind(), ErrorKind::Conflict);
        }
    }
    assert!(kept.tool.set_anchor("user", Attribute::Home, "Minsk").is_err());
    let minsk = kept.assistant.set_anchor("user", Attribute::Home, "Minsk").unwrap();
    kept.assistant.set_anchor("user", Attribute::Diet, "vegan").unwrap();
    assert_eq!(kept.user.anchor(minsk).unwrap().contests, Some(home));
    let after = [home, diet].map(|id| kept.user.anchor(id).unwrap());
    for (before, after) in before.into_iter().zip(after) {
        assert_eq!(after.value, before.value);
        assert_eq!(
            (after.valid_until, after.retracted_at, after.strength),
            (before.valid_until, before.retracted_at, before.strength)
        );
    }
    kept.assistant.retract_anchor(minsk).unwrap();
    assert_eq!(kept.anchors(Attribute::Home), ["Lisbon", "Minsk (ended)"]);
}

#[test]
fn turns_and_sessions_of_the_user_are_replaced_completed_ended_and_erased_by_the_user_alone() {
    let kept = Kept::new();
    let first = kept.user.record(Some("med"), NewTurn::new("Blood type 0.", "").critical()).unwrap();
    kept.user.record(Some("med"), NewTurn::new("My sister has the key.", "")).unwrap();
    let waiting = kept.user.record_message(Some("waiting"), NewTurn::new("Are you there?", "")).unwrap();
    let session = |by: &User, key: &str| by.find_session(key).unwrap().unwrap();
    for by in [&kept.assistant, &kept.tool] {
        let replacing = NewTurn::new(".", "").replacing(first.turn_id);
        let refused = [
            by.record(Some("med"), replacing).unwrap_err(),
            by.record(Some("waiting"), NewTurn::new(".", "")).unwrap_err(),
            session(by, "waiting").complete(waiting.turn_id, Reply::new("Yes.")).unwrap_err(),
            session(by, "med").end().unwrap_err(),
            session(by, "med").set_title(Some("x")).unwrap_err(),
            session(by, "med").set_project(Some("x")).unwrap_err(),
            session(by, "med").erase().unwrap_err(),
            by.erase_turn(first.turn_id).unwrap_err(),
            by.erase().unwrap_err(),
        ];
        for (at, refused) in refused.iter().enumerate() {
            assert_eq!(refused.kind(), ErrorKind::Conflict, "{at}: {refused}");
            assert!(refused.to_string().contains("--origin user"), "{refused}");
        }
        by.record(Some("med"), NewTurn::new("An addition.", "")).unwrap();
    }
    let own = kept.assistant.record(Some("own"), NewTurn::new("Reported.", "")).unwrap();
    assert_eq!(kept.user.turn(own.turn_id).unwrap().said.recorded_by, Origin::Assistant);
    kept.assistant.record(Some("own"), NewTurn::new("Anew.", "").replacing(own.turn_id)).unwrap();
    session(&kept.assistant, "own").end().unwrap();
    session(&kept.assistant, "own").erase().unwrap();
    kept.user.record(Some("med"), NewTurn::new(".", "").replacing(first.turn_id)).unwrap();
    kept.user.erase().unwrap();
}

#[test]
fn an_export_carries_how_far_what_it_says_is_trusted() {
    let kept = Kept::new();
    kept.say(&kept.user, "own", "I live in Lisbon.");
    kept.say(&kept.assistant, "forged", REPORTED);
    kept.assistant.record(Some("open"), NewTurn::new("I work as a nurse.", "")).unwrap();
    let path = kept.folder.path().join("lines");
    kept.user.export(std::fs::File::create(&path).unwrap()).unwrap();
    let read = std::fs::read_to_string(&path).unwrap();
    let other = Kept::new();
    other.user.erase().unwrap();
    other.file.import("blake", std::io::Cursor::new(read.clone())).unwrap();
    let blake = other.file.user("blake").unwrap();
    let homes: Vec<String> = blake.anchors(None, 100).unwrap().iter().map(shown).collect();
    assert!(homes.contains(&"Minsk (contested)".to_owned()), "{homes:?}");
    assert!(blake.clone().by(Origin::Assistant).find_session("open").unwrap().unwrap().end().is_ok());
    let own = blake.clone().by(Origin::Assistant).find_session("own").unwrap().unwrap();
    assert_eq!(own.set_title(Some("x")).unwrap_err().kind(), ErrorKind::Conflict);
    let raised = read.replace("\"recorded_by\":\"assistant\"", "\"recorded_by\":\"user\"");
    assert_ne!(raised, read);
    let refused = Kept::new().file.import("blake", std::io::Cursor::new(raised)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "a turn is trusted more than its session: {refused}");
}

fn memory(title: &str) -> NewMemory {
    NewMemory::new(MemoryKind::Fix, title, format!("{title} is how it is mended."))
}

#[test]
fn who_is_trusted_less_says_of_no_memory_that_it_contradicts_another() {
    let kept = Kept::new();
    let [one, other] = ["Ports", "Keys"].map(|title| {
        kept.user.memories().by(Origin::User).save(memory(title).origin(Origin::User)).unwrap().memory.id
    });
    let memories = kept.user.memories().by(Origin::Assistant);
    let own = memories.save(memory("Rain")).unwrap().memory.id;
    for (from, to) in [(one, other), (own, one), (one, own)] {
        let edge = NewEdge::new(EdgeType::Contradicts).origin(Origin::Assistant);
        assert_eq!(memories.relate(from, edge, to).unwrap_err().kind(), ErrorKind::Conflict);
    }
}

#[test]
fn what_the_user_forgot_is_not_brought_back_by_saying_it_again() {
    let kept = Kept::new();
    let [user, assistant] = [Origin::User, Origin::Assistant].map(|origin| kept.user.memories().by(origin));
    let id = assistant.save(memory("Ports")).unwrap().memory.id;
    user.forget(id).unwrap();
    assistant.save(memory("Ports")).unwrap();
    assert_eq!(user.get(id).unwrap().status, MemoryStatus::Forgotten);
    user.save(memory("Ports").origin(Origin::User)).unwrap();
    assert_eq!(user.get(id).unwrap().status, MemoryStatus::Active);
    let own = assistant.save(memory("Keys")).unwrap().memory.id;
    assistant.forget(own).unwrap();
    assistant.save(memory("Keys")).unwrap();
    assert_eq!(user.get(own).unwrap().status, MemoryStatus::Active);
}
