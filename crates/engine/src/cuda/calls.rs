//! Driver calls as data: made immediately, or collected for several host threads to make concurrently.
//!
//! The engine's thread turns a program's steps into lists. Each is made by its own thread, the first by the
//! engine's. The threads start together, once each has made its context current.
//!
//! Some programs say which thread issues which step. Of others, the steps of several GPUs are issued
//! by a thread per GPU, so that each GPU is given its work as soon as if it were the only one. Before
//! a thread has its GPU wait for an event of another GPU, the threads wait for each other: by then the
//! event is recorded.

use super::driver::{check, host_span};
use crate::check::has_several_issuers;
use crate::{EngineError, EventId, LatticeOp, Op, OrderOp, Program, Result, Span, StreamId, nvtx};
use cust::sys;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// A copy of rows of device memory, to a place that is to be added.
pub(super) fn rows_from(
    from: sys::CUdeviceptr,
    pitch: usize,
    row_bytes: usize,
    rows: usize,
) -> sys::CUDA_MEMCPY2D {
    sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: from,
        srcArray: std::ptr::null_mut(),
        srcPitch: pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: std::ptr::null_mut(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: row_bytes,
        Height: rows,
    }
}

/// An entry of a thread's list of calls.
pub(super) enum Entry {
    Call(Box<dyn Fn() -> Result<()>>),
    /// The start of a step whose host time is measured, with its op's name.
    Begin(&'static str),
    /// The end of that step.
    End {
        step: u32,
        stream: StreamId,
    },
    /// The thread goes on once every other has come to this point of its list.
    Meet,
}

// SAFETY: handles are valid on every thread, and the memory outlives the thread that makes the call;
// see `Sink::push`.
unsafe impl Send for Entry {}
// SAFETY: as above; a call changes nothing that it holds.
unsafe impl Sync for Entry {}

/// Where calls are sent.
pub(super) enum Sink {
    /// To the driver, immediately.
    Now,
    /// To a list, for another thread.
    Later(Vec<Entry>),
}

/// A step whose calls are being made: since when, and its range in a profiler.
type Begun = (Instant, Option<nvtx::Range>);

impl Sink {
    /// Makes a driver call, or has the list's thread make it.
    ///
    /// # Safety
    /// When the call is made, its context must be current on that thread, and all handles and
    /// addresses that it holds must be valid, for as many bytes as it says. (The driver has read
    /// pageable memory when a copy's call returns; nobody touches the destination before an event
    /// after the copy has fired.)
    #[inline]
    pub(super) unsafe fn push(&mut self, call: impl Fn() -> Result<()> + 'static) -> Result<()> {
        match self {
            Sink::Now => call(),
            Sink::Later(entries) => {
                entries.push(Entry::Call(Box::new(call)));
                Ok(())
            }
        }
    }

    /// The same with a call of the driver that gives its code.
    ///
    /// # Safety
    /// As for [`Sink::push`].
    #[inline]
    pub(super) unsafe fn call(
        &mut self,
        name: &'static str,
        call: impl Fn() -> sys::CUresult + 'static,
    ) -> Result<()> {
        // SAFETY: the caller guarantees it.
        unsafe { self.push(move || check(name, call())) }
    }

    /// Records an event in a stream; both must be alive and of one context.
    pub(super) fn record(&mut self, event: sys::CUevent, stream: sys::CUstream) -> Result<()> {
        // SAFETY: the handles are alive until nothing runs.
        unsafe { self.call("cuEventRecord", move || sys::cuEventRecord(event, stream)) }
    }

    /// Makes a context current on the thread that makes the calls.
    pub(super) fn set_current(&mut self, context: sys::CUcontext) -> Result<()> {
        // SAFETY: the context is alive until nothing runs.
        unsafe { self.call("cuCtxSetCurrent", move || sys::cuCtxSetCurrent(context)) }
    }

    /// Marks the start of a step's calls, for its host time and for a profiler.
    pub(super) fn begin(&mut self, op: &'static str) -> Begun {
        let range = match self {
            Sink::Now => nvtx::range(op),
            Sink::Later(entries) => {
                entries.push(Entry::Begin(op));
                None
            }
        };
        (Instant::now(), range)
    }

    /// Marks the end of a step's calls. Returns the host's span if they were made immediately.
    pub(super) fn end(
        &mut self,
        step: u32,
        stream: StreamId,
        (began, _range): Begun,
        zero: Instant,
    ) -> Option<Span> {
        match self {
            Sink::Now => Some(host_span(step, stream, began, zero)),
            Sink::Later(entries) => {
                entries.push(Entry::End { step, stream });
                None
            }
        }
    }

    /// Makes the thread of a list wait for the others.
    pub(super) fn meet(&mut self) {
        if let Sink::Later(entries) = self {
            entries.push(Entry::Meet);
        }
    }
}

/// Makes collected calls in order, as far as `meet` finds all threads there, and returns the host's
/// spans.
fn make_all(entries: &[Entry], zero: Instant, mut meet: impl FnMut() -> bool) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    let (mut began, mut range) = (zero, None);
    for entry in entries {
        match *entry {
            Entry::Call(ref call) => call()?,
            Entry::Begin(op) => {
                range = nvtx::range(op);
                began = Instant::now();
            }
            Entry::End { step, stream } => {
                spans.push(host_span(step, stream, began, zero));
                drop(range.take());
            }
            Entry::Meet => {
                if !meet() {
                    break;
                }
            }
        }
    }
    Ok(spans)
}

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
    pub(super) fn of(program: &Program, mut devices: Vec<sys::CUdevice>) -> Threads {
        if has_several_issuers(program) {
            return Threads::PerIssuer;
        }
        let contexts = devices.len();
        devices.sort_unstable();
        devices.dedup();
        // Two contexts of a device are there to be compared, so they keep the order of their steps.
        let is_one_context_per_device = devices.len() == contexts;
        let launches = program.steps.iter().map(|step| launches(&step.op));
        if devices.len() > 1
            && is_one_context_per_device
            && launches.sum::<Option<u64>>() >= Some(MIN_LAUNCHES)
        {
            Threads::PerGpu
        } else {
            Threads::Own
        }
    }
}

/// The kernel launches of an op that step lattices; `None` for an op that may depend on work of another
/// GPU without waiting for it by an event.
fn launches(op: &Op) -> Option<u64> {
    match op {
        Op::Buffers(_) => None, // some are on the host
        Op::Lattices(
            lattices,
            LatticeOp::Advance {
                kernel,
                generations,
                ..
            },
        ) => {
            let batches = if kernel.batched { 1 } else { lattices.len() };
            Some(u64::from(kernel.launches(*generations)) * batches as u64)
        }
        Op::Lattices(..) | Op::Order(_) => Some(0),
    }
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
pub(super) fn make_concurrently(lists: &[Vec<Entry>], zero: Instant) -> Result<Vec<Span>> {
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
        make_all(entries, zero, meet).inspect_err(|_| off.store(true, Ordering::Release))
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
        let mut made = vec![make(own)];
        for thread in threads {
            let panicked = |panic| std::panic::resume_unwind(panic);
            made.push(thread.join().unwrap_or_else(panicked));
        }
        let spans: Vec<_> = made.into_iter().collect::<Result<_>>()?;
        Ok(spans.concat())
    })
}
