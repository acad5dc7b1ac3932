//! A made-up ladder for tests.

use std::collections::BTreeMap;

use super::{DeviceLimits, Ladder, LeftOut, Rate, Workload};
use engine::kernels::KERNELS;
use life::{Rule, Size};

/// The device of [`ladder`].
pub const DEVICE: &str = "NVIDIA Test";

/// Every rung of the table with two works, as far as it takes them; 'planar' fails at the
/// larger one.
pub fn ladder() -> Ladder {
    let works = [(16, 1024), (1, 16_384)].map(|(instances, side)| Workload { instances, side });
    let mut rates = Vec::new();
    let mut left_out = Vec::new();
    for (rung, kernel) in KERNELS.iter().enumerate() {
        for (at, work) in works.into_iter().enumerate() {
            let size = Size::new(work.side, work.side).unwrap();
            let why = match kernel.validate_size(size) {
                Err(error) => Some(error.to_string()),
                Ok(()) if kernel.name == "planar" && at == 1 => Some("it hung".into()),
                Ok(()) => None,
            };
            if let Some(why) = why {
                left_out.push(LeftOut {
                    kernel: kernel.name.into(),
                    work: Some(work),
                    why,
                });
                continue;
            }
            let median = 4e10 * 2.5f64.powi(rung as i32) * (1.0 + at as f64);
            let rate = |rule: &str, median: f64| Rate {
                kernel: kernel.name.into(),
                work,
                rule: rule.into(),
                how: "graphs of 48 generations".into(),
                median,
                lowest: 0.98 * median,
                highest: 1.01 * median,
                runs: 3,
            };
            rates.push(rate(&Rule::LIFE.to_string(), median));
            if kernel.name == "bits" && at == 0 {
                rates.push(rate("B36/S23", median / 2.0));
            }
        }
    }
    Ladder {
        engine: "cuda".into(),
        small: false,
        commit: "0123456789ab".into(),
        driver: "CUDA 13.0, sm_90".into(),
        cache: Some(50 << 20),
        limits: DeviceLimits {
            lop3_per_second: Some(16.7e12),
        },
        works: works.into(),
        rates,
        left_out,
        sources: BTreeMap::new(),
    }
}
