//! CPU time of the whole process: the sum over its threads, in nanoseconds, on Linux.

use std::{collections::HashMap, fs, thread, time::Duration};

/// The CPU time in the measured intervals.
#[derive(Default)]
pub struct Cpu {
    nanos: u64,
}

impl Cpu {
    pub fn over(&mut self, work: impl FnOnce()) {
        let before = of_threads();
        work();
        let after = of_threads();
        // The time of a thread that ended in between is missing; the threads of the library and of the runtime live
        // longer.
        self.nanos += after.iter().map(|(id, &nanos)| nanos - before.get(id).unwrap_or(&0)).sum::<u64>();
    }

    /// Returns the CPU time; `None` on systems that do not report it.
    pub fn spent(&self) -> Option<Duration> {
        (self.nanos > 0).then(|| Duration::from_nanos(self.nanos))
    }
}

/// Returns the nanoseconds of each thread.
fn of_threads() -> HashMap<String, u64> {
    // The kernel updates a thread's time when the thread stops running, so this thread stops, and lets others finish.
    thread::sleep(Duration::from_millis(5));
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return HashMap::new() };
    let nanos = |thread: fs::DirEntry| {
        let line = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        Some((thread.file_name().to_str()?.to_owned(), line.split(' ').next()?.parse().ok()?))
    };
    threads.filter_map(|thread| nanos(thread.ok()?)).collect()
}
