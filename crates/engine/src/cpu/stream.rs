//! Streams as queues, served by a pool of worker threads.
//!
//! A stream is a FIFO queue of steps. A worker serves a stream with runnable work until it is
//! empty, has to wait, or a stream of higher priority has work. So the steps of a stream run in
//! order and one at a time, and as many streams run concurrently as there are workers. Idle workers
//! and a waiting host sleep on condition variables.
//!
//! A stream waits for another one at a point: a number of its steps that must be done
//! ([`StreamScheduler`]). Events are such points, and so are the dependencies between the default stream
//! and the blocking ones. A point is fixed when a step is queued and refers only to earlier steps,
//! so there is no deadlock.

use crate::check::issuers;
use crate::{
    BlockTimestamp, BufferOp, Completion, DeviceId, EngineError, EventId, IssuerId, LatticeOp,
    Nanos, Op, OrderOp, Priority, Program, Result, RunId, Scope, Span, Step, StreamId, StreamKind,
    StreamSpec, nvtx,
};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{mem, thread};

/// Runs one op other than a record, wait or synchronization. The flag is set when the engine stops
/// and the result no longer matters.
type Execute = dyn Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync;

/// The streams, the events and their worker threads.
pub(super) struct StreamPool {
    shared: Arc<Shared>,
    pub workers: Vec<JoinHandle<()>>,
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

// The state that host and workers share: stream queues, dependencies between streams, and the
// progress of every run.

/// The shared state, behind one lock.
#[derive(Default)]
pub(crate) struct StreamScheduler {
    streams: Vec<Stream>,
    /// The latest record of every event.
    events: Vec<Option<Point>>,
    /// Active fences by number, and the latest number.
    fences: BTreeMap<u64, Fence>,
    latest_fence: u64,
    /// The contexts. The default stream of one is created on request.
    pub contexts: Vec<Context>,
    /// Streams with runnable work, by [`Priority`].
    runnable: [VecDeque<StreamId>; 2],
    running: BTreeMap<RunId, Progress>,
    completions: Vec<Completion>,
    fault: Option<EngineError>,
    /// The number of host threads that wait for a point.
    waiting: usize,
}

/// A point of a stream: passed once `count` of its steps are done.
#[derive(Clone, Copy)]
struct Point {
    stream: StreamId,
    count: u64,
}

/// Work queued after a fence waits for all work queued before it.
struct Fence {
    /// The number of streams with unfinished work from before the fence.
    left: usize,
    held: Vec<StreamId>,
}

/// A context's default stream and the blocking streams ordered with it.
#[derive(Default)]
pub(crate) struct Context {
    default: Option<StreamId>,
    blocking: Vec<StreamId>,
}

struct Stream {
    context: DeviceId,
    spec: StreamSpec,
    tasks: VecDeque<Task>,
    /// Runnable, being served or waiting, so that a submission need not make it runnable.
    busy: bool,
    /// When it started to wait.
    held_since: Option<Nanos>,
    /// Steps queued so far, and steps done so far.
    queued: u64,
    done: u64,
    /// Streams that wait for one of its points, each with the point's count.
    holds: Vec<(u64, StreamId)>,
    /// Fences that wait for one of its points, each with the point's count.
    fenced: Vec<(u64, u64)>,
    /// The latest fence that it has work queued after.
    behind_fence: u64,
}

/// A queued step.
struct Task {
    run: RunId,
    program: Arc<Program>,
    step: usize,
    /// The points to pass before it may start, as of when it was queued.
    after: Vec<Point>,
    /// The fence to wait for, if it is its stream's first step after one.
    fence: Option<u64>,
}

impl Task {
    /// The step's op.
    fn op(&self) -> &Op {
        &self.program.steps[self.step].op
    }
}

/// The progress of a run.
#[derive(Default)]
struct Progress {
    /// Unfinished steps, plus one until all are issued.
    left: usize,
    spans: Vec<Span>,
    block_timestamps: Vec<BlockTimestamp>,
    /// Spans of the issuing host threads.
    host: Vec<Span>,
}

impl StreamScheduler {
    /// Creates an event.
    pub(crate) fn create_event(&mut self) {
        self.events.push(None);
    }

