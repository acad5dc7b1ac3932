//! What `bench auto` measured on devices that people have: which kernel is the fastest for how
//! many lattices of which size, so that nobody need time them again.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

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
    /// One a kind of work.
    pub works: Vec<Workload>,
}

/// Rounds of some lattices, and what steps them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workload {
    /// Cells of a lattice.
    pub cells: u64,
    /// How many lattices.
    pub instances: usize,
    /// Generations a round.
    pub generations: u32,
    /// Kernels, the fastest first.
    pub kernels: Vec<String>,
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

    /// What this program was built with.
    pub(crate) fn built_in() -> &'static PickTable {
        &BUILT_IN
    }

    /// The kernels for a work on a device, the fastest first, if something near it was measured.
    pub fn of(
        &self,
        device: &str,
        cells: u64,
        instances: usize,
        generations: u32,
    ) -> Option<&Workload> {
        let works = &self.devices.iter().find(|of| of.device == device)?.works;
        let apart = |a: f64, b: f64| (a / b).log2().abs();
        let distance = |work: &Workload| {
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
    fn the_nearest_work_is_taken_and_none_that_is_far() {
        let work = |cells, instances, generations, kernel: &str| Workload {
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
