//! A server in the test's process, with its own memory.

use std::{
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use tempfile::TempDir;
use thermocline::{Config, Thermocline};
use thermocline_server::{
    caller::Users,
    http::Address,
    keys::{Key, KeyFile, New},
    ops::spec::KeyScope,
    server::{Ended, Refusal, Server},
    service::Service,
    settings::ServiceSettings,
};
use tokio::sync::oneshot;

use crate::client::{Answer, Client};

/// A server that shuts down when this is dropped, unless the test has panicked.
pub struct Running {
    pub address: Address,
    pub service: Arc<Service>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Option<Ended>>>,
    /// The folder of the memory, deleted when this is dropped.
    pub folder: TempDir,
}

/// A server to start: its settings, and the folder of its memory. By default it has a free port and no worker.
pub struct Setup {
    pub settings: ServiceSettings,
    pub config: Config,
    pub change: Box<dyn FnOnce(&mut Service)>,
    pub folder: TempDir,
}

impl Default for Setup {
    fn default() -> Self {
        let mut config = Config::default();
        config.worker = false;
        let settings = ServiceSettings { listen: "127.0.0.1:0".to_owned(), ..ServiceSettings::default() };
        Self { settings, config, change: Box::new(|_| {}), folder: TempDir::new().unwrap() }
    }
}

impl Setup {
    /// Returns the path of a file in the test's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a key file with these keys; returns the texts of the keys.
    pub fn keys<const N: usize>(mut self, new: [New; N]) -> (Self, [String; N]) {
        let path = self.path("keys.toml");
        let mut file = KeyFile::default();
        let texts = new.map(|new| {
            let (key, text) = Key::make(new).unwrap();
            file.keys.push(key);
            text
        });
        file.write(&path).unwrap();
        self.settings.keys = Some(path);
        (self, texts)
    }

    pub fn start(self) -> Running {
        self.try_start().unwrap()
    }

    pub fn try_start(self) -> Result<Running, Refusal> {
        let Self { settings, config, change, folder } = self;
        let path = folder.path().join("memory.db");
        let (started, start) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let service = runtime.block_on(async {
            let mut service = Service::new(Thermocline::open_with(path, config).await.unwrap());
            change(&mut service);
            Arc::new(service)
        });
        let shared = Arc::clone(&service);
        let thread = thread::spawn(move || {
            runtime.block_on(async {
                let memory = shared.memory.clone();
                match Server::start(shared, &settings).await {
                    Err(refusal) => {
                        started.send(Err(refusal)).unwrap();
                        None
                    }
                    Ok(server) => {
                        started.send(Ok(server.address().clone())).unwrap();
                        let end = async {
                            if ended.await.is_err() {
                                std::future::pending::<()>().await;
                            }
                        };
                        let ended = server.run(end).await;
                        // Closing the memory may only fail if its writer is dead.
                        let closed = memory.close().await;
                        assert!(closed.is_ok() || ended == Ended::Broken);
                        Some(ended)
                    }
                }
            })
        });
        let address = start.recv().unwrap()?;
        Ok(Running { address, service, end: Some(end), thread: Some(thread), folder })
    }
}

/// Starts a server with the default setup.
pub fn server() -> Running {
    Setup::default().start()
}

impl Running {
    pub fn client(&self) -> Client {
        let Address::Tcp(address) = &self.address else { panic!("a server on TCP") };
        Client::new(*address)
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        self.client().send("POST", path, &[("content-type", "application/json")], body.as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.client().send("GET", path, &[], b"")
    }

    /// Tells the server to shut down, without waiting.
    pub fn tell_to_end(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
    }

    /// Takes the server's thread, so that a test can wait until the server ends by itself.
    pub fn take_thread(&mut self) -> JoinHandle<Option<Ended>> {
        self.thread.take().unwrap()
    }

    /// Ends the server, and waits until it has ended.
    pub fn wait(&mut self) {
        self.tell_to_end();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.wait();
        }
    }
}

/// Returns a key with all scopes for all users.
pub fn whole_key() -> New {
    New {
        name: "test".to_owned(),
        scopes: KeyScope::EVERY.to_vec(),
        users: Users::Any,
        expires_at: None,
        rate: None,
        origin: thermocline::Origin::Assistant,
    }
}

/// The body of a request that records a turn.
pub const TURN: &str = r#"{"user_message":"My boat is called Petrel.","ai_response":"A good name."}"#;

/// Retries until the condition holds; fails if that takes too long.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    panic!("never: {what}");
}
