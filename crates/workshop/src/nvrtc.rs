//! NVRTC, NVIDIA's compiler of CUDA C++ as a library: toolkits and PyPI's wheels have it.

use crate::compiler::{HEADERS, SOURCE_NAME, refused};
use crate::fault::Failure;
use engine::kernels::GpuCode;
use libloading::{Library, Symbol};
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The pip package that has it.
pub const PACKAGE: &str = "nvidia-cuda-nvrtc";

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

/// NVRTC, as this machine has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "nvrtc")]
pub struct GpuCompiler {
    /// Its file, or the name by which the system finds it.
    pub path: PathBuf,
    /// Its CUDA version, major and minor.
    pub version: (u32, u32),
}

/// Looks for a compiler until there is one; where it looked, in words that programs use too: folders, and
/// the name of a library.
pub fn search() -> (Vec<String>, Option<GpuCompiler>) {
    let by_name: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
    let toolkits = toolkits().into_iter().map(|toolkit| {
        let folders = toolkit.libraries();
        let files = folders.flat_map(|folder| children(&folder, PREFIX));
        (toolkit.root.display().to_string(), files.collect())
    });
    let mut looked = Vec::new();
    for (place, files) in [(NAMES[0].to_owned(), by_name)].into_iter().chain(toolkits) {
        looked.push(place);
        let found = files.into_iter().find_map(|path| {
            let version = Nvrtc::open(&path).ok()?.version().ok()?;
            Some(GpuCompiler { path, version })
        });
        if found.is_some() {
            return (looked, found);
        }
    }
    (looked, None)
}

impl GpuCompiler {
    /// NVRTC from the first place where it is found.
    pub fn find() -> Option<GpuCompiler> {
        search().1
    }

    /// Compiles a source to PTX for a GPU of this compute capability, or for the newest that the compiler
    /// knows; to machine code where the driver, of this CUDA version, is older than the compiler and would
    /// not read its PTX. It works in this process, which must end to cancel it; its limits are those of
    /// this process.
    ///
    /// # Errors
    /// It refuses the source, or cannot be opened.
    pub fn compile(
        &self,
        source: &str,
        (major, minor): (u32, u32),
        driver: (u32, u32),
    ) -> Result<GpuCode, Failure> {
        let nvrtc = Nvrtc::open(&self.path)?;
        let wanted = (10 * major + minor) as c_int;
        if self.version > driver {
            let bytes = [c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN"];
            let code = nvrtc.compile(source, &format!("sm_{wanted}"), bytes)?;
            return Ok(GpuCode::Cubin(code));
        }
        let known = nvrtc.architectures().unwrap_or_default().into_iter();
        let newest = known.filter(|known| *known <= wanted).max();
        let architecture = format!("compute_{}", newest.unwrap_or(wanted));
        let bytes = [c"nvrtcGetPTXSize", c"nvrtcGetPTX"];
        let ptx = nvrtc.compile(source, &architecture, bytes)?;
        let ptx = String::from_utf8_lossy(&ptx);
        Ok(GpuCode::Ptx(ptx.trim_end_matches('\0').into()))
    }
}

/// NVRTC's handle of a program.
type Handle = *mut c_void;

/// What its functions return: 0, or the number of an error.
type Code = c_int;

/// The library, which stays open: it leaves threads and handlers behind.
struct Nvrtc(ManuallyDrop<Library>);

impl Nvrtc {
    /// Opens a file, or what the system finds by a name.
    fn open(path: &Path) -> io::Result<Nvrtc> {
        // NVRTC opens it by its name, which the system finds once it is open.
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        for builtins in folder.map_or(Vec::new(), |folder| children(folder, BUILTINS)) {
            // SAFETY: NVIDIA's library; its initialisers may run in any process.
            std::mem::forget(unsafe { Library::new(builtins) });
        }
        // SAFETY: as above.
        let library = unsafe { Library::new(path) }.map_err(io::Error::other)?;
        Ok(Nvrtc(ManuallyDrop::new(library)))
    }

    /// Its CUDA version, major and minor.
    fn version(&self) -> io::Result<(u32, u32)> {
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function has this signature; both numbers are valid for the write.
        let code = unsafe { self.function::<Version>(c"nvrtcVersion")?(&mut major, &mut minor) };
        self.check(code)?;
        Ok((major as u32, minor as u32))
    }

    /// The architectures that it compiles for, such as 75.
    ///
    /// # Errors
    /// It is too old to tell, or fails.
    fn architectures(&self) -> io::Result<Vec<c_int>> {
        type Numbers = unsafe extern "C" fn(*mut c_int) -> Code;
        let count = self.function::<Numbers>(c"nvrtcGetNumSupportedArchs")?;
        let list = self.function::<Numbers>(c"nvrtcGetSupportedArchs")?;
        let mut known = 0;
        // SAFETY: the function has this signature; the number is valid for the write.
        self.check(unsafe { count(&mut known) })?;
        let mut found = vec![0; known.max(0) as usize];
        // SAFETY: the array is as long as the library wants.
        self.check(unsafe { list(found.as_mut_ptr()) })?;
        Ok(found)
    }

