//! A receipt with the texts of its items, for people who ask why those items were shown.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::model::{
    anchor::Anchor,
    ids::MemoryId,
    memory::known::Memory,
    receipt::{ItemKind, Receipt, ReceiptItem},
    summary::Summary,
    tier::MemoryTier,
    turn::{Origin, Said, Turn},
};

/// The maximum number of characters that are shown of a text; [`NAME_CHARS`] is the maximum for a name.
const SHOWN_CHARS: usize = 88;
const NAME_CHARS: usize = 40;

/// A receipt with the titles and beginnings of its items.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReceiptWithTexts {
    /// The receipt itself.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The key of the session that the receipt is for or, without a key, its id; `None` if the receipt is for no
    /// session, or if the session no longer exists.
    pub session: Option<String>,
    /// The text of each of the receipt's items, in their order; `None` if the item no longer exists or is damaged.
    pub texts: Vec<Option<ItemText>>,
}

/// An item of a receipt, described for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ItemText {
    /// Where the item is. For a turn: its session's key (or id, if it has no key) and its number there, `boat/5`. For a
    /// memory: its kind. For an anchor: its subject and attribute, `user.home`.
    pub place: String,
    /// The caller's own id for the item; `None` for a summary or an anchor.
    pub caller_id: Option<String>,
    /// When the item was said; for an anchor, the time from which it holds.
    pub said_at: DateTime<Utc>,
    /// The beginning of the item, on one line and cut to 88 characters: for a memory its title, for an anchor its key
    /// and value, for a summary its sentence. For a turn, the first speaker precedes the 88 characters.
    pub words: String,
}

impl ItemText {
    /// Describes a turn in a session of this name.
    pub(crate) fn of_turn(session: &str, turn: &Turn) -> Self {
        Self {
            place: place(session, turn.turn_number),
            caller_id: turn.caller_id.clone(),
            said_at: turn.timestamp,
            words: beginning(&turn.said),
        }
    }

    /// Describes a summary that takes the place of its turn.
    pub(crate) fn of_summary(session: &str, summary: &Summary) -> Self {
        Self {
            place: place(session, summary.turn_number),
            caller_id: None,
            said_at: summary.timestamp,
            words: line(&summary.summary_text, SHOWN_CHARS),
        }
    }

    pub(crate) fn of_memory(memory: &Memory) -> Self {
        Self {
            place: memory.kind.as_str().to_owned(),
            caller_id: memory.caller_id.clone(),
            said_at: memory.said_at,
            words: line(&memory.title, SHOWN_CHARS),
        }
    }

    pub(crate) fn of_anchor(anchor: &Anchor) -> Self {
        Self {
            place: anchor.key(),
            caller_id: None,
            said_at: anchor.valid_from,
            words: line(&format!("{}: {}", anchor.key(), anchor.value), SHOWN_CHARS),
        }
    }
}

impl ReceiptWithTexts {
    /// Explains the receipt in words, as [`Receipt::explain`] does, and shows each item with its day, place and first
    /// words.
    pub fn explain(&self) -> String {
        let receipt = &self.receipt;
        let mut text = receipt.explain_asking();
        if let Some(session) = &self.session {
            let _ = writeln!(text, "It was for session {}.", line(session, 60));
        }
        let is_context = receipt.budget_tokens.is_some();
        let (found, left_out): (Vec<_>, Vec<_>) = receipt
            .items
            .iter()
            .zip(&self.texts)
            .partition(|(item, _)| !is_context || item.packed_as.is_some());
        for (title, items) in [(if is_context { "Shown" } else { "Found" }, found), ("Left out", left_out)] {
            let _ = match items.len() {
                0 => Ok(()),
                1 => writeln!(text, "\n{title}, 1 item:"),
                several => writeln!(text, "\n{title}, {several} items:"),
            };
            for (item, said) in items {
                let words = said.as_ref().map_or("no longer there", |said| &said.words);
                let _ = writeln!(
                    text,
                    "{:>3}. {}\n     {}\n     {words}",
                    item.rank,
                    head(item, said.as_ref()),
                    item.explain()
                );
            }
        }
        if receipt.items.is_empty() {
            text += "\nNothing that was ever said matches.\n";
        }
        text + &worked_out(receipt)
    }
}

