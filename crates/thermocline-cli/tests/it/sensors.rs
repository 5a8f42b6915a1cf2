//! Sensors on the command line: they check only what the sensor file names.

use std::fs;

use serde_json::{Value, json};

use crate::shell::{Ended, Shell};

/// A memory `port`, which says that the API runs on port 8443, and a folder `ops` whose `api.conf` says the same.
struct Watched(Shell);

impl Watched {
    fn new() -> Self {
        let shell = Shell::with_talk();
        fs::create_dir(shell.path("ops")).unwrap();
        shell.write("ops/api.conf", "listen 8443;");
        shell.write("secret", "8443");
        let sensors = json!([
            { "type": "fs", "roots": { "ops": shell.path("ops") } },
            { "type": "command", "commands": {
                "yes": { "argv": ["/bin/sh", "-c", "echo yes"], "folder": "/" },
                "no": { "argv": ["/bin/sh", "-c", "exit 1"], "folder": "/" },
            } },
            { "type": "http", "name": "weather", "window_s": 3_600, "urls": { "here": "http://127.0.0.1:1/" } },
        ]);
        shell.write("sensors.json", &sensors.to_string());
        let watched = Self(shell);
        let saved = watched.run("save", &["The API runs on port 8443.", "--caller-id", "port"]);
        assert_eq!(saved.code, 0, "{}", saved.stderr);
        watched
    }

    fn run(&self, verb: &str, args: &[&str]) -> Ended {
        self.0.memory(verb, args)
    }

    /// Runs a verb with the sensor file.
    fn with(&self, verb: &str, args: &[&str]) -> Ended {
        self.run(verb, &[&["--sensors", "sensors.json"], args].concat())
    }

    #[track_caller]
    fn watch(&self, args: &[&str]) -> String {
        let watched = self.with("watch", &[&["port"], args].concat());
        assert_eq!(watched.code, 0, "{}", watched.stderr);
        watched.stdout
    }

    #[track_caller]
    fn validate(&self) -> String {
        let checked = self.with("validate", &["port"]);
        assert_eq!(checked.code, 0, "{}", checked.stderr);
        checked.stdout
    }
}

#[test]
fn a_sensor_looks_and_says_what_it_found() {
    let watched = Watched::new();
    let listed = watched.watch(&["fs", "ops:api.conf", "--contains", "8443"]);
    assert_eq!(listed, "fs ops:api.conf  {\"contains\":\"8443\"}\n");
    assert_eq!(
        watched.validate(),
        "pass     fs ops:api.conf  confidence 0.80, reliability 0.80  The API runs on port 8443\n"
    );
    watched.0.write("ops/api.conf", "listen 80;");
    let failed = watched.validate();
    let review = watched.run("review", &["port", "--json"]).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        failed,
        format!(
            "fail     fs ops:api.conf  confidence 0.40, reliability 0.30  The API runs on port 8443\n         \
             a person is asked whether it holds (review {review})\n"
        )
    );
    let history = watched.run("history", &["port"]).stdout;
    assert!(history.contains("check by fs") && !history.contains("listen"), "{history}");
    let stale = watched.with("validate", &["--stale", "--json"]).json();
    assert_eq!((&stale[0]["result"], &stale[0]["subject"]), (&json!("fail"), &json!("ops:api.conf")));
    let unwatched = watched.run("unwatch", &["port", "fs"]);
    assert_eq!((unwatched.code, unwatched.stderr.as_str()), (0, "no sensor watches it\n"));
    assert_eq!(watched.with("validate", &["--stale", "--json"]).json(), json!([]));
    assert_eq!(watched.0.run(&["doctor"]).code, 0);
}

