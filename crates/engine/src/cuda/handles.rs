//! Contexts, streams and events: the driver's handles, each released once.

use cust::device::Device;
use cust::sys::{self, CUresult};

use super::driver::check;
use crate::{Priority, Result, StreamKind, StreamSpec};

/// A device's primary context or an additional one, released on drop. (`cust` only supports primary
/// contexts.)
pub(super) struct OwnedContext {
    pub(super) raw: sys::CUcontext,
    device: sys::CUdevice,
    is_primary: bool,
}

// SAFETY: a context handle is valid on every thread.
unsafe impl Send for OwnedContext {}
// SAFETY: as above; the driver's functions are thread-safe.
unsafe impl Sync for OwnedContext {}

impl OwnedContext {
    /// Retains the device's primary context, or creates another one, and makes it current.
    pub(super) fn new(device: Device, is_primary: bool) -> Result<OwnedContext> {
        let mut raw = std::ptr::null_mut();
        let device = device.as_raw();
        // SAFETY: `raw` is valid for the write.
        let (call, code) = unsafe {
            if is_primary {
                let code = sys::cuDevicePrimaryCtxRetain(&mut raw, device);
                ("cuDevicePrimaryCtxRetain", code)
            } else {
                ("cuCtxCreate", sys::cuCtxCreate_v2(&mut raw, 0, device))
            }
        };
        check(call, code)?;
        let context = OwnedContext {
            raw,
            device,
            is_primary,
        };
        if !is_primary {
            // Creation pushes it onto this thread's context stack; this crate only ever replaces the
            // top.
            let mut top = std::ptr::null_mut();
            // SAFETY: `top` is valid for the write.
            check("cuCtxPopCurrent", unsafe {
                sys::cuCtxPopCurrent_v2(&mut top)
            })?;
        }
        context.make_current().map(|()| context)
    }

    /// Makes it current on the calling thread. The driver is asked which one is: another engine on
    /// this thread may have made its own current, or none when it was dropped.
    pub(super) fn make_current(&self) -> Result<()> {
        if current() == self.raw {
            return Ok(());
        }
        // SAFETY: the context is alive.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }

    /// Allows or forbids this context to reach memory of another device's. Returns `false` if it cannot
    /// reach it, or reaches as many others as it can.
    pub(super) fn set_peer_access(&self, peer: &OwnedContext, is_allowed: bool) -> Result<bool> {
        self.make_current()?;
        // SAFETY: both contexts are alive.
        let (call, code) = unsafe {
            if is_allowed {
                let code = sys::cuCtxEnablePeerAccess(peer.raw, 0);
                ("cuCtxEnablePeerAccess", code)
            } else {
                let code = sys::cuCtxDisablePeerAccess(peer.raw);
                ("cuCtxDisablePeerAccess", code)
            }
        };
        match code {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
            | CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED => Ok(true),
            CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED | CUresult::CUDA_ERROR_TOO_MANY_PEERS => {
                Ok(false)
            }
            code => check(call, code).map(|()| true),
        }
    }

    /// Calls `act` with this context current and then restores the previous one. For drops, which
    /// may happen on any thread during another context's work.
    pub(super) fn within(&self, act: impl FnOnce()) {
        let before = current();
        if self.make_current().is_ok() {
            act();
            if before != self.raw {
                // SAFETY: it was current before; null means no context.
                unsafe { sys::cuCtxSetCurrent(before) };
            }
        }
    }
}

/// The calling thread's context, or null.
fn current() -> sys::CUcontext {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is valid for the write; on failure it stays null.
    unsafe { sys::cuCtxGetCurrent(&mut raw) };
    raw
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        let ours = current() == self.raw;
        // SAFETY: released once, in the way it was created, after everything in it was freed. The
        // thread does not keep a handle to a destroyed context.
        unsafe {
            if ours {
                sys::cuCtxSetCurrent(std::ptr::null_mut());
            }
            if self.is_primary {
                sys::cuDevicePrimaryCtxRelease_v2(self.device);
            } else {
                sys::cuCtxDestroy_v2(self.raw);
            }
        }
    }
}

/// Blocks until everything in the current context is done.
pub(super) fn synchronize() -> Result<()> {
    // SAFETY: no precondition.
    check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
}

