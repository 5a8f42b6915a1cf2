//! The logs of the test process at the finest level. A process has only one log, so each test keeps the lines that are
//! written while it runs.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

use thermocline_server::log::{self, Format};

type Kept = Mutex<Vec<u8>>;

/// The lines that were logged since this was created and that contain one of its words.
pub struct Logged {
    words: &'static [&'static str],
    kept: Kept,
}

#[derive(Clone)]
struct Lines;

static WATCHING: Mutex<Vec<Weak<Logged>>> = Mutex::new(Vec::new());

fn watching() -> MutexGuard<'static, Vec<Weak<Logged>>> {
    WATCHING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Logged {
    /// Keeps every line.
    pub fn all() -> Arc<Self> {
        Self::with(&[""])
    }

    /// Keeps the lines that contain one of these lower-case words.
    pub fn with(words: &'static [&'static str]) -> Arc<Self> {
        static BEGUN: OnceLock<()> = OnceLock::new();
        BEGUN.get_or_init(|| log::begin(Format::Json, "trace", || Lines).unwrap());
        let logged = Arc::new(Self { words, kept: Mutex::default() });
        watching().push(Arc::downgrade(&logged));
        logged
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.kept.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Lines {
    /// Keeps a line: each call writes one whole line.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lower = None;
        watching().retain(|logged| {
            let Some(logged) = logged.upgrade() else { return false };
            let lower = lower.get_or_insert_with(|| String::from_utf8_lossy(bytes).to_lowercase());
            if logged.words.iter().any(|word| lower.contains(word)) {
                logged.kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            }
            true
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
