//! Compilers of CUDA C++ for a GPU: NVRTC, which toolkits and PyPI's wheels have, else `nvcc` or `clang`.

mod folders;
mod nvrtc;
mod programs;
mod sass;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use emulator::NotCompiled;
use engine::kernels::GpuCode;
use serde::{Deserialize, Serialize};

use nvrtc::Nvrtc;
pub use sass::disassemble;

/// The GPU and the driver that code is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// The GPU's compute capability, major and minor.
    pub capability: (u32, u32),
    /// The driver's CUDA version, major and minor.
    pub driver: (u32, u32),
}

/// Compiled code, and what compiled it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The code.
    pub code: GpuCode,
    /// What compiled it.
    pub compiler: GpuCompiler,
}

/// What kind of compiler it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompilerKind {
    /// The library NVRTC.
    Nvrtc,
    /// The program `nvcc`.
    Nvcc,
    /// The program `clang`, without a toolkit.
    Clang,
}

impl CompilerKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CompilerKind::Nvrtc => "NVRTC",
            CompilerKind::Nvcc => "nvcc",
            CompilerKind::Clang => "clang",
        }
    }
}

/// A compiler of this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GpuCompiler {
    /// What it is.
    pub kind: CompilerKind,
    /// Its file; of a library that the system finds by its name, the name.
    pub path: PathBuf,
    /// Its CUDA version, major and minor. `clang` has none.
    pub version: Option<(u32, u32)>,
}

/// Where a compiler was looked for, and whether it was there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Looked {
    /// The place, in words that programs use too: a folder, `PATH`, or the name of a library.
    pub place: String,
    /// The compiler there.
    pub found: Option<GpuCompiler>,
}

/// The pip package that has a compiler.
pub const PACKAGE: &str = "nvidia-cuda-nvrtc";

/// Looks for a compiler until there is one: the last place has it, or none has.
pub fn search() -> Vec<Looked> {
    let mut looked = Vec::new();
    for (place, files) in nvrtc::places() {
        let found = files.into_iter().find_map(|path| {
            let version = Nvrtc::open(&path).ok()?.version();
            Some(GpuCompiler {
                kind: CompilerKind::Nvrtc,
                path,
                version: Some(version),
            })
        });
        let is_found = found.is_some();
        looked.push(Looked { place, found });
        if is_found {
            return looked;
        }
    }
    looked.push(Looked {
        place: "PATH".into(),
        found: programs::find(),
    });
    looked
}

/// Compiles a source with the first compiler that there is.
///
/// # Errors
/// The compiler refuses the source; or there is no compiler, which is an error of the kind
/// [`NotFound`](io::ErrorKind::NotFound).
pub fn compile(source: &str, target: Target, cancel: &AtomicBool) -> Result<Compiled, NotCompiled> {
    let none = || NotCompiled::Failed(io::ErrorKind::NotFound.into());
    let compiler = GpuCompiler::find().ok_or_else(none)?;
    let code = compiler.compile(source, target, cancel)?;
    Ok(Compiled { code, compiler })
}

impl GpuCompiler {
    /// The first compiler that there is.
    pub fn find() -> Option<GpuCompiler> {
        search().into_iter().find_map(|looked| looked.found)
    }

    /// Compiles a source to PTX, or to machine code where the driver is older than the compiler and would
    /// not read its PTX. NVRTC works in this process, which must end to cancel it; its limits are those of
    /// this process.
    ///
    /// # Errors
    /// It refuses the source, or does not run.
    pub fn compile(
        &self,
        source: &str,
        target: Target,
        cancel: &AtomicBool,
    ) -> Result<GpuCode, NotCompiled> {
        if self.version.is_some_and(|version| version > target.driver) {
            let cubin = self.cubin(source, target.capability, cancel)?;
            return Ok(GpuCode::Cubin(cubin));
        }
        let ptx = match self.kind {
            CompilerKind::Nvrtc => Nvrtc::open(&self.path)?.ptx(source, target.capability)?,
            CompilerKind::Nvcc => {
                programs::nvcc_ptx(&self.path, source, target.capability, cancel)?
            }
            CompilerKind::Clang => programs::clang_ptx(&self.path, source, cancel)?,
        };
        Ok(GpuCode::Ptx(ptx))
    }

