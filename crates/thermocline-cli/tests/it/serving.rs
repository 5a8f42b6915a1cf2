//! `serve`, `key` and `health`, used as an operator uses them.
#![allow(clippy::disallowed_methods, reason = "processes take real time")]

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    service_client::{Client, Server},
    shell::Shell,
};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Returns the status of the answer to a request without a key.
fn status(server: &Server, method: &str, path: &str) -> u16 {
    runtime().block_on(async {
        let mut client = Client::connect(server.address).await.unwrap();
        client.ask(method, path, "{}").await.unwrap().status
    })
}

#[test]
fn a_key_is_shown_once_listed_without_its_secret_and_revoked() {
    let shell = Shell::new();
    let made = shell.run(&[
        "key",
        "add",
        "laptop",
        "--scope",
        "read,write",
        "--user",
        "alex",
        "--expires",
        "90d",
        "--rate",
        "50/s",
    ]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let key = made.stdout.trim();
    assert!(key.starts_with("thc_") && key.len() == 56, "{key}");
    let listed = shell.run(&["key", "list"]);
    assert!(
        listed.stdout.contains("laptop") && listed.stdout.contains("read,write of user \"alex\""),
        "{}",
        listed.stdout
    );
    assert!(!listed.stdout.contains(&key[13..]));
    let about = shell.run(&["--json", "key", "list"]).json();
    assert_eq!(about[0]["scopes"], json!(["read", "write"]));
    let id = about[0]["id"].as_str().unwrap();
    assert_eq!(id, &key[4..12]);
    assert_eq!(shell.run(&["key", "revoke", "nobody00"]).code, 4);
    assert_eq!(shell.run(&["key", "revoke", id]).code, 0);
    assert_eq!(shell.run(&["--json", "key", "list"]).json(), json!([]));
}

#[test]
fn whose_key_it_is_reads_the_same_only_if_it_is_the_same() {
    let shell = Shell::new();
    let names = ["any", " any", "all users", "acme/*", "user \"any\"", "a\nb", "\u{1b}[2J", "\u{202e}yna"];
    let users: Vec<_> = names.map(|name| ["--user", name]).into_iter().collect();
    for users in users.iter().map(|users| &users[..]).chain([&["--prefix", "acme/"][..], &["--all-users"]]) {
        let made = shell.run(&[&["key", "add", "k", "--scope", "read"], users].concat());
        assert_eq!(made.code, 0, "{}", made.stderr);
    }
    let about = shell.run(&["--json", "key", "list"]).json();
    let listed: Vec<_> = about.as_array().unwrap().iter().map(|key| key["users"].clone()).collect();
    let mut expected: Vec<_> = names.map(|name| json!({ "name": name })).into();
    expected.extend([json!({ "prefix": "acme/" }), json!("all")]);
    assert_eq!(listed, expected);
    let shown = shell.run(&["key", "list"]).stdout;
    let shown: Vec<_> = shown.lines().map(|line| line.split_once(" of ").unwrap().1).collect();
    assert_eq!(shown[..4], ["user \"any\"", "user \" any\"", "user \"all users\"", "user \"acme/*\""]);
    assert_eq!(shown[8..], ["prefix \"acme/\"", "all users"]);
    let different: std::collections::HashSet<_> = shown.iter().collect();
    assert_eq!(different.len(), expected.len(), "{shown:?}");
}

#[test]
fn settings_are_read_where_the_user_said_and_never_from_the_working_directory() {
    let shell = Shell::new();
    let turns = |shown: &str| shown.lines().find(|line| line.starts_with("hot_turns =")).unwrap().to_owned();
    shell.write("thermocline.toml", "[memory]\nhot_turns = 7\n");
    shell.restrict("thermocline.toml");
    assert!(turns(&shell.run(&["serve", "--print-config"]).stdout).contains("# default"));
    let named = shell.run(&["serve", "--print-config", "--config", "thermocline.toml"]).stdout;
    assert!(turns(&named).starts_with("hot_turns = 7"), "{named}");
    // A relative configuration folder would be one in the working directory.
    fs::create_dir_all(shell.path("here/thermocline")).unwrap();
    fs::copy(shell.path("thermocline.toml"), shell.path("here/thermocline/thermocline.toml")).unwrap();
    for folder in ["here", "./here", ""] {
        let mut command = shell.command(&["serve", "--print-config"]);
        let ran = command.env("XDG_CONFIG_HOME", folder).env("HOME", shell.path("home")).output().unwrap();
        assert!(turns(&String::from_utf8(ran.stdout).unwrap()).contains("# default"), "{folder}");
    }
    shell.settings(
        "[memory]\nhot_turns = 9\n[service]\nlisten = \"127.0.0.1:0\"\nbackup_folder = \"no-such\"\n",
    );
    assert!(turns(&shell.run(&["serve", "--print-config"]).stdout).starts_with("hot_turns = 9"));
    let started = shell.run(&["serve"]);
    let file = shell.path("config/thermocline/thermocline.toml");
    assert!(started.stderr.starts_with(&format!("settings: {}\n", file.display())), "{started:?}");
    #[cfg(unix)]
    {
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o664)).unwrap();
        for verb in ["serve", "health"] {
            let refused = shell.run(&[verb]);
            let cure = format!("chmod go-w {}", file.display());
            assert!(refused.code == 2 && refused.stderr.contains(&cure), "{refused:?}");
        }
    }
}