    /// Whether the work before an event's latest record is done; true if it was never recorded.
    pub(crate) fn query(&self, event: EventId) -> Result<bool> {
        self.check_fault()?;
        let recorded = self.events[event.0 as usize];
        Ok(recorded.is_none_or(|recorded| self.passed(recorded)))
    }

    /// Creates a stream of an existing context.
    pub(crate) fn create_stream(&mut self, context: DeviceId, spec: StreamSpec) -> StreamId {
        let id = StreamId(self.streams.len() as u32);
        let of = &mut self.contexts[context.0 as usize];
        match spec.kind {
            StreamKind::NonBlocking => {}
            StreamKind::Blocking => of.blocking.push(id),
            StreamKind::Default => of.default = Some(id),
        }
        let priority = match spec.kind {
            StreamKind::Default => Priority::Normal, // as in CUDA
            _ => spec.priority,
        };
        self.streams.push(Stream {
            context,
            spec: StreamSpec { priority, ..spec },
            tasks: VecDeque::new(),
            busy: false,
            held_since: None,
            queued: 0,
            done: 0,
            holds: Vec::new(),
            fenced: Vec::new(),
            behind_fence: 0,
        });
        id
    }

    fn stream(&self, stream: StreamId) -> &Stream {
        &self.streams[stream.0 as usize]
    }

    fn stream_mut(&mut self, stream: StreamId) -> &mut Stream {
        &mut self.streams[stream.0 as usize]
    }

    /// Errors with the fault, if one occurred.
    pub(crate) fn check_fault(&self) -> Result<()> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// The point that a stream reaches when all queued work is done.
    fn end(&self, stream: StreamId) -> Point {
        let count = self.stream(stream).queued;
        Point { stream, count }
    }

    /// Whether the stream has passed the point.
    fn passed(&self, point: Point) -> bool {
        self.stream(point.stream).done >= point.count
    }

    /// The points that the host waits for in an [`OrderOp::Synchronize`].
    fn ends(&self, stream: StreamId, scope: Scope) -> Vec<Point> {
        let context = self.stream(stream).context;
        let all = (0..self.streams.len() as u32).map(StreamId);
        let meant = all.filter(|&other| match scope {
            Scope::Stream => other == stream,
            Scope::Device => self.stream(other).context == context,
        });
        meant.map(|stream| self.end(stream)).collect()
    }

    /// The points of other streams that a newly queued op waits for.
    fn before(&self, stream: StreamId, op: &Op) -> Vec<Point> {
        let own = self.stream(stream);
        let context = &self.contexts[own.context.0 as usize];
        let others = match own.spec.kind {
            StreamKind::NonBlocking => &[],
            StreamKind::Blocking => context.default.as_slice(),
            StreamKind::Default => &context.blocking[..],
        };
        let recorded = match op {
            Op::Order(OrderOp::Wait(event)) => self.events[event.0 as usize],
            _ => None,
        };
        let ends = others.iter().map(|&other| self.end(other));
        ends.chain(recorded)
            .filter(|&point| !self.passed(point))
            .collect()
    }

    /// Starts tracking a run.
    fn begin(&mut self, run: RunId, program: &Program) {
        let progress = Progress {
            left: program.steps.len() + 1,
            ..Progress::default()
        };
        self.running.insert(run, progress);
    }

    /// Queues a step. Returns whether that made its stream runnable.
    fn queue(&mut self, run: RunId, program: &Arc<Program>, step: usize) -> bool {
        let Step { stream, ref op, .. } = program.steps[step];
        let after = self.before(stream, op);
        let latest = self.latest_fence;
        let queue = self.stream_mut(stream);
        let behind = mem::replace(&mut queue.behind_fence, latest);
        let fence = (behind < latest).then_some(latest);
        queue.queued += 1;
        queue.tasks.push_back(Task {
            run,
            program: program.clone(),
            step,
            after,
            fence,
        });
        let idle = !mem::replace(&mut queue.busy, true);
        if let Op::Order(OrderOp::Record(event)) = *op {
            self.events[event.0 as usize] = Some(self.end(stream));
        }
        if idle {
            self.make_runnable(stream);
        }
        idle
    }

