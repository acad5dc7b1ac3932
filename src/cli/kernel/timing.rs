//! How fast a kernel of the user's own is on a GPU, beside the rungs: the ladder's works, in a process of
//! its own.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::cli::bench::ladder::{Case, MAX_MEMORY, PreparedCase, limits, works};
use crate::cli::bench::spread;
use engine::DeviceInfo;
use engine::cuda::driver_version;
use engine::kernels::{GpuCode, KERNELS, Kernel, find};
use life::Rule;
use platform::contained::{self, Ended, Limits};
use session::DeviceChoice;
use session::instances::open_engine;
use ui::ladder::{DeviceLimits, LeftOut, Workload, bytes_per_cell};
use workshop::{Fault, GpuCompiler, OwnKernel, skeleton};

/// Runs of each kernel, in turn with those of the others.
pub(super) const RUNS: usize = 5;

/// How long a run takes at least.
const RUN: Duration = Duration::from_millis(50);

/// The longest that a kernel's runs with one work may be expected to take, in seconds.
const MAX_SECONDS: f64 = 3.0;

/// With more cells than this, the kernel and its rung alone are timed: the others would take long.
const MANY_CELLS: f64 = (1u64 << 30) as f64;

/// Bytes of a GPU's memory that a kernel takes besides its lattices: those of a context.
const CONTEXT_BYTES: f64 = (512u64 << 20) as f64;

/// By how much a rate may be above what the device was measured to do.
const TOLERANCE: f64 = 1.15;

/// So many times the cache is surely not in the cache.
const BEYOND_CACHE: u64 = 2;

const LIMITS: Limits = Limits {
    time: Duration::from_secs(120),
    resident: 8 << 30,
    address_space: None,
};

const REQUEST: &str = "request.json";
const ANSWER: &str = "answer.json";

/// What the child process is to time.
#[derive(Serialize, Deserialize)]
struct Request {
    source: String,
    code: GpuCode,
    /// The GPU's number.
    gpu: u32,
}

/// What the child process answers.
#[derive(Serialize, Deserialize)]
enum Answer {
    Timed(Timing),
    Wrong(Fault),
}

/// The rates of a kernel and of the rungs.
#[derive(Serialize, Deserialize)]
pub(super) struct Timing {
    /// The rule that was stepped.
    pub rule: String,
    /// The rates, work by work; the kernel's own comes first, then those of its rung: compiled as the
    /// kernel was, and as it comes with the program.
    pub rates: Vec<KernelRate>,
    /// What was not measured, and why.
    pub left_out: Vec<LeftOut>,
    /// What the device does at most.
    pub limits: DeviceLimits,
}

impl Timing {
    /// The rung's rate with the last work that both were timed with, if the kernel is not faster there. What
    /// the same compiler made of the rung counts, if that was timed.
    pub(super) fn is_not_faster_than(&self, rung: &str) -> Option<&KernelRate> {
        let is_rung = |rate: &&KernelRate| {
            find(&rate.kernel).is_some_and(|kernel| kernel.file == rung || kernel.name == rung)
        };
        let recompiled = self
            .rates
            .iter()
            .filter(is_rung)
            .rfind(|rate| rate.recompiled);
        let last = recompiled.or_else(|| self.rates.iter().rfind(is_rung))?;
        (last.own_is_faster_by <= 1.0).then_some(last)
    }
}

/// The rate of a kernel with some work.
#[derive(Serialize, Deserialize)]
pub(super) struct KernelRate {
    /// The kernel's name; [`Kernel::OWN`] is the user's.
    pub kernel: String,
    /// Whether it is a rung that was compiled by what compiled the user's kernel.
    pub recompiled: bool,
    /// The work.
    pub work: Workload,
    /// Cells times generations per second: the median of the runs.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The median of the factors between the kernel's own runs and this one's, each with the run beside
    /// it.
    pub own_is_faster_by: f64,
}

