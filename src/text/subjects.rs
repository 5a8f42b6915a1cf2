//! Whom the sides of a turn may speak of, and how a name becomes the subject of anchors: the same for all who find them.

use crate::{
    model::{
        anchor::Anchor,
        turn::{Origin, Said},
    },
    text::words,
};

/// Whom the user's side and the assistant's side may speak of; none, if they prove nothing about anyone.
///
/// A person speaks of themself: by their name, or as `user` or `assistant`, the side they stand on. LLM#2 is
/// `assistant` whatever it is called. Tools, documents and the system prove nothing.
pub(crate) fn subjects(said: &Said) -> [Option<String>; 2] {
    let user = (said.user_origin == Origin::User).then(|| subject(said.user_name.as_deref(), Anchor::USER));
    let assistant = match said.assistant_origin {
        Origin::User => Some(subject(said.assistant_name.as_deref(), Anchor::ASSISTANT)),
        Origin::Assistant => Some(Anchor::ASSISTANT.to_owned()),
        Origin::Tool | Origin::Document | Origin::System => None,
    };
    [user, assistant]
}

/// A speaker's name as the subject of anchors: folded, blanks as single spaces.
pub(crate) fn folded_name(name: &str) -> String {
    words::fold(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The subject for a speaker. A name that is the word of a role is only that role's own.
fn subject(name: Option<&str>, role: &str) -> String {
    let name = folded_name(name.unwrap_or_default());
    if name.is_empty() || Origin::from_word(&name).is_some() { role.to_owned() } else { name }
}
