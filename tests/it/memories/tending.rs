//! The daily tending of all memories: what changes and why, once a day, as one operation; and clocks that jump.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use thermocline::{
    ChangeOp, Edit, ErrorKind, Frequency, JobKind, JobState, LearningSource, MemoryFilter, MemoryId,
    MemoryKind, MemoryStatus, NewMemory, Origin, Outcome, RunJobs, TendAction, TendOptions, Tended,
    Volatility,
};

use crate::{
    dump::{ask, assert_same, dump_without},
    memories::{Known, fix, saying, undoing::LEFT},
    support::Cut,
};

impl Known {
    #[track_caller]
    pub fn tend(&self) -> Tended {
        self.memories.tend(TendOptions::default()).unwrap()
    }

    fn next_day(&self) {
        self.fixture.clock.advance(TimeDelta::days(1));
    }
}

/// Returns a memory like those that a job makes, at the beginning of its life.
fn learned(title: &str) -> NewMemory {
    fix(title).learning_source(LearningSource::Execution).frequency(Frequency::High)
}

/// Returns SQL that makes a memory look as if it had been used this often, successfully except for `failures` of the uses.
fn used(title: &str, uses: u32, failures: u32, sessions: u32) -> String {
    let helped = uses - failures;
    format!(
        "INSERT INTO memory_episodes (id, user_no, role, memory_no, session_no, happened_at, outcome, project)
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {uses})
         SELECT CAST(x'7fffffffffff7000' || randomblob(8) AS BLOB), m.user_no, 'use', m.memory_no, 1 + n.n % {sessions},
                '2026-03-01T12:00:00.000Z', CASE WHEN n.n <= {failures} THEN 'failure' ELSE 'success' END,
                'p' || (n.n % 2)
         FROM user_memories AS m, n WHERE m.title = '{title}';
         UPDATE memory_state SET access_count = {uses}, usage_count = {uses}, success_rate = {helped}.0 / {uses},
           context_count = (SELECT count(DISTINCT session_no) FROM memory_episodes AS e
                            WHERE e.memory_no = memory_state.memory_no AND outcome = 'success'),
           project_count = (SELECT count(DISTINCT project) FROM memory_episodes AS e
                            WHERE e.memory_no = memory_state.memory_no AND outcome = 'success' AND role = 'use')
         WHERE memory_no = (SELECT memory_no FROM user_memories WHERE title = '{title}');"
    )
}

#[test]
fn what_moves_says_by_which_numbers_and_a_second_look_on_the_day_changes_no_row() {
    let known = Known::new();
    let good = known.save(learned("Good").confidence(0.81).outcome(Outcome::Decision)).id;
    let calm = known.save(fix("Calm"));
    let options = TendOptions::default().dry_run();
    let before = dump_without(&known.fixture.path(), &[]);
    let would = known.memories.tend(options).unwrap();
    assert_same(&dump_without(&known.fixture.path(), &[]), &before, "a dry run");
    assert_eq!((would.memories, would.moved.consolidated, would.group, would.dry_run), (2, 1, None, true));

    let done = known.tend();
    assert_eq!(done.moves, would.moves);
    assert_eq!((done.moves[0].memory_id, done.moves[0].action), (good, TendAction::Consolidate));
    assert_eq!((done.moves[0].from, done.moves[0].to), (Frequency::High, Frequency::Mid));
    assert_eq!(done.moves[0].why, "confidence 0.81 >= 0.75, born of a decision");
    let change = &known.memories.history(good, None, 1).unwrap()[0];
    assert_eq!((change.op, change.made_by.as_str()), (ChangeOp::Frequency, "tend"));
    assert_eq!((change.reason.as_str(), Some(change.group_id)), (done.moves[0].why.as_str(), done.group));
    assert_eq!(known.get(calm.id), calm);

    let before = dump_without(&known.fixture.path(), &[]);
    let again = known.tend();
    assert_eq!((again.group, again.moves.len()), (None, 0));
    assert_same(&dump_without(&known.fixture.path(), &[]), &before, "a second look");
    known.check_sound();
}

#[test]
fn a_job_looks_once_a_day_at_the_memories_of_each_user_who_has_some() {
    let known = Known::new();
    known.file.user("nobody").unwrap();
    let run = || known.file.run_jobs(RunJobs::default().only(JobKind::Tend)).unwrap().done;
    assert_eq!(run(), 0, "there is none");
    let id = known.save(learned("Good").outcome(Outcome::Success)).id;
    known.file.user("blake").unwrap().memories().save(fix("Other")).unwrap();
    assert_eq!(run(), 2);
    assert_eq!(known.get(id).frequency, Frequency::Mid);
    assert_eq!(run(), 0, "it is done for today");
    known.fixture.clock.advance(TimeDelta::hours(11));
    assert_eq!(run(), 0);
    known.fixture.clock.advance(TimeDelta::hours(1));
    assert_eq!(run(), 2, "it is another day");
    known.memories.erase(id).unwrap();
    known.next_day();
    assert_eq!(run(), 2);
    known.next_day();
    assert_eq!(run(), 1, "of alex there is none any more");
    known.save(fix("Again"));
    assert_eq!(run(), 1);
    known.check_sound();
}

