//! Compilers that are programs: `nvcc`, which a toolkit has, and `clang`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use emulator::{HEADERS, NotCompiled, SOURCE_NAME, find_program, is_program, run_compiler};
use platform::contained::{self, Limits};
use tempfile::TempDir;

use super::folders;
use super::{CompilerKind, GpuCompiler};

/// The programs, the best first.
const NAMES: [&str; 9] = [
    "nvcc", "clang", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16",
    "clang-15",
];

pub(super) const LIMITS: Limits = Limits {
    time: Duration::from_secs(30),
    resident: 2 << 30,
    address_space: Some(8 << 30),
};

/// What clang needs to compile without a toolkit, for every GPU that the program supports.
const CLANG_OPTIONS: &str = "-x cuda --cuda-device-only -nocudainc -nocudalib \
                             --cuda-path=/nowhere --cuda-gpu-arch=sm_50 --cuda-feature=+ptx60 \
                             -std=c++17 -O3 -S -w -include cuda.h";

/// The first that is on the `PATH`.
pub(super) fn find() -> Option<GpuCompiler> {
    NAMES.iter().find_map(|name| named(Path::new(name)))
}

/// The compiler of this name.
pub(super) fn named(name: &Path) -> Option<GpuCompiler> {
    let path = find_program(name)?;
    let (kind, version) = if name == Path::new("nvcc") {
        (CompilerKind::Nvcc, Some(nvcc_version(&path)?))
    } else {
        (CompilerKind::Clang, None)
    };
    Some(GpuCompiler {
        kind,
        path,
        version,
    })
}

/// The CUDA version of an nvcc, if it runs.
fn nvcc_version(nvcc: &Path) -> Option<(u32, u32)> {
    let mut command = Command::new(nvcc);
    command.arg("--version");
    let said = tempfile::NamedTempFile::new().ok()?;
    let output = said.reopen().ok()?.into();
    contained::run_into(output, command, LIMITS, &AtomicBool::new(false)).ok()?;
    let said = fs::read_to_string(said).ok()?;
    // Cuda compilation tools, release 13.0, V13.0.88
    let (_, behind) = said.split_once("release ")?;
    let (version, _) = behind.split_once(',')?;
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

pub(super) fn nvcc_ptx(
    nvcc: &Path,
    source: &str,
    (major, minor): (u32, u32),
    cancel: &AtomicBool,
) -> Result<String, NotCompiled> {
    let architecture = format!("-arch=compute_{}", 10 * major + minor);
    let options = ["-ptx", &architecture, "-std=c++17"];
    Folder::with(source)?
        .compile(nvcc, &options, cancel)
        .map(text)
}

pub(super) fn nvcc_cubin(
    nvcc: &Path,
    source: &str,
    (major, minor): (u32, u32),
    cancel: &AtomicBool,
) -> Result<Vec<u8>, NotCompiled> {
    let architecture = format!("-arch=sm_{}", 10 * major + minor);
    let options = ["-cubin", &architecture, "-std=c++17"];
    Folder::with(source)?.compile(nvcc, &options, cancel)
}

pub(super) fn clang_ptx(
    clang: &Path,
    source: &str,
    cancel: &AtomicBool,
) -> Result<String, NotCompiled> {
    let options: Vec<&str> = CLANG_OPTIONS.split(' ').collect();
    Folder::with(source)?
        .compile(clang, &options, cancel)
        .map(text)
}

/// Machine code of PTX, by `ptxas`.
pub(super) fn assemble(
    ptx: &str,
    (major, minor): (u32, u32),
    cancel: &AtomicBool,
) -> Result<Vec<u8>, NotCompiled> {
    let architecture = format!("-arch=sm_{}", 10 * major + minor);
    let none = || NotCompiled::Failed(io::Error::new(io::ErrorKind::NotFound, "no ptxas"));
    let ptxas = program("ptxas").ok_or_else(none)?;
    Folder::with(ptx)?.compile(&ptxas, &[&architecture], cancel)
}

/// A program of a toolkit, on the `PATH` or where toolkits have theirs.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let folders = folders::programs().into_iter();
    folders
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A folder with a source and what it may include.
struct Folder(TempDir);

impl Folder {
    fn with(source: &str) -> io::Result<Folder> {
        let folder = tempfile::Builder::new()
            .prefix("lifestreams-kernel-")
            .tempdir()?;
        for (name, text) in HEADERS.into_iter().chain([(SOURCE_NAME, source)]) {
            fs::write(folder.path().join(name), text)?;
        }
        Ok(Folder(folder))
    }

    /// Compiles the source. Returns what was written.
    fn compile(
        &self,
        compiler: &Path,
        options: &[&str],
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, NotCompiled> {
        const WRITTEN: &str = "written";
        let folder = self.0.path();
        let mut command = Command::new(compiler);
        command.current_dir(folder).args(options);
        command.args([
            OsStr::new("-o"),
            OsStr::new(WRITTEN),
            OsStr::new(SOURCE_NAME),
        ]);
        command.env("TMPDIR", folder).env("LC_ALL", "C");
        run_compiler(command, LIMITS, cancel)?;
        Ok(fs::read(folder.join(WRITTEN))?)
    }
}
