//! The fake driver itself: it refuses what the tests of the CUDA engine rely on it to refuse.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::MutexGuard;

use libloading::Library;

use crate::ops::alone;

type Handle = *mut c_void;

/// The library, and the right to be the only test that uses it: they share one context, and a
/// capture in one thread forbids things in others.
struct Driver(Library, #[allow(dead_code)] MutexGuard<'static, ()>);

/// Calls a function of the driver by name, its arguments given with their types.
macro_rules! call {
    ($driver:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {{
        // SAFETY: the function has this signature, as cust_raw declares it, and every pointer
        // below points to what it says.
        unsafe {
            let symbol = concat!(stringify!($name), "\0").as_bytes();
            let f = $driver.0.get::<unsafe extern "C" fn($($ty),*) -> i32>(symbol).unwrap();
            f($($arg),*)
        }
    }};
}

/// Makes something whose handle is written to the first argument.
macro_rules! made {
    ($driver:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {{
        let mut out: Handle = null_mut();
        let answer = call!($driver, $name(&mut out => *mut Handle $(, $arg => $ty)*));
        assert_eq!(answer, 0, stringify!($name));
        out
    }};
}

impl Driver {
    fn start() -> Driver {
        let alone = alone();
        // SAFETY: our own library.
        let library = unsafe { Library::new(crate::driver::library()) };
        let driver = Driver(library.unwrap(), alone);
        assert_eq!(call!(driver, cuInit(0 => u32)), 0);
        let context = made!(driver, cuDevicePrimaryCtxRetain(0 => i32));
        assert_eq!(driver.enter(context), 0);
        driver
    }

    fn enter(&self, context: Handle) -> i32 {
        call!(self, cuCtxSetCurrent(context => Handle))
    }

    fn memory(&self) -> Handle {
        made!(self, cuMemAlloc_v2(16 => usize))
    }

    fn stream(&self) -> Handle {
        made!(self, cuStreamCreateWithPriority(1 => u32, 0 => i32))
    }

    fn function(&self) -> Handle {
        let ptx = engine::kernels::Ptx::find("05_bits").unwrap().text;
        let [ptx, name] = [ptx, "life_bits"].map(|text| CString::new(text).unwrap());
        let module = made!(self, cuModuleLoadData(ptx.as_ptr() => *const i8));
        made!(self, cuModuleGetFunction(module => Handle, name.as_ptr() => *const i8))
    }

    /// Launches a block of this many threads on a lattice of 32 x 4 cells.
    fn launch(
        &self,
        function: Handle,
        on: Handle,
        across: u32,
        shared: u32,
        stream: Handle,
    ) -> i32 {
        let (mut on, mut width, mut height, mut rule) = (on, 32i32, 4i32, 8u32 | 12 << 9);
        let on: Handle = (&raw mut on).cast();
        let (width, height) = ((&raw mut width).cast(), (&raw mut height).cast());
        let mut given: [Handle; 5] = [on, on, width, height, (&raw mut rule).cast()];
        call!(self, cuLaunchKernel(
            function => Handle, 1 => u32, 1 => u32, 1 => u32, across => u32, 8 => u32,
            1 => u32, shared => u32, stream => Handle, given.as_mut_ptr() => *mut Handle,
            null_mut() => *mut Handle,
        ))
    }

    fn upload(&self, to: Handle, words: usize, stream: Handle) -> i32 {
        static WORDS: [u32; 5] = [0; 5];
        call!(self, cuMemcpyHtoDAsync_v2(
            to => Handle, WORDS.as_ptr() => *const u32, words * 4 => usize, stream => Handle,
        ))
    }

    fn allocate(&self, bytes: usize) -> i32 {
        call!(self, cuMemAlloc_v2(&mut null_mut() => *mut Handle, bytes => usize))
    }
}

#[test]
fn misuse_is_answered() {
    let driver = Driver::start();
    let (a, stream, function) = (driver.memory(), driver.stream(), driver.function());
    let free = || call!(driver, cuMemFree_v2(a => Handle));
    for (what, answer, expected) in [
        (
            "1,032 threads",
            driver.launch(function, a, 129, 0, stream),
            1,
        ),
        (
            "shared memory",
            driver.launch(function, a, 32, 50_000, stream),
            1,
        ),
        (
            "a function is no stream",
            driver.launch(function, a, 32, 0, function),
            400,
        ),
        ("five words into four", driver.upload(a, 5, stream), 1),
        ("freed", free(), 0),
        ("used after that", driver.upload(a, 4, stream), 1),
        ("freed twice", free(), 1),
        ("more than there is", driver.allocate(1 << 40), 2),
    ] {
        assert_eq!(answer, expected, "{what}");
    }
}

#[test]
fn a_capture_refuses_what_it_cannot_hold() {
    let driver = Driver::start();
    let (stream, other, a) = (driver.stream(), driver.stream(), driver.memory());
    let event = made!(driver, cuEventCreate(0 => u32));
    let begin = || call!(driver, cuStreamBeginCapture_v2(stream => Handle, 1 => i32));
    let mut graph: Handle = null_mut();
    let mut end = || call!(driver, cuStreamEndCapture(stream => Handle, &mut graph => *mut Handle));
    let synchronize = || call!(driver, cuStreamSynchronize(stream => Handle));
    assert_eq!([begin(), synchronize(), end()], [0, 900, 901]);
    assert_eq!([begin(), driver.allocate(16), end()], [0, 900, 901]);
    let forked = [
        begin(),
        call!(driver, cuEventRecord(event => Handle, stream => Handle)),
        call!(driver, cuStreamWaitEvent(other => Handle, event => Handle, 0 => u32)),
        call!(driver, cuMemsetD32Async(a => Handle, 7 => u32, 4 => usize, other => Handle)),
    ];
    assert_eq!(forked, [0; 4]);
    assert_eq!(end(), 904, "the other stream never came back");
    assert_eq!(end(), 401, "nothing is captured");
}

#[test]
fn a_context_knows_its_own() {
    let driver = Driver::start();
    let (a, stream) = (driver.memory(), driver.stream());
    let primary = made!(driver, cuDevicePrimaryCtxRetain(0 => i32));
    let further = made!(driver, cuCtxCreate_v2(0 => u32, 0 => i32));
    let (b, other, function) = (driver.memory(), driver.stream(), driver.function());
    let leaked = || call!(driver, fake_cuda_leaked());
    let before = leaked();
    for (what, answer, expected) in [
        ("its own", driver.upload(b, 4, other), 0),
        ("a stream of the other", driver.upload(b, 4, stream), 400),
        ("memory of the other", driver.upload(a, 4, other), 1),
        (
            "a launch there",
            driver.launch(function, b, 32, 0, stream),
            400,
        ),
        ("all ends", call!(driver, cuCtxSynchronize()), 0),
        (
            "it is destroyed",
            call!(driver, cuCtxDestroy_v2(further => Handle)),
            0,
        ),
        (
            "memory, a stream and a module were left",
            leaked() - before,
            3,
        ),
        ("it is gone", driver.enter(further), 201),
        ("the first is there", driver.enter(primary), 0),
        ("gone with its context", driver.upload(b, 4, stream), 1),
    ] {
        assert_eq!(answer, expected, "{what}");
    }
}
