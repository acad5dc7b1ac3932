//! A driver of our own under the program: the functions of `libcuda` that it calls, with real
//! asynchrony, and kernels that are the committed `.cu` files compiled as C++ (`tests/emulator`).
//!
//! [`library`] builds it once and gives its path; put that into `LIFESTREAMS_LIBCUDA`. What it
//! can be told by environment variables stands at the top of `driver.cpp`.
#![allow(dead_code)] // each test program uses its part

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

const GXX: [&str; 8] = [
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-Wall",
    "-Wno-unknown-pragmas",
    "-ffp-contract=off", // lessons are compared with the CPU bit by bit, floats too
    "-U_FORTIFY_SOURCE",
    "-pthread",
];

const DRIVER: [&str; 3] = [
    "tests/driver/driver.cpp",
    "tests/driver/tasks.cpp",
    "tests/emulator/emulator.cpp",
];

/// The fake driver's shared library, built if its sources have changed.
///
/// # Panics
/// With a sentence, if there is no `g++` or it fails: a check that could not run has failed.
pub(crate) fn library() -> PathBuf {
    build().unwrap_or_else(|reason| panic!("{reason}"))
}

fn build() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = kernel_sources(root);
    for file in ["emulator.h", "launch.h"] {
        sources.push(root.join("tests/emulator").join(file));
    }
    for file in DRIVER
        .iter()
        .chain(&["tests/driver/driver.h", "tests/driver/mod.rs"])
    {
        sources.push(root.join(file));
    }
    for file in ["kernels/cuda.h", "kernels/life.cuh"] {
        sources.push(root.join(file));
    }

    let mut hasher = DefaultHasher::new();
    GXX.hash(&mut hasher);
    root.hash(&mut hasher);
    for source in &sources {
        read(source)?.hash(&mut hasher);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let work = folder.join(format!("fake-cuda-{:016x}", hasher.finish()));
    let library = work.join("libcuda_fake.so");

    let lock = fs::create_dir_all(&work)
        .and_then(|()| File::create(work.join("lock")))
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| format!("cannot lock {}: {error}", work.display()))?;
    if !library.exists() {
        compile(root, &work, &library)?;
    }
    drop(lock);
    Ok(library)
}

/// Every `.cu` file.
fn kernel_sources(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["ladder", "support", "lessons"]
        .iter()
        .filter_map(|folder| fs::read_dir(root.join("kernels").join(folder)).ok())
        .flatten()
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension() == Some(OsStr::new("cu")))
        .collect();
    found.sort();
    found
}

fn compile(root: &Path, work: &Path, library: &Path) -> Result<(), String> {
    let mut kernels = gxx(root, work);
    kernels
        .args(["-c", "-include"])
        .arg(root.join("tests/emulator/emulator.h"));
    kernels.arg("-I").arg(root.join("kernels"));
    for source in kernel_sources(root) {
        let stem = source
            .file_stem()
            .expect("found by its extension")
            .to_string_lossy();
        let generated = work.join(format!("kernel_{stem}.cpp"));
        write(&generated, &as_cpp(&source)?)?;
        kernels.arg(generated);
    }
    let mut host = gxx(root, work);
    host.arg("-c");
    host.args(DRIVER.map(|file| root.join(file)));
    let (kernels, host) = (start(kernels)?, start(host)?);
    finish(kernels)?;
    finish(host)?;

    let partial = work.join("partial.so");
    let mut link = gxx(root, work);
    link.args(["-shared", "-Wl,-Bsymbolic"])
        .arg("-o")
        .arg(&partial);
    let objects = fs::read_dir(work)
        .map_err(|error| error.to_string())?
        .flatten();
    link.args(
        objects
            .map(|entry| entry.path())
            .filter(|p| p.extension() == Some("o".as_ref())),
    );
    finish(start(link)?)?;
    fs::rename(&partial, library).map_err(|error| format!("{}: {error}", library.display()))
}

/// A kernel's text for g++: see `emulator.h`.
fn as_cpp(source: &Path) -> Result<String, String> {
    let text = read(source)?;
    let mut cpp = format!("#line 1 {source:?}\n");
    let mut symbols = Vec::new();
    let mut awaited = false;
    for line in text.lines() {
        let declared = line.trim().strip_prefix("extern __shared__ ");
        match declared.and_then(|rest| rest.strip_suffix("[];")?.rsplit_once(' ')) {
            Some((kind, name)) => {
                cpp += &format!("{kind}* {name} = static_cast<{kind}*>(emulator::shared());\n");
            }
            None => {
                // Headers are found by -I: the text stands elsewhere now.
                cpp += &line.replace("#include \"../", "#include \"");
                cpp.push('\n');
            }
        }
        // The name before the first '(' that is not launch_bounds', on this line or the next.
        awaited |= line.starts_with("extern \"C\" __global__");
        // A line that defines the two functions of a variant.
        let variant = line
            .strip_prefix("VARIANT(")
            .and_then(|rest| rest.split_once(','));
        if let Some((variant, _)) = variant {
            let stem = source.file_stem().expect("a file").to_string_lossy();
            let symbol = format!("life_{}_{variant}", &stem[3..]);
            symbols.extend([symbol.clone(), symbol + "_by_network"]);
        }
        let name = line.replace("__launch_bounds__(", "");
        if let Some((before, _)) = name.split_once('(').filter(|_| awaited) {
            let name = before.rsplit([' ', ')']).next().expect("a word");
            symbols.push(name.to_owned());
            awaited = false;
        }
    }
    for symbol in symbols {
        cpp += &format!("EMULATE({symbol})\n");
    }
    Ok(cpp)
}

fn gxx(root: &Path, work: &Path) -> Command {
    let mut command = Command::new("g++");
    command
        .current_dir(work)
        .args(GXX)
        .arg("-I")
        .arg(root.join("tests/emulator"));
    command
}

fn start(mut command: Command) -> Result<Child, String> {
    command.spawn().map_err(|error| {
        format!("g++ cannot be started ({error}): these tests need it, install the package g++")
    })
}

fn finish(mut child: Child) -> Result<(), String> {
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "g++ could not build the fake driver ({status}), see above"
        )),
        Err(error) => Err(format!("g++: {error}")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
