//! Driver calls as data: made immediately, or collected for another host thread to make.

use std::ffi::c_void;
use std::time::Instant;

use cust::sys;

use super::driver::check;
use crate::error::invalid;
use crate::kernels::{Launch, MAX_PARAMETERS, Parameter};
use crate::{Result, StreamId, nvtx};

/// A kernel's arguments, each at the start of a 64-bit word.
#[derive(Clone, Copy, Default)]
pub(super) struct Arguments {
    words: [u64; MAX_PARAMETERS],
    count: usize,
}

/// What the parameters of a launch are, in any order.
pub(super) type Values<'a> = [(Parameter, &'a dyn Argument)];

impl Arguments {
    /// Fills a kernel's parameters. Errors if one has no value.
    pub(super) fn fill(parameters: &[Parameter], values: &Values) -> Result<Arguments> {
        let mut all = Arguments::default();
        for parameter in parameters {
            let value = values.iter().find(|(of, _)| of == parameter);
            let (_, argument) =
                value.ok_or_else(|| invalid(format!("{parameter:?} of a kernel has no value")))?;
            debug_assert_eq!(size_of_val(*argument), parameter.bytes(), "{parameter:?}");
            all.push(*argument);
        }
        Ok(all)
    }

    pub(super) fn push(&mut self, argument: &dyn Argument) {
        self.words[self.count] = argument.word();
        self.count += 1;
    }
}

/// A number or address that can be a kernel's argument.
pub(super) trait Argument {
    /// Its bytes, at the start of a word.
    fn word(&self) -> u64;
}

macro_rules! arguments {
    ($($ty:ty),*) => {$(impl Argument for $ty {
        fn word(&self) -> u64 {
            let mut word = [0; 8];
            word[..size_of::<$ty>()].copy_from_slice(&self.to_ne_bytes());
            u64::from_ne_bytes(word)
        }
    })*};
}
arguments!(i32, u32, i64, u64, f32);

/// One driver call. Whoever makes it guarantees that its context is current and that all handles
/// and addresses are valid.
pub(super) enum Call {
    /// Makes a context current on the calling thread.
    Current(sys::CUcontext),
    Launch {
        function: sys::CUfunction,
        shape: Launch,
        arguments: Arguments,
        stream: sys::CUstream,
    },
    CopyIn {
        to: sys::CUdeviceptr,
        from: *const c_void,
        bytes: usize,
        stream: sys::CUstream,
    },
    CopyOut {
        to: *mut c_void,
        from: sys::CUdeviceptr,
        bytes: usize,
        stream: sys::CUstream,
    },
    /// Copies `rows` rows of `row_bytes`. Each side is an address and a pitch in bytes.
    CopyRowsOut {
        to: (*mut c_void, usize),
        from: (sys::CUdeviceptr, usize),
        row_bytes: usize,
        rows: usize,
        stream: sys::CUstream,
    },
    /// Each side is an address and its context.
    CopyPeer {
        to: (sys::CUdeviceptr, sys::CUcontext),
        from: (sys::CUdeviceptr, sys::CUcontext),
        bytes: usize,
        stream: sys::CUstream,
    },
    CopyWithin {
        to: sys::CUdeviceptr,
        from: sys::CUdeviceptr,
        bytes: usize,
        stream: sys::CUstream,
    },
    HostFunction {
        function: sys::CUhostFn,
        words: *mut c_void,
        stream: sys::CUstream,
    },
    Record {
        event: sys::CUevent,
        stream: sys::CUstream,
    },
    WaitEvent {
        event: sys::CUevent,
        stream: sys::CUstream,
    },
    /// Blocks until a stream is done.
    Synchronize(sys::CUstream),
    /// Blocks until everything in the current context is done.
    SynchronizeContext,
}

// SAFETY: handles are valid on every thread, and the memory outlives the thread that receives the
// call; see `Call`.
unsafe impl Send for Call {}
// SAFETY: as above; a call is only read.
unsafe impl Sync for Call {}

impl Call {
    pub(super) fn make(&self) -> Result<()> {
        // SAFETY: handles are valid and both sides have enough bytes, as `Call` requires. The
        // driver has read pageable memory when a copy's call returns; nobody touches the
        // destination before an event after the copy has fired. The driver copies a kernel's
        // arguments; a test compares the tables of kernels with the parameters in the PTX.
        let (name, code) = unsafe {
            match *self {
                Call::Current(context) => ("cuCtxSetCurrent", sys::cuCtxSetCurrent(context)),
                Call::Launch {
                    function,
                    shape,
                    ref arguments,
                    stream,
                } => launch(function, shape, arguments, stream),
                Call::CopyIn {
                    to,
                    from,
                    bytes,
                    stream,
                } => (
                    "cuMemcpyHtoDAsync",
                    sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream),
                ),
                Call::CopyOut {
                    to,
                    from,
                    bytes,
                    stream,
                } => (
                    "cuMemcpyDtoHAsync",
                    sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream),
                ),
                Call::CopyRowsOut {
                    to,
                    from,
                    row_bytes,
                    rows,
                    stream,
                } => (
                    "cuMemcpy2DAsync",
                    copy_rows_out(to, from, row_bytes, rows, stream),
                ),
                Call::CopyPeer {
                    to,
                    from,
                    bytes,
                    stream,
                } => (
                    "cuMemcpyPeerAsync",
                    sys::cuMemcpyPeerAsync(to.0, to.1, from.0, from.1, bytes, stream),
                ),
                Call::CopyWithin {
                    to,
                    from,
                    bytes,
                    stream,
                } => (
                    "cuMemcpyDtoDAsync",
                    sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
                ),
                Call::HostFunction {
                    function,
                    words,
                    stream,
                } => (
                    "cuLaunchHostFunc",
                    sys::cuLaunchHostFunc(stream, function, words),
                ),
                Call::Record { event, stream } => {
                    ("cuEventRecord", sys::cuEventRecord(event, stream))
                }
                Call::WaitEvent { event, stream } => (
                    "cuStreamWaitEvent",
                    sys::cuStreamWaitEvent(stream, event, 0),
                ),
                Call::Synchronize(stream) => {
                    ("cuStreamSynchronize", sys::cuStreamSynchronize(stream))
                }
                Call::SynchronizeContext => ("cuCtxSynchronize", sys::cuCtxSynchronize()),
            }
        };
        check(name, code)
    }
}

