//! A thousand clients at the same time, and how many calls the service answers compared with the library.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use thermocline::{ContextOptions, NewTurn, RecallOptions, Thermocline};

use crate::{
    client::{Client, Server},
    crowd_time, judged, percentile,
    support::{Length, is_test, scratch, table::Report, text::Writer},
};

const USERS: usize = 100;
const TURNS_OF_USER: usize = 100;
const CLIENTS: usize = 1_000;
/// The number of rounds in which the service and the library are compared.
const ROUNDS: usize = 7;
/// The number of tasks that call the library: as many as the service has slots.
const TASKS: usize = 32;

/// The kind of a call. One of ten calls records; the others alternate between a recall and a context.
#[derive(Clone, Copy)]
enum Asks {
    Recall,
    Context,
    Record,
}

impl Asks {
    fn nth(n: usize) -> Self {
        match n % 10 {
            0 => Self::Record,
            n if n % 2 == 1 => Self::Recall,
            _ => Self::Context,
        }
    }
}

fn name(user: usize) -> String {
    format!("user-{}", user % USERS)
}

pub fn measure(report: &mut Report) {
    report.head(&["1,000 clients", "figure", "target", "verdict"]);
    let folder = scratch();
    let [file, http, ours] = ["load.db", "http.db", "library.db"].map(|name| folder.path().join(name));
    fill(&file);
    for copy in [&http, &ours] {
        fs::copy(&file, copy).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = Server::start(&file);
    let before = resident(server.process.id());
    let answers = runtime.block_on(crowd(&server, crowd_time()));
    let more = resident(server.process.id()).saturating_sub(before);
    drop(server);
    let rounds = runtime.block_on(rates(&http, &ours));
    answers.report(report, rounds, more);
}

/// Returns the answers per second over HTTP and of the library, round by round.
///
/// The machine's speed changes within minutes, and a recall takes longer if more was said. Therefore both sides
/// alternate, answer the same number of calls, and use equal copies of a file.
async fn rates(http: &Path, ours: &Path) -> Vec<(f64, f64)> {
    let service = Server::start(http);
    let memory = Thermocline::open(ours).await.unwrap();
    let mut rounds = Vec::new();
    for round in 0..if is_test() { 1 } else { ROUNDS } {
        let answers = crowd(&service, crowd_time() / 10).await;
        let library = library_rate(&memory, round, answers.times.len() as u64).await;
        rounds.push((answers.rate(), library));
    }
    memory.close().await.unwrap();
    rounds
}

fn fill(path: &Path) {
    let memory = thermocline::blocking::Thermocline::open(path).unwrap();
    let mut writer = Writer::new(3);
    for user in 0..USERS {
        let user = memory.user(&name(user)).unwrap();
        let session = user.session_named("before").unwrap();
        for _ in 0..if is_test() { 2 } else { TURNS_OF_USER } {
            session.record(writer.turn(Length::Short)).unwrap();
        }
    }
    memory.close().unwrap();
}

/// Lets as many tasks as the service has slots call the library until it has answered this number of calls; returns how
/// many it answers per second.
async fn library_rate(memory: &Thermocline, round: usize, answers: u64) -> f64 {
    let count = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (memory, count) = (memory.clone(), Arc::clone(&count));
            tokio::spawn(async move {
                let mut writer = Writer::new((round * TASKS + task) as u64);
                for n in task.. {
                    if count.fetch_add(1, Ordering::Relaxed) >= answers {
                        break;
                    }
                    let user = memory.user(&name(n * 7)).await.unwrap();
                    let query = writer.common_words().join(" ");
                    match Asks::nth(n) {
                        Asks::Recall => drop(user.recall(&query, RecallOptions::default()).await.unwrap()),
                        Asks::Context => drop(user.context(&query, ContextOptions::default()).await.unwrap()),
                        Asks::Record => {
                            let (message, reply) = writer.sides(Length::Short);
                            let session =
                                user.session_named(&format!("client-{}", n % CLIENTS)).await.unwrap();
                            session.record(NewTurn::new(message, reply)).await.unwrap();
                        }
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    answers as f64 / started.elapsed().as_secs_f64()
}

#[derive(Default)]
struct Answers {
    times: Vec<Duration>,
    statuses: BTreeMap<u16, u64>,
    broken: u64,
    without_retry_after: u64,
    lasted: Duration,
}

/// The number of crowds so far, so that each has its own texts and ids.
static CROWDS: AtomicU64 = AtomicU64::new(0);

async fn crowd(server: &Server, time: Duration) -> Answers {
    let answers = Arc::new(Mutex::new(Answers::default()));
    let started = Instant::now();
    let crowd = CROWDS.fetch_add(1, Ordering::Relaxed);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let answers = Arc::clone(&answers);
            let address = server.address;
            tokio::spawn(async move { talk((n, crowd), address, started + time, &answers).await })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let mut answers = std::mem::take(&mut *answers.lock().unwrap());
    answers.lasted = started.elapsed();
    answers
}

async fn talk(
    (number, crowd): (usize, u64),
    server: std::net::SocketAddr,
    until: Instant,
    answers: &Mutex<Answers>,
) {
    let mut writer = Writer::new(crowd * CLIENTS as u64 + number as u64);
    let Ok(mut client) = Client::connect(server).await else {
        answers.lock().unwrap().broken += 1;
        return;
    };
    for n in number.. {
        if Instant::now() > until {
            return;
        }
        let query = writer.common_words().join(" ");
        let (path, body) = match Asks::nth(n) {
            Asks::Recall => ("recall", json!({ "query": query })),
            Asks::Context => ("context", json!({ "message": query })),
            Asks::Record => {
                let (message, reply) = writer.sides(Length::Short);
                let session = format!("client-{number}");
                (
                    "turns",
                    json!({ "session": session, "user_message": message, "ai_response": reply, "caller_id": format!("{crowd}-{number}-{n}") }),
                )
            }
        };
        let asked = Instant::now();
        let answer = client.post(&format!("/v1/users/{}/{path}", name(n * 7)), &body).await;
        let took = asked.elapsed();
        let busy = {
            let mut answers = answers.lock().unwrap();
            let Ok(answer) = answer else {
                answers.broken += 1;
                return;
            };
            *answers.statuses.entry(answer.status).or_default() += 1;
            if answer.status < 300 {
                answers.times.push(took);
            } else if !answer.head.contains("retry-after: ") {
                answers.without_retry_after += 1;
            }
            answer.status == 503
        };
        if busy {
            // The `Retry-After` of a busy service is always a second.
            tokio::time::sleep(Duration::from_secs(1).min(until.saturating_duration_since(Instant::now())))
                .await;
        }
    }
}

impl Answers {
    /// Returns the number of successful answers per second.
    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.lasted.as_secs_f64()
    }

    fn report(mut self, report: &mut Report, mut rounds: Vec<(f64, f64)>, more: u64) {
        let statuses: Vec<_> =
            self.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
        let others =
            self.statuses.iter().filter(|(status, _)| !matches!(status, 200 | 201 | 503)).count() as u64;
        let bad = others + self.broken + self.without_retry_after;
        rounds.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
        let (rate, library) = rounds[rounds.len() / 2];
        let parts: Vec<_> = rounds.iter().map(|(http, library)| format!("{:.2}", http / library)).collect();
        let late = percentile(&mut self.times, 0.99);
        let median = percentile(&mut self.times, 0.5);
        judged(
            report,
            "answers by status; broken off",
            format!("{}; {}", statuses.join(", "), self.broken),
            "no 5xx but 503 with Retry-After",
            bad == 0,
        );
        judged(
            report,
            "answered, p50 / p99",
            format!("{median:.0?} / {late:.0?}"),
            "p99 500ms",
            late <= Duration::from_millis(500),
        );
        judged(
            report,
            "answered a second; the library's; the rounds",
            format!("{rate:.0}; {library:.0}; {}", parts.join(", ")),
            "0.7 of the library's, by the median",
            rate >= 0.7 * library,
        );
        judged(report, "memory", format!("{} MiB more", more >> 20), "256 MiB", more <= 256 << 20);
    }
}

/// Returns the resident memory of a process, in bytes; 0 if the system does not report it.
pub fn resident(process: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default() * 4_096
}