#[test]
fn a_key_that_could_do_nothing_is_refused() {
    let shell = Shell::new();
    assert_eq!(shell.run(&["key", "add", "k", "--scope", "admin", "--user", "alex"]).code, 3);
    assert_eq!(shell.run(&["key", "add", "k", "--scope", "read", "--prefix", "acme"]).code, 2);
    assert_eq!(shell.run(&["key", "add", "k", "--scope", "read"]).code, 2);
    let two = [["--user", "alex", "--all-users", ""], ["--user", "alex", "--prefix", "acme/"]];
    for users in two.map(|users| users.into_iter().filter(|arg| !arg.is_empty())) {
        let args: Vec<_> = ["key", "add", "k", "--scope", "read"].into_iter().chain(users).collect();
        assert_eq!(shell.run(&args).code, 2, "{args:?}");
    }
    assert_eq!(shell.run(&["key", "add", "k", "--scope", "all", "--user", "alex"]).code, 2);
    assert_eq!(
        shell.run(&["key", "add", "k", "--scope", "read", "--user", "alex", "--rate", "fast"]).code,
        2
    );
    assert!(shell.files().is_empty());
}

#[test]
fn a_server_refuses_to_open_a_door_that_others_could_use() {
    let shell = Shell::new();
    let refused = |args: &[&str], why: &str| {
        let ended = shell.run(&[&["serve"], args].concat());
        assert!(ended.code != 0 && ended.stderr.contains(why), "{args:?}: {ended:?}");
    };
    refused(&["--listen", "0.0.0.0:0"], "there is no key");
    refused(&["--listen", "127.0.0.1:0", "--require-key"], "there is no key");
    refused(&["--keys", "no-such.toml"], "cannot be read");
    assert_eq!(shell.run(&["key", "add", "k", "--scope", "read", "--all-users"]).code, 0);
    refused(&["--listen", "0.0.0.0:0", "--keys", "thermocline-keys.toml"], "unencrypted");
    refused(&["--tls-cert", "cert.pem"], "go together");
    refused(&["--set", "memory.hot_turns=0"], "hot_turns");
    refused(&["--set", "memory.no_such=1"], "memory.no_such");
    refused(&["--backup-folder", "no-such"], "backup_folder");
}

