//! Makes the vectors that one user's units lack, in every space that is configured, batch by batch.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crate::{
    embed::{self, BuiltIn, Embedder, EmbeddingSpace, quantize::Vector},
    error::{Error, ErrorKind, Result},
    index::BLOCK_UNITS,
    jobs::{Ended, Run, is_lost},
    store::{
        rows::{
            jobs::{self, Lease},
            originals, turns, units, users,
            vectors::{self, Space, Stored},
        },
        scope::Scope,
        sql::Sql,
    },
};

/// Texts that are embedded at once, about: bounds what a slow embedder is asked before its answers are kept.
const BATCH_TEXTS: usize = 64;
/// Units of one batch at most.
const BATCH_UNITS: u32 = BLOCK_UNITS;
/// A text that an embedder refuses is tried so often, in later runs too.
const MAX_TRIES: u32 = 3;
/// How long an embedder may take for a batch.
const BATCH_TIMEOUT: Duration = Duration::from_mins(10);

/// Embeds until nothing is left. The built-in embedder comes first: it never fails.
pub(super) async fn embed(run: &mut Run<'_>, lease: &Lease) -> Result<Ended> {
    let Some(scope) = lease.scope else {
        let lease = lease.clone();
        run.slice(move |tx| jobs::finish(tx.sql, &lease)).await?;
        return Ok(Ended::Done);
    };
    let built_in = BuiltIn::default();
    let embedders = run.store.config().embedders.clone();
    loop {
        expect(run, scope, lease, &embedders).await?;
        let (mut trouble, mut spaces) = (None, Vec::new());
        for embedder in std::iter::once(&built_in as &dyn Embedder).chain(embedders.iter().map(AsRef::as_ref))
        {
            match in_space(run, scope, (lease, true), embedder).await {
                Ok(Some(space)) => spaces.push(space),
                Ok(None) => return Ok(Ended::Stopped),
                Err(error) if is_lost(&error) => return Err(error),
                Err(error) => trouble = Some(format!("embedder {}: {error}", embedder.space().model)),
            }
        }
        if let Some(why) = trouble {
            return Ok(Ended::Later(why));
        }
        if finish(run, scope, lease, spaces).await? {
            return Ok(Ended::Done);
        }
    }
}

/// Notes how many units are to be embedded, one counting for each model.
async fn expect(run: &Run<'_>, scope: Scope, lease: &Lease, embedders: &[Arc<dyn Embedder>]) -> Result<()> {
    let mut wanted: Vec<EmbeddingSpace> = embedders.iter().map(|embedder| embedder.space()).collect();
    wanted.push(BuiltIn::default().space());
    let lease = lease.clone();
    run.slice(move |tx| {
        let (mut units, last_seq) = (0, units::extent(tx.sql, &scope)?.last_seq);
        for wanted in &wanted {
            let space = vectors::space(tx.sql, wanted)?;
            let embedded_seq = space.map_or(Ok(0), |space| vectors::embedded_seq(tx.sql, &scope, space))?;
            units += last_seq.saturating_sub(embedded_seq);
        }
        jobs::expect(tx.sql, &lease, units)
    })
    .await
}

/// Makes what the built-in embedder has not made yet, as part of another job: what a talk was about is asked for in the next
/// one, and recall need not make it then.
pub(super) async fn catch_up(run: &mut Run<'_>, scope: Scope, lease: &Lease) -> Result<()> {
    in_space(run, scope, (lease, false), &BuiltIn::default()).await.map(drop)
}

/// Ends the job, unless a unit came in since: who recorded that saw the job at work, and queued none.
async fn finish(run: &Run<'_>, scope: Scope, lease: &Lease, spaces: Vec<Space>) -> Result<bool> {
    let lease = lease.clone();
    run.slice(move |tx| {
        let last_seq = units::extent(tx.sql, &scope)?.last_seq;
        for space in spaces {
            let is_behind = vectors::embedded_seq(tx.sql, &scope, space)? < last_seq;
            // A gap that nobody has tried came in since, too: a summary in the place of a deleted turn.
            if is_behind || !vectors::gaps(tx.sql, &scope, space, 1)?.is_empty() {
                return Ok(false);
            }
        }
        jobs::finish(tx.sql, &lease)?;
        Ok(true)
    })
    .await
}

/// Embeds what one space lacks, and returns it. Nothing: the run was told to stop. `counts`: these units are what the
/// job is there for, and its progress; those of gaps have counted before.
async fn in_space(
    run: &mut Run<'_>,
    scope: Scope,
    (lease, counts): (&Lease, bool),
    embedder: &dyn Embedder,
) -> Result<Option<Space>> {
    let wanted = embedder.space();
    wanted.check()?;
    let held = lease.clone();
    let space = run
        .slice(move |tx| {
            jobs::hold(tx, &held)?;
            vectors::find_or_add_space(tx.sql, &wanted)
        })
        .await?;
    loop {
        if run.is_stopped() {
            return Ok(None);
        }
        let Some(batch) = next_batch(run, &scope, space)? else { break };
        let units = batch.until - batch.after;
        if !write(run, scope, (lease, counts), (embedder, space), batch).await? {
            return Ok(None);
        }
        if counts {
            run.advance(units as usize);
        }
    }
    let gaps = run.store.read(|conn| vectors::gaps(conn, &scope, space, MAX_TRIES))?;
    for &seq in &gaps {
        if run.is_stopped() {
            return Ok(None);
        }
        let batch = run.store.read(|conn| {
            let epoch = units::extent(conn, &scope)?.epoch;
            let pieces = pieces_of(conn, &scope, &mut originals::Reader::new(conn, &scope), seq)?;
            let (places, texts) = pieces.into_iter().unzip();
            Ok(Batch { epoch, after: seq - 1, until: seq, places, texts, is_gap: true })
        })?;
        if !write(run, scope, (lease, false), (embedder, space), batch).await? {
            return Ok(None);
        }
    }
    if !gaps.is_empty() {
        // Who has read the blocks before has them without what is new in them.
        run.slice(move |tx| users::raise_epoch(tx.sql, &scope)).await?;
    }
    Ok(Some(space))
}