    /// Adds a fence: work queued from now on, in any stream, waits for all work queued before. A
    /// graph replay has one before and one after it.
    fn put_up_fence(&mut self) {
        self.latest_fence += 1;
        let (number, mut left) = (self.latest_fence, 0);
        for stream in &mut self.streams {
            if stream.done < stream.queued {
                stream.fenced.push((stream.queued, number));
                left += 1;
            }
        }
        if left > 0 {
            let held = Vec::new();
            self.fences.insert(number, Fence { left, held });
        }
    }

    fn make_runnable(&mut self, stream: StreamId) {
        let priority = self.stream(stream).spec.priority;
        self.runnable[priority as usize].push_back(stream);
    }

    /// Takes the next stream to serve, of the highest priority first.
    fn next_runnable(&mut self) -> Option<StreamId> {
        self.runnable.iter_mut().rev().find_map(VecDeque::pop_front)
    }

    /// If a stream of higher priority has work, returns this stream to the front of its queue.
    /// Returns whether it did.
    fn yields(&mut self, stream: StreamId) -> bool {
        let priority = self.stream(stream).spec.priority as usize;
        let (own, higher) = self.runnable.split_at_mut(priority + 1);
        let yields = higher.iter().any(|queue| !queue.is_empty());
        if yields {
            own[priority].push_front(stream);
        }
        yields
    }

    /// Suspends a stream if its next task has to wait for a point or a fence. Returns whether it does.
    fn hold(&mut self, stream: StreamId, task: &Task, since: Nanos) -> bool {
        if let Some(&until) = task.after.iter().find(|&&point| !self.passed(point)) {
            let holder = self.stream_mut(until.stream);
            holder.holds.push((until.count, stream));
        } else if let Some(number) = task.fence
            && let Some(fence) = self.fences.get_mut(&number)
        {
            fence.held.push(stream);
        } else {
            return false;
        }
        self.stream_mut(stream).held_since.get_or_insert(since);
        true
    }

    /// Records that a step is done. Returns how many streams became runnable and whether the host
    /// must be notified.
    fn complete(&mut self, task: &Task, span: Span, worker: u32) -> (usize, bool) {
        let run = task.run;
        let downloaded = |(lattices, slot)| Completion::Downloaded {
            run,
            lattices,
            slot,
        };
        let download = task.op().downloaded().map(downloaded);
        let news = download.is_some() || self.waiting > 0;
        self.completions.extend(download);
        if let Some(progress) = self.running.get_mut(&run) {
            if task.program.timed {
                progress.spans.push(span);
            }
            if task.program.block_timestamps && is_kernel(task.op()) {
                progress.block_timestamps.push(BlockTimestamp {
                    step: span.step,
                    sm: worker,
                    start: span.start,
                    end: span.end,
                });
            }
        }
        let queue = self.stream_mut(span.stream);
        queue.done += 1;
        let done = queue.done;
        let freed = queue.holds.extract_if(.., |(count, _)| *count <= done);
        let mut freed: Vec<_> = freed.map(|(_, stream)| stream).collect();
        let passed = queue.fenced.extract_if(.., |(count, _)| *count <= done);
        for (_, number) in passed.collect::<Vec<_>>() {
            let Some(fence) = self.fences.get_mut(&number) else {
                continue;
            };
            fence.left -= 1;
            if fence.left == 0 {
                let down = self.fences.remove(&number);
                freed.extend(down.into_iter().flat_map(|fence| fence.held));
            }
        }
        freed.iter().for_each(|&stream| self.make_runnable(stream));
        (freed.len(), self.one_less(run) || news)
    }