/// CU_STREAM_LEGACY: the handle of the current context's default stream, in which synchronous
/// copies run too.
const LEGACY: usize = 1;

/// A stream, destroyed on drop unless it is the default stream. (`cust::Stream::new` silently
/// ignores NON_BLOCKING.)
pub(super) struct RawStream(pub(super) sys::CUstream);

impl RawStream {
    /// Creates a stream of the current context.
    pub(super) fn new(spec: StreamSpec) -> Result<RawStream> {
        let flags = match spec.kind {
            StreamKind::NonBlocking => 1, // CU_STREAM_NON_BLOCKING
            StreamKind::Blocking => 0,    // CU_STREAM_DEFAULT
            StreamKind::Default => {
                return Ok(RawStream(std::ptr::without_provenance_mut(LEGACY)));
            }
        };
        // The highest priority is the smallest number.
        let (mut lowest, mut priority) = (0, 0);
        if spec.priority == Priority::High {
            // SAFETY: both are valid for the write; a context is current.
            check("cuCtxGetStreamPriorityRange", unsafe {
                sys::cuCtxGetStreamPriorityRange(&mut lowest, &mut priority)
            })?;
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is valid for the write; a context is current.
        let code = unsafe { sys::cuStreamCreateWithPriority(&mut raw, flags, priority) };
        check("cuStreamCreateWithPriority", code).map(|()| RawStream(raw))
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        if self.0.addr() != LEGACY {
            // SAFETY: destroyed once; the driver finishes queued work first.
            unsafe { sys::cuStreamDestroy_v2(self.0) };
        }
    }
}

/// An event of one device. (`cust`'s `wait_event` consumes its `Event`, so it cannot be reused.)
pub(super) struct Event(pub(super) sys::CUevent);

impl Event {
    pub(super) fn new(timing: bool) -> Result<Event> {
        let mut raw = std::ptr::null_mut();
        let flags = if timing { 0 } else { 2 }; // CU_EVENT_DISABLE_TIMING
        // SAFETY: `raw` is valid for the write; a context is current.
        let code = unsafe { sys::cuEventCreate(&mut raw, flags) };
        check("cuEventCreate", code).map(|()| Event(raw))
    }

    /// Records the event in a stream.
    pub(super) fn record(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are alive and of one context.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(self.0, stream)
        })
    }

    /// During capture: adds a node that records the event at each replay.
    pub(super) fn record_external(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are alive and of one context. 1 is CU_EVENT_RECORD_EXTERNAL.
        check("cuEventRecordWithFlags", unsafe {
            sys::cuEventRecordWithFlags(self.0, stream, 1)
        })
    }

    /// Makes a stream wait for the event.
    pub(super) fn make_stream_wait(&self, stream: sys::CUstream) -> Result<()> {
        // SAFETY: event and stream are alive.
        check("cuStreamWaitEvent", unsafe {
            sys::cuStreamWaitEvent(stream, self.0, 0)
        })
    }

    /// Whether the event has fired.
    pub(super) fn fired(&self) -> Result<bool> {
        // SAFETY: the event is alive.
        match unsafe { sys::cuEventQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => check("cuEventQuery", code).map(|()| true),
        }
    }

    /// Milliseconds from an earlier event to this one, at the driver's resolution of 0.5 µs.
    pub(super) fn ms_since(&self, earlier: &Event) -> Result<f32> {
        let mut ms = 0.0;
        // SAFETY: both events are alive and were made for timing.
        let code = unsafe { sys::cuEventElapsedTime(&mut ms, earlier.0, self.0) };
        check("cuEventElapsedTime", code).map(|()| ms)
    }

    pub(super) fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe {
            sys::cuEventSynchronize(self.0)
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once. The result does not matter, even after a lost
        // context.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// A device's unused events, for reuse: without timing, which is cheaper, and with it.
#[derive(Default)]
pub(super) struct EventPool {
    pub(super) plain: Vec<Event>,
    pub(super) timing: Vec<Event>,
}

impl EventPool {
    /// Takes an event without timing.
    pub(super) fn plain(&mut self) -> Result<Event> {
        self.plain.pop().map_or_else(|| Event::new(false), Ok)
    }

    /// Takes an event with timing.
    pub(super) fn timing(&mut self) -> Result<Event> {
        self.timing.pop().map_or_else(|| Event::new(true), Ok)
    }
}
