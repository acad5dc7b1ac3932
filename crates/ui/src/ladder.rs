//! The live ladder: every rung's rate, where the present kernel is among them, and
//! the limit.
//!
//! Computes the chart; `view::ladder` lays it out and paints it.

use crate::numbers::si;
use engine::kernels::{Kernel, Layout};
use lang::tr;
use life::Rule;
use serde::{Deserialize, Serialize};
use session::Status;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use RateSource::*;

/// Where a rung's rate comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RateSource {
    /// It was recorded on this device with work like this session's.
    Recorded,
    /// It was recorded on this device, with other work: the rung's best.
    Other,
    /// The kernel reached it in this session.
    Session,
}

/// A rung and its rate, if there is one.
#[derive(Clone, PartialEq, Debug)]
pub struct Rung {
    /// The kernel's place in the engine's table.
    pub index: usize,
    /// The kernel's name.
    pub name: Cow<'static, str>,
    /// Its idea in a few words.
    pub idea: Cow<'static, str>,
    /// Cells a second.
    pub mark: Option<(f64, RateSource)>,
    /// Whether it steps the lattices now.
    pub present: bool,
    /// Whether it supports this lattice size and every device of the session.
    pub possible: bool,
}

impl Rung {
    /// What it is, and what its mark says.
    pub fn tip(&self) -> String {
        let caption = match self.mark {
            _ if !self.possible => tr!("does not support this lattice size or device").into(),
            None => tr!("not measured here yet").into(),
            Some((rate, source)) => {
                let whence = match source {
                    Recorded => tr!("recorded on this device for similar lattices"),
                    Other => tr!("best recorded on this device, for other lattices"),
                    Session => tr!("measured in this session"),
                };
                tr!("{}cell/s, {whence}", si(rate))
            }
        };
        format!("{}; {caption}", self.idea)
    }
}

/// Everything that the ladder shows.
#[derive(Clone, PartialEq, Debug)]
pub struct LadderChart {
    /// From the top of the ladder, the user's own kernel or the fastest idea, to the first rung.
    pub rungs: Vec<Rung>,
    /// What the present kernel does, in cells per second.
    pub live: Option<f64>,
    /// Whether that was recorded on another machine.
    pub is_recorded: bool,
    /// What the device does at most, in cells per second.
    pub limit: Option<f64>,
    /// What the present kernel does, in words.
    pub headline: String,
    /// What the marks show: the lattices and the commit they were recorded with, and the limit.
    pub caption: String,
}

impl LadderChart {
    /// The ladder as of this status.
    pub fn of(status: &Status) -> LadderChart {
        let device = status.engine.devices.first().map_or("", |it| &it.name);
        let ladder = recorded(device);
        let work = ladder.and_then(|ladder| {
            ladder.nearest_workload(status.lattices.instances, status.lattices.size.cells())
        });
        let recorded = ladder.zip(work);
        let mut kernels: Vec<_> = status.setting.kernels().collect();
        kernels.reverse();
        let rungs: Vec<Rung> = kernels
            .into_iter()
            .map(|kernel| Rung {
                index: kernel.index(),
                idea: kernel.idea(),
                name: kernel.name.into(),
                mark: mark(status, recorded, kernel.name),
                present: kernel == status.setting.kernel,
                possible: kernel.supports(status.lattices.size)
                    && status
                        .engine
                        .devices
                        .iter()
                        .all(|of| kernel.validate_device(of, status.lattices.size).is_ok()),
            })
            .collect();
        let live = status.rates.stepping;
        let limit = ladder.and_then(|ladder| ladder.limits.cells_per_second());
        let of_limit = live.zip(limit).map_or(String::new(), |(live, limit)| {
            tr!(", {} of the limit", percent(live / limit))
        });
        let headline = match live {
            Some(live) => tr!(
                "{} {}cell/s{of_limit}",
                status.setting.kernel.name,
                si(live)
            ),
            None if status.lab.recording.is_some() => {
                tr!(
                    "{}: not recorded with these settings",
                    status.setting.kernel.name
                )
            }
            None => tr!("{}: no round timed yet", status.setting.kernel.name),
        };
        LadderChart {
            rungs,
            live,
            is_recorded: status.lab.recording.is_some(),
            limit,
            headline,
            caption: caption(device, recorded),
        }
    }
}

