//! The server's state: ready or not, and why; broken; shutting down.

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

/// How long a result is reused, so that frequent probes cost nothing.
const BELIEVED: Duration = Duration::from_secs(1);
/// The minimum free space on the disk.
const FREE_BYTES: u64 = 64 << 20;

/// The server's state, and the sources from which it is computed.
#[derive(Debug)]
pub struct ServerHealth {
    service: Arc<Service>,
    keys: Option<Arc<Keys>>,
    is_closing: AtomicBool,
    found: Mutex<Option<(Instant, Readiness)>>,
}

/// The answer of `/health/ready`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// Whether requests should be sent here.
    pub is_ready: bool,
    /// Why no requests should be sent here, in words that never change their meaning: `closing`, `keys-unreadable`,
    /// `no-keys`, `reader`, `writer`, `disk-full`, `read-only`, `corrupt`.
    pub reasons: Vec<&'static str>,
    /// Whether only a new process can help, because nothing can be written any more.
    #[serde(skip)]
    pub is_broken: bool,
}

impl ServerHealth {
    /// Creates the health of this service, with these keys if there are any.
    pub fn new(service: Arc<Service>, keys: Option<Arc<Keys>>) -> Self {
        Self { service, keys, is_closing: AtomicBool::new(false), found: Mutex::default() }
    }

    /// Marks the server as shutting down.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
    }

    /// Whether the server is shutting down.
    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Whether requests should be sent here; checked at most once a second.
    pub async fn readiness(&self) -> Readiness {
        let mut found = self.found.lock().await;
        let known = found.as_ref().filter(|(at, _)| at.elapsed() < BELIEVED).map(|(_, known)| known.clone());
        let mut readiness = if let Some(known) = known {
            known
        } else {
            let looked = self.look().await;
            found.insert((Instant::now(), looked)).1.clone()
        };
        // Checked on each call, because a flag costs nothing.
        if self.is_closing() {
            readiness.is_ready = false;
            readiness.reasons.insert(0, "closing");
        }
        readiness
    }

    async fn look(&self) -> Readiness {
        self.service.write_refusals(false);
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

    /// Waits until only a new process can help.
    pub async fn broken(&self) {
        while !self.readiness().await.is_broken {
            // An unexpected error in any call triggers a check at once.
            let _ = tokio::time::timeout(BELIEVED, self.service.alarm()).await;
        }
    }
}
