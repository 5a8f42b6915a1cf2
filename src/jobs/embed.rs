//! Computes the vectors that one user's units lack, batch by batch: those of the built-in embedder, then those of each
//! configured one.

use std::{sync::Arc, time::Duration};

use crate::{
    clock::Deadline,
    cooldown::{Cooldown, until_configured},
    embed::{self, BuiltIn, Embedder, EmbeddingPurpose, EmbeddingSpace, quantize::Vector},
    error::{Error, ErrorKind, Result},
    event::ProviderRole,
    index::BLOCK_UNITS,
    jobs::{
        job::{Job, JobEnd, now},
        provider::Provider,
    },
    model::{place::Seq, stored_time::StoredTime},
    store::{
        Store,
        acts::vectors::Embedded,
        rows::vectors::{Space, Stored},
        scope::Scope,
        slice_error::{SliceError, SliceResult},
        snapshot::{Snapshot, SnapshotOriginals},
    },
};

/// The approximate number of texts per batch. It bounds what a slow embedder is asked for before its answers are stored.
const BATCH_TEXTS: usize = 64;
/// How long a snapshot is held, apart from the last text that is read from it. A batch of the longest texts takes seconds.
const SNAPSHOT_TIME: Duration = Duration::from_millis(20);
/// The maximum number of units per batch.
const BATCH_UNITS: u32 = BLOCK_UNITS;
/// How many times a text that an embedder refuses is tried, including later runs.
const MAX_TRIES: u32 = 3;

/// The embedder that computes the vectors of a space.
enum Maker<'a> {
    BuiltIn(BuiltIn),
    Own(&'a Arc<dyn Embedder>, Provider<'a>),
}

impl<'a> Maker<'a> {
    fn own(store: &'a Store, embedder: &'a Arc<dyn Embedder>, cooldown: &'a Cooldown) -> Self {
        let config = store.config();
        let limit = config.embed_timeout;
        let provider = Provider {
            who: "it",
            role: ProviderRole::Embedder,
            name: embedder.space().model,
            on_event: &config.on_event,
            limit,
            cooldown,
            clock: &*config.clock,
        };
        Self::Own(embedder, provider)
    }

    fn space(&self) -> EmbeddingSpace {
        match self {
            Self::BuiltIn(built_in) => built_in.space(),
            Self::Own(embedder, _) => embedder.space(),
        }
    }

    /// Returns one vector for each text.
    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let (embedder, provider) = match self {
            Self::BuiltIn(built_in) => return built_in.embed(texts, EmbeddingPurpose::Document).await,
            Self::Own(..) if texts.is_empty() => return Ok(Vec::new()),
            Self::Own(embedder, provider) => (embedder, provider),
        };
        let (asked, texts) = (Arc::clone(embedder), texts.to_vec());
        let asking = move || async move {
            let vectors = asked.embed(&texts, EmbeddingPurpose::Document).await?;
            embed::checked(vectors, &asked.space(), texts.len())
        };
        provider.ask(asking).await
    }

    /// Returns, for each text, its vector or the error with which the embedder refuses it. If the embedder refuses all texts
    /// together, asks for each by itself.
    async fn vectors_or_refusals(&self, texts: &[String]) -> Result<Vec<Result<Vec<f32>>>> {
        match self.vectors(texts).await {
            Ok(vectors) => return Ok(vectors.into_iter().map(Ok).collect()),
            Err(error) if error.kind() != ErrorKind::ProviderRefused => return Err(error),
            Err(_) => {}
        }
        self.check_key().await?;
        let mut answers = Vec::with_capacity(texts.len());
        for text in texts {
            answers.push(match self.vectors(std::slice::from_ref(text)).await {
                Ok(vectors) => Ok(vectors.into_iter().flatten().collect()),
                Err(error) if error.kind() == ErrorKind::ProviderRefused => Err(error),
                Err(error) => return Err(error),
            });
        }
        Ok(answers)
    }

    /// Asks for the vector of a harmless text. If the embedder refuses even that, the cause is not a text but the
    /// configuration, such as a wrong key.
    async fn check_key(&self) -> Result<()> {
        let refused = match (self.vectors(&["A text.".to_owned()]).await, self) {
            (Ok(_), _) => return Ok(()),
            (Err(error), Self::Own(_, provider)) if error.kind() == ErrorKind::ProviderRefused => {
                let error = Error::provider_misconfigured(error.to_string());
                provider.rest(&error);
                error
            }
            (Err(error), _) => error,
        };
        Err(refused)
    }
}