    /// Compiles a source; `result` names the functions that return the size and the bytes of what came
    /// of it.
    fn compile(
        &self,
        source: &str,
        architecture: &str,
        result: [&CStr; 2],
    ) -> Result<Vec<u8>, Failure> {
        type Create = unsafe extern "C" fn(
            *mut Handle,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> Code;
        type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Code;
        type Destroy = unsafe extern "C" fn(*mut Handle) -> Code;
        /// The number of an error: the source does not compile.
        const REFUSED: Code = 6;
        let [source, name] = [source, SOURCE_NAME].map(c_string);
        let headers = HEADERS.map(|(name, text)| (c_string(name), c_string(text)));
        let texts = headers.each_ref().map(|(_, text)| text.as_ptr());
        let names = headers.each_ref().map(|(name, _)| name.as_ptr());
        let architecture = format!("--gpu-architecture={architecture}");
        let options = [&architecture, "--std=c++17"].map(c_string);
        let options = options.each_ref().map(|option| option.as_ptr());
        let create = self.function::<Create>(c"nvrtcCreateProgram")?;
        let compile = self.function::<Compile>(c"nvrtcCompileProgram")?;
        let destroy = self.function::<Destroy>(c"nvrtcDestroyProgram")?;
        let mut program = std::ptr::null_mut();
        // SAFETY: the functions have these signatures; all texts end with 0 and live until the calls
        // return, which have copied them.
        let code = unsafe {
            let count = headers.len() as c_int;
            let (texts, names) = (texts.as_ptr(), names.as_ptr());
            self.check(create(
                &mut program,
                source.as_ptr(),
                name.as_ptr(),
                count,
                texts,
                names,
            ))?;
            compile(program, options.len() as c_int, options.as_ptr())
        };
        let log = [c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog"];
        let bytes = self.bytes(program, if code == 0 { result } else { log });
        // SAFETY: the program is the library's, and nothing uses it any more.
        unsafe { destroy(&mut program) };
        let bytes = bytes?;
        if code == 0 {
            return Ok(bytes);
        }
        let log = String::from_utf8_lossy(&bytes);
        let log = log.trim_end_matches('\0');
        if code != REFUSED && log.trim().is_empty() {
            self.check(code)?;
        }
        Err(refused(log))
    }

    /// What two functions return of a program: the number of bytes, and the bytes.
    fn bytes(&self, program: Handle, [size, get]: [&CStr; 2]) -> io::Result<Vec<u8>> {
        type Size = unsafe extern "C" fn(Handle, *mut usize) -> Code;
        type Get = unsafe extern "C" fn(Handle, *mut u8) -> Code;
        let mut count = 0;
        // SAFETY: the function has this signature; the number is valid for the write.
        self.check(unsafe { self.function::<Size>(size)?(program, &mut count) })?;
        let mut bytes = vec![0; count];
        // SAFETY: the buffer has as many bytes as the library writes.
        self.check(unsafe { self.function::<Get>(get)?(program, bytes.as_mut_ptr()) })?;
        Ok(bytes)
    }

    /// A function, whose signature is the caller's to know.
    fn function<T>(&self, name: &CStr) -> io::Result<Symbol<'_, T>> {
        // SAFETY: callers name functions with the signatures that NVRTC has had since CUDA 11.
        unsafe { self.0.get(name.to_bytes_with_nul()) }.map_err(io::Error::other)
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

/// A text for C. What is read from a file as a source has no 0.
fn c_string(text: &str) -> CString {
    CString::new(text).expect("a text without 0")
}

// The folders in which CUDA toolkits and Python's packages have their libraries.

/// Where a toolkit has its files.
#[derive(Clone, Debug)]
pub(crate) struct Toolkit {
    /// What is found below it.
    pub root: PathBuf,
    /// Folders of libraries, below the root.
    pub libraries: &'static [&'static str],
}

impl Toolkit {
    /// Its folders of libraries; conda has them below `targets`.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = PathBuf> {
        let targets = children(&self.root.join("targets"), "").into_iter();
        let own = self.libraries.iter().map(|folder| self.root.join(folder));
        own.chain(targets.map(|target| target.join("lib")))
    }
}

/// Folders that may have a toolkit, or a part of one: those that `$CUDA_HOME` and `$CUDA_PATH` name,
/// `/usr/local/cuda*`, conda's environment, and Python's packages from PyPI.
pub(crate) fn toolkits() -> Vec<Toolkit> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(folder_of);
    let usual = children(Path::new("/usr/local"), "cuda");
    let conda = folder_of("CONDA_PREFIX").into_iter().chain(of_python());
    let roots = named.chain(usual).chain(conda).map(|root| Toolkit {
        root,
        libraries: &["lib64", "lib", "bin"],
    });
    let wheels = packages().into_iter().map(|root| Toolkit {
        root: root.join("nvidia"),
        libraries: &[
            "cu13/lib",
            "cuda_nvrtc/lib",
            "cu13/bin/x86_64",
            "cuda_nvrtc/bin",
        ],
    });
    roots.chain(wheels).collect()
}

/// The folder of the Python on the `PATH`, of which it is `bin/python3`.
fn of_python() -> Option<PathBuf> {
    let python = crate::compiler::find_program(Path::new("python3"))?;
    Some(python.parent()?.parent()?.to_owned())
}

/// Folders where Python finds packages: those of `$PYTHONPATH`, of the virtual environment, of the user,
/// of the Python on the `PATH`, and of every Python of pyenv, whose `python3` on the `PATH` is a script.
fn packages() -> Vec<PathBuf> {
    let named = env::var_os("PYTHONPATH").unwrap_or_default();
    let of_user = env::home_dir().map(|home| home.join(".local"));
    let pyenv = folder_of("PYENV_ROOT").or_else(|| Some(env::home_dir()?.join(".pyenv")));
    let of_pyenv = pyenv.map(|root| children(&root.join("versions"), ""));
    let prefixes = [folder_of("VIRTUAL_ENV"), folder_of("CONDA_PREFIX"), of_user]
        .into_iter()
        .flatten()
        .chain(of_python())
        .chain(of_pyenv.into_iter().flatten())
        .chain(["/usr/local", "/usr"].map(PathBuf::from));
    packages_below(env::split_paths(&named).collect(), prefixes)
}

/// These folders, and those of packages below the folders of Pythons; each that is there once.
fn packages_below(
    mut found: Vec<PathBuf>,
    prefixes: impl Iterator<Item = PathBuf>,
) -> Vec<PathBuf> {
    for library in prefixes.map(|prefix| prefix.join("lib")) {
        for python in children(&library, "python3") {
            found.extend(["site-packages", "dist-packages"].map(|name| python.join(name)));
        }
    }
    let mut seen = Vec::new();
    found.retain(|folder| {
        let is_new = folder.is_dir() && !seen.contains(folder);
        seen.push(folder.clone());
        is_new
    });
    found
}

/// The folder that a variable names.
fn folder_of(variable: &str) -> Option<PathBuf> {
    let named = env::var_os(variable).filter(|named| !named.is_empty())?;
    Some(named.into())
}

/// What a folder has whose names begin so, the last by name first.
pub(crate) fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    /// For a GPU of this compute capability, with a driver of CUDA 11.4 or one newer than NVRTC.
    fn compile(
        source: &str,
        capability: (u32, u32),
        has_old_driver: bool,
    ) -> Result<GpuCode, Failure> {
        let compiler = GpuCompiler::find().expect("scripts/test installs NVRTC");
        let driver = if has_old_driver { (11, 4) } else { (99, 0) };
        compiler.compile(source, capability, driver)
    }