/// # Safety
/// Both sides must have `rows` rows of `row_bytes` bytes, and the stream must be alive.
unsafe fn copy_rows_out(
    to: (*mut c_void, usize),
    from: (sys::CUdeviceptr, usize),
    row_bytes: usize,
    rows: usize,
    stream: sys::CUstream,
) -> sys::CUresult {
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: from.0,
        srcArray: std::ptr::null_mut(),
        srcPitch: from.1,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: to.0,
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: to.1,
        WidthInBytes: row_bytes,
        Height: rows,
    };
    // SAFETY: the caller guarantees it.
    unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream) }
}

/// The name of the driver function and its result.
///
/// # Safety
/// The function, the stream and the addresses among the arguments must be valid and belong
/// to the current context, and the function must take these arguments.
unsafe fn launch(
    function: sys::CUfunction,
    shape: Launch,
    arguments: &Arguments,
    stream: sys::CUstream,
) -> (&'static str, sys::CUresult) {
    let mut addresses = [std::ptr::null_mut(); MAX_PARAMETERS];
    for (address, word) in addresses
        .iter_mut()
        .zip(&arguments.words[..arguments.count])
    {
        *address = std::ptr::from_ref(word).cast_mut().cast();
    }
    // `cuLaunchKernel` has one more parameter, for another way to pass arguments.
    macro_rules! call {
        ($call:ident $(, $unused:expr)?) => {{
            let code = sys::$call(
                function,
                shape.grid[0],
                shape.grid[1],
                shape.grid[2],
                shape.block[0],
                shape.block[1],
                shape.block[2],
                shape.shared_bytes as u32,
                stream,
                addresses.as_mut_ptr(),
                $($unused)?
            );
            (stringify!($call), code)
        }};
    }
    // SAFETY: the caller guarantees it.
    unsafe {
        if shape.cooperative {
            call!(cuLaunchCooperativeKernel)
        } else {
            call!(cuLaunchKernel, std::ptr::null_mut())
        }
    }
}

/// An entry of a thread's list of calls.
pub(super) enum Entry {
    Call(Call),
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

/// Where calls are sent.
pub(super) enum Sink {
    /// To the driver, immediately.
    Now,
    /// To a list, for another thread.
    Later(Vec<Entry>),
}

impl Sink {
    /// Marks the start of a step's calls, for its host time and for a profiler.
    pub(super) fn begin(&mut self, op: &'static str) -> Begun {
        let range = match self {
            Sink::Now => nvtx::range(op),
            Sink::Later(entries) => {
                entries.push(Entry::Begin(op));
                None
            }
        };
        Begun {
            at: Instant::now(),
            _range: range,
        }
    }

    /// Marks the end of a step's calls. Returns the host time if they were made immediately.
    pub(super) fn end(&mut self, step: u32, stream: StreamId, begun: Begun) -> Option<HostTime> {
        match self {
            Sink::Now => Some(HostTime {
                step,
                stream,
                began: begun.at,
                ended: Instant::now(),
            }),
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

    #[inline]
    pub(super) fn push(&mut self, call: Call) -> Result<()> {
        match self {
            Sink::Now => call.make(),
            Sink::Later(entries) => {
                entries.push(Entry::Call(call));
                Ok(())
            }
        }
    }
}

/// A step whose calls are being made.
pub(super) struct Begun {
    at: Instant,
    _range: Option<nvtx::Range>,
}

/// The time the host spent in a step's calls.
pub(super) struct HostTime {
    pub(super) step: u32,
    pub(super) stream: StreamId,
    pub(super) began: Instant,
    pub(super) ended: Instant,
}

/// Makes collected calls in order, as far as `meet` finds all threads there, and returns the measured
/// host times.
pub(super) fn make_all(entries: &[Entry], mut meet: impl FnMut() -> bool) -> Result<Vec<HostTime>> {
    let mut times = Vec::new();
    let mut began = Instant::now();
    let mut range = None;
    for entry in entries {
        match *entry {
            Entry::Call(ref call) => call.make()?,
            Entry::Begin(op) => {
                range = nvtx::range(op);
                began = Instant::now();
            }
            Entry::End { step, stream } => {
                times.push(HostTime {
                    step,
                    stream,
                    began,
                    ended: Instant::now(),
                });
                drop(range.take());
            }
            Entry::Meet => {
                if !meet() {
                    break;
                }
            }
        }
    }
    Ok(times)
}
