//! Contexts: a device's primary context, and additional ones.

use cust::device::Device;
use cust::sys::{self, CUresult};

use super::driver::check;
use crate::Result;

/// A context, released on drop. (`cust` only supports primary contexts.)
pub(super) struct OwnedContext {
    raw: sys::CUcontext,
    device: sys::CUdevice,
    primary: bool,
}

// SAFETY: a context handle is valid on every thread.
unsafe impl Send for OwnedContext {}
// SAFETY: as above; the driver's functions are thread-safe.
unsafe impl Sync for OwnedContext {}

impl OwnedContext {
    /// Retains the device's primary context and makes it current.
    pub(super) fn primary(device: Device) -> Result<OwnedContext> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is valid for the write.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&mut raw, device.as_raw())
        })?;
        let context = OwnedContext {
            raw,
            device: device.as_raw(),
            primary: true,
        };
        context.make_current().map(|()| context)
    }

    /// Creates another context and makes it current.
    pub(super) fn further(device: Device) -> Result<OwnedContext> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is valid for the write.
        check("cuCtxCreate", unsafe {
            sys::cuCtxCreate_v2(&mut raw, 0, device.as_raw())
        })?;
        let context = OwnedContext {
            raw,
            device: device.as_raw(),
            primary: false,
        };
        // Creation pushes it onto this thread's context stack; this crate only ever replaces the
        // top.
        let mut top = std::ptr::null_mut();
        // SAFETY: `top` is valid for the write.
        check("cuCtxPopCurrent", unsafe {
            sys::cuCtxPopCurrent_v2(&mut top)
        })?;
        context.make_current().map(|()| context)
    }

    pub(super) fn raw(&self) -> sys::CUcontext {
        self.raw
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
                (
                    "cuCtxEnablePeerAccess",
                    sys::cuCtxEnablePeerAccess(peer.raw, 0),
                )
            } else {
                (
                    "cuCtxDisablePeerAccess",
                    sys::cuCtxDisablePeerAccess(peer.raw),
                )
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
            if self.primary {
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
