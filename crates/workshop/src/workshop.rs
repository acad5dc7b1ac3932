//! Where kernels are checked: a machine that runs them, and a process of its own.

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::Kernel;
use engine::kernels::{OwnStepError, OwnStepper};
use lang::{Message, message, tr};
use life::{Rule, Size, system_reason};
use platform::contained::{Ended, Process};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::child::{Answer, Child, Request, ask, start};
use crate::compiler::{CppCompiler, NotCompiled, SOURCE_NAME};
use crate::nvrtc::{GpuCompiler, PACKAGE};
use crate::translation::translate;
use crate::{Fault, Machine, OwnKernel};

/// A machine that runs kernels, and the process in which it does; opened once, for any number of checks.
/// The process stays between checks, so that they need not wait for it or for a GPU's driver.
pub struct Workshop {
    tools: Tools,
    child: Child,
    /// Started when there is none, or when the last one has ended or may be spoilt.
    process: Mutex<Option<Process>>,
}

/// What a machine needs on this side.
enum Tools {
    Emulator(CppCompiler),
    Gpu { ordinal: u32, folder: TempDir },
}

/// Why a kernel was not checked.
#[derive(Debug)]
pub enum Unchecked {
    /// The emulator needs a C++ compiler, and none was found.
    NoCppCompiler,
    /// The user did not want to wait for it.
    Cancelled,
    /// Anything else that this computer lacks, such as a compiler for the GPU.
    Failed(Message),
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unchecked::NoCppCompiler => f.write_str(tr!(
                "no C++ compiler found, which a kernel needs without a GPU: apt-get install g++"
            )),
            Unchecked::Cancelled => f.write_str(tr!("the check was interrupted")),
            Unchecked::Failed(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Unchecked {}

impl From<io::Error> for Unchecked {
    fn from(error: io::Error) -> Unchecked {
        Unchecked::Failed(Message::new(|| system_reason(&error)))
    }
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
    pub facts: Option<Facts>,
    /// What compiled it for a GPU, if one checked it.
    pub compiler: Option<GpuCompiler>,
}

/// What the driver says about a compiled kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// Registers per thread.
    pub registers: u32,
    /// Shared memory per block in bytes, for the largest lattice that was checked.
    pub shared_bytes: u32,
    /// Local memory per thread in bytes: arrays with computed indices, and registers that were spilled.
    pub local_bytes: u32,
    /// How many blocks an SM can hold at once.
    pub blocks_per_sm: u32,
    /// Threads per block.
    pub block_threads: u32,
    /// Maximum threads that an SM can hold at once.
    pub max_threads_per_sm: u32,
}

impl Facts {
    /// What decides how many threads an SM holds, and how many those are.
    pub fn sentences(&self) -> Vec<String> {
        let threads = self.blocks_per_sm * self.block_threads;
        let occupancy = 100.0 * f64::from(threads) / f64::from(self.max_threads_per_sm.max(1));
        vec![
            tr!(
                "{registers} registers and {local} B of spilled or local memory per thread",
                registers = self.registers,
                local = self.local_bytes
            ),
            tr!(
                "{shared} B of shared memory per block",
                shared = self.shared_bytes
            ),
            tr!(
                "{blocks} blocks of {threads} threads per SM: occupancy {percent} %",
                blocks = self.blocks_per_sm,
                threads = self.block_threads,
                percent = occupancy.round()
            ),
        ]
    }
}

/// How long a launch may take; whole seconds count.
pub const LAUNCH_LIMIT: Duration = Duration::from_secs(5);

/// How long a process may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(90);

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
        let tools = match machine {
            Machine::Emulator => {
                let found = CppCompiler::find().ok_or(Unchecked::NoCppCompiler)?;
                match CppCompiler::open(found.clone()) {
                    Ok(compiler) => Tools::Emulator(compiler),
                    Err(why) => {
                        let fault = Fault::of_compiler(why)?;
                        return Err(Unchecked::Failed(message!(
                            "{compiler} does not compile the emulator: {why}; set CXX to another C++ compiler",
                            compiler = found.display(),
                            why = fault
                        )));
                    }
                }
            }
            Machine::Gpu(ordinal) => {
                let folder = tempfile::Builder::new()
                    .prefix("lifestreams-kernel-")
                    .tempdir()?;
                Tools::Gpu { ordinal, folder }
            }
        };
        let workshop = Workshop {
            tools,
            child: Arc::new(child),
            process: Mutex::new(None),
        };
        // It gets ready until the first check.
        *workshop.lock() = Some(workshop.start()?);
        Ok(workshop)
    }

    /// The machine.
    pub fn machine(&self) -> Machine {
        match self.tools {
            Tools::Emulator(_) => Machine::Emulator,
            Tools::Gpu { ordinal, .. } => Machine::Gpu(ordinal),
        }
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
        if let Err(fault) = own.check_source() {
            return Ok(Err(Box::new(fault)));
        }
        let (library, lines) = match &self.tools {
            Tools::Gpu { .. } => Default::default(),
            Tools::Emulator(compiler) => match compile(compiler, own, cancel)? {
                Ok(compiled) => compiled,
                Err(fault) => return Ok(Err(Box::new(fault))),
            },
        };
        let request = Request::Check {
            source: own.source.clone(),
            seconds: launch_limit.as_secs().max(1) as u32,
            seed,
        };
        let mut kept = self.lock();
        let mut waiting = kept.take();
        let mut process = match waiting.take_if(|it| it.is_running()) {
            Some(process) => process,
            None => self.start()?,
        };
        let mut ask = |request: &Request, following: &[u8]| {
            let limits = process.limits();
            Ok(match ask(&mut process, request, following, cancel)? {
                Ok((answer, _)) => answer,
                Err(Ended::Cancelled) => return Err(Unchecked::Cancelled),
                // What ends the process is an answer, too.
                Err(Ended::TooLong) => Answer::Wrong(Fault::TooLong {
                    seconds: limits.time.as_secs() as u32,
                    thread: None,
                }),
                Err(Ended::TooMuchMemory) => Answer::Wrong(Fault::TooMuchMemory {
                    bytes: limits.resident,
                }),
                Err(Ended::ByItself(_)) => Answer::Wrong(Fault::Crashed),
            })
        };
        let mut answer = ask(&request, &library);
        if let Ok(Answer::Wrong(Fault::Race {
            case,
            barrier_after,
            ..
        })) = &mut answer
            && !lines.is_empty()
        {
            let case = case.clone();
            let found = ask(&Request::FindBarrier { seed, case, lines }, &[])?;
            if let Answer::Barrier(line) = found {
                *barrier_after = line;
            }
        }
        // A wrong kernel may have spoilt the GPU's context, and any kernel of the emulator its process.
        if !matches!(
            (&self.tools, &answer),
            (Tools::Gpu { .. }, Ok(Answer::Right { .. }))
        ) {
            drop(process);
            // The next one gets ready until the next check, which reports why there is none.
            *kept = self.start().ok();
        } else {
            *kept = Some(process);
        }
        drop(kept);
        match answer? {
            Answer::Right {
                cases,
                compiled,
                facts,
            } => {
                let (code, compiler) = compiled.unzip();
                let stepper = || -> Box<dyn OwnStepper> {
                    Box::new(EmulatedStepper::new(own, library, &self.child))
                };
                let cpu = matches!(self.tools, Tools::Emulator(_)).then(stepper);
                Ok(Ok(Right {
                    cases,
                    kernel: own.kernel(code, cpu),
                    facts,
                    compiler,
                }))
            }
            Answer::Wrong(fault) => Ok(Err(Box::new(fault))),
            Answer::NoCompiler => Err(Unchecked::Failed(message!(
                "no compiler for a GPU found: pip install {}",
                PACKAGE
            ))),
            Answer::Failed(why) => Err(Unchecked::Failed(why.into())),
            Answer::Barrier(_) | Answer::Loaded | Answer::Stepped => Ok(Err(Fault::Crashed.into())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process for checks.
    fn start(&self) -> io::Result<Process> {
        let folder = match &self.tools {
            Tools::Emulator(compiler) => compiler.folder(),
            Tools::Gpu { folder, .. } => folder.path(),
        };
        start(&self.child, folder, self.machine(), ANSWER_LIMIT)
    }
}

/// Compiles a kernel for the emulator, to the bytes of its library and the lines behind which a barrier can
/// be put; or says what is wrong with it.
fn compile(
    compiler: &CppCompiler,
    own: &OwnKernel,
    cancel: &AtomicBool,
) -> Result<Result<(Vec<u8>, Vec<u32>), Fault>, Unchecked> {
    let symbols = [own.symbol().to_owned()];
    // Marks tell lines; where a source does not compile with them, it is compiled without.
    let marked = translate(&own.source, SOURCE_NAME, &symbols, true);
    let mut lines = marked.lines;
    let mut compiled = compiler.library("kernel", &marked.cpp, cancel);
    if matches!(compiled, Err(NotCompiled::Refused(..))) {
        lines.clear();
        let plain = translate(&own.source, SOURCE_NAME, &symbols, false);
        compiled = compiler.library("kernel", &plain.cpp, cancel);
    }
    match compiled {
        Ok(path) => Ok(Ok((fs::read(path)?, lines))),
        Err(NotCompiled::Cancelled) => Err(Unchecked::Cancelled),
        Err(why) => Ok(Err(Fault::of_compiler(why)?)),
    }
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
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().position(|(number, _)| *number == self.number)?;
        Some(idle.remove(at).1)
    }

    /// Lets a process wait for the next call.
    fn keep_idle(&self, process: Process) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut process = started.map_err(failed)?;
        let source = self.source.clone();
        match answer(&mut process, &Request::Load { source }, &self.library)? {
            (Answer::Loaded, _) => Ok(process),
            _ => Err(OwnStepError::Crashed),
        }
    }
}

/// The error of a process that could not be started or asked.
fn failed(error: io::Error) -> OwnStepError {
    tracing::warn!("a process for the user's kernel: {error}");
    OwnStepError::Crashed
}

fn answer(
    process: &mut Process,
    request: &Request,
    following: &[u8],
) -> Result<(Answer, Vec<u8>), OwnStepError> {
    let answered = ask(process, request, following, &AtomicBool::new(false)).map_err(failed)?;
    answered.map_err(|ended| match ended {
        Ended::TooLong => OwnStepError::TooLong,
        Ended::ByItself(_) | Ended::TooMuchMemory | Ended::Cancelled => OwnStepError::Crashed,
    })
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
            sides: (size.width(), size.height()),
            rule: rule.to_string(),
            generations,
            seconds: seconds.min(3600) as u32,
        };
        // A process that fails ends here.
        let stepped = match answer(&mut process, &request, bytemuck::cast_slice(words))? {
            (Answer::Stepped, stepped) => stepped,
            (Answer::Wrong(Fault::TooLong { .. }), _) => return Err(OwnStepError::TooLong),
            _ => return Err(OwnStepError::Crashed),
        };
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