/// Embeds the user's units in every space until none is left. The built-in embedder comes first, because it never fails.
pub(super) async fn embed(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let (store, scope) = (job.store(), job.scope);
    let own = store.config().embedders.iter().zip(&store.cooldowns().embedders);
    let mut makers = vec![Maker::BuiltIn(BuiltIn::default())];
    makers.extend(own.map(|(embedder, cooldown)| Maker::own(store, embedder, cooldown)));
    loop {
        let wanted: Vec<EmbeddingSpace> = makers.iter().map(Maker::space).collect();
        job.slice(move |tx| tx.expect_embedding(&scope, &wanted)).await?;
        let (mut trouble, mut spaces) = (None, Vec::new());
        for maker in &makers {
            match in_space(job, maker, true).await {
                Ok(Some(space)) => spaces.push(space),
                Ok(None) => return Ok(JobEnd::Stopped),
                Err(SliceError::Lost) => return Err(SliceError::Lost),
                Err(error) => {
                    let error = Error::from(error);
                    let why = Error::new(error.kind(), format!("embedder {}: {error}", maker.space().model));
                    trouble = Some(why);
                }
            }
        }
        match trouble {
            Some(why) if why.is_misconfiguration() => {
                return Ok(JobEnd::Waits(StoredTime::clamped(until_configured(*now(store))), why));
            }
            Some(why) => return Ok(JobEnd::Later(why)),
            None => {}
        }
        if job.slice(move |tx| tx.finish_embedding(&scope, &spaces)).await? {
            return Ok(JobEnd::Done);
        }
    }
}

/// Computes the built-in embedder's missing vectors as part of another job, so that recalls of the next conversation do not
/// have to.
pub(super) async fn catch_up(job: &Job<'_, '_>) -> SliceResult<()> {
    in_space(job, &Maker::BuiltIn(BuiltIn::default()), false).await.map(drop)
}