#[test]
fn a_clock_that_jumps_archives_nothing_and_says_why_and_by_hand_it_is_done_and_undone() {
    let known = Known::new();
    for n in 0..200 {
        known.memories.save(learned(&format!("fix {n}")).confidence(0.7)).unwrap();
    }
    let run = || {
        let report = known.file.run_jobs(RunJobs::default().only(JobKind::Tend)).unwrap();
        (report.done, report.later, report.failed)
    };
    assert_eq!(run(), (1, 0, 0));
    let year = TimeDelta::days(365);
    for _ in 0..3 {
        known.fixture.clock.advance(year);
        assert_eq!(run(), (0, 0, 1));
        let jobs = known.file.jobs(None, 10).unwrap();
        let job = jobs.iter().find(|job| job.kind == JobKind::Tend).unwrap();
        assert_eq!(job.state, JobState::Failed);
        let why = job.last_error.clone().unwrap();
        assert!(why.contains("would archive 200 and lower 0 of 200 memories"), "{why}");
        assert_eq!(run(), (0, 0, 0), "nothing is due for ever");
        known.fixture.clock.advance(TimeDelta::days(1));
        assert_eq!(run(), (0, 0, 1), "another day asks again");
        known.fixture.clock.advance(-year - TimeDelta::days(1));
        assert_eq!(run(), (1, 0, 0), "it came back, and the day is looked at");
        assert_eq!(run(), (0, 0, 0));
        assert!(known.file.jobs(None, 10).unwrap().iter().all(|job| job.kind != JobKind::Tend));
    }
    assert_eq!(known.titles(MemoryFilter::default()).len(), 200);

    known.fixture.clock.advance(year);
    run();
    let before = dump_without(&known.fixture.path(), LEFT);
    let done = known.tend();
    assert_eq!((done.moved.archived, done.moves.len()), (200, 200));
    assert!(
        known.file.jobs(None, 10).unwrap().iter().all(|job| job.kind != JobKind::Tend),
        "by hand it is done"
    );
    assert_eq!(known.titles(MemoryFilter::default()).len(), 0);
    let undone = known.memories.undo_group(done.group.unwrap()).unwrap();
    assert_eq!(undone.memories.len(), 200);
    assert_same(&dump_without(&known.fixture.path(), LEFT), &before, "every row is as it was");
    known.check_sound();
}

#[test]
fn an_older_look_is_not_undone_under_a_later_change() {
    let known = Known::new();
    let [a, b] = ["a", "b"].map(|title| known.save(learned(title).outcome(Outcome::Success)).id);
    let group = known.tend().group.unwrap();
    known.memories.edit(b, saying("It is mended otherwise.")).unwrap();
    let refused = known.memories.undo_group(group).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(
        refused.to_string().contains(&b.to_string()) && refused.to_string().contains("edit"),
        "{refused}"
    );
    assert_eq!(known.get(a).frequency, Frequency::Mid, "none of it was done");
    known.memories.undo(b).unwrap();
    known.memories.undo_group(group).unwrap();
    assert_eq!([a, b].map(|id| known.get(id).frequency), [Frequency::High; 2]);
    let refused = known.memories.undo_group(group).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    let saved = known.memories.history(a, None, 10).unwrap().last().unwrap().group_id;
    assert_eq!(
        known.memories.undo_group(saved).unwrap_err().kind(),
        ErrorKind::Conflict,
        "saving alone stays"
    );
    known.check_sound();
}

#[test]
fn a_person_is_asked_once_and_again_only_behind_a_rest_and_with_news() {
    let known = Known::new();
    known.save(fix("Known").frequency(Frequency::Low).confidence(0.995));
    let known = known.rewritten(&used("Known", 20, 0, 3));
    let tended = known.tend();
    assert_eq!(
        (tended.moved.reviews, tended.moves[0].why.as_str()),
        (1, "confidence 0.99 >= 0.99, 2 projects")
    );
    assert_eq!(tended.group, None, "a question moves nothing");
    let open = "SELECT count(*) FROM memory_reviews WHERE kind = 'promote' AND decision IS NULL";
    assert_eq!(ask::<u32>(&known.fixture.path(), open), 1);
    known.next_day();
    assert_eq!(known.tend().moved.reviews, 0, "it is asked already");

    let decided = "UPDATE memory_reviews SET decision = 'rejected', decided_at = '2026-03-02T12:00:00.000Z',
                   decided_by = 'alex'";
    let known = known.rewritten(decided);
    known.fixture.clock.advance(TimeDelta::days(40));
    // The ids of these uses are from a later clock, so the uses count as news.
    assert_eq!(known.tend().moved.reviews, 1);
    let known = known.rewritten(&format!(
        "{decided}; UPDATE memory_episodes SET id = CAST(x'000000000001' || randomblob(10) AS BLOB)"
    ));
    assert_eq!(known.tend().moved.reviews, 0, "nothing is new");
    known.check_sound();
}

