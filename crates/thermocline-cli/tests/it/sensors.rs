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
            { "type": "fs", "roots": { "ops": shell.path("ops") }, "checks": {
                "api_port": { "subject": "ops:api.conf", "expect": { "contains": "8443" } },
                "api_conf": { "subject": "ops:api.conf" },
            } },
            { "type": "command", "commands": {
                "yes": { "argv": ["/bin/sh", "-c", "echo yes"], "folder": "/" },
                "no": { "argv": ["/bin/sh", "-c", "exit 1"], "folder": "/" },
            }, "checks": {
                "says_yes": { "subject": "yes", "expect": { "contains": "yes" } },
                "says_no": { "subject": "no", "expect": { "exit_code": 1 } },
            } },
            { "type": "http", "name": "weather", "window_s": 3_600, "urls": { "here": "http://127.0.0.1:1/" },
              "checks": { "daylight": { "subject": "here" } } },
        ]);
        shell.write("sensors.json", &sensors.to_string());
        shell.restrict("sensors.json");
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
    let listed = watched.watch(&["fs", "api_port"]);
    assert_eq!(listed, "fs api_port\n");
    assert_eq!(
        watched.validate(),
        "pass     fs api_port  confidence 0.80, reliability 0.80  The API runs on port 8443\n"
    );
    watched.0.write("ops/api.conf", "listen 80;");
    let failed = watched.validate();
    let review = watched.run("review", &["port", "--json"]).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        failed,
        format!(
            "fail     fs api_port  confidence 0.40, reliability 0.30  The API runs on port 8443\n         \
             a person is asked whether it holds (review {review})\n"
        )
    );
    let history = watched.run("history", &["port"]).stdout;
    assert!(history.contains("check by fs") && !history.contains("listen"), "{history}");
    let stale = watched.with("validate", &["--stale", "--json"]).json();
    assert_eq!((&stale[0]["result"], &stale[0]["subject"]), (&json!("fail"), &json!("api_port")));
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
    assert_eq!(watched.with("watch", &["old", "fs", "api_port"]).code, 0);
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
    watched.watch(&["code", "says_yes"]);
    watched.watch(&["code", "says_no"]);
    watched.watch(&["weather", "daylight"]);
    watched.watch(&["human"]);
    let checks = watched.with("validate", &["port", "--json"]).json();
    let told = |check: &Value| {
        let word = |field: &str| check[field].as_str().unwrap_or("-").to_owned();
        [word("sensor"), word("subject"), word("result"), word("why")].join(" ")
    };
    let told: Vec<String> = checks.as_array().unwrap().iter().map(told).collect();
    let expected = [
        "code says_no pass -",
        "code says_yes pass -",
        "human  unknown a person is asked",
        "weather daylight unknown refused",
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
        ["fs", "ops:api.conf"],
        ["code", "yes"],
        ["weather", "here"],
        ["code", "/bin/sh"],
        ["weather", "http://127.0.0.1:1/"],
    ] {
        let refused = watched.with("watch", &[&["port"], &args[..]].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{args:?}: {}", refused.stderr);
    }
    let unknown = watched.run("watch", &["port", "fs", "api_port"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("has no sensor fs"), "{}", unknown.stderr);
    // Without the sensor file, nothing is checked, whatever files are next to the memory's file.
    watched.watch(&["fs", "api_conf"]);
    let listed = watched.run("sensors", &["port"]).stdout;
    assert_eq!(listed, "fs api_conf  (not configured for this user: never checked)\n");
    let checked = watched.run("validate", &["port"]).stdout;
    assert!(checked.starts_with("unknown  fs api_conf  not configured"), "{checked}");
}

#[test]
fn a_file_that_is_no_list_of_sensors_is_refused_with_the_wrong_entry() {
    let watched = Watched::new();
    let fs = json!({ "type": "fs", "roots": { "ops": watched.0.path("ops") } });
    let with = |field: &str, value: Value| {
        let mut entry = fs.clone();
        entry[field] = value;
        entry
    };
    let check = |check: Value| with("checks", json!({ "api_port": check }));
    let command =
        |argv: Value| json!({ "type": "command", "commands": { "a": { "argv": argv, "folder": "/" } } });
    for (entry, why) in [
        (json!({ "type": "shell" }), "shell"),
        (json!({}), "type"),
        (with("root", json!({})), "root"),
        (with("roots", json!({ "ops": "relative" })), "absolute"),
        (command(json!([])), "the command a"),
        (command(json!(["sh"])), "absolute"),
        (json!({ "type": "http", "urls": { "a": "file:///etc/passwd" } }), "http"),
        (with("reliability", json!("high")), "high"),
        (with("users", json!("any")), "users"),
        (with("users", json!(["acme*"])), "acme*"),
        (check(json!({})), "the check api_port"),
        (check(json!({ "subject": "ops:a", "expects": {} })), "the check api_port"),
        (check(json!({ "subject": "etc:passwd" })), "the check api_port"),
        (check(json!({ "subject": "ops:a", "expect": { "status": 200 } })), "the check api_port"),
    ] {
        watched.0.write("sensors.json", &json!([fs, entry]).to_string());
        let refused = watched.with("validate", &["port"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{entry}: {}", refused.stderr);
        let named = refused.stderr.contains("sensor 2 in sensors.json") && refused.stderr.contains(why);
        assert!(named, "{entry}: {}", refused.stderr);
    }
    for text in ["{}", "[1]", "x", &json!([fs, fs]).to_string()] {
        watched.0.write("sensors.json", text);
        assert_eq!(watched.with("validate", &["port"]).code, 3, "{text}");
    }
    #[cfg(all(unix, feature = "service"))]
    {
        watched.0.write("sensors.json", "[]");
        let path = watched.0.path("sensors.json");
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        let refused = watched.with("validate", &["port"]);
        assert!(refused.code == 3 && refused.stderr.contains("chmod go-w"), "{refused:?}");
        watched.0.restrict("sensors.json");
    }
    watched.0.write("sensors.json", "[]");
    let run = watched.0.run(&["jobs", "run", "--sensors", "sensors.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_sensor_serves_the_users_that_it_names_and_without_them_this_command_line_alone() {
    let watched = Watched::new();
    let listed = |users: Option<Value>| {
        let mut sensors: Value =
            serde_json::from_str(&fs::read_to_string(watched.0.path("sensors.json")).unwrap()).unwrap();
        sensors[0]["users"] = users.unwrap_or(Value::Null);
        watched.0.write("sensors.json", &sensors.to_string());
    };
    for (users, is_served) in [
        (None, true),
        (Some(json!("alex")), true),
        (Some(json!(["blake", "acme/*"])), false),
        (Some(json!([])), false),
    ] {
        listed(users.clone());
        let ended = watched.with("watch", &["port", "fs", "api_port"]);
        assert_eq!(ended.code == 0, is_served, "{users:?}: {}", ended.stderr);
        let told = watched.with("validate", &["port"]).stdout;
        assert_eq!(told.starts_with("pass"), is_served, "{users:?}: {told}");
    }
}
