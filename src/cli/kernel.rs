//! `lifestreams kernel`: writes a kernel of the user's own, and checks it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow};
use serde::Serialize;

use super::failure::{BadArguments, CheckFailed, Interrupted};
use super::options::KernelCommand;
use super::round::write_new;
use super::text::print;
use engine::Kernel;
use exercise::KernelTask;
use lang::tr;
use life::read_regular_file;
use model::InWords;
use model::words::shown;
use own_kernel::{CheckError, CompilerError, Fault, Machine, OwnKernel, Right, Verdict, Workshop};

pub(super) fn main(what: &KernelCommand) -> Result<()> {
    match what {
        KernelCommand::New { file, from } => new(file, from),
        KernelCommand::Check { file, json } => check(file, *json, None),
        KernelCommand::Serve { folder, gpu } => {
            let machine = gpu.map_or(Machine::Emulator, Machine::Gpu);
            Ok(own_kernel::serve(folder, machine)?)
        }
    }
}

fn new(file: &Path, rung: &Kernel) -> Result<()> {
    write_new(file, &own_kernel::skeleton(rung, &file.to_string_lossy()))?;
    print(&tr!(
        "wrote {file}; check it with 'lifestreams kernel check {file}'",
        file = shown(file)
    ))
}

/// What `kernel check --json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    rung: &'static str,
    is_right: bool,
    /// How many lattices were compared, if all are right.
    cases: Option<usize>,
    /// What is wrong, in words.
    wrong: Option<String>,
    /// The compiler's messages, if it refuses the kernel.
    compiler: &'a [CompilerError],
    fault: Option<&'a Fault>,
    /// `emulator`: whose times mean nothing.
    checked_by: &'static str,
}

/// Checks a kernel, which is to solve an exercise if there is one.
///
/// # Errors
/// It is wrong, cannot be read, or there is no compiler.
pub(super) fn check(file: &Path, json: bool, task: Option<&KernelTask>) -> Result<()> {
    // Read once: what the file becomes meanwhile is for the next check.
    let bytes = read_regular_file(file, OwnKernel::MAX_BYTES).map_err(|error| {
        let why = error.in_words();
        BadArguments(tr!(
            "{path} cannot be read: {why}",
            path = shown(file),
            why = why
        ))
    })?;
    let own = OwnKernel::read(bytes)
        .map_err(|error| BadArguments(format!("{}: {}", shown(file), error.in_words())))?;
    if let Some(word) = task.and_then(|task| task.missing(&own.source)) {
        let file = shown(file);
        return Err(CheckFailed(tr!(
            "{file}: it does not use {word}, which the exercise asks for",
            file = file,
            word = word
        ))
        .into());
    }
    let program = std::env::current_exe().context("lifestreams cannot run itself again")?;
    let child = move || {
        let mut command = Command::new(&program);
        command.args(["kernel", "serve"]);
        command
    };
    let workshop =
        Workshop::open(Machine::Emulator, child).map_err(|error| anyhow!(error.in_words()))?;
    let cancel = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&cancel);
    platform::on_signals(move || signalled.store(true, Ordering::Relaxed)).ok();
    let limit = platform::timeout(own_kernel::LAUNCH_LIMIT);
    let verdict = workshop.check(&own, seed(), limit, &cancel);
    let verdict = verdict.map_err(|error| match error {
        CheckError::Cancelled => Interrupted(tr!("the check was interrupted").into()).into(),
        other => anyhow!(other.in_words()),
    })?;
    let name = shown(file).to_string();
    let fault = match &verdict {
        Verdict::Right(_) => None,
        Verdict::Wrong(fault) => Some(&**fault),
    };
    if json {
        let report = Report {
            file: &name,
            rung: own.rung.file,
            is_right: fault.is_none(),
            cases: match verdict {
                Verdict::Right(Right { cases, .. }) => Some(cases),
                Verdict::Wrong(_) => None,
            },
            wrong: fault.map(InWords::in_words),
            compiler: match fault {
                Some(Fault::DoesNotCompile { errors, .. }) => errors,
                _ => &[],
            },
            fault,
            checked_by: "emulator",
        };
        print(&serde_json::to_string(&report)?)?;
    }
    match verdict {
        Verdict::Wrong(fault) => Err(CheckFailed(format!("{name}: {}", fault.in_words())).into()),
        Verdict::Right(_) if json => Ok(()),
        Verdict::Right(Right { cases, .. }) => {
            print(&tr!(
                "{file}: right in all {cases} cases",
                file = name,
                cases = cases
            ))?;
            print(tr!(
                "Checked for exactness only: times mean nothing without a GPU"
            ))
        }
    }
}

/// A number that differs from check to check, so that no kernel is right by the lattices it was tried
/// with.
fn seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
