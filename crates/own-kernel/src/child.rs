//! What the child process does: it runs a kernel, so that a crash, an endless loop or a wild write ends that
//! process alone.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use emulator::NotCompiled;
use engine::kernels::GpuCode;
use life::{Lattice, Size};

use crate::checking::{check_case, check_cases};
use crate::compilers::{self, Compiled};
use crate::device::Device;
use crate::emulated::Emulated;
use crate::fault::Fault;
use crate::gpu::{DriverError, Gpu, GpuKernel, NotLoaded};
use crate::layouts::{lattice_of, words_of};
use crate::messages::{Answer, Request, receive, send};
use crate::stepping::{Lattices, Stepper};
use crate::{Case, Machine, OwnKernel};

/// A kernel and the machine that it was loaded to.
struct Loaded<'a> {
    own: OwnKernel,
    kernel: MachineKernel<'a>,
}

enum MachineKernel<'a> {
    Emulated(Emulated),
    Gpu(GpuKernel<'a>),
}

/// Does what requests on standard input ask, until there are no more. `folder` is where this process may
/// write files. Whatever else it writes to standard output goes nowhere.
///
/// # Errors
/// A request or its files cannot be read, or an answer cannot be written.
pub fn serve(folder: &Path, machine: Machine) -> io::Result<()> {
    let mut output = platform::contained::take_stdout()?;
    let mut input = io::stdin().lock();
    // Opened before anything is asked, since it takes long.
    let gpu = match machine {
        Machine::Gpu(ordinal) => Some(Gpu::open(ordinal)),
        Machine::Emulator => None,
    };
    let mut loaded = None;
    loop {
        let (request, following) = match receive(&mut input) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        };
        let (answer, following) = match (request, &mut loaded) {
            (
                Request::Load {
                    source,
                    code,
                    seconds,
                },
                _,
            ) => {
                // What was there goes first.
                drop(loaded.take());
                let own = OwnKernel::read(source.into_bytes()).map_err(io::Error::other)?;
                let (answer, kernel) = match &gpu {
                    None => load_emulated(folder, &own, &following, seconds)?,
                    Some(gpu) => load_gpu(gpu.as_ref(), &own, code, seconds)?,
                };
                loaded = kernel.map(|kernel| Loaded { own, kernel });
                (answer, Vec::new())
            }
            (Request::Check { seed }, Some(loaded)) => (loaded.check(seed), Vec::new()),
            (Request::FindBarrier { seed, case, lines }, Some(loaded)) => {
                let line = loaded.find_barrier(seed, &case, &lines);
                (Answer::Barrier(line), Vec::new())
            }
            (
                Request::Step {
                    sides,
                    rule,
                    generations,
                    seconds,
                },
                Some(loaded),
            ) => {
                let lattices = Lattices {
                    size: Size::new(sides.0.into(), sides.1.into()).map_err(io::Error::other)?,
                    rule: rule.parse().map_err(io::Error::other)?,
                    count: 1,
                };
                match loaded.step(lattices, &following, generations, seconds) {
                    Ok(words) => (Answer::Stepped, words),
                    Err(fault) => (Answer::Wrong(fault), Vec::new()),
                }
            }
            (_, None) => return Err(io::ErrorKind::InvalidInput.into()),
        };
        send(&mut output, &answer, &following)?;
    }
}

/// Loads a kernel's library, whose bytes these are.
fn load_emulated<'a>(
    folder: &Path,
    own: &OwnKernel,
    library: &[u8],
    seconds: u32,
) -> io::Result<(Answer, Option<MachineKernel<'a>>)> {
    let file = tempfile::Builder::new().suffix(".so").tempfile_in(folder)?;
    fs::write(file.path(), library)?;
    Ok(match Emulated::load(file.path(), own, seconds) {
        Ok(kernel) => (
            Answer::Loaded {
                code: None,
                compiler: None,
            },
            Some(MachineKernel::Emulated(kernel)),
        ),
        Err(fault) => (Answer::Wrong(fault), None),
    })
}