    #[test]
    fn every_rung_compiles_to_ptx_and_to_machine_code_for_an_older_driver() {
        for rung in crate::rungs() {
            let source = crate::skeleton(rung, "mine.cu");
            let GpuCode::Ptx(ptx) = compile(&source, (7, 5), false).unwrap() else {
                panic!("{}: no PTX", rung.file);
            };
            assert!(ptx.contains(rung.entries[0]), "{}", rung.file);
            // The large ones take seconds for each function.
            if ptx.len() < 200_000 {
                let GpuCode::Cubin(cubin) = compile(&source, (7, 5), true).unwrap() else {
                    panic!("{}: no machine code", rung.file);
                };
                assert!(cubin.starts_with(b"\x7fELF"), "{}", rung.file);
            }
        }
    }

    #[test]
    fn errors_name_lines_and_no_warnings() {
        let source = "#include \"life.cuh\"\nextern \"C\" __global__ void f(int* to)\n{\n    \
                      int unused;\n    to[0] = nothing;\n}\n";
        match compile(source, (7, 5), false) {
            Err(Failure::Wrong(Fault::DoesNotCompile { errors, more: 0 })) => {
                let places: Vec<_> = errors.iter().map(|it| (it.line, it.column)).collect();
                assert_eq!(places, [(Some(5), Some(13))], "{errors:?}");
                assert!(errors[0].text.contains("nothing"), "{errors:?}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_gpu_newer_than_nvrtc_gets_the_newest_ptx_that_it_knows() {
        let source = "extern \"C\" __global__ void f(int* to) { to[threadIdx.x] = 1; }";
        let GpuCode::Ptx(ptx) = compile(source, (99, 9), false).unwrap() else {
            panic!("no PTX");
        };
        assert!(ptx.contains(".target sm_121"), "{ptx}");
    }
}

#[cfg(test)]
mod folders_tests {
    use super::*;

    #[test]
    fn libraries_of_conda_and_packages_of_pyenv_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let site = root.join("versions/3.12.1/lib/python3.12/site-packages");
        let target = root.join("targets/x86_64-linux/lib");
        fs::create_dir_all(&site).unwrap();
        fs::create_dir_all(&target).unwrap();
        let pythons = children(&root.join("versions"), "").into_iter();
        assert_eq!(packages_below(Vec::new(), pythons), [site]);
        let toolkit = Toolkit {
            root: root.to_owned(),
            libraries: &["lib"],
        };
        assert!(toolkit.libraries().eq([root.join("lib"), target]));
    }
}
