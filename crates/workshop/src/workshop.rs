//! Where kernels are checked: a machine that runs them, and a process of its own.

use crate::child::{Answer, Child, Machine, Request, ask, start};
use crate::compiler::{CppCompiler, SOURCE_NAME};
use crate::declarations::OwnKernel;
use crate::fault::{Failure, Fault, Unchecked};
use crate::nvrtc::{GpuCompiler, PACKAGE};
use crate::translation::translate;
use directories::ProjectDirs;
use engine::kernels::{OwnStepError, OwnStepper};
use engine::{Kernel, Occupancy};
use lang::message;
use life::{Rule, Size};
use parking_lot::Mutex;
use platform::contained::Process;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fmt, fs, io};
use tempfile::TempDir;

/// A machine that runs kernels, and the process in which it does; opened once, for any number of checks.
/// The process stays between checks, so that they need not wait for it or for a GPU's driver.
pub struct Workshop {
    machine: Machine,
    /// What compiles for the emulator.
    compiler: Option<CppCompiler>,
    /// Where the process may write files.
    folder: TempDir,
    child: Child,
    /// Started when there is none, or when the last one has ended or may be spoilt.
    process: Mutex<Option<Process>>,
}

/// What a check found: a kernel that is right, or the first thing that is wrong.
pub type Verdict = Result<Right, Box<Fault>>;

/// A kernel that is right.
#[derive(Clone, PartialEq, Debug)]
pub struct Right {
    /// In how many cases it is.
    pub cases: usize,
    /// The kernel, ready to run on the machine that checked it.
    pub kernel: &'static Kernel,
    /// What the driver says about it, if a GPU checked it.
    pub facts: Option<Occupancy>,
    /// What compiled it for a GPU, if one checked it.
    pub compiler: Option<GpuCompiler>,
}

/// How long a launch may take; whole seconds count.
pub const LAUNCH_LIMIT: Duration = Duration::from_secs(5);

/// How long a process may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

impl Workshop {
    /// Prepares a machine. `child` makes a command that calls [`serve`](crate::serve) with what its
    /// last arguments say, which are added: a folder, and the GPU's number if the machine is one.
    ///
    /// # Errors
    /// This computer lacks something.
    pub fn open(
        machine: Machine,
        child: impl Fn() -> Command + Send + Sync + 'static,
    ) -> Result<Workshop, Unchecked> {
        let folder = tempfile::Builder::new()
            .prefix("lifestreams-kernel-")
            .tempdir()?;
        let open = |compiler: PathBuf| match CppCompiler::open(compiler.clone(), folder.path()) {
            Ok(opened) => Ok(opened),
            Err(Failure::Unchecked(why)) => Err(why),
            Err(Failure::Wrong(why)) => Err(Unchecked::Failed(message!(
                "{compiler} does not compile the emulator: {why}; set CXX to another C++ compiler",
                compiler = compiler.display()
            ))),
        };
        let compiler = match machine {
            Machine::Emulator => {
                let found = CppCompiler::find().ok_or(Unchecked::NoCppCompiler)?;
                Some(open(found)?)
            }
            Machine::Gpu(_) => None,
        };
        let workshop = Workshop {
            machine,
            compiler,
            folder,
            child: Arc::new(child),
            process: Mutex::new(None),
        };
        // It gets ready until the first check.
        *workshop.process.lock() = Some(workshop.start()?);
        Ok(workshop)
    }

