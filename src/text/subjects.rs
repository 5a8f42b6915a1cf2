//! Whom the sides of a turn may speak about, and how a name becomes the subject of anchors: the same for everything that
//! finds them.

use crate::{
    model::{
        anchor::Anchor,
        turn::{Origin, Said},
    },
    text::words,
};

/// Whom the user's side and the assistant's side may speak about; `None` if a side proves nothing about anyone.
///
/// People speak about themselves: by their name, or as `user` or `assistant`, according to their side. LLM#2 is `assistant`
/// whatever its name. Tools, documents and the system prove nothing.
pub(crate) fn subjects(said: &Said) -> [Option<String>; 2] {
    let user = (said.user_origin == Origin::User).then(|| subject(said.user_name.as_deref(), Anchor::USER));
    let assistant = match said.assistant_origin {
        Origin::User => Some(subject(said.assistant_name.as_deref(), Anchor::ASSISTANT)),
        Origin::Assistant => Some(Anchor::ASSISTANT.to_owned()),
        Origin::Tool | Origin::Document | Origin::System => None,
    };
    [user, assistant]
}

/// A speaker's name as the subject of anchors: folded, with single spaces.
pub(crate) fn folded_name(name: &str) -> String {
    words::fold(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The subject for a speaker. The word of a role is only accepted as a name for that role.
fn subject(name: Option<&str>, role: &str) -> String {
    let name = folded_name(name.unwrap_or_default());
    if name.is_empty() || Origin::from_word(&name).is_some() { role.to_owned() } else { name }
}
