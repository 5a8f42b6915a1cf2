//! Erasing a memory, and what is erased with a turn, a session or a user.

use std::collections::BTreeSet;

use thermocline::{
    EdgeType, Edit, EpisodeFilter, EpisodeRole, ErrorKind, LearningSource, MemoryFilter, MemoryId,
    MemoryKind, MemoryStatus, NewEdge, NewMemory, NewNote, NewTurn, Origin, Procedure, RunJobs, TurnId,
};

use crate::{
    canaries::Words,
    dump::{ask, rewrite},
    erase::found,
    memories::{Known, fix, port, saying},
    support::turn,
};

/// Returns a memory like those that a job makes from a turn.
fn learned(title: &str, turn: TurnId, quote: &str) -> NewMemory {
    fix(title).learning_source(LearningSource::Execution).source(turn, quote).origin(Origin::User)
}

#[test]
fn of_an_erased_memory_nothing_is_left_in_the_bytes_and_others_stay() {
    let known = Known::new();
    let other = known.save(fix("Other").tags(["kept"]));
    let mut words = Words::default();
    let talk = known.session("talk");
    let memory = known.save(
        NewMemory::new(MemoryKind::Procedure, words.some(3), words.some(40))
            .summary(words.next())
            .procedure(
                Procedure::new([words.next()]).preconditions([words.next()]).postconditions([words.next()]),
            )
            .tags([words.next(), words.next()])
            .entities([words.name()])
            .project(words.next())
            .goal_signature(words.next())
            .caller_id(words.next())
            .session(talk.id())
            .task_id(words.next())
            .task_name(words.next())
            .trigger(words.next()),
    );
    let id = memory.id;
    for _ in 0..3 {
        let edit =
            saying(&words.some(20)).title(words.next()).tags([words.next()]).project(Some(&words.next()));
        known.memories.edit(id, edit.summary(words.next())).unwrap();
    }
    let edge = NewEdge::new(EdgeType::Solves).context(words.next()).description(words.some(5));
    known.memories.relate(id, edge, other.id).unwrap();
    known
        .memories
        .note(NewNote::new(words.next()).summary(words.next()).tags([words.next()]).memory(id))
        .unwrap();
    known.memories.forget(id).unwrap();
    known.memories.undo(id).unwrap();
    (0..200).for_each(|n| drop(talk.record(turn(n)).unwrap()));
    known.file.run_jobs(RunJobs::default()).unwrap();
    let seen = found(&known.fixture.path(), words.0);
    assert_eq!(seen.len(), words.0, "all of it is in the file");

    let erased = known.memories.erase(id).unwrap();
    assert_eq!((erased.memories, erased.turns, erased.is_pending), (1, 0, false));
    assert_eq!(found(&known.fixture.path(), words.0), BTreeSet::new());
    assert_eq!(known.memories.get(id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(known.memories.erase(id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(known.get(other.id).tags, ["kept"]);
    assert_eq!(known.memories.neighbours(other.id, None, 10).unwrap(), []);
    let of_other = EpisodeFilter::default();
    assert_eq!(known.memories.episodes(of_other, None, 10).unwrap().len(), 1, "that other one's birth");
    known.check_sound();
}

#[test]
fn what_an_erased_memory_had_taken_the_place_of_holds_again() {
    let known = Known::new();
    let old = known.save(port(1));
    let new = known.memories.supersede(old.id, port(2).origin(Origin::User)).unwrap().memory;
    known.memories.erase(new.id).unwrap();
    assert_eq!(known.states([old.id]), [(MemoryStatus::Active, old.content.clone())]);
    assert_eq!(
        known.memories.undo(old.id).unwrap_err().kind(),
        ErrorKind::Conflict,
        "there is nothing to undo"
    );

    let elsewhere = known.save(fix("Elsewhere"));
    known.memories.supersede_by(old.id, elsewhere.id).unwrap();
    known.save(port(3));
    known.memories.erase(elsewhere.id).unwrap();
    assert_eq!(known.get(old.id).status, MemoryStatus::Archived, "its slot is somebody else's");
    known.check_sound();
}

#[test]
fn a_chain_of_which_the_middle_is_erased_is_still_one() {
    let known = Known::new();
    let [a, b, c] = ["a", "b", "c"].map(|title| known.save(fix(title)).id);
    known.memories.supersede_by(a, b).unwrap();
    known.memories.supersede_by(b, c).unwrap();
    known.memories.erase(b).unwrap();
    let first = known.get(a);
    assert_eq!((first.status, first.superseded_by), (MemoryStatus::Superseded, Some(c)));
    let beside = known.memories.neighbours(a, None, 10).unwrap();
    assert_eq!((beside.len(), beside[0].edge.from, beside[0].edge.edge_type), (1, c, EdgeType::Supersedes));
    assert_eq!(known.titles(MemoryFilter::default()), ["c"]);
    known.check_sound();
    known.memories.erase(c).unwrap();
    assert_eq!(known.titles(MemoryFilter::default()), ["a"]);
    known.check_sound();
}

#[test]
fn what_was_archived_before_its_place_was_taken_is_archived_again() {
    let known = Known::new();
    known.save(port(1));
    let waiting = known.memories.save(port(2).origin(Origin::Tool)).unwrap().memory.id;
    let other = known.save(fix("Other")).id;
    known.memories.supersede_by(waiting, other).unwrap();
    known.memories.erase(other).unwrap();
    assert_eq!(known.get(waiting).status, MemoryStatus::Archived);
    known.check_sound();
}

#[test]
fn what_was_forgotten_comes_back_though_what_it_came_of_was_erased() {
    let known = Known::new();
    let turn = known.session("talk").record(NewTurn::new("Keepalive mends it.", "Noted.")).unwrap().turn_id;
    let id = known.save(fix("Keepalive").source(turn, "mends it")).id;
    known.memories.edit(id, Edit::default().tags(["mends"])).unwrap();
    known.memories.forget(id).unwrap();
    known.file.user("alex").unwrap().erase_turn(turn).unwrap();
    let kept = "SELECT count(*) FROM memory_changes WHERE before LIKE '%tags%'";
    assert_eq!(ask::<u32>(&known.fixture.path(), kept), 0);
    assert_eq!(known.memories.undo(id).unwrap().memories[0].status, MemoryStatus::Active);
    let refused = known.memories.undo(id).unwrap_err();
    assert!(refused.to_string().contains("no longer kept"), "{refused}");
    known.check_sound();
}

#[test]
fn what_a_job_made_of_an_erased_turn_goes_and_what_somebody_saved_stays_without_its_words() {
    let known = Known::new();
    let talk = known.session("talk");
    let said = |text: &str| talk.record(NewTurn::new(text, "I see.")).unwrap().turn_id;
    let erased = said("The xylophone is tuned with a wrench.");
    let kept = said("The kettle is descaled with vinegar.");
    let save = |memory: NewMemory| known.memories.save(memory).unwrap().memory.id;
    let by_job = save(learned("Tuning", erased, "tuned with a wrench"));
    let of_other = save(learned("Descaling", kept, "with vinegar"));
    let by_hand = save(fix("Xylophones").source(erased, "xylophone is tuned"));
    let edited = save(learned("A xylophone wrench", erased, "a wrench"));
    known.memories.edit(edited, saying("Use the small one.").title("Tools")).unwrap();
    let edited_by_assistant = save(learned("More wrenches", erased, "").origin(Origin::Assistant));
    let by_assistant = saying("Use the big one.").origin(Origin::Assistant);
    known.memories.edit(edited_by_assistant, by_assistant).unwrap();

    let alex = known.file.user("alex").unwrap();
    let gone = alex.erase_turn(erased).unwrap();
    assert_eq!((gone.turns, gone.memories), (1, 2));
    let is_there = |id: MemoryId| known.memories.get(id).is_ok();
    assert_eq!(
        [by_job, of_other, by_hand, edited, edited_by_assistant].map(is_there),
        [false, true, true, true, false]
    );
    let sources = "SELECT count(*) FROM memory_sources WHERE source_kind = 'turn'";
    assert_eq!(ask::<u32>(&known.fixture.path(), sources), 1);
    let repeating = "SELECT count(*) FROM memory_changes WHERE before LIKE '%wrench%'";
    assert_eq!(ask::<u32>(&known.fixture.path(), repeating), 0);
    let units = "SELECT count(*) FROM memory_units";
    assert_eq!(ask::<u32>(&known.fixture.path(), units), 3, "older texts go, too");
    let refused = known.memories.undo(edited).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("no longer kept"), "{refused}");
    known.check_sound();
}

#[test]
fn the_same_goes_for_all_turns_of_a_session_and_what_happened_there_is_emptied() {
    let known = Known::new();
    let (talk, other) = (known.session("talk"), known.session("other"));
    let (mut words, mut ids) = (Words::default(), Vec::new());
    for n in 0..40 {
        let said = words.some(4);
        let id = talk.record(NewTurn::new(said.clone(), "I see.")).unwrap().turn_id;
        let memory = NewMemory::new(MemoryKind::Insight, format!("{n} {}", words.next()), &said);
        let memory = memory.learning_source(LearningSource::Execution).source(id, &said).origin(Origin::User);
        ids.push(known.memories.save(memory.session(talk.id()).trigger(words.next())).unwrap().memory.id);
        other.record(turn(n)).unwrap();
    }
    let by_hand = known.save(fix("Kept").session(talk.id()).trigger(words.next()).task_name(words.next()));
    known.memories.note(NewNote::new(words.next()).summary(words.next()).session(talk.id())).unwrap();
    known.file.run_jobs(RunJobs::default()).unwrap();
    talk.end().unwrap();
    known.file.run_jobs(RunJobs::default()).unwrap();
    assert!(found(&known.fixture.path(), words.0).len() > 200);

    let erased = talk.erase().unwrap();
    assert_eq!((erased.turns, erased.memories, erased.is_pending), (40, 40, false));
    assert_eq!(found(&known.fixture.path(), words.0), BTreeSet::new());
    assert_eq!(known.titles(MemoryFilter::default().statuses([])), ["Kept"]);
    assert_eq!(known.get(by_hand.id).content, by_hand.content);
    let happened = known.memories.episodes(EpisodeFilter::default(), None, 10).unwrap();
    assert_eq!(happened.len(), 1, "of a note nothing would be left");
    for episode in &happened {
        assert_eq!(
            (episode.session_id, &episode.trigger, &episode.task_name),
            (None, &None, &None),
            "{episode:?}"
        );
    }
    assert_eq!(happened[0].role, EpisodeRole::Birth);
    known.check_sound();
}

#[test]
fn what_a_job_made_of_a_replaced_turn_goes_with_its_replacement() {
    let known = Known::new();
    let talk = known.session("talk");
    let first = talk.record(NewTurn::new("The port is 8080.", "Noted.")).unwrap().turn_id;
    let by_job = known.memories.save(learned("Port", first, "8080")).unwrap().memory.id;
    let by_hand = known.save(fix("The port").source(first, "8080")).id;
    talk.record(NewTurn::new("The port is 8443.", "Noted.").replacing(first)).unwrap();
    assert_eq!(known.memories.get(by_job).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(known.get(by_hand).status, MemoryStatus::Active);
    let refused = known.memories.save(learned("Again", first, "8080")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound, "it proves nothing any more");
    known.file.user("alex").unwrap().erase_turn(first).unwrap();
    known.check_sound();
}

#[test]
fn what_jobs_made_of_an_erased_memory_goes_with_it() {
    let known = Known::new();
    let ids = ["a", "b", "insight of a", "insight of that", "by hand of a", "merged of a and b"]
        .map(|title| known.save(fix(title)).id);
    known.file.close().unwrap();
    let path = known.fixture.path();
    let made_of = |product: &str, source: &str| {
        format!(
            "INSERT INTO memory_sources (user_no, memory_no, source_kind, source_id, origin, made_by, said_at, quote)
             SELECT p.user_no, p.memory_no, 'memory', s.id, 'user', 'rules', s.said_at, ''
             FROM user_memories AS p JOIN user_memories AS s ON s.title = '{source}' WHERE p.title = '{product}';"
        )
    };
    let script = [
        "DELETE FROM memory_sources WHERE memory_no IN (3, 4, 6);
         UPDATE user_memories SET learning_source = 'consolidation' WHERE memory_no IN (3, 4, 6);
         UPDATE user_memories SET status = 'superseded', superseded_by = 6, seq = NULL WHERE title = 'b';"
            .to_owned(),
        made_of("insight of a", "a"),
        made_of("insight of that", "insight of a"),
        made_of("by hand of a", "a"),
        made_of("merged of a and b", "a"),
        made_of("merged of a and b", "b"),
        // Memories made of each other: an erased one is examined only once.
        made_of("a", "insight of that"),
    ];
    rewrite(&path, &script.concat());
    let known = Known { file: known.fixture.open(), ..known };
    let memories = known.file.user("alex").unwrap().memories().by(Origin::User);
    let known = Known { memories, ..known };
    assert_eq!(known.memories.erase(ids[0]).unwrap().memories, 4);
    let left = known.titles(MemoryFilter::default().statuses([]));
    assert_eq!(left, ["by hand of a", "b"]);
    assert_eq!(known.get(ids[1]).status, MemoryStatus::Active, "what was merged holds again");
    known.check_sound();
}

#[test]
fn an_erased_user_has_no_memories_and_a_memory_alone_makes_a_user_to_erase() {
    let known = Known::new();
    let mut words = Words::default();
    let [a, b] = [0, 1].map(|_| {
        known.save(NewMemory::new(MemoryKind::General, words.some(3), words.some(30)).tags([words.next()])).id
    });
    known.memories.relate(a, NewEdge::new(EdgeType::Causes).description(words.some(9)), b).unwrap();
    known.memories.edit(a, Edit::default().title(words.next())).unwrap();
    let erased = known.file.user("alex").unwrap().erase().unwrap();
    assert_eq!((erased.memories, erased.turns), (2, 0));
    assert_eq!(found(&known.fixture.path(), words.0), BTreeSet::new());
    assert_eq!(known.memories.get(a).unwrap_err().kind(), ErrorKind::NotFound);
    let refused = known.memories.save(fix("Anew")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound, "an old handle writes nothing");
    known.check_sound();
}

/// Writes a canary into each column of the memory tables that accepts one, in the last row, or in all rows of a table
/// without rowids. Returns the columns.
fn fill_with_canaries(path: &std::path::Path, words: &mut Words) -> Vec<String> {
    let conn = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::default()).unwrap();
    let columns = "SELECT t.name || '.' || c.name || '.' || c.type
        FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
        WHERE t.schema = 'main' AND t.type = 'table' AND c.type IN ('TEXT', 'BLOB') AND c.name <> 'row_check'
          AND (t.name LIKE 'memory\\_%' ESCAPE '\\' OR t.name = 'user_memories') AND t.name <> 'memory_tier_transitions'
        ORDER BY 1";
    let columns: Vec<String> = {
        let mut stmt = conn.prepare(columns).unwrap();
        stmt.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut filled = Vec::new();
    for column in columns {
        let [table, name, kind] = column.split('.').collect::<Vec<_>>()[..] else { panic!("{column}") };
        let canary = words.next();
        let value = match kind {
            "BLOB" => format!("CAST('{canary}' AS BLOB)"),
            _ => format!("'\"{canary}\"'"), // JSON, where that is needed.
        };
        // A column that accepts only some words, or names a row, takes no canary.
        let update =
            format!("UPDATE {table} SET {name} = {value} WHERE rowid = (SELECT max(rowid) FROM {table})");
        let update_all = format!("UPDATE {table} SET {name} = {value}");
        if conn.execute(&update, []).or_else(|_| conn.execute(&update_all, [])).is_ok_and(|rows| rows > 0) {
            filled.push(column);
        } else {
            words.0 -= 1;
        }
    }
    filled
}

#[test]
fn of_any_column_of_any_table_nothing_is_left_when_its_user_is_erased() {
    let known = Known::new();
    let talk = known.session("talk");
    let first = talk.record(turn(1)).unwrap().turn_id;
    let a = known.save(fix("a").tags(["t"]).source(first, "question").session(talk.id()).caller_id("c"));
    let b = known.save(fix("b").tags(["t"]));
    known.memories.relate(a.id, NewEdge::new(EdgeType::Causes), b.id).unwrap();
    known.memories.note(NewNote::new("n").caller_id("n").memory(b.id)).unwrap();
    known.file.close().unwrap();
    let path = known.fixture.path();
    rewrite(
        &path,
        "INSERT INTO memory_sensors (user_no, memory_no, sensor, subject, seen_hash)
         SELECT user_no, memory_no, 'fs', 'x', x'01' FROM user_memories;
         INSERT INTO memory_reviews (id, user_no, kind, memory_no, opened_at, why, decision, decided_at, decided_by)
         SELECT id, user_no, 'merge', memory_no, '', '', 'rejected', '', '' FROM user_memories;
         UPDATE memory_state SET validated_by = '', resurfaced_on = '', last_used_at = '', validated_at = '';",
    );
    let mut words = Words::default();
    let filled = fill_with_canaries(&path, &mut words);
    assert!(filled.len() >= 55, "{} {filled:#?}", filled.len());
    rewrite(&path, "");
    let file = known.fixture.open();
    assert_eq!(found(&path, words.0).len(), words.0, "all of it is in the file");
    file.user("alex").unwrap().erase().unwrap();
    assert_eq!(found(&path, words.0), BTreeSet::new());
}
