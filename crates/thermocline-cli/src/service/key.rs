//! `thermocline key`: the keys that give access to a server.
#![allow(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use thermocline::{Clock, Origin, SystemClock};
use thermocline_server::{
    caller::{Rate, Users},
    keys::{Key, KeyFile, New, Unusable},
    ops::spec::KeyScope,
};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    plain,
};

#[derive(Debug, Subcommand)]
pub(crate) enum KeyVerb {
    /// Create a key and show it, once: only its hash is kept.
    ///
    /// A running server accepts it one second later.
    #[command(after_help = "Examples:\n  thermocline key add laptop --scope read,write --user alex\n  \
                            thermocline key add backend --origin user --scope read,write,erase --prefix acme/ --rate 50/s\n  \
                            thermocline key add prometheus --scope inspect --all-users")]
    Add(AddArgs),

    /// List the keys and their permissions.
    #[command(after_help = "Example:\n  thermocline key list")]
    List(FileArg),

    /// Remove a key from the file: a running server refuses it one second later.
    #[command(after_help = "Example:\n  thermocline key revoke x9esnbsu")]
    Revoke(RevokeArgs),
}

#[derive(Args, Debug)]
pub(crate) struct FileArg {
    /// The file of keys.
    #[arg(
        long,
        value_name = "FILE",
        env = "THERMOCLINE_SERVICE_KEYS",
        default_value = "thermocline-keys.toml"
    )]
    file: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// A name of your choice.
    name: String,

    /// What the key may do; no scope implies another.
    #[arg(long, value_enum, value_delimiter = ',', required = true, value_name = "SCOPES")]
    scope: Vec<ScopeArg>,

    #[command(flatten)]
    users: UsersArg,

    /// When it expires: 12h, 90d [default: never].
    #[arg(long, value_name = "SPAN", value_parser = span)]
    expires: Option<TimeDelta>,

    /// Its request rate limit: 50/s, 600/m, 1000/h [default: no limit]. Refused requests count too, and so does each item
    /// and each 64 KiB of a request beyond the first.
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,

    /// The origin of its statements. What a key saves counts as the user's own words only if you say so here.
    #[arg(long, value_enum, default_value_t = KeyOriginArg::Assistant, value_name = "WHO")]
    origin: KeyOriginArg,

    #[command(flatten)]
    file: FileArg,
}

/// Whose memory a key may access: exactly one of these.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct UsersArg {
    /// The user whose memory it may access. Always a name, whatever it is: any is a user called any.
    #[arg(long, value_name = "NAME", value_parser = Users::one)]
    user: Option<Users>,

    /// It may access the memory of all users whose names begin with this, such as acme/.
    #[arg(long, value_name = "PREFIX", value_parser = Users::prefix)]
    prefix: Option<Users>,

    /// It may access the memory of all users. inspect and admin concern the whole file, so they need this.
    #[arg(long)]
    all_users: bool,
}

impl UsersArg {
    fn users(&self) -> Users {
        self.user.clone().or_else(|| self.prefix.clone()).unwrap_or(Users::Any)
    }
}

#[derive(Args, Debug)]
pub(crate) struct RevokeArgs {
    /// The key's id, as key list shows it.
    id: String,

