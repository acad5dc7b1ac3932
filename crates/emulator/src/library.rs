//! A shared library of kernels and the emulator that runs them.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};

use engine::kernels::Launch;

/// Kernels, compiled together with the emulator.
#[derive(Debug)]
pub struct Library(libloading::Library);

/// In which order the threads of a block run until each waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadOrder {
    /// Forward and backward in turn, by warps or all together.
    Alternating,
    /// The first thread first.
    Forward,
    /// The last thread first.
    Backward,
    /// Drawn anew for every step.
    Random,
}

/// In which order the blocks of a grid run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockOrder {
    /// The first block first.
    Forward,
    /// The last block first.
    Backward,
    /// Drawn.
    Random,
}

/// The order of threads and blocks. On a GPU there is none, so a right kernel gives the same result in
/// all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// Of the threads of a block.
    pub threads: ThreadOrder,
    /// Of the blocks.
    pub blocks: BlockOrder,
    /// What random orders are drawn from.
    pub seed: u32,
}

/// What ended a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelFault {
    /// What happened.
    pub kind: FaultKind,
    /// The last line known of the thread, or the line where threads wait; 0 if none is known.
    pub line: u32,
    /// The file of that line, as the compiler knows it.
    pub file: String,
    /// The line where other threads wait; `None` if those have finished.
    pub other_line: Option<u32>,
    /// How many threads wait at the line.
    pub arrived: u32,
    /// How many threads there are, of the block or the warp.
    pub threads: u32,
    /// The index of the thread.
    pub thread: [u32; 3],
    /// The index of its block.
    pub block: [u32; 3],
    /// The address of a bad access.
    pub address: usize,
}

/// What kind of thing ends a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// There is no kernel of that name.
    NoSuchKernel,
    /// Threads wait for messages that nobody sends.
    Deadlock,
    /// A write behind the dynamic shared memory of a block.
    SharedOverrun,
    /// A cooperative launch whose blocks are not of whole warps.
    BadShape,
    /// Some threads of a block do not come to the barrier of others.
    BarrierDiverged,
    /// Some lanes of a warp do not come to the exchange of others.
    WarpDiverged,
    /// An access of memory that nobody has.
    BadAccess,
    /// An array's index out of bounds, or another trap.
    BadIndex,
    /// An integer divided by 0.
    BadDivision,
    /// The launch ran for longer than it may.
    TooLong,
}

/// `EmulatorLine` of `launch.h`.
#[repr(C)]
struct RawLine {
    file: *const c_char,
    line: c_uint,
}

/// `EmulatorFault` of `launch.h`.
#[repr(C)]
struct RawFault {
    code: c_int,
    at: RawLine,
    other: RawLine,
    arrived: c_uint,
    threads: c_uint,
    thread: [c_uint; 3],
    block: [c_uint; 3],
    address: *const c_void,
}

type LaunchFn = unsafe extern "C" fn(
    *const c_char,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    bool,
    *mut *mut c_void,
) -> c_int;

type FindFn = unsafe extern "C" fn(
    *const c_char,
    *mut *const usize,
    *mut *const bool,
    *mut usize,
) -> *const c_void;

type AllocateFn = unsafe extern "C" fn(usize, bool, *mut *mut c_void, *mut usize) -> *mut c_void;

impl Library {
    /// Opens a library.
    ///
    /// # Errors
    /// The system cannot load it.
    ///
    /// # Safety
    /// It must have been linked from translated kernels and `cpp/emulator.cpp`; the initialisers of the
    /// kernels' file run.
    pub unsafe fn open(path: impl AsRef<OsStr>) -> Result<Library, libloading::Error> {
        // SAFETY: the caller's promise.
        unsafe { libloading::Library::new(path.as_ref()) }.map(Library)
    }