fn mark(
    status: &Status,
    recorded: Option<(&Ladder, Workload)>,
    kernel: &str,
) -> Option<(f64, RateSource)> {
    if let Some((ladder, work)) = recorded {
        let like = ladder.rate(kernel, work).map(|rate| (rate, Recorded));
        let best = || ladder.best(kernel).map(|rate| (rate, Other));
        if let Some((rate, source)) = like.or_else(best) {
            return Some((rate.median, source));
        }
    }
    let reached = status
        .rates
        .reached
        .iter()
        .find(|(name, _)| *name == kernel);
    reached.map(|(_, rate)| (*rate, Session))
}

fn caption(device: &str, recorded: Option<(&Ladder, Workload)>) -> String {
    match recorded {
        Some((ladder, work)) => {
            let limit = match ladder.limits.lop3_per_second {
                Some(_) => tr!("The limit: 15 logical operations per 64 cells."),
                None => tr!("No limit was measured."),
            };
            tr!(
                "{device}: recorded with {work}, commit {}. {limit}",
                ladder.commit
            )
        }
        None => tr!(
            "No results are recorded for {device}; 'lifestreams bench ladder' measures them. K steps through the kernels."
        ),
    }
}

/// A part of one, with two digits.
fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    let digits = (1.0 - percent.log10().floor()).clamp(0.0, 3.0) as usize;
    format!("{percent:.digits$} %")
}

// What every rung of the ladder reaches on a device, as `lifestreams bench ladder` measured it:
// the records that this program was built with, and what is read from them.

/// The bench's records, one a device.
const RECORDS: [&str; 3] = [
    include_str!("../../../assets/bench/intel-r-xeon-r-processor.json"),
    include_str!("../../../assets/bench/nvidia-h100-80gb-hbm3.json"),
    include_str!("../../../assets/bench/nvidia-h200.json"),
];

/// The minimum known number of three-input logical operations to step 32 cells by B3/S23, from
/// which the limit is computed.
pub const LOP3_PER_WORD: f64 = 7.5;

/// A ladder, measured: one device, one build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ladder {
    /// `cuda` or `cpu`.
    pub engine: String,
    /// Whether lattices and runs were small and short, only to see that it works.
    pub small: bool,
    /// The commit that was built.
    pub commit: String,
    /// What drove the device.
    pub driver: String,
    /// The device's last cache before memory, in bytes, where known.
    pub cache: Option<u64>,
    /// What the device does at most.
    pub limits: DeviceLimits,
    /// What the rungs had to do, in the order of measuring.
    pub works: Vec<Workload>,
    /// What they reached, rung by rung.
    pub rates: Vec<Rate>,
    /// What was not measured, and why.
    pub left_out: Vec<LeftOut>,
    /// Of each kernel that was measured, what its PTX was made from: when that is another, the
    /// figures are of another kernel.
    pub sources: BTreeMap<String, String>,
}

/// What a device does at most, as the program measured it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct DeviceLimits {
    /// Logical operations of three 32-bit words per second.
    pub lop3_per_second: Option<f64>,
}

impl DeviceLimits {
    /// Cells per second if the operations of B3/S23 were the only work.
    pub fn cells_per_second(self) -> Option<f64> {
        Some(self.lop3_per_second? * 32.0 / LOP3_PER_WORD)
    }
}

/// Lattices to step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Workload {
    /// How many.
    pub instances: usize,
    /// Their width and height.
    pub side: u64,
}