/// Returns an item's heading: its kind or day, its place, and its id or tier.
fn head(item: &ReceiptItem, said: Option<&ItemText>) -> String {
    let id = |said: &ItemText| {
        said.caller_id.as_ref().map(|id| format!(", {}", line(id, NAME_CHARS))).unwrap_or_default()
    };
    let on = |said: &ItemText| said.said_at.format("%Y-%m-%d");
    match (item.kind, said) {
        (ItemKind::Anchor, _) => "anchor".to_owned(),
        (ItemKind::Memory, None) => format!("memory {}", MemoryId::from(item.owner_id)),
        (ItemKind::Memory, Some(said)) => {
            format!("{}  {}, {}", on(said), said.place, MemoryId::from(item.owner_id))
        }
        (kind, None) => format!("{} {}", kind.as_str(), item.owner_id),
        (ItemKind::Wish, Some(said)) => format!("{}  a wish in {}", on(said), said.place),
        (_, Some(said)) => {
            let tier = item.memory_tier.map_or("", MemoryTier::as_str);
            format!("{}  {}{}, {tier}", on(said), said.place, id(said))
        }
    }
}

/// Recomputes the scores from their parts, and says whether the receipt has the same ones, which shows that it is
/// complete.
fn worked_out(receipt: &Receipt) -> String {
    // Items that are shown for their place in the session have no score; scores of anchors and wishes have no parts.
    let is_made_of_parts =
        |item: &&ReceiptItem| !matches!(item.kind, ItemKind::Anchor | ItemKind::Wish) && item.score != 0.0;
    let is_off = |item: &&ReceiptItem| (item.parts.score(&receipt.profile) - item.score).abs() > 2e-6;
    let scored = || receipt.items.iter().filter(is_made_of_parts);
    match (scored().count(), scored().filter(is_off).count()) {
        (0, _) => String::new(),
        (_, 0) => "\nRecomputed from their parts, all scores are the same.\n".to_owned(),
        (all, off) => {
            format!("\nRecomputed from their parts, {off} of {all} scores differ: another version ranked.\n")
        }
    }
}

fn place(session: &str, turn_number: u32) -> String {
    format!("{}/{turn_number}", line(session, NAME_CHARS))
}

/// Returns how a turn begins: the speaker and the text of the first side that is not empty.
fn beginning(said: &Said) -> String {
    let sides = [
        (said.user_name.as_deref(), said.user_origin, &said.user_message),
        (said.assistant_name.as_deref(), said.assistant_origin, &said.ai_response),
    ];
    let first = sides.into_iter().find(|(_, _, text)| !text.trim().is_empty());
    first.map_or_else(String::new, |(name, origin, text)| {
        format!("{}: {}", speaker(name, origin), line(text, SHOWN_CHARS))
    })
}

fn speaker(name: Option<&str>, origin: Origin) -> String {
    let name = line(name.unwrap_or_default(), NAME_CHARS);
    match (name.as_str(), origin) {
        ("", Origin::User) => "User".to_owned(),
        ("", Origin::Assistant) => "Assistant".to_owned(),
        ("", origin) => origin.as_str().to_owned(),
        (_, Origin::User | Origin::Assistant) => name,
        (_, origin) => format!("{name} ({})", origin.as_str()),
    }
}

/// Shortens a text to one line of at most this many characters; line breaks and other whitespace become single spaces.
fn line(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.extend(word.chars().take(max_chars + 1));
        if shown.chars().count() > max_chars {
            let cut: String = shown.chars().take(max_chars - 1).collect();
            return format!("{}…", cut.trim_end());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_is_long_and_has_single_blanks() {
        let check = |text: &str, expected: &str| assert_eq!(line(text, 8), expected, "{text:?}");
        check("", "");
        check("  a\n\tb  ", "a b");
        check("12345678", "12345678");
        check("123456789", "1234567…");
        check("123456 89", "123456…");
        check(&"日".repeat(100_000), &format!("{}…", "日".repeat(7)));
    }

    #[test]
    fn a_turn_begins_with_who_spoke_first() {
        let mut said = Turn::sample(1, "", 0).said;
        (said.user_message, said.ai_response) = (" ".into(), "Hello.\nHow are you?".into());
        assert_eq!(beginning(&said), "Assistant: Hello. How are you?");
        said.assistant_name = Some("Ada".into());
        assert_eq!(beginning(&said), "Ada: Hello. How are you?");
        said.assistant_origin = Origin::Tool;
        assert_eq!(beginning(&said), "Ada (tool): Hello. How are you?");
        (said.user_message, said.user_origin) = ("Hi.".into(), Origin::User);
        assert_eq!(beginning(&said), "User: Hi.");
    }
}
