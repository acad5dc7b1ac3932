//! Several host threads that make lists of calls concurrently.
//!
//! The engine's thread has turned a program's steps into the lists. Each is made by its own thread,
//! the first by the engine's. The threads start together, once each has made its context current.
//!
//! Some programs say which thread issues which step. Of others, the steps of several GPUs are issued
//! by a thread per GPU, so that each GPU is given its work as soon as if it were the only one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cust::sys;

use super::calls::{Entry, HostTime, make_all};
use crate::check::Plan;
use crate::{EngineError, Op, Program, Result};

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

impl Threads {
    /// The threads for a program that uses these devices, one entry per context. A thread per GPU if
    /// it names no issuers, uses several devices and makes many launches, and nothing on one device
    /// depends on what was issued before on another. Lattices never do.
    pub(super) fn of(program: &Program, plan: &Plan, mut devices: Vec<sys::CUdevice>) -> Threads {
        if plan.several_issuers {
            return Threads::PerIssuer;
        }
        let contexts = devices.len();
        devices.sort_unstable();
        devices.dedup();
        // Two contexts of a device are there to be compared, so they keep the order of their steps.
        let is_one_context_per_device = devices.len() == contexts;
        if devices.len() > 1
            && is_one_context_per_device
            && launches(program) >= MIN_LAUNCHES
            && program.steps.iter().all(|step| stays_on_its_gpu(&step.op))
        {
            Threads::PerGpu
        } else {
            Threads::Own
        }
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
        // An event of another GPU, its lattices, and buffers on the host.
        Op::Wait(_)
        | Op::Copy { .. }
        | Op::CopyRows { .. }
        | Op::LaunchOnBuffers(_)
        | Op::HostFunction(..)
        | Op::Memory(_)
        | Op::While(_) => false,
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
pub(super) fn make_concurrently(lists: &[Vec<Entry>]) -> Result<Vec<HostTime>> {
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