#[test]
fn the_configuration_is_printed_with_where_each_value_came_from() {
    let shell = Shell::new();
    shell.settings("[service]\nallowed_hosts = [\"memory.example.org\"]\n[memory]\nhot_turns = 7\n");
    let shown =
        shell.run(&["serve", "--print-config", "--listen", "127.0.0.1:1", "--set", "memory.readers=2"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let line = |name: &str| {
        let line = shown.stdout.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
        let (value, source) = line.split_once('#').unwrap();
        (value.split_once('=').unwrap().1.trim().to_owned(), source.trim().to_owned())
    };
    let pair = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    let file = shell.path("config/thermocline/thermocline.toml").display().to_string();
    assert_eq!(line("hot_turns"), pair("7", &file));
    assert_eq!(line("allowed_hosts"), pair("[\"memory.example.org\"]", &file));
    assert_eq!(line("listen"), pair("\"127.0.0.1:1\"", "flag"));
    assert_eq!(line("readers"), pair("2", "flag"));
    assert_eq!(line("warm_turns"), pair("50", "default"));
    assert_eq!(shell.files(), ["config"], "nothing was opened");
}

#[test]
fn health_says_whether_a_server_is_ready_and_a_second_server_says_that_there_is_one() {
    let shell = Shell::new();
    let mut server = Server::start(&shell.path("memory.db"));
    let address = server.address.to_string();
    let ready = shell.run(&["health", &address]);
    assert_eq!((ready.code, ready.stdout.as_str()), (0, "ready\n"), "{}", ready.stderr);
    let said = shell.run(&["--json", "health", &format!("http://{address}/")]).json();
    assert_eq!(said, json!({ "is_ready": true, "reasons": [] }));
    let second = shell.run(&["--db", "other.db", "serve", "--listen", &address]);
    assert!(second.code == 3 && second.stderr.contains("another server"), "{second:?}");
    // Without an address, `health` asks at the address that the settings name.
    shell.settings(&format!("[service]\nlisten = \"{address}\"\n"));
    assert_eq!(shell.run(&["health"]).stdout, "ready\n");
    server.terminate();
    assert!(server.process.wait().unwrap().success());
    assert_eq!(shell.run(&["health", &address]).code, 6);
}

#[test]
fn health_asks_a_server_that_speaks_tls_too() {
    let shell = Shell::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(shell.path("cert.pem"), made.cert.pem()).unwrap();
    shell.write("key.pem", &made.signing_key.serialize_pem());
    shell.restrict("key.pem");
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| shell.path(name).to_str().unwrap().to_owned());
    let server = Server::start_with(&shell.path("memory.db"), &["--tls-cert", &cert, "--tls-key", &key]);
    let address = server.address.to_string();
    assert_eq!(shell.run(&["health", &format!("https://{address}")]).stdout, "ready\n");
    assert_eq!(shell.run(&["health", &address]).code, 6, "nothing is said without TLS");
    let settings = format!("[service]\nlisten = \"{address}\"\ntls_cert = \"{cert}\"\ntls_key = \"{key}\"\n");
    shell.settings(&settings);
    assert_eq!(shell.run(&["health"]).stdout, "ready\n");
}

#[test]
fn keys_open_a_server_and_what_is_done_is_audited_and_logged_on_stderr_alone() {
    let shell = Shell::new();
    let key = shell.run(&["key", "add", "k", "--scope", "read", "--all-users"]).stdout;
    let (keys, audit) = (shell.path("thermocline-keys.toml"), shell.path("audit.jsonl"));
    let args =
        ["--keys", keys.to_str().unwrap(), "--audit", audit.to_str().unwrap(), "--set", "log.format=json"];
    let mut server = Server::start_with(&shell.path("memory.db"), &args);
    assert_eq!(status(&server, "POST", "/v1/users/alex/recall"), 401);
    assert_eq!(status(&server, "GET", "/health/live"), 200);
    let answer = Command::new("curl")
        .args(["-s", "-X", "POST", "-H"])
        .arg(format!("Authorization: Bearer {}", key.trim()))
        .args(["-H", "Content-Type: application/json", "-d", "{}"])
        .arg(format!("http://{}/v1/users/alex/turns", server.address))
        .stderr(Stdio::null())
        .output();
    // The page's example needs curl; on a machine without it, this part is not tested.
    if let Ok(answer) = answer {
        let said: Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(said["code"], "not-allowed");
        let line: Value = serde_json::from_str(std::fs::read_to_string(&audit).unwrap().trim()).unwrap();
        assert_eq!((&line["operation"], &line["outcome"]), (&json!("record"), &json!("not-allowed")));
    }
    server.terminate();
    let begun = Instant::now();
    assert!(server.process.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(12));
}

#[test]
fn what_contrib_starts_is_what_the_command_takes() {
    let shell = Shell::new();
    let contrib = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let unit = contrib("thermocline.service");
    let fields: Vec<_> = unit.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert!(fields.iter().all(|line| line.starts_with('[') || line.contains('=')), "{fields:?}");
    let start = fields.iter().find_map(|line| line.strip_prefix("ExecStart=")).unwrap().replace("%S/", "");
    let args: Vec<_> = start.split(' ').skip(1).chain(["--print-config"]).collect();
    let shown = shell.run(&args);
    assert!(shown.code == 0 && shown.stdout.contains("127.0.0.1:7411"), "{shown:?}");
    let image = contrib("Dockerfile");
    let list = |line: &str| -> Vec<String> { serde_json::from_str(line).unwrap() };
    let command = image.lines().find_map(|line| line.strip_prefix("CMD ")).map(list).unwrap();
    let args: Vec<_> = command.iter().map(String::as_str).chain(["--print-config"]).collect();
    let shown = shell.run(&args);
    assert!(shown.code == 0 && shown.stdout.contains("/data/thermocline-keys.toml"), "{shown:?}");
    assert!(image.contains(r#"CMD ["thermocline", "health"]"#) && image.contains(":nonroot"));
    assert_eq!(shell.run(&["health", "--help"]).code, 0);
    assert!(contrib("Caddyfile").contains("7411"));
}

#[test]
fn the_file_on_the_page_is_one_that_a_server_takes() {
    let shell = Shell::new();
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/service.md");
    let page = std::fs::read_to_string(page).unwrap();
    let file = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    shell.settings(file);
    let shown = shell.run(&["serve", "--print-config"]);
    assert!(shown.code == 0 && shown.stdout.contains("qwen3:8b"), "{shown:?}");
}
