//! `lifestreams kernel`: writes a kernel of the user's own, and checks it.

mod table;
mod timing;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use serde::Serialize;

use super::failure::{BadArguments, CheckFailed, Interrupted, cancelled, unreadable};
use super::options::{KernelCheckArguments, KernelCommand};
use super::round::write_new;
use super::text::{print, print_json, print_text};
use engine::cuda::{first_device, list_devices};
use engine::kernels::GpuCode;
use engine::{EngineError, Kernel};
use lang::tr;
use lesson::KernelTask;
use life::{read_regular_file, shown};
use session::DeviceChoice;
use table::table;
use timing::Timing;
use ui::code_editor::occupancy_in_words;
use ui::rung_source::unified_diff;
use workshop::{
    CompilerError, Facts, Fault, GpuCompiler, Machine, OwnKernel, PACKAGE, Right, Unchecked,
    Verdict, Workshop,
};

pub(super) fn main(what: &KernelCommand) -> Result<()> {
    match what {
        KernelCommand::New { file, from } => new(file, from),
        KernelCommand::Check(arguments) => check(arguments, None),
        KernelCommand::Serve { folder, gpu } => {
            let machine = gpu.map_or(Machine::Emulator, Machine::Gpu);
            Ok(workshop::serve(folder, machine)?)
        }
        KernelCommand::Time { folder } => timing::serve(folder),
    }
}

fn new(file: &Path, rung: &Kernel) -> Result<()> {
    write_new(file, &workshop::skeleton(rung, &file.to_string_lossy()))?;
    print(&tr!(
        "wrote {file}; check it with 'lifestreams kernel check {file}'",
        file = file.display()
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
    /// `gpu`, or `emulator`, whose times mean nothing.
    checked_by: &'static str,
    /// Whether races and barriers were looked for, in the emulator.
    looked_for_races: bool,
    /// What compiled it for a GPU.
    compiled_by: Option<&'a GpuCompiler>,
    /// What the driver says of it.
    facts: Option<Facts>,
    /// How fast it is beside the rungs.
    timing: Option<&'a Timing>,
    /// What differs from the rung that it began as.
    diff: String,
    /// The PTX, if it was asked for and the compiler made one.
    ptx: Option<&'a str>,
}

/// A check that has ended.
struct Checked {
    own: OwnKernel,
    /// The GPU's number, if one ran it.
    gpu: Option<u32>,
    verdict: Verdict,
    /// Whether races and barriers were looked for, which takes the emulator.
    looks_for_hidden: bool,
    /// If it is right, and a GPU ran it.
    timing: Option<Timing>,
}

/// Reads a kernel's file, and what it declares.
///
/// # Errors
/// The file cannot be read, or declares nothing that can be checked.
pub(super) fn read(file: &Path) -> Result<OwnKernel, BadArguments> {
    let bytes = read_regular_file(file, OwnKernel::MAX_BYTES);
    let bytes = bytes.map_err(|why| unreadable(file, why))?;
    let own = OwnKernel::read(bytes);
    own.map_err(|error| BadArguments(format!("{}: {error}", shown(file))))
}

/// A command that runs a part of `kernel` in a process of its own.
fn child() -> Result<impl Fn(&str) -> Command + Clone + Send + Sync + 'static> {
    let program = std::env::current_exe().context("lifestreams cannot run itself again")?;
    Ok(move |what: &str| {
        let mut command = Command::new(&program);
        command.args(["kernel", what]);
        command
    })
}

fn interrupted() -> Interrupted {
    Interrupted(tr!("the check was interrupted").into())
}

/// Checks a kernel on a machine: its user wants it to run, here and in sessions.
///
/// # Errors
/// There is no compiler for it, or the check was interrupted.
fn judge(own: &OwnKernel, machine: Machine, cancel: &AtomicBool) -> Result<Verdict> {
    workshop::trust(&own.source);
    let serve = child()?;
    let workshop = Workshop::open(machine, move || serve("serve"))?;
    // No kernel is right by the lattices that it was tried with.
    let seed = RandomState::new().build_hasher().finish();
    let limit = platform::timeout(workshop::LAUNCH_LIMIT);
    let verdict = workshop.check(own, seed, limit, cancel);
    verdict.map_err(|error| match error {
        Unchecked::Cancelled => interrupted().into(),
        other => other.into(),
    })
}

/// Looks for what a GPU may hide, in the emulator: races, and barriers that some threads do not reach. `None`
/// if it cannot: there is no C++ compiler, or the kernel uses what only a GPU has.
fn judge_hidden(own: &OwnKernel, cancel: &AtomicBool) -> Result<Option<Verdict>> {
    match judge(own, Machine::Emulator, cancel) {
        Err(why) if matches!(why.downcast_ref(), Some(Unchecked::NoCppCompiler)) => Ok(None),
        Ok(Err(fault)) if fault.is_of_emulator() => Ok(None),
        judged => judged.map(Some),
    }
}

/// Checks a kernel from a file of this name, and gives it ready to run on the device that will be opened.
///
/// # Errors
/// It is wrong, or cannot be checked here.
pub(super) fn compile(
    own: &OwnKernel,
    file: String,
    device: DeviceChoice,
) -> Result<&'static Kernel> {
    let machine = match device {
        DeviceChoice::CudaOrdinal(ordinal) => Machine::Gpu(ordinal),
        DeviceChoice::Cuda => Machine::Gpu(0),
        DeviceChoice::Auto if first_device().is_ok() => Machine::Gpu(0),
        DeviceChoice::Auto | DeviceChoice::Cpu | DeviceChoice::Recorded => Machine::Emulator,
    };
    match judge(own, machine, &cancelled())? {
        Ok(right) => Ok(right.kernel),
        Err(fault) => Err(CheckFailed(format!("{file}: {fault}")).into()),
    }
}

