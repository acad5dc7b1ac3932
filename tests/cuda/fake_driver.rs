//! The fake driver itself: it does what the tests of the CUDA engine rely on.

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
        let driver = Driver(
            unsafe { Library::new(crate::driver::library()) }.unwrap(),
            alone,
        );
        assert_eq!(call!(driver, cuInit(0 => u32)), 0);
        let context = made!(driver, cuDevicePrimaryCtxRetain(0 => i32));
        assert_eq!(call!(driver, cuCtxSetCurrent(context => Handle)), 0);
        driver
    }

    fn memory(&self, bytes: usize) -> Handle {
        made!(self, cuMemAlloc_v2(bytes => usize))
    }

    fn locked(&self, words: usize) -> &'static mut [u32] {
        let at = made!(self, cuMemHostAlloc(words * 4 => usize, 0 => u32));
        // SAFETY: that many words were just allocated, and no test frees them.
        unsafe { std::slice::from_raw_parts_mut(at.cast(), words) }
    }

    fn stream(&self) -> Handle {
        made!(self, cuStreamCreateWithPriority(1 => u32, 0 => i32))
    }

    fn event(&self) -> Handle {
        made!(self, cuEventCreate(0 => u32))
    }

    fn function(&self, ptx: &str, name: &str) -> Handle {
        let (ptx, name) = (CString::new(ptx).unwrap(), CString::new(name).unwrap());
        let module = made!(self, cuModuleLoadData(ptx.as_ptr() => *const i8));
        made!(self, cuModuleGetFunction(module => Handle, name.as_ptr() => *const i8))
    }

    /// One generation of a lattice of 32 x 4 cells with `life_bits`.
    fn step(&self, function: Handle, from: Handle, to: Handle, stream: Handle) -> i32 {
        let (mut from, mut to, mut width, mut height) = (from, to, 32i32, 4i32);
        let mut rule = 8u32 | 12 << 9;
        let mut given: [Handle; 5] = [
            (&raw mut from).cast(),
            (&raw mut to).cast(),
            (&raw mut width).cast(),
            (&raw mut height).cast(),
            (&raw mut rule).cast(),
        ];
        self.launch(function, (32, 8), 0, stream, &mut given)
    }

    fn launch(
        &self,
        function: Handle,
        block: (u32, u32),
        shared: u32,
        stream: Handle,
        given: &mut [Handle],
    ) -> i32 {
        call!(self, cuLaunchKernel(
            function => Handle, 1 => u32, 1 => u32, 1 => u32, block.0 => u32, block.1 => u32,
            1 => u32, shared => u32, stream => Handle, given.as_mut_ptr() => *mut Handle,
            null_mut() => *mut Handle,
        ))
    }

    fn upload(&self, to: Handle, words: &[u32], stream: Handle) -> i32 {
        call!(self, cuMemcpyHtoDAsync_v2(
            to => Handle, words.as_ptr() => *const u32, words.len() * 4 => usize,
            stream => Handle,
        ))
    }
}

fn bits() -> &'static str {
    engine::kernels::Ptx::find("05_bits").unwrap().text
}

#[test]
fn misuse_is_answered() {
    let driver = Driver::start();
    let (a, stream) = (driver.memory(16), driver.stream());
    let function = driver.function(bits(), "life_bits");
    let mut given: [Handle; 0] = [];
    assert_eq!(
        driver.launch(function, (1025, 1), 0, stream, &mut given),
        1,
        "1,025 threads"
    );
    assert_eq!(
        driver.launch(function, (32, 8), 50_000, stream, &mut given),
        1,
        "shared memory"
    );
    assert_eq!(
        driver.step(function, a, a, function),
        400,
        "a function is no stream"
    );
    assert_eq!(driver.upload(a, &[0; 5], stream), 1, "five words into four");
    assert_eq!(call!(driver, cuMemFree_v2(a => Handle)), 0);
    assert_eq!(driver.upload(a, &[0; 4], stream), 1, "freed");
    assert_eq!(call!(driver, cuMemFree_v2(a => Handle)), 1, "freed twice");
    let mut out: Handle = null_mut();
    assert_eq!(
        call!(driver, cuMemAlloc_v2(&mut out => *mut Handle, 1 << 40 => usize)),
        2
    );
}

#[test]
fn a_capture_refuses_what_it_cannot_hold() {
    let driver = Driver::start();
    let (stream, other) = (driver.stream(), driver.stream());
    let begin = || call!(driver, cuStreamBeginCapture_v2(stream => Handle, 1 => i32));
    let end = || {
        let mut graph: Handle = null_mut();
        call!(driver, cuStreamEndCapture(stream => Handle, &mut graph => *mut Handle))
    };
    assert_eq!(begin(), 0);
    assert_eq!(call!(driver, cuStreamSynchronize(stream => Handle)), 900);
    assert_eq!(end(), 901);
    assert_eq!(begin(), 0);
    let mut out: Handle = null_mut();
    assert_eq!(
        call!(driver, cuMemAlloc_v2(&mut out => *mut Handle, 16 => usize)),
        900
    );
    assert_eq!(end(), 901);
    let (event, a) = (driver.event(), driver.memory(16));
    assert_eq!(begin(), 0);
    call!(driver, cuEventRecord(event => Handle, stream => Handle));
    call!(driver, cuStreamWaitEvent(other => Handle, event => Handle, 0 => u32));
    call!(driver, cuMemsetD32Async(a => Handle, 7 => u32, 4 => usize, other => Handle));
    assert_eq!(end(), 904, "the other stream never came back");
    assert_eq!(end(), 401, "nothing is captured");
}

#[test]
fn a_context_knows_its_own() {
    let driver = Driver::start();
    let (a, stream) = (driver.memory(16), driver.stream());
    let locked = driver.locked(4);
    let primary = made!(driver, cuDevicePrimaryCtxRetain(0 => i32));
    let further = made!(driver, cuCtxCreate_v2(0 => u32, 0 => i32));
    let (b, other) = (driver.memory(16), driver.stream());
    assert_eq!(driver.upload(b, locked, other), 0);
    assert_eq!(
        driver.upload(b, locked, stream),
        400,
        "a stream of the other"
    );
    assert_eq!(driver.upload(a, locked, other), 1, "memory of the other");
    let function = driver.function(bits(), "life_bits");
    assert_eq!(driver.step(function, b, b, stream), 400);
    assert_eq!(call!(driver, cuCtxSynchronize()), 0);

    let leaked = call!(driver, fake_cuda_leaked());
    assert_eq!(call!(driver, cuCtxDestroy_v2(further => Handle)), 0);
    let left = call!(driver, fake_cuda_leaked()) - leaked;
    assert_eq!(left, 3, "memory, a stream and a module");
    assert_eq!(call!(driver, cuCtxSetCurrent(further => Handle)), 201);
    assert_eq!(call!(driver, cuCtxSetCurrent(primary => Handle)), 0);
    assert_eq!(
        driver.upload(b, &[0; 4], stream),
        1,
        "gone with its context"
    );
}
