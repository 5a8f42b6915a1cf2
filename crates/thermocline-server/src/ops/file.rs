//! The file as a whole: counts, checks, copies, vectors.

use std::{
    path::{Component, Path},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermocline::{Diagnosis, EmbeddingStatus, Stats};
use tokio::time::Instant;

use crate::ops::{
    Operation, Result, Row,
    call::Call,
    page::Page,
    problem::{Code, Problem},
    row,
    sessions::Nothing,
    spec::{Again, Class, Effect, Route, Spec},
};

/// The maximum age of counts that are returned again. Counting reads all rows, so it is not done for each call.
const STATS_FRESH_FOR: Duration = Duration::from_secs(15);

/// Returns the operations on the file.
pub fn rows() -> Vec<Row> {
    vec![
        row::<FileStats>(),
        row::<Doctor>(),
        row::<Backup>(),
        row::<EmbedStatus>(),
        row::<EmbedRebuild>(),
        row::<EmbedDrop>(),
    ]
}

/// The counts as they were last read. Only one call at a time reads them; concurrent calls wait for it and use its result.
#[derive(Debug, Default)]
pub struct LastStats(Mutex<Option<(Instant, Stats)>>);

impl LastStats {
    /// Drops the counts, so that the next call reads them anew.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Counts, and their age.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CountedStats {
    /// How long ago the counts were read, in milliseconds: less than 15,000.
    pub age_ms: u64,
    /// How much is in the file, for all users together.
    pub stats: Stats,
}

/// Counts what is in the file.
#[derive(Debug)]
pub struct FileStats;

impl Operation for FileStats {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::inspects(
            "stats",
            "How much is in the file: counts only, for all users together, read at most every 15 seconds.",
            Route::get("/v1/stats"),
        )
    };
    type Request = Nothing;
    type Response = CountedStats;

    fn run(call: Call, _: Nothing) -> Result<CountedStats> {
        let mut last = call.service.stats.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, stats)) = &*last
            && at.elapsed() < STATS_FRESH_FOR
        {
            let age_ms = u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX);
            return Ok(CountedStats { age_ms, stats: stats.clone() });
        }
        let stats = call.memory().stats()?;
        *last = Some((Instant::now(), stats.clone()));
        Ok(CountedStats { age_ms: 0, stats })
    }
}

/// Checks the file.
#[derive(Debug)]
pub struct Doctor;

impl Operation for Doctor {
    const SPEC: Spec = Spec {
        class: Class::Long,
        ..Spec::administers(
            "doctor",
            "Check every page, row and text of the file; damaged indexes are queued to be rebuilt.",
            Route::post("/v1/doctor"),
        )
    };
    type Request = Nothing;
    type Response = Diagnosis;

    fn run(call: Call, _: Nothing) -> Result<Diagnosis> {
        Ok(call.memory().doctor()?)
    }
}

/// A backup to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// The backup's name in the backup folder: a plain file name that does not exist yet, for example `2026-11-25.db`.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
}

/// A backup that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BackedUp {
    /// The backup's name in the backup folder.
    pub name: String,
    /// The backup's size, in bytes.
    pub size_bytes: u64,
}

/// Copies the file into the backup folder.
#[derive(Debug)]
pub struct Backup;

impl Operation for Backup {
    const SPEC: Spec = Spec {
        effect: Effect::Adds,
        class: Class::Long,
        again: Again::Another,
        ..Spec::administers(
            "backup",
            "Write a complete copy of the file under a new name in the configured folder.",
            Route::post("/v1/backup"),
        )
    };
    type Request = BackupRequest;
    type Response = BackedUp;

    fn run(call: Call, request: BackupRequest) -> Result<BackedUp> {
        let folder = call.service.backup_folder.as_deref().ok_or_else(|| {
            Problem::new(Code::Unsupported, "no folder for backups is configured: set backup_folder")
        })?;
        if !is_plain(&request.name) {
            return Err(Problem::invalid(
                "name",
                "a backup's name must have 1 to 200 letters, digits, dots, hyphens and underscores, not \
                 begin with a dot or a hyphen, and not end with a dot, -wal, -shm or -journal",
            ));
        }
        let to = folder.join(&request.name);
        // A broken link is in the way too.
        if to.symlink_metadata().is_ok() {
            return Err(Problem::new(
                Code::Conflict,
                "a backup of this name already exists; a backup is never replaced",
            ));
        }
        let size_bytes = call.memory().backup(&to)?;
        Ok(BackedUp { name: request.name, size_bytes })
    }
}

/// Whether the name is a plain file name on every system, and no program takes it for an option.
fn is_plain(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let mut parts = Path::new(name).components();
    (1..=200).contains(&name.len())
        && !name.starts_with(['.', '-'])
        && ![".", "-wal", "-shm", "-journal"].iter().any(|end| name.ends_with(end)) // SQLite's own beside a file.
        && name.bytes().all(is_safe)
        && matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

/// Lists how far each user's turns are embedded, by model.
#[derive(Debug)]
pub struct EmbedStatus;

impl Operation for EmbedStatus {
    const SPEC: Spec = Spec::inspects(
        "embed_status",
        "How far each user's turns are embedded, by model.",
        Route::get("/v1/embeddings"),
    );
    type Request = Nothing;
    type Response = Page<EmbeddingStatus>;

    fn run(call: Call, _: Nothing) -> Result<Page<EmbeddingStatus>> {
        Ok(Page::whole(call.memory().embedding_status()?))
    }
}

/// The result of requesting a rebuild of vectors.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rebuilding {
    /// The number of users whose vectors are queued to be rebuilt.
    pub users: u64,
}

/// Queues a rebuild of the vectors of the configured embedders or, if there are none, of the built-in one.
#[derive(Debug)]
pub struct EmbedRebuild;

impl Operation for EmbedRebuild {
    const SPEC: Spec = Spec::administers(
        "embed_rebuild",
        "Queue a rebuild of all vectors of the configured embedders, or else of the built-in one; words find turns meanwhile.",
        Route::post("/v1/embeddings"),
    );
    type Request = Nothing;
    type Response = Rebuilding;

    fn run(call: Call, _: Nothing) -> Result<Rebuilding> {
        Ok(Rebuilding { users: call.memory().rebuild_vectors()? })
    }
}

/// Drops the vectors of all models except the configured ones and the built-in one.
#[derive(Debug)]
pub struct EmbedDrop;

impl Operation for EmbedDrop {
    const SPEC: Spec = Spec {
        effect: Effect::Destroys,
        class: Class::Long,
        ..Spec::administers(
            "embed_drop",
            "Remove the vectors of all models except the configured ones and the built-in one.",
            Route::delete("/v1/embeddings"),
        )
    };
    type Request = Nothing;
    type Response = Page<EmbeddingStatus>;

    fn run(call: Call, _: Nothing) -> Result<Page<EmbeddingStatus>> {
        call.memory().drop_other_vectors()?;
        Ok(Page::whole(call.memory().embedding_status()?))
    }
}
