//! What host and workers pass each other: streams, the points they wait for in each other, and
//! how far every run has come.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::Arc;

use crate::{
    BlockTimestamp, Completion, DeviceId, EngineError, Nanos, Op, Priority, Program, Result, RunId,
    Scope, Span, Step, StreamId, StreamKind, StreamSpec,
};

/// Everything that host and workers share, behind one lock.
#[derive(Default)]
pub(super) struct StreamScheduler {
    pub(super) streams: Vec<Stream>,
    /// The latest mark of every event.
    pub(super) events: Vec<Option<Point>>,
    /// The fences that are not down yet, by number, and the latest number.
    fences: BTreeMap<u64, Fence>,
    latest_fence: u64,
    contexts: Vec<Context>,
    /// Streams with something to do, by [`Priority`].
    runnable: [VecDeque<StreamId>; 2],
    pub(super) running: BTreeMap<RunId, Progress>,
    pub(super) completions: Vec<Completion>,
    pub(super) fault: Option<EngineError>,
    /// How many threads of the host wait for a point.
    pub(super) waiting: usize,
}

/// A point of a stream: so many of its steps are done.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) stream: StreamId,
    count: u64,
}

/// What is queued behind a fence waits for everything that was queued before it.
struct Fence {
    /// Streams that have not come to where they were when it was put up.
    left: usize,
    held: Vec<StreamId>,
}

/// The streams of a context that wait for each other.
#[derive(Default)]
struct Context {
    default: Option<StreamId>,
    blocking: Vec<StreamId>,
}

pub(super) struct Stream {
    pub(super) context: DeviceId,
    spec: StreamSpec,
    pub(super) tasks: VecDeque<Task>,
    /// Runnable, being served or held: whoever submits leaves it alone.
    pub(super) busy: bool,
    /// When it came to what holds it.
    pub(super) held_since: Option<Nanos>,
    /// Steps that it was ever given, and of those the ones that are done.
    queued: u64,
    done: u64,
    /// The streams that wait for one of its points, by the point's count.
    holds: Vec<(u64, StreamId)>,
    /// The fences that wait for one of its points, by the point's count.
    fenced: Vec<(u64, u64)>,
    /// The last fence that it has something queued behind.
    behind_fence: u64,
}

/// A step in its stream.
pub(super) struct Task {
    pub(super) run: RunId,
    pub(super) program: Arc<Program>,
    pub(super) step: usize,
    /// What has to be passed before it may begin, as known when it was queued.
    pub(super) after: Vec<Point>,
    /// The fence that it is the first of its stream behind.
    pub(super) fence: Option<u64>,
}

impl Task {
    /// What is to be done.
    pub(super) fn op(&self) -> &Op {
        &self.program.steps[self.step].op
    }
}

/// How far a run has come.
#[derive(Default)]
pub(super) struct Progress {
    /// Its steps, and the issuing of them.
    left: usize,
    timed: bool,
    records_blocks: bool,
    spans: Vec<Span>,
    block_timestamps: Vec<BlockTimestamp>,
    /// What the host was doing meanwhile.
    host: Vec<Span>,
}

impl StreamScheduler {
    pub(super) fn create_context(&mut self) {
        self.contexts.push(Context::default());
    }

