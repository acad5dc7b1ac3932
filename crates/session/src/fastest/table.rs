//! The table of what `bench auto` measured on some devices: for numbers and sizes of lattices, the
//! fastest kernels and how they were submitted, so that they need not be timed again.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{Candidate, Requested, Work};
use engine::kernels;
use life::{Rule, Size};
use model::{Streams, Switches};

/// Everything that was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PickTable {
    /// By device.
    pub devices: Vec<DevicePicks>,
}

/// A device's part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DevicePicks {
    /// The device's name.
    pub device: String,
    /// The commit that was measured.
    pub commit: String,
    /// Rounds as a window makes them: of few generations, with downloads.
    pub works: Vec<RecordedRounds>,
    /// Rounds as `run` makes them: of as many generations as one likes, without downloads.
    #[serde(default)]
    pub runs: Vec<RecordedRun>,
}

/// Rounds of some lattices with their downloads, by default switches, and the kernels for them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedRounds {
    /// Cells of a lattice.
    pub cells: u64,
    /// How many lattices.
    pub instances: usize,
    /// Generations per round.
    pub generations: u32,
    /// Kernels, the fastest first.
    pub kernels: Vec<String>,
}

/// A run of some lattices, and what steps them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedRun {
    /// Width of a lattice.
    pub width: u32,
    /// Height of a lattice.
    pub height: u32,
    /// How many lattices.
    pub instances: usize,
    /// Whether the rule was B3/S23, for which kernels have code of its own; otherwise any other.
    pub is_life: bool,
    /// Kernels, each with its fastest submission, the fastest first.
    pub fastest: Vec<RecordedCandidate>,
}

/// A kernel and its submission, as timed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedCandidate {
    /// The kernel's name.
    pub kernel: String,
    /// How instances share streams.
    pub streams: Streams,
    /// Whether rounds were graphs.
    pub graphs: bool,
    /// Cells times generations per second.
    pub cells_per_second: f64,
}

impl RecordedCandidate {
    /// What was timed; `None` if this program has no such kernel.
    fn candidate(&self) -> Option<Candidate> {
        Some(Candidate {
            kernel: kernels::find(&self.kernel)?,
            streams: self.streams,
            graphs: self.graphs,
        })
    }
}

/// The table that this program was built with.
static BUILT_IN: LazyLock<PickTable> = LazyLock::new(|| {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/bench/auto/kernels.json"
    ));
    serde_json::from_str(text).expect("a test reads it")
});

impl PickTable {
    /// The file's name, in the folder of the bench's records.
    pub const FILE: &str = "auto/kernels.json";

    /// The most that a work may differ from a measured one: the product of the factors between
    /// their cells, instances and generations.
    const NEAR: f64 = 4.0;

    /// The table as JSON: a line for each work and run, so that a difference can be read.
    pub fn to_json(&self) -> serde_json::Result<String> {
        fn lines<T: Serialize>(all: &[T]) -> serde_json::Result<String> {
            let lines: Result<Vec<_>, _> = all.iter().map(serde_json::to_string).collect();
            Ok(lines?.join(",\n"))
        }
        let device = |of: &DevicePicks| {
            Ok(format!(
                "{{\"device\": {}, \"commit\": {},\n\"works\": [\n{}\n],\n\"runs\": [\n{}\n]}}",
                serde_json::to_string(&of.device)?,
                serde_json::to_string(&of.commit)?,
                lines(&of.works)?,
                lines(&of.runs)?,
            ))
        };
        let devices: serde_json::Result<Vec<_>> = self.devices.iter().map(device).collect();
        Ok(format!("{{\"devices\": [\n{}\n]}}\n", devices?.join(",\n")))
    }

