//! `thermocline user`: lists the users in the file.

use std::fmt::Write as _;

use indicatif::HumanCount;
use thermocline::UserInfo;

use crate::{
    args::{UserArg, UserListArgs},
    exit::Failure,
    find::{self, Db},
    output::Output,
    pages, plain,
};

pub(crate) fn list(db: &Db, args: &UserListArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let after =
        args.after.as_ref().map(|name| find::user(&memory, &UserArg { user: name.clone() })).transpose()?;
    let after = after.map(|user| user.id());
    let users = pages::list(after, args.limit, |after, limit| memory.users(after, limit), |user| user.id)?;
    if users.is_empty() && !out.is_json() {
        out.talk("the file has no users, or none after that one");
        return Ok(());
    }
    out.answer(&users, |users| listed(users))
}

fn listed(users: &[UserInfo]) -> String {
    let mut text = format!("{:<36}  {:>8}  {:>9}  {:>11}  name\n", "user", "sessions", "turns", "tokens");
    for user in users {
        let _ = writeln!(
            text,
            "{:<36}  {:>8}  {:>9}  {:>11}  {}",
            user.id.to_string(),
            HumanCount(user.session_count).to_string(),
            HumanCount(user.turn_count).to_string(),
            HumanCount(user.total_tokens).to_string(),
            user.name.as_deref().map_or_else(|| "-".to_owned(), |name| plain::line(name, usize::MAX)),
        );
    }
    text
}
