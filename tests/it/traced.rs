//! What a `tracing` subscriber sees at the finest level: ids, counts, kinds of errors; no text, key or name.

use std::{
    fmt::{Debug, Write as _},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use chrono::TimeDelta;
use thermocline::{Attribute, ContextOptions, Error, Event, NewTurn, OnEvent, RecallOptions, RunJobs};
use tracing::{
    Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::{
    recall::embedders::ScriptedEmbedder,
    scripted::{Scripted, first_words},
    support::{Fixture, long_texts},
};

/// Records everything as text, from every thread of this process.
struct Keeper {
    kept: Arc<Mutex<String>>,
    spans: AtomicU64,
}

impl Keeper {
    fn keep(&self, metadata: &Metadata<'_>, record: impl FnOnce(&mut Fields)) {
        let mut fields = Fields(format!("{} {} {}:", metadata.level(), metadata.target(), metadata.name()));
        record(&mut fields);
        let mut kept = self.kept.lock().unwrap();
        kept.push_str(&fields.0);
        kept.push('\n');
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.keep(span.metadata(), |fields| span.record(fields));
        Id::from_u64(self.spans.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        let mut kept = self.kept.lock().unwrap();
        kept.push_str("learned:");
        kept.push_str(&fields.0);
        kept.push('\n');
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        self.keep(event.metadata(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns what the subscriber has recorded so far; sets the subscriber first, if that has not been done.
fn kept() -> Arc<Mutex<String>> {
    static KEPT: OnceLock<Arc<Mutex<String>>> = OnceLock::new();
    let keep = || {
        let kept = Arc::default();
        let keeper = Keeper { kept: Arc::clone(&kept), spans: AtomicU64::new(0) };
        tracing::subscriber::set_global_default(keeper).unwrap();
        kept
    };
    Arc::clone(KEPT.get_or_init(keep))
}

/// Words that only this test says.
const CANARIES: [&str; 8] = [
    "canarytext",
    "canaryquery",
    "canarycaller",
    "canaryuser",
    "canarysession",
    "canarykey",
    "canaryvalue",
    "canaryproject",
];

#[test]
fn whatever_is_done_a_subscriber_sees_ids_and_counts_and_nothing_of_what_was_said() {
    let kept = kept();
    let mut fixture = Fixture::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    fixture.config.on_event = OnEvent::new(move |event: &Event| listener.lock().unwrap().push(event.clone()));
    fixture.config.summarizer = Some(Scripted::new(|call, turns| match call {
        1 => Err(Error::provider("no connection for canarykey")),
        2 => Err(Error::provider_misconfigured(format!("canarykey {}", turns[0].said.user_message))),
        3 => Err(Error::provider_refused(format!("a filter: {}", turns[0].said.user_message))),
        4 => panic!("canarytext"),
        _ => Ok(turns.iter().map(first_words).collect()),
    }));
    let fails =
        |_: usize, texts: &[String]| Some(Err(Error::provider(format!("canarykey for {}", texts[0]))));
    fixture.config.embedders = vec![ScriptedEmbedder::new(("own-model", "r1", 8), fails)];
    let memory = fixture.open();
    let user = memory.user("canaryuser").unwrap();
    let session = user.session_named("canarysession").unwrap();
    session.set_project(Some("canaryproject")).unwrap();
    for n in 1..=6 {
        let (said, reply) = long_texts(n);
        let name = if n == 1 { "My name is Canaryvalue. " } else { "" };
        let said = format!("The canarytext is number {n}. {name}{said}");
        let turn = NewTurn::new(said, reply).caller_id(format!("canarycaller {n}"));
        session.record(turn.user_name("Canaryuser")).unwrap();
    }
    let by_names = memory.record_message("canaryuser", Some("canarysession"), NewTurn::new("canarytext", ""));
    assert_eq!(by_names.unwrap().1.session_id, session.id());
    session.record(NewTurn::new("canarytext", "other").caller_id("canarycaller 1")).unwrap_err();
    user.set_anchor("user", Attribute::Home, "Canaryvalue").unwrap();
    session.context("canaryquery?", ContextOptions::default()).unwrap();
    user.recall("canaryquery", RecallOptions::default()).unwrap();
    user.recall("canaryquery", RecallOptions::default().k(0)).unwrap_err();
    session.end().unwrap();
    for _ in 0..6 {
        memory.run_jobs(RunJobs::default()).unwrap();
        fixture.clock.advance(TimeDelta::hours(2));
    }
    session.compress_again().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let (session_id, user_id) = (session.id().to_string(), user.id().to_string());
    session.erase().unwrap();
    user.erase().unwrap();

    let told = kept.lock().unwrap().clone();
    let lower = told.to_lowercase();
    for canary in CANARIES {
        let shown = lower.lines().find(|line| line.contains(canary));
        assert!(shown.is_none(), "{canary}: {shown:?}");
    }
    let own: Vec<&str> = told.lines().filter(|line| line.contains(&user_id)).collect();
    for operation in ["record", "context", "recall", "end", "compress_again", "erase"] {
        let is_there = own.iter().any(|line| line.contains(&format!("operation=\"{operation}\"")));
        assert!(is_there, "{operation}: {own:#?}");
    }
    assert!(own.iter().any(|line| line.contains(&session_id)));
    assert!(told.contains("operation=\"record_message\"\n"), "by names: {own:#?}");
    let learned = format!("learned: user={user_id}");
    assert!(
        own.iter().any(|line| line.starts_with(&learned))
            && told.contains(&format!("learned: session={session_id}"))
    );
    // The hook and the subscriber were told the same.
    let about_jobs = |event: &&Event| event.to_string().contains(" job ");
    let events = heard.lock().unwrap().iter().filter(about_jobs).count();
    let lines = own.iter().filter(|line| line.contains("message=job ")).count();
    assert!(events > 10, "{events}");
    assert_eq!(events, lines, "{own:#?}");
    for word in
        ["job fell back", "job waits", "job done", "why=ProviderMisconfigured", "summaries=", "turns="]
    {
        assert!(own.iter().any(|line| line.contains(word)), "{word}: {own:#?}");
    }
    assert!(told.contains("provider failed"));
}
