//! NVRTC, NVIDIA's compiler as a library, opened where there is one.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use emulator::{HEADERS, NotCompiled, SOURCE_NAME, compiler_errors};
use libloading::{Library, Symbol};

use super::folders::{children, toolkits};

/// Names by which the system finds it.
const NAMES: &[&str] = if cfg!(windows) {
    &[
        "nvrtc64_130_0.dll",
        "nvrtc64_120_0.dll",
        "nvrtc64_112_0.dll",
    ]
} else {
    &[
        "libnvrtc.so.13",
        "libnvrtc.so.12",
        "libnvrtc.so.11.2",
        "libnvrtc.so",
    ]
};

/// How its files begin, and those of the library that it opens itself.
const PREFIX: &str = if cfg!(windows) {
    "nvrtc64_"
} else {
    "libnvrtc.so"
};
const BUILTINS: &str = if cfg!(windows) {
    "nvrtc-builtins64_"
} else {
    "libnvrtc-builtins.so"
};

/// Where it may be: each place, and the names or files to open there.
pub(super) fn places() -> Vec<(String, Vec<PathBuf>)> {
    let by_name = NAMES.iter().map(PathBuf::from).collect();
    let mut places = vec![(NAMES[0].to_owned(), by_name)];
    for toolkit in toolkits() {
        let files = toolkit
            .libraries()
            .flat_map(|folder| children(&folder, PREFIX));
        places.push((toolkit.root.display().to_string(), files.collect()));
    }
    places
}

/// NVRTC's handle of a program.
type Handle = *mut c_void;

/// What its functions return: 0, or the number of an error.
type Code = c_int;

/// The number of an error: the source does not compile.
const COMPILATION: Code = 6;

/// The library, which stays open: it leaves threads and handlers behind.
#[derive(Debug)]
pub(super) struct Nvrtc {
    library: ManuallyDrop<Library>,
    version: (u32, u32),
}

impl Nvrtc {
    /// Opens a file, or what the system finds by a name.
    pub(super) fn open(path: &Path) -> io::Result<Nvrtc> {
        // NVRTC opens it by its name, which the system finds once it is open.
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            for builtins in children(folder, BUILTINS) {
                // SAFETY: NVIDIA's library; its initialisers may run in any process.
                std::mem::forget(unsafe { Library::new(builtins) });
            }
        }
        // SAFETY: as above.
        let library = unsafe { Library::new(path) }.map_err(io::Error::other)?;
        let mut nvrtc = Nvrtc {
            library: ManuallyDrop::new(library),
            version: (0, 0),
        };
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function has this signature; both numbers are valid for the write.
        let code = unsafe { nvrtc.function::<Version>(c"nvrtcVersion")?(&mut major, &mut minor) };
        nvrtc.check(code)?;
        nvrtc.version = (major as u32, minor as u32);
        Ok(nvrtc)
    }

    /// Its CUDA version, major and minor.
    pub(super) fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Compiles a source to PTX for a GPU, or for the newest that it knows.
    pub(super) fn ptx(
        &self,
        source: &str,
        (major, minor): (u32, u32),
    ) -> Result<String, NotCompiled> {
        let wanted = (10 * major + minor) as c_int;
        let known = self
            .architectures()
            .into_iter()
            .filter(|known| *known <= wanted);
        let architecture = known.max().unwrap_or(wanted);
        let ptx = self.compile(
            source,
            &format!("compute_{architecture}"),
            [c"nvrtcGetPTXSize", c"nvrtcGetPTX"],
        )?;
        let end = ptx.iter().position(|byte| *byte == 0).unwrap_or(ptx.len());
        Ok(String::from_utf8_lossy(&ptx[..end]).into_owned())
    }

    /// Compiles a source to the machine code of a GPU.
    pub(super) fn cubin(
        &self,
        source: &str,
        (major, minor): (u32, u32),
    ) -> Result<Vec<u8>, NotCompiled> {
        self.compile(
            source,
            &format!("sm_{}", 10 * major + minor),
            [c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN"],
        )
    }

    /// The architectures that it compiles for, such as 75; none if it is too old to tell.
    fn architectures(&self) -> Vec<c_int> {
        type Count = unsafe extern "C" fn(*mut c_int) -> Code;
        type List = unsafe extern "C" fn(*mut c_int) -> Code;
        let count = self.function::<Count>(c"nvrtcGetNumSupportedArchs");
        let list = self.function::<List>(c"nvrtcGetSupportedArchs");
        let (Ok(count), Ok(list)) = (count, list) else {
            return Vec::new();
        };
        let mut known = 0;
        // SAFETY: the function has this signature; the number is valid for the write.
        if unsafe { count(&mut known) } != 0 {
            return Vec::new();
        }
        let mut found = vec![0; known.max(0) as usize];
        // SAFETY: the array is as long as the library wants.
        match unsafe { list(found.as_mut_ptr()) } {
            0 => found,
            _ => Vec::new(),
        }
    }

    /// Compiles a source; `result` names the functions that return the size and the bytes of what came
    /// of it.
    fn compile(
        &self,
        source: &str,
        architecture: &str,
        result: [&CStr; 2],
    ) -> Result<Vec<u8>, NotCompiled> {
        let program = NvrtcProgram::new(self, source)?;
        let options = [
            format!("--gpu-architecture={architecture}"),
            "--std=c++17".to_owned(),
        ];
        let code = program.compile(&options)?;
        if code == 0 {
            return Ok(program.bytes(result)?);
        }
        let log = program.bytes([c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog"])?;
        let log = String::from_utf8_lossy(&log);
        let log = log.trim_end_matches('\0');
        if code != COMPILATION && log.trim().is_empty() {
            self.check(code)?;
        }
        let (errors, more) = compiler_errors(log);
        Err(NotCompiled::Refused(errors, more))
    }

    /// A function, whose signature is the caller's to know.
    fn function<T>(&self, name: &CStr) -> io::Result<Symbol<'_, T>> {
        // SAFETY: callers name functions with the signatures that NVRTC has had since CUDA 11.
        unsafe { self.library.get(name.to_bytes_with_nul()) }.map_err(io::Error::other)
    }

    fn check(&self, code: Code) -> io::Result<()> {
        if code == 0 {
            return Ok(());
        }
        type Text = unsafe extern "C" fn(Code) -> *const c_char;
        let function = self.function::<Text>(c"nvrtcGetErrorString")?;
        // SAFETY: the function takes any number; its texts are static and end with 0.
        let text = unsafe { CStr::from_ptr(function(code)) };
        Err(io::Error::other(text.to_string_lossy().into_owned()))
    }
}

/// A source that is being compiled.
struct NvrtcProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Handle,
}

