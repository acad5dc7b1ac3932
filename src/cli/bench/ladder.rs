//! The ladder: every rung with the same work, compared with the rung before, with the first one, and
//! with the device's limit.
//!
//! Every rung is measured in a process of its own, which reports its results line by line: a rung that
//! fails, hangs or brings the driver down loses only its own figures.

mod limits;
mod rung;
mod show;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::cli::failure::cancelled;
use engine::kernels::{KERNELS, Kernel};
use platform::contained::{Ended, Limits, Process};
use session::DeviceChoice;
use session::instances::open_engine;
use ui::INTERRUPTED;
use ui::ladder::{Ladder, LeftOut, Rate, Workload};

pub(in crate::cli) use limits::limits;
pub(super) use rung::main as measure_rung;
pub(in crate::cli) use rung::{Case, MAX_MEMORY, PreparedCase, works};
pub(super) use show::text;
pub use show::{factors_in_words, policy};

/// How long a rung may be silent before it is given up.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(180),
    resident: u64::MAX,
    address_space: None,
};

/// The reports of a rung's process, one per line.
#[derive(Serialize, Deserialize)]
enum Said {
    Rate(Rate),
    LeftOut(LeftOut),
    /// Its cells after the generations that every rung steps first.
    Cells {
        work: Workload,
        digest: u64,
    },
}

/// Measures every rung; `so_far` is shown the ladder whenever a rung has been measured.
pub(super) fn measure(
    device: DeviceChoice,
    small: bool,
    so_far: &mut dyn FnMut(&Ladder, &Kernel) -> Result<()>,
) -> Result<Ladder> {
    let (device, mut ladder) = begin(device, small)?;
    let mut cells = Agreement::default();
    let cancel = cancelled();
    for kernel in &KERNELS {
        if let Err(error) = listen(&cancel, kernel, device, small, |said| {
            take(&mut ladder, &mut cells, kernel, said);
        }) {
            ladder.left_out.push(LeftOut {
                kernel: kernel.name.into(),
                work: None,
                why: format!("{error:#}"),
            });
        }
        so_far(&ladder, kernel)?;
    }
    Ok(ladder)
}

/// The device, one of them, and its ladder without a rung.
fn begin(device: DeviceChoice, small: bool) -> Result<(DeviceChoice, Ladder)> {
    let engine = open_engine(device)?;
    // Every process is to open the same one.
    let one = match engine.name() {
        "cpu" => DeviceChoice::Cpu,
        _ => match device {
            DeviceChoice::CudaOrdinal(_) => device,
            _ => DeviceChoice::CudaOrdinal(0),
        },
    };
    let info = engine.devices()[0].clone();
    let name = engine.name();
    drop(engine);
    let (limits, left_out) = limits::limits(one, small);
    let ladder = Ladder {
        engine: name.into(),
        small,
        commit: env!("LIFESTREAMS_COMMIT").into(),
        driver: info.driver,
        cache: info.cache,
        limits,
        works: rung::works(name == "cuda", small),
        rates: Vec::new(),
        left_out,
        sources: BTreeMap::new(),
    };
    Ok((one, ladder))
}

/// For each work, the first rung that did it, and its cells.
#[derive(Default)]
struct Agreement(Vec<(Workload, u64, &'static str)>);

impl Agreement {
    /// The reason why a rung's figures do not count, if its cells differ from the others'.
    fn disagrees(&mut self, work: Workload, digest: u64, kernel: &'static str) -> Option<String> {
        match self.0.iter().find(|(of, ..)| *of == work) {
            None => {
                self.0.push((work, digest, kernel));
                None
            }
            Some((_, theirs, _)) if *theirs == digest => None,
            Some((.., other)) => Some(format!("its cells are not those of '{other}'")),
        }
    }
}

fn take(ladder: &mut Ladder, cells: &mut Agreement, kernel: &'static Kernel, said: Said) {
    match said {
        Said::Rate(rate) => {
            let wrong = |left: &LeftOut| left.kernel == rate.kernel && left.work == Some(rate.work);
            if !ladder.left_out.iter().any(wrong) {
                let source = kernel.source().into();
                ladder.sources.insert(kernel.name.into(), source);
                ladder.rates.push(rate);
            }
        }
        Said::LeftOut(left_out) => ladder.left_out.push(left_out),
        Said::Cells { work, digest } => {
            if let Some(why) = cells.disagrees(work, digest, kernel.name) {
                ladder.left_out.push(LeftOut {
                    kernel: kernel.name.into(),
                    work: Some(work),
                    why,
                });
            }
        }
    }
}

/// Has a rung measured in a process of its own, and passes on its reports, which are lines.
fn listen(
    cancel: &AtomicBool,
    kernel: &Kernel,
    device: DeviceChoice,
    small: bool,
    mut tell: impl FnMut(Said),
) -> Result<()> {
    let program = std::env::current_exe().context("lifestreams cannot run itself again")?;
    let mut command = Command::new(program);
    command.args(["bench", "ladder", "--rung", kernel.name]);
    command.args(["--device", &device.to_string()]);
    command.args(small.then_some("--small"));
    let mut process = Process::answering(command, LIMITS)?;
    loop {
        let line = process.ask(cancel, |_, output| {
            let mut line = Vec::new();
            // One byte at a time: what follows the line is the next question's.
            BufReader::with_capacity(1, output).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            Ok(line)
        })?;
        match line {
            Ok(line) => {
                tell(serde_json::from_slice(&line).context("a rung's process speaks otherwise")?);
            }
            Err(Ended::ByItself(status)) if status.success() => return Ok(()),
            Err(Ended::ByItself(status)) => bail!("it ended with {status}"),
            Err(Ended::Cancelled) => std::process::exit(INTERRUPTED),
            Err(Ended::TooLong | Ended::TooMuchMemory) => {
                bail!("nothing came of it for {} s", LIMITS.time.as_secs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::find;
    use ui::ladder::fixtures;

    #[test]
    fn a_rung_whose_cells_are_others_has_no_rate() {
        let full = fixtures::ladder();
        let mut ladder = Ladder {
            rates: Vec::new(),
            left_out: Vec::new(),
            ..full.clone()
        };
        let mut cells = Agreement::default();
        let mut say = |kernel: &str, said| {
            take(&mut ladder, &mut cells, find(kernel).unwrap(), said);
        };
        let [first, second] = [0, 1].map(|i| full.works[i]);
        for (kernel, digests) in [("global", [7, 8]), ("bits", [7, 9])] {
            for (work, digest) in [first, second].into_iter().zip(digests) {
                say(kernel, Said::Cells { work, digest });
                say(kernel, Said::Rate(full.rate(kernel, work).unwrap().clone()));
            }
        }
        let rates = ladder.rates.iter();
        let measured: Vec<_> = rates
            .map(|rate| (rate.kernel.as_str(), rate.work))
            .collect();
        assert_eq!(
            measured,
            [("global", first), ("global", second), ("bits", first)]
        );
        let why = &ladder.left_out[0];
        assert_eq!((why.kernel.as_str(), why.work), ("bits", Some(second)));
        assert!(why.why.contains("'global'"), "{}", why.why);
        assert_eq!(ladder.sources["bits"].len(), 16);
    }
}
