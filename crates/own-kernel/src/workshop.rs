//! Where kernels are checked: a machine that runs them, and a process of its own.

use std::fmt;
use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use emulator::{CppCompiler, NotCompiled, SOURCE_NAME, translate};
use engine::Kernel;
use engine::kernels::{GpuCode, OwnStepper};
use lang::{Message, message, tr};
use life::system_reason;
use platform::contained::{Ended, Process};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::OwnKernel;
use crate::compilers::GpuCompiler;
use crate::emulated_stepper::EmulatedStepper;
use crate::fault::Fault;
use crate::machine::{Child, EMULATOR_LIMITS, GPU_LIMITS, Machine, command};
use crate::messages::{Answer, Request, ask};

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

/// Why there is no workshop.
#[derive(Debug)]
pub enum NoWorkshop {
    /// The emulator needs a C++ compiler, and none was found.
    NoCppCompiler,
    /// The C++ compiler does not compile the emulator, a program cannot be started, or a file cannot
    /// be written.
    Failed(Message),
}

impl fmt::Display for NoWorkshop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoWorkshop::NoCppCompiler => f.write_str(tr!(
                "no C++ compiler found, which a kernel needs without a GPU: apt-get install g++"
            )),
            NoWorkshop::Failed(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for NoWorkshop {}

impl From<io::Error> for NoWorkshop {
    fn from(error: io::Error) -> NoWorkshop {
        NoWorkshop::Failed(Message::new(|| system_reason(&error)))
    }
}

/// What a check found.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The kernel is right.
    Right(Right),
    /// The first thing that is wrong.
    Wrong(Box<Fault>),
}

