//! Where kernels are checked: a machine that runs them, and a process of its own.

use std::fmt;
use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::child::{ANSWER, Answer, REQUEST, Request};
use crate::fault::Fault;
use crate::{Case, OwnKernel};
use emulator::{CppCompiler, NotCompiled, SOURCE_NAME, translate};
use engine::Kernel;
use engine::kernels::OwnCode;
use platform::contained::{self, Ended, Limits};

/// What runs the kernels of a [`Workshop`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// The GPU of this number.
    Gpu(u32),
    /// This computer's CPU, which runs the kernel compiled as C++. It finds races, too, but its times
    /// mean nothing.
    Emulator,
}

/// A machine that runs kernels, and the process in which it does; opened once, for any number of checks.
pub struct Workshop {
    compiler: CppCompiler,
    child: Box<dyn Fn() -> Command + Send + Sync>,
}

/// Why there is no workshop.
#[derive(Debug)]
pub enum NoWorkshop {
    /// The emulator needs a C++ compiler, and none was found.
    NoCppCompiler,
    /// A program cannot be started, or a file cannot be written.
    Io(io::Error),
}

impl From<io::Error> for NoWorkshop {
    fn from(error: io::Error) -> NoWorkshop {
        NoWorkshop::Io(error)
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

/// Why a check has no verdict.
#[derive(Debug)]
pub enum CheckError {
    /// The user did not want to wait for it.
    Cancelled,
    /// There is no compiler for the GPU.
    NoCompiler,
    /// The GPU cannot be used: a call of the driver failed before the kernel ran.
    Gpu {
        /// The driver's function.
        call: String,
        /// The driver's error code.
        code: u32,
    },
    /// A program cannot be started, or a file cannot be written.
    Io(io::Error),
}

impl From<io::Error> for CheckError {
    fn from(error: io::Error) -> CheckError {
        CheckError::Io(error)
    }
}

/// How long a launch may take; whole seconds count.
pub const LAUNCH_LIMIT: Duration = Duration::from_secs(5);

const LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    resident: 1 << 30,
    address_space: Some(4 << 30),
};

impl fmt::Debug for Workshop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workshop").finish_non_exhaustive()
    }
}

impl Workshop {
    /// Prepares a machine. `child` makes a command that calls [`serve`](crate::serve) with the folder
    /// that is its last argument, which is added.
    ///
    /// # Errors
    /// This computer lacks something.
    pub fn open(
        machine: Machine,
        child: impl Fn() -> Command + Send + Sync + 'static,
    ) -> Result<Workshop, NoWorkshop> {
        if let Machine::Gpu(_) = machine {
            return Err(io::Error::from(io::ErrorKind::Unsupported).into());
        }
        Ok(Workshop {
            compiler: CppCompiler::open()?.ok_or(NoWorkshop::NoCppCompiler)?,
            child: Box::new(child),
        })
    }

    /// Checks a kernel over lattices drawn from `seed`. `launch_limit` is
    /// [`LAUNCH_LIMIT`], or less where a test does not want to wait.
    ///
    /// # Errors
    /// The check was cancelled, or this machine lacks something.
    pub fn check(
        &self,
        own: &OwnKernel,
        seed: u64,
        launch_limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Verdict, CheckError> {
        if let Err(fault) = own.check_symbol() {
            return Ok(Verdict::Wrong(Box::new(fault)));
        }
        let symbols = [own.symbol().to_owned()];
        // Marks tell lines; where a source does not compile with them, it is compiled without.
        let marked = translate(&own.source, SOURCE_NAME, &symbols, true);
        let mut lines = marked.lines;
        let mut compiled = self.compiler.library("kernel", &marked.cpp, cancel);
        if matches!(compiled, Err(NotCompiled::Refused(..))) {
            lines.clear();
            let plain = translate(&own.source, SOURCE_NAME, &symbols, false);
            compiled = self.compiler.library("kernel", &plain.cpp, cancel);
        }
        let wrong = match compiled {
            Ok(_) => None,
            Err(NotCompiled::Refused(errors, more)) => Some(Fault::DoesNotCompile { errors, more }),
            Err(NotCompiled::TooLong(seconds)) => Some(Fault::CompilesTooLong { seconds }),
            Err(NotCompiled::Cancelled) => return Err(CheckError::Cancelled),
            Err(NotCompiled::Failed(error)) => return Err(error.into()),
        };
        if let Some(fault) = wrong {
            return Ok(Verdict::Wrong(Box::new(fault)));
        }
        let mut request = Request {
            source: own.source.clone(),
            library: "kernel.so".into(),
            seed,
            seconds: launch_limit.as_secs().max(1) as u32,
            lines: None,
        };
        let mut fault = match self.ask(&request, cancel)? {
            Answer::Right(cases) => return Ok(Verdict::Right(right(own, cases))),
            Answer::Wrong(fault) => fault,
            Answer::Barrier(_) => Fault::Crashed,
        };
        if let Fault::Race {
            case,
            barrier_after,
            ..
        } = &mut fault
        {
            let case: Case = case.clone();
            request.lines = Some((case, lines));
            if let Answer::Barrier(line) = self.ask(&request, cancel)? {
                *barrier_after = line;
            }
        }
        Ok(Verdict::Wrong(Box::new(fault)))
    }

    /// Has a child process answer a request.
    fn ask(&self, request: &Request, cancel: &AtomicBool) -> Result<Answer, CheckError> {
        let folder = self.compiler.folder();
        let answer = folder.join(ANSWER);
        match fs::remove_file(&answer) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let json = serde_json::to_vec(request).map_err(io::Error::other)?;
        fs::write(folder.join(REQUEST), json)?;
        let mut command = (self.child)();
        command.arg(folder).env("TMPDIR", folder);
        let limits = LIMITS;
        let (ended, _) = contained::run(command, limits, cancel)?;
        Ok(match ended {
            Ended::Cancelled => return Err(CheckError::Cancelled),
            Ended::TooLong => Answer::Wrong(Fault::TooLong {
                seconds: limits.time.as_secs() as u32,
                thread: None,
            }),
            Ended::TooMuchMemory => Answer::Wrong(Fault::TooMuchMemory {
                bytes: limits.resident,
            }),
            Ended::ByItself(_) => fs::read(&answer)
                .ok()
                .and_then(|answer| serde_json::from_slice(&answer).ok())
                .unwrap_or(Answer::Wrong(Fault::Crashed)),
        })
    }
}

/// The kernel of a user's own, to run.
fn right(own: &OwnKernel, cases: usize) -> Right {
    let code = OwnCode {
        rung: own.rung,
        source: own.source.clone(),
        gpu: None,
        cpu: None,
    };
    Right {
        cases,
        kernel: Kernel::own(code, own.block),
        facts: None,
    }
}