    /// A function of the emulator, which every library has.
    fn function<T>(&self, name: &CStr) -> libloading::Symbol<'_, T> {
        // SAFETY: callers below name functions of `launch.h` with their signatures.
        unsafe { self.0.get(name.to_bytes_with_nul()) }.expect("a library with the emulator")
    }

    /// The sizes of a kernel's parameters, and which of them are pointers; `None` if there is no such
    /// kernel.
    pub fn parameters(&self, symbol: &str) -> Option<Vec<(usize, bool)>> {
        let name = CString::new(symbol).ok()?;
        let find = self.function::<FindFn>(c"emulator_find");
        let (mut sizes, mut pointers, mut count) = (std::ptr::null(), std::ptr::null(), 0);
        // SAFETY: the name ends with 0; the answer's arrays live as long as the library.
        unsafe {
            if find(name.as_ptr(), &mut sizes, &mut pointers, &mut count).is_null() {
                return None;
            }
            Some(
                (0..count)
                    .map(|i| (*sizes.add(i), *pointers.add(i)))
                    .collect(),
            )
        }
    }

    /// Launches a kernel with these parameters, each by address, and waits for its end.
    ///
    /// # Errors
    /// What ended it early.
    ///
    /// # Safety
    /// The parameters must have the kernel's types and point to buffers of the size that it works on. One
    /// thread makes all launches of a library that [`CppCompiler`](crate::CppCompiler) made.
    pub unsafe fn launch(
        &self,
        symbol: &str,
        shape: Launch,
        parameters: &mut [*mut c_void],
    ) -> Result<(), KernelFault> {
        let name = CString::new(symbol).expect("a symbol has no 0");
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let launch = self.function::<LaunchFn>(c"emulator_launch");
        let fault = self.function::<unsafe extern "C" fn() -> *const RawFault>(c"emulator_fault");
        // SAFETY: the caller's promise; the fault is that of this thread.
        unsafe {
            let shared = shape.shared_bytes as c_uint;
            let given = parameters.as_mut_ptr();
            let cooperative = shape.cooperative;
            let name = name.as_ptr();
            match launch(name, gx, gy, gz, bx, by, bz, shared, cooperative, given) {
                0 => Ok(()),
                1 => Err(KernelFault::no_such_kernel()),
                _ => Err((*fault()).read()),
            }
        }
    }

    /// Sets the order of this thread's next launches.
    pub fn set_order(&self, order: Order) {
        let set = self.function::<unsafe extern "C" fn(c_int, c_int, c_uint)>(c"emulator_order");
        let threads = match order.threads {
            ThreadOrder::Alternating => 0,
            ThreadOrder::Forward => 1,
            ThreadOrder::Backward => 2,
            ThreadOrder::Random => 3,
        };
        let blocks = match order.blocks {
            BlockOrder::Forward => 1,
            BlockOrder::Backward => 2,
            BlockOrder::Random => 3,
        };
        // SAFETY: it only stores them.
        unsafe { set(threads, blocks, order.seed) }
    }

    /// Puts a barrier behind the statement of a [marked line](crate::Translation::lines) in this
    /// thread's next launches.
    pub fn set_extra_barrier(&self, line: Option<u32>) {
        let set = self.function::<unsafe extern "C" fn(c_uint)>(c"emulator_extra_barrier");
        // SAFETY: it only stores it.
        unsafe { set(line.unwrap_or(0)) }
    }

    /// From now on a kernel that crashes in this thread, or a launch that takes so many seconds, ends
    /// that launch alone. What the kernel held is lost, so the process should end soon after.
    pub fn contain(&self, seconds: u32) {
        let contain = self.function::<unsafe extern "C" fn(c_uint)>(c"emulator_contain");
        // SAFETY: the process gives its signal handlers to the emulator.
        unsafe { contain(seconds) }
    }

    /// Words between two pages that nobody may touch, next to the one behind or the one before. Returns
    /// their address, and all words between the pages, each 0xa5a5a5a5, which are there until they are
    /// [freed](Library::free). `None` if there is no memory.
    pub fn allocate(&self, words: usize, at_end: bool) -> Option<(*mut u32, &'static mut [u32])> {
        let allocate = self.function::<AllocateFn>(c"emulator_allocate");
        let (mut room, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the memory is new, aligned to a page, and written.
        unsafe {
            let at: *mut u32 = allocate(4 * words, at_end, &mut room, &mut bytes).cast();
            let room: *mut u32 = room.cast();
            (!at.is_null()).then(|| (at, std::slice::from_raw_parts_mut(room, bytes / 4)))
        }
    }

    /// Gives memory back to the system.
    ///
    /// # Safety
    /// [`allocate`](Library::allocate) gave all these words between its pages, and nobody uses them again.
    pub unsafe fn free(&self, room: *mut u32, words: usize) {
        let free = self.function::<unsafe extern "C" fn(*mut c_void, usize)>(c"emulator_free");
        // SAFETY: the caller's promise.
        unsafe { free(room.cast(), 4 * words) }
    }
}

impl KernelFault {
    fn no_such_kernel() -> KernelFault {
        KernelFault {
            kind: FaultKind::NoSuchKernel,
            line: 0,
            file: String::new(),
            other_line: None,
            arrived: 0,
            threads: 0,
            thread: [0; 3],
            block: [0; 3],
            address: 0,
        }
    }
}

impl RawFault {
    /// # Safety
    /// The files' names must still be there: string literals of the library.
    unsafe fn read(&self) -> KernelFault {
        let file = if self.at.file.is_null() {
            String::new()
        } else {
            // SAFETY: a string literal.
            unsafe { CStr::from_ptr(self.at.file) }
                .to_string_lossy()
                .into_owned()
        };
        let kind = match self.code {
            1 => FaultKind::NoSuchKernel,
            2 => FaultKind::Deadlock,
            3 => FaultKind::SharedOverrun,
            4 => FaultKind::BadShape,
            5 => FaultKind::BarrierDiverged,
            6 => FaultKind::WarpDiverged,
            7 => FaultKind::BadAccess,
            9 => FaultKind::BadDivision,
            10 => FaultKind::TooLong,
            _ => FaultKind::BadIndex,
        };
        KernelFault {
            kind,
            line: self.at.line,
            file,
            other_line: (!self.other.file.is_null()).then_some(self.other.line),
            arrived: self.arrived,
            threads: self.threads,
            thread: self.thread,
            block: self.block,
            address: self.address as usize,
        }
    }
}
