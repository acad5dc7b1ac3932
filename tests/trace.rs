//! `run --trace`: the file is what Perfetto and chrome://tracing read, and what it says can be.

mod driver;

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// The slices of a traced run, by lane, in the order of their start.
fn traced(arguments: &str) -> (BTreeMap<u64, String>, BTreeMap<u64, Vec<Value>>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let output = Command::new(env!("CARGO_BIN_EXE_lifestreams"))
        .args("run --instances 5 --size 64x48 -g 30".split(' '))
        .args(arguments.split(' '))
        .arg("--trace")
        .arg(&file)
        .env("LIFESTREAMS_LIBCUDA", driver::library())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    let trace: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let (mut names, mut lanes) = (BTreeMap::new(), BTreeMap::new());
    for event in trace["traceEvents"].as_array().unwrap() {
        let lane = event["tid"].as_u64().unwrap();
        match event["ph"].as_str().unwrap() {
            "M" if event["name"] == "thread_name" => {
                let name = event["args"]["name"].as_str().unwrap();
                assert!(
                    names.insert(lane, name.to_string()).is_none(),
                    "lane {lane} twice"
                );
            }
            "M" => {}
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
    (names, lanes)
}

#[test]
fn a_lane_a_stream_and_no_two_slices_overlap_in_one() {
    for (device, how, streams) in [
        ("cpu", "", 5),
        ("cpu", "--streams one", 1),
        ("cuda", "", 5),
        ("cuda", "--order depth", 5),
        ("cuda", "--streams one", 1),
        ("cuda", "--graphs on", 5),
        ("cuda", "--graphs on --kernel sync-shared", 5),
    ] {
        let arguments = format!("--device {device} {how}");
        let (names, lanes) = traced(arguments.trim());
        assert_eq!(
            lanes.len(),
            streams + 1,
            "{arguments}: a lane a stream, one for the host"
        );
        for (lane, slices) in &lanes {
            assert!(
                names.contains_key(lane),
                "{arguments}: lane {lane} has no name"
            );
            for pair in slices.windows(2) {
                let (start, length) = (&pair[0]["ts"], &pair[0]["dur"]);
                let end = start.as_f64().unwrap() + length.as_f64().unwrap();
                let next = pair[1]["ts"].as_f64().unwrap();
                // Nanoseconds in an f64 of microseconds: the last digit may differ.
                assert!(
                    end <= next + 1e-3,
                    "{arguments}: lane {lane}, {} then {}",
                    pair[0],
                    pair[1]
                );
            }
            assert!(
                slices
                    .iter()
                    .all(|slice| slice["dur"].as_f64().unwrap() >= 0.0)
            );
        }
        let downloads = |slices: &Vec<Value>| {
            slices
                .iter()
                .filter(|slice| slice["name"] == "download" && slice["args"]["bytes"] == 384)
                .count()
        };
        let streams: usize = lanes.range(1..).map(|(_, slices)| downloads(slices)).sum();
        assert_eq!(
            streams,
            5 * 30,
            "{arguments}: every instance's download of every round"
        );
    }
}