/// Checks a kernel, which is to solve an exercise if there is one.
///
/// # Errors
/// It is wrong, cannot be read, or there is no compiler.
pub(super) fn check(arguments: &KernelCheckArguments, task: Option<&KernelTask>) -> Result<()> {
    let file = &arguments.file;
    let own = read(file)?; // once: what the file becomes meanwhile is for the next check
    if let Some(word) = task.and_then(|task| task.missing(&own.source)) {
        let file = file.display();
        return Err(CheckFailed(tr!(
            "{file}: it does not use {word}, which the exercise asks for"
        ))
        .into());
    }
    let checked = run_check(own, arguments)?;
    report(&checked, arguments)?;
    let slower = task
        .and_then(|task| task.faster_than)
        .zip(checked.timing.as_ref())
        .and_then(|(rung, timing)| timing.is_not_faster_than(rung));
    match slower {
        None => Ok(()),
        Some(rate) => Err(CheckFailed(tr!(
            "{file}: right, but not faster than {rung}: {factor}× its rate with {work} cells",
            file = file.display(),
            rung = &rate.kernel,
            factor = format!("{:.2}", rate.own_is_faster_by),
            work = rate.work
        ))
        .into()),
    }
}

/// Checks a kernel, and times it if it is right and a GPU runs it.
fn run_check(own: OwnKernel, arguments: &KernelCheckArguments) -> Result<Checked> {
    let gpu = choose_gpu(arguments.device)?;
    if gpu.is_none() && arguments.ptx {
        let why = tr!("--ptx needs a GPU and a compiler for it");
        return Err(BadArguments(why.into()).into());
    }
    let cancel = cancelled();
    let mut verdict = judge(&own, gpu.map_or(Machine::Emulator, Machine::Gpu), &cancel)?;
    let mut looks_for_hidden = true;
    if let (Some(_), Ok(_)) = (gpu, &verdict) {
        match judge_hidden(&own, &cancel)? {
            Some(wrong @ Err(_)) => verdict = wrong,
            Some(Ok(_)) => {}
            None => looks_for_hidden = false,
        }
    }
    let mut timing = None;
    if let (Some(gpu), Ok(right)) = (gpu, &verdict)
        && let Some(code) = compiled(right)
    {
        let timed = timing::time(&own, code, gpu, child()?("time"), &cancel)?;
        match timed.ok_or_else(interrupted)? {
            Ok(rates) => timing = Some(rates),
            Err(fault) => verdict = Err(Box::new(fault)),
        }
    }
    Ok(Checked {
        own,
        gpu,
        verdict,
        looks_for_hidden,
        timing,
    })
}

/// What a GPU runs of a kernel.
fn compiled(right: &Right) -> Option<&'static GpuCode> {
    right.kernel.own.as_ref()?.gpu.as_ref()
}

