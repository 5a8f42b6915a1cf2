//! The swap: one transaction adds summaries, anchors and a frame of the archive, removes the rows of summarized turns, and
//! makes the slice's other turns cold.
//!
//! The transaction reads again what it replaces, and writes nothing if a turn has changed or was erased, or if the job is
//! lost.

use std::collections::BTreeSet;

use crate::{
    compress::{
        archive::Frame,
        derived::Kinds,
        plan::{NewSummary, TurnPlan},
    },
    error::Result,
    model::{
        ids::{AnchorId, SessionId, SummaryId},
        job::JobKind,
        place::{Place, Seq, SessionNo},
        stored_time::StoredTime,
        summary::{Original, Summary},
        tier::{MemoryTier, MoveReason},
        turn::Turn,
    },
    store::{
        acts::index,
        job_tx::JobTx,
        rows::{
            anchors::{self, StatementSource},
            jobs, originals, sessions, summaries, turns, units, users, vectors,
        },
        scope::Scope,
        slice_error::{SliceError, SliceResult},
    },
    text::words::EncodedWords,
};

/// Some turns of one session, in order, and the fate of each.
#[derive(Debug)]
pub(crate) struct Swap {
    pub(crate) session: (SessionId, SessionNo),
    pub(crate) fates: Vec<Fate>,
    /// The originals of the archived turns, in order. `None` if no turn is archived.
    pub(crate) frame: Option<Frame>,
}

/// One turn, and what happens to it.
#[derive(Debug)]
pub(crate) struct Fate {
    pub(crate) turn: Turn,
    pub(crate) plan: TurnPlan,
}

impl Fate {
    /// Whether the turn is summarized and its original becomes `original`.
    pub(crate) fn becomes(&self, original: Original) -> bool {
        self.plan.sketch.as_ref().is_some_and(|sketch| sketch.original == original)
    }

    /// The name of the summarizer, if the turn is summarized.
    pub(crate) fn summarizer(&self) -> Option<String> {
        self.plan.sketch.as_ref().map(|sketch| sketch.summarizer.clone())
    }
}

impl JobTx<'_, '_> {
    /// Performs the swap.
    pub(crate) fn swap_slice(&mut self, scope: &Scope, swap: &Swap) -> SliceResult<()> {
        let user = self.lock(scope)?;
        self.tx.note_rules(scope, &user, Kinds::ALL)?;
        let (sql, now) = (self.tx.sql, self.tx.now());
        let (session_id, session_no) = swap.session;
        let expected: Vec<_> = swap.fates.iter().map(|fate| (fate.turn.turn_number, fate.turn.id)).collect();
        if !turns::are_warm(sql, scope, session_no, &expected)? {
            return Err(SliceError::Changed);
        }
        let frame_no = match &swap.frame {
            Some(frame) => Some(originals::insert_frame(sql, scope, session_id, frame)?),
            None => None,
        };
        let (mut folds, mut position) = (BTreeSet::new(), 0);
        for Fate { turn, plan } in &swap.fates {
            let place = session_no.turn(turn.turn_number);
            let mut anchor_ids = Vec::new();
            for found in &plan.anchors {
                let source = StatementSource {
                    turn: Some(turn.id),
                    seq: Seq::of(turn.seq)?,
                    said_at: StoredTime::clamped(turn.timestamp),
                    made_by: &plan.made_by,
                    trust: turn.said.trust_of(&found.quote),
                };
                let (id, fold) = anchors::state(sql, scope, found, source, now)?;
                anchor_ids.push(id);
                folds.insert(fold);
            }
            match &plan.sketch {
                None => turns::keep_cold(sql, scope, place, plan.rule)?,
                Some(sketch) => {
                    let summary = summary_of(turn, sketch, anchor_ids, now);
                    summaries::insert(
                        sql,
                        scope,
                        session_no,
                        Seq::of(turn.seq)?,
                        turn.snapshot_id,
                        &summary,
                    )?;
                    match sketch.original {
                        Original::Archived => {
                            let frame_no = frame_no.expect("what is archived is in the frame");
                            originals::insert_archived(sql, scope, place, (frame_no, position))?;
                            position += 1;
                        }
                        Original::Deleted => self.forget_words(scope, place, (turn, &summary))?,
                    }
                    turns::remove(sql, scope, place)?;
                }
            }
            turns::record_move(sql, scope, place, ("warm", "cold"), MoveReason::Compression, now)?;
        }
        if swap.fates.iter().any(|fate| fate.becomes(Original::Deleted)) {
            users::raise_epoch(sql, scope)?; // Readers that have the words of deleted turns must read again.
        }
        anchors::refold(sql, scope, &folds)?;
        let turns = u32::try_from(swap.fates.len()).unwrap_or(u32::MAX);
        jobs::progress(sql, self.lease, turns, self.tx.config.summarizer_tries)?;
        Ok(())
    }

