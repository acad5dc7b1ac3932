//! The fake driver itself: it refuses what the tests of the CUDA engine rely on it to refuse.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::MutexGuard;

use cust::sys::*;

use crate::ops::{alone, query};

/// Makes something that is written to where it points.
fn made<T>(mut nothing: T, make: impl FnOnce(*mut T) -> CUresult) -> T {
    assert_eq!(make(&mut nothing) as i32, 0);
    nothing
}

/// The primary context, and the right to be the only test that uses it; a capture in one thread
/// forbids things in others.
fn start() -> (CUcontext, MutexGuard<'static, ()>) {
    let alone = alone();
    // SAFETY: these need nothing.
    unsafe {
        assert_eq!(cuInit(0) as i32, 0);
        let primary = made(null_mut(), |out| cuDevicePrimaryCtxRetain(out, 0));
        assert_eq!(enter(primary), 0);
        (primary, alone)
    }
}

fn enter(context: CUcontext) -> i32 {
    // SAFETY: the driver knows which contexts there are.
    unsafe { cuCtxSetCurrent(context) as i32 }
}

fn memory() -> CUdeviceptr {
    // SAFETY: it is written to a place for it.
    made(0, |out| unsafe { cuMemAlloc_v2(out, 16) })
}

fn stream() -> CUstream {
    // SAFETY: as above.
    made(null_mut(), |out| unsafe {
        cuStreamCreateWithPriority(out, 1, 0)
    })
}

fn function() -> CUfunction {
    let ptx = &engine::kernels::Ptx::find("05_bits").unwrap().text;
    let [ptx, name] = [ptx, "life_bits"].map(|text| CString::new(text).unwrap());
    // SAFETY: as above, and both texts end in a zero.
    unsafe {
        let module = made(null_mut(), |out| cuModuleLoadData(out, ptx.as_ptr().cast()));
        made(null_mut(), |out| {
            cuModuleGetFunction(out, module, name.as_ptr())
        })
    }
}

/// Launches a block of this many threads on a lattice of 32 x 4 cells.
fn launch(
    function: CUfunction,
    mut on: CUdeviceptr,
    across: u32,
    shared: u32,
    stream: CUstream,
) -> i32 {
    let (mut width, mut height, mut rule) = (32i32, 4i32, 8u32 | 12 << 9);
    let on: *mut c_void = (&raw mut on).cast();
    let (width, height) = ((&raw mut width).cast(), (&raw mut height).cast());
    let mut given = [on, on, width, height, (&raw mut rule).cast()];
    let given = given.as_mut_ptr();
    // SAFETY: these are what the kernel takes, if it is launched.
    let answer = unsafe {
        cuLaunchKernel(
            function,
            1,
            1,
            1,
            across,
            8,
            1,
            shared,
            stream,
            given,
            null_mut(),
        )
    };
    answer as i32
}

fn upload(to: CUdeviceptr, words: usize, stream: CUstream) -> i32 {
    static WORDS: [u32; 5] = [0; 5];
    // SAFETY: there are so many words.
    unsafe { cuMemcpyHtoDAsync_v2(to, WORDS.as_ptr().cast(), words * 4, stream) as i32 }
}

fn allocate(bytes: usize) -> i32 {
    // SAFETY: it is written to a place for it.
    unsafe { cuMemAlloc_v2(&mut 0, bytes) as i32 }
}

#[test]
fn misuse_is_answered() {
    let _alone = start();
    let (a, stream, function) = (memory(), stream(), function());
    // SAFETY: the driver knows whether it is there.
    let free = || unsafe { cuMemFree_v2(a) as i32 };
    for (what, answer, expected) in [
        ("1,032 threads", launch(function, a, 129, 0, stream), 1),
        ("shared memory", launch(function, a, 32, 50_000, stream), 1),
        (
            "a function is no stream",
            launch(function, a, 32, 0, function.cast()),
            400,
        ),
        ("five words into four", upload(a, 5, stream), 1),
        ("freed", free(), 0),
        ("used after that", upload(a, 4, stream), 1),
        ("freed twice", free(), 1),
        ("more than there is", allocate(1 << 40), 2),
    ] {
        assert_eq!(answer, expected, "{what}");
    }
}

#[test]
fn a_capture_refuses_what_it_cannot_hold() {
    let _alone = start();
    let (stream, other, a) = (stream(), self::stream(), memory());
    // SAFETY: all of these are there, and what is made is written to places for it.
    unsafe {
        let event = made(null_mut(), |out| cuEventCreate(out, 0));
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let begin = || cuStreamBeginCapture_v2(stream, mode) as i32;
        let end = || cuStreamEndCapture(stream, &mut null_mut()) as i32;
        let synchronize = || cuStreamSynchronize(stream) as i32;
        assert_eq!([begin(), synchronize(), end()], [0, 900, 901]);
        assert_eq!([begin(), allocate(16), end()], [0, 900, 901]);
        let forked = [
            begin(),
            cuEventRecord(event, stream) as i32,
            cuStreamWaitEvent(other, event, 0) as i32,
            upload(a, 4, other),
        ];
        assert_eq!(forked, [0; 4]);
        assert_eq!(end(), 904, "the other stream never came back");
        assert_eq!(end(), 401, "nothing is captured");
    }
}

#[test]
fn a_context_knows_its_own() {
    let (primary, _alone) = start();
    let (a, stream) = (memory(), stream());
    // SAFETY: it is written to a place for it.
    let further = made(null_mut(), |out| unsafe { cuCtxCreate_v2(out, 0, 0) });
    let (b, other, function) = (memory(), self::stream(), function());
    let leaked = || query("fake_cuda_leaked");
    let before = leaked();
    // SAFETY: the driver knows which contexts there are.
    let synchronize = || unsafe { cuCtxSynchronize() as i32 };
    // SAFETY: as above.
    let destroy = || unsafe { cuCtxDestroy_v2(further) as i32 };
    for (what, answer, expected) in [
        ("its own", upload(b, 4, other), 0),
        ("a stream of the other", upload(b, 4, stream), 400),
        ("memory of the other", upload(a, 4, other), 1),
        ("a launch there", launch(function, b, 32, 0, stream), 400),
        ("all ends", synchronize(), 0),
        ("it is destroyed", destroy(), 0),
        (
            "a module, a stream and memory are left",
            leaked() - before,
            3,
        ),
        ("it is gone", enter(further), 201),
        ("the first is there", enter(primary), 0),
        ("gone with its context", upload(b, 4, stream), 1),
    ] {
        assert_eq!(answer, expected, "{what}");
    }
}
