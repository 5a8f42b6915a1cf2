//! What may be opened, and that a refusal changes no byte.

use std::{fs, path::Path};

use rusqlite::Connection;
use thermocline::{Config, ErrorKind, Originals, UserId, blocking::Thermocline};

use crate::{
    children,
    metadata::older,
    scripted::{Scripted, first_words},
    support::{Fixture, hot, turn},
};

/// Checks that opening is refused with `kind`, and the file stays as it was.
#[track_caller]
fn check_refused(path: &Path, kind: ErrorKind) {
    let before = fs::read(path).ok();
    let error = Thermocline::open(path).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(fs::read(path).ok(), before, "{error}");
}

/// Creates a database with plain SQL.
fn database(path: &Path, sql: &str) -> Connection {
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::default()).unwrap();
    conn.execute_batch(sql).unwrap();
    conn
}

/// Returns the names of everything in the fixture's folder.
fn files(fixture: &Fixture) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> =
        fs::read_dir(fixture.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn places_that_are_no_file_are_refused() {
    let fixture = Fixture::new();
    let open = |path: &str| Thermocline::open(path).unwrap_err().kind();
    assert_eq!(open(":memory:"), ErrorKind::InvalidInput);
    assert_eq!(open(""), ErrorKind::InvalidInput);
    assert_eq!(open("file:x.db?mode=memory"), ErrorKind::InvalidInput);
    assert_eq!(open(fixture.folder.path().to_str().unwrap()), ErrorKind::InvalidInput);
    assert_eq!(open(fixture.folder.path().join("no/such/folder.db").to_str().unwrap()), ErrorKind::NotFound);
}

#[test]
fn a_newer_schema_is_refused() {
    let fixture = Fixture::new();
    drop(fixture.session());
    database(
        &fixture.path(),
        "INSERT INTO thermocline_schema_history (version, name, applied_on, checksum)
         VALUES (9999, 'from_the_future', '2030-01-01T00:00:00Z', '1')",
    );
    check_refused(&fixture.path(), ErrorKind::NewerSchema);
}

#[test]
fn another_programs_database_is_refused() {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.folder.path().join(name);
    database(&path("id.db"), "PRAGMA application_id = 7; CREATE TABLE t(x)");
    check_refused(&path("id.db"), ErrorKind::ForeignFile);
    database(&path("tables.db"), "CREATE TABLE bookmarks(url TEXT)");
    check_refused(&path("tables.db"), ErrorKind::ForeignFile);
    database(
        &path("snapshots.db"),
        "CREATE TABLE users(id BLOB PRIMARY KEY); CREATE TABLE state_snapshots(id TEXT)",
    );
    check_refused(&path("snapshots.db"), ErrorKind::ForeignFile);
    database(
        &path("taken.db"),
        "CREATE TABLE users(id BLOB PRIMARY KEY); CREATE TABLE conversation_turns(x)",
    );
    check_refused(&path("taken.db"), ErrorKind::ForeignFile);
}

/// Checks that a backend whose users have this key is refused, with a message that names what was found, what is needed, and
/// a way out.
#[track_caller]
fn check_users(columns: &str, found: &str) {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("backend.db");
    database(&path, &format!("CREATE TABLE users({columns})"));
    check_refused(&path, ErrorKind::ForeignFile);
    let said = Thermocline::open(&path).unwrap_err().to_string();
    for words in ["backend.db cannot be joined", found, "\"id BLOB PRIMARY KEY\"", "a file of its own"] {
        assert!(said.contains(words), "{words:?} is not in {said:?}");
    }
}

#[test]
fn a_backend_whose_users_have_another_key_is_told_what_is_needed_and_how_to_use_a_file_apart() {
    check_users("id INTEGER PRIMARY KEY, email TEXT", "its table users has the key id INTEGER");
    check_users("Id text PRIMARY KEY", "its table users has the key id TEXT");
    check_users("id PRIMARY KEY", "has the key id without a type");
    check_users("id BLOB, email TEXT PRIMARY KEY", "has a column id that is not its key alone");
    check_users(
        "id BLOB, tenant BLOB, PRIMARY KEY (id, tenant)",
        "has a column id that is not its key alone",
    );
    check_users("user_id BLOB PRIMARY KEY", "its table users has no column id");
}

#[test]
fn the_users_of_a_backend_with_keys_of_another_type_have_a_file_apart_where_their_keys_are_names() {
    let fixture = Fixture::new();
    database(&fixture.folder.path().join("backend.db"), "CREATE TABLE users(id INTEGER PRIMARY KEY)");
    let memory = fixture.open();
    memory.user("4711").unwrap().session().unwrap().record(turn(1)).unwrap();
    assert!(memory.find_user("4711").unwrap().is_some() && memory.find_user("4712").unwrap().is_none());
}

#[test]
fn damaged_files_are_refused() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("text.db");
    fs::write(&path, "Dear diary, this is no database at all. ".repeat(100)).unwrap();
    check_refused(&path, ErrorKind::Corrupt);

    drop(fixture.session());
    let mut bytes = fs::read(fixture.path()).unwrap();
    bytes[100..4_096].fill(0xff); // The page that says which tables there are.
    fs::write(fixture.path(), bytes).unwrap();
    check_refused(&fixture.path(), ErrorKind::Corrupt);
}

