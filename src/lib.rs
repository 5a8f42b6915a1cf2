//! Hot, warm and cold memory for conversations, in one SQLite file.
//!
//! A chat backend asks for a context that fits a token budget, hands it to its LLM, and records the turn:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> thermocline::Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! use thermocline::{ContextOptions, NewTurn, Thermocline};
//!
//! let memory = Thermocline::open(folder.path().join("memory.db")).await?;
//! let session = memory.user("alex").await?.session().await?;
//!
//! let message = "I moved to Lisbon last week.";
//! let context = session.context(message, ContextOptions::default().budget_tokens(2_000)).await?;
//! let reply = ask_llm(&context.text, message);
//!
//! // Returns once the turn is on the disk. The id makes a retry after a crash harmless.
//! let recorded = session.record(NewTurn::new(message, reply).caller_id("msg-1")).await?;
//! assert_eq!(recorded.turn_number, 1);
//!
//! let context = session.context("How do I get there?", ContextOptions::default()).await?;
//! assert!(context.text.contains("User: I moved to Lisbon last week."));
//! assert!(context.tokens <= context.budget_tokens);
//! # memory.close().await
//! # }
//! # fn ask_llm(_context: &str, _message: &str) -> String { "How do you like it?".into() }
//! ```
//!
//! - A **turn** is one user message and its reply. [`Session::record`] returns once the turn is durable.
//! - The last few turns of an open [`Session`] are **hot** ([`Session::hot`]); older ones are **warm**
//!   ([`Session::warm`], [`Session::search`]). [`Session::transitions`] lists the moves between tiers.
//! - After a session ends, a job compresses it, on a thread of the library or when [`Thermocline::run_jobs`] is called.
//!   Its turns become **cold**, either verbatim or as a [`Summary`] with the original in an archive (or deleted, with
//!   [`Originals::Delete`]), and what they say about who people are becomes [`Anchor`]s. The job asks a [`Summarizer`],
//!   such as [`LlmSummarizer`], if one is configured; without one, or if it fails, the built-in summarizer does the rest.
//! - [`Memories`] hold what is known in addition to what was said: [`User::memories`].
//! - [`User::erase`] and [`Session::erase`] remove data from the bytes of the file; [`User::export`] and
//!   [`Thermocline::import`] copy a user's data to another file.
//! - [`Session::context`] packs what is relevant into a token budget, which it never exceeds.
//! - A [`User`] is a scope: only its handle, and the handles it returns, give access to what that user's memory contains.
//! - [`blocking`] has the same handles for callers without an async runtime.
//!
//! Thermocline is not a vector database, an agent framework or an LLM. It needs no LLM, no key, no network and no
//! server.

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Runs the Rust examples of `docs/stories.md` as doc-tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/stories.md")]
mod stories {}

mod clock;
mod compress;
mod config;
mod cooldown;
mod embed;
#[cfg(feature = "llm")]
mod endpoint;
mod english;
mod error;
mod event;
mod faults;
mod handles;
mod index;
mod jobs;
#[cfg(feature = "local")]
mod local;
mod memory;
mod model;
mod own_thread;
mod planner;
mod recall;
mod rerank;
mod sensors;
mod store;
mod text;
mod tier;
mod times;
#[cfg(feature = "files")]
mod vault;

#[cfg(feature = "llm")]
pub use crate::compress::digest::OpenAiCompatible;
#[cfg(feature = "llm")]
pub use crate::embed::OpenAiEmbedder;
#[cfg(feature = "files")]
pub use crate::handles::Vault;
#[cfg(feature = "local")]
pub use crate::local::{LocalEmbedder, LocalReranker};
#[cfg(feature = "files")]
pub use crate::model::vault::{
    FileFormat, ImportedFiles, Layout, NewerFiles, RefusedFile, VaultOptions, VaultReport,
};
#[cfg(feature = "llm")]
pub use crate::rerank::HttpReranker;
#[cfg(feature = "files")]
pub use crate::sensors::FsSensor;
#[cfg(feature = "llm")]
pub use crate::sensors::HttpSensor;
// Re-exported because times and ids in the public API have their types.
pub use chrono;
pub use uuid;

