//! Issues programs: one or several host threads queue the steps and wait at each
//! [`OrderOp::Synchronize`].

use std::ops::Range;
use std::sync::{Arc, MutexGuard, PoisonError, RwLock};
use std::thread;

use super::scheduler::{Point, StreamScheduler};
use super::{Shared, StreamPool};
use crate::check::issuers;
use crate::{EngineError, IssuerId, Nanos, Op, OrderOp, Program, Result, RunId, Span, Step};

impl StreamPool {
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
    pub(in crate::cpu) fn submit(&mut self, program: &Arc<Program>) -> Result<RunId> {
        let run = RunId(self.runs);
        self.runs += 1;
        let issuers = issuers(program);
        let host = if issuers.len() > 1 {
            self.shared.issue_concurrently(run, program, &issuers)?
        } else {
            self.shared.issue_sequentially(run, program)?
        };
        let mut scheduler = self.shared.scheduler();
        if scheduler.issued(run, host) {
            self.shared.news.notify_all();
        }
        Ok(run)
    }
}

impl StreamPool {
    /// Queues a prepared program: after all work queued before and before all work queued later, in
    /// any stream, like a CUDA graph.
    ///
    /// # Errors
    ///
    /// As [`StreamPool::submit`].
    pub(in crate::cpu) fn replay(&mut self, program: &Arc<Program>) -> Result<RunId> {
        self.shared.scheduler().put_up_fence();
        let run = self.submit(program)?;
        self.shared.scheduler().put_up_fence();
        Ok(run)
    }
}

impl Shared {
    /// Issues all steps from this thread. Returns the host's spans.
    fn issue_sequentially(&self, run: RunId, program: &Arc<Program>) -> Result<Vec<Span>> {
        let mut host = Vec::new();
        let mut start = self.now();
        let mut first = 0;
        let mut scheduler = self.scheduler();
        scheduler.begin(run, program);
        for (step, Step { stream, op, .. }) in program.steps.iter().enumerate() {
            let Op::Order(OrderOp::Synchronize(scope)) = *op else {
                self.queue(&mut scheduler, run, program, step);
                continue;
            };
            let arrived = self.now();
            host.extend(queued(program, first..step, start, arrived));
            let ends = scheduler.ends(*stream, scope);
            scheduler = self.wait_for(&ends, scheduler)?;
            scheduler.one_less(run);
            start = self.now();
            host.push(Span {
                step: step as u32,
                stream: *stream,
                start: arrived,
                end: start,
            });
            first = step + 1;
        }
        host.extend(queued(
            program,
            first..program.steps.len(),
            start,
            self.now(),
        ));
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
        let gate = RwLock::new(true);
        let issue = |issuer: IssuerId| {
            if !*gate.read().unwrap_or_else(PoisonError::into_inner) {
                return Ok(());
            }
            let own = program.steps.iter().enumerate();
            let mut own = own.filter(|(_, step)| step.issuer == issuer);
            own.try_for_each(|(step, Step { stream, op, .. })| {
                let mut scheduler = self.scheduler();
                let Op::Order(OrderOp::Synchronize(scope)) = *op else {
                    self.queue(&mut scheduler, run, program, step);
                    return Ok(());
                };
                let ends = scheduler.ends(*stream, scope);
                self.wait_for(&ends, scheduler)?.one_less(run);
                Ok(())
            })
        };
        thread::scope(|scope| {
            let mut go = gate.write().unwrap_or_else(PoisonError::into_inner);
            let issue = &issue;
            let begin = |&issuer: &IssuerId| {
                thread::Builder::new()
                    .name(format!("issuer {}", issuer.0))
                    .spawn_scoped(scope, move || issue(issuer))
            };
            let threads: Vec<_> = issuers.iter().map_while(|id| begin(id).ok()).collect();
            *go = threads.len() == issuers.len();
            let all = if *go {
                self.scheduler().begin(run, program);
                Ok(())
            } else {
                Err(EngineError::NoThread)
            };
            drop(go);
            threads.into_iter().fold(all, |all, thread| {
                let lost = || EngineError::thread_panicked();
                all.and(thread.join().unwrap_or_else(|_| Err(lost())))
            })
        })?;
        let all = 0..program.steps.len();
        let host = queued(program, all, start, self.now());
        Ok(host.filter(|_| program.timed).into_iter().collect())
    }

    fn queue(
        &self,
        scheduler: &mut StreamScheduler,
        run: RunId,
        program: &Arc<Program>,
        step: usize,
    ) {
        if scheduler.queue(run, program, step) {
            self.work.notify_one();
        }
    }

    /// Blocks until all points are passed or a fault occurs.
    fn wait_for<'a>(
        &'a self,
        points: &[Point],
        scheduler: MutexGuard<'a, StreamScheduler>,
    ) -> Result<MutexGuard<'a, StreamScheduler>> {
        let mut scheduler = self.serve_without_workers(scheduler);
        let ahead = |scheduler: &mut StreamScheduler| {
            scheduler.fault.is_none() && points.iter().any(|&point| !scheduler.passed(point))
        };
        scheduler.waiting += 1;
        let waited = self.news.wait_while(scheduler, ahead);
        let mut scheduler = waited.unwrap_or_else(PoisonError::into_inner);
        scheduler.waiting -= 1;
        scheduler.check_fault().map(|()| scheduler)
    }
}

/// The host's span for queueing these steps; `None` if there are none.
fn queued(program: &Program, steps: Range<usize>, start: Nanos, end: Nanos) -> Option<Span> {
    let stream = program.steps[steps].first()?.stream;
    let step = Span::WHOLE;
    Some(Span {
        step,
        stream,
        start,
        end,
    })
}
