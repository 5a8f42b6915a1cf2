//! What people say of who they are, in a closed list of first-person forms. Precision comes first: unsure is none.
//!
//! A statement is walked clause by clause. A clause that leaves its subject out has that of the one before it:
//! `I'm Sarah, a nurse from Porto, and live in Rome` is read as `i am sarah`, `i am a nurse`, `+ from porto`,
//! `i live in rome`.

mod claim;
mod forms;
mod jobs;
mod people;
mod values;
mod walk;
mod words;

use crate::english::{
    claims::{
        claim::Claim,
        walk::{Before, Walk, greets},
        words::Words,
    },
    classes::is_of,
    statements::{Statement, Token},
};

/// What the statements of a message claim, in order.
pub(crate) fn claims(statements: &[Statement<'_>]) -> Vec<Claim> {
    let speaks_of_others = statements.iter().any(|statement| statement.tokens.iter().any(is_other));
    let mut found = Vec::new();
    let mut before = Before { greets: false, is_mine: true, name: None };
    for statement in statements {
        let mut walk = Walk::new(statement, &before, speaks_of_others);
        walk.people();
        walk.clauses();
        let words = Words { statement };
        let is_short = statement.tokens.len() <= 5;
        let is_mine = (0..4).any(|at| words.is(at, "i my we our")) || (is_short && before.is_mine);
        let (claims, name) = walk.finish();
        let introduces =
            is_mine && !claims.is_empty() || words.is(0, "nice pleased good") && words.is(2, "meet");
        found.extend(before.name.take().filter(|_| introduces));
        before = Before { greets: greets(statement, statement.tokens.len()), is_mine, name };
        found.extend(claims);
    }
    found
}

fn is_other(token: &Token<'_>) -> bool {
    matches!(&*token.lower, "he" | "she" | "her" | "his" | "him" | "they")
        || is_of("kin", &token.lower)
        || is_of("close", &token.lower)
        || is_of("pet", &token.lower)
}