    /// Replaces the words of a turn whose original is deleted with those of its summary, removes its vectors, and has its
    /// summary embedded.
    fn forget_words(
        &mut self,
        scope: &Scope,
        place: Place,
        (turn, summary): (&Turn, &Summary),
    ) -> Result<()> {
        let sql = self.tx.sql;
        let Seq(seq) = Seq::of(turn.seq)?;
        let old = units::words_at(sql, scope, place)?.unwrap_or_default();
        let keywords = serde_json::to_string(&summary.topic_keywords).unwrap_or_default();
        let new = units::words_of_summary(&summary.summary_text, &keywords);
        let has_its_words = index::has_known_words(self.tx, scope)?;
        match (EncodedWords::parse(&old), EncodedWords::parse(&new)) {
            (Some(old), Some(new)) if has_its_words => index::replace(sql, scope, seq, (old, new))?,
            // The words are damaged or by older rules, so it is unknown under which words the turn is in the index.
            _ => index::drop_all(self.tx, scope)?,
        }
        vectors::forget(sql, scope, &BTreeSet::from([seq]))?;
        if vectors::reopen(sql, scope, seq)? {
            self.tx.enqueue_if_none(scope, JobKind::Embed)?;
        }
        Ok(())
    }

    /// Marks a session as fully compressed, and ends the job. Returns `false` if turns are left.
    pub(crate) fn finish_compression(&mut self, scope: &Scope, session: SessionId) -> SliceResult<bool> {
        self.lock(scope)?;
        let sql = self.tx.sql;
        let session = sessions::existing(sql, scope, session)?;
        if turns::has_warm(sql, scope, session.session_no)? {
            return Ok(false);
        }
        sessions::set_tier(sql, scope, session.session_no, MemoryTier::Cold)?;
        jobs::finish(sql, self.lease)?;
        Ok(true)
    }
}

