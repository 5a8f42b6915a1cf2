//! The binary on ended sessions: jobs, compressed sessions, and restoring. These tests do not check the texts of the
//! built-in summarizer.

use std::{fs, sync::OnceLock};

use serde_json::{Value, json};
use thermocline::{Config, Originals, RunJobs, blocking::Thermocline};

use crate::{
    scripted::{Scripted, first_words},
    shell::{Shell, ended, line},
};

const JOBS: &[&str] = &["jobs", "list"];
const RUN: &[&str] = &["jobs", "run"];
const SUMMARIES: &[&str] = &["session", "summaries", "--user", "alex", "ferry"];
const SHOW: &[&str] = &["session", "show", "--user", "alex", "ferry"];
const RESTORE: &[&str] = &["session", "restore", "--user", "alex", "ferry"];
const COMPRESS: &[&str] = &["session", "compress", "--user", "alex", "ferry"];

/// Returns a transcript: an ended session of eight turns, of which the even ones are far longer than a summary, and one
/// turn of an open session.
fn ferries() -> String {
    let mut text = String::new();
    for n in 1..=8 {
        let times = if n % 2 == 0 { 6 } else { 1 };
        let asked = format!("When does ferry {n} go?");
        let reply = "It goes at ten past the hour, from the quay behind the old fish market. ".repeat(times);
        text += &line("ferry", &format!("f{n}"), n, &asked, &reply);
    }
    text + &line("train", "t1", 30, "And the train?", "At nine.")
}

impl Shell {
    /// Returns a folder with the transcript `ferries`, replayed but not compressed.
    fn with_ferries() -> Self {
        static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
        Self::with_database(&RECORDED, |shell| {
            let run = shell.replay(&ferries());
            assert_eq!(run.code, 0, "{}", run.stderr);
        })
    }

    /// Returns a folder with the transcript `ferries`, replayed and compressed.
    fn with_cold_ferries() -> Self {
        static COMPRESSED: OnceLock<Vec<u8>> = OnceLock::new();
        Self::with_database(&COMPRESSED, |shell| {
            assert_eq!(shell.replay(&ferries()).code, 0);
            assert_eq!(shell.json(RUN)["done"], 1);
        })
    }

    /// Returns a folder with a database that is made only once for all tests, because each process that counts tokens
    /// first has to load the tokenizer's tables.
    fn with_database(made: &'static OnceLock<Vec<u8>>, record: impl FnOnce(&Self)) -> Self {
        let shell = Self::new();
        let database = made.get_or_init(|| {
            record(&shell);
            fs::read(shell.path("thermocline.db")).unwrap()
        });
        fs::write(shell.path("thermocline.db"), database).unwrap();
        shell
    }

    /// Returns a folder with the transcript `ferries`, replayed and compressed, with the originals deleted.
    fn with_deleted_ferries() -> Self {
        let shell = Self::with_ferries();
        let mut config = Config::default();
        config.worker = false;
        config.originals = Originals::Delete;
        config.summarizer = Some(Scripted::each(first_words));
        let memory = Thermocline::open_with(shell.path("thermocline.db"), config).unwrap();
        assert_eq!(memory.run_jobs(RunJobs::default()).unwrap().done, 1);
        memory.close().unwrap();
        shell
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        self.run(&[&["--json"], args].concat()).json()
    }

    #[track_caller]
    fn text(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    }

    #[track_caller]
    fn turn(&self, name: &str) -> Value {
        self.json(&["turn", "show", "--user", "alex", name])
    }