impl<'a> NvrtcProgram<'a> {
    fn new(nvrtc: &'a Nvrtc, source: &str) -> io::Result<NvrtcProgram<'a>> {
        type Create = unsafe extern "C" fn(
            *mut Handle,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> Code;
        let [source, name] = [source, SOURCE_NAME].map(c_string);
        let headers = HEADERS.map(|(name, text)| (c_string(name), c_string(text)));
        let texts = headers.each_ref().map(|(_, text)| text.as_ptr());
        let names = headers.each_ref().map(|(name, _)| name.as_ptr());
        let mut handle = std::ptr::null_mut();
        // SAFETY: the function has this signature; all texts end with 0 and live until it returns, which
        // has copied them.
        let code = unsafe {
            nvrtc.function::<Create>(c"nvrtcCreateProgram")?(
                &mut handle,
                source.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        nvrtc.check(code)?;
        Ok(NvrtcProgram { nvrtc, handle })
    }

    fn compile(&self, options: &[String]) -> io::Result<Code> {
        type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Code;
        let options: Vec<CString> = options.iter().map(|option| c_string(option)).collect();
        let texts: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let compile = self.nvrtc.function::<Compile>(c"nvrtcCompileProgram")?;
        // SAFETY: the function has this signature; the texts end with 0 and live until it returns.
        Ok(unsafe { compile(self.handle, texts.len() as c_int, texts.as_ptr()) })
    }

    /// What two functions return: the number of bytes, and the bytes.
    fn bytes(&self, [size, get]: [&CStr; 2]) -> io::Result<Vec<u8>> {
        type Size = unsafe extern "C" fn(Handle, *mut usize) -> Code;
        type Get = unsafe extern "C" fn(Handle, *mut u8) -> Code;
        let mut count = 0;
        // SAFETY: the function has this signature; the number is valid for the write.
        let code = unsafe { self.nvrtc.function::<Size>(size)?(self.handle, &mut count) };
        self.nvrtc.check(code)?;
        let mut bytes = vec![0; count];
        // SAFETY: the buffer has as many bytes as the library writes.
        let code = unsafe { self.nvrtc.function::<Get>(get)?(self.handle, bytes.as_mut_ptr()) };
        self.nvrtc.check(code)?;
        Ok(bytes)
    }
}

impl Drop for NvrtcProgram<'_> {
    fn drop(&mut self) {
        type Destroy = unsafe extern "C" fn(*mut Handle) -> Code;
        if let Ok(destroy) = self.nvrtc.function::<Destroy>(c"nvrtcDestroyProgram") {
            // SAFETY: the handle came from this library, and nothing uses it any more.
            unsafe { destroy(&mut self.handle) };
        }
    }
}

/// A text for C. What is read from a file as a source has no 0.
fn c_string(text: &str) -> CString {
    CString::new(text).expect("a text without 0")
}