#[test]
fn what_helps_settles_over_days_and_what_fails_falls_back_and_needs_a_success_of_its_own() {
    let known = Known::new();
    let good = known.save(learned("Good").confidence(0.97).outcome(Outcome::Success)).id;
    let poor =
        known.save(learned("Poor").frequency(Frequency::Mid).confidence(0.9).outcome(Outcome::Success)).id;
    let known = known.rewritten(&(used("Good", 20, 1, 2) + &used("Poor", 10, 4, 2)));
    known.tend();
    let frequencies = || [good, poor].map(|id| known.get(id).frequency);
    assert_eq!(frequencies(), [Frequency::Mid, Frequency::High], "one step a day");
    known.next_day();
    known.tend();
    // The ids of its uses are from a later clock, so it has helped since. A memory that fell back rises by that, and falls
    // again.
    assert_eq!(frequencies()[0], Frequency::Low);
    let known = known.rewritten(
        "UPDATE memory_episodes SET id = CAST(x'000000000001' || randomblob(10) AS BLOB) WHERE role = 'use'",
    );
    let before = known.get(poor).frequency;
    for _ in 0..5 {
        known.next_day();
        known.tend();
    }
    assert!(known.get(poor).frequency <= before, "without a success since nothing rises");
    known.check_sound();
}

#[test]
fn uses_that_nobody_rated_go_after_a_week_and_old_edits_keep_no_text() {
    let known = Known::new();
    let id = known.save(fix("Edited")).id;
    for n in 1..=25 {
        known.memories.edit(id, saying(&format!("It is mended by way {n}."))).unwrap();
    }
    let now = "(SELECT id FROM memory_episodes WHERE role = 'birth')";
    let known = known.rewritten(&format!(
        "INSERT INTO memory_episodes (id, user_no, role, memory_no, happened_at, outcome)
         SELECT CAST(substr({now}, 1, 6) || randomblob(10) AS BLOB), user_no, 'use', memory_no, '1999-01-01T00:00:00.000Z', o.o
         FROM user_memories, (SELECT NULL AS o UNION ALL SELECT 'observation') AS o;
         UPDATE memory_state SET access_count = 2"
    ));
    let uses = "SELECT count(*) FROM memory_episodes WHERE role = 'use'";
    let kept = "SELECT count(*) FROM memory_changes WHERE op = 'edit' AND before IS NOT NULL";
    let tended = known.tend();
    assert_eq!((tended.dropped_uses, tended.forgotten_edits), (0, 5));
    assert_eq!(ask::<u32>(&known.fixture.path(), uses), 2, "what was said long ago was used today");
    assert_eq!(ask::<u32>(&known.fixture.path(), kept), 20);
    known.fixture.clock.advance(TimeDelta::days(8));
    known.file.run_jobs(RunJobs::default().only(JobKind::Tend)).unwrap();
    assert_eq!(ask::<u32>(&known.fixture.path(), uses), 1, "the other was rated");
    for _ in 0..20 {
        known.memories.undo(id).unwrap();
    }
    assert_eq!(known.get(id).content, "It is mended by way 5.");
    let refused = known.memories.undo(id).unwrap_err();
    assert!(refused.to_string().contains("no longer kept"), "{refused}");
    known.check_sound();
}

