//! `thermocline why`: what a recall found, what it left out, and why.

use std::fmt::Write as _;

use thermocline::{AnchorId, ItemKind, MemoryId, Receipt, ReceiptId, ReceiptItem, TurnId, blocking::User};

use crate::{
    counts::counted,
    exit::Failure,
    find::{self, Db},
    output::Output,
    places::Places,
    plain,
    recall_args::WhyArgs,
};

/// Asks for the newest receipt.
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
                    Failure::not_found("this user has no receipt yet; recall and context leave them")
                })?
                .id
        }
        Some(id) => id.parse::<ReceiptId>()?,
    };
    let receipt = user.receipt(id)?;
    if out.is_json() {
        return out.answer(&receipt, |_| String::new());
    }
    out.print(&explained(&user, &receipt)?)
}

fn list(user: &User, n: u32, out: &Output) -> Result<(), Failure> {
    let receipts = user.receipts(n)?;
    if receipts.is_empty() && !out.is_json() {
        out.talk("this user has no receipt yet; recall and context leave them");
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

/// The whole explanation, each turn by its date, its place and its first words.
pub(crate) fn explained(user: &User, receipt: &Receipt) -> Result<String, Failure> {
    let mut places = Places::of(user)?;
    let mut text = plain::block(&receipt.explain_asking());
    if let Some(session) = receipt.session_id {
        let _ = writeln!(text, "It was for session {}.", plain::line(&places.session(session), 60));
    }
    let is_context = receipt.budget_tokens.is_some();
    let (found, left_out): (Vec<_>, Vec<_>) =
        receipt.items.iter().partition(|item| !is_context || item.packed_as.is_some());
    let titles = [(if is_context { "Shown" } else { "Found" }, found), ("Left out", left_out)];
    for (title, items) in titles {
        if !items.is_empty() {
            let _ = writeln!(text, "\n{title}, {}:", counted(items.len(), "item"));
        }
        for item in items {
            text += &described(&mut places, item)?;
        }
    }
    if receipt.items.is_empty() {
        text += "\nNothing that was ever said fits.\n";
    }
    text += &worked_out(receipt);
    Ok(text)
}

/// The first `n` of what was shown, a line each, and how many others there are.
pub(crate) fn reasons(user: &User, receipt: &Receipt, n: usize) -> Result<String, Failure> {
    let places = Places::of(user)?;
    let mut text = String::new();
    let (shown, left): (Vec<_>, Vec<_>) = receipt.items.iter().partition(|item| item.packed_as.is_some());
    for item in shown.iter().take(n) {
        let place = match item.kind {
            ItemKind::Anchor => "an anchor".to_owned(),
            ItemKind::Memory => "a memory".to_owned(),
            _ => places.turn(TurnId::from_uuid(item.owner_id))?.map_or_else(String::new, |place| place.name),
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
    Ok(text)
}

fn described(places: &mut Places<'_>, item: &ReceiptItem) -> Result<String, Failure> {
    let tier = item.memory_tier.map_or("", |tier| tier.as_str());
    let (head, words) = if item.kind == ItemKind::Anchor {
        let anchor = places.anchor(AnchorId::from_uuid(item.owner_id))?;
        ("anchor".to_owned(), anchor.unwrap_or_else(|| "gone by now".to_owned()))
    } else if item.kind == ItemKind::Memory {
        match places.memory(MemoryId::from_uuid(item.owner_id))? {
            Some(memory) => {
                let on = memory.said_at.format("%Y-%m-%d");
                (format!("{on}  {}, {}", memory.kind.as_str(), memory.id), plain::line(&memory.title, 88))
            }
            None => (format!("memory {}", MemoryId::from_uuid(item.owner_id)), "gone by now".to_owned()),
        }
    } else {
        match places.turn(TurnId::from_uuid(item.owner_id))? {
            Some(place) if item.kind == ItemKind::Wish => {
                let on = place.said_at.format("%Y-%m-%d");
                (format!("{on}  a wish in {}", place.name), place.words)
            }
            Some(place) => {
                let on = place.said_at.format("%Y-%m-%d");
                let id = place.caller_id.map(|id| format!(", {id}")).unwrap_or_default();
                (format!("{on}  {}{id}, {tier}", place.name), place.words)
            }
            None => (format!("{} {}", item.kind.as_str(), item.owner_id), "gone by now".to_owned()),
        }
    };
    Ok(format!("{:>3}. {head}\n     {}\n     {words}\n", item.rank, plain::line(&item.explain(), usize::MAX)))
}

/// The proof that the receipt holds all that decided: its scores, worked out again from their parts.
fn worked_out(receipt: &Receipt) -> String {
    // What is there for its place in the session has no score; those of anchors and wishes are not made of parts.
    let scored: Vec<&ReceiptItem> = receipt
        .items
        .iter()
        .filter(|item| !matches!(item.kind, ItemKind::Anchor | ItemKind::Wish) && item.score != 0.0)
        .collect();
    let is_off = |item: &&&ReceiptItem| (item.parts.score(&receipt.profile) - item.score).abs() > 2e-6;
    match (scored.len(), scored.iter().filter(is_off).count()) {
        (0, _) => String::new(),
        (_, 0) => "\nWorked out again from their parts, all scores are the same.\n".to_owned(),
        (all, off) => format!(
            "\nWorked out again from their parts, {off} of {all} scores differ: another version ranked.\n"
        ),
    }
}
