//! Streams as queues, served by a pool of threads.
//!
//! A stream is a FIFO of steps. A worker takes a stream that has something to do and serves it
//! until it is empty, held, or a stream of a higher priority has work; so the steps of a stream
//! are done in order and one at a time, and as many streams advance together as there are
//! workers. Nobody spins: a worker without a stream and a host without news sleep on condition
//! variables.
//!
//! What one stream waits for in another is always a point of it: so many of its steps done
//! ([`scheduler`]). Events are such points, and so is what the default stream and the blocking ones
//! wait for in each other. A point is taken when a step is queued and never looks ahead, so
//! nothing waits in a circle.

mod queue;
mod scheduler;
mod worker;

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use scheduler::StreamScheduler;

use crate::{Completion, DeviceId, EngineError, EventId, Nanos, Op, Result, StreamId, StreamSpec};

/// Does one op other than a record, a wait or a synchronization. The flag is set when the result
/// will not be looked at any more.
pub(super) type Execute = dyn Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync;

/// The streams, the events and the threads that serve them.
pub(super) struct StreamPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    runs: u64,
}

struct Shared {
    scheduler: Mutex<StreamScheduler>,
    /// A stream has become runnable, or the pool ends.
    work: Condvar,
    /// There are completions, nothing is in flight any more, a point that the host waits for may
    /// have been passed, or there is a fault.
    news: Condvar,
    stop: AtomicBool,
    epoch: Instant,
    execute: Box<Execute>,
}

impl StreamPool {
    /// A pool with one context and no streams.
    pub(super) fn new(
        workers: NonZeroUsize,
        execute: impl Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync + 'static,
    ) -> StreamPool {
        let shared = Arc::new(Shared {
            scheduler: Mutex::default(),
            work: Condvar::new(),
            news: Condvar::new(),
            stop: AtomicBool::new(false),
            epoch: Instant::now(),
            execute: Box::new(execute),
        });
        let start = |i: u32| {
            let shared = shared.clone();
            thread::Builder::new()
                .name(format!("cpu worker {i}"))
                .spawn(move || {
                    platform::lower_thread_priority();
                    shared.work(i);
                })
        };
        let count = workers.get() as u32;
        let workers: Vec<_> = (0..count).map_while(|i| start(i).ok()).collect();
        if workers.is_empty() {
            shared.scheduler().fault = Some(EngineError::NoThread);
        }
        let mut pool = StreamPool {
            shared,
            workers,
            runs: 0,
        };
        pool.create_context();
        pool
    }

    /// How many threads there are.
    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Makes a context: a default stream of its own, once it is asked for.
    pub(super) fn create_context(&mut self) {
        self.shared.scheduler().create_context();
    }

    /// Makes a stream of a context that is there.
    pub(super) fn create_stream(&mut self, context: DeviceId, spec: StreamSpec) -> StreamId {
        self.shared.scheduler().create_stream(context, spec)
    }

    /// Makes an event.
    pub(super) fn create_event(&mut self) -> EventId {
        let mut scheduler = self.shared.scheduler();
        scheduler.events.push(None);
        EventId(scheduler.events.len() as u32 - 1)
    }

    /// Whether what the latest mark of an event that is there stands behind is done; so it is if
    /// there never was one.
    pub(super) fn query(&self, event: EventId) -> Result<bool> {
        let scheduler = self.shared.scheduler();
        scheduler.check_fault()?;
        let recorded = scheduler.events[event.0 as usize];
        Ok(recorded.is_none_or(|recorded| scheduler.passed(recorded)))
    }

    /// The fault that ended the pool, if one did.
    pub(super) fn check_fault(&self) -> Result<()> {
        self.shared.scheduler().check_fault()
    }

    /// Appends what has completed; then says whether there is a fault.
    pub(super) fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut scheduler = self.shared.scheduler();
        completions.append(&mut scheduler.completions);
        scheduler.check_fault()
    }

    /// Sleeps until something has completed, at most `timeout`.
    pub(super) fn wait(&self, timeout: Duration) {
        let quiet = |scheduler: &mut StreamScheduler| {
            scheduler.completions.is_empty() && scheduler.fault.is_none()
        };
        let scheduler = self.shared.scheduler();
        drop(
            self.shared
                .news
                .wait_timeout_while(scheduler, timeout, quiet),
        );
    }

    /// Sleeps until nothing is in flight.
    pub(super) fn synchronize(&self) -> Result<()> {
        let busy = |scheduler: &mut StreamScheduler| {
            !scheduler.running.is_empty() && scheduler.fault.is_none()
        };
        let scheduler = self.shared.scheduler();
        let waited = self.shared.news.wait_while(scheduler, busy);
        waited.unwrap_or_else(PoisonError::into_inner).check_fault()
    }
}

/// Abandons what is queued, and what runs as soon as it looks at its flag.
impl Drop for StreamPool {
    fn drop(&mut self) {
        self.shared.end(&mut self.shared.scheduler());
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn scheduler(&self) -> MutexGuard<'_, StreamScheduler> {
        self.scheduler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Nanos {
        Nanos(self.epoch.elapsed().as_nanos() as i64)
    }

    fn end(&self, _scheduler: &mut StreamScheduler) {
        self.stop.store(true, Ordering::Relaxed);
        self.work.notify_all();
        self.news.notify_all();
    }
}
