//! Defines the `cu*` functions that `cust` and the engine call and forwards them to the NVIDIA
//! driver, which is opened on first use.
//!
//! So the program links without a CUDA toolkit and starts without a driver. Without a driver
//! library every call returns `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED` (303). A function that the
//! driver lacks returns `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND` (302). A result code that
//! `cust_raw`'s enum does not contain becomes `CUDA_ERROR_UNKNOWN` (999), since any other value in
//! a Rust enum would be undefined behaviour; [`last_unknown_code`] returns the original.
//!
//! A function is looked up by its name in the library, where a name keeps the signature that it came
//! with: in CUDA 13, too, `cuMemPrefetchAsync` takes what `cust_raw` declares.
//!
//! A stub of a CUDA toolkit, whose `cuInit` returns 34, is passed over if another library can be opened.
//!
//! `LIFESTREAMS_LIBCUDA` names other libraries to try instead, as `PATH` names folders; tests use it to
//! load a fake driver.
#![allow(unsafe_code)] // this crate forwards to C functions
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    missing_docs
)]

pub mod nvtx;

use cust_raw::*;
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::os::raw::{c_int, c_uchar, c_uint, c_ulonglong};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The environment variable that names another driver library.
pub const ENV_LIBRARY: &str = "LIFESTREAMS_LIBCUDA";

#[cfg(windows)]
const CANDIDATES: &[&str] = &["nvcuda.dll"];
#[cfg(not(windows))]
const CANDIDATES: &[&str] = &[
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib64-nvidia/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
];

/// What a stub's functions return: `CUDA_ERROR_STUB_LIBRARY`.
const STUB: u32 = 34;

struct Driver {
    library: Library,
    name: String,
}

fn driver() -> Result<&'static Driver, &'static str> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    DRIVER
        .get_or_init(open_first)
        .as_ref()
        .map_err(String::as_str)
}

fn open_first() -> Result<Driver, String> {
    let names: Vec<PathBuf> = match std::env::var_os(ENV_LIBRARY) {
        Some(named) => std::env::split_paths(&named).collect(),
        None => CANDIDATES.iter().map(PathBuf::from).collect(),
    };
    let (mut stub, mut first_reason) = (None, None);
    for name in &names {
        // SAFETY: loading the driver runs its initialisers, as intended.
        match unsafe { Library::new(name) } {
            Ok(library) => {
                let driver = Driver {
                    name: file_of(name),
                    library,
                };
                if names.len() == 1 || !driver.is_stub() {
                    return Ok(driver);
                }
                stub = stub.or(Some(driver));
            }
            Err(error) => {
                first_reason.get_or_insert_with(|| reason(&error));
            }
        }
    }
    stub.ok_or(first_reason.unwrap_or_default())
}

impl Driver {
    /// Whether it is a toolkit's stub. A driver is initialised here a little earlier than by its first user.
    fn is_stub(&self) -> bool {
        type Init = unsafe extern "C" fn(c_uint) -> u32;
        // SAFETY: the driver's function of this name has this C signature.
        let init = unsafe { self.library.get::<Init>(b"cuInit\0") };
        // SAFETY: it has no precondition.
        init.is_ok_and(|init| unsafe { init(0) } == STUB)
    }
}

/// The file of a library that was opened by this name, where the system says it.
fn file_of(name: &Path) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files = maps.lines().filter_map(|line| line.get(line.find('/')?..));
    let file = files.into_iter().find(|file| file.contains("/libcuda."));
    let is_path = name
        .parent()
        .is_some_and(|folder| !folder.as_os_str().is_empty());
    file.filter(|_| !is_path)
        .map_or(name.display().to_string(), str::to_owned)
}

/// Why a library did not open, with the dynamic linker's message if there is one.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Opens the driver library. Returns its name, or why it cannot be opened. Call this before
/// `cust::init`; the call also links this crate's symbols into the program.
pub fn open() -> Result<&'static str, &'static str> {
    driver().map(|driver| driver.name.as_str())
}

static LAST_UNKNOWN: AtomicU32 = AtomicU32::new(0);

/// The last result code that `cust_raw`'s enum does not contain; 0 if there was none since the last
/// call.
pub fn last_unknown_code() -> u32 {
    LAST_UNKNOWN.swap(0, Ordering::Relaxed)
}

static ERROR_STRING: Slot = Slot::new("cuGetErrorString\0");
static ERROR_NAME: Slot = Slot::new("cuGetErrorName\0");

