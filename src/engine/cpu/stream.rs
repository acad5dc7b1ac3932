//! Streams as queues, served by a pool of threads.
//!
//! A stream is a FIFO of steps. A worker takes a stream that has something to do and serves it
//! until it is empty or held at a [`Op::Wait`]; so the steps of a stream are done in order and
//! one at a time, and as many streams advance together as there are workers. Nobody spins: a
//! worker without a stream and a host without news sleep on condition variables.

mod event;

#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use event::Event;

use crate::engine::{
    Completion, EngineError, EventId, Nanos, Op, Program, Result, RunId, Span, Step, StreamId,
};

/// Does one op other than a record or a wait. The flag is set when the result will not be
/// looked at any more.
pub(super) type Execute = dyn Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync;

/// The streams, the events and the threads that serve them.
pub(super) struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    runs: u64,
}

struct Shared {
    desk: Mutex<Desk>,
    /// A stream has become runnable, or the pool ends.
    work: Condvar,
    /// There are completions, nothing is in flight any more, or there is a fault.
    news: Condvar,
    stop: AtomicBool,
    epoch: Instant,
    execute: Box<Execute>,
}

/// What host and workers pass each other.
#[derive(Default)]
struct Desk {
    streams: Vec<Stream>,
    events: Vec<Event>,
    runnable: VecDeque<StreamId>,
    running: BTreeMap<RunId, Progress>,
    completions: Vec<Completion>,
    fault: Option<EngineError>,
}

#[derive(Default)]
struct Stream {
    tasks: VecDeque<Task>,
    /// Runnable, being served or held: whoever submits leaves it alone.
    busy: bool,
    /// When it came to the wait that holds it.
    held_since: Option<Nanos>,
}

struct Task {
    run: RunId,
    program: Arc<Program>,
    step: usize,
    /// Of a record or a wait.
    mark: u64,
}

#[derive(Default)]
struct Progress {
    left: usize,
    timed: bool,
    spans: Vec<Span>,
    /// How long queueing it took the host.
    host: Vec<Span>,
}

impl Pool {
    /// A pool without streams.
    pub(super) fn new(
        workers: NonZeroUsize,
        execute: impl Fn(&Op, &AtomicBool) -> Result<()> + Send + Sync + 'static,
    ) -> Pool {
        let shared = Arc::new(Shared {
            desk: Mutex::default(),
            work: Condvar::new(),
            news: Condvar::new(),
            stop: AtomicBool::new(false),
            epoch: Instant::now(),
            execute: Box::new(execute),
        });
        let start = |i| {
            let shared = shared.clone();
            thread::Builder::new()
                .name(format!("cpu worker {i}"))
                .spawn(move || shared.work())
        };
        let workers: Vec<_> = (0..workers.get()).map_while(|i| start(i).ok()).collect();
        if workers.is_empty() {
            shared.desk().fault = Some(EngineError::NoThread);
        }
        Pool {
            shared,
            workers,
            runs: 0,
        }
    }

    /// How many threads there are.
    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Makes a stream.
    pub(super) fn create_stream(&mut self) -> StreamId {
        let mut desk = self.shared.desk();
        desk.streams.push(Stream::default());
        StreamId(desk.streams.len() as u32 - 1)
    }

    /// Makes an event.
    pub(super) fn create_event(&mut self) -> EventId {
        let mut desk = self.shared.desk();
        desk.events.push(Event::default());
        EventId(desk.events.len() as u32 - 1)
    }

    /// Says what in a program is not there.
    pub(super) fn check(&self, program: &Program) -> Result<()> {
        let desk = self.shared.desk();
        for Step { stream, op, .. } in &program.steps {
            let missing = match op {
                _ if stream.0 as usize >= desk.streams.len() => format!("no {stream:?}"),
                Op::Record(event) | Op::Wait(event) if event.0 as usize >= desk.events.len() => {
                    format!("no {event:?}")
                }
                _ => continue,
            };
            return Err(EngineError::BadProgram(missing));
        }
        Ok(())
    }

    /// The fault that ended the pool, if one did.
    pub(super) fn sound(&self) -> Result<()> {
        self.shared.desk().fault.clone().map_or(Ok(()), Err)
    }

    /// Queues a program that has been checked.
    pub(super) fn submit(&mut self, program: &Arc<Program>) -> RunId {
        let run = RunId(self.runs);
        self.runs += 1;
        let start = self.shared.now();
        let mut desk = self.shared.desk();
        let left = program.steps.len();
        let spans = Vec::with_capacity(if program.timed { left } else { 0 });
        desk.running.insert(
            run,
            Progress {
                left,
                timed: program.timed,
                spans,
                host: Vec::new(),
            },
        );
        for (step, Step { stream, op, .. }) in program.steps.iter().enumerate() {
            let mark = match op {
                Op::Record(event) => desk.events[event.0 as usize].mark(),
                Op::Wait(event) => desk.events[event.0 as usize].latest(),
                _ => 0,
            };
            let queue = &mut desk.streams[stream.0 as usize];
            queue.tasks.push_back(Task {
                run,
                program: program.clone(),
                step,
                mark,
            });
            if !std::mem::replace(&mut queue.busy, true) {
                desk.runnable.push_back(*stream);
                self.shared.work.notify_one();
            }
        }
        let end = self.shared.now();
        let first = program.steps.first().map(|step| step.stream);
        if let (true, Some(stream)) = (program.timed, first)
            && let Some(progress) = desk.running.get_mut(&run)
        {
            let step = Span::WHOLE;
            progress.host.push(Span {
                step,
                stream,
                start,
                end,
            });
        }
        if left == 0 {
            desk.finish(run);
            self.shared.news.notify_all();
        }
        run
    }