    /// Records that a run is fully issued, with the host's spans. Returns whether the run is
    /// finished.
    fn issued(&mut self, run: RunId, host: Vec<Span>) -> bool {
        if let Some(progress) = self.running.get_mut(&run) {
            progress.host = host;
        }
        self.one_less(run)
    }

    /// Counts down a run's unfinished steps. Returns whether the run is finished.
    fn one_less(&mut self, run: RunId) -> bool {
        let Some(progress) = self.running.get_mut(&run) else {
            return false;
        };
        progress.left -= 1;
        if progress.left > 0 {
            return false;
        }
        let mut progress = self.running.remove(&run).unwrap_or_default();
        progress.spans.sort_unstable_by_key(|span| span.step);
        let blocks = &mut progress.block_timestamps;
        blocks.sort_unstable_by_key(|timestamp| timestamp.step);
        self.completions.push(Completion::Finished {
            run,
            spans: progress.spans,
            host: progress.host,
            block_timestamps: progress.block_timestamps,
        });
        true
    }
}

/// Whether a GPU would launch a kernel for the op.
fn is_kernel(op: &Op) -> bool {
    use LatticeOp::{CopyRows, Download, Upload};
    match op {
        Op::Lattices(_, op) => !matches!(op, Upload(_) | Download { .. } | CopyRows { .. }),
        Op::Buffers(op) => matches!(op, BufferOp::Launch(_)),
        Op::Order(_) => false,
    }
}

#[cfg(test)]
mod tests {
    //! The stream pool, with test closures instead of lattice work.

    use super::*;
    use crate::{DeviceId, LatticeId, LatticeOp, StreamSpec};

    /// What an op of a stream does, by the stream's number.
    type Work = fn(u32) -> Result<()>;

    /// A pool whose ops are this, with streams that have some of them.
    fn pool(streams: u32, ops: u32, work: Work) -> StreamPool {
        let execute = move |op: &Op, _: &AtomicBool| match op {
            Op::Lattices(lattices, LatticeOp::Pack) => work(lattices.start),
            other => panic!("{other:?}"),
        };
        let mut pool = StreamPool::new(NonZeroUsize::new(streams as usize), execute);
        pool.scheduler().contexts.push(Default::default());
        let mut program = Program::default();
        for stream in 0..streams {
            let id = pool
                .scheduler()
                .create_stream(DeviceId(0), StreamSpec::PLAIN);
            for _ in 0..ops {
                let work = LatticeOp::Pack.on(LatticeId(stream).as_range());
                program.push(id, work);
            }
        }
        if ops > 0 {
            pool.submit(&Arc::new(program)).unwrap();
        }
        pool
    }

    #[test]
    fn a_panic_or_an_error_ends_the_engine_in_words() {
        let panicked = EngineError::lost("pack failed: as the test wants".into());
        let failed = EngineError::failed_op("pack", EngineError::NoThread);
        let works: [(Work, EngineError); 2] = [
            (
                |stream| {
                    if stream == 0 {
                        panic!("as the test wants")
                    } else {
                        Ok(())
                    }
                },
                panicked,
            ),
            (|_| Err(EngineError::NoThread), failed),
        ];
        for (work, error) in works {
            let mut pool = pool(2, 2, work);
            assert_eq!(pool.synchronize(), Err(error.clone()));
            assert_eq!(pool.poll(&mut Vec::new()), Err(error.clone()));
            assert_eq!(pool.scheduler().check_fault(), Err(error));
            pool.wait(Duration::from_secs(60));
        }
    }

    #[test]
    fn waiting_for_nothing_takes_its_time_and_no_longer() {
        let pool = pool(1, 0, |_| Ok(()));
        let started = Instant::now();
        pool.wait(Duration::from_millis(20));
        assert!(started.elapsed() >= Duration::from_millis(20));
        pool.synchronize().unwrap();
    }

    #[test]
    fn pending_work_is_abandoned() {
        let pool = pool(1, 100_000, |_| {
            thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        let started = Instant::now();
        drop(pool);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
