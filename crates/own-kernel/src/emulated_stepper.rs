//! Steps lattices by a kernel of a user's own in the emulator, in processes of its own.

use std::env;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use engine::kernels::{OwnStepError, OwnStepper};
use life::{Rule, Size};
use platform::contained::{Ended, Limits, Process};

use crate::OwnKernel;
use crate::fault::Fault;
use crate::machine::{Child, EMULATOR_LIMITS, Machine, command};
use crate::messages::{Answer, Request, ask};

/// A kernel in the emulator that steps lattices of the CPU engine. Each thread that calls it has a process,
/// which stays for the next call unless the kernel fails in it, or two newer kernels have come.
pub(crate) struct EmulatedStepper {
    source: String,
    library: Vec<u8>,
    child: Child,
    /// Numbers the kernels in the order in which they were made.
    number: u64,
}

/// The processes that wait for a call, each with the number of its kernel. They are not the kernel's own:
/// kernels stay in memory until the program ends.
static IDLE: Mutex<Vec<(u64, Process)>> = Mutex::new(Vec::new());

/// How long a launch may take besides the time for its cells.
const LAUNCH_SECONDS: u64 = 5;

/// Cells of a generation that any kernel steps in a second, on a slow machine.
const MIN_CELLS_PER_SECOND: u64 = 500_000;

impl EmulatedStepper {
    /// Takes a kernel and its library's bytes.
    pub(crate) fn new(own: &OwnKernel, library: Vec<u8>, child: Child) -> EmulatedStepper {
        static MADE: AtomicU64 = AtomicU64::new(0);
        EmulatedStepper {
            source: own.source.clone(),
            library,
            child,
            number: MADE.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// A process with the kernel that waits for a call.
    fn take_idle(&self) -> Option<Process> {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().position(|(number, _)| *number == self.number)?;
        Some(idle.swap_remove(at).1)
    }

    /// Lets a process wait for the next call. Those of all kernels but the newest two end: two versions are
    /// compared with each other.
    fn keep_idle(&self, process: Process) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((self.number, process));
        let newest = idle.iter().map(|(number, _)| *number).max();
        let (old, kept) = std::mem::take(&mut *idle)
            .into_iter()
            .partition(|(number, _)| Some(number + 1) < newest);
        *idle = kept;
        drop(idle);
        drop::<Vec<_>>(old); // which waits for their ends
    }

    /// Starts a process with the kernel.
    fn start(&self) -> Result<Process, OwnStepError> {
        let limits = Limits {
            // The child limits launches; what it does besides is quick.
            time: Duration::from_secs(3600),
            ..EMULATOR_LIMITS
        };
        // The child's files are gone once it has loaded them.
        let command = command(&self.child, &env::temp_dir(), Machine::Emulator);
        let mut process = Process::answering(command, limits).map_err(failed)?;
        let load = Request::Load {
            source: self.source.clone(),
            code: None,
            seconds: LAUNCH_SECONDS as u32,
        };
        match answer(&mut process, &load, &self.library)? {
            (Answer::Loaded { .. }, _) => Ok(process),
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
        let mut process = match self.take_idle() {
            Some(process) => process,
            None => self.start()?,
        };
        let cells = size.cells().saturating_mul(generations.into());
        let request = Request::Step {
            sides: (size.width(), size.height()),
            rule: rule.to_string(),
            generations,
            seconds: (LAUNCH_SECONDS + cells / MIN_CELLS_PER_SECOND).min(3600) as u32,
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
