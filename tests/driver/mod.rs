//! A driver of our own under the program: the functions of `libcuda` that it calls, with real
//! asynchrony, and kernels that are the committed `.cu` files compiled as C++ (`crates/workshop`).
//!
//! [`library`] builds it once and gives its path; put that into `LIFESTREAMS_LIBCUDA`. What it
//! can be told by environment variables stands at the top of `driver.cpp`. The same library takes a
//! program's ranges as a profiler does (`nvtx.cpp`).
#![allow(dead_code)] // each test program uses its part

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use engine::kernels::KERNELS;

const GXX: [&str; 9] = [
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-Wall",
    "-Wno-unknown-pragmas",
    "-ffp-contract=off", // lessons are compared with the CPU bit by bit, floats too
    "-U_FORTIFY_SOURCE",
    "-pthread",
    // A thread's variables are found without a call: a tenth of the time in kernels.
    if cfg!(target_arch = "x86_64") {
        "-mtls-dialect=gnu2"
    } else {
        "-g0"
    },
];

const DRIVER: [&str; 4] = [
    "tests/driver/driver.cpp",
    "tests/driver/nvtx.cpp",
    "tests/driver/tasks.cpp",
    "crates/workshop/cpp/emulator.cpp",
];

/// The fake driver's shared library, built if its sources have changed.
///
/// # Panics
/// With a sentence, if there is no `g++` or it fails: a check that could not run has failed.
pub(crate) fn library() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = kernel_sources(root);
    let others = [
        "crates/workshop/cpp/emulator.h",
        "crates/workshop/cpp/launch.h",
        "crates/workshop/src/translation.rs",
        "tests/driver/driver.h",
        "tests/driver/mod.rs",
        "kernels/cuda.h",
        "kernels/life.cuh",
    ];
    sources.extend(DRIVER.iter().chain(&others).map(|file| root.join(file)));

    let mut hasher = DefaultHasher::new();
    GXX.hash(&mut hasher);
    root.hash(&mut hasher);
    for source in &sources {
        read(source).hash(&mut hasher);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let work = folder.join(format!("fake-cuda-{:016x}", hasher.finish()));
    let library = work.join("libcuda_fake.so");

    fs::create_dir_all(&work).unwrap();
    let lock = File::create(work.join("lock")).unwrap();
    lock.lock().unwrap();
    if !library.exists() {
        compile(root, &work, &library);
    }
    drop(lock);
    library
}

/// Every `.cu` file.
fn kernel_sources(root: &Path) -> Vec<PathBuf> {
    let folders = ["ladder", "support", "lessons"].map(|name| root.join("kernels").join(name));
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files_in(folder, "cu"))
        .collect();
    found.sort();
    found
}

fn compile(root: &Path, work: &Path, library: &Path) {
    let mut kernels = gxx(root, work);
    kernels
        .args(["-c", "-include"])
        .arg(root.join("crates/workshop/cpp/emulator.h"));
    kernels.arg("-I").arg(root.join("kernels"));
    for source in kernel_sources(root) {
        let stem = source
            .file_stem()
            .expect("found by its extension")
            .to_string_lossy();
        let generated = work.join(format!("kernel_{stem}.cpp"));
        fs::write(&generated, as_cpp(&source)).unwrap();
        kernels.arg(generated);
    }
    let mut host = gxx(root, work);
    host.arg("-c");
    host.args(DRIVER.map(|file| root.join(file)));
    let (kernels, host) = (start(kernels), start(host));
    finish(kernels);
    finish(host);

    let partial = work.join("partial.so");
    let mut link = gxx(root, work);
    link.args(["-shared", "-Wl,-Bsymbolic"])
        .arg("-o")
        .arg(&partial);
    link.args(files_in(work, "o"));
    finish(start(link));
    fs::rename(&partial, library).unwrap();
}

/// The files in a folder whose names end so.
fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let files = entries.map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension() == Some(OsStr::new(extension)))
        .collect()
}

/// A kernel's text for g++. Those of the ladder that macros define are in its table alone.
fn as_cpp(source: &Path) -> String {
    let text = read(source);
    let mut symbols: BTreeSet<String> = workshop::kernel_names(&text)
        .into_iter()
        .map(|kernel| kernel.symbol)
        .collect();
    let stem = source.file_stem().expect("found by its extension");
    let rung = KERNELS.iter().find(|kernel| stem == kernel.file);
    if let Some(rung) = rung {
        let entries = rung.entries.iter();
        let network = |entry: &&str| rung.by_network.then(|| format!("{entry}_by_network"));
        symbols.extend(entries.clone().filter_map(network));
        symbols.extend(entries.map(|entry| String::from(*entry)));
    }
    let symbols: Vec<String> = symbols.into_iter().collect();
    workshop::translate(&text, &source.to_string_lossy(), &symbols, false).cpp
}

fn gxx(root: &Path, work: &Path) -> Command {
    let mut command = Command::new("g++");
    command
        .current_dir(work)
        .args(GXX)
        .arg("-I")
        .arg(root.join("crates/workshop/cpp"));
    command
}

fn start(mut command: Command) -> Child {
    command.spawn().unwrap_or_else(|error| {
        panic!("g++ cannot be started ({error}): these tests need it, install the package g++")
    })
}

fn finish(mut child: Child) {
    let status = child.wait().unwrap();
    assert!(
        status.success(),
        "g++ could not build the fake driver ({status}), see above"
    );
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
