//! Streams as queues, served by a pool of worker threads.
//!
//! A stream is a FIFO queue of steps. A worker serves a stream with runnable work until it is
//! empty, has to wait, or a stream of higher priority has work. So the steps of a stream run in
//! order and one at a time, and as many streams run concurrently as there are workers. Idle workers
//! and a waiting host sleep on condition variables.
//!
//! A stream waits for another one at a point: a number of its steps that must be done
//! ([`scheduler`]). Events are such points, and so are the dependencies between the default stream
//! and the blocking ones. A point is fixed when a step is queued and refers only to earlier steps,
//! so there is no deadlock.

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

/// Runs one op other than a record, wait or synchronization. The flag is set when the engine stops
/// and the result no longer matters.
pub(super) type Execute = dyn Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync;

/// The streams, the events and their worker threads.
pub(super) struct StreamPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    runs: u64,
}

struct Shared {
    has_workers: bool,
    scheduler: Mutex<StreamScheduler>,
    /// Signals that a stream became runnable or the pool stops.
    work: Condvar,
    /// Signals completions, an empty pool, progress that the host may wait for, or a fault.
    news: Condvar,
    stop: AtomicBool,
    epoch: Instant,
    execute: Box<Execute>,
}

impl StreamPool {
    /// A pool with one context and no streams. Without workers, the streams are served by the
    /// threads that wait for them.
    pub(super) fn new(
        workers: Option<NonZeroUsize>,
        execute: impl Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync + 'static,
    ) -> StreamPool {
        let shared = Arc::new(Shared {
            has_workers: workers.is_some(),
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
        let count = workers.map_or(0, NonZeroUsize::get) as u32;
        let workers: Vec<_> = (0..count).map_while(|i| start(i).ok()).collect();
        if shared.has_workers && workers.is_empty() {
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

    /// The number of worker threads.
    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Creates a context. Its default stream is created on request.
    pub(super) fn create_context(&mut self) {
        self.shared.scheduler().create_context();
    }

    /// Creates a stream of an existing context.
    pub(super) fn create_stream(&mut self, context: DeviceId, spec: StreamSpec) -> StreamId {
        self.shared.scheduler().create_stream(context, spec)
    }

    /// Creates an event.
    pub(super) fn create_event(&mut self) -> EventId {
        let mut scheduler = self.shared.scheduler();
        scheduler.events.push(None);
        EventId(scheduler.events.len() as u32 - 1)
    }

    /// Whether the work before an event's latest record is done; true if it was never recorded.
    pub(super) fn query(&self, event: EventId) -> Result<bool> {
        let scheduler = self.shared.scheduler();
        scheduler.check_fault()?;
        let recorded = scheduler.events[event.0 as usize];
        Ok(recorded.is_none_or(|recorded| scheduler.passed(recorded)))
    }

    /// Errors with the fault that ended the pool, if any.
    pub(super) fn check_fault(&self) -> Result<()> {
        self.shared.scheduler().check_fault()
    }

    /// Appends completed work. Errors if there is a fault.
    pub(super) fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut scheduler = self.shared.scheduler();
        completions.append(&mut scheduler.completions);
        scheduler.check_fault()
    }

    /// Sleeps until work has completed, for at most `timeout`.
    pub(super) fn wait(&self, timeout: Duration) {
        let quiet = |scheduler: &mut StreamScheduler| {
            scheduler.completions.is_empty() && scheduler.fault.is_none()
        };
        let scheduler = self.shared.serve_without_workers(self.shared.scheduler());
        drop(
            self.shared
                .news
                .wait_timeout_while(scheduler, timeout, quiet),
        );
    }

    /// Blocks until no work is running. Errors if there is a fault.
    pub(super) fn synchronize(&self) -> Result<()> {
        let busy = |scheduler: &mut StreamScheduler| {
            !scheduler.running.is_empty() && scheduler.fault.is_none()
        };
        let scheduler = self.shared.serve_without_workers(self.shared.scheduler());
        let waited = self.shared.news.wait_while(scheduler, busy);
        waited.unwrap_or_else(PoisonError::into_inner).check_fault()
    }
}

/// Discards queued work, and running ops as soon as they check the stop flag.
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