/// Times a kernel that is right, in a child process: `child` makes a command that calls [`serve`] with the
/// folder that is its last argument. `None` if it was cancelled.
///
/// # Errors
/// The process cannot be started, or could not time anything.
pub(super) fn time(
    own: &OwnKernel,
    code: &GpuCode,
    gpu: u32,
    mut child: Command,
    cancel: &AtomicBool,
) -> Result<Option<Result<Timing, Fault>>> {
    let folder = tempfile::Builder::new()
        .prefix("lifestreams-timing-")
        .tempdir()?;
    let request = Request {
        source: own.source.clone(),
        code: code.clone(),
        gpu,
    };
    fs::write(folder.path().join(REQUEST), serde_json::to_vec(&request)?)?;
    child.arg(folder.path());
    let (ended, said) = contained::run(child, LIMITS, cancel)?;
    let wrong = match ended {
        Ended::Cancelled => return Ok(None),
        Ended::TooLong => Fault::TooLong {
            seconds: LIMITS.time.as_secs() as u32,
            thread: None,
        },
        Ended::TooMuchMemory => Fault::TooMuchMemory {
            bytes: LIMITS.resident,
        },
        Ended::ByItself(status) => {
            let answer = fs::read(folder.path().join(ANSWER)).ok();
            let answer = answer.and_then(|answer| serde_json::from_slice(&answer).ok());
            match answer {
                Some(Answer::Timed(timing)) => return Ok(Some(Ok(timing))),
                Some(Answer::Wrong(fault)) => fault,
                // What it could not do, it says; a crash says nothing.
                None if status.code().is_some() => {
                    let said = String::from_utf8_lossy(&said);
                    let last = said.lines().rev().find(|line| !line.is_empty());
                    let last = last.map(|line| line.trim_start_matches("lifestreams: ").to_owned());
                    return Err(anyhow::Error::msg(
                        last.unwrap_or_else(|| status.to_string()),
                    ));
                }
                None => Fault::Crashed,
            }
        }
    };
    Ok(Some(Err(wrong)))
}

/// Times what the request in a folder names, in this process, which should end afterwards.
///
/// # Errors
/// A file of the folder cannot be read or written; or there is no such GPU.
pub(super) fn serve(folder: &Path) -> Result<()> {
    let request: Request = serde_json::from_slice(&fs::read(folder.join(REQUEST))?)?;
    let own = OwnKernel::read(request.source.into_bytes())?;
    let device = DeviceChoice::CudaOrdinal(request.gpu);
    let engine = open_engine(device)?;
    let info = engine.devices()[0].clone();
    drop(engine);
    let kernel = own.kernel(Some(request.code), None);
    let rule = match &own.rules {
        Some(rules) if !rules.contains(&Rule::LIFE) => rules[0],
        _ => Rule::LIFE,
    };
    let recompiled = recompiled(own.rung, &info);
    let kernels: Vec<_> = [kernel].into_iter().chain(recompiled).collect();
    let answer = measure(&kernels, own.rung, rule, device, &info, false)?;
    Ok(fs::write(
        folder.join(ANSWER),
        serde_json::to_vec(&answer)?,
    )?)
}

/// A rung, compiled here from its source: what differs between it and a kernel that began as its copy is
/// the source alone. `None` if it does not compile.
fn recompiled(rung: &'static Kernel, gpu: &DeviceInfo) -> Option<&'static Kernel> {
    let own = OwnKernel::read(skeleton(rung, "rung.cu").into_bytes()).ok()?;
    let compiler = GpuCompiler::find()?;
    let code = compiler.compile(&own.source, gpu.capability?, driver_version());
    Some(own.kernel(Some(code.ok()?), None))
}

/// Measures a kernel, which may be followed by its rung as it is compiled here, and the rungs.
fn measure(
    kernels: &[&'static Kernel],
    rung: &'static Kernel,
    rule: Rule,
    device: DeviceChoice,
    info: &DeviceInfo,
    small: bool,
) -> Result<Answer> {
    let (limits, mut left_out) = limits(device, small);
    let others = KERNELS.iter().filter(|kernel| *kernel != rung);
    let (own, few) = (kernels[0], kernels.len() + 1);
    let kernels: Vec<&'static Kernel> = kernels
        .iter()
        .copied()
        .chain([rung])
        .chain(others)
        .collect();
    let mut rates: Vec<KernelRate> = Vec::new();
    // Cells per second of the work before, of each kernel by its place.
    let mut expected: HashMap<usize, f64> = HashMap::new();
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
            let more = case.memory() + CONTEXT_BYTES;
            let most = info.memory.map(|memory| MAX_MEMORY * memory as f64);
            let reason = case.reason_to_skip(Some(info), expected.get(&place).copied())?;
            let case = match reason {
                Some(why) => Err(why),
                None if most.is_some_and(|most| bytes + more > most) => {
                    Err("too little memory is left".into())
                }
                None => match case.prepare(rule) {
                    Err(_) if kernel == own => return Ok(Answer::Wrong(fails(work))),
                    prepared => prepared.map_err(|error| format!("{error:#}")),
                },
            };
            match case {
                Ok(case) => {
                    prepared.push((place, case));
                    bytes += more;
                }
                Err(why) => {
                    left_out.push(LeftOut {
                        kernel: kernel.name.into(),
                        work: Some(work),
                        why,
                    });
                    // Without the kernel itself there is nothing to compare.
                    if kernel == own {
                        break;
                    }
                }
            }
        }
        let [(_, first), others @ ..] = &prepared[..] else {
            continue;
        };
        if others.iter().any(|(_, other)| other.digest != first.digest) {
            return Ok(Answer::Wrong(wrong(work, false)));
        }
        let mut runs = vec![Vec::new(); prepared.len()];
        for _ in 0..RUNS {
            for ((place, case), runs) in prepared.iter_mut().zip(&mut runs) {
                match case.run() {
                    Ok(rate) => runs.push(rate),
                    Err(_) if *place == 0 => return Ok(Answer::Wrong(fails(work))),
                    Err(error) => return Err(error),
                }
            }
        }
        let (_, first) = &mut prepared[0];
        let digest = first.digest;
        match first.digest_now() {
            Ok(now) if now == digest => {}
            Ok(_) => return Ok(Answer::Wrong(wrong(work, true))),
            Err(_) => return Ok(Answer::Wrong(fails(work))),
        }
        for ((place, case), runs_of) in prepared.iter().zip(&runs) {
            let [median, lowest, highest] = spread(runs_of);
            let factors: Vec<f64> = runs[0]
                .iter()
                .zip(runs_of)
                .map(|(own, of)| own / of)
                .collect();
            let kernel = case.case().kernel;
            let recompiled = kernel != own && kernel.own.is_some();
            expected.insert(*place, median);
            rates.push(KernelRate {
                kernel: if recompiled { rung } else { kernel }.name.into(),
                recompiled,
                work,
                median,
                lowest,
                highest,
                own_is_faster_by: spread(&factors)[0],
            });
        }
        let rate = expected[&0];
        if rule == Rule::LIFE
            && let Some(fault) = too_fast(own, work, rate, limits, info.cache)
        {
            return Ok(Answer::Wrong(fault));
        }
    }
    Ok(Answer::Timed(Timing {
        rule: rule.to_string(),
        rates,
        left_out,
        limits,
    }))
}