    /// What this program was built with.
    pub(crate) fn built_in() -> &'static PickTable {
        &BUILT_IN
    }

    /// The fastest candidate for some work, if the table has such a device and something near that
    /// work, and its generations of all instances per second if they were measured. Everything was
    /// measured with default switches but for the submission.
    pub(super) fn fastest(
        &self,
        work: &Work,
        requested: &Requested,
        is_candidate: impl Fn(&Candidate) -> bool,
    ) -> Option<(Candidate, Option<f64>)> {
        let (first, others) = work.devices.split_first()?;
        if others.iter().any(|device| device.name != first.name) {
            return None;
        }
        let instances = work.instances_per_device();
        match requested.generations {
            Some(generations) => {
                let (streams, graphs) = (requested.streams?, requested.graphs?);
                let switches = Switches {
                    streams,
                    graphs,
                    ..requested.switches
                };
                if switches != Switches::DEFAULT {
                    return None;
                }
                let candidate = |kernel| Candidate {
                    kernel,
                    streams,
                    graphs,
                };
                let cells = work.size.cells();
                let recorded = self.of(&first.name, cells, instances, generations)?;
                let kernels = recorded.kernels.iter();
                let mut kernels = kernels.filter_map(|name| kernels::find(name));
                let fastest = kernels.find(|kernel| is_candidate(&candidate(kernel)))?;
                Some((candidate(fastest), None))
            }
            None => {
                let others = Switches {
                    streams: Switches::DEFAULT.streams,
                    graphs: Switches::DEFAULT.graphs,
                    ..requested.switches
                };
                let is_open = requested.streams.is_none() && requested.graphs.is_none();
                if others != Switches::DEFAULT || !is_open || work.pictures {
                    return None;
                }
                let run = self.run_near(&first.name, work.size, instances, work.rule)?;
                run.fastest.iter().find_map(|recorded| {
                    let candidate = recorded.candidate().filter(&is_candidate)?;
                    Some((candidate, Some(recorded.cells_per_second / work.cells())))
                })
            }
        }
    }

    /// The run that was measured on a device, if one is near this one.
    fn run_near(
        &self,
        device: &str,
        size: Size,
        instances: usize,
        rule: Rule,
    ) -> Option<&RecordedRun> {
        let runs = &self.devices.iter().find(|of| of.device == device)?.runs;
        // A row of whole words is what most kernels want.
        let has_whole_words = |width: u32| width.is_multiple_of(32);
        let distance = |run: &RecordedRun| {
            let cells = f64::from(run.width) * f64::from(run.height);
            let differ = has_whole_words(run.width) != has_whole_words(size.width());
            apart(cells, size.cells() as f64)
                + apart(run.instances as f64, instances as f64)
                + f64::from(u8::from(differ))
        };
        let alike = runs
            .iter()
            .filter(|run| run.is_life == (rule == Rule::LIFE));
        let nearest = alike.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        (distance(nearest) <= Self::NEAR.log2()).then_some(nearest)
    }

    /// The kernels for a work on a device, the fastest first, if something near it was measured.
    pub fn of(
        &self,
        device: &str,
        cells: u64,
        instances: usize,
        generations: u32,
    ) -> Option<&RecordedRounds> {
        let works = &self.devices.iter().find(|of| of.device == device)?.works;
        let distance = |work: &RecordedRounds| {
            apart(work.cells as f64, cells as f64)
                + apart(work.instances as f64, instances as f64)
                + apart(work.generations.into(), generations.into())
        };
        let nearest = works
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        (distance(nearest) <= Self::NEAR.log2()).then_some(nearest)
    }

    /// Puts in what was measured of a device, in place of what was known of it.
    pub fn renew(&mut self, picks: DevicePicks) {
        self.devices.retain(|of| of.device != picks.device);
        self.devices.push(picks);
        self.devices.sort_by(|a, b| a.device.cmp(&b.device));
    }
}

/// How far two numbers are apart, in doublings.
fn apart(a: f64, b: f64) -> f64 {
    (a / b).log2().abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::find;

    #[test]
    fn what_is_built_in_names_kernels_that_there_are() {
        for of in &PickTable::built_in().devices {
            for work in &of.works {
                assert!(!work.kernels.is_empty(), "{work:?}");
                assert!(
                    work.kernels.iter().all(|name| find(name).is_some()),
                    "{work:?}"
                );
            }
        }
    }

    #[test]
    fn the_file_has_a_line_for_each_work_and_reads_back_as_it_was() {
        let table = PickTable::built_in();
        let text = table.to_json().unwrap();
        let read: PickTable = serde_json::from_str(&text).unwrap();
        let value = |table| serde_json::to_value(table).unwrap();
        assert_eq!(value(&read), value(table));
        let works = table
            .devices
            .iter()
            .map(|of| of.works.len() + of.runs.len());
        assert!(text.lines().count() <= works.sum::<usize>() + 8 * table.devices.len());
        let empty = PickTable::default().to_json().unwrap();
        assert!(
            serde_json::from_str::<PickTable>(&empty)
                .unwrap()
                .devices
                .is_empty()
        );
    }

    #[test]
    fn the_nearest_work_is_taken_and_none_that_is_far() {
        let work = |cells, instances, generations, kernel: &str| RecordedRounds {
            cells,
            instances,
            generations,
            kernels: vec![kernel.into()],
        };
        let mut table = PickTable::default();
        let picks = |works| DevicePicks {
            device: "GPU".into(),
            commit: String::new(),
            works,
            runs: Vec::new(),
        };
        table.renew(picks(vec![work(1, 1, 1, "global")]));
        table.renew(picks(vec![
            work(1 << 14, 16, 1, "resident"),
            work(1 << 20, 16, 1, "bits"),
            work(1 << 20, 16, 50, "multistep"),
        ]));
        let of = |cells, instances, generations| {
            let work = table.of("GPU", cells, instances, generations)?;
            Some(work.kernels[0].as_str())
        };
        assert_eq!(of(1 << 14, 16, 1), Some("resident"));
        assert_eq!(of(1 << 15, 8, 1), Some("resident"));
        assert_eq!(of(1 << 20, 16, 2), Some("bits"));
        assert_eq!(of(1 << 20, 16, 40), Some("multistep"));
        assert_eq!(of(1 << 20, 256, 1), None, "16 times as many");
        assert_eq!(of(1 << 30, 16, 1), None);
        assert!(table.of("another", 1 << 14, 16, 1).is_none());
    }
}
