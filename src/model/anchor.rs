//! Identity anchors: what is known about who the user is, and the evidence for it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{AnchorId, TurnId},
    memory::trust::Trust,
    turn::Origin,
    word_enum::word_enum,
};

/// An identity fact: `user.name` is Alex. Derived from what turns say and what is set by hand, never edited in place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Anchor {
    /// The anchor's id.
    pub id: AnchorId,
    /// Who the anchor is about: `user`, `assistant`, or a name without capitals and accents (`sister anna`).
    pub subject: String,
    /// The attribute that the anchor states.
    pub attribute: Attribute,
    /// The value, as it was last said.
    pub value: String,
    /// How well the value is supported: `1 - 0.5^n` if n sources state it. A source is a turn or a setting by hand; sources
    /// before the value's retraction do not count, and neither do those that are trusted less than the anchor. The formula
    /// is this project's own.
    pub strength: f64,
    /// How far the anchor is trusted: as far as the most trusted of its evidence. What is trusted less does not change it.
    /// Omitted from the JSON if it is the user's, 3.
    #[serde(default = "Trust::users", skip_serializing_if = "Trust::is_users")]
    pub trust: Trust,
    /// The evidence that the value holds or has ended, in the order of recording.
    pub evidence: Vec<Evidence>,
    /// When the value was first said. If it later stopped holding and was then said again, the time when it began to
    /// hold again.
    pub valid_from: DateTime<Utc>,
    /// When the anchor stopped holding; `None` if it holds. For a retracted anchor, and for one that contests another, the
    /// same as `valid_from`.
    pub valid_until: Option<DateTime<Utc>>,
    /// The anchor with the newer value; `None` if none superseded it.
    pub superseded_by: Option<AnchorId>,
    /// The anchor that holds although this one was said later: it is trusted more. Whoever is trusted as far as that one
    /// decides, by saying which of them holds. `None` if the anchor contests none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contests: Option<AnchorId>,
    /// When the anchor was retracted by hand; `None` if it was not, or if the value was stated again since.
    pub retracted_at: Option<DateTime<Utc>>,
}

impl Anchor {
    /// The subject of facts about the user if no name is given; [`ASSISTANT`](Self::ASSISTANT) likewise for the
    /// assistant.
    pub(crate) const USER: &str = Origin::User.as_str();
    pub(crate) const ASSISTANT: &str = Origin::Assistant.as_str();

    /// Returns the subject and the attribute: `user.name`.
    pub fn key(&self) -> String {
        format!("{}.{}", self.subject, self.attribute.as_str())
    }

    /// Returns whether the anchor holds now: it is not superseded, ended, contested or retracted.
    pub fn is_current(&self) -> bool {
        self.valid_until.is_none() && self.retracted_at.is_none()
    }
}

/// The result of setting an anchor by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AnchorStated {
    /// The anchor's id.
    pub id: AnchorId,
    /// Whether this call added a statement; false if the value still holds, and the same maker (`made_by`) had already set
    /// it by hand.
    pub is_new: bool,
}

/// One piece of evidence for an anchor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Evidence {
    /// The turn that the evidence comes from; `None` if the anchor was set by hand.
    pub turn_id: Option<TurnId>,
    /// Whether the evidence says that the value holds, or that it ends.
    pub stance: Stance,
    /// When the turn was said. If the anchor was set by hand, the time of the setting, by the system clock.
    pub said_at: DateTime<Utc>,
    /// Who found the evidence: `extractive` (built in) or a summarizer's name. If the anchor was set by hand: `caller`,
    /// or the name that the caller gave.
    pub made_by: String,
    /// The words in the turn that prove the stance; empty if the anchor was set by hand.
    pub quote: String,
    /// How far the evidence is trusted: as far as the side of the turn that says so, or who set the anchor by hand. Omitted
    /// from the JSON if it is the user's, 3.
    #[serde(default = "Trust::users", skip_serializing_if = "Trust::is_users")]
    pub trust: Trust,
}

