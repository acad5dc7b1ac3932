//! Streams: non-blocking, blocking and default.

use cust::sys;

use super::driver::check;
use crate::{Priority, Result, StreamKind, StreamSpec};

/// CU_STREAM_LEGACY: the handle of the current context's default stream, in which synchronous
/// copies run too.
const LEGACY: usize = 1;

/// A stream, destroyed on drop unless it is the default stream. (`cust::Stream::new` silently
/// ignores NON_BLOCKING.)
pub(super) struct RawStream {
    raw: sys::CUstream,
    made: bool,
}

impl RawStream {
    /// Creates a stream of the current context.
    pub(super) fn new(spec: StreamSpec) -> Result<RawStream> {
        let flags = match spec.kind {
            StreamKind::NonBlocking => 1, // CU_STREAM_NON_BLOCKING
            StreamKind::Blocking => 0,    // CU_STREAM_DEFAULT
            StreamKind::Default => {
                let raw = std::ptr::without_provenance_mut(LEGACY);
                return Ok(RawStream { raw, made: false });
            }
        };
        let priority = match spec.priority {
            Priority::Normal => 0,
            Priority::High => highest_priority()?,
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is valid for the write; a context is current.
        let code = unsafe { sys::cuStreamCreateWithPriority(&mut raw, flags, priority) };
        check("cuStreamCreateWithPriority", code)?;
        Ok(RawStream { raw, made: true })
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.raw
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        if self.made {
            // SAFETY: destroyed once; the driver finishes queued work first.
            unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// The highest priority, which is the smallest number.
fn highest_priority() -> Result<i32> {
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: both are valid for the write; a context is current.
    check("cuCtxGetStreamPriorityRange", unsafe {
        sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest)
    })?;
    Ok(greatest)
}