    /// Returns the texts and the time of each turn of the session.
    #[track_caller]
    fn said(&self) -> Vec<[Value; 3]> {
        let shown = self.json(SHOW);
        let fields = ["user_message", "ai_response", "timestamp"];
        shown["turns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| fields.map(|field| turn[field].clone()))
            .collect()
    }

    /// Returns the tier of the session.
    #[track_caller]
    fn tier(&self) -> Value {
        self.json(SHOW)["session"]["memory_tier"].clone()
    }

    /// Returns the callers' ids of the turns that summaries have replaced.
    #[track_caller]
    fn summarized(&self) -> Vec<String> {
        let summaries = self.json(SUMMARIES);
        let ids: Vec<_> =
            summaries.as_array().unwrap().iter().map(|of| format!("f{}", of["turn_number"])).collect();
        assert!(ids.contains(&"f2".to_owned()) && !ids.contains(&"f3".to_owned()), "{ids:?}");
        ids
    }
}

#[test]
fn an_ended_session_waits_in_the_list_until_jobs_run() {
    let shell = Shell::new();
    let replayed = shell.replay(&ferries()).stdout;
    assert!(replayed.ends_with("waits: thermocline jobs run compresses it.\n"), "{replayed}");

    let jobs = shell.json(JOBS);
    let job = &jobs[0];
    assert_eq!(jobs.as_array().unwrap().len(), 1);
    assert_eq!([&job["kind"], &job["state"], &job["session"]], ["compress", "queued", "ferry"]);
    assert_eq!([&job["done_count"], &job["total_count"], &job["attempts"]], [0, 8, 0]);
    let list = shell.text(JOBS);
    let cells: Vec<_> = list.lines().nth(1).unwrap().split_whitespace().collect();
    let user = job["user_id"].as_str().unwrap();
    assert_eq!(cells, ["1", "compress", "queued", "0", "of", "8", "0", "due", user, "ferry"]);

    let ran = shell.text(RUN);
    let row = |what: &str| ran.lines().find(|line| line.starts_with(what)).unwrap().to_owned();
    assert!(row("jobs done").ends_with(" 1") && row("turns").ends_with(" 8"), "{ran}");
    assert!(row("seconds").ends_with(" jobs/s"), "{ran}");
    let list = shell.run(JOBS);
    assert_eq!((list.code, &*list.stdout, &*list.stderr), (0, "", "no job is waiting\n"));
    assert_eq!(shell.json(JOBS), json!([]));
    assert_eq!(shell.text(RUN), "No job was due.\n");
    assert_eq!(shell.json(RUN)["done"], 0);
}

#[test]
fn a_session_shows_the_tier_it_is_in() {
    let shell = Shell::with_cold_ferries();
    let list = shell.text(&["session", "list", "--user", "alex"]);
    assert!(list.lines().any(|line| line.starts_with("ferry") && line.contains(" cold ")), "{list}");
    assert!(list.lines().any(|line| line.starts_with("train") && line.contains(" hot ")), "{list}");
    let shown = shell.text(SHOW);
    for line in ["tier     cold\n", "moved    8 turns warm -> cold (compression)\n", "\ncold: 8 turns, "] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let kept_as = |turn: &str| {
        let row = shown.lines().find(|line| line.contains(&format!("When does ferry {turn}"))).unwrap();
        row.split_whitespace().nth(4).unwrap().to_owned()
    };
    assert_eq!(kept_as("2"), "archive", "{shown}");
    assert_ne!(kept_as("3"), "archive", "{shown}");
}

#[test]
fn compression_takes_no_word_away() {
    let (before, after) = (Shell::with_ferries(), Shell::with_cold_ferries());
    assert_eq!(after.said(), before.said());
    assert_eq!(after.said().len(), 8);
    assert_eq!(after.run(&["doctor"]).code, 0);
}

#[test]
fn replaying_a_compressed_talk_again_changes_no_row() {
    let shell = Shell::with_cold_ferries();
    let before = shell.rows();
    let again = shell.replay(&ferries());
    assert!(again.stdout.starts_with("9 turns in 2 sessions: 0 new, 9 known from before.\n"), "{again:?}");
    assert!(!again.stdout.contains("jobs run"), "{}", again.stdout);
    assert_eq!(shell.rows(), before);
}

#[test]
fn an_archived_turn_is_shown_whole_with_its_summary() {
    let shell = Shell::with_cold_ferries();
    let id = shell.summarized().remove(0);
    let turn = shell.turn(&id);
    assert_eq!([&turn["original"], &turn["memory_tier"]], ["archived", "cold"]);
    assert_eq!(turn["summary"]["original_turn_id"], turn["id"]);
    for name in [format!("ferry/{}", turn["turn_number"]), turn["id"].as_str().unwrap().to_owned()] {
        assert_eq!(shell.turn(&name), turn);
    }
    let text = shell.text(&["turn", "show", "--user", "alex", &id]);
    assert!(text.contains("\ntier       cold, in the archive\n"), "{text}");
    assert!(text.contains("It goes at ten past the hour") && text.contains("\nSummary ("), "{text}");

    let kept = shell.turn("f3");
    assert_eq!([&kept["original"], &kept["memory_tier"]], ["kept", "cold"]);
    assert_eq!(kept["summary"], Value::Null);
    assert_eq!(shell.turn("t1")["original"], "kept");
}

#[test]
fn summaries_stand_below_their_turns_place_and_date() {
    let shell = Shell::with_cold_ferries();
    let text = shell.text(SUMMARIES);
    assert!(text.starts_with("     2  2026-03-01 12:02  "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let open = shell.run(&["session", "summaries", "--user", "alex", "train"]);
    assert_eq!((open.code, &*open.stdout), (0, ""));
    assert_eq!(open.stderr, "no turn is summarized while its session is open\n");
    assert_eq!(shell.json(&["session", "summaries", "--user", "alex", "train"]), json!([]));
}

#[test]
fn of_a_deleted_original_the_summary_is_shown() {
    let length = Shell::with_ferries().turn("f2")["ai_response"].as_str().unwrap().len();
    let shell = Shell::with_deleted_ferries();
    let id = shell.summarized().remove(0);
    let turn = shell.turn(&id);
    assert_eq!([&turn["original"], &turn["memory_tier"]], ["deleted", "cold"]);
    assert_eq!(turn["timestamp"], "2026-03-01T12:02:00Z");
    assert_eq!((turn.get("user_message"), turn.get("ai_response")), (None, None));
    assert!(turn["summary"]["summary_text"].as_str().unwrap().len() < length);
    for name in [format!("ferry/{}", turn["turn_number"]), turn["id"].as_str().unwrap().to_owned()] {
        assert_eq!(shell.turn(&name), turn);
    }
    let text = shell.text(&["turn", "show", "--user", "alex", &id]);
    assert!(text.contains("the original was deleted, its summary stands for it\n"), "{text}");

    let shown = shell.json(SHOW);
    let gone = shown["summaries"].as_array().unwrap().len();
    assert_eq!(shown["turns"].as_array().unwrap().len() + gone, 8);
    let shown = shell.text(SHOW);
    assert!(shown.contains(&format!(" in those not deleted; {gone} deleted\n")), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.contains("  -  summary  ")).count(), gone, "{shown}");
}

#[test]
fn a_restored_session_is_as_it_was_and_waits_for_no_job() {
    let shell = Shell::with_cold_ferries();
    let said = shell.said();
    let restored = shell.json(RESTORE);
    assert_eq!((&restored["turns"], &restored["deleted"]), (&json!(8), &json!(0)));
    assert_eq!((shell.said(), shell.tier()), (said.clone(), json!("warm")));
    assert_eq!((shell.json(SUMMARIES), shell.json(JOBS)), (json!([]), json!([])));
    assert_eq!(shell.turn("f2")["original"], "kept");
    assert!(shell.text(RESTORE).starts_with("no turn was cold; "));
    assert_eq!(shell.json(RUN)["done"], 0);

    assert_eq!(shell.json(COMPRESS)["queued"], true);
    assert_eq!(shell.json(JOBS)[0]["session"], "ferry");
    assert_eq!(shell.json(RUN)["done"], 1);
    assert_eq!((shell.said(), shell.tier()), (said, json!("cold")));
    assert_eq!(shell.json(COMPRESS)["queued"], false);
    assert_eq!(shell.json(JOBS), json!([]));
}

#[test]
fn what_was_deleted_cannot_be_restored() {
    let shell = Shell::with_deleted_ferries();
    let deleted = shell.summarized().len();
    let restored = shell.text(RESTORE);
    assert!(
        restored.contains(&format!("deleted originals cannot be restored: {deleted} turns\n")),
        "{restored}"
    );
    assert_eq!(shell.said().len(), 8 - deleted);
    assert_eq!(shell.turn("f2")["original"], "deleted");
}

#[test]
fn an_open_session_is_neither_restored_nor_compressed() {
    let shell = Shell::with_cold_ferries();
    let before = shell.rows();
    for verb in ["restore", "compress"] {
        let run = shell.run(&["session", verb, "--user", "alex", "train"]);
        assert_eq!((run.code, &*run.stdout), (3, ""), "{verb}");
        assert!(run.stderr.starts_with("thermocline: failed: the session is open; "), "{}", run.stderr);
    }
    assert_eq!(shell.rows(), before);
}

#[test]
fn nothing_is_deleted_without_an_llm() {
    let shell = Shell::with_ferries();
    let before = shell.rows();
    let run = shell.run(&["jobs", "run", "--originals", "delete"]);
    assert_eq!((run.code, &*run.stdout), (3, ""));
    assert!(
        run.stderr.contains("originals are deleted only if LLM#1 wrote their summaries, "),
        "{}",
        run.stderr
    );
    assert_eq!(shell.rows(), before);
}

#[test]
fn a_run_stops_after_so_many_jobs() {
    let shell = Shell::with_ferries();
    assert_eq!(shell.run(&["session", "end", "--user", "alex", "train"]).code, 0);
    let run = shell.run(&["jobs", "run", "--max", "1"]);
    assert!(run.code == 0 && run.stderr.starts_with("not done yet: 1 job; "), "{run:?}");
    assert_eq!(shell.json(JOBS)[0]["session"], "train");
    assert_eq!(shell.run(&["jobs", "run", "--max", "0"]).code, 2);
    assert_eq!(shell.run(&["jobs", "run", "--originals", "burn"]).code, 2);
}

#[test]
fn a_run_ends_what_silence_has_ended() {
    let shell = Shell::with_cold_ferries();
    shell.change("UPDATE conversation_sessions SET last_active_at = '2020-01-01T00:00:00.000Z'");
    let ran = shell.json(RUN);
    assert_eq!((&ran["ended_sessions"], &ran["done"], &ran["turns"]), (&json!(1), &json!(1), &json!(1)));
    let train = &shell.json(&["session", "list", "--user", "alex"])[0];
    assert_eq!([&train["end_reason"], &train["memory_tier"]], ["silence", "cold"]);
}

#[test]
fn a_job_that_was_given_up_says_why_and_can_be_retried() {
    let shell = Shell::with_ferries();
    shell.change(
        "UPDATE jobs SET state = 'failed', attempts = 30, last_error = 'the summarizer took too long'",
    );
    let list = shell.text(JOBS);
    assert!(list.contains(" failed ") && list.ends_with("\n       the summarizer took too long\n"), "{list}");
    let run = shell.run(RUN);
    assert!(run.code == 0 && run.stderr.starts_with("given up: 1 job; "), "{run:?}");

    assert_eq!(shell.run(&["jobs", "retry", "17"]).code, 4);
    assert_eq!(shell.json(&["jobs", "retry", "1"])["queued"], 1);
    assert_eq!(
        shell.text(&["jobs", "retry", "1"]),
        "This job is already due, or a process is working on it.\n"
    );
    assert_eq!(shell.text(&["jobs", "retry"]), "No job had been postponed or given up.\n");
    assert_eq!(shell.json(RUN)["done"], 1);
    assert_eq!(shell.run(&["jobs", "retry", "1"]).code, 4);
}

#[test]
fn a_job_that_was_put_off_says_until_when() {
    let shell = Shell::with_ferries();
    shell.change(
        "UPDATE jobs SET attempts = 2, next_run_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+30 minutes')",
    );
    let list = shell.text(JOBS);
    assert!(list.contains("0 of 8      2  20") && !list.contains(" due "), "{list}");
    assert_eq!(shell.json(RUN)["done"], 0);
    assert_eq!(shell.text(&["jobs", "retry"]), "1 job is due now: thermocline jobs run\n");
    assert_eq!(shell.json(RUN)["done"], 1);
}

#[test]
fn an_llm_is_asked_again_only_if_one_is_named_and_only_about_what_the_built_in_summarizer_did() {
    let shell = Shell::with_cold_ferries();
    let again = ["jobs", "compress-again", "--user", "alex"];
    let before = shell.rows();
    let refused = shell.run(&again);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("add --llm-url and --llm-model"), "{}", refused.stderr);
    assert_eq!(shell.rows(), before);

    // The key would leave this machine unencrypted, so the request is refused before anything is sent, and the job waits.
    let elsewhere = ["--llm-url", "http://192.0.2.1/v1", "--llm-model", "m", "--session", "ferry"];
    let mut command = shell.command(&[&again[..], &elsewhere].concat());
    let ran = ended(&command.env("THERMOCLINE_LLM_KEY", "sk-secret").output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("1 session restored\n"), "{ran:?}");
    assert!(ran.stderr.contains("waiting for another configuration of the LLM"), "{ran:?}");
    let job = shell.json(&["jobs", "list"])[0].clone();
    let why = job["last_error"].as_str().unwrap().to_owned();
    assert!(why.starts_with("waits for another configuration: the key of LLM#1 would leave"), "{why}");
    assert!(!format!("{ran:?}{job}").contains("sk-secret"));
    assert_eq!(job["attempts"], 0);
    assert_eq!(shell.said().len(), 8);

    let list = shell.text(&["jobs", "list"]);
    assert!(list.contains("waits for another configuration"), "{list}");
    shell.text(&["jobs", "retry"]);
    let ran = shell.text(&["jobs", "run"]);
    assert!(ran.contains("by the built-in summarizer"), "nobody names an LLM now: {ran}");
    let stats = shell.text(&["stats"]);
    assert!(stats.contains("  by           extractive "), "{stats}");
}
