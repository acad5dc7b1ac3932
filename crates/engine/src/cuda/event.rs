//! Raw events, pooled for reuse instead of destroyed.

use cust::sys::{self, CUresult};

use super::driver::check;
use crate::Result;

/// An event of one device. (`cust`'s `wait_event` consumes its `Event`, so it cannot be reused.)
#[derive(Debug)]
pub(super) struct Event(sys::CUevent);

impl Event {
    pub(super) fn new(timing: bool) -> Result<Event> {
        let mut raw = std::ptr::null_mut();
        let flags = if timing {
            0
        } else {
            2 /* CU_EVENT_DISABLE_TIMING */
        };
        // SAFETY: `raw` is valid for the write; a context is current.
        check("cuEventCreate", unsafe {
            sys::cuEventCreate(&mut raw, flags)
        })?;
        Ok(Event(raw))
    }

    pub(super) fn raw(&self) -> sys::CUevent {
        self.0
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

/// A device's unused events, with and without timing.
#[derive(Default)]
pub(super) struct EventPool {
    plain: Vec<Event>,
    timing: Vec<Event>,
}

impl EventPool {
    /// Takes an event without timing, which is cheaper.
    pub(super) fn plain(&mut self) -> Result<Event> {
        self.plain.pop().map_or_else(|| Event::new(false), Ok)
    }

    /// Takes an event with timing.
    pub(super) fn timing(&mut self) -> Result<Event> {
        self.timing.pop().map_or_else(|| Event::new(true), Ok)
    }

    pub(super) fn give_back_plain(&mut self, event: Event) {
        self.plain.push(event);
    }

    pub(super) fn give_back_timing(&mut self, event: Event) {
        self.timing.push(event);
    }
}
