//! A memory in a temporary file, called through the table. Calls that must succeed are checked against the schemas.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt,
    fs::File,
    io::{Read, Seek},
    sync::Arc,
};

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;
use thermocline::{Config, Origin, Summarizer, Summarizing, Thermocline, Turn, Verdict};
use thermocline_server::{
    caller::Caller,
    ops::{
        OperationOutcome, Row,
        call::Surface,
        problem::{Code, Problem},
        schema,
        spec::{Body, Target},
    },
    service::{CallRequest, Service},
};

/// The user of the tests.
pub const ALEX: &str = "alex";

pub struct Bench {
    pub folder: TempDir,
    pub service: Arc<Service>,
    /// The names of the operations that have answered a call that must succeed.
    pub called: RefCell<BTreeSet<&'static str>>,
}

impl Bench {
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut Service)) -> Self {
        Self::on(tempfile::tempdir().unwrap(), change).await
    }

    /// Opens the file `memory.db` of a folder.
    pub async fn on(folder: TempDir, change: impl FnOnce(&mut Service)) -> Self {
        let mut config = Config::default();
        config.worker = false;
        config.summarizer = Some(Arc::new(FirstWords));
        let memory = Thermocline::open_with(folder.path().join("memory.db"), config).await.unwrap();
        let mut service = Service::new(memory);
        service.backup_folder = Some(folder.path().to_owned());
        change(&mut service);
        Self { folder, service: Arc::new(service), called: RefCell::default() }
    }

    #[track_caller]
    pub fn row(&self, name: &str) -> &'static Row {
        self.service.find(name).unwrap_or_else(|| panic!("there is no row {name}"))
    }

    /// Calls an operation as this caller, without checking the request against the schema.
    pub async fn ask_as(
        &self,
        caller: Caller,
        name: &str,
        request: Value,
    ) -> Result<(OperationOutcome, Value), Problem> {
        self.ask_for(ALEX, caller, name, request).await
    }

    /// Calls an operation, for this user if it is about one, without checking the request against the schema.
    pub async fn ask_for(
        &self,
        user: &str,
        caller: Caller,
        name: &str,
        request: Value,
    ) -> Result<(OperationOutcome, Value), Problem> {
        let row = self.row(name);
        let asked = CallRequest {
            caller: Arc::new(caller),
            user: (row.spec.target == Target::User).then(|| user.to_owned()),
            surface: Surface::Shell,
            request,
            spool: None,
        };
        let reply = self.service.run(row, asked).await?;
        Ok((reply.outcome, serde_json::from_str(&reply.body).unwrap()))
    }

    pub async fn ask(&self, name: &str, request: Value) -> Result<(OperationOutcome, Value), Problem> {
        self.ask_as(Caller::shell(Origin::User), name, request).await
    }

    /// Makes a call that must succeed, and whose request and answer must match the schemas; returns its outcome and its
    /// answer.
    pub async fn well(&self, name: &str, request: Value) -> (OperationOutcome, Value) {
        self.well_as(Origin::User, name, request).await
    }

    pub async fn well_as(&self, origin: Origin, name: &str, request: Value) -> (OperationOutcome, Value) {
        let row = self.row(name);
        assert_fits(&schema::request(row), &request, &format!("what is asked of {name}"));
        let answered = self.ask_as(Caller::shell(origin), name, request).await;
        let (outcome, answer) = answered.unwrap_or_else(|problem| panic!("{name}: {problem:?}"));
        assert!(answer.is_object(), "{name} answers an object");
        assert_fits(&schema::response(row), &answer, &format!("what {name} answers"));
        self.called.borrow_mut().insert(row.spec.name);
        (outcome, answer)
    }

    /// Makes a call that must succeed; returns only the answer.
    pub async fn answer(&self, name: &str, request: Value) -> Value {
        self.well(name, request).await.1
    }

    /// Calls an operation whose request or response body is lines of JSON, with these lines in the spool; returns the
    /// answer, and what the spool contains afterwards.
    pub async fn spooled(&self, name: &str, lines: &str) -> (Value, String) {
        let row = self.row(name);
        assert_ne!(row.spec.body, Body::Json);
        let mut spool = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut spool, lines.as_bytes()).unwrap();
        spool.rewind().unwrap();
        let asked = CallRequest {
            caller: Arc::new(Caller::shell(Origin::User)),
            user: Some(ALEX.to_owned()),
            surface: Surface::Shell,
            request: json!({}),
            spool: Some(spool.try_clone().unwrap()),
        };
        let reply = self.service.run(row, asked).await.unwrap();
        let answer = serde_json::from_str(&reply.body).unwrap();
        assert_fits(&schema::response(row), &answer, &format!("what {name} answers"));
        self.called.borrow_mut().insert(row.spec.name);
        (answer, written(spool))
    }

    /// Makes a call that must fail; returns the code of the problem.
    pub async fn refused(&self, name: &str, request: Value) -> Code {
        match self.ask(name, request.clone()).await {
            Ok(answer) => panic!("{name} takes {request}: {answer:?}"),
            Err(problem) => problem.code,
        }
    }
}

fn written(mut spool: File) -> String {
    spool.rewind().unwrap();
    let mut text = String::new();
    spool.read_to_string(&mut text).unwrap();
    text
}

#[track_caller]
pub fn assert_fits(schema: &Value, value: &Value, what: &str) {
    let validator: Validator =
        jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what} is not what its schema says: {errors:#?}\n{value:#}");
}

/// LLM#1, which summarizes a turn by the first words of the user's message.
struct FirstWords;

impl fmt::Debug for FirstWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstWords")
    }
}

impl Summarizer for FirstWords {
    fn name(&self) -> &'static str {
        "first words"
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        let verdict = |turn: &Turn| {
            let words: Vec<&str> = turn.said.user_message.split_whitespace().take(12).collect();
            Verdict::summary(turn.id, format!("The user said {}", words.join(" ")))
        };
        Box::pin(async move { Ok(turns.iter().map(verdict).collect()) })
    }
}
