//! Finds what people say about who they are, in a closed list of first-person forms. Precision comes first: in doubt,
//! nothing is claimed.
//!
//! A statement is walked clause by clause. A clause without a subject takes that of the previous one:
//! `I'm Sarah, a nurse from Porto, and live in Rome` is read as `i am sarah`, `i am a nurse`, `+ from porto`
//! (`+` continues the claim before it) and `i live in rome`.

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
        words::StatementWords,
    },
    statements::Statement,
};

/// Returns the claims in the statements of a message, in order.
pub(crate) fn claims(statements: &[Statement<'_>]) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut before = Before { is_first: true, greets: false, is_mine: true, name: None };
    for statement in statements {
        let words = StatementWords { statement };
        let count = statement.tokens.len();
        let is_mine = (0..4).any(|at| words.is_mine(at)) || count <= 5 && before.is_mine;
        let (claims, name) = Walk::new(statement, &before).claims();
        found.extend(before.name.take().filter(|_| is_mine && !claims.is_empty()));
        before = Before { is_first: false, greets: greets(words, count), is_mine, name };
        found.extend(claims);
    }
    found
}
