//! The words that classify a memory: its kind, its status, how settled it is, how fast the world outdates it.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// The kind of a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum MemoryKind {
        /// What solves a problem.
        Solution = "solution",
        /// A fix in code.
        Fix = "fix",
        /// A choice that was made.
        Decision = "decision",
        /// A configuration that works.
        Configuration = "configuration",
        /// Something that causes trouble.
        Problem = "problem",
        /// How something is done, in prose.
        Workflow = "workflow",
        /// A piece of code to reuse.
        CodePattern = "code_pattern",
        /// An error condition.
        Error = "error",
        /// Anything else.
        General = "general",
        /// How something is done, as steps: see [`Memory::procedure`](crate::Memory::procedure).
        Procedure = "procedure",
        /// What follows from several memories.
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
        /// It holds.
        #[default]
        Active = "active",
        /// A rule or a person archived it: by default it is in no list, but it is still recalled, at half its weight.
        Archived = "archived",
        /// Another memory superseded it.
        Superseded = "superseded",
        /// A person took it back. It is kept, and undo brings it back.
        Forgotten = "forgotten",
        /// It is hidden with the source it came from.
        Quarantined = "quarantined",
    }
    pub fn from_word;
}

word_enum! {
    /// How settled a memory is. It consolidates, one step at a time, from [`Frequency::High`] to [`Frequency::UltraLow`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Frequency {
        /// It was just learned: it is archived after 30 days, unless it helps before then.
        High = "high",
        /// It has helped, or somebody saved it.
        Mid = "mid",
        /// It has helped repeatedly, in several sessions.
        Low = "low",
        /// A person approved that it should stay forever.
        UltraLow = "ultra_low",
    }
    pub fn from_word;
}

word_enum! {
    /// How fast the world outdates what a memory says.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Volatility {
        /// It holds for months or years.
        #[default]
        Low = "low",
        /// It holds for days or weeks.
        Medium = "medium",
        /// It holds for hours.
        High = "high",
        /// It holds for minutes. Such a memory never settles.
        Ephemeral = "ephemeral",
    }
    pub fn from_word;
}

word_enum! {
    /// What sort of information a memory has, which determines its volatility if none is set.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum InformationType {
        /// It hardly ever changes: architecture, principles.
        #[default]
        Static = "static",
        /// It changes now and then: configurations.
        SemiStatic = "semi_static",
        /// It changes often: the state of code, of running systems.
        Dynamic = "dynamic",
        /// It is soon outdated: the weather.
        Ephemeral = "ephemeral",
    }
    pub fn from_word;
}

impl InformationType {
    /// How fast information of this type is outdated.
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
        /// From what was said or done.
        Execution = "execution",
        /// From other memories.
        Consolidation = "consolidation",
        /// Somebody saved it.
        Manual = "manual",
    }
    pub fn from_word;
}

word_enum! {
    /// The type of task a memory is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum TaskType {
        /// To find something out.
        Research = "research",
        /// To build something.
        Development = "development",
        /// To invent something.
        Creative = "creative",
        /// To understand something.
        Analysis = "analysis",
    }
    pub fn from_word;
}

word_enum! {
    /// How something ended: a use of a memory, or the work that a memory came from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Outcome {
        /// It worked.
        Success = "success",
        /// It did not work.
        Failure = "failure",
        /// A choice was made.
        Decision = "decision",
        /// Something was observed.
        Observation = "observation",
        /// The user corrected what was known. For a use: the memory was wrong.
        Correction = "correction",
    }
    pub fn from_word;
}

impl Outcome {
    /// Whether it says that the memory helped or did not; `None` if it says neither, and counts as an access.
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
        /// It is shown when it is due and matters enough.
        #[default]
        On = "on",
        /// A person switched it off.
        Off = "off",
        /// It was dismissed three times.
        Dismissed = "dismissed",
    }
    pub fn from_word;
}
