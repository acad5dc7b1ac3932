//! Named ranges for a profiler: the program's side of NVIDIA's Tools Extension (NVTX).
//!
//! A profiler such as Nsight Systems sets `NVTX_INJECTION64_PATH` to a library. On first use, this
//! module opens it and calls its `InitializeInjectionNvtx2` with a function that returns tables of
//! slots; the library writes the functions that it wants to be called into them. Without a profiler,
//! a range costs one load.

use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The environment variable by which a profiler names its library.
const ENV_INJECTION: &str = "NVTX_INJECTION64_PATH";

/// Slots of every module, numbered as in NVTX 3: the core, CUDA, OpenCL, the CUDA runtime, the
/// core's extension, synchronization. Number 0 is unused, both of modules and of slots.
const SIZES: [usize; 7] = [0, 16, 9, 15, 7, 16, 7];
const CORE: usize = 1;
const CUDA: usize = 2;

static SLOTS: [[AtomicPtr<c_void>; 16]; SIZES.len()] =
    [const { [const { AtomicPtr::new(null_mut()) }; 16] }; SIZES.len()];

/// The tables that a profiler is given: the addresses of the slots.
static TABLES: LazyLock<[[Address; 16]; SIZES.len()]> = LazyLock::new(|| {
    SLOTS.each_ref().map(|slots| {
        let mut table = slots.each_ref().map(|slot| Address(slot.as_ptr()));
        table[0] = Address(null_mut());
        table
    })
});

#[repr(transparent)]
struct Address(*mut *mut c_void);

// SAFETY: the address of a static that is only accessed atomically here.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

#[repr(C)]
struct Callbacks {
    size: usize,
    table: extern "C" fn(c_int, *mut *const Address, *mut c_uint) -> c_int,
}

static CALLBACKS: Callbacks = Callbacks {
    size: size_of::<Callbacks>(),
    table: module_table,
};

#[repr(C)]
struct VersionInfo {
    size: usize,
    version: u32,
    reserved: u32,
    set_version: extern "C" fn(u32),
}

static VERSION: VersionInfo = VersionInfo {
    size: size_of::<VersionInfo>(),
    version: 3,
    reserved: 0,
    set_version: ignore_version,
};

extern "C" fn ignore_version(_: u32) {}

extern "C" fn export_table(id: u32) -> *const c_void {
    match id {
        1 => (&raw const CALLBACKS).cast(),
        3 => (&raw const VERSION).cast(),
        _ => std::ptr::null(),
    }
}

extern "C" fn module_table(module: c_int, out: *mut *const Address, size: *mut c_uint) -> c_int {
    let module = usize::try_from(module).unwrap_or(0);
    let Some(&slots) = SIZES.get(module).filter(|slots| **slots > 0) else {
        return 0;
    };
    // SAFETY: the profiler passes addresses to write to; `size` may be null.
    unsafe {
        *out = TABLES[module].as_ptr();
        if let Some(size) = size.as_mut() {
            *size = slots as c_uint;
        }
    }
    1
}

/// The functions of a profiler that this program calls.
struct Profiler {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    name_stream: Option<unsafe extern "C" fn(*mut c_void, *const c_char)>,
}

static PROFILER: LazyLock<Option<Profiler>> = LazyLock::new(|| {
    let path = std::env::var_os(ENV_INJECTION)?;
    // SAFETY: the profiler named the library to be loaded and called; it is never closed.
    unsafe {
        let library = Box::leak(Box::new(Library::new(path).ok()?));
        let initialize = library
            .get::<unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int>(
                b"InitializeInjectionNvtx2\0",
            );
        if initialize.ok()?(export_table) == 0 {
            return None;
        }
    }
    let slot = |module: usize, slot: usize| SLOTS[module][slot].load(Ordering::Acquire);
    let (push, pop, name_stream) = (slot(CORE, 9), slot(CORE, 11), slot(CUDA, 5));
    if push.is_null() || pop.is_null() {
        return None;
    }
    // SAFETY: the profiler wrote functions of these types into these slots: RangePushA, RangePop,
    // NameCuStreamA.
    unsafe {
        Some(Profiler {
            push: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char) -> c_int>(
                push,
            ),
            pop: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(pop),
            name_stream: std::mem::transmute::<
                *mut c_void,
                Option<unsafe extern "C" fn(*mut c_void, *const c_char)>,
            >(name_stream),
        })
    }
});

/// Whether a profiler takes ranges.
pub fn is_attached() -> bool {
    PROFILER.is_some()
}

/// A range of the thread that opened it, from then until it is dropped.
pub struct Range(&'static Profiler, std::marker::PhantomData<*mut ()>);

/// Opens a range of the calling thread, if a profiler is attached.
#[inline]
pub fn range(name: &str) -> Option<Range> {
    let profiler = PROFILER.as_ref()?;
    let name = CString::new(name).ok()?;
    // SAFETY: the profiler's function; it copies the text.
    unsafe { (profiler.push)(name.as_ptr()) };
    Some(Range(profiler, std::marker::PhantomData))
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the profiler's function; ranges of a thread are dropped in order.
        unsafe { (self.0.pop)() };
    }
}

/// Names a stream of the driver, if a profiler is attached.
///
/// # Safety
/// The stream must be alive.
pub unsafe fn name_stream(stream: *mut c_void, name: &str) {
    let profiler = PROFILER.as_ref().and_then(|profiler| profiler.name_stream);
    if let (Some(name_stream), Ok(name)) = (profiler, CString::new(name)) {
        // SAFETY: the profiler's function; it copies the text, and the caller guarantees the stream.
        unsafe { name_stream(stream, name.as_ptr()) };
    }
}
