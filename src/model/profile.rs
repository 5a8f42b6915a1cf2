//! How units are ranked: the profiles, the weights of the parts of a score, and the parts themselves.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::error::{Error, Result};

/// How recalled units are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", from = "WrittenProfile")]
#[non_exhaustive]
pub enum Profile {
    /// Units are found by words and by meaning. Neighbouring turns, and turns of the same session, raise each other's
    /// scores. Recency, anchors, and the times, speakers and quotations in the query reorder what was found
    /// ([`Weights`]).
    #[default]
    Default,
    /// The formula of the tiering paper:
    /// `0.5 * e^(-lambda * days) + 0.3 * cosine + 0.2 * strength of the strongest anchor that the turn is evidence for`.
    /// The score of a memory is multiplied by [`Parts::memory`]. With the paper's own lambda, which [`Profile::paper`]
    /// uses, the formula finds little except the newest turns in a long history.
    Paper {
        /// How fast turns are forgotten, per day: from 0 (never) to 10.
        lambda: f64,
    },
    /// Ranks what was said last first, whatever the query.
    Recency,
    /// The formula of [`Profile::Default`] with custom weights.
    Custom(Weights),
    /// Only memories, ranked by the rule of the continuum paper: the score of [`Profile::Default`] is multiplied by a factor
    /// for the memory's frequency (0.1 for `high`, 0.6 for `mid`, 0.3 for `low` and `ultra_low`). Stale, archived and
    /// unverified memories get no discount. Only memories whose stored confidence is at least 0.75 are recalled, unless the
    /// memory filter says otherwise.
    Continuum,
}

/// The serialized forms of a profile. The paper's profile may be a bare name, as it was before its lambda could be
/// chosen.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, untagged))]
enum WrittenProfile {
    Name(ProfileName),
    Numbers(ProfileNumbers),
}

/// Implemented by hand, because `untagged` would read numbers into a buffer and accept unknown fields.
impl<'de> Deserialize<'de> for WrittenProfile {
    fn deserialize<D: Deserializer<'de>>(written: D) -> std::result::Result<Self, D::Error> {
        written.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = WrittenProfile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a profile, or an object that is called `paper` or `custom`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<WrittenProfile, E> {
        ProfileName::deserialize(name.into_deserializer()).map(WrittenProfile::Name)
    }

    fn visit_map<A: MapAccess<'de>>(self, numbers: A) -> std::result::Result<WrittenProfile, A::Error> {
        ProfileNumbers::deserialize(MapAccessDeserializer::new(numbers)).map(WrittenProfile::Numbers)
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
enum ProfileName {
    Default,
    Paper,
    Recency,
    Continuum,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "lowercase")]
enum ProfileNumbers {
    Paper { lambda: f64 },
    Custom(Weights),
}

impl From<WrittenProfile> for Profile {
    fn from(written: WrittenProfile) -> Self {
        match written {
            WrittenProfile::Name(ProfileName::Default) => Self::Default,
            WrittenProfile::Name(ProfileName::Paper) => Self::paper(),
            WrittenProfile::Name(ProfileName::Recency) => Self::Recency,
            WrittenProfile::Name(ProfileName::Continuum) => Self::Continuum,
            WrittenProfile::Numbers(ProfileNumbers::Paper { lambda }) => Self::Paper { lambda },
            WrittenProfile::Numbers(ProfileNumbers::Custom(weights)) => Self::Custom(weights),
        }
    }
}

impl Profile {
    /// The tiering paper's rate of forgetting, per day.
    pub const LAMBDA: f64 = 0.1;

    /// Returns [`Profile::Paper`] with the tiering paper's own lambda, 0.1.
    pub const fn paper() -> Self {
        Self::Paper { lambda: Self::LAMBDA }
    }

    /// Returns how fast the profile forgets turns, per day.
    pub(crate) fn lambda(&self) -> f64 {
        if let Self::Paper { lambda } = self { *lambda } else { Self::LAMBDA }
    }