/// Loads a kernel to the GPU; compiles it unless its code is given.
fn load_gpu<'a>(
    gpu: Result<&'a Gpu, &DriverError>,
    own: &OwnKernel,
    code: Option<GpuCode>,
    seconds: u32,
) -> io::Result<(Answer, Option<MachineKernel<'a>>)> {
    let no_gpu = |error: DriverError| Answer::NoGpu {
        call: error.call.into(),
        code: error.code,
    };
    let gpu = match gpu {
        Ok(gpu) => gpu,
        Err(error) => return Ok((no_gpu(*error), None)),
    };
    let (code, compiler) = match code {
        Some(code) => (code, None),
        None => {
            let target = match gpu.target() {
                Ok(target) => target,
                Err(error) => return Ok((no_gpu(error), None)),
            };
            match compilers::compile(&own.source, target) {
                Ok(Compiled { code, compiler }) => (code, Some(compiler)),
                Err(why) => return Ok((Answer::not_compiled(why), None)),
            }
        }
    };
    let limit = Duration::from_secs(seconds.into());
    Ok(match gpu.load(own, &code, limit) {
        Ok(kernel) => (
            Answer::Loaded {
                code: Some(code),
                compiler,
            },
            Some(MachineKernel::Gpu(kernel)),
        ),
        Err(NotLoaded::Wrong(fault)) => (Answer::Wrong(fault), None),
        Err(NotLoaded::Driver(error)) => (no_gpu(error), None),
    })
}

impl Answer {
    fn not_compiled(why: NotCompiled) -> Answer {
        match Fault::of_compiler(why) {
            Ok(fault) => Answer::Wrong(fault),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Answer::NoCompiler,
            Err(error) => Answer::Failed(error.to_string()),
        }
    }
}

impl Loaded<'_> {
    fn device(&self) -> &dyn Device {
        match &self.kernel {
            MachineKernel::Emulated(kernel) => kernel,
            MachineKernel::Gpu(kernel) => kernel,
        }
    }

    fn cases(&self, seed: u64) -> Vec<Case> {
        match &self.kernel {
            MachineKernel::Emulated(_) => Case::all(&self.own, seed),
            MachineKernel::Gpu(_) => Case::for_gpu(&self.own, seed),
        }
    }

    fn check(&self, seed: u64) -> Answer {
        let cases = self.cases(seed);
        let checked = check_cases(self.device(), &self.own, &cases);
        match checked.and_then(|()| self.device().facts()) {
            Ok(facts) => Answer::Right {
                cases: cases.len(),
                facts,
            },
            Err(fault) => Answer::Wrong(fault),
        }
    }

    /// The first line behind which a barrier mends this case, or better all.
    fn find_barrier(&self, seed: u64, case: &Case, lines: &[u32]) -> Option<u32> {
        let MachineKernel::Emulated(kernel) = &self.kernel else {
            return None;
        };
        let with_barrier = |line: u32, case: &Case| {
            kernel.set_extra_barrier(Some(line));
            check_case(kernel, &self.own, case, true).is_ok()
        };
        let all = self.cases(seed);
        let mut repairing = lines
            .iter()
            .copied()
            .filter(|line| with_barrier(*line, case));
        let first = repairing.next();
        let of_all = |line: &u32| all.iter().all(|case| with_barrier(*line, case));
        let of_all = first.into_iter().chain(repairing).find(of_all);
        of_all.or(first)
    }

    /// Steps a lattice, whose bits these are; its bits then.
    fn step(
        &mut self,
        lattices: Lattices,
        bits: &[u8],
        generations: u32,
        seconds: u32,
    ) -> Result<Vec<u8>, Fault> {
        if let MachineKernel::Emulated(kernel) = &mut self.kernel {
            kernel.set_limit(seconds);
        }
        let layout = self.own.rung.layout;
        let lattice = Lattice::from_words(lattices.size, bytemuck::pod_collect_to_vec(bits));
        let stepper = Stepper {
            device: self.device(),
            own: &self.own,
        };
        let words = stepper.step(lattices, &words_of(&lattice, layout), generations)?;
        let lattice = lattice_of(lattices.size, &words, layout);
        Ok(bytemuck::cast_slice(lattice.words()).to_vec())
    }
}