    /// Checks a kernel over lattices drawn from `seed`. `launch_limit` is
    /// [`LAUNCH_LIMIT`], or less where a test does not want to wait.
    ///
    /// # Errors
    /// The check was cancelled, or this computer lacks something.
    pub fn check(
        &self,
        own: &OwnKernel,
        seed: u64,
        launch_limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Verdict, Unchecked> {
        match self.verdict(own, seed, launch_limit, cancel) {
            Ok(right) => Ok(Ok(right)),
            Err(Failure::Wrong(fault)) => Ok(Err(Box::new(fault))),
            Err(Failure::Unchecked(why)) => Err(why),
        }
    }

    fn verdict(
        &self,
        own: &OwnKernel,
        seed: u64,
        launch_limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Right, Failure> {
        own.check_source()?;
        let compiled = self.compiler.as_ref();
        let compiled = compiled.map(|compiler| compile(compiler, own, cancel));
        let (library, lines) = compiled.transpose()?.unwrap_or_default();
        let request = Request::Check {
            source: own.source.clone(),
            seconds: launch_limit.as_secs().max(1) as u32,
            seed,
        };
        let mut kept = self.process.lock();
        let mut waiting = kept.take();
        let mut process = match waiting.take_if(|it| it.is_running()) {
            Some(process) => process,
            None => self.start()?,
        };
        let mut answer = ask(&mut process, &request, &library, cancel);
        if let Err(Failure::Wrong(Fault::Race {
            case,
            barrier_after,
            ..
        })) = &mut answer
            && !lines.is_empty()
        {
            let case = case.clone();
            let find = Request::FindBarrier { seed, case, lines };
            match ask(&mut process, &find, &[], cancel) {
                Ok((Answer::Barrier(line), _)) => *barrier_after = line,
                Err(unchecked @ Failure::Unchecked(_)) => answer = Err(unchecked),
                Ok(_) | Err(Failure::Wrong(_)) => {}
            }
        }
        // A wrong kernel may have spoilt the GPU's context, and any kernel of the emulator its process.
        let is_right = matches!(answer, Ok((Answer::Right { .. }, _)));
        let is_intact = is_right && self.compiler.is_none();
        let mut process = Some(process).filter(|_| is_intact);
        // The next one gets ready until the next check, which reports why there is none.
        process = process.or_else(|| self.start().ok());
        *kept = process;
        drop(kept);
        match answer?.0 {
            Answer::Right {
                cases,
                compiled,
                facts,
            } => {
                let (code, compiler) = compiled.unzip();
                let stepper = |_| -> Box<dyn OwnStepper> {
                    Box::new(EmulatedStepper::new(own, library, &self.child))
                };
                let cpu = self.compiler.as_ref().map(stepper);
                Ok(Right {
                    cases,
                    kernel: own.kernel(code, cpu),
                    facts,
                    compiler,
                })
            }
            Answer::NoCompiler => {
                let why = message!("no compiler for a GPU found: pip install {}", PACKAGE);
                Err(Unchecked::Failed(why).into())
            }
            Answer::Unchecked(why) => Err(Unchecked::Failed(why.into()).into()),
            Answer::Barrier(_) | Answer::Ready => Err(Fault::Crashed.into()),
        }
    }

    /// Starts a process for checks.
    fn start(&self) -> io::Result<Process> {
        start(&self.child, self.folder.path(), self.machine, ANSWER_LIMIT)
    }
}

/// Compiles a kernel for the emulator, to the bytes of its library and the lines behind which a barrier can
/// be put.
fn compile(
    compiler: &CppCompiler,
    own: &OwnKernel,
    cancel: &AtomicBool,
) -> Result<(Vec<u8>, Vec<u32>), Failure> {
    let symbols = [own.symbol().to_owned()];
    // Marks tell lines; where a source does not compile with them, it is compiled without.
    let marked = translate(&own.source, SOURCE_NAME, &symbols, true);
    let mut lines = marked.lines;
    let mut compiled = compiler.library(&marked.cpp, cancel);
    if matches!(compiled, Err(Failure::Wrong(Fault::DoesNotCompile { .. }))) {
        lines.clear();
        let plain = translate(&own.source, SOURCE_NAME, &symbols, false);
        compiled = compiler.library(&plain.cpp, cancel);
    }
    Ok((fs::read(compiled?)?, lines))
}

/// A kernel in the emulator that steps lattices of the CPU engine. Each thread that calls it has a process,
/// which stays for the next call unless the kernel fails in it or many others have been used since.
struct EmulatedStepper {
    source: String,
    library: Vec<u8>,
    child: Child,
    /// Numbers the kernels, which stay in memory until the program ends.
    number: u64,
}

/// The processes that wait for a call, those used last at the end, each with the number of its kernel.
static IDLE: Mutex<Vec<(u64, Process)>> = Mutex::new(Vec::new());

impl EmulatedStepper {
    fn new(own: &OwnKernel, library: Vec<u8>, child: &Child) -> EmulatedStepper {
        static MADE: AtomicU64 = AtomicU64::new(0);
        EmulatedStepper {
            source: own.source.clone(),
            library,
            child: Arc::clone(child),
            number: MADE.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// A process with the kernel, in which it has stepped before.
    fn take_idle(&self) -> Option<Process> {
        let mut idle = IDLE.lock();
        let at = idle.iter().position(|(number, _)| *number == self.number)?;
        Some(idle.remove(at).1)
    }

    /// Lets a process wait for the next call.
    fn keep_idle(&self, process: Process) {
        let mut idle = IDLE.lock();
        idle.push((self.number, process));
        // Two versions are compared with each other, on so many threads.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        if idle.len() > 2 * threads {
            let oldest = idle.remove(0);
            drop(idle);
            drop(oldest); // which waits for its end
        }
    }

    fn start(&self) -> Result<Process, OwnStepError> {
        // The child limits launches; what it does besides is quick. Its files are gone once it has loaded
        // them.
        let (folder, limit) = (env::temp_dir(), Duration::from_secs(3600));
        let started = start(&self.child, &folder, Machine::Emulator, limit);
        let mut process = started.map_err(|error| step_error(error.into()))?;
        let source = self.source.clone();
        self.ask(&mut process, Request::Load { source }, &self.library)?;
        Ok(process)
    }

    fn ask(
        &self,
        process: &mut Process,
        request: Request,
        following: &[u8],
    ) -> Result<Vec<u8>, OwnStepError> {
        let answered = ask(process, &request, following, &AtomicBool::new(false));
        let (_, following) = answered.map_err(step_error)?;
        Ok(following)
    }
}

/// What a failure is for an engine.
fn step_error(failure: Failure) -> OwnStepError {
    match failure {
        Failure::Wrong(Fault::TooLong { .. }) => OwnStepError::TooLong,
        Failure::Wrong(_) => OwnStepError::Crashed,
        Failure::Unchecked(why) => {
            tracing::warn!("a process for the user's kernel: {why}");
            OwnStepError::Crashed
        }
    }
}

impl OwnStepper for EmulatedStepper {
    fn step(
        &self,
        words: &mut [u32],
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<(), OwnStepError> {
        /// Cells of a generation that any kernel steps in a second, on a slow machine.
        const MIN_CELLS_PER_SECOND: u64 = 500_000;
        let mut process = match self.take_idle() {
            Some(process) => process,
            None => self.start()?,
        };
        let cells = size.cells().saturating_mul(generations.into());
        let seconds = LAUNCH_LIMIT.as_secs() + cells / MIN_CELLS_PER_SECOND;
        let request = Request::Step {
            sides: (size.width, size.height),
            rule: rule.to_string(),
            generations,
            seconds: seconds.min(3600) as u32,
        };
        // A process that fails ends here.
        let stepped = self.ask(&mut process, request, bytemuck::cast_slice(words))?;
        if stepped.len() != size_of_val(words) {
            return Err(OwnStepError::Crashed);
        }
        bytemuck::cast_slice_mut(words).copy_from_slice(&stepped);
        self.keep_idle(process);
        Ok(())
    }
}

impl fmt::Debug for EmulatedStepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulatedStepper").finish_non_exhaustive()
    }
}

// Remembers the kernels that this user has run here. A kernel in a session's file that is not among them
// runs only after its user agrees.

/// The file that remembers a source, by its hash; `None` if the platform has no folder for it.
fn record_of(source: &str) -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "lifestreams")?;
    let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
    let hash = Sha256::digest(source);
    let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(folder.join("trusted-kernels").join(name))
}

/// Whether this user has run a kernel of exactly this source here.
pub fn is_trusted(source: &str) -> bool {
    record_of(source).is_some_and(|record| record.is_file())
}

/// Remembers that this user runs this kernel. Where that cannot be written, they are asked again.
pub fn trust(source: &str) {
    let write = |record: PathBuf| {
        fs::create_dir_all(record.parent()?).ok()?;
        fs::write(record, "").ok()
    };
    if record_of(source).and_then(write).is_none() {
        tracing::debug!("the kernel cannot be remembered as one that was run here");
    }
}
