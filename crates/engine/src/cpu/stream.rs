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

mod scheduler;

#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use scheduler::StreamScheduler;

use crate::check::issuers;
use crate::{
    Completion, EngineError, IssuerId, Nanos, Op, OrderOp, Program, Result, RunId, Span, Step,
    StreamId, nvtx,
};

/// Runs one op other than a record, wait or synchronization. The flag is set when the engine stops
/// and the result no longer matters.
pub(super) type Execute = dyn Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync;

/// The streams, the events and their worker threads.
pub(super) struct StreamPool {
    shared: Arc<Shared>,
    pub(super) workers: Vec<JoinHandle<()>>,
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
    /// A pool without contexts and streams. Without workers, the streams are served by the
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
            shared.scheduler.lock().fault = Some(EngineError::NoThread);
        }
        StreamPool {
            shared,
            workers,
            runs: 0,
        }
    }

    /// The streams, events and contexts. While it is held, no worker takes a step.
    pub(super) fn scheduler(&self) -> MutexGuard<'_, StreamScheduler> {
        self.shared.scheduler.lock()
    }

    /// Queues a valid program. With one issuer, all steps up to an [`OrderOp::Synchronize`] are queued
    /// before any of them can be observed as done.
    ///
    /// With several issuers, each has its own thread and all start together. The host then has a
    /// single span, since theirs would overlap.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoThread`] if a thread cannot be started; nothing was queued then. The fault,
    /// if one occurred while the host waited.
    pub(super) fn submit(&mut self, program: &Arc<Program>) -> Result<RunId> {
        let run = RunId(self.runs);
        self.runs += 1;
        let issuers = issuers(program);
        let host = if issuers.len() > 1 {
            self.shared.issue_concurrently(run, program, &issuers)?
        } else {
            self.scheduler().begin(run, program);
            let issuer = issuers.first().copied().unwrap_or_default();
            self.shared.issue(run, program, issuer)?
        };
        if self.scheduler().issued(run, host) {
            self.shared.news.notify_all();
        }
        Ok(run)
    }

    /// Queues a prepared program: after all work queued before and before all work queued later, in
    /// any stream, like a CUDA graph.
    ///
    /// # Errors
    ///
    /// As [`StreamPool::submit`].
    pub(super) fn replay(&mut self, program: &Arc<Program>) -> Result<RunId> {
        self.scheduler().put_up_fence();
        let run = self.submit(program)?;
        self.scheduler().put_up_fence();
        Ok(run)
    }

    /// Appends completed work. Errors if there is a fault.
    pub(super) fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut scheduler = self.scheduler();
        completions.append(&mut scheduler.completions);
        scheduler.check_fault()
    }

    /// Sleeps until work has completed, for at most `timeout`.
    pub(super) fn wait(&self, timeout: Duration) {
        let quiet = |scheduler: &mut StreamScheduler| {
            scheduler.completions.is_empty() && scheduler.fault.is_none()
        };
        let mut scheduler = self.scheduler();
        self.shared.serve_without_workers(&mut scheduler);
        let news = &self.shared.news;
        news.wait_while_for(&mut scheduler, quiet, timeout);
    }

    /// Blocks until no work is running. Errors if there is a fault.
    pub(super) fn synchronize(&self) -> Result<()> {
        let mut scheduler = self.scheduler();
        self.shared
            .wait_while(&mut scheduler, |scheduler| !scheduler.running.is_empty())
    }
}