/// Some neighbouring units, and their texts.
struct Batch {
    epoch: i64,
    after: u32,
    until: u32,
    /// Unit and piece of each text.
    places: Vec<(u32, u8)>,
    texts: Vec<String>,
    /// The unit was refused before.
    is_gap: bool,
}

/// The next units without vectors.
fn next_batch(run: &Run<'_>, scope: &Scope, space: Space) -> Result<Option<Batch>> {
    run.store.read(|conn| {
        let extent = units::extent(conn, scope)?;
        let after = vectors::embedded_seq(conn, scope, space)?;
        let mut originals = originals::Reader::new(conn, scope);
        let (mut pieces, mut until) = (Vec::new(), after);
        while until < extent.last_seq && until - after < BATCH_UNITS && pieces.len() < BATCH_TEXTS {
            until += 1;
            pieces.extend(pieces_of(conn, scope, &mut originals, until)?);
        }
        let (places, texts) = pieces.into_iter().unzip();
        let batch = Batch { epoch: extent.epoch, after, until, places, texts, is_gap: false };
        Ok((until > after).then_some(batch))
    })
}

fn pieces_of(
    conn: &dyn Sql,
    scope: &Scope,
    originals: &mut originals::Reader<'_>,
    seq: u32,
) -> Result<Vec<((u32, u8), String)>> {
    let Some(unit) = turns::unit_by_seq(conn, scope, seq)? else { return Ok(Vec::new()) };
    let pieces = units::pieces_at(conn, scope, (originals, (unit.session_no, unit.turn_number)))?;
    Ok(pieces.into_iter().map(|piece| ((seq, piece.number), piece.text)).collect())
}

/// Embeds a batch and writes its vectors. What the embedder refuses, while it takes other texts, is noted as a gap.
/// False: told to stop, and nothing was written.
async fn write(
    run: &Run<'_>,
    scope: Scope,
    (lease, counts): (&Lease, bool),
    (embedder, space): (&dyn Embedder, Space),
    batch: Batch,
) -> Result<bool> {
    let Batch { epoch, after, until, places, texts, is_gap } = batch;
    let Some(answers) = run.holding(lease, embed_each(embedder, &texts)).await? else { return Ok(false) };
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (place, answer) in places.into_iter().zip(answers?) {
        match answer {
            Ok(vector) => found.push((place, vector)),
            Err(why) => refused.push((place.0, why)),
        }
    }
    let stored: Vec<Stored> = found
        .into_iter()
        .filter_map(|((seq, piece), vector)| Some(Stored { seq, piece, bytes: Vector::of(&vector)?.bytes() }))
        .collect();
    let held = lease.clone();
    run.slice(move |tx| {
        jobs::hold(tx, &held)?;
        let now = units::extent(tx.sql, &scope)?;
        if now.epoch != epoch {
            return Err(Error::new(
                ErrorKind::Provider,
                "what was embedded changed meanwhile; nothing was written",
            ));
        }
        vectors::add(tx.sql, &scope, space, &stored, if is_gap { 0 } else { until })?;
        let gaps: BTreeSet<u32> = refused.iter().map(|(seq, _)| *seq).collect();
        for (seq, why) in &refused {
            vectors::note_gap(tx.sql, &scope, space, (*seq, 1), &why.to_string())?;
        }
        if is_gap && gaps.is_empty() {
            vectors::close_gap(tx.sql, &scope, space, until)?;
        }
        if counts {
            jobs::progress(tx.sql, &held, until - after, 1)?;
        }
        Ok(true)
    })
    .await
}

/// The vector of each text, or why the embedder refuses it.
async fn embed_each(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Result<Vec<f32>>>> {
    match embed::ask(embedder, texts, BATCH_TIMEOUT).await {
        Ok(vectors) => return Ok(vectors.into_iter().map(Ok).collect()),
        Err(error) if error.kind() != ErrorKind::ProviderRefused => return Err(error),
        Err(_) => {}
    }
    // Is it the key, or one of the texts?
    embed::ask(embedder, &["A text.".to_owned()], BATCH_TIMEOUT).await?;
    let mut answers = Vec::with_capacity(texts.len());
    for text in texts {
        answers.push(match embed::ask(embedder, std::slice::from_ref(text), BATCH_TIMEOUT).await {
            Ok(vectors) => Ok(vectors.into_iter().flatten().collect()),
            Err(error) if error.kind() == ErrorKind::ProviderRefused => Err(error),
            Err(error) => return Err(error),
        });
    }
    Ok(answers)
}
