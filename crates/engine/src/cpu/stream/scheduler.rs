//! The state that host and workers share: stream queues, dependencies between streams, and the
//! progress of every run.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::Arc;

use crate::{
    BlockTimestamp, BufferOp, Completion, DeviceId, EngineError, EventId, LatticeOp, Nanos, Op,
    OrderOp, Priority, Program, Result, RunId, Scope, Span, Step, StreamId, StreamKind, StreamSpec,
};

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
    pub(crate) contexts: Vec<Context>,
    /// Streams with runnable work, by [`Priority`].
    runnable: [VecDeque<StreamId>; 2],
    pub(super) running: BTreeMap<RunId, Progress>,
    pub(super) completions: Vec<Completion>,
    pub(super) fault: Option<EngineError>,
    /// The number of host threads that wait for a point.
    pub(super) waiting: usize,
}

/// A point of a stream: passed once `count` of its steps are done.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) stream: StreamId,
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

pub(super) struct Stream {
    pub(super) context: DeviceId,
    spec: StreamSpec,
    pub(super) tasks: VecDeque<Task>,
    /// Runnable, being served or waiting, so that a submission need not make it runnable.
    pub(super) busy: bool,
    /// When it started to wait.
    pub(super) held_since: Option<Nanos>,
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
pub(super) struct Task {
    pub(super) run: RunId,
    pub(super) program: Arc<Program>,
    pub(super) step: usize,
    /// The points to pass before it may start, as of when it was queued.
    pub(super) after: Vec<Point>,
    /// The fence to wait for, if it is its stream's first step after one.
    pub(super) fence: Option<u64>,
}

impl Task {
    /// The step's op.
    pub(super) fn op(&self) -> &Op {
        &self.program.steps[self.step].op
    }
}

/// The progress of a run.
#[derive(Default)]
pub(super) struct Progress {
    /// Unfinished steps, plus one until all are issued.
    left: usize,
    spans: Vec<Span>,
    block_timestamps: Vec<BlockTimestamp>,
    /// Spans of the issuing host threads.
    host: Vec<Span>,
}

impl StreamScheduler {
    /// Creates an event.
    pub(crate) fn create_event(&mut self) -> EventId {
        self.events.push(None);
        EventId(self.events.len() as u32 - 1)
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
        match (spec.kind, of.default) {
            (StreamKind::NonBlocking, _) => {}
            (StreamKind::Blocking, _) => of.blocking.push(id),
            (StreamKind::Default, Some(already)) => return already,
            (StreamKind::Default, None) => of.default = Some(id),
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

    pub(super) fn stream(&self, stream: StreamId) -> &Stream {
        &self.streams[stream.0 as usize]
    }

    pub(super) fn stream_mut(&mut self, stream: StreamId) -> &mut Stream {
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
    pub(super) fn passed(&self, point: Point) -> bool {
        self.stream(point.stream).done >= point.count
    }

    /// The points that the host waits for in an [`OrderOp::Synchronize`].
    pub(super) fn ends(&self, stream: StreamId, scope: Scope) -> Vec<Point> {
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
    pub(super) fn begin(&mut self, run: RunId, program: &Program) {
        let progress = Progress {
            left: program.steps.len() + 1,
            ..Progress::default()
        };
        self.running.insert(run, progress);
    }

    /// Queues a step. Returns whether that made its stream runnable.
    pub(super) fn queue(&mut self, run: RunId, program: &Arc<Program>, step: usize) -> bool {
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
    pub(super) fn put_up_fence(&mut self) {
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
    pub(super) fn next_runnable(&mut self) -> Option<StreamId> {
        self.runnable.iter_mut().rev().find_map(VecDeque::pop_front)
    }

    /// If a stream of higher priority has work, returns this stream to the front of its queue.
    /// Returns whether it did.
    pub(super) fn yields(&mut self, stream: StreamId) -> bool {
        let priority = self.stream(stream).spec.priority as usize;
        let (own, higher) = self.runnable.split_at_mut(priority + 1);
        let yields = higher.iter().any(|queue| !queue.is_empty());
        if yields {
            own[priority].push_front(stream);
        }
        yields
    }

    /// Suspends a stream if its next task has to wait for a point or a fence. Returns whether it does.
    pub(super) fn hold(&mut self, stream: StreamId, task: &Task, since: Nanos) -> bool {
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
    pub(super) fn complete(&mut self, task: &Task, span: Span, worker: u32) -> (usize, bool) {
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
    pub(super) fn issued(&mut self, run: RunId, host: Vec<Span>) -> bool {
        if let Some(progress) = self.running.get_mut(&run) {
            progress.host = host;
        }
        self.one_less(run)
    }

    /// Counts down a run's unfinished steps. Returns whether the run is finished.
    pub(super) fn one_less(&mut self, run: RunId) -> bool {
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