#[test]
#[cfg(unix)]
fn a_place_that_cannot_be_written_is_refused() {
    check_read_only("read_only_file");
    check_read_only("read_only_folder");
    check_read_only("missing_in_read_only_folder");
}

#[test]
fn knobs_out_of_their_limits_are_refused_before_anything_is_made() {
    let fixture = Fixture::new();
    let mut config = Config::default();
    config.hot_turns = 0;
    let error = Thermocline::open_with(fixture.path(), config).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("hot_turns")), (ErrorKind::InvalidInput, true));
    assert!(!fixture.path().exists());
}

/// Checks that the file opened by this name is the one at this path.
#[cfg(unix)]
#[track_caller]
fn check_name(fixture: &Fixture, name: &Path, path: &Path) {
    let memory = Thermocline::open_with(path, fixture.config.clone()).unwrap();
    let by_name = Thermocline::open_with(name, fixture.config.clone()).unwrap();
    assert_eq!((by_name.path(), memory.path()), (path, path));
    let (here, there) = (memory.user("alex").unwrap(), by_name.user("alex").unwrap());
    here.session_named("talk").unwrap().record(turn(1)).unwrap();
    let session = there.session_named("talk").unwrap();
    session.record(turn(2)).unwrap();
    assert_eq!(hot(&here.session_named("talk").unwrap()), [1, 2]);
    assert!(by_name.stats().unwrap().wal_bytes > 0);
    let copy = path.with_extension("copy");
    by_name.backup(&copy).unwrap();
    assert!(Thermocline::open(&copy).unwrap().find_user("alex").unwrap().is_some());
    fs::remove_file(copy).unwrap();
    assert!(!session.erase().unwrap().is_pending);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
#[cfg(unix)]
fn one_file_has_one_path_by_whatever_links_it_is_opened() {
    let fixture = Fixture::new();
    let folder = fixture.folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("memory.db", folder.join("link.db")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("again")).unwrap();
    check_name(&fixture, &folder.join("link.db"), &folder.join("memory.db"));
    check_name(&fixture, &folder.join("again/link.db"), &folder.join("memory.db"));
    check_name(&fixture, &folder.join("again/./memory.db"), &folder.join("memory.db"));
    std::os::unix::fs::symlink("nothing", folder.join("dangling.db")).unwrap();
    let error = Thermocline::open(folder.join("dangling.db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("a broken link"), "{error}");
}

#[test]
#[cfg(target_os = "linux")] // Others refuse such names.
fn a_path_that_is_not_utf_8_is_a_path() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new();
    let folder = fixture.folder.path().canonicalize().unwrap();
    let path = folder.join(std::ffi::OsStr::from_bytes(b"m\xff.db"));
    check_name(&fixture, &path, &path);
}

#[test]
fn deleting_originals_without_a_summarizer_is_refused() {
    let fixture = Fixture::new();
    let mut config = Config::default();
    config.originals = Originals::Delete;
    let error = Thermocline::open_with(fixture.path(), config.clone()).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().contains("without a summarizer")),
        (ErrorKind::InvalidInput, true)
    );
    assert!(!fixture.path().exists());
    config.summarizer = Some(Scripted::each(first_words));
    Thermocline::open_with(fixture.path(), config).unwrap();
}