    /// Returns the profile's name: `default`, `paper`, `recency`, `custom` or `continuum`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper { .. } => "paper",
            Self::Recency => "recency",
            Self::Custom(_) => "custom",
            Self::Continuum => "continuum",
        }
    }

    /// Returns the weights of the default formula; `None` if the profile has its own formula.
    pub(crate) fn weights(&self) -> Option<Weights> {
        match self {
            Self::Default | Self::Continuum => Some(Weights::default()),
            Self::Custom(weights) => Some(*weights),
            Self::Paper { .. } | Self::Recency => None,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let bounded = |what: &str, value: f64| {
            if (0.0..=10.0).contains(&value) {
                return Ok(());
            }
            Err(Error::invalid(format!("{what} is {value}; it must be from 0 to 10")))
        };
        match self {
            Self::Paper { lambda } => bounded("lambda", *lambda),
            Self::Custom(weights) => weights
                .named()
                .iter()
                .try_for_each(|(name, value)| bounded(&format!("the weight {name}"), *value)),
            Self::Default | Self::Recency | Self::Continuum => Ok(()),
        }
    }
}

/// Declares a struct of numbers that can be accessed by name.
macro_rules! numbers {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* $number:ident,)*
        }
        $named:vis fn named;
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* pub $number: f64,)*
        }

        impl $name {
            /// Returns the numbers with their names.
            $named fn named(&self) -> [(&'static str, f64); [$(stringify!($number)),*].len()] {
                [$((stringify!($number), self.$number),)*]
            }
        }
    };
}

/// Declares the weights, each with its default.
macro_rules! weights {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* $weight:ident = $default:literal,)*
        }
    ) => {
        numbers! {
            $(#[$meta])*
            pub struct $name {
                $($(#[$doc])* #[doc = concat!(" Default ", $default, ".")] $weight,)*
            }
            pub(crate) fn named;
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($weight: $default,)* }
            }
        }

        impl $name {
            fn slot(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($weight) => Some(&mut self.$weight),)*
                    _ => None,
                }
            }
        }
    };
}

weights! {
    /// The weight of each part of a score in the default formula:
    ///
    /// ```text
    /// relevance = words * W + meaning * C
    /// near      = relevance + open * (neighbours * (relevance of the turn before + of the turn after)
    ///                                 + answer * relevance of the turn before, if it is a question)
    /// lent      = near + open * (session * greatest near in its session
    ///                            + session_words * W of its session)
    /// score     = lent * (1 + time * t) * (1 + speaker * s) * (1 + quote * q) * (1 + wish * w)
    ///                  * (1 + anchors * a) * (1 + recency * e^(-0.1 * days))
    ///                  * (1 + continuation * l * e^(-0.1 * days)) * (1 - spread)^b
    /// ```
    ///
    /// `W` and `C` are the scores of a turn by words and by meaning, each divided by the best such score of the user's
    /// units. The other names are:
    ///
    /// - `open` is `200 / (200 + words of the turn)`: a short turn is understood from its surroundings, a long one on
    ///   its own.
    /// - `W of its session` adds up, for each word of the query, the best score that any turn of the session has for that
    ///   word. The sum is divided by the greatest such sum of any session.
    /// - `l` is how far the message depends on what came before it: from 0 for a self-contained question to 1 for a
    ///   message that tells much and asks nothing.
    /// - `t` is 1 - `l` if the turn was said in a time that the query names or within a week after it, or speaks of
    ///   something in that time, or if the query asks when and the turn names a time; otherwise 0. It is lower for
    ///   a greater `l`, because a message that continues a conversation may name the time of a plan.
    /// - `s` is 1 if the query names one of several speakers, and that speaker said the turn.
    /// - `q` is 1 if the query has at least five words, and the turn has all of them.
    /// - `w` is 1 if the user states in the turn how things should be from now on.
    /// - `a` is how strongly the query calls for the best anchor that the turn is evidence of.
    /// - `b` is how many turns of the same session are better, if the query asks for many turns, as a question for a
    ///   summary or for an order of events does; otherwise 0.
    ///
    /// A memory is ranked like a turn that is alone in its session, and its score is multiplied by [`Parts::memory`].
    /// The defaults were tuned on public sets of long conversations (docs/recall.md).
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct Weights {
        /// The weight of `W`: how well the words match.
        words = 0.6,
        /// The weight of `C`: how close the meaning is.
        meaning = 0.4,
        /// The share that a turn lends to each of its neighbours.
        neighbours = 0.15,
        /// The additional share that a question lends to the turn after it.
        answer = 0.3,
        /// The share that a session's best turn lends to the session's turns.
        session = 0.3,
        /// The share that a session lends to its turns for the words of the query that occur anywhere in it.
        #[serde(default)] // Older receipts do not have it.
        session_words = 0.3,
        /// The bonus for turns from a time that the query names.
        time = 0.4,
        /// The bonus for turns of the speaker that the query names.
        speaker = 0.3,
        /// The bonus for turns that the query quotes.
        quote = 0.2,
        /// The bonus for turns that state how things should be from now on.
        wish = 0.1,
        /// The bonus for turns that are evidence of an anchor that the query calls for.
        anchors = 0.1,
        /// The bonus for new turns; it decays by 0.1 a day, the tiering paper's rate.
        recency = 0.02,
        /// The bonus for new turns if the message depends on what came before it.
        #[serde(default)] // Older receipts do not have it.
        continuation = 0.6,
        /// The share of its score that a turn loses for each better turn of its session, if the query asks for many
        /// turns. A value above 1 counts as 1.
        #[serde(default)] // Older receipts do not have it.
        spread = 0.05,
    }
}