    /// Compiles a source to the machine code of a GPU.
    ///
    /// # Errors
    /// It refuses the source, or does not run; `clang` needs `ptxas` for it.
    pub fn cubin(
        &self,
        source: &str,
        capability: (u32, u32),
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, NotCompiled> {
        match self.kind {
            CompilerKind::Nvrtc => Nvrtc::open(&self.path)?.cubin(source, capability),
            CompilerKind::Nvcc => programs::nvcc_cubin(&self.path, source, capability, cancel),
            CompilerKind::Clang => {
                let ptx = programs::clang_ptx(&self.path, source, cancel)?;
                programs::assemble(&ptx, capability, cancel)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target = Target {
        capability: (7, 5),
        driver: (99, 0),
    };

    /// The compilers that `scripts/test` installs: NVRTC, nvcc and clang.
    fn compilers() -> Vec<GpuCompiler> {
        let found: Vec<GpuCompiler> = [GpuCompiler::find()]
            .into_iter()
            .chain(["nvcc", "clang-16"].map(|name| programs::named(name.as_ref())))
            .flatten()
            .collect();
        let kinds: Vec<CompilerKind> = found.iter().map(|compiler| compiler.kind).collect();
        use CompilerKind::{Clang, Nvcc, Nvrtc};
        assert_eq!(kinds, [Nvrtc, Nvcc, Clang], "scripts/test installs them");
        found
    }

    fn compile(
        compiler: &GpuCompiler,
        source: &str,
        target: Target,
    ) -> Result<GpuCode, NotCompiled> {
        compiler.compile(source, target, &AtomicBool::new(false))
    }

    #[test]
    fn nvrtc_compiles_every_rung_to_what_ptxas_takes() {
        let nvrtc = &compilers()[0];
        for rung in crate::rungs() {
            let source = crate::skeleton(rung, "mine.cu");
            let code = compile(nvrtc, &source, TARGET).unwrap();
            let GpuCode::Ptx(ptx) = code else {
                panic!("{}: no PTX", rung.file);
            };
            assert!(ptx.contains(rung.entries[0].symbol), "{}", rung.file);
            // The large ones take seconds for each function.
            if ptx.len() < 200_000 {
                programs::assemble(&ptx, (7, 5), &AtomicBool::new(false)).unwrap();
            }
        }
    }

    #[test]
    fn every_compiler_names_lines_and_no_warnings() {
        let source = "#include \"life.cuh\"\nextern \"C\" __global__ void f(int* to)\n{\n    \
                      int unused;\n    to[0] = nothing;\n}\n";
        for compiler in compilers() {
            match compile(&compiler, source, TARGET) {
                Err(NotCompiled::Refused(errors, 0)) => {
                    let places: Vec<_> = errors.iter().map(|it| (it.line, it.column)).collect();
                    assert_eq!(places, [(Some(5), Some(13))], "{compiler:?}: {errors:?}");
                    assert!(errors[0].text.contains("nothing"), "{errors:?}");
                }
                other => panic!("{compiler:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_driver_older_than_the_compiler_gets_machine_code() {
        let source = "extern \"C\" __global__ void f(int* to) { to[threadIdx.x] = 1; }";
        let old = Target {
            driver: (11, 4),
            ..TARGET
        };
        for compiler in compilers() {
            let code = compile(&compiler, source, old).unwrap();
            match (compiler.kind, code) {
                (CompilerKind::Clang, GpuCode::Ptx(_)) => {}
                (_, GpuCode::Cubin(cubin)) => assert!(cubin.starts_with(b"\x7fELF")),
                (_, other) => panic!("{compiler:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn machine_code_is_shown_as_text() {
        let source = "extern \"C\" __global__ void f(int* to) { to[threadIdx.x] = 1; }";
        let cancel = AtomicBool::new(false);
        for compiler in compilers() {
            let cubin = compiler.cubin(source, TARGET.capability, &cancel).unwrap();
            let text = disassemble(&cubin, &cancel).unwrap();
            let text = text.expect("scripts/test installs nvdisasm");
            assert!(text.contains("S2R") && text.contains("STG"), "{text}");
        }
    }

    #[test]
    fn a_gpu_newer_than_nvrtc_gets_the_newest_ptx_that_it_knows() {
        let source = "extern \"C\" __global__ void f(int* to) { to[threadIdx.x] = 1; }";
        let newer = Target {
            capability: (99, 9),
            ..TARGET
        };
        let GpuCode::Ptx(ptx) = compile(&compilers()[0], source, newer).unwrap() else {
            panic!("no PTX");
        };
        assert!(ptx.contains(".target sm_121"), "{ptx}");
    }
}