#[test]
fn who_only_looks_makes_nothing() {
    let fixture = Fixture::new();
    let mut config = fixture.config.clone();
    config.must_exist = true;
    let look =
        || Thermocline::open_with(fixture.path(), config.clone()).map(drop).map_err(|error| error.kind());
    assert_eq!(look(), Err(ErrorKind::NotFound));
    assert!(!fixture.path().exists());
    fs::write(fixture.path(), "").unwrap();
    assert_eq!(look(), Err(ErrorKind::NotFound));
    database(&fixture.path(), "CREATE TABLE users(id BLOB PRIMARY KEY)");
    let before = fs::read(fixture.path()).unwrap();
    assert_eq!(look(), Err(ErrorKind::NotFound));
    assert_eq!(fs::read(fixture.path()).unwrap(), before);
    drop(fixture.open());
    assert_eq!(look(), Ok(()));
}

#[test]
fn a_backup_is_whole_and_replaces_nothing() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    session.record(turn(1)).unwrap();
    let path = |name: &str| fixture.folder.path().join(name);
    assert!(memory.backup(path("copy.db")).unwrap() > 4_096);
    let copy = Thermocline::open_with(path("copy.db"), fixture.config.clone()).unwrap();
    assert!(copy.doctor().unwrap().is_healthy());
    assert_eq!(hot(&copy.user("alex").unwrap().session().unwrap()), [1]);
    let refused = |to: &Path| memory.backup(to).unwrap_err().kind();
    assert_eq!(refused(&path("copy.db")), ErrorKind::Conflict);
    assert_eq!(refused(&path("no/folder/copy.db")), ErrorKind::NotFound);
    drop((copy, session, memory));
    assert_eq!(files(&fixture), ["copy.db", "memory.db"], "nothing half made is left");
}

#[test]
fn of_backups_to_one_name_at_once_one_succeeds() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    let memory = fixture.open();
    let to = fixture.folder.path().join("copy.db");
    let begin = std::sync::Barrier::new(6);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let backup = || {
            begin.wait();
            memory.backup(&to).map_err(|error| error.kind())
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(backup)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let refused: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused, [ErrorKind::Conflict; 5]);

    let copy = Thermocline::open_with(&to, fixture.config.clone()).unwrap();
    assert!(copy.doctor().unwrap().is_healthy());
    assert_eq!(hot(&copy.user("alex").unwrap().session().unwrap()), [1]);
    drop((copy, session, memory));
    assert_eq!(files(&fixture), ["copy.db", "memory.db"], "nothing half made is left");
}