/// The number of the GPU that checks; `None` if the emulator does.
fn choose_gpu(device: DeviceChoice) -> Result<Option<u32>> {
    let ordinal = match device {
        DeviceChoice::Cpu | DeviceChoice::Recorded => return Ok(None),
        DeviceChoice::Auto => {
            let is_possible = first_device().is_ok() && GpuCompiler::find().is_some();
            return Ok(is_possible.then_some(0));
        }
        DeviceChoice::Cuda => 0,
        DeviceChoice::CudaOrdinal(ordinal) => ordinal,
    };
    let present = list_devices()?.len() as u32;
    if ordinal >= present {
        return Err(EngineError::no_such_device(ordinal, present).into());
    }
    Ok(Some(ordinal))
}

/// Prints what a check found.
///
/// # Errors
/// The kernel is wrong.
fn report(checked: &Checked, arguments: &KernelCheckArguments) -> Result<()> {
    let name = shown(&arguments.file).to_string();
    let (right, fault) = match &checked.verdict {
        Ok(right) => (Some(right), None),
        Err(fault) => (None, Some(&**fault)),
    };
    let rung = checked.own.rung;
    let was = workshop::skeleton(rung, &arguments.file.to_string_lossy());
    let diff = unified_diff((rung.file, &was), (&name, &checked.own.source));
    let ptx = right.and_then(compiled).and_then(|code| match code {
        GpuCode::Ptx(ptx) => Some(&ptx[..]),
        GpuCode::Cubin(_) => None,
    });
    if arguments.json {
        let report = Report {
            file: &name,
            rung: rung.file,
            is_right: fault.is_none(),
            cases: right.map(|right| right.cases),
            wrong: fault.map(lang::english),
            compiler: match fault {
                Some(Fault::DoesNotCompile { errors, .. }) => errors,
                _ => &[],
            },
            fault,
            checked_by: checked.gpu.map_or("emulator", |_| "gpu"),
            looked_for_races: checked.looks_for_hidden,
            compiled_by: right.and_then(|right| right.compiler.as_ref()),
            facts: right.and_then(|right| right.facts),
            timing: checked.timing.as_ref(),
            diff,
            ptx: ptx.filter(|_| arguments.ptx),
        };
        print_json(&report)?;
    } else {
        if arguments.diff {
            print_text(&diff)?;
        }
        if let Some(right) = right {
            print_right(right, checked, arguments, &name)?;
        }
    }
    match fault {
        Some(fault) => Err(CheckFailed(format!("{name}: {fault}")).into()),
        None => Ok(()),
    }
}

/// Prints what is known of a kernel that is right.
fn print_right(
    right: &Right,
    checked: &Checked,
    arguments: &KernelCheckArguments,
    name: &str,
) -> Result<()> {
    print(&tr!(
        "{file}: right in all {cases} cases",
        file = name,
        cases = right.cases
    ))?;
    if let Some(facts) = right.facts {
        let lines = occupancy_in_words(&facts);
        lines.iter().try_for_each(|line| print(line))?;
    }
    if !checked.looks_for_hidden {
        print(tr!(
            "races and barriers were not looked for: that takes a C++ compiler (apt-get install g++), and a kernel that compiles as C++"
        ))?;
    }
    let Some(timing) = &checked.timing else {
        return print(&not_timed(arguments.device));
    };
    table(timing, name)
        .iter()
        .try_for_each(|line| print(line))?;
    print(&tr!(
        "{rule}, median of {runs} runs, each kernel in turn; in parentheses the factor by which {file} is faster",
        rule = &timing.rule,
        runs = timing::RUNS,
        file = name
    ))?;
    if arguments.ptx {
        match compiled(right) {
            Some(GpuCode::Ptx(ptx)) => print_text(ptx)?,
            _ => print(tr!(
                "No PTX: the driver is older than the compiler, which made machine code"
            ))?,
        }
    }
    Ok(())
}

/// Why a kernel that is right was not timed.
fn not_timed(device: DeviceChoice) -> String {
    let exactness = tr!("Checked for exactness only: times mean nothing without a GPU");
    if device == DeviceChoice::Auto && first_device().is_ok() {
        let package = PACKAGE;
        return tr!("{exactness}; there is a GPU, but no compiler for it: pip install {package}");
    }
    exactness.into()
}