impl Weights {
    /// Sets the weight of this name. The value must be from 0 to 10, which is checked when the weights are used.
    ///
    /// Errors: `InvalidInput` if there is no such weight.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let Some(slot) = self.slot(name) else {
            let names = self.named().map(|(name, _)| name).join(", ");
            return Err(Error::invalid(format!("there is no such weight; the weights are {names}")));
        };
        *slot = value;
        Ok(())
    }
}

numbers! {
    /// The parts of a score; a part that does not contribute is 0.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(default)]
    #[non_exhaustive]
    pub struct Parts {
        /// How well the words match, from 0 to 1: 1 is the best match among the user's turns and memories.
        words,
        /// How close the meaning is, from 0 to 1: 1 is the closest of the user's turns and memories. In
        /// [`Profile::Paper`], the cosine itself.
        meaning,
        /// What the turns before and after lent, including the weight; for a memory, what related memories lent. A
        /// memory and the turns it rests on lend each other a quarter of their scores.
        neighbours,
        /// What the session lent, including the weight.
        session,
        /// 1 if the turn was said in a time that the query names or within the week after it, or speaks of something in
        /// that time, or if the query asks when and the turn names a time. The more the message depends on what came
        /// before it, the lower the value.
        time,
        /// 1 if the query names one of several speakers, and that speaker said the turn.
        speaker,
        /// 1 if the query has at least five words, and the turn has all of them.
        quote,
        /// 1 if the user states in the turn how things should be from now on.
        wish,
        /// How strongly the query calls for the best anchor that the turn is evidence of, from 0 to 1; 0 if below 0.3.
        /// In [`Profile::Paper`], the strength of the strongest anchor that the turn is evidence of, whatever the query.
        anchors,
        /// `e^(-0.1 * days)`, from 0 to 1; in [`Profile::Paper`], with the profile's lambda instead of 0.1.
        recency,
        /// 1 if the query names a time and nothing else, and the turn was said then or speaks of something then. It is
        /// added to the score.
        only_time,
        /// The share of the question's words that the turn or memory has, weighted by their rarity and by the field
        /// they are in, from 0 to 1. Part of the confidence, not of the score.
        coverage,
        /// How close the best piece of the turn or memory is to the question, from 0 to 1: the cosine by the built-in
        /// table, or 1.25 times the cosine by another model, because other models place unrelated texts farther apart.
        /// Part of the confidence, not of the score.
        cosine,
        /// 1 if the query is about the user, about somebody who speaks, or about what was said before. Part of the
        /// confidence, not of the score.
        personal,
        /// How far the message depends on what came before it, times `e^(-0.1 * days)`, from 0 to 1.
        continuation,
        /// How many turns of the same session are better, if the query asks for many turns.
        spread,
        /// The factor of a memory's score: the product of 0.5 if it is stale, 0.5 if it is archived, and 0.8 if it is
        /// unverified; in the profile `continuum`, the weight of its frequency. 0 if the item is not a memory.
        #[serde(skip_serializing_if = "is_zero")]
        memory,
    }
    pub fn named;
}

