//! `bench ladder` over a driver of the tests' own (`tests/driver`): every rung checked and timed,
//! the limits, the record, and a driver that fails on the way.

use std::fs;
use std::path::Path;

use engine::kernels::KERNELS;
use life::Size;
use serde_json::Value;

use super::cuda_engine::with_driver;
use crate::common::scratch;

/// What `bench ladder` over the fake driver prints in this folder.
fn ladder(folder: &Path, arguments: &str, variables: &[(&str, &str)]) -> String {
    let line = format!("bench ladder --small --device cuda {arguments}");
    let ended = with_driver(folder, &line, variables).succeeds();
    ended.stdout
}

#[test]
fn every_rung_is_measured_and_recorded() {
    let folder = scratch();
    let said = ladder(folder.path(), "--json --write .", &[]);
    let written = fs::read_to_string(folder.path().join("fake-gpu-0.json")).unwrap();
    let record: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(record, serde_json::from_str::<Value>(&written).unwrap());
    let ladder = &record["ladder"];
    for left in ladder["left_out"].as_array().unwrap() {
        let why = left["why"].as_str().unwrap();
        assert!(why.starts_with("it takes lattices of "), "{left}");
    }
    for limit in ["lop3_per_second", "copied_per_second"] {
        assert!(ladder["limits"][limit].as_f64().unwrap() > 1e6, "{limit}");
    }
    let rates = ladder["rates"].as_array().unwrap();
    let size = Size::new(128, 128).unwrap();
    for kernel in KERNELS.iter().filter(|kernel| kernel.supports(size)) {
        // Two works by B3/S23, and the first by another rule.
        let of = |rate: &&Value| rate["kernel"] == kernel.name;
        assert_eq!(rates.iter().filter(of).count(), 3, "{}", kernel.name);
    }
}

#[test]
fn a_rung_that_loses_the_driver_loses_only_its_own_figures() {
    let folder = scratch();
    let fails = [("FAKE_CUDA_FAIL_AFTER", "190")];
    let said = ladder(folder.path(), "--write .", &fails);
    assert!(said.contains("Not measured: `global`"), "{said}");
    assert!(said.contains("illegal memory access"), "{said}");
    assert!(said.contains("cargo xtask docs"), "{said}");
    let record = fs::read_to_string(folder.path().join("fake-gpu-0.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let rates = record["ladder"]["rates"].as_array().unwrap();
    let has = |name: &str| rates.iter().any(|rate| rate["kernel"] == name);
    assert!(has("resident") && !has("global"), "{rates:?}");
}
