//! The worker threads that serve the streams.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::Shared;
use super::scheduler::{StreamScheduler, Task};
use crate::{EngineError, Op, OrderOp, Result, Span, StreamId, nvtx};

impl Shared {
    /// Serves streams until the pool stops.
    pub(super) fn work(&self, worker: u32) {
        let mut scheduler = self.scheduler();
        while !self.stop.load(Ordering::Relaxed) {
            scheduler = match scheduler.next_runnable() {
                Some(stream) => self.serve(worker, stream, scheduler),
                None => self
                    .work
                    .wait(scheduler)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// In a pool without workers, serves every stream that can run.
    pub(super) fn serve_without_workers<'a>(
        &'a self,
        mut scheduler: MutexGuard<'a, StreamScheduler>,
    ) -> MutexGuard<'a, StreamScheduler> {
        while !self.has_workers
            && let Some(stream) = scheduler.next_runnable()
        {
            scheduler = self.serve(0, stream, scheduler);
        }
        scheduler
    }

    /// Runs a stream's steps until it is empty, has to wait, or yields to a stream of higher
    /// priority, or until the pool stops.
    fn serve<'a>(
        &'a self,
        worker: u32,
        stream: StreamId,
        mut scheduler: MutexGuard<'a, StreamScheduler>,
    ) -> MutexGuard<'a, StreamScheduler> {
        while !self.stop.load(Ordering::Relaxed) && !scheduler.yields(stream) {
            let queue = scheduler.stream_mut(stream);
            let Some(task) = queue.tasks.pop_front() else {
                queue.busy = false;
                break;
            };
            if let Some(&until) = task.after.iter().find(|&&point| !scheduler.passed(point)) {
                scheduler.stream_mut(stream).tasks.push_front(task);
                scheduler.hold(stream, until, self.now());
                break;
            }
            if scheduler.held_by(task.fence, stream, self.now()) {
                scheduler.stream_mut(stream).tasks.push_front(task);
                break;
            }
            let held_since = scheduler.stream_mut(stream).held_since.take();
            let mut start = self.now();
            match task.op() {
                Op::Order(OrderOp::Wait(_)) => start = held_since.unwrap_or(start),
                Op::Order(_) => {}
                op => {
                    drop(scheduler);
                    let result = self.execute(op);
                    scheduler = self.scheduler();
                    if let Err(fault) = result {
                        scheduler.fault.get_or_insert(fault);
                        self.end(&mut scheduler);
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
            self.complete(&mut scheduler, &task, span, worker);
        }
        scheduler
    }

    fn complete(&self, scheduler: &mut StreamScheduler, task: &Task, span: Span, worker: u32) {
        let (freed, news) = scheduler.complete(task, span, worker);
        (0..freed).for_each(|_| self.work.notify_one());
        if news {
            self.news.notify_all();
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