#[test]
fn what_a_chat_shows_as_stale_is_looked_at_by_a_job() {
    let watched = Watched::new();
    let stale = ["--caller-id", "old", "--window", "30s", "--said-at", "2026-01-01"];
    assert_eq!(watched.run("save", &[&["The gateway listens on port 8443."], &stale[..]].concat()).code, 0);
    assert_eq!(watched.with("watch", &["old", "fs", "ops:api.conf", "--contains", "8443"]).code, 0);
    let jobs = || watched.0.run(&["jobs", "list"]).stdout;
    let asked = "On which port does the gateway listen?\n";
    assert_eq!(watched.0.typed(&["chat"], asked).code, 0);
    assert!(!jobs().contains("validate"), "no sensor is named: {}", jobs());
    assert_eq!(watched.0.typed(&["chat", "--sensors", "sensors.json"], asked).code, 0);
    assert!(jobs().contains("validate"), "{}", jobs());
    assert_eq!(watched.0.run(&["jobs", "run", "--sensors", "sensors.json"]).code, 0);
    assert!(watched.run("history", &["old"]).stdout.contains("check by fs"));
}

#[test]
fn commands_and_addresses_are_those_of_the_file() {
    let watched = Watched::new();
    watched.watch(&["code", "yes", "--contains", "yes"]);
    watched.watch(&["code", "no", "--expect", "{\"exit_code\":1}"]);
    watched.watch(&["weather", "here"]);
    watched.watch(&["human"]);
    let checks = watched.with("validate", &["port", "--json"]).json();
    let told = |check: &Value| {
        let word = |field: &str| check[field].as_str().unwrap_or("-").to_owned();
        [word("sensor"), word("subject"), word("result"), word("why")].join(" ")
    };
    let told: Vec<String> = checks.as_array().unwrap().iter().map(told).collect();
    let expected = [
        "code no pass -",
        "code yes pass -",
        "human  unknown a person is asked",
        "weather here unknown refused",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_the_file_does_not_name_is_refused() {
    let watched = Watched::new();
    let secret = format!("ops:{}", watched.0.path("secret").display());
    for args in [
        ["fs", "ops:../secret"],
        ["fs", &secret],
        ["fs", "etc:passwd"],
        ["code", "/bin/sh"],
        ["weather", "http://127.0.0.1:1/"],
    ] {
        let refused = watched.with("watch", &[&["port"], &args[..]].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{args:?}: {}", refused.stderr);
    }
    let unknown = watched.run("watch", &["port", "fs", "ops:api.conf"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("has no sensor fs"), "{}", unknown.stderr);
    // Without the sensor file, nothing is checked, whatever files are next to the memory's file.
    watched.watch(&["fs", "ops:api.conf"]);
    let listed = watched.run("sensors", &["port"]).stdout;
    assert_eq!(listed, "fs ops:api.conf  (not configured: never checked)\n");
    let checked = watched.run("validate", &["port"]).stdout;
    assert!(checked.starts_with("unknown  fs ops:api.conf  not configured"), "{checked}");
}

#[test]
fn a_file_that_is_no_list_of_sensors_is_refused() {
    let watched = Watched::new();
    for text in [
        "{}",
        "[{\"type\":\"shell\"}]",
        "[{\"type\":\"fs\",\"roots\":{},\"root\":{}}]",
        "[{\"type\":\"fs\",\"roots\":{\"ops\":\"relative\"}}]",
        "[{\"type\":\"fs\",\"roots\":{}},{\"type\":\"fs\",\"roots\":{}}]",
        "[{\"type\":\"command\",\"commands\":{\"a\":{\"argv\":[],\"folder\":\"/\"}}}]",
        "[{\"type\":\"command\",\"commands\":{\"a\":{\"argv\":[\"sh\"],\"folder\":\"/\"}}}]",
        "[{\"type\":\"http\",\"urls\":{\"a\":\"file:///etc/passwd\"}}]",
    ] {
        watched.0.write("sensors.json", text);
        let refused = watched.with("validate", &["port"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{text}: {}", refused.stderr);
    }
    watched.0.write("sensors.json", "[]");
    let run = watched.0.run(&["jobs", "run", "--sensors", "sensors.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