/// A rate that no kernel reaches that does the work: what a generation must move through memory, where no
/// cache holds it, and the operations that it takes.
fn too_fast(
    kernel: &Kernel,
    work: Workload,
    cells_per_second: f64,
    limits: DeviceLimits,
    cache: Option<u64>,
) -> Option<Fault> {
    let bytes = bytes_per_cell(kernel);
    let is_from_memory = cache.is_some_and(|cache| work.working_set(kernel) > BEYOND_CACHE * cache);
    let memory = limits
        .copied_per_second
        .filter(|_| is_from_memory && bytes > 0.0);
    let memory = memory.map(|copied| (copied / bytes, true));
    let operations = limits.cells_per_second().map(|cells| (cells, false));
    let (limit, is_memory) = memory
        .into_iter()
        .chain(operations)
        .min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (cells_per_second > TOLERANCE * limit).then_some(Fault::TooFast {
        instances: work.instances,
        side: work.side,
        cells_per_second,
        limit,
        is_memory,
    })
}

fn fails(work: Workload) -> Fault {
    Fault::FailsWhenTimed {
        instances: work.instances,
        side: work.side,
    }
}

fn wrong(work: Workload, is_after: bool) -> Fault {
    Fault::WrongWhenTimed {
        instances: work.instances,
        side: work.side,
        is_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: DeviceChoice = DeviceChoice::Cpu;

    fn info() -> DeviceInfo {
        open_engine(CPU).unwrap().devices()[0].clone()
    }

    #[test]
    fn a_kernel_is_timed_beside_the_rungs() {
        let rung = find("bits").unwrap();
        let answer = measure(&[rung], rung, Rule::LIFE, CPU, &info(), true).unwrap();
        let Answer::Timed(timing) = answer else {
            panic!("a rung is right");
        };
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
    fn a_rate_above_the_limits_is_wrong() {
        let limits = DeviceLimits {
            lop3_per_second: Some(16e12), // 68 Tcell/s
            copied_per_second: Some(3e12),
        };
        let too_fast = |name: &str, instances: usize, side: u64, rate: f64| {
            let work = Workload { instances, side };
            too_fast(find(name).unwrap(), work, rate, limits, Some(50 << 20))
        };
        // 8 bytes per cell: 375 Gcell/s, where no cache holds them.
        assert_eq!(too_fast("global", 1, 16_384, 400e9), None);
        let fault = too_fast("global", 1, 16_384, 450e9);
        assert!(
            matches!(
                fault,
                Some(Fault::TooFast {
                    is_memory: true,
                    ..
                })
            ),
            "{fault:?}"
        );
        assert_eq!(too_fast("global", 2, 128, 450e9), None);
        assert_eq!(too_fast("resident", 1056, 128, 63e12), None);
        let fault = too_fast("global", 2, 128, 90e12);
        assert!(
            matches!(
                fault,
                Some(Fault::TooFast {
                    is_memory: false,
                    ..
                })
            ),
            "{fault:?}"
        );
    }
}