/// Discards queued work, and running ops as soon as they check the stop flag.
impl Drop for StreamPool {
    fn drop(&mut self) {
        self.shared.end(&mut self.scheduler());
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn now(&self) -> Nanos {
        Nanos(self.epoch.elapsed().as_nanos() as i64)
    }

    fn end(&self, _scheduler: &mut StreamScheduler) {
        self.stop.store(true, Ordering::Relaxed);
        self.work.notify_all();
        self.news.notify_all();
    }

    // Host threads queue the steps of programs, and wait at each synchronization.

    /// Issues an issuer's steps from this thread. Returns the host's spans: of each synchronization,
    /// and of what it queues before, between and after them.
    fn issue(&self, run: RunId, program: &Arc<Program>, issuer: IssuerId) -> Result<Vec<Span>> {
        let mut host = Vec::new();
        let mut start = self.now();
        let mut first = None;
        let mut scheduler = self.scheduler.lock();
        let own = program.steps.iter().enumerate();
        for (step, Step { stream, op, .. }) in own.filter(|(_, step)| step.issuer == issuer) {
            let Op::Order(OrderOp::Synchronize(scope)) = *op else {
                first.get_or_insert(*stream);
                if scheduler.queue(run, program, step) {
                    self.work.notify_one();
                }
                continue;
            };
            let arrived = self.now();
            host.extend(first.take().map(|stream| queued(stream, start, arrived)));
            let ends = scheduler.ends(*stream, scope);
            let ahead = |scheduler: &mut StreamScheduler| {
                ends.iter().any(|&point| !scheduler.passed(point))
            };
            scheduler.waiting += 1;
            let waited = self.wait_while(&mut scheduler, ahead);
            scheduler.waiting -= 1;
            waited?;
            scheduler.one_less(run);
            start = self.now();
            host.push(Span {
                step: step as u32,
                stream: *stream,
                start: arrived,
                end: start,
            });
        }
        host.extend(first.map(|stream| queued(stream, start, self.now())));
        host.retain(|_| program.timed);
        Ok(host)
    }

    /// Issues the steps of each issuer from its own thread. Returns the host's span.
    fn issue_concurrently(
        &self,
        run: RunId,
        program: &Arc<Program>,
        issuers: &[IssuerId],
    ) -> Result<Vec<Span>> {
        let start = self.now();
        // Locked until all threads are started; then they read from it whether to begin.
        let gate = Mutex::new(true);
        let issue = |issuer: IssuerId| {
            let goes = *gate.lock();
            goes.then(|| self.issue(run, program, issuer)).transpose()
        };
        thread::scope(|scope| {
            let mut go = gate.lock();
            let issue = &issue;
            let begin = |&issuer: &IssuerId| {
                thread::Builder::new()
                    .name(format!("issuer {}", issuer.0))
                    .spawn_scoped(scope, move || issue(issuer))
            };
            let threads: Vec<_> = issuers.iter().map_while(|id| begin(id).ok()).collect();
            *go = threads.len() == issuers.len();
            let all = if *go {
                self.scheduler.lock().begin(run, program);
                Ok(())
            } else {
                Err(EngineError::NoThread)
            };
            drop(go);
            threads.into_iter().fold(all, |all, thread| {
                let lost = |_| Err(EngineError::thread_panicked());
                all.and(thread.join().unwrap_or_else(lost).map(drop))
            })
        })?;
        let host = queued(program.steps[0].stream, start, self.now());
        Ok(Some(host).filter(|_| program.timed).into_iter().collect())
    }

    /// Blocks until a condition no longer holds or a fault occurs.
    fn wait_while(
        &self,
        scheduler: &mut MutexGuard<StreamScheduler>,
        mut holds: impl FnMut(&mut StreamScheduler) -> bool,
    ) -> Result<()> {
        self.serve_without_workers(scheduler);
        self.news.wait_while(scheduler, |scheduler| {
            scheduler.fault.is_none() && holds(scheduler)
        });
        scheduler.check_fault()
    }

    // Workers serve the streams.

    /// Serves streams until the pool stops.
    fn work(&self, worker: u32) {
        let mut scheduler = self.scheduler.lock();
        while !self.stop.load(Ordering::Relaxed) {
            match scheduler.next_runnable() {
                Some(stream) => self.serve(worker, stream, &mut scheduler),
                None => self.work.wait(&mut scheduler),
            }
        }
    }

    /// In a pool without workers, serves every stream that can run.
    fn serve_without_workers(&self, scheduler: &mut MutexGuard<StreamScheduler>) {
        while !self.has_workers
            && let Some(stream) = scheduler.next_runnable()
        {
            self.serve(0, stream, scheduler);
        }
    }

    /// Runs a stream's steps until it is empty, has to wait, or yields to a stream of higher
    /// priority, or until the pool stops.
    fn serve(&self, worker: u32, stream: StreamId, scheduler: &mut MutexGuard<StreamScheduler>) {
        while !self.stop.load(Ordering::Relaxed) && !scheduler.yields(stream) {
            let queue = scheduler.stream_mut(stream);
            let Some(task) = queue.tasks.pop_front() else {
                queue.busy = false;
                break;
            };
            if scheduler.hold(stream, &task, self.now()) {
                scheduler.stream_mut(stream).tasks.push_front(task);
                break;
            }
            let held_since = scheduler.stream_mut(stream).held_since.take();
            let mut start = self.now();
            match task.op() {
                Op::Order(OrderOp::Wait(_)) => start = held_since.unwrap_or(start),
                Op::Order(_) => {}
                op => {
                    let result = MutexGuard::unlocked(scheduler, || self.execute(op));
                    if let Err(fault) = result {
                        scheduler.fault.get_or_insert(fault);
                        self.end(scheduler);
                        break;
                    }
                }
            }
            let span = Span {
                step: task.step as u32,
                stream,
                start,
                end: self.now(),
            };
            let (freed, news) = scheduler.complete(&task, span, worker);
            for _ in 0..freed {
                self.work.notify_one();
            }
            if news {
                self.news.notify_all();
            }
        }
    }

    /// Runs an op. Any error or panic in it is a fault of the whole engine.
    fn execute(&self, op: &Op) -> Result<()> {
        let _range = nvtx::range(op.label());
        match platform::catch_panic(|| (self.execute)(op, &self.stop)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(lost @ EngineError::ContextLost(_))) => Err(lost),
            Ok(Err(error)) => Err(EngineError::failed_op(op.label(), error)),
            Err(why) => Err(EngineError::failed_op(op.label(), why)),
        }
    }
}

/// The host's span for queueing steps, the first of which is for `stream`.
fn queued(stream: StreamId, start: Nanos, end: Nanos) -> Span {
    let step = Span::WHOLE;
    Span {
        step,
        stream,
        start,
        end,
    }
}
