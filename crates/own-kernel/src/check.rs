//! Whether a kernel is right: it is compiled, and a child process runs it in the emulator.

use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::child::{ANSWER, Answer, REQUEST, Request};
use crate::fault::Fault;
use crate::{Case, OwnKernel};
use emulator::{NotCompiled, SOURCE_NAME, Workshop, translate};
use platform::contained::{self, Ended, Limits};

/// What a check found.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The kernel is right in this many cases.
    Right {
        /// The number of cases.
        cases: usize,
    },
    /// The first thing that is wrong.
    Wrong(Box<Fault>),
}

/// Why a check has no verdict.
#[derive(Debug)]
pub enum CheckError {
    /// The user did not want to wait for it.
    Cancelled,
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

/// Checks a kernel over lattices drawn from `seed`. `child` is a command that calls
/// [`serve`](crate::serve) with the folder that is its last argument. `launch_limit` is
/// [`LAUNCH_LIMIT`], or less where a test does not want to wait.
///
/// # Errors
/// The check was cancelled, or this machine lacks something.
pub fn check(
    own: &OwnKernel,
    workshop: &Workshop,
    child: &dyn Fn() -> Command,
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
    let mut compiled = workshop.library("kernel", &marked.cpp, cancel);
    if matches!(compiled, Err(NotCompiled::Refused(..))) {
        lines.clear();
        let plain = translate(&own.source, SOURCE_NAME, &symbols, false);
        compiled = workshop.library("kernel", &plain.cpp, cancel);
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
    let mut fault = match ask(&request, workshop, child, cancel)? {
        Answer::Right(cases) => return Ok(Verdict::Right { cases }),
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
        if let Answer::Barrier(line) = ask(&request, workshop, child, cancel)? {
            *barrier_after = line;
        }
    }
    Ok(Verdict::Wrong(Box::new(fault)))
}

/// Has a child process answer a request.
fn ask(
    request: &Request,
    workshop: &Workshop,
    child: &dyn Fn() -> Command,
    cancel: &AtomicBool,
) -> Result<Answer, CheckError> {
    let folder = workshop.folder();
    let answer = folder.join(ANSWER);
    match fs::remove_file(&answer) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let json = serde_json::to_vec(request).map_err(io::Error::other)?;
    fs::write(folder.join(REQUEST), json)?;
    let mut command = child();
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