pub use crate::{
    clock::{Clock, ManualClock, SystemClock},
    compress::{
        Extractive, Proposal, Proposing, Summarizer, Summarizing, Verdict,
        digest::{ChatModel, ChatPrompt, Completing, LlmSummarizer},
    },
    config::{Config, Durability, Extract, Originals, Shares},
    embed::{BuiltIn, Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace},
    error::{Error, ErrorKind, Result},
    event::{Event, JobRef, OnEvent, ProviderRole},
    faults::{Faults, Moment},
    handles::{Memories, Session, Thermocline, User, blocking},
    jobs::{JobProgress, JobsReport, RunJobs},
    model::{
        anchor::{Anchor, AnchorStated, Attribute, Cardinality, Evidence, FoundAnchor, Stance},
        change::{Change, ChangeOp, Undone},
        chat::{ChatMessage, ChatRole},
        critical::CriticalRule,
        edge::{Direction, Edge, EdgeStatus, EdgeType, Neighbour, NewEdge},
        episode::{Episode, EpisodeFilter, EpisodeRole, NewNote, Noted, Use},
        filter::Filter,
        history::PastTurn,
        ids::{
            AnchorId, EdgeId, EpisodeId, GroupId, MemoryId, ReceiptId, ReviewId, SessionId, SnapshotId,
            SummaryId, TurnId, UserId,
        },
        job::{JobInfo, JobKind, JobState},
        memory::{
            core::{Core, CoreOptions},
            due::Due,
            edit::Edit,
            filter::{MemoryFilter, Of},
            forgotten::Forgotten,
            known::Memory,
            merged::Merged,
            new::NewMemory,
            procedure::Procedure,
            quarantined::{QuarantineSource, Quarantined},
            recalled::{MemoryFlags, RecalledMemory, SourceTurn},
            reflected::{ProposedMerge, Reflected},
            saved::{SaveOutcome, Saved},
            session_state::SessionState,
            source::{MemorySource, SourceName},
            standing::{Band, StaleReason, Standing},
            state::MemoryState,
            tended::{TendAction, TendCounts, TendMove, TendOptions, Tended},
            term::TermCount,
            trust::Trust,
            words::{
                Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, Outcome, Resurfacing,
                TaskType, Volatility,
            },
        },
        profile::{Parts, Profile, Weights},
        receipt::{
            ItemKind, ItemOutcome, Newer, PackedAs, Planned, Receipt, ReceiptItem, SameSource, Understood,
        },
        receipt_texts::{ItemText, ReceiptWithTexts},
        review::{Decided, Decision, Review, ReviewFilter, ReviewKind},
        sensor::{
            CheckResult, CheckVerdict, Expect, MemoryCheck, MemorySensor, NewSensor, SeenHash, ToCheck,
            UnknownReason,
        },
        session::{EndReason, SessionInfo},
        summary::{Original, Summary},
        tier::{MemoryTier, MoveReason, Transition},
        turn::{
            NewTurn, Origin, RecordOutcome, Recorded, ReplacedTurn, Reply, Said, TokenCounts, Turn, TurnState,
        },
        user::UserInfo,
    },
    recall::{
        context::{Context, ContextItem},
        context_options::ContextOptions,
        pack::Section,
        recall_options::RecallOptions,
        recalled::{Recall, Recalled, RecalledItem},
        search::Found,
    },
    rerank::{Reranker, Reranking},
    sensors::{CommandSensor, HostSensor, NamedChecks, Sensor},
    store::{
        acts::erased::Erased,
        checks::{
            doctor::{Check, Diagnosis},
            health::Health,
            stats::{
                ColdStats, MemoryStats, ReachedTiers, RecallStats, RuleStats, Stats, SummarizerStats,
                TierStats, UseCount,
            },
        },
        file::{
            paper::{PaperFile, PaperTurn, PaperTurns},
            put_back::{BackupFile, ReplacedFile, RestoredFile},
        },
        rows::embedding::EmbeddingStatus,
        scope::UserKey,
        transfer::Transferred,
    },
    text::{render::quoted, tokens::Tokenizer},
    tier::{
        hot::{Evicted, HotLimits, HotTier},
        warm::WarmTier,
    },
};
