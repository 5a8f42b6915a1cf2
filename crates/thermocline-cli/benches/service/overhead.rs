//! Times the same calls made alternately in this process and over a kept HTTP connection. Each of the two has its own copy
//! of the file. An empty request is timed for comparison.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thermocline::{NewTurn, RecallOptions, Session, Thermocline, TurnId, User};

use crate::{
    client::{Client, Server},
    percentile,
    support::{
        Length, is_test, operations, runtime, scratch,
        table::Report,
        text::Writer,
        user::{NAME, OneUser},
    },
};

const TURNS: usize = 10_000;
const ROUNDS: usize = 1_000;
/// The number of empty requests for each kind of call.
const NOTHINGS: usize = 300;

/// The times of both sides.
#[derive(Default)]
struct Times {
    library: Vec<Duration>,
    http: Vec<Duration>,
    /// The times of an empty request (`/health/live`) after the same call of the library: what any request costs on this
    /// machine.
    nothing: Vec<Duration>,
}

impl Times {
    fn row(&mut self, what: &str, report: &mut Report) {
        let (library, http) = (percentile(&mut self.library, 0.5), percentile(&mut self.http, 0.5));
        let late = percentile(&mut self.http, 0.99).as_secs_f64()
            / percentile(&mut self.library, 0.99).as_secs_f64();
        let more = http.saturating_sub(library);
        let verdict = if more <= Duration::from_micros(100) { "met" } else { "missed" };
        report.line(&[
            what.to_owned(),
            format!("{library:.1?}"),
            format!("{http:.1?}"),
            format!("{more:.1?}"),
            format!("{:.1?}", percentile(&mut self.nothing, 0.5)),
            "100µs".to_owned(),
            verdict.to_owned(),
            format!("{late:.2}"),
        ]);
    }
}

pub fn measure(report: &mut Report) {
    report.head(&[
        "call",
        "library p50",
        "HTTP p50",
        "more",
        "a request for nothing",
        "target",
        "verdict",
        "p99, HTTP over library",
    ]);
    let turns = if is_test() { 100 } else { TURNS };
    let one = OneUser::of(turns, Length::Short, 0);
    let folder = scratch();
    let [ours, theirs] = ["library.db", "http.db"].map(|name| folder.path().join(name));
    for copy in [&ours, &theirs] {
        fs::copy(&one.path, copy).unwrap();
    }
    let server = Server::start(&theirs);
    runtime().block_on(async {
        let memory = Thermocline::open(&ours).await.unwrap();
        let user = memory.find_user(NAME).await.unwrap().expect("the user is in the file");
        let session = user.session_named("bench").await.unwrap();
        let mut client = Client::connect(server.address).await.unwrap();
        records(&session, &mut client).await.row("record", report);
        let turns: Vec<TurnId> =
            user.cold_turns(None, 1_000).await.unwrap().iter().map(|turn| turn.id).collect();
        shows(&user, &mut client, &turns).await.row("turn_show", report);
        recalls(&user, &mut client).await.row("recall", report);
        memory.close().await.unwrap();
    });
}

async fn records(session: &Session, client: &mut Client) -> Times {
    let mut times = Times::default();
    let mut writer = Writer::new(5);
    for n in 0..operations(ROUNDS) {
        let (message, reply) = writer.sides(Length::Short);
        let body = json!({ "session": "bench", "user_message": message, "ai_response": reply, "caller_id": format!("bench-{n}") });
        let started = Instant::now();
        session.record(NewTurn::new(message, reply).caller_id(format!("bench-{n}"))).await.unwrap();
        times.library.push(started.elapsed());
        times.http.push(post(client, &format!("/v1/users/{NAME}/turns"), &body, 201).await);
    }
    for _ in 0..operations(NOTHINGS) {
        session.record(writer.turn(Length::Short)).await.unwrap();
        times.nothing.push(get(client, "/health/live").await);
    }
    times
}

async fn shows(user: &User, client: &mut Client, turns: &[TurnId]) -> Times {
    let mut times = Times::default();
    for turn in turns.iter().cycle().take(operations(ROUNDS)) {
        let started = Instant::now();
        user.turn(*turn).await.unwrap();
        times.library.push(started.elapsed());
        times.http.push(get(client, &format!("/v1/users/{NAME}/turns/{turn}")).await);
    }
    for turn in turns.iter().take(operations(NOTHINGS)) {
        user.turn(*turn).await.unwrap();
        times.nothing.push(get(client, "/health/live").await);
    }
    times
}

async fn recalls(user: &User, client: &mut Client) -> Times {
    let mut times = Times::default();
    let mut writer = Writer::new(9);
    for n in 0..operations(ROUNDS + 1) {
        let query = writer.common_words().join(" ");
        let started = Instant::now();
        user.recall(&query, RecallOptions::default()).await.unwrap();
        let library = started.elapsed();
        let http = post(client, &format!("/v1/users/{NAME}/recall"), &json!({ "query": query }), 200).await;
        // The first call reads the user's index into memory, so it is not counted.
        if n > 0 {
            times.library.push(library);
            times.http.push(http);
        }
    }
    for _ in 0..operations(NOTHINGS) {
        let query = writer.common_words().join(" ");
        user.recall(&query, RecallOptions::default()).await.unwrap();
        times.nothing.push(get(client, "/health/live").await);
    }
    times
}

async fn get(client: &mut Client, path: &str) -> Duration {
    let started = Instant::now();
    let answer = client.ask("GET", path, "").await.unwrap();
    let took = started.elapsed();
    assert_eq!(answer.status, 200);
    took
}

async fn post(client: &mut Client, path: &str, body: &Value, status: u16) -> Duration {
    let started = Instant::now();
    let answer = client.post(path, body).await.unwrap();
    let took = started.elapsed();
    assert_eq!(answer.status, status, "{}", String::from_utf8_lossy(&answer.body));
    took
}