/// Tends generated memories day by day for a year, and checks that none returns to an earlier state.
fn a_year_of_days(count: usize) {
    let mut known = Known::new();
    let origins = [Origin::User, Origin::Assistant, Origin::Tool];
    let frequencies = [Frequency::High, Frequency::Mid, Frequency::Mid, Frequency::Low];
    let volatilities = [Volatility::Low, Volatility::Medium, Volatility::High];
    let outcomes = [None, Some(Outcome::Success), Some(Outcome::Decision), Some(Outcome::Failure)];
    let mut script = String::new();
    for n in 0..count {
        let origin = origins[n % 3];
        let volatility = if n % 7 == 0 { volatilities[n % 3] } else { Volatility::Low };
        let mut frequency = frequencies[n / 3 % 4];
        if volatility == Volatility::High || origin == Origin::Tool {
            frequency = frequency.min(Frequency::Mid);
        }
        let kind = MemoryKind::ALL[n % MemoryKind::ALL.len()];
        let share = |by: usize| {
            f64::from(u32::try_from(n * 37 % by).unwrap()) / f64::from(u32::try_from(by).unwrap())
        };
        let mut memory = NewMemory::new(kind, format!("memory {n}"), format!("It is memory number {n}."))
            .origin(origin)
            .frequency(frequency)
            .volatility(volatility)
            .importance(share(101))
            .confidence(share(89));
        if n % 2 == 0 {
            memory = memory.learning_source(LearningSource::Execution);
        }
        if let Some(outcome) = outcomes[n / 5 % 4] {
            memory = memory.outcome(outcome);
        }
        known.memories.save(memory).unwrap();
        if n % 11 == 0 {
            script += &used(
                &format!("memory {n}"),
                5 + u32::try_from(n % 30).unwrap(),
                u32::try_from(n % 5).unwrap(),
                3,
            );
        }
    }
    // Gives all uses early ids, so that they count as earlier than everything else.
    script +=
        "UPDATE memory_episodes SET id = CAST(x'000000000001' || randomblob(10) AS BLOB) WHERE role = 'use';";
    known = known.rewritten(&script);
    let mut count_of_moves = 0;
    let mut stood: BTreeMap<MemoryId, (String, BTreeSet<String>)> = BTreeMap::new();
    for day in 0..365 {
        let tended = known.tend();
        count_of_moves += tended.moves.len();
        let mut today = BTreeSet::new();
        for each in &tended.moves {
            assert!(
                each.action == TendAction::Review || today.insert(each.memory_id),
                "twice on a day: {each:?}"
            );
            let (from, to) = (
                each.from.as_str().to_owned(),
                match each.action {
                    TendAction::Archive => "archived".to_owned(),
                    _ => each.to.as_str().to_owned(),
                },
            );
            let (now, left) = stood.entry(each.memory_id).or_insert((from, BTreeSet::new()));
            if *now != to {
                left.insert(std::mem::replace(now, to.clone()));
                assert!(!left.contains(&to), "on day {day} it came back: {each:?}, {left:?}");
            }
        }
        assert_eq!(known.tend().moves.len(), 0, "day {day}");
        known.next_day();
    }
    assert!(count_of_moves > count / 4, "{count_of_moves}");
    let by_hand =
        known.memories.list(MemoryFilter::default().statuses([MemoryStatus::Archived]), None, 1_000);
    let is_a_persons = |memory: &thermocline::Memory| {
        memory.learning_source == LearningSource::Manual && memory.origin == Origin::User
    };
    assert!(!by_hand.unwrap().iter().any(is_a_persons), "what a person saved, only a person archives");
    known.check_sound();
}

#[test]
fn in_a_year_no_memory_comes_back_to_where_it_was_without_a_use() {
    a_year_of_days(300);
}

#[test]
#[ignore = "takes minutes"]
fn in_a_year_none_of_ten_thousand_comes_back_to_where_it_was_without_a_use() {
    a_year_of_days(10_000);
}

#[test]
fn whichever_statement_fails_a_look_moves_all_or_nothing_and_goes_on() {
    let mut known = Known::new();
    for n in 0..3 {
        known.save(learned(&format!("fix {n}")).outcome(Outcome::Success));
    }
    let id = known.save(fix("Edited")).id;
    for n in 0..22 {
        known.memories.edit(id, Edit::default().content(format!("Way {n}."))).unwrap();
    }
    known.file.close().unwrap();
    let cut = &Cut::of(&mut known.fixture.config);
    let copy = known.fixture.copy();
    let file = copy.open();
    cut.places();
    file.user("alex").unwrap().memories().tend(TendOptions::default()).unwrap();
    file.close().unwrap();
    let places = cut.places();
    assert!(places.len() >= 15, "{}", places.len());
    for by_job in [false, true] {
        for (statement, times) in &places {
            let copy = known.fixture.copy();
            let file = copy.open();
            let memories = file.user("alex").unwrap().memories();
            let act = || {
                if by_job {
                    file.run_jobs(RunJobs::default().only(JobKind::Tend)).map(drop)
                } else {
                    memories.tend(TendOptions::default()).map(drop)
                }
            };
            cut.after(*times, statement);
            if act().is_ok() && !by_job {
                continue; // What runs at every opening may have run before.
            }
            let moved = || {
                let mid = MemoryFilter::default().frequencies([Frequency::Mid]);
                memories.list(mid, None, 100).unwrap().len() - 1
            };
            assert!([0, 3].contains(&moved()), "{statement}");
            cut.after(usize::MAX, "nothing has this in it");
            copy.clock.advance(TimeDelta::hours(2));
            act().unwrap();
            assert_eq!(moved(), 3, "{statement}");
            let found = file.doctor().unwrap();
            assert!(found.is_healthy(), "{statement}: {found:?}");
            copy.clock.advance(-TimeDelta::hours(2));
        }
    }
}
