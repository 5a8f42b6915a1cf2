//! What becomes of an ended session, and that no turn is lost on the way.

use thermocline::{MemoryTier, Originals, RunJobs};

use crate::support::{Fixture, turn_of};

#[test]
fn an_ended_session_is_compressed_and_every_turn_can_still_be_read() {
    for originals in [Originals::Archive, Originals::Delete] {
        let mut fixture = Fixture::new();
        fixture.config.originals = originals;
        let memory = fixture.open();
        let session = memory.user("alex").unwrap().session().unwrap();
        for n in 0..40 {
            session.record(turn_of(10 + 10 * n)).unwrap();
        }
        session.end().unwrap();
        let report = memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!((report.done, report.turns), (1, 40));
        assert_eq!(memory.jobs().unwrap(), []);
        assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
        let summaries = session.summaries().unwrap();
        assert_eq!(summaries.len(), 34, "those of more than 60 tokens");
        for n in 1..=40 {
            let found = session.turn(n).unwrap();
            let is_deleted = originals == Originals::Delete && n > 6;
            assert_eq!(found.is_none(), is_deleted, "turn {n}");
        }
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{:#?}", diagnosis.checks);
    }
}
