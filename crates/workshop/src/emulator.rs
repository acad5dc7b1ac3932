//! The emulator: a shared library of compiled kernels and of `cpp/`, which runs their threads one after
//! another, in several orders. It finds what a GPU may hide: a barrier that only some threads of a block
//! reach, and results that depend on the order of threads or blocks.

use crate::check::{Contents, Device, FIRST_OF_BLOCKS, Value};
use crate::declarations::OwnKernel;
use crate::fault::{Fault, Thread};
use engine::kernels::Launch;
use libloading::{Library, Symbol};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::{copy_nonoverlapping, null, null_mut, slice_from_raw_parts_mut};

/// `EmulatorLine` of `launch.h`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
struct Line {
    /// Null: nowhere.
    file: *const c_char,
    line: c_uint,
}

/// What ended a launch: `EmulatorFault` of `launch.h`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
struct LaunchFault {
    code: c_int,
    at: Line,
    other: Line,
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

type FaultFn = unsafe extern "C" fn() -> *const LaunchFault;

type FindFn = unsafe extern "C" fn(
    *const c_char,
    *mut *const usize,
    *mut *const bool,
    *mut usize,
) -> *const c_void;

type AllocateFn = unsafe extern "C" fn(usize, bool, *mut *mut c_void, *mut usize) -> *mut c_void;

/// A kernel in the emulator.
pub(crate) struct Emulated {
    /// The kernel, compiled together with the emulator.
    library: Library,
    symbol: CString,
    /// How long a launch may take.
    seconds: u32,
}

impl Emulated {
    /// Loads a kernel from its library, which the system keeps in memory.
    pub(crate) fn load(path: &Path, own: &OwnKernel) -> Result<Emulated, Fault> {
        // SAFETY: the program linked it from a translation and the emulator. Initialisers of the user's
        // own run; this process is theirs.
        let library = unsafe { Library::new(path) }.map_err(|_| Fault::Crashed)?;
        let emulated = Emulated {
            library,
            symbol: CString::new(own.symbol()).expect("a symbol has no 0"),
            seconds: 0,
        };
        own.check_parameters(emulated.parameter_sizes())?;
        Ok(emulated)
    }

    /// A function of the emulator, which every library has.
    fn function<T>(&self, name: &CStr) -> Symbol<'_, T> {
        // SAFETY: callers below name functions of `launch.h` with their signatures.
        unsafe { self.library.get(name.to_bytes_with_nul()) }.expect("a library with the emulator")
    }

    /// The bytes of each parameter of the kernel; none if the library does not have it.
    fn parameter_sizes(&self) -> Vec<usize> {
        let find = self.function::<FindFn>(c"emulator_find");
        let (mut sizes, mut pointers, mut count) = (null(), null(), 0);
        // SAFETY: the name ends with 0; the answer's array lives as long as the library.
        unsafe {
            if find(self.symbol.as_ptr(), &mut sizes, &mut pointers, &mut count).is_null() {
                return Vec::new();
            }
            (0..count).map(|index| *sizes.add(index)).collect()
        }
    }

    /// From now on a kernel that crashes in this thread, or a launch that takes so many seconds, ends
    /// that launch alone. What the kernel held is lost, so the process should end soon after.
    pub(crate) fn contain(&mut self, seconds: u32) {
        self.seconds = seconds;
        type Contain = unsafe extern "C" fn(c_uint);
        let contain = self.function::<Contain>(c"emulator_contain");
        // SAFETY: the process gives its signal handlers to the emulator.
        unsafe { contain(seconds) }
    }

    /// Puts a barrier behind the statement of a [marked line](crate::Translation::lines) in this
    /// thread's next launches.
    pub(crate) fn set_extra_barrier(&self, line: u32) {
        type Set = unsafe extern "C" fn(c_uint);
        let set = self.function::<Set>(c"emulator_extra_barrier");
        // SAFETY: it only stores it.
        unsafe { set(line) }
    }

    /// Memory for so many words.
    fn allocate(&self, words: usize, at_end: bool) -> Result<Pages<'_>, Fault> {
        let allocate = self.function::<AllocateFn>(c"emulator_allocate");
        let (mut room, mut bytes) = (null_mut(), 0);
        // SAFETY: the memory is new, aligned to a page, and written.
        unsafe {
            let at: *mut u32 = allocate(4 * words, at_end, &mut room, &mut bytes).cast();
            if at.is_null() {
                let bytes = 4 * words as u64;
                return Err(Fault::TooMuchMemory { bytes });
            }
            Ok(Pages {
                emulated: self,
                at,
                words,
                room: slice_from_raw_parts_mut(room.cast(), bytes / 4),
            })
        }
    }

    fn fault(&self, fault: LaunchFault, buffers: [&Pages; 2], shared_bytes: u64) -> Fault {
        let line = fault.at.line;
        let other_line = (!fault.other.file.is_null()).then_some(fault.other.line);
        let thread = Thread {
            block: fault.block,
            thread: fault.thread,
            after_line: (line > 0).then_some(line),
        };
        // As `launch.h` numbers them.
        match fault.code {
            1 | 4 => Fault::Crashed, // no such kernel, blocks that are not of whole warps
            2 | 10 => Fault::TooLong {
                seconds: self.seconds,
                thread: Some(thread),
            },
            3 => Fault::SharedOverrun {
                bytes: shared_bytes as u32,
            },
            5 => Fault::BarrierDiverged {
                line,
                other_line,
                arrived: fault.arrived,
                threads: fault.threads,
                block: fault.block,
            },
            6 => Fault::WarpDiverged {
                line,
                other_line,
                arrived: fault.arrived,
                block: fault.block,
            },
            7 => Fault::OutOfBounds {
                thread: Some(thread),
                bytes: distance(fault.address as i64, buffers),
            },
            9 => Fault::BadDivision { thread },
            _ => Fault::BadIndex { thread },
        }
    }
}