#[test]
fn an_empty_file_becomes_ours_and_is_the_owners_alone() {
    let fixture = Fixture::new();
    fs::write(fixture.path(), "").unwrap();
    fixture.session().record(turn(1)).unwrap();
    assert_eq!(hot(&fixture.session()), [1]);

    let made = fixture.folder.path().join("made.db");
    let memory = Thermocline::open(&made).unwrap();
    memory.user("alex").unwrap();
    #[cfg(unix)]
    for file in ["made.db", "made.db-wal", "made.db-shm"] {
        let bits = std::os::unix::fs::PermissionsExt::mode(
            &fs::metadata(fixture.folder.path().join(file)).unwrap().permissions(),
        );
        assert_eq!(bits & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_file_left_half_made_by_a_crash_is_finished() {
    let fixture = Fixture::new();
    database(
        &fixture.path(),
        "PRAGMA application_id = 0x5468436c;
         CREATE TABLE thermocline_schema_history(version INT4 PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255),
                                                 checksum VARCHAR(255))",
    );
    fixture.session().record(turn(1)).unwrap();
    assert_eq!(hot(&fixture.session()), [1]);
}

#[test]
fn many_may_open_the_same_new_file_at_once() {
    let fixture = Fixture::new();
    let mut running: Vec<_> =
        (0..4).map(|_| children::start("open_new", &[fixture.path().to_str().unwrap()])).collect();
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let path = fixture.path();
            std::thread::spawn(move || {
                Thermocline::open(path).unwrap().user(&format!("thread {n}")).unwrap().id()
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for child in &mut running {
        assert_eq!(child.lines(), ["opened"]);
    }
    assert!(fixture.open().doctor().unwrap().is_healthy());
    assert_eq!(fixture.open().stats().unwrap().users, 5);
}

#[test]
fn a_backends_own_database_is_joined_and_its_rows_are_left_alone() {
    let fixture = Fixture::new();
    let id = uuid::Uuid::from_u128(7);
    let conn = database(
        &fixture.path(),
        "PRAGMA application_id = 42; PRAGMA user_version = 12;
         CREATE TABLE users(id BLOB PRIMARY KEY, email TEXT);
         CREATE TABLE state_snapshots(id BLOB PRIMARY KEY, state TEXT);
         CREATE TABLE refinery_schema_history(version INT4 PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT);
         CREATE VIEW names AS SELECT email FROM users;",
    );
    conn.execute("INSERT INTO users VALUES (?1, 'a@b.example')", [id.as_bytes()]).unwrap();
    check_refused(&fixture.path(), ErrorKind::ForeignFile);

    let mut config = fixture.config.clone();
    config.backend_application_id = Some(42);
    let memory = Thermocline::open_with(fixture.path(), config).unwrap();
    assert_eq!(
        memory.user("alex").unwrap_err().kind(),
        ErrorKind::Unsupported,
        "names are the backend's business"
    );
    let stranger = UserId::from_uuid(uuid::Uuid::from_u128(8));
    assert_eq!(memory.user_by_id(stranger).unwrap_err().kind(), ErrorKind::NotFound);
    let session = memory.user_by_id(UserId::from_uuid(id)).unwrap().session().unwrap();
    session.record(turn(1)).unwrap();
    let unknown = thermocline::SnapshotId::from_uuid(uuid::Uuid::from_u128(9));
    assert_eq!(session.record(turn(2).snapshot(unknown)).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(hot(&session), [1]);

    let rows: (i64, String, i64, i64, i64) = conn
        .query_row(
            "SELECT (SELECT count(*) FROM users), (SELECT email FROM users), (SELECT count(*) FROM state_snapshots),
                    (SELECT user_version FROM pragma_user_version),
                    (SELECT application_id FROM pragma_application_id)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )
        .unwrap();
    assert_eq!(rows, (1, "a@b.example".to_owned(), 0, 12, 42));
    conn.execute_batch("ALTER TABLE users RENAME COLUMN email TO mail").unwrap(); // Our views do not stand in the way.
    assert!(memory.doctor().unwrap().is_healthy());
    drop((session, memory, conn));
    assert_eq!(fixture.open().stats().unwrap().users, 1, "what has our tables needs no id");
}

#[test]
fn a_backends_names_are_found_in_any_case_as_sqlite_finds_them() {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.folder.path().join(name);
    let conn = database(
        &path("backend.db"),
        "CREATE TABLE Users(ID BLOB PRIMARY KEY); CREATE TABLE State_Snapshots(Id BLOB PRIMARY KEY, created_at TEXT);
         INSERT INTO users VALUES (zeroblob(16));",
    );
    let memory = Thermocline::open(path("backend.db")).unwrap();
    let session = memory.user_by_id(UserId::from_uuid(uuid::Uuid::nil())).unwrap().session().unwrap();
    let unknown = thermocline::SnapshotId::from_uuid(uuid::Uuid::from_u128(9));
    assert_eq!(session.record(turn(1).snapshot(unknown)).unwrap_err().kind(), ErrorKind::InvalidInput);
    let rows: i64 = conn.query_row("SELECT count(*) FROM state_snapshots", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 0, "nothing is written to the backend's table");

    database(&path("taken.db"), "CREATE TABLE users(id BLOB PRIMARY KEY); CREATE TABLE Recall_Units(x)");
    check_refused(&path("taken.db"), ErrorKind::ForeignFile);
}

#[test]
fn an_older_file_whose_backend_came_to_a_new_name_first_is_refused_by_that_name() {
    let fixture = Fixture::new();
    fixture.session().record(turn(1)).unwrap();
    let path = fixture.folder.path().join("older.db");
    older(&fixture, 17, &path);
    let conn = database(&path, "CREATE TABLE User_Memories(id INTEGER PRIMARY KEY, note TEXT)");
    check_refused(&path, ErrorKind::ForeignFile);
    let said = Thermocline::open(&path).unwrap_err().to_string();
    assert!(said.contains("already has a user_memories of its own"), "{said}");
    conn.execute_batch("ALTER TABLE user_memories RENAME TO notes_of_users").unwrap();
    drop(conn);
    let memory = Thermocline::open_with(&path, fixture.config.clone()).unwrap();
    assert_eq!(hot(&memory.user("alex").unwrap().session().unwrap()), [1]);

    let path = fixture.folder.path().join("backend.db");
    database(&path, "CREATE TABLE users(id BLOB PRIMARY KEY); CREATE TABLE memory_edges(x)");
    check_refused(&path, ErrorKind::ForeignFile);
}

#[test]
fn a_crashed_backends_database_is_rolled_back_and_joined() {
    let fixture = Fixture::new();
    let conn = database(
        &fixture.path(),
        "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; CREATE TABLE users(id BLOB PRIMARY KEY, note TEXT);
         BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
         INSERT INTO users SELECT randomblob(16), hex(randomblob(500)) FROM n;",
    );
    // What a kill in the middle of the transaction leaves: the file, half changed, and its journal.
    let copy = Fixture::new();
    for suffix in ["", "-journal"] {
        let file = |fixture: &Fixture| format!("{}{suffix}", fixture.path().display());
        fs::copy(file(&fixture), file(&copy)).unwrap();
    }
    drop(conn);
    assert!(copy.open().doctor().unwrap().is_healthy());
}

#[test]
fn a_user_who_is_gone_gets_no_session() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    database(&fixture.path(), "PRAGMA foreign_keys = ON; DELETE FROM users");
    assert_eq!(alex.session().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(alex.session_named("chat").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(fixture.open().doctor().unwrap().is_healthy());
}

#[test]
fn a_backends_user_that_is_deleted_takes_its_memory_along() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    let conn = database(&fixture.path(), "PRAGMA foreign_keys = ON; DELETE FROM users");
    for table in ["user_scopes", "conversation_sessions", "conversation_turns", "recall_units"] {
        let left: i64 =
            conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}

pub fn child_opens_a_new_file(path: &str) {
    Thermocline::open(path).unwrap().user("child").unwrap();
    children::say("opened");
}

/// Opens what it may not write, and reports the kind of the error.
pub fn child_opens_what_it_may_not_write(folder: &str, kind: &str) {
    let path =
        Path::new(folder).join(if kind == "missing_in_read_only_folder" { "none.db" } else { "memory.db" });
    children::say(&format!("{:?}", Thermocline::open(path).unwrap_err().kind()));
}

/// Checks that a child is refused a file that it may read but not write, or one in such a folder.
#[cfg(unix)]
fn check_read_only(kind: &str) {
    let fixture = Fixture::new();
    drop(fixture.session());
    let folder = fixture.folder.path();
    let permit = |path: &Path, mode| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    let (of_file, of_folder) = if kind == "read_only_file" { (0o444, 0o777) } else { (0o666, 0o555) };
    permit(&fixture.path(), of_file);
    permit(folder, of_folder);
    let said = children::as_nobody("open_read_only", &[folder.to_str().unwrap(), kind]).lines();
    permit(folder, 0o755);
    assert_eq!(said, ["ReadOnly"], "{kind}");
}

#[test]
fn one_file_is_left_when_all_handles_are_gone() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    drop(session);
    let names: Vec<_> =
        fs::read_dir(fixture.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["memory.db"]);
}
