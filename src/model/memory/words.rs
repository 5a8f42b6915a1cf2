//! The words that classify a memory (its kind, its status, how settled it is, how fast the world outdates it, and others),
//! and the outcome of a use.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// The kind of a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum MemoryKind {
        /// Something that solves a problem.
        Solution = "solution",
        /// A fix in code.
        Fix = "fix",
        /// A choice that somebody made.
        Decision = "decision",
        /// A configuration that works.
        Configuration = "configuration",
        /// Something that causes trouble.
        Problem = "problem",
        /// A way to do something, in prose.
        Workflow = "workflow",
        /// A piece of code to reuse.
        CodePattern = "code_pattern",
        /// An error condition.
        Error = "error",
        /// Anything else.
        General = "general",
        /// A way to do something, as steps: see [`Memory::procedure`](crate::Memory::procedure).
        Procedure = "procedure",
        /// A conclusion from several memories.
        Insight = "insight",
    }
    pub fn from_word;
}

impl MemoryKind {
    /// Every kind.
    pub const ALL: &[Self] = &Self::EVERY;
}

word_enum! {
    /// Whether a memory holds and, if not, why.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum MemoryStatus {
        /// The memory holds.
        #[default]
        Active = "active",
        /// A rule archived the memory, it waits for a person, or another memory has its place. By default it is in no list.
        /// Recall still finds it, usually with half the score, but by default not in the profile `continuum`.
        Archived = "archived",
        /// Another memory superseded this one.
        Superseded = "superseded",
        /// The memory is hidden, for example by [`Memories::forget`](crate::Memories::forget). It is kept, and saving the
        /// same again, or undoing the operation that hid it, can bring it back.
        Forgotten = "forgotten",
        /// A quarantine of the memory or of its source hides it.
        Quarantined = "quarantined",
    }
    pub fn from_word;
}

word_enum! {
    /// How settled a memory is. A memory consolidates one step at a time, from [`Frequency::High`] to
    /// [`Frequency::UltraLow`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Frequency {
        /// The memory was just learned. If it does not settle further, it is archived after 30 days, or earlier if its
        /// decay score gets low. It stays if it is pinned, was saved as the user's words, or passed a check recently.
        High = "high",
        /// The memory has helped, or somebody saved it.
        Mid = "mid",
        /// The memory has helped repeatedly, in several sessions, or somebody stated that it has settled this far.
        Low = "low",
        /// The memory stays forever, because a person approved that, or because somebody stated this frequency for a
        /// memory that is trusted like the user's words.
        UltraLow = "ultra_low",
    }
    pub fn from_word;
}

word_enum! {
    /// How fast the world outdates what a memory says.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Volatility {
        /// The memory holds for months or years.
        #[default]
        Low = "low",
        /// The memory holds for days or weeks.
        Medium = "medium",
        /// The memory holds for hours.
        High = "high",
        /// The memory holds for an hour at most, and never settles.
        Ephemeral = "ephemeral",
    }
    pub fn from_word;
}

word_enum! {
    /// What sort of information a memory contains, which determines the volatility if none is set.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum InformationType {
        /// Information that hardly ever changes: architecture, principles.
        #[default]
        Static = "static",
        /// Information that changes now and then: configurations.
        SemiStatic = "semi_static",
        /// Information that changes often: the state of code, of running systems.
        Dynamic = "dynamic",
        /// Information that is soon outdated: the weather.
        Ephemeral = "ephemeral",
    }
    pub fn from_word;
}

impl InformationType {
    /// Returns the volatility of information of this type.
    pub fn default_volatility(self) -> Volatility {
        match self {
            Self::Static => Volatility::Low,
            Self::SemiStatic => Volatility::Medium,
            Self::Dynamic => Volatility::High,
            Self::Ephemeral => Volatility::Ephemeral,
        }
    }
}

word_enum! {
    /// How a memory was learned.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum LearningSource {
        /// The memory was learned from what was said or done.
        Execution = "execution",
        /// The memory was derived from other memories.
        Consolidation = "consolidation",
        /// Somebody saved the memory.
        Manual = "manual",
    }
    pub fn from_word;
}

word_enum! {
    /// The type of task a memory is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum TaskType {
        /// Finding something out.
        Research = "research",
        /// Building something.
        Development = "development",
        /// Inventing something.
        Creative = "creative",
        /// Understanding something.
        Analysis = "analysis",
    }
    pub fn from_word;
}

word_enum! {
    /// The outcome of a use of a memory, or of the task that the memory comes from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Outcome {
        /// The use or the task succeeded.
        Success = "success",
        /// The use or the task failed.
        Failure = "failure",
        /// A choice was made.
        Decision = "decision",
        /// Something was observed.
        Observation = "observation",
        /// The user corrected what was known. For a use, this means that the memory was wrong.
        Correction = "correction",
    }
    pub fn from_word;
}

impl Outcome {
    /// Returns whether the memory helped; `None` if the outcome does not say whether it helped. Such a use counts only as
    /// an access.
    pub fn helped(self) -> Option<bool> {
        match self {
            Self::Success => Some(true),
            Self::Failure | Self::Correction => Some(false),
            Self::Decision | Self::Observation => None,
        }
    }
}

word_enum! {
    /// Whether a memory is shown to a person again after a time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Resurfacing {
        /// The memory is shown when it is due and matters enough.
        #[default]
        On = "on",
        /// Somebody switched resurfacing off.
        Off = "off",
        /// A person dismissed the memory three times.
        Dismissed = "dismissed",
    }
    pub fn from_word;
}
