//! `thermocline why`: shows what a recall found, what it left out, and why.

use std::fmt::Write as _;

use thermocline::{ItemKind, ReceiptId, ReceiptWithTexts, blocking::User};

use crate::{
    exit::Failure,
    find::{self, Db},
    output::Output,
    plain,
    recall_args::WhyArgs,
};

/// The value of the argument that selects the newest receipt.
const LAST: &str = "last";

pub(crate) fn run(db: &Db, args: &WhyArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    let id = match args.receipt.as_deref() {
        None => return list(&user, args.n, out),
        Some(LAST) => {
            let newest = user.receipts(1)?.into_iter().next();
            newest
                .ok_or_else(|| {
                    Failure::not_found("this user has no receipts yet; recall and context write them")
                })?
                .id
        }
        Some(id) => id.parse::<ReceiptId>()?,
    };
    if out.is_json() {
        return out.answer(&user.receipt(id)?, |_| String::new());
    }
    out.print(&explained(&user, id)?)
}

/// Returns the whole explanation; each turn has its date, its place and its first words.
pub(crate) fn explained(user: &User, id: ReceiptId) -> Result<String, Failure> {
    Ok(plain::block(&user.receipt_with_texts(id)?.explain()))
}

fn list(user: &User, n: u32, out: &Output) -> Result<(), Failure> {
    let receipts = user.receipts(n)?;
    if receipts.is_empty() && !out.is_json() {
        out.talk("this user has no receipts yet; recall and context write them");
        return Ok(());
    }
    out.answer(&receipts, |receipts| {
        let mut text =
            format!("{:<36}  {:<16}  {:<7}  {:<4}  {:>7}  query\n", "receipt", "asked", "for", "used", "ms");
        for receipt in receipts {
            let _ = writeln!(
                text,
                "{}  {}  {:<7}  {:<4}  {:>7.1}  {}",
                receipt.id,
                receipt.asked_at.format("%Y-%m-%d %H:%M"),
                if receipt.budget_tokens.is_some() { "context" } else { "recall" },
                if receipt.used_at.is_some() { "yes" } else { "" },
                receipt.took.as_secs_f64() * 1e3,
                plain::line(&receipt.query, 60),
            );
        }
        text
    })
}

/// Returns a line for each of the first `n` items that were shown, and the number of other items.
pub(crate) fn reasons(told: &ReceiptWithTexts, n: usize) -> String {
    let mut text = String::new();
    let items = told.receipt.items.iter().zip(&told.texts);
    let (shown, left): (Vec<_>, Vec<_>) = items.partition(|(item, _)| item.packed_as.is_some());
    for (item, words) in shown.iter().take(n) {
        let place = match item.kind {
            ItemKind::Anchor => "an anchor",
            ItemKind::Memory => "a memory",
            _ => words.as_ref().map_or("", |words| &words.place),
        };
        let (score, parts) = (item.score, &item.parts);
        let _ = writeln!(
            text,
            "  {score:.2}  {place:<14}  words {:.2}, meaning {:.2}, neighbours {:.2}, session {:.2}",
            parts.words, parts.meaning, parts.neighbours, parts.session
        );
    }
    let more = shown.len().saturating_sub(n);
    let _ = writeln!(text, "  and {more} more; {} were considered and not shown", left.len());
    text
}