    #[command(flatten)]
    file: FileArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScopeArg {
    /// What was said and what is known
    Read,
    /// Record, save, change, end
    Write,
    /// Erase from the file's bytes
    Erase,
    /// Counts, jobs, metrics and the list of users: nothing that anyone said
    Inspect,
    /// Export, import, back up, check the file, run jobs, embed
    Admin,
    /// Have the operator's sensors look whether memories still hold
    Check,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeyOriginArg {
    /// The assistant's words
    Assistant,
    /// The user's own words
    User,
    /// A tool's words
    Tool,
    /// A document's words
    Document,
}

impl From<ScopeArg> for KeyScope {
    fn from(arg: ScopeArg) -> Self {
        match arg {
            ScopeArg::Read => Self::Read,
            ScopeArg::Write => Self::Write,
            ScopeArg::Erase => Self::Erase,
            ScopeArg::Inspect => Self::Inspect,
            ScopeArg::Admin => Self::Admin,
            ScopeArg::Check => Self::Check,
        }
    }
}

impl From<KeyOriginArg> for Origin {
    fn from(arg: KeyOriginArg) -> Self {
        match arg {
            KeyOriginArg::Assistant => Self::Assistant,
            KeyOriginArg::User => Self::User,
            KeyOriginArg::Tool => Self::Tool,
            KeyOriginArg::Document => Self::Document,
        }
    }
}

pub(crate) fn run(verb: &KeyVerb, out: &Output) -> Result<(), Failure> {
    match verb {
        KeyVerb::Add(args) => add(args, out),
        KeyVerb::List(file) => list(file, out),
        KeyVerb::Revoke(args) => revoke(args, out),
    }
}

fn add(args: &AddArgs, out: &Output) -> Result<(), Failure> {
    let mut scopes: Vec<KeyScope> = args.scope.iter().map(|scope| (*scope).into()).collect();
    scopes.dedup();
    let of_the_file = [KeyScope::Inspect, KeyScope::Admin];
    let users = args.users.users();
    if users != Users::Any && scopes.iter().all(|scope| of_the_file.contains(scope)) {
        return Err(Failure::refused(
            "inspect and admin are about the whole file, so such a key needs --all-users",
        ));
    }
    let expires_at = args.expires.map(|span| SystemClock.now() + span);
    let new = New {
        name: args.name.clone(),
        scopes,
        users,
        expires_at,
        rate: args.rate,
        origin: args.origin.into(),
    };
    let (key, text) = Key::make(new).map_err(|error| {
        Failure::caused(
            Exit::Unexpected,
            "the system has no random bytes",
            std::io::Error::other(error.to_string()),
        )
    })?;
    let id = key.id.clone();
    KeyFile::change(&args.file.file, |file| {
        file.keys.push(key);
        Ok(())
    })
    .map_err(unusable)?;
    out.talk("the key, shown only once:");
    out.answer(&json!({ "id": id, "key": text }), |_| format!("{text}\n"))
}

fn list(file: &FileArg, out: &Output) -> Result<(), Failure> {
    let now = SystemClock.now();
    let file = KeyFile::read(&file.file).map_err(unusable)?;
    let shown: Vec<_> = file.keys.iter().map(|key| about(key, now)).collect();
    out.answer(&shown, |_| file.keys.iter().fold(String::new(), |text, key| text + &line(key, now)))
}

fn revoke(args: &RevokeArgs, out: &Output) -> Result<(), Failure> {
    let known = KeyFile::change(&args.file.file, |file| {
        let before = file.keys.len();
        file.keys.retain(|key| key.id != args.id);
        Ok(file.keys.len() < before)
    })
    .map_err(unusable)?;
    if !known {
        return Err(Failure::not_found("there is no key with that id; key list shows the ids"));
    }
    out.answer(&json!({ "revoked": args.id }), |_| "revoked\n".to_owned())
}

/// Describes a key, without its hash.
fn about(key: &Key, now: DateTime<Utc>) -> serde_json::Value {
    json!({
        "id": key.id,
        "name": key.name,
        "scopes": key.scopes,
        "users": key.users,
        "origin": key.origin,
        "expires_at": key.expires_at,
        "is_expired": key.is_expired(now),
        "rate": key.rate,
    })
}

fn line(key: &Key, now: DateTime<Utc>) -> String {
    let scopes: Vec<String> = key.scopes.iter().map(|scope| format!("{scope:?}").to_lowercase()).collect();
    let line = format!("{}  {}  {} of {}", key.id, plain::line(&key.name, 40), scopes.join(","), key.users);
    let rate = key.rate.map(|rate| format!("  {rate}")).unwrap_or_default();
    let end = key.expires_at.map(|at| {
        let word = if key.is_expired(now) { "expired" } else { "expires" };
        format!("  {word} {}", at.format("%Y-%m-%d %H:%M"))
    });
    line + &rate + &end.unwrap_or_default() + "\n"
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unusable(error: Unusable) -> Failure {
    Failure::new(Exit::FileUnusable, error.to_string())
}

/// Parses a time span such as `12h` or `90d`.
fn span(text: &str) -> Result<TimeDelta, String> {
    let wrong = || "expected a number and h or d, like 90d".to_owned();
    let number = text.trim_end_matches(['h', 'd']);
    let count: i64 = number.parse().ok().filter(|count| (1..=100_000).contains(count)).ok_or_else(wrong)?;
    match &text[number.len()..] {
        "h" => Ok(TimeDelta::hours(count)),
        "d" => Ok(TimeDelta::days(count)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_hours_or_days() {
        assert_eq!(span("12h"), Ok(TimeDelta::hours(12)));
        assert_eq!(span("90d"), Ok(TimeDelta::days(90)));
        for wrong in ["", "d", "0d", "-1d", "1", "1dd", "1w", "99999999999d"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