/// The driver's description of a result code, also of one that `cust_raw`'s enum does not contain.
pub fn error_text_of(code: u32) -> Option<String> {
    let text = driver_text(&ERROR_STRING, code)?;
    Some(text.to_string_lossy().into_owned())
}

/// What the driver's cuGetErrorString or cuGetErrorName says of a result code.
fn driver_text(slot: &Slot, code: u32) -> Option<&'static CStr> {
    let at = slot.get()?;
    let mut text = std::ptr::null();
    // SAFETY: both functions have this C signature and take any number; `text` is valid for the write.
    let answer = unsafe {
        let f: unsafe extern "C" fn(u32, *mut *const c_char) -> u32 = std::mem::transmute(at);
        f(code, &mut text)
    };
    // SAFETY: the driver's texts are static and end in NUL.
    (answer == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// One function's address: null until first use, then the address or [`ABSENT`].
struct Slot {
    name: &'static str, // ends in NUL
    at: AtomicPtr<c_void>,
}

const ABSENT: *mut c_void = std::ptr::without_provenance_mut(1);

impl Slot {
    const fn new(name: &'static str) -> Self {
        Slot {
            name,
            at: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    #[inline]
    fn get(&self) -> Option<*mut c_void> {
        let at = self.at.load(Ordering::Acquire);
        if at.is_null() {
            self.resolve()
        } else if at == ABSENT {
            None
        } else {
            Some(at)
        }
    }

    #[cold]
    fn resolve(&self) -> Option<*mut c_void> {
        let found = driver().ok().and_then(|driver| {
            // SAFETY: only the address is taken here.
            let symbol = unsafe { driver.library.get::<*mut c_void>(self.name.as_bytes()) };
            // SAFETY: the library is never closed, so the address outlives the symbol.
            symbol.ok().map(|s| unsafe { s.into_raw() }.as_raw_ptr())
        });
        self.at.store(found.unwrap_or(ABSENT), Ordering::Release);
        found
    }
}

#[cold]
fn absent() -> CUresult {
    match driver() {
        Ok(_) => CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
        Err(_) => CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    }
}

#[inline]
fn checked(code: u32) -> CUresult {
    if code == 0 {
        CUresult::CUDA_SUCCESS
    } else {
        checked_error(code)
    }
}

#[cold]
fn checked_error(code: u32) -> CUresult {
    if symbols::is_known(code) {
        // SAFETY: `code` is one of the values of the enum, which is repr(u32).
        unsafe { std::mem::transmute::<u32, CUresult>(code) }
    } else {
        LAST_UNKNOWN.store(code, Ordering::Relaxed);
        CUresult::CUDA_ERROR_UNKNOWN
    }
}

macro_rules! forward {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> CUresult {
                // Fails to compile if cust_raw declares another signature.
                const _: unsafe extern "C" fn($($ty),*) -> CUresult = cust_raw::$name;
                call_driver!($name($($arg: $ty),*))
            }
        )*
    };
}

/// Calls the driver's function of this name.
macro_rules! call_driver {
    ($name:ident($($arg:ident: $ty:ty),*)) => {{
        static SLOT: Slot = Slot::new(concat!(stringify!($name), "\0"));
        match SLOT.get() {
            Some(at) => {
                // SAFETY: the driver's function of this name has this C signature; its result is
                // read as a number and checked.
                let code = unsafe {
                    let f: unsafe extern "C" fn($($ty),*) -> u32 = std::mem::transmute(at);
                    f($($arg),*)
                };
                checked(code)
            }
            None => absent(),
        }
    }};
}

mod symbols {
    use super::*;
    include!("symbols.rs");
}

/// `Display` of `cust::error::CudaError` calls cuGetErrorString and panics if that fails, so the
/// two text functions also work without a driver.
///
/// # Safety
/// `out` must be valid for a write.
unsafe fn error_text(slot: &Slot, code: CUresult, out: *mut *const c_char) -> CUresult {
    let text = driver_text(slot, code as u32).unwrap_or(match code {
        CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED => c"no NVIDIA driver library",
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND => {
            c"the NVIDIA driver is too old: it lacks this function"
        }
        _ => c"CUDA error",
    });
    // SAFETY: the caller guarantees `out`.
    unsafe { *out = text.as_ptr() };
    CUresult::CUDA_SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) -> CUresult {
    // SAFETY: the caller guarantees `pStr`, as for the driver's function.
    unsafe { error_text(&ERROR_STRING, error, pStr) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) -> CUresult {
    // SAFETY: the caller guarantees `pStr`, as for the driver's function.
    unsafe { error_text(&ERROR_NAME, error, pStr) }
}
