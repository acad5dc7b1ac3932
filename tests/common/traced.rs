//! A run that wrote a trace, and what stands in its file.
#![allow(dead_code)] // each test program uses its part

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::PROGRAM;
use crate::driver;

/// A trace file, taken apart.
pub(crate) struct Traced {
    pub(crate) file: PathBuf,
    /// The process's name.
    pub(crate) process: String,
    /// The lanes' names.
    pub(crate) names: BTreeMap<u64, String>,
    /// The slices of each lane, in the order of their start.
    pub(crate) lanes: BTreeMap<u64, Vec<Value>>,
    _folder: Option<tempfile::TempDir>,
}

/// Runs five instances of 64 by 48 for 30 rounds, with these arguments too, and reads the trace.
pub(crate) fn traced(arguments: &str) -> Traced {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let output = Command::new(PROGRAM)
        .args("run --instances 5 --size 64x48 -g 30".split(' '))
        .args(arguments.split(' '))
        .arg("--trace")
        .arg(&file)
        .env("LIFESTREAMS_LIBCUDA", driver::library())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    Traced {
        _folder: Some(folder),
        ..Traced::read(&file)
    }
}

impl Traced {
    /// Takes a file apart.
    pub(crate) fn read(file: &Path) -> Traced {
        let trace: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let (mut names, mut lanes) = (BTreeMap::new(), BTreeMap::new());
        let mut process = None;
        for event in trace["traceEvents"].as_array().unwrap() {
            let lane = event["tid"].as_u64().unwrap();
            let name = || event["args"]["name"].as_str().unwrap().to_string();
            match event["ph"].as_str().unwrap() {
                "M" if event["name"] == "thread_name" => {
                    assert!(names.insert(lane, name()).is_none(), "lane {lane} twice");
                }
                "M" => assert!(process.replace(name()).is_none(), "two processes"),
                "X" => lanes
                    .entry(lane)
                    .or_insert_with(Vec::new)
                    .push(event.clone()),
                other => panic!("an event of phase {other}"),
            }
        }
        for slices in lanes.values_mut() {
            let start = |slice: &Value| slice["ts"].as_f64().unwrap();
            slices.sort_by(|a, b| start(a).total_cmp(&start(b)));
        }
        Traced {
            file: file.to_path_buf(),
            process: process.expect("a process that has a name"),
            names,
            lanes,
            _folder: None,
        }
    }
}
