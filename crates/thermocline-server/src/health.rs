//! How the server is: alive, ready, or on its way out.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde::Serialize;

use crate::{keys::Keys, service::Service};

/// How the server is, and what it is made of.
#[derive(Debug)]
pub struct Health {
    service: Arc<Service>,
    keys: Option<Arc<Keys>>,
    is_closing: AtomicBool,
}

/// What `/health/ready` says.
#[derive(Debug, Serialize)]
pub struct Readiness {
    /// Whether requests should be sent here.
    pub is_ready: bool,
    /// What stands in the way; words that never change their meaning.
    pub reasons: Vec<&'static str>,
}

impl Health {
    /// Of this service, with these keys if there are any.
    pub fn new(service: Arc<Service>, keys: Option<Arc<Keys>>) -> Self {
        Self { service, keys, is_closing: AtomicBool::new(false) }
    }

    /// From now on the server is on its way out.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
    }

    /// Whether the server is on its way out.
    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Whether requests should be sent here.
    pub async fn readiness(&self) -> Readiness {
        let mut reasons = Vec::new();
        if self.is_closing() {
            reasons.push("closing");
        }
        if self.keys.as_ref().is_some_and(|keys| keys.count().is_none()) {
            reasons.push("keys-unreadable");
        }
        if self.service.memory.jobs(None, 1).await.is_err() {
            reasons.push("file");
        }
        Readiness { is_ready: reasons.is_empty(), reasons }
    }
}
