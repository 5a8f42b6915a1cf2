//! Decides about whom each side of a turn can prove something, and how a name becomes the subject of anchors. All code that
//! finds anchors uses this.

use crate::{
    model::{
        anchor::Anchor,
        memory::trust::Trust,
        turn::{Origin, Said},
    },
    text::words,
};

/// Returns about whom the user's side and the assistant's side can prove something; `None` if a side proves nothing about
/// anyone.
///
/// People speak about themselves: the subject is their name or, without a name, `user` or `assistant`, depending on their
/// side. LLM#2 is `assistant` whatever its name. Tools, documents and the system prove nothing, and neither does anybody
/// whose words a tool or a document hands over.
pub(crate) fn subjects(said: &Said) -> [Option<String>; 2] {
    if Trust::of(said.recorded_by) == Trust::Foreign {
        return [None, None];
    }
    let user = (said.user_origin == Origin::User).then(|| subject(said.user_name.as_deref(), Anchor::USER));
    let assistant = match said.assistant_origin {
        Origin::User => Some(subject(said.assistant_name.as_deref(), Anchor::ASSISTANT)),
        Origin::Assistant => Some(Anchor::ASSISTANT.to_owned()),
        Origin::Tool | Origin::Document | Origin::System => None,
    };
    [user, assistant]
}

/// Returns a speaker's name as the subject of anchors: folded, with single spaces.
pub(crate) fn folded_name(name: &str) -> String {
    words::fold(name).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the subject for a speaker. A name that is the word of a role is replaced by the speaker's own role.
fn subject(name: Option<&str>, role: &str) -> String {
    let name = folded_name(name.unwrap_or_default());
    if name.is_empty() || Origin::from_word(&name).is_some() { role.to_owned() } else { name }
}
