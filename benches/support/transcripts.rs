//! Real conversations, if there are any: `THERMOCLINE_BENCH_TRANSCRIPTS` names a folder of `*.turns.jsonl` files, as
//! `thermocline replay` reads them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use thermocline::NewTurn;

/// The sessions of a transcript, each with its turns in order.
pub type Talk = Vec<Vec<NewTurn>>;

/// Returns every transcript of the folder with its name; none if the variable is not set, or if this is only a test.
pub fn talks() -> Vec<(String, Talk)> {
    by_name(talk)
}

/// Returns both sides of every turn of every transcript.
pub fn said() -> Vec<(String, Vec<(String, String)>)> {
    by_name(|path| lines(path).iter().map(|line| (text(line, "user"), text(line, "assistant"))).collect())
}

fn by_name<T>(read: impl Fn(&Path) -> T) -> Vec<(String, T)> {
    let Some(folder) = env::var_os("THERMOCLINE_BENCH_TRANSCRIPTS").filter(|_| !super::is_test()) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.ends_with(".turns.jsonl")));
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().replace(".turns.jsonl", "");
    paths.iter().map(|path| (name(path), read(path))).collect()
}

/// Returns the first turns of each transcript, across its sessions.
pub fn first_turns(count: usize) -> Vec<(String, Vec<NewTurn>)> {
    let first = |talk: Talk| talk.into_iter().flatten().take(count).collect();
    talks().into_iter().map(|(name, talk)| (name, first(talk))).collect()
}

/// Returns the number of bytes of both sides of all turns.
pub fn bytes(turns: &[NewTurn]) -> usize {
    turns.iter().map(NewTurn::text_bytes).sum()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(line: &Value, key: &str) -> String {
    line[key].as_str().unwrap_or_default().to_owned()
}

fn talk(path: &Path) -> Talk {
    let mut talk: Vec<(String, Vec<NewTurn>)> = Vec::new();
    for line in lines(path) {
        let text = |key: &str| text(&line, key);
        let mut turn = NewTurn::new(text("user"), text("assistant")).said_at(text("at").parse().unwrap());
        if let Some(name) = line["user_name"].as_str() {
            turn = turn.user_name(name);
        }
        if talk.last().is_none_or(|(session, _)| *session != text("session")) {
            talk.push((text("session"), Vec::new()));
        }
        talk.last_mut().unwrap().1.push(turn);
    }
    talk.into_iter().map(|(_, turns)| turns).collect()
}
