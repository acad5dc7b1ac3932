//! Contexts: a device's primary one, and further ones that are made and destroyed.

use cust::device::Device;
use cust::sys;

use super::driver::check;
use crate::Result;

/// A context, given back when it is dropped. `cust`'s own is a primary context always.
pub(super) struct OwnedContext {
    raw: sys::CUcontext,
    device: sys::CUdevice,
    primary: bool,
}

// SAFETY: a context's handle is valid on every thread.
unsafe impl Send for OwnedContext {}
// SAFETY: as above; the driver's functions lock for themselves.
unsafe impl Sync for OwnedContext {}

impl OwnedContext {
    /// The device's primary context, made current.
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

    /// A context of its own beside the primary one, made current.
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
        // It comes pushed onto this thread's stack; here the top is only ever replaced.
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

    /// Whether it is the calling thread's.
    pub(super) fn is_current(&self) -> bool {
        current() == self.raw
    }

    /// Makes it the calling thread's.
    pub(super) fn make_current(&self) -> Result<()> {
        // SAFETY: the context is alive.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }
}

impl OwnedContext {
    /// Does something with this context current, and then makes current what was. For what may be
    /// dropped on any thread, in the midst of another context's work.
    pub(super) fn within(&self, act: impl FnOnce()) {
        let before = current();
        if before == self.raw {
            act();
        } else if self.make_current().is_ok() {
            act();
            // SAFETY: it was current; none (null) is one, too.
            unsafe { sys::cuCtxSetCurrent(before) };
        }
    }
}

/// The thread's context, or null.
fn current() -> sys::CUcontext {
    let mut raw = std::ptr::null_mut();
    // SAFETY: `raw` is valid for the write; on failure it stays null.
    unsafe { sys::cuCtxGetCurrent(&mut raw) };
    raw
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        let ours = self.is_current();
        // SAFETY: given back once, by the way it was got; what was in it is gone before. No
        // thread is left with a handle to what may no longer be.
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

/// Waits for everything in the current context.
pub(super) fn synchronize() -> Result<()> {
    // SAFETY: no precondition.
    check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
}
