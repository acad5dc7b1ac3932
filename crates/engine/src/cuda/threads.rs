//! Programs that several host threads issue concurrently.
//!
//! The engine's thread turns the steps into lists of calls. Then each list is made by its own thread,
//! the first by the engine's. The threads start together, once each has made its context current,
//! and [`submit`](super::submit) returns when all are done.
//!
//! Some programs say which thread issues which step. Of others, the steps of several GPUs are issued
//! by a thread per GPU, so that each GPU is given its work as soon as if it were the only one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cust::device::Device;

use super::CudaEngine;
use super::calls::{Call, Entry, HostTime, Sink, make_all};
use super::submit::Submission;
use crate::{EngineError, Op, Program, Result, StreamId};

/// The host threads that issue a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Threads {
    /// The engine's thread alone.
    Own,
    /// One per issuer that the program names.
    PerIssuer,
    /// One per GPU.
    PerGpu,
}

/// With fewer launches, starting a thread per GPU takes longer than it saves.
const MIN_LAUNCHES: u64 = 128;

/// The calls of one thread.
struct Part {
    /// The number of the issuer or of the GPU.
    key: usize,
    /// The GPU whose context is current after the calls so far.
    gpu: Option<usize>,
    sink: Sink,
}

impl CudaEngine {
    /// Whether a thread per GPU should issue a program that names no issuers: if it uses several
    /// devices and makes many launches, and nothing on one device depends on what was issued before
    /// on another. Lattices never do.
    pub(super) fn has_thread_per_gpu(
        &self,
        program: &Program,
        used: &[(usize, Vec<StreamId>)],
    ) -> bool {
        let device = |(gpu, _): &(usize, Vec<StreamId>)| Device::as_raw(&self.gpus[*gpu].device);
        let mut devices: Vec<_> = used.iter().map(device).collect();
        devices.sort_unstable();
        devices.dedup();
        // Two contexts of a device are there to be compared, so they keep the order of their steps.
        let is_one_context_per_device = devices.len() == used.len();
        devices.len() > 1
            && is_one_context_per_device
            && launches(program) >= MIN_LAUNCHES
            && program.steps.iter().all(|step| stays_on_its_gpu(&step.op))
    }

    pub(super) fn issue_from_threads(&mut self, submission: &mut Submission) -> Result<()> {
        let program = submission.program;
        let mut parts: Vec<Part> = Vec::new();
        for (index, step) in program.steps.iter().enumerate() {
            let gpu = self.gpu_of(step.stream);
            let key = match submission.threads {
                Threads::PerIssuer => usize::from(step.issuer.0),
                Threads::PerGpu => gpu,
                Threads::Own => 0,
            };
            let at = parts.binary_search_by_key(&key, |part| part.key);
            let at = at.unwrap_or_else(|at| {
                let part = Part {
                    key,
                    gpu: None,
                    sink: Sink::Later(Vec::new()),
                };
                parts.insert(at, part);
                at
            });
            let part = &mut parts[at];
            if part.gpu.replace(gpu) != Some(gpu) {
                let context = self.gpus[gpu].context.raw();
                part.sink.give(Call::Current(context))?;
            }
            self.issue_step(submission, index, &mut part.sink)?;
        }
        let lists = parts.into_iter().map(|part| match part.sink {
            Sink::Later(entries) => entries,
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

/// Whether an op can only depend on earlier ones of its own GPU.
fn stays_on_its_gpu(op: &Op) -> bool {
    match op {
        Op::Upload { .. }
        | Op::Soup { .. }
        | Op::Edit { .. }
        | Op::Pack(_)
        | Op::Unpack { .. }
        | Op::Advance { .. }
        | Op::Reduce { .. }
        | Op::Measure(_)
        | Op::Download { .. }
        | Op::Synchronize(_)
        | Op::Record(_) => true,
        // An event of another GPU, and buffers on the host.
        Op::Wait(_) | Op::Copy { .. } | Op::LaunchOnBuffers(_) => false,
    }
}

/// The kernel launches that step the lattices of a program.
fn launches(program: &Program) -> u64 {
    let of_step = |op: &Op| match op {
        Op::Advance {
            kernel,
            lattices,
            generations,
            ..
        } => {
            let batches = if kernel.batched { 1 } else { lattices.len() };
            u64::from(kernel.launches(*generations)) * batches as u64
        }
        _ => 0,
    };
    program.steps.iter().map(|step| of_step(&step.op)).sum()
}

/// Makes each list's calls on its own thread, all starting at the same time; the first list's on
/// this thread.
fn make_concurrently(lists: &[Vec<Entry>]) -> Result<Vec<HostTime>> {
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
    let Some((own, others)) = lists.split_first() else {
        return Ok(Vec::new());
    };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for entries in others {
            let spawned = thread::Builder::new().spawn_scoped(scope, move || make(entries));
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(_) => {
                    off.store(true, Ordering::Release);
                    return Err(EngineError::NoThread);
                }
            }
        }
        let mut times = Vec::new();
        let mut answer = make(own).map(|mut of_own| times.append(&mut of_own));
        for thread in threads {
            match thread.join() {
                Ok(made) => answer = answer.and(made.map(|mut of_one| times.append(&mut of_one))),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answer.map(|()| times)
    })
}
