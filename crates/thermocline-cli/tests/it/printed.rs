//! Runs commands of documentation pages exactly as the pages print them, and checks the links of the pages.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::{
    paper::with_database,
    service_client::{Client, Server},
    shell::{Ended, Shell, ended, line},
};

/// Shell functions that replace programs: `cargo` does nothing; `thermocline` runs the binary, but does nothing if it would
/// not end (`serve`, `mcp`, `--every`); `curl` writes its arguments to a file.
const INSTEAD: &str = r#"
set -e
cargo() { :; }
thermocline() {
    case " $* " in *" serve "* | *" mcp "* | *" --every "*) return 0 ;; esac
    "$BINARY" "$@"
}
curl() {
    for argument; do printf '%s\0' "$argument"; done >> curls
    printf '\0' >> curls
}
"#;

/// A request that `curl` would have sent.
struct Asked {
    path: String,
    headers: Vec<String>,
    body: String,
}

impl Asked {
    fn of(arguments: &str) -> Self {
        let mut asked = Self { path: String::new(), headers: Vec::new(), body: String::new() };
        let mut arguments = arguments.split('\0');
        while let Some(argument) = arguments.next() {
            match argument {
                "-H" => asked.headers.push(arguments.next().unwrap().to_owned()),
                "-d" => arguments.next().unwrap().clone_into(&mut asked.body),
                "-s" | "-sS" => {}
                url => url.split_once(":7411").unwrap().1.clone_into(&mut asked.path),
            }
        }
        asked
    }
}

/// Returns the blocks of shell commands on a page of the repository.
fn blocks(page: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)).unwrap();
    let blocks = page.split("\n```sh\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

/// Runs a block as the page prints it, and returns the requests that it would have sent to a server.
#[track_caller]
fn run(shell: &Shell, block: &str, environment: &[(&str, &str)]) -> (Ended, Vec<Asked>) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{INSTEAD}{block}")]).current_dir(shell.folder.path()).stdin(Stdio::null());
    command.env_remove("THERMOCLINE_DB").env_remove("THERMOCLINE_SENSORS");
    command.env("BINARY", env!("CARGO_BIN_EXE_thermocline")).envs(environment.iter().copied());
    let ran = ended(&command.output().unwrap());
    assert_eq!(ran.code, 0, "{block}\n{}", ran.stderr);
    let asked = fs::read_to_string(shell.path("curls")).unwrap_or_default();
    (ran, asked.split_terminator("\0\0").map(Asked::of).collect())
}

/// Sends these requests, each of which must succeed, to a server; returns the answers.
fn ask(server: &Server, asked: &[Asked]) -> Vec<Value> {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut answers = Vec::new();
        for Asked { path, headers, body } in asked {
            let mut client = Client::connect(server.address).await.unwrap();
            client.headers = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
            let answer = client.ask("POST", path, body).await.unwrap();
            let said = String::from_utf8(answer.body).unwrap();
            assert!(answer.status < 300, "{path} {body}: {said}");
            answers.push(serde_json::from_str(&said).unwrap());
        }
        answers
    })
}

/// Sends the requests of the first block that contains this word to a new server; returns the answers.
fn answers(page: &str, word: &str) -> Vec<Value> {
    let shell = Shell::new();
    let server = Server::start(&shell.path("memory.db"));
    let block = blocks(page).into_iter().find(|block| block.contains(word)).unwrap();
    let (_, asked) = run(&shell, &block, &[]);
    ask(&server, &asked)
}

#[test]
fn over_http_what_was_said_is_found() {
    for page in ["README.md", "docs/service.md", "docs/clients.md"] {
        let answers = answers(page, "curl");
        let [recorded, found] = &answers[..] else { panic!("{page}: {answers:?}") };
        assert_eq!(recorded["outcome"], "new", "{page}");
        let said = found.to_string();
        assert!(said.contains("Petrel") || said.contains("north quay"), "{page}: {found}");
    }
}

#[test]
fn a_key_opens_the_server_that_the_page_starts() {
    let shell = Shell::new();
    let block = blocks("docs/service.md").into_iter().find(|block| block.contains("key add")).unwrap();
    let (added, _) = run(&shell, &block, &[]);
    let key = added.stdout.split_whitespace().find(|word| word.starts_with("thc_")).unwrap();
    let keys = shell.path("thermocline-keys.toml");
    let server = Server::start_with(&shell.path("memory.db"), &["--keys", keys.to_str().unwrap()]);
    fs::remove_file(shell.path("curls")).unwrap();
    let curl = block.lines().find(|line| line.starts_with("curl")).unwrap();
    let (_, asked) = run(&shell, curl, &[("KEY", key)]);
    assert_eq!(ask(&server, &asked)[0]["items"], json!([]));
}

#[test]
fn the_command_line_page_runs_from_its_first_line_to_its_last() {
    let shell = Shell::new();
    shell.write("talk.jsonl", &line("s1", "named", 1, "I named my boat Petrel.", "A fine name."));
    shell.write("questions.jsonl", "{\"query\":\"What is my boat called?\",\"evidence\":[\"named\"]}\n");
    fs::copy(with_database().path("old.db"), shell.path("old.db")).unwrap();
    let [block] = &blocks("docs/command-line.md")[..] else { panic!("one block") };
    run(&shell, block, &[]);
    assert!(shell.path("alex.jsonl").exists());
}

#[test]
fn the_pages_on_vaults_write_a_vault_and_take_edits_in() {
    for page in ["docs/vault.md", "docs/knowledge.md"] {
        let shell = Shell::new();
        assert_eq!(shell.memory("save", &["Redis drops", "Connections are lost."]).code, 0);
        let block = blocks(page).into_iter().find(|block| block.contains("vault init")).unwrap();
        run(&shell, &block, &[("EDITOR", "true")]);
        assert!(shell.path("notes/CORE.md").exists(), "{page}");
    }
}

#[test]
fn every_link_of_a_page_to_a_file_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![".", "docs", "sql", "benches", "contrib", "contrib/litestream"];
    folders.extend(["crates/thermocline-cli", "crates/thermocline-server"]);
    let mut links = 0;
    for folder in folders.iter().map(|folder| root.join(folder)) {
        for page in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if page.extension().is_none_or(|kind| kind != "md") {
                continue;
            }
            let text = fs::read_to_string(&page).unwrap();
            // Code blocks are printed as they are, and contain no links.
            let prose: String = text.split("```").step_by(2).collect();
            for link in prose.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap()) {
                if !link.is_empty() && !link.contains(':') {
                    links += 1;
                    assert!(folder.join(link).exists(), "{}: {link}", page.display());
                }
            }
        }
    }
    assert!(links > 100, "{links}");
}