/// Embeds the units that lack vectors in one space, and returns the space. `None` if the run is told to stop.
///
/// `counts` says whether these units count as the job's progress. Units of gaps do not, because they were counted before.
async fn in_space(job: &Job<'_, '_>, maker: &Maker<'_>, counts: bool) -> SliceResult<Option<Space>> {
    let wanted = maker.space();
    wanted.check()?;
    let (store, scope) = (job.store(), job.scope);
    let space = job.slice(move |tx| tx.open_space(&wanted)).await?;
    loop {
        if job.run.is_stopped() {
            return Ok(None);
        }
        let Some(batch) = next_batch(store, &scope, space)? else { break };
        let units = batch.until - batch.after;
        match write(job, maker, space, EmbedBatch { counts, ..batch }).await {
            Ok(true) if counts => job.advance(units as usize),
            Ok(true) | Err(SliceError::Changed) => {} // Units that have changed are read again.
            Ok(false) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let gaps = store.snapshot()?.vector_gaps(&scope, space, MAX_TRIES)?;
    for &seq in &gaps {
        if job.run.is_stopped() {
            return Ok(None);
        }
        let batch = gap(&store.snapshot()?, &scope, seq)?;
        match write(job, maker, space, batch).await {
            Ok(true) | Err(SliceError::Changed) => {} // A unit that has changed remains a gap.
            Ok(false) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    if !gaps.is_empty() {
        // Readers have cached blocks without the new vectors.
        job.slice(move |tx| tx.void_cached_vectors(&scope)).await?;
    }
    Ok(Some(space))
}

/// Consecutive units, and the texts to embed for them.
struct EmbedBatch {
    epoch: i64,
    after: u32,
    until: u32,
    /// The unit and piece of each text.
    places: Vec<(u32, u8)>,
    texts: Vec<String>,
    /// Whether the batch is one unit that is recorded as a gap.
    is_gap: bool,
    /// Whether these units count as the job's progress.
    counts: bool,
}

/// Reads the next units without vectors. `None` if there are none. Reads long texts from several snapshots: what is erased or
/// replaced meanwhile voids the batch.
fn next_batch(store: &Store, scope: &Scope, space: Space) -> Result<Option<EmbedBatch>> {
    let snapshot = store.snapshot()?;
    let (extent, after) = (snapshot.extent(scope)?, snapshot.embedded_seq(scope, space)?.0);
    drop(snapshot);
    let (mut pieces, mut until) = (Vec::new(), after);
    let is_whole = |until: u32, texts: usize| {
        until >= extent.last_seq.0 || until - after >= BATCH_UNITS || texts >= BATCH_TEXTS
    };
    while !is_whole(until, pieces.len()) {
        let (snapshot, let_go) = (store.snapshot()?, Deadline::after(SNAPSHOT_TIME));
        let mut originals = snapshot.originals(scope);
        while !is_whole(until, pieces.len()) {
            until += 1;
            pieces.extend(pieces_of(&snapshot, scope, &mut originals, until)?);
            if let_go.has_passed() {
                break;
            }
        }
    }
    let (places, texts) = pieces.into_iter().unzip();
    let batch = EmbedBatch { epoch: extent.epoch, after, until, places, texts, is_gap: false, counts: false };
    Ok((until > after).then_some(batch))
}

/// Reads a unit that is recorded as a gap.
fn gap(snapshot: &Snapshot<'_>, scope: &Scope, seq: u32) -> Result<EmbedBatch> {
    let epoch = snapshot.extent(scope)?.epoch;
    let pieces = pieces_of(snapshot, scope, &mut snapshot.originals(scope), seq)?;
    let (places, texts) = pieces.into_iter().unzip();
    Ok(EmbedBatch { epoch, after: seq - 1, until: seq, places, texts, is_gap: true, counts: false })
}

fn pieces_of(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    originals: &mut SnapshotOriginals<'_>,
    seq: u32,
) -> Result<Vec<((u32, u8), String)>> {
    let Some(unit) = snapshot.unit(scope, Seq(seq))? else { return Ok(Vec::new()) };
    let pieces = originals.pieces_of((Seq(seq), unit.owner))?;
    Ok(pieces.into_iter().map(|piece| ((seq, piece.number), piece.text)).collect())
}

/// Embeds a batch and writes its vectors. Records a gap for a text that the embedder refuses although it accepts others.
/// Returns `false` if the run is told to stop, and writes nothing then.
async fn write(job: &Job<'_, '_>, maker: &Maker<'_>, space: Space, batch: EmbedBatch) -> SliceResult<bool> {
    let EmbedBatch { epoch, after, until, places, texts, is_gap, counts } = batch;
    let Some(answers) = job.holding(maker.vectors_or_refusals(&texts)).await? else { return Ok(false) };
    let (mut vectors, mut refused) = (Vec::new(), Vec::new());
    for ((seq, piece), answer) in places.into_iter().zip(answers?) {
        match answer {
            Ok(vector) => {
                vectors.extend(Vector::of(&vector).map(|vector| Stored {
                    seq,
                    piece,
                    bytes: vector.bytes(),
                }));
            }
            Err(why) => refused.push((seq, why.to_string())),
        }
    }
    let (scope, found) = (job.scope, Embedded { epoch, after, until, vectors, refused, is_gap, counts });
    job.slice(move |tx| tx.add_vectors(&scope, space, &found)).await?;
    Ok(true)
}