fn summary_of(turn: &Turn, sketch: &NewSummary, anchors: Vec<AnchorId>, now: StoredTime) -> Summary {
    Summary {
        id: SummaryId::new(*now),
        original_turn_id: turn.id,
        session_id: turn.session_id,
        turn_number: turn.turn_number,
        summary_text: sketch.summary_text.clone(),
        topic_keywords: sketch.topic_keywords.clone(),
        identity_anchor_ids: anchors,
        timestamp: turn.timestamp,
        summarizer: sketch.summarizer.clone(),
        reliability: sketch.reliability,
        summary_tokens: sketch.summary_tokens,
        original: sketch.original,
        original_tokens: turn.tokens.total_tokens,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        path::Path,
        process::{Command, Stdio},
        sync::{
            Arc,
            atomic::{AtomicBool, AtomicUsize, Ordering},
        },
    };

    use super::*;
    use crate::{
        compress::archive,
        config::Config,
        faults::Faults,
        model::{
            anchor::{Attribute, FoundAnchor, Stance},
            critical::CriticalRule,
            job::JobKinds,
            turn::NewTurn,
        },
        store::{Store, acts::record::WantedSession, rows::jobs::Lease, scope::UserKey},
        text::{measure, tokens::Tokenizer},
    };

    const CHILD: &str = "THERMOCLINE_TEST_SWAP";

    /// What a swap changes, except randomly drawn ids.
    const STATE: &str = "
        SELECT 'turn ' || turn_number || ' ' || memory_tier || coalesce(' ' || critical_rule, '') FROM conversation_turns
        UNION ALL SELECT 'summary of ' || turn_number || ', ' || original FROM conversation_summaries
        UNION ALL SELECT 'line ' || position || ' is ' || turn_number FROM archived_turns
        UNION ALL SELECT 'frame of ' || turn_count FROM archived_frames
        UNION ALL SELECT 'anchor ' || value || ' ' || strength || (valid_until IS NULL) FROM identity_anchors
        UNION ALL SELECT 'evidence ' || quote FROM derivations
        UNION ALL SELECT 'move ' || move_number || ' of ' || turn_number || ' to ' || to_tier FROM memory_tier_transitions
        UNION ALL SELECT 'done ' || done_count FROM jobs
        ORDER BY 1";

    fn state(path: &Path) -> Vec<String> {
        crate::store::file::testing::texts(path, STATE)
    }

    /// A file with an ended session of four turns, and its job.
    async fn prepare(path: &Path) {
        let store = Store::open(path, Config::default()).unwrap();
        let (scope, session) = store
            .write(|tx| {
                let scope = tx.add_user(&UserKey::Name("alex".into()))?;
                Ok((scope, tx.open_session(&scope, "chat")?.info.id))
            })
            .await
            .unwrap();
        for text in ["Hello.", "My name is Alex.", "My name is Bo.", "Goodbye."] {
            let turn = measure::measure(NewTurn::new(text, ""), Tokenizer::O200kBase, 1_000).unwrap();
            store.write(move |tx| tx.record(&scope, &WantedSession::Id(session), turn)).await.unwrap();
        }
        store.write(move |tx| tx.end_session(&scope, session, None)).await.unwrap();
        store.close().unwrap();
    }

    /// The first turn is critical, the second and third are summarized and name the user, the last is short.
    fn plan(turn: &Turn) -> TurnPlan {
        let is_summarized = matches!(turn.turn_number, 2 | 3);
        let text = turn.said.user_message.clone();
        let name = FoundAnchor {
            subject: "user".into(),
            attribute: Attribute::Name,
            value: text.trim_start_matches("My name is ").trim_end_matches('.').into(),
            stance: Stance::Holds,
            quote: text.clone(),
        };
        let sketch = NewSummary {
            summary_text: text,
            topic_keywords: Vec::new(),
            summary_tokens: 5,
            summarizer: "script".into(),
            reliability: 1.0,
            original: Original::Archived,
        };
        TurnPlan {
            rule: (turn.turn_number == 1).then_some(CriticalRule::FirstTurn),
            sketch: is_summarized.then_some(sketch),
            anchors: is_summarized.then_some(name).into_iter().collect(),
            made_by: "script".into(),
        }
    }

    /// The swap of all turns of the job's session.
    fn whole(store: &Store, lease: &Lease) -> Swap {
        let (scope, session_id) = (lease.scope.unwrap(), lease.session_id.unwrap());
        let snapshot = store.snapshot().unwrap();
        let session = snapshot.session(&scope, session_id).unwrap();
        let turns = snapshot.warm_after(&scope, &session, 0, |_| false).unwrap().turns;
        let frame = archive::pack(&[&turns[1], &turns[2]]).unwrap();
        let fates = turns.into_iter().map(|turn| Fate { plan: plan(&turn), turn }).collect();
        Swap { session: (session_id, session.session_no), fates, frame: Some(frame) }
    }

    async fn run(store: &Store, lease: &Lease, swap: Swap) -> SliceResult<()> {
        let scope = lease.scope.unwrap();
        store.write_slice(Arc::new(lease.clone()), move |tx| tx.swap_slice(&scope, &swap)).await
    }

    #[tokio::test]
    async fn a_turn_that_is_not_warm_or_not_the_one_that_was_read_refuses_the_slice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        prepare(&path).await;
        let store = Store::open(&path, Config::default()).unwrap();
        let lease = store.take_job(&JobKinds::only(None)).await.unwrap().unwrap();
        let mut with_another = whole(&store, &lease);
        with_another.fates[3].turn.id = with_another.fates[0].turn.id;
        let with_a_cold_one = whole(&store, &lease);
        for swap in [with_another, with_a_cold_one] {
            let before = state(&path);
            let refused = run(&store, &lease, swap).await.unwrap_err();
            assert!(matches!(refused, SliceError::Changed), "{refused:?}");
            assert_eq!(state(&path), before);
            let (scope, place) = (lease.scope.unwrap(), SessionNo(1).turn(4));
            store.write(move |tx| turns::keep_cold(tx.sql, &scope, place, None)).await.unwrap();
        }
    }

    /// Not a test by itself: a process that swaps, and dies at the n-th beginning or end of a statement.
    #[tokio::test]
    async fn child() {
        let Ok(told) = env::var(CHILD) else { return };
        let (killed_at, path) = told.split_once(' ').unwrap();
        let (killed_at, met): (usize, _) = (killed_at.parse().unwrap(), Arc::new(AtomicUsize::new(0)));
        let is_swapping = Arc::new(AtomicBool::new(false));
        let is_met = Arc::clone(&is_swapping);
        let config = Config {
            faults: Faults::new(move |_, _| {
                if is_met.load(Ordering::SeqCst) && met.fetch_add(1, Ordering::SeqCst) + 1 == killed_at {
                    std::process::abort();
                }
                false
            }),
            ..Config::default()
        };
        let store = Store::open(Path::new(path), config).unwrap();
        let lease = store.take_job(&JobKinds::only(None)).await.unwrap().unwrap();
        let swap = whole(&store, &lease);
        is_swapping.store(true, Ordering::SeqCst);
        run(&store, &lease, swap).await.unwrap();
        // After the acknowledgement, a kill changes nothing.
        store.write(|tx| tx.sql.scalar::<i64>("SELECT 1", &[])).await.unwrap();
    }

    #[tokio::test]
    async fn killed_before_or_after_any_statement_it_has_done_all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (prepared, path) = (folder.path().join("prepared.db"), folder.path().join("killed.db"));
        prepare(&prepared).await;
        let before = state(&prepared);
        let mut states = Vec::new();
        for killed_at in 1.. {
            std::fs::copy(&prepared, &path).unwrap();
            let survived = Command::new(env::current_exe().unwrap())
                .args(["store::acts::swap::tests::child", "--exact"])
                .env(CHILD, format!("{killed_at} {}", path.display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success();
            states.push(state(&path));
            for suffix in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
            }
            if survived {
                break;
            }
        }
        let after = states.last().unwrap().clone();
        assert!(
            after.contains(&"anchor Bo 0.51".to_owned()) && after.contains(&"done 4".to_owned()),
            "{after:#?}"
        );
        let nothing = states.iter().take_while(|state| **state == before).count();
        assert!(nothing > 40, "{nothing} kills within the transaction");
        assert!(
            states[nothing..].iter().all(|state| *state == after),
            "all of it, {nothing} of {}",
            states.len()
        );
        assert!(states.len() > nothing + 1, "a kill behind the commit");
    }
}
