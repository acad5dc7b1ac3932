//! NVRTC, which compiles CUDA C++ for a GPU: toolkits and PyPI's wheels have it.

mod folders;
mod nvrtc;

use std::io;
use std::path::PathBuf;

use emulator::NotCompiled;
use engine::kernels::GpuCode;
use serde::{Deserialize, Serialize};

use nvrtc::Nvrtc;

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

/// NVRTC, as this machine has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "nvrtc")]
pub struct GpuCompiler {
    /// Its file, or the name by which the system finds it.
    pub path: PathBuf,
    /// Its CUDA version, major and minor.
    pub version: (u32, u32),
}

/// Where a compiler was looked for, and whether it was there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Looked {
    /// The place, in words that programs use too: a folder, or the name of a library.
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
            Some(GpuCompiler { path, version })
        });
        let is_found = found.is_some();
        looked.push(Looked { place, found });
        if is_found {
            break;
        }
    }
    looked
}

/// Compiles a source with the first compiler that there is.
///
/// # Errors
/// The compiler refuses the source; or there is no compiler, which is an error of the kind
/// [`NotFound`](io::ErrorKind::NotFound).
pub fn compile(source: &str, target: Target) -> Result<Compiled, NotCompiled> {
    let none = || NotCompiled::Failed(io::ErrorKind::NotFound.into());
    let compiler = GpuCompiler::find().ok_or_else(none)?;
    let code = compiler.compile(source, target)?;
    Ok(Compiled { code, compiler })
}

impl GpuCompiler {
    /// The first compiler that there is.
    pub fn find() -> Option<GpuCompiler> {
        search().into_iter().find_map(|looked| looked.found)
    }

    /// Compiles a source to PTX, or to machine code where the driver is older than the compiler and would
    /// not read its PTX. It works in this process, which must end to cancel it; its limits are those of
    /// this process.
    ///
    /// # Errors
    /// It refuses the source, or cannot be opened.
    pub fn compile(&self, source: &str, target: Target) -> Result<GpuCode, NotCompiled> {
        let nvrtc = Nvrtc::open(&self.path)?;
        Ok(if self.version > target.driver {
            GpuCode::Cubin(nvrtc.cubin(source, target.capability)?)
        } else {
            GpuCode::Ptx(nvrtc.ptx(source, target.capability)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target = Target {
        capability: (7, 5),
        driver: (99, 0),
    };

    fn compile(source: &str, target: Target) -> Result<GpuCode, NotCompiled> {
        let compiler = GpuCompiler::find().expect("scripts/test installs NVRTC");
        compiler.compile(source, target)
    }

    #[test]
    fn every_rung_compiles_to_ptx_and_to_machine_code_for_an_older_driver() {
        let old = Target {
            driver: (11, 4),
            ..TARGET
        };
        for rung in crate::rungs() {
            let source = crate::skeleton(rung, "mine.cu");
            let GpuCode::Ptx(ptx) = compile(&source, TARGET).unwrap() else {
                panic!("{}: no PTX", rung.file);
            };
            assert!(ptx.contains(rung.entries[0].symbol), "{}", rung.file);
            // The large ones take seconds for each function.
            if ptx.len() < 200_000 {
                let GpuCode::Cubin(cubin) = compile(&source, old).unwrap() else {
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
        match compile(source, TARGET) {
            Err(NotCompiled::Refused(errors, 0)) => {
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
        let newer = Target {
            capability: (99, 9),
            ..TARGET
        };
        let GpuCode::Ptx(ptx) = compile(source, newer).unwrap() else {
            panic!("no PTX");
        };
        assert!(ptx.contains(".target sm_121"), "{ptx}");
    }
}