    pub(super) fn create_stream(&mut self, context: DeviceId, spec: StreamSpec) -> StreamId {
        let id = StreamId(self.streams.len() as u32);
        let of = &mut self.contexts[context.0 as usize];
        match (spec.kind, of.default) {
            (StreamKind::NonBlocking, _) => {}
            (StreamKind::Blocking, _) => of.blocking.push(id),
            (StreamKind::Default, Some(already)) => return already,
            (StreamKind::Default, None) => of.default = Some(id),
        }
        let priority = match spec.kind {
            StreamKind::Default => Priority::Normal, // as the driver has it
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

    /// The fault, if there is one.
    pub(super) fn check_fault(&self) -> Result<()> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Where a stream will be when everything queued so far is done.
    fn end(&self, stream: StreamId) -> Point {
        let count = self.stream(stream).queued;
        Point { stream, count }
    }

    /// Whether a point is behind its stream.
    pub(super) fn passed(&self, point: Point) -> bool {
        self.stream(point.stream).done >= point.count
    }

    /// What the host has to wait for in a [`Op::Synchronize`].
    pub(super) fn ends(&self, stream: StreamId, scope: Scope) -> Vec<Point> {
        let context = self.stream(stream).context;
        let all = (0..self.streams.len() as u32).map(StreamId);
        let meant = all.filter(|&other| match scope {
            Scope::Stream => other == stream,
            Scope::Device => self.stream(other).context == context,
        });
        meant.map(|stream| self.end(stream)).collect()
    }

    /// What an op that is now queued has to wait for in other streams.
    fn before(&self, stream: StreamId, op: &Op) -> Vec<Point> {
        let own = self.stream(stream);
        let context = &self.contexts[own.context.0 as usize];
        let others = match own.spec.kind {
            StreamKind::NonBlocking => &[],
            StreamKind::Blocking => context.default.as_slice(),
            StreamKind::Default => &context.blocking[..],
        };
        let recorded = match op {
            Op::Wait(event) => self.events[event.0 as usize],
            _ => None,
        };
        let ends = others.iter().map(|&other| self.end(other));
        ends.chain(recorded)
            .filter(|&point| !self.passed(point))
            .collect()
    }

    /// A run begins.
    pub(super) fn begin(&mut self, run: RunId, program: &Program) {
        let steps = program.steps.len();
        let progress = Progress {
            left: steps + 1,
            timed: program.timed,
            records_blocks: program.block_timestamps,
            spans: Vec::with_capacity(if program.timed { steps } else { 0 }),
            ..Progress::default()
        };
        self.running.insert(run, progress);
    }

    /// Queues a step; whether that made its stream runnable.
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
        if let Op::Record(event) = *op {
            self.events[event.0 as usize] = Some(self.end(stream));
        }
        if idle {
            self.make_runnable(stream);
        }
        idle
    }

    /// Puts up a fence, as a graph's replay does before and behind itself: what is queued from now
    /// on, in whichever stream, waits for everything that was queued before.
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

    /// Leaves a stream until a fence is down, if that is not down yet.
    pub(super) fn held_by(&mut self, fence: Option<u64>, stream: StreamId, since: Nanos) -> bool {
        let fence = fence.and_then(|number| self.fences.get_mut(&number));
        let holds = fence.map(|fence| fence.held.push(stream)).is_some();
        if holds {
            self.stream_mut(stream).held_since.get_or_insert(since);
        }
        holds
    }

    fn make_runnable(&mut self, stream: StreamId) {
        let priority = self.stream(stream).spec.priority;
        self.runnable[priority as usize].push_back(stream);
    }

    /// The stream to be served next: the highest priority first.
    pub(super) fn next_runnable(&mut self) -> Option<StreamId> {
        self.runnable.iter_mut().rev().find_map(VecDeque::pop_front)
    }

    /// Puts a stream back, first of its priority, if one of a higher priority has work.
    pub(super) fn yields(&mut self, stream: StreamId) -> bool {
        let priority = self.stream(stream).spec.priority as usize;
        let (own, higher) = self.runnable.split_at_mut(priority + 1);
        let yields = higher.iter().any(|queue| !queue.is_empty());
        if yields {
            own[priority].push_front(stream);
        }
        yields
    }

    /// Leaves a stream until a point is passed.
    pub(super) fn hold(&mut self, stream: StreamId, until: Point, since: Nanos) {
        self.stream_mut(stream).held_since.get_or_insert(since);
        let holder = self.stream_mut(until.stream);
        holder.holds.push((until.count, stream));
    }

    /// Notes that a step is done: how many streams that freed, and whether the host has something
    /// to learn from it.
    pub(super) fn complete(&mut self, task: &Task, span: Span, worker: u32) -> (usize, bool) {
        let run = task.run;
        let download = match task.op() {
            Op::Download { lattices, slot, .. } => Some(Completion::Downloaded {
                run,
                lattices: lattices.clone(),
                slot: *slot,
            }),
            _ => None,
        };
        let news = download.is_some() || self.waiting > 0;
        self.completions.extend(download);
        if let Some(progress) = self.running.get_mut(&run) {
            if progress.timed {
                progress.spans.push(span);
            }
            if progress.records_blocks && is_kernel(task.op()) {
                progress.block_timestamps.push(BlockTimestamp {
                    step: span.step,
                    unit: worker,
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

    /// The host has issued a run, which took it these spans; whether that finished it.
    pub(super) fn issued(&mut self, run: RunId, host: Vec<Span>) -> bool {
        if let Some(progress) = self.running.get_mut(&run) {
            progress.host = host;
        }
        self.one_less(run)
    }

    /// Of a run there is one step less to do; whether that finished it.
    pub(super) fn one_less(&mut self, run: RunId) -> bool {
        let Some(progress) = self.running.get_mut(&run) else {
            return false;
        };
        progress.left -= 1;
        let finished = progress.left == 0;
        if finished {
            self.finish(run);
        }
        finished
    }

    fn finish(&mut self, run: RunId) {
        let progress = self.running.remove(&run).unwrap_or_default();
        let (mut spans, mut block_timestamps) = (progress.spans, progress.block_timestamps);
        spans.sort_unstable_by_key(|span| span.step);
        block_timestamps.sort_unstable_by_key(|timestamp| timestamp.step);
        self.completions.push(Completion::Finished {
            run,
            spans,
            host: progress.host,
            block_timestamps,
        });
    }
}

/// Whether a GPU would launch a kernel for this.
fn is_kernel(op: &Op) -> bool {
    match op {
        Op::Edit { .. }
        | Op::Pack(_)
        | Op::Unpack { .. }
        | Op::Advance { .. }
        | Op::Reduce { .. }
        | Op::Measure(_)
        | Op::Call(_) => true,
        Op::Upload { .. }
        | Op::Download { .. }
        | Op::Copy { .. }
        | Op::Synchronize(_)
        | Op::Record(_)
        | Op::Wait(_) => false,
    }
}