    /// Appends what has completed; then says whether there is a fault.
    pub(super) fn poll(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut desk = self.shared.desk();
        completions.append(&mut desk.completions);
        desk.fault.clone().map_or(Ok(()), Err)
    }

    /// Sleeps until something has completed, at most `timeout`.
    pub(super) fn wait(&self, timeout: Duration) {
        let quiet = |desk: &mut Desk| desk.completions.is_empty() && desk.fault.is_none();
        let desk = self.shared.desk();
        drop(self.shared.news.wait_timeout_while(desk, timeout, quiet));
    }

    /// Sleeps until nothing is in flight.
    pub(super) fn synchronize(&self) -> Result<()> {
        let busy = |desk: &mut Desk| !desk.running.is_empty() && desk.fault.is_none();
        let desk = self.shared.desk();
        let waited = self.shared.news.wait_while(desk, busy);
        waited
            .unwrap_or_else(PoisonError::into_inner)
            .fault
            .clone()
            .map_or(Ok(()), Err)
    }
}

/// Abandons what is queued, and what runs as soon as it looks at its flag.
impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.end(&mut self.shared.desk());
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Nanos {
        Nanos(self.epoch.elapsed().as_nanos() as i64)
    }

    fn end(&self, _desk: &mut Desk) {
        self.stop.store(true, Ordering::Relaxed);
        self.work.notify_all();
        self.news.notify_all();
    }

    /// Does an op; whatever goes wrong in it, the engine does not survive.
    fn execute(&self, op: &Op) -> Result<()> {
        let result = catch_unwind(AssertUnwindSafe(|| (self.execute)(op, &self.stop)));
        let why = match result {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(panic) => words(panic),
        };
        Err(EngineError::ContextLost(format!(
            "{} failed: {why}",
            op.label()
        )))
    }

    /// A worker's life.
    fn work(&self) {
        let mut desk = self.desk();
        while !self.stop.load(Ordering::Relaxed) {
            desk = match desk.runnable.pop_front() {
                Some(stream) => self.serve(stream, desk),
                None => self.work.wait(desk).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Does a stream's steps until there is none, or one holds, or the pool ends.
    fn serve<'a>(
        &'a self,
        stream: StreamId,
        mut desk: MutexGuard<'a, Desk>,
    ) -> MutexGuard<'a, Desk> {
        while !self.stop.load(Ordering::Relaxed) {
            let queue = &mut desk.streams[stream.0 as usize];
            let Some(task) = queue.tasks.pop_front() else {
                queue.busy = false;
                break;
            };
            let start = queue.held_since.take().unwrap_or_else(|| self.now());
            match &task.program.steps[task.step].op {
                Op::Record(event) => {
                    let freed = desk.events[event.0 as usize].pass(task.mark);
                    for stream in freed {
                        desk.runnable.push_back(stream);
                        self.work.notify_one();
                    }
                }
                Op::Wait(event) => {
                    let event = &mut desk.events[event.0 as usize];
                    if event.holds(task.mark, stream) {
                        let queue = &mut desk.streams[stream.0 as usize];
                        queue.held_since = Some(start);
                        queue.tasks.push_front(task);
                        break;
                    }
                }
                op => {
                    drop(desk);
                    let result = self.execute(op);
                    desk = self.desk();
                    if let Err(fault) = result {
                        desk.fault.get_or_insert(fault);
                        self.end(&mut desk);
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
            if desk.complete(&task, span) {
                self.news.notify_all();
            }
        }
        desk
    }
}

impl Desk {
    /// Notes that a step is done; whether the host has something to learn from it.
    fn complete(&mut self, task: &Task, span: Span) -> bool {
        let run = task.run;
        let download = match task.program.steps[task.step].op {
            Op::Download { lattice, slot, .. } => {
                Some(Completion::Downloaded { run, lattice, slot })
            }
            _ => None,
        };
        let news = download.is_some();
        self.completions.extend(download);
        let Some(progress) = self.running.get_mut(&run) else {
            return news;
        };
        if progress.timed {
            progress.spans.push(span);
        }
        progress.left -= 1;
        let finished = progress.left == 0;
        if finished {
            self.finish(run);
        }
        news || finished
    }

    fn finish(&mut self, run: RunId) {
        let progress = self.running.remove(&run).unwrap_or_default();
        let mut spans = progress.spans;
        spans.sort_unstable_by_key(|span| span.step);
        let host = progress.host;
        self.completions.push(Completion::Finished {
            run,
            spans,
            host,
            stamps: Vec::new(),
        });
    }
}

/// What a panic said.
fn words(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic
            .downcast_ref::<&str>()
            .unwrap_or(&"for a reason untold")
            .to_string(),
    }
}