/// A kernel that is right.
#[derive(Clone, PartialEq, Debug)]
pub struct Right {
    /// In how many cases it is.
    pub cases: usize,
    /// The kernel, ready to run on the machine that checked it.
    pub kernel: &'static Kernel,
    /// What the driver says about it, if a GPU checked it.
    pub facts: Option<Facts>,
    /// What compiled it for a GPU, if that was done for this check.
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

/// Why a check has no verdict.
#[derive(Debug)]
pub enum CheckError {
    /// The user did not want to wait for it.
    Cancelled,
    /// There is no compiler for the GPU, the GPU cannot be used, a program cannot be started, or a
    /// file cannot be written.
    Failed(Message),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Cancelled => f.write_str(tr!("the check was interrupted")),
            CheckError::Failed(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<io::Error> for CheckError {
    fn from(error: io::Error) -> CheckError {
        CheckError::Failed(Message::new(|| system_reason(&error)))
    }
}

/// How long a launch may take; whole seconds count.
pub const LAUNCH_LIMIT: Duration = Duration::from_secs(5);

impl fmt::Debug for Workshop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.machine();
        f.debug_struct("Workshop")
            .field("machine", &machine)
            .finish_non_exhaustive()
    }
}

impl Workshop {
    /// Prepares a machine. `child` makes a command that calls [`serve`](crate::serve) with what its
    /// last arguments say, which are added: a folder, and the GPU's number if the machine is one.
    ///
    /// # Errors
    /// This computer lacks something.
    pub fn open(
        machine: Machine,
        child: impl Fn() -> Command + Send + Sync + 'static,
    ) -> Result<Workshop, NoWorkshop> {
        let tools = match machine {
            Machine::Emulator => {
                let found = CppCompiler::find().ok_or(NoWorkshop::NoCppCompiler)?;
                match CppCompiler::open(found.clone()) {
                    Ok(compiler) => Tools::Emulator(compiler),
                    Err(why) => {
                        let fault = Fault::of_compiler(why)?;
                        return Err(NoWorkshop::Failed(message!(
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
    ) -> Result<Verdict, CheckError> {
        self.check_with(own, None, seed, launch_limit, cancel)
    }

    /// Checks a kernel again, over other lattices, that was compiled for this GPU before: what passed
    /// once may be wrong later, such as after it was timed. [`Right::kernel`] has the code.
    ///
    /// # Errors
    /// As [`Workshop::check`].
    pub fn check_code(
        &self,
        own: &OwnKernel,
        code: &GpuCode,
        seed: u64,
        launch_limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Verdict, CheckError> {
        self.check_with(own, Some(code.clone()), seed, launch_limit, cancel)
    }

    fn check_with(
        &self,
        own: &OwnKernel,
        code: Option<GpuCode>,
        seed: u64,
        launch_limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Verdict, CheckError> {
        if let Err(fault) = own.check_source() {
            return Ok(Verdict::Wrong(Box::new(fault)));
        }
        let Emulatable { library, lines } = match &self.tools {
            Tools::Gpu { .. } => Emulatable::default(),
            Tools::Emulator(compiler) => match compile(compiler, own, cancel)? {
                Ok(compiled) => compiled,
                Err(fault) => return Ok(Verdict::Wrong(Box::new(fault))),
            },
        };
        let load = Request::Load {
            source: own.source.clone(),
            code,
            seconds: launch_limit.as_secs().max(1) as u32,
        };
        let mut process = self.lock();
        if !process.as_mut().is_some_and(Process::is_running) {
            *process = Some(self.start()?);
        }
        let running = process.as_mut().expect("just started");
        let answer = Checking {
            process: running,
            cancel,
            seed,
        }
        .check(&load, &library, &lines);
        let is_intact = match (&self.tools, &answer) {
            // A kernel may have written anywhere in its process.
            (Tools::Emulator(_), _) | (_, Err(_)) => false,
            (Tools::Gpu { .. }, Ok(Checked::Right { .. })) => true,
            (Tools::Gpu { .. }, Ok(Checked::Wrong(fault))) => fault.leaves_context_intact(),
        };
        if !is_intact {
            // The next one gets ready until the next check, which reports why there is none.
            *process = None;
            *process = self.start().ok();
        }
        drop(process);
        match answer? {
            Checked::Wrong(fault) => Ok(Verdict::Wrong(Box::new(fault))),
            Checked::Right {
                cases,
                code,
                facts,
                compiler,
            } => {
                let stepper = || -> Box<dyn OwnStepper> {
                    let child = Arc::clone(&self.child);
                    Box::new(EmulatedStepper::new(own, library, child))
                };
                let cpu = matches!(self.tools, Tools::Emulator(_)).then(stepper);
                Ok(Verdict::Right(Right {
                    cases,
                    kernel: own.kernel(code, cpu),
                    facts,
                    compiler,
                }))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process for checks.
    fn start(&self) -> io::Result<Process> {
        let (folder, limits) = match &self.tools {
            Tools::Emulator(compiler) => (compiler.folder(), EMULATOR_LIMITS),
            Tools::Gpu { folder, .. } => (folder.path(), GPU_LIMITS),
        };
        Process::answering(command(&self.child, folder, self.machine()), limits)
    }
}

/// A kernel compiled as C++; nothing for a GPU.
#[derive(Default)]
struct Emulatable {
    /// The bytes of its library.
    library: Vec<u8>,
    /// Lines behind which a barrier can be put.
    lines: Vec<u32>,
}

/// Compiles a kernel for the emulator; or says what is wrong with it.
fn compile(
    compiler: &CppCompiler,
    own: &OwnKernel,
    cancel: &AtomicBool,
) -> Result<Result<Emulatable, Fault>, CheckError> {
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
        Ok(path) => Ok(Ok(Emulatable {
            library: fs::read(path)?,
            lines,
        })),
        Err(NotCompiled::Cancelled) => Err(CheckError::Cancelled),
        Err(why) => Ok(Err(Fault::of_compiler(why)?)),
    }
}

/// What a process finds out about a kernel.
enum Checked {
    Right {
        cases: usize,
        code: Option<GpuCode>,
        facts: Option<Facts>,
        compiler: Option<GpuCompiler>,
    },
    Wrong(Fault),
}

/// A process that checks a kernel.
struct Checking<'a> {
    process: &'a mut Process,
    cancel: &'a AtomicBool,
    seed: u64,
}

impl Checking<'_> {
    fn check(
        &mut self,
        load: &Request,
        library: &[u8],
        lines: &[u32],
    ) -> Result<Checked, CheckError> {
        let (code, compiler) = match self.ask(load, library)? {
            Answer::Loaded { code, compiler } => (code, compiler),
            Answer::Wrong(fault) => return Ok(Checked::Wrong(fault)),
            _ => return Ok(Checked::Wrong(Fault::Crashed)),
        };
        let mut fault = match self.ask(&Request::Check { seed: self.seed }, &[])? {
            Answer::Right { cases, facts } => {
                return Ok(Checked::Right {
                    cases,
                    code,
                    facts,
                    compiler,
                });
            }
            Answer::Wrong(fault) => fault,
            _ => Fault::Crashed,
        };
        if let Fault::Race {
            case,
            barrier_after,
            ..
        } = &mut fault
            && !lines.is_empty()
        {
            let find = Request::FindBarrier {
                seed: self.seed,
                case: case.clone(),
                lines: lines.to_vec(),
            };
            if let Answer::Barrier(line) = self.ask(&find, &[])? {
                *barrier_after = line;
            }
        }
        Ok(Checked::Wrong(fault))
    }

    /// The process's answer to a request; what ends the process is an answer, too.
    fn ask(&mut self, request: &Request, following: &[u8]) -> Result<Answer, CheckError> {
        let limits = self.process.limits();
        match ask(self.process, request, following, self.cancel)? {
            Ok((Answer::NoCompiler, _)) => Err(CheckError::Failed(message!(
                "no compiler for a GPU found: pip install {}",
                crate::compilers::PACKAGE
            ))),
            Ok((Answer::NoGpu { call, code }, _)) => Err(CheckError::Failed(message!(
                "the GPU cannot check kernels: {call} fails with error {code}"
            ))),
            Ok((Answer::Failed(why), _)) => Err(io::Error::other(why).into()),
            Ok((answer, _)) => Ok(answer),
            Err(Ended::Cancelled) => Err(CheckError::Cancelled),
            Err(Ended::TooLong) => Ok(Answer::Wrong(Fault::TooLong {
                seconds: limits.time.as_secs() as u32,
                thread: None,
            })),
            Err(Ended::TooMuchMemory) => Ok(Answer::Wrong(Fault::TooMuchMemory {
                bytes: limits.resident,
            })),
            Err(Ended::ByItself(_)) => Ok(Answer::Wrong(Fault::Crashed)),
        }
    }
}
