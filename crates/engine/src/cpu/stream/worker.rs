//! The life of the threads that serve the streams.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::Shared;
use super::desk::{Desk, Task};
use crate::{EngineError, Op, Result, Span, StreamId};

impl Shared {
    /// A worker's life.
    pub(super) fn work(&self, worker: u32) {
        let mut desk = self.desk();
        while !self.stop.load(Ordering::Relaxed) {
            desk = match desk.next_runnable() {
                Some(stream) => self.serve(worker, stream, desk),
                None => self.work.wait(desk).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Does a stream's steps until there is none, or one holds, or there is more urgent work, or
    /// the pool ends.
    fn serve<'a>(
        &'a self,
        worker: u32,
        stream: StreamId,
        mut desk: MutexGuard<'a, Desk>,
    ) -> MutexGuard<'a, Desk> {
        while !self.stop.load(Ordering::Relaxed) && !desk.gives_way(stream) {
            let queue = desk.stream_mut(stream);
            let Some(task) = queue.tasks.pop_front() else {
                queue.busy = false;
                break;
            };
            if let Some(&until) = task.after.iter().find(|&&point| !desk.passed(point)) {
                desk.stream_mut(stream).tasks.push_front(task);
                desk.hold(stream, until, self.now());
                break;
            }
            if desk.held_by(task.fence, stream, self.now()) {
                desk.stream_mut(stream).tasks.push_front(task);
                break;
            }
            let held_since = desk.stream_mut(stream).held_since.take();
            let mut start = self.now();
            match task.op() {
                Op::Wait(_) => start = held_since.unwrap_or(start),
                Op::Record(_) => {}
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
            self.complete(&mut desk, &task, span, worker);
        }
        desk
    }

    fn complete(&self, desk: &mut Desk, task: &Task, span: Span, worker: u32) {
        let (freed, news) = desk.complete(task, span, worker);
        (0..freed).for_each(|_| self.work.notify_one());
        if news {
            self.news.notify_all();
        }
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
