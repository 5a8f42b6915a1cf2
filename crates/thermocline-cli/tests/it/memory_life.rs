//! The binary counts uses of memories, shows them to a person again, and records a person's decisions; and it shows and
//! sets the state of a session.

use serde_json::Value;

use crate::shell::{Ended, Shell};

/// A user, Alex, who has recorded turns, and has a memory about the lamp.
struct Life {
    shell: Shell,
}

impl Life {
    fn new() -> Self {
        let life = Self { shell: Shell::with_talk() };
        let save =
            ["The lamp is lit at dusk.", "--origin", "user", "--caller-id", "lamp", "--importance", "0.9"];
        assert_eq!(life.run("save", &save).code, 0);
        life
    }

    fn run(&self, verb: &str, args: &[&str]) -> Ended {
        self.shell.memory(verb, args)
    }

    #[track_caller]
    fn json(&self, verb: &str, args: &[&str]) -> Value {
        self.shell.memory_json(verb, args)
    }

    /// Saves a memory that waits for a slot; returns the review.
    fn waiting(&self) -> String {
        let port = |text: &str, origin: &str| {
            self.json("save", &["The port", text, "--slot", "port", "--origin", origin])["outcome"].clone()
        };
        port("It is 1.", "user");
        port("It is 2.", "assistant")["waits"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_use_is_counted_once_and_says_what_came_of_it() {
    let life = Life::new();
    let used =
        life.json("used", &["lamp", "success", "--session", "s1", "--project", "home", "--caller-id", "r1"]);
    assert_eq!((used["state"]["usage_count"].as_u64(), used["confidence"].as_f64()), (Some(1), Some(0.812)));
    let again = life.run("used", &["lamp", "success", "--caller-id", "r1"]);
    assert!(again.stdout.starts_with("counted nothing: it is known already"), "{}", again.stdout);
    let failed = life.run("used", &["lamp", "failure"]);
    assert!(
        failed.stdout.contains("helped in 50 % of 2 rated uses, in 1 session and 1 project, confidence 0.71"),
        "{}",
        failed.stdout
    );
    assert_eq!(life.json("episodes", &["--role", "use"]).as_array().unwrap().len(), 2);
    assert_eq!(life.run("used", &["lamp", "perhaps"]).code, 2);
    assert_eq!(life.run("used", &["lamp", "--receipt", "x"]).code, 3);
    assert_eq!(life.run("used", &["lamp", "--receipt", "019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e"]).code, 4);
    assert_eq!(life.run("used", &["nobody"]).code, 4);
}

#[test]
fn what_is_due_is_listed_and_answered() {
    let life = Life::new();
    assert_eq!(life.run("due", &[]).stdout, "");
    let due = life.json("due", &["--on", "9999-12-31"]);
    assert_eq!(due[0]["memory"]["caller_id"], "lamp");
    let text = life.run("due", &["--on", "9999-12-31"]).stdout;
    assert!(
        text.starts_with(due[0]["due_on"].as_str().unwrap()) && text.contains("The lamp is lit at dusk"),
        "{text}"
    );
    let seen = life.run("surfaced", &["lamp"]).stdout;
    assert!(seen.contains("looked at 1 times, dismissed 0 times, shown again: on"), "{seen}");
    let same = life.run("dismiss", &["lamp"]).stdout;
    assert!(same.starts_with("already noted\n"), "once a day: {same}");
}

#[test]
fn a_review_is_shown_and_decided_by_a_person_alone() {
    let life = Life::new();
    let nothing = life.run("review", &[]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""), "{}", nothing.stderr);
    let review = life.waiting();
    let shown = life.run("review", &["--kind", "contradiction"]).stdout;
    for part in [review.as_str(), "should it replace the other?", "The port, the other", "trust 2 against 3"]
    {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert_eq!(life.run("review", &[&review]).stdout, shown);
    assert_eq!(life.json("review", &["--kind", "promote"]).as_array().unwrap().len(), 0);
    let by_script = life.run("approve", &[&review]);
    assert_eq!(by_script.code, 3, "{}", by_script.stderr);
    let by_job = life.run("approve", &[&review, "--origin", "user", "--by", "tend"]);
    assert_eq!(by_job.code, 3, "{}", by_job.stderr);
    let decided = life.json("approve", &[&review, "--origin", "user", "--by", "anna"]);
    assert_eq!(
        (&decided["review"]["decided_by"], &decided["memories"][0]["status"]),
        (&"anna".into(), &"active".into())
    );
    assert_eq!(life.run("reject", &[&review, "--origin", "user"]).code, 3);
    let told = life.run("review", &["--decided"]).stdout;
    assert!(told.contains("approved by anna"), "{told}");
    assert_eq!(life.run("reject", &["019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e", "--origin", "user"]).code, 4);
}

#[test]
fn a_question_is_found_by_the_memory_that_waits_unless_there_are_several() {
    let life = Life::new();
    let review = life.waiting();
    let waiting = life.json("review", &[&review])["memory_id"].as_str().unwrap().to_owned();
    assert_eq!(life.json("review", &[&waiting])["id"], review.as_str());
    assert_eq!(life.run("approve", &["lamp", "--origin", "user"]).code, 4, "nothing is asked about it");
    let decided = life.json("approve", &[&waiting, "--origin", "user"]);
    assert_eq!(decided["review"]["decision"], "approved");
    let again = life.run("approve", &[&waiting, "--origin", "user"]);
    assert_eq!((again.code, again.stdout.as_str()), (4, ""), "{}", again.stderr);
}

#[test]
fn a_session_keeps_its_state_until_it_ends() {
    let shell = Shell::with_talk();
    let state = |args: &[&str]| shell.run(&[&["session", "state", "--user", "alex", "s2"], args].concat());
    assert_eq!((state(&[]).code, state(&[]).stdout.as_str()), (0, ""));
    assert!(state(&["plan", "1. look\n2. leap"]).stdout.ends_with("\n\n1. look\n2. leap\n"));
    state(&["who", "Anna"]);
    let kept = shell.run(&["--json", "session", "state", "--user", "alex", "s2"]).json();
    let names: Vec<&str> = kept.as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["plan", "who"]);
    assert!(state(&["who"]).stdout.ends_with("\n\nAnna\n"));
    assert_eq!(state(&["who", ""]).code, 0);
    assert_eq!(state(&["who"]).stdout, "");
    assert_eq!(shell.run(&["session", "end", "--user", "alex", "s2"]).code, 0);
    assert_eq!(state(&[]).stdout, "");
}
