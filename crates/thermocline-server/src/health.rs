//! How the server is: alive, ready, broken, or on its way out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use tokio::{sync::Mutex, time::Instant};

use crate::{keys::Keys, service::Service};

/// How long what was found is believed, so that probing costs nothing.
const BELIEVED: Duration = Duration::from_secs(1);
/// What has to be free on the disk.
const FREE_BYTES: u64 = 64 << 20;

/// How the server is, and what it is made of.
#[derive(Debug)]
pub struct ServerHealth {
    service: Arc<Service>,
    keys: Option<Arc<Keys>>,
    is_closing: AtomicBool,
    found: Mutex<Option<(Instant, Readiness)>>,
}

/// What `/health/ready` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// Whether requests should be sent here.
    pub is_ready: bool,
    /// What stands in the way, in words that never change their meaning: `closing`, `keys-unreadable`, `no-keys`, `reader`,
    /// `writer`, `disk-full`, `read-only`, `corrupt`.
    pub reasons: Vec<&'static str>,
    /// Whether only another process can help: nothing is written any more.
    #[serde(skip)]
    pub is_broken: bool,
}

impl ServerHealth {
    /// Of this service, with these keys if there are any.
    pub fn new(service: Arc<Service>, keys: Option<Arc<Keys>>) -> Self {
        Self { service, keys, is_closing: AtomicBool::new(false), found: Mutex::default() }
    }

    /// From now on the server is on its way out.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
    }

    /// Whether the server is on its way out.
    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Whether requests should be sent here; looked at once a second at most.
    pub async fn readiness(&self) -> Readiness {
        let mut found = self.found.lock().await;
        let known = found.as_ref().filter(|(at, _)| at.elapsed() < BELIEVED).map(|(_, known)| known.clone());
        let mut readiness = if let Some(known) = known {
            known
        } else {
            let looked = self.look().await;
            found.insert((Instant::now(), looked)).1.clone()
        };
        // Known without a look.
        if self.is_closing() {
            readiness.is_ready = false;
            readiness.reasons.insert(0, "closing");
        }
        readiness
    }

    async fn look(&self) -> Readiness {
        let mut reasons = Vec::new();
        match self.keys.as_ref().map(|keys| keys.count()) {
            Some(None) => reasons.push("keys-unreadable"),
            Some(Some(0)) => reasons.push("no-keys"),
            Some(Some(_)) | None => {}
        }
        let mut is_broken = false;
        match self.service.memory.health().await {
            Err(_) => reasons.push("reader"),
            Ok(health) => {
                is_broken = !health.is_writer_alive && !health.is_read_only;
                if is_broken {
                    reasons.push("writer");
                }
                if health.free_bytes.is_some_and(|free| free < FREE_BYTES) {
                    reasons.push("disk-full");
                }
            }
        }
        reasons.extend(self.service.trouble());
        Readiness { is_ready: reasons.is_empty(), reasons, is_broken }
    }

    /// Returns once only another process can help.
    pub async fn broken(&self) {
        while !self.readiness().await.is_broken {
            // Whoever meets what nobody expected has it looked at at once.
            let _ = tokio::time::timeout(BELIEVED, self.service.alarm()).await;
        }
    }
}