/// Whether an attribute has one value at a time, or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Cardinality {
    /// A new value supersedes the old one.
    One,
    /// A new value is added.
    Many,
}

/// Declares the attributes: each with its word and whether it has one value at a time.
macro_rules! attributes {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $cardinality:ident;)*) => {
        word_enum! {
            /// What an anchor says about its subject: a closed list.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            pub enum Attribute {
                $($(#[$doc])* $name = $word,)*
            }
            pub fn from_word;
        }

        impl Attribute {
            /// Every attribute.
            pub const ALL: &[Self] = &Self::EVERY;

            /// Returns whether the attribute has one value at a time, which a new value supersedes, or many.
            pub fn cardinality(self) -> Cardinality {
                match self { $(Self::$name => Cardinality::$cardinality,)* }
            }
        }
    };
}

attributes! {
    /// The subject's name.
    Name = "name", One;
    /// The subject's pronouns: `they/them`.
    Pronouns = "pronouns", One;
    /// The subject's birthday, as it was said.
    Birthday = "birthday", One;
    /// The subject's age in years.
    Age = "age", One;
    /// Where the subject lives.
    Home = "home", One;
    /// Where the subject comes from.
    Hometown = "hometown", One;
    /// Who the subject works for.
    Employer = "employer", One;
    /// What the subject does for a living.
    Job = "job", One;
    /// What the subject works on or studies.
    Field = "field", One;
    /// Where the subject studies.
    School = "school", One;
    /// The subject's relationship status: `married`, `single`, `engaged` ...
    Relationship = "relationship", One;
    /// A member of the subject's family, with the relation: `sister anna`.
    Family = "family", Many;
    /// One of the subject's animals: `dog max`.
    Pets = "pets", Many;
    /// What the subject likes.
    Likes = "likes", Many;
    /// What the subject dislikes.
    Dislikes = "dislikes", Many;
    /// What the subject does for fun.
    Hobbies = "hobbies", Many;
    /// A language that the subject speaks.
    Languages = "languages", Many;
    /// A condition, allergy or injury of the subject.
    Health = "health", Many;
    /// How the subject eats: `vegetarian`.
    Diet = "diet", Many;
    /// What the subject wants to achieve.
    Goals = "goals", Many;
    /// Anything else worth keeping, found by a summarizer or set by hand; the built-in rules find none.
    Note = "note", Many;
}

word_enum! {
    /// Whether the evidence says that something holds, or that it does not.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Stance {
        /// The value holds.
        Holds = "holds",
        /// The value no longer holds, or never did.
        Ends = "ends",
    }
    pub(crate) fn from_word;
}

/// A claim about an anchor, found in one turn, as a [`Summarizer`](crate::Summarizer) returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundAnchor {
    /// Who the claim is about: `user`, `assistant`, or a name without capitals and accents (`sister anna`).
    pub subject: String,
    /// The attribute that the claim states.
    pub attribute: Attribute,
    /// The value, short: a name, a place, a thing.
    pub value: String,
    /// Whether the words say that the value holds, or that it ends.
    pub stance: Stance,
    /// The words in the turn that prove the claim, quoted exactly.
    pub quote: String,
}

impl FoundAnchor {
    /// Creates a claim that this attribute of `subject` has this value, with the words of the turn that say so.
    pub fn new(
        subject: impl Into<String>,
        attribute: Attribute,
        value: impl Into<String>,
        quote: impl Into<String>,
    ) -> Self {
        let (subject, value, quote) = (subject.into(), value.into(), quote.into());
        Self { subject, attribute, value, stance: Stance::Holds, quote }
    }

    /// Makes this a claim that the value no longer holds.
    #[must_use]
    pub fn ends(mut self) -> Self {
        self.stance = Stance::Ends;
        self
    }
}
