//! `lifestreams kernel`: writes a kernel of the user's own, checks it, and times it on a GPU beside the
//! rungs: the ladder's works, in a process of its own.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::bench::ladder::{Case, PreparedCase, left_out, works};
use super::bench::measure::spread;
use super::options::{KernelCheckArguments, KernelCommand};
use super::text::{
    BadArguments, CheckFailed, cancelled, columns, is_wrong, pivot, print, print_json, unreadable,
    write_new,
};
use engine::cuda::{driver_version, first_device, list_devices};
use engine::kernels::{KERNELS, Kernel, find};
use engine::{DeviceInfo, EngineError};
use lang::numbers::digits;
use lang::tr;
use lesson::KernelTask;
use life::{Rule, read_regular_file, shown};
use platform::contained::{Limits, Process};
use session::DeviceChoice;
use session::instances::open_engine;
use ui::code_editor::occupancy_in_words;
use ui::ladder::{LeftOut, Workload};
use workshop::{
    Failure, Fault, GpuCompiler, Machine, OwnKernel, PACKAGE, Right, Unchecked, Verdict, Workshop,
    skeleton,
};

/// A command that runs this program with these arguments.
pub(super) fn itself(arguments: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| "lifestreams".into());
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

pub(super) fn main(what: &KernelCommand) -> Result<()> {
    match what {
        KernelCommand::New { file, from } => {
            write_new(file, &skeleton(from, &file.to_string_lossy()))?;
            print(&tr!(
                "wrote {file}; check it with 'lifestreams kernel check {file}'",
                file = file.display()
            ))
        }
        KernelCommand::Check(arguments) => check(arguments, None),
        KernelCommand::Serve { folder, gpu } => {
            let machine = gpu.map_or(Machine::Emulator, Machine::Gpu);
            Ok(workshop::serve(folder, machine)?)
        }
        KernelCommand::Time { gpu } => serve_timing(*gpu),
    }
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

/// Checks a kernel on a GPU, or in the emulator: its user wants it to run, here and in sessions.
///
/// # Errors
/// There is no compiler for it, or the check was interrupted.
fn judge(own: &OwnKernel, gpu: Option<u32>, cancel: &AtomicBool) -> Result<Verdict> {
    workshop::trust(&own.source);
    let machine = gpu.map_or(Machine::Emulator, Machine::Gpu);
    let workshop = Workshop::open(machine, || itself(&["kernel", "serve"]))?;
    // No kernel is right by the lattices that it was tried with.
    let seed = RandomState::new().build_hasher().finish();
    let limit = platform::timeout(workshop::LAUNCH_LIMIT);
    Ok(workshop.check(own, seed, limit, cancel)?)
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
    match judge(own, choose_gpu(device, || true)?, &cancelled())? {
        Ok(right) => Ok(right.kernel),
        Err(fault) => Err(CheckFailed(format!("{file}: {fault}")).into()),
    }
}

/// The number of the GPU that checks; `None` if the emulator does, also where there is a choice and a GPU
/// could not.
fn choose_gpu(device: DeviceChoice, can_check: fn() -> bool) -> Result<Option<u32>> {
    let ordinal = match device {
        DeviceChoice::Cpu | DeviceChoice::Recorded => return Ok(None),
        DeviceChoice::Auto => {
            return Ok((first_device().is_ok() && can_check()).then_some(0));
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

/// The number of the GPU that checks and times; `None` if the emulator checks.
pub(super) fn gpu_that_times(device: DeviceChoice) -> Result<Option<u32>> {
    choose_gpu(device, || GpuCompiler::find().is_some())
}

/// Checks a kernel, which is to solve an exercise if there is one; times it if it is right and a GPU runs it;
/// prints what was found, of an exercise what is wrong only if that is asked for.
///
/// # Errors
/// It is wrong, cannot be read, or there is no compiler.
pub(super) fn check(
    arguments: &KernelCheckArguments,
    task: Option<(&KernelTask, bool)>,
) -> Result<()> {
    let name = shown(&arguments.file).to_string();
    let own = read(&arguments.file)?; // once: what the file becomes meanwhile is for the next check
    if let Some(word) = task.and_then(|(task, _)| task.missing(&own.source)) {
        let why = tr!(
            "{file}: it does not use {word}, which the exercise asks for",
            file = name
        );
        return Err(CheckFailed(why).into());
    }
    let gpu = gpu_that_times(arguments.device)?;
    let cancel = cancelled();
    let mut verdict = judge(&own, gpu, &cancel)?;
    let (mut looked_for_races, mut timing) = (true, None);
    if let (Some(gpu), Ok(_)) = (gpu, &verdict) {
        // What a GPU may hide, races and barriers that some threads do not reach, is looked for in the
        // emulator: if there is a C++ compiler, and the kernel uses nothing that only a GPU has.
        let hidden = match judge(&own, None, &cancel) {
            Err(why) if matches!(why.downcast_ref(), Some(Unchecked::NoCppCompiler)) => None,
            Ok(Err(fault)) if fault.is_of_emulator() => None,
            judged => Some(judged?),
        };
        looked_for_races = hidden.is_some();
        if let Some(wrong @ Err(_)) = hidden {
            verdict = wrong;
        } else {
            let timed = time(&own, gpu, &cancel)?;
            timing = Some(timed.map_err(|why| CheckFailed(format!("{name}: {why}")))?);
        }
    }
    let (right, fault) = (verdict.as_ref().ok(), verdict.as_ref().err());
    let fault = fault.map(|fault| &**fault);
    if arguments.json {
        print_json(&json!({
            "file": name,
            "rung": own.rung.file,
            "is_right": fault.is_none(),
            // How many lattices were compared, if all are right.
            "cases": right.map(|right| right.cases),
            "wrong": fault.map(lang::english),
            // The compiler's messages, if it refuses the kernel.
            "compiler": match fault {
                Some(Fault::DoesNotCompile { errors, .. }) => &errors[..],
                _ => &[],
            },
            "fault": fault,
            "checked_by": gpu.map_or("emulator", |_| "gpu"),
            "looked_for_races": looked_for_races,
            "compiled_by": right.and_then(|right| right.compiler.as_ref()),
            "facts": right.and_then(|right| right.facts),
            "timing": timing,
        }))?;
    } else {
        if let Some(right) = right {
            print_right(right, &name, looked_for_races)?;
            match &timing {
                Some(timing) => print_timing(timing, &name)?,
                None => print(&not_timed(arguments.device))?,
            }
        }
    }
    if let Some(fault) = fault {
        let says_why = task.is_none_or(|(_, hint)| hint) || arguments.json;
        if !(says_why || matches!(fault, Fault::DoesNotCompile { .. })) {
            return Err(is_wrong(&arguments.file));
        }
        return Err(CheckFailed(format!("{name}: {fault}")).into());
    }
    let rung = task
        .and_then(|(task, _)| task.faster_than)
        .zip(timing.as_ref());
    match rung.and_then(|(rung, timing)| not_faster_than(timing, rung)) {
        None => Ok(()),
        Some(rate) => Err(CheckFailed(tr!(
            "{file}: right, but not faster than {rung}: {factor}× its rate with {work} cells",
            file = name,
            rung = &rate.kernel,
            factor = format!("{:.2}", rate.own_is_faster_by),
            work = rate.work
        ))
        .into()),
    }
}

/// Prints what is known of a kernel that is right.
fn print_right(right: &Right, name: &str, looked_for_races: bool) -> Result<()> {
    print(&tr!(
        "{file}: right in all {cases} cases",
        file = name,
        cases = right.cases
    ))?;
    if let Some(facts) = right.facts {
        let lines = occupancy_in_words(&facts);
        lines.iter().try_for_each(|line| print(line))?;
    }
    if !looked_for_races {
        print(tr!(
            "races and barriers were not looked for: that takes a C++ compiler (apt-get install g++), and a kernel that compiles as C++"
        ))?;
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

fn print_timing(timing: &Timing, name: &str) -> Result<()> {
    table(timing, name)
        .iter()
        .try_for_each(|line| print(line))?;
    print(&tr!(
        "{rule}, median of {runs} runs, each kernel in turn; in parentheses the factor by which {file} is faster",
        rule = &timing.rule,
        runs = RUNS,
        file = name
    ))
}

/// A line for each kernel, the user's own first: its rate with each work in Gcell/s, and the factor by
/// which the user's own is faster.
fn table(timing: &Timing, own: &str) -> Vec<String> {
    let cells = timing.rates.iter().map(|rate| {
        let name = match find(&rate.kernel) {
            Some(rung) if rate.recompiled => tr!("{rung}, recompiled", rung = rung.file),
            Some(rung) => rung.file.to_owned(),
            None => own.to_owned(),
        };
        let mut cell = digits(rate.median / 1e9);
        if rate.kernel != Kernel::OWN {
            cell += &format!(" ({:.2}×)", rate.own_is_faster_by);
        }
        [name, rate.work.to_string(), cell]
    });
    columns(&pivot("Gcell/s", cells))
}

/// Runs of each kernel, in turn with those of the others.
const RUNS: usize = 5;

/// How long a run takes at least.
const RUN: Duration = Duration::from_millis(50);

/// The longest that a kernel's runs with one work may be expected to take, in seconds.
const MAX_SECONDS: f64 = 3.0;

/// With more cells than this, the kernel and its rung alone are timed: the others would take long.
const MANY_CELLS: f64 = (1u64 << 30) as f64;

/// Bytes of a GPU's memory that a kernel takes besides its lattices: those of a context.
const CONTEXT_BYTES: f64 = (512u64 << 20) as f64;

const LIMITS: Limits = Limits {
    time: Duration::from_secs(120),
    resident: 8 << 30,
    address_space: None,
};

/// What the child process answers; of what went wrong, a sentence.
type Answer = Result<Timing, String>;

/// The rates of a kernel and of the rungs.
#[derive(Serialize, Deserialize)]
struct Timing {
    /// The rule that was stepped.
    rule: String,
    /// The rates, work by work; the kernel's own comes first, then those of its rung: compiled as the
    /// kernel was, and as it comes with the program.
    rates: Vec<KernelRate>,
    /// What was not measured, and why.
    left_out: Vec<LeftOut>,
}

/// The rate of a kernel with some work.
#[derive(Serialize, Deserialize)]
struct KernelRate {
    /// The kernel's name; [`Kernel::OWN`] is the user's.
    kernel: String,
    /// Whether it is a rung that was compiled by what compiled the user's kernel.
    recompiled: bool,
    work: Workload,
    /// Cells times generations per second: the median of the runs.
    median: f64,
    lowest: f64,
    highest: f64,
    /// The median of the factors between the kernel's own runs and this one's, each with the run beside
    /// it.
    own_is_faster_by: f64,
}

/// The rung's rate with the last work that both were timed with, if the kernel is not faster there. What
/// the same compiler made of the rung counts, if that was timed.
fn not_faster_than<'a>(timing: &'a Timing, rung: &str) -> Option<&'a KernelRate> {
    let is_rung = |rate: &&KernelRate| {
        find(&rate.kernel).is_some_and(|kernel| kernel.file == rung || kernel.name == rung)
    };
    let mut rates = timing.rates.iter().filter(is_rung);
    let recompiled = rates.clone().rfind(|rate| rate.recompiled);
    let last = recompiled.or_else(|| rates.next_back())?;
    (last.own_is_faster_by <= 1.0).then_some(last)
}

/// Times a kernel that is right, in a child process, which gets its source as a line of JSON and answers so.
///
/// # Errors
/// The process cannot be started, or was cancelled.
fn time(own: &OwnKernel, gpu: u32, cancel: &AtomicBool) -> Result<Answer> {
    let source = serde_json::to_string(&own.source)? + "\n";
    let command = itself(&["kernel", "time", &gpu.to_string()]);
    let answer = Process::answering(command, LIMITS)?.ask(cancel, |input, output| {
        input.write_all(source.as_bytes())?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    })?;
    answer.or_else(|ended| match Failure::of(ended, LIMITS) {
        Failure::Wrong(fault) => Ok(Err(fault.to_string())),
        Failure::Unchecked(why) => Err(why.into()),
    })
}

/// Answers a request over standard input and output, in this process, which should end afterwards.
fn serve_timing(gpu: u32) -> Result<()> {
    let mut source = String::new();
    std::io::stdin().read_line(&mut source)?;
    let timed = timed(serde_json::from_str(&source)?, gpu);
    let answer: Answer = timed.map_err(|error| format!("{error:#}"));
    print_json(&answer)
}

fn timed(source: String, gpu: u32) -> Result<Timing> {
    let own = OwnKernel::read(source.into_bytes())?;
    let rung = OwnKernel::read(skeleton(own.rung, "rung.cu").into_bytes())?;
    let device = DeviceChoice::CudaOrdinal(gpu);
    let info = open_engine(device)?.devices()[0].clone();
    let rule = match &own.rules {
        Some(rules) if !rules.contains(&Rule::LIFE) => rules[0],
        _ => Rule::LIFE,
    };
    // Between the rung as it is compiled here and a kernel that began as its copy the source alone differs.
    let compiled = [&own, &rung].map(|own| {
        let code = GpuCompiler::find()?.compile(&own.source, info.capability?, driver_version());
        Some(own.kernel(Some(code.ok()?), None))
    });
    let kernels: Option<Vec<_>> = compiled.into_iter().collect();
    let kernels = kernels.context("it does not compile any more")?;
    measure(&kernels, own.rung, rule, device, &info, false)
}

/// Measures a kernel, which may be followed by its rung as it is compiled here, and the rungs.
///
/// # Errors
/// The kernel fails, or its cells are not those of the rungs, also after the timing.
fn measure(
    kernels: &[&'static Kernel],
    rung: &'static Kernel,
    rule: Rule,
    device: DeviceChoice,
    info: &DeviceInfo,
    small: bool,
) -> Result<Timing> {
    let mut missing = Vec::new();
    let others = KERNELS.iter().filter(|kernel| *kernel != rung);
    let (own, few) = (kernels[0], kernels.len() + 1);
    let all = kernels.iter().copied().chain([rung]).chain(others);
    let kernels: Vec<&'static Kernel> = all.collect();
    let mut rates: Vec<KernelRate> = Vec::new();
    // Cells per second of the work before.
    let mut expected = vec![None; kernels.len()];
    for work in works(info.capability.is_some(), small) {
        let mut prepared: Vec<(usize, PreparedCase)> = Vec::new();
        let mut bytes = 0.0;
        let count = if work.cells() > MANY_CELLS {
            few
        } else {
            kernels.len()
        };
        for (place, &kernel) in kernels[..count].iter().enumerate() {
            let case = Case {
                kernel,
                work,
                device,
                run: if small { RUN / 50 } else { RUN },
                max_seconds: MAX_SECONDS,
            };
            let skip = case.reason_to_skip(info, bytes, expected[place])?;
            let is_skipped = skip.is_some();
            let case_prepared = skip.map_or_else(|| case.prepare(rule), |why| bail!(why));
            match case_prepared {
                Ok(ready) => {
                    prepared.push((place, ready));
                    bytes += case.memory() + CONTEXT_BYTES;
                }
                Err(error) if kernel == own && !is_skipped => return Err(error),
                Err(error) => missing.push(left_out(kernel.name, Some(work), &error)),
            }
            // Without the kernel itself there is nothing to compare.
            if prepared.is_empty() {
                break;
            }
        }
        let Some((_, first)) = prepared.first() else {
            continue;
        };
        let digest = first.digest;
        let is_right = prepared.iter().all(|(_, it)| it.digest == digest);
        ensure!(is_right, "its cells are wrong with {work} cells");
        let mut runs = vec![Vec::new(); prepared.len()];
        for _ in 0..RUNS {
            for ((_, case), runs) in prepared.iter_mut().zip(&mut runs) {
                runs.push(case.run()?);
            }
        }
        let is_right = prepared[0].1.digest_now()? == digest;
        ensure!(
            is_right,
            "its cells were right before the timing with {work} cells and are wrong after it: a result must depend on nothing but the input"
        );
        for ((place, case), runs_of) in prepared.iter().zip(&runs) {
            let [median, lowest, highest] = spread(runs_of);
            let factors = runs[0].iter().zip(runs_of).map(|(own, of)| own / of);
            let kernel = case.case.kernel;
            let recompiled = kernel != own && kernel.own.is_some();
            expected[*place] = Some(median);
            rates.push(KernelRate {
                kernel: if recompiled { rung } else { kernel }.name.into(),
                recompiled,
                work,
                median,
                lowest,
                highest,
                own_is_faster_by: spread(&factors.collect::<Vec<_>>())[0],
            });
        }
    }
    Ok(Timing {
        rule: rule.to_string(),
        rates,
        left_out: missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_timed_beside_the_rungs() {
        const CPU: DeviceChoice = DeviceChoice::Cpu;
        let info = open_engine(CPU).unwrap().devices()[0].clone();
        let rung = find("bits").unwrap();
        let timing = measure(&[rung], rung, Rule::LIFE, CPU, &info, true).unwrap();
        let works = works(false, true);
        for work in &works {
            let of: Vec<_> = timing
                .rates
                .iter()
                .filter(|rate| rate.work == *work)
                .collect();
            assert_eq!(of[0].own_is_faster_by, 1.0, "against itself");
            assert_eq!(of[1].kernel, rung.name);
            assert!(of.len() > 5, "{work}: {}", of.len());
            assert!(
                of.iter()
                    .all(|it| it.lowest <= it.median && it.median <= it.highest)
            );
        }
    }

    #[test]
    fn rates_stand_in_columns() {
        let rate = |kernel: &str, side, median: f64| KernelRate {
            kernel: kernel.trim_end_matches('*').into(),
            recompiled: kernel.ends_with('*'),
            work: Workload { instances: 1, side },
            median,
            lowest: median,
            highest: median,
            own_is_faster_by: 150e9 / median,
        };
        let timing = Timing {
            rule: "B3/S23".into(),
            rates: vec![
                rate(Kernel::OWN, 1024, 150e9),
                rate("shared*", 1024, 120e9),
                rate("shared", 1024, 100e9),
                rate(Kernel::OWN, 16_384, 150e9),
                rate("shared", 16_384, 7.5e9),
                rate("bits", 16_384, 10_000e9),
            ],
            left_out: Vec::new(),
        };
        let expected = [
            "Gcell/s                1 × 1024²    1 × 16384²",
            "mine.cu                150          150",
            "02_shared, recompiled  120 (1.25×)  –",
            "02_shared              100 (1.50×)  7.50 (20.00×)",
            "05_bits                –            10,000 (0.01×)",
        ];
        assert_eq!(table(&timing, "mine.cu"), expected);
    }
}