/// How far an address is from the nearer buffer, if it is near one: negative before it, 1 for the first
/// byte behind.
fn distance(address: i64, buffers: [&Pages; 2]) -> Option<i64> {
    const NEAR: i64 = 1 << 20;
    let distances = buffers.map(|buffer| {
        let begin = buffer.at as i64;
        let end = begin + 4 * buffer.words as i64;
        if address < begin {
            address - begin
        } else {
            address - end + 1
        }
    });
    let nearest = distances.into_iter().min_by_key(|distance| distance.abs());
    nearest.filter(|distance| distance.abs() < NEAR)
}

impl Device for Emulated {
    fn launch(
        &mut self,
        run: usize,
        shape: Launch,
        values: &[Value],
        input: &[u32],
        at_end: bool,
    ) -> Result<[Contents; 2], Fault> {
        const SEED: c_uint = 7;
        type Order = unsafe extern "C" fn(c_int, c_int, c_uint);
        let order = self.function::<Order>(c"emulator_order");
        let (threads, blocks) = ORDERS[run];
        // SAFETY: it only stores them.
        unsafe { order(threads, blocks, SEED) };
        let one = self.allocate(input.len(), at_end)?;
        let other = self.allocate(input.len(), at_end)?;
        // SAFETY: it was allocated for so many words.
        unsafe { copy_nonoverlapping(input.as_ptr(), one.at, input.len()) };
        let word = |value: &Value| match *value {
            Value::Input => one.at as u64,
            Value::Output => other.at as u64,
            Value::Number(number) => bytemuck::cast([number, 0]),
        };
        let mut words: Vec<u64> = values.iter().map(word).collect();
        let words = words.iter_mut().map(std::ptr::from_mut);
        let mut given: Vec<*mut c_void> = words.map(|word| word.cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let (shared, cooperative) = (shape.shared_bytes as c_uint, shape.cooperative);
        let (name, given) = (self.symbol.as_ptr(), given.as_mut_ptr());
        let launch = self.function::<LaunchFn>(c"emulator_launch");
        let fault = self.function::<FaultFn>(c"emulator_fault");
        let both = [&one, &other];
        // SAFETY: the parameters have the sizes that the kernel declares (`check_parameters`), and the
        // buffers are as large as the lattices. What the kernel does beyond that is its author's doing;
        // it has this process for itself. One thread makes all launches, so the fault is that of this
        // one.
        unsafe {
            match launch(name, gx, gy, gz, bx, by, bz, shared, cooperative, given) {
                0 => Ok(both.map(Pages::contents)),
                _ => Err(self.fault(*fault(), both, shape.shared_bytes)),
            }
        }
    }

    fn sm_count(&self) -> u32 {
        132
    }

    fn runs(&self) -> usize {
        ORDERS.len()
    }
}

/// The orders of threads and of blocks that a kernel runs in, as `launch.h` numbers them: forward, backward,
/// and drawn. On a GPU there is none, so a right kernel gives the same result in all of them. The first two
/// are enough to see that two threads of a block use the same memory without a barrier between them, the
/// third to see it of blocks.
const ORDERS: [(c_int, c_int); 4] = [(1, 1), (2, 1), (1, 2), (3, 3)];

const _: () = assert!(ORDERS[FIRST_OF_BLOCKS - 1].1 == 1 && ORDERS[FIRST_OF_BLOCKS].1 != 1);

/// Memory between two pages that nobody may touch, next to the one behind or the one before.
struct Pages<'a> {
    emulated: &'a Emulated,
    at: *mut u32,
    words: usize,
    /// All words between the pages, [`POISON`](crate::check::POISON) at first.
    room: *mut [u32],
}

impl Pages<'_> {
    fn contents(&self) -> Contents {
        // SAFETY: the emulator gave these words, and no kernel runs.
        unsafe {
            let first = self.at.offset_from(self.room.cast()) as usize;
            Contents::split(&*self.room, first, self.words)
        }
    }
}

impl Drop for Pages<'_> {
    fn drop(&mut self) {
        type Free = unsafe extern "C" fn(*mut c_void, usize);
        let free = self.emulated.function::<Free>(c"emulator_free");
        // SAFETY: the emulator gave all these words, and nothing else refers to them.
        unsafe { free(self.room.cast(), 4 * self.room.len()) }
    }
}
