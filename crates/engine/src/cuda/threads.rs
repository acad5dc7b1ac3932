//! Programs that several host threads issue concurrently.
//!
//! The engine's thread turns the steps into lists of calls. Then each issuer's list is made by its
//! own thread, issuer 0's by the engine's. The threads start together, once each has made its
//! context current, and [`submit`](super::submit) returns when all are done.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::CudaEngine;
use super::calls::{Call, Entry, HostTime, Sink, make_all};
use super::submit::Submission;
use crate::{EngineError, IssuerId, Result};

/// The calls of one issuer.
struct Part {
    issuer: IssuerId,
    gpu: Option<usize>,
    sink: Sink,
}

impl CudaEngine {
    pub(super) fn issue_from_threads(
        &mut self,
        submission: &mut Submission,
        issuers: &[IssuerId],
    ) -> Result<()> {
        let program = submission.program;
        let part = |&issuer| Part {
            issuer,
            gpu: None,
            sink: Sink::Later(Vec::new()),
        };
        let mut parts: Vec<Part> = issuers.iter().map(part).collect();
        for (index, step) in program.steps.iter().enumerate() {
            let gpu = self.gpu_of(step.stream);
            let part = parts.iter_mut().find(|part| part.issuer == step.issuer);
            let part = part.expect("every step's issuer is among them");
            if part.gpu.replace(gpu) != Some(gpu) {
                let context = self.gpus[gpu].context.raw();
                part.sink.give(Call::Current(context))?;
            }
            self.issue_step(submission, index, &mut part.sink)?;
        }
        let lists = parts.into_iter().map(|part| match part.sink {
            Sink::Later(entries) => (part.issuer, entries),
            Sink::Now => unreachable!("every sink was made as Later"),
        });
        submission.begun = true;
        for time in make_concurrently(&lists.collect::<Vec<_>>())? {
            let gpu = self.gpu_of(time.stream);
            let issuer = program.steps[time.step as usize].issuer;
            let mut timers = submission.timers.iter_mut();
            if let Some(timer) = timers.find(|t| t.gpu == gpu && t.issuer == issuer) {
                timer.host(&time);
            }
        }
        self.end_streams(submission)
    }
}

/// Makes each issuer's calls on its own thread, all starting at the same time.
fn make_concurrently(lists: &[(IssuerId, Vec<Entry>)]) -> Result<Vec<HostTime>> {
    let ready = AtomicUsize::new(0);
    let off = AtomicBool::new(false);
    let make = |entries: &[Entry]| {
        // The first entry makes the context current.
        let (context, rest) = entries.split_at(1);
        let prepared = make_all(context);
        ready.fetch_add(1, Ordering::AcqRel);
        while ready.load(Ordering::Acquire) < lists.len() {
            if off.load(Ordering::Acquire) {
                return Err(EngineError::NoThread);
            }
            thread::yield_now();
        }
        prepared.and_then(|_| make_all(rest))
    };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (_, entries) in lists.iter().filter(|(issuer, _)| issuer.0 != 0) {
            let spawned = thread::Builder::new().spawn_scoped(scope, move || make(entries));
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(_) => {
                    off.store(true, Ordering::Release);
                    return Err(EngineError::NoThread);
                }
            }
        }
        let own = lists.iter().find(|(issuer, _)| issuer.0 == 0);
        let own = own.map_or(Ok(Vec::new()), |(_, entries)| make(entries));
        let mut times = Vec::new();
        let mut answer = own.map(|mut of_own| times.append(&mut of_own));
        for thread in threads {
            match thread.join() {
                Ok(made) => answer = answer.and(made.map(|mut of_one| times.append(&mut of_one))),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answer.map(|()| times)
    })
}
