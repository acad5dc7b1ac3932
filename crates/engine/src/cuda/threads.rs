//! Several host threads that make lists of calls concurrently.
//!
//! The engine's thread has turned a program's steps into the lists. Each is made by its own thread,
//! the first by the engine's. The threads start together, once each has made its context current.
//!
//! Some programs say which thread issues which step. Of others, the steps of several GPUs are issued
//! by a thread per GPU, so that each GPU is given its work as soon as if it were the only one. Before
//! a GPU is told to wait for an event of another, the threads meet, so that the event is recorded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cust::sys;

use super::calls::{Entry, HostTime, make_all};
use crate::check::Plan;
use crate::{EngineError, EventId, LatticeOp, Op, OrderOp, Program, Result};

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
    /// it names no issuers, uses several devices and makes many launches, and what one device needs of
    /// another is ordered by events.
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
            && program
                .steps
                .iter()
                .all(|step| is_ordered_by_events(&step.op))
        {
            Threads::PerGpu
        } else {
            Threads::Own
        }
    }
}

/// Whether an op only depends on earlier ones of its own GPU, or waits for others by an event.
fn is_ordered_by_events(op: &Op) -> bool {
    match op {
        Op::Lattices(..) | Op::Order(_) => true,
        Op::Buffers(_) => false, // some are on the host
    }
}

/// The kernel launches that step the lattices of a program.
fn launches(program: &Program) -> u64 {
    let of_step = |op: &Op| match op {
        Op::Lattices(
            lattices,
            LatticeOp::Advance {
                kernel,
                generations,
                ..
            },
        ) => {
            let batches = if kernel.batched { 1 } else { lattices.len() };
            u64::from(kernel.launches(*generations)) * batches as u64
        }
        _ => 0,
    };
    program.steps.iter().map(|step| of_step(&step.op)).sum()
}

/// Which events the threads of a program have recorded and wait for, since they last met.
#[derive(Default)]
pub(super) struct Meetings {
    recorded: HashMap<EventId, usize>,
    awaited: Vec<(EventId, usize)>,
}

impl Meetings {
    /// Whether the threads must meet before thread `by` makes this op's calls: another has recorded the
    /// event that it waits for, or waits for the one that it records anew.
    pub(super) fn must_meet(&mut self, by: usize, op: &OrderOp) -> bool {
        let other = |thread: usize| thread != by;
        let must = match op {
            OrderOp::Wait(event) => self.recorded.get(event).copied().is_some_and(other),
            OrderOp::Record(event) => {
                let mut awaited = self.awaited.iter();
                awaited.any(|(of, thread)| of == event && other(*thread))
            }
            OrderOp::Synchronize(_) => return false,
        };
        if must {
            *self = Meetings::default();
        }
        match op {
            OrderOp::Wait(event) => self.awaited.push((*event, by)),
            OrderOp::Record(event) => drop(self.recorded.insert(*event, by)),
            OrderOp::Synchronize(_) => {}
        }
        must
    }
}

/// Makes each list's calls on its own thread, the first list's on this one. All meet as often.
pub(super) fn make_concurrently(lists: &[Vec<Entry>]) -> Result<Vec<HostTime>> {
    let arrived = AtomicUsize::new(0);
    let off = AtomicBool::new(false);
    let make = |entries: &[Entry]| {
        let mut meetings = 0;
        // Whether all are there; otherwise one failed.
        let meet = || {
            meetings += 1;
            arrived.fetch_add(1, Ordering::AcqRel);
            while arrived.load(Ordering::Acquire) < meetings * lists.len() {
                if off.load(Ordering::Acquire) {
                    return false;
                }
                thread::yield_now();
            }
            true
        };
        make_all(entries, meet).inspect_err(|_| off.store(true, Ordering::Release))
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