/// What a rung reached with some work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// The kernel's name.
    pub kernel: String,
    /// With which work.
    pub work: Workload,
    /// By which rule, in words.
    pub rule: String,
    /// How it was launched, in words.
    pub how: String,
    /// Cells times generations per second: the median of the runs.
    pub median: f64,
    /// The lowest.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// How many runs.
    pub runs: usize,
}

/// What was not measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// The kernel's name.
    pub kernel: String,
    /// With which work; none where it is all of it.
    pub work: Option<Workload>,
    /// Why.
    pub why: String,
}

impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} × {}²", self.instances, self.side)
    }
}

impl Workload {
    /// All its cells.
    pub fn cells(self) -> f64 {
        self.instances as f64 * (self.side as f64).powi(2)
    }

    /// Bytes that a kernel reads and writes repeatedly: its buffer, or both if it has two.
    pub fn working_set(self, kernel: &Kernel) -> u64 {
        let cell = match kernel.layout {
            Layout::I32 => 4.0,
            Layout::Bits | Layout::Planar => 0.125,
        };
        let buffers = if kernel.is_in_place() { 1.0 } else { 2.0 };
        (buffers * cell * self.cells()) as u64
    }
}

impl Ladder {
    /// What a rung reached with some work by B3/S23.
    pub fn rate(&self, kernel: &str, work: Workload) -> Option<&Rate> {
        let life = Rule::LIFE.to_string();
        let of = |rate: &&Rate| rate.kernel == kernel && rate.work == work && rate.rule == life;
        self.rates.iter().find(of)
    }

    /// The most that a rung reached with any work, by B3/S23.
    pub fn best(&self, kernel: &str) -> Option<&Rate> {
        let works = self.works.iter();
        let rates = works.filter_map(|&work| self.rate(kernel, work));
        rates.max_by(|a, b| a.median.total_cmp(&b.median))
    }

    /// The measured work that is most similar to `instances` lattices of `cells` cells each; the size
    /// of a lattice counts first.
    pub fn nearest_workload(&self, instances: usize, cells: u64) -> Option<Workload> {
        let far = |work: &Workload| {
            let side = (work.side as f64).powi(2).log2() - (cells as f64).log2();
            let count = (work.instances as f64).log2() - (instances as f64).log2();
            2.0 * side.abs() + count.abs()
        };
        let works = self.works.iter().copied();
        works.min_by(|a, b| far(a).total_cmp(&far(b)))
    }
}

/// What is read of a record.
#[derive(Deserialize)]
struct Record {
    device: String,
    ladder: Option<Ladder>,
}

/// The ladder that was recorded on the device of this name.
pub fn recorded(device: &str) -> Option<&'static Ladder> {
    static ALL: OnceLock<Vec<(String, Ladder)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let records = RECORDS.into_iter();
        #[cfg(any(test, feature = "fixtures"))]
        let records = records.chain([include_str!("fixtures/ladder.json")]);
        let read = |text: &str| serde_json::from_str::<Record>(text).ok();
        let ladders = records.filter_map(read);
        let ladders = ladders.filter_map(|record| Some((record.device, record.ladder?)));
        ladders.collect()
    });
    let found = all.iter().find(|(name, _)| name == device);
    found.map(|(_, ladder)| ladder)
}

#[cfg(test)]
mod record_tests {
    use super::*;

    #[test]
    fn every_record_that_is_embedded_can_be_read() {
        let files = std::fs::read_dir("../../assets/bench").unwrap();
        let paths = files.map(|it| it.unwrap().path());
        let records = paths.filter(|it| it.extension().is_some_and(|it| it == "json"));
        assert_eq!(records.count(), RECORDS.len(), "each is listed");
        for text in RECORDS {
            let record: Record = serde_json::from_str(text).unwrap();
            assert_eq!(recorded(&record.device), record.ladder.as_ref());
        }
        assert_eq!(recorded("no such device"), None);
    }
}
