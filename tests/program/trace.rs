//! `run --trace`: the file is what Perfetto and chrome://tracing read, and what it says can be.

use crate::traced::{Traced, traced};
use serde_json::Value;

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
        let Traced { names, lanes, .. } = traced(arguments.trim());
        assert_eq!(
            lanes.len(),
            streams + 1,
            "{arguments}: a lane per stream, one for the host"
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
        let in_streams = lanes.iter().filter(|(lane, _)| names[lane] != "host calls");
        assert_eq!(
            in_streams
                .map(|(_, slices)| downloads(slices))
                .sum::<usize>(),
            5 * 30,
            "{arguments}: every instance's download of every round"
        );
    }
}