impl Parts {
    /// Describes the parts that counted in the score: `words 0.91, meaning 0.60`.
    pub fn explain(&self) -> String {
        let of_score =
            self.named().into_iter().filter(|(name, _)| !matches!(*name, "coverage" | "cosine" | "personal"));
        // A factor of 1 changes nothing.
        let counts = |(name, value): &(&str, f64)| *value >= 0.005 && (*name != "memory" || *value < 1.0);
        let counted = of_score.filter(counts);
        counted.map(|(name, value)| format!("{name} {value:.2}")).collect::<Vec<_>>().join(", ")
    }

    /// Describes the parts of the confidence: `coverage 0.80, cosine 0.61`.
    pub(crate) fn explain_confidence(&self) -> String {
        if self.only_time > 0.0 {
            return "its time alone, which is all that is asked for".to_owned();
        }
        let mut text = format!("coverage {:.2}, cosine {:.2}", self.coverage, self.cosine);
        for (is_so, name) in [(self.personal > 0.0, "personal"), (self.time > 0.0, "time")] {
            if is_so {
                text = text + ", " + name;
            }
        }
        text
    }

    /// Returns the confidence that the item answers the query, from 0 to 1:
    /// `1 / (1 + e^(-7 * (coverage + cosine + 0.2 * personal + 0.2 * time - 1.1)))`, but 0 if coverage and cosine are
    /// 0, and 1 if [`only_time`](Self::only_time) is above 0. It is comparable between queries and users, as far as
    /// their languages and models are alike.
    ///
    /// The numbers are fitted to people's questions about their own conversations, against questions about other people's
    /// conversations and about general knowledge (docs/recall.md).
    pub fn confidence(&self) -> f64 {
        const SLOPE: f64 = 7.0;
        const HALF: f64 = 1.1;
        const POINTED_AT: f64 = 0.2;
        if self.only_time > 0.0 {
            return 1.0;
        }
        if self.coverage + self.cosine == 0.0 {
            return 0.0;
        }
        let fit = self.coverage + self.cosine + POINTED_AT * (self.personal + self.time);
        rounded(1.0 / (1.0 + libm::exp(-SLOPE * (fit - HALF))))
    }

    /// Returns the factor by which the facts of a memory change its score; 1 if it is not a memory.
    fn memory_factor(&self) -> f64 {
        if self.memory > 0.0 { self.memory } else { 1.0 }
    }

    /// Computes the score from these parts, so that a receipt can be checked.
    pub fn score(&self, profile: &Profile) -> f64 {
        rounded(
            self.only_time
                + match (profile, profile.weights()) {
                    (_, Some(weights)) => {
                        let lent = weights.words * self.words
                            + weights.meaning * self.meaning
                            + self.neighbours
                            + self.session;
                        lent * (1.0 + weights.time * self.time)
                            * (1.0 + weights.speaker * self.speaker)
                            * (1.0 + weights.quote * self.quote)
                            * (1.0 + weights.wish * self.wish)
                            * (1.0 + weights.anchors * self.anchors)
                            * (1.0 + weights.recency * self.recency)
                            * (1.0 + weights.continuation * self.continuation)
                            * libm::pow((1.0 - weights.spread).max(0.0), self.spread)
                            * self.memory_factor()
                    }
                    (Profile::Recency, _) => self.recency,
                    _ => {
                        (0.5 * self.recency + 0.3 * self.meaning + 0.2 * self.anchors) * self.memory_factor()
                    }
                },
        )
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_zero(part: &f64) -> bool {
    *part == 0.0
}

/// Rounds a score to 1e-6, so that the last bits of a sum decide nothing.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}
